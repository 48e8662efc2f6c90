"""What operators of the same name compute differently: the table, its lines, and asking again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from suanzi.front.cli import main
from suanzi.port import judge
from suanzi.port.differences import Asked, differences, questions
from suanzi.port.probes import ask_differences as asker
from suanzi.port.readers.logs import from_log

TARGETS = ["paddle", "mindspore", "jax", "openvino", "torch_npu", "cann"]


def named(text: str, to: list[str]) -> dict[str, str]:
    """Return the lines about a log, by question."""
    report = judge(from_log(text), to)
    assert report.to_dict()["differences"] == [d.to_dict() for d in report.differences()]
    return {one.question.name: str(one) for one in report.differences()}


def log(call: str, given: str) -> str:
    return f"Operator: aten.{call}\ncnt: 1, (({given}), {{}})\n"


def test_targets_with_the_same_answer_share_a_line() -> None:
    found = named(log("median.default", "T([4], f32),"), TARGETS)
    assert found == {
        "median": "differs by meaning, if the count is even: median of 4 numbers: 2.5 in "
        "paddle, jax_x32, 2 in torch (median: <log>:2)"
    }


def test_they_are_no_findings_and_stand_in_the_notes() -> None:
    report = judge(from_log(log("median.default", "T([4], f32),")), ["paddle"])
    assert not report.findings
    assert any(note.startswith("differs by meaning") for note in report.notes())


@pytest.mark.parametrize(
    ("call", "given", "target", "names"),
    [
        ("floor_divide.default", "T([2], i32), T([2], i32)", "openvino", {"floor_divide"}),
        ("floor_divide.default", "T([2], u8), T([2], u8)", "openvino", set()),
        ("std.default", "T([2], f32),", "jax", {"std"}),
        ("std.default", "T([2], f32),", "paddle", set()),
        ("sign.default", "T([2], f32),", "paddle", {"sign_nan"}),
        ("sign.default", "T([2], i64),", "paddle", set()),
        ("median.default", "T([2], f32),", "torch_npu", set()),
        ("clamp.default", "T([2], f32), 0.0, 1.0", "paddle", set()),
        ("clamp.default", "T([2], f32), 2.0, 1.0", "paddle", {"clamp"}),
        ("clamp.default", "T([2], f32), T([2], f32), T([2], f32)", "paddle", {"clamp"}),
        ("softmax.default", "T([2], f32), -1", "jax", set()),
        ("softmax.default", "T([2], f32),", "jax", {"softmax_axis"}),
    ],
)
def test_only_what_may_matter_is_named(call: str, given: str, target: str, names: set[str]) -> None:
    assert set(named(log(call, given), [target])) == names


def test_values_that_were_recorded_decide() -> None:
    from dataclasses import replace

    calls = from_log(log("floor_divide.default", "T([2], i32), T([2], i32)"))
    (call,) = calls.calls
    for least, expected in ((0, []), (-3, ["floor_divide"])):
        arguments: Any = tuple(replace(x, least=least, greatest=9) for x in call.arguments)  # type: ignore[type-var]
        known = replace(calls, calls=[replace(call, arguments=arguments)])
        found = differences(known, judge(known, ["openvino"]).judged)
        assert [one.question.name for one in found] == expected


def test_the_table_is_whole() -> None:
    names = [one.name for one in questions()]
    assert len(names) == len(set(names)) >= 35
    for one in questions():
        assert one.operators
        assert one.kind in (
            "nan",
            "float",
            "integer",
            "signed",
            "any",
            "to_integer",
            "to_uint8",
            "bounds",
        )
        assert "torch" in one.answers, one.name
        assert set(one.answers) <= set(asker.FRAMEWORKS)


def test_answers_are_shown_as_a_person_writes_them() -> None:
    given = np.array([0.5, -0.0, np.nan, -np.inf, 2.0], np.float32)
    assert asker.shown(given.tolist()) == "0.5 -0 nan -inf 2"
    assert asker.shown([True, -7]) == "1 -7"


def test_changed_answers_are_reported_and_written() -> None:
    answers = {q.name: q.answers["paddle"] for q in questions() if "paddle" in q.answers}
    assert Asked("paddle", "9.9", answers).differences == []
    asked = Asked("paddle", "9.9", {**answers, "median": "2"})
    assert asked.differences == [("median", "2", "2.5")]
    again = {one["name"]: one["paddle"] for one in asker.read(asked.text) if "paddle" in one}
    assert again["median"] == ("paddle.median(x)", "2")
    assert "version paddle 9.9\n" in asked.text


def test_a_framework_that_was_not_asked_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["live", "numpy", "--differences"]) == 2
    assert "--differences does not support 'numpy'" in capsys.readouterr().err
    assert main(["live", "paddle", "--differences", "--dtypes"]) == 2
    assert "give one of --dtypes, --results and --differences" in capsys.readouterr().err


def test_the_script_says_if_the_framework_is_missing(tmp_path: Path) -> None:
    import subprocess
    import sys

    done = subprocess.run([sys.executable, asker.__file__, "no_such_framework"], check=False)
    assert done.returncode == asker.NOT_INSTALLED
