"""nn 2, 3: softmaxes and norms at the widths of Llama 7B, ViT-B, Whisper and their vocabularies."""

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
SHAPES = [
    *((rows, 4096) for rows in (1, 128, 2048)),
    *((rows, 11008) for rows in (1, 128)),
    *((rows, 768) for rows in (197, 1500)),
    (1024, 1000),
]
VOCABULARIES = [(1, 32000), (128, 32000), (1, 151936), (16, 151936)]


def both(*shape: int, dtype: str) -> tuple[Any, Any]:
    """Return random numbers as a tensor of suanzi and one of PyTorch."""
    x = np.random.default_rng(len(shape)).standard_normal(shape, np.float32)
    ours = sz.cast(sz.tensor(x), dtype)
    return ours, None if torch is None else torch.from_numpy(x).to(getattr(torch, dtype))


def rows() -> Iterator[Row]:
    """Give a name, suanzi's call and PyTorch's."""
    f = None if torch is None else torch.nn.functional
    for dtype in ("bfloat16", "float32"):
        for shape in SHAPES:
            x, tx = both(*shape, dtype=dtype)
            w, tw = both(shape[-1], dtype=dtype)
            n, title = shape[-1], f"{shape[0]} x {shape[1]} {dtype}"
            yield (
                f"softmax {title}",
                lambda x=x: sz.nn.softmax(x),
                f and (lambda x=tx: f.softmax(x, -1)),
            )
            yield (
                f"rms_norm {title}",
                lambda x=x, w=w, n=n: sz.nn.rms_norm(x, n, w, 1e-6),
                f and (lambda x=tx, w=tw, n=n: f.rms_norm(x, (n,), w, 1e-6)),
            )
            yield (
                f"layer_norm {title}",
                lambda x=x, w=w, n=n: sz.nn.layer_norm(x, n, w, w),
                f and (lambda x=tx, w=tw, n=n: f.layer_norm(x, (n,), w, w)),
            )
        for shape in VOCABULARIES:
            x, tx = both(*shape, dtype=dtype)
            yield (
                f"log_softmax {shape[0]} x {shape[1]} {dtype}",
                lambda x=x: sz.nn.log_softmax(x),
                f and (lambda x=tx: f.log_softmax(x, -1)),
            )
