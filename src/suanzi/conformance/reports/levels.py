"""What a run says of a subject: a verdict for each interface, and the levels that it reaches.

A level is a set of interfaces, all of which must conform. Only the dtypes and layouts of the
standard count for it; what a subject does with others is counted apart. What was not tested is
never claimed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from suanzi.conformance.model.results import Result, Run, counts
from suanzi.standard import interfaces

Verdict = Literal[
    "conforms",
    "known deviations",
    "partly",
    "fails",
    "not supported",
    "extension only",
    "not tested",
]
"""What is to be said of one interface, from the best to the worst, then what cannot be said.

conforms          every required case passed
known deviations  every required case passed, or failed for a reason that is written down
partly            nothing is wrong, and some required cases are unsupported
fails             a required case failed, crashed or hung
not supported     no required case is supported
extension only    it was tried with no dtype and layout of the standard
not tested        it was not tried

Required are the cases with dtypes and layouts of the standard. What the kit has no way to bring
about is skipped, for every subject alike: it neither helps nor hurts. What it gave up after a
subject had crashed too often has no answer, as what is unsupported.
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
    """Of the required cases: those with dtypes and layouts of the standard."""
    extensions: dict[str, int]
    """Of the others, which hurt no level."""
    why: str = ""
    """What is in the way, in words."""

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
            "extensions": self.extensions,
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
        }


def standing(op: str, results: Sequence[Result]) -> Standing:
    """Return how an interface stands after its cases.

    >>> standing("add", [Result("a", "add", "plain", "int8", "passed")]).verdict
    'conforms'
    """
    required = [r for r in results if not r.extension]
    found, others = counts(required), counts(r for r in results if r.extension)
    verdict, why = _verdict(results, required, found)
    return Standing(op, verdict, found, others, why)


def _verdict(
    results: Sequence[Result], required: Sequence[Result], found: Mapping[str, int]
) -> tuple[Verdict, str]:
    if not results:
        return "not tested", "no case was run"
    if not required:
        return "extension only", "no case with a dtype and a layout of the standard was run"
    tried = [r for r in required if _counts(r)]
    if not tried:
        return "not tested", f"all of its {_required(len(required))} were skipped"
    wrong = [r for r in required if r.bad and r.known is None]
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
    if found["known"]:
        return "known deviations", f"{found['known']} of {_required(len(tried))} deviate"
    return "conforms", ""


def _counts(result: Result) -> bool:
    """Tell whether a case says something of the subject."""
    return result.outcome != "skipped" or result.untried


def standings(run: Run) -> dict[str, Standing]:
    """Return how every interface of the standard stands, in its order; also those not tested."""
    found = run.by_operator()
    unfinished = set(run.unfinished)
    return {
        name: standing(name, () if name in unfinished else found.get(name, ()))
        for name in (*interfaces(), *(n for n in found if n not in interfaces()))
    }


def levels(run: Run) -> list[Level]:
    """Return the levels: the minimal set, all forward, all, and the promotion rule set."""
    all_of = interfaces()
    found = standings(run)
    partial = any(run.settings.get(key) for key in CASE_FILTERS)
    return [
        _level(name, title, {op: found[op] for op in members}, partial)
        for name, title, members in (
            ("minimal", "the minimal set", [n for n, i in all_of.items() if i.minimal]),
            ("forward", "all forward", [n for n, i in all_of.items() if not i.backward_of]),
            ("all", "all interfaces", list(all_of)),
        )
    ] + [_promotion(run)]


def _level(name: str, title: str, members: Mapping[str, Standing], partial: bool) -> Level:
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
    some = [r for r in run.results if r.group == "promotion" and not r.extension and _counts(r)]
    known = sum(r.bad and r.known is not None for r in some)
    in_the_way: Counter[str] = Counter(
        r.op for r in some if r.outcome != "passed" and r.known is None
    )
    groups = run.settings.get("groups") or ["promotion"]
    filters = (*OPERATOR_FILTERS, *(f for f in CASE_FILTERS if f != "groups"))
    partial = any(run.settings.get(f) for f in filters) or "promotion" not in groups
    return Level(
        "promotion", f"promotion by {rules}" if rules else "promotion", "cases", len(some),
        counts(some)["passed"], known, len(some),
        _answer(bool(in_the_way), partial or bool(run.unfinished) or not some, bool(known)),
        tuple(f"{op} ({n} case{'s' * (n != 1)})" for op, n in in_the_way.items()),
    )  # fmt: skip


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
