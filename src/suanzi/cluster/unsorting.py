"""7.2.14.3.4 on blocks: the gradient of argsort, whose elements go back to where they came from.

Every block of the indices gives each block of the result the elements that belong there; each of
them must come once.
"""

from __future__ import annotations

from functools import partial
from operator import index
from typing import Any

import numpy as np

from suanzi import _core
from suanzi.cluster import grid
from suanzi.cluster.exchange import as_blocks
from suanzi.cluster.graph import Key, from_tasks, new_name
from suanzi.cluster.reblocking import reblocked
from suanzi.cluster.stand_ins import large_like, result_of, small_like
from suanzi.cluster.tasks import Hole, call_on_blocks
from suanzi.cluster.tensor import BlockTensor
from suanzi.cluster.ways import way
from suanzi.dtypes import DType, int64
from suanzi.ops.indexing import bad_index
from suanzi.registry import REGISTRY, Operator
from suanzi.status import InvalidArgument
from suanzi.tensors.make import tensor
from suanzi.tensors.parts import converted
from suanzi.tensors.tensor import Tensor

Array = np.ndarray[Any, Any]
Part = tuple[Array, Tensor]
"""Where elements belong in a block, as places in its row-major line, and the elements."""


@way("argsort_bwd")
def argsort_bwd(op: Operator, out_grad: Any, indices: Any, axis: Any) -> BlockTensor:
    """Return the gradient of what was sorted."""
    gradient, places = as_blocks(out_grad), as_blocks(indices)
    call = call_on_blocks(op.name, Hole(0), Hole(1), axis)
    if gradient.shape != places.shape:
        result_of(call, [large_like(gradient), large_like(places)])  # which raises
    none = _core.full((1,) * places.ndim if places.size else places.shape, places.dtype, 0)
    dtype = result_of(call, [small_like(gradient), none]).dtype
    at = index(axis) % gradient.ndim
    places = reblocked(places, gradient.blocks)
    cuts, begin = gradient.blocks, grid.starts(gradient.blocks[at])
    name, parts = new_name(op.name), new_name(f"{op.name}-part")
    tasks: dict[Key, Any] = {}
    for place in grid.places(cuts):
        keys: list[Key] = []
        for i in range(len(begin)):
            source = (*place[:at], i, *place[at + 1 :])
            mine = (begin[place[at]], cuts[at][place[at]])
            step = partial(_going, op.name, at, gradient.shape[at], *mine)
            keys.append((parts, *place, i))
            tasks[keys[-1]] = (step, (gradient.name, *source), (places.name, *source))
        shape = grid.block_shape(cuts, place)
        finish = partial(_arrived, op.name, at, shape, gradient.shape[at], begin[place[at]], dtype)
        tasks[(name, *place)] = (finish, keys)
    return from_tasks(name, tasks, cuts, dtype, [gradient, places])


def _going(
    name: str, axis: int, size: int, begin: int, count: int, gradient: Tensor, places: Tensor
) -> Part:
    """Return the elements of a block that belong to a part of the axis, and where in it."""
    where = converted(places, int64).numpy()
    wrong = (where < 0) | (where >= size)
    if wrong.any():
        raise bad_index(REGISTRY[name], (int(where[wrong][0]), False), places.dtype, axis, size)
    inside = np.nonzero((where >= begin) & (where < begin + count))
    spot = list(inside)
    spot[axis] = where[inside] - begin
    shape = (*where.shape[:axis], count, *where.shape[axis + 1 :])
    line = np.ravel_multi_index(tuple(spot), shape) if spot[0].size else np.zeros(0, np.int64)
    picked = np.ravel_multi_index(inside, where.shape) if spot[0].size else line
    return line, gradient.reshape(-1)[tensor(picked)]


def _arrived(
    name: str,
    axis: int,
    shape: tuple[int, ...],
    size: int,
    begin: int,
    dtype: DType,
    parts: list[Part],
) -> Tensor:
    """Return a block of the elements that came to it."""
    line = np.concatenate([part[0] for part in parts])
    seen = np.bincount(line, minlength=int(np.prod(shape, dtype=np.int64)))
    if (seen > 1).any():
        twice = np.unravel_index(int(np.argmax(seen > 1)), shape)[axis] + begin
        raise bad_index(REGISTRY[name], (int(twice), True), int64, axis, size)
    if not seen.all():  # of which another block has one twice
        lacks = np.unravel_index(int(np.argmin(seen)), shape)[axis] + begin
        raise InvalidArgument(
            f"{REGISTRY[name].title}: indices lacks {lacks} along axis {axis}; it must contain "
            f"each of 0 to {size - 1} once. Give the second result of sz.argsort."
        )
    flat = _core.empty((line.size,), dtype)
    for where, elements in parts:
        if where.size:
            flat[tensor(where)] = converted(elements, dtype)
    return flat.reshape(shape)
