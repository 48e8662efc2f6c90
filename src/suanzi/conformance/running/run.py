"""Runs the cases: each worker process has operators, their truth, and a subject of its own."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

from suanzi.base.status import StatusError
from suanzi.conformance.cases import Wanted, cases
from suanzi.conformance.judging.calls import call_of
from suanzi.conformance.judging.judge import Judgement
from suanzi.conformance.judging.verdict import Answer, verdict
from suanzi.conformance.model.basis import REQUIRED, needs, why
from suanzi.conformance.model.case import Case, Either, Expected
from suanzi.conformance.model.expected import may_refuse
from suanzi.conformance.model.results import BAD, Kept, Outcome, Result
from suanzi.conformance.running.backends import C_ADAPTER
from suanzi.conformance.running.crashes import Losses, explained
from suanzi.conformance.running.process import Asked, Backend, Facts, Subject, Unanswered
from suanzi.conformance.running.recording import kept
from suanzi.conformance.running.reproduction import reproduction
from suanzi.conformance.subjects.wire import Bytes, Data, Shaped

_WORDS = 2000
"""How many characters of what went wrong are kept."""


@dataclass(frozen=True)
class Job:
    """The cases of one operator, for one worker."""

    op: str
    wanted: Wanted
    only: frozenset[str] | None = None
    """The names of the only cases to run."""
    record: bool = False
    """Whether the answers to required cases are kept."""


def facts_of(backend: Backend) -> Facts:
    """Start a subject, and return its description of itself."""
    with Subject(backend) as subject:
        return subject.facts


def run(
    backend: Backend, jobs: Sequence[Job], *, processes: int = 1, timeout: float = 10.0
) -> Iterator[list[Result]]:
    """Give the results of the jobs, each as it is done."""
    for _, results in run_each(backend, jobs, processes=processes, timeout=timeout):
        yield results


def run_each(
    backend: Backend,
    jobs: Sequence[Job],
    *,
    processes: int = 1,
    timeout: float = 10.0,
    so_far: dict[str, list[Result]] | None = None,
    started: Subject | None = None,
) -> Generator[tuple[Job, list[Result]], None, None]:
    """Give each job with its results when it is done; closing the generator ends all processes.

    `so_far` gets the results of every interface as they come, those of unfinished ones, too.
    `started` is a running process; it is used, or ended if it is not needed.
    """
    found = {} if so_far is None else so_far
    if processes > 1:
        # Imported here: one case alone, in an edit-compile-check loop, needs no other processes.
        from suanzi.conformance.running.pool import run_in_processes

        if started is not None:
            started.close()
        yield from run_in_processes(results_of, backend, jobs, processes, timeout, found)
        return
    with started or Subject(backend, timeout) as subject:
        for job in jobs:
            found[job.op] = []
            for result in results_of(subject, job):
                found[job.op].append(result)
            yield job, found[job.op]


def run_job(subject: Asked, job: Job) -> list[Result]:
    """Run the cases of one operator."""
    return list(results_of(subject, job))


def results_of(
    subject: Asked, job: Job, done: Sequence[Result] = (), died: str | None = None
) -> Iterator[Result]:
    """Run the cases of one operator, and give each result at once.

    `done` are the results that are there already, from a process that `died`, as these words say,
    of the case after them.
    """
    found = cases(job.op, job.wanted)
    if job.only is not None:
        found = [case for case in found if case.id in job.only]
    # Ten crashes end a group; its statuses are to be heard all the same.
    found.sort(key=lambda case: case.group != "status")
    losses = Losses(job.op, done)
    behind = [case.id for case in found].index(done[-1].id) + 1 if done else 0
    run_one = partial(run_case, record=job.record)
    for case in _required(found[behind:]) if job.wanted.normative else found[behind:]:
        if died is not None:
            facts = _facts(case, wrong=True)
            result = Result(**facts, outcome="crashed", problem=died)
            result = replace(
                result, kept=_kept(case, facts, Unanswered("crashed", died), job.record)
            )
            died = None
        elif (words := losses.why_not(case.group)) is not None:
            result = _lost(case, "skipped", words, job.record)
        else:
            result = run_one(subject, case)
            if result.outcome == "crashed":
                result = explained(subject, case, result, job.wanted, losses, run_one)
        losses.count(result)
        yield result


def _required(found: Sequence[Case]) -> Iterator[Case]:
    """Give the cases that the standard requires once their truth is known, and keep the truth."""
    for case in found:
        expected = case.expect()
        if case.skip is not None or why(case, expected).basis in REQUIRED:
            yield replace(case, expect=partial(_known, expected))


def _known(expected: Expected) -> Expected:
    return expected


def _lost(case: Case, outcome: Literal["crashed", "skipped"], words: str, record: bool) -> Result:
    """Return the result of a case that was not asked, or lost with a process of the kit."""
    facts = _facts(case, wrong=outcome == "crashed")
    evidence = _kept(case, facts, Unanswered(outcome, words), record)
    return Result(**facts, outcome=outcome, problem=words, kept=evidence)


def given_up(case: Case, words: str) -> Result:
    """Return the result of a case that is not asked, after crashes before it."""
    return _lost(case, "skipped", words, record=False)


def run_case(subject: Asked, case: Case, *, record: bool = False) -> Result:
    """Run one case and judge it; there is always a result."""
    try:
        return _run_case(subject, case, record)
    except (StatusError, OSError, MemoryError):
        raise  # of the kit, or of a file of cases
    except Exception as error:
        words = f"the answer cannot be judged: {type(error).__name__}: {error}"[:_WORDS]
        return Result(**_facts(case, wrong=True), outcome="failed", problem=words)


def _kept(
    case: Case,
    facts: dict[str, Any],
    answer: Answer | Unanswered,
    record: bool,
    expected: Expected | None = None,
) -> Kept | None:
    """Return the evidence of a required case; without its truth only if answers are recorded."""
    if facts["basis"] not in REQUIRED or case.skip is not None:
        return None
    if expected is None and not record:
        return None
    return kept(case, case.expect() if expected is None else expected, answer, record=record)


def _run_case(subject: Asked, case: Case, record: bool) -> Result:
    answer = _ask(subject, case)
    if isinstance(answer, Unanswered):
        outcome: Outcome = "failed" if answer.outcome == "broken" else answer.outcome
        facts = _facts(case, wrong=outcome in BAD)
        if outcome == "unsupported" and (needed := needs(case)) != case.dtype:
            facts["needs"] = needed
        told = _told(subject, case) if outcome in BAD else {}
        evidence = _kept(case, facts, answer, record)
        return Result(**facts, outcome=outcome, problem=answer.words, **told, kept=evidence)
    expected = case.expect()
    found = verdict(case, answer, subject.facts.statuses, expected)
    facts = _facts(case, expected, wrong=not found.passed)
    evidence = _kept(case, facts, answer, record, expected)
    worst = max(found.judgements, key=_strain, default=None)
    if isinstance(expected, Either) and found.readings:
        facts["reading"] = f"{expected.erratum}: {' | '.join(found.readings)}"
        facts["throughout"] = expected.throughout
    if found.inaccurate and not facts["extension"]:
        facts["broken"] = "quality"
    return Result(
        **facts,
        outcome="passed" if found.passed else "failed",
        problem=found.problem,
        ulp=None if worst is None else worst.ulp,
        bound=None if worst is None else worst.bound,
        mean_relative=None if worst is None else worst.mean_relative,
        max_relative=None if worst is None else worst.max_relative,
        cann=None if worst is None else worst.cann,
        kept=evidence,
        **({} if found.passed else _told(subject, case)),
    )


def _facts(case: Case, expected: Expected | None = None, *, wrong: bool = False) -> dict[str, Any]:
    reason = why(case, expected)
    facts = {"id": case.id, "op": case.op, "group": case.group, "dtype": case.dtype,
             "extension": reason.basis == "extension", "basis": reason.basis}  # fmt: skip
    return facts | ({"broken": reason.basis, "because": str(reason)} if wrong else {})


def _told(subject: Asked, case: Case) -> dict[str, Any]:
    """Return what else is said of a case that went wrong."""
    return {
        "call": call_of(case),
        "reproduction": reproduction(case, subject.backend, subject.facts),
    }


def _strain(one: Judgement) -> tuple[bool, float]:
    """Return how near an output is to its bound, or past it."""
    return one.problem is not None, (one.ulp or 0.0) / (one.bound or 1.0)


def _ask(subject: Asked, case: Case) -> Answer | Unanswered:
    missing = subject.facts.missing.get(case.op)
    if missing is not None:
        return Unanswered("unsupported", missing)
    if case.skip is not None:
        return Unanswered("skipped", case.skip)
    if not subject.facts.statuses and any(
        isinstance(x, Data) and x.layout == "destroyed" for x in case.arguments.values()
    ):
        return Unanswered("skipped", "the backend has no handles that can be destroyed")
    answer = subject.ask(case)
    if not isinstance(answer, Unanswered):
        return answer
    if answer.refused and may_refuse(case.expect()):
        return Answer(None, (), answer.words)
    if answer.outcome == "skipped" and not may_be_skipped(case, subject.backend):
        return Unanswered("unsupported", answer.words)
    return answer


def may_be_skipped(case: Case, backend: Backend) -> bool:
    """Tell whether a backend may say that it has no way to express a case.

    In C some arguments cannot be passed, as the kit's own adapter finds. Any other backend may lack
    what an adapter need not have: sparse tensors, and the hooks `memory`, `shape` and `write`. A
    call with dense tensors and numbers is always possible: to decline it is no answer.
    """
    values = [*case.arguments.values(), *(x for step in case.steps for x in step)]
    own = backend.adapter.removeprefix("suanzi.conformance.subjects.")
    return own == C_ADAPTER or any(map(_is_optional, values))


def _is_optional(x: Any) -> bool:
    """Tell whether an adapter may have no way to make an argument, or to take a step."""
    if isinstance(x, list | tuple):
        return any(map(_is_optional, x))
    if isinstance(x, dict):
        return any(map(_is_optional, x.values()))
    return isinstance(x, Bytes | Shaped) or x == "write" or getattr(x, "sparse", None) is not None
