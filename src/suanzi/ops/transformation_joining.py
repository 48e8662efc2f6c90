"""7.2.3.7, .8, .11, .12, .14: tensors put together from the elements of others.

Each is written in one pass over memory. Quantised tensors keep the integers they store, and those
with a scale per channel get the scales that go with the channels of the result.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from enum import IntEnum
from typing import Any

from suanzi import _core
from suanzi.base.dtypes import float32, float64
from suanzi.base.hints import nearest, shown
from suanzi.base.shapes import MAX_NDIM, bounded
from suanzi.base.status import InvalidArgument, OnDemand, OutOfRange, UninitializedObject
from suanzi.ops.calling.arguments import (
    list_argument,
    operands_of,
    real_values,
    tensor_argument,
    without_scale,
)
from suanzi.ops.calling.declare import operator
from suanzi.ops.calling.elementwise import plain_operand, promoted_dtype
from suanzi.ops.calling.scalars import (
    axis_argument,
    check_alive,
    integers_argument,
    one_or_several,
)
from suanzi.ops.creation_wanted import scalar_argument
from suanzi.ops.quantized import quantize_like, stored_zero
from suanzi.promote.registry import ANY, JOINING, REGISTRY, Operator
from suanzi.tensors.make import tensor
from suanzi.tensors.parts import reshaped, with_quantization_of
from suanzi.tensors.tensor import Tensor, TensorLike


class PadMode(IntEnum):
    """Where padding comes from, as `pad` takes it."""

    PAD_CONST = 0
    """A number."""
    PAD_PERIOD = 1
    """The tensor over and over: ``... b c | a b c | a b ...``."""
    PAD_MIRROR = 2
    """Its mirror image, the edges doubled: ``... b a | a b c | c b ...``."""


@operator("7.2.3.7", dtypes=ANY, fast=True, promotes=JOINING)
def concat(input_lists: Sequence[TensorLike], axis: int) -> Tensor:
    """Return tensors joined along an axis, in the dtype they promote to.

    >>> x, y = sz.tensor([[1, 2]], sz.int8), sz.tensor([[0.5, 1.5]], sz.float16)
    >>> sz.concat([x, y], axis=0)
    Tensor([[  1,   2],
            [0.5, 1.5]], dtype=float16)
    """
    op = REGISTRY["concat"]
    parts = list_argument(op, "input_lists", input_lists)
    ndim = parts[0].ndim
    for i, x in enumerate(parts):
        if x.ndim != ndim or ndim == 0:
            raise InvalidArgument(
                f"{op.title}: input_lists[{i}] has rank {x.ndim} and input_lists[0] rank {ndim}; "
                "ranks must be equal, and 1 at least. Add axes with sz.expand_dims, or use "
                "sz.stack."
                if ndim
                else f"{op.title}: input_lists[0] has rank 0, and so no axis to go along. Use "
                "sz.stack."
            )
    along = axis_argument(op, "axis", axis, ndim, OutOfRange)
    first = parts[0].shape
    for i, x in enumerate(parts):
        shape = x.shape
        if shape[:along] != first[:along] or shape[along + 1 :] != first[along + 1 :]:
            raise _sizes_differ(op, i, shape, first, along)
    return _joined(op, parts, along, stacks=False)


def _sizes_differ(
    op: Operator, i: int, shape: tuple[int, ...], first: tuple[int, ...], along: int
) -> InvalidArgument:
    return InvalidArgument(
        OnDemand(
            lambda: (
                f"{op.title}: input_lists[{i}] has shape {shape} and input_lists[0] {first}; but "
                f"for axis {along}, sizes must be equal."
            )
        )
    )


@operator("7.2.3.8", dtypes=ANY, fast=True, promotes=JOINING)
def stack(input_lists: Sequence[TensorLike], axis: int) -> Tensor:
    """Return tensors of one shape joined along a new axis, in the dtype they promote to.

    >>> sz.stack([sz.tensor([1, 1, 1]), sz.tensor([2, 2, 2])], axis=1)
    Tensor([[1, 2],
            [1, 2],
            [1, 2]], dtype=int64)
    """
    op = REGISTRY["stack"]
    parts = list_argument(op, "input_lists", input_lists)
    numbers = {i: x for i, x in enumerate(input_lists) if type(x) in (bool, int, float, complex)}
    along = axis_argument(op, "axis", axis, parts[0].ndim + 1, OutOfRange)
    for i, x in enumerate(parts):
        if x.shape != parts[0].shape:
            raise InvalidArgument(
                f"{op.title}: input_lists[{i}] has shape {x.shape} and input_lists[0] "
                f"{parts[0].shape}; they must be equal. sz.concat joins tensors of different sizes."
            )
    if parts[0].ndim == MAX_NDIM:
        raise InvalidArgument(f"{op.title}: the result would have more than {MAX_NDIM} axes.")
    if numbers:  # which have no dtype of their own, unless there is nothing else
        return _with_numbers(op, parts, numbers)
    return _joined(op, parts, along, stacks=True)


def _with_numbers(op: Operator, parts: list[Tensor], numbers: dict[int, Any]) -> Tensor:
    """Stack tensors of rank 0 and Python numbers, which promote as in `x + 1`."""
    operands = operands_of(
        op, {f"input_lists[{i}]": numbers.get(i, x) for i, x in enumerate(parts)}
    )
    promoted = promoted_dtype(op, operands)
    made = _core.empty((len(operands),), promoted)
    for i, (name, x) in enumerate(operands.items()):
        _core.copy_into(made[i], plain_operand(op, name, x, promoted))
    return made


def _joined(op: Operator, parts: list[Tensor], along: int, *, stacks: bool) -> Tensor:
    quantization = _common_quantization(parts, along, stacks=stacks)
    if quantization is not None:
        made = _core.join(parts, along, parts[0].dtype, stacks)
        _core.set_quantization(made, *quantization)
        return made
    names = [f"input_lists[{i}]" for i in range(len(parts))]
    operands = {n: real_values(op, n, x) for n, x in zip(names, parts, strict=True)}
    return _core.join(list(operands.values()), along, promoted_dtype(op, operands), stacks)


def _common_quantization(
    parts: list[Tensor], along: int, *, stacks: bool
) -> tuple[Sequence[float], int, int] | None:
    """Return what the stored integers of all parts stand for together, if it is one thing."""
    first = parts[0]
    if first.scale is None or first.zero_point is None:
        return None
    if any(x.dtype is not first.dtype or x.zero_point != first.zero_point for x in parts):
        return None
    axis = first.channel_axis
    if axis is not None and not stacks and axis == along:
        if any(x.channel_axis != axis for x in parts):
            return None
        return [s for x in parts for s in x.scale or ()], first.zero_point, axis
    if any(x.scale != first.scale or x.channel_axis != axis for x in parts):
        return None
    moved = -1 if axis is None else axis + (stacks and along <= axis)
    return first.scale, first.zero_point, moved


@operator("7.2.3.11", fast=True)
def tile(input: TensorLike, repeats: Sequence[int]) -> Tensor:
    """Return the input repeated along each axis as often as `repeats` gives.

    >>> sz.tile(sz.tensor([[1, 2], [3, 4]]), (1, 2))
    Tensor([[1, 2, 1, 2],
            [3, 4, 3, 4]], dtype=int64)
    """
    op = REGISTRY["tile"]
    x = tensor_argument(op, "input", input)
    times = integers_argument(op, "repeats", repeats, x.ndim)
    if min(times, default=0) < 0 or max(times, default=0) >= 2**63:
        raise InvalidArgument(
            f"{op.title}: repeats is {shown(times)}; each must be at least 0 and less than 2**63."
        )
    made = _core.tile(x, times)
    scale = list(x.scale or ()) * (1 if x.channel_axis is None else times[x.channel_axis])
    return with_quantization_of(x, made, scale=scale)


@operator("7.2.3.12", dtypes=ANY, fast=True)
def pad(
    input: TensorLike,
    pad_width: Sequence[int] | Sequence[Sequence[int]],
    pad_value: Any = 0,
    pad_mode: PadMode | str = PadMode.PAD_CONST,
) -> Tensor:
    """Return the input with padding before and after it along each axis.

    `pad_width` has the two widths of each axis one after the other, or in pairs. The padding is
    `pad_value`, or what `pad_mode` says; for a quantised input, `pad_value` is a real number.

    >>> x = sz.tensor([1, 2, 3])
    >>> sz.pad(x, (1, 2), 9)
    Tensor([9, 1, 2, 3, 9, 9], dtype=int64)
    >>> sz.pad(x, [(2, 2)], pad_mode="PAD_MIRROR"), sz.pad(x, (2, 2), pad_mode="PAD_PERIOD")
    (Tensor([2, 1, 1, 2, 3, 3, 2], dtype=int64), Tensor([2, 3, 1, 2, 3, 1, 2], dtype=int64))
    """
    op = REGISTRY["pad"]
    x = tensor_argument(op, "input", input)
    mode = _pad_mode(op, pad_mode)
    widths = _widths(op, pad_width, x)
    if mode is not PadMode.PAD_CONST:
        for axis, (before, after) in enumerate(zip(widths[::2], widths[1::2], strict=True)):
            if x.shape[axis] == 0 and before + after > 0:
                raise InvalidArgument(
                    f"{op.title}: axis {axis} is empty and has no elements to repeat; use "
                    "PAD_CONST."
                )
    scale: list[float] = list(x.scale or ())
    value: Any = 0
    at = 0 if x.channel_axis is None else 2 * x.channel_axis
    of_channels = slice(at, at if x.channel_axis is None else at + 2)
    if mode is PadMode.PAD_CONST:
        value = _stored(op, pad_value, x)
        if any(widths[of_channels]):
            raise InvalidArgument(
                f"{op.title}: axis {x.channel_axis} has the channels of the input, each with its "
                "own scale, and a number has none; pad sz.dequantize(input)."
            )
    elif x.channel_axis is not None:
        scales = _core.pad(tensor(scale, float32), widths[of_channels], mode, 0)
        scale = scales.tolist()
    made = _core.pad(x, widths, mode, value)
    return with_quantization_of(x, made, scale=scale)


def _pad_mode(op: Operator, mode: Any) -> PadMode:
    try:
        if isinstance(mode, str):
            return PadMode[mode.upper()]
        if isinstance(mode, int) and not isinstance(mode, bool):
            return PadMode(mode)
    except (KeyError, ValueError):
        pass
    hint = nearest(mode, PadMode.__members__) if isinstance(mode, str) else ""
    raise InvalidArgument(
        f"{op.title}: pad_mode is {shown(mode)}; it must be one of "
        f"{', '.join(PadMode.__members__)}.{hint}"
    )


def _widths(op: Operator, given: Any, x: Tensor) -> tuple[int, ...]:
    """Return two widths for each axis, given flat or in pairs."""
    check_alive(op, "pad_width", given)
    try:
        given = list(bounded(given, 2 * MAX_NDIM))
        pairs = [list(bounded(pair, 2)) for pair in given]
    except (TypeError, UninitializedObject):
        pairs = []
    if pairs and all(len(pair) == 2 for pair in pairs):
        given = [n for pair in pairs for n in pair]
    widths = integers_argument(op, "pad_width", given)
    if len(widths) != 2 * x.ndim or not all(0 <= n < 2**63 for n in widths):
        raise InvalidArgument(
            f"{op.title}: pad_width is {shown(given)}; for {x.ndim} axes it must be {2 * x.ndim} "
            "integers of at least 0, before and after for each axis."
        )
    return widths


def _stored(op: Operator, value: Any, x: Tensor) -> Any:
    """Return a number as the input stores it."""
    if x.dtype.kind != "quantized":
        return scalar_argument(op, "pad_value", value, x.dtype)
    number = scalar_argument(op, "pad_value", value, float64)
    if x.scale is None:
        raise without_scale(op.title, "input", x)
    if number == 0:
        return stored_zero(x)
    if len(x.scale) > 1:
        raise InvalidArgument(
            f"{op.title}: pad_value is {number}, and the input has no one scale to store it with; "
            "pad sz.dequantize(input)."
        )
    if not math.isfinite(number.real):
        raise InvalidArgument(f"{op.title}: pad_value is {number}, which {x.dtype} cannot store.")
    return quantize_like(x, tensor(number, float64), (), -1).int_repr().item()


@operator("7.2.3.14", fast=True)
def roll(
    input: TensorLike, shifts: int | Sequence[int], axis: int | Sequence[int] | None = ()
) -> Tensor:
    """Return the input shifted along axes; elements shifted out at the end reappear at the start.

    There is a shift for each axis in `axis`; an axis that is there twice is shifted twice. Without
    `axis`, the elements in row-major order are shifted as one row.

    >>> x = sz.tensor([[1, 2, 3], [4, 5, 6]])
    >>> sz.roll(x, [1], [1])
    Tensor([[3, 1, 2],
            [6, 4, 5]], dtype=int64)
    >>> sz.roll(x, [1])
    Tensor([[6, 1, 2],
            [3, 4, 5]], dtype=int64)
    """
    op = REGISTRY["roll"]
    x = tensor_argument(op, "input", input)
    by = one_or_several(op, "shifts", shifts)
    given = () if axis is None else one_or_several(op, "axis", axis)
    axes = [axis_argument(op, "axis", n, x.ndim) for n in given]
    if not axes:
        if len(by) != 1:
            raise InvalidArgument(
                f"{op.title}: without axis there is one shift; shifts has {len(by)}."
            )
        if x.channel_axis is not None:
            raise InvalidArgument(
                f"{op.title}: axis {x.channel_axis} has the channels of the input, each with its "
                "own scale; name the axes to roll, or roll sz.dequantize(input)."
            )
        rolled = _core.roll(reshaped(x, (x.size,)), [by[0] % x.size if x.size else 0])
        return reshaped(rolled, x.shape)
    if len(axes) != len(by):
        raise InvalidArgument(
            f"{op.title}: shifts has {len(by)} integers and axis {len(axes)}; there must be one "
            "shift for each axis."
        )
    total = [0] * x.ndim
    for n, shift in zip(axes, by, strict=True):
        total[n] = (total[n] + shift) % x.shape[n] if x.shape[n] else 0
    made = _core.roll(x, total)
    scale = list(x.scale or ())
    if x.channel_axis is not None and scale:
        first = -total[x.channel_axis] % len(scale)
        scale = scale[first:] + scale[:first]
    return with_quantization_of(x, made, scale=scale)
