"""7.2.9, rounding, in the standard's form; written by tools/write_names.py."""

from __future__ import annotations

from typing import Any

from suanzi.interface.calling import REQUIRED, Answer, call


def op_floor(x: Any = REQUIRED) -> Answer:
    """Return the largest whole number not above x.

    Clause 7.2.9.1, Table 90; returns (Status, y).
    """
    return call("floor", x=x)


def op_ceil(x: Any = REQUIRED) -> Answer:
    """Return the smallest whole number not below x.

    Clause 7.2.9.2, Table 91; returns (Status, y).
    """
    return call("ceil", x=x)


def op_trunc(x: Any = REQUIRED) -> Answer:
    """Return x without its fraction.

    Clause 7.2.9.3, Table 92; returns (Status, y).
    """
    return call("trunc", x=x)


def op_round(x: Any = REQUIRED) -> Answer:
    """Return the nearest whole number; of two, the even one.

    Clause 7.2.9.4, Table 93; returns (Status, y).
    """
    return call("round", x=x)


def op_rint(x: Any = REQUIRED, mode: Any = REQUIRED) -> Answer:
    """Return x rounded to a whole number in one of four ways.

    Clause 7.2.9.5, Table 94; returns (Status, y).
    """
    return call("rint", x=x, mode=mode)
