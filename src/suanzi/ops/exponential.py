"""7.2.12: exponentials and logarithms. Integers become floating-point."""

from __future__ import annotations

from suanzi.ops.calling.declare import operator
from suanzi.promote.registry import FLOATS, REAL_FUNCTION
from suanzi.tensors.tensor import Tensor, TensorLike


@operator("7.2.12.1", dtypes=FLOATS, kernel="exp", ulp=3, promotes=REAL_FUNCTION)
def exp(x: TensorLike) -> Tensor:
    """Return e to the power x.

    >>> sz.exp(sz.tensor([0, 1], sz.float16))
    Tensor([    1, 2.719], dtype=float16)
    """


@operator("7.2.12.2", dtypes=FLOATS, kernel="expm1", ulp=3, promotes=REAL_FUNCTION)
def expm1(x: TensorLike) -> Tensor:
    """Return exp(x) - 1, accurate near zero.

    >>> sz.expm1(sz.tensor([0, 1e-8]))
    Tensor([    0, 1e-08], dtype=float32)
    """


@operator("7.2.12.3", dtypes=FLOATS, kernel="log", ulp=3, domain="x >= 0", promotes=REAL_FUNCTION)
def log(x: TensorLike) -> Tensor:
    """Return the natural logarithm of x; minus infinity at zero, NaN below.

    >>> sz.log(sz.tensor([1, 2, 0], sz.float16))
    Tensor([     0, 0.6934,   -inf], dtype=float16)
    """


@operator(
    "7.2.12.4", dtypes=FLOATS, kernel="log1p", ulp=2, domain="x >= -1", promotes=REAL_FUNCTION
)
def log1p(x: TensorLike) -> Tensor:
    """Return log(1 + x), accurate near zero; minus infinity at -1, NaN below.

    >>> sz.log1p(sz.tensor([0, 1e-8]))
    Tensor([    0, 1e-08], dtype=float32)
    """


@operator("7.2.12.5", dtypes=FLOATS, kernel="log10", ulp=3, domain="x >= 0", promotes=REAL_FUNCTION)
def log10(x: TensorLike) -> Tensor:
    """Return the logarithm of x to base 10.

    >>> sz.log10(sz.tensor([1, 1000], sz.float16))
    Tensor([0, 3], dtype=float16)
    """


@operator("7.2.12.6", dtypes=FLOATS, kernel="log2", ulp=3, domain="x >= 0", promotes=REAL_FUNCTION)
def log2(x: TensorLike) -> Tensor:
    """Return the logarithm of x to base 2.

    >>> sz.log2(sz.tensor([1, 1024], sz.float16))
    Tensor([ 0, 10], dtype=float16)
    """
