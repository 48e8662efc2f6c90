"""The expected results of a call, as bounds of each element that programs can assert."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from suanzi.conformance.model.expected import Check, Either, Expected, Output, Refused
from suanzi.conformance.model.numbers import (
    FORMATS,
    NARROW,
    PARTS,
    Format,
    Real,
    Value,
    decode,
    real,
    rounded,
    spacing,
    two,
)

Number = int | float
_MOST_ELEMENTS = 4000
"""Longer results are not written down."""


@dataclass(frozen=True)
class Range:
    """A tensor whose elements lie between two numbers; NaN means NaN.

    A zero between two zeros has the sign of one of them. Complex elements are two numbers each.
    """

    dtype: str
    shape: tuple[int, ...]
    least: tuple[Number, ...]
    most: tuple[Number, ...]
    min2maj: tuple[int, ...] | None = None


@dataclass(frozen=True)
class Way:
    """One possible outcome of a call: a refusal by one of the statuses, or outputs."""

    statuses: tuple[str, ...] = ()
    outputs: tuple[Any, ...] = ()
    """Each a Range, a list of them, a plain value, or None where only the kit can check it."""


def ways(expected: Expected, outputs: int, statuses: bool = True) -> list[Way]:
    """Return every possible outcome of a call with so many outputs.

    >>> from suanzi.status import Status
    >>> ways(Refused(Status.INVALID_ARGUMENT), 1)
    [Way(statuses=('INVALID_ARGUMENT',), outputs=())]
    >>> ways((5, [1, 2]), 2)
    [Way(statuses=(), outputs=(5, [1, 2]))]
    """
    if isinstance(expected, Either):
        found = [ways(one, outputs, statuses) for one in expected.readings.values()]
        return [way for some in found for way in some]
    if isinstance(expected, Refused):
        refused = Way(tuple(dict.fromkeys(s.name for s in expected.statuses)))
        if statuses or expected.instead is None:
            return [refused]
        return [refused, Way(outputs=tuple(map(_one, expected.instead)))]
    if isinstance(expected, Check):
        return [Way(outputs=(None,) * outputs)]
    return [Way(outputs=tuple(map(_one, expected)))]


def _one(right: Any) -> Any:
    if isinstance(right, Output):
        return range_of(right)
    if isinstance(right, Check):
        return None
    if isinstance(right, list | tuple):
        some = [_one(one) for one in right]
        return some if any(isinstance(one, Range) for one in some) else list(right)
    return right


def range_of(wanted: Output) -> Range | None:
    """Return the bounds of the elements; None if they are not sufficient.

    >>> range_of(Output("float32", (2,), (real(0.5), real(float("nan")))))
    Range(dtype='float32', shape=(2,), least=(0.5, nan), most=(0.5, nan), min2maj=None)
    """
    if wanted.scale is not None or wanted.sparse is not None or len(wanted.truth) > _MOST_ELEMENTS:
        return None
    part = PARTS.get(wanted.dtype, wanted.dtype)
    form = FORMATS.get(part)
    found: list[tuple[Number, Number]] = []
    for i, truth in enumerate(wanted.truth):
        if form is None:
            found.append(_integers(truth, wanted.allowed[i] if wanted.allowed else Fraction(0)))
            continue
        parts = truth if isinstance(truth, tuple) else (_real(truth),)
        off = _allowed(form, wanted, i, parts)
        found += [_floats(form, x, off, part in NARROW, wanted.zero_sign) for x in parts]
    least, most = zip(*found, strict=True) if found else ((), ())
    return Range(wanted.dtype, wanted.shape, least, most, wanted.min2maj)


def _allowed(form: Format, wanted: Output, i: int, parts: Sequence[Real]) -> Fraction | None:
    """Return the allowed error of an element; None if it is rounded."""
    if wanted.allowed is not None:
        return wanted.allowed[i]
    if wanted.ulp is None:
        return None
    sizes = [Fraction(0) if p.size is None or p.is_nan else p.size for p in parts]
    return Fraction(wanted.ulp) * two(max(spacing(form, size) for size in sizes))


def _integers(truth: Value, allowed: Fraction) -> tuple[int, int]:
    assert not isinstance(truth, tuple)
    exact = truth.value if isinstance(truth, Real) else Fraction(truth)
    return math.ceil(exact - allowed), math.floor(exact + allowed)


def _floats(
    form: Format, truth: Real, allowed: Fraction | None, narrow: bool, zero_sign: bool
) -> tuple[float, float]:
    if truth.is_nan:
        return math.nan, math.nan
    if truth.size is None:
        end = -math.inf if truth.negative else math.inf
        return end, end
    if allowed is not None:
        low, high = _float(truth.value - allowed, down=True), _float(truth.value + allowed)
        # An infinity stands for the first number that overflows.
        largest = decode(form, form.largest)
        end = _float(largest.value + two(spacing(form, largest.value)))
        return (-math.inf if low <= -end else low), (math.inf if high >= end else high)
    once = rounded(form, truth)
    some = [once, rounded(form, rounded(FORMATS["float32"], truth))] if narrow else [once]
    found = sorted(_number(x) for x in some)
    if not zero_sign and found[0] == found[-1] == 0:
        return -0.0, 0.0
    return found[0], found[-1]


def _number(x: Real) -> float:
    if x.is_nan:
        return math.nan
    size = math.inf if x.size is None else float(x.size)
    return -size if x.negative else size


def _float(x: Fraction, down: bool = False) -> float:
    """Return the nearest float on one side."""
    try:
        found = float(x)
    except OverflowError:
        return math.inf if x > 0 else -math.inf
    if down and found > x:
        return math.nextafter(found, -math.inf)
    return math.nextafter(found, math.inf) if not down and found < x else found


def _real(x: Value) -> Real:
    assert not isinstance(x, tuple)
    return x if isinstance(x, Real) else real(x)
