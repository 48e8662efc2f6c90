"""Layers: products with weights."""

from __future__ import annotations

from suanzi.truth.define import truth_of
from suanzi.truth.tracked import Tracked


@truth_of("nn:linear")
def linear(x: Tracked, weight: Tracked, bias: Tracked | None = None) -> Tracked:
    """x W^T + b."""
    y = (x.reshape(*x.shape[:-1], 1, x.shape[-1]) * weight).sum(-1)
    return y if bias is None else y + bias


@truth_of("nn:linear_bwd")
def linear_bwd(
    out_grad: Tracked, x: Tracked, weight: Tracked, bias: Tracked | None = None
) -> tuple[Tracked, ...]:
    """The gradients of x W^T + b."""
    rows = out_grad.reshape(-1, weight.shape[0])
    inputs = x.reshape(rows.shape[0], weight.shape[1])
    made = ((rows @ weight).reshape(*x.shape), rows.transpose(1, 0) @ inputs)
    return made if bias is None else (*made, rows.sum(0))
