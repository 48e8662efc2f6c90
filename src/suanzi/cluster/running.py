"""What may happen while Dask computes, in one sentence each."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, TypeVar

from suanzi.status import InternalError, StatusError

T = TypeVar("T")


def told(compute: Callable[[], T]) -> T:
    """Return what Dask computes; a cluster that is lost is a StatusError that says so."""
    try:
        return compute()
    except StatusError:
        raise
    except Exception as error:
        problem = _problem(error)
        if problem is None:
            raise
        raise InternalError(f"cluster: {problem}") from error


def _problem(error: Exception) -> str | None:
    distributed: Any = sys.modules.get("distributed")
    if distributed is None:
        return None
    from concurrent.futures import CancelledError

    if isinstance(error, distributed.KilledWorker):
        return (
            "a task ended one worker after another; perhaps memory ran out. Cut the tensors into "
            "smaller blocks, with reblock, or give workers more memory."
        )
    if isinstance(error, CancelledError | TimeoutError | OSError):
        return (
            "the scheduler is gone, and the blocks it kept with it. Connect to another one, with "
            "distributed.Client, and compute again from data that is still there."
        )
    return None
