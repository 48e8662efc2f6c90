"""Attention and rotary embeddings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from suanzi.truth.define import truth_of
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
    if q.ndim > 2:  # heads of q that share one of k and v
        shared = np.arange(q.shape[-3]) // max(q.shape[-3] // max(k.shape[-3], 1), 1)
        k, v = k[..., shared, :, :], v[..., shared, :, :]
    factor = tracked(1) / sqrt(max(q.shape[-1], 1)) if scale is None else tracked(scale)
    axes = (*range(k.ndim - 2), k.ndim - 1, k.ndim - 2)
    s = (q @ k.transpose(*axes)) * factor
    if softcap is not None:
        s = softcap * tanh(s / softcap)
    allowed = seen(q.shape[-2], k.shape[-2], causal, window, align)
    if isinstance(mask, Tracked):
        s = s + mask
    elif mask is not None:
        allowed = allowed & mask
    allowed = np.broadcast_to(allowed, s.shape)
    s = where(allowed, s, -np.inf)
    top = s.max(-1, keepdims=True)
    if sink is not None:
        sink = sink.reshape(-1, 1, 1)
        top = maximum(top, sink)
    top = where(np.asarray(top.value == -np.inf, bool), 0, top)
    e = exp(s - top)
    total = e.sum(-1, keepdims=True)
    if sink is not None:
        total = total + exp(sink - top)
    products = e.reshape(*e.shape, 1) * v.reshape(*v.shape[:-2], 1, *v.shape[-2:])
    y = where(allowed[..., None], products, 0).sum(-2) / total
    empty = np.asarray(total.value == 0, bool)
    return where(empty, 0 if masked_rows == "zero" else np.nan, y)


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
