"""What became of every case: a result each, and a run of them, as it is written and read again."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from typing import Annotated, Any, Literal, TypedDict, get_args

from suanzi.base.decode import PRIVATE, Malformed, Numbers, decode
from suanzi.base.hints import shown
from suanzi.base.status import InvalidArgument
from suanzi.conformance.decision import Decision
from suanzi.conformance.model.basis import BASES, REQUIRED, Basis
from suanzi.conformance.model.blocks import unpacked
from suanzi.conformance.model.members import catalogue_of, members
from suanzi.conformance.model.reported import Block, Evidence, Measure, Settings, Subject

Outcome = Literal["passed", "failed", "unsupported", "crashed", "hung", "skipped"]
OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)
BAD: frozenset[str] = frozenset({"failed", "crashed", "hung"})
"""The outcomes of which something is wrong with the subject."""

NOT_TRIED = "not tried"
"""How the problem of a case begins that was skipped for what the subject did before."""

SCHEMA = "suanzi-conformance/1"
"""The form of a report as data; another number is another form."""
PACKED = "suanzi-conformance/2"
"""The same of many cases: what passed, or has no answer, stands in blocks."""


@dataclass(frozen=True)
class Kept:
    """Evidence of a required case."""

    content: str
    """The SHA-256 of its arguments and expected result."""
    line: bytes | None = field(default=None, repr=False)
    """The case and the answer, compressed, if answers are recorded."""


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
    call: str | None = None
    """The call of what went wrong, its tensors cut short."""
    extension: bool = False
    """Whether the case asks for something that the standard does not have."""
    basis: Basis | None = None
    """Where the case's requirement comes from; None in old reports."""
    broken: Basis | None = None
    """The basis of the violated requirement: a normative case can fail in quality only."""
    because: str | None = None
    """Clause and sentence of the requirement, for cases that did not pass."""
    reading: str | None = None
    """The interpretation an answer follows, as in E86: ties to even; several where all fit."""
    throughout: bool = False
    """Whether the reading must be the same in all cases of its erratum."""
    needs: str | None = None
    """The dtypes that an unsupported case takes, where `dtype` does not name all."""
    ulp: Measure | None = None
    """The largest error, in units in the last place."""
    bound: Measure | None = None
    mean_relative: Measure | None = None
    max_relative: Measure | None = None
    cann: bool | None = None
    known: str | None = None
    """Why a failure is known, from the file of deviations."""
    issue: str | None = None
    """Where a known failure is discussed."""
    unexpected: bool = False
    """Whether it passed although a deviation lists it as failing."""
    reproduction: str | None = None
    """Something to paste, for what did not pass."""
    culprit: str | None = None
    """The earlier case that damaged the memory of the process, where this one crashed of it."""
    alone: Result | None = field(default=None, repr=False, metadata={PRIVATE: True})
    """What became of it alone, then; not written into a report."""
    kept: Kept | None = field(default=None, repr=False, compare=False, metadata={PRIVATE: True})
    """Evidence, if the case is required and its truth was computed; not written, either."""

    @property
    def required(self) -> bool:
        """Whether the text or an interpretation of the standard requires it."""
        return not self.extension and (self.basis is None or self.basis in REQUIRED)

    @property
    def breaks(self) -> bool:
        """Whether it violates a requirement, known or not; no call may ever crash or hang."""
        return self.outcome in ("crashed", "hung") or (
            self.bad and self.required and self.broken != "quality"
        )

    @property
    def fatal(self) -> bool:
        """Whether it violates a requirement, and is not a known deviation."""
        return self.known is None and self.breaks

    @property
    def unanswered(self) -> bool:
        """Whether the backend gave no answer, though the kit could ask it."""
        return self.outcome == "unsupported" or self.untried

    @property
    def bad(self) -> bool:
        """Whether something is wrong: a wrong answer, a crash or a hang, known or not."""
        return self.outcome in BAD

    @property
    def untried(self) -> bool:
        """Whether it was given up after crashes and hangs: skipped, and the subject's own doing."""
        return self.outcome == "skipped" and (self.problem or "").startswith(NOT_TRIED)

    @property
    def title(self) -> str:
        """What is tried, with words joined by hyphens: the last part of its id."""
        return self.id.split("/", 3)[-1]

    def to_dict(self) -> dict[str, Any]:
        """Return what is set as data; numbers that JSON does not have are strings."""
        return {
            name: _to_json(value)
            for name, value in asdict(replace(self, alone=None, kept=None)).items()
            if value is not None and (value is not False or name == "cann")
        }


class _Needed(TypedDict):
    subject: Subject
    settings: Settings
    results: list[Result]


class _Report(_Needed, total=False):
    """The parts of a report that a run is made of."""

    blocks: list[Block]
    seconds: Annotated[float, Numbers(0)]
    unused: list[str]
    unfinished: list[str]
    evidence: Evidence


@dataclass(frozen=True)
class Run:
    """A subject tested against the standard."""

    subject: dict[str, Any]
    """Its description of itself."""
    settings: dict[str, Any]
    """What was requested: rules, seed, filters, the hash of the cases."""
    results: Sequence[Result]
    seconds: float = 0.0
    unused: list[str] = field(default_factory=list)
    """Deviations that no case met."""
    unfinished: list[str] = field(default_factory=list)
    """Interfaces that were not done when the run was interrupted."""
    evidence: dict[str, Any] = field(default_factory=dict)
    """What ran and what was asked, by hashes."""

    def counts(self, results: Iterable[Result] | None = None) -> dict[str, int]:
        """Return how many cases there are, and of each outcome; known failures apart.

        The outcomes add up to the cases. Known deviations are among those that did not pass, and
        unexpected passes among those that did.
        """
        return counts(self.results if results is None else results)

    @cached_property
    def decision(self) -> Decision:
        """What the run shows: levels, verdicts, headline and exit status."""
        from suanzi.conformance.model.tallies import decision_of

        return decision_of(self)

    @property
    def conforms(self) -> bool:
        """Whether every required case that was run was answered and passed."""
        return self.decision.conforms

    @property
    def flawless(self) -> bool:
        """Whether it conforms, and no case that is not required failed, either."""
        return self.conforms and not self.decision.total.flawed

    @cached_property
    def catalogue(self) -> str:
        """The catalogue that it is about, ``standard`` in most runs."""
        return catalogue_of(self.settings, {r.op for r in self.results})

    def by_operator(self) -> dict[str, list[Result]]:
        """Return the results of each interface, in the order of its catalogue."""
        found: dict[str, list[Result]] = {name: [] for name in members(self.catalogue)}
        for result in self.results:
            # A report of another version may have an interface that this one has not.
            found.setdefault(result.op, []).append(result)
        return {name: some for name, some in found.items() if some}

    def to_dict(self) -> dict[str, Any]:
        """Return the run as data: all that `from_dict` needs."""
        return {
            "schema": SCHEMA,
            "subject": self.subject,
            "settings": self.settings,
            "seconds": round(self.seconds, 3),
            "unused": self.unused,
            "unfinished": self.unfinished,
            "evidence": self.evidence,
            "results": [r.to_dict() for r in self.results],
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Run:
        """Return a run from what `to_dict` gave."""
        schema = data.get("schema") if isinstance(data, Mapping) else None
        if schema not in (SCHEMA, PACKED):
            raise InvalidArgument(
                f"a report of the schema {shown(schema)} cannot be read; this version reads "
                f"{SCHEMA!r} and {PACKED!r}."
            )
        try:
            found = decode(_Report, data)
            more = enumerate(unpacked(found.get("blocks", ())))
            return cls(
                subject=dict(found["subject"]),
                settings=dict(found["settings"]),
                results=[
                    *found["results"],
                    *(decode(Result, one, f"unpacked[{i}]") for i, one in more),
                ],
                seconds=found.get("seconds", 0.0),
                unused=found.get("unused", []),
                unfinished=found.get("unfinished", []),
                evidence=dict(found.get("evidence", {})),
            )
        except (AttributeError, KeyError, TypeError, ValueError, RecursionError) as error:
            said = str(error) if isinstance(error, Malformed) else repr(error)
            raise InvalidArgument(f"the report is not what {schema!r} says: {said:.400}.") from None


def counts(results: Iterable[Result]) -> dict[str, int]:
    """Return how many results there are, and of each outcome; known failures apart.

    >>> counts([Result("a", "add", "plain", "int8", "failed", known="an old chip")])["known"]
    1
    """
    some = list(results)
    found = Counter(r.outcome for r in some)
    return {
        "cases": len(some),
        **{outcome: found[outcome] for outcome in OUTCOMES},
        "known": sum(r.known is not None for r in some),
        "unexpected": sum(r.unexpected for r in some),
    }


def by_basis(results: Iterable[Result]) -> dict[Basis, list[Result]]:
    """Return the results of each basis; those of a report without any by what they extend.

    >>> {name: len(some) for name, some in by_basis([Result("a", "add", "plain", "int8", "passed",
    ...                                                     basis="normative")]).items()}
    {'normative': 1, 'interpretation': 0, 'tentative': 0, 'quality': 0, 'extension': 0}
    """
    found: dict[Basis, list[Result]] = {name: [] for name in BASES}
    for r in results:
        found[r.basis or ("extension" if r.extension else "normative")].append(r)
    return found


def worst(results: Iterable[Result]) -> Result | None:
    """Return the result that is nearest to its bound, or furthest past it; None without bounds.

    >>> some = [Result("a", "exp", "plain", "float32", "passed", ulp=0.4, bound=0.5),
    ...         Result("b", "exp", "plain", "float64", "passed", ulp=1.0, bound=3.0)]
    >>> worst(some).id
    'a'
    """
    measured = [r for r in results if r.ulp is not None]
    return max(measured, key=_strain, default=None)


def _strain(result: Result) -> tuple[bool, float, float]:
    assert result.ulp is not None
    share = result.ulp / result.bound if result.bound else 0.0
    return result.bad, share, result.ulp


def _to_json(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return repr(value)
    return value
