"""Check that there is memory for BLAS and LAPACK before they are loaded and called.

OpenBLAS hangs or ends the process if it gets no memory: for its threads and their buffers when it
is loaded, for a buffer of each concurrent call, and for a deeper stack. So if the memory of this
process is limited, what OpenBLAS will need is allocated and freed before it is called; otherwise
a call costs only the question whether there is a limit.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from suanzi import _core
from suanzi.base.status import AllocFailed

_CODE = 96 << 20
"""An upper bound of the memory that the libraries and modules themselves take."""
_THREADS = "OPENBLAS_NUM_THREADS"


def load(name: str) -> Any:
    """Import a module that loads BLAS; with one thread if there is not enough memory for more.

    >>> load("scipy.linalg").__name__
    'scipy.linalg'
    """
    if name in sys.modules:
        return import_module(name)
    with kept(name):
        return import_module(name)


@contextmanager
def kept(name: str) -> Iterator[None]:
    """Load a BLAS within this context; with one thread if there is not enough memory for more."""
    if not _core.memory_is_limited():
        yield
        return
    each = _core.blas_buffer() + stack_size()
    with _loading:
        if _core.has_room(_CODE + (_cores() + 1) * each):
            yield
            return
        if _core.has_room(_CODE + 2 * each):
            with _one_thread():
                yield
            return
    raise AllocFailed(
        f"not enough memory to load {name}, which contains BLAS. Import it before the limit is "
        "set, or raise the limit (ulimit -v)."
    )


_loading = threading.RLock()


def _cores() -> int:
    counted = os.cpu_count() or 1
    wanted = os.environ.get(_THREADS, "")
    return min(int(wanted), counted) if wanted.isdecimal() and int(wanted) else counted


def stack_size() -> int:
    """Return how much address space the stack of a thread takes."""
    try:
        import resource
    except ImportError:  # not on this system
        return 8 << 20
    soft, _ = resource.getrlimit(resource.RLIMIT_STACK)
    return 8 << 20 if soft == resource.RLIM_INFINITY else soft


@contextmanager
def _one_thread() -> Iterator[None]:
    before = os.environ.get(_THREADS)
    os.environ[_THREADS] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ[_THREADS]
        else:
            os.environ[_THREADS] = before
