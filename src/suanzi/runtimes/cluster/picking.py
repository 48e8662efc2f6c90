"""7.2.3, 7.2.14.5 on blocks: gather, scatter, slice_backward, masked_select, nonzero.

Every block of the indices is applied to every block that they may point into; the parts that are
read or written are then assembled: only selected elements travel. The sizes of masked_select and
nonzero depend on the elements, so these are counted when the operator is called, block by block.
Call `persist()` first on what a mask is computed from, where that is much work.
"""

from __future__ import annotations

import math
from functools import partial
from itertools import product
from typing import Any

import numpy as np

from suanzi import _core
from suanzi.base.dtypes import DType, int64
from suanzi.base.dtypes import bool as bool_
from suanzi.base.shapes import broadcast_shapes
from suanzi.base.status import OutOfRange, StatusError
from suanzi.promote import registry
from suanzi.promote.context import promotion
from suanzi.promote.library import DEFAULT
from suanzi.promote.registry import Operator
from suanzi.runtimes.cluster import grid
from suanzi.runtimes.cluster.elementwise import on_elements
from suanzi.runtimes.cluster.exchange import as_blocks
from suanzi.runtimes.cluster.graph import from_tasks, new_name
from suanzi.runtimes.cluster.grid import Blocks
from suanzi.runtimes.cluster.moving import along, reblocked, reshaped, view_of_stand_in
from suanzi.runtimes.cluster.tasks import (
    Call,
    Hole,
    call_on_blocks,
    empty_like,
    large_like,
    result_of,
    small_like,
)
from suanzi.runtimes.cluster.tensor import BlockTensor
from suanzi.runtimes.cluster.ways import way
from suanzi.tensors.make import tensor
from suanzi.tensors.tensor import Tensor

Array = np.ndarray[Any, Any]
Part = tuple[Array, Tensor]
"""Where something belongs, and what it is."""


@way("gather")
def gather(op: Operator, input: BlockTensor, index: Any) -> BlockTensor:
    """Return what indices point to."""
    index = _with_whole_coordinates(as_blocks(index))
    picked = index.shape[-1] if index.ndim > 1 else 1
    result_of(
        call_on_blocks(op.name, Hole(0), Hole(1)), [_one_index_wide(input), _few_indices(index)]
    )
    lead = index.blocks[:-1] if index.ndim > 1 else index.blocks
    cuts = (*lead, *input.blocks[picked:])
    parts_name, name = new_name("gather-part"), new_name("gather")
    tasks: dict[Any, Any] = {}
    for place in grid.places(cuts):
        at, rest = place[: len(lead)], place[len(lead) :]
        key = (index.name, *at, *(0,) * (index.ndim - len(at)))
        keys = []
        for number, source in enumerate(grid.places(input.blocks[:picked])):
            begin, sizes = _range_of(input.blocks[:picked], source)
            function = partial(_picked, input.shape, begin, sizes)
            keys.append((parts_name, *place, number))
            tasks[keys[-1]] = (function, (input.name, *source, *rest), key)
        shape = grid.block_shape(cuts, place)
        tasks[(name, *place)] = (partial(_assembled, shape, len(lead), input.dtype), keys)
    return from_tasks(name, tasks, cuts, input.dtype, [input, index])


def _with_whole_coordinates(index: BlockTensor) -> BlockTensor:
    """Return indices whose coordinates are never apart from each other."""
    if index.ndim < 2:
        return index
    return reblocked(index, (*index.blocks[:-1], (index.shape[-1],)))


def _one_index_wide(x: BlockTensor) -> Tensor:
    """Return a tensor of the same dtype and rank of one element, which the index 0 points to."""
    return _core.full((1,) * x.ndim, x.dtype, 1)


def _few_indices(index: BlockTensor) -> Tensor:
    shape = tuple(min(n, 1) for n in index.shape[:-1]) + index.shape[-1:]
    return _core.full(shape if index.ndim > 1 else (0,) * index.ndim, index.dtype, 0)


def _range_of(cuts: Blocks, place: tuple[int, ...]) -> tuple[list[int], tuple[int, ...]]:
    begin = [grid.starts(axis)[i] for axis, i in zip(cuts, place, strict=True)]
    return begin, grid.block_shape(cuts, place)


def _inside(
    op: str, shape: tuple[int, ...], begin: list[int], sizes: tuple[int, ...], index: Tensor
) -> tuple[Array, Array]:
    """Return which rows of coordinates point into a block, and to where in it."""
    rows = index.numpy().reshape(-1, len(sizes))
    if any((rows[:, i] < 0).any() or (rows[:, i] >= shape[i]).any() for i in range(len(sizes))):
        _refuse(op, shape, index)
    rows = rows.astype(np.int64) - np.array(begin)
    inside = ((rows >= 0) & (rows < np.array(sizes))).all(axis=1)
    return np.flatnonzero(inside), rows[inside]


def _refuse(op: str, shape: tuple[int, ...], index: Tensor) -> None:
    """Raise the operator's own error about an index that points to nowhere."""
    lead, picked = (index.shape[:-1], index.shape[-1]) if index.ndim > 1 else (index.shape, 1)
    shapes = [shape, (*lead, *shape[picked:])]
    whole, updates = (_core.view(_core.full((), bool_, 0), 0, n, (0,) * len(n)) for n in shapes)
    registry.call(op, whole, index, *([updates] if op == "scatter" else []))


def _picked(
    shape: tuple[int, ...], begin: list[int], sizes: tuple[int, ...], block: Tensor, index: Tensor
) -> Part | None:
    """Return what indices pick of a block."""
    places, local = _inside("gather", shape, begin, sizes, index)
    if not len(places):
        return None
    return places, registry.call("gather", block, tensor(local))


def _assembled(shape: tuple[int, ...], lead: int, dtype: DType, parts: list[Part | None]) -> Tensor:
    made = _core.empty(shape, dtype)
    rows = made.reshape((math.prod(shape[:lead]), *shape[lead:])).numpy()
    for part in parts:
        if part is not None:
            rows[part[0]] = part[1].numpy()
    return made


@way("scatter")
def scatter(
    op: Operator, input: BlockTensor, index: Any, updates: Any, override: Any
) -> BlockTensor:
    """Return the input with updates where indices point: each block gets those that concern it."""
    index, updates = _with_whole_coordinates(as_blocks(index)), as_blocks(updates)
    input = as_blocks(input)
    picked = index.shape[-1] if index.ndim > 1 else 1
    call = call_on_blocks(op.name, Hole(0), Hole(1), Hole(2), override)
    lead = index.blocks[:-1] if index.ndim > 1 else index.blocks
    wanted = (*grid.shape_of(lead), *input.shape[picked:])
    if updates.shape != wanted or updates.dtype is not input.dtype:
        zeros = _core.view(_core.full((), index.dtype, 0), 0, index.shape, (0,) * index.ndim)
        result_of(call, [large_like(input), zeros, large_like(updates)])
    none = _core.full((0,) * len(lead) + index.shape[len(lead) :], index.dtype, 0)
    few = _core.full((0,) * len(lead) + (1,) * (input.ndim - picked), input.dtype, 0)
    result_of(call, [_one_index_wide(input), none, few])
    updates = reblocked(updates, (*lead, *input.blocks[picked:]))
    parts_name, name = new_name("scatter-part"), new_name("scatter")
    tasks: dict[Any, Any] = {}
    for place in grid.places(input.blocks):
        begin, sizes = _range_of(input.blocks[:picked], place[:picked])
        keys = []
        for number, at in enumerate(product(*(range(len(axis)) for axis in lead))):
            key = (index.name, *at, *(0,) * (index.ndim - len(at)))
            keys.append((parts_name, *place, number))
            function = partial(_concerning, input.shape, begin, sizes, len(lead))
            tasks[keys[-1]] = (function, (updates.name, *at, *place[picked:]), key)
        tasks[(name, *place)] = (partial(_written, call), (input.name, *place), keys)
    return from_tasks(name, tasks, input.blocks, input.dtype, [input, index, updates])


def _concerning(
    shape: tuple[int, ...],
    begin: list[int],
    sizes: tuple[int, ...],
    lead: int,
    updates: Tensor,
    index: Tensor,
) -> Part | None:
    """Return the updates that are of a block, and where in it, in their order."""
    places, local = _inside("scatter", shape, begin, sizes, index)
    if not len(places):
        return None
    rows = updates.reshape((math.prod(updates.shape[:lead]), *updates.shape[lead:]))
    return local, registry.call("gather", rows, tensor(places))


def _written(call: Call, block: Tensor, parts: list[Part | None]) -> Tensor:
    """Return a block with updates written to it, all in one call: sums are rounded once."""
    some = [part for part in parts if part is not None]
    if not some:
        return block
    local = tensor(np.concatenate([part[0] for part in some]))
    made: Tensor = call(block, local, registry.call("concat", [part[1] for part in some], 0))
    return made


@way("slice_backward", takes_quantized=True)
def slice_backward(
    op: Operator, grad_out: BlockTensor, input: Any, begin: Any, size: Any, step: Any
) -> BlockTensor:
    """Return the gradient of a slice: `grad_out` at the slice, zeros elsewhere."""
    given = (begin, size, step)
    if any(one is None for one in (input, *given)):
        none = [None if one is None else () for one in (input, *given)]
        result_of(call_on_blocks(op.name, Hole(0), *none), [empty_like(grad_out)])
    there = as_blocks(input)
    try:
        part = view_of_stand_in(registry.REGISTRY["slice"], there, *given).shape
    except StatusError:
        part = None
    if part != grad_out.shape or grad_out.dtype is not there.dtype:
        call = call_on_blocks(op.name, Hole(0), Hole(1), *given)
        result_of(call, [large_like(grad_out), large_like(there)])
    taken = [
        along(axis, slice(int(b), int(b) + int(n), int(s)))
        for axis, b, n, s in zip(there.blocks, *given, strict=True)
    ]
    grad = reblocked(grad_out, tuple(one.sizes for one in taken))
    name = new_name(op.name)
    tasks: dict[Any, Any] = {}
    for place in grid.places(there.blocks):
        shape = grid.block_shape(there.blocks, place)
        found = [one.blocks.index(i) if i in one.blocks else -1
                 for one, i in zip(taken, place, strict=True)]  # fmt: skip
        if -1 in found:
            tasks[(name, *place)] = (_core.full, shape, grad.dtype, 0)
        else:
            key = tuple(one.local[i] for one, i in zip(taken, found, strict=True))
            tasks[(name, *place)] = (partial(_placed, shape, key), (grad.name, *found))
    return from_tasks(name, tasks, there.blocks, grad.dtype, [grad])


def _placed(shape: tuple[int, ...], key: tuple[Any, ...], grad: Tensor) -> Tensor:
    made = _core.full(shape, grad.dtype, 0)
    made[key] = grad
    return made


@way("masked_select")
def masked_select(op: Operator, input: BlockTensor, mask: Any) -> BlockTensor:
    """Return the elements where a mask is true."""
    chosen = as_blocks(mask)
    fits = chosen.ndim <= input.ndim
    fits = fits and broadcast_shapes([input.shape, chosen.shape]) == input.shape
    if chosen.dtype is not bool_ or not fits:
        result_of(
            call_on_blocks(op.name, Hole(0), Hole(1)), [large_like(input), large_like(chosen)]
        )
    whole = registry.call("expand", chosen, input.shape)
    line = reshaped(input, (input.size,))
    flat = reblocked(reshaped(whole, (input.size,)), line.blocks)
    counts = _counts(flat)
    name = new_name(op.name)
    call = call_on_blocks(op.name, Hole(0), Hole(1))
    kept = [i for i, n in enumerate(counts) if n] or [0]
    tasks = {(name, at): (call, (line.name, i), (flat.name, i)) for at, i in enumerate(kept)}
    cuts = (tuple(counts[i] for i in kept),)
    return from_tasks(name, tasks, cuts, input.dtype, [line, flat])


@way("nonzero")
def nonzero(op: Operator, input: BlockTensor, as_tuple: Any) -> Any:
    """Return the coordinates of elements that are not zero."""
    result_of(call_on_blocks(op.name, Hole(0), as_tuple), [small_like(input)])
    with promotion(DEFAULT):  # other rules compare in a narrower dtype, in which more is zero
        flat = reshaped(on_elements("not_equal", "not_equal", input, 0), (input.size,))
    counts = _counts(flat)
    kept = [i for i, n in enumerate(counts) if n]
    if not kept:
        raise OutOfRange(f"{op.title}: input, of shape {input.shape}, has no nonzero elements.")
    begin = grid.starts(flat.blocks[0])
    name = new_name(op.name)
    tasks: dict[Any, Any] = {
        (name, at, 0): (partial(_coordinates, input.shape, begin[i]), (flat.name, i))
        for at, i in enumerate(kept)
    }
    cuts = (tuple(counts[i] for i in kept), (input.ndim,))
    rows = from_tasks(name, tasks, cuts, int64, [flat])
    return tuple(rows[:, axis] for axis in range(input.ndim)) if as_tuple else rows


def _coordinates(shape: tuple[int, ...], begin: int, mask: Tensor) -> Tensor:
    """Return the coordinates of what is true in a part of the row-major line of a shape."""
    import numpy as np

    places = np.flatnonzero(mask.numpy()) + begin
    return tensor(np.stack(np.unravel_index(places, shape), axis=1).astype(np.int64))


def _counts(mask: BlockTensor) -> list[int]:
    """Return how many elements of each block of a line are true; they are computed now."""
    name = new_name("count")
    tasks: dict[Any, Any] = {
        (name, i): (_count, (mask.name, i)) for i in range(len(mask.blocks[0]))
    }
    counted = from_tasks(name, tasks, ((1,) * len(tasks),), int64, [mask])
    return [int(n) for n in counted.tolist()]


def _count(mask: Tensor) -> Tensor:
    import numpy as np

    return tensor([int(np.count_nonzero(mask.numpy()))], int64)
