"""cumsum along the last axis: rows in registers, or parts of rows with what comes before them.

Narrow floats are added up in float32, float32 in float64, integers modulo 2**64.
"""

from typing import Any

import torch
import triton
import triton.language as tl

from suanzi.torch.casts import cast
from suanzi.torch.dtypes import TORCH
from suanzi.torch.fast import fast
from suanzi.torch.triton.launching import launch
from suanzi.torch.triton.tiles import PART, block_of, tiles, warps_of
from suanzi.torch.ways import Call

_SUMS = {"float16": torch.float32, "bfloat16": torch.float32, "float32": torch.float64,
         "int32": torch.int64, "int64": torch.int64}  # fmt: skip
"""What elements are added up in."""


@triton.jit
def _rows(x, out, rows, n, step, like, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    column = tl.arange(0, BLOCK)
    inside = (row < rows)[:, None] & (column < n)[None, :]
    v = tl.load(x + row[:, None] * step + column[None, :], inside, 0).to(like.dtype.element_ty)
    made = tl.cumsum(v, 1).to(out.dtype.element_ty)
    tl.store(out + row[:, None] * n + column[None, :], made, inside)


@triton.jit
def _parts(x, sums, n, step, parts, BLOCK: tl.constexpr):
    row, part = tl.program_id(0).to(tl.int64) // parts, tl.program_id(0).to(tl.int64) % parts
    column = part * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + row * step + column, column < n, 0).to(sums.dtype.element_ty)
    tl.store(sums + row * parts + part, tl.sum(v, 0))


@triton.jit
def _finish(x, out, before, n, step, parts, BLOCK: tl.constexpr):
    row, part = tl.program_id(0).to(tl.int64) // parts, tl.program_id(0).to(tl.int64) % parts
    column = part * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + row * step + column, column < n, 0).to(before.dtype.element_ty)
    made = tl.cumsum(v, 0) + tl.load(before + row * parts + part)
    tl.store(out + row * n + column, made.to(out.dtype.element_ty), column < n)


@fast("cumsum")
def cumsum(call: Call, input: torch.Tensor, axis: int, dtype: Any) -> Any:
    """Return cumulative sums along the last axis, or of all elements in one row (-1)."""
    target = call.result.dtype
    kind = _SUMS.get(target.name)
    if kind is None or not input.numel() or axis not in (-1, input.dim() - 1):
        return None
    x = cast(input, call.dtypes["input"], target)
    given = x.reshape(1, -1) if axis == -1 else x.reshape(-1, x.shape[-1])
    given = given if given.stride(1) == 1 else given.contiguous()
    rows, n = given.shape
    out = torch.empty((n,) if axis == -1 else x.shape, dtype=TORCH[target], device=x.device)
    step, block = given.stride(0), block_of(n, True)
    if block:
        each, warps = tiles(block)
        like = torch.empty(0, dtype=kind, device=x.device)
        launch(_rows, (triton.cdiv(rows, each),), [given, out, rows, n, step, like],
               {"ROWS": each, "BLOCK": block}, warps=warps)  # fmt: skip
        return out
    parts = triton.cdiv(n, PART)
    wider = torch.float64 if kind is torch.float32 else kind
    sums = torch.empty((rows, parts), dtype=wider, device=x.device)
    launch(_parts, (rows * parts,), [given, sums, n, step, parts], {"BLOCK": PART},
           warps=warps_of(PART))  # fmt: skip
    before = sums.cumsum(1).roll(1, 1)
    before[:, 0] = 0
    launch(_finish, (rows * parts,), [given, out, before.to(kind), n, step, parts],
           {"BLOCK": PART}, warps=warps_of(PART))  # fmt: skip
    return out
