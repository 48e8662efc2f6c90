"""7.2.4: arithmetic."""

from __future__ import annotations

from builtins import max as max_
from builtins import min as min_
from collections.abc import Sequence

from suanzi import _core
from suanzi.base.status import InvalidArgument
from suanzi.ops.calling.arguments import real_argument
from suanzi.ops.calling.declare import declare_symbol, operator
from suanzi.ops.calling.elementwise import check_dtype
from suanzi.ops.calling.scalars import axis_argument, integer_argument, shape_argument
from suanzi.promote.registry import (
    ARITHMETIC,
    COMPLEX,
    FLOATS,
    NUMBERS,
    REALS,
    REGISTRY,
    TRUE_DIVISION,
    Operator,
)
from suanzi.tensors.parts import zeros
from suanzi.tensors.tensor import Tensor, TensorLike


@operator("7.2.4.1", dtypes=NUMBERS, kernel="add", ulp=0.5, promotes=ARITHMETIC)
def add(x: TensorLike, y: TensorLike) -> Tensor:
    """Return x + y, element by element.

    >>> sz.add(sz.tensor([1, 2], sz.int8), sz.tensor([0.5, 0.5], sz.float16))
    Tensor([1.5, 2.5], dtype=float16)
    """


@operator("7.2.4.2", dtypes=NUMBERS, kernel="sub", ulp=0.5, promotes=ARITHMETIC)
def sub(x: TensorLike, y: TensorLike) -> Tensor:
    """Return x - y, element by element.

    >>> sz.sub(sz.tensor([5, 2], sz.uint8), 3)
    Tensor([  2, 255], dtype=uint8)
    """


@operator("7.2.4.3", dtypes=NUMBERS, kernel="mul", ulp=0.5, promotes=ARITHMETIC)
def mul(x: TensorLike, y: TensorLike) -> Tensor:
    """Return x * y, element by element.

    >>> sz.mul(sz.tensor([[1], [2]]), sz.tensor([3, 4]))
    Tensor([[3, 4],
            [6, 8]], dtype=int64)
    """


@operator("7.2.4.4", dtypes=NUMBERS, kernel="muladd", ulp=1, promotes=ARITHMETIC)
def muladd(x: TensorLike, y: TensorLike, a: TensorLike) -> Tensor:
    """Return x * y + a, element by element; the product and the sum are each rounded.

    Dtypes narrower than float32 round once, at the end.

    >>> sz.muladd(sz.tensor([1.5, 2.5]), sz.tensor([2, 4]), 0.5)
    Tensor([ 3.5, 10.5], dtype=float32)
    """


@operator("7.2.4.5", dtypes=NUMBERS, kernel="div", ulp=0.5, promotes=ARITHMETIC)
def div(x: TensorLike, y: TensorLike) -> Tensor:
    """Return x / y: integers round towards zero, floats follow IEEE 754.

    An integer zero divisor is an error; `true_divide` gives floating-point for integers, too.

    >>> sz.div(sz.tensor([7, -7]), 2), sz.div(sz.tensor([1.0, -1.0]), 0)
    (Tensor([ 3, -3], dtype=int64), Tensor([ inf, -inf], dtype=float32))
    """


@operator("7.2.4.6", dtypes=REALS, kernel="floordiv", ulp=0.5, promotes=ARITHMETIC)
def floordiv(x: TensorLike, y: TensorLike) -> Tensor:
    """Return the floor of x / y.

    >>> sz.floordiv(sz.tensor([7, -7]), 2)
    Tensor([ 3, -4], dtype=int64)
    """


@operator("7.2.4.7", dtypes=(*FLOATS, *COMPLEX), kernel="div", ulp=0.5, promotes=TRUE_DIVISION)
def true_divide(x: TensorLike, y: TensorLike) -> Tensor:
    """Return x / y in floating-point for all dtypes.

    >>> sz.true_divide(sz.tensor([2, 3]), sz.tensor([1, 5]))
    Tensor([  2, 0.6], dtype=float32)
    """


@operator("7.2.4.8", dtypes=REALS, kernel="mod", ulp=0.5, promotes=ARITHMETIC)
def mod(x: TensorLike, y: TensorLike) -> Tensor:
    """Return the remainder of x / y with the sign of y: x = floordiv(x, y) * y + mod(x, y).

    >>> sz.mod(sz.tensor([7, -7]), 3)
    Tensor([1, 2], dtype=int64)
    """


@operator("7.2.4.9", dtypes=REALS, kernel="max", ulp=0.5, promotes=ARITHMETIC)
def max(x: TensorLike, y: TensorLike) -> Tensor:
    """Return the larger of x and y, element by element; NaN wins.

    >>> sz.max(sz.tensor([2, 3, 4]), sz.tensor([1, 5, 2]))
    Tensor([2, 5, 4], dtype=int64)
    """


@operator("7.2.4.10", dtypes=REALS, kernel="min", ulp=0.5, promotes=ARITHMETIC)
def min(x: TensorLike, y: TensorLike) -> Tensor:
    """Return the smaller of x and y, element by element; NaN wins.

    >>> sz.min(sz.tensor([2, 3, 4]), sz.tensor([1, 5, 2]))
    Tensor([1, 3, 2], dtype=int64)
    """


@operator("7.2.4.11", dtypes=NUMBERS, kernel="abs", ulp=1, promotes=ARITHMETIC)
def abs(x: TensorLike) -> Tensor:
    """Return the magnitude of x; that of a complex tensor is real.

    The most negative integer, which has no opposite, stays as it is.

    >>> sz.abs(sz.tensor([3 + 4j]))
    Tensor([5], dtype=float32)
    """


@operator(
    "7.2.4.12", dtypes=(*FLOATS, *COMPLEX), kernel="reciprocal", ulp=0.5, promotes=TRUE_DIVISION
)
def reciprocal(x: TensorLike) -> Tensor:
    """Return 1 / x in floating-point.

    >>> sz.reciprocal(sz.tensor([-1, 2, -4]))
    Tensor([   -1,   0.5, -0.25], dtype=float32)
    """


def _negative(x: Tensor) -> Tensor:
    """Return -x; the standard has no operator for it, but Python has."""


declare_symbol("negative", _negative, dtypes=NUMBERS, kernel="negative")


@operator("7.2.4.13", dtypes=NUMBERS, promotes=ARITHMETIC)
def trace(x: TensorLike, offset: int = 0, dim0: int = 0, dim1: int = 1) -> Tensor:
    """Return the sum along the diagonal of two axes.

    `offset` moves the diagonal: up and to the right if it is positive. Integers wrap; float16,
    bfloat16 and float8 are summed in float32.

    >>> x = sz.tensor([[[1, 2, 3], [4, 5, 6]], [[1, 2, 3], [4, 5, 6]]])
    >>> sz.trace(x)
    Tensor([5, 7, 9], dtype=int64)
    """
    op = REGISTRY["trace"]
    x = real_argument(op, "x", x)
    check_dtype(op, {"x": x}, x.dtype)
    first, second = diagonal_axes(op, x.shape, dim0, dim1)
    along = diagonal(x, integer_argument(op, "offset", offset), first, second)
    if along.size == 0:
        return zeros(along.shape[:-1], x.dtype)
    return _core.reduce(along, 0, [along.ndim - 1], False)


@operator("7.2.4.13.4", dtypes=NUMBERS)
def trace_backward(
    grad_y: TensorLike, input_shape: Sequence[int], offset: int = 0, dim0: int = 0, dim1: int = 1
) -> Tensor:
    """Return the gradient of `trace`: `grad_y` along the diagonal of a tensor of zeros.

    `input_shape` is the shape of the input of `trace`, which its result does not tell.

    >>> sz.trace_backward(sz.tensor(2.5), (2, 3))
    Tensor([[2.5,   0,   0],
            [  0, 2.5,   0]], dtype=float32)
    """
    op = REGISTRY["trace_backward"]
    grad_y = real_argument(op, "grad_y", grad_y)
    check_dtype(op, {"grad_y": grad_y}, grad_y.dtype)
    shape = shape_argument(op, "input_shape", input_shape)
    first, second = diagonal_axes(op, shape, dim0, dim1)
    rest = tuple(n for axis, n in enumerate(shape) if axis not in (first, second))
    if grad_y.shape != rest:
        raise InvalidArgument(
            f"{op.title}: grad_y has shape {grad_y.shape}; for an input of shape {shape} it must "
            f"have shape {rest}."
        )
    gradient = zeros(shape, grad_y.dtype)
    along = diagonal(gradient, integer_argument(op, "offset", offset), first, second)
    _core.copy_into(along, _core.view(grad_y, grad_y.offset, (*rest, 1), (*grad_y.strides, 0)))
    return gradient


def diagonal_axes(op: Operator, shape: tuple[int, ...], dim0: int, dim1: int) -> tuple[int, int]:
    """Return the two axes of the planes whose diagonals are meant."""
    if len(shape) < 2:
        raise InvalidArgument(f"{op.title}: the input has shape {shape}; it must have two axes.")
    first, second = (
        axis_argument(op, name, axis, len(shape)) for name, axis in (("dim0", dim0), ("dim1", dim1))
    )
    if first == second:
        raise InvalidArgument(f"{op.title}: dim0 and dim1 are both {first}; a plane has two axes.")
    return first, second


def diagonal(x: Tensor, offset: int, first: int, second: int) -> Tensor:
    """Return a view of the diagonals of planes, along a last axis of its own."""
    rows, columns = x.shape[first], x.shape[second]
    length = max_(0, min_(rows + min_(offset, 0), columns - max_(offset, 0)))
    start = max_(-offset, 0) * x.strides[first] + max_(offset, 0) * x.strides[second]
    kept = [axis for axis in range(x.ndim) if axis not in (first, second)]
    return _core.view(
        x,
        x.offset + (start if length else 0),
        [*(x.shape[a] for a in kept), length],
        [*(x.strides[a] for a in kept), x.strides[first] + x.strides[second]],
    )
