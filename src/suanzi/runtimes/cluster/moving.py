"""7.2.3 on blocks: the same elements in other blocks, parts, views and shapes.

A block of the result joins the parts of the blocks that it covers. In a reshape, axes that are
merged or split form groups with as many elements before as after; the blocks of a group become
pieces of one line, which is cut again and folded.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from suanzi.base.status import InvalidArgument, OutOfRange, TypeMismatch
from suanzi.ops.calling.scalars import one_or_several
from suanzi.promote import registry
from suanzi.promote.registry import Operator
from suanzi.runtimes.cluster import grid
from suanzi.runtimes.cluster.graph import block_by_block, from_tasks, new_name
from suanzi.runtimes.cluster.grid import Blocks
from suanzi.runtimes.cluster.quantization import codes, quantization_of, standing_for
from suanzi.runtimes.cluster.tasks import Hole, call_on_blocks, large_like, result_of
from suanzi.runtimes.cluster.tensor import BlockTensor
from suanzi.runtimes.cluster.ways import METHODS, way
from suanzi.tensors.parts import copy
from suanzi.tensors.tensor import Tensor

Piece = tuple[int, int, int]
"""Of one axis: a block, and where the part of it that is taken begins and ends."""


def reblock(x: BlockTensor, size: Any) -> BlockTensor:
    """Return the same elements in blocks of a size."""
    return reblocked(x, grid.cut(x.shape, size, x.dtype))


METHODS.reblock = reblock


def reblocked(x: BlockTensor, cuts: Blocks) -> BlockTensor:
    """Return the same elements in other blocks; itself if they are the same."""
    if cuts == x.blocks:
        return x
    if x.dtype.kind == "quantized":
        return standing_for(reblocked(codes(x), cuts), x.dtype, x.quantization)
    name = new_name("reblock")
    pieces = [_covering(old, new) for old, new in zip(x.blocks, cuts, strict=True)]
    tasks = {}
    for place in grid.places(cuts):
        along = [axis[i] for axis, i in zip(pieces, place, strict=True)]
        keys = [(x.name, *(p[0] for p in part)) for part in product(*along)]
        parts = [tuple((p[1], p[2]) for p in part) for part in product(*along)]
        counts = tuple(map(len, along))
        tasks[(name, *place)] = (Joined(tuple(parts), counts), keys)
    return from_tasks(name, tasks, cuts, x.dtype, [x])


def _covering(old: tuple[int, ...], new: tuple[int, ...]) -> list[list[Piece]]:
    """Return for each new block of an axis the parts of old ones that it is made of."""
    begin = grid.starts(old)
    found: list[list[Piece]] = []
    at = first = 0
    for size in new:
        end = at + size
        while first < len(old) - 1 and begin[first] + old[first] <= at:
            first += 1
        pieces = []
        for i in range(first, len(old)):
            low, high = max(at - begin[i], 0), min(end - begin[i], old[i])
            if high > low:
                pieces.append((i, low, high))
            if begin[i] + old[i] >= end:
                break
        found.append(pieces or [(first, 0, 0)])
        at = end
    return found


class Joined:
    """A task that joins parts of blocks, given in the row-major order of their places."""

    def __init__(
        self, parts: tuple[tuple[tuple[int, int], ...], ...], counts: tuple[int, ...]
    ) -> None:
        self.parts = parts
        self.counts = counts

    def __call__(self, blocks: list[Tensor]) -> Tensor:
        """Return the block that is made of them."""
        cut = [
            block[tuple(slice(low, high) for low, high in part)]
            for block, part in zip(blocks, self.parts, strict=True)
        ]
        return joined(cut, self.counts)


def joined(blocks: list[Tensor], counts: tuple[int, ...]) -> Tensor:
    """Return one tensor of blocks that stand in a grid of `counts`, in row-major order."""
    for axis in range(len(counts) - 1, -1, -1):
        n = counts[axis]
        if n > 1:
            rows = [blocks[i : i + n] for i in range(0, len(blocks), n)]
            blocks = [registry.call("concat", row, axis) for row in rows]
    (made,) = blocks
    return trimmed(made)


def trimmed(x: Tensor) -> Tensor:
    """Return a part of a block as it is, or copied where it would keep much else alive."""
    return x if 2 * x.nbytes >= x.storage.nbytes else copy(x)


Local = slice | int
"""What is taken of a block along one axis."""


@dataclass(frozen=True)
class Taken:
    """A task that takes a part of a block by a key."""

    key: tuple[Local | None, ...]

    def __call__(self, block: Tensor) -> Tensor:
        """Return the part."""
        return trimmed(block[self.key])


def subscript(x: BlockTensor, key: Any) -> BlockTensor:
    """Return what x[key] is: integers, slices, None and Ellipsis."""
    if x.dtype.kind == "quantized":
        made = subscript(codes(x), key)
        return standing_for(made, x.dtype, quantization_of(large_like(x)[key]))
    parts = _understood(x, list(key) if isinstance(key, tuple) else [key])
    axes = iter(x.blocks)
    taken = [None if part is None else along(next(axes), part) for part in parts]
    cuts = tuple(
        (1,) if axis is None else axis.sizes
        for axis, part in zip(taken, parts, strict=True)
        if not isinstance(part, int)
    )
    name = new_name("slice")
    tasks = {}
    for place in grid.places(cuts):
        number = iter(place)
        block: list[int] = []
        local: list[Local | None] = []
        for axis, part in zip(taken, parts, strict=True):
            i = 0 if isinstance(part, int) else next(number)
            local.append(None if axis is None else axis.local[i])
            if axis is not None:
                block.append(axis.blocks[i])
        tasks[(name, *place)] = (Taken(tuple(local)), (x.name, *block))
    return from_tasks(name, tasks, cuts, x.dtype, [x])


METHODS.subscript = subscript


@dataclass(frozen=True)
class Along:
    """The parts of the blocks of one axis that a slice or an integer selects."""

    blocks: tuple[int, ...]
    """The blocks that something is taken of, in the order of the result."""
    local: tuple[Local, ...]
    """What is taken of each."""
    sizes: tuple[int, ...]
    """How much that is."""


def along(axis: tuple[int, ...], part: Local) -> Along:
    """Return what a slice, or a nonnegative integer, takes of the blocks of an axis.

    >>> taken = along((3, 3, 2), slice(6, 1, -2))
    >>> taken.blocks, taken.local[2], taken.sizes
    ((2, 1, 0), slice(2, 1, -2), (1, 1, 1))
    """
    begin = grid.starts(axis)
    if isinstance(part, int):
        last = max(i for i, at in enumerate(begin) if at <= part and axis[i])
        return Along((last,), (part - begin[last],), (1,))
    indices = range(sum(axis))[part]
    step = indices.step
    blocks, local, sizes = [], [], []
    for i, (at, size) in enumerate(zip(begin, axis, strict=True)):
        inside = _between(indices, at, at + size)
        if inside:
            stop = inside[-1] - at + (1 if step > 0 else -1)
            blocks.append(i)
            local.append(slice(inside[0] - at, None if stop < 0 else stop, step))
            sizes.append(len(inside))
    if not blocks:
        return Along((0,), (slice(0, 0),), (0,))
    order = 1 if step > 0 else -1
    return Along(tuple(blocks[::order]), tuple(local[::order]), tuple(sizes[::order]))


def _between(indices: range, low: int, high: int) -> range:
    """Return the indices of a range that are from `low` to below `high`, in its order."""
    if indices.step < 0:
        return _between(indices[::-1], low, high)[::-1]
    first = max(0, -(-(low - indices.start) // indices.step))
    end = max(0, -(-(high - indices.start) // indices.step))
    return indices[first:end]


def _understood(x: BlockTensor, key: list[Any]) -> list[Local | None]:
    """Return a key with one part for each axis, and None for new ones."""
    given = [_part(part) for part in key]
    count = sum(part is not None and part is not Ellipsis for part in given)
    dots = [i for i, part in enumerate(given) if part is Ellipsis]
    if len(dots) > 1 or count > x.ndim:
        raise OutOfRange(
            f"x[key]: the key has {count} indices and {len(dots)} times '...'; the tensor has "
            f"{x.ndim} axes, and '...' may occur only once."
        )
    at = dots[0] if dots else len(given)
    parts: list[Any] = [*given[:at], *[slice(None)] * (x.ndim - count), *given[at + 1 :]]
    axis = 0
    for i, part in enumerate(parts):
        if isinstance(part, int):
            size = x.shape[axis]
            if not -size <= part < size:
                raise OutOfRange(
                    f"x[key]: index {part} is out of range for an axis of size {size} (valid: "
                    f"{-size} to {size - 1})."
                )
            parts[i] = part % size
        axis += part is not None
    return parts


def _part(part: Any) -> Any:
    if part is None or part is Ellipsis:
        return part
    if isinstance(part, slice):
        try:
            bounds = [
                None if n is None else operator.index(n) for n in (part.start, part.stop, part.step)
            ]
        except TypeError:
            raise TypeMismatch(f"x[key]: the bounds of {part} must be integers.") from None
        if bounds[2] == 0:
            raise InvalidArgument("x[key]: the step of a slice cannot be 0.")
        return slice(*bounds)
    if isinstance(part, BlockTensor):
        raise TypeMismatch(
            "x[key]: a tensor of blocks cannot be used as an index; use sz.masked_select, "
            "sz.where or "
            "sz.gather."
        )
    try:
        return operator.index(part)
    except TypeError:
        raise TypeMismatch(
            f"x[key]: a {type(part).__name__} cannot index a tensor of blocks; use integers, "
            "slices, None or ...."
        ) from None


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
    return subscript(input, (*(slice(None),) * (int(axis) % made.ndim), None))


@way("squeeze")
def squeeze(op: Operator, input: BlockTensor, axis: Any) -> BlockTensor:
    """Return it without axes of size 1."""
    axis = axis if axis is None else one_or_several(op, "axis", axis)
    made = view_of_stand_in(op, input, axis)
    if made.ndim == input.ndim:
        return input
    chosen = {a % input.ndim for a in axis or ()} or range(input.ndim)
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
    axis = one_or_several(op, "axis", axis)
    view_of_stand_in(op, input, axis)
    chosen = {a % input.ndim for a in axis}
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
