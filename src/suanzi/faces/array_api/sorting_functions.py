"""Sorting functions, of every dtype that has elements to compare; complex numbers, too.

A NaN counts as the largest. Complex numbers are in order of their real parts, and those with equal
ones of their imaginary parts; those with a NaN come behind all others.

>>> xp.sort(xp.asarray([2 + 1j, 1 + 3j, 1 - 3j]))
Tensor([1-3j, 1+3j, 2+1j], dtype=complex64)
"""

from __future__ import annotations

from suanzi import _core
from suanzi.base.dtypes import int64, uint8, widened
from suanzi.faces.array_api.along import (
    PLAIN,
    axis_back,
    axis_last,
    computed,
    counting,
    dense,
    in_bytes,
    is_usual,
    shaped,
)
from suanzi.faces.array_api.arguments import array_argument, axis_of
from suanzi.faces.array_api.declare import function
from suanzi.ops.calling.scalars import flag_argument
from suanzi.tensors.parts import converted
from suanzi.tensors.tensor import Tensor

__all__ = ["argsort", "sort"]

_SHORT, _FEW = 64, 1 << 12
"""Complex numbers in a row, and in all, up to which a sort by comparisons beats several by keys."""


@function
def sort(x: Tensor, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Tensor:
    """Return the elements sorted along an axis; the sort is always stable.

    >>> xp.sort(xp.asarray([3, 1, 2], dtype=xp.int4), descending=True)
    Tensor([3, 2, 1], dtype=int4)
    """
    if type(x) is Tensor and x.dtype in PLAIN and x.size and type(descending) is bool:
        along = axis_of("sort", axis, x.ndim)
        return _core.sort_values(x, along, descending)
    x = array_argument("sort", "x", x)
    along = axis_of("sort", axis, x.ndim)
    descending = flag_argument("sort", "descending", descending)
    if x.dtype.kind == "complex":
        return ordered(x, along, descending)[0]
    return converted(_core.sort_values(in_bytes(x), along, descending), x.dtype)


@function
def argsort(
    x: Tensor, /, *, axis: int = -1, descending: bool = False, stable: bool = True
) -> Tensor:
    """Return the indices that sort along an axis, as int64; equal elements keep their order.

    >>> xp.argsort(xp.asarray([5, 8, 9, 5]), descending=True)
    Tensor([2, 1, 0, 3], dtype=int64)
    """
    is_plain = type(x) is Tensor and x.dtype in PLAIN and axis is not None
    if is_plain and is_usual(x, axis, descending):
        return _core.order(x, axis % x.ndim, descending, x.shape[axis])[1]
    x = array_argument("argsort", "x", x)
    return ordered(
        x, axis_of("argsort", axis, x.ndim), flag_argument("argsort", "descending", descending)
    )[1]


def ordered(x: Tensor, axis: int, descending: bool) -> tuple[Tensor, Tensor]:
    """Return the elements in order along an axis, and where each was."""
    if not x.size:
        return _core.empty(x.shape, x.dtype), _core.empty(x.shape, int64)
    if x.dtype.kind == "complex":
        return _complex(x, axis, descending)
    values, indices = _core.order(in_bytes(x), axis, descending, x.shape[axis])
    return converted(values, x.dtype), indices


def _complex(x: Tensor, axis: int, descending: bool) -> tuple[Tensor, Tensor]:
    """Sort by the imaginary parts, then by the real ones, each time stably."""
    n = x.shape[axis]
    if x.ndim == 1 and x.size <= _FEW and _core.is_row_major(x):
        row = _core.view(x, x.offset, (1, n), (n, 1))
        indices = _core.order_complex(converted(row, widened(x.dtype)), descending)
        indices = _core.view(indices, 0, (n,), (1,))
        return _core.gather(x, 0, 1, indices), indices
    turned = axis_last(x, axis)
    shape = turned.shape
    rows = shaped(dense(turned), (x.size // n, n))
    if n <= _SHORT or x.size <= _FEW:
        indices = _core.order_complex(converted(rows, widened(x.dtype)), descending)
        return _back(rows, indices, shape, axis)
    real, imaginary = rows.real, rows.imag
    indices = _core.order(imaginary, 1, descending, n)[1]
    keys = [real]
    unordered = computed("is_nan", rows)
    if unordered.any():
        # NaN in the imaginary part 1, in the real part 2, in both 3.
        classes = [converted(computed("is_nan", part), uint8) for part in (imaginary, real)]
        keys.append(computed("add", classes[0], computed("add", classes[1], classes[1])))
    for key in keys:
        again = _core.order(_picked(key, indices), 1, descending, n)[1]
        indices = _picked(indices, again)
    return _back(rows, indices, shape, axis)


def _back(
    rows: Tensor, indices: Tensor, shape: tuple[int, ...], axis: int
) -> tuple[Tensor, Tensor]:
    """Return the elements at indices, and the indices, in the shape of the tensor."""
    values, found = shaped(_picked(rows, indices), shape), shaped(indices, shape)
    if axis == len(shape) - 1:
        return values, found
    return axis_back(values, axis), axis_back(found, axis)


def _picked(rows: Tensor, indices: Tensor) -> Tensor:
    """Return the elements of each row at its indices, which are in range."""
    if rows.shape[0] == 1:
        one = _core.view(rows, rows.offset, rows.shape[1:], rows.strides[1:])
        steps = indices if rows.strides[1] == 1 else computed("mul", indices, rows.strides[1])
        return shaped(_core.gather(one, 0, 1, shaped(steps, steps.shape[1:])), indices.shape)
    first = computed("mul", counting(rows.shape[0]), rows.strides[0])
    offsets = computed("mul", indices, rows.strides[1])
    offsets = computed("add", offsets, first.reshape(-1, 1))
    return _core.gather(rows, 0, 2, offsets)
