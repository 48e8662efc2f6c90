"""7.2.5, comparison, in the standard's form; written by tools/write_names.py."""

from __future__ import annotations

from typing import Any

from suanzi.interface.calling import REQUIRED, Answer, call


def op_equal(x: Any = REQUIRED, y: Any = REQUIRED) -> Answer:
    """Return whether x equals y, element by element.

    Clause 7.2.5.1, Table 69; returns (Status, z).
    """
    return call("equal", x=x, y=y)


def op_not_equal(x: Any = REQUIRED, y: Any = REQUIRED) -> Answer:
    """Return whether x differs from y, element by element.

    Clause 7.2.5.2, Table 70; returns (Status, z).
    """
    return call("not_equal", x=x, y=y)


def op_greater(x: Any = REQUIRED, y: Any = REQUIRED) -> Answer:
    """Return whether x is greater than y, element by element.

    Clause 7.2.5.3, Table 71; returns (Status, z).
    """
    return call("greater", x=x, y=y)


def op_greater_equal(x: Any = REQUIRED, y: Any = REQUIRED) -> Answer:
    """Return whether x is at least y, element by element.

    Clause 7.2.5.4, Table 72; returns (Status, z).
    """
    return call("greater_equal", x=x, y=y)


def op_less(x: Any = REQUIRED, y: Any = REQUIRED) -> Answer:
    """Return whether x is less than y, element by element.

    Clause 7.2.5.5, Table 73; returns (Status, z).
    """
    return call("less", x=x, y=y)


def op_less_equal(x: Any = REQUIRED, y: Any = REQUIRED) -> Answer:
    """Return whether x is at most y, element by element.

    Clause 7.2.5.6, Table 74; returns (Status, z).
    """
    return call("less_equal", x=x, y=y)


def op_allclose(
    x: Any = REQUIRED,
    y: Any = REQUIRED,
    rtol: Any = 1e-05,
    atol: Any = 1e-08,
    equal_nan: Any = False,
) -> Answer:
    """Return whether every element of x is close to that of y: |x - y| <= atol + rtol |y|.

    Clause 7.2.5.7, Table 75; returns (Status, z).
    """
    return call("allclose", x=x, y=y, rtol=rtol, atol=atol, equal_nan=equal_nan)
