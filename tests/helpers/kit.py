"""Single cases of the kit, without making all those of an interface."""

from __future__ import annotations

from functools import lru_cache

from suanzi.conformance.cases import Wanted, cases
from suanzi.conformance.model.case import Case


@lru_cache(128)
def some(op: str, group: str, dtype: str) -> list[Case]:
    """Return the cases of one interface, group and dtype; a dtype may be two, with a hyphen."""
    dtypes = None if dtype == "any" else frozenset(dtype.split("-"))
    return [c for c in cases(op, Wanted(frozenset({group}), dtypes)) if c.dtype == dtype]


def named(case_id: str) -> Case:
    """Return a case by its id."""
    op, group, dtype, _ = case_id.split("/", 3)
    return next(case for case in some(op, group, dtype) if case.id == case_id)
