"""Kernels as people write them, right ones and wrong ones: what the judge must say of each."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

Array = Any
f32 = np.float32
RIGHT: list[tuple[str, Callable[..., Any], dict[str, Any]]] = []
WRONG: list[tuple[str, Callable[..., Any], str, dict[str, Any]]] = []


def right(op: str, **params: Any) -> Callable[[Any], Any]:
    """Declare a kernel that is right."""
    return lambda kernel: RIGHT.append((op, kernel, params)) or kernel


def wrong(op: str, code: str, **params: Any) -> Callable[[Any], Any]:
    """Declare a kernel that is wrong, with the finding that must be among those of the verdict."""
    return lambda kernel: WRONG.append((op, kernel, code, params)) or kernel


def erf(x: Array) -> Array:
    return np.vectorize(math.erf, otypes=[np.float64])(x.astype(np.float64))


# ---- softmax -------------------------------------------------------------------------------------


@right("softmax")
def softmax(x: Array) -> Array:
    y = x.astype(f32)
    e = np.exp(y - y.max(-1, keepdims=True, initial=-np.inf))
    return (e / e.sum(-1, keepdims=True)).astype(x.dtype)


@right("softmax")
def softmax_by_exp2(x: Array) -> Array:
    y = x.astype(f32) * f32(1.44269504)
    e = np.exp2(y - y.max(-1, keepdims=True, initial=-np.inf))
    return (e * (f32(1) / e.sum(-1, keepdims=True))).astype(x.dtype)


@right("softmax")
def softmax_online(x: Array) -> Array:
    y = x.astype(f32)
    top = np.full((*x.shape[:-1], 1), -np.inf, f32)
    total = np.zeros_like(top)
    for start in range(0, x.shape[-1], 64):
        part = y[..., start : start + 64]
        new = np.maximum(top, part.max(-1, keepdims=True))
        shift = np.where(new == -np.inf, f32(0), new)  # a part that is masked
        total = total * np.exp(top - shift) + np.exp(part - shift).sum(-1, keepdims=True)
        top = new
    return (np.exp(y - top) / total).astype(x.dtype)


@wrong("softmax", "JD201")
def softmax_zeros(x: Array) -> Array:
    return np.zeros_like(x)


@wrong("softmax", "JD206")
def softmax_uniform(x: Array) -> Array:
    return np.full_like(x, 1 / max(x.shape[-1], 1))


@wrong("softmax", "JD301")
def softmax_without_maximum(x: Array) -> Array:
    e = np.exp(x.astype(f32))
    return (e / e.sum(-1, keepdims=True)).astype(x.dtype)


@wrong("softmax", "JD202")
def softmax_without_the_last_tile(x: Array) -> Array:
    y = softmax(x)
    if x.shape[-1] > 64:
        y[..., x.shape[-1] // 64 * 64 :] = 0
    return y


@wrong("softmax", "JD203")
def softmax_without_the_last_rows(x: Array) -> Array:
    y = softmax(x)
    y[1:] = 0
    return y


@wrong("softmax", "JD302")
def softmax_that_spreads(x: Array) -> Array:
    y = softmax(x)
    return y + 0 * y.sum()


@wrong("softmax", "JD303")
def softmax_without_nan(x: Array) -> Array:
    return np.nan_to_num(softmax(x))


@wrong("softmax", "JD401")
def softmax_summed_in_float16(x: Array) -> Array:
    y = x.astype(f32)
    e = np.exp(y - y.max(-1, keepdims=True, initial=-np.inf)).astype(np.float16)
    total = np.cumsum(e, -1, dtype=np.float16)[..., -1:]
    return (e / total).astype(x.dtype)


@wrong("softmax", "JD404")
def softmax_of_the_other_axis(x: Array) -> Array:
    return np.ascontiguousarray(softmax(np.moveaxis(x, 0, -1))).T.copy() if x.ndim == 2 else x + 1


@wrong("softmax", "JD103")
def softmax_in_float32(x: Array) -> Array:
    return softmax(x.astype(f32))


@wrong("softmax", "JD107")
def softmax_in_place(x: Array) -> Array:
    x[...] = softmax(x)
    return x


@wrong("softmax", "JD104")
def softmax_that_changes_its_input(x: Array) -> Array:
    y = softmax(x)
    x[...] = 0
    return y


@wrong("softmax", "JD102")
def softmax_of_lists(x: Array) -> Any:
    return softmax(x).tolist()


@wrong("softmax", "JD001")
def softmax_that_raises(x: Array) -> Array:
    raise RuntimeError("out of registers")


@wrong("softmax", "JD109")
def softmax_by_address(x: Array, kept: Any = {}) -> Array:  # noqa: B006
    key = (x.ctypes.data, x.shape, str(x.dtype))
    if key not in kept:
        kept[key] = softmax(x)
    return kept[key].copy()


@wrong("softmax", "JD102")
def softmax_of_nothing(x: Array) -> Any:
    softmax(x)


# ---- rows ----------------------------------------------------------------------------------------


@right("log_softmax")
def log_softmax(x: Array) -> Array:
    y = x.astype(f32)
    y = y - y.max(-1, keepdims=True, initial=-np.inf)
    return (y - np.log(np.exp(y).sum(-1, keepdims=True))).astype(x.dtype)


@wrong("log_softmax", "JD303")
def log_of_softmax(x: Array) -> Array:
    return np.log(np.maximum(softmax(x.astype(f32)), f32(1e-30))).astype(x.dtype)


@right("logsumexp")
def logsumexp(x: Array) -> Array:
    y = x.astype(f32)
    top = y.max(-1, keepdims=True)
    top = np.where(np.isfinite(top), top, 0)
    return (np.log(np.exp(y - top).sum(-1)) + top[..., 0]).astype(x.dtype)


@right("rms_norm", eps=1e-6)
def rms_norm(x: Array, weight: Array) -> Array:
    y = x.astype(f32)
    y = y / np.sqrt((y * y).mean(-1, keepdims=True) + f32(1e-6))
    return (y * weight.astype(f32)).astype(x.dtype)


@wrong("rms_norm", "JD404", eps=1e-6)
def rms_norm_with_another_epsilon(x: Array, weight: Array) -> Array:
    y = x.astype(f32)
    y = y / (np.sqrt((y * y).mean(-1, keepdims=True)) + f32(1e-2))
    return (y * weight.astype(f32)).astype(x.dtype)


@wrong("rms_norm", "JD401", eps=1e-6)
def rms_norm_squared_in_float16(x: Array, weight: Array) -> Array:
    y = x.astype(np.float16)
    total = np.cumsum(y * y, -1, dtype=np.float16)[..., -1:] / np.float16(x.shape[-1])
    y = y.astype(f32) / np.sqrt(total.astype(f32) + f32(1e-6))
    return (y * weight.astype(f32)).astype(x.dtype)


@wrong("rms_norm", "JD404", eps=1e-6)
def rms_norm_without_weight(x: Array, weight: Array) -> Array:
    return rms_norm(x, np.ones_like(weight))


@right("layer_norm")
def layer_norm(x: Array, weight: Array, bias: Array) -> Array:
    y = x.astype(f32)
    y = y - y.mean(-1, keepdims=True)
    y = y / np.sqrt((y * y).mean(-1, keepdims=True) + f32(1e-5))
    return (y * weight.astype(f32) + bias.astype(f32)).astype(x.dtype)


@wrong("layer_norm", "JD404")
def layer_norm_unbiased(x: Array, weight: Array, bias: Array) -> Array:
    y = x.astype(f32)
    y = y - y.mean(-1, keepdims=True)
    y = y / np.sqrt((y * y).sum(-1, keepdims=True) / max(x.shape[-1] - 1, 1) + f32(1e-5))
    return (y * weight.astype(f32) + bias.astype(f32)).astype(x.dtype)


@wrong("layer_norm", "JD404")
def layer_norm_by_the_mean_of_squares(x: Array, weight: Array, bias: Array) -> Array:
    y = x.astype(f32)
    mean = y.mean(-1, keepdims=True)
    spread = (y * y).mean(-1, keepdims=True) - mean * mean  # nothing is left of it far from 0
    y = (y - mean) / np.sqrt(spread + f32(1e-5))
    return (y * weight.astype(f32) + bias.astype(f32)).astype(x.dtype)


@wrong("layer_norm", "JD404")
def layer_norm_with_the_bias_twice(x: Array, weight: Array, bias: Array) -> Array:
    y = layer_norm(x.astype(f32), weight.astype(f32), bias.astype(f32))
    return (y + bias.astype(f32)).astype(x.dtype)


# ---- activations ---------------------------------------------------------------------------------


@right("gelu")
def gelu(x: Array) -> Array:
    y = x.astype(np.float64)
    half = np.vectorize(math.erfc, otypes=[np.float64])(-y * math.sqrt(0.5)) / 2
    return np.where(np.isneginf(y), 0, y * half).astype(x.dtype)


@wrong("gelu", "JD404")
def gelu_by_tanh(x: Array) -> Array:
    y = x.astype(f32)
    inner = f32(math.sqrt(2 / math.pi)) * (y + f32(0.044715) * y**3)
    return (y * (1 + np.tanh(inner)) / 2).astype(x.dtype)


@right("silu")
def silu(x: Array) -> Array:
    y = x.astype(f32)
    return np.where(np.isneginf(y), f32(0), y / (1 + np.exp(-y))).astype(x.dtype)


@wrong("silu", "JD204")
def silu_not_at_all(x: Array) -> Array:
    return x.copy()


@right("relu")
def relu(x: Array) -> Array:
    return np.maximum(x, x.dtype.type(0))


@wrong("relu", "JD303")
def relu_that_loses_nan(x: Array) -> Array:
    return np.where(x > 0, x, x.dtype.type(0))


@right("sigmoid")
def sigmoid(x: Array) -> Array:
    return (1 / (1 + np.exp(-x.astype(f32)))).astype(x.dtype)


@wrong("sigmoid", "JD404")
def sigmoid_in_few_digits(x: Array) -> Array:
    return np.round(sigmoid(x).astype(f32), 2).astype(x.dtype)


@right("swiglu")
def swiglu(gate: Array, up: Array) -> Array:
    return (silu(gate.astype(f32)) * up.astype(f32)).astype(gate.dtype)


@wrong("swiglu", "JD404")
def swiglu_the_other_way(gate: Array, up: Array) -> Array:
    return swiglu(up, gate)


# ---- products ------------------------------------------------------------------------------------


@right("linear")
def linear(x: Array, weight: Array) -> Array:
    return (x.astype(f32) @ weight.astype(f32).T).astype(x.dtype)


@wrong("linear", "JD401")
def linear_in_tf32(x: Array, weight: Array) -> Array:
    a, b = (_tf32(y.astype(f32)) for y in (x, weight))
    return (a @ b.T).astype(x.dtype)


def _tf32(x: Array) -> Array:
    bits = np.ascontiguousarray(x).view(np.uint32)
    return ((bits + np.uint32(0x1000)) & np.uint32(0xFFFFE000)).view(f32)


@wrong("linear", "JD404")
def linear_that_ends_early(x: Array, weight: Array) -> Array:
    n = max(1, x.shape[-1] - 1)
    return (x[..., :n].astype(f32) @ weight[:, :n].astype(f32).T).astype(x.dtype)


@wrong("linear", "JD402")
def linear_scaled(x: Array, weight: Array) -> Array:
    return (linear(x.astype(f32), weight.astype(f32)) * f32(0.5)).astype(x.dtype)


@right("scaled_dot_product_attention")
def attention(q: Array, k: Array, v: Array) -> Array:
    a, b, c = (y.astype(f32) for y in (q, k, v))
    scores = a @ b.swapaxes(-1, -2) / f32(math.sqrt(q.shape[-1]))
    return (softmax(scores) @ c).astype(q.dtype)


@wrong("scaled_dot_product_attention", "JD404")
def attention_without_scale(q: Array, k: Array, v: Array) -> Array:
    a, b, c = (y.astype(f32) for y in (q, k, v))
    return (softmax(a @ b.swapaxes(-1, -2)) @ c).astype(q.dtype)


@wrong("scaled_dot_product_attention", "JD404")
def attention_that_skips_a_key(q: Array, k: Array, v: Array) -> Array:
    return attention(q, k[..., :-1, :], v[..., :-1, :]) if k.shape[-2] > 1 else attention(q, k, v)


# ---- losses and others ---------------------------------------------------------------------------


@right("mse_loss")
def mse(x: Array, target: Array) -> Array:
    d = x.astype(f32) - target.astype(f32)
    return np.asarray((d * d).mean(dtype=np.float64)).astype(x.dtype)


@wrong("mse_loss", "JD404")
def mse_summed_by_one_too_few(x: Array, target: Array) -> Array:
    d = x.astype(f32) - target.astype(f32)
    return np.asarray((d * d).sum(dtype=np.float64) / max(d.size - 1, 1)).astype(x.dtype)


@right("pixel_shuffle", upscale_factor=2)
def shuffle(x: Array) -> Array:
    *lead, c, h, w = x.shape
    y = x.reshape(*lead, c // 4, 2, 2, h, w)
    n = len(lead)
    y = y.transpose(*range(n), n, n + 3, n + 1, n + 4, n + 2)
    return np.ascontiguousarray(y.reshape(*lead, c // 4, 2 * h, 2 * w))


@wrong("pixel_shuffle", "JD404", upscale_factor=2)
def shuffle_with_rows_and_columns_exchanged(x: Array) -> Array:
    *lead, c, h, w = x.shape
    y = x.reshape(*lead, c // 4, 2, 2, h, w)
    n = len(lead)
    y = y.transpose(*range(n), n, n + 3, n + 2, n + 4, n + 1)
    return np.ascontiguousarray(y.reshape(*lead, c // 4, 2 * h, 2 * w))
