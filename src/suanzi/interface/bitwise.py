"""7.2.7, bitwise, in the standard's form; written by tools/write_names.py."""

from __future__ import annotations

from typing import Any

from suanzi.interface.calling import REQUIRED, Answer, call


def op_bitwise_and(x: Any = REQUIRED, y: Any = REQUIRED) -> Answer:
    """Return x & y, bit by bit.

    Clause 7.2.7.1, Table 80; returns (Status, z).
    """
    return call("bitwise_and", x=x, y=y)


def op_bitwise_or(x: Any = REQUIRED, y: Any = REQUIRED) -> Answer:
    """Return x | y, bit by bit.

    Clause 7.2.7.2, Table 81; returns (Status, z).
    """
    return call("bitwise_or", x=x, y=y)


def op_bitwise_xor(x: Any = REQUIRED, y: Any = REQUIRED) -> Answer:
    """Return x ^ y, bit by bit.

    Clause 7.2.7.3, Table 82; returns (Status, z).
    """
    return call("bitwise_xor", x=x, y=y)


def op_bitwise_not(x: Any = REQUIRED) -> Answer:
    """Return x with every bit the other way.

    Clause 7.2.7.4, Table 83; returns (Status, y).
    """
    return call("bitwise_not", x=x)


op_bitwise_invert = op_bitwise_not
"""The name as it is printed."""


def op_bitwise_left_shift(x: Any = REQUIRED, shift: Any = 1) -> Answer:
    """Return x with its bits moved left by `shift` places; bits that leave are lost.

    Clause 7.2.7.5, Table 84; returns (Status, y).
    """
    return call("bitwise_left_shift", x=x, shift=shift)


def op_bitwise_right_shift(x: Any = REQUIRED, shift: Any = 1) -> Answer:
    """Return x with its bits moved right by `shift` places; a signed integer keeps its sign.

    Clause 7.2.7.6, Table 85; returns (Status, y).
    """
    return call("bitwise_right_shift", x=x, shift=shift)
