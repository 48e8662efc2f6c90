"""suanzi check and suanzi compare: small real runs, with subjects that are right and wrong."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as xml

import pytest
from jsonschema import Draft202012Validator

from suanzi.conformance.check import check
from suanzi.conformance.reports import json as report_json
from suanzi.conformance.reports.deviations import Deviation
from suanzi.front.cli import main

WRONG = """
from suanzi.conformance.subjects import suanzi_adapter

class Adapter(suanzi_adapter.Adapter):
    name = "wrong"
    version = "1.0"

    def call(self, op, arguments):
        if op == "sub":
            arguments = {"x": arguments["y"], "y": arguments["x"]}
        if op == "mul":
            import os
            os.abort()
        if op == "exp":
            raise suanzi_adapter.Unsupported("no exponents")
        return super().call(op, arguments)
"""
SMALL = ("--dtype", "int8", "--group", "plain", "--jobs", "1")
SOME: dict[str, Any] = {"dtypes": ["int8"], "groups": ["plain"], "jobs": 1}


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    status = main(["check", *arguments])
    captured = capsys.readouterr()
    return status, captured.out, captured.err


@pytest.fixture
def wrong(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    (tmp_path / "wrong_subject.py").write_text(WRONG)
    monkeypatch.chdir(tmp_path)
    return "wrong_subject:Adapter"


class TestASubjectThatIsRight:
    def test_it_conforms(self, capsys: pytest.CaptureFixture[str]) -> None:
        status, out, err = run(capsys, "--op", "add,op_sub", "--op", "7.2.4.3", *SMALL)
        assert (status, err) == (0, "")
        assert re.search(r"^mul +(\d+)/\1 +\d+ .*conforms$", out, re.M)
        last = out.splitlines()[-1]
        assert re.match(r"Conforms for int8 in what was tested \(\d+ cases\); no level", last)
        assert "not tested in full" in out

    def test_as_data(self, capsys: pytest.CaptureFixture[str]) -> None:
        status, out, err = run(capsys, "--op", "add", *SMALL, "--json")
        assert (status, err) == (0, "")
        data = json.loads(out)
        Draft202012Validator(report_json.schema()).validate(data)
        assert data["settings"]["ops"] == ["add"]
        assert data["subject"]["name"] == "suanzi"
        assert data["conforms"] is True

    def test_a_report_with_built_in_rules_is_read_back(
        self, capsys: pytest.CaptureFixture[str], tmp_path: Path
    ) -> None:
        file = str(tmp_path / "a.json")
        run(capsys, "--op", "add", *SMALL, "--rules", "strict", "--json", file)
        data = json.loads(Path(file).read_text())
        Draft202012Validator(report_json.schema()).validate(data)
        assert data["settings"]["rules_file"] is None
        assert main(["compare", file, file]) == 0
        shards = [str(tmp_path / f"{i}.json") for i in (1, 2)]
        for i, name in enumerate(shards, 1):
            run(capsys, "--op", "add,sub", *SMALL, "--rules", "strict", "--shard", f"{i}/2",
                "--json", name)  # fmt: skip
        assert main(["merge", *shards]) == 0

    def test_a_level_that_was_not_tested_is_not_there(
        self, capsys: pytest.CaptureFixture[str]
    ) -> None:
        status, _, err = run(capsys, "--op", "add", *SMALL, "--require", "minimal")
        assert status == 1
        assert "1 of 77 interfaces, 1 tested: not tested in full" in err

    def test_list(self, capsys: pytest.CaptureFixture[str]) -> None:
        status, out, err = run(capsys, "--op", "add", *SMALL[:4], "--list")
        names = out.split()
        assert (status, err) == (0, "")
        assert names
        assert all(name.startswith("add/plain/int8/") for name in names)
        status, again, _ = run(capsys, "--case", names[0], "--list")
        assert again.split() == names[:1]

    def test_frozen_cases(self, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
        folder = str(tmp_path / "cases")
        status, out, _ = run(capsys, "--op", "add", *SMALL[:4], "--export", folder)
        assert status == 0
        digest = out.split()[-1]
        status, out, _ = run(capsys, "--cases", folder, "--jobs", "1", "--json")
        data = json.loads(out)
        assert status == 0
        assert data["settings"]["frozen"] == digest
        # What was left out when they were frozen is still left out.
        assert data["settings"]["dtypes"] == ["int8"]
        assert {r["group"] for r in data["results"]} == {"plain"}
        status, _, err = run(capsys, "--cases", folder, "--rules", "torch")
        assert status == 2
        assert "use the rules cann" in err


class TestASubjectThatIsWrong:
    def test_everything_is_told(
        self, capsys: pytest.CaptureFixture[str], wrong: str, tmp_path: Path
    ) -> None:
        files = {kind: str(tmp_path / f"out.{kind}") for kind in ("html", "json", "xml")}
        status, out, err = run(
            capsys, "--backend", wrong, "--op", "add,sub,mul,exp", "--dtype", "int8,float32",
            "--group", "plain", "--jobs", "1", "--verbose",
            "--report", files["html"], "--json", files["json"], "--junit", files["xml"],
        )  # fmt: skip
        assert (status, err) == (1, "")
        found = report_json.read(files["json"])
        outcomes = {op: {r.outcome for r in some} for op, some in found.by_operator().items()}
        assert outcomes == {
            "add": {"passed"}, "sub": {"failed"}, "mul": {"crashed"}, "exp": {"unsupported"},
        }  # fmt: skip
        count = found.counts()
        assert f"{count['cases']} cases: {count['passed']} passed" in out
        assert all(r.id in out for r in found.results if r.bad)
        assert "SIGABRT" in out
        root = xml.parse(files["xml"]).getroot()
        assert int(root.attrib["failures"]) == count["failed"] + 1, "exp was not answered"
        assert int(root.attrib["errors"]) == count["crashed"]
        page = Path(files["html"]).read_text("utf-8")
        assert all(r.id in page for r in found.results if r.bad)

    def test_known_deviations(
        self, capsys: pytest.CaptureFixture[str], wrong: str, tmp_path: Path
    ) -> None:
        file = tmp_path / "known.toml"
        file.write_text("[[deviation]]\nop = 'sub'\nreason = 'the operands are swapped'\n")
        arguments = ("--backend", wrong, *SMALL, "--deviations", str(file))
        status, out, _ = run(capsys, "--op", "sub,add", *arguments)
        assert status == 0
        assert "No new failures. Does not conform: " in out
        assert run(capsys, "--op", "sub,add", *arguments, "--require", "minimal")[0] == 1
        file.write_text("[[deviation]]\nop = 'add'\nreason = 'it was wrong once'\n")
        status, out, _ = run(capsys, "--op", "add", *arguments)
        assert status == 0
        assert "passed, though listed as known to fail:" in out

    def test_compare(self, capsys: pytest.CaptureFixture[str], wrong: str, tmp_path: Path) -> None:
        a, b = str(tmp_path / "a.json"), str(tmp_path / "b.json")
        run(capsys, "--op", "add,sub", *SMALL, "--json", a)
        run(capsys, "--op", "add,sub", *SMALL, "--json", b, "--backend", wrong)
        assert main(["compare", a, b]) == 1
        out = capsys.readouterr().out
        assert out.startswith("not the same run")
        assert re.search(r"^subject's name +suanzi +wrong$", out, re.M)
        assert "broken: passed before" in out
        assert main(["compare", b, a]) == 0
        assert "fixed: passes now" in capsys.readouterr().out
        assert main(["compare", a, b, "--json"]) == 1
        data = json.loads(capsys.readouterr().out)
        assert data["counts"]["broken"] == len(data["broken"]) > 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--op", ""), "--op is empty; leave it out to run everything"),
        (("--list", "--dtype", " ,"), "--dtype is empty"),
        (("--op", "floordvi"), "Did you mean 'floordiv'"),
        (("--category", "arithmetics"), "Did you mean 'arithmetic'"),
        (("--dtype", "flaot16"), "Did you mean 'float16'"),
        (("--group", "specal"), "Did you mean 'special'"),
        (("--rules", "pytorch"), "not a rule set"),
        (("--require", "forwards"), "Did you mean 'forward'"),
        (("--jobs", "0"), "jobs is 0"),
        (("--timeout", "-1"), "timeout is -1"),
        (("--case", "add/plain/int8/24-element"), "Did you mean 'add/plain/int8/24-elements'"),
        (("--case", "ad*/plain/*/zzz"), "matches no case"),
        (("--case", "addd/plain/int8/24-elements"), "Did you mean 'add'"),
        (("--op", "add", "--category", "creation"), "contradict"),
        (("--report", "/nowhere/out.html"), "cannot be written"),
        (("--json", "a.json", "b.json"), "one file"),
        (("--deviations", "/nowhere/known.toml"), "No such file"),
        (("--cases", "/nowhere"), "manifest"),
        (("--backend", "no_such_module:Adapter"), "no_such_module"),
    ],
)
def test_bad_usage(
    capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], words: str
) -> None:
    status, out, err = run(capsys, *arguments)
    assert (status, out) == (2, "")
    assert words in err
    assert len(err.splitlines()) == 1


def test_bad_usage_of_compare(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main(["compare", str(tmp_path / "a"), str(tmp_path / "b")]) == 2
    assert "cannot be read" in capsys.readouterr().err


class TestFromPython:
    def test_the_order_does_not_depend_on_the_processes(self) -> None:
        some: dict[str, Any] = {
            "ops": ["sub", "exp", "add"], "dtypes": ["int8", "float16"], "groups": ["plain"],
        }  # fmt: skip
        one, two = check(jobs=1, **some), check(jobs=2, **some)
        assert one.results == two.results
        assert list(dict.fromkeys(r.op for r in one.results)) == ["add", "sub", "exp"]
        assert one.settings["ids"] == two.settings["ids"]

    def test_progress(self) -> None:
        told = []
        found = check(ops=["add", "sub"], progress=told.append, **SOME)
        assert [(p.done, p.total, p.op) for p in told] == [(1, 2, "add"), (2, 2, "sub")]
        assert [r for p in told for r in p.results] == found.results

    def test_an_unused_deviation_is_told_of_a_run_of_everything(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        # Everything is little here.
        monkeypatch.setattr("suanzi.conformance.check.operators", lambda *_, **__: ["rank"])
        listed = [Deviation("never", op="nothing"), Deviation("once", op="rank", version="0.0.*")]
        found = check(deviations=listed, jobs=1)
        assert found.unused == ["op nothing: never"]
        assert {r.op for r in found.results} == {"rank"}

    def test_an_unused_deviation_is_not_told_of_a_filtered_run(self) -> None:
        unused = Deviation("never", op="nothing")
        found = check(ops=["add"], deviations=[unused], **SOME)
        assert found.unused == []


def interrupted(
    folder: Path, subject: str, *more: str, by: int = signal.SIGINT
) -> tuple[int, str, str, int]:
    """Begin a run of a subject that hangs, end it by Ctrl-C, and return what it said, and whom."""
    (folder / "slow_subject.py").write_text(subject)
    command = [sys.executable, "-m", "suanzi", "check", "--backend", "slow_subject:Adapter"]
    with subprocess.Popen(
        [*command, *more], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        start_new_session=True,
    ) as process:  # fmt: skip
        until = time.monotonic() + 120
        while not (hung := list(folder.glob("pid-*"))) and time.monotonic() < until:
            time.sleep(0.1)
        assert hung
        os.killpg(process.pid, by)
        out, err = process.communicate(timeout=60)
    return process.returncode, out, err, int(hung[0].name.removeprefix("pid-"))


HANG = """__import__("pathlib").Path(f"pid-{__import__('os').getpid()}").touch()
            __import__("time").sleep(3600)
        if op == 'never'"""


@pytest.mark.parametrize(("jobs", "by"), [("1", signal.SIGINT), ("2", signal.SIGTERM)])
def test_interrupted(tmp_path: Path, jobs: str, by: int) -> None:
    """Ctrl-C, or `timeout`, ends all processes, hung ones too; what was done is reported."""
    subject = WRONG.replace('if op == "sub"', f'if op == "sub":\n            {HANG}')
    options = ("--op", "create_tensor,add,sub,zeros", "--jobs", jobs, "--timeout", "3000")
    status, out, err, pid = interrupted(tmp_path, subject, *SMALL[:4], *options, by=by)
    assert (status, err) == (3, "")
    assert re.search(
        r"^interrupted \(by hand\), incomplete: \d interfaces? not finished$", out, re.M
    )
    assert "Interrupted. So far: conforms" in out
    assert ends(pid)


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_interrupted_in_the_middle_of_an_interface(tmp_path: Path, jobs: str) -> None:
    """The calls that were made are told and written, though none of the interfaces is done."""
    count = f"global calls\n        calls = calls + 1\n        if calls > 1:\n            {HANG}"
    subject = WRONG.replace('if op == "sub"', count) + "\ncalls = 0\n"
    options = ("--op", "add,sub", "--jobs", jobs, "--timeout", "3000")
    files = ("--json", "out.json", "--report", "out.html", "--junit", "out.xml")
    status, out, err, pid = interrupted(tmp_path, subject, *SMALL[:4], *options, *files)
    assert (status, err) == (3, "")
    assert "interrupted (by hand), incomplete: 2 interfaces not finished" in out
    data = json.loads((tmp_path / "out.json").read_text())
    assert data["counts"]["cases"] >= 1
    assert data["unfinished"] == ["add", "sub"]
    assert data["settings"]["interrupted"] == "by hand"
    assert "Interrupted, and incomplete" in (tmp_path / "out.html").read_text()
    assert 'name="interrupted"' in (tmp_path / "out.xml").read_text()
    assert ends(pid)


def test_interrupted_before_it_begins(tmp_path: Path) -> None:
    """A subject that is still being loaded, for ever: there is nothing to report."""
    loading = "import os, time\nopen(f'pid-{os.getpid()}', 'w').close()\ntime.sleep(3600)\n"
    status, out, err, pid = interrupted(tmp_path, loading)
    assert (status, out, err) == (3, "", "suanzi: interrupted\n")
    assert not _runs(pid)


def ends(pid: int) -> bool:
    """Whether a process ends soon."""
    until = time.monotonic() + 20
    while _runs(pid) and time.monotonic() < until:
        time.sleep(0.1)
    return not _runs(pid)


def _runs(pid: int) -> bool:
    """Whether a process is there; one that is dead and waits to be buried does not count."""
    try:
        status = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return status.rpartition(")")[2].split()[0] != "Z"
