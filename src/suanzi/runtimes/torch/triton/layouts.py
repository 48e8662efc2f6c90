"""From shapes and strides to a pattern: axes that can be joined are, sizes of 1 vanish."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from suanzi.runtimes.torch.triton.kernel_text import Pattern

Numbers = tuple[int, ...]
MOST_AXES = 6
_LONG_ROW = 256


@dataclass(frozen=True)
class Laid:
    """How a kernel goes through its elements."""

    pattern: Pattern
    sizes: Numbers
    strides: tuple[Numbers, ...]
    """The strides that are parameters, of each operand."""
    out: Numbers
    """The strides of the result."""
    constants: tuple[tuple[str, int], ...]
    programs: int
    warps: int


def laid(
    shape: Numbers, operands: Sequence[tuple[Numbers, Numbers] | None], many: bool = False
) -> Laid | None:
    """Return how to go through operands, each with its shape and strides; None: a number.

    With `many`, each thread has twice as many elements: narrow ones, whose functions take long.
    """
    rows = [_broadcast(shape, x) for x in operands]
    out = _result_strides(shape, operands)
    order = sorted(range(len(shape)), key=lambda d: (-out[d], d))
    order = [d for d in order if shape[d] != 1]
    sizes, strides = _joined([shape[d] for d in order], [[r[d] for d in order] for r in rows])
    if len(sizes) > MOST_AXES:
        return None
    count = math.prod(sizes)
    ends = [sum((n - 1) * s for n, s in zip(sizes, row, strict=True)) for row in strides]
    wide = max(count, *ends, 0) >= 2**31 - 2**16
    marks = tuple(tuple(min(s, 2) for s in row) for row in strides)
    if all(mark[0] < 2 for mark in marks) and len(sizes) == 1:
        form = "line"
    else:
        form = "tile" if _in_tiles(sizes, marks) else "flat"
    split = form == "line" and count % 16 != 0 and count > 8192
    pattern = Pattern(form, len(sizes), marks, wide, split)
    given = tuple(
        tuple(s for s, m in zip(row, mark, strict=True) if m == 2)
        for row, mark in zip(strides, marks, strict=True)
    )
    constants, programs, warps = _blocks(form, sizes, marks, many)
    return Laid(pattern, tuple(sizes), given, out, constants, programs, warps)


def _broadcast(shape: Numbers, x: tuple[Numbers, Numbers] | None) -> Numbers:
    if x is None:
        return (0,) * len(shape)
    own, strides = x
    before = len(shape) - len(own)
    return (0,) * before + tuple(0 if n == 1 else s for n, s in zip(own, strides, strict=True))


def _result_strides(shape: Numbers, operands: Sequence[tuple[Numbers, Numbers] | None]) -> Numbers:
    """Return the strides of the first operand of the shape that has no gaps, else row by row."""
    for x in operands:
        if x is not None and x[0] == shape and _is_dense(*x):
            return x[1]
    made, step = [], 1
    for n in reversed(shape):
        made.append(step)
        step *= n
    return tuple(reversed(made))


def _is_dense(shape: Numbers, strides: Numbers) -> bool:
    step = 1
    for s, n in sorted((s, n) for s, n in zip(strides, shape, strict=True) if n != 1):
        if s != step:
            return False
        step *= n
    return True


def _joined(sizes: list[int], rows: list[list[int]]) -> tuple[list[int], list[list[int]]]:
    """Return sizes and strides with neighbours joined where every operand steps through both."""
    if not sizes:
        return [1], [[0] for _ in rows]
    kept, made = [sizes[0]], [[row[0]] for row in rows]
    for d in range(1, len(sizes)):
        if all(got[-1] == row[d] * sizes[d] for got, row in zip(made, rows, strict=True)):
            kept[-1] *= sizes[d]
            for got, row in zip(made, rows, strict=True):
                got[-1] = row[d]
        else:
            kept.append(sizes[d])
            for got, row in zip(made, rows, strict=True):
                got.append(row[d])
    return kept, made


def _crosses(marks: Sequence[Numbers]) -> bool:
    """Return whether an operand has its neighbours in memory along the axis before the last."""
    return any(mark[-2] == 1 and mark[-1] == 2 for mark in marks)


def _in_tiles(sizes: Sequence[int], marks: Sequence[Numbers]) -> bool:
    if len(sizes) < 2:
        return False
    if _crosses(marks):
        return sizes[-1] >= 32 and sizes[-2] >= 32
    return sizes[-1] >= _LONG_ROW


def _blocks(
    form: str, sizes: Sequence[int], marks: Sequence[Numbers], many: bool
) -> tuple[tuple[tuple[str, int], ...], int, int]:
    """Return the sizes of blocks, how many programs there are, and the warps of each."""
    if form != "tile":
        block, warps = 2048 if many else 1024, 4
        return (("BLOCK", block),), -(-math.prod(sizes) // block), warps
    rows, columns, warps = 1, 1024, 4
    if _crosses(marks):
        rows, columns, warps = 64, 64, 8
    elif sizes[-1] <= 512:
        rows, columns = (2, 512) if sizes[-1] > 256 else (4, 256)
    down, across = -(-sizes[-2] // rows), -(-sizes[-1] // columns)
    return (("ROWS", rows), ("COLUMNS", columns)), math.prod(sizes[:-2]) * down * across, warps
