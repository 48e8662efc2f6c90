"""7.2.10, trigonometric, in the standard's form; written by tools/write_names.py."""

from __future__ import annotations

from typing import Any

from suanzi.interface.calling import REQUIRED, Answer, call


def op_sin(x: Any = REQUIRED) -> Answer:
    """Return the sine of x, an angle in radians.

    Clause 7.2.10.1, Table 95; returns (Status, y).
    """
    return call("sin", x=x)


def op_cos(x: Any = REQUIRED) -> Answer:
    """Return the cosine of x, an angle in radians.

    Clause 7.2.10.2, Table 96; returns (Status, y).
    """
    return call("cos", x=x)


def op_tan(x: Any = REQUIRED) -> Answer:
    """Return the tangent of x, an angle in radians.

    Clause 7.2.10.3, Table 97; returns (Status, y).
    """
    return call("tan", x=x)


def op_asin(x: Any = REQUIRED) -> Answer:
    """Return the angle between -pi/2 and pi/2 whose sine is x; NaN outside [-1, 1].

    Clause 7.2.10.4, Table 98; returns (Status, y).
    """
    return call("asin", x=x)


def op_acos(x: Any = REQUIRED) -> Answer:
    """Return the angle between 0 and pi whose cosine is x; NaN outside [-1, 1].

    Clause 7.2.10.5, Table 99; returns (Status, y).
    """
    return call("acos", x=x)


def op_atan(x: Any = REQUIRED) -> Answer:
    """Return the angle between -pi/2 and pi/2 whose tangent is x.

    Clause 7.2.10.6, Table 100; returns (Status, y).
    """
    return call("atan", x=x)
