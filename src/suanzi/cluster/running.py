"""What may happen while Dask computes, in one sentence each."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from concurrent.futures import CancelledError
from typing import Any, TypeVar

from suanzi.status import InternalError, StatusError

T = TypeVar("T")


def told(graph: Any, compute: Callable[[], T]) -> T:
    """Return what Dask computes of a graph; a cluster that is lost is an error that says so."""
    try:
        return compute()
    except StatusError:
        raise
    except Exception as error:
        problem = _problem(error, graph)
        if problem is None:
            raise
        raise InternalError(f"cluster: {problem}") from error


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
