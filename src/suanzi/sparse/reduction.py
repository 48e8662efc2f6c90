"""reduce on sparse tensors: the zeros that are not stored count, too."""

from __future__ import annotations

import math
from enum import Enum
from typing import TYPE_CHECKING, Any

from suanzi import _core
from suanzi.dtypes import DType, float32, float64, int64
from suanzi.dtypes import bool as bool_
from suanzi.layout import LayoutType
from suanzi.registry import BOOL, COMPLEX, INTEGERS, REALS, Operator
from suanzi.resolve import axis_argument
from suanzi.sparse import elements, structure
from suanzi.sparse.tensor import SparseTensor
from suanzi.status import InvalidArgument, TypeMismatch
from suanzi.tensor import Tensor, tensor

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, Any]

_NUMBERS = (*BOOL, *REALS, *COMPLEX)
# What each mode takes, and the kernel that combines two elements.
_MODES: dict[str, tuple[tuple[DType, ...], str]] = {
    "SUM": (_NUMBERS, "add"),
    "PROD": (_NUMBERS, "mul"),
    "MAX": ((*BOOL, *REALS), "max"),
    "MIN": ((*BOOL, *REALS), "min"),
    "MEAN": ((*REALS, *COMPLEX), "add"),
    "LAND": (_NUMBERS, "logical_and"),
    "LOR": (_NUMBERS, "logical_or"),
    "LXOR": (_NUMBERS, "logical_xor"),
    "BAND": ((*BOOL, *INTEGERS), "bitwise_and"),
    "BOR": ((*BOOL, *INTEGERS), "bitwise_or"),
    "BXOR": ((*BOOL, *INTEGERS), "bitwise_xor"),
}
# What remains of no elements at all; the largest of none is none.
_OF_NOTHING = {"SUM": 0, "PROD": 1, "LAND": 1, "LOR": 0, "LXOR": 0, "BAND": -1, "BOR": 0, "BXOR": 0}


def reduce(
    op: Operator,
    input: SparseTensor,
    mode: Any = "SUM",
    axis: Any = None,
    keep_dims: Any = False,
) -> SparseTensor:
    """Combine the elements along axes; the result is COO."""
    name = _mode(op, mode)
    axes = _axes(op, input.ndim, axis)
    if not isinstance(keep_dims, bool):
        raise InvalidArgument(f"{op.title}: keep_dims is {keep_dims!r}; it must be True or False.")
    if input.dtype not in _MODES[name][0]:
        raise TypeMismatch(
            f"{op.title}: input is {input.dtype}, which has no {name}. Cast it first, for example "
            "with sz.cast(input, sz.float32)."
        )
    length = math.prod(input.shape[a] for a in axes)
    kept = [a for a in range(input.ndim) if a not in axes]
    if length == 0:
        result = _of_nothing(op, name, input, kept)
    else:
        result = _combined(name, input.coalesce(), kept, length)
    if not keep_dims:
        return result
    return _with_axes(result, tuple(1 if a in axes else n for a, n in enumerate(input.shape)), kept)


def _mode(op: Operator, mode: Any) -> str:
    given = mode.name if isinstance(mode, Enum) else mode
    if not isinstance(given, str) or given.upper() not in _MODES:
        raise InvalidArgument(f"{op.title}: mode is {mode!r}; it is one of {', '.join(_MODES)}.")
    return given.upper()


def _axes(op: Operator, ndim: int, axis: Any) -> list[int]:
    if axis is None:
        given: list[Any] = []
    else:
        given = list(axis) if isinstance(axis, list | tuple) else [axis]
    axes = [axis_argument(op, "axis", one, ndim) for one in given]
    if len(set(axes)) < len(axes):
        raise InvalidArgument(f"{op.title}: axis is {axis!r}, which names an axis twice.")
    return sorted(axes) or list(range(ndim))


def _dtypes(name: str, dt: DType) -> tuple[DType, DType]:
    """Return the dtype that is computed in, and that of the result."""
    if name in ("LAND", "LOR", "LXOR"):
        return bool_, bool_
    if name in ("SUM", "PROD") and dt is bool_:
        return int64, int64
    if name == "MEAN" and dt in INTEGERS:
        return float64, float32
    return elements.wide(dt) if name in ("SUM", "PROD", "MEAN") else dt, dt


def _combined(name: str, x: SparseTensor, kept: list[int], length: int) -> SparseTensor:
    """Combine runs of elements, none of them empty."""
    import numpy as np

    computed, result_dtype = _dtypes(name, x.dtype)
    kernel = _MODES[name][1]
    if computed is bool_ and name in ("MAX", "MIN"):
        kernel = "logical_or" if name == "MAX" else "logical_and"
    shape = tuple(x.shape[a] for a in kept)
    values: Tensor = _core.cast(x.values, computed, False) if x.dtype is not computed else x.values
    found = _of_rows(kernel, values, x, length) if kept == [0] else None
    if found is None:
        found = _of_places(kernel, values, x, kept, length)
    result, coordinates = found
    if name == "MEAN":
        result = elements.run("div", result, float(length), computed)
    made: Tensor = result
    if made.dtype is not result_dtype:
        made = _core.cast(result, result_dtype, False)
    stored = elements.has_bits(made)
    if not stored.all():
        places = np.flatnonzero(stored)
        made, coordinates = elements.take(made, places), structure.picked(coordinates, places)
    return SparseTensor(shape, LayoutType.COO, (coordinates,), made, True)


def _of_rows(
    kernel: str, values: Tensor, x: SparseTensor, length: int
) -> tuple[Tensor, Array] | None:
    """Combine the rows of CSR, and return the row of each result; None of COO."""
    import numpy as np

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
    import numpy as np

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
    import numpy as np

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
    made: Tensor = _core.sum_columns(elements.listed(keys), values, count)
    return made


def _of_nothing(op: Operator, name: str, x: SparseTensor, kept: list[int]) -> SparseTensor:
    """Return what remains of axes without elements, for each place that is left."""
    import numpy as np

    if name not in _OF_NOTHING:
        raise InvalidArgument(
            f"{op.title}: input has shape {x.shape}, and of no elements there is no {name}."
        )
    result_dtype = _dtypes(name, x.dtype)[1]
    shape = tuple(x.shape[a] for a in kept)
    value: Tensor = _core.cast(tensor(_OF_NOTHING[name], int64), result_dtype, False)
    count = math.prod(shape) if _OF_NOTHING[name] else 0
    structure.check_room(count * 8 * (len(shape) + 2), f"{count} entries")
    coordinates = structure.coordinates_of(shape, np.arange(count, dtype=np.int64))
    values = elements.take(value, np.zeros(count, np.int64))
    return SparseTensor(shape, LayoutType.COO, (coordinates,), values, True)


def _with_axes(x: SparseTensor, shape: tuple[int, ...], kept: list[int]) -> SparseTensor:
    """Return the result with the axes that were combined as axes of size 1."""
    import numpy as np

    coordinates = np.zeros((len(shape), x.nnz), np.int64)
    coordinates[kept] = x.coordinates
    return SparseTensor(shape, LayoutType.COO, (coordinates,), x.values, True)
