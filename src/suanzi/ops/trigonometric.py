"""7.2.10: trigonometric functions. Integers become floating-point."""

from __future__ import annotations

from suanzi.registry import FLOATS, operator
from suanzi.tensor import Tensor


@operator("7.2.10.1", dtypes=FLOATS, kernel="sin", ulp=3)
def sin(x: Tensor) -> Tensor:
    """Return the sine of x, an angle in radians.

    >>> import suanzi as sz
    >>> sz.sin(sz.tensor([0, 1, -1]))
    Tensor([          0,  0.84147096, -0.84147096], dtype=float32)
    """
    raise NotImplementedError


@operator("7.2.10.2", dtypes=FLOATS, kernel="cos", ulp=3)
def cos(x: Tensor) -> Tensor:
    """Return the cosine of x, an angle in radians.

    >>> import suanzi as sz
    >>> sz.cos(sz.tensor([0, 1]))
    Tensor([        1, 0.5403023], dtype=float32)
    """
    raise NotImplementedError


@operator("7.2.10.3", dtypes=FLOATS, kernel="tan", ulp=3)
def tan(x: Tensor) -> Tensor:
    """Return the tangent of x, an angle in radians.

    >>> import suanzi as sz
    >>> sz.tan(sz.tensor([0, 1]))
    Tensor([        0, 1.5574077], dtype=float32)
    """
    raise NotImplementedError


@operator("7.2.10.4", dtypes=FLOATS, kernel="asin", ulp=3)
def asin(x: Tensor) -> Tensor:
    """Return the angle between -pi/2 and pi/2 whose sine is x; NaN outside [-1, 1].

    >>> import suanzi as sz
    >>> sz.asin(sz.tensor([0, 0.5, 1]))
    Tensor([        0, 0.5235988, 1.5707964], dtype=float32)
    """
    raise NotImplementedError


@operator("7.2.10.5", dtypes=FLOATS, kernel="acos", ulp=3)
def acos(x: Tensor) -> Tensor:
    """Return the angle between 0 and pi whose cosine is x; NaN outside [-1, 1].

    >>> import suanzi as sz
    >>> sz.acos(sz.tensor([1, 0.5]))
    Tensor([        0, 1.0471976], dtype=float32)
    """
    raise NotImplementedError


@operator("7.2.10.6", dtypes=FLOATS, kernel="atan", ulp=3)
def atan(x: Tensor) -> Tensor:
    """Return the angle between -pi/2 and pi/2 whose tangent is x.

    >>> import suanzi as sz
    >>> sz.atan(sz.tensor([0, 1]))
    Tensor([        0, 0.7853982], dtype=float32)
    """
    raise NotImplementedError
