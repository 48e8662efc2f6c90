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
