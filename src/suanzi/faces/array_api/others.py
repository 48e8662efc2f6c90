"""The namespace's functions on sparse tensors, tensors of blocks and tensors on devices.

Such tensors compute operators themselves. Element-wise functions go to them by their own names;
the functions here are made of the standard's operators, under the rules `array_api`.

>>> x = sz.create_sparse_tensor((2, 3), [[0, 1], [1, 2]], [5, -7])
>>> sz.array_api.sum(sz.array_api.abs(x), axis=1)
SparseTensor({0: 5, 1: 7}, shape=(2,), dtype=float32, layout=coo)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from suanzi.base.dtypes import DType, float32, float64, part, uint8
from suanzi.base.dtypes import bool as bool_
from suanzi.base.dtypes import dtype as dtype_of
from suanzi.base.hints import shown
from suanzi.base.shapes import sizes_of
from suanzi.base.status import InvalidArgument, OutOfRange, TypeMismatch
from suanzi.faces.array_api.along import summed_dtype
from suanzi.faces.array_api.arguments import real_number
from suanzi.faces.array_api.declare import OTHERS
from suanzi.ops.calling.scalars import axes_argument
from suanzi.promote.registry import call as _op
from suanzi.tensors.methods import counted, several

Axes = int | tuple[int, ...] | None


def _in_dtype(x: Any, dt: DType) -> Any:
    return x if x.dtype is dt else _op("cast", x, dt)


def _reduced(x: Any, mode: str, axis: Axes, keepdims: bool) -> Any:
    if isinstance(axis, tuple | list) and not axis:
        # Nothing is combined: the elements, in the dtype of the result.
        return _op("reduce", _op("reshape", x, (*x.shape, 1)), mode, (x.ndim,))
    axes = None if axis is None else several(axis, x.ndim)
    return _op("reduce", x, mode, axes, keep_dims=keepdims)


# ---- along axes ----------------------------------------------------------------------------------


def _along(mode: str) -> Callable[..., Any]:
    return lambda x, /, *, axis=None, keepdims=False: _reduced(x, mode, axis, keepdims)


def _added(name: str, mode: str) -> Callable[..., Any]:
    def function(x: Any, /, *, axis: Axes = None, dtype: Any = None, keepdims: bool = False) -> Any:
        return _reduced(_in_dtype(x, summed_dtype(name, x.dtype, dtype)), mode, axis, keepdims)

    return function


def _count_nonzero(x: Any, /, *, axis: Axes = None, keepdims: bool = False) -> Any:
    return _reduced(_in_dtype(x, bool_), "SUM", axis, keepdims)


def _deviation(name: str) -> Callable[..., Any]:
    def function(
        x: Any, /, *, axis: Axes = None, correction: float = 0.0, keepdims: bool = False
    ) -> Any:
        variance = _variance(name, x, axis, correction, keepdims)
        wide = _op("sqrt", variance) if name == "std" else variance
        return _in_dtype(wide, _of_variance(x.dtype))

    return function


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
    count = x.size // max(total.size, 1)
    return _op("div", total, max(float(count) - less, 0.0))


def _best(name: str) -> Callable[..., Any]:
    def function(x: Any, /, *, axis: int | None = None, keepdims: bool = False) -> Any:
        if axis is not None:
            return _op(name, x, counted(axis, x.ndim), keepdim=keepdims)
        found = _op(name, _op("reshape", x, (x.size,)), 0)
        return _op("reshape", found, (1,) * x.ndim) if keepdims else found

    return function


def _cumulative_sum(
    x: Any, /, *, axis: int | None = None, dtype: Any = None, include_initial: bool = False
) -> Any:
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


def _ordered(which: int) -> Callable[..., Any]:
    def function(
        x: Any, /, *, axis: int = -1, descending: bool = False, stable: bool = True
    ) -> Any:
        plain = _in_dtype(x, uint8) if x.dtype.kind == "bool" else x  # sorted as 0 and 1
        found = _op("argsort", plain, counted(axis, x.ndim), descending)[which]
        return found if which else _in_dtype(found, x.dtype)

    return function


# ---- elements and shapes -------------------------------------------------------------------------


def _permute_dims(x: Any, /, axes: tuple[int, ...]) -> Any:
    order = axes_argument("permute_dims", "axes", axes, x.ndim, OutOfRange)
    if set(order) == set(range(x.ndim)):  # the standard's operator takes where each axis goes
        order = tuple(order.index(i) for i in range(x.ndim))
    return _op("transpose", x, order)


def _matrix_transpose(x: Any, /) -> Any:
    if x.ndim < 2:
        raise InvalidArgument(f"matrix_transpose: x has shape {shown(x.shape)}; it needs two axes.")
    return _permute_dims(x, (*range(x.ndim - 2), x.ndim - 1, x.ndim - 2))


def _concat(arrays: Any, /, *, axis: int | None = 0) -> Any:
    if axis is None:
        arrays, axis = [_op("reshape", x, (x.size,)) for x in arrays], 0
    return _joined("concat", arrays, axis, 0)


def _joined(name: str, arrays: Any, axis: Any, more: int) -> Any:
    given = list(arrays)
    rank = getattr(given[0], "ndim", 0) if given else 0
    return _op(name, given, counted(axis, rank + more) if given else 0)


OTHERS.update(
    sum=_added("sum", "SUM"),
    prod=_added("prod", "PROD"),
    mean=_along("MEAN"),
    max=_along("MAX"),
    min=_along("MIN"),
    any=_along("LOR"),
    all=_along("LAND"),
    count_nonzero=_count_nonzero,
    var=_deviation("var"),
    std=_deviation("std"),
    argmax=_best("argmax"),
    argmin=_best("argmin"),
    cumulative_sum=_cumulative_sum,
    sort=_ordered(0),
    argsort=_ordered(1),
    astype=lambda x, dtype, /, *, copy=True, device=None: _in_dtype(x, dtype_of(dtype)),
    clip=lambda x, /, min=None, max=None: _op("clip", x, min, max),
    conj=lambda x, /: _op("conj", x) if x.dtype.is_complex else x,
    imag=lambda x, /: _op("imag", x),
    real=lambda x, /: _op("real", x),
    logical_not=lambda x, /: _op("logical_not", _in_dtype(x, bool_)),
    positive=lambda x, /: x,
    reshape=lambda x, /, shape, *, copy=None: _op("reshape", x, sizes_of(x.size, (shape,))),
    permute_dims=_permute_dims,
    matrix_transpose=_matrix_transpose,
    expand_dims=lambda x, /, axis=0: _op("expand_dims", x, counted(axis, x.ndim + 1)),
    squeeze=lambda x, /, axis: _op("squeeze", x, several(axis, x.ndim)),
    matmul=lambda x1, x2, /: _op("matmul", x1, x2),
    concat=_concat,
    stack=lambda arrays, /, *, axis=0: _joined("stack", arrays, axis, 1),
)
