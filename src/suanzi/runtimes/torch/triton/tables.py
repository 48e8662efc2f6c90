"""Rows of tables by indices: `embedding`, `gather` and `take` in one kernel, `scatter` in two.

A program copies a tile of some rows, or a part of one, as integers of the same bits, in vectors of
16 bytes where rows allow it. Indices are checked on the way; those out of range set the flag of the
call, and are 0. `scatter` finds the last update of each row first, by the largest of their numbers,
so that its second kernel reads a row or its update once, and writes it once.
"""

import math
from collections.abc import Callable
from typing import Any

import torch
import triton
import triton.language as tl

from suanzi.base.status import StatusError
from suanzi.runtimes.torch import deferred_errors
from suanzi.runtimes.torch.copying import outside_of
from suanzi.runtimes.torch.dtypes import carried
from suanzi.runtimes.torch.fast import fast
from suanzi.runtimes.torch.nn_tables import outside
from suanzi.runtimes.torch.triton.launching import launch
from suanzi.runtimes.torch.triton.tiles import unit_of
from suanzi.runtimes.torch.ways import Call

_BYTES = 4096
"""Bytes of a tile, for 4 warps: two vectors of 16 bytes a thread."""
_MOST = 3
"""Axes that indices may pick from."""


@triton.jit
def checked(one, n, flag, inside, FROM_END: tl.constexpr):
    """Return an index along an axis; of those out of range 0, and the flag is set."""
    if FROM_END:
        one = tl.where(one < 0, one + n, one)
    bad = ((one < 0) | (one >= n)) & inside
    tl.store(flag + tl.zeros_like(bad.to(tl.int32)), bad.to(tl.uint8), bad)
    return tl.where(bad, 0, one)


@triton.jit
def _start(index, inside, at, flag, n0, step0, n1, step1, n2, step2, PICKED: tl.constexpr,
           FROM_END: tl.constexpr):  # fmt: skip
    """Return where indices point to, in steps of each axis."""
    one = tl.load(index + at * PICKED, inside, 0).to(tl.int64)
    start = checked(one, n0, flag, inside, FROM_END) * step0
    if PICKED > 1:
        one = tl.load(index + at * PICKED + 1, inside, 0).to(tl.int64)
        start += checked(one, n1, flag, inside, FROM_END) * step1
    if PICKED > 2:
        one = tl.load(index + at * PICKED + 2, inside, 0).to(tl.int64)
        start += checked(one, n2, flag, inside, FROM_END) * step2
    return start


@triton.jit
def _rows(table, index, out, flag, count, many, units, parts, outer, n0, step0, n1, step1, n2,
          step2, PICKED: tl.constexpr, FROM_END: tl.constexpr, AGAIN: tl.constexpr,
          UNIT: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr):  # fmt: skip
    """`AGAIN`: the same `many` indices for each of some tables, `outer` apart."""
    n = units * UNIT
    program = tl.program_id(0).to(tl.int64)
    row = program // parts * ROWS + tl.arange(0, ROWS)
    column = program % parts * BLOCK + tl.arange(0, BLOCK)
    inside = row < count
    at = row % many if AGAIN else row
    start = UNIT * _start(index, inside, at, flag, n0, step0, n1, step1, n2, step2, PICKED,
                          FROM_END)  # fmt: skip
    if AGAIN:
        start += row // many * outer * UNIT
    here = inside[:, None] & (column < n)[None, :]
    found = tl.load(table + start[:, None] + column[None, :], here)
    tl.store(out + row[:, None] * n + column[None, :], found, here)


@triton.jit
def _last(index, last, flag, many, n0, step0, n1, step1, n2, step2, PICKED: tl.constexpr,
          BLOCK: tl.constexpr):  # fmt: skip
    """Find the last of the updates of each row: the order in which they are seen is no matter."""
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = at < many
    row = _start(index, inside, at, flag, n0, step0, n1, step1, n2, step2, PICKED, False)
    tl.atomic_max(last + row, at.to(tl.int32), inside)


@triton.jit
def _placed(table, last, updates, out, count, units, parts, UNIT: tl.constexpr,
            ROWS: tl.constexpr, BLOCK: tl.constexpr):  # fmt: skip
    n = units * UNIT
    program = tl.program_id(0).to(tl.int64)
    row = program // parts * ROWS + tl.arange(0, ROWS)
    column = program % parts * BLOCK + tl.arange(0, BLOCK)
    found = tl.load(last + row, row < count, -1).to(tl.int64)
    here = (row < count)[:, None] & (column < n)[None, :]
    is_new = (found >= 0)[:, None]
    new = tl.load(updates + found[:, None] * n + column[None, :], here & is_new, 0)
    at = row[:, None] * n + column[None, :]
    made = tl.load(table + at, here & (found < 0)[:, None], new)
    tl.store(out + at, made, here)


def _picked(
    call: Call, table: torch.Tensor, index: torch.Tensor, picked: int, shape: tuple[int, ...],
    error: Callable[[], StatusError], axis: int = 0, from_end: bool = False,
) -> torch.Tensor | None:  # fmt: skip
    """Return rows of a table, in a new tensor of a shape; `axis` is the first that is picked from.

    What follows the axes that are picked from has no gaps.
    """
    rest = table.shape[axis + picked :]
    n, many = math.prod(rest), index.numel() // picked
    count = math.prod(table.shape[:axis]) * many
    sizes = table.shape[axis : axis + picked]
    if not count or not n or not all(sizes) or picked > _MOST or table.is_complex():
        return None
    if not _is_dense(table, axis, picked):
        table = table.contiguous()
    steps = table.stride()[axis : axis + picked]
    outer = table.stride(axis - 1) if axis else 0
    unit = unit_of(n, outer, *steps)
    out = torch.empty(shape, dtype=table.dtype, device=call.place)
    block, rows, parts = _tile(n, table.dtype.itemsize)
    flag = deferred_errors.slot(call.place, error)
    pairs = [v for size, step in zip(sizes, steps, strict=True) for v in (size, step // unit)]
    pairs += [0] * (2 * _MOST - len(pairs))
    launch(_rows, (triton.cdiv(count, rows) * parts,),
           [_as_integers(table), index.contiguous(), _as_integers(out), flag, count, many,
            n // unit, parts, outer // unit, *pairs],
           {"PICKED": picked, "FROM_END": from_end, "AGAIN": axis > 0, "UNIT": unit, "ROWS": rows,
            "BLOCK": block})  # fmt: skip
    return out


def _tile(n: int, width: int) -> tuple[int, int, int]:
    """Return the columns and rows of a tile of rows of n elements, and the tiles of a row."""
    most = _BYTES // width
    block = min(int(triton.next_power_of_2(n)), most)
    return block, most // block, triton.cdiv(n, block)


def _as_integers(x: torch.Tensor) -> torch.Tensor:
    return x.view(torch.uint8) if x.dtype is torch.bool else carried(x)


def _is_dense(x: torch.Tensor, axis: int, picked: int) -> bool:
    """Return whether what follows the picked axes has no gaps, and what precedes them is one."""
    step = 1
    for d in reversed(range(axis + picked, x.dim())):
        if x.shape[d] != 1 and x.stride(d) != step:
            return False
        step *= x.shape[d]
    before = range(axis - 1)
    return all(x.stride(d) == x.stride(d + 1) * x.shape[d + 1] for d in before)


def integers(x: torch.Tensor) -> torch.Tensor | None:
    """Return indices that kernels take: no floats, and bits as integers have them."""
    return None if x.dtype is torch.bool or x.is_floating_point() else x


@fast("nn:embedding")
def embedding(
    call: Call, weight: torch.Tensor, indices: torch.Tensor, padding_idx: Any
) -> torch.Tensor | None:
    """Return the rows of a table."""
    at = integers(indices) if isinstance(indices, torch.Tensor) else None
    if at is None or call.dtypes["weight"] is not call.result.dtype:
        return None
    shape = *indices.shape, weight.shape[1]
    return _picked(call, weight, at, 1, shape, outside(call, weight.shape[0]))


@fast("gather")
def gather(call: Call, input: torch.Tensor, index: torch.Tensor) -> torch.Tensor | None:
    """Return what indices point to: the last axis of those of higher rank has coordinates."""
    at = integers(index)
    if at is None or not index.dim():
        return None
    picked = 1 if index.dim() == 1 else index.shape[-1]
    before = index.shape if index.dim() == 1 else index.shape[:-1]
    shape = *before, *input.shape[picked:]
    error = outside_of(call, tuple(input.shape[:picked]))
    return _picked(call, input, at, picked, shape, error)


@fast("scatter")
def scatter(
    call: Call, input: torch.Tensor, index: torch.Tensor, updates: torch.Tensor, override: bool
) -> torch.Tensor | None:
    """Return the input with updates in rows that indices point to, where no sums are asked for."""
    at = integers(index)
    picked = index.shape[-1] if index.dim() > 1 else 1
    if at is None or not override or not index.dim() or not 0 < picked <= _MOST:
        return None
    if updates.dtype is not input.dtype or input.is_complex() or not updates.numel():
        return None
    sizes, n = input.shape[:picked], math.prod(input.shape[picked:])
    count, many = math.prod(sizes), index.numel() // picked
    if not input.numel() or max(count, many) >= 2**31:
        return None
    steps = [math.prod(sizes[d + 1 :]) for d in range(picked)]
    pairs = [v for pair in zip(sizes, steps, strict=True) for v in pair]
    pairs += [0] * (2 * _MOST - len(pairs))
    last = torch.full((count,), -1, dtype=torch.int32, device=call.place)
    flag = deferred_errors.slot(call.place, outside_of(call, tuple(sizes)))
    launch(_last, (triton.cdiv(many, 256),), [at.contiguous(), last, flag, many, *pairs],
           {"PICKED": picked, "BLOCK": 256})  # fmt: skip
    out = torch.empty(input.shape, dtype=input.dtype, device=call.place)
    unit, (block, rows, parts) = unit_of(n), _tile(n, input.dtype.itemsize)
    given = [_as_integers(input.contiguous()), last, _as_integers(updates.contiguous()),
             _as_integers(out), count, n // unit, parts]  # fmt: skip
    launch(_placed, (triton.cdiv(count, rows) * parts,), given,
           {"UNIT": unit, "ROWS": rows, "BLOCK": block})  # fmt: skip
    return out


@fast("array_api:take")
def take(
    call: Call, x: torch.Tensor, indices: torch.Tensor, axis: int | None
) -> torch.Tensor | None:
    """Return the elements at indices along an axis, which count from the end below 0."""
    at = integers(indices)
    if at is None or not x.dim() or at.dtype is torch.uint64:
        return None
    along = 0 if axis is None else int(axis) % x.dim()
    n = x.shape[along]
    shape = *x.shape[:along], *at.shape, *x.shape[along + 1 :]
    return _picked(call, x, at, 1, shape, deferred_errors.out_of_range(n), along, True)
