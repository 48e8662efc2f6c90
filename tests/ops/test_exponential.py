"""7.2.12: what is special to exponentials and logarithms; test_functions.py has the rest."""

from __future__ import annotations

import math

import numpy as np
import pytest

import suanzi as sz
from helpers.functions import FUNCTIONS, compute, every_level, same_bits
from helpers.ulp import assert_within


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_logarithms_of_powers_are_exact(dtype: type) -> None:
    info = np.finfo(dtype)
    exponents = np.arange(math.frexp(info.smallest_subnormal)[1] - 1, info.maxexp)
    powers = np.ldexp(np.ones(exponents.size, dtype), exponents)
    tens = np.arange(11 if dtype is np.float32 else 23)
    for level in every_level():
        assert (compute("log2", powers) == exponents).all(), level
        assert (compute("log10", np.array([10 ** int(k) for k in tens], dtype)) == tens).all()


def test_exp_underflows_gradually() -> None:
    x = np.linspace(-745, -708, 500)
    found = compute("exp", x)
    assert (found > 0).all()
    assert_within(1, x, found.tolist(), [FUNCTIONS["exp"](v) for v in x.tolist()], sz.float64)


def test_next_to_zero_nothing_cancels() -> None:
    x = np.array([1e-20, -1e-20, 5e-324, -5e-324])
    assert same_bits(compute("expm1", x), x)
    assert same_bits(compute("log1p", x), x)
