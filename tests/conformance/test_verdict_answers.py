"""What is said of an answer of the wrong kind: a status, or a number of outputs."""

from __future__ import annotations

from typing import Any

import pytest

from suanzi.base.status import Status
from suanzi.conformance.judging.verdict import Answer, verdict
from suanzi.conformance.model.case import Case, Check, Expected, Output, Refused
from suanzi.conformance.model.data import tensor
from suanzi.conformance.model.numbers import real
from suanzi.conformance.subjects.wire import Data

ONE = (Output("float32", (1,), (real(1.0),)),)
NO = Refused(Status.TYPE_MISMATCH, instead=ONE, others=(Status.INVALID_ARGUMENT,))


def answer(status: str, *outputs: Data | None, words: str = "") -> Answer:
    return Answer(status, list(outputs), words)


def x(value: float = 1.0) -> Data:
    return tensor("float32", [value])


@pytest.mark.parametrize(
    ("expected", "given", "statuses", "problem"),
    [
        (ONE, answer("SUCCESS", x()), True, None),
        (ONE, answer("SUCCESS"), True, "0 outputs, not 1"),
        (ONE, answer("SUCCESS", x(), x()), True, "2 outputs, not 1"),
        (ONE, answer("OUT_OF_RANGE", words="no"), True, "OUT_OF_RANGE, not SUCCESS: no"),
        (ONE, answer("OUT_OF_RANGE"), True, "OUT_OF_RANGE, not SUCCESS"),
        (ONE, answer("", words="no"), False, "refused, not SUCCESS: no"),
        (ONE, answer("SUCCESS", None), True, "y: None is not a tensor"),
        (ONE, answer("SUCCESS", x(2.0)), True, "y: "),
        (NO, answer("TYPE_MISMATCH"), True, None),
        (NO, answer("INVALID_ARGUMENT"), True, None),
        (NO, answer("OUT_OF_RANGE", words="no"), True,
         "OUT_OF_RANGE, not TYPE_MISMATCH or INVALID_ARGUMENT: no"),
        (NO, answer("OUT_OF_RANGE"), False, None),
        (NO, answer("SUCCESS", x()), True, "SUCCESS, not TYPE_MISMATCH or INVALID_ARGUMENT: "),
        (NO, answer("SUCCESS", None), True, "SUCCESS, not TYPE_MISMATCH or INVALID_ARGUMENT"),
        (NO, answer("SUCCESS", x()), False, None),
        (NO, answer("SUCCESS", x(3.0)), False, "y: "),
        (NO, answer("SUCCESS", x(), x()), False, "2 outputs, not 1"),
        (NO, answer("TYPE_MISMATCH", x()), True, "TYPE_MISMATCH, but it set an output: "),
        (NO, answer("TYPE_MISMATCH", None), True, None),
    ],
)  # fmt: skip
def test_one_sentence(
    expected: Expected, given: Answer, statuses: bool, problem: str | None
) -> None:
    case = Case("sqrt", "plain", "float32", "x", {"x": x()}, lambda: expected)
    found = verdict(case, given, statuses)
    assert found.passed == (problem is None), found.problem
    if problem is not None:
        assert found.problem is not None
        assert found.problem.startswith(problem)
        assert problem.endswith(": ") or found.problem == problem
        # No clause says what an output is after an error.
        assert found.inaccurate is problem.endswith("it set an output: ")


TWO = ([ONE[0], ONE[0]],)


@pytest.mark.parametrize(
    ("expected", "output", "problem"),
    [
        ((2,), 2, None),
        ((2,), 3, "y: 3, not 2"),
        ((2,), 2.0, "y: 2.0, not 2"),
        ((1,), True, "y: True, not 1"),
        ((2,), "x" * 200, f"y: '{'x' * 96}..., not 2"),
        ((2,), [3, (4,)], "y: [3, 4], not 2"),
        (((2, 3),), (2, 3), None),
        (((2, 3),), (2, 4), "y: [1] 4, not 3"),
        (((2, 3),), (2,), "y: 2 is not a sequence of 2"),
        (((2, 3),), 7, "y: 7 is not a sequence of 2"),
        (TWO, [x(), x()], None),
        (TWO, (x(), x()), None),
        (TWO, x(), "y: float32 [1] of 1 is not a sequence of 2"),
        (TWO, tensor("int8", [1, 2, 3, 4, 5, 6]),
         "y: int8 [6] of 1, 2, 3, 4, 5, ... is not a sequence of 2"),
        (TWO, tensor("int8", [1, 2, 3, 4, 5]),
         "y: int8 [5] of 1, 2, 3, 4, 5 is not a sequence of 2"),
        (TWO, tensor("int8", []), "y: int8 [0] is not a sequence of 2"),
    ],
)  # fmt: skip
def test_outputs_that_are_no_tensors(expected: Any, output: Any, problem: str | None) -> None:
    case = Case("sqrt", "plain", "float32", "x", {"x": x()}, lambda: expected)
    found = verdict(case, Answer("SUCCESS", [output], ""), True)
    assert found.problem == problem


@pytest.mark.parametrize("place", [0, 1])
def test_the_wrong_one_of_several_tensors_is_named(place: int) -> None:
    outputs = [x(), x()]
    outputs[place] = x(2.0)
    case = Case("sqrt", "plain", "float32", "x", {"x": x()}, lambda: TWO)
    found = verdict(case, Answer("SUCCESS", [outputs], ""), True)
    assert found.problem is not None
    assert found.problem.startswith(f"y: [{place}] ")
    assert len(found.judgements) == place + 1


def test_a_check_has_its_say(monkeypatch: pytest.MonkeyPatch) -> None:
    from suanzi.conformance.judging import verdict as module

    seen: list[Any] = []

    def checker(arguments: Any, outputs: Any, facts: Any) -> str | None:
        seen.append((arguments, outputs, facts))
        return "not so" if outputs == [7] else None

    monkeypatch.setattr(module, "find", lambda name: checker)
    case = Case("sqrt", "plain", "float32", "x", {"x": x()}, lambda: (Check("any", {"a": 1}),))
    assert verdict(case, Answer("SUCCESS", [7], ""), True).problem == "y: not so"
    assert verdict(case, Answer("SUCCESS", [8], ""), True).problem is None
    assert seen[0] == ({"x": x()}, [7], {"a": 1})
    assert seen[-1] == ({"x": x()}, [8], {"a": 1})
