"""Attention and rotary embeddings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from suanzi.truth.define import truth_of
from suanzi.truth.nn.softmaxes import near
from suanzi.truth.tracked import Tracked, concatenate, exp, maximum, sqrt, tanh, tracked, where


def seen(
    queries: int, keys: int, causal: bool, window: int | Sequence[int] | None, align: str
) -> Any:
    """Return which keys a query may see by its position alone."""
    at = np.arange(queries)[:, None] + (keys - queries if align == "bottom_right" else 0)
    key = np.arange(keys)
    left, right = (-1, -1) if window is None else np.broadcast_to(window, 2)
    found = (key <= at) if causal else np.full((queries, keys), True)
    found &= (key >= at - left) | (left < 0)
    return found & ((key <= at + right) | (right < 0))


@dataclass(frozen=True)
class Softmax:
    """What attention and its gradients share: exponentials of scores, and their sums."""

    k: Tracked
    v: Tracked
    """Repeated for the heads of q that share them."""
    factor: Tracked
    allowed: Any
    e: Tracked
    total: Tracked
    slope: Tracked | None
    """The derivative of the soft cap."""
    sink: Tracked | None
    """The exponential of the sink."""


def softmax(
    q: Tracked,
    k: Tracked,
    v: Tracked,
    mask: Any,
    causal: bool,
    scale: float | None,
    softcap: float | None,
    window: int | Sequence[int] | None,
    sink: Tracked | None,
    align: str,
) -> Softmax:
    """Exponentials of scores of the keys that take part, relative to the largest."""
    if q.ndim > 2:  # heads of q that share one of k and v
        shared = np.arange(q.shape[-3]) // max(q.shape[-3] // max(k.shape[-3], 1), 1)
        k, v = k[..., shared, :, :], v[..., shared, :, :]
    factor = tracked(1) / sqrt(max(q.shape[-1], 1)) if scale is None else tracked(scale)
    s, slope = (q @ turned(k)) * factor, None
    if softcap is not None:
        t = tanh(s / softcap)
        s, slope = softcap * t, (1 - t) * (1 + t)
    allowed = seen(q.shape[-2], k.shape[-2], causal, window, align)
    if isinstance(mask, Tracked):
        s = s + mask
    elif mask is not None:
        allowed = allowed & mask
    allowed = np.broadcast_to(allowed, s.shape)
    s = near(where(allowed, s, -np.inf))
    top = s.max(-1, keepdims=True)
    if sink is not None:
        sink = sink.reshape(-1, 1, 1)
        top = maximum(top, sink)
    top = where(np.asarray(top.value == -np.inf, bool), 0, top)
    e = exp(s - top)
    total = e.sum(-1, keepdims=True)
    if sink is not None:
        sink = exp(sink - top)
        total = total + sink
    return Softmax(k, v, factor, allowed, e, total, slope, sink)


def turned(x: Tracked) -> Tracked:
    """Rows as columns."""
    return x.transpose(*range(x.ndim - 2), x.ndim - 1, x.ndim - 2)


@truth_of("nn:scaled_dot_product_attention")
def scaled_dot_product_attention(
    q: Tracked,
    k: Tracked,
    v: Tracked,
    mask: Any = None,
    causal: bool = False,
    scale: float | None = None,
    softcap: float | None = None,
    window: int | Sequence[int] | None = None,
    sink: Tracked | None = None,
    masked_rows: str = "zero",
    align: str = "top_left",
) -> Tracked:
    """softmax(scale q k^T) v over the keys that take part."""
    w = softmax(q, k, v, mask, causal, scale, softcap, window, sink, align)
    products = w.e.reshape(*w.e.shape, 1) * w.v.reshape(*w.v.shape[:-2], 1, *w.v.shape[-2:])
    y = where(w.allowed[..., None], products, 0).sum(-2) / w.total
    empty = np.asarray(w.total.value == 0, bool)
    return where(empty, 0 if masked_rows == "zero" else np.nan, y)


@truth_of("nn:scaled_dot_product_attention_bwd")
def scaled_dot_product_attention_bwd(
    out_grad: Tracked,
    q: Tracked,
    k: Tracked,
    v: Tracked,
    mask: Any = None,
    causal: bool = False,
    scale: float | None = None,
    softcap: float | None = None,
    window: int | Sequence[int] | None = None,
    sink: Tracked | None = None,
    masked_rows: str = "zero",
    align: str = "top_left",
) -> tuple[Tracked, ...]:
    """The gradients of softmax(scale q k^T) v."""
    w = softmax(q, k, v, mask, causal, scale, softcap, window, sink, align)
    empty = np.asarray(w.total.value == 0, bool)
    weights = where(empty, 0, w.e / w.total)
    of_weights = out_grad @ turned(w.v)
    mean = where(w.allowed, weights * of_weights, 0).sum(-1, keepdims=True)
    of_scores = where(w.allowed, weights * (of_weights - mean), 0)
    if w.slope is not None:
        of_scores = of_scores * w.slope
    of_scores = of_scores * w.factor
    made = (
        of_shape(of_scores @ w.k, q.shape),
        of_shape(turned(of_scores) @ q, k.shape),
        of_shape(turned(weights) @ out_grad, v.shape),
    )
    if w.sink is None:
        return made
    of_sink = where(empty, 0, -(w.sink / w.total) * mean)
    return (*made, of_sink.reshape(-1, *of_sink.shape[-3:]).sum((0, 2, 3)))


def of_shape(x: Tracked, shape: tuple[int, ...]) -> Tracked:
    """A gradient summed over heads that share an operand, and over a batch that repeats it."""
    if len(shape) > 2 and x.shape[-3] != shape[-3]:
        x = x.reshape(*x.shape[:-3], shape[-3], -1, *x.shape[-2:]).sum(-3)
    repeated = [a for a, n in enumerate(shape) if n != x.shape[a]]
    return x.sum(repeated, keepdims=True) if repeated else x


@truth_of("nn:rotary_embedding")
def rotary_embedding(x: Tracked, cos: Tracked, sin: Tracked, interleaved: bool = False) -> Tracked:
    """Pairs (a, b) as (a cos - b sin, b cos + a sin)."""
    pairs = cos.shape[-1]
    half = slice(0, 2 * pairs, 2) if interleaved else slice(0, pairs)
    other = slice(1, 2 * pairs, 2) if interleaved else slice(pairs, 2 * pairs)
    a, b = x[..., half], x[..., other]
    made = concatenate([a * cos - b * sin, b * cos + a * sin], -1)
    if interleaved:
        made = made[..., np.arange(2 * pairs).reshape(2, pairs).T.ravel()]
    return concatenate([made, x[..., 2 * pairs :]], -1)


@truth_of("nn:rotary_embedding_bwd")
def rotary_embedding_bwd(
    out_grad: Tracked, x: Tracked, cos: Tracked, sin: Tracked, interleaved: bool = False
) -> Tracked:
    """Turned back by the same angles."""
    return rotary_embedding(out_grad, cos, -sin, interleaved)
