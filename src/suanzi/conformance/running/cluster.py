"""A run on a Dask cluster: an interface is a task, and what a lost worker had runs again.

Workers need suanzi of this version and the subject; nothing else is sent to them but which cases to
run. Security is Dask's: TLS comes from its configuration, and a cluster of this machine listens on
the loopback address only.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from queue import Empty, SimpleQueue
from threading import Lock
from typing import TYPE_CHECKING, Any

from suanzi import __version__
from suanzi.conformance.running.process import Backend, Subject
from suanzi.status import InternalError, InvalidArgument, StatusError

if TYPE_CHECKING:
    from suanzi.conformance.model.results import Result
    from suanzi.conformance.running.run import Job

_CONNECT_SECONDS = 10
"""How long a scheduler may take to answer."""
_WORKERS_SECONDS = 60
"""How long to wait for the first worker of a cluster that has none yet."""
_LOOK_SECONDS = 5
"""How often to check that the scheduler runs while no result arrives."""

_idle: dict[str, deque[Subject]] = {}
_lock = Lock()


def run_on_cluster(
    backend: Backend,
    jobs: Sequence[Job],
    where: str,
    timeout: float,
    found: dict[str, list[Result]],
) -> Generator[tuple[Job, list[Result]], None, None]:
    """Give each job with its results, as it is done; a worker that is lost has its jobs done again.

    `where` is the address of a scheduler, or ``local:4`` for four processes of this machine.
    """
    with _client(where) as client:
        _see_versions(client, where)
        done: SimpleQueue[Any] = SimpleQueue()
        waiting = {client.submit(_results, backend, job, timeout, pure=False): job for job in jobs}
        for future in waiting:
            future.add_done_callback(done.put)
        try:
            while waiting:
                future = _next(client, done, where)
                job = waiting.pop(future)
                found[job.op] = _outcome(future, job, where)
                yield job, found[job.op]
        finally:
            with suppress(Exception):  # the scheduler may be gone, which was told then
                client.cancel(list(waiting))
                client.run(_end_subjects)


def _results(backend: Backend, job: Job, timeout: float) -> list[Result]:
    """Run the cases of one interface; on a worker, whose subjects are kept for the next ones."""
    from suanzi.conformance.running.run import run_job

    key = repr((backend, timeout))
    with _lock:
        kept = _idle.setdefault(key, deque())
        subject = kept.pop() if kept else None
    if subject is None:
        subject = Subject(backend, timeout).__enter__()
    try:
        found = run_job(subject, job)
    except BaseException:
        subject.close()
        raise
    with _lock:
        _idle[key].append(subject)
    return found


def _end_subjects() -> None:
    with _lock:
        some = [subject for kept in _idle.values() for subject in kept]
        _idle.clear()
    for subject in some:
        subject.close()


@contextmanager
def _client(where: str) -> Iterator[Any]:
    """Connect to a scheduler, or start one with workers on this machine."""
    try:
        import distributed
    except ModuleNotFoundError:
        raise InvalidArgument(
            "check: --cluster needs Dask; `pip install 'suanzi[cluster]'` installs it."
        ) from None
    local = re.fullmatch(r"local:([0-9]{1,4})", where)
    if not local and not re.fullmatch(r"[a-z]+://[\w.:\[\]%/-]+", where, re.ASCII):
        raise InvalidArgument(
            f"check: {where!r} is no cluster; give the address of a scheduler "
            "(tcp://host:8786, tls://host:8786) or local:4 for four processes of this machine."
        )
    if local and not int(local[1]):
        raise InvalidArgument(
            "check: a cluster of no processes runs nothing; local:1 is the least."
        )
    started: Any = None
    try:
        if local:
            started = distributed.LocalCluster(
                n_workers=int(local[1]), threads_per_worker=1, processes=True, host="127.0.0.1",
                dashboard_address=None,
            )  # fmt: skip
        client = distributed.Client(
            started or where, timeout=_CONNECT_SECONDS, set_as_default=False
        )
    except (OSError, TimeoutError, TypeError, ValueError) as error:
        # TypeError is what Dask has for tls:// without certificates.
        if started is not None:
            started.close()
        said = str(error).strip().rstrip(".") or type(error).__name__
        raise InvalidArgument(f"check: no scheduler answers at {where}: {said}.") from None
    try:
        yield client
    finally:
        with suppress(Exception):
            client.close(timeout=_LOOK_SECONDS)
        if started is not None:
            started.close(timeout=_LOOK_SECONDS)


def _see_versions(client: Any, where: str) -> None:
    """See that there is a worker, and that each has this version of suanzi."""
    try:
        client.wait_for_workers(1, timeout=_WORKERS_SECONDS)
    except TimeoutError:
        raise InvalidArgument(f"check: the cluster at {where} has no worker.") from None

    # Dask asks for what is installed, and suanzi may be run from its sources. A function within
    # another travels as it is, for there may be no suanzi at all.
    def version() -> str | None:
        try:
            import suanzi
        except ImportError:
            return None
        return suanzi.__version__

    for address, theirs in client.run(version).items():
        if theirs is None or theirs != __version__:
            has = "no suanzi" if theirs is None else f"suanzi {theirs}"
            raise InvalidArgument(
                f"check: the worker {address} has {has}, and this is {__version__}; install the "
                "same version on every worker, for cases and judgements differ between versions."
            )


def _next(client: Any, done: SimpleQueue[Any], where: str) -> Any:
    """Return the next completed future; raise if the scheduler is gone."""
    while True:
        with suppress(Empty):
            return done.get(timeout=_LOOK_SECONDS)
        if client.status != "running":
            raise InternalError(f"check: the scheduler at {where} is gone.")


def _outcome(future: Any, job: Job, where: str) -> list[Result]:
    """Return the results of a job that is done, or raise one sentence of what became of it."""
    from concurrent.futures import CancelledError

    from distributed import KilledWorker

    try:
        found: list[Result] = future.result(timeout=_CONNECT_SECONDS)
    except KilledWorker:
        raise InternalError(
            f"check: the cases of {job.op} ended one worker after another; perhaps memory ran out."
        ) from None
    except StatusError:
        raise
    except (CancelledError, TimeoutError, OSError):
        raise InternalError(
            f"check: the cluster at {where} lost {job.op}; its scheduler may be gone."
        ) from None
    except Exception as error:  # whatever a worker's Python lacks
        raise InternalError(f"check: {job.op}: {type(error).__name__}: {error}") from None
    return found
