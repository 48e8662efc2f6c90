"""Products of small matrices of 16-bit floats, added up in float32 and rounded once.

What takes the time of a small product is the host: finding cuBLAS's algorithm, and changing its
setting, so that nothing is rounded between. A program multiplies a tile of rows with a tile of
columns, block by block along what is added up. Larger products are cuBLAS's.
"""

from typing import Any

import torch
import triton
import triton.language as tl

from suanzi.base import dtypes
from suanzi.runtimes.torch.dtypes import TORCH
from suanzi.runtimes.torch.fast import planned
from suanzi.runtimes.torch.triton.conversions import INTERPRETED, from_bf16, to_bf16
from suanzi.runtimes.torch.triton.driver import At
from suanzi.runtimes.torch.triton.steps import Memory, Step, Steps
from suanzi.runtimes.torch.ways import Call

MOST = 512
"""The largest size of a product that this kernel computes."""


@triton.jit
def _wide(x):
    return from_bf16(x) if x.dtype == tl.bfloat16 else x.to(tl.float32)


@triton.jit
def _tiles(x, y, out, rows, columns, inner, xr, xi, yi, yc, TILE: tl.constexpr,
           BLOCK: tl.constexpr):  # fmt: skip
    across = tl.cdiv(columns, TILE)
    r = tl.program_id(0) // across * TILE + tl.arange(0, TILE)
    c = tl.program_id(0) % across * TILE + tl.arange(0, TILE)
    i = tl.arange(0, BLOCK)
    a, b = x + r[:, None] * xr + i[None, :] * xi, y + i[:, None] * yi + c[None, :] * yc
    total = tl.zeros((TILE, TILE), tl.float32)
    for start in range(0, inner, BLOCK):
        left = inner - start
        u = tl.load(a, (r < rows)[:, None] & (i < left)[None, :], 0.0)
        v = tl.load(b, (i < left)[:, None] & (c < columns)[None, :], 0.0)
        if INTERPRETED:  # it has no bfloat16
            total = tl.dot(_wide(u), _wide(v), total, input_precision="ieee")
        else:
            total = tl.dot(u, v, total)
        a += BLOCK * xi
        b += BLOCK * yi
    inside = (r < rows)[:, None] & (c < columns)[None, :]
    if INTERPRETED and out.dtype.element_ty == tl.bfloat16:
        made = to_bf16(total)
    else:
        made = total.to(out.dtype.element_ty)
    tl.store(out + r[:, None] * columns + c[None, :], made, inside)


def _is_small(x: torch.Tensor) -> bool:
    """Return whether a matrix is for this kernel: its offsets have 32 bits, and it is as stored."""
    if x.dim() != 2 or not 0 < min(x.shape) <= max(x.shape) <= MOST or x.is_neg():
        return False
    return sum(step * MOST for step in x.stride()) < 2**31


@planned("matmul", "array_api:matmul", rounded=False)
def matmul(call: Call, **arguments: Any) -> Steps | None:
    """Return the plan of a product of two small matrices of one 16-bit dtype."""
    both = [x for x in arguments.values() if isinstance(x, torch.Tensor)]
    dt = call.result.dtype
    if dt not in (dtypes.float16, dtypes.bfloat16) or len(both) != 2:
        return None
    x, y = both
    if x.dtype is not TORCH[dt] or y.dtype is not TORCH[dt] or not (_is_small(x) and _is_small(y)):
        return None
    (rows, inner), columns = x.shape, y.shape[1]
    tile = 32 if max(rows, columns) <= 256 else 64
    programs = triton.cdiv(rows, tile) * triton.cdiv(columns, tile)
    sizes = [rows, columns, inner, *x.stride(), *y.stride()]
    constants = {"TILE": tile, "BLOCK": 64}
    step = Step(_tiles, programs, [At(0), At(1), At(2), *sizes], constants, 4, 4)
    steps = Steps([x, y], Memory((rows, columns), TORCH[dt]), [step])
    steps.in_order = True
    return steps
