"""Attention with every option: scores in blocks of queries, where PyTorch's fused kernels lack one.

Hidden keys take no part, even if their values are NaN: a weight of 0 times NaN would be NaN.
"""

from __future__ import annotations

import math
from typing import Any, TypeAlias

import torch

from suanzi.runtimes.torch.models import composed

Lanes: TypeAlias = torch.Tensor
_BLOCK = 2**26
"""How many scores are in memory at once."""


class _Scores:
    """The operands with an axis of heads, and what is asked of their scores."""

    def __init__(
        self, q: Lanes, k: Lanes, v: Lanes, mask: Lanes | None, causal: bool, scale: float | None,
        softcap: float | None, window: Any, sink: Lanes | None, align: str,
    ) -> None:  # fmt: skip
        q, k, v = (x if x.dim() > 2 else x[None] for x in (q, k, v))
        share = q.shape[-3] // max(k.shape[-3], 1)
        batch = torch.broadcast_shapes(*(x.shape[:-3] for x in (q, k, v)))
        self.q = q.expand(*batch, *q.shape[-3:])
        self.k, self.v = (
            x.repeat_interleave(share, -3).expand(*batch, q.shape[-3], *x.shape[-2:])
            for x in (k, v)
        )
        self.mask = mask
        self.factor = 1 / math.sqrt(max(q.shape[-1], 1)) if scale is None else float(scale)
        self.softcap, self.sink = softcap, sink
        left, right = (-1, -1) if window is None else _pair(window)
        self.left, self.right = left, 0 if causal else right
        self.offset = k.shape[-2] - q.shape[-2] if align == "bottom_right" else 0
        self.hides = self.left >= 0 or self.right >= 0 or (
            mask is not None and mask.dtype is torch.bool
        )  # fmt: skip

    def blocks(self) -> list[slice]:
        """Return blocks of queries."""
        queries, keys = self.q.shape[-2], self.k.shape[-2]
        each = max(1, _BLOCK // max(1, math.prod(self.q.shape[:-2]) * keys))
        return [slice(i, min(i + each, queries)) for i in range(0, queries, each)]

    def allowed(self, rows: slice) -> Lanes | None:
        """Return which keys take part for some queries."""
        if not self.hides:
            return None
        at = torch.arange(rows.start, rows.stop, device=self.q.device)[:, None] + self.offset
        key = torch.arange(self.k.shape[-2], device=self.q.device)
        found = torch.ones_like(at + key, dtype=torch.bool)
        if self.left >= 0:
            found &= key >= at - self.left
        if self.right >= 0:
            found &= key <= at + self.right
        if self.mask is not None and self.mask.dtype is torch.bool:
            found = found & self._part(self.mask, rows)
        return found

    def _part(self, mask: Lanes, rows: slice) -> Lanes:
        one = mask.dim() < 2 or mask.shape[-2] == 1
        return mask if one else mask[..., rows, :]

    def exponentials(self, rows: slice) -> tuple[Lanes, Lanes, Lanes | None, Lanes | None]:
        """Return exponentials of scores, their sums, the slope of the cap, and the sink's."""
        s = (self.q[..., rows, :] @ self.k.mT) * self.factor
        slope = None
        if self.softcap is not None:
            t = torch.tanh(s / self.softcap)
            s, slope = self.softcap * t, (1 - t) * (1 + t)
        if self.mask is not None and self.mask.dtype is not torch.bool:
            s = s + self._part(self.mask, rows)
        allowed = self.allowed(rows)
        if allowed is not None:
            s = torch.where(allowed, s, -math.inf)
        top = s.new_full((*s.shape[:-1], 1), -math.inf)
        if s.shape[-1]:
            top = s.amax(-1, keepdim=True)
        sink = None if self.sink is None else self.sink.reshape(-1, 1, 1)
        if sink is not None:
            top = torch.maximum(top, sink)
        top = torch.where(top == -math.inf, 0.0, top)
        e = torch.exp(s - top)
        total = e.sum(-1, keepdim=True)
        if sink is not None:
            sink = torch.exp(sink - top)
            total = total + sink
        return e, total, slope, sink


def _pair(window: Any) -> tuple[int, int]:
    if isinstance(window, int):
        return window, window
    left, right = window
    return int(left), int(right)


def _values(e: Lanes, v: Lanes, allowed: Lanes | None) -> Lanes:
    """Return e v: what is not finite in v counts where a key takes part, and nowhere else."""
    if allowed is None:
        return e @ v
    kept = e @ torch.where(torch.isfinite(v), v, 0.0)
    takes = allowed.to(e.dtype).expand_as(e)
    some, none = (e > 0).to(e.dtype), takes * (e == 0)
    unknown = (takes @ (v != v).to(e.dtype)) + (none @ torch.isinf(v).to(e.dtype))
    up, down = (some @ (v == sign * math.inf).to(e.dtype) for sign in (1, -1))
    made = torch.where(up > 0, math.inf, torch.where(down > 0, -math.inf, kept))
    return torch.where((unknown > 0) | ((up > 0) & (down > 0)), math.nan, made)


@composed("nn:scaled_dot_product_attention", double=False)
def attention(
    q: Lanes, k: Lanes, v: Lanes, mask: Lanes | None, causal: bool, scale: float | None,
    softcap: float | None, window: Any, sink: Lanes | None, masked_rows: str, align: str,
) -> Lanes:  # fmt: skip
    """Return softmax(scale q k^T) v over the keys that take part."""
    plain = all(x is None for x in (mask, softcap, window, sink))
    if plain and not causal and k.shape[-2]:
        shared = q.dim() > 3 and q.shape[-3] != k.shape[-3]
        return torch.nn.functional.scaled_dot_product_attention(
            q, k, v, scale=scale, enable_gqa=shared
        )
    given = _Scores(q, k, v, mask, causal, scale, softcap, window, sink, align)
    parts = []
    for rows in given.blocks():
        e, total, _, _ = given.exponentials(rows)
        y = _values(e, given.v, given.allowed(rows)) / total
        parts.append(torch.where(total == 0, 0.0 if masked_rows == "zero" else math.nan, y))
    if not parts:
        return given.q[..., :0].new_zeros((*given.q.shape[:-1], v.shape[-1]))
    made = torch.cat(parts, -2)
    return made[0] if q.dim() == 2 else made


@composed("nn:scaled_dot_product_attention_bwd", double=False)
def attention_bwd(
    out_grad: Lanes, q: Lanes, k: Lanes, v: Lanes, mask: Lanes | None, causal: bool,
    scale: float | None, softcap: float | None, window: Any, sink: Lanes | None, align: str,
) -> list[Lanes]:  # fmt: skip
    """Return the gradients of q, k and v, and of the sink."""
    given = _Scores(q, k, v, mask, causal, scale, softcap, window, sink, align)
    grad = out_grad if out_grad.dim() > 2 else out_grad[None]
    by_q = []
    by_k, by_v = torch.zeros_like(given.k), torch.zeros_like(given.v)
    by_sink = None if sink is None else torch.zeros_like(sink)
    for rows in given.blocks():
        e, total, slope, sunk = given.exponentials(rows)
        g, empty = grad[..., rows, :], total == 0
        weights = torch.where(empty, 0.0, e / total)
        of_weights = g @ given.v.mT
        allowed = given.allowed(rows)
        product = weights * of_weights
        if allowed is not None:
            product = torch.where(allowed, product, 0.0)
        mean = product.sum(-1, keepdim=True)
        of_scores = weights * (of_weights - mean)
        if allowed is not None:
            of_scores = torch.where(allowed, of_scores, 0.0)
        of_scores = (of_scores if slope is None else of_scores * slope) * given.factor
        by_q.append(of_scores @ given.k)
        by_k = by_k + of_scores.mT @ given.q[..., rows, :]
        by_v = by_v + weights.mT @ g
        if by_sink is not None:
            assert sunk is not None
            each = torch.where(empty, 0.0, -(sunk / total) * mean)
            by_sink = by_sink + each.reshape(-1, *each.shape[-3:]).sum((0, 2, 3))
    whole = torch.cat(by_q, -2) if by_q else torch.zeros_like(given.q)
    made = [_of_shape(g, x) for g, x in ((whole, q), (by_k, k), (by_v, v))]
    return made if by_sink is None else [*made, by_sink]


def _of_shape(g: Lanes, like: Lanes) -> Lanes:
    """Return a gradient summed over heads that share an operand, and over a batch that repeats."""
    if like.dim() < 3:
        return g[0]
    if g.shape[-3] != like.shape[-3]:
        g = g.reshape(*g.shape[:-3], like.shape[-3], -1, *g.shape[-2:]).sum(-3)
    return g.sum_to_size(like.shape)
