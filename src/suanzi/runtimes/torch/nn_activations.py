"""Activations and their gradients by their definitions, also at NaN and at the infinities.

PyTorch's own have a number for NaN, and NaN at infinity where the slope has a limit.
"""

from __future__ import annotations

import math
from typing import Any, TypeAlias

import torch

from suanzi import _core
from suanzi.base import dtypes
from suanzi.promote import registry
from suanzi.runtimes.torch.models import composed
from suanzi.runtimes.torch.tensor import placed
from suanzi.runtimes.torch.ways import Call

Lanes: TypeAlias = torch.Tensor
_SCALE = 1.0507009873554804934193349852946
_ALPHA = 1.6732632423543772848170429916717


def _with_nan(x: Lanes, y: Lanes) -> Lanes:
    """Return y, and NaN where x is."""
    return torch.where(x == x, y, x)


def _limits(x: Lanes, y: Lanes, below: float, above: float) -> Lanes:
    """Return y, and the limits at the infinities."""
    return torch.where(x == -math.inf, below, torch.where(x == math.inf, above, y))


def _inside(g: Lanes, x: Lanes, low: float, high: float) -> Lanes:
    inside = x > low if high == math.inf else (x > low) & (x < high)
    return _with_nan(x, torch.where(inside, g, 0.0))


@composed("nn:relu_bwd")
def relu_bwd(out_grad: Lanes, x: Lanes) -> Lanes:
    """Return out_grad above 0."""
    return _inside(out_grad, x, 0, math.inf)


@composed("nn:relu6_bwd")
def relu6_bwd(out_grad: Lanes, x: Lanes) -> Lanes:
    """Return out_grad between 0 and 6."""
    return _inside(out_grad, x, 0, 6)


@composed("nn:hardtanh_bwd")
def hardtanh_bwd(out_grad: Lanes, x: Lanes, min_val: float, max_val: float) -> Lanes:
    """Return out_grad between two numbers."""
    return _inside(out_grad, x, min_val, max_val)


@composed("nn:hardsigmoid_bwd")
def hardsigmoid_bwd(out_grad: Lanes, x: Lanes) -> Lanes:
    """Return out_grad / 6 between -3 and 3."""
    return _inside(out_grad / 6, x, -3, 3)


@composed("nn:hardswish_bwd")
def hardswish_bwd(out_grad: Lanes, x: Lanes) -> Lanes:
    """Return out_grad times (2 x + 3) / 6 between -3 and 3, 0 below, 1 above."""
    slope = torch.where(x >= 3, 1.0, (2 * x + 3) / 6)
    return out_grad * torch.where(x <= -3, 0.0, slope)


@composed("nn:leaky_relu_bwd")
def leaky_relu_bwd(out_grad: Lanes, x: Lanes, negative_slope: float) -> Lanes:
    """Return out_grad, or a multiple of it below 0."""
    return _with_nan(x, torch.where(x > 0, out_grad, out_grad * negative_slope))


def _spread(x: Lanes, weight: Lanes) -> Lanes:
    shape = [1] * x.dim()
    if shape:
        shape[min(1, x.dim() - 1)] = weight.numel()
    return weight.reshape(shape)


@composed("nn:prelu")
def prelu(x: Lanes, weight: Lanes) -> Lanes:
    """Return x, or a multiple of it below 0, by channel."""
    return torch.where(x > 0, x, x * _spread(x, weight))


@composed("nn:prelu_bwd")
def prelu_bwd(out_grad: Lanes, x: Lanes, weight: Lanes) -> tuple[Lanes, Lanes]:
    """Return the gradients of x and of the weight."""
    positive = x > 0
    by_x = _with_nan(x, torch.where(positive, out_grad, out_grad * _spread(x, weight)))
    parts = torch.where(positive, 0.0, out_grad * x)
    axis = min(1, x.dim() - 1)
    every = [a for a in range(x.dim()) if a != axis or weight.numel() == 1]
    return by_x, (parts.sum(every) if every else parts).reshape(weight.shape)


@composed("nn:elu_bwd")
def elu_bwd(out_grad: Lanes, x: Lanes, alpha: float) -> Lanes:
    """Return out_grad, or that times alpha exp(x) below 0."""
    below = out_grad * (alpha * torch.exp(x.clamp(max=0)))
    return _with_nan(x, torch.where(x > 0, out_grad, below))


@composed("nn:selu_bwd")
def selu_bwd(out_grad: Lanes, x: Lanes) -> Lanes:
    """Return a multiple of the gradient of elu."""
    return _SCALE * elu_bwd(out_grad, x, _ALPHA)


@composed("nn:celu_bwd")
def celu_bwd(out_grad: Lanes, x: Lanes, alpha: float) -> Lanes:
    """Return out_grad, or that times exp(x / alpha) below 0."""
    below = out_grad * torch.exp(x.clamp(max=0) / alpha)
    return _with_nan(x, torch.where(x > 0, out_grad, below))


@composed("nn:softsign_bwd")
def softsign_bwd(out_grad: Lanes, x: Lanes) -> Lanes:
    """Return out_grad / (1 + |x|)**2."""
    root = 1 / (1 + x.abs())
    return out_grad * (root * root)


def _sigmoid_slope(x: Lanes, by: float) -> Lanes:
    """Return the derivative of x sigmoid(by x)."""
    z = by * x
    return _limits(x, torch.sigmoid(z) * (1 + z * torch.sigmoid(-z)), 0, 1)


@composed("nn:silu_bwd")
def silu_bwd(out_grad: Lanes, x: Lanes) -> Lanes:
    """Return the gradient of x sigmoid(x)."""
    return out_grad * _sigmoid_slope(x, 1.0)


@composed("nn:quick_gelu_bwd")
def quick_gelu_bwd(out_grad: Lanes, x: Lanes) -> Lanes:
    """Return the gradient of x sigmoid(1.702 x)."""
    return out_grad * _sigmoid_slope(x, 1.702)


@composed("nn:mish_bwd")
def mish_bwd(out_grad: Lanes, x: Lanes) -> Lanes:
    """Return the gradient of x tanh(s), s = log(1 + exp(x)): tanh(s) + x p / cosh(s)**2."""
    s = x.clamp(min=0) + torch.log1p(torch.exp(-x.abs()))
    e = torch.exp(-s)
    half = 2 * e / (1 + e * e)
    slope = torch.tanh(s) + x * torch.sigmoid(x) * (half * half)
    return out_grad * _limits(x, slope, 0, 1)


@composed("nn:gelu_bwd")
def gelu_bwd(out_grad: Lanes, x: Lanes, approximate: str) -> Lanes:
    """Return the gradient of gelu, or of its approximation."""
    return out_grad * _gelu_slope(x, approximate)


def _gelu_slope(x: Lanes, approximate: str) -> Lanes:
    if approximate == "tanh":
        root = math.sqrt(2 / math.pi)
        t = torch.tanh(root * (x + 0.044715 * (x * x * x)))
        by = root * (1 + 3 * 0.044715 * (x * x))
        return _limits(x, (1 + t) / 2 + x / 2 * by * ((1 - t) * (1 + t)), 0, 1)
    density = torch.exp(-(x * x) / 2) / math.sqrt(2 * math.pi)
    return _limits(x, torch.erfc(-x / math.sqrt(2)) / 2 + x * density, 0, 1)


def _gated(x: Lanes, gate: Lanes) -> Lanes:
    """Return what grows like relu, also at the infinities."""
    return torch.where(torch.isinf(x), torch.relu(x), gate)


@composed("nn:gelu")
def gelu(x: Lanes, approximate: str) -> Lanes:
    """Return x times the probability below x, also where PyTorch's 1 + erf(x) is 0."""
    if approximate == "tanh":
        z = math.sqrt(8 / math.pi) * (x + 0.044715 * (x * x * x))
        return _gated(x, x * torch.sigmoid(z))
    return _gated(x, x * torch.erfc(-x / math.sqrt(2)) / 2)


@composed("nn:silu")
def silu(x: Lanes) -> Lanes:
    """Return x sigmoid(x)."""
    return _gated(x, torch.nn.functional.silu(x))


@composed("nn:quick_gelu")
def quick_gelu(x: Lanes) -> Lanes:
    """Return x sigmoid(1.702 x)."""
    return _gated(x, x * torch.sigmoid(1.702 * x))


@composed("nn:mish")
def mish(x: Lanes) -> Lanes:
    """Return x tanh(log(1 + exp(x)))."""
    return _gated(x, torch.nn.functional.mish(x))


@composed("nn:hardswish")
def hardswish(x: Lanes) -> Lanes:
    """Return x (x + 3) / 6 between -3 and 3, 0 below, x above: CUDA's has 1/6 of float32."""
    middle = x * (x + 3) / 6
    return torch.where(x <= -3, 0.0, torch.where(x >= 3, x, middle))


@composed("nn:hardsigmoid")
def hardsigmoid(x: Lanes) -> Lanes:
    """Return (x + 3) / 6 between 0 and 1: CUDA's has 1/6 of float32."""
    return torch.clamp(x + 3, 0, 6) / 6


@composed("nn:swiglu")
def swiglu(gate: Lanes, up: Lanes) -> Lanes:
    """Return silu(gate) up."""
    return silu(gate) * up


@composed("nn:geglu")
def geglu(gate: Lanes, up: Lanes, approximate: str) -> Lanes:
    """Return gelu(gate) up."""
    return gelu(gate, approximate) * up


@composed("nn:swiglu_bwd")
def swiglu_bwd(out_grad: Lanes, gate: Lanes, up: Lanes) -> tuple[Lanes, Lanes]:
    """Return the gradients of gate and up."""
    return out_grad * up * _sigmoid_slope(gate, 1.0), out_grad * silu(gate)


@composed("nn:geglu_bwd")
def geglu_bwd(out_grad: Lanes, gate: Lanes, up: Lanes, approximate: str) -> tuple[Lanes, Lanes]:
    """Return the gradients of gate and up."""
    return out_grad * up * _gelu_slope(gate, approximate), out_grad * gelu(gate, approximate)


def kept_by_seed(call: Call, shape: tuple[int, ...], chance: float, seed: Any) -> Lanes:
    """Return the CPU's mask of a seed, the same on every device."""
    chances = _core.view(_core.full((), dtypes.float32, chance), 0, shape, (0,) * len(shape))
    return placed(registry.call("rand_bernoulli", chances, int(seed)), call.place)


@composed("nn:dropout")
def dropout(call: Call, x: Lanes, p: float, mask: Any, seed: Any) -> Lanes:
    """Return x / (1 - p) where the mask is true."""
    kept = 1 - float(p)
    keeps = kept_by_seed(call, tuple(x.shape), kept, seed) if mask is None else mask
    return torch.where(keeps != 0, x * (1 / kept if kept else 0.0), 0.0)


@composed("nn:dropout_bwd")
def dropout_bwd(call: Call, out_grad: Lanes, p: float, mask: Any, seed: Any) -> Lanes:
    """Return the gradient, dropped alike."""
    return dropout(call, out_grad, p, mask, seed)
