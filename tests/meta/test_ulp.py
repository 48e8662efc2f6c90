"""The ULP helper against hand-made results, most of them wrong; the judge has tests of its own."""

from __future__ import annotations

import math

import pytest

import suanzi as sz
from helpers.ulp import assert_within
from suanzi.conformance.truth.functions import mp

INF, NAN = math.inf, math.nan


@pytest.mark.parametrize("steps", [1, 4, 100])
def test_steps_are_counted(steps: int) -> None:
    for found, truth, dtype in (
        (1 + steps * 2.0**-23, 1.0, sz.float32),
        (-(1 + steps * 2.0**-10), -1.0, sz.float16),
        (math.ldexp(1 + steps, -1074), math.ldexp(1, -1074), sz.float64),
    ):
        assert assert_within(steps, [0], [found], [mp.mpf(truth)], dtype) == steps
        with pytest.raises(AssertionError, match=f"{steps}.000 ULP"):
            assert_within(steps - 0.01, [0], [found], [mp.mpf(truth)], dtype)


@pytest.mark.parametrize(
    ("found", "truth"),
    [
        (NAN, 1.0),
        (NAN, INF),
        (NAN, 0.0),
        (0.0, NAN),
        (INF, NAN),
        (-INF, INF),
        (1e308, INF),
        (0.0, -0.0),
        (-0.0, 0.0),
        (-1.0, 1.0),
        (INF, -1e300),
        (-0.0, mp.ldexp(1, -1080)),
    ],
)
def test_a_wrong_kind_or_sign_is_noticed(found: float, truth: float) -> None:
    with pytest.raises(AssertionError, match="ULP"):
        assert_within(3, [0], [found], [truth], sz.float64)


@pytest.mark.parametrize(
    ("found", "truth"), [(NAN, NAN), (INF, INF), (-INF, -INF), (0.0, 0.0), (-0.0, -0.0), (2.5, 2.5)]
)
def test_the_right_special_value_is_exact(found: float, truth: float) -> None:
    assert assert_within(0, [0], [found], [truth], sz.float64) == 0


def test_the_worst_is_found_wherever_it_stands() -> None:
    truths = [mp.mpf(1)] * 5
    for where in range(5):
        found = [1.0] * 5
        found[where] = 1 + 2.0**-20
        with pytest.raises(AssertionError, match=f"f of {where} .*8.000 ULP"):
            assert_within(7.9, range(5), found, truths, sz.float32, "f")
        assert assert_within(8, range(5), found, truths, sz.float32, "f") == 8


def test_missing_results_are_noticed() -> None:
    with pytest.raises(ValueError, match="zip"):
        assert_within(3, [1, 2], [1.0], [1.0, 2.0], sz.float32)
