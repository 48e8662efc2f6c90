"""How good a backend is beyond what the standard requires: a grade for each level.

It counts the cases of quality, and the accuracy of required cases. Known deviations count as
failures. The grade is A if all pass, B if at most one in a hundred fails, C at most one in ten,
D at most half, otherwise E.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from suanzi.conformance.model.results import Result
from suanzi.conformance.model.tallies import is_asked

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
    # A wrong value is not a matter of accuracy: it counts for the level.
    measured = result.ulp is not None or result.bad
    return result.demanded and measured and not result.breaks
