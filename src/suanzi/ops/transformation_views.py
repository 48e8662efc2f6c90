"""7.2.3.2 to 7.2.3.6, .9, .10, .13, .15, .19 to .21, .24: other shapes of the same elements.

What these return shares the memory of the input wherever strides can say it; only `reshape` and
`flatten` copy where they cannot. The making of the views is native; what comes here is what a
native fast path did not take, errors above all.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from suanzi import _core
from suanzi.base.hints import shown
from suanzi.base.shapes import MAX_NDIM
from suanzi.base.status import (
    AllocFailed,
    AxisArgument,
    DimensionsMismatch,
    InvalidArgument,
    OnDemand,
    OutOfRange,
    StatusError,
)
from suanzi.ops.calling.arguments import list_argument, tensor_argument
from suanzi.ops.calling.declare import operator
from suanzi.ops.calling.scalars import (
    axes_argument,
    axis_argument,
    integer_argument,
    integers_argument,
    is_several,
    shape_argument,
)
from suanzi.promote.registry import REGISTRY, Operator
from suanzi.tensors.parts import reshaped, zeros
from suanzi.tensors.tensor import Tensor, TensorLike

MAX_PARTS = 2**24
"""How many parts an axis is split into at most."""


@operator("7.2.3.2", fast=True)
def reshape(input: TensorLike, dims: Sequence[int] | int) -> Tensor:
    """Return the elements, in row-major order, in another shape.

    It is a view if the layout of the input allows one, else a copy in row-major order. `dims`
    may be one integer, and -1 alone is one axis of all elements. The standard computes no size from
    the others; the method ``x.reshape(2, -1)`` does.

    >>> sz.reshape(sz.tensor([[1, 2], [3, 4]]), -1)
    Tensor([1, 2, 3, 4], dtype=int64)
    >>> sz.reshape(sz.tensor([1, 2, 3, 4, 5, 6]), (2, 3))
    Tensor([[1, 2, 3],
            [4, 5, 6]], dtype=int64)
    """
    op = REGISTRY["reshape"]
    x = tensor_argument(op, "input", input)
    sizes: Any = (dims,) if type(dims) is int else dims
    if type(sizes) in (tuple, list) and len(sizes) == 1 and type(sizes[0]) is int:
        sizes = (x.size,) if sizes[0] == -1 else sizes
    return _reshaped(op, "dims", x, shape_argument(op, "dims", sizes))


def _reshaped(op: Operator, name: str, x: Tensor, shape: tuple[int, ...]) -> Tensor:
    if math.prod(shape) != x.size:
        old = x.shape  # the error keeps no tensor alive
        raise DimensionsMismatch(
            OnDemand(
                lambda: (
                    f"{op.title}: {name} is {shape}, which is {math.prod(shape)} elements; the "
                    f"input has {math.prod(old)}, shape {old}."
                )
            )
        )
    if not _keeps_channels(x, shape):
        raise InvalidArgument(
            f"{op.title}: the shape {shape} has no axis for the channels of the input, axis "
            f"{x.channel_axis} of shape {x.shape}, each with its own scale. Reshape "
            "sz.dequantize(input) instead."
        )
    return reshaped(x, shape)


def _keeps_channels(x: Tensor, shape: tuple[int, ...]) -> bool:
    """Return whether another shape has the channel axis, with as many elements before it."""
    if x.channel_axis is None or x.shape[x.channel_axis] == 1:
        return True
    before = math.prod(x.shape[: x.channel_axis])
    channels = x.shape[x.channel_axis]
    return any(math.prod(shape[:i]) == before and n == channels for i, n in enumerate(shape))


@operator("7.2.3.3", fast=True)
def expand_dims(input: TensorLike, axis: int = 0) -> Tensor:
    """Return a view with a new axis of size 1 at `axis`.

    >>> sz.expand_dims(sz.tensor([[1, 2, 3]]), 1).shape
    (1, 1, 3)
    """
    op = REGISTRY["expand_dims"]
    x = tensor_argument(op, "input", input)
    found = axis_argument(op, "axis", axis, x.ndim + 1, OutOfRange)
    return _view(op, "expand_dims", x, found)


@operator("7.2.3.4", fast=True)
def squeeze(input: TensorLike, axis: int | Sequence[int] | None = ()) -> Tensor:
    """Return a view without axes of size 1: all of them, or those in `axis`.

    An axis in `axis` that is not of size 1 stays.

    >>> x = sz.tensor([[[1], [2]]])
    >>> sz.squeeze(x).shape, sz.squeeze(x, 0).shape
    ((2,), (2, 1))
    """
    op = REGISTRY["squeeze"]
    x = tensor_argument(op, "input", input)
    given = () if axis is None else axis
    return _view(op, "squeeze", x, axes_argument(op, "axis", given, x.ndim, OutOfRange))


@operator("7.2.3.5", fast=True)
def transpose(input: TensorLike, perm: Sequence[int] | None = ()) -> Tensor:
    """Return a view in which axis i of the input is axis ``perm[i]``; NumPy's perm is the inverse.

    Without `perm`, the axes are reversed. In NumPy and PyTorch, as in ``x.transpose(perm)``, axis i
    of the output is axis ``perm[i]`` of the input. The two differ when three axes or more change
    places in a circle; the first such call warns (`difference_warnings`).

    >>> import numpy as np
    >>> sz.difference_warnings(False)
    >>> x = sz.tensor(np.zeros((2, 3, 4)))
    >>> sz.transpose(x, (1, 2, 0)).shape, np.transpose(x.numpy(), (1, 2, 0)).shape
    ((4, 2, 3), (3, 4, 2))
    >>> sz.transpose(sz.tensor([[1, 2, 3], [4, 5, 6]]))
    Tensor([[1, 4],
            [2, 5],
            [3, 6]], dtype=int64)
    """
    op = REGISTRY["transpose"]
    x = tensor_argument(op, "input", input)
    found = () if perm is None else integers_argument(op, "perm", perm)
    if found and sorted(n + x.ndim if n < 0 else n for n in found) != list(range(x.ndim)):
        raise InvalidArgument(
            f"{op.title}: perm is {shown(found)}; it must have each axis of the input, 0 to "
            f"{x.ndim - 1}, once."
        )
    return _view(op, "transpose", x, found)


@operator("7.2.3.6", fast=True)
def split(
    input: TensorLike, split_sizes: Sequence[int] | None, nsplit: int | None = None, axis: int = 0
) -> list[Tensor]:
    """Return views of consecutive parts of an axis, of given sizes.

    Where `split_sizes` is empty, there are `nsplit` parts of equal size.

    >>> sz.split(sz.tensor([1, 2, 3, 4]), [3, 1])
    [Tensor([1, 2, 3], dtype=int64), Tensor([4], dtype=int64)]
    >>> [part.shape for part in sz.split(sz.tensor([[1, 2], [3, 4]]), [], 2, axis=1)]
    [(2, 1), (2, 1)]
    """
    op = REGISTRY["split"]
    x = tensor_argument(op, "input", input)
    along = axis_argument(op, "axis", axis, x.ndim, OutOfRange)
    size = x.shape[along]
    sizes = (
        ()
        if split_sizes is None
        else integers_argument(op, "split_sizes", split_sizes, most=min(size, MAX_PARTS))
    )
    count = None if nsplit is None else integer_argument(op, "nsplit", nsplit)
    if not sizes:
        # Parts of nothing may be any number that a C int holds.
        if count is None or not 1 <= count < max(size + 1, 2**31) or size % count:
            raise InvalidArgument(
                f"{op.title}: without split_sizes, nsplit must divide the size of axis {along}, "
                f"{size}; it is {shown(nsplit)}."
            )
        if count > MAX_PARTS:
            raise AllocFailed(f"not enough memory for {count} parts; split it into fewer.")
        sizes = (size // count,) * count
    elif sum(sizes) != size or min(sizes) < 1 or count not in (None, len(sizes)):
        raise InvalidArgument(
            f"{op.title}: split_sizes is {shown(sizes)} and nsplit {shown(nsplit)}; the sizes must "
            f"be above 0 and add up to the size of axis {along}, {size}, and nsplit, if given, is "
            "their number."
        )
    parts: list[Tensor] = _core.parts_of_axis(x, along, sizes)
    return parts


@operator("7.2.3.9", fast=True)
def unstack(input: TensorLike, axis: int = 0, num: int | None = None) -> list[Tensor]:
    """Return the views at each index of an axis, without that axis.

    `num`, if given, must be the size of the axis.

    >>> sz.unstack(sz.tensor([[1, 2], [3, 4]]), axis=1)
    [Tensor([1, 3], dtype=int64), Tensor([2, 4], dtype=int64)]
    """
    op = REGISTRY["unstack"]
    x = tensor_argument(op, "input", input)
    along = axis_argument(op, "axis", axis, x.ndim, OutOfRange)
    if num is not None and integer_argument(op, "num", num) != x.shape[along]:
        raise InvalidArgument(
            f"{op.title}: num is {shown(num)}; axis {along} has size {x.shape[along]}, and num "
            "must be the same, or left out."
        )
    parts: list[Tensor] = _core.try_view("unstack", x, along)
    return parts


@operator("7.2.3.10", fast=True)
def slice(
    input: TensorLike, begin: Sequence[int], size: Sequence[int], step: Sequence[int]
) -> Tensor:
    """Return a view of part of each axis: every `step`-th of the `size` indices from `begin` on.

    `size` counts the indices that are gone over, so that ``ceil(size / step)`` are left.

    >>> x = sz.tensor([[1, 2, 3, 4], [5, 6, 7, 8], [9, 10, 11, 12]])
    >>> sz.slice(x, begin=(0, 1), size=(3, 3), step=(2, 2))
    Tensor([[ 2,  4],
            [10, 12]], dtype=int64)
    """
    op = REGISTRY["slice"]
    x = tensor_argument(op, "input", input)
    return _view(op, "slice", x, *_slice_arguments(op, x, begin, size, step))


def _slice_arguments(
    op: Operator, x: Tensor, begin: Any, size: Any, step: Any
) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
    begins = integers_argument(op, "begin", begin, x.ndim)
    sizes = integers_argument(op, "size", size, x.ndim)
    steps = integers_argument(op, "step", step, x.ndim)
    if min(steps, default=1) < 1:
        raise InvalidArgument(f"{op.title}: step is {shown(steps)}; each must be at least 1.")
    for axis, (b, n, s, dim) in enumerate(zip(begins, sizes, steps, x.shape, strict=True)):
        if not 0 <= b <= b + n <= dim:
            raise OutOfRange(
                f"{op.title}: on axis {axis}, begin is {shown(b)} and size {shown(n)}; both must "
                f"be at least 0, and their sum at most the size of the axis, {dim}."
            )
        if s > max(dim, 1):
            raise OutOfRange(
                f"{op.title}: on axis {axis}, step is {shown(s)}; it is at most the size of the "
                f"axis, {dim}."
            )
    return begins, sizes, steps


@operator("7.2.3.10.4")
def slice_backward(
    grad_out: TensorLike,
    input: TensorLike | None = None,
    begin: Sequence[int] | None = None,
    size: Sequence[int] | None = None,
    step: Sequence[int] | None = None,
) -> Tensor:
    """Return the gradient of `slice`: `grad_out` where it took elements from, and 0 elsewhere.

    The standard calls all but the first optional, and yet there is no result without them. Of
    `input`, only shape and dtype are used.

    >>> g, x = sz.tensor([[1.0, 2.0]]), sz.tensor([[0.0] * 4] * 2)
    >>> sz.slice_backward(g, x, begin=(0, 1), size=(1, 3), step=(1, 2))
    Tensor([[0, 1, 0, 2],
            [0, 0, 0, 0]], dtype=float32)
    """
    op = REGISTRY["slice_backward"]
    gradient = tensor_argument(op, "grad_out", grad_out)
    given = {"input": input, "begin": begin, "size": size, "step": step}
    missing = [name for name, value in given.items() if value is None]
    if missing:
        raise InvalidArgument(
            f"{op.title}: {', '.join(missing)} must be given: they determine the position of the "
            "gradient."
        )
    x = tensor_argument(op, "input", input)
    arguments = _slice_arguments(op, x, begin, size, step)
    part = tuple(-(-n // s) for n, s in zip(arguments[1], arguments[2], strict=True))
    if x.dtype.kind == "quantized":
        raise InvalidArgument(
            f"{op.title}: input is {x.dtype}, and gradients are real numbers. Give "
            "sz.dequantize(input)."
        )
    if gradient.shape != part or gradient.dtype is not x.dtype:
        raise InvalidArgument(
            f"{op.title}: grad_out is {gradient.dtype} of shape {gradient.shape}; it must have the "
            f"dtype of the input, {x.dtype}, and the shape of the slice, {part}."
        )
    made = zeros(x.shape, x.dtype)
    _core.copy_into(_core.try_view("slice", made, *arguments), gradient)
    return made


@operator("7.2.3.13", fast=True)
def reverse(input: TensorLike, axis: int | Sequence[int]) -> Tensor:
    """Return a view with the order along one or several axes reversed; the same as `flip`.

    >>> sz.reverse(sz.tensor([[1, 2], [3, 4]]), axis=[0, 1])
    Tensor([[4, 3],
            [2, 1]], dtype=int64)
    """
    return _flipped(REGISTRY["reverse"], input, axis, OutOfRange)


@operator("7.2.3.21", fast=True)
def flip(input: TensorLike, axis: int | Sequence[int]) -> Tensor:
    """Return a view with the order along one or several axes reversed.

    >>> sz.flip(sz.tensor([[1, 2], [3, 4]]), axis=1)
    Tensor([[2, 1],
            [4, 3]], dtype=int64)
    """
    return _flipped(REGISTRY["flip"], input, axis, AxisArgument)


def _flipped(op: Operator, input: Any, axis: Any, error: type[StatusError]) -> Tensor:
    x = tensor_argument(op, "input", input)
    return _view(op, "flip", x, axes_argument(op, "axis", axis, x.ndim, error))


@operator("7.2.3.15", fast=True)
def crop(input: TensorLike, shape: Sequence[int], offsets: Sequence[int] | int = 0) -> Tensor:
    """Return a view of a block of the input with a given shape, beginning at `offsets`.

    >>> sz.crop(sz.tensor([[0, 1, 2], [0, 3, 4]]), (2, 2), (0, 1))
    Tensor([[1, 2],
            [3, 4]], dtype=int64)
    """
    op = REGISTRY["crop"]
    x = tensor_argument(op, "input", input)
    sizes = integers_argument(op, "shape", shape, x.ndim)
    starts = (
        integers_argument(op, "offsets", offsets, x.ndim)
        if is_several(op, "offsets", offsets)
        else (integer_argument(op, "offsets", offsets),) * x.ndim
    )
    for axis, (start, size, dim) in enumerate(zip(starts, sizes, x.shape, strict=True)):
        if not 0 <= start <= start + size <= dim:
            raise InvalidArgument(
                f"{op.title}: on axis {axis}, the offset is {shown(start)} and the size "
                f"{shown(size)}; both must be at least 0, and their sum at most the size of the "
                f"axis, {dim}."
            )
    return _view(op, "crop", x, sizes, starts)


@operator("7.2.3.19", fast=True)
def expand(input: TensorLike, shape: Sequence[int]) -> Tensor:
    """Return a view broadcast to a shape: along axes of size 1, and along new axes in front.

    >>> sz.expand(sz.tensor([1, 2, 3]), (2, 3))
    Tensor([[1, 2, 3],
            [1, 2, 3]], dtype=int64)
    """
    op = REGISTRY["expand"]
    x = tensor_argument(op, "input", input)
    wanted = shape_argument(op, "shape", shape)
    last = wanted[len(wanted) - x.ndim :]
    fits = len(wanted) >= x.ndim and all(n in (1, m) for n, m in zip(x.shape, last, strict=True))
    if not fits:
        raise InvalidArgument(
            f"{op.title}: an input of shape {x.shape} cannot be broadcast to {wanted}; counted "
            "from "
            "the last axis, sizes must be equal, or 1 in the input."
        )
    if math.prod(wanted) >= 2**63:
        raise InvalidArgument(f"{op.title}: shape is {wanted}, which has too many elements.")
    return _view(op, "expand", x, wanted)


@operator("7.2.3.20", fast=True)
def flatten(input: TensorLike, start_axis: int, stop_axis: int) -> Tensor:
    """Return the input with the axes from `start_axis` to `stop_axis`, inclusive, merged into one.

    >>> sz.flatten(sz.tensor([[[1, 2]], [[3, 4]]]), 1, 2)
    Tensor([[1, 2],
            [3, 4]], dtype=int64)
    """
    op = REGISTRY["flatten"]
    x = tensor_argument(op, "input", input)
    start = axis_argument(op, "start_axis", start_axis, x.ndim, AxisArgument)
    stop = axis_argument(op, "stop_axis", stop_axis, x.ndim, AxisArgument)
    if start > stop:
        raise AxisArgument(
            f"{op.title}: start_axis is {start_axis} and stop_axis {stop_axis}, which is before it."
        )
    one = math.prod(x.shape[start : stop + 1])
    return _reshaped(op, "the shape", x, (*x.shape[:start], one, *x.shape[stop + 1 :]))


@operator("7.2.3.24")
def meshgrid(input: Sequence[TensorLike] | Tensor) -> list[Tensor]:
    """Return coordinate tensors of a grid: k vectors become k tensors of rank k.

    One tensor, in a list or not, is a grid of its own (7.2.3.24.1).
    Tensor i varies along axis i, as with ``indexing="ij"`` in NumPy. They are views.

    >>> sz.meshgrid([sz.tensor([1, 2]), sz.tensor([3, 4, 5])])[1]
    Tensor([[3, 4, 5],
            [3, 4, 5]], dtype=int64)
    """
    op = REGISTRY["meshgrid"]
    lines = list_argument(op, "input", [input] if isinstance(input, Tensor) else input)
    for i, x in enumerate(lines):
        if x.ndim != 1:
            raise InvalidArgument(
                f"{op.title}: input[{i}] has shape {x.shape}; each must be of rank 1."
            )
    shape = tuple(x.shape[0] for x in lines)
    if len(shape) > MAX_NDIM or math.prod(shape) >= 2**63:
        raise InvalidArgument(
            f"{op.title}: the grid of {len(shape)} tensors would have more than {MAX_NDIM} axes, "
            "or too many elements."
        )
    grids = []
    for i, x in enumerate(lines):
        line = _core.try_view("reshape", x, (x.size, *(1,) * (len(lines) - i - 1)))
        grids.append(_view(op, "expand", line, shape))
    return grids


def _view(op: Operator, name: str, x: Tensor, *arguments: Any) -> Tensor:
    made: Tensor | None = _core.try_view(name, x, *arguments)
    if made is None:
        raise InvalidArgument(f"{op.title}: the result would have more than {MAX_NDIM} axes.")
    return made
