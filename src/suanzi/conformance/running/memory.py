"""Backends are kept out of the memory of the kit, where another process could forge verdicts.

On Linux a process that is not dumpable cannot be traced, nor its /proc/PID/mem opened, by others of
the same user; root still can. Backends are not sandboxed otherwise.
"""

from __future__ import annotations

import ctypes
import sys
from threading import Lock

_GET, _SET = 3, 4  # PR_GET_DUMPABLE, PR_SET_DUMPABLE
_lock = Lock()
_held = 0
_before = 1


def is_dumpable() -> bool:
    """Tell whether other processes of this user may read the memory of this one."""
    return sys.platform != "linux" or _prctl(_GET) == 1


def hold() -> None:
    """Close the memory of this process to others, until `release` was called as often."""
    global _held, _before
    with _lock:
        if _held == 0 and sys.platform == "linux":
            _before = _prctl(_GET)
            _prctl(_SET, 0)
        _held += 1


def release() -> None:
    """Undo one `hold`."""
    global _held
    with _lock:
        _held -= 1
        if _held == 0 and sys.platform == "linux" and _before == 1:
            _prctl(_SET, 1)


def _prctl(option: int, value: int = 0) -> int:
    found: int = ctypes.CDLL(None).prctl(option, value, 0, 0, 0)
    return found
