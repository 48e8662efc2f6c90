"""What is said of an answer of the wrong kind: a status, or a number of outputs."""

from __future__ import annotations

import pytest

from suanzi.conformance.judging.verdict import Answer, verdict
from suanzi.conformance.model.case import Case, Expected, Output, Refused
from suanzi.conformance.model.data import tensor
from suanzi.conformance.model.numbers import real
from suanzi.conformance.subjects.wire import Data
from suanzi.status import Status

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
        (ONE, answer("SUCCESS", None), True, "y: None is no tensor"),
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
        (NO, answer("TYPE_MISMATCH", x()), True, "TYPE_MISMATCH, and an output all the same: "),
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
        assert found.inaccurate is False
