"""7.2.18: interpolate in fractions: along one axis after the other, nothing rounded."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import product


def terms(mode: str, n: int, out: int, i: int) -> dict[int, Fraction]:
    """Return the elements of n that element i of `out` is made of, and how much each counts.

    >>> terms("linear", 2, 4, 1)
    {0: Fraction(3, 4), 1: Fraction(1, 4)}
    """
    if mode == "nearest":
        return {math.floor(Fraction(i * n, out)): Fraction(1)}
    if mode == "area":
        window = range(math.floor(Fraction(i * n, out)), math.ceil(Fraction((i + 1) * n, out)))
        return dict.fromkeys(window, Fraction(1, len(window)))
    at = (i + Fraction(1, 2)) * Fraction(n, out) - Fraction(1, 2)
    at = max(Fraction(0), min(Fraction(n - 1), at))
    low = math.floor(at)
    found = {low: 1 - (at - low), low + 1: at - low}
    return {k: w for k, w in found.items() if w}


def weights(
    mode: str, shape: Sequence[int], sizes: Sequence[int], index: Sequence[int]
) -> Mapping[tuple[int, ...], Fraction]:
    """Return the elements of several axes that one of `sizes` is made of, and their weights."""
    along = [terms(mode, n, out, i) for n, out, i in zip(shape, sizes, index, strict=True)]
    return {
        tuple(k for k, _ in chosen): math.prod((w for _, w in chosen), start=Fraction(1))
        for chosen in product(*(each.items() for each in along))
    }
