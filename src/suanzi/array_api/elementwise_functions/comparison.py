"""Comparisons and questions; each gives bool."""

from __future__ import annotations

from suanzi.array_api.declare import EVERY, REALS, elementwise
from suanzi.promote.operators import OperatorClass
from suanzi.registry import BOOL, COMPARISON, FLOATS
from suanzi.tensors.tensor import Tensor, TensorLike

ANY = OperatorClass.ANY
ORDERED = (*BOOL, *REALS)

__all__ = [
    "equal",
    "greater",
    "greater_equal",
    "isfinite",
    "isinf",
    "isnan",
    "less",
    "less_equal",
    "not_equal",
    "signbit",
]


@elementwise("equal", dtypes=EVERY, promotes=COMPARISON, symbol="equal")
def equal(x1: TensorLike, x2: TensorLike, /) -> Tensor:
    """Return whether x1 equals x2, element by element."""
    raise NotImplementedError


@elementwise("greater", dtypes=ORDERED, promotes=COMPARISON, symbol="greater")
def greater(x1: TensorLike, x2: TensorLike, /) -> Tensor:
    """Return whether x1 is above x2, element by element."""
    raise NotImplementedError


@elementwise("greater_equal", dtypes=ORDERED, promotes=COMPARISON, symbol="greater_equal")
def greater_equal(x1: TensorLike, x2: TensorLike, /) -> Tensor:
    """Return whether x1 is not below x2, element by element."""
    raise NotImplementedError


@elementwise("is_finite", dtypes=EVERY, promotes=ANY)
def isfinite(x: Tensor, /) -> Tensor:
    """Tell of each element whether it is neither infinite nor NaN."""
    raise NotImplementedError


@elementwise("is_inf", dtypes=EVERY, promotes=ANY)
def isinf(x: Tensor, /) -> Tensor:
    """Tell of each element whether it is infinite; a complex one is if either part is."""
    raise NotImplementedError


@elementwise("is_nan", dtypes=EVERY, promotes=ANY)
def isnan(x: Tensor, /) -> Tensor:
    """Tell of each element whether it is NaN; a complex one is if either part is."""
    raise NotImplementedError


@elementwise("less", dtypes=ORDERED, promotes=COMPARISON, symbol="less")
def less(x1: TensorLike, x2: TensorLike, /) -> Tensor:
    """Return whether x1 is below x2, element by element."""
    raise NotImplementedError


@elementwise("less_equal", dtypes=ORDERED, promotes=COMPARISON, symbol="less_equal")
def less_equal(x1: TensorLike, x2: TensorLike, /) -> Tensor:
    """Return whether x1 is not above x2, element by element."""
    raise NotImplementedError


@elementwise("not_equal", dtypes=EVERY, promotes=COMPARISON, symbol="not_equal")
def not_equal(x1: TensorLike, x2: TensorLike, /) -> Tensor:
    """Return whether x1 differs from x2, element by element."""
    raise NotImplementedError


@elementwise("extended:signbit", dtypes=FLOATS, promotes=ANY)
def signbit(x: Tensor, /) -> Tensor:
    """Tell of each element whether its sign bit is set, that of -0 and of a NaN, too."""
    raise NotImplementedError
