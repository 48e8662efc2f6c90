"""Trigonometric and hyperbolic functions, and their inverses. Integers become floating-point."""

from __future__ import annotations

from suanzi.array_api.declare import FLOATS, elementwise
from suanzi.registry import REAL_FUNCTION
from suanzi.tensors.tensor import Tensor

__all__ = [
    "acos",
    "acosh",
    "asin",
    "asinh",
    "atan",
    "atanh",
    "cos",
    "cosh",
    "sin",
    "sinh",
    "tan",
    "tanh",
]


@elementwise("acos", dtypes=FLOATS, promotes=REAL_FUNCTION, ulp=2)
def acos(x: Tensor, /) -> Tensor:
    """Return the arc cosine of x."""
    raise NotImplementedError


@elementwise("acosh", dtypes=FLOATS, promotes=REAL_FUNCTION, ulp=2)
def acosh(x: Tensor, /) -> Tensor:
    """Return the inverse hyperbolic cosine of x."""
    raise NotImplementedError


@elementwise("asin", dtypes=FLOATS, promotes=REAL_FUNCTION, ulp=2)
def asin(x: Tensor, /) -> Tensor:
    """Return the arc sine of x."""
    raise NotImplementedError


@elementwise("asinh", dtypes=FLOATS, promotes=REAL_FUNCTION, ulp=2)
def asinh(x: Tensor, /) -> Tensor:
    """Return the inverse hyperbolic sine of x."""
    raise NotImplementedError


@elementwise("atan", dtypes=FLOATS, promotes=REAL_FUNCTION, ulp=2)
def atan(x: Tensor, /) -> Tensor:
    """Return the arc tangent of x."""
    raise NotImplementedError


@elementwise("atanh", dtypes=FLOATS, promotes=REAL_FUNCTION, ulp=2)
def atanh(x: Tensor, /) -> Tensor:
    """Return the inverse hyperbolic tangent of x."""
    raise NotImplementedError


@elementwise("cos", dtypes=FLOATS, promotes=REAL_FUNCTION, ulp=2)
def cos(x: Tensor, /) -> Tensor:
    """Return the cosine of x."""
    raise NotImplementedError


@elementwise("cosh", dtypes=FLOATS, promotes=REAL_FUNCTION, ulp=2)
def cosh(x: Tensor, /) -> Tensor:
    """Return the hyperbolic cosine of x."""
    raise NotImplementedError


@elementwise("sin", dtypes=FLOATS, promotes=REAL_FUNCTION, ulp=2)
def sin(x: Tensor, /) -> Tensor:
    """Return the sine of x."""
    raise NotImplementedError


@elementwise("sinh", dtypes=FLOATS, promotes=REAL_FUNCTION, ulp=2)
def sinh(x: Tensor, /) -> Tensor:
    """Return the hyperbolic sine of x."""
    raise NotImplementedError


@elementwise("tan", dtypes=FLOATS, promotes=REAL_FUNCTION, ulp=2)
def tan(x: Tensor, /) -> Tensor:
    """Return the tangent of x."""
    raise NotImplementedError


@elementwise("tanh", dtypes=FLOATS, promotes=REAL_FUNCTION, ulp=2)
def tanh(x: Tensor, /) -> Tensor:
    """Return the hyperbolic tangent of x."""
    raise NotImplementedError
