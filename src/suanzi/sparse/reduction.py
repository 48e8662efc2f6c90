"""reduce on sparse tensors: the zeros that are not stored count, too."""

from __future__ import annotations

import math
from enum import Enum
from typing import TYPE_CHECKING, Any

from suanzi import _core
from suanzi.dtypes import DType, float32, float64, int64
from suanzi.dtypes import bool as bool_
from suanzi.interchange import from_numpy
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
    coordinates = np.empty((len(kept), x.nnz), np.int64)
    for axis, target in zip(kept, coordinates, strict=True):
        target[:] = x.along(axis)
    (keys,) = structure.keys_of(shape, coordinates)
    values: Tensor = _core.cast(x.values, computed, False)
    result, origin = _counted(values, keys, length) if kernel == "add" else (None, keys)
    if result is None:
        result, origin = _sorted(kernel, values, keys, length)
    if name == "MEAN":
        result = elements.run("div", result, float(length), computed)
    made: Tensor = _core.cast(result, result_dtype, False)
    places = np.flatnonzero(elements.has_bits(made))
    return SparseTensor(
        shape,
        LayoutType.COO,
        (structure.picked(coordinates, origin[places]),),
        elements.take(made, places),
        True,
    )


def _sorted(kernel: str, values: Tensor, keys: Array, length: int) -> tuple[Tensor, Array]:
    """Combine the values of equal keys, and return where in `keys` each key is found."""
    import numpy as np

    order = np.arange(len(keys), dtype=np.int64)
    if not bool((keys[1:] >= keys[:-1]).all()):
        order = structure.order_of(keys)
        keys, values = keys[order], elements.take(values, order)
    starts = structure.starts_of_runs(keys)
    combine = elements.add_runs if kernel == "add" else elements.combine_runs
    result = combine(kernel, values, starts)
    with_zeros = np.flatnonzero(np.diff(starts, append=len(keys)) < length)
    if len(with_zeros):
        zero = elements.zeros(1, values.dtype)
        met = elements.run(kernel, elements.take(result, with_zeros), zero, values.dtype)
        elements.raw(result)[with_zeros] = elements.raw(met)
    return result, order[starts]


def _counted(values: Tensor, keys: Array, length: int) -> tuple[Tensor | None, Array]:
    """Do the same for sums of float32 without sorting, where the keys are few and small.

    It adds to a zero, so that there must be one in every sum: -0.0 alone would lose its sign.
    """
    import numpy as np

    if values.dtype is not float32 or not len(keys) or int(keys.max()) > 4 * len(keys) + 1024:
        return None, keys
    counts = np.bincount(keys)
    if int(counts.max()) >= length:
        return None, keys
    totals = np.bincount(keys, weights=values.numpy())
    origin = np.empty(len(counts), np.int64)
    origin[keys] = np.arange(len(keys), dtype=np.int64)
    present = np.flatnonzero(counts)
    made: Tensor = _core.cast(from_numpy(totals[present]), float32, False)
    return made, origin[present]


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
