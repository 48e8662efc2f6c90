"""Copies that turn axes: tiles that are read along one axis and written along another."""

import math

import torch
import triton
import triton.language as tl

from suanzi.runtimes.torch.fast import planned
from suanzi.runtimes.torch.triton.driver import At
from suanzi.runtimes.torch.triton.steps import Memory, Step, Steps
from suanzi.runtimes.torch.ways import Call

_TILE = 64


@triton.jit
def _turn(x, out, rows, columns, a, b, c, x_column, x_a, x_b, x_c, out_row, out_a, out_b, out_c,
          TILE: tl.constexpr):  # fmt: skip
    """Rows are contiguous in x, columns in out; a, b and c are axes around them."""
    across, down = tl.cdiv(columns, TILE), tl.cdiv(rows, TILE)
    program = tl.program_id(0).to(tl.int64)
    column = program % across * TILE + tl.arange(0, TILE)
    row = program // across % down * TILE + tl.arange(0, TILE)
    batch = program // across // down
    i, j, k = batch // (b * c), batch // c % b, batch % c
    inside = (row < rows)[None, :] & (column < columns)[:, None]
    source = x + i * x_a + j * x_b + k * x_c
    v = tl.load(source + column[:, None] * x_column + row[None, :], inside)
    place = out + i * out_a + j * out_b + k * out_c
    tl.store(place + column[:, None] + row[None, :] * out_row, v, inside)


@planned("contiguous", rounded=False)
def contiguous(call: Call, input: torch.Tensor) -> Steps | None:
    """Return the plan of a copy in row-major order, where the last axis is not the fastest."""
    if input.is_contiguous() or not input.numel() or input.is_complex() or input.is_neg():
        return None
    axes = [a for a in range(input.dim()) if input.shape[a] > 1]
    first = next((a for a in axes if input.stride(a) == 1), None)
    if first is None or first == axes[-1]:
        return None
    out, last = Memory(tuple(input.shape), input.dtype), axes[-1]
    places = out.steps
    around = _joined(input, places, [a for a in axes if a not in (first, last)])
    rows, columns = input.shape[first], input.shape[last]
    around = [(1, 0, 0)] * (3 - len(around)) + around
    sizes, steps, far = zip(*around, strict=True)
    programs = triton.cdiv(rows, _TILE) * triton.cdiv(columns, _TILE) * math.prod(sizes)
    if len(around) > 3 or programs >= 2**31:
        return None
    args = [At(0), At(1), rows, columns, *sizes, input.stride(last), *steps, places[first], *far]
    one = Step(_turn, programs, args, {"TILE": _TILE}, 4 if input.dtype.itemsize < 4 else 8)
    return Steps([input], out, [one])


def _joined(
    x: torch.Tensor, places: tuple[int, ...], axes: list[int]
) -> list[tuple[int, int, int]]:
    """Return size and steps of axes, those that follow each other in both tensors as one."""
    found: list[tuple[int, int, int]] = []
    for a in axes:
        n, step, place = x.shape[a], x.stride(a), places[a]
        if found and found[-1][1:] == (n * step, n * place):
            found[-1] = found[-1][0] * n, step, place
        else:
            found.append((n, step, place))
    return found
