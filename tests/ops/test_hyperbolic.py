"""7.2.11: hyperbolic functions against mpmath, level by level; narrow dtypes exhaustively."""

from __future__ import annotations

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
)
from ulp import assert_within

import suanzi as sz
from suanzi.registry import REGISTRY

NAMES = sorted(op.name for op in REGISTRY.values() if op.clause.startswith("7.2.11."))


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


def test_overflow_comes_as_late_as_it_can() -> None:
    # log(2) more than exp has: exp(x) / 2 must not be computed by way of exp(x).
    assert np.isfinite(compute("cosh", np.array([710.4758600739439]))).all()
    assert np.isinf(compute("cosh", np.array([710.4758600739440]))).all()
    assert np.isfinite(compute("sinh", np.array([89.41598], np.float32))).all()
    assert np.isinf(compute("sinh", np.array([89.41600], np.float32))).all()


def test_large_arguments_of_the_inverses_do_not_overflow() -> None:
    for name in ("asinh", "acosh"):
        found = compute(name, np.array([1e300, 1.7e308]))
        truths = [FUNCTIONS[name](v) for v in (1e300, 1.7e308)]
        assert_within(3, [1e300, 1.7e308], found.tolist(), truths, sz.float64, name)


def test_examples_of_the_standard() -> None:
    # Its tanh(0) = 1 is a misprint.
    assert sz.tanh(sz.tensor([0.0, 1, -1])).tolist()[0] == 0
    assert sz.cosh(sz.tensor([0.0])).tolist() == [1]
    assert sz.acosh(sz.tensor([1.0])).tolist() == [0]
