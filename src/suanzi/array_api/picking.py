"""Elements picked along an axis: one by one by indices, or each one several times.

>>> x = xp.asarray([[3, 1, 2], [6, 5, 4]], dtype=xp.bfloat16)
>>> xp.take_along_axis(x, xp.argsort(x, axis=1), axis=1)
Tensor([[1, 2, 3],
        [4, 5, 6]], dtype=bfloat16)
>>> xp.repeat(x, xp.asarray([0, 2, 1]), axis=1)
Tensor([[1, 1, 2],
        [5, 5, 4]], dtype=bfloat16)
"""

from __future__ import annotations

import math
from typing import Any

from suanzi import _core
from suanzi._hints import shown
from suanzi.array_api.along import computed, counting, dense, flat, repeated, shaped
from suanzi.array_api.arguments import array_argument, axis_of
from suanzi.array_api.declare import function
from suanzi.dtypes import int64
from suanzi.resolve.scalars import integer_argument
from suanzi.shapes import broadcast_shapes
from suanzi.status import AllocFailed, DimensionsMismatch, InvalidArgument, OutOfRange
from suanzi.tensors.parts import converted
from suanzi.tensors.tensor import Tensor

__all__ = ["repeat", "take_along_axis"]

_INTEGERS = frozenset({"int", "uint"})
_LONG_ROW = 64
_MOST = 2**63 - 1
"""Elements at an index of an axis, from which on they are copied as a whole."""


@function
def take_along_axis(x: Tensor, indices: Tensor, /, *, axis: int = -1) -> Tensor:
    """Return the elements at indices along an axis; a negative index counts from the end.

    The other axes of `x` and `indices` are broadcast.
    """
    x = array_argument("take_along_axis", "x", x)
    indices = array_argument("take_along_axis", "indices", indices, _INTEGERS)
    along = axis_of("take_along_axis", axis, x.ndim)
    if indices.ndim != x.ndim:
        raise DimensionsMismatch(
            f"take_along_axis: x has shape {x.shape} and indices {indices.shape}; they must have "
            "as many axes."
        )
    n = x.shape[along]
    if x.shape != indices.shape and x.ndim > 1:
        shapes = [(*one.shape[:along], 1, *one.shape[along + 1 :]) for one in (x, indices)]
        common = broadcast_shapes(shapes)
        if common is None:
            raise DimensionsMismatch(
                f"take_along_axis: x has shape {x.shape} and indices {indices.shape}; but for axis "
                f"{along}, sizes must be equal, or 1."
            )
        before, after = common[:along], common[along + 1 :]
        for length in (indices.shape[along], n):
            if math.prod((*before, length, *after)) >= 2**63:
                raise InvalidArgument(
                    f"take_along_axis: broadcast, a shape would be {(*before, length, *after)}, "
                    "beyond what can be counted; fewer than 2**63 elements are."
                )
        indices = repeated(indices, (*before, indices.shape[along], *after))
        x = repeated(x, (*before, n, *after))
    offsets = _offsets("take_along_axis", indices, n, x.strides[along])
    if x.ndim == 1:
        return _core.gather(x, 0, 1, offsets)
    for i, (size, stride) in enumerate(zip(x.shape, x.strides, strict=True)):
        if i != along and size > 1 and stride:
            steps = computed("mul", counting(size), stride)
            offsets = computed("add", offsets, steps.reshape((size, *(1,) * (x.ndim - 1 - i))))
    return _core.gather(x, 0, x.ndim, offsets)


@function
def repeat(x: Tensor, repeats: Any, /, *, axis: int | None = None) -> Tensor:
    """Return each element several times, one after the other: one number for all, or one for each.

    Without an axis, all elements are taken in one row.
    """
    made = _core.repeat_few(x, repeats, axis)
    if made is not None:
        return made
    x = array_argument("repeat", "x", x)
    if axis is None:
        x, axis = flat(x), 0
    along = axis_of("repeat", axis, x.ndim)
    n = x.shape[along]
    if not isinstance(repeats, Tensor):
        times = integer_argument("repeat", "repeats", repeats, 0)
        return _evenly(x, along, times)
    counts = converted(array_argument("repeat", "repeats", repeats, _INTEGERS), int64)
    if counts.ndim > 1 or (counts.ndim and counts.shape[0] not in (1, n)):
        raise DimensionsMismatch(
            f"repeat: repeats has shape {counts.shape}, and axis {along} of x has {n} elements; it "
            f"must be one number, or {n}."
        )
    if counts.size == 1:
        return _evenly(x, along, integer_argument("repeat", "repeats", counts.item(), 0))
    try:
        which = _core.repeat_indices(dense(counts))
    except ValueError:
        least = int(counts.min())
        if least >= 0:
            raise AllocFailed("repeat: the numbers of repeats are too large.") from None
        raise InvalidArgument(
            f"repeat: repeats contains {least}; each number must be at least 0."
        ) from None
    stride = x.strides[along]
    offsets = which if stride == 1 else computed("mul", which, stride)
    return _core.gather(x, along, 1, offsets)


def _evenly(x: Tensor, along: int, times: int) -> Tensor:
    """Return each element `times` times, row by row or copied from a view with an axis more."""
    n = x.shape[along]
    times = times if n else 0  # of nothing, whatever can be counted or not
    if n * times > _MOST:
        raise AllocFailed(f"repeat: not enough memory for {n} times {shown(times)} elements.")
    if x.ndim == 1:
        wide = _core.view(x, x.offset, (n, times), (x.strides[0], 0))
        return shaped(_core.row_major_copy(wide), (n * times,))
    if math.prod(x.shape[along + 1 :]) >= _LONG_ROW:
        which = _core.repeat_indices(_core.full((n,), int64, times))
        return _core.gather(x, along, 1, _offsets("repeat", which, n, x.strides[along]))
    before, after = slice(0, along + 1), slice(along + 1, None)
    wide = _core.view(
        x,
        x.offset,
        (*x.shape[before], times, *x.shape[after]),
        (*x.strides[before], 0, *x.strides[after]),
    )
    shape = (*x.shape[:along], n * times, *x.shape[after])
    return shaped(_core.row_major_copy(wide), shape)


def _offsets(function: str, indices: Tensor, size: int, stride: int) -> Tensor:
    """Return where indices along an axis point to."""
    found = _core.index_offsets([converted(indices, int64)], [size], [stride], True)
    if isinstance(found, tuple):
        from suanzi.ops.transformation_selecting import flat_item

        raise OutOfRange(
            f"{function}: indices contains {flat_item(indices, found[1])}; along an axis of {size} "
            f"they are from {-size} to {size - 1}."
        )
    return found
