"""Sums and means judged by fractions, and the bounds that suanzi states."""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

from suanzi.conformance.model.numbers import FORMATS, exponent_of, two


def nearest(value: Fraction, name: str) -> Fraction:
    """Return a number rounded to a format, ties to even, as if that had no largest."""
    form = FORMATS[name]
    if value == 0:
        return value
    exponent = exponent_of(*abs(value).as_integer_ratio())
    step = two(max(exponent, 1 - form.bias) - form.mantissa)
    return round(value / step) * step


def sum_bound(name: str, count: int) -> Fraction:
    """Return the stated bound of a sum before its last rounding, in sums of magnitudes."""
    digits = 53 if name in ("float32", "float64") else 24
    blocks = max(1, -(-count // 256))
    return Fraction(20 + math.ceil(math.log2(blocks)), 2**digits)


def running_bound(count: int) -> Fraction:
    """Return the stated bound of a running sum before its last rounding."""
    return Fraction(4 + 17 * math.ceil(math.log(max(count, 2), 16) - 1e-9), 2**53)


def within(got: Any, values: Iterable[Any], bound: Fraction, name: str, divisor: int = 1) -> None:
    """Raise unless a sum, or a mean, is as near as the bound and one rounding allow."""
    exact = [Fraction(v) for v in values]
    total, reach = sum(exact) / divisor, bound * sum(map(abs, exact)) / divisor
    low, high = nearest(total - reach, name), nearest(total + reach, name)
    assert low <= Fraction(got) <= high, (got, float(total), float(low), float(high))
