"""7.2.1.6 and 7.2.1.16: tensors that are copied, at the sizes at which kernels break."""

from __future__ import annotations

from collections.abc import Iterator

from suanzi.conformance.cases import Wanted, cases_of
from suanzi.conformance.cases._moves import Move
from suanzi.conformance.cases._sized_moves import moved, sized_cases
from suanzi.conformance.model.case import Case


@cases_of("duplicate", "contiguous")
def copies_of_sizes(op: str, wanted: Wanted) -> Iterator[Case]:
    """Give matrices past the edges of tiles, and a million elements."""
    return sized_cases(op, wanted, _same)


def _same(r: int, c: int) -> list[Move]:
    return [moved(f"{r}x{c}", (r, c), (r, c), range(r * c))]
