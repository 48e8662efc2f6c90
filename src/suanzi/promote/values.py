"""What a dtype holds, exactly, and what a conversion loses.

Values are Python integers and fractions, never floats of the machine, so that nothing here is
rounded by accident. The search for a counter-example is a computation, not a table:

>>> from suanzi.dtypes import bfloat16, float32, int32, int64, uint64
>>> loss(int32, bfloat16)
Loss(int32 to bfloat16: 257 becomes 256)
>>> loss(uint64, int64).value == 2**63
True
>>> loss(bfloat16, float32) is None
True
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Literal

from suanzi.base.dtypes import DType, finfo, iinfo, part

Real = int | Fraction | float
"""An exact real number; a float only for infinities and NaN."""

# Asked hundreds of times for a single counter-example.
_finfo: Callable[[DType], finfo] = cache(finfo)
_iinfo: Callable[[DType], iinfo] = cache(iinfo)


@dataclass(frozen=True, repr=False)
class Loss:
    """A value of one dtype that another cannot hold, and what it turns into."""

    source: DType | None
    """The dtype that is converted; None for a Python number."""
    target: DType
    value: Real | complex
    becomes: Real | complex
    reason: Literal["precision", "range"]
    """``"range"`` if some value leaves the range of the target, else ``"precision"``."""
    overflow: Real | None = None
    """The smallest value that leaves the range of the target, if any does."""

    @property
    def saturates(self) -> bool:
        """Whether out-of-range values go to the end of the range (floats) or wrap (integers)."""
        return self.source is not None and bool(self.source.exponent_bits)

    def __str__(self) -> str:
        text = f"{show(self.value)} becomes {show(self.becomes)}"
        if self.overflow is not None and self.overflow != self.value:
            image = convert(self.overflow, self.target, saturate=self.saturates)
            text += f", {show(self.overflow)} becomes {show(image)}"
        return text

    def __repr__(self) -> str:
        return f"Loss({self.source or 'number'} to {self.target}: {self})"


def show(value: Real | complex) -> str:
    """Write an exact value the way a person would: powers of two as such when they are long.

    >>> show(2**63), show(257), show(Fraction(1, 2)), show(2**63 + 1)
    ('2**63', '257', '0.5', '2**63+1')
    """
    if isinstance(value, bool | complex):
        return str(value)
    if isinstance(value, Fraction):
        return show(value.numerator) if value.denominator == 1 else repr(float(value))
    if isinstance(value, float) or abs(value) < 10**8:
        return repr(value)
    sign = "-" if value < 0 else ""
    for near, suffix in ((0, ""), (1, "+1"), (-1, "-1")):
        power = abs(value) - near
        if power & (power - 1) == 0:
            text = f"2**{power.bit_length() - 1}{suffix}"
            return f"-({text})" if sign and suffix else sign + text
    if abs(value) < 10**20:
        return str(value)
    exponent = int((abs(value).bit_length() - 1) * math.log10(2))
    while 10 ** (exponent + 1) <= abs(value):
        exponent += 1
    leading = str(abs(value) // 10 ** (exponent - 3))
    return f"{sign}{leading[0]}.{leading[1:]}e+{exponent}"


def convert(value: Real | complex, dtype: DType, *, saturate: bool = False) -> Real | complex:
    """Convert an exact value to a dtype: round once to nearest even, integers wrap.

    Overflow gives an infinity, or NaN where the format has none; a complex value keeps its real
    part in a real dtype. To an integer, fractions truncate, NaN gives 0, and with `saturate`, as
    for a value that was a float, what is out of range gives the nearest end of it.

    >>> from suanzi.dtypes import float8_e4m3fn, float16, int8
    >>> convert(300, int8), convert(65520, float16), convert(1000, float8_e4m3fn)
    (44, inf, nan)
    """
    if isinstance(value, complex):
        if dtype.kind != "complex":
            return convert(_exact(value.real), dtype, saturate=True)
        real, imag = (float(_convert_real(_exact(v), part(dtype))) for v in _parts(value))
        return complex(real, imag)
    return _convert_real(value, part(dtype), saturate)


def holds(dtype: DType, value: Real | complex) -> bool:
    """Tell whether a dtype holds a value exactly (NaN counts as held by every float)."""
    if isinstance(value, complex):
        if dtype.kind == "complex":
            return all(holds(part(dtype), _exact(v)) for v in _parts(value))
        return value.imag == 0 and holds(dtype, _exact(value.real))
    if isinstance(value, float) and math.isnan(value):
        return bool(dtype.exponent_bits)
    if not dtype.exponent_bits:
        is_integer = isinstance(value, int | Fraction) and value.denominator == 1
        return is_integer and _iinfo(dtype).min <= value <= _iinfo(dtype).max
    if isinstance(value, int):
        odd = value >> (value & -value).bit_length() - 1 if value else 0
        return odd.bit_length() <= _finfo(dtype).precision and abs(value) <= _finfo(dtype).max
    return _convert_real(value, part(dtype)) == value


@cache
def contains(outer: DType, inner: DType) -> bool:
    """Tell whether `outer` holds every value of `inner`, by comparing their formats.

    >>> from suanzi.dtypes import float16, int16, uint8
    >>> contains(float16, uint8), contains(float16, int16)
    (True, False)
    """
    if outer is inner:
        return True
    if "char" in (outer.kind, inner.kind):
        return False
    if inner.kind == "complex" and outer.kind != "complex":
        return False
    outer, inner = part(outer), part(inner)
    if not inner.exponent_bits:
        small = _iinfo(inner)
        if not outer.exponent_bits:
            large = _iinfo(outer)
            return large.min <= small.min and small.max <= large.max
        largest = max(-small.min, small.max)
        return largest <= 2 ** _finfo(outer).precision and largest <= _finfo(outer).max
    if not outer.exponent_bits:
        return False
    wide, narrow = _finfo(outer), _finfo(inner)
    return (
        wide.precision >= narrow.precision
        and wide.max >= narrow.max
        and wide.smallest_subnormal <= narrow.smallest_subnormal
        and (outer.has_infinity or not inner.has_infinity)
    )


@cache
def loss(source: DType, target: DType) -> Loss | None:
    """Return the simplest value of `source` that `target` does not hold, or None.

    Simplest: a half if the target has no fractions, else the integer of smallest magnitude. No two
    of the formats differ in fractions alone, so there is always one of them.
    """
    if contains(target, source):
        return None
    if source.kind == "complex" and target.kind != "complex":
        return Loss(source, target, 1j, 0, "precision")
    inner, outer = part(source), part(target)
    candidates = list(_candidates(inner, outer))
    value = next(v for v in candidates if not holds(outer, v))
    overflow = next((v for v in candidates if _leaves_range(v, outer)), None)
    becomes = convert(value, outer, saturate=bool(inner.exponent_bits))
    reason: Literal["precision", "range"] = "precision" if overflow is None else "range"
    return Loss(source, target, value, becomes, reason, overflow)


def number_loss(value: bool | int | float | complex, target: DType) -> Loss | None:
    """Return what a Python number loses in `target`, or None.

    >>> from suanzi.dtypes import float16, int8
    >>> number_loss(300, int8)
    Loss(number to int8: 300 becomes 44)
    >>> number_loss(0.5, float16) is None
    True
    """
    exact = value if isinstance(value, complex) else _exact(value)
    if holds(target, exact):
        return None
    becomes = convert(exact, target, saturate=isinstance(value, float))
    leaves = not isinstance(exact, complex) and _leaves_range(exact, part(target))
    return Loss(None, target, value, becomes, "range" if leaves else "precision")


def _candidates(source: DType, target: DType) -> Iterator[Real]:
    """Yield values of `source` near the edges of both formats, simplest first."""
    edges: set[int] = set()
    for dtype in (source, target):
        if dtype.exponent_bits:
            info = _finfo(dtype)
            # Where consecutive integers end, and where rounding starts to overflow.
            half_step = 2 ** max(info.max_exponent - info.precision, 0)
            edges |= {2**info.precision, int(info.max), int(info.max) + half_step}
        else:
            edges |= {_iinfo(dtype).min, _iinfo(dtype).max}
    powers = {2**k for k in range(130)}
    near = {sign * (edge + d) for edge in edges | powers for d in (-1, 0, 1) for sign in (1, -1)}
    if source.exponent_bits and not target.exponent_bits:
        yield Fraction(1, 2)
    yield from sorted((v for v in near if holds(source, v)), key=lambda v: (abs(v), v < 0))


def _leaves_range(value: Real, target: DType) -> bool:
    if not target.exponent_bits:
        return not _iinfo(target).min <= value <= _iinfo(target).max
    if isinstance(value, int) and abs(value) <= _finfo(target).max:
        return False
    image = _convert_real(value, target)
    return isinstance(image, float) and not (isinstance(value, float) and value == image)


def _convert_real(value: Real, dtype: DType, saturate: bool = False) -> Real:
    if dtype.name == "bool":
        return int(value != 0)
    if not dtype.exponent_bits:
        return _to_integer(value, dtype, saturate)
    info = _finfo(dtype)
    if isinstance(value, float) and not math.isfinite(value):
        return value if math.isnan(value) or dtype.has_infinity else math.nan
    exact = Fraction(value)
    if exact == 0:
        return 0
    magnitude = abs(exact)
    exponent = _floor_log2(magnitude)
    step = Fraction(2) ** (max(exponent, info.min_exponent) - dtype.mantissa_bits)
    # round() of a Fraction rounds to the nearest integer, ties to even.
    rounded = round(magnitude / step) * step
    if rounded > Fraction(info.max):
        return math.nan if not dtype.has_infinity else math.inf if exact > 0 else -math.inf
    return rounded if exact > 0 else -rounded


def _to_integer(value: Real, dtype: DType, saturate: bool) -> int:
    info = _iinfo(dtype)
    if isinstance(value, float) and not math.isfinite(value):
        return 0 if math.isnan(value) else info.max if value > 0 else info.min
    whole = math.trunc(value)
    if saturate:
        return min(max(whole, info.min), info.max)
    return (whole - info.min) % (info.max - info.min + 1) + info.min


def _floor_log2(magnitude: Fraction) -> int:
    estimate = magnitude.numerator.bit_length() - magnitude.denominator.bit_length()
    return estimate if magnitude >= Fraction(2) ** estimate else estimate - 1


def _exact(value: bool | int | float) -> Real:
    if isinstance(value, float):
        return Fraction(value) if math.isfinite(value) else value
    return int(value)


def _parts(value: complex) -> tuple[float, float]:
    return value.real, value.imag
