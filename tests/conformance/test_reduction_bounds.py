"""7.2.13: the bounds of sums let every reasonable order pass, and no wrong sum."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cache

import pytest

from suanzi.conformance.cases import Wanted, cases
from suanzi.conformance.judging.verdict import Answer, verdict
from suanzi.conformance.model.case import Case
from suanzi.conformance.model.data import tensor, values
from suanzi.conformance.model.numbers import (
    FORMATS,
    NARROW,
    Real,
    add,
    compute_format,
    real,
    rounded,
)

Row = Sequence[Real]
FLOATS = list(FORMATS)


@cache
def sums(dtype: str, mode: str = "SUM") -> list[Case]:
    """The cases whose rows are long enough to go wrong, and of one sign."""
    wanted = Wanted(groups=frozenset({"plain"}), dtypes=frozenset({dtype}))
    return [
        c for c in cases("reduce", wanted) if c.title.startswith(mode) and "of one sign" in c.title
    ]


@cache
def cancelling(dtype: str) -> list[Case]:
    wanted = Wanted(groups=frozenset({"special"}), dtypes=frozenset({dtype}))
    return [c for c in cases("reduce", wanted) if c.title == "SUM where most cancels"]


def rows_of(case: Case) -> list[list[Real]]:
    x = case.arguments["input"]
    n, m = x.shape
    found = [v for v in values(x) if isinstance(v, Real)]
    if case.arguments["axis"] == [1]:
        return [found[i * m : (i + 1) * m] for i in range(n)]
    return [found[i::m] for i in range(m)]


def passes(case: Case, add_up: Callable[[Row], Real]) -> bool:
    """Whether a way to add rows passes a case; its results are rounded once more."""
    rows = rows_of(case)
    made = [add_up(row) for row in rows]
    if case.arguments["mode"] == "MEAN":
        made = [real(m.value / len(row)) for m, row in zip(made, rows, strict=True)]
    return verdict(case, Answer("SUCCESS", [tensor(case.dtype, made)]), True).passed


def in_order(name: str) -> Callable[[Row], Real]:
    """One element after the other, each sum rounded to a format."""

    def add_up(row: Row) -> Real:
        made = real(0)
        for x in row:
            made = rounded(FORMATS[name], add(made, x))
        return made

    return add_up


def in_pairs(name: str) -> Callable[[Row], Real]:
    def add_up(row: Row) -> Real:
        if len(row) == 1:
            return row[0]
        half = len(row) // 2
        return rounded(FORMATS[name], add(add_up(row[:half]), add_up(row[half:])))

    return add_up


def exact(row: Row) -> Real:
    return real(sum((x.value for x in row), Fraction(0)))


def adding_format(dtype: str) -> str:
    return next(n for n, f in FORMATS.items() if f == compute_format(dtype))


@pytest.mark.parametrize("dtype", FLOATS)
def test_any_order_passes(dtype: str) -> None:
    name = adding_format(dtype)
    found = [*sums(dtype), *sums(dtype, "MEAN"), *cancelling(dtype)]
    assert len(found) >= 5
    for case in found:
        assert passes(case, exact), case.id
        assert passes(case, in_order(name)), case.id
        assert passes(case, in_pairs(name)), case.id
        assert passes(case, lambda row: in_order(name)(sorted(row, key=lambda x: x.value)))


WRONG: dict[str, Callable[[Row], Real]] = {
    "a thousandth more": lambda row: real(exact(row).value * Fraction(1001, 1000)),
    "a thousandth less": lambda row: real(exact(row).value * Fraction(999, 1000)),
    "the first left out": lambda row: exact(row[1:]),
    "the last left out": lambda row: exact(row[:-1]),
    "the largest left out": lambda row: exact(sorted(row, key=lambda x: x.value)[:-1]),
    "the first twice": lambda row: exact([row[0], *row]),
    "one too many": lambda row: exact([*row, real(1)]),
    "a negative sign": lambda row: -exact(row),
}


@pytest.mark.parametrize("mode", ["SUM", "MEAN"])
@pytest.mark.parametrize("wrong", WRONG)
@pytest.mark.parametrize("dtype", FLOATS)
def test_a_wrong_sum_fails(dtype: str, wrong: str, mode: str) -> None:
    assert sums(dtype, mode)
    for case in sums(dtype, mode):
        assert not passes(case, WRONG[wrong]), case.id


@pytest.mark.parametrize("dtype", NARROW)
def test_narrow_numbers_added_as_such_fail(dtype: str) -> None:
    """Not float32, in which they are added, but the dtype itself holds the sum so far."""
    long = [c for c in sums(dtype) if "1024" in c.title]
    assert len(long) == 2
    for case in long:
        assert not passes(case, in_order(dtype)), case.id
