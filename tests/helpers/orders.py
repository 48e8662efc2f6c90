"""The order of numbers in plain Python: for argmax, argmin, argsort and topk."""

from __future__ import annotations

from functools import cmp_to_key
from itertools import product
from typing import TYPE_CHECKING, Any

import suanzi as sz
from suanzi.dtypes import DTYPES

if TYPE_CHECKING:
    from collections.abc import Iterator

REAL = [d for d in DTYPES if d.kind in ("int", "uint", "float")]
FLOATS = [d for d in REAL if d.kind == "float"]


def compare(x: float, y: float) -> int:
    """Return -1, 0 or 1; a NaN is the largest number, and all of them are equal."""
    if x != x or y != y:
        return int(x != x) - int(y != y)
    return int(x > y) - int(x < y)


def sorted_places(row: list[Any], descending: bool) -> list[int]:
    """Return where the elements are in order; equal ones as they are in the row."""
    sign = -1 if descending else 1
    return sorted(range(len(row)), key=cmp_to_key(lambda i, j: sign * compare(row[i], row[j])))


def first_best(row: list[Any], least: bool) -> int:
    """Return the place of the first NaN; else of the first largest or least element."""
    for i, x in enumerate(row):
        if x != x:
            return i
    return row.index(min(row) if least else max(row))


def rows_along(x: sz.Tensor, axis: int) -> Iterator[tuple[tuple[Any, ...], list[Any]]]:
    """Give each index that picks a row along an axis, and the elements of that row."""
    others = [range(n) if d != axis else (slice(None),) for d, n in enumerate(x.shape)]
    for place in product(*others):
        yield place, x[place].tolist()
