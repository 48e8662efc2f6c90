"""Decides what a run shows about a backend: one function, from counts of cases alone.

The headline, the levels, the verdict of each interface, every report and the exit status come from
`decide`. A required case counts only if it was answered: what is skipped by the backend, declined
or never tried is not a pass. A known deviation is a failure that somebody wrote down: it is no
news, and it is not conformance.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from suanzi.base.lang import chosen, say

Verdict = Literal[
    "conforms",
    "known deviations",
    "partly",
    "fails",
    "not supported",
    "not required",
    "tentative",
    "extension only",
    "not tested",
]
"""What is said of one interface.

conforms          every required case was answered and passed
known deviations  the same, except for known deviations
partly            nothing failed, but some required cases were not answered
fails             a required case failed, or some call crashed or hung
not supported     no required case was answered
not required      every required case takes a dtype that the backend does not have
tentative         no case is required until an erratum of the standard is decided
extension only    only cases that the standard does not require were run
not tested        no case was run

Required are the cases that the text of the standard or an interpretation of it requires, for the
dtypes that the backend has; and no call may crash or hang. Tentative cases, whose erratum leaves
the result open, are reported and counted neither for nor against a backend. What the kit itself
cannot bring about (memory that runs out) is left out for everybody.
"""

Answer = Literal["reached", "not reached", "not tested in full"]
Style = Literal["", "good", "warn", "bad", "dim", "bold"]
Finished = Literal[0, 1, 3]

SUCCESS: Finished = 0
FAILURE: Finished = 1
INTERRUPTED: Finished = 3
_LACKING = ("fails", "not supported", "partly", "known deviations")
_UNTESTED = ("not tested", "extension only")
_APART = ("not required", "tentative")
"""Verdicts of interfaces that no level depends on."""


@dataclass(frozen=True)
class Tally:
    """Cases of an interface, counted by their outcome."""

    passed: int = 0
    """Required cases that passed."""
    failed: int = 0
    """Required cases that failed, and all that crashed or hung."""
    unanswered: int = 0
    """Required cases that were declined, or given up after crashes."""
    known: int = 0
    """Known deviations among the failed."""
    excused: int = 0
    """Known deviations among the unanswered."""
    not_required: int = 0
    """Cases that would be required if the backend had their dtypes."""
    beyond: int = 0
    """Cases of quality and extensions that passed."""
    flawed: int = 0
    """Cases that failed in quality or an extension only, and are not known."""
    tentative: int = 0
    """Tentative cases that were answered: reported, and counted neither for nor against."""
    differing: int = 0
    """Those of them whose answer is not suanzi's."""
    aside: int = 0
    """All others: what the kit cannot bring about, and extensions without an answer."""

    def __add__(self, other: Tally) -> Tally:
        pairs = zip(vars(self).values(), vars(other).values(), strict=True)
        return Tally(*(a + b for a, b in pairs))

    @property
    def required(self) -> int:
        """How many cases are required."""
        return self.passed + self.failed + self.unanswered

    @property
    def answered(self) -> int:
        """How many of them were answered."""
        return self.passed + self.failed

    @property
    def new(self) -> int:
        """How many of them failed or were not answered, and are not known deviations."""
        return self.failed - self.known + self.unanswered - self.excused

    @property
    def verdict(self) -> Verdict:
        """What is said of an interface with these cases.

        >>> Tally(passed=60, unanswered=1).verdict
        'partly'
        """
        if not self.required:
            if self.not_required:
                return "not required"
            if self.tentative:
                return "tentative"
            return "extension only" if self.beyond + self.flawed else "not tested"
        if self.failed > self.known:
            return "fails"
        if not self.answered:
            return "not supported"
        if self.unanswered > self.excused:
            return "partly"
        return "known deviations" if self.known or self.excused else "conforms"


@dataclass(frozen=True)
class Level:
    """How far a backend is from a level: a set of interfaces that must all conform."""

    name: str
    title: str
    unit: str
    """What is counted: interfaces or cases."""
    total: int
    conforming: int
    known: int
    """Those that conform except for known deviations; not among the conforming."""
    tested: int
    """Those that were tested, in full or not."""
    answer: Answer
    lacking: tuple[str, ...] = ()
    """The interfaces that do not conform; of promotion, also how many cases."""

    def __str__(self) -> str:
        more = f", {self.known} with known deviations" if self.known else ""
        untested = f", {self.tested} tested" if self.tested != self.total else ""
        return f"{self.conforming} of {self.total} {self.unit}{more}{untested}: {self.answer}"


@dataclass(frozen=True)
class Scope:
    """What a run was meant to cover."""

    levels: Mapping[str, tuple[str, Collection[str]]]
    """Each level by name: its title and its interfaces."""
    absent: Collection[str] = ()
    """Interfaces that the backend says it does not have: not run."""
    unfinished: Collection[str] = ()
    """Interfaces that were not done when the run was interrupted."""
    narrowed: bool = False
    """Whether cases of interfaces were left out, as by ``--quick``: no level is tested in full."""
    rules: str = ""
    """The rule set of the promotion cases."""
    all_rules: bool = True
    """Whether all promotion cases were run."""
    dtypes: str = ""
    """The dtypes that the backend has, in words; empty for all."""
    strict: bool = False
    """Whether failures in quality and extensions count, too."""
    beyond: str = "beyond the standard"
    """How a sentence describes cases that are not required."""
    require: str | None = None
    """A level without which the run fails."""


@dataclass(frozen=True)
class Decision:
    """What a run shows about a backend."""

    total: Tally
    verdicts: Mapping[str, Verdict]
    levels: tuple[Level, ...]
    headline: str
    style: Style
    status: Finished
    """The exit status."""
    conforms: bool
    """Whether every required case that was run was answered and passed."""
    reached: tuple[str, ...] = field(default=())
    """The names of the levels reached."""

    def to_dict(self) -> dict[str, Any]:
        """Return the decision as data."""
        total = self.total
        return {
            "headline": self.headline,
            "conforms": self.conforms,
            "reached": list(self.reached),
            "required": total.required,
            "answered": total.answered,
            "passed": total.passed,
            "failed": total.failed,
            "failed_known": total.known,
            "unanswered": total.unanswered,
            "unanswered_known": total.excused,
            "new": total.new,
            "beyond_failed": total.flawed,
            "tentative": total.tentative,
            "tentative_failed": total.differing,
            "status": self.status,
        }


def decide(interfaces: Mapping[str, Tally], cells: Mapping[str, Tally], scope: Scope) -> Decision:
    """Return what counts of cases show: by interface, and of promotion cases by interface.

    >>> found = decide({"add": Tally(14, unanswered=47)}, {}, Scope({"one": ("one", ["add"])}))
    >>> found.status, found.levels[0].answer, found.headline
    (1, 'not reached', 'Does not conform: 47 of 61 required cases were not answered.')
    """
    verdicts = {name: _verdict(name, tally, scope) for name, tally in interfaces.items()}
    levels = (
        *(_level(name, *facts, verdicts, scope) for name, facts in scope.levels.items()),
        _promotion(cells, scope),
    )
    total = sum(interfaces.values(), Tally())
    reached = tuple(level.name for level in levels if level.answer == "reached")
    conforms = total.passed > 0 and total.passed == total.required and not scope.unfinished
    headline, style = _headline(total, levels, scope)
    passed = total.passed + total.beyond + total.tentative
    failed = total.new or not passed or (scope.strict and total.flawed)
    lacks = scope.require is not None and scope.require not in reached
    status = INTERRUPTED if scope.unfinished else FAILURE if failed or lacks else SUCCESS
    return Decision(total, verdicts, levels, headline, style, status, conforms, reached)


def _verdict(name: str, tally: Tally, scope: Scope) -> Verdict:
    if name in scope.absent:
        return "not supported"
    # What failed of an unfinished interface is known; that the rest passes is not.
    if name in scope.unfinished and tally.verdict != "fails":
        return "not tested"
    return tally.verdict


def _level(
    name: str, title: str, members: Collection[str], verdicts: Mapping[str, Verdict], scope: Scope
) -> Level:
    found = {op: verdicts.get(op, "not tested") for op in members}
    found = {op: verdict for op, verdict in found.items() if verdict not in _APART}
    each = list(found.values())
    untested = sum(verdict in _UNTESTED for verdict in each)
    lacking = tuple(op for op, verdict in found.items() if verdict in _LACKING)
    return Level(
        name, title, "interfaces", len(found), each.count("conforms"),
        each.count("known deviations"), len(found) - untested,
        _answer(bool(lacking), scope.narrowed or bool(untested) or not found), lacking,
    )  # fmt: skip


def _promotion(cells: Mapping[str, Tally], scope: Scope) -> Level:
    """Return the level of the rule set: the cells of its table, of whichever interface."""
    total = sum(cells.values(), Tally())
    lacking = tuple(
        f"{op} ({_many(tally.required - tally.passed)})"
        for op, tally in cells.items()
        if tally.passed < tally.required
    )
    partial = not scope.all_rules or bool(scope.unfinished) or not total.required
    return Level(
        "promotion", f"promotion by {scope.rules}" if scope.rules else "promotion", "cases",
        total.required, total.passed, total.known + total.excused, total.required,
        _answer(bool(lacking), partial), lacking,
    )  # fmt: skip


def _answer(lacking: bool, partial: bool) -> Answer:
    """Return the answer of a level; a failure is a failure, however little was tested."""
    return "not reached" if lacking else "not tested in full" if partial else "reached"


def _headline(total: Tally, levels: Sequence[Level], scope: Scope) -> tuple[str, Style]:
    text, style = _sentence(total, levels, scope)
    if total.flawed and style != "bad":
        text += f" {_many(total.flawed)} {scope.beyond} failed."
        style = "bad" if scope.strict else "warn"
    if scope.unfinished:
        text = f"Interrupted. So far: {text[0].lower()}{text[1:]}"
    return text, style


_PARTS = re.compile(r"(Interrupted\. So far: )?(.+?\.)(?: (\d+ cases? [^.]+ failed\.))?", re.DOTALL)


def said_headline(text: str) -> str:
    """Return a headline in the chosen language, sentence by sentence.

    >>> said_headline("Conforms (61 cases): one. 2 cases beyond the standard failed.")
    'Conforms (61 cases): one. 2 cases beyond the standard failed.'
    """
    parts = _PARTS.fullmatch(text)
    if chosen() == "en" or parts is None:
        return say(text)
    before, first, more = parts.groups()
    said = say(first[0].upper() + first[1:]) + (say(more) if more else "")
    return say(f"{before}{said}") if before else said


def _sentence(total: Tally, levels: Sequence[Level], scope: Scope) -> tuple[str, Style]:
    if not total.required + total.beyond + total.flawed:
        if total.tentative:
            return f"No required case was tested; {_many(total.tentative)} tentative.", ""
        return "Nothing was tested.", "bad"
    if not total.passed + total.beyond:
        return "Does not conform: no case passed.", "bad"
    if not total.required:
        return f"No required case was tested; {_many(total.beyond)} {scope.beyond} passed.", ""
    of = f"of {_many(total.required, 'required case')}"
    if total.passed < total.required:
        failed = [f"{total.failed} {of} failed" + _known(total.known, total.failed)]
        silent = [f"{total.unanswered} {of if not total.failed else ''}".strip() + " "
                  + ("was" if total.unanswered == 1 else "were") + " not answered"
                  + _known(total.excused, total.unanswered)]  # fmt: skip
        said = ", ".join(failed * bool(total.failed) + silent * bool(total.unanswered))
        if total.new:
            return f"Does not conform: {said}.", "bad"
        return f"No new failures. Does not conform: {said}.", "warn"
    dtypes = f" for {scope.dtypes}" if scope.dtypes else ""
    cases = f"({_many(total.required)})"
    # Each level of interfaces has those of the one before.
    interfaces = [x.title for x in levels[:-1] if x.answer == "reached"][-1:]
    reached = interfaces + [x.title for x in levels[-1:] if x.answer == "reached"]
    if reached:
        return f"Conforms{dtypes} {cases}: {', '.join(reached)}.", "good"
    why = "no level reached" if scope.absent else "no level in full"
    return f"Conforms{dtypes} in what was tested {cases}; {why}.", "good"


def _known(known: int, of: int) -> str:
    if not known:
        return ""
    return " (known)" if known == of else f" ({known} known)"


def _many(n: int, what: str = "case") -> str:
    return f"{n} {what}{'s' * (n != 1)}"
