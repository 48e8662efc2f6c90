"""Quantised tensors: integers that stand for real numbers, (integer - zero_point) * scale.

>>> x = sz.quantize(sz.tensor([-1, 0.5, 1.27]), sz.QT_SYM_INT8)
>>> x
Tensor([  -1,  0.5, 1.27], dtype=QT_SYM_INT8, scale=0.01, zero_point=0)
>>> x.int_repr()
Tensor([-100,   50,  127], dtype=int8)

The formulas are those of 7.2.1.15.4, read so that they agree with each other:
`docs/en/guides/operators/creation_quantized.md`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache, partial
from typing import Any, Literal

from suanzi import _core
from suanzi.base.dtypes import DType as DType
from suanzi.base.dtypes import DTypeLike, float32, float64
from suanzi.base.hints import shown
from suanzi.base.shapes import bounded
from suanzi.base.status import (
    AllocFailed,
    InvalidArgument,
    TypeMismatch,
    UninitializedObject,
)
from suanzi.ops.calling.arguments import dtype_named, tensor_argument, without_scale
from suanzi.ops.calling.scalars import axis_argument, integer_argument
from suanzi.ops.calling.scales import (
    MAX_ZERO_POINT,
    Quantizing,
    by_equations,
    derive,
    float32s,
    is_symmetric,
    limits_of,
)
from suanzi.promote.registry import FLOATS, QUANTIZED, Operator
from suanzi.tensors.tensor import Tensor, TensorLike

MAX_CHANNELS = 2**28
"""The most channels that scales are taken from data for."""


_REAL = frozenset({"bool", "int", "uint", "float"})
_SYMMETRIC = frozenset(dt for dt in QUANTIZED if is_symmetric(dt))
_ASYMMETRIC = frozenset(dt for dt in QUANTIZED if not (is_symmetric(dt) or "_CH_" in dt.name))
_LEAST_PLAIN, _MOST_PLAIN = 1e-30, 1e30
"""Between them a scale is above 0 and finite in float32, too."""


@cache
def is_channel_wise(dt: DType) -> bool:
    """Return whether a quantised dtype has a scale for each channel."""
    return "_CH_" in dt.name


def stored_zero(x: Tensor) -> int:
    """Return the integer of a quantised tensor that stands for 0, or for what is nearest to it."""
    limits = limits_of(x.dtype)
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

    >>> sz.quantize(sz.tensor([[1, 2], [30, 60]]), sz.QT_CH_SYM_INT8, channel_axis=0).scale
    (0.015748031437397003, 0.4724409580230713)
    >>> x = sz.quantize(sz.tensor([10.0, 20.1, 73.75]), sz.QT_ASYM_UINT8)
    >>> x.int_repr().tolist(), x
    ([0, 40, 255], Tensor([   10,    20, 73.75], dtype=QT_ASYM_UINT8, scale=0.25, zero_point=-40))
    >>> sz.quantize(sz.tensor([0.2, 0.3, 99]), sz.QT_ASYM_UINT8, scale=0.25, zero_point=10)
    Tensor([    0,  0.25, 61.25], dtype=QT_ASYM_UINT8, scale=0.25, zero_point=10)
    """
    if zero_point is None and channel_axis is None and rounding is None and limited is False:
        try:
            plainly = _by_range(x, dtype) if scale is None else _by_scales(x, dtype, scale)
        except UninitializedObject:  # reported below, by name
            plainly = None
        if plainly is not None:
            return plainly
    op = QUANTIZE
    target = _quantized_dtype(op, dtype)
    given: dict[str, Any] = {
        "scale": scale,
        "zero_point": zero_point,
        "channel_axis": channel_axis,
        "rounding": rounding,
        "limited": limited,
    }
    made = _on_its_device(x, "quantize", (x, target), given)
    if made is not NotImplemented:
        return made  # type: ignore[no-any-return]
    real = real_numbers(op, "x", tensor_argument(op, "x", x))
    found = quantizing(op, target, real.shape, partial(ranges, op, "x", real), **given)
    return found.of(real)


def _by_scales(x: Any, dt: Any, scale: Any) -> Tensor | None:
    """Return real numbers by plain scales of a symmetric dtype; None where these need a look."""
    if not (type(x) is Tensor and type(dt) is DType and x.dtype.kind in _REAL and dt in _SYMMETRIC):
        return None
    axis = -1
    if not is_channel_wise(dt):
        if not (type(scale) is float and _LEAST_PLAIN < scale < _MOST_PLAIN):
            return None
        scale = [scale]
    else:
        axis = min(x.ndim, 2) - 1
        if not (type(scale) is list and axis >= 0 and len(scale) == x.shape[axis] > 0):
            return None
        plain = set(map(type, scale)) == {float} and min(scale) > _LEAST_PLAIN
        if not (plain and sum(scale) < _MOST_PLAIN):  # NaN is in the sum, too
            return None
    return _core.quantize(x, dt, scale, 0, axis, False)


def _by_range(x: Any, dt: Any) -> Tensor | None:
    """Return real numbers by the equations of an asymmetric dtype; None where these need a look."""
    if not (
        type(x) is Tensor and type(dt) is DType and x.dtype.kind in _REAL and dt in _ASYMMETRIC
    ):
        return None
    lows, highs, finite = _core.value_range(x, -1)
    if not finite:
        return None
    found = by_equations(QUANTIZE, dt, lows[0], highs[0], True)
    return None if found is None else found.of(x)


def quantize_for(op: Operator, name: str, x: Tensor, target: DType) -> Tensor:
    """Return a tensor in a quantised dtype, scale and zero point derived, for another operator."""
    if x.dtype.kind == "complex":
        x = _core.cast(x, float64, False)  # the real part, which this holds
    real = real_numbers(op, name, x)
    return quantizing(op, target, real.shape, partial(ranges, op, name, real)).of(real)


Ranges = Callable[[int], tuple[list[float], list[float]]]
"""What returns the least and the largest elements: of each channel of an axis, or (-1) of all."""


def quantizing(
    op: Operator,
    target: DType,
    shape: tuple[int, ...],
    ranges: Ranges,
    *,
    scale: Any = None,
    zero_point: int | None = None,
    channel_axis: int | None = None,
    rounding: str | None = None,
    limited: bool = False,
) -> Quantizing:
    """Return how numbers of a shape become quantised; `ranges` is called where data decide."""
    if channel_axis is not None and not is_channel_wise(target):
        raise InvalidArgument(
            f"{op.title}: channel_axis is {channel_axis!r}, but {target} has one scale for all "
            f"channels. Use {'QT_CH_SYM_INT8' if target.bits == 8 else 'QT_CH_SYM_INT16'}."
        )
    if rounding not in (None, "nearest", "floor"):
        raise InvalidArgument(f"{op.title}: rounding is {rounding!r}; it is 'nearest' or 'floor'.")
    axis = channel_axis_argument(op, channel_axis, target, shape)
    scales = None
    if scale is not None:
        scales, axis = scale_argument(op, scale, target, shape, axis)
    offset = 0
    if zero_point is not None:
        offset = zero_point_argument(op, zero_point, target)
    down = rounding == "floor" or (rounding is None and not is_symmetric(target))
    if scales is None or (zero_point is None and not is_symmetric(target)):
        lows, highs = ranges(axis)
        if not (limited or is_symmetric(target) or scale is not None or zero_point is not None):
            found = by_equations(op, target, lows[0], highs[0], down)
            if found is not None:
                return found
        given = None if zero_point is None else offset
        scales, offset = derive(op, target, lows, highs, scales, given)
    return Quantizing(target, scales, offset, axis, down)


def quantize_like(x: Tensor, source: Tensor, shape: tuple[int, ...], axis: int) -> Tensor:
    """Return real numbers, repeated to a shape, as another tensor, with a scale, stores them.

    `axis` is that of its channels in the shape, -1 for none.
    """
    op = QUANTIZE
    assert x.scale is not None
    assert x.zero_point is not None
    real = _core.try_view("expand", real_numbers(op, "value", source), shape)
    down = not is_symmetric(x.dtype)
    return _core.quantize(real, x.dtype, x.scale, x.zero_point, axis, down)


def dequantize(x: Tensor, dtype: DTypeLike = float32) -> Tensor:
    """Return what a quantised tensor stands for, rounded once; in float64 it is exact.

    >>> x = sz.create_quant_tensor((2,), 0.5, sz.QT_ASYM_UINT8, values=[3, 0], zero_point=1)
    >>> sz.dequantize(x)
    Tensor([   1, -0.5], dtype=float32)
    """
    op = DEQUANTIZE
    made = _on_its_device(x, "dequantize", (x, dtype), {})
    if made is not NotImplemented:
        return made  # type: ignore[no-any-return]
    x = tensor_argument(op, "x", x)
    if x.dtype.kind != "quantized":
        raise TypeMismatch(f"{op.title}: x is {x.dtype}; it takes a quantised tensor.")
    target = dtype_named(op, dtype)
    if target not in FLOATS:
        raise TypeMismatch(
            f"{op.title}: dtype is {target}; it is one of {', '.join(map(str, FLOATS))}. "
            "For another, use sz.cast."
        )
    if x.zero_point is None:
        raise without_scale(op.title, "x", x)
    return _core.dequantize(x, target, False)


def _on_its_device(x: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Return what the device of a tensor makes of a call; NotImplemented if it is the host's."""
    if type(x) is Tensor or not hasattr(type(x), "to_host"):
        return NotImplemented
    return x.__suanzi_operator__(name, args, kwargs)


# What errors name: the standard does not have these two operators.
QUANTIZE = Operator("quantize", "7.2.1.15.4", quantize, QUANTIZED, None, None)
DEQUANTIZE = Operator("dequantize", "7.2.1.15.4", dequantize, QUANTIZED, None, None)


# ---- arguments ----------------------------------------------------------------------------------


def _quantized_dtype(op: Operator, dt: DTypeLike) -> DType:
    """Return an argument as a quantised dtype."""
    target = dtype_named(op, dt)
    if target.kind != "quantized":
        raise TypeMismatch(
            f"{op.title}: dtype is {target}; it is one of {', '.join(map(str, QUANTIZED))}."
        )
    return target


def real_numbers(op: Operator, name: str, x: Tensor) -> Tensor:
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
            f"{op.title}: channel_axis is {axis}, but the tensor has no axes. Omit it."
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
    found = float32s(numbers)
    if found and not (min(found) > 0 and sum(found) < math.inf):  # NaN is in the sum, too
        wrong = next(n for n, s in zip(numbers, found, strict=True) if not 0 < s < math.inf)
        raise InvalidArgument(
            f"{op.title}: scale is {wrong!r}; it must be above 0 and finite in float32."
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


def ranges(op: Operator, name: str, real: Tensor, axis: int) -> tuple[list[float], list[float]]:
    """Return the least and the largest element, of each channel where there are some."""
    channels(op, real.shape, axis)
    lows, highs, finite = _core.value_range(real, axis)
    if not finite:
        raise without_range(op, name)
    return lows, highs


def channels(op: Operator, shape: tuple[int, ...], axis: int) -> int:
    """Return how many scales there are along an axis, of an empty tensor perhaps; 1 without one."""
    count = shape[axis] if axis >= 0 else 1
    if count > MAX_CHANNELS:
        raise AllocFailed(f"{op.title}: not enough memory for {count} scales.")
    return count


def without_range(op: Operator, name: str) -> InvalidArgument:
    """Return the error for numbers that are not finite."""
    return InvalidArgument(
        f"{op.title}: {name} contains numbers that are not finite, so no scale can be derived. "
        "Give sz.quantize a scale and a zero_point, or replace them with sz.where."
    )
