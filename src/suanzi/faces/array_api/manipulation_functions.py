"""Manipulation functions of the array API standard.

>>> x = xp.asarray([[3, 1, 2], [6, 5, 4]], dtype=xp.bfloat16)
>>> xp.repeat(x, xp.asarray([0, 2, 1]), axis=1)
Tensor([[1, 1, 2],
        [5, 5, 4]], dtype=bfloat16)
"""

from __future__ import annotations

import math
from typing import Any

from suanzi import _core
from suanzi.base.dtypes import int64
from suanzi.base.hints import shown
from suanzi.base.shapes import MAX_NDIM, sizes_of
from suanzi.base.shapes import broadcast_shapes as common_shape
from suanzi.base.status import (
    AllocFailed,
    DimensionsMismatch,
    InvalidArgument,
    OutOfRange,
    StatusError,
    TypeMismatch,
)
from suanzi.faces.array_api.along import computed, dense, flat, repeated, shaped
from suanzi.faces.array_api.arguments import (
    INTEGRAL,
    array_argument,
    arrays_of,
    axis_of,
    copy_argument,
    in_common,
    shape_of,
)
from suanzi.faces.array_api.declare import EVERY, function
from suanzi.faces.array_api.indexing_functions import index_offsets
from suanzi.ops.calling.scalars import (
    axes_argument,
    integer_argument,
    integers_argument,
    one_or_several,
)
from suanzi.ops.transformation_views import reshape as operator_reshape
from suanzi.tensors.parts import converted, permuted, reshaped
from suanzi.tensors.parts import copy as copied
from suanzi.tensors.tensor import Tensor

__all__ = [
    "broadcast_arrays", "broadcast_shapes", "broadcast_to", "concat", "expand_dims", "flip",
    "moveaxis", "permute_dims", "repeat", "reshape", "roll", "squeeze", "stack", "tile", "unstack",
]  # fmt: skip

Axes = int | tuple[int, ...]
_NUMBERS = frozenset(EVERY)
_LONG_ROW = 64
"""Elements at an index of an axis, from which on `repeat` copies them as a whole."""


# ---- repeated ------------------------------------------------------------------------------------


def broadcast_shapes(*shapes: tuple[int | None, ...]) -> tuple[int | None, ...]:
    """Return the shape that shapes broadcast to; a size of None is unknown.

    >>> sz.array_api.broadcast_shapes((2, 1), (3,)), sz.array_api.broadcast_shapes((None,), (1,))
    ((2, 3), (None,))
    """
    found: list[int | None] = []
    if not all(isinstance(shape, tuple | list) for shape in shapes):
        raise TypeMismatch(f"broadcast_shapes: {shown(shapes)} are not all tuples of sizes.")
    for axis in range(-max(map(len, shapes), default=0), 0):
        met = [shape[axis] for shape in shapes if len(shape) >= -axis]
        sizes = {
            n if n is None else integer_argument("broadcast_shapes", "shapes", n) for n in met
        } - {1}
        known = sizes - {None}
        if len(known) > 1:
            raise DimensionsMismatch(
                f"broadcast_shapes: {' and '.join(map(str, shapes))} cannot be broadcast; counted "
                "from the last axis, sizes must be equal or 1."
            )
        found.append(known.pop() if known else None if sizes else 1)
    return tuple(found)


@function
def broadcast_to(x: Tensor, /, shape: tuple[int, ...]) -> Tensor:
    """Return a view broadcast to a shape: along axes of size 1, and along new axes in front."""
    x = array_argument("broadcast_to", "x", x)
    wanted = shape_of("broadcast_to", "shape", shape)
    if common_shape([x.shape, wanted]) != wanted:
        raise DimensionsMismatch(
            f"broadcast_to: x has shape {x.shape}, which cannot be broadcast to {wanted}; "
            "counted from the last axis, sizes must be equal, or 1 in x."
        )
    return _repeated("broadcast_to", x, wanted)


@function
def broadcast_arrays(*arrays: Tensor) -> tuple[Tensor, ...]:
    """Return views broadcast to the common shape; each keeps its dtype."""
    given = [array_argument("broadcast_arrays", f"arrays[{i}]", x) for i, x in enumerate(arrays)]
    shape = common_shape([x.shape for x in given])
    if shape is None:
        came = " and ".join(str(x.shape) for x in given)
        raise DimensionsMismatch(
            f"broadcast_arrays: the shapes {came} cannot be broadcast; counted from the last axis, "
            "sizes must be equal or 1."
        )
    return tuple(_repeated("broadcast_arrays", x, shape) for x in given)


def _repeated(op: str, x: Tensor, shape: tuple[int, ...]) -> Tensor:
    if math.prod(shape) >= 2**63:
        raise InvalidArgument(
            f"{op}: the result would have the shape {shape}, which is too large; a "
            "tensor has fewer than 2**63 elements."
        )
    return repeated(x, shape)


@function
def tile(x: Tensor, repetitions: tuple[int, ...], /) -> Tensor:
    """Return the array repeated along its axes; there may be more repetitions than axes."""
    x = array_argument("tile", "x", x)
    counts = integers_argument("tile", "repetitions", repetitions)
    if min(counts, default=0) < 0:
        raise InvalidArgument(f"tile: repetitions is {counts}; each must be at least 0.")
    ndim = max(x.ndim, len(counts))
    if ndim > MAX_NDIM:
        raise InvalidArgument(f"tile: the result would have more than {MAX_NDIM} axes.")
    counts = (*(1,) * (ndim - len(counts)), *counts)
    shape = (*(1,) * (ndim - x.ndim), *x.shape)
    if 0 in counts or 0 in shape:
        wanted = [n * m for n, m in zip(shape, counts, strict=True)]
        return _core.empty(shape_of("tile", "the shape of the result", wanted), x.dtype)
    if max(counts, default=0) >= 2**63:
        raise AllocFailed(f"tile: not enough memory for {shown(counts)} repetitions.")
    return _core.tile(reshaped(x, shape), counts)


@function
def repeat(x: Tensor, repeats: Any, /, *, axis: int | None = None) -> Tensor:
    """Repeat each element: `repeats` is one number for all, or one for each element.

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
    counts = converted(array_argument("repeat", "repeats", repeats, INTEGRAL), int64)
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
    if n * times >= 2**63:
        raise AllocFailed(f"repeat: not enough memory for {n} times {shown(times)} elements.")
    if x.ndim == 1:
        wide = _core.view(x, x.offset, (n, times), (x.strides[0], 0))
        return shaped(_core.row_major_copy(wide), (n * times,))
    if math.prod(x.shape[along + 1 :]) >= _LONG_ROW:
        which = _core.repeat_indices(_core.full((n,), int64, times))
        return _core.gather(x, along, 1, index_offsets("repeat", which, n, x.strides[along]))
    before, after = slice(0, along + 1), slice(along + 1, None)
    wide = _core.view(
        x,
        x.offset,
        (*x.shape[before], times, *x.shape[after]),
        (*x.strides[before], 0, *x.strides[after]),
    )
    shape = (*x.shape[:along], n * times, *x.shape[after])
    return shaped(_core.row_major_copy(wide), shape)


# ---- put together --------------------------------------------------------------------------------


@function
def concat(arrays: tuple[Tensor, ...] | list[Tensor], /, *, axis: int | None = 0) -> Tensor:
    """Return arrays joined along an axis, in the dtype they promote to.

    Without an axis, the elements of each are in row-major order.

    >>> xp.concat([xp.ones(1, dtype=xp.int4), xp.zeros(1, dtype=xp.bfloat16)])
    Tensor([1, 0], dtype=bfloat16)
    """
    made = _core.join_alike(arrays, axis, False)
    if made is not None:
        return made
    parts, common = in_common("concat", arrays_of("concat", "arrays", arrays))
    if axis is None:
        return _core.join([reshaped(x, (x.size,)) for x in parts], 0, common, False)
    first = parts[0]
    along = axis_of("concat", axis, first.ndim)
    for i, x in enumerate(parts):
        others = [d for d in range(first.ndim) if d != along]
        if x.ndim != first.ndim or any(x.shape[d] != first.shape[d] for d in others):
            raise DimensionsMismatch(
                f"concat: arrays[{i}] has shape {x.shape} and arrays[0] {first.shape}; but "
                f"for axis {along}, sizes must be equal."
            )
    return _core.join(parts, along, common, False)


@function
def stack(arrays: tuple[Tensor, ...] | list[Tensor], /, *, axis: int = 0) -> Tensor:
    """Return arrays of one shape joined along a new axis, in the dtype they promote to."""
    made = _core.join_alike(arrays, axis, True)
    if made is not None:
        return made
    parts, common = in_common("stack", arrays_of("stack", "arrays", arrays))
    along = axis_of("stack", axis, parts[0].ndim + 1)
    for i, x in enumerate(parts):
        if x.shape != parts[0].shape:
            raise DimensionsMismatch(
                f"stack: arrays[{i}] has shape {x.shape} and arrays[0] {parts[0].shape}; "
                "they must be equal."
            )
    if parts[0].ndim == MAX_NDIM:
        raise InvalidArgument(f"stack: the result would have more than {MAX_NDIM} axes.")
    return _core.join(parts, along, common, True)


@function
def unstack(x: Tensor, /, *, axis: int = 0) -> tuple[Tensor, ...]:
    """Return the views at each index of an axis, without that axis."""
    x = array_argument("unstack", "x", x)
    along = axis_of("unstack", axis, x.ndim)
    try:
        return tuple(_core.try_view("unstack", x, along))
    except MemoryError:
        raise AllocFailed(f"unstack: not enough memory for {x.shape[along]} views.") from None


# ---- axes ----------------------------------------------------------------------------------------


@function
def expand_dims(x: Tensor, /, axis: Axes = 0) -> Tensor:
    """Return a view with new axes of size 1, at the given positions in the result."""
    x = array_argument("expand_dims", "x", x)
    given = one_or_several("expand_dims", "axis", axis)
    ndim = x.ndim + len(given)
    new = axes_argument("expand_dims", "axis", given, ndim, OutOfRange)
    if ndim > MAX_NDIM:
        raise InvalidArgument(f"expand_dims: the result would have more than {MAX_NDIM} axes.")
    sizes = iter(zip(x.shape, x.strides, strict=True))
    both = [(1, 0) if i in new else next(sizes) for i in range(ndim)]
    return _core.view(x, x.offset, [n for n, _ in both], [s for _, s in both])


@function
def squeeze(x: Tensor, /, axis: Axes) -> Tensor:
    """Return a view without axes of size 1; one of another size is an error."""
    x = array_argument("squeeze", "x", x)
    gone = axes_argument("squeeze", "axis", axis, x.ndim, OutOfRange)
    for one in gone:
        if x.shape[one] != 1:
            raise InvalidArgument(
                f"squeeze: axis {one} has size {x.shape[one]}; only axes of size 1 can be removed."
            )
    return permuted(x, [i for i in range(x.ndim) if i not in gone])


@function
def flip(x: Tensor, /, *, axis: Axes | None = None) -> Tensor:
    """Return a view with the order along axes reversed; without `axis`, along all."""
    x = array_argument("flip", "x", x)
    given = tuple(range(x.ndim)) if axis is None else axis
    return _core.try_view("flip", x, axes_argument("flip", "axis", given, x.ndim, OutOfRange))  # type: ignore[no-any-return]


@function
def moveaxis(x: Tensor, source: Axes, destination: Axes, /) -> Tensor:
    """Return a view with axes moved to other positions; the others keep their order."""
    x = array_argument("moveaxis", "x", x)
    begins = axes_argument("moveaxis", "source", source, x.ndim, OutOfRange)
    ends = axes_argument("moveaxis", "destination", destination, x.ndim, OutOfRange)
    if len(begins) != len(ends):
        raise InvalidArgument(
            f"moveaxis: source has {len(begins)} axes and destination {len(ends)}; there "
            "must be as many."
        )
    order = [i for i in range(x.ndim) if i not in begins]
    for end, begin in sorted(zip(ends, begins, strict=True)):
        order.insert(end, begin)
    return permuted(x, order)


@function
def permute_dims(x: Tensor, /, axes: tuple[int, ...]) -> Tensor:
    """Return a view with the axes in another order: axis i comes from ``axes[i]``.

    >>> sz.array_api.permute_dims(sz.array_api.zeros((2, 3, 4)), (1, 2, 0)).shape
    (3, 4, 2)
    """
    x = array_argument("permute_dims", "x", x)
    order = axes_argument("permute_dims", "axes", axes, x.ndim, OutOfRange)
    if len(order) != x.ndim:
        raise InvalidArgument(
            f"permute_dims: axes is {order}; it must have each of the {x.ndim} axes once."
        )
    return permuted(x, order)


# ---- elements ------------------------------------------------------------------------------------


@function
def reshape(x: Tensor, /, shape: tuple[int, ...], *, copy: bool | None = None) -> Tensor:
    """Return the elements in another shape, in row-major order; one size may be -1.

    It is a view if it can be; with ``copy=False`` it must be, and with ``copy=True`` it is none.
    """
    if copy is None and type(x) is Tensor and type(shape) is tuple and x.dtype in _NUMBERS:
        try:
            known = -math.prod(shape)
            if -1 in shape and known > 0 and x.size % known == 0:
                place = shape.index(-1)
                shape = (*shape[:place], x.size // known, *shape[place + 1 :])
            return operator_reshape(x, shape)
        except (StatusError, TypeError):
            pass
    x = array_argument("reshape", "x", x)
    copy = copy_argument("reshape", copy)
    wanted = shape_of("reshape", "shape", sizes_of(x.size, (shape,)))
    if math.prod(wanted) != x.size:
        raise DimensionsMismatch(
            f"reshape: shape is {shape}, and x has {x.size} elements, shape {x.shape}."
        )
    made: Tensor | None = _core.try_view("reshape", x, wanted)
    if made is not None:
        return copied(made) if copy else made
    if copy is False:
        raise InvalidArgument(
            f"reshape: copy is False, but the shape {wanted} needs a copy: "
            "the elements of x have other strides."
        )
    return reshaped(x, wanted)


@function
def roll(x: Tensor, /, shift: Axes, *, axis: Axes | None = None) -> Tensor:
    """Return the elements shifted along axes; those shifted out at the end reappear at the start.

    Without an axis, the elements in row-major order are shifted as one row.
    """
    x = array_argument("roll", "x", x)
    if axis is None:
        by = one_or_several("roll", "shift", shift)
        flat = reshaped(x, (x.size,))
        return reshaped(_core.roll(flat, [sum(by) % x.size if x.size else 0]), x.shape)
    axes = [axis_of("roll", one, x.ndim) for one in one_or_several("roll", "axis", axis)]
    by = one_or_several("roll", "shift", shift)
    by = by * len(axes) if len(by) == 1 else by
    if len(axes) != len(by):
        raise InvalidArgument(
            f"roll: shift has {len(by)} integers and axis {len(axes)}; there must be one "
            "shift for each axis."
        )
    total = [0] * x.ndim
    for one, amount in zip(axes, by, strict=True):
        total[one] = (total[one] + amount) % x.shape[one] if x.shape[one] else 0
    return _core.roll(x, total)
