"""A submission can be verified without the backend, and a report that was edited is found."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from suanzi import InvalidArgument
from suanzi.conformance import submission
from suanzi.conformance.check import Progress
from suanzi.conformance.reports import json as report_json
from suanzi.conformance.submission import submit, verify, write_manifest
from suanzi.front.cli import main

OPS = ["rint", "squeeze", "lu"]
GROUPS = ["plain", "empty", "status", "special"]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made") / "evidence"
    run = submit(folder, "numpy", ops=OPS, dtypes=["float32", "int8", "any"], groups=GROUPS, jobs=1)
    assert run.counts()["passed"] > 20
    return folder


@pytest.fixture
def folder(made: Path, tmp_path: Path) -> Path:
    shutil.copytree(made, tmp_path / "evidence")
    return tmp_path / "evidence"


def _findings(folder: Path, **options: Any) -> dict[str, bool | None]:
    return {one.what: one.ok for one in verify(folder, jobs=1, **options).findings}


def _rewrite(folder: Path, change: Callable[[dict[str, Any]], None]) -> None:
    path = folder / "report.json"
    data = json.loads(path.read_text())
    change(data)
    path.write_text(json.dumps(data))


def _signed_anew(folder: Path) -> None:
    """Make a manifest of the changed files, as somebody would who edits a report."""
    about = json.loads((folder / "manifest.json").read_text())
    (folder / "manifest.json").unlink()
    write_manifest(folder, about)


def _lines(folder: Path, op: str) -> list[dict[str, Any]]:
    with gzip.open(folder / "answers" / f"{op}.jsonl.gz", "rt") as file:
        return [json.loads(line) for line in file]


def _write_lines(folder: Path, op: str, lines: list[dict[str, Any]]) -> None:
    with gzip.open(folder / "answers" / f"{op}.jsonl.gz", "wt") as file:
        file.writelines(json.dumps(one, separators=(",", ":")) + "\n" for one in lines)


def test_what_was_submitted_is_verified(folder: Path) -> None:
    found = verify(folder, jobs=1)
    assert found.genuine, found.findings
    assert {"files", "report", "answers", "judged again", "second judge"} <= {
        one.what for one in found.findings if one.ok
    }
    assert found.headline == report_json.read(folder / "report.json").decision.headline


def test_a_report_in_blocks_is_verified(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks round what was measured, and what follows from it must be rounded as well."""
    monkeypatch.setattr(report_json, "MANY", 5)
    folder = tmp_path / "evidence"
    run = submit(
        folder,
        "numpy",
        ops=["exp", "norm"],
        dtypes=["float32", "float64"],
        groups=["plain"],
        jobs=1,
    )
    data = json.loads((folder / "report.json").read_text())
    assert data["blocks"]
    measured = [one.ulp for one in run.results if one.ulp]
    assert any(x != float(f"{x:.4g}") for x in measured)
    assert _findings(folder)["report"]


def test_an_edited_report_is_found(folder: Path) -> None:
    failing = [r.id for r in report_json.read(folder / "report.json").results if r.bad]
    assert failing, "NumPy is expected to deviate somewhere in these"

    def passed(data: dict[str, Any]) -> None:
        for one in data["results"]:
            if one["id"] == failing[0]:
                one["outcome"] = "passed"
                for name in ("problem", "broken", "known", "because"):
                    one.pop(name, None)

    _rewrite(folder, passed)
    assert _findings(folder)["files"] is False
    _signed_anew(folder)
    found = _findings(folder)
    assert found["files"] is True
    assert found["judged again"] is False
    assert found["report"] is False  # its counts do not follow from its results


def test_a_wrong_answer_that_is_reported_as_right_is_found_by_both_judges(folder: Path) -> None:
    lines = _lines(folder, "rint")
    at = next(i for i, one in enumerate(lines) if one["case"]["group"] == "plain")
    lines[at]["answer"]["outputs"][0]["tensor"]["raw"] = "AAAA" * (
        len(lines[at]["answer"]["outputs"][0]["tensor"]["raw"]) // 4
    )
    _write_lines(folder, "rint", lines)
    _signed_anew(folder)
    found = _findings(folder)
    assert found["judged again"] is False
    assert found["second judge"] is False


def test_an_answer_that_is_left_out_is_found(folder: Path) -> None:
    _write_lines(folder, "squeeze", _lines(folder, "squeeze")[1:])
    _signed_anew(folder)
    assert _findings(folder)["answers"] is False


def test_a_counts_table_that_was_edited_is_found(folder: Path) -> None:
    _rewrite(folder, lambda data: data["counts"].update(failed=0, passed=10**6))
    _signed_anew(folder)
    assert _findings(folder)["report"] is False


def test_files_that_are_missing_or_added_are_found(folder: Path) -> None:
    (folder / "more.txt").write_text("x")
    assert _findings(folder)["files"] is False
    (folder / "more.txt").unlink()
    (folder / "log.txt").unlink()
    assert _findings(folder)["files"] is False


@pytest.mark.parametrize(
    "text", [b"", b"\x1f\x8bnothing", gzip.compress(b'{"answer": 1}\n', mtime=0)]
)
def test_answers_that_cannot_be_read_are_a_finding(folder: Path, text: bytes) -> None:
    (folder / "answers" / "rint.jsonl.gz").write_bytes(text)
    _signed_anew(folder)
    assert not verify(folder, jobs=1).genuine


def test_another_library_is_found(folder: Path, tmp_path: Path) -> None:
    other = tmp_path / "libother.so"
    other.write_bytes(b"\x7fELF")
    assert _findings(folder, library=other)["library"] is False
    said = json.loads((folder / "manifest.json").read_text())["backend"]
    assert "numpy: RECORD" in said


def test_statement_and_waivers(folder: Path, tmp_path: Path) -> None:
    assert _findings(folder)["statement"] is None
    (folder / "statement.toml").write_text("\n".join(f'{name} = "x"' for name in submission._ASKED))
    waivers = tmp_path / "waivers.toml"
    waivers.write_text('[[waiver]]\nid = "W-1"\ncase = "*"\nreason = "old chip"\n')
    found = {one.what: one for one in verify(folder, jobs=1, waivers=waivers).findings}
    assert found["statement"].ok
    assert "W-1" in found["requirements"].words
    waivers.write_text("[[waiver]]\nid = 1\n")
    with pytest.raises(InvalidArgument, match="is not a file of waivers"):
        verify(folder, jobs=1, waivers=waivers)


@pytest.mark.parametrize("name", ["manifest.json", "report.json", "answers.gz"])
def test_a_pipe_is_refused_and_not_waited_for(tmp_path: Path, name: str) -> None:
    os.mkfifo(tmp_path / name)
    with pytest.raises(InvalidArgument, match=f"'{name}' is a pipe or a device, not a file"):
        verify(tmp_path, jobs=1)


def test_what_is_no_submission_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidArgument, match="is not a submission"):
        verify(tmp_path)
    (tmp_path / "there").touch()
    with pytest.raises(InvalidArgument, match="not an empty folder"):
        submit(tmp_path)
    with pytest.raises(InvalidArgument, match="is not a file"):
        submit(tmp_path / "new", statement=tmp_path / "nowhere.toml")


def test_the_second_judge_needs_nothing_but_python(folder: Path) -> None:
    command = [sys.executable, "-I", "-S", "second_judge.py", "."]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "right" in done.stdout


def test_a_signature(folder: Path, tmp_path: Path) -> None:
    if shutil.which("minisign") is None:
        pytest.skip("minisign is not installed")
    keys = ["-p", str(tmp_path / "k.pub"), "-s", str(tmp_path / "k.key")]
    subprocess.run(["minisign", "-G", "-W", *keys], check=True, capture_output=True)
    submission._minisign("-S", "-s", keys[3], "-m", str(folder / "manifest.json"))
    assert _findings(folder, public_key=keys[1])["signature"] is True
    _rewrite(folder, lambda data: data.update(seconds=1))
    _signed_anew(folder)
    assert _findings(folder, public_key=keys[1])["signature"] is False


def test_the_commands(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place = str(tmp_path / "evidence")
    assert main(["submit", place, "--op", "shape", "--jobs", "1"]) == 0
    assert "suanzi verify" in capsys.readouterr().out
    assert main(["verify", place, "--jobs", "1"]) == 0
    assert "Nothing contradicts the report" in capsys.readouterr().out
    Path(place, "log.txt").write_text("edited")
    assert main(["verify", place, "--jobs", "1", "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["genuine"] is False
    assert main(["verify", str(tmp_path / "nothing")]) == 2


@pytest.mark.parametrize("jobs", [1, 2])
def test_progress_is_told_for_each_file_and_judge(folder: Path, jobs: int) -> None:
    told: list[Progress] = []
    found = verify(folder, jobs=jobs, progress=told.append)
    assert found.genuine
    assert [(one.done, one.total) for one in told] == [(i, 6) for i in range(1, 7)]
    assert [one.op for one in told] == sorted(OPS) * 2
    assert sum(len(one.results) for one in told) > 20


@pytest.mark.skipif(sys.platform == "win32", reason="there is no pty")
def test_verify_shows_progress_where_a_person_looks(folder: Path) -> None:
    import pty

    leader, follower = pty.openpty()
    done = subprocess.Popen(
        [sys.executable, "-m", "suanzi", "verify", str(folder)], stdout=subprocess.PIPE,
        stderr=follower, env={**os.environ, "TERM": "xterm", "COLUMNS": "100"},
    )  # fmt: skip
    os.close(follower)
    seen = b""
    try:
        while some := os.read(leader, 1 << 16):
            seen += some
    except OSError:  # how the end of a terminal is read
        pass
    finally:
        os.close(leader)
    out, _ = done.communicate(timeout=60)
    assert done.returncode == 0
    assert b"reading the submission" in seen
    assert b"6/6" in seen
    assert b"6/6" not in out
    plain = subprocess.run(
        [sys.executable, "-m", "suanzi", "verify", str(folder)], capture_output=True
    )
    assert (plain.stdout, plain.stderr) == (out, b"")
