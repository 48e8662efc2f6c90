"""Attention and the linear layers of Llama 7B, Qwen3 and ViT-B, in bfloat16 and float32."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import suanzi as sz

try:
    import torch
except ImportError:  # the rows of suanzi alone
    torch = None  # type: ignore[assignment]

Row = tuple[str, Callable[[], Any], Callable[[], Any] | None]
HEADS = [
    # name, heads, heads of keys, queries, keys, columns, causal
    ("Llama 7B, 1 of 2048", 32, 32, 1, 2048, 128, False),
    ("Llama 7B, 128", 32, 32, 128, 128, 128, True),
    ("Llama 7B, 2048", 32, 32, 2048, 2048, 128, True),
    ("Qwen3 8B, 1 of 2048", 32, 8, 1, 2048, 128, False),
    ("Qwen3 8B, 128", 32, 8, 128, 128, 128, True),
    ("ViT-B, 197", 12, 12, 197, 197, 64, False),
]
LINEAR = [
    # name, rows, inputs, outputs
    ("Llama 7B q, 1", 1, 4096, 4096),
    ("Llama 7B q, 128", 128, 4096, 4096),
    ("Llama 7B up, 1", 1, 4096, 11008),
    ("Llama 7B up, 128", 128, 4096, 11008),
    ("Qwen3 8B down, 1", 1, 12288, 4096),
    ("ViT-B up, 197", 197, 768, 3072),
]


def both(*shape: int, dtype: str) -> tuple[Any, Any]:
    """Return random numbers as a tensor of suanzi and one of PyTorch."""
    x = np.random.default_rng(len(shape)).standard_normal(shape, np.float32)
    ours = sz.cast(sz.tensor(x), dtype)
    return ours, None if torch is None else torch.from_numpy(x).to(getattr(torch, dtype))


def rows() -> Iterator[Row]:
    """Give a name, suanzi's call and PyTorch's."""
    for dtype in ("bfloat16", "float32"):
        for name, heads, shared, queries, keys, columns, causal in HEADS:
            q, tq = both(1, heads, queries, columns, dtype=dtype)
            k, tk = both(1, shared, keys, columns, dtype=dtype)
            yield (
                f"attention {name} {dtype}",
                lambda q=q, k=k, c=causal: sz.nn.scaled_dot_product_attention(q, k, k, causal=c),
                torch and (lambda q=tq, k=tk, c=causal: attention_of_torch(q, k, c)),
            )
        for name, count, inputs, outputs in LINEAR:
            x, tx = both(count, inputs, dtype=dtype)
            w, tw = both(outputs, inputs, dtype=dtype)
            yield (
                f"linear {name} {dtype}",
                lambda x=x, w=w: sz.nn.linear(x, w),
                torch and (lambda x=tx, w=tw: torch.nn.functional.linear(x, w)),
            )


def attention_of_torch(q: Any, k: Any, causal: bool) -> Any:
    """Return PyTorch's attention without gradients."""
    with torch.no_grad():
        return torch.nn.functional.scaled_dot_product_attention(
            q, k, k, is_causal=causal, enable_gqa=q.shape[1] != k.shape[1]
        )
