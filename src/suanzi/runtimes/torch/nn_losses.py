"""Losses and their gradients by their definitions, where PyTorch's differ or stop the device."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, TypeAlias

import torch

from suanzi.base.status import OutOfRange
from suanzi.runtimes.torch import deferred_errors
from suanzi.runtimes.torch.models import composed
from suanzi.runtimes.torch.ways import Call

Lanes: TypeAlias = torch.Tensor

# ---- rows of classes -----------------------------------------------------------------------------


class _Rows:
    """Rows of classes along the last axis, and what each row counts."""

    def __init__(
        self, call: Call, x: Lanes, target: Lanes, weight: Lanes | None, ignore: int, axis: int
    ) -> None:
        self.axis = 0 if x.dim() == 1 else axis % x.dim()
        self.x, self.weight = torch.movedim(x, self.axis, -1), weight
        self.classes = x.shape[self.axis]
        if target.is_floating_point():
            self.given = torch.movedim(target.to(x.dtype), self.axis, -1)
            return
        number = target.view(torch.int64) if target.dtype is torch.uint64 else target.long()
        self.ignored = number == int(ignore)
        bad = ((number < 0) | (number >= self.classes)) & ~self.ignored
        deferred_errors.add(bad.any(), no_class(call, self.classes, ignore))
        self.target = torch.where(self.ignored | bad, 0, number)
        ones = torch.ones_like(self.target, dtype=x.dtype)
        # A row takes its weight by a comparison: a gather's gradient is of no use here.
        picked = ones if weight is None or not self.classes else weight[self.target]
        self.counts = torch.where(self.ignored, 0.0, picked)

    def at(self, x: Lanes) -> Lanes:
        """Return the elements at the classes of rows."""
        if not self.classes:
            return torch.zeros_like(self.target, dtype=x.dtype)
        return torch.gather(x, -1, self.target[..., None])[..., 0]

    def back(self, x: Lanes) -> Lanes:
        """Return rows of classes along the axis that they came in."""
        return torch.movedim(x, -1, self.axis)

    def shares(self, smoothing: float) -> Lanes:
        """Return what each class counts in a row whose target is a distribution."""
        given = self.given
        if smoothing and self.classes:
            given = given * (1 - smoothing) + smoothing / self.classes
        return given if self.weight is None else given * self.weight


def no_class(call: Call, classes: int, ignore: int) -> Callable[[], OutOfRange]:
    """Return what makes the error of a class out of range."""
    words = (
        f"target contains a class out of range; valid classes are 0 to {classes - 1}, and {ignore} "
        "for rows to ignore."
    )
    return lambda: OutOfRange(f"{call.op.title}: {words}")


def _reduced(losses: Lanes, reduction: str, count: Any = None) -> Lanes:
    if reduction == "none":
        return losses
    if reduction == "sum":
        return losses.sum()
    if reduction == "batchmean":
        return losses.sum() / (losses.shape[0] if losses.dim() else 0)
    return losses.sum() / (losses.numel() if count is None else count)


def _or_empty(rows: _Rows, loss: Lanes, reduction: str, empty_mean: float | None) -> Lanes:
    """Return a loss; the mean of nothing is what was given for it."""
    if reduction != "mean":
        return loss
    return torch.where(rows.ignored.all(), math.nan if empty_mean is None else empty_mean, loss)


@composed("nn:cross_entropy")
def cross_entropy(
    call: Call, logits: Lanes, target: Lanes, weight: Lanes | None, ignore_index: int,
    label_smoothing: float, reduction: str, axis: int, empty_mean: float | None,
) -> Lanes:  # fmt: skip
    """Return -log(softmax(logits)) times the target's distribution, summed over classes."""
    rows = _Rows(call, logits, target, weight, ignore_index, axis)
    logs = _log_softmax(rows.x)
    if target.is_floating_point():
        return _reduced(-(logs * rows.shares(label_smoothing)).sum(-1), reduction)
    losses = -rows.at(logs) * rows.counts
    if label_smoothing and rows.classes:
        each = logs if weight is None else logs * weight
        losses = losses * (1 - label_smoothing) - each.sum(-1) * (label_smoothing / rows.classes)
    losses = torch.where(rows.ignored, 0.0, losses)
    return _or_empty(rows, _reduced(losses, reduction, rows.counts.sum()), reduction, empty_mean)


def _log_softmax(x: Lanes) -> Lanes:
    if not x.shape[-1]:
        return x
    shifted = x - x.amax(-1, keepdim=True)
    return shifted - torch.log(torch.exp(shifted).sum(-1, keepdim=True))


@composed("nn:cross_entropy_bwd")
def cross_entropy_bwd(
    call: Call, out_grad: Lanes, logits: Lanes, target: Lanes, weight: Lanes | None,
    ignore_index: int, label_smoothing: float, reduction: str, axis: int,
) -> Lanes:  # fmt: skip
    """Return softmax times what the target's shares sum to, less these shares."""
    rows = _Rows(call, logits, target, weight, ignore_index, axis)
    x = rows.x
    if target.is_floating_point():
        shares = rows.shares(label_smoothing)
        count: Any = math.prod(x.shape[:-1])
    else:
        line = torch.arange(rows.classes, device=x.device)
        given = (rows.target[..., None] == line).to(x.dtype)
        shares = given * rows.counts[..., None] * (1 - label_smoothing)
        if label_smoothing and rows.classes:
            each = torch.ones_like(line, dtype=x.dtype) if weight is None else weight
            shares = shares + each * (label_smoothing / rows.classes)
        count = rows.counts.sum()
    g = out_grad / count if reduction == "mean" else out_grad
    p = torch.softmax(x, -1) if x.shape[-1] else x
    found = (p * shares.sum(-1, keepdim=True) - shares) * g[..., None]
    if not target.is_floating_point():
        found = torch.where(rows.ignored[..., None], 0.0, found)
    return rows.back(found)


@composed("nn:nll_loss")
def nll_loss(
    call: Call, x: Lanes, target: Lanes, weight: Lanes | None, ignore_index: int, reduction: str,
    axis: int, empty_mean: float | None,
) -> Lanes:  # fmt: skip
    """Return -x at the class of each row."""
    rows = _Rows(call, x, target, weight, ignore_index, axis)
    losses = torch.where(rows.ignored, 0.0, -rows.at(rows.x) * rows.counts)
    return _or_empty(rows, _reduced(losses, reduction, rows.counts.sum()), reduction, empty_mean)


@composed("nn:nll_loss_bwd")
def nll_loss_bwd(
    call: Call, out_grad: Lanes, x: Lanes, target: Lanes, weight: Lanes | None, ignore_index: int,
    reduction: str, axis: int,
) -> Lanes:  # fmt: skip
    """Return -1 at the class of each row."""
    rows = _Rows(call, x, target, weight, ignore_index, axis)
    g = out_grad / rows.counts.sum() if reduction == "mean" else out_grad
    line = torch.arange(rows.classes, device=x.device)
    picked = (rows.target[..., None] == line) & ~rows.ignored[..., None]
    return rows.back(torch.where(picked, -(rows.counts * g)[..., None], 0.0))


# ---- pairs ---------------------------------------------------------------------------------------


def _gradients(g: Lanes, by_x: Lanes, by_target: Lanes, reduction: str) -> list[Lanes]:
    count = {"mean": by_x.numel(), "batchmean": by_x.shape[0] if by_x.dim() else 0}
    g = g / count[reduction] if reduction in count else g
    return [by_x * g, by_target * g]


def _sign(x: Lanes) -> Lanes:
    return torch.where(x == x, torch.sign(x), x)


@composed("nn:l1_loss_bwd")
def l1_loss_bwd(out_grad: Lanes, x: Lanes, target: Lanes, reduction: str) -> list[Lanes]:
    """Return the sign of x - target, and its negative."""
    sign = _sign(x - target)
    return _gradients(out_grad, sign, -sign, reduction)


@composed("nn:smooth_l1_loss_bwd")
def smooth_l1_loss_bwd(
    out_grad: Lanes, x: Lanes, target: Lanes, beta: float, reduction: str
) -> list[Lanes]:
    """Return d / beta below beta, else its sign, and the negative."""
    d = x - target
    by_x = torch.where(d.abs() < beta, d / beta if beta else d, _sign(d))
    return _gradients(out_grad, by_x, -by_x, reduction)


@composed("nn:kl_div_bwd")
def kl_div_bwd(
    out_grad: Lanes, x: Lanes, target: Lanes, log_target: bool, reduction: str
) -> list[Lanes]:
    """Return -target, and log(target) - x + 1."""
    if log_target:
        e = torch.exp(target)
        return _gradients(out_grad, -e, e * (target - x + 1), reduction)
    return _gradients(out_grad, -target, torch.log(target) - x + 1, reduction)


@composed("nn:bce")
def bce(x: Lanes, target: Lanes, weight: Lanes | None, reduction: str) -> Lanes:
    """Return -(target log(x) + (1 - target) log(1 - x)); PyTorch refuses x outside 0 to 1."""
    losses = (target - 1) * torch.log1p(-x).clamp(min=-100) - target * torch.log(x).clamp(min=-100)
    return _reduced(losses if weight is None else losses * weight, reduction)


@composed("nn:bce_bwd")
def bce_bwd(
    out_grad: Lanes, x: Lanes, target: Lanes, weight: Lanes | None, reduction: str
) -> list[Lanes]:
    """Return (x - target) / (x (1 - x)), and log(1 - x) - log(x), both bounded."""
    under = (1 - x) * x
    by_x = (x - target) / torch.where(under < 1e-12, 1e-12, under)
    by_target = torch.log1p(-x).clamp(min=-100) - torch.log(x).clamp(min=-100)
    if weight is not None:
        by_x, by_target = by_x * weight, by_target * weight
    return _gradients(out_grad, by_x, by_target, reduction)
