"""Files of calls that others made: a report without tricks, or one sentence."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from suanzi.front.cli import main
from suanzi.recording.calls import FORMAT

TRICKS = "\x1b[31m\x9b2J\u202e</td><script>alert(1)</script>"
HEAD = {"format": FORMAT, "framework": "torch", "version": f"2{TRICKS}"}
END = {"end": 1, "raised": TRICKS, "counts": {"0": 3}, "numbers": {}}


def call(**others: Any) -> dict[str, Any]:
    return {
        "call": 0,
        "op": "mul",
        "arguments": [{"dtype": "float16"}, {"dtype": "int64"}],
        "result": "float16",
        **others,
    }


def run(folder: Path, name: str, text: str, capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    """Return the exit status, and all that was said and written."""
    file, page, sarif = folder / name, folder / "page.html", folder / "port.sarif"
    file.write_text(text, "utf-8")
    said, code = "", 0
    for more in ([], ["--json"], ["--html", str(page), "--sarif", str(sarif)]):
        code = main(["port", str(file), "--to", "cann,jax", *more])
        said += "".join(capsys.readouterr())
    for written in (page, sarif):
        said += written.read_text("utf-8") if written.exists() and "<script" not in said else ""
    return code, said


def lines(*records: Any) -> str:
    return "".join(json.dumps(record) + "\n" for record in records)


@pytest.mark.parametrize(
    "record",
    [
        call(where=[f"/no/{TRICKS}.py", 3, TRICKS]),
        call(op=f"mul{TRICKS}"),
        call(where=["/dev/zero", 1, "f"]),
        call(where=["/etc/passwd", 1, "f"]),
        call(where=["a\0.py", 1, "f"]),
    ],
    ids=["place", "operator", "endless", "private", "nul"],
)
def test_what_a_file_says_is_told_without_its_tricks(
    record: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, said = run(tmp_path, "calls.jsonl", lines(HEAD, record, END), capsys)
    assert code in (1, 2)
    assert "calls of torch" in said
    page = (tmp_path / "page.html").read_text("utf-8")
    assert page.count("<script") == 1, "the page's own"
    assert not set(page) & set("\x1b\x9b\u202e")
    terminal = said.partition("<!DOCTYPE")[0]
    assert not {"\x1b", "\x9b", "\u202e"} & set(terminal)
    assert "root:x:" not in said + page  # a line of a file that is no program's


NO_RECORDS = {
    "an operator that is a list": call(op=["mul"]),
    "a number that is a word": call(call="0"),
    "a number that is not its own": call(call=10**6),
    "a number below 0": call(call=-1),
    "a line that is a word": call(where=["a.py", "3", "f"]),
    "a line beyond counting": call(where=["a.py", 10**30, "f"]),
    "an origin that is a list": call(arguments=[{"dtype": "float16", "from": [0]}]),
}
NO_ENDS = {
    "a reason that is an object": {**END, "raised": {}},
    "a count that is a word": {**END, "counts": {"0": "many"}},
    "a count below 0": {**END, "counts": {"0": -1}},
    "a number missed that is a word": {**END, "missed": "x"},
    "a number missed that is infinite": {**END, "missed": float("inf")},
    "counts that are a list": {**END, "counts": [1]},
    "a range of words": {**END, "numbers": {"0": [["a", "b"]]}},
    "a range of one": {**END, "numbers": {"0": [[1]]}},
}


@pytest.mark.parametrize("name", [*NO_RECORDS, *NO_ENDS, "no version", "a deep nest"])
def test_a_file_that_no_recorder_wrote(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    number = call(arguments=[{"dtype": "float16"}, {"number": "float"}])
    text = lines(HEAD, NO_RECORDS.get(name, number), NO_ENDS.get(name, END))
    if name == "no version":
        text = lines({"format": FORMAT}, call(), END)
    if name == "a deep nest":
        text = "[" * 100_000 + "\n"
    code, said = run(tmp_path, "calls.jsonl", text, capsys)
    assert code == 2
    assert "is not a file of calls" in said
    assert "Traceback" not in said


def test_a_log_with_a_count_beyond_reading(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = f"Operator: aten.mul.Tensor\ncnt: {'9' * 5000}, ((T([4], f16), 2.5), {{}})"
    code, said = run(tmp_path, "log.txt", text, capsys)
    assert (code, "line 2 is not one of an operator log" in said) == (2, True)
