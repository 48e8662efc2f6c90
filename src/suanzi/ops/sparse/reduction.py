"""7.2.13.1: reduce on sparse tensors: the zeros that are not stored count, too."""

from __future__ import annotations

import math
from typing import Any

from suanzi import _core
from suanzi.base.dtypes import DType, float32, float64, widened
from suanzi.base.dtypes import bool as bool_
from suanzi.base.layout import LayoutType
from suanzi.base.numpy import Array, np
from suanzi.base.status import InvalidArgument
from suanzi.ops.calling.scalars import flag_argument
from suanzi.ops.reduction_modes import (
    ReduceFunction,
    ReduceMode,
    axes_argument,
    check_mode,
    identity_of,
    mode_argument,
    reduced_shape,
    result_dtype,
)
from suanzi.promote.registry import INTEGERS, Operator
from suanzi.tensors.exchange import check_room
from suanzi.tensors.parts import converted
from suanzi.tensors.sparse import elements, structure
from suanzi.tensors.sparse.tensor import SparseTensor
from suanzi.tensors.tensor import Tensor

# The kernel that combines two elements.
_KERNELS = {
    ReduceMode.SUM: "add",
    ReduceMode.PROD: "mul",
    ReduceMode.MAX: "max",
    ReduceMode.MIN: "min",
    ReduceMode.MEAN: "add",
    ReduceMode.LAND: "logical_and",
    ReduceMode.LOR: "logical_or",
    ReduceMode.LXOR: "logical_xor",
    ReduceMode.BAND: "bitwise_and",
    ReduceMode.BOR: "bitwise_or",
    ReduceMode.BXOR: "bitwise_xor",
}


def reduce(
    op: Operator,
    input: SparseTensor,
    mode: Any = ReduceMode.SUM,
    axis: Any = None,
    keep_dims: Any = False,
) -> SparseTensor:
    """Combine the elements along axes; the result is COO."""
    how = mode_argument(op, mode)
    if isinstance(how, ReduceFunction):
        raise InvalidArgument(
            f"{op.title}: a ReduceFunction is not supported for sparse tensors. Make it dense "
            "first, with to_dense()."
        )
    axes = axes_argument(op, input.ndim, axis)
    keeps = flag_argument(op, "keep_dims", keep_dims)
    check_mode(op, how, input.dtype)
    length = math.prod(input.shape[a] for a in axes)
    kept = [a for a in range(input.ndim) if a not in axes]
    if length == 0:
        result = _of_nothing(op, how, input, kept)
    else:
        result = _combined(how, input.coalesce(), kept, length)
    return _with_axes(result, reduced_shape(input.shape, axes, True), kept) if keeps else result


def _computed_in(mode: ReduceMode, dt: DType) -> DType:
    """Return the dtype that is computed in."""
    if mode is ReduceMode.MEAN and (dt is bool_ or dt in INTEGERS):
        return float64
    result = result_dtype(mode, dt)
    sums = (ReduceMode.SUM, ReduceMode.PROD, ReduceMode.MEAN)
    return widened(result) if mode in sums and dt is not bool_ else result


def _combined(mode: ReduceMode, x: SparseTensor, kept: list[int], length: int) -> SparseTensor:
    """Combine runs of elements, none of them empty."""
    computed, target = _computed_in(mode, x.dtype), result_dtype(mode, x.dtype)
    kernel = _KERNELS[mode]
    if computed is bool_ and mode in (ReduceMode.MAX, ReduceMode.MIN):
        kernel = "logical_or" if mode is ReduceMode.MAX else "logical_and"
    shape = tuple(x.shape[a] for a in kept)
    values = converted(x.values, computed)
    found = _of_rows(kernel, values, x, length) if kept == [0] else None
    if found is None:
        found = _of_places(kernel, values, x, kept, length)
    result, coordinates = found
    if mode is ReduceMode.MEAN:
        result = _divided(result, float(length))
    made = converted(result, target)
    stored = elements.has_bits(made)
    if not stored.all():
        places = np.flatnonzero(stored)
        made, coordinates = elements.take(made, places), structure.picked(coordinates, places)
    return SparseTensor(shape, LayoutType.COO, (coordinates,), made, True)


def _divided(x: Tensor, number: float) -> Tensor:
    """Return a tensor divided by a real number; of complex ones, either part."""
    if x.dtype.kind != "complex":
        return elements.run("div", x, number, x.dtype)
    parts = [_core.part_view(x, imaginary) for imaginary in (False, True)]
    return _core.make_complex(*[elements.run("div", p, number, p.dtype) for p in parts])


def _of_rows(
    kernel: str, values: Tensor, x: SparseTensor, length: int
) -> tuple[Tensor, Array] | None:
    """Combine the rows of CSR, and return the row of each result; None of COO."""
    if x.kind is not LayoutType.CSR:
        return None
    pointers = x._alive()[0]
    lengths = np.diff(pointers)
    rows = np.flatnonzero(lengths)
    if kernel == "add" and values.dtype is float32:
        result = elements.take(_core.sum_rows(x.row_pointers, values), rows)
    else:
        result = _runs(kernel, values, pointers[rows])
    return _with_zeros(kernel, result, lengths[rows] < length), rows[None]


def _of_places(
    kernel: str, values: Tensor, x: SparseTensor, kept: list[int], length: int
) -> tuple[Tensor, Array]:
    """Combine the elements that differ only along other axes, and return the places of results."""
    shape = tuple(x.shape[a] for a in kept)
    coordinates = np.stack([x.along(a) for a in kept]) if len(kept) > 1 else None
    if coordinates is None:
        keys = x.along(kept[0]) if kept else np.zeros(x.nnz, np.int64)
    else:
        (keys,) = structure.keys_of(shape, coordinates)
    total = _counted(values, keys, math.prod(shape), length) if kernel == "add" else None
    if total is not None:
        present = np.flatnonzero(elements.has_bits(total))
        return elements.take(total, present), structure.coordinates_of(shape, present)
    order = None
    if not bool((keys[1:] >= keys[:-1]).all()):
        keys, order = structure.in_order(keys)
        values = elements.take(values, order)
    starts = structure.starts_of_runs(keys)
    result = _runs(kernel, values, starts)
    result = _with_zeros(kernel, result, np.diff(starts, append=len(keys)) < length)
    if coordinates is None or math.prod(shape) < 2**63:
        return result, structure.coordinates_of(shape, keys[starts])
    return result, structure.picked(coordinates, starts if order is None else order[starts])


def _runs(kernel: str, values: Tensor, starts: Array) -> Tensor:
    combine = elements.add_runs if kernel == "add" else elements.combine_runs
    return combine(kernel, values, starts)


def _with_zeros(kernel: str, result: Tensor, with_zeros: Array) -> Tensor:
    """Combine those results with a zero that have one among their elements that is not stored."""
    zero = elements.zeros(1, result.dtype)
    if with_zeros.all():
        return elements.run(kernel, result, zero, result.dtype) if result.size else result
    places = np.flatnonzero(with_zeros)
    if len(places):
        met = elements.run(kernel, elements.take(result, places), zero, result.dtype)
        elements.raw(result)[places] = elements.raw(met)
    return result


def _counted(values: Tensor, keys: Array, count: int, length: int) -> Tensor | None:
    """Add up float32 for every key below `count` without sorting, if they are not too many.

    It adds to a zero. There must be one in every sum, or no -0.0, which alone would lose its sign.
    """
    if values.dtype is not float32 or not len(keys) or count > 4 * len(keys) + 1024:
        return None
    if length <= len(keys) and bool((elements.raw(values) == 1 << 31).any()):
        return None
    return _core.sum_columns(elements.listed(keys), values, count)


def _of_nothing(op: Operator, mode: ReduceMode, x: SparseTensor, kept: list[int]) -> SparseTensor:
    """Return what remains of axes without elements, for each place that is left."""
    number = identity_of(op, mode, x.shape, x.dtype)
    shape = tuple(x.shape[a] for a in kept)
    value = _core.full((), result_dtype(mode, x.dtype), number)
    count = math.prod(shape) if number else 0
    check_room(count * 8 * (len(shape) + 2), f"{count} entries")
    coordinates = structure.coordinates_of(shape, np.arange(count, dtype=np.int64))
    values = elements.take(value, np.zeros(count, np.int64))
    return SparseTensor(shape, LayoutType.COO, (coordinates,), values, True)


def _with_axes(x: SparseTensor, shape: tuple[int, ...], kept: list[int]) -> SparseTensor:
    """Return the result with the axes that were combined as axes of size 1."""
    coordinates = np.zeros((len(shape), x.nnz), np.int64)
    coordinates[kept] = x.coordinates
    return SparseTensor(shape, LayoutType.COO, (coordinates,), x.values, True)
