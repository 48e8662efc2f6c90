"""7.2.8, power, in the standard's form; written by tools/write_names.py."""

from __future__ import annotations

from typing import Any

from suanzi.interface.calling import REQUIRED, Answer, call


def op_pow(x: Any = REQUIRED, e: Any = REQUIRED) -> Answer:
    """Return x to the power e, element by element.

    Clause 7.2.8.1, Table 86; returns (Status, y).
    """
    return call("pow", x=x, e=e)


def op_sqrt(x: Any = REQUIRED) -> Answer:
    """Return the square root of x; NaN below zero.

    Clause 7.2.8.2, Table 87; returns (Status, y).
    """
    return call("sqrt", x=x)


def op_rsqrt(x: Any = REQUIRED) -> Answer:
    """Return 1 / sqrt(x); infinity at zero, with its sign, and NaN below.

    Clause 7.2.8.3, Table 88; returns (Status, y).
    """
    return call("rsqrt", x=x)


op_rsqrtn = op_rsqrt
"""The name as it is printed."""


def op_square(x: Any = REQUIRED) -> Answer:
    """Return x * x.

    Clause 7.2.8.4, Table 89; returns (Status, y).
    """
    return call("square", x=x)
