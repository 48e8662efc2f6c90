"""Exponentials, logarithms, powers and roots. Integers become floating-point."""

from __future__ import annotations

from suanzi.array_api.declare import FLOATS, elementwise
from suanzi.registry import REAL_FUNCTION
from suanzi.tensors.tensor import Tensor, TensorLike

__all__ = [
    "exp",
    "expm1",
    "log",
    "log1p",
    "log2",
    "log10",
    "pow",
    "sqrt",
    "square",
]


@elementwise("exp", dtypes=FLOATS, promotes=REAL_FUNCTION, ulp=1)
def exp(x: Tensor, /) -> Tensor:
    """Return e to the power x."""
    raise NotImplementedError


@elementwise("expm1", dtypes=FLOATS, promotes=REAL_FUNCTION, ulp=1)
def expm1(x: Tensor, /) -> Tensor:
    """Return e to the power x, minus 1; near 0 as accurate as anywhere."""
    raise NotImplementedError


@elementwise("log", dtypes=FLOATS, promotes=REAL_FUNCTION, ulp=1)
def log(x: Tensor, /) -> Tensor:
    """Return the natural logarithm of x."""
    raise NotImplementedError


@elementwise("log1p", dtypes=FLOATS, promotes=REAL_FUNCTION, ulp=1)
def log1p(x: Tensor, /) -> Tensor:
    """Return the natural logarithm of 1 + x; near 0 as accurate as anywhere."""
    raise NotImplementedError


@elementwise("log2", dtypes=FLOATS, promotes=REAL_FUNCTION, ulp=1)
def log2(x: Tensor, /) -> Tensor:
    """Return the logarithm of x to base 2."""
    raise NotImplementedError


@elementwise("log10", dtypes=FLOATS, promotes=REAL_FUNCTION, ulp=1)
def log10(x: Tensor, /) -> Tensor:
    """Return the logarithm of x to base 10."""
    raise NotImplementedError


@elementwise("pow", dtypes=FLOATS, promotes=REAL_FUNCTION, ulp=3, symbol="pow")
def pow(x1: TensorLike, x2: TensorLike, /) -> Tensor:
    """Return x1 to the power x2, element by element."""
    raise NotImplementedError


@elementwise("sqrt", dtypes=FLOATS, promotes=REAL_FUNCTION)
def sqrt(x: Tensor, /) -> Tensor:
    """Return the square root of x."""
    raise NotImplementedError


@elementwise("square", dtypes=FLOATS, promotes=REAL_FUNCTION)
def square(x: Tensor, /) -> Tensor:
    """Return x * x."""
    raise NotImplementedError
