"""7.2.13: the bounds of sums let every reasonable order pass, and no wrong sum."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cache, reduce
from operator import add

import numpy as np
import pytest

from suanzi.conformance.cases import Wanted, cases
from suanzi.conformance.judging.verdict import Answer, verdict
from suanzi.conformance.model.case import Case
from suanzi.conformance.model.data import numbers, tensor
from suanzi.conformance.model.numbers import FORMATS, NARROW, compute_format, real

Row = Sequence[float]
FLOATS = list(FORMATS)


@cache
def sums(dtype: str, mode: str = "SUM") -> list[Case]:
    """The cases whose rows are long enough to go wrong, and of one sign."""
    wanted = Wanted(groups=frozenset({"plain"}), dtypes=frozenset({dtype}))
    return [
        replace(c, expect=cache(c.expect))
        for c in cases("reduce", wanted)
        if c.title.startswith(mode) and "of one sign" in c.title
    ]


@cache
def cancelling(dtype: str) -> list[Case]:
    wanted = Wanted(groups=frozenset({"special"}), dtypes=frozenset({dtype}))
    found = (c for c in cases("reduce", wanted) if c.title == "SUM where most cancels")
    return [replace(c, expect=cache(c.expect)) for c in found]


def rows_of(case: Case) -> list[list[float]]:
    x = case.arguments["input"]
    n, m = x.shape
    found = numbers(x)
    if case.arguments["axis"] == [1]:
        return [found[i * m : (i + 1) * m] for i in range(n)]
    return [found[i::m] for i in range(m)]


def passes(case: Case, add_up: Callable[[Row], Fraction]) -> bool:
    """Whether a way to add rows passes a case; its results are rounded once more."""
    rows = rows_of(case)
    made = [add_up(row) for row in rows]
    if case.arguments["mode"] == "MEAN":
        made = [m / len(row) for m, row in zip(made, rows, strict=True)]
    return verdict(case, Answer("SUCCESS", [tensor(case.dtype, [*map(real, made)])]), True).passed


def in_order(name: str) -> Callable[[Row], Fraction]:
    """One element after the other, each sum rounded to a dtype of NumPy or ml_dtypes."""
    made = np.dtype(name).type

    def add_up(row: Row) -> Fraction:
        return Fraction(float(reduce(add, map(made, row), made(0))))

    return add_up


def in_pairs(name: str) -> Callable[[Row], Fraction]:
    def add_up(row: np.ndarray) -> float:
        half = len(row) // 2
        return row[0] if len(row) == 1 else add_up(row[:half]) + add_up(row[half:])

    return lambda row: Fraction(float(add_up(np.array(row, name))))


def exact(row: Row) -> Fraction:
    ratios = [x.as_integer_ratio() for x in row]
    below = max(denominator for _, denominator in ratios)
    return Fraction(sum(above * (below // of) for above, of in ratios), below)


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
        assert passes(case, lambda row: in_order(name)(sorted(row)))


WRONG: dict[str, Callable[[Row], Fraction]] = {
    "a thousandth more": lambda row: exact(row) * Fraction(1001, 1000),
    "a thousandth less": lambda row: exact(row) * Fraction(999, 1000),
    "the first left out": lambda row: exact(row[1:]),
    "the last left out": lambda row: exact(row[:-1]),
    "the largest left out": lambda row: exact(sorted(row)[:-1]),
    "the first twice": lambda row: exact([row[0], *row]),
    "one too many": lambda row: exact([*row, 1.0]),
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
