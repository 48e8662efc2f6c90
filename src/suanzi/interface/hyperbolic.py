"""7.2.11, hyperbolic, in the standard's form; written by tools/write_names.py."""

from __future__ import annotations

from typing import Any

from suanzi.interface.calling import REQUIRED, Answer, call


def op_sinh(x: Any = REQUIRED) -> Answer:
    """Return the hyperbolic sine of x.

    Clause 7.2.11.1, Table 101; returns (Status, y).
    """
    return call("sinh", x=x)


def op_cosh(x: Any = REQUIRED) -> Answer:
    """Return the hyperbolic cosine of x.

    Clause 7.2.11.2, Table 102; returns (Status, y).
    """
    return call("cosh", x=x)


def op_tanh(x: Any = REQUIRED) -> Answer:
    """Return the hyperbolic tangent of x.

    Clause 7.2.11.3, Table 103; returns (Status, y).
    """
    return call("tanh", x=x)


def op_asinh(x: Any = REQUIRED) -> Answer:
    """Return the number whose hyperbolic sine is x.

    Clause 7.2.11.4, Table 104; returns (Status, y).
    """
    return call("asinh", x=x)


def op_acosh(x: Any = REQUIRED) -> Answer:
    """Return the number from 0 up whose hyperbolic cosine is x; NaN below 1.

    Clause 7.2.11.5, Table 105; returns (Status, y).
    """
    return call("acosh", x=x)


def op_atanh(x: Any = REQUIRED) -> Answer:
    """Return the number whose hyperbolic tangent is x; infinite at -1 and 1, NaN outside.

    Clause 7.2.11.6, Table 106; returns (Status, y).
    """
    return call("atanh", x=x)
