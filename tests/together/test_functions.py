"""7.2.8 and 7.2.10 to 7.2.12: functions of one operand against mpmath, level by level.

float16, bfloat16 and float8 are tried exhaustively. What is special to a clause has its own file.
"""

from __future__ import annotations

import pytest

import suanzi as sz
from helpers.functions import (
    FUNCTIONS,
    check_accuracy,
    check_narrow,
    check_promotion,
    check_same_everywhere,
    check_special,
)
from helpers.standard_operators import REGISTRY

CLAUSES = ("7.2.8.", "7.2.10.", "7.2.11.", "7.2.12.")
NAMES = sorted(op.name for op in REGISTRY.values() if op.clause.startswith(CLAUSES))
NAMES.remove("pow")  # of two operands: test_power.py


def test_every_function_is_here() -> None:
    assert sorted(FUNCTIONS) == NAMES


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
def test_narrow_results_are_correctly_rounded(name: str, dtype: sz.DType) -> None:
    check_narrow(name, dtype)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("dtype", [sz.float32, sz.float64], ids=str)
def test_threads_and_neighbours_change_nothing(name: str, dtype: sz.DType) -> None:
    check_same_everywhere(name, dtype)


@pytest.mark.parametrize("name", NAMES)
def test_promotion_and_refusals(name: str) -> None:
    check_promotion(name)
