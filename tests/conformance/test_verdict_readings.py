"""An answer that follows any reading passes, and one that is merely inaccurate fails in quality."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from suanzi.base.status import Status
from suanzi.conformance.cases.frozen import case_of, line_of
from suanzi.conformance.judging.verdict import Answer, verdict
from suanzi.conformance.model.basis import why
from suanzi.conformance.model.case import Case, Check, Either, Expected, Output, Refused
from suanzi.conformance.model.data import tensor
from suanzi.conformance.model.numbers import real

TIES = Either(
    "E86",
    {
        "ties to even": (Output("float32", (2,), (real(2.0), real(2.0))),),
        "ties away from zero": (Output("float32", (2,), (real(3.0), real(2.0))),),
        "refused": Refused(Status.TYPE_MISMATCH),
    },
)


def case(expected: Expected, **more: Any) -> Case:
    x = tensor("float32", [2.5, 1.5])
    return Case("round", "plain", "float32", "ties", {"x": x}, lambda: expected, **more)


def answered(*values: float) -> Answer:
    return Answer("SUCCESS", [tensor("float32", list(values))])


@pytest.mark.parametrize(
    ("answer", "readings"),
    [
        (answered(2.0, 2.0), ("ties to even",)),
        (answered(3.0, 2.0), ("ties away from zero",)),
        (Answer("TYPE_MISMATCH"), ("refused",)),
        (answered(3.0, 1.0), ()),
        (Answer("INVALID_ARGUMENT"), ()),
    ],
)
def test_either(answer: Answer, readings: tuple[str, ...]) -> None:
    found = verdict(case(TIES), answer, statuses=True)
    assert found.readings == readings
    assert found.passed == bool(readings)
    if not found.passed:
        assert found.problem is not None
        assert all(name in found.problem for name in ("E86", *TIES.readings))


def test_an_answer_can_follow_several_readings() -> None:
    same = replace(TIES, readings={"a": TIES.readings["ties to even"], **TIES.readings})
    assert verdict(case(same), answered(2.0, 2.0), True).readings == ("a", "ties to even")


def test_a_refusal_by_any_of_its_statuses() -> None:
    refused = Refused(Status.DIMENSIONS_MISMATCH, others=(Status.INVALID_ARGUMENT,))
    for status, right in [("DIMENSIONS_MISMATCH", 1), ("INVALID_ARGUMENT", 1), ("OUT_OF_RANGE", 0)]:
        found = verdict(case(refused), Answer(status), statuses=True)
        assert found.passed == right, status
    assert "DIMENSIONS_MISMATCH or INVALID_ARGUMENT" in (found.problem or "")


@pytest.mark.parametrize(
    ("off", "passed", "inaccurate"),
    [(0, True, False), (1, False, True), (1000, False, True), (100_000, False, False)],
)
def test_half_of_the_digits(off: int, passed: bool, inaccurate: bool) -> None:
    wanted = (Output("float32", (1,), (real(1.0),), ulp=0.5),)
    found = verdict(case(wanted), answered(1.0 + off * 2.0**-23), True)
    assert (found.passed, found.inaccurate) == (passed, inaccurate)


def test_the_allowed_error_many_times() -> None:
    wanted = (Output("float32", (1,), (real(0.0),), allowed=(Fraction(1, 2**23),)),)
    for found, inaccurate in [(2.0**-22, True), (2.0**-20, True), (2.0**-19, False)]:
        assert verdict(case(wanted), answered(found), True).inaccurate == inaccurate


@pytest.mark.parametrize(
    ("truth", "answer", "inaccurate"),
    [
        (-0.0, 0.0, True),  # the sign of a zero
        (1e-40, 0.0, True),  # a subnormal number that is flushed
        (1e-30, 0.0, False),
        (float("inf"), float("nan"), False),
        (1.0, -1.0, False),
        (1.0, float("nan"), False),
    ],
)
def test_what_is_quality_and_what_is_wrong(truth: float, answer: float, inaccurate: bool) -> None:
    found = verdict(case((Output("float32", (1,), (real(truth),)),)), answered(answer), True)
    assert not found.passed
    assert found.inaccurate == inaccurate


def test_checks_are_lenient_too() -> None:
    mat = tensor("float32", [4.0, 0.0, 0.0, 9.0], (2, 2))
    one = Case(
        "cholesky", "plain", "float32", "diagonal", {"upper": "L", "mat": mat},
        lambda: Check("cholesky_factor", {"mat": mat}),
    )  # fmt: skip
    for first, passed, inaccurate in [(2.0, 1, 0), (2.000005, 0, 1), (2.0005, 0, 0)]:
        given = Answer("SUCCESS", [tensor("float32", [first, 0.0, 0.0, 3.0], (2, 2))])
        found = verdict(one, given, True)
        assert (found.passed, found.inaccurate) == (bool(passed), bool(inaccurate)), first


def test_frozen_cases_keep_readings_and_bases() -> None:
    one = case(replace(TIES, throughout=True), basis="quality", because="nobody asks for it")
    again = case_of(line_of(one))
    assert again.expect() == one.expect()
    assert (again.basis, again.because) == ("quality", "nobody asks for it")
    refused = case(Refused(Status.OUT_OF_RANGE, others=(Status.TYPE_MISMATCH,)))
    assert case_of(line_of(refused)).expect() == refused.expect()


def test_a_case_with_readings_is_one_of_reading() -> None:
    assert why(case(TIES), TIES).basis == "interpretation"
    assert why(case(TIES), TIES).clause == "E86"
    assert why(case(TIES, basis="quality"), TIES).basis == "quality"
