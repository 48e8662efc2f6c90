"""Which dtypes a subject has: the tables say that dtypes may be, and leave the choice to it.

It says so itself, by `dtypes` of its adapter or ``--has``; else it is found out by asking, and a
dtype of which no call was answered is one that it does not have.
"""

from __future__ import annotations

from collections.abc import Iterable

from suanzi.conformance.model.basis import STANDARD_DTYPES
from suanzi.conformance.model.results import Result, Run
from suanzi.dtypes import DTYPES

ORDER = [d.name for d in DTYPES if d.name in STANDARD_DTYPES]


def dtypes_had(run: Run) -> tuple[str, ...]:
    """Return the dtypes of clause 6.2 that a subject has, in the standard's order."""
    declared = run.settings.get("has") or run.subject.get("dtypes")
    found = set(declared) if declared else _answered(run.results)
    return tuple(name for name in ORDER if name in found)


def is_declared(run: Run) -> bool:
    """Tell whether the subject said so, and was not found out."""
    return bool(run.settings.get("has") or run.subject.get("dtypes"))


def _answered(results: Iterable[Result]) -> set[str]:
    answered, asked = set(), set()
    for r in results:
        parts = needs(r)
        asked |= parts
        # A refusal is no proof: one that has no such dtype refuses it, too.
        if r.outcome not in ("unsupported", "skipped") and r.group != "status":
            answered |= parts
    return answered or asked


def needs(result: Result) -> set[str]:
    """Return the dtypes that a subject must have for a case."""
    return set((result.needs or result.dtype).split("-")) & STANDARD_DTYPES


def is_asked(result: Result, had: Iterable[str]) -> bool:
    """Tell whether a case asks for no more than the dtypes that a subject has.

    What it answered nonetheless counts: it has the dtype after all.
    """
    return result.outcome != "unsupported" or needs(result).issubset(had)
