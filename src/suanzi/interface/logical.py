"""7.2.6, logical, in the standard's form; written by tools/write_names.py."""

from __future__ import annotations

from typing import Any

from suanzi.interface.calling import REQUIRED, Answer, call


def op_logical_and(x: Any = REQUIRED, y: Any = REQUIRED) -> Answer:
    """Return whether both are true, element by element.

    Clause 7.2.6.1, Table 76; returns (Status, z).
    """
    return call("logical_and", x=x, y=y)


def op_logical_or(x: Any = REQUIRED, y: Any = REQUIRED) -> Answer:
    """Return whether at least one is true, element by element.

    Clause 7.2.6.2, Table 77; returns (Status, z).
    """
    return call("logical_or", x=x, y=y)


def op_logical_not(x: Any = REQUIRED) -> Answer:
    """Return whether x is false, element by element.

    Clause 7.2.6.3, Table 78; returns (Status, y).
    """
    return call("logical_not", x=x)


def op_logical_xor(x: Any = REQUIRED, y: Any = REQUIRED) -> Answer:
    """Return whether exactly one is true, element by element.

    Clause 7.2.6.4, Table 79; returns (Status, z).
    """
    return call("logical_xor", x=x, y=y)
