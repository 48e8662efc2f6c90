"""7.2.8: powers and roots. Integers become floating-point."""

from __future__ import annotations

from suanzi.ops.calling.declare import operator
from suanzi.promote.registry import FLOATS, REAL_FUNCTION
from suanzi.tensors.tensor import Tensor, TensorLike


@operator("7.2.8.1", dtypes=FLOATS, kernel="pow", ulp=3, promotes=REAL_FUNCTION)
def pow(x: TensorLike, e: TensorLike) -> Tensor:
    """Return x to the power e, element by element.

    >>> sz.pow(sz.tensor([1, 2, 3]), sz.tensor([1, 2, 3]))
    Tensor([ 1,  4, 27], dtype=float32)
    """


@operator("7.2.8.2", dtypes=FLOATS, kernel="sqrt", ulp=0.5, domain="x >= 0", promotes=REAL_FUNCTION)
def sqrt(x: TensorLike) -> Tensor:
    """Return the square root of x; NaN below zero.

    >>> sz.sqrt(sz.tensor([4, 9, 16]))
    Tensor([2, 3, 4], dtype=float32)
    """


@operator("7.2.8.3", dtypes=FLOATS, kernel="rsqrt", ulp=2, domain="x >= 0", promotes=REAL_FUNCTION)
def rsqrt(x: TensorLike) -> Tensor:
    """Return 1 / sqrt(x); infinity at zero, with its sign, and NaN below.

    >>> sz.rsqrt(sz.tensor([4, 16, 25]))
    Tensor([ 0.5, 0.25,  0.2], dtype=float32)
    """


@operator("7.2.8.4", dtypes=FLOATS, kernel="square", ulp=0.5, promotes=REAL_FUNCTION)
def square(x: TensorLike) -> Tensor:
    """Return x * x.

    >>> sz.square(sz.tensor([2, 3, 4]))
    Tensor([ 4,  9, 16], dtype=float32)
    """
