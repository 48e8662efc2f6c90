"""Utility functions: whether any or all elements are true, and differences of neighbours."""

from __future__ import annotations

from typing import Any

from suanzi import _core
from suanzi.base.dtypes import bool as bool_
from suanzi.base.status import DimensionsMismatch
from suanzi.faces.array_api.along import computed, is_usual
from suanzi.faces.array_api.arguments import (
    NUMERIC,
    Axes,
    array_argument,
    axes_of,
    axis_of,
    promoted,
)
from suanzi.faces.array_api.declare import function
from suanzi.ops.calling.scalars import flag_argument, integer_argument
from suanzi.ops.reduction import reduce
from suanzi.ops.reduction_modes import ReduceMode, reduced_shape
from suanzi.tensors.parts import converted
from suanzi.tensors.tensor import Tensor

__all__ = ["all", "any", "diff"]

_ALL, _ANY = int(ReduceMode.LAND), int(ReduceMode.LOR)
_BY = {_ALL: ReduceMode.LAND, _ANY: ReduceMode.LOR}
_BLOCK = 1 << 12
"""The number of elements read first; the search ends as soon as the answer is known."""


@function
def all(x: Tensor, /, *, axis: Axes = None, keepdims: bool = False) -> Tensor:
    """Return whether all elements along axes are nonzero; True if there are none."""
    return _truth("all", _ALL, x, axis, keepdims)


@function
def any(x: Tensor, /, *, axis: Axes = None, keepdims: bool = False) -> Tensor:
    """Return whether any element along axes is nonzero; False if there are none. NaN is nonzero.

    >>> xp.any(xp.asarray([[0, 1], [0, 0]]), axis=1)
    Tensor([ True, False], dtype=bool)
    """
    return _truth("any", _ANY, x, axis, keepdims)


@function
def diff(
    x: Tensor, /, *, axis: int = -1, n: int = 1,
    prepend: Tensor | None = None, append: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """Return the n-th differences of neighbouring elements along an axis.

    >>> xp.diff(xp.asarray([1, 4, 9, 16]), n=2)
    Tensor([2, 2], dtype=int64)
    """
    x = array_argument("diff", "x", x, NUMERIC)
    along = axis_of("diff", axis, x.ndim)
    times = integer_argument("diff", "n", n, 0)
    if prepend is None and append is None:
        made = x if times else _core.cast(x, x.dtype, False)
    else:
        made = _lengthened(x, along, prepend, append)
    for _ in range(min(times, made.shape[along])):  # of what is empty there are none
        shape, strides, first = list(made.shape), made.strides, made.offset
        shape[along] -= 1
        after = _core.view(made, first + strides[along] * (shape[along] > 0), shape, strides)
        made = computed("sub", after, _core.view(made, first, shape, strides))
    return made


def _lengthened(x: Tensor, along: int, prepend: Any, append: Any) -> Tensor:
    """Return what `diff` takes the differences of, as a new tensor."""
    parts = []
    for name, one in (("prepend", prepend), ("x", x), ("append", append)):
        if one is None:
            continue
        one = array_argument("diff", name, one, NUMERIC)
        if one.ndim != x.ndim or any_differs(one.shape, x.shape, along):
            raise DimensionsMismatch(
                f"diff: {name} has shape {one.shape} and x {x.shape}; they may differ along axis "
                f"{along} alone."
            )
        parts.append(one)
    dt = promoted("diff", *(one.dtype for one in parts))
    return _core.join(parts, along, dt, False)


def any_differs(one: tuple[int, ...], other: tuple[int, ...], but: int) -> bool:
    """Return whether two shapes differ in another axis than one.

    >>> any_differs((2, 3), (2, 4), 1), any_differs((2, 3), (2, 4), 0)
    (False, True)
    """
    return one[:but] + one[but + 1 :] != other[:but] + other[but + 1 :]


def _truth(function: str, mode: int, x: Tensor, axis: Axes, keepdims: bool) -> Tensor:
    if type(x) is Tensor and x.dtype is bool_ and is_usual(x, axis, keepdims) and x.size <= _BLOCK:
        return reduce(x, _BY[mode], axis, keepdims)
    x = array_argument(function, "x", x)
    axes = axes_of(function, axis, x.ndim)
    keep = flag_argument(function, "keepdims", keepdims)
    if not axes:
        return _core.cast(x, bool_, False)
    if not x.size:
        return _core.full(reduced_shape(x.shape, axes, keep), bool_, mode == _ALL)
    if len(axes) == x.ndim and x.size > 2 * _BLOCK and _core.is_row_major(x):
        found = _early(mode, _core.view(x, x.offset, (x.size,), (1,)))
        return _core.full((1,) * x.ndim if keep else (), bool_, found)
    return _core.reduce(converted(x, bool_), mode, axes, keep)


def _early(mode: int, x: Tensor) -> bool:
    """Look at block after block, until one decides."""
    decides, start, block = mode == _ANY, 0, _BLOCK
    while start < x.size:
        some = converted(x[start : start + block], bool_)
        if bool(_core.reduce(some, mode, (0,), False)) is decides:
            return decides
        start, block = start + block, 4 * block
    return not decides
