"""The same elements in other blocks: each is put together of the parts of old ones it covers."""

from __future__ import annotations

from itertools import product
from typing import Any

from suanzi import registry
from suanzi.cluster import grid
from suanzi.cluster.graph import from_tasks, new_name
from suanzi.cluster.grid import Blocks
from suanzi.cluster.quantization import codes, standing_for
from suanzi.cluster.tensor import BlockTensor
from suanzi.cluster.ways import METHODS
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
