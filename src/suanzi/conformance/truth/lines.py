"""The elements of a tensor along axes, by their indices in row-major order."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import product


def lines(shape: Sequence[int], axes: Sequence[int]) -> list[list[int]]:
    """Return the indices along axes, one line for each remaining element, in row-major order.

    >>> lines((2, 3), [1]), lines((2, 3), [0])
    ([[0, 1, 2], [3, 4, 5]], [[0, 3], [1, 4], [2, 5]])
    """
    strides = [math.prod(shape[a + 1 :]) for a in range(len(shape))]

    def places(chosen: Sequence[int]) -> list[int]:
        steps = [[i * strides[a] for i in range(shape[a])] for a in chosen]
        return [sum(at) for at in product(*steps)]

    within = places(sorted(axes))
    return [
        [start + step for step in within]
        for start in places([a for a in range(len(shape)) if a not in axes])
    ]


def shape_left(shape: Sequence[int], axes: Sequence[int], keep: bool = False) -> tuple[int, ...]:
    """Return the shape without axes, or with 1 instead of their sizes.

    >>> shape_left((2, 3, 4), [1]), shape_left((2, 3, 4), [1], True)
    ((2, 4), (2, 1, 4))
    """
    return tuple(1 if a in axes else n for a, n in enumerate(shape) if keep or a not in axes)
