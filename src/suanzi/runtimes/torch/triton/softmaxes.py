"""softmax, log_softmax and their gradients along the last axis.

A program has some whole rows in registers, so that memory is read once; exponentials of float32 are
added up in float64. Rows that do not fit are cut: one kernel for each part's largest element and
sum, one that joins those of a row in a fixed order, and one that writes.
"""

from typing import Any

import torch
import triton
import triton.language as tl

from suanzi.runtimes.torch.casts import cast
from suanzi.runtimes.torch.dtypes import TORCH
from suanzi.runtimes.torch.fast import fast, planned
from suanzi.runtimes.torch.triton.driver import At
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
def exponential(x, WIDE: tl.constexpr):
    """exp(x) for x <= 0: of float64 to about 1 ULP of float32, else by the GPU's power of 2."""
    x = tl.where(x < -200.0, -200.0, x)
    if WIDE:
        z = x * 1.4426950408889634
        whole = tl.floor(z + 0.5)
        f = (z - whole).to(tl.float32)
        p = 1.5252733804059841e-05 * f + 1.5403530393381608e-04
        p = p * f + 1.3333558146428443e-03
        p = p * f + 9.6181291076284770e-03
        p = p * f + 5.5504108664821580e-02
        p = p * f + 2.4022650695910070e-01
        p = p * f + 6.9314718055994530e-01
        p = p * f + 1.0
        scale = ((whole.to(tl.int64) + 1023) << 52).to(tl.float64, bitcast=True)
        made = p.to(tl.float64) * scale
    else:
        high = x * 1.4426950408889634
        low = tl.fma(x, 1.4426950216293335, -high) + x * 1.925963033500011e-08
        power = tl.exp2(high)
        made = power + power * (low * 0.6931471805599453)
    return made


@triton.jit
def _rows(x, out, rows, units, steps, LOG: tl.constexpr, WIDE: tl.constexpr, UNIT: tl.constexpr,
          ROWS: tl.constexpr, BLOCK: tl.constexpr, REST: tl.constexpr):  # fmt: skip
    n, step = units * UNIT, steps * UNIT
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    column = tl.arange(0, BLOCK)
    inside = (row < rows)[:, None] & (column < n)[None, :]
    at = x + row[:, None] * step
    wide: tl.constexpr = tl.float64 if WIDE else tl.float32
    v = tl.load(at + column[None, :], inside, float("-inf")).to(tl.float32)
    top = tl.max(v, 1)
    if REST:
        last = BLOCK + tl.arange(0, REST)
        also = (row < rows)[:, None] & (last < n)[None, :]
        w = tl.load(at + last[None, :], also, float("-inf")).to(tl.float32)
        top = tl.maximum(top, tl.max(w, 1))
    d = v.to(wide) - top.to(wide)[:, None]
    e = tl.where(inside, exponential(d, WIDE), 0.0)
    total = tl.sum(e, 1).to(tl.float64)
    if REST:
        g = w.to(wide) - top.to(wide)[:, None]
        f = tl.where(also, exponential(g, WIDE), 0.0)
        total += tl.sum(f, 1).to(tl.float64)
        z = _share(g, f, total, LOG, wide).to(out.dtype.element_ty)
        tl.store(out + row[:, None] * n + last[None, :], z, also)
    y = _share(d, e, total, LOG, wide).to(out.dtype.element_ty)
    tl.store(out + row[:, None] * n + column[None, :], y, inside)


@triton.jit
def _share(d, e, total, LOG: tl.constexpr, wide: tl.constexpr):
    """Softmax, or its logarithm, of rows whose largest elements are 0."""
    return d - tl.log(total).to(wide)[:, None] if LOG else e * (1.0 / total).to(wide)[:, None]


@triton.jit
def _parts(x, tops, sums, n, step, parts, WIDE: tl.constexpr, BLOCK: tl.constexpr):
    wide: tl.constexpr = tl.float64 if WIDE else tl.float32
    row, part = tl.program_id(0).to(tl.int64) // parts, tl.program_id(0).to(tl.int64) % parts
    column = part * BLOCK + tl.arange(0, BLOCK)
    inside = column < n
    v = tl.load(x + row * step + column, inside, float("-inf")).to(tl.float32)
    top = tl.max(v, 0)
    shift = tl.where(top == float("-inf"), 0.0, top)
    d = v.to(wide) - shift.to(wide)
    e = tl.where(inside, exponential(d, WIDE), 0.0).to(tl.float64)
    tl.store(tops + row * parts + part, top)
    tl.store(sums + row * parts + part, tl.sum(e, 0))


@triton.jit
def _join(tops, sums, top_of, sum_of, parts, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    column = tl.arange(0, BLOCK)
    best = tl.full((BLOCK,), float("-inf"), tl.float32)
    for start in range(0, parts, BLOCK):
        here = tl.load(tops + row * parts + start + column, start + column < parts, float("-inf"))
        best = tl.maximum(best, here)
    top = tl.max(best, 0)
    shift = tl.where(top == float("-inf"), 0.0, top)
    total = tl.zeros((BLOCK,), tl.float64)
    for start in range(0, parts, BLOCK):
        inside = start + column < parts
        here = tl.load(tops + row * parts + start + column, inside, float("-inf"))
        given = tl.load(sums + row * parts + start + column, inside, 0.0)
        d = here.to(tl.float64) - shift.to(tl.float64)
        total += tl.where(inside, given * exponential(d, True), 0.0)
    tl.store(top_of + row, top)
    tl.store(sum_of + row, tl.sum(total, 0))


@triton.jit
def _finish(x, out, tops, sums, n, step, parts, LOG: tl.constexpr, WIDE: tl.constexpr,
            BLOCK: tl.constexpr):  # fmt: skip
    wide: tl.constexpr = tl.float64 if WIDE else tl.float32
    row, part = tl.program_id(0).to(tl.int64) // parts, tl.program_id(0).to(tl.int64) % parts
    column = part * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + row * step + column, column < n, 0.0).to(tl.float32)
    total = tl.load(sums + row)
    d = v.to(wide) - tl.load(tops + row).to(wide)
    y = d - tl.log(total).to(wide) if LOG else exponential(d, WIDE) * (1.0 / total).to(wide)
    tl.store(out + row * n + column, y.to(out.dtype.element_ty), column < n)


@triton.jit
def _backward(grad, x, out, rows, units, LOG: tl.constexpr, WIDE: tl.constexpr,
              UNIT: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr):  # fmt: skip
    n = units * UNIT
    wide: tl.constexpr = tl.float64 if WIDE else tl.float32
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    column = tl.arange(0, BLOCK)
    inside = (row < rows)[:, None] & (column < n)[None, :]
    at = row[:, None] * n + column[None, :]
    v = tl.load(x + at, inside, float("-inf")).to(tl.float32)
    g = tl.load(grad + at, inside, 0.0).to(wide)
    d = v.to(wide) - tl.max(v, 1).to(wide)[:, None]
    e = tl.where(inside, exponential(d, WIDE), 0.0)
    y = _share(d, e, tl.sum(e, 1).to(tl.float64), False, wide)
    if LOG:
        made = g - y * tl.sum(g, 1)[:, None]
    else:
        product = tl.where(inside, g * y, 0.0)
        made = y * (g - tl.sum(product, 1)[:, None])
    tl.store(out + at, made.to(out.dtype.element_ty), inside)


def _steps(call: Call, x: torch.Tensor) -> Steps:
    """Return the kernels for rows that are contiguous."""
    target, n = call.result.dtype, x.shape[-1]
    rows, step = x.numel() // n, n if x.dim() < 2 or x.is_contiguous() else x.stride(-2)
    facts = {"LOG": call.op.name == "log_softmax", "WIDE": target.bits == 32}
    out = Memory(tuple(x.shape), TORCH[target])
    given, made, tops, sums, top, total = map(At, range(6))
    block = block_of(n, target.bits == 32)
    if block:
        each, unit = tiles(block)[0], unit_of(n, step)
        first, rest = cut_in_two(block, n)
        one = Step(_rows, triton.cdiv(rows, each), [given, made, rows, n // unit, step // unit],
                   {**facts, "UNIT": unit, "ROWS": each, "BLOCK": first, "REST": rest},
                   warps_of_cut(block, first, rest, target.bits == 32))  # fmt: skip
        return Steps([x], out, [one])
    parts = triton.cdiv(n, PART)
    part, warps = {"BLOCK": PART}, warps_of(PART)
    steps = [
        Step(_parts, rows * parts, [given, tops, sums, n, step, parts],
             {"WIDE": facts["WIDE"], **part}, warps),
        Step(_join, rows, [tops, sums, top, total, parts], {"BLOCK": 1024}),
        Step(_finish, rows * parts, [given, made, top, total, n, step, parts], {**facts, **part},
             warps),
    ]  # fmt: skip
    between = [
        Memory((rows, count), kind)
        for count in (parts, 1) for kind in (torch.float32, torch.float64)
    ]  # fmt: skip
    return Steps([x], out, steps, between)


def _declines(call: Call, x: torch.Tensor, axis: int) -> bool:
    return call.result.dtype.name not in FLOATS or not x.numel() or axis not in (-1, x.dim() - 1)


@planned("nn:softmax", "nn:log_softmax", rounded=False)
def plan(call: Call, x: torch.Tensor, axis: int) -> Steps | None:
    """Return the plan of softmax or its logarithm along the last axis, contiguous in memory."""
    if _declines(call, x, axis) or call.dtypes["x"] is not call.result.dtype or not in_rows(x):
        return None
    return _steps(call, x)


@fast("nn:softmax", "nn:log_softmax")
def softmax(call: Call, x: torch.Tensor, axis: int) -> Any:
    """Return softmax or its logarithm along the last axis of any tensor."""
    if _declines(call, x, axis):
        return None
    return made_of(_steps(call, cast(x, call.dtypes["x"], call.result.dtype).contiguous()))


def _steps_back(call: Call, grad: torch.Tensor, x: torch.Tensor) -> Steps:
    """Return the kernel of the gradient of rows that are contiguous."""
    target, n = call.result.dtype, x.shape[-1]
    block, unit, rows = block_of(n, True), unit_of(n), x.numel() // n
    each, warps = tiles(block)
    facts = {"LOG": call.op.name == "log_softmax_bwd", "WIDE": target.bits == 32, "UNIT": unit,
             "ROWS": each, "BLOCK": block}  # fmt: skip
    one = Step(_backward, triton.cdiv(rows, each), [At(0), At(1), At(2), rows, n // unit], facts,
               warps)  # fmt: skip
    return Steps([grad, x], Memory(tuple(x.shape), TORCH[target]), [one])


@planned("nn:softmax_bwd", "nn:log_softmax_bwd", rounded=False)
def plan_back(call: Call, out_grad: torch.Tensor, x: torch.Tensor, axis: int) -> Steps | None:
    """Return the plan of a gradient of tensors that are contiguous."""
    if _declines(call, x, axis) or not block_of(x.shape[-1], True):
        return None
    same = all(call.dtypes[name] is call.result.dtype for name in ("out_grad", "x"))
    if not (same and x.is_contiguous() and out_grad.is_contiguous()) or out_grad is x:
        return None
    return _steps_back(call, out_grad, x)


@fast("nn:softmax_bwd", "nn:log_softmax_bwd")
def softmax_bwd(call: Call, out_grad: torch.Tensor, x: torch.Tensor, axis: int) -> Any:
    """Return the gradient of softmax or of its logarithm along the last axis."""
    if _declines(call, x, axis) or not block_of(x.shape[-1], True):
        return None
    grad, given = (
        cast(v, call.dtypes[name], call.result.dtype).contiguous()
        for name, v in (("out_grad", out_grad), ("x", x))
    )
    return made_of(_steps_back(call, grad, given))
