"""Correct rounding of exact and of float64 numbers to the formats of floats, ties to even.

Nothing here converts through another format: float64 to bfloat16 by way of float32 rounds twice.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Format:
    """A format of floats."""

    bits: int
    """Of the significand, the hidden one too."""
    lowest: int
    """The exponent of the smallest normal number."""
    largest: float
    infinity: bool = True

    @property
    def least(self) -> float:
        """The smallest number above zero."""
        return math.ldexp(1.0, self.lowest - self.bits + 1)

    @property
    def widest(self) -> float:
        """The distance between the largest numbers."""
        return math.ldexp(1.0, math.frexp(self.largest)[1] - self.bits)


ROUNDED = {
    "float8_e4m3fn": Format(4, -6, 448.0, infinity=False),
    "float8_e5m2": Format(3, -14, 57344.0),
    "float16": Format(11, -14, 65504.0),
    "bfloat16": Format(8, -126, math.ldexp(255, 120)),
    "float32": Format(24, -126, math.ldexp(2**24 - 1, 104)),
    "float64": Format(53, -1022, math.ldexp(2**53 - 1, 971)),
}
"""The formats by the names of dtypes."""


def unit_of(dtype: str) -> float:
    """Return the unit roundoff: half the distance from 1 to the next number."""
    return math.ldexp(1.0, -ROUNDED[dtype].bits)


def units(x: NDArray[np.float64], form: Format) -> NDArray[np.float64]:
    """Return the distance between neighbours of a format, at numbers of any precision.

    >>> units(np.array([1.0, 1.5, 0.9, 0.0]), ROUNDED["float16"]).tolist()
    [0.0009765625, 0.0009765625, 0.00048828125, 5.960464477539063e-08]
    """
    exponents = (np.ascontiguousarray(x, np.float64).view(np.int64) >> 52) & 0x7FF
    np.maximum(exponents, form.lowest + 1023, out=exponents)
    exponents -= form.bits - 1
    if form.bits == 53:  # its subnormal numbers have no such exponent
        return np.asarray(np.ldexp(1.0, exponents - 1023))
    exponents <<= 52
    return exponents.view(np.float64)


def rounded(x: NDArray[np.float64], dtype: str) -> NDArray[np.float64]:
    """Return float64 numbers rounded to a format, as float64.

    >>> rounded(np.array([1 + 2.0**-8, 1 + 3 * 2.0**-8, 70000.0]), "bfloat16").tolist()
    [1.0, 1.015625, 70144.0]
    """
    form = ROUNDED[dtype]
    if dtype == "float64":
        return np.array(x, np.float64)
    with np.errstate(all="ignore"):
        exponent = np.maximum(np.frexp(x)[1] - 1, form.lowest) - form.bits + 1
        found = np.ldexp(np.rint(np.ldexp(x, -exponent)), exponent)
        over = np.copysign(np.inf if form.infinity else np.nan, x)
        found = np.where(np.abs(found) > form.largest, over, found)
    found = np.where(np.isfinite(x), found, x if form.infinity else np.nan)
    return np.asarray(np.where(found == 0, np.copysign(0.0, x), found))


def round_exact(x: Any, dtype: str) -> float:
    """Return an exact number, of mpmath, rounded to a format.

    >>> import mpmath
    >>> round_exact(mpmath.mpf(65520), "float16"), round_exact(mpmath.mpf(1) / 3, "float8_e5m2")
    (inf, 0.3125)
    """
    form = ROUNDED[dtype]
    if x != x or x in (math.inf, -math.inf):
        return float(x) if form.infinity else math.nan
    mantissa, exponent = int(x.man), int(x.exp)
    if not mantissa:
        return 0.0
    negative = x < 0
    top = abs(mantissa).bit_length() + exponent - 1
    # Of exp(1e9), all digits of the whole number would be computed.
    if top < form.lowest - form.bits:
        return -0.0 if negative else 0.0
    if top > math.frexp(form.largest)[1]:
        found = math.inf if form.infinity else math.nan
        return -found if negative else found
    whole = Fraction(abs(mantissa)) * Fraction(2) ** exponent
    step = max(top, form.lowest) - form.bits + 1
    count = round(whole / Fraction(2) ** step)  # ties to even
    size = Fraction(count) * Fraction(2) ** step
    if size > Fraction(form.largest):
        found = math.inf if form.infinity else math.nan
    else:
        found = float(size)
    return -found if negative else found
