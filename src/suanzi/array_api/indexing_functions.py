"""Indexing functions of the array API standard; `take_along_axis` is in :mod:`picking`."""

from __future__ import annotations

from suanzi.array_api.arguments import array_argument
from suanzi.array_api.declare import function
from suanzi.resolve.scalars import axis_argument
from suanzi.status import InvalidArgument, OutOfRange
from suanzi.tensors.tensor import Tensor

__all__ = ["take"]


@function
def take(x: Tensor, indices: Tensor, /, *, axis: int | None = None) -> Tensor:
    """Return the elements of some indices along an axis, which may be left out if there is one.

    >>> xp.take(xp.asarray([5, 6, 7], dtype=xp.int4), xp.asarray([2, 0]))
    Tensor([7, 5], dtype=int4)
    """
    x = array_argument("take", "x", x)
    picked = array_argument("take", "indices", indices)
    if axis is None and x.ndim != 1:
        raise InvalidArgument(f"take: x has {x.ndim} axes; say which one is meant, with axis=.")
    along = 0 if axis is None else axis_argument("take", "axis", axis, x.ndim, OutOfRange)
    return x[(*(slice(None),) * along, picked)]
