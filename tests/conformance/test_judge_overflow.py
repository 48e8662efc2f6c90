"""A format without infinities has NaN for what overflows, and for nothing else."""

from __future__ import annotations

import math

import pytest

from suanzi.conformance.judge import judge
from suanzi.conformance.model import Output
from suanzi.conformance.oracle import real
from suanzi.conformance.tensors import tensor


@pytest.mark.parametrize(
    ("truth", "found", "right"),
    [
        (10.0, math.nan, False),
        (10.0, 10.0, True),
        (465.0, math.nan, True),
        (440.0, math.nan, False),
        (1e6, math.nan, True),
        (-1e6, math.nan, True),
        (1e6, 10.0, False),
        (math.inf, math.nan, True),
        (math.inf, 448.0, False),
        (math.nan, math.nan, True),
        (math.nan, 1.0, False),
    ],
)
def test_float8_e4m3fn(truth: float, found: float, right: bool) -> None:
    wanted = Output("float8_e4m3fn", (1,), (real(truth),), ulp=0.6)
    assert (judge(tensor("float8_e4m3fn", [found]), wanted).problem is None) is right
