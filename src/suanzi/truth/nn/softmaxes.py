"""Softmax, its logarithm and the logarithm of a sum of exponentials, with their gradients."""

from __future__ import annotations

from typing import Any

import numpy as np

from suanzi.truth.define import truth_of
from suanzi.truth.tracked import Tracked, exp, log, where

_FAR = 1e4
"""The exponential of minus so much is 0 in every dtype."""


def near(x: Tracked, top: Any = None, axis: int = -1) -> Tracked:
    """x, with -inf where it is so far below the largest that nothing of its exponential is left.

    A difference from the largest may overflow there, as with masks of the lowest float32; it is
    minus infinity then, whose exponential is 0, too. `top` has the largest, if others
    than those along the axis take part.
    """
    value = x.plain
    if top is None:
        top = value.max(axis, keepdims=True, initial=-np.inf)
    with np.errstate(all="ignore"):
        is_far = value + np.where(np.isfinite(x.error), x.error, 0.0) < top - _FAR
    return where(is_far, -np.inf, x)


@truth_of("nn:softmax")
def softmax(x: Tracked, axis: int = -1) -> Tracked:
    """exp(x) over its sum along an axis."""
    x = near(x, axis=axis)
    e = exp(x - x.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


@truth_of("nn:log_softmax")
def log_softmax(x: Tracked, axis: int = -1) -> Tracked:
    """The logarithm of softmax."""
    most = x.max(axis, keepdims=True)
    return x - most - log(exp(near(x, axis=axis) - most).sum(axis, keepdims=True))


@truth_of("nn:logsumexp")
def logsumexp(x: Tracked, axis: int = -1, keep_dims: bool = False) -> Tracked:
    """The logarithm of the sum of exponentials; the largest, if infinite, is not taken off."""
    most = x.max(axis, keepdims=True)
    centre = where(np.isfinite(most.size), most, 0.0)
    found = centre + log(exp(near(x, axis=axis) - centre).sum(axis, keepdims=True))
    return found if keep_dims else found.sum(axis)


@truth_of("nn:softmax_bwd")
def softmax_bwd(out_grad: Tracked, x: Tracked, axis: int = -1) -> Tracked:
    """y (g - sum(g y)), where y is softmax(x)."""
    y = softmax(x, axis)
    return y * (out_grad - (out_grad * y).sum(axis, keepdims=True))


@truth_of("nn:log_softmax_bwd")
def log_softmax_bwd(out_grad: Tracked, x: Tracked, axis: int = -1) -> Tracked:
    """g - softmax(x) sum(g)."""
    return out_grad - softmax(x, axis) * out_grad.sum(axis, keepdims=True)


@truth_of("nn:logsumexp_bwd")
def logsumexp_bwd(
    out_grad: Tracked, x: Tracked, axis: int = -1, keep_dims: bool = False
) -> Tracked:
    """g softmax(x)."""
    y = softmax(x, axis)
    shape = [1 if a == axis % x.ndim else n for a, n in enumerate(x.shape)]
    return out_grad.reshape(*shape) * y


def _given(noise: Tracked | None) -> Tracked:
    if noise is None:
        raise ValueError("without noise the result is random")
    return noise


@truth_of("nn:gumbel_softmax")
def gumbel_softmax(
    x: Tracked,
    tau: float = 1.0,
    hard: bool = False,
    axis: int = -1,
    noise: Tracked | None = None,
    seed: int | None = None,
) -> Tracked:
    """softmax((x + noise) / tau)."""
    noise = _given(noise)
    if hard:
        raise ValueError("the hard form, whose gradient is that of the soft one, has no definition")
    return softmax((x + noise) / tau, axis)


@truth_of("nn:gumbel_softmax_bwd")
def gumbel_softmax_bwd(
    out_grad: Tracked,
    x: Tracked,
    tau: float = 1.0,
    hard: bool = False,
    axis: int = -1,
    noise: Tracked | None = None,
    seed: int | None = None,
) -> Tracked:
    """The gradient of softmax, over tau."""
    noise = _given(noise)
    return softmax_bwd(out_grad, (x + noise) / tau, axis) / tau
