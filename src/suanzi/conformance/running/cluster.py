"""A run on a Dask cluster: an interface is a task, and what a lost worker had runs again.

Workers need suanzi of this version and the subject; nothing else is sent to them but which cases to
run. Security is Dask's: TLS comes from its configuration, and a cluster of this machine listens on
the loopback address only.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from queue import Empty, SimpleQueue
from threading import Lock
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from suanzi._core import VERSION
from suanzi.base.status import InternalError, InvalidArgument, StatusError
from suanzi.conformance.running.process import Backend, Subject

if TYPE_CHECKING:
    from suanzi.conformance.model.results import Result
    from suanzi.conformance.running.run import Job

_CONNECT_SECONDS = 10
"""How long a scheduler may take to answer."""
_WORKERS_SECONDS = 60
"""How long to wait for the first worker of a cluster that has none yet."""
_LOOK_SECONDS = 5
"""How often to check that the scheduler runs while no result arrives."""

_Work = TypeVar("_Work")
_Found = TypeVar("_Found")
_Kept = TypeVar("_Kept", bound="Closing")


class Closing(Protocol):
    """What a worker keeps for the next task: the process of a subject."""

    def close(self) -> None:
        """End it."""
        ...


_idle: dict[str, deque[Any]] = {}
_lock = Lock()


def on_cluster(
    where: str,
    work: Sequence[_Work],
    call: Callable[[_Work], _Found],
    name: Callable[[_Work], str],
    command: str = "check",
) -> Generator[tuple[_Work, _Found], None, None]:
    """Give each piece of work with its result, as it is done; what a lost worker had is done again.

    `where` is the address of a scheduler, or ``local:4`` for four processes of this machine; `name`
    says of which piece of work an error is, and `command` which command asks.
    """
    with _client(where, command) as client:
        _see_versions(client, where, command)
        done: SimpleQueue[Any] = SimpleQueue()
        waiting = {client.submit(call, one, pure=False): one for one in work}
        for future in waiting:
            future.add_done_callback(done.put)
        try:
            while waiting:
                future = _next(client, done, where, command)
                one = waiting.pop(future)
                yield one, _outcome(future, name(one), where, command)
        finally:
            with suppress(Exception):  # the scheduler may be gone, which was reported then
                client.cancel(list(waiting))
                client.run(_end_kept)


def run_on_cluster(
    backend: Backend,
    jobs: Sequence[Job],
    where: str,
    timeout: float,
    found: dict[str, list[Result]],
) -> Generator[tuple[Job, list[Result]], None, None]:
    """Give each job with its results, as it is done."""
    call = partial(_results, backend=backend, timeout=timeout)
    for job, results in on_cluster(where, jobs, call, lambda job: job.op):
        found[job.op] = results
        yield job, results


def _results(job: Job, backend: Backend, timeout: float) -> list[Result]:
    """Run the cases of one interface, on a worker."""
    from suanzi.conformance.running.run import run_job

    with kept(repr((backend, timeout)), lambda: Subject(backend, timeout)) as subject:
        return run_job(subject, job)


@contextmanager
def kept(key: str, make: Callable[[], _Kept]) -> Iterator[_Kept]:
    """Give what this worker keeps under a key, or make it; after an error it is ended."""
    with _lock:
        free = _idle.setdefault(key, deque())
        one = free.pop() if free else None
    if one is None:
        one = make()
    try:
        yield one
    except BaseException:
        one.close()
        raise
    with _lock:
        _idle.setdefault(key, deque()).append(one)


def _end_kept() -> None:
    with _lock:
        some = [one for free in _idle.values() for one in free]
        _idle.clear()
    for one in some:
        one.close()


@contextmanager
def _client(where: str, command: str) -> Iterator[Any]:
    """Connect to a scheduler, or start one with workers on this machine."""
    try:
        import distributed
    except ModuleNotFoundError:
        raise InvalidArgument(
            f"{command}: --cluster needs Dask; `pip install 'suanzi[cluster]'` installs it."
        ) from None
    local = re.fullmatch(r"local:([0-9]{1,4})", where)
    if not local and not re.fullmatch(r"[a-z]+://[\w.:\[\]%/-]+", where, re.ASCII):
        raise InvalidArgument(
            f"{command}: {where!r} is no cluster; give the address of a scheduler "
            "(tcp://host:8786, tls://host:8786) or local:4 for four processes of this machine."
        )
    if local and not int(local[1]):
        raise InvalidArgument(
            f"{command}: a cluster of no processes runs nothing; local:1 is the least."
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
        raise InvalidArgument(f"{command}: no scheduler answers at {where}: {said}.") from None
    try:
        yield client
    finally:
        with suppress(Exception):
            client.close(timeout=_LOOK_SECONDS)
        if started is not None:
            started.close(timeout=_LOOK_SECONDS)


def _see_versions(client: Any, where: str, command: str) -> None:
    """See that there is a worker, and that each has this version of suanzi."""
    try:
        client.wait_for_workers(1, timeout=_WORKERS_SECONDS)
    except TimeoutError:
        raise InvalidArgument(f"{command}: the cluster at {where} has no worker.") from None

    # Dask asks for what is installed, and suanzi may be run from its sources. A function within
    # another travels as it is, for there may be no suanzi at all.
    def version() -> str | None:
        try:
            from suanzi import _core
        except ImportError:
            return None
        return _core.VERSION

    for address, theirs in client.run(version).items():
        if theirs is None or theirs != VERSION:
            has = "no suanzi" if theirs is None else f"suanzi {theirs}"
            raise InvalidArgument(
                f"{command}: the worker {address} has {has}, and this is {VERSION}; install "
                "the same version on every worker: cases and judgements differ between versions."
            )


def _next(client: Any, done: SimpleQueue[Any], where: str, command: str) -> Any:
    """Return the next completed future; raise if the scheduler is gone."""
    while True:
        with suppress(Empty):
            return done.get(timeout=_LOOK_SECONDS)
        if client.status != "running":
            raise InternalError(f"{command}: the scheduler at {where} is gone.")


def _outcome(future: Any, name: str, where: str, command: str) -> Any:
    """Return the result of work that is done, or raise one sentence of what became of it."""
    from concurrent.futures import CancelledError

    from distributed import KilledWorker

    try:
        found = future.result(timeout=_CONNECT_SECONDS)
    except KilledWorker:
        raise InternalError(
            f"{command}: {name} ended one worker after another; perhaps memory ran out."
        ) from None
    except StatusError:
        raise
    except (CancelledError, TimeoutError, OSError):
        raise InternalError(
            f"{command}: the cluster at {where} lost {name}; its scheduler may be gone."
        ) from None
    except Exception as error:  # whatever a worker's Python lacks
        raise InternalError(f"{command}: {name}: {type(error).__name__}: {error}") from None
    return found
