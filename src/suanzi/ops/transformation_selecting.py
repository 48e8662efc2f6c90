"""7.2.3.17, .18, .25: elements picked by indices or by a mask, and written back by indices."""

from __future__ import annotations

import math
from typing import Any

from suanzi import _core
from suanzi.base.dtypes import DType, widened
from suanzi.base.dtypes import bool as bool_
from suanzi.base.layout import strides_of
from suanzi.base.shapes import MAX_NDIM, broadcast_shapes
from suanzi.base.status import InvalidArgument
from suanzi.ops.calling.arguments import tensor_argument
from suanzi.ops.calling.declare import operator
from suanzi.ops.calling.scalars import flag_argument
from suanzi.promote.registry import REGISTRY, Operator
from suanzi.tensors.parts import converted, scales_at, with_quantization_of
from suanzi.tensors.tensor import Tensor, TensorLike


@operator("7.2.3.17", fast=True)
def gather(input: TensorLike, index: TensorLike) -> Tensor:
    """Return the elements or rows at indices.

    An index of rank 1 picks rows, entries of the first axis. Of an index of higher rank, the last
    axis holds coordinates: as many as it is long, for as many axes of the input.

    >>> x = sz.tensor([[1, 2], [3, 4], [5, 6]])
    >>> sz.gather(x, sz.tensor([2, 0]))
    Tensor([[5, 6],
            [1, 2]], dtype=int64)
    >>> sz.gather(x, sz.tensor([[2, 0], [0, 1]]))
    Tensor([5, 2], dtype=int64)
    """
    op = REGISTRY["gather"]
    x = tensor_argument(op, "input", input)
    coordinates = _coordinates(op, x, tensor_argument(op, "index", index))
    picks_channels = x.channel_axis is not None and x.channel_axis < len(coordinates)
    if picks_channels and (len(coordinates) > 1 or coordinates[0].ndim != 1):
        raise InvalidArgument(
            f"{op.title}: index goes along axis {x.channel_axis}, which has the channels of the "
            "input, each with its own scale. Gather from sz.dequantize(input)."
        )
    picked, ndim = len(coordinates), coordinates[0].ndim
    if x.ndim - picked + ndim > MAX_NDIM:
        raise InvalidArgument(f"{op.title}: the result would have more than {MAX_NDIM} axes.")
    offsets = _offsets(op, x.shape, x.strides, coordinates)
    quick = with_quick_rows(x, picked, coordinates[0].size * math.prod(x.shape[picked:]))
    if quick is not x:
        offsets = _offsets(op, quick.shape, quick.strides, coordinates)
    made = _core.gather(quick, 0, picked, offsets)
    axis = -1 if x.channel_axis is None else x.channel_axis - picked + ndim
    scale = scales_at(x, coordinates) if picks_channels else None
    return with_quantization_of(x, made, axis=axis, scale=scale)


@operator("7.2.3.18")
def scatter(
    input: TensorLike, index: TensorLike, updates: TensorLike, override: bool = True
) -> Tensor:
    """Return the input with `updates` written at indices, as in `gather`.

    Where indices coincide, the last update stays; without `override`, all are added to what is
    there. float16, bfloat16 and float8 are added up in float32 and rounded once.

    Paddle's operator of this name has other sums: it makes rows that are written to zero first.

    >>> x = sz.tensor([[1, 1], [2, 2], [3, 3]])
    >>> updates = sz.tensor([[10, 10], [20, 20], [30, 30]])
    >>> sz.scatter(x, sz.tensor([2, 1, 1]), updates)
    Tensor([[ 1,  1],
            [30, 30],
            [10, 10]], dtype=int64)
    >>> sz.scatter(x, sz.tensor([2, 1, 1]), updates, override=False)
    Tensor([[ 1,  1],
            [52, 52],
            [13, 13]], dtype=int64)
    """
    op = REGISTRY["scatter"]
    x = tensor_argument(op, "input", input)
    coordinates = _coordinates(op, x, tensor_argument(op, "index", index))
    new = tensor_argument(op, "updates", updates)
    flag_argument(op, "override", override)
    wanted = (*coordinates[0].shape, *x.shape[len(coordinates) :])
    if new.dtype is not x.dtype or new.shape != wanted:
        raise InvalidArgument(
            f"{op.title}: updates is {new.dtype} of shape {new.shape}; it must have the dtype of "
            f"the input, {x.dtype}, and the shape {wanted}."
        )
    quantization = (x.scale, x.zero_point, x.channel_axis)
    if x.dtype.kind == "quantized" and (
        not override or quantization != (new.scale, new.zero_point, new.channel_axis)
    ):
        raise InvalidArgument(
            f"{op.title}: a quantised input takes updates of the same scale and zero point, and "
            "they overwrite. Scatter sz.dequantize(input) instead."
        )
    wide = x.dtype if override else _adds_in(op, x.dtype)
    offsets = _offsets(op, x.shape, strides_of(x.shape), coordinates)
    made = _core.row_major_copy(converted(x, wide))
    new = _core.row_major_copy(converted(new, wide))
    _core.scatter(made, 0, len(coordinates), offsets, new, not override)
    return converted(made, x.dtype)


def _adds_in(op: Operator, dt: DType) -> DType:
    """Return the dtype in which updates are added up."""
    if dt.kind in ("bool", "char"):
        other = ", or cast with sz.cast(input, sz.int32)" if dt.kind == "bool" else ""
        raise InvalidArgument(
            f"{op.title}: input is {dt}, which cannot be added; use override=True{other}."
        )
    return widened(dt)


@operator("7.2.3.25", fast=True)
def masked_select(input: TensorLike, mask: TensorLike) -> Tensor:
    """Return the elements where a mask is true as a vector, in row-major order.

    The mask is repeated to the shape of the input.

    >>> x = sz.tensor([[1, 2], [3, 4]])
    >>> sz.masked_select(x, sz.greater(x, 1))
    Tensor([2, 3, 4], dtype=int64)
    """
    op = REGISTRY["masked_select"]
    x = tensor_argument(op, "input", input)
    chosen = tensor_argument(op, "mask", mask)
    if chosen.dtype is not bool_:
        raise InvalidArgument(
            f"{op.title}: mask is {chosen.dtype}; it must be bool. Compare it with something, such "
            "as sz.not_equal(mask, 0)."
        )
    if chosen.ndim > x.ndim or broadcast_shapes([x.shape, chosen.shape]) != x.shape:
        raise InvalidArgument(
            f"{op.title}: mask has shape {chosen.shape} and input {x.shape}; counted from the last "
            "axis, sizes of the mask must be those of the input, or 1."
        )
    if x.channel_axis is not None:
        raise InvalidArgument(
            f"{op.title}: axis {x.channel_axis} has the channels of the input, each with its own "
            "scale. Select from sz.dequantize(input)."
        )
    made = _core.masked_select(x, chosen)
    return with_quantization_of(x, made)


# ---- indices -------------------------------------------------------------------------------------


def _coordinates(op: Operator, x: Tensor, index: Tensor) -> list[Tensor]:
    """Return the indices of each axis that is indexed, as tensors of one shape."""
    if index.dtype.kind not in ("int", "uint") or index.dtype.bits < 8:
        raise InvalidArgument(
            f"{op.title}: index is {index.dtype}; it must be of integers. Cast it with "
            "sz.cast(index, sz.int64)."
        )
    count = index.shape[-1] if index.ndim > 1 else 1
    if index.ndim == 0 or count > x.ndim or count == 0:
        raise InvalidArgument(
            f"{op.title}: index has shape {index.shape} and the input rank {x.ndim}; it must have "
            "rank 1, for rows, or a last axis of at most as many coordinates as the input has "
            "axes."
        )
    return [index] if index.ndim == 1 else [index[..., i] for i in range(count)]


def _offsets(
    op: Operator, shape: tuple[int, ...], strides: tuple[int, ...], coordinates: list[Tensor]
) -> Tensor:
    picked = len(coordinates)
    found = _core.index_offsets(coordinates, shape[:picked], strides[:picked], False)
    if isinstance(found, tuple):
        axis, place = found
        value = flat_item(coordinates[axis], place)
        raise InvalidArgument(
            f"{op.title}: index contains {value} for axis {axis}, which has size {shape[axis]}; "
            f"indices are from 0 to {shape[axis] - 1}."
        )
    return found


def flat_item(x: Tensor, place: int) -> Any:
    """Return an element by its place in row-major order."""
    at = []
    for size in reversed(x.shape):
        place, i = divmod(place, size)
        at.append(i)
    return x[tuple(reversed(at))].item()


def with_quick_rows(x: Tensor, first: int, taken: int) -> Tensor:
    """Return the tensor, or a copy with the axes from `first` on in row-major order.

    A copy of the whole is quicker than to pick much of it row by row from all over the memory.
    """
    if _core.has_dense_rows(x, first) or 8 * taken <= x.size:
        return x
    return _core.row_major_copy(x)
