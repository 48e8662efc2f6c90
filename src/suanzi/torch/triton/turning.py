"""Copies that turn axes: tiles that are read along one axis and written along another."""

from typing import Any

import torch
import triton
import triton.language as tl

from suanzi.torch.dtypes import carried
from suanzi.torch.fast import fast
from suanzi.torch.triton.launching import launch
from suanzi.torch.ways import Call

_TILE = 64


@triton.jit
def _turn(x, out, rows, columns, a, b, c, x_column, x_a, x_b, x_c, out_row, out_a, out_b, out_c,
          TILE: tl.constexpr):  # fmt: skip
    """Rows are contiguous in x, columns in out; a, b and c are axes around them."""
    across = tl.cdiv(columns, TILE)
    row = (tl.program_id(0).to(tl.int64) // across) * TILE + tl.arange(0, TILE)
    column = (tl.program_id(0).to(tl.int64) % across) * TILE + tl.arange(0, TILE)
    batch = tl.program_id(1).to(tl.int64)
    i, j, k = batch // (b * c), batch // c % b, batch % c
    inside = (row < rows)[None, :] & (column < columns)[:, None]
    source = x + i * x_a + j * x_b + k * x_c
    v = tl.load(source + column[:, None] * x_column + row[None, :], inside)
    place = out + i * out_a + j * out_b + k * out_c
    tl.store(place + column[:, None] + row[None, :] * out_row, v, inside)


@fast("contiguous")
def contiguous(call: Call, input: torch.Tensor) -> Any:
    """Return the elements in row-major order, where the last axis is not contiguous in memory."""
    return turned(input)


def turned(input: torch.Tensor) -> torch.Tensor | None:
    """Return a row-major copy of a tensor whose axes are permuted, or None."""
    if input.is_contiguous() or input.dtype is torch.complex128 or not input.numel():
        return None
    x = carried(input)
    axes = [a for a in range(x.dim()) if x.shape[a] > 1]
    first = next((a for a in axes if x.stride(a) == 1), None)
    if first is None or first == axes[-1]:
        return None
    out = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    last = axes[-1]
    around = _joined(x, out, [a for a in axes if a not in (first, last)])
    if len(around) > 3:
        return None
    around = [(1, 0, 0)] * (3 - len(around)) + around
    sizes, steps, places = zip(*around, strict=True)
    batch = sizes[0] * sizes[1] * sizes[2]
    rows, columns = x.shape[first], x.shape[last]
    grid = triton.cdiv(rows, _TILE) * triton.cdiv(columns, _TILE)
    if batch > 65535 or grid >= 2**31:
        return None
    launch(_turn, (grid, batch),
           [x, out, rows, columns, *sizes, x.stride(last), *steps, out.stride(first), *places],
           {"TILE": _TILE}, warps=4 if x.dtype.itemsize < 4 else 8)  # fmt: skip
    return out if out.dtype is input.dtype else out.view(input.dtype)


def _joined(x: torch.Tensor, out: torch.Tensor, axes: list[int]) -> list[tuple[int, int, int]]:
    """Return size and steps of axes, those that follow each other in both tensors as one."""
    found: list[tuple[int, int, int]] = []
    for a in axes:
        n, step, place = x.shape[a], x.stride(a), out.stride(a)
        if found and found[-1][1:] == (n * step, n * place):
            found[-1] = found[-1][0] * n, step, place
        else:
            found.append((n, step, place))
    return found
