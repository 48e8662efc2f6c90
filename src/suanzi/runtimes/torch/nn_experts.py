"""Mixtures of experts: gates, the order of tokens, and products by group."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import Any, TypeAlias

import torch

from suanzi.ops.nn.experts import check_groups
from suanzi.runtimes.torch.models import composed, gradients
from suanzi.runtimes.torch.nn_tables import within
from suanzi.runtimes.torch.ways import Call

Lanes: TypeAlias = torch.Tensor


def _chosen(logits: Lanes, k: int) -> Lanes:
    """Return where the k largest are: NaN first, of equal ones the first."""
    return torch.sort(logits, dim=-1, descending=True, stable=True).indices[..., :k]


def _gates(logits: Lanes, indices: Lanes, scoring: str, renormalize: bool) -> Lanes:
    chosen = logits.gather(-1, indices)
    if scoring == "softmax" and not renormalize:
        return torch.softmax(logits, -1).gather(-1, indices)
    if not renormalize:
        return torch.sigmoid(chosen)
    scores = chosen if scoring == "softmax" else torch.nn.functional.logsigmoid(chosen)
    return torch.softmax(scores, -1)


@composed("nn:moe_gating")
def moe_gating(logits: Lanes, k: int, scoring: str, renormalize: bool) -> list[Lanes]:
    """Return the weights of the chosen experts, and their indices."""
    indices = _chosen(logits, int(k))
    return [_gates(logits, indices, scoring, renormalize), indices]


@composed("nn:moe_gating_bwd")
def moe_gating_bwd(
    out_grad: Lanes, logits: Lanes, k: int, scoring: str, renormalize: bool
) -> Lanes:
    """Return the gradient of the weights, the choice being fixed."""
    indices = _chosen(logits, int(k))
    with torch.enable_grad():
        made: Lanes = gradients(
            lambda x: _gates(x, indices, scoring, renormalize), out_grad, logits
        )
    return made.detach()


@composed("nn:moe_permutation")
def moe_permutation(call: Call, indices: Lanes, num_experts: int) -> list[Lanes]:
    """Return how many tokens each expert has, their order, and the positions of tokens in it."""
    count = int(num_experts)
    at = within(call, indices, count, "experts").reshape(-1)
    order = torch.sort(at, stable=True).indices
    positions = torch.empty_like(order)
    positions[order] = torch.arange(order.numel(), device=order.device)
    counts = torch.zeros(count, dtype=torch.int64, device=at.device)
    if at.numel():
        counts.scatter_add_(0, at, torch.ones_like(at))
    return [counts, order, positions.reshape(indices.shape)]


def _parts(call: Call, x: Lanes, weight: Lanes, group_sizes: Any) -> list[slice]:
    """Return the rows of each group; the sizes come to the host, and are checked there."""
    sizes: Sequence[int] = (
        group_sizes.tolist() if isinstance(group_sizes, torch.Tensor) else list(group_sizes)
    )
    check_groups(call.op, sizes, x.shape[0], weight.shape[0])
    return [slice(end - n, end) for n, end in zip(sizes, accumulate(sizes), strict=True)]


@composed("nn:grouped_matmul", double=False)
def grouped_matmul(call: Call, x: Lanes, weight: Lanes, group_sizes: Any) -> Lanes:
    """Return the rows of each group times its matrix."""
    made = x.new_empty(x.shape[0], weight.shape[2])
    for group, rows in enumerate(_parts(call, x, weight, group_sizes)):
        torch.matmul(x[rows], weight[group], out=made[rows])
    return made


@composed("nn:grouped_matmul_bwd", double=False)
def grouped_matmul_bwd(
    call: Call, out_grad: Lanes, x: Lanes, weight: Lanes, group_sizes: Any
) -> list[Lanes]:
    """Return the gradients of the rows and of the matrices."""
    by_x, by_weight = x.new_empty(x.shape), weight.new_empty(weight.shape)
    for group, rows in enumerate(_parts(call, x, weight, group_sizes)):
        by_x[rows] = out_grad[rows] @ weight[group].T
        by_weight[group] = x[rows].T @ out_grad[rows]
    return [by_x, by_weight]
