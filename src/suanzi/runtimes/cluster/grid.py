"""How a shape is cut into blocks: the sizes of the blocks along each axis.

>>> cut((5, 4), (2, 4))
((2, 2, 1), (4,))
>>> common([((2, 3), (4,)), ((3, 2), (1,))])
((2, 1, 2), (4,))
"""

from __future__ import annotations

import math
import operator
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import accumulate, pairwise, product
from typing import Any, TypeAlias

import numpy as np
from dask import config
from dask.array.core import normalize_chunks
from dask.utils import parse_bytes

from suanzi.base.dtypes import DType
from suanzi.base.hints import shown
from suanzi.base.shapes import broadcast_shapes
from suanzi.base.status import AllocFailed, InvalidArgument

Blocks: TypeAlias = "tuple[tuple[int, ...], ...]"
"""The sizes of the blocks along each axis; an axis without elements is one block of size 0."""

MOST = 2**22
"""How many blocks a tensor may have: a graph takes about a kilobyte of the client for each."""

_wanted: ContextVar[Any] = ContextVar("suanzi.cluster.blocks", default="auto")


@contextmanager
def blocks(size: Any) -> Iterator[None]:
    """Say how new tensors are cut for a ``with`` block, in this thread or task.

    `size` is what :func:`dask.array.from_array` takes as `chunks`: a number for every axis, one for
    each, a dictionary of some, the sizes of all blocks, bytes such as ``"64 MiB"``, or ``"auto"``,
    which is what Dask's configuration has for ``array.chunk-size``. A tuple of sizes for more axes
    than an array has, or for fewer, is an error, and so are more than 4 194 304 blocks, which are
    counted before any is made.
    """
    token = _wanted.set(size)
    try:
        yield
    finally:
        _wanted.reset(token)


def is_left_open() -> bool:
    """Tell whether the size of blocks is left to Dask."""
    wanted = _wanted.get()
    return isinstance(wanted, str) and wanted == "auto"


def cut(shape: tuple[int, ...], size: Any = None, dtype: DType | None = None) -> Blocks:
    """Return the blocks of a shape; without `size`, what :func:`blocks` says."""
    if -1 in shape or not shape:
        return ()
    given = _wanted.get() if size is None else size
    wanted = _by_axis(shape, given)
    itemsize = dtype.itemsize if dtype else 8
    if len(wanted) == len(shape) and _at_least(shape, wanted, itemsize) > MOST:
        raise _too_many(shape)  # before they are made
    if 0 in shape:
        if len(wanted) != len(shape):
            raise InvalidArgument(f"blocks: {shown(given)} does not cut a tensor of shape {shape}.")
        return tuple(map(_even, shape, wanted))
    try:
        found = normalize_chunks(wanted, shape, dtype=f"V{itemsize}")
    except MemoryError:
        raise _too_many(shape) from None
    except Exception as error:  # of many kinds, each with one sentence
        raise InvalidArgument(
            f"blocks: {shown(given)} does not cut a tensor of shape {shape}: {error}"
        ) from None
    if math.prod(map(len, found)) > MOST:
        raise _too_many(shape)
    made = tuple(tuple(int(n) for n in axis) for axis in found)
    if any(n < 1 for axis in made for n in axis):
        raise InvalidArgument(f"blocks: {shown(given)} has empty blocks.")
    return made


def _too_many(shape: tuple[int, ...]) -> AllocFailed:
    return AllocFailed(
        f"blocks: a tensor of shape {shape} would have more than {MOST} blocks, too many for one "
        "graph. Make them larger, with cluster.blocks."
    )


def _by_axis(shape: tuple[int, ...], given: Any) -> tuple[Any, ...]:
    """Return what is wanted of each axis; numbers are Python's, and no larger than the axis."""
    if isinstance(given, np.ndarray):
        given = given.tolist()
    if isinstance(given, dict):
        given = tuple(given.get(axis) for axis in range(len(shape)))
    elif given is None:
        return ()
    elif not isinstance(given, tuple | list):
        given = (given,) * len(shape)
    if len(given) != len(shape):
        return tuple(given)
    made = []
    for n, size in zip(shape, map(_plain, given), strict=True):
        whole = max(n, 1)  # an axis is never cut into blocks without elements
        if size is None or size == -1:
            size = whole
        made.append(min(size, whole) if isinstance(size, int) else size)
    return tuple(made)


def _plain(size: Any) -> Any:
    """Return an integer of any library, or a float that is one, as one of Python."""
    if isinstance(size, float) and size.is_integer():
        return int(size)
    try:
        return operator.index(size)
    except TypeError:
        return tuple(size) if isinstance(size, tuple | list | np.ndarray) else size


def _at_least(shape: tuple[int, ...], sizes: tuple[Any, ...], itemsize: int) -> int:
    """Return a number of blocks that there are not fewer of, without making any.

    A block of bytes has no more than they are, or one element of each axis that they cut.
    """
    count, block, cut_by_bytes = 1, itemsize, 1
    for n, size in zip(shape, sizes, strict=True):
        if isinstance(size, str):
            cut_by_bytes *= n
        elif isinstance(size, int) and size > 0:
            count *= max(-(-n // size), 1)
            block *= size
        elif isinstance(size, tuple):
            count *= len(size)
            block *= max([1, *(int(one) for one in size if isinstance(one, int | np.integer))])
    strings = [size for size in sizes if isinstance(size, str)]
    said = [size for size in strings if size != "auto"] or strings  # which "auto" follows
    most = max([block, *map(_bytes, said)])
    return count * max(cut_by_bytes * block // most, 1)


def _bytes(size: str) -> int:
    """Return how many bytes a string says; where it says none, more than there are."""
    try:
        return int(parse_bytes(config.get("array.chunk-size") if size == "auto" else size))
    except Exception:  # which Dask raises again when it cuts
        return 2**63


def _even(count: int, size: Any) -> tuple[int, ...]:
    """Return the blocks of one axis of a tensor without elements: it has no bytes to divide."""
    if not isinstance(size, int) or size < 1:
        return (count,)
    return tuple(min(size, count - at) for at in range(0, count, size)) or (0,)


def shape_of(cuts: Blocks) -> tuple[int, ...]:
    """Return the shape that is cut."""
    return tuple(map(sum, cuts))


def numbers(cuts: Blocks) -> tuple[int, ...]:
    """Return how many blocks there are along each axis."""
    return tuple(map(len, cuts))


def places(cuts: Blocks) -> Iterator[tuple[int, ...]]:
    """Yield where every block stands in the grid, row by row."""
    return product(*(range(len(axis)) for axis in cuts))


def starts(axis: Sequence[int]) -> list[int]:
    """Return where each block of an axis begins."""
    return [0, *accumulate(axis)][:-1]


def block_shape(cuts: Blocks, place: tuple[int, ...]) -> tuple[int, ...]:
    """Return the shape of one block."""
    return tuple(axis[i] for axis, i in zip(cuts, place, strict=True))


def parts(cuts: Blocks) -> Iterator[tuple[tuple[int, ...], tuple[slice, ...]]]:
    """Yield the index of every block in the grid and the part of the whole that it is.

    >>> list(parts(((2, 1),)))
    [((0,), (slice(0, 2, None),)), ((1,), (slice(2, 3, None),))]
    """
    slices = [
        [slice(at, at + n) for at, n in zip(starts(axis), axis, strict=True)] for axis in cuts
    ]
    return zip(places(cuts), product(*slices), strict=True)


def whole(shape: Sequence[int]) -> Blocks:
    """Return the grid of one block."""
    return tuple((n,) for n in shape)


def common(grids: Sequence[Blocks]) -> Blocks:
    """Return the grid of a broadcast result: every cut of each operand is a cut of it."""
    shape = broadcast_shapes([shape_of(grid) for grid in grids])
    assert shape is not None
    made = []
    for back in range(len(shape), 0, -1):
        size = shape[-back]
        edges = {0, size}
        for grid in grids:
            if len(grid) >= back and sum(grid[-back]) == size:
                edges.update(accumulate(grid[-back]))
        ordered = sorted(edges)
        made.append(tuple(b - a for a, b in pairwise(ordered)) or (0,))
    return tuple(made)


def operand_grid(result: Blocks, shape: tuple[int, ...]) -> Blocks:
    """Return the grid an operand of a shape must have for a broadcast result of a grid."""
    axes = result[len(result) - len(shape) :]
    return tuple(axis if sum(axis) == n else (n,) for axis, n in zip(axes, shape, strict=True))
