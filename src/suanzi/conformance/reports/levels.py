"""The interfaces and levels of a run as reports show them: what was decided, why, and a grade.

What is decided, and from what, is in `suanzi.conformance.decision`. The grade says how good a
backend is beyond what the standard requires: it counts the cases of quality, and the accuracy of
required cases. Known deviations count as failures. It is A if all pass, B if at most one in a
hundred fails, C at most one in ten, D at most half, otherwise E.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from suanzi.conformance.decision import Level as Reached
from suanzi.conformance.decision import Tally, Verdict
from suanzi.conformance.model.basis import STANDARD_DTYPES
from suanzi.conformance.model.members import facts_of
from suanzi.conformance.model.results import Result, Run, counts
from suanzi.conformance.model.tallies import dtypes_had, is_asked, levels_of, tally

GRADES = (("A", 0.0), ("B", 0.01), ("C", 0.1), ("D", 0.5))
"""The largest share that may fail."""


@dataclass(frozen=True)
class Quality:
    """How many cases beyond the standard pass."""

    met: int
    total: int
    ulp: float | None = None
    """The largest error in units of the last place, of the results that are judged by them."""
    ulp_of: str | None = None
    """The case that has it."""
    cann: tuple[int, int] = (0, 0)
    """How many results are within CANN's limits, of how many that have any."""

    @property
    def grade(self) -> str:
        """A to E; a dash if nothing was tested.

        >>> Quality(99, 100).grade, Quality(0, 0).grade
        ('B', '-')
        """
        if not self.total:
            return "-"
        missing = (self.total - self.met) / self.total
        return next((name for name, most in GRADES if missing <= most), "E")

    def __str__(self) -> str:
        return f"{self.grade} ({self.met} of {self.total})" if self.total else "-"

    def to_dict(self) -> dict[str, Any]:
        """Return it as data."""
        worst = {} if self.ulp is None else {"ulp": self.ulp, "ulp_of": self.ulp_of}
        within, judged = self.cann
        return {"grade": self.grade, "met": self.met, "total": self.total, **worst,
                "cann": {"within": within, "judged": judged}}  # fmt: skip


def quality_of(results: Iterable[Result], had: Iterable[str]) -> Quality:
    """Return the quality of results, for the dtypes that a backend has.

    >>> good = Result("a", "exp", "special", "float32", "passed", basis="quality", ulp=0.6)
    >>> rough = Result("b", "exp", "plain", "float32", "failed", basis="normative",
    ...                broken="quality")
    >>> str(quality_of([good, rough], ["float32"]))
    'D (1 of 2)'
    """
    some = [r for r in results if _is_of_quality(r) and is_asked(r, had)]
    measured = [r for r in some if r.ulp is not None and r.bound is not None and r.bound < 1e5]
    worst = max(measured, key=lambda r: r.ulp or 0.0, default=None)
    judged = [r for r in some if r.cann is not None]
    return Quality(
        sum(r.outcome == "passed" for r in some),
        len(some),
        worst.ulp if worst else None,
        worst.id if worst else None,
        (sum(r.cann is True for r in judged), len(judged)),
    )


def _is_of_quality(result: Result) -> bool:
    if result.outcome == "skipped" and not result.untried:
        return False
    if result.basis == "quality":
        return True
    # A wrong value is not a matter of accuracy: it counts for the level.
    measured = result.ulp is not None or result.bad
    return result.required and measured and not result.breaks


@dataclass(frozen=True)
class Standing:
    """The verdict of one interface, and what it rests on."""

    op: str
    verdict: Verdict
    tally: Tally
    counts: dict[str, int]
    """Outcomes of the cases that the text of the standard or an interpretation of it requires."""
    extensions: dict[str, int]
    """Outcomes of those that go beyond the standard, which count for no level."""
    why: str = ""
    """What is missing, in words."""
    tentative: dict[str, int] = field(default_factory=dict)
    """Outcomes of the cases that await a decision about an erratum."""
    beyond: dict[str, int] = field(default_factory=dict)
    """Outcomes of the cases of quality, which count for no level, either."""
    quality: Quality = Quality(0, 0)

    def to_dict(self) -> dict[str, Any]:
        """Return the standing as data."""
        facts = facts_of(self.op)
        return {
            "name": self.op,
            "clause": facts.clause if facts else "",
            "category": facts.category if facts else "",
            "verdict": self.verdict,
            "why": self.why,
            "answered": self.tally.answered,
            "asked": self.tally.required,
            "required": self.counts,
            "tentative": self.tentative,
            "quality": self.beyond,
            "extensions": self.extensions,
            "grade": self.quality.to_dict(),
        }


@dataclass(frozen=True)
class Level(Reached):
    """A level, with what is missing and the quality of its interfaces."""

    in_the_way: tuple[str, ...] = ()
    quality: Quality = Quality(0, 0)
    """How good the interfaces of the level are beyond what the standard requires."""
    dtypes: tuple[str, ...] = ()
    """The dtypes of the standard for which it is given."""

    def to_dict(self) -> dict[str, Any]:
        """Return the level as data."""
        return {
            "name": self.name,
            "title": self.title,
            "unit": self.unit,
            "total": self.total,
            "conforming": self.conforming,
            "known": self.known,
            "tested": self.tested,
            "answer": self.answer,
            "in_the_way": list(self.in_the_way),
            "quality": self.quality.to_dict(),
            "dtypes": list(self.dtypes),
        }


def standing(op: str, results: Sequence[Result], had: Iterable[str] = STANDARD_DTYPES) -> Standing:
    """Return the verdict of an interface after its cases, for the dtypes that the backend has.

    >>> standing("add", [Result("a", "add", "plain", "int8", "passed")]).verdict
    'conforms'
    """
    had = frozenset(had)
    required = [r for r in results if r.required]
    extensions = [r for r in results if _extends(r)]
    tentative = [r for r in results if r.basis == "tentative"]
    beyond = [r for r in results if r.basis == "quality"]
    counted = tally(results, had)
    return Standing(
        op, counted.verdict, counted, counts(required), counts(extensions),
        _why(counted, results, had), counts(tentative), counts(beyond), quality_of(results, had),
    )  # fmt: skip


def _extends(result: Result) -> bool:
    return result.extension or result.basis == "extension"


def _why(counted: Tally, results: Sequence[Result], had: frozenset[str]) -> str:
    """Return why an interface does not conform, in words."""
    if counted.verdict == "not tested":
        skipped = len([r for r in results if r.required])
        return f"all of its {_required(skipped)} were skipped" if skipped else "no case was run"
    if counted.verdict == "tentative":
        return "its clause awaits a decision"
    if counted.verdict == "extension only":
        return "no required case was run"
    if counted.verdict == "not required":
        return "it takes only dtypes that the backend does not have"
    said = []
    if counted.failed:
        ways = counts(r for r in results if r.breaks)
        some = [f"{ways[o]} {o}" for o in ("failed", "crashed", "hung") if ways[o]]
        known = "" if not counted.known else f", {counted.known} known"
        many = " and ".join(filter(None, (", ".join(some[:-1]), some[-1])))
        said.append(f"{many} of {_required(counted.required)}{known}")
    if counted.unanswered:
        absent = [r for r in results if r.required and r.unanswered and is_asked(r, had)]
        many = f"{counted.unanswered} of {_required(counted.required)}"
        said.append(f"{many} not answered ({_reasons(absent)})")
    return "; ".join(said)


def standings(run: Run) -> dict[str, Standing]:
    """Return the verdict of every interface of the run's catalogue, in its order."""
    found = run.by_operator()
    had = dtypes_had(run)
    unclaimed: Mapping[str, str] = run.settings.get("unclaimed") or {}
    without = standing("", (), had)
    return {
        name: replace(one, op=name, verdict=verdict, why=unclaimed.get(name, one.why))
        for name, verdict in run.decision.verdicts.items()
        for one in [standing(name, found[name], had) if name in found else without]
    }


def levels(run: Run) -> list[Level]:
    """Return the levels: the minimal set, all forward, all, and the promotion rule set."""
    found, had, by_operator = standings(run), dtypes_had(run), run.by_operator()
    of_level = levels_of(run.catalogue)
    return [
        Level(
            **vars(one),
            in_the_way=tuple(_in_the_way(found[op]) if op in found else op for op in one.lacking),
            quality=quality_of(
                (r for op in of_level.get(one.name, ("", ()))[1] for r in by_operator.get(op, ())),
                had,
            ),
            dtypes=had,
        )
        for one in run.decision.levels
    ]


def _in_the_way(s: Standing) -> str:
    return f"{s.op} {_IS[s.verdict]} ({s.why})"


_IS = {
    "fails": "fails",
    "known deviations": "has known deviations",
    "not supported": "is not supported",
    "partly": "is supported in part",
}


def _reasons(results: Iterable[Result], most: int = 2) -> str:
    """Return why cases are unsupported, or which dtypes they have, in few words."""
    some = list(results)
    reasons = dict.fromkeys(r.problem for r in some if r.problem)
    if 0 < len(reasons) <= most:
        return "; ".join(reasons)
    dtypes = list(dict.fromkeys(r.dtype for r in some))
    return ", ".join(dtypes[:4]) + (f" and {len(dtypes) - 4} more" if len(dtypes) > 4 else "")


def _required(n: int) -> str:
    return f"{n} required case{'s' * (n != 1)}"
