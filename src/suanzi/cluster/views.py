"""7.2.3 on blocks: other views of the same elements, block by block."""

from __future__ import annotations

from typing import Any

from suanzi.cluster import grid
from suanzi.cluster.graph import block_by_block, from_tasks, new_name
from suanzi.cluster.stand_ins import large_like, result_of
from suanzi.cluster.subscripts import subscript
from suanzi.cluster.tasks import Hole, call_on_blocks
from suanzi.cluster.tensor import BlockTensor
from suanzi.cluster.ways import way
from suanzi.registry import Operator
from suanzi.tensors.tensor import Tensor


def view_of_stand_in(op: Operator, x: BlockTensor, *args: Any) -> Tensor:
    """Return the view that an operator makes of a tensor of the same shape, or raise its error."""
    made: Tensor = result_of(call_on_blocks(op.name, Hole(0), *args), [large_like(x)])
    return made


@way("transpose")
def transpose(op: Operator, input: BlockTensor, perm: Any) -> BlockTensor:
    """Return it with axis i at place perm[i]; each block is transposed, and stands elsewhere."""
    view_of_stand_in(op, input, perm)
    n = input.ndim
    order = [int(p) % n for p in perm] if perm is not None and len(perm) else range(n)[::-1]
    cuts = tuple(input.blocks[order.index(i)] for i in range(n))
    call = call_on_blocks("transpose", Hole(0), tuple(order))
    return block_by_block("transpose", call, [(input, order)], cuts, input.dtype)


@way("expand_dims")
def expand_dims(op: Operator, input: BlockTensor, axis: Any) -> BlockTensor:
    """Return it with a new axis."""
    made = view_of_stand_in(op, input, axis)
    return subscript(input, _with_new_axis(int(axis) % made.ndim))


def _with_new_axis(axis: int) -> tuple[Any, ...]:
    return (*(slice(None),) * axis, None)


@way("squeeze")
def squeeze(op: Operator, input: BlockTensor, axis: Any) -> BlockTensor:
    """Return it without axes of size 1."""
    made = view_of_stand_in(op, input, axis)
    if made.ndim == input.ndim:
        return input
    some = () if axis is None else axis if isinstance(axis, list | tuple) else (axis,)
    chosen = {int(a) % input.ndim for a in some} or range(input.ndim)
    key = [0 if n == 1 and a in chosen else slice(None) for a, n in enumerate(input.shape)]
    return subscript(input, tuple(key))


@way("slice")
def slice_(op: Operator, input: BlockTensor, begin: Any, size: Any, step: Any) -> BlockTensor:
    """Return every `step`-th of `size` elements from `begin` on."""
    view_of_stand_in(op, input, begin, size, step)
    parts = zip(begin, size, step, strict=True)
    key = tuple(slice(int(b), int(b) + int(n), int(s)) for b, n, s in parts)
    return subscript(input, key)


@way("crop")
def crop(op: Operator, input: BlockTensor, shape: Any, offsets: Any) -> BlockTensor:
    """Return a part of a shape that begins at `offsets`."""
    view_of_stand_in(op, input, shape, offsets)
    several = hasattr(offsets, "__len__") or hasattr(offsets, "__iter__")
    begin = list(offsets) if several else [offsets] * input.ndim
    key = tuple(slice(int(b), int(b) + int(n)) for b, n in zip(begin, shape, strict=True))
    return subscript(input, key)


@way("flip", "reverse")
def flip(op: Operator, input: BlockTensor, axis: Any) -> BlockTensor:
    """Return it with the order along axes reversed; none are all of them."""
    view_of_stand_in(op, input, axis)
    some = axis if isinstance(axis, list | tuple) else (axis,)
    chosen = {int(a) % input.ndim for a in some}
    step = {True: -1, False: 1}
    key = tuple(slice(None, None, step[a in chosen]) for a in range(input.ndim))
    return subscript(input, key)


@way("expand")
def expand(op: Operator, input: BlockTensor, shape: Any) -> BlockTensor:
    """Return it repeated to a shape: the blocks of repeated axes are views of the same elements."""
    wanted = view_of_stand_in(op, input, shape).shape
    new = len(wanted) - input.ndim
    old = (*((1,),) * new, *input.blocks)
    auto = grid.cut(wanted, None, input.dtype)
    cuts = tuple(
        own if sum(own) == n else axis for own, n, axis in zip(old, wanted, auto, strict=True)
    )
    name = new_name("expand")
    tasks = {}
    for place in grid.places(cuts):
        source = [i if len(old[a]) > 1 else 0 for a, i in enumerate(place)][new:]
        call = call_on_blocks("expand", Hole(0), grid.block_shape(cuts, place))
        tasks[(name, *place)] = (call, (input.name, *source))
    return from_tasks(name, tasks, cuts, input.dtype, [input])


@way("unstack")
def unstack(op: Operator, input: BlockTensor, axis: Any, num: Any) -> list[BlockTensor]:
    """Return a tensor of blocks for each index of an axis."""
    made: Any = view_of_stand_in(op, input, axis, num)
    before = (slice(None),) * (int(axis) % input.ndim)
    return [subscript(input, (*before, i)) for i in range(len(made))]
