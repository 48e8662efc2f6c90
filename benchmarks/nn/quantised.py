"""Quantised linear layers at the sizes of Llama 7B and of DeepSeek's blocks."""

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
TOKENS = (1, 128, 2048)
INPUTS, OUTPUTS = 4096, 4096
LIMITS = {"int8": 127.0, "float8_e4m3fn": 448.0}


def both(x: Any, dtype: str) -> tuple[Any, Any]:
    """Return numbers as a tensor of suanzi and one of PyTorch."""
    ours = sz.cast(sz.tensor(x), dtype)
    return ours, None if torch is None else torch.from_numpy(x).to(getattr(torch, dtype))


def numbers(*shape: int) -> Any:
    """Return random numbers."""
    return np.random.default_rng(len(shape)).standard_normal(shape, np.float32)


def quantised(x: Any, dtype: str, block: int | None = None) -> Any:
    """Return rows or groups of columns by their scales, as PyTorch's users write it."""
    limit, parts = LIMITS[dtype], x if block is None else x.unflatten(-1, (-1, block))
    scale = (parts.abs().amax(-1, keepdim=True).float() / limit).clamp(min=1e-30)
    y = (parts.float() / scale).clamp(-limit, limit)
    stored = (y.round() if dtype == "int8" else y).to(getattr(torch, dtype))
    return stored.reshape(x.shape), scale.squeeze(-1) if block else scale


def theirs_of(x: Any) -> Any:
    """Return a quantised tensor as one of PyTorch."""
    if x.dtype is not sz.float8_e4m3fn:
        return torch.from_dlpack(x)
    return torch.from_numpy(sz.cast(x, sz.float32).numpy()).to(torch.float8_e4m3fn)


def multiplied(x: Any, weight: Any, x_scale: Any, weight_scale: Any) -> Any:
    """Return the product of rows and channels, in bfloat16."""
    if x.dtype == torch.int8:
        y = torch._int_mm(x, weight.t())
        return (y * x_scale * weight_scale.t()).to(torch.bfloat16)
    return torch._scaled_mm(
        x, weight.t(), x_scale, weight_scale.t(), out_dtype=torch.bfloat16
    )  # fmt: skip


def dequantised(x: Any, weight: Any, x_scale: Any, weight_scale: Any) -> Any:
    """Return the product of blocks of 128: PyTorch on the CPU multiplies their numbers."""
    wide = (x.to(torch.bfloat16).unflatten(-1, (-1, 128)) * x_scale.unsqueeze(-1)).flatten(-2)
    blocks = weight.to(torch.bfloat16).unflatten(-1, (-1, 128)).unflatten(0, (-1, 128))
    matrix = blocks * weight_scale[:, None, :, None]
    return torch.matmul(
        wide.to(torch.bfloat16), matrix.reshape(weight.shape).to(torch.bfloat16).t()
    )


def rows() -> Iterator[Row]:
    """Give a name, suanzi's call and PyTorch's."""
    weight = numbers(OUTPUTS, INPUTS)
    for dtype in LIMITS:
        for block in (None, 128):
            for tokens in TOKENS:
                x, tx = both(numbers(tokens, INPUTS), "bfloat16")
                title = f"{tokens} x {INPUTS} to {dtype}" + (", blocks of 128" if block else "")
                yield (
                    f"quantise {title}",
                    lambda x=x, b=block, d=dtype: sz.nn.dynamic_quantize(x, b, d),
                    (lambda x=tx, b=block, d=dtype: quantised(x, d, b)) if torch else None,
                )
        for block in (None, [128, 128]):
            columns = None if block is None else 128
            w, t = sz.nn.dynamic_quantize(sz.tensor(weight), block, dtype)
            for tokens in TOKENS:
                q, s = sz.nn.dynamic_quantize(sz.tensor(numbers(tokens, INPUTS)), columns, dtype)
                theirs = None
                if torch is not None:
                    given = [theirs_of(v) for v in (q, w, s, t)]
                    function = multiplied if block is None else dequantised
                    theirs = lambda f=function, g=given: f(*g)  # noqa: E731
                yield (
                    f"linear {tokens} x {INPUTS} x {OUTPUTS} {dtype}"
                    + (", blocks" if block else ""),
                    lambda g=(q, w, s, t), b=block: sz.nn.scaled_linear(
                        *g, block_size=b, dtype=sz.bfloat16
                    ),
                    theirs,
                )
