"""Where the elements of sparse tensors are: order, duplicates, repetition.

Coordinates are int64 arrays [ndim, nnz]: one row per axis, so that each axis is in one piece.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from suanzi import _core
from suanzi.base.numpy import Array, np
from suanzi.tensors.exchange import check_room
from suanzi.tensors.sparse import elements


def keys_of(shape: Sequence[int], *coordinates: Array) -> list[Array]:
    """Return integers that order coordinates row-major; equal ones have equal integers.

    They are the places in the dense tensor, unless that has more than an int64 can count: then
    each axis is counted through only as far as it is used.
    """
    if math.prod(shape) < 2**63:
        return [_places(shape, c) for c in coordinates]
    together = np.concatenate(coordinates, axis=1)
    keys = np.zeros(together.shape[1], np.int64)
    for axis in together:
        used, number = np.unique(axis, return_inverse=True)
        _, keys = np.unique(keys * len(used) + number, return_inverse=True)
    ends = np.cumsum([c.shape[1] for c in coordinates])[:-1]
    return np.split(keys, ends)


def _places(shape: Sequence[int], coordinates: Array) -> Array:
    if not len(shape):
        return np.zeros(coordinates.shape[1], np.int64)
    keys: Array = coordinates[0]
    for size, axis in zip(shape[1:], coordinates[1:], strict=True):
        keys = keys * size
        keys += axis
    return keys


def coordinates_of(shape: Sequence[int], places: Array) -> Array:
    """Return the coordinates of places counted through a dense tensor."""
    if not len(shape) or not len(places):
        return np.empty((len(shape), len(places)), np.int64)
    made = _core.coordinates_of(elements.listed(places), shape)
    return elements.integers(made).reshape(made.shape)


def picked(coordinates: Array, places: Array) -> Array:
    """Return the coordinates of some entries."""
    made = np.empty((len(coordinates), len(places)), np.int64)
    if len(places):
        for axis, target in zip(coordinates, made, strict=True):
            # Every place is within; "clip" only spares NumPy a buffer.
            axis.take(places, out=target, mode="clip")
    return made


def in_order(keys: Array) -> tuple[Array, Array]:
    """Return nonnegative integers in ascending order and their indices, by a stable sort."""
    count = len(keys)
    bits = count.bit_length()
    if not count or int(keys.max()) >> (63 - bits):
        order = np.argsort(keys, kind="stable")
        return keys[order], order
    # One array of distinct integers is sorted several times as fast as places are.
    packed = keys << bits
    packed |= np.arange(count, dtype=np.int64)
    packed.sort()
    keys = packed >> bits
    packed &= (1 << bits) - 1
    return keys, packed


def is_increasing(keys: Array) -> bool:
    """Return whether each integer is above the one before."""
    return bool((keys[1:] > keys[:-1]).all())


def starts_of_runs(keys: Array) -> Array:
    """Return where sorted integers begin to be others."""
    return np.flatnonzero(np.concatenate([keys[:1] >= 0, keys[1:] != keys[:-1]]))


def check_pointers(count: int) -> None:
    """Raise ALLOC_FAILED if there is not enough memory for the pointers of so many rows."""
    check_room(16 * (count + 1), f"{count + 1} row pointers of CSR; keep it in COO")


def pointers_of(rows: Array, count: int) -> Array:
    """Return where each of `count` rows begins in a sorted list of rows; the last one ends it."""
    check_pointers(count)
    pointers = np.zeros(count + 1, np.int64)
    np.cumsum(np.bincount(rows, minlength=count), out=pointers[1:])
    return pointers


def rows_of(pointers: Array) -> Array:
    """Return the row of each entry, from where the rows begin."""
    return np.repeat(np.arange(len(pointers) - 1, dtype=np.int64), np.diff(pointers))


def repeated(
    coordinates: Array, shape: Sequence[int], target: Sequence[int]
) -> tuple[Array, Array]:
    """Repeat coordinates as broadcasting does; returns them, and which entry each comes from."""
    added = len(target) - len(shape)
    times = math.prod(n for n, m in zip(target, [1] * added + [*shape], strict=True) if n != m)
    entries = coordinates.shape[1] * times
    check_room(entries * 8 * (len(target) + 2), f"{entries} entries; repeat fewer")
    if not entries:  # whatever the sizes: one of them may be more than NumPy counts to
        return np.empty((len(target), 0), np.int64), np.empty(0, np.int64)
    origin = np.arange(coordinates.shape[1], dtype=np.int64)
    made = np.concatenate([np.zeros((added, len(origin)), np.int64), coordinates])
    for axis, size in enumerate(target):
        before = 1 if axis < added else shape[axis - added]
        if before == size:
            continue
        count = made.shape[1]
        made = np.repeat(made, size, axis=1)
        origin = np.repeat(origin, size)
        made[axis] = np.tile(np.arange(size, dtype=np.int64), count)
    return made, origin
