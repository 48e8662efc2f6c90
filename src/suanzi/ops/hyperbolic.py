"""7.2.11: hyperbolic functions. Integers become floating-point."""

from __future__ import annotations

from suanzi.registry import FLOATS, operator
from suanzi.tensor import Tensor


@operator("7.2.11.1", dtypes=FLOATS, kernel="sinh", ulp=3)
def sinh(x: Tensor) -> Tensor:
    """Return the hyperbolic sine of x.

    >>> import suanzi as sz
    >>> sz.sinh(sz.tensor([0, 1]))
    Tensor([        0, 1.1752012], dtype=float32)
    """
    raise NotImplementedError


@operator("7.2.11.2", dtypes=FLOATS, kernel="cosh", ulp=3)
def cosh(x: Tensor) -> Tensor:
    """Return the hyperbolic cosine of x.

    >>> import suanzi as sz
    >>> sz.cosh(sz.tensor([0, 1]))
    Tensor([        1, 1.5430806], dtype=float32)
    """
    raise NotImplementedError


@operator("7.2.11.3", dtypes=FLOATS, kernel="tanh", ulp=3)
def tanh(x: Tensor) -> Tensor:
    """Return the hyperbolic tangent of x.

    >>> import suanzi as sz
    >>> sz.tanh(sz.tensor([0, 1, -1]))
    Tensor([         0,  0.7615942, -0.7615942], dtype=float32)
    """
    raise NotImplementedError


@operator("7.2.11.4", dtypes=FLOATS, kernel="asinh", ulp=3)
def asinh(x: Tensor) -> Tensor:
    """Return the number whose hyperbolic sine is x.

    >>> import suanzi as sz
    >>> sz.asinh(sz.tensor([0, 1]))
    Tensor([        0, 0.8813736], dtype=float32)
    """
    raise NotImplementedError


@operator("7.2.11.5", dtypes=FLOATS, kernel="acosh", ulp=3)
def acosh(x: Tensor) -> Tensor:
    """Return the number from 0 up whose hyperbolic cosine is x; NaN below 1.

    >>> import suanzi as sz
    >>> sz.acosh(sz.tensor([1, 2]))
    Tensor([       0, 1.316958], dtype=float32)
    """
    raise NotImplementedError


@operator("7.2.11.6", dtypes=FLOATS, kernel="atanh", ulp=3)
def atanh(x: Tensor) -> Tensor:
    """Return the number whose hyperbolic tangent is x; infinite at -1 and 1, NaN outside.

    >>> import suanzi as sz
    >>> sz.atanh(sz.tensor([0, 0.5, 1]))
    Tensor([         0, 0.54930615,        inf], dtype=float32)
    """
    raise NotImplementedError
