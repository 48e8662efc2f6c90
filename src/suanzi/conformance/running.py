"""Runs the cases: each worker process has operators, their truth, and a subject of its own."""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass

from suanzi.conformance.answers import Answer, verdict
from suanzi.conformance.cases import Wanted, cases
from suanzi.conformance.model import Case, Refused
from suanzi.conformance.process import Backend, Facts, Subject, Unanswered
from suanzi.conformance.results import Result

_subject: Subject | None = None


@dataclass(frozen=True)
class Job:
    """The cases of one operator, for one worker."""

    op: str
    wanted: Wanted
    only: frozenset[str] | None = None
    """The names of the only cases to run."""


def facts_of(backend: Backend) -> Facts:
    """Start a subject, and return what it says of itself."""
    with Subject(backend) as subject:
        return subject.facts


def run(
    backend: Backend, jobs: Sequence[Job], *, processes: int = 1, timeout: float = 10.0
) -> Iterator[list[Result]]:
    """Give the results of the jobs, each as it is done."""
    if processes <= 1:
        with Subject(backend, timeout) as subject:
            for job in jobs:
                yield run_job(subject, job)
        return
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(processes, context, _begin, (backend, timeout)) as pool:
        for done in as_completed([pool.submit(_run_in_pool, job) for job in jobs]):
            yield done.result()


def _begin(backend: Backend, timeout: float) -> None:
    global _subject
    _subject = Subject(backend, timeout)


def _run_in_pool(job: Job) -> list[Result]:
    assert _subject is not None
    return run_job(_subject, job)


def run_job(subject: Subject, job: Job) -> list[Result]:
    """Run the cases of one operator."""
    found = cases(job.op, job.wanted)
    if job.only is not None:
        found = [case for case in found if case.id in job.only]
    return [run_case(subject, case, job.wanted.rules) for case in found]


def run_case(subject: Subject, case: Case, rules: str) -> Result:
    """Run one case and judge it."""
    answer = _ask(subject, case, rules)
    facts = {"id": case.id, "op": case.op, "group": case.group, "dtype": case.dtype,
             "extension": case.extension}  # fmt: skip
    if isinstance(answer, Unanswered):
        outcome = "failed" if answer.outcome == "broken" else answer.outcome
        return Result(**facts, outcome=outcome, problem=answer.words)  # type: ignore[arg-type]
    found = verdict(case, answer, subject.facts.statuses)
    worst = max(found.judgements, key=lambda j: j.ulp or 0.0, default=None)
    return Result(
        **facts,  # type: ignore[arg-type]
        outcome="passed" if found.passed else "failed",
        problem=found.problem,
        ulp=None if worst is None else worst.ulp,
        bound=None if worst is None else worst.bound,
        mean_relative=None if worst is None else worst.mean_relative,
        max_relative=None if worst is None else worst.max_relative,
        cann=None if worst is None else worst.cann,
    )


def _ask(subject: Subject, case: Case, rules: str) -> Answer | Unanswered:
    missing = subject.facts.missing.get(case.op)
    if missing is not None:
        return Unanswered("unsupported", missing)
    if case.skip is not None:
        return Unanswered("skipped", case.skip)
    answer = subject.ask(case, rules)
    if isinstance(answer, Unanswered) and answer.refused and isinstance(case.expect(), Refused):
        return Answer(None, (), answer.words)
    return answer


def timed(started: float) -> float:
    """Return the seconds since a start."""
    return time.monotonic() - started
