"""Which interpretation of each erratum a backend follows, and whether it does so throughout."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from suanzi.base.lang import described
from suanzi.conformance.model.results import Result

_BETWEEN = " | "


@dataclass(frozen=True)
class Followed:
    """How a backend interprets one erratum."""

    erratum: str
    readings: dict[str, int]
    """How many cases follow each interpretation and no other."""
    undecided: int
    """Cases whose answer fits more than one interpretation."""
    throughout: bool
    """Whether all of them must follow the same one."""
    operators: tuple[str, ...]

    @property
    def consistent(self) -> bool:
        """Whether it follows only one."""
        return len(self.readings) < 2

    def __str__(self) -> str:
        said = ", ".join(f"{described(name)} ({n})" for name, n in self.readings.items())
        mixed = "" if self.consistent else "; more than one"
        return f"{self.erratum}: {said or 'any of them'}{mixed}"

    def to_dict(self) -> dict[str, Any]:
        """Return it as data."""
        return {
            "erratum": self.erratum,
            "readings": self.readings,
            "undecided": self.undecided,
            "throughout": self.throughout,
            "consistent": self.consistent,
            "interfaces": list(self.operators),
        }


def names_of(result: Result) -> tuple[str, tuple[str, ...]]:
    """Return the erratum and the interpretations that an answer follows.

    >>> names_of(Result("a", "rint", "plain", "float32", "passed", reading="E86: even | away"))
    ('E86', ('even', 'away'))
    """
    erratum, _, names = (result.reading or "").partition(": ")
    return erratum, tuple(names.split(_BETWEEN)) if names else ()


def followed(results: Iterable[Result]) -> list[Followed]:
    """Return which interpretations are followed, by erratum, the most frequent first."""
    by_erratum: dict[str, list[Result]] = {}
    for result in results:
        if result.reading is not None:
            by_erratum.setdefault(names_of(result)[0], []).append(result)
    return [_followed(name, by_erratum[name]) for name in sorted(by_erratum, key=_number)]


def _followed(erratum: str, results: Sequence[Result]) -> Followed:
    each = [names_of(r)[1] for r in results]
    alone = Counter(names[0] for names in each if len(names) == 1)
    return Followed(
        erratum,
        dict(alone.most_common()),
        sum(len(names) > 1 for names in each),
        any(r.throughout for r in results),
        tuple(dict.fromkeys(r.op for r in results)),
    )


def _number(erratum: str) -> tuple[int, str]:
    digits = "".join(c for c in erratum if c.isdigit())
    return int(digits or 0), erratum


def settle(results: Sequence[Result]) -> list[Result]:
    """Return the results; an answer fails if it follows another interpretation than most answers.

    The backend may choose any interpretation; its choice is the one that most answers follow.
    """
    wrong: dict[str, str] = {}
    held = [r for r in results if r.throughout and r.outcome == "passed"]
    for one in followed(held):
        if not one.consistent:
            wrong[one.erratum] = next(iter(one.readings))
    return [_held(r, wrong) if r.throughout and r.outcome == "passed" else r for r in results]


def unsettled(result: Result) -> Result:
    """Return a result as it was before `settle`: any interpretation passed."""
    if result.throughout and result.reading is not None and result.outcome == "failed":
        return replace(result, outcome="passed", broken=None, problem=None, known=None, issue=None)
    return result


def _held(result: Result, wrong: dict[str, str]) -> Result:
    erratum, names = names_of(result)
    most = wrong.get(erratum)
    if most is None or most in names:
        return result
    return replace(
        result,
        outcome="failed",
        broken=result.basis,
        problem=f"{names[0]}, where most answers follow {most}: {erratum} allows either, but the "
        "same one throughout",
    )
