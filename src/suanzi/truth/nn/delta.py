"""nn 12.2: the gated delta rule, step by step, and its gradients by the chain rule in reverse."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from suanzi.truth.define import truth_of
from suanzi.truth.tracked import Tracked, concatenate, exp, sqrt, tracked

EPS = 1e-6


def _zeros(*shape: int) -> Tracked:
    return tracked(np.zeros(shape))


def _stack(parts: list[Tracked], shape: tuple[int, ...]) -> Tracked:
    """Steps along the second axis."""
    if not parts:
        return _zeros(shape[0], 0, *shape[1:])
    return concatenate([one.reshape(shape[0], 1, *shape[1:]) for one in parts], 1)


def _scaled(x: Tracked, factor: float, norm: bool) -> Tracked:
    """The rows times a factor, or normalised before."""
    return _normalised(x) * factor if norm else x * factor


def _length(x: Tracked) -> Tracked:
    return sqrt((x * x).sum(-1, keepdims=True) + EPS)


def _normalised(x: Tracked) -> Tracked:
    return x / _length(x)


def _shared(x: Tracked, heads: int) -> Tracked:
    """Rows of key heads for each value head."""
    return x[:, :, np.arange(heads) // max(heads // max(x.shape[2], 1), 1)]


class _Steps:
    """What each step has, and the states: (batch, heads, dk, dv)."""

    def __init__(
        self, q: Tracked, k: Tracked, v: Tracked, g: Tracked, beta: Tracked,
        initial_state: Tracked | None, scale: float | None, norm: bool,
    ) -> None:  # fmt: skip
        (batch, self.time, keys, depth), (heads, width) = k.shape, v.shape[2:]
        self.scale = scale if scale is not None else 1 / math.sqrt(depth) if depth else 1.0
        self.shape = (batch, heads, depth, width)
        self.group = heads // keys if keys else 0
        self.q = _shared(_scaled(q, self.scale, norm), heads)
        self.k = _shared(_scaled(k, 1.0, norm) if norm else k, heads)
        self.decay, self.beta = exp(g), beta
        self.states = [_zeros(*self.shape) if initial_state is None else initial_state]
        self.decayed: list[Tracked] = []
        self.left: list[Tracked] = []
        for t in range(self.time):
            decayed = self.states[-1] * self.decay[:, t, :, None, None]
            left = v[:, t] - (decayed * self.key(t)).sum(2)
            u = left * beta[:, t, :, None]
            self.states.append(decayed + self.key(t) * u.reshape(batch, heads, 1, width))
            self.decayed.append(decayed)
            self.left.append(left)

    def key(self, t: int) -> Tracked:
        return self.k[:, t, :, :, None]

    def query(self, t: int) -> Tracked:
        return self.q[:, t, :, :, None]

    def row(self, x: Tracked) -> Tracked:
        """A row of values, for each row of the state."""
        return x[:, :, None, :]


@truth_of("nn:gated_delta_rule")
def gated_delta_rule(
    q: Tracked,
    k: Tracked,
    v: Tracked,
    g: Tracked,
    beta: Tracked,
    initial_state: Tracked | None = None,
    scale: float | None = None,
    use_qk_l2norm: bool = False,
    return_state: bool = False,
) -> Any:
    """S = exp(g) S + k u^T, u = beta (v - exp(g) S^T k); y = S^T (scale q)."""
    steps = _Steps(q, k, v, g, beta, initial_state, scale, use_qk_l2norm)
    batch, heads, _, width = steps.shape
    found = [(steps.states[t + 1] * steps.query(t)).sum(2) for t in range(steps.time)]
    y = _stack(found, (batch, heads, width))
    return (y, steps.states[-1]) if return_state else y


@truth_of("nn:gated_delta_rule_bwd")
def gated_delta_rule_bwd(
    out_grad: Tracked,
    q: Tracked,
    k: Tracked,
    v: Tracked,
    g: Tracked,
    beta: Tracked,
    initial_state: Tracked | None = None,
    final_state_grad: Tracked | None = None,
    scale: float | None = None,
    use_qk_l2norm: bool = False,
) -> tuple[Tracked, ...]:
    """The gradients of q, k, v, g, beta and the initial state."""
    s = _Steps(q, k, v, g, beta, initial_state, scale, use_qk_l2norm)
    batch, heads, depth, width = s.shape
    slope = _zeros(*s.shape) if final_state_grad is None else final_state_grad
    found: dict[str, list[Tracked]] = {name: [] for name in ("q", "k", "v", "g", "beta")}
    for t in reversed(range(s.time)):
        above, left = s.row(out_grad[:, t]), s.left[t]
        factor = s.beta[:, t, :, None]
        found["q"].append((s.states[t + 1] * above).sum(3))
        slope = slope + s.query(t) * above
        by_u = (slope * s.key(t)).sum(2)
        by_k = (slope * s.row(left * factor)).sum(3)
        found["beta"].append((by_u * left).sum(2))
        by_left = by_u * factor
        found["v"].append(by_left)
        found["k"].append(by_k - (s.decayed[t] * s.row(by_left)).sum(3))
        slope = slope - s.key(t) * s.row(by_left)
        found["g"].append((slope * s.decayed[t]).sum((2, 3)))
        slope = slope * s.decay[:, t, :, None, None]
    shapes = {"q": (batch, heads, depth), "k": (batch, heads, depth), "v": (batch, heads, width)}
    made = {n: _stack(x[::-1], shapes.get(n, (batch, heads))) for n, x in found.items()}
    grads = [
        _by_rows(made["q"], q, s, s.scale, use_qk_l2norm),
        _by_rows(made["k"], k, s, 1.0, use_qk_l2norm),
        made["v"], made["g"], made["beta"],
    ]  # fmt: skip
    return (*grads, *([] if initial_state is None else [slope]))


def _by_rows(grad: Tracked, x: Tracked, steps: _Steps, factor: float, norm: bool) -> Tracked:
    """The gradient of what was scaled and shared by heads."""
    batch, time, keys, depth = x.shape
    g = grad.reshape(batch, time, keys, steps.group, depth).sum(3)
    if norm:
        n = _normalised(x)
        g = (g - n * (n * g).sum(-1, keepdims=True)) / _length(x)
    return g * factor if factor != 1 else g
