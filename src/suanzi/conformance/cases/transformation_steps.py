"""7.2.3.2: in which order what is reshaped lies: several calls in one case."""

from __future__ import annotations

from collections.abc import Iterator

from suanzi.conformance.cases import Wanted, cases_of
from suanzi.conformance.cases._steps import contiguous_cases
from suanzi.conformance.model.case import Case


@cases_of("reshape")
def default_order(op: str, wanted: Wanted) -> Iterator[Case]:
    """Give a tensor in another order, and ask whether what is made of it is contiguous."""
    return contiguous_cases(op, wanted, (5, 3), {"dims": [5, 3]})
