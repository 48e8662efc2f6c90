"""7.2.14.1, 7.2.14.2 on blocks: where the largest and the least elements along an axis are."""

from __future__ import annotations

from functools import partial as bound
from typing import Any

import numpy as np

from suanzi import registry
from suanzi.cluster import grid
from suanzi.cluster.combining import left_of
from suanzi.cluster.graph import Key, from_tasks, new_name
from suanzi.cluster.stand_ins import result_of, small_like
from suanzi.cluster.tasks import Hole, call_on_blocks
from suanzi.cluster.tensor import BlockTensor
from suanzi.cluster.ways import way
from suanzi.dtypes import DType, int8
from suanzi.registry import Operator
from suanzi.tensors.exchange import from_numpy
from suanzi.tensors.parts import converted
from suanzi.tensors.tensor import Tensor

Found = tuple[Tensor, Tensor]
"""The extreme elements along an axis, which stays with size 1, and where they are."""


@way("argmax", "argmin")
def argmax(op: Operator, input: BlockTensor, axis: Any, keepdim: Any, dtype: Any) -> BlockTensor:
    """Return where the extreme elements are: of each block first, then of those."""
    call = call_on_blocks(op.name, Hole(0), axis, keepdim, dtype)
    made = result_of(call, [small_like(input)])
    along, keeps = int(axis) % input.ndim, bool(keepdim)
    begin = grid.starts(input.blocks[along])
    first, name = new_name(f"{op.name}-blocks"), new_name(op.name)
    cuts = left_of(input.blocks, [along], keeps)
    tasks: dict[Key, Any] = {}
    for lane in grid.places(left_of(input.blocks, [along], True)):
        keys: list[Key] = []
        for i, at in enumerate(begin):
            place = (*lane[:along], i, *lane[along + 1 :])
            keys.append((first, *place))
            tasks[keys[-1]] = (bound(_found, op.name, along, at), (input.name, *place))
        kept = lane if keeps else (*lane[:along], *lane[along + 1 :])
        shape = grid.block_shape(cuts, kept)
        tasks[(name, *kept)] = (bound(_best, op.name, along, shape, made.dtype), keys)
    return from_tasks(name, tasks, cuts, made.dtype, [input])


def _found(name: str, axis: int, start: int, block: Tensor) -> Found:
    if block.dtype.bits < 8:
        block = converted(block, int8)
    where = registry.call(name, block, axis, True)
    mode = "MAX" if name == "argmax" else "MIN"
    return registry.call("reduce", block, mode, axis, True), where + start


def _best(name: str, axis: int, shape: tuple[int, ...], dtype: DType, found: list[Found]) -> Tensor:
    values = registry.call("concat", [one for one, _ in found], axis)
    places = registry.call("concat", [one for _, one in found], axis)
    which = registry.call(name, values, axis, True)
    picked = np.take_along_axis(places.numpy(), which.numpy(), axis)
    return converted(from_numpy(picked), dtype).reshape(shape)
