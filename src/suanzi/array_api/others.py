"""The namespace's functions on sparse tensors, tensors of blocks and tensors on devices.

Such tensors compute operators themselves. Element-wise functions go to them by their own names;
the functions here are made of the standard's operators, under the rules `array_api`.

>>> x = sz.create_sparse_tensor((2, 3), [[0, 1], [1, 2]], [5, -7])
>>> sz.array_api.sum(sz.array_api.abs(x), axis=1)
SparseTensor({0: 5, 1: 7}, shape=(2,), dtype=float32, layout=coo)
"""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import Any

from suanzi._hints import shown
from suanzi.array_api.along import summed_dtype
from suanzi.array_api.arguments import real_number
from suanzi.array_api.declare import OTHERS
from suanzi.dtypes import DType, DTypeLike, float32, float64, part, uint8
from suanzi.dtypes import bool as bool_
from suanzi.dtypes import dtype as dtype_of
from suanzi.registry import call as _op
from suanzi.shapes import sizes_of
from suanzi.status import InvalidArgument, TypeMismatch
from suanzi.tensors.methods import counted, several

Axes = int | tuple[int, ...] | None


def _other(function: Callable[..., Any]) -> Callable[..., Any]:
    OTHERS[function.__name__] = function
    return function


def _in_dtype(x: Any, dt: DType) -> Any:
    return x if x.dtype is dt else _op("cast", x, dt)


def _reduced(x: Any, mode: str, axis: Axes, keepdims: bool) -> Any:
    if isinstance(axis, tuple | list) and not axis:
        # Nothing is combined: the elements, in the dtype of the result.
        return _op("reduce", _op("reshape", x, (*x.shape, 1)), mode, (x.ndim,))
    axes = None if axis is None else several(axis, x.ndim)
    return _op("reduce", x, mode, axes, keep_dims=keepdims)


# ---- along axes ----------------------------------------------------------------------------------


@_other
def sum(
    x: Any, /, *, axis: Axes = None, dtype: DTypeLike | None = None, keepdims: bool = False
) -> Any:
    """Return the sums along axes."""
    return _reduced(_in_dtype(x, summed_dtype("sum", x.dtype, dtype)), "SUM", axis, keepdims)


@_other
def prod(
    x: Any, /, *, axis: Axes = None, dtype: DTypeLike | None = None, keepdims: bool = False
) -> Any:
    """Return the products along axes."""
    return _reduced(_in_dtype(x, summed_dtype("prod", x.dtype, dtype)), "PROD", axis, keepdims)


def _along(name: str, mode: str) -> None:
    def function(x: Any, /, *, axis: Axes = None, keepdims: bool = False) -> Any:
        return _reduced(x, mode, axis, keepdims)

    OTHERS[name] = function


for _name, _mode in {
    "mean": "MEAN", "max": "MAX", "min": "MIN", "any": "LOR", "all": "LAND",
}.items():  # fmt: skip
    _along(_name, _mode)


@_other
def count_nonzero(x: Any, /, *, axis: Axes = None, keepdims: bool = False) -> Any:
    """Return how many elements along axes are not zero."""
    return _reduced(_in_dtype(x, bool_), "SUM", axis, keepdims)


@_other
def var(x: Any, /, *, axis: Axes = None, correction: float = 0.0, keepdims: bool = False) -> Any:
    """Return the variances along axes."""
    return _in_dtype(_variance("var", x, axis, correction, keepdims), _of_variance(x.dtype))


@_other
def std(x: Any, /, *, axis: Axes = None, correction: float = 0.0, keepdims: bool = False) -> Any:
    """Return the square roots of the variances."""
    wide = _variance("std", x, axis, correction, keepdims)
    return _in_dtype(_op("sqrt", wide), _of_variance(x.dtype))


def _of_variance(dt: DType) -> DType:
    return part(dt) if dt.exponent_bits else float32


def _variance(function: str, x: Any, axis: Axes, correction: Any, keepdims: bool) -> Any:
    less = real_number(function, "correction", correction)
    dt = _of_variance(x.dtype)
    wide = dt if dt.bits >= 32 and x.dtype.exponent_bits else float32
    if x.dtype.kind in ("int", "uint") and x.dtype.bits > 16:
        wide = float64  # float32 does not have these integers
    total = None
    for one in (x.real, x.imag) if x.dtype.is_complex else (x,):
        values = _in_dtype(one, wide)
        apart = _op("sub", values, _reduced(values, "MEAN", axis, True))
        found = _reduced(_op("square", apart), "SUM", axis, keepdims)
        total = found if total is None else _op("add", total, found)
    assert total is not None
    count = x.size // builtins.max(total.size, 1)
    return _op("div", total, builtins.max(float(count) - less, 0.0))


def _best(name: str) -> None:
    def function(x: Any, /, *, axis: int | None = None, keepdims: bool = False) -> Any:
        if axis is not None:
            return _op(name, x, counted(axis, x.ndim), keepdim=keepdims)
        found = _op(name, _op("reshape", x, (x.size,)), 0)
        return _op("reshape", found, (1,) * x.ndim) if keepdims else found

    OTHERS[name] = function


for _name in ("argmax", "argmin"):
    _best(_name)


@_other
def cumulative_sum(
    x: Any, /, *, axis: int | None = None, dtype: DTypeLike | None = None,
    include_initial: bool = False,
) -> Any:  # fmt: skip
    """Return the sums of all elements up to each along an axis."""
    if axis is None and x.ndim != 1:
        raise InvalidArgument(
            f"cumulative_sum: axis is None, but x has {x.ndim} axes. Choose one, with axis=."
        )
    if include_initial:
        raise TypeMismatch(
            f"cumulative_sum: include_initial is not implemented for {type(x).__name__}."
        )
    wide = _in_dtype(x, summed_dtype("cumulative_sum", x.dtype, dtype))
    return _op("cumsum", wide, 0 if axis is None else counted(axis, x.ndim))


@_other
def sort(x: Any, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Any:
    """Return the elements in order along an axis."""
    return _ordered(x, axis, descending)[0]


@_other
def argsort(x: Any, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Any:
    """Return the indices that sort along an axis."""
    return _ordered(x, axis, descending)[1]


def _ordered(x: Any, axis: int, descending: bool) -> tuple[Any, Any]:
    plain = _in_dtype(x, uint8) if x.dtype.kind == "bool" else x  # sorted as 0 and 1
    values, indices = _op("argsort", plain, counted(axis, x.ndim), descending)
    return _in_dtype(values, x.dtype), indices


# ---- elements and shapes -------------------------------------------------------------------------


@_other
def astype(x: Any, dtype: DTypeLike, /, *, copy: bool = True, device: Any = None) -> Any:
    """Return the elements in another dtype."""
    return _in_dtype(x, dtype_of(dtype))


@_other
def clip(x: Any, /, min: Any = None, max: Any = None) -> Any:
    """Return elements no smaller than `min` and no larger than `max`."""
    return _op("clip", x, min, max)


@_other
def conj(x: Any, /) -> Any:
    """Return the conjugate; a real tensor is its own."""
    return _op("conj", x) if x.dtype.is_complex else x


@_other
def logical_not(x: Any, /) -> Any:
    """Return whether each element is zero."""
    return _op("logical_not", _in_dtype(x, bool_))


@_other
def positive(x: Any, /) -> Any:
    """Return x."""
    return x


@_other
def reshape(x: Any, /, shape: tuple[int, ...], *, copy: bool | None = None) -> Any:
    """Return the elements in another shape."""
    return _op("reshape", x, sizes_of(x.size, (shape,)))


@_other
def permute_dims(x: Any, /, axes: tuple[int, ...]) -> Any:
    """Return the axes in another order; the standard's operator takes where each axis goes."""
    order = several(tuple(axes), x.ndim)
    if set(order) == set(range(x.ndim)):
        order = tuple(order.index(i) for i in range(x.ndim))
    return _op("transpose", x, order)


@_other
def matrix_transpose(x: Any, /) -> Any:
    """Return the last two axes exchanged."""
    if x.ndim < 2:
        raise InvalidArgument(f"matrix_transpose: x has shape {shown(x.shape)}; it needs two axes.")
    return permute_dims(x, (*range(x.ndim - 2), x.ndim - 1, x.ndim - 2))


@_other
def expand_dims(x: Any, /, axis: int = 0) -> Any:
    """Return x with an axis of size 1 more."""
    return _op("expand_dims", x, counted(axis, x.ndim + 1))


@_other
def squeeze(x: Any, /, axis: Axes) -> Any:
    """Return x without axes of size 1."""
    return _op("squeeze", x, several(axis, x.ndim))


@_other
def matmul(x1: Any, x2: Any, /) -> Any:
    """Return the product of matrices."""
    return _op("matmul", x1, x2)


@_other
def concat(arrays: Any, /, *, axis: int | None = 0) -> Any:
    """Return arrays joined along an axis."""
    if axis is None:
        arrays, axis = [_op("reshape", x, (x.size,)) for x in arrays], 0
    return _op("concat", list(arrays), counted(axis, arrays[0].ndim))


@_other
def stack(arrays: Any, /, *, axis: int = 0) -> Any:
    """Return arrays joined along a new axis."""
    return _op("stack", list(arrays), counted(axis, arrays[0].ndim + 1))


def _part(name: str) -> None:
    def function(x: Any, /) -> Any:
        return _op(name, x)

    OTHERS[name] = function


for _name in ("real", "imag"):
    _part(_name)
