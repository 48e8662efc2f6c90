"""x[key] on blocks: each block gives the part of it that the key covers."""

from __future__ import annotations

import operator
from dataclasses import dataclass
from typing import Any

from suanzi.cluster import grid
from suanzi.cluster.graph import from_tasks, new_name
from suanzi.cluster.quantization import codes, quantization_of, standing_for
from suanzi.cluster.reblocking import trimmed
from suanzi.cluster.stand_ins import large_like
from suanzi.cluster.tensor import BlockTensor
from suanzi.cluster.ways import METHODS
from suanzi.status import InvalidArgument, OutOfRange, TypeMismatch
from suanzi.tensors.tensor import Tensor

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
    """What a slice or an integer takes of the blocks of one axis."""

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
            bounds = [None if n is None else operator.index(n) for n in _bounds(part)]
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


def _bounds(part: slice) -> tuple[Any, Any, Any]:
    return part.start, part.stop, part.step
