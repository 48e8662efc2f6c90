"""What may happen while Dask computes, in one sentence each."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from concurrent.futures import CancelledError
from typing import Any, TypeVar
from weakref import WeakSet

import dask

from suanzi import __version__
from suanzi.status import InternalError, InvalidArgument, StatusError

T = TypeVar("T")

_ON_WORKERS = (None, "distributed", "dask.distributed")
"""What Dask's configuration has for `scheduler` where a client computes, if there is one."""
_seen: WeakSet[Any] = WeakSet()
"""The clients whose workers were asked for their version."""


def told(graph: Any, compute: Callable[[], T]) -> T:
    """Return what Dask computes of a graph; a cluster that is lost is an error that says so."""
    try:
        _see_versions()
        return compute()
    except StatusError:
        raise
    except Exception as error:
        problem = _problem(error, graph)
        if problem is None:
            raise
        raise InternalError(f"cluster: {problem}") from error


def _see_versions() -> None:
    """Raise InvalidArgument if a worker of the client has another suanzi; each is asked once."""
    distributed: Any = sys.modules.get("distributed")
    if distributed is None or dask.config.get("scheduler", None) not in _ON_WORKERS:
        return
    try:
        client = distributed.default_client()
    except ValueError:  # there is none
        return
    if client in _seen or client.asynchronous:
        return
    for address, theirs in client.run(_version, on_error="return").items():
        if theirs != __version__:
            has = "no suanzi" if isinstance(theirs, Exception) else f"suanzi {theirs}"
            raise InvalidArgument(
                f"cluster: the worker {address} has {has}, and this is {__version__}; install the "
                "same version on every worker, for results differ between versions."
            )
    _seen.add(client)


def _version() -> str:
    """Return the version on a worker."""
    return __version__


def _problem(error: Exception, graph: Any) -> str | None:
    """Return what became of the cluster; None if it is not that."""
    distributed: Any = sys.modules.get("distributed")
    if distributed is None:
        return None
    if isinstance(error, distributed.KilledWorker):
        return (
            "a task ended one worker after another; perhaps memory ran out. Cut the tensors into "
            "smaller blocks, with reblock, or give workers more memory."
        )
    # Without a client, Dask looks for the blocks here, and does not find them.
    if isinstance(error, CancelledError | TimeoutError | OSError) or _has_lost(graph, distributed):
        return (
            "the scheduler is gone, and the blocks it kept with it. Connect to another one, with "
            "distributed.Client, and compute again from data that is still there."
        )
    return None


def _has_lost(graph: Any, distributed: Any) -> bool:
    """Tell whether a graph refers to blocks of a scheduler that is no longer there."""
    for layer in graph.layers.values():
        task = next(iter(layer.values()), None) if isinstance(layer, Mapping) else None
        value = getattr(task, "value", task)
        if isinstance(value, distributed.Future) and (
            value.client is None or value.client.status != "running" or value.cancelled()
        ):
            return True
    return False
