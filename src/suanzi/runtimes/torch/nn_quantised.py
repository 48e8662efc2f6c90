"""Quantised rows and blocks, and the linear layer of such numbers, in float64."""

from __future__ import annotations

from typing import Any, TypeAlias

import torch

from suanzi.runtimes.torch.ways import Call, way

Lanes: TypeAlias = torch.Tensor
_LIMITS = {"int8": 127.0, "float8_e4m3fn": 448.0, "float8_e5m2": 57344.0}


def _blocks(block_size: Any, width: int) -> tuple[int, int, bool]:
    """Return the rows and columns of a block, and whether it is a whole row."""
    if block_size is None:
        return 1, max(width, 1), True
    several = hasattr(block_size, "__iter__") and getattr(block_size, "ndim", 1) != 0
    sizes = [int(n) for n in (block_size if several else (block_size,))]
    return (1, sizes[0], False) if len(sizes) == 1 else (sizes[0], sizes[1], False)


def _along(x: Lanes, size: int, axis: int, at_least: int = 0) -> Lanes:
    """Return the largest of each so many elements along an axis, the last ones maybe fewer."""
    count = max(-(-x.shape[axis] // size), at_least)
    around = [0, 0] * (-axis - 1) + [0, count * size - x.shape[axis]]
    parts = torch.nn.functional.pad(x, around).unflatten(axis, (count, size))
    return parts.amax(axis) if parts.numel() else parts.new_zeros(parts.shape).sum(axis)


def _spread(x: Lanes, size: int, axis: int, length: int) -> Lanes:
    return x.repeat_interleave(size, axis).narrow(axis, 0, length)


@way("nn:dynamic_quantize")
def dynamic_quantize(call: Call, x: Lanes, block_size: Any, dtype: Any) -> list[Lanes]:
    """Return quotients by the scales of rows or blocks, and these."""
    name = call.result.dtype.name
    limit, wide = _LIMITS[name], x.to(torch.float64)
    rows, columns, whole = _blocks(block_size, x.shape[-1])
    largest = _along(wide.abs(), columns, -1, int(whole))
    if rows > 1:
        largest = _along(largest, rows, -2)
    scale = (largest / limit).to(torch.float32).clamp(min=2.0**-126)
    by = scale.to(torch.float64)
    if rows > 1:
        by = _spread(by, rows, -2, x.shape[-2])
    by = _spread(by, columns, -1, x.shape[-1])
    made = (wide / by).clamp(-limit, limit)
    made = torch.where(wide.isinf(), wide.sign() * limit, made)
    made = torch.where(by.isnan(), 0.0 if name == "int8" else torch.nan, made)
    return [made.round().to(torch.int8) if name == "int8" else made, scale]


@way("nn:scaled_linear")
def scaled_linear(
    call: Call,
    x: Lanes,
    weight: Lanes,
    x_scale: Lanes,
    weight_scale: Lanes,
    bias: Lanes | None,
    block_size: Any,
    dtype: Any,
) -> Lanes:
    """Return sums of products of blocks times their scales."""
    width, outputs = weight.shape[1], weight.shape[0]
    rows, columns, whole = _blocks(block_size, width)
    across = 1 if whole else -(-width // columns)
    wide, matrix = x.to(torch.float64), weight.to(torch.float64)
    x_scale, weight_scale = (  # numbers, too
        v if isinstance(v, torch.Tensor) else torch.tensor(float(v), device=x.device)
        for v in (x_scale, weight_scale)
    )
    by_x = x_scale.to(torch.float32).to(torch.float64).expand(*x.shape[:-1], across)
    by_weight = weight_scale.to(torch.float32).to(torch.float64).expand(-(-outputs // rows), across)
    by_weight = _spread(by_weight, rows, 0, outputs)
    made = wide.new_zeros(*x.shape[:-1], outputs)
    for i in range(across if width else 0):
        some = slice(i * columns, (i + 1) * columns)
        each = by_x[..., i : i + 1] * by_weight[:, i]
        made = made + torch.matmul(wide[..., some], matrix[:, some].T) * each
    return made if bias is None else made + bias.to(torch.float64)
