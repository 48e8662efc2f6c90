"""Functions of two narrow numbers, and their exact results by mpmath."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np

import suanzi as sz
from helpers.functions import Array, every_level
from suanzi.tensors.exchange import numpy_dtype
from suanzi.truth.rounding import round_exact

xp = sz.array_api


def _power(x: float, y: float) -> Any:
    if x == 1 or y == 0:
        return mpmath.mpf(1)
    if not (x and math.isfinite(x) and math.isfinite(y)):
        try:
            return mpmath.mpf(math.pow(x, y))
        except ValueError:  # a zero, to a negative power
            odd = y.is_integer() and y % 2
            return mpmath.mpf(math.copysign(math.inf, x) if odd else math.inf)
    if x < 0 and not y.is_integer():
        return mpmath.nan
    size = y * math.log2(abs(x))
    if abs(size) > 400:  # beyond the range, and dear
        found = mpmath.mpf(2) ** (400 if size > 0 else -400)
        return -found if x < 0 and y % 2 else found
    root, whole = mpmath.mpf(abs(x)), y
    while not whole.is_integer():  # square roots of squares are exact, and exp(y log(x)) is not
        root, whole = mpmath.sqrt(root), 2 * whole
    found = root ** int(whole)
    return -found if x < 0 and y % 2 else found


def _quotient(x: float, y: float) -> Any:
    if y == 0 or not (math.isfinite(x) and math.isfinite(y)):
        with np.errstate(all="ignore"):
            return mpmath.mpf(float(np.float64(x) / np.float64(y)))
    return mpmath.mpf(x) / mpmath.mpf(y)


def _angle(y: float, x: float) -> Any:
    if not (x and y and math.isfinite(x) and math.isfinite(y)):
        return mpmath.mpf(math.atan2(y, x))
    return mpmath.atan2(mpmath.mpf(y), mpmath.mpf(x))


def _length(x: float, y: float) -> Any:
    if not (math.isfinite(x) and math.isfinite(y)):
        return mpmath.mpf(math.hypot(x, y))
    return mpmath.sqrt(mpmath.mpf(x) ** 2 + mpmath.mpf(y) ** 2)


def _log_of_sum(x: float, y: float) -> Any:
    if math.isnan(x) or math.isnan(y):
        return mpmath.nan
    if math.inf in (x, y):
        return mpmath.inf
    parts = [mpmath.exp(mpmath.mpf(v)) for v in (x, y) if v != -math.inf]
    return mpmath.log(mpmath.fsum(parts)) if parts else -mpmath.inf


OPERATORS: dict[str, tuple[Callable[..., Any], Callable[[float, float], Any]]] = {
    "pow": (sz.pow, _power),
    "div": (sz.div, _quotient),
    "atan2": (xp.atan2, _angle),
    "hypot": (xp.hypot, _length),
    "logaddexp": (xp.logaddexp, _log_of_sum),
}


def wrong_pairs(name: str, dtype: str, part: slice) -> list[tuple[str, float, float, float, float]]:
    """Return what is not correctly rounded of a part of all pairs: level, x, y, result, due.

    A pair's number has the bits of x above those of y.
    """
    bits = 8 * sz.dtype(dtype).itemsize
    numbers = np.arange(*part.indices(1 << (2 * bits)), dtype=np.uint64)
    kind = numpy_dtype(sz.dtype(dtype))
    mask = np.uint64((1 << bits) - 1)
    stored = [
        (n & mask).astype(f"u{bits // 8}").view(kind) for n in (numbers >> np.uint64(bits), numbers)
    ]
    function, exact = OPERATORS[name]
    x, y = map(_plain, stored)
    with mpmath.workprec(400):
        due = [round_exact(exact(a, b), dtype) for a, b in zip(x, y, strict=True)]
    wrong = []
    for level in every_level():
        found = _plain(function(*map(sz.tensor, stored)).numpy())
        for a, b, c, d in zip(x, y, found, due, strict=True):
            if not (c == d or (math.isnan(c) and math.isnan(d))):
                wrong.append((level, a, b, c, d))
    return wrong


def _plain(x: Array) -> list[float]:
    with np.errstate(invalid="ignore"):  # signalling NaN
        made: list[float] = x.astype(np.float64).tolist()
    return made
