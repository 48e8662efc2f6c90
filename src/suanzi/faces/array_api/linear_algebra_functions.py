"""Products of matrices and vectors. Narrow floats are summed in float32 and rounded once.

>>> x = xp.asarray([[1, 2], [3, 4]], dtype=xp.bfloat16)
>>> xp.matmul(x, xp.matrix_transpose(x)), xp.vecdot(x, x)
(Tensor([[ 5, 11],
        [11, 25]], dtype=bfloat16), Tensor([ 5, 25], dtype=bfloat16))
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from suanzi import _core
from suanzi.base.dtypes import DType, widened
from suanzi.base.hints import shown
from suanzi.base.shapes import broadcast_shapes
from suanzi.base.status import AllocFailed, DimensionsMismatch, InvalidArgument
from suanzi.faces.array_api.along import PLAIN, axis_last, computed, in_bytes
from suanzi.faces.array_api.arguments import NUMERIC, array_argument, axis_of, promoted
from suanzi.faces.array_api.declare import declare_symbol, function
from suanzi.ops.calling.scalars import integer_argument
from suanzi.ops.reduction_modes import ReduceMode
from suanzi.tensors.parts import converted, permuted
from suanzi.tensors.tensor import Tensor

__all__ = ["matmul", "matrix_transpose", "tensordot", "vecdot"]


@function
def matmul(x1: Tensor, x2: Tensor, /) -> Tensor:
    """Return the product of matrices, vectors, or batches of matrices, which are broadcast."""
    if isinstance(x1, Tensor) and isinstance(x2, Tensor) and x1.dtype is x2.dtype in PLAIN:
        try:
            return _core.multiply(x1, x2, x1.dtype)
        except (ValueError, MemoryError, AllocFailed):
            pass  # said below, in this function's name
    x1, x2, dt = _factors("matmul", x1, x2)
    if x1.ndim == x2.ndim == 2 and x1.shape[1] == x2.shape[0]:
        return product("matmul", x1, x2, dt)
    for name, one in (("x1", x1), ("x2", x2)):
        if not one.ndim:
            raise DimensionsMismatch(f"matmul: {name} has no axes; multiply by a number with *.")
    rows = x2.shape[-2 if x2.ndim > 1 else -1]
    if x1.shape[-1] != rows or broadcast_shapes([x1.shape[:-2], x2.shape[:-2]]) is None:
        raise DimensionsMismatch(
            f"matmul: x1 has shape {x1.shape} and x2 {x2.shape}; the last size of x1 must be the "
            "rows of x2, and axes before the last two are equal, or 1."
        )
    return product("matmul", x1, x2, dt)


@function
def matrix_transpose(x: Tensor, /) -> Tensor:
    """Return a view with the last two axes exchanged."""
    x = array_argument("matrix_transpose", "x", x)
    if x.ndim < 2:
        raise DimensionsMismatch(f"matrix_transpose: x has shape {x.shape}; a matrix has two axes.")
    *outer, rows, columns = range(x.ndim)
    return permuted(x, (*outer, columns, rows))


@function
def tensordot(x1: Tensor, x2: Tensor, /, *, axes: int | Sequence[Sequence[int]] = 2) -> Tensor:
    """Return sums of products over pairs of axes, or over the last n of `x1` and first n of `x2`.

    >>> xp.tensordot(xp.ones((2, 3, 4)), xp.ones((4, 3)), axes=((1, 2), (1, 0)))
    Tensor([12, 12], dtype=float32)
    """
    x1, x2, dt = _factors("tensordot", x1, x2)
    if isinstance(axes, tuple | list):
        if len(axes) != 2 or not all(isinstance(one, tuple | list) for one in axes):
            raise InvalidArgument(
                f"tensordot: axes is {shown(axes)}; it must be a number, or two sequences."
            )
        first = tuple(axis_of("tensordot", a, x1.ndim) for a in axes[0])
        second = tuple(axis_of("tensordot", a, x2.ndim) for a in axes[1])
    else:
        count = integer_argument("tensordot", "axes", axes, 0)
        if count > min(x1.ndim, x2.ndim):
            raise InvalidArgument(
                f"tensordot: axes is {shown(count)}, and x1 has {x1.ndim} axes and x2 {x2.ndim}."
            )
        first, second = tuple(range(x1.ndim - count, x1.ndim)), tuple(range(count))
    sizes = [[x1.shape[a] for a in first], [x2.shape[a] for a in second]]
    if sizes[0] != sizes[1] or len(set(first)) < len(first) or len(set(second)) < len(second):
        raise DimensionsMismatch(
            f"tensordot: x1 has shape {x1.shape} and x2 {x2.shape}; axes {first} and {second} must "
            "be of the same sizes, and none of them twice."
        )
    left = [a for a in range(x1.ndim) if a not in first]
    right = [a for a in range(x2.ndim) if a not in second]
    shapes = [x1.shape[a] for a in left], [x2.shape[a] for a in right]
    inner = math.prod(sizes[0])
    rows = permuted(x1, (*left, *first)).reshape(math.prod(shapes[0]), inner)
    columns = permuted(x2, (*second, *right)).reshape(inner, math.prod(shapes[1]))
    return product("tensordot", rows, columns, dt).reshape((*shapes[0], *shapes[1]))


@function
def vecdot(x1: Tensor, x2: Tensor, /, *, axis: int = -1) -> Tensor:
    """Return the dot products along an axis, counted from the last; `x1` is conjugated."""
    alike = type(x1) is type(x2) is Tensor and x1.dtype in PLAIN and x1.dtype is x2.dtype
    if alike and x1.shape == x2.shape and type(axis) is int and axis in (-1, x1.ndim - 1):
        if x1.ndim == 1:
            return product("vecdot", x1, x2, x1.dtype)
        if x1.ndim and x1.strides[-1] == 1:
            return _row_by_row(x1, x2, x1.dtype)
    x1, x2, dt = _factors("vecdot", x1, x2)
    last = integer_argument("vecdot", "axis", axis)
    n = min(x1.ndim, x2.ndim)
    if not -n <= last < n:
        raise InvalidArgument(
            f"vecdot: axis is {last}; x1 has {x1.ndim} axes and x2 {x2.ndim}, and it must be one "
            "of both."
        )
    if x1.ndim == x2.ndim == 1 and x1.shape == x2.shape:
        return product("vecdot", _core.conjugate(x1) if x1.dtype.kind == "complex" else x1, x2, dt)
    rows, columns = axis_last(x1, last % x1.ndim), axis_last(x2, last % x2.ndim)
    (*outer, length), (*others, same) = rows.shape, columns.shape
    if length != same or (
        outer != others and broadcast_shapes([tuple(outer), tuple(others)]) is None
    ):
        raise DimensionsMismatch(
            f"vecdot: x1 has shape {x1.shape} and x2 {x2.shape}; along axis {last} sizes must be "
            "the same, and along the others the same, or 1."
        )
    rows = converted(rows, dt)
    if dt.kind == "complex":
        rows = _core.conjugate(rows)
    across = rows.ndim > 1 and rows.strides[-1] != 1
    if across and rows.size and columns.size and dt.bits >= 8:
        # Not row by row: all products, then the sums down the columns, of narrow floats in float32.
        wide = widened(dt) if dt.exponent_bits else dt
        made = computed("mul", converted(rows, wide), converted(columns, wide))
        return converted(_core.reduce(made, int(ReduceMode.SUM), (made.ndim - 1,), False), dt)
    return _row_by_row(rows, columns, dt)


def product(function: str, x1: Tensor, x2: Tensor, dt: DType) -> Tensor:
    """Return a product of matrices that fit, in a dtype; int4 and its like wrap as they do."""
    try:
        if dt.bits < 8:
            x1, x2 = in_bytes(converted(x1, dt)), in_bytes(converted(x2, dt))
            return converted(_core.multiply(x1, x2, x1.dtype), dt)
        return _core.multiply(x1, x2, dt)
    except AllocFailed as error:
        raise AllocFailed(f"{function}: {error}") from None
    except MemoryError:
        raise AllocFailed(f"{function}: not enough memory for a product of these arrays.") from None


def _row_by_row(x1: Tensor, x2: Tensor, dt: DType) -> Tensor:
    (*shape, n), (*strides, step) = x1.shape, x1.strides
    rows = _core.view(x1, x1.offset, (*shape, 1, n), (*strides, 1, step))
    columns = _core.view(x2, x2.offset, (*x2.shape, 1), (*x2.strides, 1))
    made = product("vecdot", rows, columns, dt)
    return _core.view(made, made.offset, made.shape[:-2], made.strides[:-2])


def _factors(function: str, x1: Any, x2: Any) -> tuple[Tensor, Tensor, DType]:
    x1 = array_argument(function, "x1", x1, NUMERIC)
    x2 = array_argument(function, "x2", x2, NUMERIC)
    return x1, x2, promoted(function, x1.dtype, x2.dtype)


declare_symbol("matmul", "matmul")
