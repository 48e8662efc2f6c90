"""layer_norm, rms_norm and their gradients over the last axes.

A program has some whole rows in registers; float32 is computed in float64, narrower floats in
float32. Rows that do not fit are cut: means and squared distances of parts are joined in a fixed
order. Gradients of weights are summed by each program over its rows, then over programs.
"""

# ruff: noqa: F821  ("fp64" is Triton's name of a type)

import math
from typing import Any

import torch
import triton
import triton.language as tl

from suanzi.runtimes.torch.casts import cast
from suanzi.runtimes.torch.dtypes import TORCH
from suanzi.runtimes.torch.fast import fast, planned
from suanzi.runtimes.torch.triton.driver import At
from suanzi.runtimes.torch.triton.launching import launch
from suanzi.runtimes.torch.triton.steps import Memory, Step, Steps, made_of
from suanzi.runtimes.torch.triton.tiles import (
    FLOATS,
    PART,
    block_of,
    cut_in_two,
    in_rows,
    tiles,
    unit_of,
    warps_of,
    warps_of_cut,
)
from suanzi.runtimes.torch.ways import Call


@triton.jit
def _weighted(y, weight, bias, offset, column, n, HAS_W: tl.constexpr, HAS_B: tl.constexpr,
              wide: tl.constexpr):  # fmt: skip
    if HAS_W:
        w = tl.load(weight + column, column < n, 0.0).to(wide)
        y = y * (w + (tl.zeros((1,), tl.float64) + offset).to(wide))[None, :]
    if HAS_B:
        y = y + tl.load(bias + column, column < n, 0.0).to(wide)[None, :]
    return y


@triton.jit
def _rows(x, weight, bias, out, rows, units, steps, eps: "fp64", offset: "fp64",
          CENTRED: tl.constexpr, HAS_W: tl.constexpr, HAS_B: tl.constexpr, WIDE: tl.constexpr,
          UNIT: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr,
          REST: tl.constexpr):  # fmt: skip
    n, step = units * UNIT, steps * UNIT
    wide: tl.constexpr = tl.float64 if WIDE else tl.float32
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    column = tl.arange(0, BLOCK)
    inside = (row < rows)[:, None] & (column < n)[None, :]
    v = tl.load(x + row[:, None] * step + column[None, :], inside, 0.0).to(wide)
    last = BLOCK + tl.arange(0, REST or 1)
    also = (row < rows)[:, None] & (last < n)[None, :]
    if REST:
        u = tl.load(x + row[:, None] * step + last[None, :], also, 0.0).to(wide)
    if CENTRED:
        total = tl.sum(v, 1)
        if REST:
            total += tl.sum(u, 1)
        mean = (total.to(tl.float64) / n).to(wide)
        v = tl.where(inside, v - mean[:, None], 0.0)
        if REST:
            u = tl.where(also, u - mean[:, None], 0.0)
    squares = tl.sum(v * v, 1)
    if REST:
        squares += tl.sum(u * u, 1)
    root = (1.0 / tl.sqrt(squares.to(tl.float64) / n + eps)).to(wide)
    if REST:
        z = _weighted(u * root[:, None], weight, bias, offset, last, n, HAS_W, HAS_B, wide)
        tl.store(out + row[:, None] * n + last[None, :], z.to(out.dtype.element_ty), also)
    y = _weighted(v * root[:, None], weight, bias, offset, column, n, HAS_W, HAS_B, wide)
    tl.store(out + row[:, None] * n + column[None, :], y.to(out.dtype.element_ty), inside)


@triton.jit
def _parts(x, means, squares, n, step, parts, CENTRED: tl.constexpr, WIDE: tl.constexpr,
           BLOCK: tl.constexpr):  # fmt: skip
    wide: tl.constexpr = tl.float64 if WIDE else tl.float32
    row, part = tl.program_id(0).to(tl.int64) // parts, tl.program_id(0).to(tl.int64) % parts
    column = part * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + row * step + column, column < n, 0.0).to(wide)
    if CENTRED:
        mean = tl.sum(v, 0).to(tl.float64) / tl.minimum(n - part * BLOCK, BLOCK)
        v = tl.where(column < n, v - mean.to(wide), 0.0)
        tl.store(means + row * parts + part, mean)
    tl.store(squares + row * parts + part, tl.sum(v * v, 0).to(tl.float64))


@triton.jit
def _join(means, squares, mean_of, square_of, n, parts, CENTRED: tl.constexpr, PART: tl.constexpr,
          BLOCK: tl.constexpr):  # fmt: skip
    """The mean and the mean square of a row."""
    row = tl.program_id(0).to(tl.int64)
    column = tl.arange(0, BLOCK)
    mean = tl.zeros((BLOCK,), tl.float64)
    if CENTRED:
        for start in range(0, parts, BLOCK):
            at = start + column
            count = tl.where(at == parts - 1, n - (tl.full((1,), parts, tl.int64) - 1) * PART, PART)
            mean += tl.load(means + row * parts + at, at < parts, 0.0) * count.to(tl.float64)
        tl.store(mean_of + row, tl.sum(mean, 0) / n)
    middle = tl.sum(mean, 0) / n
    total = tl.zeros((BLOCK,), tl.float64)
    for start in range(0, parts, BLOCK):
        at = start + column
        total += tl.load(squares + row * parts + at, at < parts, 0.0)
        if CENTRED:
            count = tl.where(at == parts - 1, n - (tl.full((1,), parts, tl.int64) - 1) * PART, PART)
            d = tl.load(means + row * parts + at, at < parts, 0.0) - middle
            total += tl.where(at < parts, d * d * count.to(tl.float64), 0.0)
    tl.store(square_of + row, tl.sum(total, 0) / n)


@triton.jit
def _finish(x, weight, bias, out, means, squares, n, step, parts, eps: "fp64", offset: "fp64",
            CENTRED: tl.constexpr, HAS_W: tl.constexpr, HAS_B: tl.constexpr, WIDE: tl.constexpr,
            BLOCK: tl.constexpr):  # fmt: skip
    wide: tl.constexpr = tl.float64 if WIDE else tl.float32
    row, part = tl.program_id(0).to(tl.int64) // parts, tl.program_id(0).to(tl.int64) % parts
    column = part * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + row * step + column, column < n, 0.0).to(wide)
    if CENTRED:
        v = v - tl.load(means + row).to(wide)
    y = v * (1.0 / tl.sqrt(tl.load(squares + row) + eps)).to(wide)
    y = _weighted(y[None, :], weight, bias, offset, column, n, HAS_W, HAS_B, wide)
    tl.store(out + row * n + column[None, :], y.to(out.dtype.element_ty), (column < n)[None, :])


@triton.jit
def _backward(grad, x, weight, out, weights, biases, rows, n, each, eps: "fp64", offset: "fp64",
              CENTRED: tl.constexpr, HAS_W: tl.constexpr, HAS_B: tl.constexpr,
              WIDE: tl.constexpr, BLOCK: tl.constexpr):  # fmt: skip
    wide: tl.constexpr = tl.float64 if WIDE else tl.float32
    program = tl.program_id(0).to(tl.int64)
    column = tl.arange(0, BLOCK)
    inside = column < n
    w = tl.full((BLOCK,), 1.0, wide)
    if HAS_W:
        w = tl.load(weight + column, inside, 0.0).to(wide)
        w = w + (tl.zeros((1,), tl.float64) + offset).to(wide)
    by_weight = tl.zeros((BLOCK,), wide)
    by_bias = tl.zeros((BLOCK,), wide)
    for i in range(each):
        row = program * each + i
        here = inside & (row + 0 * column < rows)
        v = tl.load(x + row * n + column, here, 0.0).to(wide)
        g = tl.load(grad + row * n + column, here, 0.0).to(wide)
        if CENTRED:
            mean = tl.sum(v, 0).to(tl.float64) / n
            v = tl.where(here, v - mean.to(wide), 0.0)
        root = (1.0 / tl.sqrt(tl.sum(v * v, 0).to(tl.float64) / n + eps)).to(wide)
        y = v * root
        along = tl.where(here, g * w, 0.0)
        back = (tl.sum(tl.where(here, along * y, 0.0), 0).to(tl.float64) / n).to(wide)
        made = along - y * back
        if CENTRED:
            made = made - (tl.sum(along, 0).to(tl.float64) / n).to(wide)
        tl.store(out + row * n + column, (made * root).to(out.dtype.element_ty), here)
        if HAS_W:
            by_weight += tl.where(here, g * y, 0.0)
        if HAS_B:
            by_bias += tl.where(here, g, 0.0)
    if HAS_W:
        tl.store(weights + program * n + column, by_weight, inside)
    if HAS_B:
        tl.store(biases + program * n + column, by_bias, inside)


def _count(shape: Any) -> int:
    return int(shape) if isinstance(shape, int) else math.prod(int(n) for n in shape)


def _flat(call: Call, name: str, x: torch.Tensor | None) -> torch.Tensor | None:
    return None if x is None else cast(x, call.dtypes[name], call.result.dtype).reshape(-1)


def _steps(
    call: Call, x: torch.Tensor, n: int, weight: torch.Tensor | None, bias: torch.Tensor | None,
    eps: float, offset: float,
) -> Steps:  # fmt: skip
    """Return the kernels for rows that are contiguous."""
    target, rows = call.result.dtype, x.numel() // n
    step = n if x.is_contiguous() else x.stride(0)
    facts = {"CENTRED": call.op.name == "layer_norm", "HAS_W": weight is not None,
             "HAS_B": bias is not None, "WIDE": target.bits == 32}  # fmt: skip
    operands = [x, *([] if weight is None else [weight]), *([] if bias is None else [bias])]
    out = Memory(tuple(x.shape), TORCH[target])
    made = At(len(operands))
    means, squares, mean, square = (At(made + i) for i in range(1, 5))
    by = made if weight is None else At(1)
    scales = [by, made if bias is None else At(made - 1), made]
    numbers = [float(eps), float(offset)]
    block = block_of(n, target.bits == 32)
    if block:
        each, unit = tiles(block)[0], unit_of(n, step)
        sizes, (first, rest) = [rows, n // unit, step // unit], cut_in_two(block, n)
        one = Step(_rows, triton.cdiv(rows, each), [At(0), *scales, *sizes, *numbers],
                   {**facts, "UNIT": unit, "ROWS": each, "BLOCK": first, "REST": rest},
                   warps_of_cut(block, first, rest, target.bits == 32))  # fmt: skip
        return Steps(operands, out, [one])
    parts = triton.cdiv(n, PART)
    centred, warps = {"CENTRED": facts["CENTRED"]}, warps_of(PART)
    steps = [
        Step(_parts, rows * parts, [At(0), means, squares, n, step, parts],
             {**centred, "WIDE": facts["WIDE"], "BLOCK": PART}, warps),
        Step(_join, rows, [means, squares, mean, square, n, parts],
             {**centred, "PART": PART, "BLOCK": 1024}),
        Step(_finish, rows * parts, [At(0), *scales, mean, square, n, step, parts, *numbers],
             {**facts, "BLOCK": PART}, warps),
    ]  # fmt: skip
    between = [Memory((rows, count), torch.float64) for count in (parts, parts, 1, 1)]
    return Steps(operands, out, steps, between)


@planned("nn:layer_norm", "nn:rms_norm", rounded=False)
def plan(
    call: Call, x: torch.Tensor, normalized_shape: Any, weight: torch.Tensor | None, eps: float,
    bias: torch.Tensor | None = None, offset: float = 0.0,
) -> Steps | None:  # fmt: skip
    """Return the plan of a norm of rows that are contiguous in memory."""
    target = call.result.dtype
    given = {"x": x, "weight": weight, "bias": bias}
    if target.name not in FLOATS or not x.numel():
        return None
    n = _count(normalized_shape)
    if any(v is not None and call.dtypes[name] is not target for name, v in given.items()):
        return None
    if not all(v is None or v.is_contiguous() for v in (weight, bias)):
        return None
    if not (x.is_contiguous() or (in_rows(x) and n == x.shape[-1])):
        return None
    return _steps(call, x, n, weight, bias, eps, offset)


@fast("nn:layer_norm", "nn:rms_norm")
def norm(
    call: Call, x: torch.Tensor, normalized_shape: Any, weight: torch.Tensor | None, eps: float,
    bias: torch.Tensor | None = None, offset: float = 0.0,
) -> Any:  # fmt: skip
    """Return rows with mean 0 and variance 1, or with mean square 1, weighted."""
    target = call.result.dtype
    if target.name not in FLOATS or not x.numel():
        return None
    given = {"x": x, "weight": weight, "bias": bias}
    rows, by, plus = (
        None if v is None else cast(v, call.dtypes[name], target).contiguous()
        for name, v in given.items()
    )
    assert rows is not None
    return made_of(_steps(call, rows, _count(normalized_shape), by, plus, eps, offset))


@fast("nn:layer_norm_bwd", "nn:rms_norm_bwd")
def norm_bwd(
    call: Call, out_grad: torch.Tensor, x: torch.Tensor, normalized_shape: Any,
    weight: torch.Tensor | None, eps: float, bias: torch.Tensor | None = None, offset: float = 0.0,
) -> Any:  # fmt: skip
    """Return the gradients of x, and of the weights that are given."""
    target, n = call.result.dtype, _count(normalized_shape)
    block = block_of(n, True)
    if target.name not in FLOATS or not x.numel() or not block:
        return None
    grad, given = (
        cast(v, call.dtypes[name], target).contiguous()
        for name, v in (("out_grad", out_grad), ("x", x))
    )
    rows, wide = x.numel() // n, target.bits == 32
    each = triton.cdiv(rows, 528)
    programs = triton.cdiv(rows, each)
    out = torch.empty(x.shape, dtype=TORCH[target], device=x.device)
    kind = torch.float64 if wide else torch.float32
    sums = torch.empty((2, programs, n), dtype=kind, device=x.device)
    by = _flat(call, "weight", weight)
    launch(_backward, (programs,),
           [grad, given, out if by is None else by, out, sums[0], sums[1], rows, n, each,
            float(eps), float(offset)],
           {"CENTRED": call.op.name == "layer_norm_bwd", "HAS_W": by is not None,
            "HAS_B": bias is not None, "WIDE": wide, "BLOCK": block},
           warps=warps_of(block * 2 if wide else block))  # fmt: skip
    made = [out]
    made += [] if weight is None else [sums[0].sum(0).reshape(weight.shape)]
    made += [] if bias is None else [sums[1].sum(0).reshape(bias.shape)]
    return made if len(made) > 1 else out
