"""Compares two reports of accuracy: which functions became worse, and which better."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from suanzi.conformance.decision import Style
from suanzi.conformance.reports.summary import Cell, Line, Part, Table
from suanzi.validate.accuracy.engine import Row
from suanzi.validate.accuracy.report import Accuracy
from suanzi.validate.accuracy.text import digits

SCHEMA = "suanzi-accuracy-comparison/1"
_FIRST = 20
_SAME = 1e-6
"""Relative differences of the worst error that are none."""
_COUNTS = (("special", "wrong special values"), ("wrong", "results not correctly rounded"),
           ("order", "neighbours out of order"), ("asymmetric", "pairs not symmetric"))  # fmt: skip
_TITLES: dict[str, tuple[str, Style]] = {
    "worse": ("worse", "bad"), "better": ("better", "good"),
    "lost": ("measured before, not now", "warn"), "gained": ("measured now, not before", ""),
}  # fmt: skip


@dataclass(frozen=True)
class Change:
    """A function in a dtype, before and after."""

    name: str
    dtype: str
    words: str
    before: float | None
    after: float | None

    def to_dict(self) -> dict[str, Any]:
        """Return the change as data."""
        return {"function": self.name, "dtype": self.dtype, "what": self.words,
                "before": self.before, "after": self.after}  # fmt: skip


@dataclass(frozen=True)
class Comparison:
    """What changed from one report to the next."""

    before: Accuracy
    after: Accuracy
    worse: list[Change] = field(default_factory=list)
    better: list[Change] = field(default_factory=list)
    lost: list[Change] = field(default_factory=list)
    gained: list[Change] = field(default_factory=list)

    @property
    def broke(self) -> bool:
        """Whether a function became worse."""
        return bool(self.worse)

    def kinds(self) -> dict[str, list[Change]]:
        """Return the changes by kind, what matters most first."""
        return {name: getattr(self, name) for name in _TITLES}

    def to_dict(self) -> dict[str, Any]:
        """Return the comparison as data."""
        return {
            "schema": SCHEMA, "broke": self.broke,
            "before": self.before.title, "after": self.after.title,
            **{kind: [one.to_dict() for one in some] for kind, some in self.kinds().items()},
        }  # fmt: skip

    def parts(self, *, verbose: bool = False) -> list[Part]:
        """Return the comparison in tables and a conclusion."""
        said: list[Part] = [Line(f"{self.before.title}, then {self.after.title}", "bold")]
        for kind, some in self.kinds().items():
            if not some:
                continue
            title, style = _TITLES[kind]
            shown = some if verbose else some[:_FIRST]
            rows = tuple(
                (Cell(one.name, is_name=True), Cell(one.dtype), Cell(one.words, style))
                for one in shown
            )
            said.append(Table(f"{title} ({len(some)})", ("function", "dtype", "change"), rows))
            if len(shown) < len(some):
                said.append(Line(f"and {len(some) - len(shown)} more (--verbose shows all)", "dim"))
        counts = ", ".join(f"{len(some)} {kind}" for kind, some in self.kinds().items() if some)
        said.append(Line(f"{counts}." if counts else "Nothing changed.",
                         "bad" if self.broke else "good"))  # fmt: skip
        return said


def compare(before: Accuracy, after: Accuracy) -> Comparison:
    """Compare two reports row by row; the worst error first, then what else was counted."""
    found = Comparison(before, after)
    old = {(row.name, row.dtype): row for row in before.rows}
    new = {(row.name, row.dtype): row for row in after.rows}
    for key in dict.fromkeys((*old, *new)):
        a, b = (some.get(key) for some in (old, new))
        if a is None or a.missing or b is None or b.missing:
            _only(found, key, a, b)
            continue
        words, growth = _difference(a, b)
        if growth:
            change = Change(*key, words, a.tally.worst, b.tally.worst)
            (found.worse if growth > 0 else found.better).append(change)
    found.worse.sort(key=_ratio, reverse=True)
    found.better.sort(key=_ratio)
    return found


def _only(found: Comparison, key: tuple[str, str], a: Row | None, b: Row | None) -> None:
    had, has = (row is not None and not row.missing for row in (a, b))
    if had and a is not None:
        why = b.missing if b is not None else "not in the second report"
        found.lost.append(Change(*key, why, a.tally.worst, None))
    elif has and b is not None:
        found.gained.append(Change(*key, f"{digits(b.tally.worst)} ULP", None, b.tally.worst))


def _ratio(change: Change) -> float:
    return (change.after or 0.0) / (change.before or 1e-300)


def _difference(a: Row, b: Row) -> tuple[str, int]:
    """Return what changed in words, and whether it is more (1), less (-1) or the same (0)."""
    x, y = a.tally, b.tally
    searched = "" if a.coverage == b.coverage == "all" else f" ({a.coverage}, {b.coverage})"
    if abs(x.worst - y.worst) > _SAME * max(x.worst, y.worst):
        words = f"{digits(x.worst)} ULP, now {digits(y.worst)}{searched}"
        if digits(x.worst) == digits(y.worst):
            words = f"{x.worst:.9g} ULP, now {y.worst:.9g}{searched}"
        return words, 1 if y.worst > x.worst else -1
    if a.coverage == b.coverage:
        for name, title in _COUNTS:
            before, after = getattr(x, name), getattr(y, name)
            if before != after:
                return f"{before} {title}, now {after}", 1 if after > before else -1
    return "", 0
