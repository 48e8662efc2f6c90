"""Trigonometric and hyperbolic functions, and their inverses. Integers become floating-point."""

from __future__ import annotations

from suanzi.array_api.declare import FLOATING, elementwise
from suanzi.registry import FLOATS, REAL_FUNCTION
from suanzi.tensors.tensor import Tensor, TensorLike

__all__ = [
    "acos",
    "acosh",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "cos",
    "cosh",
    "hypot",
    "sin",
    "sinh",
    "tan",
    "tanh",
]


@elementwise("extended:acos", dtypes=FLOATING, promotes=REAL_FUNCTION, ulp=2)
def acos(x: Tensor, /) -> Tensor:
    """Return the arc cosine of x."""
    raise NotImplementedError


@elementwise("extended:acosh", dtypes=FLOATING, promotes=REAL_FUNCTION, ulp=2)
def acosh(x: Tensor, /) -> Tensor:
    """Return the inverse hyperbolic cosine of x."""
    raise NotImplementedError


@elementwise("extended:asin", dtypes=FLOATING, promotes=REAL_FUNCTION, ulp=2)
def asin(x: Tensor, /) -> Tensor:
    """Return the arc sine of x."""
    raise NotImplementedError


@elementwise("extended:asinh", dtypes=FLOATING, promotes=REAL_FUNCTION, ulp=2)
def asinh(x: Tensor, /) -> Tensor:
    """Return the inverse hyperbolic sine of x."""
    raise NotImplementedError


@elementwise("extended:atan", dtypes=FLOATING, promotes=REAL_FUNCTION, ulp=2)
def atan(x: Tensor, /) -> Tensor:
    """Return the arc tangent of x."""
    raise NotImplementedError


@elementwise("extended:atan2", dtypes=FLOATS, promotes=REAL_FUNCTION, ulp=2.5)
def atan2(x1: TensorLike, x2: TensorLike, /) -> Tensor:
    """Return the angle of the point (x2, x1) with the first axis, from -pi to pi.

    >>> import suanzi as sz
    >>> xp = sz.array_api
    >>> xp.atan2(xp.asarray([1.0, -0.0]), xp.asarray([1.0, -1.0]))
    Tensor([ 0.7853982, -3.1415927], dtype=float32)
    """
    raise NotImplementedError


@elementwise("extended:atanh", dtypes=FLOATING, promotes=REAL_FUNCTION, ulp=2)
def atanh(x: Tensor, /) -> Tensor:
    """Return the inverse hyperbolic tangent of x."""
    raise NotImplementedError


@elementwise("extended:cos", dtypes=FLOATING, promotes=REAL_FUNCTION, ulp=2)
def cos(x: Tensor, /) -> Tensor:
    """Return the cosine of x."""
    raise NotImplementedError


@elementwise("extended:cosh", dtypes=FLOATING, promotes=REAL_FUNCTION, ulp=2)
def cosh(x: Tensor, /) -> Tensor:
    """Return the hyperbolic cosine of x."""
    raise NotImplementedError


@elementwise("extended:hypot", dtypes=FLOATS, promotes=REAL_FUNCTION, ulp=1)
def hypot(x1: TensorLike, x2: TensorLike, /) -> Tensor:
    """Return the square root of x1 * x1 + x2 * x2, without their overflow or underflow."""
    raise NotImplementedError


@elementwise("extended:sin", dtypes=FLOATING, promotes=REAL_FUNCTION, ulp=2)
def sin(x: Tensor, /) -> Tensor:
    """Return the sine of x."""
    raise NotImplementedError


@elementwise("extended:sinh", dtypes=FLOATING, promotes=REAL_FUNCTION, ulp=2)
def sinh(x: Tensor, /) -> Tensor:
    """Return the hyperbolic sine of x."""
    raise NotImplementedError


@elementwise("extended:tan", dtypes=FLOATING, promotes=REAL_FUNCTION, ulp=2)
def tan(x: Tensor, /) -> Tensor:
    """Return the tangent of x."""
    raise NotImplementedError


@elementwise("extended:tanh", dtypes=FLOATING, promotes=REAL_FUNCTION, ulp=2)
def tanh(x: Tensor, /) -> Tensor:
    """Return the hyperbolic tangent of x."""
    raise NotImplementedError
