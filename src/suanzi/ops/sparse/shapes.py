"""Operators that move the elements of sparse tensors: only the places change."""

from __future__ import annotations

import math
from typing import Any

from suanzi.base.layout import LayoutType
from suanzi.base.numpy import np
from suanzi.base.status import (
    AllocFailed,
    AxisArgument,
    DimensionsMismatch,
    InvalidArgument,
    OutOfRange,
)
from suanzi.ops.calling.scalars import (
    axes_argument,
    axis_argument,
    integers_argument,
    shape_argument,
)
from suanzi.promote.registry import Operator
from suanzi.tensors.sparse import structure
from suanzi.tensors.sparse.tensor import SparseTensor


def _moved(x: SparseTensor, shape: tuple[int, ...], coordinates: Any) -> SparseTensor:
    """Return the same values in other places, in the layout they were in if it can be."""
    made = SparseTensor(shape, LayoutType.COO, (coordinates,), x.values)
    return made.to_csr() if x.kind is LayoutType.CSR and len(shape) == 2 else made


def transpose(op: Operator, input: SparseTensor, perm: Any = ()) -> SparseTensor:
    """Move axis i to place perm[i]; without `perm`, the axes are reversed."""
    given = integers_argument(op, "perm", () if perm is None else perm)
    order = tuple(n + input.ndim if n < 0 else n for n in given) or tuple(range(input.ndim))[::-1]
    if sorted(order) != list(range(input.ndim)):
        raise InvalidArgument(
            f"{op.title}: perm is {order}; for {input.ndim} axes it must have each number from 0 "
            f"to {input.ndim - 1} once."
        )
    source = sorted(range(input.ndim), key=order.__getitem__)
    shape = tuple(input.shape[axis] for axis in source)
    return _moved(input, shape, input.coordinates[source])


def reshape(op: Operator, input: SparseTensor, dims: Any) -> SparseTensor:
    """Give the elements, in row-major order, another shape."""
    shape = shape_argument(op, "dims", dims)
    if math.prod(shape) != input.size:
        raise DimensionsMismatch(
            f"{op.title}: input has {input.size} elements, shape {input.shape}, and dims {shape} "
            f"has {math.prod(shape)}; the numbers must be equal."
        )
    if input.size >= 2**63:
        raise AllocFailed(
            f"{op.title}: input has {input.size} elements, more than can be counted through."
        )
    (places,) = structure.keys_of(input.shape, input.coordinates)
    return _moved(input, shape, structure.coordinates_of(shape, places))


def expand_dims(op: Operator, input: SparseTensor, axis: Any = 0) -> SparseTensor:
    """Insert an axis of size 1."""
    place = axis_argument(op, "axis", axis, input.ndim + 1, OutOfRange)
    shape = (*input.shape[:place], 1, *input.shape[place:])
    return _moved(input, shape, np.insert(input.coordinates, place, 0, axis=0))


def squeeze(op: Operator, input: SparseTensor, axis: Any = ()) -> SparseTensor:
    """Remove axes of size 1; those that are named and larger stay."""
    named = axes_argument(op, "axis", () if axis is None else axis, input.ndim, OutOfRange)
    kept = [a for a, n in enumerate(input.shape) if n != 1 or (named and a not in named)]
    return _moved(input, tuple(input.shape[a] for a in kept), input.coordinates[kept])


def flatten(op: Operator, input: SparseTensor, start_axis: Any, stop_axis: Any) -> SparseTensor:
    """Make one axis of those from `start_axis` to `stop_axis`, which is included."""
    start = axis_argument(op, "start_axis", start_axis, input.ndim, AxisArgument)
    stop = axis_argument(op, "stop_axis", stop_axis, input.ndim, AxisArgument)
    if start > stop:
        raise AxisArgument(
            f"{op.title}: start_axis is {start} and stop_axis {stop}, which must not be before it."
        )
    middle = math.prod(input.shape[start : stop + 1])
    shape = (*input.shape[:start], middle, *input.shape[stop + 1 :])
    if middle >= 2**63:
        raise AllocFailed(f"{op.title}: the axis would have {middle} elements, more than int64.")
    every = input.coordinates
    (places,) = structure.keys_of(input.shape[start : stop + 1], every[start : stop + 1])
    return _moved(input, shape, np.concatenate([every[:start], [places], every[stop + 1 :]]))
