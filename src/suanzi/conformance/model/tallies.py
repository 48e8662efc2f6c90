"""Counts the cases of a run, for `suanzi.conformance.decision`, and finds the backend's dtypes.

The tables of the standard say which dtypes may be supported, so a level is given for the dtypes
that a backend has. It declares them, by `dtypes` of its adapter or ``--has``; otherwise they are
those of which it answered any call.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from suanzi.base.dtypes import DTYPES
from suanzi.conformance.decision import Decision, Scope, Tally, decide
from suanzi.conformance.model.basis import STANDARD_DTYPES
from suanzi.conformance.model.members import dtypes_asked, members
from suanzi.standard.catalogues import STANDARD

if TYPE_CHECKING:
    from suanzi.conformance.model.results import Result, Run

_ORDER = [d.name for d in DTYPES if d.name in STANDARD_DTYPES]
_ALL = [d.name for d in DTYPES]
OPERATOR_FILTERS = ("ops", "categories", "minimal")
"""The settings that leave out interfaces."""
CASE_FILTERS = ("dtypes", "groups", "cases", "quick")
"""The settings that leave out cases of an interface."""


def dtypes_had(run: Run) -> tuple[str, ...]:
    """Return the dtypes that a backend has: of clause 6.2, or of those of another catalogue."""
    found = _declared(run) or _answered(run.results)
    return tuple(name for name in (_ORDER if run.catalogue == STANDARD else _ALL) if name in found)


def is_declared(run: Run) -> bool:
    """Tell whether the backend declared its dtypes."""
    return bool(_declared(run))


def _declared(run: Run) -> frozenset[str]:
    # Dtypes beyond the standard are no declaration: with them alone, no case would be required.
    there = run.settings.get("has") or run.subject.get("dtypes") or ()
    return (STANDARD_DTYPES if run.catalogue == STANDARD else frozenset(_ALL)).intersection(there)


def _answered(results: Iterable[Result]) -> set[str]:
    answered, asked = set(), set()
    for r in results:
        parts = _needs(r)
        asked |= parts
        # A refusal proves nothing: a backend without the dtype refuses it, too.
        if r.outcome not in ("unsupported", "skipped") and r.group != "status":
            answered |= parts
    return answered or asked


def _needs(result: Result) -> set[str]:
    return dtypes_asked(result.op, (result.needs or result.dtype).split("-"))


def is_asked(result: Result, had: Iterable[str]) -> bool:
    """Tell whether a case takes only dtypes that a backend has.

    A case that was answered counts in any event: the backend has its dtypes.
    """
    return result.outcome != "unsupported" or _needs(result).issubset(had)


def tally(results: Iterable[Result], had: Collection[str] = STANDARD_DTYPES) -> Tally:
    """Count cases by what they show.

    >>> from suanzi.conformance.model.results import Result
    >>> tally([Result("a", "add", "plain", "int8", "passed")]).required
    1
    """
    found: Counter[str] = Counter()
    for r in results:
        found.update(_counters(r, had))
    return Tally(**found)


def _counters(r: Result, had: Collection[str]) -> tuple[str, ...]:
    """Return the counters of a tally that a case adds to."""
    if r.breaks:
        return ("failed", "known") if r.known is not None else ("failed",)
    if r.outcome == "skipped" and not r.untried:
        return ("aside",)
    if r.basis == "tentative":
        if r.unanswered:
            return ("aside",)
        return ("tentative", "differing") if r.bad and r.known is None else ("tentative",)
    flawed = ("flawed",) if r.bad and r.known is None else ()
    if not r.required:
        return ("beyond",) if r.outcome == "passed" else flawed or ("aside",)
    if not r.unanswered:
        return ("passed", *flawed)  # a failure in quality alone is no failure of the requirement
    if not is_asked(r, had):
        return ("not_required",)
    return ("unanswered", "excused") if r.known is not None else ("unanswered",)


def _cells(run: Run, had: Collection[str]) -> dict[str, Tally]:
    """Count the cells of the promotion table by interface; all of them are required."""
    found: dict[str, list[Result]] = {}
    for r in run.results:
        parts = set(r.dtype.split("-"))
        if r.group == "promotion" and parts == dtypes_asked(r.op, parts):
            required = replace(r, basis="normative", extension=False)
            found.setdefault(r.op, []).append(required)
    return {op: tally(some, had) for op, some in found.items()}


def _in_words(had: Sequence[str], of: str) -> str:
    if len(had) == len(_ORDER) and of == STANDARD:
        return ""
    if len(had) < 4:
        return ", ".join(had)
    return f"{len(had)} of {len(_ORDER)} dtypes" if of == STANDARD else f"{len(had)} dtypes"


def levels_of(of: str) -> dict[str, tuple[str, list[str]]]:
    """Return the levels of a catalogue by name: the title and the operators of each."""
    all_of = members(of)
    forward = [name for name, facts in all_of.items() if not facts.backward_of]
    minimal = [name for name, facts in all_of.items() if facts.minimal]
    found = {"minimal": ("the minimal set", minimal)} if of == STANDARD else {}
    what = "interfaces" if of == STANDARD else "operators"
    return {**found, "forward": ("all forward", forward), "all": (f"all {what}", list(all_of))}


def decision_of(run: Run, require: str | None = None) -> Decision:
    """Return what a run shows about a backend."""
    had = dtypes_had(run)
    by_operator = run.by_operator()
    settings = run.settings
    groups = settings.get("groups") or ["promotion"]
    narrow = (*OPERATOR_FILTERS, *(f for f in CASE_FILTERS if f != "groups"), "shard")
    scope = Scope(
        levels=levels_of(run.catalogue),
        absent=settings.get("unclaimed") or (),
        unfinished=run.unfinished,
        narrowed=any(settings.get(key) for key in CASE_FILTERS),
        rules=str(settings.get("rules", "")),
        all_rules="promotion" in groups and not any(settings.get(f) for f in narrow),
        dtypes=_in_words(had, run.catalogue),
        beyond="beyond the standard" if run.catalogue == STANDARD else "that are not required",
        strict=bool(settings.get("strict")),
        require=require,
    )
    names = dict.fromkeys((*members(run.catalogue), *by_operator))
    counted = {op: tally(by_operator.get(op, ()), had) for op in names}
    return decide(counted, _cells(run, had), scope)
