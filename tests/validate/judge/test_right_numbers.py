"""`assert_right` of calls with numbers of Python among the operands, as `add(x, 0.6)`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import suanzi as sz
from suanzi.promote.registry import function
from suanzi.validate.judge.given import with_numbers

NUMBER = 0.6  # neither float16 nor float32 has it
WITH_A_NUMBER: dict[str, Callable[[Any, Any], Any]] = {
    "add": lambda x, a: x + a, "sub": lambda x, a: x - a, "mul": lambda x, a: x * a,
    "div": lambda x, a: x / a, "true_divide": lambda x, a: x / a, "mod": np.mod,
    "max": np.maximum, "min": np.minimum, "pow": np.power, "equal": np.equal, "less": np.less,
}  # fmt: skip


@pytest.mark.parametrize("op", WITH_A_NUMBER)
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_operands_that_the_dtype_does_not_have(op: str, dtype: str) -> None:
    x, a = np.array([0.1, 0.3, 0.6, 0.61, 1.9], dtype), np.array(NUMBER, dtype)
    call = WITH_A_NUMBER[op]
    sz.assert_right(op, (x, NUMBER), call(x, a))
    sz.assert_right(op, (NUMBER, x), call(a, x))
    sz.assert_right(op, (x, NUMBER), function(op)(sz.tensor(x), NUMBER))
    wrong = ~call(x, a) if call(x, a).dtype == bool else call(x, a) * np.array(1.01, dtype)
    with pytest.raises(AssertionError):
        sz.assert_right(op, (x, NUMBER), wrong)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_numbers_in_any_position(dtype: str) -> None:
    x, a, b = np.array([0.1, 0.61, 1.9], dtype), *np.array([NUMBER, 0.7], dtype)
    where = x > 0.5
    sz.assert_right("where", (where, x, NUMBER), np.where(where, x, a))
    sz.assert_right("where", (where, NUMBER, x), np.where(where, a, x))
    sz.assert_right("muladd", (x, x, NUMBER), sz.muladd(sz.tensor(x), sz.tensor(x), NUMBER))
    sz.assert_right("muladd", (x, NUMBER, 0.7), (x * a + b).astype(dtype))
    sz.assert_right(
        "where", (where, NUMBER, 0.7), np.where(where, *np.array([NUMBER, 0.7], np.float32))
    )
    with pytest.raises(AssertionError):
        sz.assert_right("where", (where, x, NUMBER), np.where(where, x, a * np.array(1.01, dtype)))


def test_a_number_that_is_not_converted_is_wrong_beyond_the_bound() -> None:
    x = np.array([-0.6, -0.59999], np.float32)
    right, late = x + np.float32(NUMBER), (x.astype(np.float64) + NUMBER).astype(np.float32)
    sz.assert_right("add", (x, NUMBER), right)
    with pytest.raises(AssertionError, match="2 of 2"):
        sz.assert_right("add", (x, NUMBER), late)
    # float16 may be computed in float32, which converts the number to float32.
    half = x.astype(np.float16)
    late = (half.astype(np.float32) + np.float32(NUMBER)).astype(np.float16)
    assert late[0] != half[0] + np.float16(NUMBER)
    sz.assert_right("add", (half, NUMBER), late)


def test_integers_and_attributes_stay() -> None:
    whole = np.array([1, 2, 3], np.int32)
    sz.assert_right("add", (whole, 3), whole + np.int32(3))
    sz.assert_right("sub", (3, whole), np.int32(3) - whole)
    sz.assert_right("add", (whole, NUMBER), whole.astype(np.float32) + np.float32(NUMBER))
    x = np.array([0.0], np.float32)
    sz.assert_right("add", (x, 2**24 + 1), np.array([2.0**24], np.float32))
    given = {"x": x, "normalized_shape": [1], "eps": 1e-5}
    assert with_numbers("nn:layer_norm", given, "float16") == [given]
