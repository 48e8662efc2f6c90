"""Scales of quantised dtypes that come from data, and how numbers are quantised by them."""

from __future__ import annotations

import math
import struct
from functools import cache
from typing import NamedTuple

from suanzi import _core
from suanzi.base.dtypes import DType, iinfo
from suanzi.base.status import InvalidArgument
from suanzi.promote.registry import Operator
from suanzi.tensors.tensor import Tensor

MAX_ZERO_POINT = 2**28
"""The largest zero point, of either sign; with it, float64 still holds what integers stand for."""

limits_of = cache(iinfo)


@cache
def is_symmetric(dt: DType) -> bool:
    """Return whether the zero point of a quantised dtype is always 0."""
    return "ASYM" not in dt.name


class Quantizing(NamedTuple):
    """How real numbers become the integers of a quantised dtype."""

    dtype: DType
    scales: list[float]
    zero_point: int
    axis: int
    """That of the channels, -1 for one scale."""
    down: bool
    least: float | None = None
    """What becomes the least integer, by equations (1) to (3)."""

    def of(self, real: Tensor) -> Tensor:
        """Return real numbers as a quantised tensor."""
        if self.least is None:
            return _core.quantize(
                real, self.dtype, self.scales, self.zero_point, self.axis, self.down
            )
        (scale,) = self.scales
        return _core.quantize_above(real, self.dtype, self.least, scale, self.zero_point, self.down)


def derive(
    op: Operator,
    dt: DType,
    lows: list[float],
    highs: list[float],
    scales: list[float] | None = None,
    zero_point: int | None = None,
) -> tuple[list[float], int]:
    """Return scales and zero point of which one or both come from the range of the data."""
    # 0 is always in the range: it, above all, must stay what it is. So has an empty tensor one.
    lows, highs = [min(low, 0.0) for low in lows], [max(high, 0.0) for high in highs]
    limits = limits_of(dt)
    if is_symmetric(dt):
        largest = [max(-low, high) for low, high in zip(lows, highs, strict=True)]
        return [_scale(op, size, limits.max) for size in largest], 0
    low, high = lows[0], highs[0]
    if scales:
        return scales, _zero_point(low, scales[0], limits)
    if zero_point is not None:
        return [_around(op, low, high, limits, zero_point)], zero_point
    scale, zero_point = _onto(op, low, high, limits)
    return [scale], zero_point


def by_equations(op: Operator, dt: DType, a: float, b: float, down: bool) -> Quantizing | None:
    """Return what makes floor((x - a) / s) above the least integer, s being (b - a) / (n - 1).

    None where that says nothing: of equal elements, whose s is 0, and of elements so far from 0
    that no zero point reaches it.
    """
    if not a < b:
        return None
    limits = limits_of(dt)
    size, steps = b - a, limits.max - limits.min
    back = size + a
    lost = (b - back) - (a - (back - size))
    scale = _quotient(op, size, steps)
    # Of the floats next to the quotient the lower one, so that b reaches the last level; not where
    # that leaves out more than a step, as only the smallest of all scales do. A difference of
    # numbers so close is exact, and then what the size lost decides.
    if scale * steps - size > lost and scale > _next_float32(0.0):
        scale = _float32_below(scale)
    if (size - scale * steps) - scale > -lost:
        scale = _next_float32(scale)
    if abs(a) > 2 * MAX_ZERO_POINT * scale:
        return None
    left = math.fmod(-a, scale)  # exact
    level = round((-a - left) / scale)
    if down:
        level -= left < 0
    elif abs(left) * 2 > scale or (abs(left) * 2 == scale and level % 2):
        level += 1 if left > 0 else -1
    zero_point = limits.min + level
    if abs(zero_point) > MAX_ZERO_POINT:
        return None
    return Quantizing(dt, [scale], zero_point, -1, down, a)


# A scale is the float32 nearest to the quotient; where that would leave an end of the range more
# than half a step out, the next one. Products of a scale and steps are exact here.


def _scale(op: Operator, size: float, steps: int) -> float:
    """Return the scale that makes so many steps of a size; any will do for none."""
    if size == 0:
        return 1.0
    scale = _quotient(op, size, steps)
    return scale if size <= (steps + 0.5) * scale else _next_float32(scale)


def _around(op: Operator, low: float, high: float, limits: iinfo, zero_point: int) -> float:
    """Return the scale that puts a range on that of the integers, around a given zero point."""
    sides = ((-low, zero_point - limits.min), (high, limits.max - zero_point))
    # On a side without integers, everything becomes 0 whatever the scale is.
    return max((_scale(op, *side) for side in sides if all(side)), default=1.0)


def _onto(op: Operator, low: float, high: float, limits: iinfo) -> tuple[float, int]:
    """Return the scale and the zero point that put a range on that of the integers."""
    if low == high:  # both are 0
        return 1.0, limits.min
    scale = _quotient(op, high - low, limits.max - limits.min)
    zero_point = _zero_point(low, scale, limits)
    below, above = zero_point - limits.min + 0.5, limits.max - zero_point + 0.5
    if not (-low <= below * scale and high <= above * scale):
        scale = _next_float32(scale)
        zero_point = _zero_point(low, scale, limits)
    return scale, zero_point


def _quotient(op: Operator, size: float, steps: int) -> float:
    """Return a size divided by steps, as a scale in float32."""
    scale = _float32(size / steps)
    if not scale < math.inf:
        raise InvalidArgument(
            f"{op.title}: the range of the numbers, {size:g}, needs a scale beyond float32. Make "
            "them smaller."
        )
    return scale or _next_float32(0.0)


def _zero_point(low: float, scale: float, limits: iinfo) -> int:
    """Return the integer nearest to where 0 is, ties to even, if the least one stands for `low`."""
    steps = round(min(-low / scale, limits.max - limits.min))
    # The quotient may have been rounded to a half that it is not; what is left over is exact.
    left = -low - steps * scale
    if abs(left) > scale / 2:
        steps += 1 if left > 0 else -1
    return min(limits.min + steps, limits.max)


def _float32(x: float) -> float:
    """Return a number rounded to float32."""
    try:
        found: float = struct.unpack("f", struct.pack("f", x))[0]
    except OverflowError:
        return math.copysign(math.inf, x)
    return found


def float32s(numbers: list[float]) -> list[float]:
    """Return numbers rounded to float32."""
    form = f"{len(numbers)}f"
    try:
        return list(struct.unpack(form, struct.pack(form, *numbers)))
    except OverflowError:
        return [_float32(x) for x in numbers]


def _float32_below(x: float) -> float:
    """Return the next float32 below one that is positive."""
    bits: int = struct.unpack("I", struct.pack("f", x))[0]
    found: float = struct.unpack("f", struct.pack("I", bits - 1))[0]
    return found


def _next_float32(x: float) -> float:
    """Return the next float32 above one that is not negative."""
    bits: int = struct.unpack("I", struct.pack("f", x))[0]
    found: float = struct.unpack("f", struct.pack("I", bits + 1))[0]
    return found
