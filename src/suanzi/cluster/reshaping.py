"""7.2.3.2, 7.2.3.20 on blocks: the elements, in row-major order, in another shape.

Axes that are merged or split form groups that have as many elements before as after. The blocks of
a group become pieces of one line, which is cut anew and folded; other axes stay as they are cut.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from suanzi.cluster import grid
from suanzi.cluster.graph import from_tasks, new_name
from suanzi.cluster.grid import Blocks
from suanzi.cluster.reblocking import reblocked
from suanzi.cluster.tasks import Hole, call_on_blocks
from suanzi.cluster.tensor import BlockTensor
from suanzi.cluster.views import view_of_stand_in
from suanzi.cluster.ways import way
from suanzi.registry import Operator

Group = tuple[tuple[int, ...], tuple[int, ...]]
"""Axes of the input and of the result that have the same elements."""


@way("reshape")
def reshape(op: Operator, input: BlockTensor, dims: Any) -> BlockTensor:
    """Return the elements in another shape."""
    return reshaped(input, view_of_stand_in(op, input, dims).shape)


@way("flatten")
def flatten(op: Operator, input: BlockTensor, start_axis: Any, stop_axis: Any) -> BlockTensor:
    """Return it with some axes made one."""
    return reshaped(input, view_of_stand_in(op, input, start_axis, stop_axis).shape)


def reshaped(x: BlockTensor, shape: tuple[int, ...]) -> BlockTensor:
    """Return the elements in another shape of as many."""
    if shape == x.shape:
        return x
    if x.size == 0 or not shape or not x.ndim:
        return _moved(reblocked(x, grid.whole(x.shape)), grid.whole(shape))
    most = max(math.prod(map(max, x.blocks)), 1)
    found = groups(x.shape, shape)
    rows: list[Blocks] = []  # the cuts of each group of the input, then its line, then the result's
    lines: list[tuple[int, ...]] = []
    folded: list[Blocks] = []
    wanted: list[tuple[int, ...]] = []
    for before, after in found:
        old = tuple(x.blocks[a] for a in before)
        if len(before) == len(after) == 1:
            rows.append(old)
            lines.append(old[0])
            folded.append(old)
            wanted.append(old[0])
            continue
        # What blocks hold along the axes of other groups is room that a line does not have.
        others = math.prod(max(axis) for a, axis in enumerate(x.blocks) if a not in before)
        room = max(most // others, 1)
        rows.append(in_rows(tuple(x.shape[a] for a in before), room, old))
        lines.append(line_of(rows[-1]))
        folded.append(in_rows(tuple(shape[a] for a in after), room))
        wanted.append(line_of(folded[-1]))
    flat = _moved(reblocked(x, _joined(rows)), tuple(lines))
    return _moved(reblocked(flat, tuple(wanted)), _joined(folded))


def _joined(parts: Sequence[Blocks]) -> Blocks:
    return tuple(axis for part in parts for axis in part)


def groups(old: tuple[int, ...], new: tuple[int, ...]) -> list[Group]:
    """Return the axes of two shapes of as many elements that belong together.

    >>> groups((2, 3, 4), (6, 2, 2))
    [((0, 1), (0,)), ((2,), (1, 2))]
    """
    found: list[Group] = []
    i = j = 0
    while i < len(old) or j < len(new):
        first, second = i, j
        n, m = 1, 1
        while True:
            if n == m and i > first and j > second:
                break
            if i < len(old) and (n <= m or j == len(new)):
                n *= old[i]
                i += 1
            elif j < len(new):
                m *= new[j]
                j += 1
            else:
                break
        found.append((tuple(range(first, i)), tuple(range(second, j))))
    # Axes of size 1 at the end belong to the last group.
    while len(found) > 1 and not (found[-1][0] and found[-1][1]):
        (a, b), (c, d) = found[-2:]
        found[-2:] = [(a + c, b + d)]
    return found


def in_rows(shape: tuple[int, ...], room: int, old: Blocks | None = None) -> Blocks:
    """Return blocks that are pieces of a line: one axis is cut, those before it into single steps.

    >>> in_rows((2, 5, 3), 6)
    ((1, 1), (2, 2, 1), (3,))
    """
    axis = 0
    while axis < len(shape) - 1 and math.prod(shape[axis + 1 :]) > room:
        axis += 1
    rest = math.prod(shape[axis + 1 :])
    own = old is not None and max(old[axis]) * rest <= room
    cut = old[axis] if own and old is not None else _even(shape[axis], max(room // rest, 1))
    return (*((1,) * n for n in shape[:axis]), cut, *((n,) for n in shape[axis + 1 :]))


def _even(count: int, size: int) -> tuple[int, ...]:
    return tuple(min(size, count - at) for at in range(0, count, size))


def line_of(cuts: Blocks) -> tuple[int, ...]:
    """Return the sizes of the blocks of :func:`in_rows`, one after the other."""
    return tuple(math.prod(grid.block_shape(cuts, place)) for place in grid.places(cuts))


def _moved(x: BlockTensor, cuts: Blocks) -> BlockTensor:
    """Return blocks, in their order, in another grid of as many, each in its shape there."""
    name = new_name("reshape")
    tasks = {}
    for place, source in zip(grid.places(cuts), grid.places(x.blocks), strict=True):
        call = call_on_blocks("reshape", Hole(0), grid.block_shape(cuts, place))
        tasks[(name, *place)] = (call, (x.name, *source))
    return from_tasks(name, tasks, cuts, x.dtype, [x])
