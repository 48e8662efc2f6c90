"""Quantised tensors: integers that stand for real numbers, (integer - zero_point) * scale.

>>> import suanzi as sz
>>> x = sz.quantize(sz.tensor([-1, 0.5, 1.27]), sz.QT_SYM_INT8)
>>> x
Tensor([  -1,  0.5, 1.27], dtype=QT_SYM_INT8, scale=0.01, zero_point=0)
>>> x.int_repr()
Tensor([-100,   50,  127], dtype=int8)

The formulas are those of 7.2.1.15.4, read so that they agree with each other:
`docs/operators/creation_quantized.md`.
"""

from __future__ import annotations

import math
import struct
from functools import cache
from typing import Any, Literal

from suanzi import _core
from suanzi._hints import shown
from suanzi.dtypes import DType as DType
from suanzi.dtypes import DTypeLike, float32, float64, iinfo
from suanzi.dtypes import dtype as dtype_of
from suanzi.registry import FLOATS, QUANTIZED, Operator
from suanzi.resolve.arguments import tensor_argument, without_scale
from suanzi.resolve.scalars import axis_argument, integer_argument
from suanzi.shapes import bounded
from suanzi.status import (
    AllocFailed,
    InvalidArgument,
    StatusError,
    TypeMismatch,
    UninitializedObject,
)
from suanzi.tensors.tensor import Tensor, TensorLike

MAX_ZERO_POINT = 2**28
"""The largest zero point, of either sign; with it, float64 still holds what integers stand for."""
MAX_CHANNELS = 2**28
"""The most channels that scales are taken from data for."""

_limits = cache(iinfo)


@cache
def is_symmetric(dt: DType) -> bool:
    """Tell whether the zero point of a quantised dtype is always 0."""
    return "ASYM" not in dt.name


@cache
def is_channel_wise(dt: DType) -> bool:
    """Tell whether a quantised dtype has a scale for each channel."""
    return "_CH_" in dt.name


def stored_zero(x: Tensor) -> int:
    """Return the integer of a quantised tensor that stands for 0, or for what is nearest to it."""
    limits = _limits(x.dtype)
    return min(max(x.zero_point or 0, limits.min), limits.max)


# ---- to real numbers, and from them ------------------------------------------------------------


def quantize(
    x: TensorLike,
    dtype: DTypeLike,
    *,
    scale: Any = None,
    zero_point: int | None = None,
    channel_axis: int | None = None,
    rounding: Literal["nearest", "floor"] | None = None,
    limited: bool = False,
) -> Tensor:
    """Return real numbers as a quantised tensor.

    What is not given comes from the data: of a symmetric dtype, the scale puts the largest
    magnitude at the largest integer; of an asymmetric one, the least element a becomes the least
    integer and the greatest the largest, by equations (1) to (3): floor((x - a) / scale) above the
    least. The zero point is what that makes of 0, and no integer of the dtype where 0 is not
    between the elements. `limited` makes it one: the range then has 0 in it. A channel-wise dtype
    has a scale for each index along `channel_axis`: axis 1, or 0 of a vector.

    `rounding` is "nearest", ties to even, for symmetric dtypes, and "floor" for asymmetric ones,
    unless given. What is out of range becomes the nearest end of it, and NaN, like zero, the zero
    point; but numbers that are not finite have no range to take a scale from.

    >>> import suanzi as sz
    >>> sz.quantize(sz.tensor([[1, 2], [30, 60]]), sz.QT_CH_SYM_INT8, channel_axis=0).scale
    (0.015748031437397003, 0.4724409580230713)
    >>> x = sz.quantize(sz.tensor([10.0, 20.1, 73.75]), sz.QT_ASYM_UINT8)
    >>> x.int_repr().tolist(), x
    ([0, 40, 255], Tensor([   10,    20, 73.75], dtype=QT_ASYM_UINT8, scale=0.25, zero_point=-40))
    >>> sz.quantize(sz.tensor([0.2, 0.3, 99]), sz.QT_ASYM_UINT8, scale=0.25, zero_point=10)
    Tensor([    0,  0.25, 61.25], dtype=QT_ASYM_UINT8, scale=0.25, zero_point=10)
    """
    op = _OPERATORS["quantize"]
    target = _quantized_dtype(op, dtype)
    real = _real_numbers(op, "x", tensor_argument(op, "x", x))
    if channel_axis is not None and not is_channel_wise(target):
        raise InvalidArgument(
            f"{op.title}: channel_axis is {channel_axis!r}, but {target} has one scale for all "
            f"channels. Use {'QT_CH_SYM_INT8' if target.bits == 8 else 'QT_CH_SYM_INT16'}."
        )
    if rounding not in (None, "nearest", "floor"):
        raise InvalidArgument(f"{op.title}: rounding is {rounding!r}; it is 'nearest' or 'floor'.")
    axis = channel_axis_argument(op, channel_axis, target, real.shape)
    scales = None
    if scale is not None:
        scales, axis = scale_argument(op, scale, target, real.shape, axis)
    offset = 0
    if zero_point is not None:
        offset = zero_point_argument(op, zero_point, target)
    down = rounding == "floor" or (rounding is None and not is_symmetric(target))
    if scales is None or (zero_point is None and not is_symmetric(target)):
        lows, highs = _ranges(op, "x", real, axis)
        if not (limited or is_symmetric(target) or scale is not None or zero_point is not None):
            found = _by_equations(op, real, target, lows[0], highs[0], down)
            if found is not None:
                return found
        given = None if zero_point is None else offset
        scales, offset = _derive(op, target, lows, highs, scales, given)
    return _core.quantize(real, target, scales, offset, axis, down)


def quantize_for(op: Operator, name: str, x: Tensor, target: DType) -> Tensor:
    """Return a tensor in a quantised dtype, scale and zero point derived, for another operator."""
    if x.dtype.kind == "complex":
        x = _core.cast(x, float64, False)  # the real part, which this holds
    real = _real_numbers(op, name, x)
    axis = channel_axis_argument(op, None, target, real.shape)
    lows, highs = _ranges(op, name, real, axis)
    if not is_symmetric(target):
        found = _by_equations(op, real, target, lows[0], highs[0], True)
        if found is not None:
            return found
    scales, zero_point = _derive(op, target, lows, highs)
    return _core.quantize(real, target, scales, zero_point, axis, not is_symmetric(target))


def quantize_like(x: Tensor, source: Tensor, shape: tuple[int, ...], axis: int) -> Tensor:
    """Return real numbers, repeated to a shape, as another tensor, with a scale, stores them.

    `axis` is that of its channels in the shape, -1 for none.
    """
    op = _OPERATORS["quantize"]
    assert x.scale is not None
    assert x.zero_point is not None
    real = _core.try_view("expand", _real_numbers(op, "value", source), shape)
    down = not is_symmetric(x.dtype)
    return _core.quantize(real, x.dtype, x.scale, x.zero_point, axis, down)


def dequantize(x: Tensor, dtype: DTypeLike = float32) -> Tensor:
    """Return what a quantised tensor stands for, rounded once; in float64 it is exact.

    >>> import suanzi as sz
    >>> x = sz.create_quant_tensor((2,), 0.5, sz.QT_ASYM_UINT8, values=[3, 0], zero_point=1)
    >>> sz.dequantize(x)
    Tensor([   1, -0.5], dtype=float32)
    """
    op = _OPERATORS["dequantize"]
    x = tensor_argument(op, "x", x)
    if x.dtype.kind != "quantized":
        raise TypeMismatch(f"{op.title}: x is {x.dtype}; it takes a quantised tensor.")
    target = _dtype_argument(op, dtype)
    if target not in FLOATS:
        raise TypeMismatch(
            f"{op.title}: dtype is {target}; it is one of {', '.join(map(str, FLOATS))}. "
            "For another, use sz.cast."
        )
    if x.zero_point is None:
        raise without_scale(op.title, "x", x)
    return _core.dequantize(x, target, False)


def _operator(name: str) -> Operator:
    """Return what the checks of arguments know an operator by; these two are not the standard's."""
    return Operator(name, "7.2.1.15.4", globals()[name], QUANTIZED, None, None)


_OPERATORS = {name: _operator(name) for name in ("quantize", "dequantize")}


# ---- arguments ----------------------------------------------------------------------------------


def _dtype_argument(op: Operator, dt: DTypeLike) -> DType:
    try:
        return dtype_of(dt)
    except StatusError as error:
        raise error.__class__(f"{op.title}: {error}") from None


def _quantized_dtype(op: Operator, dt: DTypeLike) -> DType:
    """Return an argument as a quantised dtype."""
    target = _dtype_argument(op, dt)
    if target.kind != "quantized":
        raise TypeMismatch(
            f"{op.title}: dtype is {target}; it is one of {', '.join(map(str, QUANTIZED))}."
        )
    return target


def _real_numbers(op: Operator, name: str, x: Tensor) -> Tensor:
    """Return a tensor of real numbers as it is, and a quantised one as what it stands for."""
    if x.dtype.kind in ("complex", "char"):
        raise TypeMismatch(f"{op.title}: {name} is {x.dtype}; it takes real numbers.")
    if x.dtype.kind != "quantized":
        return x
    if x.zero_point is None:
        raise without_scale(op.title, name, x)
    return _core.dequantize(x, float64, False)


def channel_axis_argument(op: Operator, axis: Any, dt: DType, shape: tuple[int, ...]) -> int:
    """Return the axis of the channels, or -1 where there is one scale for all."""
    if not is_channel_wise(dt):
        return -1
    if axis is None:
        return min(len(shape), 2) - 1
    if not shape:
        integer_argument(op, "channel_axis", axis)
        raise InvalidArgument(
            f"{op.title}: channel_axis is {axis}, but the tensor has no axes. Leave it out."
        )
    return axis_argument(op, "channel_axis", axis, len(shape))


def scale_argument(
    op: Operator, scale: Any, dt: DType, shape: tuple[int, ...], axis: int
) -> tuple[list[float], int]:
    """Return the scales as float32 values, and the axis of the channels: -1 for one scale."""
    channels = 1 if axis < 0 else shape[axis]
    most = max(channels, 1)
    if type(scale) is float:
        numbers = [scale]
    elif type(scale) is list and set(map(type, scale)) == {float}:
        numbers = scale
    else:
        numbers = _numbers(op, scale, most)
    if len(numbers) not in (1, channels):
        came = f"more than {most}" if len(numbers) > most else str(len(numbers))
        allowed = "one"
        if axis >= 0:
            allowed += f", or one for each of the {channels} channels along axis {axis}"
        elif not is_channel_wise(dt):
            allowed += ", as it is not channel-wise"
        raise InvalidArgument(
            f"{op.title}: scale has {came} numbers; {dt} with shape {shape} takes {allowed}."
        )
    found = _float32s(numbers)
    if found and not (min(found) > 0 and sum(found) < math.inf):  # NaN is in the sum, too
        wrong = next(n for n, s in zip(numbers, found, strict=True) if not 0 < s < math.inf)
        raise InvalidArgument(
            f"{op.title}: scale is {wrong!r}; it must be above 0 and finite, in float32, too."
        )
    return found, axis if len(found) == channels else -1


def _numbers(op: Operator, scale: Any, most: int) -> list[float]:
    """Return a number, or a sequence, an array or a tensor of one axis, as a list of floats."""
    try:
        given = scale
        if isinstance(scale, Tensor) or hasattr(scale, "dtype") or hasattr(scale, "__dlpack__"):
            found = tensor_argument(op, "scale", scale)
            given = (found[: most + 1] if found.ndim else found).tolist()
        if not isinstance(given, str | bytes | dict | set):
            given = list(bounded(given, most)) if hasattr(given, "__iter__") else [given]
            if not {bool, str, bytes} & set(map(type, given)):
                return list(map(float, given))
    except UninitializedObject:
        raise
    except (TypeError, ValueError, OverflowError):  # StatusErrors are one of these
        pass
    raise InvalidArgument(
        f"{op.title}: scale is {shown(scale)}; it must be a positive number, or a sequence of them."
    )


def zero_point_argument(op: Operator, zero_point: Any, dt: DType) -> int:
    """Return the zero point, which may be none that is stored; of a symmetric dtype it is 0."""
    number = integer_argument(op, "zero_point", zero_point)
    if is_symmetric(dt):
        return 0
    if abs(number) > MAX_ZERO_POINT:
        raise InvalidArgument(
            f"{op.title}: zero_point is {shown(number)}; it is from {-MAX_ZERO_POINT} to "
            f"{MAX_ZERO_POINT}."
        )
    return number


# ---- scales from data ---------------------------------------------------------------------------


def _ranges(op: Operator, name: str, real: Tensor, axis: int) -> tuple[list[float], list[float]]:
    """Return the least and the largest element, of each channel where there are some."""
    if axis >= 0 and real.shape[axis] > MAX_CHANNELS:  # of an empty tensor, perhaps
        raise AllocFailed(f"{op.title}: there is no memory for {real.shape[axis]} scales.")
    lows, highs, finite = _core.value_range(real, axis)
    if not finite:
        raise InvalidArgument(
            f"{op.title}: {name} holds numbers that are not finite, which have no range to take a "
            "scale from. Give sz.quantize a scale and a zero_point, or replace them with sz.where."
        )
    return lows, highs


def _derive(
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
    limits = _limits(dt)
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


def _by_equations(
    op: Operator, real: Tensor, dt: DType, a: float, b: float, down: bool
) -> Tensor | None:
    """Return floor((x - a) / s) above the least integer, s being (b - a) / (n - 1).

    None where that says nothing: of equal elements, whose s is 0, and of elements so far from 0
    that no zero point reaches it.
    """
    if not a < b:
        return None
    limits = _limits(dt)
    size, steps = b - a, limits.max - limits.min
    back = size + a
    lost = (b - back) - (a - (back - size))
    scale = _quotient(op, size, steps)
    # Of the floats beside the quotient the lower one, so that b reaches the last level; not where
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
    return _core.quantize_above(real, dt, a, scale, zero_point, down)


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


def _float32s(numbers: list[float]) -> list[float]:
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
