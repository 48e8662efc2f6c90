"""7.2.13, 7.2.14.1, .2 and 7.2.5.7 on blocks: reduce, cumsum, argmax, argmin, allclose.

Each block gives a partial result, as wide as the core accumulates in. Partial results are combined
in groups and rounded once at the end: only the order of additions depends on the blocks. A partial
result is the bytes of some numbers; the last axis counts them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial as bound
from itertools import product
from typing import Any

import numpy as np

from suanzi import _core
from suanzi.base.dtypes import DType, complex128, float64, int8, uint8
from suanzi.base.dtypes import bool as bool_
from suanzi.base.shapes import broadcast_shapes
from suanzi.ops.calling.scalars import shape_argument
from suanzi.ops.reduction_modes import (
    ReduceFunction,
    ReduceMode,
    axes_argument,
    is_logical,
    mode_argument,
)
from suanzi.promote import registry
from suanzi.promote.registry import Operator
from suanzi.runtimes.cluster import creating, grid
from suanzi.runtimes.cluster.elementwise import held, on_elements
from suanzi.runtimes.cluster.graph import Key, from_tasks, new_name
from suanzi.runtimes.cluster.grid import Blocks
from suanzi.runtimes.cluster.moving import reblocked, reshaped, subscript
from suanzi.runtimes.cluster.tasks import (
    Call,
    Hole,
    call_on_blocks,
    large_like,
    result_of,
    small_like,
)
from suanzi.runtimes.cluster.tensor import BlockTensor
from suanzi.runtimes.cluster.ways import way
from suanzi.tensors.exchange import from_numpy
from suanzi.tensors.parts import converted, copy
from suanzi.tensors.tensor import Tensor

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


@dataclass(frozen=True)
class Kind:
    """What is made of elements: a mode of `reduce`, or with `norm` a part of norms."""

    mode: int
    dtype: DType
    """That of the elements."""
    result: DType
    norm: bool = False

    @property
    def size(self) -> int:
        """The bytes of a partial result."""
        return _core.partial_size(self.mode, self.norm, self.dtype)


def partial(kind: Kind, axes: Sequence[int], x: Tensor) -> Tensor:
    """Return the partial results of a block along axes, which stay, with size 1."""
    left = [axis for axis, n in enumerate(x.shape) if axis not in axes and n > 1]
    # The core writes them in the order in which the axes of the block lie in memory.
    order = sorted(left, key=lambda axis: -abs(x.strides[axis]))
    made = _core.empty((*(x.shape[axis] for axis in order), kind.size), uint8)
    _core.reduce_partly(x, kind.mode, kind.norm, list(axes), made)
    if order != left:
        perm = [left.index(axis) for axis in order]
        made = _core.row_major_copy(_core.try_view("transpose", made, [*perm, len(perm)]))
    kept = [1 if axis in axes else n for axis, n in enumerate(x.shape)]
    return made.reshape(*kept, kind.size)


def combined(kind: Kind, parts: Sequence[Tensor]) -> Tensor:
    """Return partial results of one shape combined; neighbours first, then those pairs."""
    left = list(parts)
    if len(left) == 1:
        return left[0]
    count = math.prod(left[0].shape[:-1])
    mine = [False] * len(left)  # a block that others may need must not change
    while len(left) > 1:
        pairs = range(0, len(left) - 1, 2)
        for i in pairs:
            left[i] = left[i] if mine[i] else copy(left[i])
            _core.combine_partly(left[i], left[i + 1], kind.mode, kind.norm, kind.dtype, count)
        mine = [True for _ in pairs] + mine[len(left) - len(left) % 2 :]
        left = left[::2]
    return left[0]


def finished(kind: Kind, shape: Sequence[int], count: int, parts: Tensor) -> Tensor:
    """Return the results of `count` elements each, rounded once, in a shape."""
    made = _core.empty(tuple(shape), kind.result)
    _core.finish_partly(parts, kind.mode, kind.norm, kind.dtype, count, made)
    return made


@way("reduce")
def reduce(op: Operator, input: BlockTensor, mode: Any, axis: Any, keep_dims: Any) -> BlockTensor:
    """Combine the elements of blocks along axes."""
    call = call_on_blocks(op.name, Hole(0), mode, axis, keep_dims=keep_dims)
    stand_in = result_of(call, [small_like(input)])
    how, axes = mode_argument(op, mode), axes_argument(op, input.ndim, axis)
    keeps = bool(keep_dims)
    if input.size == 0:
        left = left_of(input.blocks, axes, keeps)
        value = stand_in.reshape(-1)[0].item() if stand_in.size else 0
        return creating.full(tuple(map(sum, left)), stand_in.dtype, value)
    if isinstance(how, ReduceFunction):
        return _by_function(how, input, axes, keeps, call)
    if is_logical(how) and input.dtype is not bool_:
        input = on_elements("cast", "cast", input, bool_)
    elif how is ReduceMode.MEAN and input.dtype is bool_:
        input = on_elements("cast", "cast", input, uint8)
    return by_partials(op.name, Kind(int(how), input.dtype, stand_in.dtype), input, axes, keeps)


def by_partials(
    name: str, kind: Kind, x: BlockTensor, axes: list[int], keep_dims: bool
) -> BlockTensor:
    """Return a reduction of the core's, of partial results of blocks."""
    count = math.prod(x.shape[axis] for axis in axes)
    return made_of_blocks(
        name,
        x,
        axes,
        bound(partial, kind, axes),
        bound(combined, kind),
        lambda shape: bound(finished, kind, shape, count),
        kind.result,
        keep_dims,
    )


# ---- users' functions ----------------------------------------------------------------------------


@dataclass(frozen=True)
class _Function:
    """A :class:`suanzi.ReduceFunction` on blocks, without what it does at the end."""

    how: ReduceFunction
    axes: tuple[int, ...]
    call: Call

    def first(self, block: Tensor) -> Tensor:
        """Return what is left of a block, its axes kept."""
        return self._run(block)

    def combine(self, parts: list[Tensor]) -> Tensor:
        """Return what is left of parts that stand one after the other along the first axis."""
        return self._run(registry.call("concat", parts, self.axes[0]))

    def _run(self, block: Tensor) -> Tensor:
        plain = ReduceFunction(self.how.combine, name=self.how.name)
        made: Tensor = self.call.context.run(
            registry.FUNCTIONS["reduce"], (block, plain, self.axes, True), {}
        )
        return made

    def finish(self, shape: tuple[int, ...], count: int, made: Tensor) -> Tensor:
        """Return the result."""
        if self.how.finish is not None:
            made = self.call.context.run(self.how.finish, (made, count), {})
        return made.reshape(shape)


def _by_function(
    how: ReduceFunction, x: BlockTensor, axes: list[int], keep_dims: bool, call: Call
) -> BlockTensor:
    """Combine by a function that need not be commutative: only the first axis stays cut."""
    cuts = tuple((sum(axis),) if a in axes[1:] else axis for a, axis in enumerate(x.blocks))
    x = reblocked(x, cuts)
    count = math.prod(x.shape[axis] for axis in axes)
    run = _Function(how, tuple(axes), call)
    return made_of_blocks(
        "reduce",
        x,
        axes,
        run.first,
        run.combine,
        lambda shape: bound(run.finish, shape, count),
        x.dtype,
        keep_dims,
    )


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


@way("cumsum")
def cumsum(op: Operator, input: BlockTensor, axis: Any, dtype: Any) -> BlockTensor:
    """Return the sums of all elements up to each, along an axis."""
    made = result_of(call_on_blocks(op.name, Hole(0), axis, dtype), [small_like(input)])
    if int(axis) == -1:
        return _along(reshaped(input, (input.size,)), 0, made.dtype, False)
    return _along(input, int(axis), made.dtype, False)


@way("cumsum_bwd")
def cumsum_bwd(op: Operator, out_grad: BlockTensor, axis: Any, input_shape: Any) -> BlockTensor:
    """Return the sums from the last element down to each."""
    if input_shape is not None:
        input_shape = shape_argument(op, "input_shape", input_shape)
    made = result_of(call_on_blocks(op.name, Hole(0), axis), [small_like(out_grad)])
    in_a_row = int(axis) == -1
    found = _along(out_grad, max(int(axis), 0), made.dtype, True)
    if input_shape in (None, out_grad.shape):
        return found
    if not in_a_row or math.prod(input_shape) != out_grad.size:  # an error, which names the sizes
        result_of(call_on_blocks(op.name, Hole(0), axis, input_shape), [large_like(out_grad)])
    return registry.call("reshape", found, input_shape)  # type: ignore[no-any-return]


def _along(x: BlockTensor, axis: int, dtype: DType, backwards: bool) -> BlockTensor:
    wide = float64 if dtype.kind == "float" else complex128 if dtype.kind == "complex" else dtype
    sums, before, name = new_name("cumsum-sum"), new_name("cumsum-before"), new_name("cumsum")
    tasks: dict[Key, Any] = {}
    count = len(x.blocks[axis])
    rest = (*x.blocks[:axis], (1,), *x.blocks[axis + 1 :])
    for lane in grid.places(rest):
        line = [(*lane[:axis], i, *lane[axis + 1 :]) for i in range(count)]
        order = line[::-1] if backwards else line
        for place in order[:-1]:
            tasks[(sums, *place)] = (bound(_sum, axis, dtype, wide), (x.name, *place))
        if count > 1:
            parts = [(sums, *place) for place in order[:-1]]
            tasks[(before, *lane)] = (bound(_before, axis), parts)
        for i, place in enumerate(order):
            last = () if i == 0 else ((before, *lane), i - 1)
            step = bound(_cumulative, axis, dtype, wide, backwards)
            tasks[(name, *place)] = (step, (x.name, *place), *last)
    return from_tasks(name, tasks, x.blocks, dtype, [x])


def _sum(axis: int, dtype: DType, wide: DType, block: Tensor) -> Tensor:
    made: Tensor = registry.call(
        "reduce", converted(converted(block, dtype), wide), "SUM", axis, True
    )
    return made


def _before(axis: int, sums: list[Tensor]) -> Tensor:
    """Return the sums of the blocks up to each, side by side."""
    made: Tensor = registry.call("cumsum", registry.call("concat", sums, axis), axis)
    return made


def _cumulative(
    axis: int,
    dtype: DType,
    wide: DType,
    backwards: bool,
    block: Tensor,
    before: Tensor | None = None,
    at: int = 0,
) -> Tensor:
    """Return the sums of a block up to each element, with those of the blocks before it."""
    name = "cumsum_bwd" if backwards else "cumsum"
    x = converted(block, dtype)
    if before is None:
        first: Tensor = registry.call(name, x, axis)
        return first
    carried = before[(*(slice(None),) * axis, slice(at, at + 1))]
    if dtype.kind == "float":
        return _core.cumulative_sum_onto(x, axis, backwards, carried)
    made = registry.call(name, converted(x, wide), axis)
    return converted(made + carried, dtype)


@way("allclose")
def allclose(op: Operator, **arguments: Any) -> BlockTensor:
    """Tell whether two tensors are close everywhere."""
    call, operands = held(op.name, **arguments)
    shape = broadcast_shapes([x.shape for x in operands])
    result_of(call, [(large_like if shape is None else small_like)(x) for x in operands])
    assert shape is not None
    full = [x if x.shape == shape else registry.call("expand", x, shape) for x in operands]
    cuts = grid.common([x.blocks for x in full])
    first, *others = [reblocked(x, cuts) for x in full]
    axes = list(range(len(shape)))
    made = made_of_blocks(op.name, first, axes, call, _all, lambda _: _number, bool_, False, others)
    return subscript(made, None)  # one element along one axis, as the operator has it


def _all(parts: list[Tensor]) -> Tensor:
    made: Tensor = registry.call("reduce", registry.call("stack", parts, 0), "LAND", 0)
    return made


def _number(made: Tensor) -> Tensor:
    return made.reshape(())
