"""7.2.18, interpolation, in the standard's form; written by tools/write_names.py."""

from __future__ import annotations

from typing import Any

from suanzi.interface.calling import REQUIRED, Answer, call


def op_interpolate(
    input: Any = REQUIRED,
    size: Any = None,
    scale_factor: Any = None,
    mode: Any = "nearest",
) -> Answer:
    """Return the input sampled at other sizes of its axes from the third on.

    Clause 7.2.18, Table 153; returns (Status, output).
    """
    return call("interpolate", input=input, size=size, scale_factor=scale_factor, mode=mode)
