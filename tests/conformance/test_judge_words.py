"""What the judge lets pass and what it says of an output, where a mutant of it was not seen."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from suanzi.conformance.judging.judge import judge, lenient, show
from suanzi.conformance.model.case import Output
from suanzi.conformance.model.data import tensor
from suanzi.conformance.model.numbers import real, two


def output(dtype: str, truth: list[Any], **more: Any) -> Output:
    exact = tuple(real(x) if isinstance(x, float | Fraction) else x for x in truth)
    return Output(dtype, (len(exact),), exact, **more)


@pytest.mark.parametrize("dtype", ["float32", "int16"])
def test_elements_that_are_free_may_be_anything(dtype: str) -> None:
    number = float if dtype == "float32" else int
    right = [number(x) for x in (1, 2, 3)]
    other = [number(x) for x in (1, 7, 3)]
    assert judge(tensor(dtype, other), output(dtype, right, free=(1,))).problem is None
    problem = judge(tensor(dtype, other), output(dtype, right, free=(0, 2))).problem
    assert problem == "1 of 3 elements: [1] 7, not 2"


def test_below_the_smallest_normal_number_zero_will_do_leniently() -> None:
    normal = two(-126)
    for share, passes in ((Fraction(1, 8), True), (1, True), (Fraction(9, 8), False)):
        wanted = output("float32", [normal * share], ulp=0.5)
        assert judge(tensor("float32", [0.0]), wanted).problem is not None
        found = judge(tensor("float32", [0.0]), lenient(wanted))
        assert (found.problem is None) is passes


def test_half_of_the_digits_must_be_right_leniently() -> None:
    """Of float32's 24 bits, 12: 2**11 units."""
    unit = two(-23)
    wanted = lenient(output("float32", [1.0], ulp=0.5))
    assert judge(tensor("float32", [float(1 + 2**11 * unit)]), wanted).problem is None
    assert judge(tensor("float32", [float(1 + 2**11 * unit + unit)]), wanted).problem is not None


@pytest.mark.parametrize(
    ("dtype", "found", "truth", "words"),
    [
        ("float32", -2.0, 2.0, " (the sign)"),
        ("float32", -0.0, 0.0, " (the sign of zero)"),
        ("float32", -3.0, 2.0, ""),
        ("float32", float("nan"), 2.0, ""),
        ("float32", float("-inf"), float("inf"), " (the sign)"),
    ],
)
def test_a_sign_alone_is_named(dtype: str, found: float, truth: float, words: str) -> None:
    problem = judge(tensor(dtype, [found]), output(dtype, [truth])).problem
    assert problem is not None
    assert problem.partition(f"not {truth:g}")[2] == words


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 2, 0)])
def test_the_error_told_is_the_nearest_to_what_is_allowed(order: tuple[int, ...]) -> None:
    """Of three: 9 units of 10, 20 of 100, 1 of 4: neither the largest nor the narrowest."""
    unit = two(-23)
    units = [(9, 10), (20, 100), (1, 4)]
    found = [float(1 + units[i][0] * unit) for i in order]
    allowed = tuple(units[i][1] * unit for i in order)
    seen = judge(tensor("float32", found), output("float32", [1.0] * 3, allowed=allowed))
    assert (seen.problem, seen.ulp, seen.bound) == (None, 9.0, 10.0)


def test_the_sign_of_zero_is_let_go_leniently() -> None:
    for found, truth in ((-0.0, 0.0), (0.0, -0.0)):
        wanted = output("float32", [truth], ulp=0.5, zero_sign=True)
        assert judge(tensor("float32", [found]), wanted).problem is not None
        assert judge(tensor("float32", [found]), lenient(wanted)).problem is None


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (real(Fraction(2) ** 2000), "2^2000"),
        (real(-(Fraction(2) ** 2000)), "-2^2000"),
        (real(Fraction(3) ** 1300), "2^2060"),
        (real(0.1), "0.10000000000000001"),
        (real(float("-inf")), "-inf"),
        ((real(1), real(-2)), "(1, -2)"),
    ],
)
def test_numbers_in_few_characters(value: Any, shown: str) -> None:
    assert show(value) == shown


def test_an_error_across_zero_is_the_distance() -> None:
    """From -3 to 2 it is 5, neither 1 nor 7: in units of the last place of 2."""
    unit = two(-22)
    for found, truth in ((-3.0, 2.0), (3.0, -2.0)):
        judged = judge(tensor("float32", [found]), output("float32", [truth], ulp=1e9))
        assert judged.ulp == float(5 / unit)
        assert judged.max_relative == pytest.approx(2.5)


def test_answers_are_shown_to_a_hundred_characters() -> None:
    from suanzi.conformance.judging.verdict import _show

    for length in (1, 98, 99):
        assert _show("x" * (length - 2)) == repr("x" * (length - 2))
    for length in (100, 101, 5000):
        assert _show("x" * (length - 2)) == "'" + "x" * 96 + "..."
