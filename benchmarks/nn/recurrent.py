"""Causal convolutions of Qwen3-Next and Mamba, and AdamW at the sizes of layers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import suanzi as sz

try:
    import torch
    from torch.nn import functional
except ImportError:  # the rows of suanzi alone
    torch = None  # type: ignore[assignment]

Row = tuple[str, Callable[[], Any], Callable[[], Any] | None]
CAUSAL = [
    # name, batch, channels, length
    ("Qwen3-Next, 1", 1, 8192, 1),
    ("Qwen3-Next, 128", 1, 8192, 128),
    ("Qwen3-Next, 2048", 1, 8192, 2048),
    ("Mamba 130M, 8 of 512", 8, 1536, 512),
]
PARAMETERS = [("GPT-2 768 x 3072", (768, 3072)), ("Llama 7B 4096 x 4096", (4096, 4096))]


def both(*shape: int, dtype: str) -> tuple[Any, Any]:
    """Return random numbers as a tensor of suanzi and one of PyTorch."""
    x = np.random.default_rng(len(shape)).standard_normal(shape, np.float32)
    ours = sz.cast(sz.tensor(x), dtype)
    return ours, None if torch is None else torch.from_numpy(x).to(getattr(torch, dtype))


def composed(x: Any, weight: Any, bias: Any, state: Any) -> Any:
    """Return what model files write, with the state for the next call."""
    seen = torch.cat([state, x], -1)
    y = functional.conv1d(seen, weight[:, None], bias, groups=x.shape[1])
    return functional.silu(y), seen[..., -state.shape[-1] :].clone()


def backward(grad: Any, x: Any, weight: Any, bias: Any) -> Any:
    """Return PyTorch's gradients of x, weight and bias."""
    seen = functional.pad(x, (weight.shape[1] - 1, 0))
    y = functional.silu(functional.conv1d(seen, weight[:, None], bias, groups=x.shape[1]))
    return torch.autograd.grad(y, (x, weight, bias), grad)


def causal_rows(dtype: str) -> Iterator[Row]:
    """Give convolutions, and their gradients where there is more than one element."""
    for name, batch, channels, length in CAUSAL:
        x, tx = both(batch, channels, length, dtype=dtype)
        w, tw = both(channels, 4, dtype=dtype)
        b, tb = both(channels, dtype=dtype)
        s, ts = both(batch, channels, 3, dtype=dtype)
        yield (
            f"causal_conv1d {name} {dtype}",
            lambda a=(x, w, b, s): sz.nn.causal_conv1d(*a, activation="silu", return_state=True),
            torch and (lambda a=(tx, tw, tb, ts): composed(*a)),
        )
        if length == 1:
            continue
        given = [t.clone().requires_grad_() for t in (tx, tw, tb)] if torch else []
        yield (
            f"causal_conv1d_bwd {name} {dtype}",
            lambda a=(x, x, w, b): sz.nn.causal_conv1d_bwd(*a, activation="silu"),
            torch and (lambda g=tx, a=given: backward(g, *a)),
        )


def optimizer(param: Any, grad: Any, **how: Any) -> Callable[[], Any]:
    """Return a step of PyTorch's AdamW, in place."""
    one = torch.nn.Parameter(param.clone())
    one.grad = grad
    return torch.optim.AdamW([one], lr=1e-5, **how).step  # type: ignore[no-any-return]


def rows() -> Iterator[Row]:
    """Give a name, suanzi's call and PyTorch's."""
    for dtype in ("bfloat16", "float32"):
        yield from causal_rows(dtype)
        for name, shape in PARAMETERS:
            p, tp = both(*shape, dtype=dtype)
            m, v = sz.zeros(shape, dtype), sz.zeros(shape, dtype)
            for kind in ("fused", "foreach"):
                yield (
                    f"adamw {name} {dtype}, PyTorch's {kind}",
                    lambda a=(p, p, m, v): sz.nn.adamw(*a, 3, 1e-5),
                    torch and optimizer(tp, tp, **{kind: True}),
                )
