"""7.2.1 on blocks: each is made by the task that needs it, and nothing is shipped."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

from suanzi import _core
from suanzi.cluster import grid
from suanzi.cluster.graph import from_tasks, new_name
from suanzi.cluster.grid import Blocks
from suanzi.cluster.stand_ins import empty_like, large_like, result_of
from suanzi.cluster.tasks import Hole, call_on_blocks
from suanzi.cluster.tensor import BlockTensor
from suanzi.dtypes import DType
from suanzi.registry import Operator
from suanzi.tensors.tensor import Tensor


def full(
    shape: tuple[int, ...], dtype: DType, value: Any = 0, min2maj: object = None
) -> BlockTensor:
    """Return blocks whose elements are all one number; in memory, each is row-major."""
    return full_in(grid.cut(shape, None, dtype), dtype, value)


def full_in(cuts: Blocks, dtype: DType, value: Any) -> BlockTensor:
    """Return blocks of a grid whose elements are all one number."""
    name = new_name("full")
    tasks = {
        (name, *place): (_core.full, grid.block_shape(cuts, place), dtype, value)
        for place in grid.places(cuts)
    }
    return from_tasks(name, tasks, cuts, dtype)


def steps(
    shape: tuple[int, ...],
    dtype: DType,
    start: Any,
    limit: Any,
    step: Any,
    min2maj: object = None,
) -> BlockTensor:
    """Return the numbers of :func:`suanzi.range`."""
    doubled = bool(dtype.exponent_bits) and math.isinf(limit - start)
    first, by = (start / 2, step / 2) if doubled else (start, step)
    pieces = [(0, shape[0], first, by, 0)]
    return _sequence("range", shape, dtype, pieces, doubled)


def spaced(
    shape: tuple[int, ...],
    dtype: DType,
    start: Any,
    stop: Any,
    num: int,
    min2maj: object = None,
) -> BlockTensor:
    """Return the numbers of :func:`suanzi.linspace`, each counted from the end it is nearer to."""
    difference = stop - start
    doubled = not (math.isfinite(difference.real) and math.isfinite(difference.imag))
    begin, end = (start / 2, stop / 2) if doubled else (start, stop)
    gaps, middle = num - 1, (num + 1) // 2
    step = (end - begin) / max(gaps, 1)
    exactly = complex(-0.0, -0.0)
    pieces = [
        (0, middle, begin, step, 0),
        (middle, num, end, step, gaps),
        (0, min(num, 1), begin, exactly, 0),
        (max(gaps, 1), num, end, exactly, gaps),
    ]
    return _sequence("linspace", shape, dtype, pieces, doubled)


Piece = tuple[int, int, Any, Any, int]
"""From which index to which, and the start, the step and the shift of the numbers there."""


def _sequence(
    op: str, shape: tuple[int, ...], dtype: DType, pieces: list[Piece], doubled: bool
) -> BlockTensor:
    cuts = grid.cut(shape, None, dtype)
    name = new_name(op)
    (axis,) = cuts
    tasks = {
        (name, i): (partial(_numbers, at, n, dtype, pieces, doubled),)
        for i, (at, n) in enumerate(zip(grid.starts(axis), axis, strict=True))
    }
    return from_tasks(name, tasks, cuts, dtype)


def _numbers(at: int, count: int, dtype: DType, pieces: list[Piece], doubled: bool) -> Tensor:
    """Return the numbers of a sequence from an index on."""
    made = _core.empty((count,), dtype)
    for begin, end, start, step, shift in pieces:
        low, high = max(begin - at, 0), min(end - at, count)
        if low < high:
            _core.fill_sequence(made, low, high, start, step, shift - at, doubled)
    return made


def diagonal(op: Operator, input: BlockTensor) -> BlockTensor:
    """Return the matrix with a tensor on its diagonal, whose other blocks are zeros."""
    call = call_on_blocks(op.name, Hole(0))
    result_of(call, [empty_like(input) if input.ndim == 1 else large_like(input)])
    cuts = input.blocks * 2
    name = new_name(op.name)
    tasks: dict[Any, Any] = {
        (name, i, j): (call, (input.name, i))
        if i == j
        else (_core.full, grid.block_shape(cuts, (i, j)), input.dtype, 0)
        for i, j in grid.places(cuts)
    }
    return from_tasks(name, tasks, cuts, input.dtype, [input])
