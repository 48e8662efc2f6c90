"""7.2.11: hyperbolic functions. Integers become floating-point."""

from __future__ import annotations

from suanzi.ops.calling.declare import operator
from suanzi.promote.registry import FLOATS, REAL_FUNCTION
from suanzi.tensors.tensor import Tensor, TensorLike


@operator("7.2.11.1", dtypes=FLOATS, kernel="sinh", ulp=3, promotes=REAL_FUNCTION)
def sinh(x: TensorLike) -> Tensor:
    """Return the hyperbolic sine of x.

    >>> sz.sinh(sz.tensor([0, 1], sz.float16))
    Tensor([    0, 1.175], dtype=float16)
    """


@operator("7.2.11.2", dtypes=FLOATS, kernel="cosh", ulp=3, promotes=REAL_FUNCTION)
def cosh(x: TensorLike) -> Tensor:
    """Return the hyperbolic cosine of x.

    >>> sz.cosh(sz.tensor([0, 1], sz.float16))
    Tensor([    1, 1.543], dtype=float16)
    """


@operator("7.2.11.3", dtypes=FLOATS, kernel="tanh", ulp=3, promotes=REAL_FUNCTION)
def tanh(x: TensorLike) -> Tensor:
    """Return the hyperbolic tangent of x.

    >>> sz.tanh(sz.tensor([0, 1, -1], sz.float16))
    Tensor([      0,  0.7617, -0.7617], dtype=float16)
    """


@operator("7.2.11.4", dtypes=FLOATS, kernel="asinh", ulp=3, promotes=REAL_FUNCTION)
def asinh(x: TensorLike) -> Tensor:
    """Return the number whose hyperbolic sine is x.

    >>> sz.asinh(sz.tensor([0, 1], sz.float16))
    Tensor([     0, 0.8813], dtype=float16)
    """


@operator("7.2.11.5", dtypes=FLOATS, kernel="acosh", ulp=3, domain="x >= 1", promotes=REAL_FUNCTION)
def acosh(x: TensorLike) -> Tensor:
    """Return the nonnegative number whose hyperbolic cosine is x; NaN below 1.

    >>> sz.acosh(sz.tensor([1, 2], sz.float16))
    Tensor([    0, 1.317], dtype=float16)
    """


@operator(
    "7.2.11.6", dtypes=FLOATS, kernel="atanh", ulp=3, domain="-1 <= x <= 1", promotes=REAL_FUNCTION
)
def atanh(x: TensorLike) -> Tensor:
    """Return the number whose hyperbolic tangent is x; infinite at -1 and 1, NaN outside.

    >>> sz.atanh(sz.tensor([0, 0.5, 1], sz.float16))
    Tensor([     0, 0.5493,    inf], dtype=float16)
    """
