"""Statistical functions: sums, products, means, variances, extremes, and cumulative ones.

16-bit floats, float8 and complex32 are computed in float32 and rounded once, float32 in float64
where it is added up. Integers are added up in 64 bits, unless `dtype` says another.

>>> x = xp.asarray([[1, 2, 3], [4, 5, 6]], dtype=xp.bfloat16)
>>> xp.mean(x, axis=0), xp.cumulative_prod(x, axis=1)[1, ...]
(Tensor([2.5, 3.5, 4.5], dtype=bfloat16), Tensor([  4,  20, 120], dtype=bfloat16))
"""

from __future__ import annotations

import builtins
import math
from typing import Any

from suanzi import _core
from suanzi.base.dtypes import DType, DTypeLike, float32, float64, part, widened
from suanzi.base.status import InvalidArgument
from suanzi.faces.array_api.along import (
    DEFAULT_FLOAT,
    PLAIN,
    computed,
    in_bytes,
    is_usual,
    shaped,
    summed_dtype,
)
from suanzi.faces.array_api.arguments import (
    ELEMENTS,
    REAL,
    Axes,
    array_argument,
    axes_of,
    axis_of,
    real_number,
)
from suanzi.faces.array_api.declare import EVERY, function
from suanzi.ops.calling.scalars import flag_argument
from suanzi.ops.reduction import reduce
from suanzi.ops.reduction_modes import ReduceMode, reduced_shape
from suanzi.tensors.parts import converted
from suanzi.tensors.tensor import Tensor

__all__ = ["cumulative_prod", "cumulative_sum", "max", "mean", "min", "prod", "std", "sum", "var"]

_MODES = ReduceMode.SUM, ReduceMode.PROD, ReduceMode.MAX, ReduceMode.MIN, ReduceMode.MEAN
BY_SUM, BY_PROD, BY_MAX, BY_MIN, BY_MEAN = _MODES  # to look a member up takes longer
_SUM, _PROD, _MAX, _MIN, _MEAN = map(int, _MODES)
_FLOATS = frozenset(dt for dt in PLAIN if dt.kind == "float")
_PART = 1 << 18
"""Elements that are converted at a time."""
_MULTIPLIED_AS_THEY_ARE = frozenset(dt for dt in EVERY if dt.bits >= 64 or dt is float32)


@function
def sum(
    x: Tensor, /, *, axis: Axes = None, dtype: DTypeLike | None = None, keepdims: bool = False
) -> Tensor:
    """Return the sums along axes, or of all elements; 0 for no elements.

    >>> xp.sum(xp.asarray([100, 100], dtype=xp.int8))
    Tensor(200, dtype=int64)
    """
    if dtype is None and type(x) is Tensor and x.dtype in PLAIN and is_usual(x, axis, keepdims):
        if x.dtype in _FLOATS:
            return reduce(x, BY_SUM, axis, keepdims)
        return _core.wide_sum(x, axes_of("sum", axis, x.ndim), keepdims)
    x = array_argument("sum", "x", x)
    target = summed_dtype("sum", x.dtype, dtype)
    axes = axes_of("sum", axis, x.ndim)
    if x.dtype.kind in ("bool", "int", "uint") and x.size and axes and _adds_up(x.dtype, target):
        keep = flag_argument("sum", "keepdims", keepdims)
        whole = x if x.dtype.kind == "bool" else in_bytes(x)
        return converted(_core.wide_sum(whole, axes, keep), target)
    return _combined("sum", converted(x, target), _SUM, axes, keepdims, 0)


@function
def prod(
    x: Tensor, /, *, axis: Axes = None, dtype: DTypeLike | None = None, keepdims: bool = False
) -> Tensor:
    """Return the products along axes, or of all elements; 1 for no elements."""
    if dtype is None and type(x) is Tensor and x.dtype in _FLOATS and is_usual(x, axis, keepdims):
        return reduce(x, BY_PROD, axis, keepdims)
    x = array_argument("prod", "x", x)
    target = summed_dtype("prod", x.dtype, dtype)
    axes = axes_of("prod", axis, x.ndim)
    is_long = x.size > _PART and target is not x.dtype and axes
    if is_long and not target.exponent_bits:  # which wrap: the order does not matter
        return _in_parts(
            x, axes, flag_argument("prod", "keepdims", keepdims), target, _product, True
        )
    return _combined("prod", converted(x, target), _PROD, axes, keepdims, 1)


@function
def mean(x: Tensor, /, *, axis: Axes = None, keepdims: bool = False) -> Tensor:
    """Return the means along axes, or of all elements; NaN for no elements.

    >>> xp.mean(xp.zeros((0, 2)), axis=0)
    Tensor([nan, nan], dtype=float32)
    """
    if type(x) is Tensor and x.dtype in PLAIN and is_usual(x, axis, keepdims):
        return reduce(x, BY_MEAN, axis, keepdims)
    x = array_argument("mean", "x", x)
    axes = axes_of("mean", axis, x.ndim)
    if x.dtype.kind not in ("float", "complex"):
        x = in_bytes(x) if x.size and axes else converted(x, DEFAULT_FLOAT)
    nothing = complex(math.nan, math.nan) if x.dtype.kind == "complex" else math.nan
    return _combined("mean", x, _MEAN, axes, keepdims, nothing)


@function
def max(x: Tensor, /, *, axis: Axes = None, keepdims: bool = False) -> Tensor:
    """Return the largest elements along axes, or NaN; an error for no elements."""
    if type(x) is Tensor and x.dtype in PLAIN and is_usual(x, axis, keepdims):
        return reduce(x, BY_MAX, axis, keepdims)
    return _extreme("max", _MAX, x, axis, keepdims)


@function
def min(x: Tensor, /, *, axis: Axes = None, keepdims: bool = False) -> Tensor:
    """Return the smallest elements along axes, or NaN; an error for no elements."""
    if type(x) is Tensor and x.dtype in PLAIN and is_usual(x, axis, keepdims):
        return reduce(x, BY_MIN, axis, keepdims)
    return _extreme("min", _MIN, x, axis, keepdims)


@function
def var(
    x: Tensor, /, *, axis: Axes = None, correction: float = 0.0, keepdims: bool = False
) -> Tensor:
    """Return the variances along axes: the sums of squared deviations by n - `correction`.

    Where that is not above 0, it is NaN. Those of integers are of the default float, those of
    complex numbers real.

    >>> xp.var(xp.asarray([1, 2, 3, 4], dtype=xp.float16), correction=1)
    Tensor(1.667, dtype=float16)
    """
    x = array_argument("var", "x", x)
    return converted(_variance("var", x, axis, correction, keepdims), _of_variance(x))


@function
def std(
    x: Tensor, /, *, axis: Axes = None, correction: float = 0.0, keepdims: bool = False
) -> Tensor:
    """Return the square roots of the variances, rounded once."""
    x = array_argument("std", "x", x)
    return converted(
        computed("sqrt", _variance("std", x, axis, correction, keepdims)), _of_variance(x)
    )


@function
def cumulative_sum(
    x: Tensor, /, *, axis: int | None = None, dtype: DTypeLike = None, include_initial: bool = False
) -> Tensor:
    """Return the cumulative sums along an axis; with `include_initial`, 0 comes first.

    >>> xp.cumulative_sum(xp.asarray([1, 2, 3], dtype=xp.int8), include_initial=True)
    Tensor([0, 1, 3, 6], dtype=int64)
    """
    plainly = dtype is None and include_initial is False and type(x) is Tensor
    if axis is not None and plainly and x.dtype in _FLOATS and is_usual(x, axis, False):
        return _core.cumulative_sum(x, axis % x.ndim, False, False)
    wide, along = _cumulative("cumulative_sum", x, axis, dtype)
    made = _core.cumulative_sum(wide, along, False, wide is not x)
    return _with_initial("cumulative_sum", made, along, include_initial, 0)


@function
def cumulative_prod(
    x: Tensor, /, *, axis: int | None = None, dtype: DTypeLike = None, include_initial: bool = False
) -> Tensor:
    """Return the cumulative products along an axis; with `include_initial`, 1 comes first."""
    plainly = dtype is None and axis is not None and include_initial is False
    if plainly and type(x) is Tensor and x.dtype in _MULTIPLIED_AS_THEY_ARE:
        along = axis_of("cumulative_prod", axis, x.ndim)
        return _core.cumulative_product(x, along, False)
    given, along = _cumulative("cumulative_prod", x, axis, dtype)
    dt = given.dtype
    wide = converted(given, widened(dt) if dt.exponent_bits else dt)
    made = _core.cumulative_product(wide, along, wide.dtype is not dt, wide is not x)
    return _with_initial("cumulative_prod", converted(made, dt), along, include_initial, 1)


def _adds_up(dt: DType, target: DType) -> bool:
    """Return whether a sum in 64 bits, converted, is the sum of converted integers."""
    return not target.exponent_bits or (dt.bits <= 16 and target in (float32, float64))


# ---- what they share ----------------------------------------------------------------------------


def _combined(
    function: str, x: Tensor, mode: int, axes: tuple[int, ...], keepdims: bool, nothing: complex
) -> Tensor:
    """Return the elements combined along axes, each result of `nothing` where there are none."""
    keep = flag_argument(function, "keepdims", keepdims)
    if not axes:
        return _core.cast(x, x.dtype, False)
    if x.size:
        return _core.reduce(x, mode, axes, keep)
    return _core.full(reduced_shape(x.shape, axes, keep), x.dtype, nothing)


def _product(x: Tensor, axes: tuple[int, ...], keep: bool) -> Tensor:
    return _core.reduce(x, _PROD, axes, keep)


def _in_parts(
    x: Tensor, axes: tuple[int, ...], keep: bool, wide: DType, combine: Any, multiplies: bool
) -> Tensor:
    """Combine elements in a wider dtype without a copy of all of them: some indices at a time.

    Only where `multiplies`, the parts of one result can be multiplied; else each result is computed
    from all of its elements, so that it has the same bits.
    """
    made = _core.full(reduced_shape(x.shape, axes, True), wide, 1)
    able = [a for a in range(x.ndim) if multiplies or a not in axes]
    along = builtins.max(able, key=lambda a: x.shape[a], default=None)
    if along is None or x.shape[along] == 1:
        return combine(converted(x, wide), axes, keep)  # type: ignore[no-any-return]
    step = builtins.max(_PART * x.shape[along] // x.size, 1)
    for start in range(0, x.shape[along], step):
        where = (*(slice(None),) * along, slice(start, start + step))
        found = combine(converted(x[where], wide), axes, True)
        if along in axes:
            made = computed("mul", made, found)
        else:
            made[where] = found
    shape = reduced_shape(x.shape, axes, keep)
    return shaped(made, shape)


def _extreme(function: str, mode: int, x: Any, axis: Any, keepdims: bool) -> Tensor:
    x = array_argument(function, "x", x, REAL)
    axes = axes_of(function, axis, x.ndim)
    if not x.size and not math.prod(x.shape[a] for a in axes):
        raise InvalidArgument(
            f"{function}: x has shape {x.shape}; {function} of no elements is undefined. Choose "
            "axes that have elements."
        )
    return converted(_combined(function, in_bytes(x), mode, axes, keepdims, 0), x.dtype)


def _of_variance(x: Tensor) -> Any:
    return part(x.dtype) if x.dtype.exponent_bits else DEFAULT_FLOAT


def _variance(function: str, x: Tensor, axis: Any, correction: Any, keepdims: bool) -> Tensor:
    """Return variances in the dtype they are computed in: float32 at least."""
    axes = axes_of(function, axis, x.ndim)
    count = math.prod(x.shape[a] for a in axes)
    wide = part(widened(x.dtype)) if x.dtype.exponent_bits else float64
    keep = flag_argument(function, "keepdims", keepdims)
    shape = reduced_shape(x.shape, axes, keep)
    less = real_number(function, "correction", correction)
    if count - less <= 0 or not x.size:
        return _core.full(shape, wide, math.nan)
    total = None
    for one in (x.real, x.imag) if x.dtype.kind == "complex" else (x,):
        if one.dtype is wide or x.size <= _PART:
            found = _core.squared_distances(converted(one, wide), axes, keep)
        else:
            found = _in_parts(one, axes, keep, wide, _core.squared_distances, False)
        total = found if total is None else computed("add", total, found)
    assert total is not None
    return computed("div", total, count - less)


def _cumulative(function: str, x: Any, axis: Any, dtype: Any) -> tuple[Tensor, int]:
    """Return the tensor in the dtype of the result, and the axis."""
    x = array_argument(function, "x", x, ELEMENTS)
    if axis is None:
        if x.ndim != 1:
            raise InvalidArgument(
                f"{function}: axis is None, and x has {x.ndim} axes. Choose one, with axis=."
            )
        axis = 0
    along = axis_of(function, axis, x.ndim)
    return converted(x, summed_dtype(function, x.dtype, dtype)), along


def _with_initial(function: str, made: Tensor, axis: int, wanted: bool, initial: int) -> Tensor:
    if not flag_argument(function, "include_initial", wanted):
        return made
    shape = (*made.shape[:axis], 1, *made.shape[axis + 1 :])
    return _core.join([_core.full(shape, made.dtype, initial), made], axis, made.dtype, False)
