"""Runs the cases: each worker process has operators, their truth, and a subject of its own."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
from collections.abc import Generator, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Thread
from types import ModuleType
from typing import Any

from suanzi.conformance.cases import Wanted, cases
from suanzi.conformance.judging.judge import Judgement
from suanzi.conformance.judging.verdict import Answer, verdict
from suanzi.conformance.model.case import Case, Refused
from suanzi.conformance.model.results import BAD, NOT_TRIED, Outcome, Result
from suanzi.conformance.running.process import Asked, Backend, Facts, Subject, Unanswered
from suanzi.conformance.running.reproduction import reproduction
from suanzi.conformance.subjects.wire import Data
from suanzi.status import InternalError

ENOUGH = 10
"""Crashes and hangs of one interface after which its other cases are not tried."""

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
    for _, results in run_each(backend, jobs, processes=processes, timeout=timeout):
        yield results


def run_each(
    backend: Backend, jobs: Sequence[Job], *, processes: int = 1, timeout: float = 10.0
) -> Generator[tuple[Job, list[Result]], None, None]:
    """Give each job with its results, as it is done; whatever ends it ends all its processes."""
    if processes <= 1:
        with Subject(backend, timeout) as subject:
            for job in jobs:
                yield job, run_job(subject, job)
        return
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(processes, context, _begin, (backend, timeout))
    try:
        with _nobodys_program():
            waiting = {pool.submit(_run_in_pool, job): job for job in jobs}
        for done in as_completed(waiting):
            yield waiting[done], done.result()
    except BrokenProcessPool:
        _abandon(pool)
        raise InternalError("check: a process of the kit ended; perhaps memory ran out.") from None
    except BaseException:
        _abandon(pool)
        raise
    pool.shutdown()


@contextmanager
def _nobodys_program() -> Iterator[None]:
    """Hide the program from processes that start meanwhile: they would run it once more.

    So a script needs no guard, and a notebook or standard input, which have no file, will do.
    """
    own = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = own


def _abandon(pool: ProcessPoolExecutor) -> None:
    """End the processes of a pool at once, and their subjects with them."""
    processes = list((pool._processes or {}).values())
    pool.shutdown(wait=False, cancel_futures=True)
    for process in processes:
        process.terminate()
    for process in processes:
        process.join(5.0)


def _begin(backend: Backend, timeout: float) -> None:
    global _subject
    # Ctrl-C reaches every process of the terminal; the first one decides, and ends the others.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, _end_now)
    Thread(target=_end_with_the_first, daemon=True).start()
    _subject = Subject(backend, timeout)


def _end_with_the_first() -> None:
    """End when the first process is gone, be it killed: nobody else would end this one."""
    first = multiprocessing.parent_process()
    if first is not None:
        first.join()
        _end_now()


def _end_now(*_: object) -> None:
    if _subject is not None:
        _subject.kill()
    os._exit(1)


def _run_in_pool(job: Job) -> list[Result]:
    assert _subject is not None
    return run_job(_subject, job)


def run_job(subject: Asked, job: Job) -> list[Result]:
    """Run the cases of one operator."""
    found = cases(job.op, job.wanted)
    if job.only is not None:
        found = [case for case in found if case.id in job.only]
    results: list[Result] = []
    lost = 0
    for case in found:
        if lost < ENOUGH:
            results.append(run_case(subject, case))
            lost += results[-1].outcome in ("crashed", "hung")
        else:
            why = f"{NOT_TRIED} after {ENOUGH} calls of {job.op} that crashed or hung"
            results.append(Result(**_facts(case), outcome="skipped", problem=why))
    return results


def run_case(subject: Asked, case: Case) -> Result:
    """Run one case and judge it."""
    answer = _ask(subject, case)
    facts = _facts(case)
    if isinstance(answer, Unanswered):
        outcome: Outcome = "failed" if answer.outcome == "broken" else answer.outcome
        paste = _paste(subject, case) if outcome in BAD else None
        return Result(**facts, outcome=outcome, problem=answer.words, reproduction=paste)
    found = verdict(case, answer, subject.facts.statuses)
    worst = max(found.judgements, key=_strain, default=None)
    return Result(
        **facts,
        outcome="passed" if found.passed else "failed",
        problem=found.problem,
        ulp=None if worst is None else worst.ulp,
        bound=None if worst is None else worst.bound,
        mean_relative=None if worst is None else worst.mean_relative,
        max_relative=None if worst is None else worst.max_relative,
        cann=None if worst is None else worst.cann,
        reproduction=None if found.passed else _paste(subject, case),
    )


def _is_destroyed(x: object) -> bool:
    return isinstance(x, Data) and x.layout == "destroyed"


def _facts(case: Case) -> dict[str, Any]:
    return {"id": case.id, "op": case.op, "group": case.group, "dtype": case.dtype,
            "extension": case.extension}  # fmt: skip


def _paste(subject: Asked, case: Case) -> str:
    return reproduction(case, subject.backend, subject.facts)


def _strain(one: Judgement) -> tuple[bool, float]:
    """Return how near an output is to its bound, or past it."""
    return one.problem is not None, (one.ulp or 0.0) / (one.bound or 1.0)


def _ask(subject: Asked, case: Case) -> Answer | Unanswered:
    missing = subject.facts.missing.get(case.op)
    if missing is not None:
        return Unanswered("unsupported", missing)
    if case.skip is not None:
        return Unanswered("skipped", case.skip)
    if not subject.facts.statuses and any(_is_destroyed(x) for x in case.arguments.values()):
        return Unanswered("skipped", "the subject has no handles that can be destroyed")
    answer = subject.ask(case)
    if isinstance(answer, Unanswered) and answer.refused and isinstance(case.expect(), Refused):
        return Answer(None, (), answer.words)
    return answer
