"""Whether a result is right: to the bit, or within a bound of the unrounded truth.

An error counts in units of the last place of the truth (ULP), as a fraction: comparing with a
rounded reference would make 0.5 and 1 the same. CANN's measures, the mean and the largest
relative error, are reported as well.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from typing import Any

from suanzi.conformance.judging.answers import ENOUGH, answers_of, is_right, near
from suanzi.conformance.judging.checks import slack
from suanzi.conformance.model.case import Output
from suanzi.conformance.model.data import out_of_order, values
from suanzi.conformance.model.expected import Picked
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
from suanzi.conformance.subjects.wire import ITEMSIZE, Data

CANN_THRESHOLDS = {
    "float8_e5m2": 2.0**-2,
    "float8_e4m3fn": 2.0**-3,
    "bfloat16": 2.0**-7,
    "float16": 2.0**-10,
    "float32": 2.0**-13,
}
"""CANN's limits of the mean relative error; the largest may be ten times as much."""
Operands = Callable[[int], str]
"""Shows the operands of an element of an output, by its index."""
_SMALL = Fraction(1, 10**7)
"""What CANN adds to the truth before dividing by it."""


@dataclass(frozen=True)
class Judgement:
    """The judgement of one output."""

    problem: str | None
    """What is wrong, in words; None if nothing is."""
    ulp: float | None = None
    """The largest error in units in the last place; None where the bound is in other units."""
    bound: float | None = None
    """The bound in the same units; of different ones, that of the element nearest to its bound."""
    mean_relative: float | None = None
    max_relative: float | None = None
    cann: bool | None = None
    """Whether CANN's limits are satisfied; None where it has none for the dtype."""


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


def judge(found: Any, wanted: Output, operands: Operands | None = None) -> Judgement:
    """Compare an output with the expected one; `operands` shows the operands of an element."""
    if not isinstance(found, Data):
        return Judgement(f"{_short(found)} is not a tensor")
    if found.dtype != wanted.dtype:
        return Judgement(f"dtype {found.dtype}, not {wanted.dtype}")
    if found.shape != wanted.shape:
        return Judgement(f"shape {list(found.shape)}, not {list(wanted.shape)}")
    for name in ("scale", "zero_point"):
        came, right = getattr(found, name), getattr(wanted, name)
        if came != right:
            return Judgement(f"{name} {came}, not {right}")
    # Which kind of sparse layout it is, 6.4 leaves open; of some results even whether it is one.
    if wanted.sparse != "any" and (found.sparse is None) != (wanted.sparse is None):
        return Judgement(f"sparse {found.sparse}, not {wanted.sparse}")
    if wanted.min2maj is not None and (problem := out_of_order(found, wanted.min2maj)) is not None:
        return Judgement(problem)
    if isinstance(wanted.truth, Picked):
        return _judge_picked(found, wanted, wanted.truth, operands)
    got = values(found)
    if len(got) != len(wanted.truth):
        return Judgement(f"{len(got)} elements, not {len(wanted.truth)}")
    if wanted.free:
        free = frozenset(wanted.free)
        truth = (got[i] if i in free else x for i, x in enumerate(wanted.truth))
        wanted = replace(wanted, truth=tuple(truth))
    part = PARTS.get(wanted.dtype, wanted.dtype)
    if part not in FORMATS:
        return _judge_integers(got, wanted, operands)
    return _judge_floats(got, wanted, part, operands)


def lenient(wanted: Output) -> Output:
    """Return an output with a lenient bound: half of the digits must be right.

    An error may be 2**(p//2) / 2 units, p the bits of a significand, or some times what is allowed;
    that of a sum follows from its length and its dtype. A zero may have either sign, and what is
    below the smallest normal number may be zero.
    """
    part = PARTS.get(wanted.dtype, wanted.dtype)
    if part not in FORMATS:
        return wanted
    if isinstance(truth := wanted.truth, Picked):
        return _lenient_picked(wanted, truth)
    form = FORMATS[part]
    least = max(two((form.mantissa + 1) // 2 - 1), Fraction(wanted.ulp or 0))
    rough = wanted.rough or [slack(part) * x for x in wanted.allowed or ()]
    own = rough or (Fraction(0),) * len(wanted.truth)
    allowed = tuple(
        max(least * two(_unit_exponent(form, truth)), most, _subnormal(form, truth))
        for truth, most in zip(wanted.truth, own, strict=True)
    )
    return replace(wanted, ulp=None, allowed=allowed, zero_sign=False)


def _subnormal(form: Format, truth: Value) -> Fraction:
    """Return the smallest normal number where a part of the truth is no larger: it may be zero."""
    tiny = two(1 - form.bias)
    return (
        tiny if any(p.size is not None and p.size <= tiny for p in _parts(truth)) else Fraction(0)
    )


def _lenient_picked(wanted: Output, truth: Picked[Value]) -> Output:
    own = wanted.allowed
    assert own is None or isinstance(own, Picked)
    few = lenient(
        replace(
            wanted,
            truth=truth.base,
            allowed=None if own is None else own.base,
            rough=wanted.rough.base if isinstance(wanted.rough, Picked) else None,
        )
    )
    return replace(few, truth=truth, allowed=Picked(tuple(few.allowed or ()), truth.which))


def _judge_picked(
    found: Data, wanted: Output, truth: Picked[Value], operands: Operands | None
) -> Judgement:
    """Judge many elements of few values: each value once for each different result."""
    if found.size != len(truth):
        return Judgement(f"{found.size} elements, not {len(truth)}")
    if is_right(found.raw, wanted.dtype, truth):
        return Judgement(None)
    quick = near(wanted.dtype, truth.base, _allowed_by_value(wanted, truth))
    enough, complete = ENOUGH, False
    while not complete:
        answers, complete = answers_of(found.raw, ITEMSIZE[found.dtype], truth, quick, enough)
        pairs = list(answers)
        whole = judge(*_few(found, wanted, truth, pairs))
        if whole.problem is not None:
            break
        enough *= 16
    else:
        return whole
    bad = [p for p in pairs if judge(*_few(found, wanted, truth, [p])).problem is not None]
    first = heapq.nsmallest(3, ((answers[p][1], p) for p in bad))
    got = {i: values(replace(found, shape=(1,), raw=p[1]))[0] for i, p in first}
    count = sum(answers[p][0] for p in bad)
    words = _wrong(list(got), got, wanted, operands, count)
    return replace(whole, problem=words)


def _allowed_by_value(wanted: Output, truth: Picked[Value]) -> Sequence[Fraction]:
    """Return how far off a result for each value may be without doubt; negative: not at all."""
    if isinstance(wanted.allowed, Picked):
        return wanted.allowed.base
    part = PARTS.get(wanted.dtype, wanted.dtype)
    if part not in FORMATS or not wanted.ulp:
        return (Fraction(-1),) * len(truth.base)
    return [_kept_sign(FORMATS[part], Fraction(wanted.ulp), x) for x in truth.base]


def _kept_sign(form: Format, ulp: Fraction, truth: Value) -> Fraction:
    """Return an error of at most so many units that leaves the signs of all parts alone."""
    least = min(Fraction(0) if p.is_nan or p.size is None else p.size for p in _parts(truth))
    return min(ulp * two(_unit_exponent(form, truth)), least / 2) if least else Fraction(-1)


def _few(
    found: Data, wanted: Output, truth: Picked[Value], pairs: Sequence[tuple[int, bytes]]
) -> tuple[Data, Output]:
    """Return a result and what is expected, for these pairs of a value and its result."""
    shape, which = (len(pairs),), [k for k, _ in pairs]
    allowed = wanted.allowed
    assert allowed is None or isinstance(allowed, Picked)
    few = replace(
        wanted,
        shape=shape,
        truth=tuple(truth.base[k] for k in which),
        allowed=None if allowed is None else tuple(allowed.base[k] for k in which),
    )
    return replace(found, shape=shape, raw=b"".join(raw for _, raw in pairs), repeats=None), few


def _judge_integers(got: list[Value], wanted: Output, operands: Operands | None) -> Judgement:
    wrong = [
        i
        for i, (a, b) in enumerate(zip(got, wanted.truth, strict=True))
        if a != b and not _integer_near(a, b, wanted, i)
    ]
    return Judgement(_wrong(wrong, got, wanted, operands) if wrong else None)


def _integer_near(a: Value, b: Value, wanted: Output, i: int) -> bool:
    if wanted.allowed is None:
        return False
    assert isinstance(a, int)
    assert isinstance(b, int | Real)
    exact = b.value if isinstance(b, Real) else Fraction(b)
    return abs(a - exact) <= wanted.allowed[i]


def _judge_floats(
    got: list[Value], wanted: Output, part: str, operands: Operands | None
) -> Judgement:
    form, exact = FORMATS[part], wanted.ulp is None and wanted.allowed is None
    narrow = part in NARROW
    bound = Fraction(wanted.ulp or 0)
    wrong: list[int] = []
    largest, allowed, relative = 0.0, wanted.ulp, []
    nearest = 0.0
    for i, (a, b) in enumerate(zip(got, wanted.truth, strict=True)):
        step = None
        for found, truth in zip(_parts(a), _parts(b), strict=True):
            if _is(found, truth):
                relative += [0.0] * (truth.size is not None)
                continue
            step = _unit_exponent(form, b) if step is None else step
            off = _error(form, found, truth)
            if off is not None:
                relative.append(_relative(off, truth))
                if off[0] and wanted.allowed is None:
                    largest = max(largest, _in_units(off, step))
                elif off[0]:
                    most = wanted.allowed[i] if wanted.allowed else Fraction(0)
                    if (share := _share(off, most)) >= nearest:
                        nearest, largest = share, _in_units(off, step)
                        allowed = _in_units(most.as_integer_ratio(), step)
            if exact or off is None:
                ok = _same(form, found, truth, narrow, wanted.zero_sign)
            elif wanted.allowed is not None:
                ok = _within(off, wanted.allowed[i], 0)
            else:
                ok = _within(off, bound, step)
                ok = ok and (not wanted.zero_sign or _sign_kept(found, truth))
            if not ok and i not in wrong[-1:]:
                wrong.append(i)
    limit = CANN_THRESHOLDS.get(part)
    # Each is divided before it is added: their sum may be too large for a float.
    mean = math.fsum(x / len(relative) for x in relative)
    top = max(relative, default=0.0)
    return Judgement(
        _wrong(wrong, got, wanted, operands) if wrong else None,
        largest,
        0.5 if exact else allowed,
        mean,
        top,
        None if limit is None else mean < limit and top < 10 * limit,
    )


def _parts(x: Value) -> tuple[Real, ...]:
    if isinstance(x, tuple):
        return x
    return (x if isinstance(x, Real) else real(x),)


# Errors are ratios of integers that nothing reduces: a common divisor of numbers of a thousand bits
# would take most of the time.
_Ratio = tuple[int, int]


def _unit_exponent(form: Format, truth: Value) -> int:
    """Return the exponent of the distance of neighbours at a truth, or at its larger part."""
    return max(
        spacing(form, Fraction(0) if p.size is None or p.is_nan else p.size) for p in _parts(truth)
    )


@cache
def _overflow(form: Format) -> int:
    """Return the first number past the largest, as an infinity counts."""
    largest = decode(form, form.largest)
    return int(largest.value + two(_unit_exponent(form, largest)))


def _error(form: Format, found: Real, truth: Real) -> _Ratio | None:
    """Return the error of a result with a finite truth; None where it is not a number.

    An infinity counts as the first number that overflows: for a truth beyond that it is right, and
    for one just below the threshold of overflow it is about half a unit off. So does NaN in a
    format that has nothing else to overflow to. A finite number is as far off as it is: the largest
    one is no answer to what is many times as large.
    """
    if truth.is_nan or truth.size is None:
        return None
    if found.is_nan:
        if form.infinity:
            return None
        found = Real(truth.negative, None)
    end = _overflow(form)
    size, over = truth.size.as_integer_ratio()
    if found.size is None and size >= end * over:
        size, over = end, 1
    value, under = (end, 1) if found.size is None else found.size.as_integer_ratio()
    sign = 1 if found.negative == truth.negative else -1
    return abs(value * over - sign * size * under), over * under


def _in_units(off: _Ratio, exponent: int) -> float:
    return _quotient(off[0] << max(-exponent, 0), off[1] << max(exponent, 0))


def _share(off: _Ratio, allowed: Fraction) -> float:
    """Return an error as a fraction of its bound; infinite where no error is allowed."""
    most, of = allowed.as_integer_ratio()
    return _quotient(off[0] * of, off[1] * most) if most else math.inf


def _within(off: _Ratio, bound: Fraction, exponent: int) -> bool:
    """Tell whether an error is at most so many units."""
    most, of = bound.as_integer_ratio()
    return off[0] * of << max(-exponent, 0) <= off[1] * most << max(exponent, 0)


def _relative(off: _Ratio, truth: Real) -> float:
    """Return CANN's relative error."""
    assert truth.size is not None
    if not off[0]:
        return 0.0
    size, over = (truth.size + _SMALL).as_integer_ratio()
    return _quotient(off[0] * over, off[1] * size)


def _quotient(a: int, b: int) -> float:
    try:
        return a / b
    except OverflowError:
        return math.inf


def _sign_kept(found: Real, truth: Real) -> bool:
    if found.is_nan:  # which stands for an overflow of either sign
        return True
    return found.negative == truth.negative or (truth.is_zero and not found.is_zero)


def _same(form: Format, found: Real, truth: Real, narrow: bool, zero_sign: bool) -> bool:
    """Tell whether a result is the truth rounded once, or through float32."""
    once = rounded(form, truth)
    allowed = [once, rounded(form, rounded(FORMATS["float32"], truth))] if narrow else [once]
    return any(_equal(found, one, zero_sign) for one in allowed)


def _is(found: Real, truth: Real) -> bool:
    """Tell whether a number is the truth itself."""
    if found.is_nan or truth.is_nan or found.negative != truth.negative:
        return False
    if found.size is None or truth.size is None:
        return found.size is truth.size
    return found.size.as_integer_ratio() == truth.size.as_integer_ratio()


def _equal(a: Real, b: Real, zero_sign: bool) -> bool:
    if a.is_nan or b.is_nan:
        return a.is_nan and b.is_nan
    if a.is_zero and b.is_zero:
        return a.negative == b.negative or not zero_sign
    return a.negative == b.negative and a.size == b.size


def _wrong(
    wrong: Sequence[int],
    got: Sequence[Value] | Mapping[int, Value],
    wanted: Output,
    operands: Operands | None,
    count: int | None = None,
) -> str:
    """Describe the wrong elements; of `count`, only the first may be given."""
    count = len(wrong) if count is None else count
    first = "; ".join(
        f"[{', '.join(map(str, _place(i, wanted.shape)))}] "
        + ("" if operands is None else f"{operands(i)}: ")
        + f"{show(got[i])}, not {show(wanted.truth[i])}{_only_the_sign(got[i], wanted.truth[i])}"
        for i in wrong[:3]
    )
    more = " ..." if count > len(wrong[:3]) else ""
    return f"{count} of {len(wanted.truth)} elements: {first}{more}"


def _only_the_sign(found: Value, truth: Value) -> str:
    """Say so where two numbers differ in the sign alone: a minus is easily overlooked."""
    pairs = list(zip(_parts(found), _parts(truth), strict=True))
    if any(a.is_nan or b.is_nan or a.size != b.size for a, b in pairs):
        return ""
    other = [a for a, b in pairs if a.negative != b.negative]
    if not other:
        return ""
    return " (the sign of zero)" if all(a.is_zero for a in other) else " (the sign)"


def _place(i: int, shape: Sequence[int]) -> list[int]:
    found = []
    for n in reversed(shape):
        i, at = divmod(i, n)
        found.append(at)
    return found[::-1]


def _short(x: Any) -> str:
    text = repr(x)
    return text if len(text) < 80 else text[:77] + "..."
