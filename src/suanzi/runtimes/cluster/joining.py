"""7.2.3 on blocks: tensors joined, repeated, padded and parted. Blocks stand elsewhere; few change.

What repeats a tensor names its blocks again: nothing is copied before it is gathered.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import Any

from suanzi.ops.transformation_joining import PadMode
from suanzi.promote import registry
from suanzi.promote.registry import Operator
from suanzi.runtimes.cluster import creating, grid
from suanzi.runtimes.cluster.elementwise import in_dtype
from suanzi.runtimes.cluster.exchange import as_blocks
from suanzi.runtimes.cluster.graph import each_block, itself
from suanzi.runtimes.cluster.moving import reblocked, reshaped, subscript, view_of_stand_in
from suanzi.runtimes.cluster.tasks import (
    Hole,
    call_on_blocks,
    empty_like,
    large_like,
    result_of,
    small_like,
)
from suanzi.runtimes.cluster.tensor import BlockTensor
from suanzi.runtimes.cluster.ways import way


@way("concat")
def concat(op: Operator, input_lists: Any, axis: Any) -> BlockTensor:
    """Return tensors one after the other along an axis."""
    parts = [as_blocks(x) for x in input_lists]
    call = call_on_blocks(op.name, [Hole(i) for i in range(len(parts))], axis)
    ranks = {x.ndim for x in parts}
    n = max(ranks)
    at = axis % n if isinstance(axis, int) and -n <= axis < n else None
    rests = {tuple(size for a, size in enumerate(x.shape) if a != at) for x in parts}
    if len(ranks) > 1 or len(rests) > 1 or at is None:
        result_of(call, [large_like(x) for x in parts])  # which raises the operator's own error
    dtype = result_of(call, [empty_like(x) for x in parts]).dtype
    assert at is not None
    same = [in_dtype(x, dtype) for x in parts]
    return joined_along(same, at)


def joined_along(parts: Sequence[BlockTensor], axis: int) -> BlockTensor:
    """Join tensors of one dtype along an axis; their other sizes are equal."""
    kept = [x for x in parts if x.shape[axis]] or [parts[0]]
    others = grid.common([tuple(b for a, b in enumerate(x.blocks) if a != axis) for x in kept])
    aligned = [
        reblocked(x, (*others[:axis], x.blocks[axis], *others[axis:])) if x.ndim > 1 else x
        for x in kept
    ]
    if len(aligned) == 1:
        return aligned[0]
    sizes = tuple(n for x in aligned for n in x.blocks[axis])
    cuts = (*others[:axis], sizes, *others[axis:])
    source = [(x, i) for x in aligned for i in range(len(x.blocks[axis]))]

    def task(place: tuple[int, ...]) -> Any:
        x, i = source[place[axis]]
        return itself, (x.name, *place[:axis], i, *place[axis + 1 :])

    needs = list({x.name: x for x in aligned}.values())
    return each_block("concat", cuts, kept[0].dtype, task, needs)


@way("stack")
def stack(op: Operator, input_lists: Any, axis: Any) -> BlockTensor:
    """Return tensors of one shape side by side along a new axis."""
    parts = [as_blocks(x) for x in input_lists]
    call = call_on_blocks(op.name, [Hole(i) for i in range(len(parts))], axis)
    if len({x.shape for x in parts}) > 1:
        result_of(call, [large_like(x) for x in parts])
    made = result_of(call, [empty_like(x) for x in parts])
    at = int(axis) % made.ndim
    key = (*(slice(None),) * at, None)
    return joined_along([subscript(in_dtype(x, made.dtype), key) for x in parts], at)


@way("split")
def split(
    op: Operator, input: BlockTensor, split_sizes: Any, nsplit: Any, axis: Any
) -> list[BlockTensor]:
    """Return the parts of a tensor along an axis."""
    views: Any = view_of_stand_in(op, input, split_sizes, nsplit, axis)
    at = int(axis) % input.ndim
    edges = [0, *accumulate(view.shape[at] for view in views)]
    before = (slice(None),) * at
    return [subscript(input, (*before, slice(a, b))) for a, b in pairwise(edges)]


@way("tile")
def tile(op: Operator, input: BlockTensor, repeats: Any) -> BlockTensor:
    """Return it repeated along axes: the blocks are named again."""
    result_of(call_on_blocks(op.name, Hole(0), repeats), [empty_like(input)])
    x = input
    for axis, count in enumerate(map(int, repeats)):
        if count == 0:
            x = subscript(x, (*(slice(None),) * axis, slice(0, 0)))
        elif count > 1:
            x = joined_along([x] * count, axis)
    return x


@way("roll")
def roll(op: Operator, input: BlockTensor, shifts: Any, axis: Any) -> BlockTensor:
    """Return it with elements moved along axes, those that fall off at the end in front."""
    result_of(call_on_blocks(op.name, Hole(0), shifts, axis), [small_like(input)])
    moves, axes = several(shifts), [] if axis is None else several(axis)
    if not axes:
        flat = reshaped(input, (input.size,))
        return reshaped(_rolled(flat, int(moves[0]), 0), input.shape)
    x = input
    for shift, one in zip(moves, axes, strict=True):
        x = _rolled(x, int(shift), int(one) % input.ndim)
    return x


def several(x: Any) -> list[int]:
    """Return one integer, or several, as a list."""
    try:
        return [operator.index(x)]
    except TypeError:
        return [int(one) for one in x]


def _rolled(x: BlockTensor, shift: int, axis: int) -> BlockTensor:
    n = x.shape[axis]
    at = n - shift % n if n else 0
    if at == n or not n:
        return x
    before = (slice(None),) * axis
    parts = [slice(at, None), slice(0, at)]
    moved = joined_along([subscript(x, (*before, part)) for part in parts], axis)
    return reblocked(moved, x.blocks)  # or more and more blocks would come of many axes


@way("pad")
def pad(
    op: Operator, input: BlockTensor, pad_width: Any, pad_value: Any, pad_mode: Any
) -> BlockTensor:
    """Return it with padding around it: a number, or more of itself."""
    call = call_on_blocks(op.name, Hole(0), pad_width, pad_value, pad_mode)
    stand_in = result_of(call, [small_like(input)])
    widths = [w for one in pad_width for w in several(one)]
    mode = PadMode[pad_mode] if isinstance(pad_mode, str) else PadMode(pad_mode)
    x = input
    for axis, (before, after) in enumerate(zip(widths[::2], widths[1::2], strict=True)):
        if not before and not after:
            continue
        if mode is PadMode.PAD_CONST:
            value = stand_in.reshape(-1)[0 if any(widths[::2]) else -1].item()
            value = ord(value) if isinstance(value, bytes | str) else value  # of char
            parts = [_number(x, axis, before, value), x, _number(x, axis, after, value)]
        else:
            parts = _more_of_it(x, axis, before, after, mode is PadMode.PAD_MIRROR)
        x = joined_along([part for part in parts if part.shape[axis]] or [x], axis)
    return x


def _number(x: BlockTensor, axis: int, count: int, value: Any) -> BlockTensor:
    """Return blocks of one number that fit a tensor at both ends of an axis."""
    cuts = (*x.blocks[:axis], (count,), *x.blocks[axis + 1 :])
    return creating.full_in(cuts, x.dtype, value)


def _more_of_it(
    x: BlockTensor, axis: int, before: int, after: int, mirrored: bool
) -> list[BlockTensor]:
    """Return copies of a tensor, every other one reversed if mirrored, cut to the widths."""
    n = x.shape[axis]
    parts = []
    first, last = -(before // n) - (before % n > 0), (after // n) + (after % n > 0)
    for copy in range(first, last + 1):
        low, high = max(-before, copy * n) - copy * n, min(n + after, (copy + 1) * n) - copy * n
        if mirrored and copy % 2:
            stop = n - 1 - high
            part = slice(n - 1 - low, None if stop < 0 else stop, -1)
        else:
            part = slice(low, high)
        parts.append(subscript(x, (*(slice(None),) * axis, part)))
    return parts


@way("meshgrid")
def meshgrid(op: Operator, input: Any) -> list[BlockTensor]:
    """Return each tensor of one axis along an axis of its own of a grid."""
    parts = [as_blocks(x) for x in input]
    made = result_of(
        call_on_blocks(op.name, [Hole(i) for i in range(len(parts))]),
        [small_like(x) for x in parts],
    )
    shape = tuple(x.size for x in parts)
    found = []
    for i, (x, stand_in) in enumerate(zip(parts, made, strict=True)):
        line = reshaped(in_dtype(x, stand_in.dtype), (x.size,))
        spread = subscript(line, (*(None,) * i, slice(None), *(None,) * (len(parts) - 1 - i)))
        found.append(registry.call("expand", spread, shape))
    return found
