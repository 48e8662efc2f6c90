"""Mixture of experts: gates, the order of tokens, and products by group."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from suanzi.truth.define import truth_of
from suanzi.truth.nn.activations import log_sigmoid
from suanzi.truth.nn.softmaxes import softmax, softmax_bwd
from suanzi.truth.tracked import Tracked, concatenate, either, sigmoid, tracked


def _chosen(logits: Tracked, k: int) -> NDArray[Any]:
    """Where the k largest are, from the largest on: NaN first, and of equal ones the first."""
    value = logits.plain
    order = np.lexsort((-np.where(np.isnan(value), 0, value), ~np.isnan(value)), axis=-1)
    return order[..., :k]


def _at(x: Tracked, indices: NDArray[Any]) -> Tracked:
    return Tracked(
        np.take_along_axis(x.value, indices, -1), np.take_along_axis(x.error, indices, -1)
    )


def _back(x: Tracked, indices: NDArray[Any], shape: tuple[int, ...]) -> Tracked:
    """Zeros, and at the indices of each row the numbers of a row."""
    made = tracked(np.zeros(shape))
    value, error = made.value.copy(), made.error.copy()
    np.put_along_axis(value, indices, x.value, -1)
    np.put_along_axis(error, indices, x.error, -1)
    return Tracked(value, error)


@truth_of("nn:moe_gating")
def moe_gating(
    logits: Tracked, k: int, scoring: str = "softmax", renormalize: bool = False
) -> tuple[Tracked, Any]:
    """The k largest scores of each row, by the logits, and where they are."""
    indices = _chosen(logits, k)
    some = _at(logits, indices)
    if scoring == "softmax":
        shares = _at(softmax(logits), indices)
        if renormalize:
            shares = either(softmax(some), shares / shares.sum(-1, keepdims=True))
        return shares, indices.astype(np.int64)
    scores = sigmoid(some)
    if renormalize:
        scores = either(softmax(log_sigmoid(some)), scores / scores.sum(-1, keepdims=True))
    return scores, indices.astype(np.int64)


@truth_of("nn:moe_gating_bwd")
def moe_gating_bwd(
    out_grad: Tracked,
    logits: Tracked,
    k: int,
    scoring: str = "softmax",
    renormalize: bool = False,
) -> Tracked:
    """The gradient of the scores of the chosen, the choice itself being fixed."""
    indices = _chosen(logits, k)
    some = _at(logits, indices)
    if scoring == "softmax" and not renormalize:
        return softmax_bwd(_back(out_grad, indices, logits.shape), logits)
    if scoring == "softmax":
        return _back(_of_shares(out_grad, logits, some, indices), indices, logits.shape)
    scores = sigmoid(some)
    grad = either(out_grad * (scores * sigmoid(-some)), out_grad * (scores * (1 - scores)))
    if renormalize:
        shares = moe_gating(logits, k, scoring, True)[0]
        above = out_grad - (out_grad * shares).sum(-1, keepdims=True)
        total = scores.sum(-1, keepdims=True)
        grad = either(shares * above * sigmoid(-some), scores / total * above * (1 - scores))
    return _back(grad, indices, logits.shape)


def _of_shares(out_grad: Tracked, logits: Tracked, some: Tracked, indices: Any) -> Tracked:
    """The gradient of quotients of exponentials, also by way of all experts' softmax."""
    all_of = _at(softmax(logits), indices)
    shares = all_of / all_of.sum(-1, keepdims=True)
    above = out_grad - (out_grad * shares).sum(-1, keepdims=True)
    return either(softmax_bwd(out_grad, some), shares * above)


@truth_of("nn:moe_permutation")
def moe_permutation(indices: Any, num_experts: int) -> tuple[Any, Any, Any]:
    """A stable sort of the tokens by their experts."""
    experts = np.asarray(indices)
    flat = experts.ravel()
    order = np.array(sorted(range(flat.size), key=lambda i: (flat[i], i)), dtype=np.int64)
    positions = np.empty_like(order)
    positions[order] = np.arange(flat.size)
    counts = np.array([np.count_nonzero(flat == e) for e in range(num_experts)], dtype=np.int64)
    return counts, order, positions.reshape(experts.shape)


def _parts(group_sizes: Any) -> list[slice]:
    ends = np.cumsum(np.asarray(group_sizes, dtype=np.int64))
    return [slice(int(b - n), int(b)) for n, b in zip(group_sizes, ends, strict=True)]


@truth_of("nn:grouped_matmul")
def grouped_matmul(x: Tracked, weight: Tracked, group_sizes: Any) -> Tracked:
    """The rows of each group times its matrix."""
    parts = [x[rows] @ weight[i] for i, rows in enumerate(_parts(group_sizes))]
    return concatenate(parts) if parts else tracked(np.zeros((0, weight.shape[2])))


@truth_of("nn:grouped_matmul_bwd")
def grouped_matmul_bwd(
    out_grad: Tracked, x: Tracked, weight: Tracked, group_sizes: Any
) -> tuple[Tracked, Tracked]:
    """The gradients of the rows and of the matrices."""
    parts = _parts(group_sizes)
    by_x = [out_grad[rows] @ weight[i].transpose(1, 0) for i, rows in enumerate(parts)]
    by_weight = [
        (x[rows].transpose(1, 0) @ out_grad[rows]).reshape(1, *weight.shape[1:]) for rows in parts
    ]
    if not parts:
        return tracked(np.zeros(x.shape)), tracked(np.zeros(weight.shape))
    return concatenate(by_x), concatenate(by_weight)
