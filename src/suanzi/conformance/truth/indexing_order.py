"""7.2.14: the order of numbers in plain Python: NaN is the largest, equal ones keep theirs."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from suanzi.conformance.model.numbers import Real, Value, real


def rank(x: Value | float) -> tuple[int, Fraction | int]:
    """Return what sorts as a number does; all NaN are equal, and so are the zeros.

    >>> sorted([2.0, float("nan"), float("-inf"), -0.0], key=rank)
    [-inf, -0.0, 2.0, nan]
    """
    assert not isinstance(x, tuple)
    if isinstance(x, int):
        return 0, x
    number = x if isinstance(x, Real) else real(x)
    if number.is_nan:
        return 2, 0
    if number.size is None:
        return (-1 if number.negative else 1), 0
    return 0, number.value


def sorted_indices(row: Sequence[Value | float], descending: bool) -> list[int]:
    """Return where the elements are in order; equal ones as they are in the row.

    >>> sorted_indices([1, 3, 1, 3], True)
    [1, 3, 0, 2]
    """
    return sorted(range(len(row)), key=lambda i: rank(row[i]), reverse=descending)


def first_best(row: Sequence[Value | float], least: bool) -> int:
    """Return the place of the first NaN; else of the first largest or least element.

    >>> first_best([1, 3, 0, 3, 0], False), first_best([1, 3, 0, 3, 0], True)
    (1, 2)
    """
    ranks = [rank(x) for x in row]
    if (2, 0) in ranks:
        return ranks.index((2, 0))
    return ranks.index(min(ranks) if least else max(ranks))
