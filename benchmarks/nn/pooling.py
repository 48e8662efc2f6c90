"""Pooling of ResNet-50, of a UNet and of a language model's heads."""

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
CALLS = [
    # name, shape, operator, arguments
    ("ResNet-50, 3 x 3 by 2", (8, 64, 112, 112), "max_pool2d", (3, 2, 1)),
    ("ResNet-50, one image", (1, 64, 112, 112), "max_pool2d", (3, 2, 1)),
    ("2 x 2", (8, 64, 64, 64), "max_pool2d", (2,)),
    ("2 x 2", (8, 64, 64, 64), "avg_pool2d", (2,)),
    ("3 x 3 by 1", (8, 64, 64, 64), "avg_pool2d", (3, 1, 1)),
    ("ResNet-50, global", (32, 2048, 7, 7), "adaptive_avg_pool2d", (1,)),
    ("to 7 x 7", (8, 512, 14, 14), "adaptive_avg_pool2d", (7,)),
    ("video", (1, 64, 8, 56, 56), "max_pool3d", (2,)),
]


def both(*shape: int, dtype: str) -> tuple[Any, Any]:
    """Return random numbers as a tensor of suanzi and one of PyTorch."""
    x = np.random.default_rng(len(shape)).standard_normal(shape, np.float32)
    ours = sz.cast(sz.tensor(x), dtype)
    return ours, None if torch is None else torch.from_numpy(x).to(getattr(torch, dtype))


def rows() -> Iterator[Row]:
    """Give a name, suanzi's call and PyTorch's."""
    for dtype in ("bfloat16", "float32"):
        for name, shape, op, arguments in CALLS:
            x, tx = both(*shape, dtype=dtype)
            yield (
                f"{op} {name} {dtype}",
                lambda x=x, f=op, a=arguments: getattr(sz.nn, f)(x, *a),
                torch and (lambda x=tx, f=op, a=arguments: getattr(F, f)(x, *a)),
            )
        x, tx = both(8, 64, 112, 112, dtype=dtype)
        g, tg = both(8, 64, 56, 56, dtype=dtype)
        yield (
            f"max_pool2d_bwd ResNet-50 {dtype}",
            lambda g=g, x=x: sz.nn.max_pool2d_bwd(g, x, 3, 2, 1),
            torch and (lambda g=tg, x=tx: gradient_of_torch(g, x)),
        )


def gradient_of_torch(g: Any, x: Any) -> Any:
    """Return PyTorch's gradient: the pooling and its backward pass."""
    x = x.detach().requires_grad_()
    return torch.autograd.grad(F.max_pool2d(x, 3, 2, 1), x, g)[0]
