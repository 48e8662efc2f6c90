"""Layouts: the order in which the elements of a dense tensor lie in memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum


class LayoutType(IntEnum):
    """The layout types of A.1, and COO, which 6.4 leaves to the implementer."""

    DENSE = 0
    CSR = 1
    COO = 2


@dataclass(frozen=True)
class Layout:
    """How a tensor lies in memory.

    `min2maj` lists the axes of a gap-free dense tensor, the one that varies fastest first:
    ``(n-1, ..., 0)`` is row-major order. It is None for a view with gaps.
    """

    type: LayoutType
    min2maj: tuple[int, ...] | None


def min2maj_of(shape: Sequence[int], strides: Sequence[int]) -> tuple[int, ...] | None:
    """Return the order of axes of a gap-free block, the fastest first, or None.

    >>> min2maj_of((2, 3), (3, 1)), min2maj_of((2, 3), (1, 2)), min2maj_of((2, 3), (6, 2))
    ((1, 0), (0, 1), None)
    """
    ndim = len(shape)
    if 0 in shape:
        return tuple(range(ndim - 1, -1, -1))
    # Axes of size 1 may stand anywhere: they go where row-major order would have them, if it can.
    order = sorted(range(ndim), key=lambda a: -a)
    order.sort(key=lambda a: strides[a] if shape[a] > 1 else -1)
    expected = 1
    for axis in order:
        if shape[axis] > 1 and strides[axis] != expected:
            return None
        expected *= shape[axis]
    default = tuple(range(ndim - 1, -1, -1))
    return default if _is_dense_in(shape, default, strides) else tuple(order)


def strides_of(shape: Sequence[int], min2maj: Sequence[int] | None = None) -> tuple[int, ...]:
    """Return the strides, in elements, of a gap-free block with its axes in an order.

    Without an order, it is row-major.

    >>> strides_of((2, 3)), strides_of((2, 3), (0, 1))
    ((3, 1), (1, 2))
    """
    strides, stride = [0] * len(shape), 1
    for axis in reversed(range(len(shape))) if min2maj is None else min2maj:
        strides[axis] = stride
        stride *= shape[axis] if 0 not in shape else 1  # of an empty tensor no stride is used
    return tuple(strides)


def _is_dense_in(shape: Sequence[int], min2maj: Sequence[int], strides: Sequence[int]) -> bool:
    """Return whether strides are those of a dense tensor with this order, axes of size 1 aside."""
    expected = 1
    for axis in min2maj:
        if shape[axis] > 1 and strides[axis] != expected:
            return False
        expected *= shape[axis]
    return True
