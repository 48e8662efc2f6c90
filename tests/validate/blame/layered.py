"""Smaller layers, losses, distances and counts under blame: right, and with faults.

Prints one JSON object.
"""

from __future__ import annotations

from typing import Any

import torch
from moved import Case, Tensor, backward, last, main, reverse, source
from planted import after, plus, times, with_argument
from torch.nn import functional as F

LABELS = torch.tensor([[1, 2, 2, 3], [3, 1, 4, 0], [5, 5, 1, 2]])


def paths(x: Tensor) -> Tensor:
    """Return the losses of three targets of other lengths; one has a class twice."""
    given = source(x, 12, 3, 6).add(x[0, 0]).log_softmax(-1)
    return F.ctc_loss(given, LABELS, (12, 9, 11), (4, 2, 4), reduction="none")


OFFS = torch.tensor([1, 3, 4], dtype=torch.int32)


def weighted(x: Tensor, dim: int = 0) -> Tensor:
    """Return a weight by its direction and its length."""
    g = source(x, *(n if a == dim else 1 for a, n in enumerate(x.shape)))
    return torch._weight_norm(x, g, dim)


def scores(x: Tensor) -> Tensor:
    """Return numbers between 0 and 1."""
    return x.float().sigmoid().to(x.dtype)


def of_groups(x: Tensor) -> Tensor:
    """Multiply groups of rows."""
    a = torch.cat([x, x], 1)[:, :8].bfloat16().clone().requires_grad_()
    b = source(a, 3, 8, 16).transpose(-1, -2).contiguous().transpose(-1, -2).requires_grad_()
    return torch._grouped_mm(a, b, offs=OFFS)


def next_group(func: Any, a: Tensor, b: Tensor, offs: Any = None, *more: Any, **kw: Any) -> Tensor:
    """Let groups end a row later."""
    return func(a, b, (offs + 1).clamp(max=4) if offs is not None else offs, *more, **kw)


CASES: dict[str, Case] = {
    # name: operator, the call, a fault
    "prelu": ("_prelu_kernel", lambda x: F.prelu(x, source(x, 7)),
        with_argument(1, lambda w: w.flip(-1))),
    "prelu: gradient": ("_prelu_kernel_backward", backward(lambda x: F.prelu(x, source(x, 7))),
        after(times(1.1))),
    "prelu: gradient of the weight": ("_prelu_kernel_backward",
        backward(lambda x: F.prelu(x, source(x, 7))), after(times(1.1), 1)),
    "weight norm": ("_weight_norm_interface", weighted, after(times(1.1))),
    "weight norm: the other axis": ("_weight_norm_interface", lambda x: weighted(x, 1),
        after(reverse)),
    "weight norm: the norm": ("_weight_norm_interface", weighted, after(times(1.1), 1)),
    "weight norm: gradient": ("_weight_norm_interface_backward", backward(weighted),
        after(times(1.1))),
    "weight norm: gradient of the norm": ("_weight_norm_interface_backward", backward(weighted),
        after(reverse, 1)),
    "cdist": ("_cdist_forward", lambda x: torch.cdist(x, source(x, 5, 7)),
        after(lambda y: y * y)),
    "cdist: sums": ("_cdist_forward", lambda x: torch.cdist(x, source(x, 5, 7), p=1),
        after(last)),
    "cdist: largest": ("_cdist_forward",
        lambda x: torch.cdist(x, source(x, 5, 7), p=float("inf")), after(last)),
    "cdist: gradient": ("_cdist_backward",
        backward(lambda x: torch.cdist(x, source(x, 5, 7))), after(reverse)),
    "cdist: gradient of sums": ("_cdist_backward",
        backward(lambda x: torch.cdist(x[None], source(x, 2, 5, 7), p=1)), after(last)),
    "cdist: many rows": ("_euclidean_dist", lambda x: torch.cdist(x.repeat(9, 1), x),
        after(last)),
    "histc": ("histc", lambda x: torch.histc(x, 9), after(lambda y: y.roll(1))),
    "histc: a range": ("histc", lambda x: torch.histc(x, 5, -1, 1), after(plus(1))),
    "bincount": ("bincount", lambda x: (x.abs() * 3).int().reshape(-1).bincount(), after(reverse)),
    "glu": ("glu", lambda x: F.glu(x[:, :6]), lambda func, x, *more: func(-x, *more)),
    "glu: gradient": ("glu_backward", backward(lambda x: F.glu(x[:, :6])), after(reverse)),
    "huber loss": ("huber_loss", lambda x: F.huber_loss(x, x * 2 + 0.3, delta=0.7),
        after(times(1.1))),
    "huber loss of each": ("huber_loss",
        lambda x: F.huber_loss(x, x * 2 + 0.3, reduction="none"), after(last)),
    "cross entropy of two classes": ("binary_cross_entropy",
        lambda x: F.binary_cross_entropy(scores(x), scores(x).flip(0)), after(times(1.1))),
    "cross entropy of two classes: weighted": ("binary_cross_entropy",
        lambda x: F.binary_cross_entropy(scores(x), scores(x).flip(0), scores(x)),
        after(times(1.1))),
    "cross entropy of two classes: gradient": ("binary_cross_entropy_backward",
        backward(lambda x: F.binary_cross_entropy(x.sigmoid(), x.sigmoid().detach().flip(0))),
        after(times(28))),
    "exp2": ("exp2", torch.exp2, lambda func, x: torch.exp(x)),
    "hypot": ("hypot", lambda x: x.hypot(source(x, 4, 7)), after(last)),
    "frac": ("frac", lambda x: (x * 3).frac(), after(lambda y: y.abs())),
    "copysign": ("copysign", lambda x: x.copysign(source(x, 4, 7)), after(lambda y: y.abs())),
    "hardshrink": ("hardshrink", F.hardshrink, lambda func, x, *more: func(x, 0.1)),
    "softshrink": ("softshrink", F.softshrink, after(last)),
    "nan_to_num": ("nan_to_num", lambda x: x.masked_fill(x > 0, float("inf")).nan_to_num(2.0, 3.0),
        lambda func, x, *more: func(x)),
    "ctc": ("_ctc_loss", paths, after(times(1.01))),
    "ctc: gradient": ("_ctc_loss_backward", backward(paths), after(times(1.01))),
    "ctc: gradient of another step": ("_ctc_loss_backward", backward(paths), after(reverse)),
    "grouped products": ("_grouped_mm", of_groups, next_group),
    "grouped products: gradients": ("_grouped_mm",
        lambda x: of_groups(x).float().square().sum().backward(), next_group),
}  # fmt: skip


if __name__ == "__main__":
    main(CASES)
