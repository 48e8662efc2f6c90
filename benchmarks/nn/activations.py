"""Activations and tables at the shapes of Llama 7B, Qwen3, ViT-B, Whisper, ResNet-50 and a UNet."""

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
# The model, the shape, and the activations it has there.
SHAPES = [
    *(("Llama 7B", (rows, 11008), ("silu", "swiglu", "swiglu_bwd")) for rows in (1, 128, 2048)),
    ("Qwen3", (128, 12288), ("swiglu",)),
    ("ViT-B", (197, 3072), ("gelu", "gelu_bwd")),
    ("Whisper", (1500, 2048), ("gelu",)),
    ("GPT-2", (128, 3072), ("gelu tanh",)),
    ("ResNet-50", (1, 256, 56, 56), ("relu", "relu_bwd")),
    ("a UNet", (2, 320, 64, 64), ("silu", "silu_bwd")),
    ("YOLO", (1, 64, 160, 160), ("mish", "hardswish", "sigmoid", "softplus")),
]
TABLES = [("Llama 7B", 32000, 4096, 128), ("Qwen3", 151936, 1024, 2048)]


def both(*shape: int, dtype: str) -> tuple[Any, Any]:
    """Return random numbers as a tensor of suanzi and one of PyTorch."""
    x = np.random.default_rng(len(shape)).standard_normal(shape, np.float32)
    ours = sz.cast(sz.tensor(x), dtype)
    return ours, None if torch is None else torch.from_numpy(x).to(getattr(torch, dtype))


def ours(name: str, g: Any, x: Any, y: Any) -> Callable[[], Any]:
    """Return the call of an activation of suanzi."""
    function = getattr(sz.nn, name.split()[0])
    if "tanh" in name:
        return lambda: function(x, approximate="tanh")
    if name.startswith("swiglu"):
        return (lambda: function(g, x, y)) if "bwd" in name else lambda: function(x, y)
    return (lambda: function(g, x)) if "bwd" in name else lambda: function(x)


def theirs(name: str, g: Any, x: Any, y: Any) -> Callable[[], Any] | None:
    """Return the call of an activation of PyTorch."""
    if torch is None:
        return None
    backward = torch.ops.aten
    calls: dict[str, Callable[[], Any]] = {
        "gelu tanh": lambda: F.gelu(x, approximate="tanh"),
        "swiglu": lambda: F.silu(x) * y,
        "swiglu_bwd": lambda: (backward.silu_backward(g * y, x), g * F.silu(x)),
        "silu_bwd": lambda: backward.silu_backward(g, x),
        "gelu_bwd": lambda: backward.gelu_backward(g, x),
        "relu_bwd": lambda: backward.threshold_backward(g, x, 0),
        "sigmoid": lambda: torch.sigmoid(x),
    }
    return calls[name] if name in calls else lambda: getattr(F, name)(x)


def rows() -> Iterator[Row]:
    """Give a name, suanzi's call and PyTorch's."""
    for dtype in ("bfloat16", "float32"):
        for model, shape, names in SHAPES:
            pairs = [both(*shape, dtype=dtype) for _ in range(3)]
            for name in names:
                title = f"{name} {model} {' x '.join(map(str, shape))} {dtype}"
                yield (
                    title,
                    ours(name, *(one for one, _ in pairs)),
                    theirs(name, *(other for _, other in pairs)),
                )
        for model, count, columns, length in TABLES:
            w, tw = both(count, columns, dtype=dtype)
            numbers = np.arange(length, dtype=np.int64) * 7919 % count
            at, there = sz.tensor(numbers), torch and torch.from_numpy(numbers)
            yield (
                f"embedding {model} {length} of {count} x {columns} {dtype}",
                lambda w=w, at=at: sz.nn.embedding(w, at),
                torch and (lambda w=tw, at=there: F.embedding(at, w)),
            )
