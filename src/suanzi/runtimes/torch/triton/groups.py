"""group_norm and instance_norm: rows are groups of channels, each with a weight of its own.

A program has some whole groups in registers; those that do not fit are cut as rows of other norms.
How many elements a channel has is known to the kernel, which divides by it for each element.
"""

# ruff: noqa: F821  ("fp64" is Triton's name of a type)

import math
from typing import Any

import torch
import triton
import triton.language as tl

from suanzi.runtimes.torch.casts import cast
from suanzi.runtimes.torch.dtypes import TORCH
from suanzi.runtimes.torch.fast import fast
from suanzi.runtimes.torch.triton import norms
from suanzi.runtimes.torch.triton.driver import At
from suanzi.runtimes.torch.triton.steps import Memory, Step, Steps, made_of
from suanzi.runtimes.torch.triton.tiles import FLOATS, PART, block_of, tiles, unit_of, warps_of
from suanzi.runtimes.torch.ways import Call


@triton.jit
def _by_channel(y, weight, bias, row, column, inside, groups, channels, SPAN: tl.constexpr,
                HAS_W: tl.constexpr, HAS_B: tl.constexpr, wide: tl.constexpr):  # fmt: skip
    if HAS_W or HAS_B:
        channel = (row % groups).to(tl.int32)[:, None] * channels + (column // SPAN)[None, :]
        if HAS_W:
            y = y * tl.load(weight + channel, inside, 0.0).to(wide)
        if HAS_B:
            y = y + tl.load(bias + channel, inside, 0.0).to(wide)
    return y


@triton.jit
def _rows(x, weight, bias, out, rows, units, groups, channels, eps: "fp64", SPAN: tl.constexpr,
          HAS_W: tl.constexpr, HAS_B: tl.constexpr, WIDE: tl.constexpr, UNIT: tl.constexpr,
          ROWS: tl.constexpr, BLOCK: tl.constexpr):  # fmt: skip
    n = units * UNIT
    wide: tl.constexpr = tl.float64 if WIDE else tl.float32
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    column = tl.arange(0, BLOCK)
    inside = (row < rows)[:, None] & (column < n)[None, :]
    v = tl.load(x + row[:, None] * n + column[None, :], inside, 0.0).to(wide)
    mean = tl.sum(v, 1).to(tl.float64) / n
    v = tl.where(inside, v - mean.to(wide)[:, None], 0.0)
    square = tl.sum(v * v, 1).to(tl.float64) / n
    y = v * (1.0 / tl.sqrt(square + eps)).to(wide)[:, None]
    y = _by_channel(y, weight, bias, row, column, inside, groups, channels, SPAN, HAS_W, HAS_B,
                    wide)  # fmt: skip
    tl.store(out + row[:, None] * n + column[None, :], y.to(out.dtype.element_ty), inside)


@triton.jit
def _finish(x, weight, bias, out, means, squares, units, parts, groups, channels, eps: "fp64",
            SPAN: tl.constexpr, HAS_W: tl.constexpr, HAS_B: tl.constexpr, WIDE: tl.constexpr,
            UNIT: tl.constexpr, BLOCK: tl.constexpr):  # fmt: skip
    n = units * UNIT
    wide: tl.constexpr = tl.float64 if WIDE else tl.float32
    program = tl.program_id(0).to(tl.int64)
    row = program // parts + tl.zeros((1,), tl.int64)
    column = (program % parts).to(tl.int32) * BLOCK + tl.arange(0, BLOCK)
    inside = (row >= 0)[:, None] & (column < n)[None, :]
    v = tl.load(x + row[:, None] * n + column[None, :], inside, 0.0).to(wide)
    root = (1.0 / tl.sqrt(tl.load(squares + row) + eps)).to(wide)
    y = (v - tl.load(means + row).to(wide)[:, None]) * root[:, None]
    y = _by_channel(y, weight, bias, row, column, inside, groups, channels, SPAN, HAS_W, HAS_B,
                    wide)  # fmt: skip
    tl.store(out + row[:, None] * n + column[None, :], y.to(out.dtype.element_ty), inside)


def _norm(
    call: Call, x: torch.Tensor, groups: int, weight: torch.Tensor | None,
    bias: torch.Tensor | None, eps: float,
) -> torch.Tensor | None:  # fmt: skip
    target = call.result.dtype
    if target.name not in FLOATS or not x.numel():
        return None
    channels, span = x.shape[1] // groups, math.prod(x.shape[2:])
    n, rows = channels * span, x.shape[0] * groups
    if n >= 2**30:
        return None
    given = {"x": x, "weight": weight, "bias": bias}
    operands = [
        cast(v, call.dtypes[name], target).contiguous()
        for name, v in given.items() if v is not None
    ]  # fmt: skip
    facts = {"SPAN": span, "HAS_W": weight is not None, "HAS_B": bias is not None,
             "WIDE": target.bits == 32, "UNIT": unit_of(n)}  # fmt: skip
    out, made = Memory(tuple(x.shape), TORCH[target]), At(len(operands))
    scales = [made if weight is None else At(1), made if bias is None else At(made - 1), made]
    units, sizes = n // facts["UNIT"], [groups, channels]
    block = block_of(n, target.bits == 32)
    if block:
        each, warps = tiles(block)
        numbers = [rows, units, *sizes, float(eps)]
        one = Step(_rows, triton.cdiv(rows, each), [At(0), *scales, *numbers],
                   {**facts, "ROWS": each, "BLOCK": block}, warps)  # fmt: skip
        return made_of(Steps(operands, out, [one]))
    parts, warps = triton.cdiv(n, PART), warps_of(PART)
    means, squares, mean, square = (At(made + i) for i in range(1, 5))
    steps = [
        Step(norms._parts, rows * parts, [At(0), means, squares, n, n, parts],
             {"CENTRED": True, "WIDE": facts["WIDE"], "BLOCK": PART}, warps),
        Step(norms._join, rows, [means, squares, mean, square, n, parts],
             {"CENTRED": True, "PART": PART, "BLOCK": 1024}),
        Step(_finish, rows * parts,
             [At(0), *scales, mean, square, units, parts, *sizes, float(eps)],
             {**facts, "BLOCK": PART}, warps),
    ]  # fmt: skip
    between = [Memory((rows, count), torch.float64) for count in (parts, parts, 1, 1)]
    return made_of(Steps(operands, out, steps, between))


@fast("nn:group_norm")
def group_norm(
    call: Call, x: torch.Tensor, num_groups: int, weight: torch.Tensor | None,
    bias: torch.Tensor | None, eps: float,
) -> Any:  # fmt: skip
    """Return groups of channels with mean 0 and variance 1, weighted by channel."""
    return _norm(call, x, int(num_groups), weight, bias, eps)


@fast("nn:instance_norm")
def instance_norm(
    call: Call, x: torch.Tensor, weight: torch.Tensor | None, bias: torch.Tensor | None, eps: float
) -> Any:
    """Return each channel of each example with mean 0 and variance 1, weighted."""
    return _norm(call, x, x.shape[1], weight, bias, eps) if x.numel() else None
