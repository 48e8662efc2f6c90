"""Sums, means, extremes, any, all, and the indices of extremes, along axes that are contiguous.

A tensor is (outer, n, inner). A program combines a part of n for some rows or columns; parts of one
row are combined by the same kernel again, so that results do not depend on timing. float32 is added
up in float64. Floats are compared as integers in their order: +0 is above -0, and a NaN wins.
Columns of up to 32 bits are compared by the GPU's own instructions, which have the same order.
"""

import math
from dataclasses import dataclass
from typing import Any

import torch
import triton
import triton.language as tl

from suanzi.base.dtypes import DType
from suanzi.ops.reduction_modes import (
    ReduceFunction,
    ReduceMode,
    axes_argument,
    mode_argument,
    reduced_shape,
)
from suanzi.runtimes.torch.dtypes import TORCH
from suanzi.runtimes.torch.fast import planned
from suanzi.runtimes.torch.triton.driver import At
from suanzi.runtimes.torch.triton.launching import is_compiled
from suanzi.runtimes.torch.triton.steps import Memory, Step, Steps
from suanzi.runtimes.torch.triton.tiles import ACCUMULATORS
from suanzi.runtimes.torch.ways import Call

SUM, MAX, MIN = tl.constexpr(0), tl.constexpr(1), tl.constexpr(2)
PLAIN, TRUTH, ORDER, WHERE = tl.constexpr(0), tl.constexpr(1), tl.constexpr(2), tl.constexpr(3)


@triton.jit
def _plain(v):
    """Elements to compare: the interpreter has no bfloat16."""
    return v.to(tl.float32) if v.dtype == tl.bfloat16 else v


@triton.jit
def _key(v, LEAST: tl.constexpr):
    """Integers in the order of floats; a NaN is beyond all, at the end that wins."""
    if v.dtype == tl.float64:
        bits = v.to(tl.int64, bitcast=True)
        key = tl.where(bits < 0, bits ^ 0x7FFFFFFFFFFFFFFF, bits)
        far: tl.constexpr = -0x8000000000000000 if LEAST else 0x7FFFFFFFFFFFFFFF
        key = tl.where(v == v, key, far)
    elif v.dtype.is_floating():
        if v.dtype == tl.float32:
            bits = v.to(tl.int32, bitcast=True)
            key = tl.where(bits < 0, bits ^ 0x7FFFFFFF, bits)
        else:
            bits = v.to(tl.int16, bitcast=True).to(tl.int32)
            key = tl.where(bits < 0, bits ^ 0x7FFF, bits)
        end: tl.constexpr = -0x80000000 if LEAST else 0x7FFFFFFF
        key = tl.where(_plain(v) == _plain(v), key, end)
    else:
        key = v.to(tl.int32)
    return key


@triton.jit
def _lane(v, ACC: tl.constexpr, AS: tl.constexpr, LEAST: tl.constexpr):
    """What is combined of elements."""
    if AS == TRUTH:
        lane = (_plain(v) != 0).to(ACC)
    elif AS == ORDER:
        lane = _key(v, LEAST).to(ACC)
    elif AS == WHERE:
        key = _key(v, LEAST)
        if v.dtype.is_floating():
            key = tl.where(_plain(v) == 0, 0, key)
        lane = ~key if LEAST else key
    else:
        lane = v.to(ACC)
    return lane


@triton.jit
def _packed(key, index):
    """Keys and indices in one integer: the largest has the largest key, and its first index."""
    return (key.to(tl.int64) << 32) | (0xFFFFFFFF - index)


@triton.jit
def _largest(a, b):
    """The larger of floats: +0 is above -0, and a NaN wins."""
    return tl.maximum(a, b, propagate_nan=tl.PropagateNan.ALL)


@triton.jit
def _smallest(a, b):
    """The smaller of floats: -0 is below +0, and a NaN wins."""
    return tl.minimum(a, b, propagate_nan=tl.PropagateNan.ALL)


@triton.jit
def _both(a, b, inside, HOW: tl.constexpr, EVEN: tl.constexpr = False):
    """Two combined; outside, b is 0. With `EVEN`, nothing is outside."""
    if HOW == SUM:
        made = a + b
    elif HOW == MAX:
        made = _largest(a, b) if a.dtype.is_floating() else tl.maximum(a, b)
    else:
        made = _smallest(a, b) if a.dtype.is_floating() else tl.minimum(a, b)
    if HOW != SUM and not EVEN:
        made = tl.where(inside, made, a)
    return made


@triton.jit
def _along(v, axis: tl.constexpr, HOW: tl.constexpr):
    if HOW == SUM:
        made = tl.sum(v, axis)
    elif v.dtype.is_floating():
        made = tl.reduce(v, axis, _largest) if HOW == MAX else tl.reduce(v, axis, _smallest)
    elif HOW == MAX:
        made = tl.max(v, axis)
    else:
        made = tl.min(v, axis)
    return made


@triton.jit
def _result(v, count, kind: tl.constexpr, AS: tl.constexpr, BITS: tl.constexpr,
            MEAN: tl.constexpr):  # fmt: skip
    """Results of what was combined, in the dtype of the output."""
    if MEAN:
        made = v.to(tl.float64) / count
        if kind != tl.float64:
            made = made.to(tl.float32).to(kind)
    elif AS == ORDER:
        if BITS == 64:
            made = tl.where(v < 0, v ^ 0x7FFFFFFFFFFFFFFF, v).to(kind, bitcast=True)
        elif BITS == 32:
            made = tl.where(v < 0, v ^ 0x7FFFFFFF, v).to(kind, bitcast=True)
        else:
            made = tl.where(v < 0, v ^ 0x7FFF, v).to(tl.int16).to(kind, bitcast=True)
    elif AS == WHERE:
        made = (0xFFFFFFFF - (v & 0xFFFFFFFF)).to(kind)
    else:
        made = v.to(kind)
    return made


@triton.jit
def _rows(x, out, rows, n, each, parts, count, start, ACC: tl.constexpr, FIRST: tl.constexpr,
          PICK: tl.constexpr, LAST: tl.constexpr, AS: tl.constexpr, HOW: tl.constexpr,
          LEAST: tl.constexpr, BITS: tl.constexpr, MEAN: tl.constexpr, ROWS: tl.constexpr,
          BLOCK: tl.constexpr, STAGES: tl.constexpr):  # fmt: skip
    program = tl.program_id(0).to(tl.int64)
    row, part = program // parts * ROWS + tl.arange(0, ROWS), program % parts
    column = tl.arange(0, BLOCK)
    total = (tl.full((ROWS, BLOCK), 0, tl.int64) + start).to(ACC)
    turn = tl.zeros((ROWS, BLOCK), tl.int32)
    first = part * each
    last = tl.minimum(first + each, n)
    for at in tl.range(first, last, BLOCK, num_stages=STAGES):
        inside = (row < rows)[:, None] & (at + column < last)[None, :]
        v = tl.load(x + row[:, None] * n + (at + column)[None, :], inside, 0)
        lane = _lane(v, ACC, AS, LEAST) if FIRST else v
        if PICK:
            better = inside & (lane > total)
            turn = tl.where(better, ((at - first) // BLOCK).to(tl.int32), turn)
            total = tl.where(better, lane, total)
        else:
            total = _both(total, lane, inside, HOW)
    if PICK:
        total = _packed(total, first + turn.to(tl.int64) * BLOCK + column[None, :])
    made = _along(total, 1, HOW)
    if LAST:
        made = _result(made, count, out.dtype.element_ty, AS, BITS, MEAN)
    tl.store(out + row * parts + part, made, row < rows)


@triton.jit
def _columns(x, out, n, inner, each, parts, count, start, ACC: tl.constexpr, FIRST: tl.constexpr,
             PICK: tl.constexpr, LAST: tl.constexpr, AS: tl.constexpr, HOW: tl.constexpr,
             LEAST: tl.constexpr, BITS: tl.constexpr, MEAN: tl.constexpr, ROWS: tl.constexpr,
             BLOCK: tl.constexpr, STAGES: tl.constexpr, EVEN: tl.constexpr):  # fmt: skip
    """`EVEN`: no tile has anything outside."""
    across = tl.cdiv(inner, BLOCK)
    program = tl.program_id(0).to(tl.int64)
    outer, part = program // across // parts, program // across % parts
    column = program % across * BLOCK + tl.arange(0, BLOCK)
    line = tl.arange(0, ROWS)
    total = (tl.full((ROWS, BLOCK), 0, tl.int64) + start).to(ACC)
    turn = tl.zeros((ROWS, BLOCK), tl.int32)
    first = part * each
    last = tl.minimum(first + each, n)
    for at in tl.range(first, last, ROWS, num_stages=STAGES):
        inside = (at + line < last)[:, None] & (column < inner)[None, :]
        where = (outer * n + at + line)[:, None] * inner + column[None, :]
        v = tl.load(x + where) if EVEN else tl.load(x + where, inside, 0)
        lane = _lane(v, ACC, AS, LEAST) if FIRST else v
        if PICK:
            better = inside & (lane > total)
            turn = tl.where(better, ((at - first) // ROWS).to(tl.int32), turn)
            total = tl.where(better, lane, total)
        else:
            total = _both(total, lane, inside, HOW, EVEN)
    if PICK:
        total = _packed(total, first + turn.to(tl.int64) * ROWS + line[:, None])
    made = _along(total, 0, HOW)
    if LAST:
        made = _result(made, count, out.dtype.element_ty, AS, BITS, MEAN)
    tl.store(out + (outer * parts + part) * inner + column, made, column < inner)


_PROGRAMS = 1056
"""So many programs are enough for a GPU."""


@dataclass(frozen=True)
class Tile:
    """What a program combines at once, its warps, and how many tiles are on their way to it."""

    rows: int
    block: int
    warps: int
    stages: int


def tile_of_rows(outer: int, n: int, width: int, picks: bool) -> Tile:
    """Return a tile for rows of n elements of so many bytes, whose neighbours are combined."""
    if picks and outer >= 4 and n >= 1024:
        return Tile(4, 1024, 4, 1)
    if n > 8192 and width <= 4 and not picks:
        return Tile(1, 2048, 8, 1) if width < 4 else Tile(1, 4096, 8, 3)
    block = min(int(triton.next_power_of_2(n)), 2048 if width < 8 else 1024)
    return Tile(max(1, 2048 // block), block, 4, 1)


def tile_of_columns(inner: int, width: int, picks: bool, compares: bool = False) -> Tile:
    """Return a tile for columns: of narrow elements each thread has some rows of 16 bytes.

    Floats that are compared as such take so little time that fewer warps load faster.
    """
    across = int(triton.next_power_of_2(inner))
    if width < 4 and across >= 1024 and not picks:
        return Tile(4, 1024, 4, 1)
    block = min(across, 128)
    warps, stages = (4, 1) if compares and width == 4 else (8, 3)
    return Tile(max(1, 2048 // block), block, warps, stages)


def combined(
    x: torch.Tensor, shape: tuple[int, int, int], acc: torch.dtype, out: Memory,
    how: int, take: int, least: bool, mean: bool = False,
) -> Steps:  # fmt: skip
    """Return the kernels that combine x, seen as (outer, n, inner) in memory, along n."""
    outer, n, inner = shape
    bits, count, width = x.dtype.itemsize * 8, n, x.dtype.itemsize
    compares = take == ORDER.value and inner > 1 and bits <= 32 and is_compiled(_columns)
    if compares:
        acc, take = torch.float32, PLAIN.value
    kind = torch.int64 if take == WHERE.value else acc  # of parts that were combined
    steps: list[Step] = []
    between: list[Memory] = []
    source = At(0)
    while True:
        picks = not steps and take == WHERE.value
        if inner == 1:
            tile = tile_of_rows(outer, n, width, picks)
            step = tile.block
            programs = triton.cdiv(outer, tile.rows)
        else:
            tile = tile_of_columns(inner, width, picks, compares)
            step = tile.rows
            programs = outer * triton.cdiv(inner, tile.block)
        most = triton.cdiv(n, 4 * step)
        parts = 1 if 2 * programs > _PROGRAMS else max(1, min(most, _PROGRAMS // programs))
        each = triton.cdiv(triton.cdiv(n, parts), step) * step
        parts = triton.cdiv(n, each)
        last = parts == 1
        if not last:
            between.append(Memory((outer, parts, inner), kind))
        target = At(1) if last else At(1 + len(between))
        lane = acc if not steps else kind
        facts = {"ACC": ACCUMULATORS[lane], "FIRST": not steps,
                 "PICK": picks, "LAST": last, "AS": take, "HOW": how,
                 "LEAST": least, "BITS": bits, "MEAN": mean, "ROWS": tile.rows,
                 "BLOCK": tile.block, "STAGES": tile.stages}  # fmt: skip
        if inner > 1:
            facts["EVEN"] = compares and n % tile.rows == 0 and inner % tile.block == 0
        sizes = [outer, n] if inner == 1 else [n, inner]
        steps.append(Step(_rows if inner == 1 else _columns, programs * parts,
                          [source, target, *sizes, each, parts, count, _start(lane, how)],
                          facts, tile.warps))  # fmt: skip
        if last:
            return Steps([x], out, steps, between)
        source, n, width = target, parts, kind.itemsize


def _start(dtype: torch.dtype, how: int) -> float:
    """Return what changes nothing."""
    if how == SUM.value:
        return 0
    if dtype.is_floating_point:
        return math.inf if how == MIN.value else -math.inf
    return torch.iinfo(dtype).max if how == MIN.value else torch.iinfo(dtype).min


def _memory(
    input: torch.Tensor, order: list[int], gone: list[int], shape: tuple[int, ...],
    dtype: torch.dtype,
) -> Memory:  # fmt: skip
    """Return the output: what is left of the axes, in their order in memory."""
    kept = [a for a in order if a not in gone]
    like = torch.empty([input.shape[a] for a in kept], device="meta")
    like = like.permute([kept.index(a) for a in sorted(kept)]).reshape(shape)
    return Memory(tuple(like.shape), dtype, tuple(like.stride()))


def _laid_out(x: torch.Tensor, axes: list[int]) -> tuple[torch.Tensor, list[int], list[int]] | None:
    """Return x with its axes in the order of memory, where `axes` are then, and the order."""
    strides = x.stride()
    order = sorted(range(x.dim()), key=lambda a: (-strides[a], a))
    turned = x.permute(order)
    if not turned.is_contiguous():
        return None
    return turned, sorted(order.index(a) for a in axes), order


def _three(x: torch.Tensor, axes: list[int]) -> tuple[int, int, int] | None:
    """Return the sizes before, of and after axes that follow each other; None if they do not."""
    real = [a for a in axes if x.shape[a] != 1]
    if not real:
        return x.numel(), 1, 1
    between = [a for a in range(real[0], real[-1] + 1) if a not in real and x.shape[a] != 1]
    if between:
        return None
    return (
        math.prod(x.shape[: real[0]]),
        math.prod(x.shape[a] for a in real),
        math.prod(x.shape[real[-1] + 1 :]),
    )


_SUMMED = {"float16": torch.float32, "bfloat16": torch.float32, "float32": torch.float64,
           "float64": torch.float64}  # fmt: skip
_ORDERED = ("float16", "bfloat16", "float32", "float64", "int8", "int16", "int32", "uint8", "bool")


def _plan(how: ReduceMode, dt: DType) -> tuple[torch.dtype, int, int, bool] | None:
    """Return what is combined in which dtype and how, and whether the smallest wins."""
    whole = dt.kind in ("int", "uint", "bool")
    if how in (ReduceMode.SUM, ReduceMode.MEAN):
        if whole:
            is_sum = how is ReduceMode.SUM and (dt.bits < 64 or dt.name == "int64")
            return (torch.int64, SUM.value, PLAIN.value, False) if is_sum else None
        kind = _SUMMED.get(dt.name)
        return None if kind is None else (kind, SUM.value, PLAIN.value, False)
    if how in (ReduceMode.MAX, ReduceMode.MIN):
        if dt.name not in _ORDERED:
            return None
        least = how is ReduceMode.MIN
        kind = torch.int64 if dt.bits == 64 else torch.int32
        return kind, MIN.value if least else MAX.value, PLAIN.value if whole else ORDER.value, least
    if how in (ReduceMode.LAND, ReduceMode.LOR) and (whole or dt.name in _SUMMED):
        least = how is ReduceMode.LAND
        return torch.int32, MIN.value if least else MAX.value, TRUTH.value, least
    return None


@planned("reduce", rounded=False)
def reduce(call: Call, input: torch.Tensor, mode: Any, axis: Any, keep_dims: bool) -> Steps | None:
    """Return the plan of what combines elements along axes."""
    how = mode_argument(call.op, mode)
    if isinstance(how, ReduceFunction) or not input.numel() or not input.dim():
        return None
    chosen = _plan(how, call.dtypes["input"])
    axes = axes_argument(call.op, input.dim(), axis)
    laid = None if chosen is None else _laid_out(input, axes)
    three = None if laid is None else _three(laid[0], laid[1])
    if chosen is None or laid is None or three is None:
        return None
    kind, way, take, least = chosen
    shape = reduced_shape(tuple(input.shape), axes, bool(keep_dims))
    out = _memory(input, laid[2], axes, shape, TORCH[call.result.dtype])
    return combined(input, three, kind, out, way, take, least, how is ReduceMode.MEAN)


@planned("argmax", "argmin", rounded=False)
def argmax(call: Call, input: torch.Tensor, axis: int, keepdim: bool, dtype: Any) -> Steps | None:
    """Return the plan of the index of the best element along an axis; of several, the first."""
    dt = call.dtypes["input"]
    if dt.name not in _ORDERED or dt.bits == 64 or not input.numel() or not input.dim():
        return None
    along = int(axis) % input.dim()
    laid = _laid_out(input, [along])
    three = None if laid is None else _three(laid[0], laid[1])
    if laid is None or three is None:
        return None
    shape = reduced_shape(tuple(input.shape), [along], bool(keepdim))
    out = _memory(input, laid[2], [along], shape, TORCH[call.result.dtype])
    least = call.op.name == "argmin"
    return combined(input, three, torch.int32, out, MAX.value, WHERE.value, least)
