"""7.2.10: trigonometric functions. Integers become floating-point."""

from __future__ import annotations

from suanzi.ops.calling.declare import operator
from suanzi.promote.registry import FLOATS, REAL_FUNCTION
from suanzi.tensors.tensor import Tensor, TensorLike


@operator("7.2.10.1", dtypes=FLOATS, kernel="sin", ulp=3, promotes=REAL_FUNCTION)
def sin(x: TensorLike) -> Tensor:
    """Return the sine of x, an angle in radians.

    >>> sz.sin(sz.tensor([0, 1, -1], sz.float16))
    Tensor([      0,  0.8413, -0.8413], dtype=float16)
    """


@operator("7.2.10.2", dtypes=FLOATS, kernel="cos", ulp=3, promotes=REAL_FUNCTION)
def cos(x: TensorLike) -> Tensor:
    """Return the cosine of x, an angle in radians.

    >>> sz.cos(sz.tensor([0, 1], sz.float16))
    Tensor([     1, 0.5405], dtype=float16)
    """


@operator("7.2.10.3", dtypes=FLOATS, kernel="tan", ulp=4, promotes=REAL_FUNCTION)
def tan(x: TensorLike) -> Tensor:
    """Return the tangent of x, an angle in radians.

    >>> sz.tan(sz.tensor([0, 1], sz.float16))
    Tensor([    0, 1.558], dtype=float16)
    """


@operator("7.2.10.4", dtypes=FLOATS, kernel="asin", ulp=3, promotes=REAL_FUNCTION)
def asin(x: TensorLike) -> Tensor:
    """Return the angle between -pi/2 and pi/2 whose sine is x; NaN outside [-1, 1].

    >>> sz.asin(sz.tensor([0, 0.5, 1], sz.float16))
    Tensor([     0, 0.5234,   1.57], dtype=float16)
    """


@operator("7.2.10.5", dtypes=FLOATS, kernel="acos", ulp=3, promotes=REAL_FUNCTION)
def acos(x: TensorLike) -> Tensor:
    """Return the angle between 0 and pi whose cosine is x; NaN outside [-1, 1].

    >>> sz.acos(sz.tensor([1, 0.5], sz.float16))
    Tensor([    0, 1.047], dtype=float16)
    """


@operator("7.2.10.6", dtypes=FLOATS, kernel="atan", ulp=3, promotes=REAL_FUNCTION)
def atan(x: TensorLike) -> Tensor:
    """Return the angle between -pi/2 and pi/2 whose tangent is x.

    >>> sz.atan(sz.tensor([0, 1], sz.float16))
    Tensor([    0, 0.785], dtype=float16)
    """
