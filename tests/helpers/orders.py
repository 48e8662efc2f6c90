"""The rows of a tensor, and the dtypes that have an order: for argmax, argmin, argsort and topk."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any

import suanzi as sz
from suanzi.base.dtypes import DTYPES

if TYPE_CHECKING:
    from collections.abc import Iterator

REAL = [d for d in DTYPES if d.kind in ("int", "uint", "float")]
FLOATS = [d for d in REAL if d.kind == "float"]


def rows_along(x: sz.Tensor, axis: int) -> Iterator[tuple[tuple[Any, ...], list[Any]]]:
    """Give each index that picks a row along an axis, and the elements of that row."""
    others = [range(n) if d != axis else (slice(None),) for d, n in enumerate(x.shape)]
    for place in product(*others):
        yield place, x[place].tolist()
