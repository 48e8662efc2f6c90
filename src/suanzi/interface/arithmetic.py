"""7.2.4, arithmetic, in the standard's form; written by tools/write_names.py."""

from __future__ import annotations

from typing import Any

from suanzi.interface.calling import REQUIRED, Answer, call


def op_add(x: Any = REQUIRED, y: Any = REQUIRED) -> Answer:
    """Return x + y, element by element.

    Clause 7.2.4.1, Table 55; returns (Status, z).
    """
    return call("add", x=x, y=y)


def op_sub(x: Any = REQUIRED, y: Any = REQUIRED) -> Answer:
    """Return x - y, element by element.

    Clause 7.2.4.2, Table 56; returns (Status, z).
    """
    return call("sub", x=x, y=y)


def op_mul(x: Any = REQUIRED, y: Any = REQUIRED) -> Answer:
    """Return x * y, element by element.

    Clause 7.2.4.3, Table 57; returns (Status, z).
    """
    return call("mul", x=x, y=y)


def op_muladd(x: Any = REQUIRED, y: Any = REQUIRED, a: Any = REQUIRED) -> Answer:
    """Return x * y + a, element by element; the product and the sum are each rounded.

    Clause 7.2.4.4, Table 58; returns (Status, z).
    """
    return call("muladd", x=x, y=y, a=a)


def op_div(x: Any = REQUIRED, y: Any = REQUIRED) -> Answer:
    """Return x / y: of integers rounded towards zero, of floats as IEEE 754 has it.

    Clause 7.2.4.5, Table 59; returns (Status, z).
    """
    return call("div", x=x, y=y)


def op_floordiv(x: Any = REQUIRED, y: Any = REQUIRED) -> Answer:
    """Return the floor of x / y.

    Clause 7.2.4.6, Table 60; returns (Status, z).
    """
    return call("floordiv", x=x, y=y)


def op_true_divide(x: Any = REQUIRED, y: Any = REQUIRED) -> Answer:
    """Return x / y in floating-point, whatever the dtypes.

    Clause 7.2.4.7, Table 61; returns (Status, z).
    """
    return call("true_divide", x=x, y=y)


def op_mod(x: Any = REQUIRED, y: Any = REQUIRED) -> Answer:
    """Return the remainder of x / y with the sign of y: x = floordiv(x, y) * y + mod(x, y).

    Clause 7.2.4.8, Table 62; returns (Status, z).
    """
    return call("mod", x=x, y=y)


def op_max(x: Any = REQUIRED, y: Any = REQUIRED) -> Answer:
    """Return the larger of x and y, element by element; NaN wins.

    Clause 7.2.4.9, Table 63; returns (Status, z).
    """
    return call("max", x=x, y=y)


def op_min(x: Any = REQUIRED, y: Any = REQUIRED) -> Answer:
    """Return the smaller of x and y, element by element; NaN wins.

    Clause 7.2.4.10, Table 64; returns (Status, z).
    """
    return call("min", x=x, y=y)


def op_abs(x: Any = REQUIRED) -> Answer:
    """Return the magnitude of x; that of a complex tensor is real.

    Clause 7.2.4.11, Table 65; returns (Status, y).
    """
    return call("abs", x=x)


def op_reciprocal(x: Any = REQUIRED) -> Answer:
    """Return 1 / x in floating-point.

    Clause 7.2.4.12, Table 66; returns (Status, y).
    """
    return call("reciprocal", x=x)


def op_trace(x: Any = REQUIRED, offset: Any = 0, dim0: Any = 0, dim1: Any = 1) -> Answer:
    """Return the sum along the diagonal of the plane of two axes.

    Clause 7.2.4.13, Table 67; returns (Status, y).
    """
    return call("trace", x=x, offset=offset, dim0=dim0, dim1=dim1)


def op_trace_backward(
    grad_y: Any = REQUIRED,
    offset: Any = 0,
    dim0: Any = 0,
    dim1: Any = 1,
    input_shape: Any = REQUIRED,
) -> Answer:
    """Return the gradient of `trace`: `grad_y` along the diagonal of a tensor of zeros.

    Clause 7.2.4.13.4, Table 68; returns (Status, grad_x).
    """
    return call(
        "trace_backward",
        grad_y=grad_y,
        offset=offset,
        dim0=dim0,
        dim1=dim1,
        input_shape=input_shape,
    )
