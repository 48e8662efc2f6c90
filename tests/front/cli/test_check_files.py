"""Files that cannot be written or read, or are no reports: one line says so."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from helpers.numpys import needs_numpy_2
from suanzi.front.cli import main

SMALL = ("check", "--op", "add", "--dtype", "int8", "--group", "plain", "--jobs", "1")
needs_a_full_disc = pytest.mark.skipif(
    not os.path.exists("/dev/full"), reason="this system has no full disc to write to"
)


def run(*arguments: str, out: str | None = None) -> tuple[int, str, str]:
    """Run a command, its output going to a file if one is named."""
    target = subprocess.PIPE if out is None else os.open(out, os.O_WRONLY)
    # Python keeps what it prints, and writes it late: as in every shell.
    settings = {k: v for k, v in os.environ.items() if k != "PYTHONUNBUFFERED"}
    done = subprocess.run(
        [sys.executable, "-m", "suanzi", *arguments], stdout=target, stderr=subprocess.PIPE,
        text=True, check=False, env=settings,
    )  # fmt: skip
    return done.returncode, done.stdout or "", done.stderr


@needs_a_full_disc
@pytest.mark.parametrize("option", ["--report", "--json", "--junit"])
def test_a_full_disc_does_not_hide_what_was_found(
    capsys: pytest.CaptureFixture[str], option: str
) -> None:
    assert main([*SMALL, option, "/dev/full"]) == 2
    out, err = capsys.readouterr()
    assert "Conforms" in out
    assert err == "suanzi: check: '/dev/full' cannot be written: No space left on device.\n"


@needs_a_full_disc
@pytest.mark.parametrize("more", [(), ("--json",), ("--list",)])
def test_output_to_a_full_disc(more: tuple[str, ...]) -> None:
    status, _, err = run(*SMALL, *more, out="/dev/full")
    assert status == 3
    assert err.splitlines() == ["suanzi: [Errno 28] No space left on device"]


def test_cases_that_cannot_be_written(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert main([*SMALL, "--export", str(tmp_path / "file" / "cases")]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert "cannot write the cases to" in err
    assert "Not a directory" in err


_RESULT = {"id": "a/b/c/d", "op": "a", "group": "b", "dtype": "c", "outcome": "passed"}


@pytest.mark.parametrize(
    ("results", "words"),
    [
        ([5], "results[0] is 5, not object"),
        (7, "results is 7, not array"),
        ([{"id": "x"}], "results[0] has no op"),
        ([{**_RESULT, "outcome": "fine"}], "outcome is 'fine', not one of 'passed'"),
        ([{**_RESULT, "ulp": "many"}], "ulp is 'many', not number"),
    ],
)
def test_what_is_no_report(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, results: object, words: str
) -> None:
    file = tmp_path / "report.json"
    data = {"schema": "suanzi-conformance/1", "subject": {}, "settings": {}, "results": results}
    file.write_text(json.dumps(data))
    assert main(["compare", str(file), str(file)]) == 2
    err = capsys.readouterr().err
    assert words in err
    assert len(err.splitlines()) == 1


def test_frozen_cases_compare_with_those_made_now(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    made, frozen, cases = (str(tmp_path / name) for name in ("made.json", "frozen.json", "cases"))
    main([*SMALL, "--json", made])
    main([*SMALL[:-2], "--export", cases])
    main(["check", "--cases", cases, "--jobs", "1", "--json", frozen])
    capsys.readouterr()
    assert main(["compare", made, frozen]) == 0
    out = capsys.readouterr().out
    head = out.partition("counts")[0].splitlines()[2:]
    assert [line.split()[:2] for line in head if line] == [["folder", "none"], ["frozen", "none"]]
    assert "Nothing changed." in out


@pytest.mark.parametrize(
    ("closed", "jobs"),
    [(">&-", "1"), (">&- 2>&-", "1"), ("<&- >&- 2>&-", "1"), ("<&- >&- 2>&-", "2")],
)
def test_closed_streams(tmp_path: Path, closed: str, jobs: str) -> None:
    arguments = [*SMALL[:-1], jobs, "--op", "sub", "--json", str(tmp_path / "out.json")]
    command = shlex.join([sys.executable, "-m", "suanzi", *arguments])
    done = subprocess.run(["sh", "-c", f"{command} {closed}"], capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    assert json.loads((tmp_path / "out.json").read_text())["conforms"]


@pytest.mark.parametrize(
    "settings",
    [
        {"PYTHONIOENCODING": "ascii"},
        {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"},  # an error of another name
    ],
    ids=lambda settings: next(iter(settings)),
)
def test_a_terminal_without_the_letters(
    settings: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    status, out, err = run("rules", "cann")
    assert (status, err) == (0, "")
    assert "\\u4e92" in out


@needs_a_full_disc
def test_what_cannot_be_shown_is_written_all_the_same(tmp_path: Path) -> None:
    files = [str(tmp_path / name) for name in ("out.html", "out.json", "out.xml")]
    options = ["--report", "/dev/full", "--json", files[1], "--junit", files[2]]
    status, _, err = run(*SMALL, *options, out="/dev/full")
    assert status == 3
    assert "No space left" in err
    assert len(err.splitlines()) == 1
    assert json.loads(Path(files[1]).read_text())["conforms"]
    assert Path(files[2]).stat().st_size


@pytest.mark.parametrize("exists", [False, True])
def test_one_file_for_two_reports(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, exists: bool
) -> None:
    one, same = tmp_path / "out", tmp_path / "." / ".." / tmp_path.name / "out"
    if exists:
        one.write_text("what was there")
    for first, second in (("--report", "--json"), ("--json", "--junit"), ("--report", "--junit")):
        assert main([*SMALL, first, str(one), second, str(same)]) == 2
        out, err = capsys.readouterr()
        assert out == ""
        assert f"{first} and {second} are both" in err
        assert len(err.splitlines()) == 1
    assert one.exists() is exists


def test_two_reports_to_nowhere(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*SMALL, "--report", os.devnull, "--json", os.devnull]) == 0


def test_an_error_moves_no_cursor(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "--op", "\x1b[2Jadd"]) == 2
    assert capsys.readouterr().err.rstrip("\n").isprintable()


@pytest.mark.parametrize("columns", ["1", "2", "7"])
def test_help_in_a_narrow_terminal_ends(
    columns: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    assert main(["check", "--help"]) == 0
    assert "--backend" in capsys.readouterr().out


def test_files_nested_without_end(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    report, known = tmp_path / "report.json", tmp_path / "known.toml"
    report.write_text("[" * 200_000)
    known.write_text("a = " + "[" * 200_000)
    for command in (
        ["compare", str(report), str(report)],
        [*SMALL, "--deviations", str(known)],
    ):
        assert main(command) == 2
        assert len(capsys.readouterr().err.splitlines()) == 1


def test_own_rules_from_a_file_of_any_name(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    chip = tmp_path / "chip.rules"
    chip.write_text("name chip\nlike torch\ncell i32 bf16 -> f32\n")
    asked = ["check", "--rules", str(chip), "--op", "add", "--group", "promotion", "--dtype", "i32"]
    for more in (["--jobs", "1"], ["--jobs", "2", "--op", "sub"]):
        assert main([*asked, *more]) == 0
        out, err = capsys.readouterr()
        assert err == ""
        assert "promotion by chip" in out
        assert "cases beyond the standard passed." in out
    frozen = str(tmp_path / "frozen")
    assert main([*asked, "--export", frozen]) == 0
    # Another process has never heard of these rules.
    assert "the standard passed." in run("check", "--cases", frozen, "--jobs", "1")[1]
    found = json.loads((tmp_path / "frozen" / "manifest.json").read_text())
    assert found["rules_text"] == chip.read_text()


@needs_numpy_2
def test_own_rules_are_pasted_with_their_file(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """NumPy promotes otherwise, so it fails, and what is pasted finds the file."""
    chip = tmp_path / "chip"
    chip.write_text("name chip\nlike numpy\ncell i8 u8 -> i32\n")
    out = tmp_path / "out.json"
    asked = ["--op", "add", "--group", "promotion", "--dtype", "u8", "--jobs", "1"]
    status = main(["check", "--backend", "numpy", "--rules", str(chip), *asked, "--json", str(out)])
    said = capsys.readouterr().out
    assert "promotion by chip" in said
    report = json.loads(out.read_text())
    assert report["settings"]["rules_file"] == str(chip)
    bad = [one for one in report["results"] if one["outcome"] == "failed"]
    assert {one["dtype"] for one in bad} == {"int8-uint8", "uint8-int8"}
    assert f"--rules {chip}" in said
    assert status == 0  # no clause promotes: it is an extension
