"""Shapes: what is one, and which one several are repeated to."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, TypeVar

T = TypeVar("T")
MAX_NDIM = 64
"""How many axes a tensor has at most."""


def bounded(values: Iterable[T], limit: int) -> Iterator[T]:
    """Iterate over one more value than `limit` at most: an iterator may be infinite.

    >>> from itertools import count
    >>> len(list(bounded(count(), 3))) > 3
    True
    """
    return islice(values, limit + 1)


def is_shape(sizes: Sequence[Any]) -> bool:
    """Return whether sizes, of whatever type, are the shape of some tensor.

    >>> is_shape((2, 0)), is_shape((2, -1)), is_shape((True,))
    (True, False, False)
    """
    return len(sizes) <= MAX_NDIM and all(type(n) is int and 0 <= n < 2**63 for n in sizes)


def broadcast_shapes(shapes: Sequence[tuple[int, ...]]) -> tuple[int, ...] | None:
    """Return the shape that shapes are repeated to, or None if they do not go together.

    >>> broadcast_shapes([(2, 1), (3,)]), broadcast_shapes([(2,), (3,)])
    ((2, 3), None)
    """
    ndim = max((len(shape) for shape in shapes), default=0)
    result = []
    for axis in range(-ndim, 0):
        sizes = {shape[axis] for shape in shapes if len(shape) >= -axis} - {1}
        if len(sizes) > 1:
            return None
        result.append(sizes.pop() if sizes else 1)
    return tuple(result)


def sizes_of(count: int, dims: tuple[Any, ...]) -> Any:
    """Return the sizes that x.reshape was given, one by one or in a sequence.

    Where one is -1, it becomes what the others leave of `count` elements. What is wrong is returned
    as it came: the operator says so.

    >>> sizes_of(6, (2, -1)), sizes_of(6, ([3, 2],))
    ([2, 3], [3, 2])
    """
    alone = len(dims) == 1 and hasattr(dims[0], "__iter__") and getattr(dims[0], "ndim", 1) != 0
    given: Any = dims[0] if alone else dims
    if isinstance(given, bytes):
        return given
    sizes = list(bounded(given, MAX_NDIM))
    try:
        sizes = [n if isinstance(n, bool) else operator.index(n) for n in sizes]
    except TypeError:
        return sizes
    if sizes.count(-1) == 1:
        others = math.prod(n for n in sizes if n != -1)
        sizes[sizes.index(-1)] = count // others if others else 0
    return sizes
