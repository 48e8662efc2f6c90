"""Losses of language models and of images."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import suanzi as sz

try:
    import torch
    import torch.nn.functional as F
except ImportError:  # the rows of suanzi alone
    torch = None  # type: ignore[assignment]

Row = tuple[str, Callable[[], Any], Callable[[], Any] | None]
CLASSES = [("Llama 7B", 2048, 32000), ("Qwen3", 2048, 151936), ("ImageNet", 256, 1000)]
PAIRS = [("a UNet's noise", (4, 4, 64, 64)), ("features", (64, 197, 768))]


def both(*shape: int, dtype: str) -> tuple[Any, Any]:
    """Return random numbers as a tensor of suanzi and one of PyTorch."""
    x = np.random.default_rng(len(shape)).standard_normal(shape, np.float32)
    ours = sz.cast(sz.tensor(x), dtype)
    return ours, None if torch is None else torch.from_numpy(x).to(getattr(torch, dtype))


def rows() -> Iterator[Row]:
    """Give a name, suanzi's call and PyTorch's."""
    for dtype in ("bfloat16", "float32"):
        for name, count, classes in CLASSES:
            x, tx = both(count, classes, dtype=dtype)
            numbers = np.arange(count, dtype=np.int64) * 7919 % classes
            t, tt = sz.tensor(numbers), torch and torch.from_numpy(numbers)
            yield (
                f"cross_entropy {name} {count} x {classes} {dtype}",
                lambda x=x, t=t: sz.nn.cross_entropy(x, t),
                torch and (lambda x=tx, t=tt: F.cross_entropy(x, t)),
            )
            yield (
                f"cross_entropy_bwd {name} {count} x {classes} {dtype}",
                lambda x=x, t=t: sz.nn.cross_entropy_bwd(sz.cast(1.0, x.dtype), x, t),
                torch and (lambda x=tx, t=tt: gradient_of_torch(x, t)),
            )
        for name, shape in PAIRS:
            x, tx = both(*shape, dtype=dtype)
            y, ty = both(*shape, dtype=dtype)
            for loss, theirs in (
                ("mse_loss", "mse_loss"), ("smooth_l1_loss", "smooth_l1_loss"),
                ("bce_with_logits", "binary_cross_entropy_with_logits"),
            ):  # fmt: skip
                yield (
                    f"{loss} {name} {dtype}",
                    lambda x=x, y=y, f=loss: getattr(sz.nn, f)(x, y),
                    torch and (lambda x=tx, y=ty, f=theirs: getattr(F, f)(x, y)),
                )


def gradient_of_torch(x: Any, target: Any) -> Any:
    """Return PyTorch's gradient: the loss and its backward pass."""
    x = x.detach().requires_grad_()
    return torch.autograd.grad(F.cross_entropy(x, target), x)[0]
