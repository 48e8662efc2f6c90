"""7.2.1 on blocks: each is made by the task that needs it, and nothing is shipped."""

from __future__ import annotations

from typing import Any

from suanzi import _core
from suanzi.cluster import grid
from suanzi.cluster.graph import from_tasks, new_name
from suanzi.cluster.tensor import BlockTensor
from suanzi.dtypes import DType


def full(
    shape: tuple[int, ...], dtype: DType, value: Any = 0, min2maj: object = None
) -> BlockTensor:
    """Return blocks whose elements are all one number; in memory, each is row-major."""
    cuts = grid.cut(shape, None, dtype)
    name = new_name("full")
    tasks = {
        (name, *place): (_core.full, grid.block_shape(cuts, place), dtype, value)
        for place in grid.places(cuts)
    }
    return from_tasks(name, tasks, cuts, dtype)
