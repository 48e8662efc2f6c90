"""How numbers are written: with as many digits as identify them in their dtype, and no more.

A whole number is written in full where that is not long. Any other is a decimal fraction, or all
are in scientific notation where one of them is too small or too large to be read otherwise.

>>> from suanzi.dtypes import bfloat16, float32
>>> texts([0.10009765625, 3.0], bfloat16)
['0.1', '3']
>>> texts([1e-20, 0.25, 3.0], float32)
['1e-20', '2.5e-01', '3']
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import cache, lru_cache
from typing import Any, NamedTuple

from suanzi.base.dtypes import DType, finfo, float16, float32, float64, part
from suanzi.base.numpy import np
from suanzi.tensors.print_options import PrintOptions, in_force

SMALLEST = -4
"""The power of ten below which fractions are in scientific notation: that of 0.0001."""
SUPPRESSED_PRECISION = 8
"""The digits behind the point where scientific notation is suppressed, and no number was asked."""
_MOST_DIGITS = 1100  # float64 has no more of them behind the point


class Notation(NamedTuple):
    """How the numbers of one tensor are written."""

    dtype: DType
    scientific: bool
    exponent_digits: int
    precision: int | None


def texts(values: Sequence[Any], dt: DType, options: PrintOptions | None = None) -> list[str]:
    """Return elements of one dtype as text, all in one notation.

    They are Python's: bool, int, float, complex or bytes. Text read as a number of that dtype is
    the same number again, unless `options` limit its digits.
    """
    if not values or not isinstance(values[0], float | complex):
        return [repr(value) for value in values]
    floats = values
    if isinstance(values[0], complex):
        floats = [p for value in values for p in (value.real, value.imag)]
    notation = notation_for(floats, part(dt), in_force() if options is None else options)
    if floats is values:
        return [_text(value, notation) for value in values]
    return [_complex(value, notation) for value in values]


def notation_for(floats: Iterable[float], dt: DType, options: PrintOptions) -> Notation:
    """Return the notation in which all of some numbers are written."""
    precision = options.precision
    if options.suppress:
        digits = SUPPRESSED_PRECISION if precision is None else precision
        return Notation(dt, False, 2, min(digits, _MOST_DIGITS))
    if precision is not None:
        precision = min(precision, _MOST_DIGITS)
    sizes = [abs(value) for value in floats if value != 0 and math.isfinite(value)]
    smallest, largest = min(sizes, default=1.0), max(sizes, default=1.0)
    far = smallest < 1e-99 or largest >= 1e99
    scientific = shortest(smallest, dt)[1] < SMALLEST or largest >= _whole_below(dt)
    return Notation(dt, scientific, 3 if far else 2, precision)


def _whole_below(dt: DType) -> float:
    """Return where whole numbers are no longer written in full."""
    return 1e16 if dt is float64 else 1e8


def _complex(value: complex, notation: Notation) -> str:
    sign = "-" if math.copysign(1, value.imag) < 0 else "+"
    return f"{_text(value.real, notation)}{sign}{_text(abs(value.imag), notation)}j"


def _text(value: float, notation: Notation) -> str:
    if not math.isfinite(value):
        return str(value)
    full = abs(value) < _whole_below(notation.dtype)
    if value == int(value) and (full or not notation.scientific):
        return f"{value:.0f}"
    if notation.scientific:
        return _scientific(value, notation)
    return _fixed(value, notation)


def _fixed(value: float, notation: Notation) -> str:
    digits, exponent = shortest(abs(value), notation.dtype)
    behind = max(len(digits) - 1 - exponent, 0)
    if notation.precision is not None and behind > notation.precision:
        return _trimmed(f"{value:.{notation.precision}f}")
    before = digits[: exponent + 1].ljust(exponent + 1, "0") if exponent >= 0 else "0"
    after = digits[exponent + 1 :] if exponent >= 0 else "0" * (-exponent - 1) + digits
    return f"{'-' * (value < 0)}{before}{'.' * bool(after)}{after}"


def _scientific(value: float, notation: Notation) -> str:
    digits, exponent = shortest(abs(value), notation.dtype)
    head = f"{'-' * (value < 0)}{digits[0]}{'.' * (len(digits) > 1)}{digits[1:]}"
    if notation.precision is not None and len(digits) - 1 > notation.precision:
        head, _, power = f"{value:.{notation.precision}e}".partition("e")
        head, exponent = _trimmed(head), int(power)
    return f"{head}e{'-' if exponent < 0 else '+'}{abs(exponent):0{notation.exponent_digits}}"


def _trimmed(text: str) -> str:
    return text.rstrip("0").rstrip(".") if "." in text else text


@lru_cache(maxsize=4096)
def shortest(value: float, dt: DType) -> tuple[str, int]:
    """Return the fewest decimal digits that identify a positive number of a dtype, and the place.

    The place is the power of ten of the first digit.

    >>> from suanzi.dtypes import bfloat16, float32
    >>> shortest(0.3333333432674408, float32), shortest(0.333984375, bfloat16)
    (('33333334', -1), ('334', -1))
    """
    if dt in (float16, float32, float64):
        number = np.float64(value).astype(dt.name)
        head, _, power = np.format_float_scientific(number, trim="-").partition("e")
        return head.replace(".", ""), int(power)
    lower, upper = _part_of(value, dt)
    for count in range(1, 18):
        head, _, power = f"{value:.{count - 1}e}".partition("e")
        nearest, place = int(head.replace(".", "")), int(power) - count + 1
        # Right above a power of two, the gap below is half of that above: the nearest decimal may
        # lie in another number's part, and its neighbour in this one's.
        for digits in (nearest, nearest + 1, nearest - 1):
            if lower < float(f"{digits}e{place}") < upper:
                text = str(digits)
                return text.rstrip("0"), len(text) - 1 + place
    raise AssertionError(f"17 digits identify {value}")


_limits = cache(finfo)


def _part_of(value: float, dt: DType) -> tuple[float, float]:
    """Return the ends of what is rounded to a positive number of a dtype narrower than float64."""
    facts = _limits(dt)
    fraction, exponent = math.frexp(value)
    gap = math.ldexp(1, max(exponent, math.frexp(facts.smallest_normal)[1]) - facts.precision)
    narrower = fraction == 0.5 and value > facts.smallest_normal
    return value - gap / (4 if narrower else 2), value + gap / 2
