"""Operators along time with a state, and steps of optimizers."""

from __future__ import annotations

import math
from typing import Any, TypeAlias

import torch

from suanzi.runtimes.torch.models import composed

Lanes: TypeAlias = torch.Tensor


def _numbers(*given: Lanes | None) -> tuple[Any, ...]:
    """Return operands as numbers: those of bool come as they are."""
    return tuple(
        x.to(torch.float64) if x is not None and x.dtype is torch.bool else x for x in given
    )


def _seen(x: Lanes, width: int, initial_state: Lanes | None) -> Lanes:
    """Return the elements before the first one, and those of x."""
    past = x.new_zeros((*x.shape[:2], width - 1)) if initial_state is None else initial_state
    return torch.cat([past, x], -1)


def _convolved(seen: Lanes, weight: Lanes, bias: Lanes | None) -> Lanes:
    """Return the sum over taps, one product at a time, and the bias."""
    width = weight.shape[1]
    count = seen.shape[2] - width + 1
    y = weight[:, :1] * seen[:, :, :count]
    for k in range(1, width):
        y = y + weight[:, k : k + 1] * seen[:, :, k : k + count]
    return y if bias is None else y + bias[:, None]


def _silu(x: Lanes) -> Lanes:
    return torch.where(x == -math.inf, 0.0, torch.nn.functional.silu(x))


@composed("nn:causal_conv1d")
def causal_conv1d(
    x: Lanes, weight: Lanes, bias: Lanes | None, initial_state: Lanes | None,
    activation: str | None, return_state: bool,
) -> Any:  # fmt: skip
    """Return each channel convolved with its taps, and the elements before the next call."""
    x, weight, bias, initial_state = _numbers(x, weight, bias, initial_state)
    seen = _seen(x, weight.shape[1], initial_state)
    y = _convolved(seen, weight, bias)
    y = y if activation is None else _silu(y)
    return [y, seen[:, :, x.shape[2] :].clone()] if return_state else y


@composed("nn:causal_conv1d_bwd")
def causal_conv1d_bwd(
    out_grad: Lanes, x: Lanes, weight: Lanes, bias: Lanes | None, initial_state: Lanes | None,
    final_state_grad: Lanes | None, activation: str | None,
) -> list[Lanes]:  # fmt: skip
    """Return the gradients of x, weight, bias and the initial state."""
    out_grad, x, weight, bias = _numbers(out_grad, x, weight, bias)
    initial_state, final_state_grad = _numbers(initial_state, final_state_grad)
    width, length = weight.shape[1], x.shape[2]
    seen = _seen(x, width, initial_state)
    g = out_grad
    if activation is not None:
        z = _convolved(seen, weight, bias)
        p = torch.sigmoid(z)
        g = g * torch.where(torch.isinf(z), (z > 0).to(z.dtype), p * (1 + z * torch.sigmoid(-z)))
    by_seen = torch.zeros_like(seen, dtype=torch.result_type(g, weight))
    for k in range(width):
        by_seen[:, :, k : k + length] += weight[:, k : k + 1] * g
    if final_state_grad is not None:
        by_seen[:, :, length:] += final_state_grad
    taps = [(g * seen[:, :, k : k + length]).sum((0, 2)) for k in range(width)]
    made = [by_seen[:, :, width - 1 :].clone(), torch.stack(taps, -1)]
    made += [] if bias is None else [g.sum((0, 2))]
    made += [] if initial_state is None else [by_seen[:, :, : width - 1].clone()]
    return made


def _correction(beta: float, step: int) -> float:
    return 1 - beta**step if beta < 0.5 else -math.expm1(step * math.log1p(beta - 1))


@composed("nn:adamw")
def adamw(
    param: Lanes, grad: Lanes, exp_avg: Lanes, exp_avg_sq: Lanes, step: int, lr: float,
    beta1: float, beta2: float, eps: float, weight_decay: float, max_exp_avg_sq: Lanes | None,
    maximize: bool,
) -> list[Lanes]:  # fmt: skip
    """Return a parameter after a step, and its moments."""
    param, grad, exp_avg, exp_avg_sq, max_exp_avg_sq = _numbers(
        param, grad, exp_avg, exp_avg_sq, max_exp_avg_sq
    )
    g = -grad if maximize else grad
    apart = g - exp_avg
    average = exp_avg + (1 - beta1) * apart if 1 - beta1 < 0.5 else g - beta1 * apart
    square = exp_avg_sq * beta2 + (1 - beta2) * g * g
    most = square if max_exp_avg_sq is None else torch.maximum(max_exp_avg_sq, square)
    under = torch.sqrt(most) / math.sqrt(_correction(beta2, step)) + eps
    rate = lr / _correction(beta1, step)
    made = [param * (1 - lr * weight_decay) - rate * average / under, average, square]
    return made if max_exp_avg_sq is None else [*made, most]
