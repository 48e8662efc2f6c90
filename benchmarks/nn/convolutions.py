"""Convolutions of ResNet-50, ViT-B, Whisper, a UNet and a MobileNet, in float32 and bfloat16."""

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
FORWARD = [
    # name, x without the batch, weight, stride, padding, groups
    ("ResNet 7x7/2, 3 at 224", (3, 224, 224), (64, 3, 7, 7), 2, 3, 1),
    ("ResNet 3x3, 64 at 56", (64, 56, 56), (64, 64, 3, 3), 1, 1, 1),
    ("ResNet 3x3, 128 at 28", (128, 28, 28), (128, 128, 3, 3), 1, 1, 1),
    ("ResNet 3x3, 256 at 14", (256, 14, 14), (256, 256, 3, 3), 1, 1, 1),
    ("ResNet 3x3, 512 at 7", (512, 7, 7), (512, 512, 3, 3), 1, 1, 1),
    ("ResNet 1x1, 64 to 256 at 56", (64, 56, 56), (256, 64, 1, 1), 1, 0, 1),
    ("ResNet 1x1, 1024 to 256 at 14", (1024, 14, 14), (256, 1024, 1, 1), 1, 0, 1),
    ("ResNet 1x1/2, 256 to 512 at 56", (256, 56, 56), (512, 256, 1, 1), 2, 0, 1),
    ("ViT-B 16x16/16, 3 at 224", (3, 224, 224), (768, 3, 16, 16), 16, 0, 1),
    ("Whisper 3, 80 to 768 at 3000", (80, 3000), (768, 80, 3), 1, 1, 1),
    ("depthwise 3x3, 144 at 56", (144, 56, 56), (144, 1, 3, 3), 1, 1, 144),
    ("depthwise 3x3, 576 at 14", (576, 14, 14), (576, 1, 3, 3), 1, 1, 576),
]
LARGE = [("UNet 3x3, 320 at 64", (320, 64, 64), (320, 320, 3, 3), 1, 1, 1)]
TRANSPOSED = [
    # name, x, weight, stride, padding
    ("UNet up 2x2/2, 128 at 32", (1, 128, 32, 32), (128, 64, 2, 2), 2, 0),
    ("GAN up 4x4/2, 256 at 16", (1, 256, 16, 16), (256, 128, 4, 4), 2, 1),
]


def both(shape: tuple[int, ...], dtype: str) -> tuple[Any, Any]:
    """Return random numbers as a tensor of suanzi and one of PyTorch."""
    x = np.random.default_rng(len(shape)).standard_normal(shape, np.float32)
    ours = sz.cast(sz.tensor(x), dtype)
    return ours, None if torch is None else torch.from_numpy(x).to(getattr(torch, dtype))


def rows() -> Iterator[Row]:
    """Give a name, suanzi's call and PyTorch's."""
    for dtype in ("float32", "bfloat16"):
        for batch in (1, 8):
            for name, shape, kernel, stride, padding, groups in [
                *FORWARD,
                *(LARGE if batch == 1 else []),
            ]:
                x, tx = both((batch, *shape), dtype)
                w, tw = both(kernel, dtype)
                b, tb = both(kernel[:1], dtype)
                ours, theirs = (
                    (sz.nn.conv1d, "conv1d") if len(kernel) == 3 else (sz.nn.conv2d, "conv2d")
                )
                yield (
                    f"{name}, batch {batch}, {dtype}",
                    lambda f=ours, a=(x, w, b, stride, padding, 1, groups): f(*a),
                    None
                    if torch is None
                    else lambda f=theirs, a=(tx, tw, tb, stride, padding, 1, groups): getattr(
                        functional, f
                    )(*a),
                )
        yield from backward_rows(dtype)
        for name, shape, kernel, stride, padding in TRANSPOSED:
            x, tx = both(shape, dtype)
            w, tw = both(kernel, dtype)
            yield (
                f"{name}, {dtype}",
                lambda a=(x, w, None, stride, padding): sz.nn.conv_transpose2d(*a),
                None
                if torch is None
                else lambda a=(tx, tw, None, stride, padding): functional.conv_transpose2d(*a),
            )


def backward_rows(dtype: str) -> Iterator[Row]:
    """Give the gradients of x, weight and bias of two layers."""
    for name, shape, kernel, stride, padding, groups in (FORWARD[1], FORWARD[3]):
        x, tx = both((8, *shape), dtype)
        w, tw = both(kernel, dtype)
        b, _ = both(kernel[:1], dtype)
        g, tg = both((8, kernel[0], *(n // stride for n in shape[1:])), dtype)

        def theirs(
            tx: Any = tx, tw: Any = tw, tg: Any = tg, s: int = stride, p: int = padding
        ) -> Any:
            return torch.ops.aten.convolution_backward(
                tg, tx, tw, [len(tg)], [s, s], [p, p], [1, 1], False, [0, 0], 1, [True] * 3
            )

        yield (
            f"{name}, gradients, batch 8, {dtype}",
            lambda a=(g, x, w, b, stride, padding, 1, groups): sz.nn.conv2d_bwd(*a),
            None if torch is None else theirs,
        )
