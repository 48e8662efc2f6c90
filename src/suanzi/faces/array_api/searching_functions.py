"""Searching functions: where elements are.

>>> xp.nonzero(xp.asarray([0, 0]))
(Tensor([], shape=(0,), dtype=int64),)
>>> xp.searchsorted(xp.asarray([1.0, 2.0, 2.0, 5.0]), xp.asarray([2.0, 9.0]), side="right")
Tensor([3, 4], dtype=int64)
"""

from __future__ import annotations

from typing import Any

from suanzi import _core
from suanzi.base.dtypes import bool as bool_
from suanzi.base.dtypes import int64, widened
from suanzi.base.hints import shown
from suanzi.base.status import DimensionsMismatch, InvalidArgument, OutOfRange
from suanzi.faces.array_api.along import (
    PLAIN,
    dense,
    flat,
    in_bytes,
    is_usual,
    with_number,
)
from suanzi.faces.array_api.arguments import (
    INTEGRAL,
    REAL,
    Axes,
    array_argument,
    axes_of,
    axis_of,
    promoted,
)
from suanzi.faces.array_api.declare import EVERY, FUNCTIONS, elementwise, function
from suanzi.ops.calling.arguments import operands_of
from suanzi.ops.calling.elementwise import check_shapes, promoted_dtype, run
from suanzi.ops.calling.scalars import flag_argument
from suanzi.ops.reduction_modes import ReduceMode, reduced_shape
from suanzi.promote.registry import JOINING
from suanzi.tensors.parts import converted
from suanzi.tensors.tensor import Tensor, TensorLike

__all__ = ["argmax", "argmin", "count_nonzero", "nonzero", "searchsorted", "where"]

_SUM = int(ReduceMode.SUM)


@function
def argmax(x: Tensor, /, *, axis: int | None = None, keepdims: bool = False) -> Tensor:
    """Return the indices of the largest elements, of several the first; NaN counts as largest.

    Without an axis, all elements are counted through.
    """
    return _best("argmax", x, axis, keepdims, False)


@function
def argmin(x: Tensor, /, *, axis: int | None = None, keepdims: bool = False) -> Tensor:
    """Return the indices of the smallest elements, of several the first; NaN counts as smallest."""
    return _best("argmin", x, axis, keepdims, True)


@function
def count_nonzero(x: Tensor, /, *, axis: Axes = None, keepdims: bool = False) -> Tensor:
    """Return the number of nonzero elements along axes, as int64; NaN is nonzero.

    >>> xp.count_nonzero(xp.asarray([[0, 1], [2, 3]]), axis=1)
    Tensor([1, 2], dtype=int64)
    """
    if axis is None and keepdims is False and type(x) is Tensor and x.dtype in PLAIN:
        ndim = x.ndim
        if ndim and x.size:
            return _core.reduce(_core.cast(x, bool_, False), _SUM, range(ndim), False)
    x = array_argument("count_nonzero", "x", x)
    axes = axes_of("count_nonzero", axis, x.ndim)
    keep = flag_argument("count_nonzero", "keepdims", keepdims)
    found = converted(x, bool_)
    if not axes:
        return converted(found, int64)
    if not x.size:
        return _core.full(reduced_shape(x.shape, axes, keep), int64, 0)
    return _core.reduce(found, _SUM, axes, keep)


@function
def nonzero(x: Tensor, /) -> tuple[Tensor, ...]:
    """Return the indices of nonzero elements: an int64 tensor for each axis, in row-major order."""
    x = array_argument("nonzero", "x", x)
    if not x.ndim:
        raise InvalidArgument("nonzero: x has no axes, and so no coordinates. Reshape it to (1,).")
    found = _core.nonzero(in_bytes(x), True) if x.size else None
    if found is None:
        return tuple(_core.empty((0,), int64) for _ in x.shape)
    made: tuple[Tensor, ...] = found
    return made


@function
def searchsorted(
    x1: Tensor, x2: Any, /, *, side: str = "left", sorter: Tensor | None = None
) -> Tensor:
    """Return where to insert elements of `x2` into `x1`, which is sorted, or sorted by `sorter`.

    Of equal elements, they go before the first or, with side "right", behind the last. A NaN
    counts as the largest, as in :func:`sort`.
    """
    x1 = array_argument("searchsorted", "x1", x1, REAL)
    if x1.ndim != 1:
        raise DimensionsMismatch(
            f"searchsorted: x1 has shape {x1.shape}; it must have one axis. Flatten it first."
        )
    if not isinstance(side, str) or side not in ("left", "right"):
        raise InvalidArgument(f'searchsorted: side is {shown(side)}; it must be "left" or "right".')
    x2 = with_number("searchsorted", x1.dtype, x2)
    x2 = array_argument("searchsorted", "x2", x2, REAL)
    dt = promoted("searchsorted", x1.dtype, x2.dtype)
    # Narrow floats as float32, which has them all.
    plain = widened(dt) if dt.kind == "float" else dt
    sorted_ = in_bytes(converted(x1, plain))
    if sorter is not None:
        sorted_ = _core.gather(sorted_, 0, 1, _sorter_offsets(sorted_, sorter))
    keys = dense(in_bytes(converted(x2, plain)))
    return _core.search_sorted(dense(sorted_), keys, side == "right")


@elementwise("where", dtypes=EVERY, promotes=JOINING, own_body=True)
def where(condition: Tensor, x1: TensorLike, x2: TensorLike, /) -> Tensor:
    """Return elements of x1 where the condition is true, else of x2; either may be a number.

    >>> xp.where(xp.asarray([True, False]), xp.asarray([1, 2], dtype=xp.float8_e5m2), 0)
    Tensor([1, 0], dtype=float8_e5m2)
    """
    op = FUNCTIONS["where"]
    holds = converted(array_argument("where", "condition", condition), bool_)
    operands = operands_of(op, {"x1": x1, "x2": x2})
    promoted = promoted_dtype(op, operands)
    check_shapes(op, {"condition": holds, **operands})
    return run(op, operands, promoted, holds)


def _best(function: str, x: Any, axis: Any, keepdims: bool, least: bool) -> Tensor:
    if axis is not None and type(x) is Tensor and x.dtype in PLAIN and is_usual(x, axis, keepdims):
        return _core.find_best(x, axis % x.ndim, keepdims, True, least)
    x = array_argument(function, "x", x, REAL)
    if axis is not None:
        axis = axis_of(function, axis, x.ndim)
    if not x.size and (axis is None or not x.shape[axis]):
        raise InvalidArgument(
            f"{function}: x has shape {x.shape}; {function} of no elements is undefined."
        )
    keep, plain = flag_argument(function, "keepdims", keepdims), in_bytes(x)
    if axis is not None:
        return _core.find_best(plain, axis, keep, True, least)
    found = _core.find_best(plain if x.ndim == 1 else flat(plain), 0, False, True, least)
    return found.reshape((1,) * x.ndim) if keep else found


def _sorter_offsets(x: Tensor, sorter: Any) -> Tensor:
    sorter = array_argument("searchsorted", "sorter", sorter, INTEGRAL)
    if sorter.shape != x.shape:
        raise DimensionsMismatch(
            f"searchsorted: sorter has shape {sorter.shape} and x1 {x.shape}; they must be the "
            "same. Give the result of argsort."
        )
    found = _core.index_offsets([converted(sorter, int64)], x.shape, x.strides, False)
    if isinstance(found, tuple):
        raise OutOfRange(
            f"searchsorted: sorter contains {sorter[found[1]].item()}; indices are from 0 to "
            f"{len(x) - 1}."
        )
    return found
