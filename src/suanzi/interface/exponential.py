"""7.2.12, exponential, in the standard's form; written by tools/write_names.py."""

from __future__ import annotations

from typing import Any

from suanzi.interface.calling import REQUIRED, Answer, call


def op_exp(x: Any = REQUIRED) -> Answer:
    """Return e to the power x.

    Clause 7.2.12.1, Table 107; returns (Status, y).
    """
    return call("exp", x=x)


def op_expm1(x: Any = REQUIRED) -> Answer:
    """Return exp(x) - 1, precise also next to zero.

    Clause 7.2.12.2, Table 108; returns (Status, y).
    """
    return call("expm1", x=x)


op_expml = op_expm1
"""The name as it is printed."""


def op_log(x: Any = REQUIRED) -> Answer:
    """Return the natural logarithm of x; minus infinity at zero, NaN below.

    Clause 7.2.12.3, Table 109; returns (Status, y).
    """
    return call("log", x=x)


def op_log1p(x: Any = REQUIRED) -> Answer:
    """Return log(1 + x), precise also next to zero; minus infinity at -1, NaN below.

    Clause 7.2.12.4, Table 110; returns (Status, y).
    """
    return call("log1p", x=x)


op_loglp = op_log1p
"""The name as it is printed."""


def op_log10(x: Any = REQUIRED) -> Answer:
    """Return the logarithm of x to base 10.

    Clause 7.2.12.5, Table 111; returns (Status, y).
    """
    return call("log10", x=x)


def op_log2(x: Any = REQUIRED) -> Answer:
    """Return the logarithm of x to base 2.

    Clause 7.2.12.6, Table 112; returns (Status, y).
    """
    return call("log2", x=x)
