"""7.2.13: elements combined along axes, cumulative sums, and their gradients."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from suanzi import _core
from suanzi.base.dtypes import DTypeLike, uint8
from suanzi.base.dtypes import bool as bool_
from suanzi.base.hints import shown
from suanzi.base.status import InvalidArgument, OutOfRange, StatusError, TypeMismatch
from suanzi.ops.calling.arguments import dtype_error, dtype_named, real_argument
from suanzi.ops.calling.declare import operator
from suanzi.ops.calling.elementwise import check_dtype
from suanzi.ops.calling.scalars import flag_argument, integer_argument, shape_argument
from suanzi.ops.creation_wanted import scalar_argument
from suanzi.ops.reduction_exact import MEAN, SUM, Accumulate, exact_reduction, is_exact
from suanzi.ops.reduction_gradients import gradient_of
from suanzi.ops.reduction_modes import (
    ReduceFunction,
    ReduceMode,
    axes_argument,
    check_mode,
    identity_of,
    is_logical,
    mode_argument,
    reduced_shape,
    result_dtype,
)
from suanzi.ops.transformation_joining import concat
from suanzi.ops.transformation_views import reshape
from suanzi.promote.layers import NUMERIC_KINDS, kind_rank
from suanzi.promote.registry import BOOL, NUMBERS, REGISTRY, Operator
from suanzi.tensors.parts import converted, copy, permuted
from suanzi.tensors.tensor import Tensor, TensorLike

_EXACT = {ReduceMode.SUM: SUM, ReduceMode.MEAN: MEAN}


@operator("7.2.13.1", dtypes=(*BOOL, *NUMBERS), fast=True)
def reduce(
    input: TensorLike,
    mode: ReduceMode | ReduceFunction | str = ReduceMode.SUM,
    axis: int | Sequence[int] | None = None,
    keep_dims: bool = False,
    *,
    accumulate: Accumulate = "default",
) -> Tensor:
    """Combine the elements along axes; without `axis`, along all.

    `mode` is a :class:`ReduceMode`, its name, or a :class:`ReduceFunction` of your own. The result
    has the dtype of the input, but for logical modes (bool), sums and products of bool (int64) and
    means of integers and bool (float32). Integers wrap. Of no elements, SUM, LOR, LXOR, BOR and
    BXOR are 0, PROD and LAND 1, BAND has every bit set; there is no MAX, MIN or MEAN.

    float16, bfloat16, float8 and complex32 are summed in float32, float32 and complex64 in float64,
    and rounded once at the end; means are divided before. What is computed in, with unit roundoff u
    (2**-24 or 2**-53), a sum of n elements is off by at most (20 + log2(n / 256)) * u times the sum
    of their magnitudes, n / 256 being 1 at least; where a partial sum overflows, so may the result.
    The result depends on the elements and the shape alone: not on the layout, the number of
    threads or the processor. With ``accumulate="exact"``, sums and means of floats are exact and
    rounded once: the nearest number, whatever the length and the order.

    >>> x = sz.tensor([[1, 2, 3], [4, 5, 6]])
    >>> sz.reduce(x), sz.reduce(x, "MAX", axis=0), sz.reduce(x, sz.ReduceMode.MEAN, axis=-1)
    (Tensor(21, dtype=int64), Tensor([4, 5, 6], dtype=int64), Tensor([2, 5], dtype=float32))
    """
    op = REGISTRY["reduce"]
    x = real_argument(op, "input", input)
    how = mode_argument(op, mode)
    axes = axes_argument(op, x.ndim, axis)
    keeps = flag_argument(op, "keep_dims", keep_dims)
    check_dtype(op, {"input": x}, x.dtype)
    exact = is_exact(op, accumulate, x.dtype)
    if exact and how not in _EXACT:
        name = how.name if isinstance(how, ReduceMode) else "your own"
        raise InvalidArgument(
            f'{op.title}: accumulate is "exact", which SUM and MEAN have; mode is {name}. Leave it '
            "out."
        )
    if isinstance(how, ReduceFunction):
        return _by_function(op, how, x, axes, keeps)
    check_mode(op, how, x.dtype)
    target = result_dtype(how, x.dtype)
    shape = reduced_shape(x.shape, axes, keeps)
    if x.size == 0:
        empty = math.prod(x.shape[a] for a in axes) == 0
        return _core.full(shape, target, identity_of(op, how, x.shape, x.dtype) if empty else 0)
    if exact:
        return exact_reduction(x, _EXACT[how], axes, shape)
    if is_logical(how):
        x = converted(x, bool_)
    elif how is ReduceMode.MEAN and x.dtype is bool_:
        x = _core.cast(x, uint8, False)
    return _core.reduce(x, int(how), axes, keeps)


def _by_function(
    op: Operator, how: ReduceFunction, x: Tensor, axes: list[int], keep_dims: bool
) -> Tensor:
    """Combine neighbours, then those pairs with theirs, as often as it takes."""
    kept = [a for a in range(x.ndim) if a not in axes]
    rest = tuple(x.shape[a] for a in kept)
    count = math.prod(x.shape[a] for a in axes)
    result: Tensor
    if count == 0:
        if how.identity is None:
            raise InvalidArgument(
                f"{op.title}: input has shape {x.shape}, and {how.name} has no identity, the "
                "result for an empty input. Give the sz.ReduceFunction one."
            )
        number = scalar_argument(op, f"the identity of {how.name}", how.identity, x.dtype)
        result = _core.full(rest, x.dtype, number)
    else:
        left = reshape(permuted(x, [*axes, *kept]), (count, *rest))
        while len(left) > 1:
            pairs = len(left) // 2
            met = how.combine(left[0 : 2 * pairs : 2], left[1 : 2 * pairs : 2])
            _check_made(op, how.name, "combine", met, (pairs, *rest))
            if met.dtype is not x.dtype:
                raise TypeMismatch(
                    f"{op.title}: combine of {how.name} returned {met.dtype} for {x.dtype}; it "
                    "must keep the dtype."
                )
            left = concat([met, left[-1:]], 0) if len(left) % 2 else met
        result = copy(left[0])
    if how.finish is not None:
        result = how.finish(result, count)
        _check_made(op, how.name, "finish", result, rest)
    return reshape(result, reduced_shape(x.shape, axes, True)) if keep_dims else result


def _check_made(op: Operator, name: str, part: str, made: Any, shape: tuple[int, ...]) -> None:
    """Raise unless a function of the user's returned a tensor of the right shape."""
    if not isinstance(made, Tensor):
        raise InvalidArgument(
            f"{op.title}: {part} of {name} returned a {type(made).__name__}; it must return a "
            "Tensor."
        )
    if made.shape != shape:
        raise InvalidArgument(
            f"{op.title}: {part} of {name} returned a tensor of shape {made.shape}; it must have "
            f"shape {shape}."
        )


@operator("7.2.13.1.4", dtypes=(*BOOL, *NUMBERS))
def reduce_bwd(
    out_grad: TensorLike,
    input: TensorLike | None = None,
    mode: ReduceMode | ReduceFunction | str = ReduceMode.SUM,
    axis: int | Sequence[int] | None = None,
    keep_dims: bool = False,
) -> Tensor:
    """Return the gradient of the input of `reduce`, in the dtype of `out_grad`.

    There is one of SUM, PROD, MEAN, MAX and MIN, and of a :class:`ReduceFunction` with `backward`.
    Elements that are the largest together share the gradient evenly; where the largest is NaN,
    those that are NaN do. `input` is what `reduce` was given, and needed, though the standard lets
    it be left out: even a SUM needs its shape.

    >>> sz.reduce_bwd(sz.tensor(1.0), sz.tensor([0.0, 2.0, 3.0]), "PROD")
    Tensor([6, 0, 0], dtype=float32)
    >>> sz.reduce_bwd(sz.tensor(1.0), sz.tensor([1.0, 3.0, 3.0]), "MAX")
    Tensor([  0, 0.5, 0.5], dtype=float32)
    """
    op = REGISTRY["reduce_bwd"]
    gradient = real_argument(op, "out_grad", out_grad)
    if input is None:
        raise InvalidArgument(
            f"{op.title}: input is missing; the gradient has its shape. Give the input of reduce."
        )
    x = real_argument(op, "input", input)
    how = mode_argument(op, mode)
    axes = axes_argument(op, x.ndim, axis)
    keeps = flag_argument(op, "keep_dims", keep_dims)
    check_dtype(op, {"input": x}, x.dtype)
    if gradient.dtype not in NUMBERS:
        raise dtype_error(op)(
            f"{op.title}: out_grad is {gradient.dtype}; a gradient is of numbers. Cast it first, "
            "for example with sz.cast(out_grad, sz.float32)."
        )
    expected = reduced_shape(x.shape, axes, keeps)
    if gradient.shape != expected:
        raise InvalidArgument(
            f"{op.title}: out_grad has shape {gradient.shape}; reduce gives shape {expected} for "
            f"an input of shape {x.shape}."
        )
    if not keeps:
        gradient = reshape(gradient, reduced_shape(x.shape, axes, True))
    if isinstance(how, ReduceMode):
        check_mode(op, how, x.dtype)
        return gradient_of(op, how, gradient, x, axes)
    if how.backward is None:
        raise InvalidArgument(
            f"{op.title}: {how.name} has no gradient. Give the sz.ReduceFunction a backward."
        )
    made = how.backward(gradient, x, tuple(axes))
    _check_made(op, how.name, "backward", made, x.shape)
    return made


@operator("7.2.13.2", dtypes=NUMBERS, fast=True)
def cumsum(input: TensorLike, axis: int = -1, dtype: DTypeLike | None = None) -> Tensor:
    """Return the cumulative sum along an axis; axis=-1 (the default) flattens the input first.

    ``x.cumsum(-1)`` is along the last axis; the first call that gives -1 for several axes warns
    (`difference_warnings`). With `dtype`, elements are converted first, as by `cast`. Integers
    wrap. Floats are summed in float64 and rounded once; before that, the error of a sum of n
    elements is at most (4 + 17 * ceil(log16(n))) * 2**-53 times the sum of their magnitudes. The
    result depends on the elements and the shape alone.

    >>> x = sz.tensor([[1, 2, 3], [4, 5, 6]])
    >>> sz.cumsum(x)
    Tensor([ 1,  3,  6, 10, 15, 21], dtype=int64)
    >>> sz.cumsum(x, axis=0, dtype=sz.float16)
    Tensor([[1, 2, 3],
            [5, 7, 9]], dtype=float16)
    """
    op = REGISTRY["cumsum"]
    x = real_argument(op, "input", input)
    along = _cumsum_axis(op, axis, x.ndim, OutOfRange)
    x = _converted(op, x, dtype)
    if along is None:
        x, along = reshape(x, (x.size,)), 0
    return _core.cumulative_sum(x, along, False)


def _cumsum_axis(op: Operator, axis: Any, ndim: int, error: type[StatusError]) -> int | None:
    """Return the axis of a cumulative sum; None if it is -1, which is all of them in one row."""
    number = integer_argument(op, "axis", axis)
    if number == -1:
        return None
    if not 0 <= number < ndim:
        allowed = f"0 to {ndim - 1}" if ndim else "no axis"
        raise error(
            f"{op.title}: axis is {shown(number)}; for {ndim} axes it is {allowed}, or -1, which "
            "flattens the input. Other negative axes are not allowed."
        )
    return number


def _converted(op: Operator, x: Tensor, target: Any) -> Tensor:
    """Return the input in the requested dtype."""
    if target is None:
        check_dtype(op, {"input": x}, x.dtype)
        return x
    wanted = dtype_named(op, target)
    known = wanted in op.dtypes and x.dtype.kind in NUMERIC_KINDS
    if not known or kind_rank(x.dtype.kind) > kind_rank(wanted.kind):
        raise TypeMismatch(
            f"{op.title}: input is {x.dtype} and dtype is {wanted}, which cannot represent it; "
            "use an integer, floating-point or complex dtype of the same or a higher kind, or cast "
            "the input first, with sz.cast."
        )
    return converted(x, wanted)


@operator("7.2.13.2.4", dtypes=NUMBERS)
def cumsum_bwd(
    out_grad: TensorLike, axis: int = -1, input_shape: Sequence[int] | None = None
) -> Tensor:
    """Return the gradient of the input of `cumsum`: the sums from the last element down to each.

    For axis -1, `input_shape` is the shape of that input, which its result does not tell; without
    it, the gradient is one row, too.

    >>> sz.cumsum_bwd(sz.tensor([1.0, 2.0, 3.0, 4.0]), input_shape=(2, 2))
    Tensor([[10,  9],
            [ 7,  4]], dtype=float32)
    """
    op = REGISTRY["cumsum_bwd"]
    gradient = real_argument(op, "out_grad", out_grad)
    check_dtype(op, {"out_grad": gradient}, gradient.dtype)
    along = _cumsum_axis(op, axis, gradient.ndim, InvalidArgument)
    shape = None if input_shape is None else shape_argument(op, "input_shape", input_shape)
    if along is None and gradient.ndim != 1:
        raise InvalidArgument(
            f"{op.title}: out_grad has shape {gradient.shape}; for axis -1 it must be a vector, "
            "like the result of cumsum."
        )
    fits = shape is None or (
        math.prod(shape) == gradient.size if along is None else shape == gradient.shape
    )
    if not fits:
        raise InvalidArgument(
            f"{op.title}: input_shape is {shape}, and out_grad has shape {gradient.shape}, which "
            "is not the shape of its cumsum."
        )
    made = _core.cumulative_sum(gradient, along or 0, True)
    return made if shape is None else reshape(made, shape)
