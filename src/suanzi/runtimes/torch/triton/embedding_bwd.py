"""The gradient of `embedding`: rows added up by index, in the order of their positions.

A stable sort brings the positions of each row of the table together. A program then adds up a tile
of rows of gradients in float64, rounds once, and writes it: also the zeros of rows never named.
Many positions of one row are cut into parts of so many, counted from its first: programs add up the
whole parts before, and their sums are joined. So the bits of a row depend on its own gradients, how
many they are, and the width of the table, on nothing else.
"""

from typing import Any

import torch
import triton
import triton.language as tl

from suanzi.runtimes.torch import deferred_errors
from suanzi.runtimes.torch.casts import cast
from suanzi.runtimes.torch.dtypes import TORCH
from suanzi.runtimes.torch.fast import fast
from suanzi.runtimes.torch.nn_tables import outside
from suanzi.runtimes.torch.triton.launching import launch
from suanzi.runtimes.torch.triton.losses import rounded
from suanzi.runtimes.torch.triton.tables import checked, integers
from suanzi.runtimes.torch.triton.tiles import FLOATS, in_rows, unit_of
from suanzi.runtimes.torch.ways import Call

LENGTH = 64
"""Positions of a part."""
_TILE = 2048
"""Elements of a tile: each thread adds up 16."""
_COLUMNS = 32
"""Columns of a tile of parts that are joined: few, as there is one row to share out."""
_AT_ONCE = 2
"""Rows that are read before they are added, where most sums have few."""
_PARTS_AT_ONCE = 4
"""The same where all have `LENGTH`."""
_GROUP = 64
_BLOCK = 1024
_KEYS = ((2**15 - 1, torch.int16), (2**31 - 1, torch.int32))
"""What indices are sorted as, up to so many rows: the fewer bits, the fewer passes."""


@triton.jit
def _keys(index, keys, flag, many, rows, padding, BLOCK: tl.constexpr):
    """Indices as they are sorted; the padding row comes after all rows, where nothing is added."""
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = at < many
    one = checked(tl.load(index + at, inside, 0).to(tl.int64), rows, flag, inside, False)
    one = tl.where(one == padding, rows, one)
    tl.store(keys + at, one.to(keys.dtype.element_ty), inside)


@triton.jit
def _bounds(keys, first, last, many, rows, BLOCK: tl.constexpr):
    """Where the positions of each row begin and end in their order."""
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = at < many
    row = tl.load(keys + at, inside, 0).to(tl.int64)
    before = tl.load(keys + at - 1, inside & (at > 0), -1).to(tl.int64)
    after = tl.load(keys + at + 1, at + 1 < many, -1).to(tl.int64)
    inside = inside & (row < rows)
    tl.store(first + row, at.to(tl.int32), inside & (before != row))
    tl.store(last + row, (at + 1).to(tl.int32), inside & (after != row))


@triton.jit
def _row_of(grad, order, start, count, k, column, n, step):
    """Return the kth of some rows of gradients each, zeros where there are fewer."""
    at = tl.load(order + start + k, k < count, 0)
    here = (k < count)[:, None] & (column < n)[None, :]
    v = tl.load(grad + at[:, None] * step + column[None, :], here, 0)
    return v if v.dtype == tl.float64 else v.to(tl.float32)


@triton.jit
def _added(total, grad, order, start, count, column, n, step, AT_ONCE: tl.constexpr):
    """Return totals and rows of gradients added to them, one after another.

    Some are read before the first is added, as a program waits for memory. A zero that is added
    changes no total: none is -0.
    """
    for k in range(0, tl.max(count, 0), AT_ONCE):
        a = _row_of(grad, order, start, count, k, column, n, step)
        if AT_ONCE > 1:
            b = _row_of(grad, order, start, count, k + 1, column, n, step)
        if AT_ONCE > 2:
            c = _row_of(grad, order, start, count, k + 2, column, n, step)
            d = _row_of(grad, order, start, count, k + 3, column, n, step)
        total += a.to(tl.float64)
        if AT_ONCE > 1:
            total += b.to(tl.float64)
        if AT_ONCE > 2:
            total += c.to(tl.float64)
            total += d.to(tl.float64)
    return total


@triton.jit
def _part_of(keys, first, last, window, inside, rows, LENGTH: tl.constexpr):
    """Return where the positions of a row begin, how many parts it has, and where that part begins
    which has its first position in a window of `LENGTH` positions: in each is at most one.

    It goes up to the end of the window or beyond it, so it is of the row that is there.
    """
    row = tl.load(keys + (window + 1) * LENGTH - 1, inside, 0).to(tl.int64)
    inside = inside & (row < rows)
    start = tl.load(first + row, inside, 0).to(tl.int64)
    parts = (tl.load(last + row, inside, 0).to(tl.int64) - start) // LENGTH
    which = tl.maximum(window * LENGTH - start + LENGTH - 1, 0) // LENGTH
    return start, parts, start + which * LENGTH, inside & (which < parts)


@triton.jit
def _parts(grad, order, keys, first, last, sums, windows, rows, units, steps, across,
           LENGTH: tl.constexpr, AT_ONCE: tl.constexpr, UNIT: tl.constexpr, ROWS: tl.constexpr,
           BLOCK: tl.constexpr):  # fmt: skip
    """The sums of whole parts, each at the window that it begins in."""
    n, step = units * UNIT, steps * UNIT
    program = tl.program_id(0).to(tl.int64)
    window = program // across * ROWS + tl.arange(0, ROWS)
    column = program % across * BLOCK + tl.arange(0, BLOCK)
    _, _, at, whole = _part_of(keys, first, last, window, window < windows, rows, LENGTH)
    count = tl.where(whole, LENGTH, 0)
    total = tl.zeros((ROWS, BLOCK), tl.float64)
    total = _added(total, grad, order, at, count, column, n, step, AT_ONCE)
    here = whole[:, None] & (column < n)[None, :]
    tl.store(sums + window[:, None] * n + column[None, :], total, here)


@triton.jit
def _joined(keys, first, last, sums, windows, rows, units, across, LENGTH: tl.constexpr,
            GROUP: tl.constexpr, UNIT: tl.constexpr, ROWS: tl.constexpr,
            BLOCK: tl.constexpr):  # fmt: skip
    """The sum of the parts of a row in place of that of its first: they follow each other.

    A program has the rows that begin in a group of windows, few of which are where one begins.
    """
    n = units * UNIT
    program = tl.program_id(0).to(tl.int64)
    window = program // across * GROUP + tl.arange(0, GROUP)
    column = program % across * BLOCK + tl.arange(0, BLOCK)
    line = tl.arange(0, ROWS)
    start, parts, at, whole = _part_of(keys, first, last, window, window < windows, rows, LENGTH)
    waits = whole & (at == start) & (parts > 1)
    for _ in range(tl.sum(waits.to(tl.int32), 0)):
        one = tl.min(tl.where(waits, window, windows), 0)
        count = tl.sum(tl.where(window == one, parts, 0), 0)
        total = tl.zeros((ROWS, BLOCK), tl.float64)
        for k in range(0, count, ROWS):
            here = (k + line < count)[:, None] & (column < n)[None, :]
            total += tl.load(sums + (one + k + line)[:, None] * n + column[None, :], here, 0)
        tl.store(sums + one * n + column, tl.sum(total, 0), column < n)
        waits = waits & (window != one)


@triton.jit
def _sums(grad, order, first, last, sums, out, rows, units, steps, across, LENGTH: tl.constexpr,
          CUT: tl.constexpr, AT_ONCE: tl.constexpr, UNIT: tl.constexpr, ROWS: tl.constexpr,
          BLOCK: tl.constexpr):  # fmt: skip
    """The sums of rows: that of whole parts, if there are any, and what follows these."""
    n, step = units * UNIT, steps * UNIT
    program = tl.program_id(0).to(tl.int64)
    row = program // across * ROWS + tl.arange(0, ROWS)
    column = program % across * BLOCK + tl.arange(0, BLOCK)
    start = tl.load(first + row, row < rows, 0).to(tl.int64)
    count = tl.load(last + row, row < rows, 0) - start.to(tl.int32)
    total = tl.zeros((ROWS, BLOCK), tl.float64)
    if CUT:
        whole = count // LENGTH
        there = (whole > 0)[:, None] & (column < n)[None, :]
        total = tl.load(sums + (start // LENGTH)[:, None] * n + column[None, :], there, 0)
        start += whole.to(tl.int64) * LENGTH
        count -= whole * LENGTH
    total = _added(total, grad, order, start, count, column, n, step, AT_ONCE)
    here = (row < rows)[:, None] & (column < n)[None, :]
    made = rounded(total, out.dtype.element_ty)
    tl.store(out + row[:, None] * n + column[None, :], made, here)


def _ordered(
    call: Call, index: torch.Tensor, rows: int, padding: int, dtype: torch.dtype
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Return sorted indices, their positions in this order, and the bounds of each row's."""
    many, place = index.numel(), call.place
    keys = torch.empty(many, dtype=dtype, device=place)
    blocks = (triton.cdiv(many, _BLOCK),)
    flag = deferred_errors.slot(place, outside(call, rows))
    launch(_keys, blocks, [index.contiguous(), keys, flag, many, rows, padding], {"BLOCK": _BLOCK})
    found, order = torch.sort(keys, stable=True)
    bounds = torch.zeros((2, rows), dtype=torch.int32, device=place)
    launch(_bounds, blocks, [found, *bounds, many, rows], {"BLOCK": _BLOCK})
    return found, order, bounds


def _tile(n: int) -> dict[str, int]:
    # Triton 3.6 does not compile tiles of 32 or 64 rows.
    block = min(max(int(triton.next_power_of_2(n)), 128), _TILE)
    return {"ROWS": _TILE // block, "BLOCK": block}


@fast("nn:embedding_bwd")
def embedding_bwd(
    call: Call, out_grad: Any, weight: torch.Tensor, indices: Any, padding_idx: int | None
) -> torch.Tensor | None:
    """Return the sums of the gradients of each row."""
    dt = call.result.dtype
    if not isinstance(indices, torch.Tensor) or not isinstance(out_grad, torch.Tensor):
        return None
    index, (rows, n) = integers(indices), weight.shape
    dtype = next((kind for most, kind in _KEYS if rows <= most), None)
    if index is None or dtype is None or dt.name not in (*FLOATS, "float64"):
        return None
    many = index.numel()
    if not rows * n * many or many >= 2**31:
        return None
    grad = cast(out_grad, call.dtypes["out_grad"], dt).reshape(many, n)
    grad = grad if in_rows(grad) else grad.contiguous()
    padding = -1 if padding_idx is None else int(padding_idx) % rows
    keys, order, bounds = _ordered(call, index, rows, padding, dtype)
    step, tile, windows = grad.stride(0) if many > 1 else n, _tile(n), many // LENGTH
    unit, across = unit_of(n, step), triton.cdiv(n, tile["BLOCK"])
    sums = torch.empty((max(windows, 1), n), dtype=torch.float64, device=call.place)
    common = {"LENGTH": LENGTH, "UNIT": unit}
    sizes = [rows, n // unit, step // unit, across]
    if windows:
        launch(_parts, (triton.cdiv(windows, tile["ROWS"]) * across,),
               [grad, order, keys, *bounds, sums, windows, *sizes],
               {"AT_ONCE": _PARTS_AT_ONCE, **common, **tile})  # fmt: skip
    if windows > 1:
        block = min(tile["BLOCK"], _COLUMNS)
        parts = triton.cdiv(n, block)
        launch(_joined, (triton.cdiv(windows, _GROUP) * parts,),
               [keys, *bounds, sums, windows, rows, n // unit, parts],
               {"GROUP": _GROUP, **common, "ROWS": _TILE // block, "BLOCK": block})  # fmt: skip
    out = torch.empty((rows, n), dtype=TORCH[dt], device=call.place)
    launch(_sums, (triton.cdiv(rows, tile["ROWS"]) * across,),
           [grad, order, *bounds, sums, out, *sizes],
           {"CUT": windows > 0, "AT_ONCE": _AT_ONCE, **common, **tile})  # fmt: skip
    return out
