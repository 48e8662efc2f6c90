"""Processes of the kit that share the work; one that is killed is restarted, and reported."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
from collections import Counter, deque
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection, wait
from threading import Thread
from types import ModuleType
from typing import TYPE_CHECKING, Any

from suanzi.base.status import InternalError, StatusError
from suanzi.base.text import ending
from suanzi.conformance.running.process import Backend, Subject

if TYPE_CHECKING:
    from suanzi.conformance.model.results import Result
    from suanzi.conformance.running.run import Job

Work = Callable[..., "Iterator[Result]"]
"""Gives the results of a job: subject, job, results so far, how the last process died."""
_context = multiprocessing.get_context("spawn")
_FRUITLESS = 3
"""Deaths of a process without a result between them after which a run ends."""
_subject: Subject | None = None


class Worker:
    """A process of the kit, with its own backend, and its current job."""

    def __init__(self, *arguments: Any) -> None:
        self.connection, theirs = _context.Pipe()
        self.process = _context.Process(target=_serve, args=(theirs, *arguments), daemon=True)
        with _nobodys_program():
            self.process.start()
        theirs.close()
        self.job: Job | None = None

    def give(self, job: Job | None, done: Sequence[Result] = (), died: str | None = None) -> None:
        """Hand over a job; None is the end."""
        self.job = job
        with suppress(OSError):  # of one that died: that is seen where its results are read
            self.connection.send(None if job is None else (job, list(done), died))

    def end(self) -> None:
        """End the process at once, and its backend with it."""
        self.process.terminate()
        self.process.join(5.0)
        self.process.kill()
        self.connection.close()


def run_in_processes(
    work: Work,
    backend: Backend,
    jobs: Sequence[Job],
    processes: int,
    timeout: float,
    found: dict[str, list[Result]],
) -> Generator[tuple[Job, list[Result]], None, None]:
    """Give each job with its results when it is done; `found` gets each result at once."""
    waiting, busy = deque(jobs), dict[Connection, Worker]()
    deaths: Counter[tuple[str, int]] = Counter()

    def start(*given: Any) -> None:
        worker = Worker(work, backend, timeout)
        busy[worker.connection] = worker
        worker.give(*given)

    try:
        while waiting and len(busy) < processes:
            start(waiting.popleft())
        while busy:
            for connection in wait(list(busy)):
                assert isinstance(connection, Connection)
                worker = busy[connection]
                job = worker.job
                results = found.setdefault(job.op, []) if job is not None else []
                try:
                    said = connection.recv()
                except (EOFError, OSError):
                    del busy[connection]
                    worker.process.join(5.0)
                    if job is None:  # it had to end
                        continue
                    how = ending(worker.process.exitcode or 0)
                    deaths[job.op, len(results)] += 1
                    if deaths[job.op, len(results)] == _FRUITLESS:
                        raise InternalError(
                            f"check: a process of the kit ended with {how} again and again; "
                            "perhaps memory ran out."
                        ) from None
                    start(job, results, f"the process of the kit that ran it ended with {how}")
                    continue
                if isinstance(said, BaseException):
                    raise said
                if said is not None:
                    results.append(said)
                    continue
                assert job is not None
                worker.give(waiting.popleft() if waiting else None)
                yield job, results
    finally:
        for worker in busy.values():
            worker.end()


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


def _serve(connection: Connection, work: Work, backend: Backend, timeout: float) -> None:
    """Do jobs until none is left, or the first process has ended."""
    global _subject
    # Ctrl-C reaches every process of the terminal; the first one decides, and ends the others.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, _end_now)
    Thread(target=_end_with_the_first, daemon=True).start()
    try:
        with Subject(backend, timeout) as _subject:
            while (asked := connection.recv()) is not None:
                for result in work(_subject, *asked):
                    connection.send(result)
                connection.send(None)
    except (EOFError, BrokenPipeError):
        pass
    except (StatusError, OSError) as error:
        connection.send(error)
    except Exception as error:
        connection.send(InternalError(f"check: {type(error).__name__}: {error}"))


def _end_with_the_first() -> None:
    """End when the first process has ended, even if it was killed."""
    first = multiprocessing.parent_process()
    if first is not None:
        first.join()
        _end_now()


def _end_now(*_: object) -> None:
    if _subject is not None:
        _subject.kill()
    os._exit(1)
