"""7.2.2, query, in the standard's form; written by tools/write_names.py."""

from __future__ import annotations

from typing import Any

from suanzi.interface.calling import REQUIRED, Answer, call


def op_shape(input: Any = REQUIRED) -> Answer:
    """Return the shape as an int32 tensor of one axis; `input.shape` is the same as a tuple.

    Clause 7.2.2.1, Table 21; returns (Status, output).
    """
    return call("shape", input=input)


def op_is_finite(input: Any = REQUIRED) -> Answer:
    """Tell of each element whether it is finite; a complex one is if both its parts are.

    Clause 7.2.2.2, Table 22; returns (Status, output).
    """
    return call("is_finite", input=input)


op_isfinite = op_is_finite
"""The name as it is printed."""


def op_is_inf(input: Any = REQUIRED) -> Answer:
    """Tell of each element whether it is infinite; a complex one is if either of its parts is.

    Clause 7.2.2.3, Table 23; returns (Status, output).
    """
    return call("is_inf", input=input)


op_has_inf = op_is_inf
"""The name as it is printed."""


def op_is_nan(input: Any = REQUIRED) -> Answer:
    """Tell of each element whether it is not a number; a complex one is if either part is.

    Clause 7.2.2.4, Table 24; returns (Status, output).
    """
    return call("is_nan", input=input)


op_has_nan = op_is_nan
"""The name as it is printed."""


def op_size(input: Any = REQUIRED) -> Answer:
    """Return how many elements there are.

    Clause 7.2.2.5, Table 25; returns (Status, size).
    """
    return call("size", input=input)


def op_rank(input: Any = REQUIRED) -> Answer:
    """Return how many axes there are.

    Clause 7.2.2.6, Table 26; returns (Status, rank).
    """
    return call("rank", input=input)


def op_is_contiguous(input: Any = REQUIRED) -> Answer:
    """Tell whether the elements lie in row-major order without gaps.

    Clause 7.2.2.7, Table 27; returns (Status, out).
    """
    return call("is_contiguous", input=input)
