"""Blocks along axes combined to one, in groups, so that no task needs all of them at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import product
from typing import Any

from suanzi.cluster import grid
from suanzi.cluster.graph import Key, from_tasks, new_name
from suanzi.cluster.grid import Blocks
from suanzi.cluster.tensor import BlockTensor
from suanzi.dtypes import DType

_GROUP = 8
"""How many blocks are combined by one task at most, along all axes together."""


def made_of_blocks(
    op: str,
    x: BlockTensor,
    axes: Sequence[int],
    first: Callable[..., Any],
    combine: Callable[[list[Any]], Any],
    finish: Callable[[tuple[int, ...]], Callable[[Any], Any]],
    dtype: DType,
    keep_dims: bool,
    others: Sequence[BlockTensor] = (),
) -> BlockTensor:
    """Return what is left of blocks along axes.

    `first` makes something of each block (and of those of `others` at the same place), `combine` of
    a list of such things, in order, and ``finish(shape)`` returns what makes a block of the
    result, of that shape, of the last.
    """
    name = new_name(f"{op}-blocks")
    tasks: dict[Key, Any] = {}
    level: dict[tuple[int, ...], Key] = {}
    for place in grid.places(x.blocks):
        level[place] = (name, *place)
        tasks[level[place]] = (first, (x.name, *place), *((y.name, *place) for y in others))
    counts = list(grid.numbers(x.blocks))
    depth = 0
    while any(counts[axis] > 1 for axis in axes):
        depth += 1
        level = _grouped(f"{name}-{depth}", level, counts, axes, combine, tasks)
    cuts = left_of(x.blocks, axes, keep_dims)
    made = new_name(op)
    for place, key in level.items():
        kept = place if keep_dims else tuple(i for a, i in enumerate(place) if a not in axes)
        shape = grid.block_shape(cuts, kept)
        tasks[(made, *kept)] = (finish(shape), key)
    return from_tasks(made, tasks, cuts, dtype, [x, *others])


def left_of(cuts: Blocks, axes: Sequence[int], keep_dims: bool) -> Blocks:
    """Return the grid of what is left along axes."""
    if keep_dims:
        return tuple((1,) if a in axes else axis for a, axis in enumerate(cuts))
    return tuple(axis for a, axis in enumerate(cuts) if a not in axes)


def _grouped(
    name: str,
    level: Mapping[tuple[int, ...], Key],
    counts: list[int],
    axes: Sequence[int],
    combine: Callable[[list[Any]], Any],
    tasks: dict[Key, Any],
) -> dict[tuple[int, ...], Key]:
    """Combine neighbours, add the tasks, and return the keys that are left; counts change, too."""
    split = [axis for axis in axes if counts[axis] > 1]
    size = max(2, round(_GROUP ** (1 / len(split))))
    groups = [
        [range(i, min(i + size, n)) for i in range(0, n, size)]
        if axis in split
        else [range(i, i + 1) for i in range(n)]
        for axis, n in enumerate(counts)
    ]
    made = {}
    for place in product(*(range(len(axis)) for axis in groups)):
        inside = product(*(axis[i] for axis, i in zip(groups, place, strict=True)))
        made[place] = (name, *place)
        tasks[made[place]] = (combine, [level[old] for old in inside])
    counts[:] = [len(axis) for axis in groups]
    return made
