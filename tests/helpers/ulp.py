"""The error of a floating-point result, in units of the last place (ULP) of the true value.

The truth is either an ``mpmath.mpf`` of 60 digits, or a Python float where the answer is exact and
its sign or kind matters: NaN, an infinity, a zero of one sign.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import mpmath

import suanzi as sz
from suanzi.conformance.functions import Truth, mp


@dataclass(frozen=True)
class Format:
    """A binary format: the bits of its significand and the exponents of its normal numbers."""

    precision: int
    min_exponent: int
    max_exponent: int


# Written out, so that a wrong entry in suanzi's own list of dtypes is seen.
FORMATS = {
    sz.float8_e5m2: Format(3, -14, 15),
    sz.float16: Format(11, -14, 15),
    sz.bfloat16: Format(8, -126, 127),
    sz.float32: Format(24, -126, 127),
    sz.float64: Format(53, -1022, 1023),
}


def ulp_at(truth: mpmath.mpf, dtype: sz.DType) -> mpmath.mpf:
    """Return the distance between neighbours of a format around a value."""
    form = FORMATS[dtype]
    exponent = int(mp.frexp(truth)[1]) - 1 if truth else form.min_exponent
    bounded = min(max(exponent, form.min_exponent), form.max_exponent)
    return mp.ldexp(1, bounded - form.precision + 1)


def error(found: float, truth: Truth, dtype: sz.DType) -> float:
    """Return how many ULP a result is from the truth; infinite where its kind or sign is wrong.

    An infinity counts as the first power of two that overflows: for a truth beyond that it is
    right, and for one just below the threshold of overflow it is about half an ULP off.
    """
    if isinstance(truth, float) and (truth == 0 or not math.isfinite(truth)):
        same = math.isnan(found) if math.isnan(truth) else found == truth
        same_sign = math.isnan(truth) or math.copysign(1, found) == math.copysign(1, truth)
        return 0.0 if same and same_sign else math.inf
    truth = mp.mpf(truth)
    if math.isnan(found) or (truth != 0 and math.copysign(1, found) != mp.sign(truth)):
        return math.inf
    overflow = mp.ldexp(1, FORMATS[dtype].max_exponent + 1)
    value = mp.mpf(found) if math.isfinite(found) else mp.sign(truth) * overflow
    bounded = max(min(truth, overflow), -overflow)
    return float(abs(value - bounded) / ulp_at(bounded, dtype))


def worst_error(
    found: Iterable[float], truths: Iterable[Truth], dtype: sz.DType
) -> tuple[float, int]:
    """Return the largest error and where it is; (0, -1) for no results at all."""
    worst, where = 0.0, -1
    for i, (value, truth) in enumerate(zip(found, truths, strict=True)):
        off = error(value, truth, dtype)
        if off > worst or where < 0:
            worst, where = off, i
    return worst, where


def assert_within(
    limit: float,
    arguments: Iterable[object],
    found: Iterable[float],
    truths: Iterable[Truth],
    dtype: sz.DType,
    what: str = "",
) -> float:
    """Raise AssertionError if a result is more than `limit` ULP off; return the largest error."""
    arguments, found, truths = list(arguments), list(found), list(truths)
    if not len(arguments) == len(found) == len(truths):
        raise AssertionError(
            f"{what}: {len(arguments)} arguments, {len(found)} results, {len(truths)} truths"
        )
    worst, where = worst_error(found, truths, dtype)
    # Correct rounding is at most half an ULP; a truth halfway is exact, so no slack is needed.
    if not worst <= limit:
        raise AssertionError(
            f"{what} of {arguments[where]!r} is {found[where]!r} in {dtype}, {worst:.3f} ULP from "
            f"{mp.nstr(mp.mpf(truths[where]), 20)}; at most {limit} are allowed."
        )
    return worst


def truths_of(function: Callable[[mpmath.mpf], Truth], arguments: Iterable[float]) -> list[Truth]:
    """Return a function of 60 digits at each argument."""
    return [function(mp.mpf(x)) for x in arguments]
