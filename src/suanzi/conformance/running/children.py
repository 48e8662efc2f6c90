"""What a command has started ends with it, whatever that has started itself."""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from suanzi.conformance.running.descendants import descendants, end_all

_SUBREAPER = 36  # PR_SET_CHILD_SUBREAPER


@contextmanager
def children_ended() -> Iterator[None]:
    """End every process that was started within, also those that outlived their parents.

    On Linux these become children of this process, where they are found.
    """
    before = set(descendants(os.getpid()))
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_SUBREAPER, 1, 0, 0, 0)
    try:
        yield
    finally:
        end_all([one for one in descendants(os.getpid()) if one not in before])
        if sys.platform == "linux":
            ctypes.CDLL(None).prctl(_SUBREAPER, 0, 0, 0, 0)
