"""7.2.12: exponentials and logarithms against mpmath; narrow dtypes exhaustively."""

from __future__ import annotations

import math

import numpy as np
import pytest
from functions import (
    FUNCTIONS,
    check_accuracy,
    check_narrow,
    check_promotion,
    check_same_everywhere,
    check_shapes,
    check_special,
    compute,
    each_level,
    same_bits,
)
from ulp import assert_within

import suanzi as sz
from suanzi import _core
from suanzi.registry import REGISTRY

NAMES = sorted(op.name for op in REGISTRY.values() if op.clause.startswith("7.2.12."))


def test_every_function_is_here() -> None:
    assert len(NAMES) == 6
    assert set(NAMES) <= set(FUNCTIONS)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("dtype", [sz.float32, sz.float64], ids=str)
def test_within_the_declared_error(name: str, dtype: sz.DType) -> None:
    limit = REGISTRY[name].ulp
    assert limit is not None
    check_accuracy(name, dtype, limit)


@pytest.mark.parametrize("name", NAMES)
def test_special_values_and_domain(name: str) -> None:
    check_special(name)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "dtype", [sz.float16, sz.bfloat16, sz.float8_e4m3fn, sz.float8_e5m2], ids=str
)
def test_narrow_results_are_float32_results_rounded_once(name: str, dtype: sz.DType) -> None:
    check_narrow(name, dtype)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("dtype", [sz.float32, sz.float64], ids=str)
def test_threads_and_neighbours_change_nothing(name: str, dtype: sz.DType) -> None:
    check_same_everywhere(name, dtype)


@pytest.mark.parametrize("name", NAMES)
def test_promotion_and_refusals(name: str) -> None:
    check_promotion(name)


@pytest.mark.parametrize("name", NAMES)
def test_shapes(name: str) -> None:
    check_shapes(name)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_logarithms_of_powers_are_exact(dtype: type) -> None:
    info = np.finfo(dtype)
    exponents = np.arange(math.frexp(info.smallest_subnormal)[1] - 1, info.maxexp)
    powers = np.ldexp(np.ones(exponents.size, dtype), exponents)
    tens = np.arange(11 if dtype is np.float32 else 23)
    with each_level() as levels:
        for level in levels:
            _core.use_level(level)
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
