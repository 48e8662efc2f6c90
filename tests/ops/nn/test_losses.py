"""Losses: blocks, threads, levels, layouts, gradients by differences, and errors."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest

import suanzi as sz
from helpers.functions import at_level, threads
from helpers.normal import exact
from suanzi import _core
from suanzi.base.status import DimensionsMismatch, InvalidArgument, OutOfRange, TypeMismatch
from suanzi.tensors.parts import permuted

Array = np.ndarray[Any, Any]
BOUND = {"float64": 1e-14, "float32": 2e-7, "float16": 6e-4, "bfloat16": 5e-3}
PAIRS = ("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "kl_div", "bce", "bce_with_logits")
X = sz.tensor([[0.5, -1.0, 2.0], [0.0, 1.0, 3.0]])


def made(dtype: str, *shape: int, low: float = -4, high: float = 4) -> sz.Tensor:
    x = np.random.default_rng(list(shape)).uniform(low, high, shape)
    return sz.cast(sz.tensor(x), dtype)


def same(x: sz.Tensor, y: sz.Tensor) -> bool:
    """Return whether two tensors have the same bits; float64 has them all."""
    return exact(x).tobytes() == exact(y).tobytes()


def log_softmax(x: Array) -> Array:
    shifted = x - x.max(-1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(-1, keepdims=True))


def formula(name: str, x: Array, y: Array) -> Array:
    d = x - y
    with np.errstate(all="ignore"):
        return {
            "mse_loss": lambda: d * d,
            "l1_loss": lambda: abs(d),
            "smooth_l1_loss": lambda: np.where(abs(d) < 1, d * d / 2, abs(d) - 0.5),
            "huber_loss": lambda: np.where(abs(d) <= 1, d * d / 2, abs(d) - 0.5),
            "kl_div": lambda: y * (np.log(y) - x),
            "bce": lambda: -(y * np.log(x) + (1 - y) * np.log1p(-x)),
            "bce_with_logits": lambda: (1 - y) * x + np.logaddexp(0, -x),
        }[name]()


def pair(name: str, dtype: str, *shape: int) -> tuple[sz.Tensor, sz.Tensor]:
    low = 0.05 if name == "bce" else -4
    high = 0.95 if name == "bce" else 4
    target = made(dtype, *shape, 1, low=0.05, high=0.95)
    return made(dtype, *shape, low=low, high=high), sz.reshape(target, shape)


@pytest.mark.parametrize("level", _core.levels())
@pytest.mark.parametrize("dtype", BOUND)
@pytest.mark.parametrize("classes", [1, 15, 16, 17, 1023, 1024, 1025, 2600])
def test_rows_of_any_length(level: str, dtype: str, classes: int) -> None:
    x = made(dtype, 3, classes)
    target = [0, classes - 1, classes // 2]
    logs = log_softmax(exact(x))
    with at_level(level):
        found = exact(sz.nn.cross_entropy(x, sz.tensor(target), reduction="none"))
        grad = sz.nn.cross_entropy_bwd(sz.cast(sz.tensor(1.0), dtype), x, sz.tensor(target),
                                       reduction="sum")  # fmt: skip
    assert np.allclose(found, -logs[range(3), target], rtol=BOUND[dtype], atol=BOUND[dtype] / 8)
    right = np.exp(logs) - np.eye(classes)[target]
    assert np.allclose(exact(grad), right, rtol=2 * BOUND[dtype], atol=BOUND[dtype])


def test_a_loss_of_far_shifted_logits_is_exact() -> None:
    """The largest logit is taken off first, also where it comes late: nothing overflows."""
    x = np.concatenate([np.linspace(-1e4, 0, 3000), [3e4, 3e4 - 1]]).astype(np.float32)[None]
    found = exact(sz.nn.cross_entropy(sz.tensor(x), sz.tensor([3000])))
    assert abs(found - math.log1p(math.exp(-1))) < 1e-7


@pytest.mark.parametrize("dtype", ["bfloat16", "float32", "float64"])
def test_rows_have_the_same_bits_with_any_threads_and_in_any_batch(dtype: str) -> None:
    x, target = made(dtype, 70, 1500), sz.tensor(np.arange(70) * 20)
    weight = made(dtype, 1500, low=0.5, high=2)
    arguments = {"label_smoothing": 0.1}
    with threads(1):
        each = sz.nn.cross_entropy(x, target, weight, reduction="none", **arguments)
        mean = sz.nn.cross_entropy(x, target, weight, **arguments)
        grad = sz.nn.cross_entropy_bwd(mean, x, target, weight, **arguments)
    with threads(4):
        assert same(each, sz.nn.cross_entropy(x, target, weight, reduction="none", **arguments))
        assert same(mean, sz.nn.cross_entropy(x, target, weight, **arguments))
        assert same(grad, sz.nn.cross_entropy_bwd(mean, x, target, weight, **arguments))
    one = sz.nn.cross_entropy(x[33:34], target[33:34], weight, reduction="none", **arguments)
    assert same(one, each[33:34])


@pytest.mark.parametrize("name", PAIRS)
@pytest.mark.parametrize("dtype", BOUND)
def test_pairs_of_any_number(name: str, dtype: str) -> None:
    loss = getattr(sz.nn, name)
    for n in (1, 15, 1023, 1025, 5000):
        x, y = pair(name, dtype, n)
        right = formula(name, exact(x), exact(y))
        for level in _core.levels():
            with at_level(level):
                each, total = loss(x, y, reduction="none"), loss(x, y, reduction="mean")
            assert np.allclose(exact(each), right, rtol=8 * BOUND[dtype], atol=BOUND[dtype] * 4)
            assert np.allclose(exact(total), right.mean(), rtol=4 * BOUND[dtype])


@pytest.mark.parametrize("name", PAIRS)
def test_pairs_have_the_same_bits_with_any_threads_and_layout(name: str) -> None:
    loss, back = getattr(sz.nn, name), getattr(sz.nn, f"{name}_bwd")
    x, y = pair(name, "float32", 200, 300)
    with threads(1):
        right, grads = loss(x, y), back(sz.tensor(1.0), x, y)
    with threads(4):
        assert same(right, loss(x, y))
        turned = permuted(_core.row_major_copy(permuted(x, (1, 0))), (1, 0))
        assert same(right, loss(turned, y))
        assert all(map(same, grads, back(sz.tensor(1.0), turned, y)))


@pytest.mark.parametrize("name", PAIRS)
@pytest.mark.parametrize("reduction", ["none", "sum", "mean"])
def test_gradients_of_pairs_are_differences(name: str, reduction: str) -> None:
    loss, back = getattr(sz.nn, name), getattr(sz.nn, f"{name}_bwd")
    x, y = map(exact, pair(name, "float64", 2, 3))
    shape = x.shape if reduction == "none" else ()
    g = np.random.default_rng(1).uniform(0.5, 2, shape)
    value = lambda *a: float((exact(loss(*map(sz.tensor, a), reduction=reduction)) * g).sum())  # noqa: E731
    found = back(sz.tensor(g), sz.tensor(x), sz.tensor(y), reduction=reduction)
    for which, at in itertools.product((0, 1), np.ndindex(x.shape)):
        assert math.isclose(
            exact(found[which])[at],
            difference(value, [x, y], which, at),
            rel_tol=1e-6,
            abs_tol=1e-8,
        )


def difference(value: Any, operands: list[Array], which: int, at: tuple[int, ...]) -> float:
    """Return the derivative of a function by an element, by central differences."""
    h = 1e-6
    moved = []
    for step in (h, -h):
        changed = [x.copy() for x in operands]
        changed[which][at] += step
        moved.append(value(*changed))
    return (moved[0] - moved[1]) / (2 * h)


@pytest.mark.parametrize("smoothing", [0.0, 0.25])
@pytest.mark.parametrize("kind", ["classes", "probabilities"])
def test_gradients_of_rows_are_differences(smoothing: float, kind: str) -> None:
    x = exact(made("float64", 3, 4, 2))
    weight = sz.tensor(np.array([0.5, 1, 2, 1.5]))
    target = sz.tensor([[0, 3], [-100, 2], [1, 1]])
    if kind == "probabilities":
        target = made("float64", 3, 4, 2, low=0, high=1)
    call = {"target": target, "weight": weight, "label_smoothing": smoothing}
    found = exact(sz.nn.cross_entropy_bwd(sz.tensor(2.0, sz.float64), sz.tensor(x), **call))
    value = lambda x: 2 * float(sz.nn.cross_entropy(sz.tensor(x), **call))  # noqa: E731
    for at in np.ndindex(x.shape):
        assert math.isclose(found[at], difference(value, [x], 0, at), rel_tol=1e-6, abs_tol=1e-8)


def test_ctc_is_a_sum_over_all_alignments() -> None:
    logs = log_softmax(exact(made("float64", 5, 1, 3)))
    for label in ([], [1], [1, 1], [1, 2], [2, 1, 2]):
        probability = 0.0
        for path in itertools.product(range(3), repeat=5):
            merged = [c for c, _ in itertools.groupby(path)]
            if [c for c in merged if c] == label:
                probability += math.exp(sum(logs[t, 0, c] for t, c in enumerate(path)))
        found = sz.nn.ctc_loss(sz.tensor(logs), [label or [0]], [5], [len(label)], reduction="sum")
        assert math.isclose(float(found), -math.log(probability), rel_tol=1e-12)


def test_the_gradient_of_ctc_is_a_difference() -> None:
    x = exact(made("float64", 4, 2, 3, low=-3, high=0))
    call = ([[1, 2], [1, 0]], [4, 3], [2, 1])
    found = exact(sz.nn.ctc_loss_bwd(sz.tensor(1.5, sz.float64), sz.tensor(x), *call))
    value = lambda x: 1.5 * float(sz.nn.ctc_loss(sz.tensor(x), *call))  # noqa: E731
    for at in np.ndindex(x.shape):
        assert math.isclose(found[at], difference(value, [x], 0, at), rel_tol=1e-6, abs_tol=1e-9)


def test_integers_become_floats_and_unsigned_classes_are_read() -> None:
    assert float(sz.nn.mse_loss(sz.tensor([1, 2]), sz.tensor([3, 2]))) == 2
    small = sz.cast(sz.tensor([1, 2]), sz.uint8)
    assert same(sz.nn.cross_entropy(X, small), sz.nn.cross_entropy(X, sz.tensor([1, 2])))


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: sz.nn.cross_entropy(X, sz.tensor([0, 3])), OutOfRange, "class 3"),
        (lambda: sz.nn.cross_entropy(X, sz.tensor([0])), DimensionsMismatch, r"must be \(2,\)"),
        (lambda: sz.nn.nll_loss(X, X), TypeMismatch, "must have integers"),
        (lambda: sz.nn.cross_entropy(X, sz.tensor([0, 1]), sz.tensor([1.0])), DimensionsMismatch,
         "one number for each class"),
        (lambda: sz.nn.cross_entropy(X, sz.tensor([0, 1]), axis=2), InvalidArgument, "axis is 2"),
        (lambda: sz.nn.cross_entropy(X, sz.tensor([0, 1]), label_smoothing=2), InvalidArgument,
         "from 0 to 1"),
        (lambda: sz.nn.cross_entropy(X, sz.tensor([0, 1]), ignore_index=2**63), InvalidArgument,
         "ignore_index is 9223372036854775808; it must be an int64"),
        (lambda: sz.nn.mse_loss(X, X[0]), DimensionsMismatch, "must be the same"),
        (lambda: sz.nn.mse_loss(X, X, reduction="men"), InvalidArgument, "mean"),
        (lambda: sz.nn.mse_loss_bwd(X, X, X), DimensionsMismatch, "out_grad has shape"),
        (lambda: sz.nn.huber_loss(X, X, delta=0), InvalidArgument, "above 0"),
        (lambda: sz.nn.bce(X, X, sz.tensor([1.0, 2.0])), DimensionsMismatch, "broadcast"),
        (lambda: sz.nn.mse_loss(sz.cast(X, sz.complex64), X), TypeMismatch, "complex64"),
        (lambda: sz.nn.ctc_loss(X, [[1]], [2], [3]), InvalidArgument, "target_lengths contains 3"),
        (lambda: sz.nn.ctc_loss(X, [[7]], [2], [1]), OutOfRange, "class 7"),
        (lambda: sz.nn.ctc_loss(X, [[1]], [2], [1], blank=3), InvalidArgument, "blank is 3"),
    ],
)  # fmt: skip
def test_errors_name_the_argument_and_what_is_allowed(call: Any, error: Any, words: str) -> None:
    with pytest.raises(error, match=words):
        call()
