"""A sample of what tests/nightly asks of every operator, and what `assert_right` refuses."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import suanzi as sz
from helpers.judged import (
    REFUSED,
    assert_by_inputs,
    assert_refuses_faults,
    judged,
    right_cases,
)
from suanzi.base.status import InvalidArgument
from suanzi.promote.registry import function
from suanzi.validate.judge import right
from suanzi.validate.judge.arguments import dtypes_known
from suanzi.validate.judge.given import due_of

X = np.linspace(-3, 3, 12, dtype=np.float32).reshape(3, 4)
SAMPLE = [
    ("nn:one_hot", "int64"), ("nn:moe_gating", "bfloat16"), ("nn:moe_permutation", "int32"),
    ("nn:scaled_linear", "int8"), ("nn:gated_delta_rule", "float16"), ("nonzero", "float32"),
    ("nn:softmax", "float8_e4m3fn"), ("clip", "int4"), ("mul", "complex64"), ("matmul", "uint64"),
    ("split", "bool"), ("cast", "float16"), ("zeros", "int8"), ("size", "float32"),
    ("linspace", "float64"), ("svd", "float32"), ("cholesky", "float32"), ("topk", "int16"),
    ("reduce_bwd", "complex64"), ("bitwise_and", "uint8"), ("size", "complex64"),
    ("trace_backward", "complex64"), ("div", "int8"), ("floordiv", "int16"), ("mod", "int8"),
]  # fmt: skip


@pytest.mark.parametrize(("key", "dtype"), SAMPLE)
def test_suanzi_is_right_and_wrong_outputs_are_not(key: str, dtype: str) -> None:
    cases = right_cases(judged(key, dtype))
    assert_by_inputs(key, cases)
    assert_refuses_faults(key, cases)


@pytest.mark.parametrize("key", ["nn:dynamic_quantize", "nn:gated_delta_rule_bwd"])
def test_what_takes_long_is_right_in_a_few_sizes(key: str) -> None:
    shapes: list[Any] = [(2, 5), (3, 7), (4, 9)]
    if key.endswith("_bwd"):
        shapes = [{"q": (1, 3, 1, 4), "k": (1, 3, 1, 4)}]
    verdict = sz.judge(function(key), key, dtypes="float32", framework="suanzi", shapes=shapes)
    assert verdict, verdict


def test_operators_without_floats_are_judged_as_they_come() -> None:
    verdict = sz.judge(sz.nn.one_hot, "one_hot")
    assert verdict, verdict
    assert {c.id.split("/")[2] for c in verdict.cases} == {*dtypes_known("nn:one_hot")}


@pytest.mark.parametrize("key", ["rand_uniform", "destroy", "is_contiguous"])
def test_what_refuses_says_why(key: str) -> None:
    with pytest.raises(InvalidArgument, match=REFUSED[key]):
        sz.judge(function(key), key)
    with pytest.raises(InvalidArgument, match=REFUSED[key]):
        sz.assert_right(key, X, X)


def test_the_number_of_outputs_counts() -> None:
    scores, places = (x.numpy() for x in sz.topk(sz.tensor(X), 2))
    sz.assert_right("topk", X, (scores, places), k=2)
    sz.assert_right("topk", X, [scores, places], k=2)
    made = [x.numpy() for x in sz.nn.batch_norm(sz.tensor(X), training=True)]
    sz.assert_right("batch_norm", X, tuple(made), training=True)
    softmax = sz.nn.softmax(sz.tensor(X)).numpy()
    sz.assert_right("softmax", X, softmax.astype(">f4"))
    for op, wrong, params in (
        ("softmax", (), {}),
        ("softmax", (X, X), {}),
        ("topk", scores, {"k": 2}),
        ("topk", (scores, places, places), {"k": 2}),
        ("batch_norm", made[0], {"training": True}),
        ("moe_gating", X, {"k": 2}),
        ("svd", X, {}),
        ("split", (X,), {"split_sizes": [1, 2]}),
    ):
        with pytest.raises(AssertionError, match="outputs, not"):
            sz.assert_right(op, X, wrong, **params)


@pytest.mark.parametrize(
    ("op", "inputs", "output", "said"),
    [
        ("softmax", X, None, "NoneType"),
        ("softmax", X, "right", "str"),
        ("softmax", X, X.astype(object), "object"),
        ("softmax", X.astype(np.float16), sz.nn.softmax(sz.tensor(X)), "not float16"),
        ("argmax", X, X.argmax(-1).astype(np.int32), "not int64"),
        ("add", (np.array([2**60]), np.array([0])), np.array([2**60 + 1]), "1152921504606846977"),
        ("add", (np.array([2**64 - 1], np.uint64), np.array([1], np.uint64)),
         np.array([2**63], np.uint64), "not 0"),
        ("one_hot", np.array([1, 2]), np.zeros((2, 3), np.int64), "every element is 0"),
        ("one_hot", np.array([1, 2]), np.eye(3, dtype=np.float32)[1:], "float32"),
        ("greater", (X, X.T.copy().T), np.ones((3, 4), bool), "JD"),
        ("mul", (X + 1j, X - 1j), (X * X).astype(np.complex64), "JD"),
        ("mul", (X + 1j, X - 1j), X * X, "not complex"),
        ("eig", X[:3, :3], (np.zeros(3, np.complex64), np.eye(3, dtype=np.complex64)), "mat v"),
        ("exp", X, np.full(X.shape, np.nan, np.float32), "JD"),
        ("exp", np.full(3, np.nan, np.float32), np.ones(3, np.float32), "JD"),
        ("softmax", X, np.ascontiguousarray(X.astype(">f4")), "JD"),
    ],
)  # fmt: skip
def test_wrong_outputs_are_refused(op: str, inputs: Any, output: Any, said: str) -> None:
    with pytest.raises(AssertionError, match=said):
        sz.assert_right(op, inputs, output)


@pytest.mark.parametrize(
    ("op", "inputs", "params", "said"),
    [
        ("dropout", X, {}, "without a mask the result is random"),
        ("gumbel_softmax", X, {}, "without noise the result is random"),
        ("batch_norm", X, {}, "running_mean"),
        ("topk", X, {}, "needs 'k'"),
        ("exp", (X, X), {}, "2 inputs"),
        ("exp", X, {"x": X}, "twice"),
        ("matmul", (X, X), {}, "do not fit"),
        ("softmax", X.astype(object), {}, "object"),
        ("norm", X, {"normtype": "-3"}, "no definition"),
        ("softmax_bwd", (X, X * np.nan), {}, "nothing is required"),
    ],
)  # fmt: skip
def test_what_cannot_be_judged_raises(
    op: str, inputs: Any, params: dict[str, Any], said: str
) -> None:
    with pytest.raises(InvalidArgument, match=said):
        sz.assert_right(op, inputs, X, **params)


def test_the_truth_of_a_call_is_computed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []

    def counted(*given: Any) -> Any:
        calls.append(given)
        return due_of(*given)

    monkeypatch.setattr(right, "due_of", counted)
    x = np.array([1.0, 2.0, 4.5], np.float32)
    for wrong in (x, -x, x[:2]):
        with pytest.raises(AssertionError):
            sz.assert_right("exp", x, wrong)
    sz.assert_right("exp", x, np.exp(x))
    assert len(calls) == 1
    x[0] = 3.0
    sz.assert_right("exp", x, np.exp(x))
    with pytest.raises(AssertionError):
        sz.assert_right("exp", x, np.exp(x - 1))
    assert len(calls) == 2
    for alpha in (1, 1.0, True, 1.0):  # equal, but not the same argument
        sz.assert_right("elu", x, x, alpha=alpha)
    assert len(calls) == 6


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_limits_that_the_dtype_does_not_have(dtype: str) -> None:
    x = np.array([0.1, 0.5, 0.9], dtype)
    low, high = np.array([0.3, 0.6], dtype)
    sz.assert_right("clip", (x, 0.3, 0.6), np.array([low, x[1], high]))
    with pytest.raises(AssertionError):
        sz.assert_right("clip", (x, 0.3, 0.6), np.array([low, x[1], high * dtype_of(1.01, dtype)]))


def dtype_of(x: float, dtype: str) -> Any:
    return np.array(x, dtype)[()]
