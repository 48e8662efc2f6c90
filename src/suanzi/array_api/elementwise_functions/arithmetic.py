"""Sums, products, quotients, remainders, the larger and the smaller."""

from __future__ import annotations

from suanzi.array_api.declare import FLOATING, NUMBERS, REALS, elementwise
from suanzi.registry import ARITHMETIC, FLOATS, REAL_FUNCTION, TRUE_DIVISION
from suanzi.tensors.tensor import Tensor, TensorLike

__all__ = [
    "abs",
    "add",
    "copysign",
    "divide",
    "floor_divide",
    "maximum",
    "minimum",
    "multiply",
    "negative",
    "nextafter",
    "reciprocal",
    "remainder",
    "sign",
    "subtract",
]


@elementwise("abs", dtypes=NUMBERS, promotes=ARITHMETIC, ulp=1, symbol="abs")
def abs(x: Tensor, /) -> Tensor:
    """Return the magnitude of each element; that of a complex tensor is real."""
    raise NotImplementedError


@elementwise("add", dtypes=NUMBERS, promotes=ARITHMETIC, symbol="add")
def add(x1: TensorLike, x2: TensorLike, /) -> Tensor:
    """Return x1 + x2, element by element.

    >>> import suanzi as sz
    >>> xp = sz.array_api
    >>> xp.add(xp.asarray([1, 2], dtype=xp.int8), xp.asarray([0.5, 0.5], dtype=xp.bfloat16))
    Tensor([1.5, 2.5], dtype=bfloat16)
    """
    raise NotImplementedError


@elementwise("extended:copysign", dtypes=FLOATS, promotes=REAL_FUNCTION)
def copysign(x1: TensorLike, x2: TensorLike, /) -> Tensor:
    """Return the magnitude of x1 with the sign of x2, that of a zero or a NaN, too."""
    raise NotImplementedError


@elementwise("div", dtypes=FLOATING, promotes=TRUE_DIVISION, symbol="true_divide")
def divide(x1: TensorLike, x2: TensorLike, /) -> Tensor:
    """Return x1 / x2 in floating-point: float64 for integers of 64 bits, else float32."""
    raise NotImplementedError


@elementwise("extended:floordiv", dtypes=REALS, promotes=ARITHMETIC, symbol="floordiv")
def floor_divide(x1: TensorLike, x2: TensorLike, /) -> Tensor:
    """Return the floor of x1 / x2; an integer zero divisor is an error.

    Of a number and infinity it is a zero, whatever their signs are.
    """
    raise NotImplementedError


@elementwise("max", dtypes=REALS, promotes=ARITHMETIC)
def maximum(x1: TensorLike, x2: TensorLike, /) -> Tensor:
    """Return the larger of x1 and x2, element by element; NaN wins."""
    raise NotImplementedError


@elementwise("min", dtypes=REALS, promotes=ARITHMETIC)
def minimum(x1: TensorLike, x2: TensorLike, /) -> Tensor:
    """Return the smaller of x1 and x2, element by element; NaN wins."""
    raise NotImplementedError


@elementwise("mul", dtypes=NUMBERS, promotes=ARITHMETIC, symbol="mul")
def multiply(x1: TensorLike, x2: TensorLike, /) -> Tensor:
    """Return x1 * x2, element by element."""
    raise NotImplementedError


@elementwise("negative", dtypes=NUMBERS, promotes=ARITHMETIC, symbol="negative")
def negative(x: Tensor, /) -> Tensor:
    """Return -x; unsigned integers wrap."""
    raise NotImplementedError


@elementwise("extended:nextafter", dtypes=FLOATS, promotes=REAL_FUNCTION)
def nextafter(x1: TensorLike, x2: TensorLike, /) -> Tensor:
    """Return the number next to x1 on the way to x2, in their dtype.

    >>> import suanzi as sz
    >>> xp = sz.array_api
    >>> xp.nextafter(xp.asarray([1.0], dtype=xp.bfloat16), 2.0).item()
    1.0078125
    """
    raise NotImplementedError


@elementwise("reciprocal", dtypes=FLOATING, promotes=TRUE_DIVISION)
def reciprocal(x: Tensor, /) -> Tensor:
    """Return 1 / x in floating-point."""
    raise NotImplementedError


@elementwise("mod", dtypes=REALS, promotes=ARITHMETIC, symbol="mod")
def remainder(x1: TensorLike, x2: TensorLike, /) -> Tensor:
    """Return the remainder of x1 / x2 with the sign of x2; an integer zero divisor is an error."""
    raise NotImplementedError


@elementwise("extended:sign", dtypes=NUMBERS, promotes=ARITHMETIC)
def sign(x: Tensor, /) -> Tensor:
    """Return -1, 0 or 1; of a complex number, it by its magnitude."""
    raise NotImplementedError


@elementwise("sub", dtypes=NUMBERS, promotes=ARITHMETIC, symbol="sub")
def subtract(x1: TensorLike, x2: TensorLike, /) -> Tensor:
    """Return x1 - x2, element by element."""
    raise NotImplementedError
