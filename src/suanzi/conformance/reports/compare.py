"""Compares two reports: what broke, what is fixed, what is new, and what is gone."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from suanzi.base.status import InvalidArgument
from suanzi.conformance.decision import Style
from suanzi.conformance.model.results import OUTCOMES, Result, Run, by_basis
from suanzi.conformance.reports.summary import Cell, Line, Part, Table

SCHEMA = "suanzi-comparison/1"
_FIRST = 10
# Of the same bits, measured twice, the error may differ in the last digits; and a report of many
# cases has four of them.
_SAME = 1e-3
_IGNORED = frozenset({"started", "jobs", "ids", "timeout", "deviations", "interrupted"})


@dataclass(frozen=True)
class Change:
    """A case before and after; None where a report does not have it."""

    id: str
    before: Result | None
    after: Result | None

    @property
    def words(self) -> str:
        """What changed, in words."""
        if self.before is None or self.after is None:
            only = self.before or self.after
            assert only is not None
            return only.outcome
        if self.before.outcome != self.after.outcome:
            said = f"{self.before.outcome}, now {self.after.outcome}"
            known = " (known)" if self.after.known is not None else ""
            known += " (tentative)" if self.after.basis == "tentative" else ""
            return said + known + (f": {self.after.problem}" if self.after.problem else "")
        if self.before.problem != self.after.problem:
            return f"{self.before.problem}, now {self.after.problem}"
        return f"{self.before.ulp:.4g} ULP, now {self.after.ulp:.4g}"

    def to_dict(self) -> dict[str, Any]:
        """Return the change as data."""
        return {
            "id": self.id,
            "before": self.before and self.before.to_dict(),
            "after": self.after and self.after.to_dict(),
        }


@dataclass(frozen=True)
class Comparison:
    """What changed from one report to the next."""

    before: Run
    after: Run
    circumstances: list[tuple[str, str, str]] = field(default_factory=list)
    """What differs in subject and settings: its name, before and after."""
    broken: list[Change] = field(default_factory=list)
    """They passed before, and do not now."""
    fixed: list[Change] = field(default_factory=list)
    """They did not pass, and do now."""
    changed: list[Change] = field(default_factory=list)
    """They pass in neither, for different reasons."""
    worse: list[Change] = field(default_factory=list)
    """They pass in both, with a larger error."""
    better: list[Change] = field(default_factory=list)
    """They pass in both, with a smaller error."""
    new: list[Change] = field(default_factory=list)
    gone: list[Change] = field(default_factory=list)

    @property
    def broke(self) -> bool:
        """Whether a case broke that is neither a known deviation nor tentative."""
        later = [c.after for c in self.broken if c.after is not None and c.after.known is None]
        return any(r.basis != "tentative" or r.breaks for r in later)

    def kinds(self) -> dict[str, list[Change]]:
        """Return the changes by kind, what matters most first."""
        names = ("broken", "fixed", "changed", "worse", "better", "new", "gone")
        return {name: getattr(self, name) for name in names}

    def to_dict(self) -> dict[str, Any]:
        """Return the comparison as data."""
        return {
            "schema": SCHEMA,
            "broke": self.broke,
            "circumstances": [
                {"what": what, "before": a, "after": b} for what, a, b in self.circumstances
            ],
            "counts": {
                "before": self.before.counts(),
                "after": self.after.counts(),
                **{kind: len(changes) for kind, changes in self.kinds().items()},
            },
            **{kind: [c.to_dict() for c in changes] for kind, changes in self.kinds().items()},
        }

    def parts(self, *, verbose: bool = False) -> list[Part]:
        """Return the comparison in tables and lines: differences of the runs first."""
        said: list[Part] = []
        if self.circumstances:
            rows = tuple(tuple(Cell(word) for word in row) for row in self.circumstances)
            said.append(Table("not the same run", ("", "before", "after"), rows))
        said.append(self._outcomes())
        for kind, changes in self.kinds().items():
            if changes:
                said += _listed(kind, changes, None if verbose else _FIRST)
        said.append(Line(*self._conclusion()))
        return said

    def _outcomes(self) -> Table:
        a, b = ({**run.counts(), "tentative": len(by_basis(run.results)["tentative"])}
                for run in (self.before, self.after))  # fmt: skip
        names = ("cases", *OUTCOMES, "known", "unexpected", "tentative")
        rows = tuple(
            (
                Cell(name),
                Cell(str(a[name])),
                Cell(str(b[name])),
                Cell(f"{b[name] - a[name]:+}" if a[name] != b[name] else ""),
            )
            for name in names
            if a[name] or b[name]
        )
        return Table("counts", ("", "before", "after", "change"), rows, numbers=(1, 2, 3))

    def _conclusion(self) -> tuple[str, Style]:
        found = {kind: len(changes) for kind, changes in self.kinds().items() if changes}
        if not found:
            return "Nothing changed.", "good"
        said = ", ".join(f"{n} {kind}" for kind, n in found.items())
        return f"{said}.", "bad" if self.broke else "good"


def compare(before: Run, after: Run) -> Comparison:
    """Compare two runs case by case."""
    old, new = _by_id(before), _by_id(after)
    found = Comparison(before, after, _circumstances(before, after))
    kinds = found.kinds()
    for name in dict.fromkeys((*old, *new)):
        change = Change(name, old.get(name), new.get(name))
        kind = _kind(change)
        if kind is not None:
            kinds[kind].append(change)
    found.worse.sort(key=_growth, reverse=True)
    found.better.sort(key=_growth)
    return found


def _by_id(run: Run) -> dict[str, Result]:
    found = {r.id: r for r in run.results}
    if len(found) != len(run.results):
        twice = next(name for name, n in Counter(r.id for r in run.results).items() if n > 1)
        raise InvalidArgument(f"compare: a report has the case {twice!r} twice.")
    return found


def _kind(change: Change) -> str | None:
    a, b = change.before, change.after
    if a is None or b is None:
        return "new" if a is None else "gone"
    if a.outcome == "passed" and b.outcome == "passed":
        if a.ulp is None or b.ulp is None or math.isclose(a.ulp, b.ulp, rel_tol=_SAME):
            return None
        return "worse" if b.ulp > a.ulp else "better"
    if a.outcome == "passed":
        return "broken"
    if b.outcome == "passed":
        return "fixed"
    return None if (a.outcome, a.problem) == (b.outcome, b.problem) else "changed"


def _growth(change: Change) -> float:
    a, b = change.before, change.after
    assert a is not None
    assert b is not None
    return (b.ulp or 0.0) - (a.ulp or 0.0)


def _circumstances(before: Run, after: Run) -> list[tuple[str, str, str]]:
    """Return what differs in what was tested and how."""
    found = []
    for name in ("title", "name", "version", "rules", "statuses", "python"):
        a, b = before.subject.get(name), after.subject.get(name)
        if a != b:
            found.append((f"subject's {name}", _word(a), _word(b)))
    for name in dict.fromkeys((*before.settings, *after.settings)):
        a, b = before.settings.get(name), after.settings.get(name)
        if name not in _IGNORED and a != b:
            without = "none" if name in ("folder", "frozen", "suanzi") else "all"
            found.append((name, _word(a, without), _word(b, without)))
    if bool(before.unfinished) or bool(after.unfinished):
        found.append(("interrupted", _word(bool(before.unfinished)), _word(bool(after.unfinished))))
    return found


def _word(value: Any, without: str = "none") -> str:
    if value is None:
        return without
    if isinstance(value, bool):
        return "yes" if value else "no"
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


_SAID: dict[str, tuple[str, Style]] = {
    "broken": ("broken: passed before", "bad"),
    "fixed": ("fixed: passes now", "good"),
    "changed": ("changed: still not passed, for another reason", "warn"),
    "worse": ("worse: a larger error", "warn"),
    "better": ("better: a smaller error", "good"),
    "new": ("new: not in the first report", ""),
    "gone": ("gone: not in the second report", ""),
}


def _listed(kind: str, changes: Sequence[Change], most: int | None) -> list[Part]:
    title, style = _SAID[kind]
    said: list[Part] = [Line(f"{title} ({len(changes)})", "bold")]
    if kind in ("new", "gone"):
        outcomes = Counter(change.words for change in changes)
        said.append(Line(", ".join(f"{n} {o}" for o, n in outcomes.items()), "", 2))
    shown = changes if most is None else changes[:most]
    for change in shown:
        said.append(Line(change.id, style, 2))
        if kind not in ("new", "gone"):
            said.append(Line(change.words, "", 6))
    if len(shown) < len(changes):
        said.append(Line(f"and {len(changes) - len(shown)} more (--verbose shows all)", "dim", 2))
    return said
