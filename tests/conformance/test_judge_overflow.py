"""A format without infinities has NaN for what overflows, and for nothing else."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import pytest

from suanzi.conformance.judging.judge import judge
from suanzi.conformance.model.case import Output
from suanzi.conformance.model.data import tensor
from suanzi.conformance.model.numbers import real

LARGEST = 3.4028234663852886e38
"""Of float32."""


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


def test_errors_beyond_all_numbers_are_told() -> None:
    """Their sum overflows, which is no reason not to say what is wrong."""
    wanted = Output("float64", (3,), (real(1e-7),) * 3)
    found = judge(tensor("float64", [1.7e308, 1.7e308, -1.7e308]), wanted)
    assert found.problem is not None
    assert found.mean_relative == math.inf


@pytest.mark.parametrize("bound", [{"ulp": 3.0}, {"allowed": (Fraction(2) ** 106,)}])
@pytest.mark.parametrize(
    ("truth", "found", "right"),
    [
        (1e40, math.inf, True),
        (1e40, LARGEST, False),
        (3.41e38, LARGEST, False),
        (3.4028236e38, LARGEST, True),
        (LARGEST, math.inf, True),
        (1e38, math.inf, False),
    ],
)
def test_the_largest_number_is_no_infinity(
    truth: float, found: float, right: bool, bound: dict[str, Any]
) -> None:
    wanted = Output("float32", (1,), (real(truth),), **bound)
    assert (judge(tensor("float32", [found]), wanted).problem is None) is right
