"""Whether an answer is right: to the bit, or within a bound against the truth, which is not rounded.

An error counts in units of the last place of the truth (ULP), as a fraction: comparing with a
rounded reference would make 0.5 and 1 the same. Beside it stand CANN's measures, the mean and the
largest relative error.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from suanzi.conformance.model import Output
from suanzi.conformance.oracle import (
    FORMATS,
    NARROW,
    PARTS,
    Format,
    Real,
    Value,
    decode,
    real,
    rounded,
    two,
)
from suanzi.conformance.subjects.wire import Data
from suanzi.conformance.tensors import values

CANN_THRESHOLDS = {"float16": 2.0**-10, "bfloat16": 2.0**-7, "float32": 2.0**-13}
"""CANN's limits of the mean relative error; the largest may be ten times as much."""
_SMALL = Fraction(1, 10**7)


@dataclass(frozen=True)
class Judgement:
    """What was found of one output."""

    problem: str | None
    """What is wrong, in words; None if nothing is."""
    ulp: float | None = None
    """The largest error in units of the last place, of those that are finite."""
    bound: float | None = None
    mean_relative: float | None = None
    max_relative: float | None = None
    cann: bool | None = None
    """Whether CANN's limits are kept; None where it has none for the dtype."""


def show(x: Any) -> str:
    """Return a value in few characters."""
    if isinstance(x, tuple):
        return f"({show(x[0])}, {show(x[1])})"
    if not isinstance(x, Real):
        return str(x)
    if x.is_nan:
        return "nan"
    sign = "-" if x.negative else ""
    if x.size is None:
        return f"{sign}inf"
    try:
        return f"{sign}{float(x.size):.17g}"
    except OverflowError:
        return f"{sign}2^{x.size.numerator.bit_length() - x.size.denominator.bit_length()}"


def judge(found: Any, wanted: Output) -> Judgement:
    """Hold one output against what it must be."""
    if not isinstance(found, Data):
        return Judgement(f"{_short(found)} is no tensor")
    if found.dtype != wanted.dtype:
        return Judgement(f"dtype {found.dtype}, not {wanted.dtype}")
    if found.shape != wanted.shape:
        return Judgement(f"shape {list(found.shape)}, not {list(wanted.shape)}")
    if wanted.scale is not None and found.scale != wanted.scale:
        return Judgement(f"scale {_short(found.scale)}, not {_short(wanted.scale)}")
    if wanted.zero_point is not None and found.zero_point != wanted.zero_point:
        return Judgement(f"zero point {found.zero_point}, not {wanted.zero_point}")
    got = values(found)
    if len(got) != len(wanted.truth):
        return Judgement(f"{len(got)} elements, not {len(wanted.truth)}")
    part = PARTS.get(wanted.dtype, wanted.dtype)
    if part not in FORMATS:
        return _judge_integers(got, wanted)
    return _judge_floats(got, wanted, part)


def _judge_integers(got: list[Value], wanted: Output) -> Judgement:
    wrong = [
        i
        for i, (a, b) in enumerate(zip(got, wanted.truth, strict=True))
        if a != b and not _integer_near(a, b, wanted, i)
    ]
    return Judgement(_wrong(wrong, got, wanted) if wrong else None)


def _integer_near(a: Value, b: Value, wanted: Output, i: int) -> bool:
    if wanted.allowed is None:
        return False
    assert isinstance(a, int)
    exact = b.value if isinstance(b, Real) else b
    assert not isinstance(exact, tuple)
    return abs(a - exact) <= wanted.allowed[i]


def _judge_floats(got: list[Value], wanted: Output, part: str) -> Judgement:
    form, exact = FORMATS[part], wanted.ulp is None and wanted.allowed is None
    narrow = part in NARROW
    wrong: list[int] = []
    largest, total, most, counted = 0.0, Fraction(0), Fraction(0), 0
    for i, (a, b) in enumerate(zip(got, wanted.truth, strict=True)):
        for found, truth in zip(_parts(a), _parts(b), strict=True):
            if found.size is not None and found == truth:  # most are, and this is quick to see
                counted += 1
                continue
            unit = _unit_of(form, b)
            off = _error(form, found, truth)
            if off is not None:
                size = max(abs(truth.value), _SMALL)
                total, most, counted = total + off / size, max(most, off / size), counted + 1
                largest = max(largest, _float(off / unit))
            if exact:
                ok = _same(form, found, truth, narrow, wanted.zero_sign)
            elif off is None:
                ok = _same_kind(form, found, truth, wanted.zero_sign)
            elif wanted.allowed is not None:
                ok = off <= wanted.allowed[i]
            else:
                assert wanted.ulp is not None
                ok = off <= Fraction(wanted.ulp) * unit
                ok = ok and (not wanted.zero_sign or _sign_kept(found, truth))
            if not ok and i not in wrong[-1:]:
                wrong.append(i)
    limit = CANN_THRESHOLDS.get(part)
    mean, top = (_float(total / counted), _float(most)) if counted else (0.0, 0.0)
    return Judgement(
        _wrong(wrong, got, wanted) if wrong else None,
        largest,
        0.5 if exact else wanted.ulp,
        mean,
        top,
        None if limit is None else mean < limit and top < 10 * limit,
    )


def _parts(x: Value) -> tuple[Real, ...]:
    if isinstance(x, tuple):
        return x
    return (x if isinstance(x, Real) else real(x),)


def _unit_of(form: Format, truth: Value) -> Fraction:
    """Return the distance of neighbours at a truth; of a complex one, at its larger part."""
    sizes = [p.size for p in _parts(truth) if p.size is not None and not p.is_nan]
    size = max(sizes, default=Fraction(0))
    exponent = 1 - form.bias
    if size:
        exponent = size.numerator.bit_length() - size.denominator.bit_length()
        exponent = max(exponent - (two(exponent) > size), 1 - form.bias)
        top = (form.largest >> form.mantissa) - form.bias
        exponent = min(exponent, top)
    return two(exponent - form.mantissa)


def _overflow(form: Format) -> Fraction:
    """Return the first number past the largest, as an infinity counts."""
    return decode(form, form.largest).value + _unit_of(form, decode(form, form.largest))


def _error(form: Format, found: Real, truth: Real) -> Fraction | None:
    """Return how far a result is from a finite truth; None where that is no number.

    An infinity counts as the first number that overflows: for a truth beyond that it is right, and
    for one just below the threshold of overflow it is about half a unit off.
    """
    if found.is_nan or truth.is_nan or truth.size is None:
        return None
    end = _overflow(form)
    if not form.infinity and truth.size >= end:
        return None
    value = found.value if found.size is not None else (-end if found.negative else end)
    exact = max(-end, min(end, truth.value))
    return abs(value - exact)


def _same_kind(form: Format, found: Real, truth: Real, zero_sign: bool) -> bool:
    if truth.is_nan or (truth.size is not None and not form.infinity):
        return found.is_nan
    if found.is_nan or truth.size is not None:
        return False
    return _same(form, found, truth, False, zero_sign)


def _sign_kept(found: Real, truth: Real) -> bool:
    return found.negative == truth.negative or (truth.is_zero and not found.is_zero)


def _same(form: Format, found: Real, truth: Real, narrow: bool, zero_sign: bool) -> bool:
    """Tell whether a result is the truth rounded once, or through float32."""
    once = rounded(form, truth)
    allowed = [once, rounded(form, rounded(FORMATS["float32"], truth))] if narrow else [once]
    return any(_equal(found, one, zero_sign) for one in allowed)


def _equal(a: Real, b: Real, zero_sign: bool) -> bool:
    if a.is_nan or b.is_nan:
        return a.is_nan and b.is_nan
    if a.is_zero and b.is_zero:
        return a.negative == b.negative or not zero_sign
    return a.negative == b.negative and a.size == b.size


def _wrong(wrong: Sequence[int], got: Sequence[Value], wanted: Output) -> str:
    first = "; ".join(
        f"[{', '.join(map(str, _place(i, wanted.shape)))}] {show(got[i])}, not "
        f"{show(wanted.truth[i])}"
        for i in wrong[:3]
    )
    more = " ..." if len(wrong) > 3 else ""
    return f"{len(wrong)} of {len(got)} elements: {first}{more}"


def _place(i: int, shape: Sequence[int]) -> list[int]:
    found = []
    for n in reversed(shape):
        i, at = divmod(i, n)
        found.append(at)
    return found[::-1]


def _float(x: Fraction) -> float:
    try:
        return float(x)
    except OverflowError:
        return math.inf


def _short(x: Any) -> str:
    text = repr(x)
    return text if len(text) < 80 else text[:77] + "..."
