"""Options of calls that assert_right judges: dtypes, by every name, and indices."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import suanzi as sz
from suanzi.base.status import InvalidArgument


@pytest.mark.parametrize("dtype", [sz.float32, "float32", np.float32, sz.bool, "uint8", sz.float16])
def test_one_hot_in_the_dtype_asked_for(dtype: Any) -> None:
    indices = np.array([2, 0, 1])
    right = sz.nn.one_hot(sz.tensor(indices), 4, dtype)
    sz.assert_right("one_hot", (indices, 4), right, dtype=dtype)
    with pytest.raises(AssertionError, match="int64"):
        sz.assert_right("one_hot", (indices, 4), sz.nn.one_hot(indices, 4), dtype=dtype)
    with pytest.raises(AssertionError):
        sz.assert_right(
            "one_hot", (indices, 4), sz.nn.one_hot(indices[::-1].copy(), 4, dtype), dtype=dtype
        )


@pytest.mark.parametrize("indices", [[4, 0], [-1, 0]])
def test_an_index_outside_of_the_classes_has_no_truth(indices: list[int]) -> None:
    with pytest.raises(InvalidArgument, match="outside"):
        sz.assert_right("one_hot", (np.array(indices), 4), np.zeros((2, 4), np.int64))


@pytest.mark.parametrize("dtype", [sz.int8, "int8", np.int8])
def test_quotients_in_the_dtype_asked_for(dtype: Any) -> None:
    x = np.array([[1.0, -2.0, 0.5]], np.float32)
    right = sz.nn.dynamic_quantize(sz.tensor(x), None, sz.int8)
    sz.assert_right("dynamic_quantize", (x, None, dtype), right)
    sz.assert_right("dynamic_quantize", x, right, dtype=dtype)


def test_a_dtype_among_the_inputs() -> None:
    sz.assert_right("range", (0, 3, 1, sz.int64), np.arange(4))
    with pytest.raises(AssertionError):
        sz.assert_right("range", (0, 3, 1, sz.int64), np.arange(4, dtype=np.int32))


@pytest.mark.parametrize("op", ["square", "floor", "ceil", "trunc", "round", "sqrt", "sin", "atan"])
@pytest.mark.parametrize("dtype", ["int32", "uint8", "bool", "int64", "uint64"])
def test_functions_of_real_numbers_give_floats_of_integers(op: str, dtype: str) -> None:
    x = np.array([1, 0, 1, 1] if dtype == "bool" else [0, 1, 3, 100], dtype)
    right = getattr(sz, op)(sz.tensor(x)).numpy()
    assert right.dtype == np.float32
    sz.assert_right(op, x, right)
    assert getattr(sz.truth, op)(x).dtype == np.float32
    wrong = right.copy()
    wrong[-1] += 1
    for other in (wrong, right.astype(np.float64), right.astype(dtype)):
        with pytest.raises(AssertionError):
            sz.assert_right(op, x, other)


@pytest.mark.parametrize("op", ["square", "floor", "round", "sin", "exp", "tanh", "log2"])
def test_whole_numbers_that_floats_do_not_have(op: str) -> None:
    x = np.array([2**24 + 1, 2**40 + 12345, 2**62 + 1, 7], np.int64)
    sz.assert_right(op, x, getattr(sz, op)(sz.tensor(x)))
    bound = sz.truth.bound(op, x)
    assert bound.error[0] > 0 or op in ("exp", "tanh")
