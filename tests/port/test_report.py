"""What is shown of findings, what is left out, and the command."""

from __future__ import annotations

import importlib.util
import json
import stat
import sys
from pathlib import Path
from typing import Any

import pytest

import suanzi as sz
from suanzi.front.cli import main
from suanzi.port import Report, judge, read_calls, run_program, trace
from suanzi.port.report import to_sarif
from suanzi.promote.live import NotInstalled

ROOT = Path(__file__).parents[2]
BLOCK = ROOT / "examples" / "port" / "block.jsonl"


@pytest.fixture(autouse=True)
def _at_the_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)


def block(*to: str) -> Report:
    return judge(read_calls(BLOCK), to)


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    status = main(["port", *arguments])
    said = capsys.readouterr()
    return status, said.out, said.err


def written(path: Path, *calls: dict[str, Any]) -> Path:
    """Write a file of calls, as a recorder of PyTorch does."""
    head = {"format": "suanzi-calls/1", "framework": "torch", "version": "2"}
    numbered = [{"call": i, **one} for i, one in enumerate(calls)]
    records = [head, *numbered, {"end": True, "raised": None}]
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


MUL = {
    "op": "mul", "arguments": [{"dtype": "float16"}, {"dtype": "float32", "zero_dim": True}],
    "result": "float16",
}  # fmt: skip


def test_the_block_on_cann_changes_where_a_0d_tensor_widens() -> None:
    report = block("cann")
    assert [(one.code, one.call.where and one.call.where.line) for one in report] == [
        ("SZ005", 22), ("SZ005", 32), ("SZ005", 37),
    ]  # fmt: skip
    assert report.findings[2].count == 6
    assert "scores = q @ k.transpose(-2, -1) * self.temperature" in str(report)
    assert str(report) == repr(report)


def test_the_block_is_silent_where_nothing_changes() -> None:
    for target in ("openvino", "paddle", "torch", "torch_npu"):
        assert not block(target), target


def test_targets_mean_what_users_of_torch_have() -> None:
    data = block("jax", "openvino").to_dict()
    assert [one["rules"] for one in data["to"]] == ["jax_x32", "openvino+torch"]
    assert data["made"]["jax_x32"] == {"int64": "int32", "float64": "float32"}
    assert json.loads(json.dumps(data)) == data


def test_html_and_sarif() -> None:
    report = block("cann", "paddle")
    page = report.to_html()
    assert page.startswith("<!DOCTYPE html>")
    assert "x.to(torch.bfloat16)" in page
    sarif = to_sarif(report)
    (found, *_) = sarif["runs"][0]["results"]
    assert found["ruleId"] == "SZ005"
    place = found["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "examples/port/block.py"
    assert place["region"]["startLine"] == 22
    rules = {rule["id"] for rule in sarif["runs"][0]["tool"]["driver"]["rules"]}
    assert {one["ruleId"] for one in sarif["runs"][0]["results"]} <= rules


def test_every_code_has_its_explanation() -> None:
    from suanzi.port.findings import CODES, PAGE

    page = (ROOT / PAGE).read_text("utf-8")
    assert all(f"## {code}: " in page for code in CODES)


@pytest.mark.parametrize(
    ("mark", "left"),
    [
        ("# suanzi: ignore[SZ005]", 0),
        ("# suanzi: ignore", 0),
        ("# suanzi: ignore[SZ001, SZ005]", 0),
        ("# suanzi: ignore[SZ002]", 1),
        ("# suanzi ignore", 1),
    ],
)
def test_a_line_may_say_what_it_does_not_want_to_hear(tmp_path: Path, mark: str, left: int) -> None:
    source = tmp_path / "model.py"
    source.write_text(f"y = x * s  {mark}\n")
    calls = written(tmp_path / "calls.jsonl", {**MUL, "where": [str(source), 1, "", ""]})
    report = judge(read_calls(calls), ["cann"])
    assert (len(report), report.ignored) == (left, 1 - left)


class TestCommand:
    def test_findings_and_silence(self, capsys: pytest.CaptureFixture[str]) -> None:
        status, out, _ = run(capsys, str(BLOCK), "--to", "cann")
        assert status == 1
        assert "examples/port/block.py:22" in out
        assert run(capsys, str(BLOCK), "--to", "paddle")[0] == 0

    def test_files(self, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
        html, sarif = tmp_path / "r.html", tmp_path / "r.sarif"
        status, out, _ = run(
            capsys, str(BLOCK), "--to", "cann", "--json", "--html", str(html), "--sarif", str(sarif)
        )
        assert status == 1
        assert json.loads(out)["counts"]["SZ005"] == 3
        assert json.loads(sarif.read_text())["version"] == "2.1.0"
        assert "block.py:22" in html.read_text()

    def test_a_baseline_leaves_out_what_is_known(
        self, capsys: pytest.CaptureFixture[str], tmp_path: Path
    ) -> None:
        known_file = tmp_path / "known.json"
        known_file.write_text(run(capsys, str(BLOCK), "--to", "cann", "--json")[1])
        status, out, _ = run(capsys, str(BLOCK), "--to", "cann", "--baseline", str(known_file))
        assert status == 0
        assert "3 ignored or known" in out
        both = run(capsys, str(BLOCK), "--to", "cann,jax", "--baseline", str(known_file))
        assert both[0] == 1

    def test_a_baseline_knows_as_many_as_it_has(
        self, capsys: pytest.CaptureFixture[str], tmp_path: Path
    ) -> None:
        """A finding that is there once more, or of another target, is new."""
        calls = [{**MUL, "where": ["/gone/model.py", line, "", ""]} for line in (3, 9)]
        once = written(tmp_path / "once.jsonl", calls[0])
        twice = written(tmp_path / "twice.jsonl", *calls)
        known_file = tmp_path / "known.json"
        known_file.write_text(run(capsys, str(once), "--to", "cann", "--json")[1])
        again = ("--baseline", str(known_file), "--json")
        assert run(capsys, str(once), "--to", "cann", *again)[0] == 0
        status, out, _ = run(capsys, str(twice), "--to", "cann", *again)
        assert (status, [one["line"] for one in json.loads(out)["findings"]]) == (1, [9])
        assert run(capsys, str(once), "--to", "jax", *again)[0] == 1
        status, out, _ = run(capsys, str(once), "--to", "cann,jax", *again)
        assert (status, [one["rules"] for one in json.loads(out)["findings"]]) == (1, ["jax_x32"])

    def test_what_is_refused_is_an_error_in_sarif(self, tmp_path: Path) -> None:
        operands = [{"dtype": "int64"}, {"dtype": "float16"}]
        add = {"op": "add", "arguments": operands, "result": "float16"}
        path = written(tmp_path / "calls.jsonl", add)
        (refused,) = to_sarif(judge(read_calls(path), ["paddle"]))["runs"][0]["results"]
        assert (refused["ruleId"], refused["level"]) == ("SZ002", "error")
        found = to_sarif(judge(read_calls(BLOCK), ["cann"]))["runs"][0]["results"]
        assert {one["level"] for one in found} == {"warning"}

    @pytest.mark.parametrize(
        ("arguments", "said"),
        [
            (["nowhere.py"], "the program 'nowhere.py' does not exist"),
            (["README.md", "--from", "tensorflow"], "'tensorflow' cannot be recorded"),
            ([str(BLOCK), "--to", "tpu"], "'tpu' is not a rule set"),
            ([str(BLOCK), "--to", ","], "no target given"),
            ([str(BLOCK), "--baseline", "README.md"], "'README.md' is not a report"),
            (["pyproject.jsonl"], "cannot be read"),
            (["README.md", "--python", "/nowhere/python"], "cannot be run"),
        ],
    )
    def test_bad_usage_is_one_sentence(
        self, capsys: pytest.CaptureFixture[str], arguments: list[str], said: str
    ) -> None:
        status, out, err = run(capsys, *arguments)
        assert (status, out) == (2, "")
        assert said in err
        assert len(err.strip().splitlines()) == 1

    def test_rules_of_ones_own(self, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
        table = tmp_path / "chip.txt"
        table.write_text("name chip\nlike torch\n")
        assert run(capsys, str(BLOCK), "--to", str(table))[0] == 0


def fake_python(folder: Path, script: str) -> str:
    """An interpreter that runs `script` instead of the recorder."""
    path = folder / "python"
    path.write_text(f"#!{sys.executable}\nimport sys\n{script}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return str(path)


def test_an_interpreter_without_the_framework(tmp_path: Path) -> None:
    with pytest.raises(NotInstalled, match="torch is not installed"):
        run_program("README.md", python=fake_python(tmp_path, "sys.exit(3)"))
    with pytest.raises(sz.InvalidArgument, match="ended with exit status 5"):
        run_program("README.md", python=fake_python(tmp_path, "sys.exit(5)"))


def test_what_a_killed_program_did_is_kept(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    lines = BLOCK.read_text().splitlines()[:-1]
    kept = tmp_path / "kept.jsonl"
    kept.write_text("\n".join(lines) + "\n" + lines[-1][:40])
    python = fake_python(
        tmp_path,
        f"open(sys.argv[2], 'w').write(open({str(kept)!r}).read())\n"
        "import os; os.kill(os.getpid(), 9)",
    )
    status, out, _ = run(capsys, "README.md", "--to", "cann", "--python", python)
    assert status == 1
    assert "block.py:22" in out
    assert "the program failed" in out
    nothing = run(capsys, "README.md", "--to", "paddle", "--python", python)
    assert nothing[0] == 2


def test_trace_needs_the_framework() -> None:
    if importlib.util.find_spec("torch") is not None:
        pytest.skip("PyTorch is installed")
    with pytest.raises(NotInstalled, match="torch is not installed"), trace("cann"):
        pass
    with pytest.raises(sz.InvalidArgument, match="no target given"), trace():
        pass
