"""What a run says of a subject: a verdict for each interface, and the levels that it reaches.

A level is a set of interfaces, all of which must conform, for the dtypes that the subject has. Only
what the letter of the standard or a reading of it demands counts; quality has a grade of its own
beside it, and extensions are counted apart. What was not tested is never claimed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from suanzi.conformance.model.basis import STANDARD_DTYPES
from suanzi.conformance.model.results import Result, Run, counts
from suanzi.conformance.reports.had import dtypes_had, is_asked
from suanzi.conformance.reports.quality import Quality, quality_of
from suanzi.standard import interfaces

Verdict = Literal[
    "conforms",
    "known deviations",
    "partly",
    "fails",
    "not supported",
    "not asked for",
    "extension only",
    "not tested",
]
"""What is to be said of one interface, from the best to the worst, then what cannot be said.

conforms          every required case passed
known deviations  every required case passed, or failed for a reason that is written down
partly            nothing is wrong, and some required cases are unsupported
fails             a required case failed, crashed or hung
not supported     no required case is supported
not asked for     every required case takes a dtype that the subject does not have
extension only    no case was tried that the standard demands
not tested        it was not tried

Required are the cases that the letter or a reading demands, of dtypes that the subject has. An
answer that is merely inaccurate breaks none. What the kit has no way to bring about is skipped, for
every subject alike: it neither helps nor hurts. What it gave up after a subject had crashed too
often has no answer, as what is unsupported.
"""

Answer = Literal["reached", "reached with known deviations", "not reached", "not tested in full"]

OPERATOR_FILTERS = ("ops", "categories", "minimal")
"""The settings that leave out interfaces."""
CASE_FILTERS = ("dtypes", "groups", "cases", "quick")
"""The settings that leave out cases of an interface."""


@dataclass(frozen=True)
class Standing:
    """How one interface stands."""

    op: str
    verdict: Verdict
    counts: dict[str, int]
    """Of the required cases: those that the letter or a reading demands."""
    extensions: dict[str, int]
    """Of those that go beyond the standard, which hurt no level."""
    why: str = ""
    """What is in the way, in words."""
    beyond: dict[str, int] = field(default_factory=dict)
    """Of the cases of quality, which hurt no level, either."""
    quality: Quality = Quality(0, 0)  # noqa: RUF009 - it is frozen
    """How good it is beyond the standard."""

    def to_dict(self) -> dict[str, Any]:
        """Return the standing as data."""
        facts = interfaces().get(self.op)
        return {
            "name": self.op,
            "clause": facts.clause if facts else "",
            "category": facts.category if facts else "",
            "verdict": self.verdict,
            "why": self.why,
            "required": self.counts,
            "quality": self.beyond,
            "extensions": self.extensions,
            "grade": self.quality.to_dict(),
        }


@dataclass(frozen=True)
class Level:
    """How far a subject is from a level."""

    name: str
    title: str
    unit: str
    """What is counted: interfaces or cases."""
    total: int
    conforming: int
    known: int
    """Those that conform but for known deviations; not among the conforming."""
    tested: int
    """Those that were tested, in full or not."""
    answer: Answer
    in_the_way: tuple[str, ...] = ()
    quality: Quality = Quality(0, 0)  # noqa: RUF009 - it is frozen
    """How good the interfaces of the level are where the standard asks for nothing."""
    dtypes: tuple[str, ...] = ()
    """The dtypes of the standard that it is given for."""

    def __str__(self) -> str:
        more = f", {self.known} with known deviations" if self.known else ""
        untested = f", {self.tested} tested" if self.tested != self.total else ""
        return f"{self.conforming} of {self.total} {self.unit}{more}{untested}: {self.answer}"

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
    """Return how an interface stands after its cases, for the dtypes that the subject has.

    >>> standing("add", [Result("a", "add", "plain", "int8", "passed")]).verdict
    'conforms'
    """
    required = [r for r in results if r.demanded]
    extensions = [r for r in results if _extends(r)]
    beyond = [r for r in results if not r.demanded and not _extends(r)]
    verdict, why = _verdict(results, required, set(had))
    return Standing(
        op, verdict, counts(required), counts(extensions), why, counts(beyond),
        quality_of(results, had),
    )  # fmt: skip


def _extends(result: Result) -> bool:
    return result.extension or result.basis == "extension"


def _verdict(
    results: Sequence[Result], required: Sequence[Result], had: set[str]
) -> tuple[Verdict, str]:
    if not results:
        return "not tested", "no case was run"
    if not required:
        return "extension only", "no case that the standard demands was run"
    everything = [r for r in required if _counts(r)]
    if not everything:
        return "not tested", f"all of its {_required(len(required))} were skipped"
    tried = [r for r in everything if is_asked(r, had)]
    if not tried:
        return "not asked for", "it takes only dtypes that the subject does not have"
    wrong = [r for r in tried if r.breaks and r.known is None]
    if wrong:
        ways = counts(wrong)
        said = [f"{ways[o]} {o}" for o in ("failed", "crashed", "hung") if ways[o]]
        return "fails", f"{_listed(said)} of {_required(len(tried))}"
    absent = [r for r in tried if r.outcome in ("unsupported", "skipped")]
    if len(absent) == len(tried):
        return "not supported", _reasons(absent)
    if absent:
        some = f"{len(absent)} of {_required(len(tried))} without an answer"
        return "partly", f"{some} ({_reasons(absent)})"
    known = sum(r.breaks for r in tried)
    if known:
        return "known deviations", f"{known} of {_required(len(tried))} deviate"
    return "conforms", ""


def _counts(result: Result) -> bool:
    """Tell whether a case says something of the subject."""
    return result.outcome != "skipped" or result.untried


def standings(run: Run) -> dict[str, Standing]:
    """Return how every interface of the standard stands, in its order; also those not tested."""
    found = run.by_operator()
    unfinished = set(run.unfinished)
    had = dtypes_had(run)
    unclaimed: Mapping[str, str] = run.settings.get("unclaimed") or {}
    return {
        name: _not_claimed(name, unclaimed[name])
        if name in unclaimed
        else standing(name, () if name in unfinished else found.get(name, ()), had)
        for name in (*interfaces(), *(n for n in found if n not in interfaces()))
    }


def _not_claimed(op: str, why: str) -> Standing:
    """Return how an interface stands that the subject says it does not have."""
    return replace(standing(op, ()), verdict="not supported", why=why)


def levels(run: Run) -> list[Level]:
    """Return the levels: the minimal set, all forward, all, and the promotion rule set."""
    all_of = interfaces()
    found = standings(run)
    had = dtypes_had(run)
    by_operator = run.by_operator()
    partial = any(run.settings.get(key) for key in CASE_FILTERS)
    return [
        replace(
            _level(name, title, {op: found[op] for op in members}, partial),
            quality=quality_of((r for op in members for r in by_operator.get(op, ())), had),
            dtypes=had,
        )
        for name, title, members in (
            ("minimal", "the minimal set", [n for n, i in all_of.items() if i.minimal]),
            ("forward", "all forward", [n for n, i in all_of.items() if not i.backward_of]),
            ("all", "all interfaces", list(all_of)),
        )
    ] + [_promotion(run)]


def _level(name: str, title: str, members: Mapping[str, Standing], partial: bool) -> Level:
    members = {op: s for op, s in members.items() if s.verdict != "not asked for"}
    verdicts = [s.verdict for s in members.values()]
    conforming, known = verdicts.count("conforms"), verdicts.count("known deviations")
    untested = [s for s in members.values() if s.verdict in ("not tested", "extension only")]
    lacking = [s for s in members.values() if s.verdict in ("fails", "not supported", "partly")]
    return Level(
        name, title, "interfaces", len(members), conforming, known, len(members) - len(untested),
        _answer(bool(lacking), partial or bool(untested), bool(known)),
        tuple(f"{s.op} {_in_words(s)}" for s in lacking),
    )  # fmt: skip


def _answer(lacking: bool, partial: bool, known: bool) -> Answer:
    """Return what to say of a level; what is wrong is wrong, however little was tested."""
    if lacking:
        return "not reached"
    if partial:
        return "not tested in full"
    return "reached with known deviations" if known else "reached"


def _promotion(run: Run) -> Level:
    """Return the level of the rule set: the cells of its table, whichever interface they are of."""
    rules = str(run.settings.get("rules", ""))
    had = dtypes_had(run)
    some = [r for r in run.results if r.group == "promotion" and _is_cell(r) and is_asked(r, had)]
    apart = [r for r in some if r.outcome != "passed" and r.broken != "quality"]
    known = sum(r.bad and r.known is not None for r in apart)
    in_the_way = Counter(r.op for r in apart if r.known is None)
    groups = run.settings.get("groups") or ["promotion"]
    filters = (*OPERATOR_FILTERS, *(f for f in CASE_FILTERS if f != "groups"), "shard")
    partial = any(run.settings.get(f) for f in filters) or "promotion" not in groups
    return Level(
        "promotion", f"promotion by {rules}" if rules else "promotion", "cases", len(some),
        len(some) - len(apart), known, len(some),
        _answer(bool(in_the_way), partial or bool(run.unfinished) or not some, bool(known)),
        tuple(f"{op} ({n} case{'s' * (n != 1)})" for op, n in in_the_way.items()),
        dtypes=had,
    )  # fmt: skip


def _is_cell(result: Result) -> bool:
    """Tell whether a case is a cell of the dtypes of the standard: the others hurt no level."""
    return _counts(result) and STANDARD_DTYPES.issuperset(result.dtype.split("-"))


def _in_words(s: Standing) -> str:
    return f"fails ({s.why})" if s.verdict == "fails" else f"is {_IS[s.verdict]} ({s.why})"


_IS = {"not supported": "not supported", "partly": "supported in part"}


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


def _listed(words: Sequence[str]) -> str:
    return " and ".join([", ".join(words[:-1]), words[-1]]) if len(words) > 1 else words[0]
