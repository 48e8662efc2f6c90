"""Indexing functions of the array API standard.

>>> x = xp.asarray([[3, 1, 2], [6, 5, 4]], dtype=xp.bfloat16)
>>> xp.take_along_axis(x, xp.argsort(x, axis=1), axis=1)
Tensor([[1, 2, 3],
        [4, 5, 6]], dtype=bfloat16)
"""

from __future__ import annotations

import math

from suanzi import _core
from suanzi.base.dtypes import int64
from suanzi.base.shapes import broadcast_shapes
from suanzi.base.status import DimensionsMismatch, InvalidArgument, OutOfRange
from suanzi.faces.array_api.along import computed, counting, repeated
from suanzi.faces.array_api.arguments import INTEGRAL, array_argument, axis_of
from suanzi.faces.array_api.declare import function
from suanzi.ops.transformation_selecting import flat_item
from suanzi.tensors.parts import converted
from suanzi.tensors.tensor import Tensor

__all__ = ["take", "take_along_axis"]


@function
def take(x: Tensor, indices: Tensor, /, *, axis: int | None = None) -> Tensor:
    """Return the elements at indices along an axis, which may be omitted for one axis.

    >>> xp.take(xp.asarray([5, 6, 7], dtype=xp.int4), xp.asarray([2, 0]))
    Tensor([7, 5], dtype=int4)
    """
    x = array_argument("take", "x", x)
    picked = array_argument("take", "indices", indices)
    if axis is None and x.ndim != 1:
        raise InvalidArgument(f"take: x has {x.ndim} axes; say which one is meant, with axis=.")
    along = 0 if axis is None else axis_of("take", axis, x.ndim)
    return x[(*(slice(None),) * along, picked)]


@function
def take_along_axis(x: Tensor, indices: Tensor, /, *, axis: int = -1) -> Tensor:
    """Return the elements at indices along an axis; a negative index counts from the end.

    The other axes of `x` and `indices` are broadcast.
    """
    x = array_argument("take_along_axis", "x", x)
    indices = array_argument("take_along_axis", "indices", indices, INTEGRAL)
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
    offsets = index_offsets("take_along_axis", indices, n, x.strides[along])
    if x.ndim == 1:
        return _core.gather(x, 0, 1, offsets)
    for i, (size, stride) in enumerate(zip(x.shape, x.strides, strict=True)):
        if i != along and size > 1 and stride:
            steps = computed("mul", counting(size), stride)
            offsets = computed("add", offsets, steps.reshape((size, *(1,) * (x.ndim - 1 - i))))
    return _core.gather(x, 0, x.ndim, offsets)


def index_offsets(function: str, indices: Tensor, size: int, stride: int) -> Tensor:
    """Return where indices along an axis point to."""
    found = _core.index_offsets([converted(indices, int64)], [size], [stride], True)
    if isinstance(found, tuple):
        raise OutOfRange(
            f"{function}: indices contains {flat_item(indices, found[1])}; along an axis of {size} "
            f"they are from {-size} to {size - 1}."
        )
    return found
