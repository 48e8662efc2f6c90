"""Compare the answer of a backend with a case: its status, then every output."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from suanzi.base.status import Status
from suanzi.conformance.judging.calls import operands_of
from suanzi.conformance.judging.checks import find, is_lenient, leniently
from suanzi.conformance.judging.judge import Judgement, judge, lenient, show
from suanzi.conformance.model.basis import moves
from suanzi.conformance.model.case import Case, Check, Either, Expected, Output, Refused
from suanzi.conformance.model.data import values
from suanzi.conformance.model.expected import NO_INTERPRETATION, may_refuse
from suanzi.conformance.subjects.wire import ITEMSIZE, Data
from suanzi.standard.catalogues import STANDARD


@dataclass(frozen=True)
class Answer:
    """What a backend returned."""

    status: str | None
    """The name of the status; None if a backend without status codes refused the call."""
    outputs: Sequence[Any] = ()
    words: str = ""
    """The message of an error."""


@dataclass(frozen=True)
class Verdict:
    """Whether an answer is right."""

    problem: str | None = None
    judgements: list[Judgement] = field(default_factory=list)
    inaccurate: bool = False
    """Whether only accuracy or the sign of a zero is wrong."""
    readings: tuple[str, ...] = ()
    """The interpretations that the answer matches, where there are several."""

    @property
    def passed(self) -> bool:
        """Whether nothing is wrong."""
        return self.problem is None


def verdict(
    case: Case, answer: Answer, statuses: bool, expected: Expected | None = None
) -> Verdict:
    """Compare an answer with a case; `statuses`: whether the backend has status codes.

    What is wrong is looked at again leniently: if half of the digits are right, it is inaccurate.
    What is only moved has no accuracy: it is what it was, or it is wrong. The bounds of other
    catalogues follow from definitions, and are required.
    """
    wanted = case.expect() if expected is None else expected
    strictly = _verdict(case, answer, statuses, wanted)
    if strictly.passed or moves(case) or case.interface.catalogue != STANDARD:
        return strictly
    with leniently():
        again = _verdict(case, answer, statuses, wanted)
    return replace(strictly, inaccurate=again.passed, readings=again.readings)


def _verdict(case: Case, answer: Answer, statuses: bool, wanted: Expected) -> Verdict:
    if isinstance(wanted, Either):
        return _either(case, answer, statuses, wanted)
    if isinstance(wanted, Refused):
        return _refused(case, wanted, answer, statuses)
    if answer.status != "SUCCESS":
        if may_refuse(wanted) and answer.status in (None, *Status.__members__):
            return Verdict()
        came = answer.status or "refused"
        return Verdict(f"{came}, not SUCCESS: {answer.words}".rstrip(": "))
    # A gradient of an operand that was not given is no output.
    count = len(case.outputs) if isinstance(wanted, Check) else len(wanted)
    if len(answer.outputs) != count:
        return Verdict(f"{len(answer.outputs)} outputs, not {count}")
    if isinstance(wanted, Check):
        problem = find(wanted.name)(case.arguments, answer.outputs, wanted.facts)
        return Verdict(problem)
    return _outputs(case, wanted, answer.outputs)


def _either(case: Case, answer: Answer, statuses: bool, wanted: Either) -> Verdict:
    """Compare an answer with every interpretation; it may match more than one."""
    found = {name: _verdict(case, answer, statuses, one) for name, one in wanted.readings.items()}
    met = tuple(name for name, one in found.items() if one.passed)
    if met:
        return replace(found[met[0]], readings=met)
    said = "; ".join(f"{name}: {one.problem}" for name, one in found.items())
    first = next(iter(found.values()))
    return Verdict(f"{NO_INTERPRETATION} {wanted.erratum}: {said}", first.judgements)


def _refused(case: Case, wanted: Refused, answer: Answer, statuses: bool) -> Verdict:
    if answer.status == "SUCCESS":
        if not statuses and wanted.instead is not None:
            return _outputs(case, wanted.instead, answer.outputs)
        given = [o for o in answer.outputs if o is not None]
        return Verdict(
            f"SUCCESS, not {' or '.join(s.name for s in wanted.statuses)}"
            + (f": {_show(given)}" if given else "")
        )
    # No clause says what an output is after an error: that one is set is a matter of quality.
    if any(output is not None for output in answer.outputs) and not is_lenient():
        return Verdict(f"{answer.status}, but it set an output: {_show(answer.outputs)}")
    right = [status.name for status in wanted.statuses]
    if statuses and answer.status not in right:
        due = " or ".join(right)
        return Verdict(f"{answer.status}, not {due}: {answer.words}".rstrip(": "))
    return Verdict()


def _outputs(case: Case, wanted: Sequence[Any], outputs: Sequence[Any]) -> Verdict:
    if len(outputs) != len(wanted):
        return Verdict(f"{len(outputs)} outputs, not {len(wanted)}")
    judgements: list[Judgement] = []
    for name, right, found in zip(case.outputs, wanted, outputs, strict=False):
        problem = _one(case, right, found, judgements)
        if problem is not None:
            return Verdict(f"{name}: {problem}", judgements)
    return Verdict(None, judgements)


def _one(case: Case, right: Any, found: Any, judgements: list[Judgement]) -> str | None:
    if isinstance(right, Output):
        wanted = lenient(right) if is_lenient() else right
        judgements.append(judge(found, wanted, operands_of(case, right.shape)))
        return judgements[-1].problem
    if isinstance(right, Check):
        return find(right.name)(case.arguments, [found], right.facts)
    if isinstance(right, list | tuple):
        if not isinstance(found, list | tuple) or len(found) != len(right):
            return f"{_show(found)} is not a sequence of {len(right)}"
        for i, (r, f) in enumerate(zip(right, found, strict=True)):
            problem = _one(case, r, f, judgements)
            if problem is not None:
                return f"[{i}] {problem}"
        return None
    same = type(found) is type(right) and found == right
    return None if same else f"{_show(found)}, not {right!r}"


def _show(x: Any) -> str:
    """Return an output in few words."""
    if isinstance(x, Data):
        few = replace(x, shape=(min(x.size, 5),), raw=x.raw[: 5 * ITEMSIZE[x.dtype]], repeats=None)
        elements = map(show, values(few))
        more = ", ..." if x.size > 5 else ""
        return (
            f"{x.dtype} {list(x.shape)} of {', '.join(elements)}{more}"
            if x.size
            else (f"{x.dtype} {list(x.shape)}")
        )
    if isinstance(x, list | tuple):
        text = ", ".join(_show(one) for one in x)
        text = text if len(x) == 1 else f"[{text}]"
    else:
        text = repr(x)
    return text if len(text) < 100 else text[:97] + "..."
