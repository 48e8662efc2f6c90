"""interpolate in fractions: along one axis after the other, nothing rounded."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


def terms(mode: str, n: int, out: int, i: int) -> dict[int, Fraction]:
    """Return the elements of n that element i of `out` is made of, and how much each counts."""
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


def exactly(x: Array, sizes: Sequence[int], mode: str) -> Array:
    """Return the true values of an array of finite numbers, as fractions."""
    found = np.array([Fraction(float(v)) for v in x.ravel()], object).reshape(x.shape)
    for axis, out in enumerate(sizes, 2):
        rows = []
        for i in range(out):
            parts = terms(mode, x.shape[axis], out, i).items()
            rows.append(sum(np.take(found, k, axis) * weight for k, weight in parts))
        found = np.stack(rows, axis)
    return found
