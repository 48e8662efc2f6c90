"""cumsum along the last axis: rows in registers, or parts of rows with what comes before them.

Narrow floats are added up in float32, float32 in float64, integers modulo 2**64.
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
    ACCUMULATORS,
    block_of,
    cut_in_two,
    in_rows,
    tiles,
    unit_of,
    warps_of,
)
from suanzi.runtimes.torch.ways import Call

_SUMS = {"float16": torch.float32, "bfloat16": torch.float32, "float32": torch.float64,
         "int32": torch.int64, "int64": torch.int64}  # fmt: skip
"""What elements are added up in."""
PART = 4096
"""Elements of a part of a row: few, so that the parts read last are still in the cache."""
_BEFORE = 8192
"""Sums of parts that are added up at once."""


@triton.jit
def _rows(x, out, rows, units, steps, ACC: tl.constexpr, UNIT: tl.constexpr, ROWS: tl.constexpr,
          BLOCK: tl.constexpr, REST: tl.constexpr):  # fmt: skip
    n, step = units * UNIT, steps * UNIT
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    column = tl.arange(0, BLOCK)
    inside = (row < rows)[:, None] & (column < n)[None, :]
    v = tl.load(x + row[:, None] * step + column[None, :], inside, 0).to(ACC)
    made = tl.cumsum(v, 1).to(out.dtype.element_ty)
    tl.store(out + row[:, None] * n + column[None, :], made, inside)
    if REST:
        last = BLOCK + tl.arange(0, REST)
        also = (row < rows)[:, None] & (last < n)[None, :]
        w = tl.load(x + row[:, None] * step + last[None, :], also, 0).to(ACC)
        more = (tl.cumsum(w, 1) + tl.sum(v, 1)[:, None]).to(out.dtype.element_ty)
        tl.store(out + row[:, None] * n + last[None, :], more, also)


@triton.jit
def _parts(x, sums, n, step, parts, BLOCK: tl.constexpr):
    row, part = tl.program_id(0).to(tl.int64) // parts, tl.program_id(0).to(tl.int64) % parts
    column = part * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + row * step + column, column < n, 0).to(sums.dtype.element_ty)
    tl.store(sums + row * parts + part, tl.sum(v, 0))


@triton.jit
def _finish(x, out, before, n, step, parts, BLOCK: tl.constexpr):
    """The parts from the last to the first: the last ones were read last, and are in the cache."""
    program = tl.num_programs(0) - 1 - tl.program_id(0).to(tl.int64)
    row, part = program // parts, program % parts
    column = part * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + row * step + column, column < n, 0).to(before.dtype.element_ty)
    made = tl.cumsum(v, 0) + tl.load(before + row * parts + part)
    tl.store(out + row * n + column, made.to(out.dtype.element_ty), column < n)


@triton.jit
def _before(sums, before, parts, BLOCK: tl.constexpr):
    """The sum of all parts of a row before each."""
    row = tl.program_id(0).to(tl.int64)
    column = tl.arange(0, BLOCK)
    carry = tl.zeros((1,), sums.dtype.element_ty)
    for start in range(0, parts, BLOCK):
        inside = start + column < parts
        v = tl.load(sums + row * parts + start + column, inside, 0)
        made = carry + tl.cumsum(v, 0) - v
        tl.store(before + row * parts + start + column, made.to(before.dtype.element_ty), inside)
        carry += tl.sum(v, 0)


def _steps(call: Call, x: torch.Tensor, axis: int) -> Steps:
    """Return the kernels for rows that are contiguous."""
    target = call.result.dtype
    kind = _SUMS[target.name]
    n = x.numel() if axis == -1 else x.shape[-1]
    rows, step = x.numel() // n, n if x.is_contiguous() else x.stride(0)
    out = Memory((n,) if axis == -1 else tuple(x.shape), TORCH[target])
    block = block_of(n, True)
    if block:
        each, warps = tiles(block)
        unit, (first, rest) = unit_of(n, step), cut_in_two(block, n)
        one = Step(_rows, triton.cdiv(rows, each), [At(0), At(1), rows, n // unit, step // unit],
                   {"ACC": ACCUMULATORS[kind], "UNIT": unit, "ROWS": each, "BLOCK": first,
                    "REST": rest}, warps)  # fmt: skip
        return Steps([x], out, [one])
    parts = triton.cdiv(n, PART)
    part, warps = {"BLOCK": PART}, max(warps_of(PART), 4)
    block = min(int(triton.next_power_of_2(parts)), _BEFORE)
    steps = [
        Step(_parts, rows * parts, [At(0), At(2), n, step, parts], part, warps),
        Step(_before, rows, [At(2), At(3), parts], {"BLOCK": block}, max(warps_of(4 * block), 4)),
        Step(_finish, rows * parts, [At(0), At(1), At(3), n, step, parts], part, warps),
    ]
    wider = torch.float64 if kind is torch.float32 else kind
    return Steps([x], out, steps, [Memory((rows, parts), wider), Memory((rows, parts), kind)])


def _declines(call: Call, x: torch.Tensor, axis: int) -> bool:
    return call.result.dtype.name not in _SUMS or not x.numel() or axis not in (-1, x.dim() - 1)


@planned("cumsum", rounded=False)
def plan(call: Call, input: torch.Tensor, axis: int, dtype: Any) -> Steps | None:
    """Return the plan of cumulative sums of rows that are contiguous in memory."""
    if _declines(call, input, axis) or call.dtypes["input"] is not call.result.dtype:
        return None
    if not (input.is_contiguous() or (axis != -1 and in_rows(input))):
        return None
    return _steps(call, input, axis)


@fast("cumsum")
def cumsum(call: Call, input: torch.Tensor, axis: int, dtype: Any) -> Any:
    """Return cumulative sums along the last axis, or of all elements in one row (-1)."""
    if _declines(call, input, axis):
        return None
    x = cast(input, call.dtypes["input"], call.result.dtype).contiguous()
    return made_of(_steps(call, x, axis))
