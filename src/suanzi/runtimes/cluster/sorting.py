"""7.2.14.3 on blocks: argsort with its gradient, and topk, by merging sorted blocks.

Where the axis is cut, each block is sorted, and a network of tasks (Batcher's) exchanges elements
between two blocks at a time: no task ever has more than two. Equal elements are ordered by their
index, so that the order is the one of a single tensor. For the gradient, every block of the indices
gives each block of the result the elements that belong there; each of them must come once.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from operator import index, itemgetter
from typing import Any

import numpy as np

from suanzi import _core
from suanzi.base.dtypes import DType, int64
from suanzi.base.status import InvalidArgument
from suanzi.ops.indexing import bad_index
from suanzi.promote import registry
from suanzi.promote.registry import REGISTRY, Operator
from suanzi.runtimes.cluster import grid
from suanzi.runtimes.cluster.exchange import as_blocks
from suanzi.runtimes.cluster.graph import Key, from_tasks, itself, new_name
from suanzi.runtimes.cluster.moving import reblocked
from suanzi.runtimes.cluster.reductions import made_of_blocks
from suanzi.runtimes.cluster.tasks import Hole, call_on_blocks, large_like, result_of, small_like
from suanzi.runtimes.cluster.tensor import BlockTensor
from suanzi.runtimes.cluster.ways import way
from suanzi.tensors.make import tensor
from suanzi.tensors.parts import converted
from suanzi.tensors.tensor import Tensor

Ordered = tuple[Tensor, Tensor]
"""Elements, and where they were."""


@way("argsort")
def argsort(
    op: Operator, input: BlockTensor, axis: Any, descending: Any
) -> tuple[BlockTensor, BlockTensor]:
    """Return the elements in order along an axis, and where they were."""
    call = call_on_blocks(op.name, Hole(0), axis, descending)
    result_of(call, [small_like(input)])
    at = int(axis) % input.ndim
    size = max(1, *input.blocks[at])
    count = input.shape[at]
    even = tuple(min(size, count - i) for i in range(0, count, size)) or (0,)
    x = reblocked(input, (*input.blocks[:at], even, *input.blocks[at + 1 :]))
    name = new_name("argsort-part")
    tasks: dict[Any, Any] = {}
    begin = grid.starts(even)
    for place in grid.places(x.blocks):
        function = partial(_sorted, at, bool(descending), begin[place[at]])
        tasks[(name, 0, *place)] = (function, (x.name, *place))
    now = {place: (name, 0, *place) for place in grid.places(x.blocks)}
    others = (*x.blocks[:at], (1,), *x.blocks[at + 1 :])
    for number, (i, j) in enumerate(exchanges(len(even)), 1):
        merge = partial(_exchanged, at, bool(descending), even[i])
        for place in grid.places(others):
            low, high = (*place[:at], i, *place[at + 1 :]), (*place[:at], j, *place[at + 1 :])
            pair = (f"{name}-pair", number, *place)
            tasks[pair] = (merge, now[low], now[high])
            for half, one in enumerate((low, high)):
                now[one] = (name, number, *one)
                tasks[now[one]] = (itemgetter(half), pair)
    found = []
    for part, dtype in ((0, x.dtype), (1, int64)):
        made = new_name("argsort")
        mine = {(made, *place): (itemgetter(part), key) for place, key in now.items()}
        found.append(from_tasks(made, tasks | mine, x.blocks, dtype, [x]))
    return found[0], found[1]


def exchanges(count: int) -> Iterator[tuple[int, int]]:
    """Yield the pairs of places that a merge exchange of Batcher's compares, one after the other.

    >>> list(exchanges(3))
    [(0, 2), (0, 1), (1, 2)]
    """
    top = 1 << max(count - 1, 0).bit_length() - 1 if count > 1 else 0
    p = top
    while p > 0:
        q, r, d = top, 0, p
        while True:
            for i in range(count - d):
                if i & p == r:
                    yield i, i + d
            if q == p:
                break
            d, q, r = q - p, q >> 1, p
        p >>= 1


def _sorted(axis: int, descending: bool, begin: int, block: Tensor) -> Ordered:
    values, places = registry.call("argsort", block, axis, descending)
    return values, registry.call("add", places, begin) if begin else places


def _exchanged(
    axis: int, descending: bool, count: int, low: Ordered, high: Ordered
) -> tuple[Ordered, Ordered]:
    """Return two blocks with the first `count` elements of both in the first, all in order."""
    from suanzi.faces import array_api as xp

    values, places = (registry.call("concat", [a, b], axis) for a, b in zip(low, high, strict=True))
    # In the order of where they were first, which sorting then keeps among equal ones.
    places, order = registry.call("argsort", places, axis, False)
    values = xp.take_along_axis(values, order, axis=axis)
    values, order = registry.call("argsort", values, axis, descending)
    places = xp.take_along_axis(places, order, axis=axis)
    before = (slice(None),) * axis
    first, rest = (*before, slice(0, count)), (*before, slice(count, None))
    return (values[first], places[first]), (values[rest], places[rest])


@way("topk")
def topk(
    op: Operator, input: BlockTensor, k: Any, axis: Any, largest: Any, sorted: Any
) -> tuple[BlockTensor, BlockTensor]:
    """Return the k best elements along an axis: those of each block, then the best of these."""
    call = call_on_blocks(op.name, Hole(0), 1, axis, largest, sorted)
    result_of(call, [small_like(input)])
    at = int(axis) % input.ndim
    if not isinstance(k, int) or not 1 <= k <= input.shape[at]:
        result_of(call_on_blocks(op.name, Hole(0), k, axis), [large_like(input)])
    begin = grid.starts(input.blocks[at])
    name = new_name("topk-part")
    tasks: dict[Any, Any] = {
        (name, *place): (partial(_best, int(k), at, bool(largest), begin[place[at]]),
                         (input.name, *place))
        for place in grid.places(input.blocks)
    }  # fmt: skip
    parts = from_tasks(name, tasks, input.blocks, input.dtype, [input])
    found = [
        made_of_blocks(
            "topk", parts, [at], itself, partial(_best_of, int(k), at, bool(largest)),
            partial(_part, part), dtype, True,
        )
        for part, dtype in ((0, input.dtype), (1, int64))
    ]  # fmt: skip
    cuts = (*input.blocks[:at], (int(k),), *input.blocks[at + 1 :])
    values, places = (BlockTensor(x.graph, x.name, cuts, x.dtype) for x in found)
    return values, places


def _part(part: int, shape: object) -> Any:
    return itemgetter(part)


def _best(k: int, axis: int, largest: bool, begin: int, block: Tensor) -> Ordered:
    values, places = registry.call("topk", block, min(k, block.shape[axis]), axis, largest)
    return values, registry.call("add", places, begin) if begin else places


def _best_of(k: int, axis: int, largest: bool, parts: list[Ordered]) -> Ordered:
    """Return the best of some, which come in the order of the tensor: of equal ones the first."""
    from suanzi.faces import array_api as xp

    values, places = (
        registry.call("concat", list(some), axis) for some in zip(*parts, strict=True)
    )
    values, order = registry.call("topk", values, min(k, values.shape[axis]), axis, largest)
    return values, xp.take_along_axis(places, order, axis=axis)


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
