"""Operators along time with a state."""

from __future__ import annotations

from typing import Any

import numpy as np

from suanzi.truth.define import truth_of
from suanzi.truth.nn.activations import silu, silu_bwd
from suanzi.truth.tracked import Tracked, concatenate, tracked


def _zeros(*shape: int) -> Tracked:
    return tracked(np.zeros(shape))


def _with_past(x: Tracked, width: int, initial_state: Tracked | None) -> Tracked:
    """The elements before the first one, and those of x."""
    past = _zeros(*x.shape[:2], width - 1) if initial_state is None else initial_state
    return concatenate([past, x], -1)


def _convolved(seen: Tracked, weight: Tracked, bias: Tracked | None) -> Tracked:
    """The sum over taps, and the bias."""
    width = weight.shape[1]
    at = np.arange(seen.shape[2] - width + 1)[:, None] + np.arange(width)
    y = (seen[:, :, at] * weight.reshape(-1, 1, width)).sum(-1)
    return y if bias is None else y + bias.reshape(-1, 1)


@truth_of("nn:causal_conv1d")
def causal_conv1d(
    x: Tracked,
    weight: Tracked,
    bias: Tracked | None = None,
    initial_state: Tracked | None = None,
    activation: str | None = None,
    return_state: bool = False,
) -> Any:
    """y[t] is the sum of weight[k] x[t - width + 1 + k], and the bias."""
    seen = _with_past(x, weight.shape[1], initial_state)
    y = _convolved(seen, weight, bias)
    y = y if activation is None else silu(y)
    return (y, seen[:, :, x.shape[2] :]) if return_state else y


@truth_of("nn:causal_conv1d_bwd")
def causal_conv1d_bwd(
    out_grad: Tracked,
    x: Tracked,
    weight: Tracked,
    bias: Tracked | None = None,
    initial_state: Tracked | None = None,
    final_state_grad: Tracked | None = None,
    activation: str | None = None,
) -> tuple[Tracked, ...]:
    """The gradients of x, weight, bias and the initial state."""
    width, length = weight.shape[1], x.shape[2]
    seen = _with_past(x, width, initial_state)
    g = out_grad if activation is None else silu_bwd(out_grad, _convolved(seen, weight, bias))
    lead = g.shape[:2]
    parts = [
        concatenate([_zeros(*lead, k), g * weight[:, k : k + 1], _zeros(*lead, width - 1 - k)], -1)
        for k in range(width)
    ]
    by_seen = concatenate([one.reshape(1, *one.shape) for one in parts]).sum(0)
    if final_state_grad is not None:
        by_seen = by_seen + concatenate([_zeros(*lead, length), final_state_grad], -1)
    at = np.arange(length)[:, None] + np.arange(width)
    by_weight = (g.reshape(*g.shape, 1) * seen[:, :, at]).sum((0, 2))
    made = [by_seen[:, :, width - 1 :], by_weight]
    made += [] if bias is None else [g.sum((0, 2))]
    made += [] if initial_state is None else [by_seen[:, :, : width - 1]]
    return tuple(made)
