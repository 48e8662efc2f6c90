"""Mixtures of experts at the sizes of Mixtral 8x7B and of Qwen3 30B-A3B."""

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
MODELS = [("Mixtral", 8, 2, 4096, 1792), ("Qwen3 30B-A3B", 128, 8, 2048, 768)]
"""The name, experts, those of a token, inputs, and outputs: Mixtral's are an eighth of its own."""


def both(*shape: int, dtype: str) -> tuple[Any, Any]:
    """Return random numbers as a tensor of suanzi and one of PyTorch."""
    x = np.random.default_rng(len(shape)).standard_normal(shape, np.float32)
    ours = sz.cast(sz.tensor(x), dtype)
    return ours, None if torch is None else torch.from_numpy(x).to(getattr(torch, dtype))


def gates(logits: Any, k: int) -> Any:
    """Return weights and experts as routers of models compute them."""
    weights, indices = torch.topk(torch.softmax(logits.float(), -1), k)
    return (weights / weights.sum(-1, keepdim=True)).to(logits.dtype), indices


def permutation(indices: Any, experts: int) -> Any:
    """Return the order of tokens as users write it."""
    flat = indices.flatten()
    order = torch.argsort(flat, stable=True)
    return torch.bincount(flat, minlength=experts), order, torch.argsort(order)


def rows() -> Iterator[Row]:
    """Give a name, suanzi's call and PyTorch's."""
    there = torch is not None
    for model, experts, k, inputs, outputs in MODELS:
        for tokens in (1, 128, 2048):
            logits, theirs = both(tokens, experts, dtype="bfloat16")
            title = f"{model} {tokens} tokens"
            yield (
                f"gating {title}",
                lambda x=logits, k=k: sz.nn.moe_gating(x, k, renormalize=True),
                (lambda x=theirs, k=k: gates(x, k)) if there else None,
            )
            _, indices = sz.nn.moe_gating(logits, k)
            at = torch.from_dlpack(indices) if there else None
            yield (
                f"permutation {title}",
                lambda i=indices, e=experts: sz.nn.moe_permutation(i, e),
                (lambda i=at, e=experts: permutation(i, e)) if there else None,
            )
            counts, _, _ = sz.nn.moe_permutation(indices, experts)
            for dtype in ("bfloat16", "float32"):
                if tokens == 2048 and dtype == "float32":
                    continue
                x, tx = both(tokens * k, inputs, dtype=dtype)
                w, tw = both(experts, inputs, outputs, dtype=dtype)
                ends = torch.from_dlpack(counts).cumsum(0).to(torch.int32) if there else None
                yield (
                    f"grouped_matmul {title} {dtype}",
                    lambda x=x, w=w, c=counts: sz.nn.grouped_matmul(x, w, c),
                    (lambda x=tx, w=tw, e=ends: torch.nn.functional.grouped_mm(x, w, offs=e))
                    if there
                    else None,
                )
