"""Right kernels by another formula than the definition, and wrong ones whose digits are lost."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import suanzi as sz

f = np.float32


def sigmoid(x: Any) -> Any:
    return f(1) / (f(1) + np.exp(-x))


def silu_bwd(out_grad: Any, x: Any) -> Any:
    p = sigmoid(x)
    return out_grad * (p * (f(1) + x * (f(1) - p)))


def quick_gelu_bwd(out_grad: Any, x: Any) -> Any:
    p = sigmoid(f(1.702) * x)
    return out_grad * (p + x * f(1.702) * p * (f(1) - p))


def gelu_bwd_by_tanh(out_grad: Any, x: Any) -> Any:
    root = f(math.sqrt(2 / math.pi))
    t = np.tanh(root * (x + f(0.044715) * x * x * x))
    slope = root * (f(1) + f(3) * f(0.044715) * x * x)
    return out_grad * (f(0.5) * (f(1) + t) + f(0.5) * x * (f(1) - t * t) * slope)


def bce_with_logits_bwd(out_grad: Any, x: Any, target: Any) -> Any:
    return out_grad * (sigmoid(x) - target) / f(x.size)


def mse_loss_bwd(out_grad: Any, x: Any, target: Any) -> Any:
    return out_grad * f(2) * (x - target) / f(x.size)


def log_softmax_bwd(out_grad: Any, x: Any) -> Any:
    e = np.exp(x - x.max(-1, keepdims=True))
    return out_grad - e / e.sum(-1, keepdims=True) * out_grad.sum(-1, keepdims=True)


def softplus(x: Any) -> Any:
    return np.where(x > 20, x, np.log1p(np.exp(x)))


def softplus_without_log1p(x: Any) -> Any:
    return np.where(x > 20, x, np.log(f(1) + np.exp(x)))


def log_sigmoid_of_sigmoid(x: Any) -> Any:
    return np.log(sigmoid(x))


def elu_without_expm1(x: Any) -> Any:
    return np.where(x > 0, x, np.exp(x) - f(1))


def one_plus_tanh_squared(out_grad: Any, x: Any) -> Any:
    return gelu_bwd_by_tanh(out_grad, x) + f(1e-5)


@pytest.mark.parametrize(
    ("op", "kernel", "right"),
    [
        ("silu_bwd", silu_bwd, True),
        ("quick_gelu_bwd", quick_gelu_bwd, True),
        ("gelu_bwd", gelu_bwd_by_tanh, True),
        ("bce_with_logits_bwd", bce_with_logits_bwd, True),
        ("mse_loss_bwd", mse_loss_bwd, True),
        ("log_softmax_bwd", log_softmax_bwd, True),
        ("softplus", softplus, True),
        ("softplus", softplus_without_log1p, False),
        ("log_sigmoid", log_sigmoid_of_sigmoid, False),
        ("elu", elu_without_expm1, False),
        ("gelu_bwd", one_plus_tanh_squared, False),
    ],
    ids=lambda x: getattr(x, "__name__", None),
)
def test_a_formula(op: str, kernel: Callable[..., Any], right: bool) -> None:
    params = {"approximate": "tanh"} if op == "gelu_bwd" else {}
    with np.errstate(all="ignore"):
        verdict = sz.judge(kernel, op, dtypes="float32", params=params)
    assert bool(verdict) == right, f"{verdict}"


def test_a_rank_that_a_kernel_refuses_is_a_note() -> None:
    def planes(x: Any, downscale_factor: int) -> Any:
        assert x.ndim == 4, "Input must be a 4D tensor"
        n, c, h, w = x.shape
        r = downscale_factor
        parts = x.reshape(n, c, h // r, r, w // r, r).transpose(0, 1, 3, 5, 2, 4)
        return parts.reshape(n, c * r * r, h // r, w // r).copy()

    verdict = sz.judge(planes, "pixel_unshuffle", dtypes="float32")
    assert verdict, f"{verdict}"
    assert "JD505" in [note.code for note in verdict.notes]

    def odd(x: Any) -> Any:
        if x.shape[-1] == 33:
            raise ValueError("no")
        return np.maximum(x, 0)

    assert [f.code for f in sz.judge(odd, "relu", dtypes="float32").findings] == ["JD001"]


def test_a_view_is_right_where_no_element_moves() -> None:
    assert sz.judge(lambda input: input.T, "transpose", dtypes="float32")
    wide = sz.judge(lambda input, shape: np.broadcast_to(input, shape), "expand", dtypes="float32")
    assert wide, f"{wide}"
    verdict = sz.judge(lambda x: x, "abs", dtypes="float32")
    assert "JD107" in [finding.code for finding in verdict.findings]


def topk(input: Any, k: int, axis: int = -1) -> Any:
    order = np.argsort(-input, axis, kind="stable")[..., :k]
    return np.take_along_axis(input, order, axis), order


def topk_with_indices_of_the_part(input: Any, k: int, axis: int = -1) -> Any:
    values, order = topk(input, k, axis)
    return values, order - order.min(-1, keepdims=True)


def scatter(input: Any, index: Any, updates: Any, override: bool = True) -> Any:
    made = input.copy()
    if override:
        made[index] = updates
    else:
        np.add.at(made, index, updates)
    return made


def scatter_without_repeats(input: Any, index: Any, updates: Any, override: bool = True) -> Any:
    made = input.copy()
    made[index] = updates if override else made[index] + updates
    return made


def interpolate_of_corners(input: Any, size: int, mode: str = "nearest") -> Any:
    at = np.round(np.linspace(0, input.shape[-1] - 1, size)).astype(int)
    return input[..., at]


@pytest.mark.parametrize(
    ("op", "kernel", "right"),
    [
        ("topk", topk, True),
        ("topk", topk_with_indices_of_the_part, False),
        ("scatter", scatter, True),
        ("scatter", scatter_without_repeats, False),
        ("interpolate", interpolate_of_corners, False),
    ],
    ids=lambda x: getattr(x, "__name__", None),
)
def test_moves(op: str, kernel: Callable[..., Any], right: bool) -> None:
    verdict = sz.judge(kernel, op, dtypes="float32")
    assert bool(verdict) == right, f"{verdict}"


def softmax(x: Any) -> Any:
    e = np.exp(x - x.max(-1, keepdims=True, initial=-np.inf))
    return e / e.sum(-1, keepdims=True)


def softmax_of_one_block(x: Any) -> Any:
    made = np.zeros_like(x)
    rows = x.reshape(-1, x.shape[-1])[:128]
    made.reshape(-1, x.shape[-1])[:128] = softmax(rows)
    return made


def linear_of_one_tile(x: Any, weight: Any, bias: Any = None) -> Any:
    made = x @ weight.T if bias is None else x @ weight.T + bias
    made[..., 128:] = 0
    return made


def matmul_of_one_tile(mat1: Any, mat2: Any) -> Any:
    made = mat1 @ mat2
    made[..., 64:, :] = 0
    return made


def attend(q: Any, k: Any, v: Any, keys: int | None) -> Any:
    if q.shape[-1] != v.shape[-1] or q.ndim != 4:
        raise ValueError("heads of one width, in four axes")
    scores = q @ k[:, :, :keys].swapaxes(-1, -2) / f(math.sqrt(q.shape[-1]))
    return (softmax(scores) @ v[:, :, :keys]).astype(q.dtype)


def attention(q: Any, k: Any, v: Any) -> Any:
    return attend(q, k, v, None)


def attention_of_128_keys(q: Any, k: Any, v: Any) -> Any:
    return attend(q, k, v, 128)


@pytest.mark.parametrize(
    ("op", "kernel", "right"),
    [
        ("softmax", softmax, True),
        ("softmax", softmax_of_one_block, False),
        ("linear", linear_of_one_tile, False),
        ("matmul", matmul_of_one_tile, False),
        ("scaled_dot_product_attention", attention, True),
        ("scaled_dot_product_attention", attention_of_128_keys, False),
    ],
    ids=lambda x: getattr(x, "__name__", None),
)
def test_results_larger_than_a_tile(op: str, kernel: Callable[..., Any], right: bool) -> None:
    with np.errstate(all="ignore"):
        verdict = sz.judge(kernel, op, dtypes="float32")
    assert bool(verdict) == right, f"{verdict}"


def softmax_in_blocks(x: Any) -> Any:
    """A softmax of blocks of 128; a block of minus infinities alone gives NaN."""
    largest, total = np.full(x.shape[:-1], -np.inf, f), np.zeros(x.shape[:-1], f)
    for i in range(0, x.shape[-1], 128):
        block = x[..., i : i + 128]
        now = np.maximum(largest, block.max(-1))
        total = total * np.exp(largest - now) + np.exp(block - now[..., None]).sum(-1)
        largest = now
    return np.exp(x - largest[..., None]) / total[..., None]


@pytest.mark.parametrize(
    ("op", "kernel", "right"),
    [
        ("softmax", softmax_in_blocks, False),
        ("exp", lambda x: np.where(x > 88, np.inf, np.exp(np.minimum(x, 88))).astype(f), False),
        ("sin", lambda x: np.sin(x - np.round(x / f(2 * math.pi)) * f(2 * math.pi)), False),
        ("is_inf", lambda x: np.isinf(x), True),
        ("is_inf", lambda x: x == f(math.inf), False),
        ("max", lambda x, y: np.fmax(x, y), False),
        ("round", lambda x: np.round(x), True),
        ("round", lambda x: np.floor(x + f(0.5)), False),
    ],
)
def test_values_at_the_ends(op: str, kernel: Callable[..., Any], right: bool) -> None:
    with np.errstate(all="ignore"):
        verdict = sz.judge(kernel, op, dtypes="float32", framework="numpy")
    assert bool(verdict) == right, f"{verdict}"


def test_a_loss_of_classes_need_not_take_probabilities() -> None:
    def cross_entropy(logits: Any, target: Any) -> Any:
        if target.dtype.kind == "f":
            raise IndexError("targets are classes")
        shifted = logits - logits.max(1, keepdims=True)
        rows = shifted - np.log(np.exp(shifted).sum(1, keepdims=True))
        counts = target != -100
        picked = np.take_along_axis(rows, np.where(counts, target, 0)[:, None], 1)[:, 0]
        return np.asarray(-(picked * counts).sum() / counts.sum(), logits.dtype)

    with np.errstate(all="ignore"):
        verdict = sz.judge(cross_entropy, "cross_entropy", dtypes="float32")
    assert verdict, f"{verdict}"
