"""Exponentials, logarithms, powers and roots. Integers become floating-point."""

from __future__ import annotations

from suanzi.array_api.declare import FLOATING, NUMBERS, elementwise
from suanzi.registry import ARITHMETIC, FLOATS, REAL_FUNCTION
from suanzi.tensors.tensor import Tensor, TensorLike

__all__ = [
    "exp",
    "expm1",
    "log",
    "log1p",
    "log2",
    "log10",
    "logaddexp",
    "pow",
    "sqrt",
    "square",
]


@elementwise("extended:exp", dtypes=FLOATING, promotes=REAL_FUNCTION, ulp=1)
def exp(x: Tensor, /) -> Tensor:
    """Return e to the power x."""
    raise NotImplementedError


@elementwise("extended:expm1", dtypes=FLOATING, promotes=REAL_FUNCTION, ulp=1)
def expm1(x: Tensor, /) -> Tensor:
    """Return e to the power x, minus 1; near 0 as accurate as anywhere."""
    raise NotImplementedError


@elementwise("extended:log", dtypes=FLOATING, promotes=REAL_FUNCTION, ulp=1)
def log(x: Tensor, /) -> Tensor:
    """Return the natural logarithm of x; of a complex number the one with an angle within pi.

    >>> import suanzi as sz
    >>> xp = sz.array_api
    >>> xp.log(xp.asarray([-1 + 0j], dtype=xp.complex128)).item()
    3.141592653589793j
    """
    raise NotImplementedError


@elementwise("extended:log1p", dtypes=FLOATING, promotes=REAL_FUNCTION, ulp=1)
def log1p(x: Tensor, /) -> Tensor:
    """Return the natural logarithm of 1 + x; near 0 as accurate as anywhere."""
    raise NotImplementedError


@elementwise("extended:log2", dtypes=FLOATING, promotes=REAL_FUNCTION, ulp=1)
def log2(x: Tensor, /) -> Tensor:
    """Return the logarithm of x to base 2."""
    raise NotImplementedError


@elementwise("extended:log10", dtypes=FLOATING, promotes=REAL_FUNCTION, ulp=1)
def log10(x: Tensor, /) -> Tensor:
    """Return the logarithm of x to base 10."""
    raise NotImplementedError


@elementwise("extended:logaddexp", dtypes=FLOATS, promotes=REAL_FUNCTION, ulp=4)
def logaddexp(x1: TensorLike, x2: TensorLike, /) -> Tensor:
    """Return log(exp(x1) + exp(x2)), without the overflow of either.

    >>> import suanzi as sz
    >>> xp = sz.array_api
    >>> xp.logaddexp(xp.asarray([1000.0, -xp.inf]), xp.asarray([1000.0, 2.0]))
    Tensor([1000.6932,         2], dtype=float32)
    """
    raise NotImplementedError


@elementwise("extended:pow", dtypes=NUMBERS, promotes=ARITHMETIC, ulp=3, symbol="pow")
def pow(x1: TensorLike, x2: TensorLike, /) -> Tensor:
    """Return x1 to the power x2, element by element.

    Integers stay integers, modulo 2^n; an exponent below 0 is an error there.

    >>> import suanzi as sz
    >>> xp = sz.array_api
    >>> xp.pow(xp.asarray([2, 3, -3], dtype=xp.int8), 3)
    Tensor([  8,  27, -27], dtype=int8)
    >>> xp.pow(xp.asarray([1 + 2j]), 2)
    Tensor([-3+4j], dtype=complex64)
    """
    raise NotImplementedError


@elementwise("extended:sqrt", dtypes=FLOATING, promotes=REAL_FUNCTION, ulp=1)
def sqrt(x: Tensor, /) -> Tensor:
    """Return the square root of x."""
    raise NotImplementedError


@elementwise("extended:square", dtypes=NUMBERS, promotes=ARITHMETIC)
def square(x: Tensor, /) -> Tensor:
    """Return x * x; integers wrap."""
    raise NotImplementedError
