"""7.2.10: what is special to trigonometric functions; test_functions.py has the rest."""

from __future__ import annotations

import math

import numpy as np
import pytest

import suanzi as sz
from helpers.functions import FUNCTIONS, compute, same_bits
from helpers.ulp import assert_within


@pytest.mark.parametrize("x", [1e22, 2.0**1000, 5.319372648326541e255, 1.7976931348623157e308])
def test_huge_arguments_are_reduced_exactly(x: float) -> None:
    for name in ("sin", "cos", "tan"):
        found = compute(name, np.array([x, -x]))
        truths = [FUNCTIONS[name](v) for v in (x, -x)]
        assert_within(3, [x, -x], found.tolist(), truths, sz.float64, name)


def test_a_small_angle_is_its_own_sine_and_tangent() -> None:
    x = np.array([1e-30, -1e-40, 1e-45], np.float32)
    for name in ("sin", "tan", "asin", "atan"):
        assert same_bits(compute(name, x), x)


def test_quarter_turns() -> None:
    half = math.pi / 2
    assert sz.sin(sz.tensor([-half, 0, half])).tolist() == [-1, 0, 1]
    assert sz.cos(sz.tensor([math.pi, 0], sz.float64)).tolist() == [-1, 1]
    # A float is never pi/2, so its cosine is not 0 but what is left.
    assert abs(sz.cos(sz.tensor(half, sz.float64)).item() - 6.123233995736766e-17) < 1e-31
    assert sz.acos(sz.tensor([1.0])).tolist() == [0]
