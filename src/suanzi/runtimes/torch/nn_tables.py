"""Rows of tables by indices, which are checked on the device, and noise of a seed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import torch

from suanzi.base.status import AllocFailed, OutOfRange
from suanzi.promote import registry
from suanzi.runtimes.torch import deferred_errors
from suanzi.runtimes.torch.dtypes import SUANZI
from suanzi.runtimes.torch.models import added, composed, gumbel
from suanzi.runtimes.torch.tensor import placed
from suanzi.runtimes.torch.ways import Call

Lanes: TypeAlias = torch.Tensor


def within(call: Call, indices: Lanes, count: int, what: str = "rows") -> Lanes:
    """Return indices as int64; those out of range are reported, and 0."""
    found = indices.view(torch.int64) if indices.dtype is torch.uint64 else indices.long()
    bad = (found < 0) | (found >= count)
    deferred_errors.add(bad.any(), outside(call, count, what))
    if not count and found.numel():
        deferred_errors.check(found.device)
    return torch.where(bad, 0, found)


def outside(call: Call, count: int, what: str = "rows") -> Callable[[], OutOfRange]:
    """Return what makes the error of an index out of range."""
    allowed = f"from 0 to {count - 1}" if count else f"none: there are no {what}"
    words = f"indices contains a number out of range; an index must be {allowed}."
    return lambda: OutOfRange(f"{call.op.title}: {words}")


@composed("nn:embedding", double=False)
def embedding(call: Call, weight: Lanes, indices: Lanes) -> Lanes:
    """Return the rows of a table."""
    at = within(call, indices, weight.shape[0])
    if not at.numel():
        return weight.new_zeros((*at.shape, weight.shape[1]))
    return weight.index_select(0, at.reshape(-1)).reshape(*at.shape, weight.shape[1])


@composed("nn:embedding_bwd")
def embedding_bwd(
    call: Call, out_grad: Lanes, weight: Lanes, indices: Lanes, padding_idx: int | None
) -> Lanes:
    """Return the sums of the gradients of each row."""
    at = within(call, indices, weight.shape[0]).reshape(-1)
    made = torch.zeros_like(weight, memory_format=torch.contiguous_format)
    if at.numel() and made.numel():
        added(made, at, out_grad.reshape(at.numel(), -1))
    if padding_idx is not None:
        made[int(padding_idx)] = 0
    return made


_MOST = 2**48
"""Classes: PyTorch cannot even count the bytes of many more."""


@composed("nn:one_hot")
def one_hot(call: Call, indices: Lanes, num_classes: int) -> Lanes:
    """Return 1 at each index along a new last axis; -1 classes waits for the largest index."""
    count = int(num_classes)
    if count < 0:
        whole = indices.view(torch.int64) if indices.dtype is torch.uint64 else indices
        count = max(int(whole.max()) + 1, 0)
    if count > _MOST:
        raise AllocFailed(f"{call.op.title}: not enough memory for {count} classes; use fewer.")
    at = within(call, indices, count)
    return at[..., None] == torch.arange(count, device=at.device)


# ---- noise ---------------------------------------------------------------------------------------


def _noise(call: Call, x: Lanes, noise: Lanes | None, seed: Any) -> Lanes:
    """Return noise: the CPU's of a seed, the same on every device."""
    if noise is not None:
        return noise
    wide = SUANZI[torch.float64 if call.result.dtype.bits == 64 else torch.float32]
    uniform = registry.call("rand_uniform", list(x.shape), wide, "cpu", 2.0**-25, 1.0, int(seed))
    made = -registry.call("log", -registry.call("log", uniform))
    return placed(made, call.place).to(x.dtype)


@composed("nn:gumbel_softmax", double=False)
def gumbel_softmax(
    call: Call, x: Lanes, tau: float, hard: bool, axis: int, noise: Lanes | None, seed: Any
) -> Lanes:
    """Return softmax((x + noise) / tau)."""
    return gumbel(x, tau, hard, axis, _noise(call, x, noise, seed))


@composed("nn:gumbel_softmax_bwd", double=False)
def gumbel_softmax_bwd(
    call: Call, out_grad: Lanes, x: Lanes, tau: float, axis: int, noise: Lanes | None, seed: Any
) -> Lanes:
    """Return the gradient, as if the choice were soft."""
    y = gumbel(x, tau, False, axis, _noise(call, x, noise, seed))
    return y * (out_grad - (out_grad * y).sum(axis, keepdim=True)) / tau
