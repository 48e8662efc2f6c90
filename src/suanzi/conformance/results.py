"""What became of every case, and what that says of a subject: counts, levels, deviations."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from suanzi.standard import interfaces

Outcome = Literal["passed", "failed", "unsupported", "crashed", "hung", "skipped"]
OUTCOMES: tuple[Outcome, ...] = ("passed", "failed", "unsupported", "crashed", "hung", "skipped")


@dataclass(frozen=True)
class Result:
    """What became of one case."""

    id: str
    op: str
    group: str
    dtype: str
    outcome: Outcome
    problem: str | None = None
    """What is wrong, or why there is no answer."""
    extension: bool = False
    """Whether the case has a dtype that the standard does not list."""
    ulp: float | None = None
    bound: float | None = None
    mean_relative: float | None = None
    max_relative: float | None = None
    cann: bool | None = None
    known: str | None = None
    """Why a failure is known, from the file of deviations."""
    unexpected: bool = False
    """Whether it passed, and a deviation says that it fails."""
    reproduction: str | None = None
    """Something to paste, for what did not pass."""

    def to_dict(self) -> dict[str, Any]:
        """Return what there is to say."""
        return {k: v for k, v in asdict(self).items() if v not in (None, False) or k == "cann"}


@dataclass(frozen=True)
class Run:
    """A subject held against the standard."""

    subject: dict[str, Any]
    """What it says of itself."""
    settings: dict[str, Any]
    """What was asked for: rules, seed, filters, the hash of the cases."""
    results: Sequence[Result]
    seconds: float = 0.0
    unused: list[str] = field(default_factory=list)
    """Deviations that no case met."""

    def counts(self, results: Sequence[Result] | None = None) -> dict[str, int]:
        """Return how many cases there are, and of each outcome; known failures apart."""
        some = self.results if results is None else results
        found = Counter(r.outcome for r in some)
        return {
            "cases": len(some),
            **{outcome: found[outcome] for outcome in OUTCOMES},
            "known": sum(r.known is not None for r in some),
            "unexpected": sum(r.unexpected for r in some),
        }

    @property
    def conforms(self) -> bool:
        """Whether nothing failed, crashed or hung but what is known."""
        return not any(
            r.outcome in ("failed", "crashed", "hung") and not r.known for r in self.results
        )

    def by_operator(self) -> dict[str, list[Result]]:
        """Return the results of each interface, in the standard's order."""
        found: dict[str, list[Result]] = {name: [] for name in interfaces()}
        for result in self.results:
            found[result.op].append(result)
        return {name: some for name, some in found.items() if some}
