"""How good a subject is where the standard asks for nothing: a grade beside each level.

Counted are the cases of quality, and the accuracy of the cases that the standard demands. Known
deviations count as what they are. The grade is A if all is met, B if no more than one in a hundred
is not, C if no more than one in ten, D if no more than half, else E.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from suanzi.conformance.model.results import Result
from suanzi.conformance.model.tallies import is_asked

GRADES = (("A", 0.0), ("B", 0.01), ("C", 0.1), ("D", 0.5))
"""The most that may be missing."""


@dataclass(frozen=True)
class Quality:
    """What was met beyond the standard."""

    met: int
    total: int
    ulp: float | None = None
    """The largest error in units of the last place, of the results that are judged by them."""
    ulp_of: str | None = None
    """The case that has it."""
    cann: tuple[int, int] = (0, 0)
    """How many results keep CANN's limits, of how many it has limits for."""

    @property
    def grade(self) -> str:
        """A to E; a dash where nothing was tried.

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
    """Return the quality of results, with the dtypes that a subject has.

    >>> good = Result("a", "exp", "special", "float32", "passed", basis="quality", ulp=0.6)
    >>> rough = Result("b", "exp", "plain", "float32", "failed", basis="letter", broken="quality")
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
    # A wrong value is none of accuracy: it is counted where it breaks the level.
    measured = result.ulp is not None or result.bad
    return result.demanded and measured and not result.breaks
