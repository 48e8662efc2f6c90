"""A fork waits until no other thread imports something for suanzi.

Many operators import on first use: the first product loads SciPy. A child forked meanwhile would
inherit import locks of a thread that it does not have, and wait for them forever.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from types import FrameType

_LONGEST = 60.0
"""Seconds after which a fork proceeds all the same."""


def wait_for_imports() -> None:
    """Return once no other thread is inside an import that suanzi began.

    A thread that forks inside an import of its own does not wait: the others may wait for it.
    """
    me = threading.get_ident()
    if _import_of(sys._getframe(), anyones=True):
        return
    deadline = time.monotonic() + _LONGEST
    while any(_import_of(frame) for ident, frame in sys._current_frames().items() if ident != me):
        if time.monotonic() > deadline:
            return
        time.sleep(0.001)


def _import_of(frame: FrameType | None, anyones: bool = False) -> bool:
    """Return whether a stack is inside an import: of or by a module of suanzi, or anyone's."""
    importing = ""
    while frame is not None:
        if frame.f_code.co_filename == "<frozen importlib._bootstrap>":
            if frame.f_code.co_name == "_find_and_load":
                importing = str(frame.f_locals.get("name", ""))
                if anyones or _is_ours(importing):
                    return True
        elif importing and not frame.f_code.co_filename.startswith("<frozen importlib"):
            name = str(frame.f_globals.get("__name__", ""))
            if _is_ours(name):
                return True
            if name != "importlib":  # whose import_module is called for another module
                importing = ""
        frame = frame.f_back
    return False


def _is_ours(module: str) -> bool:
    return module == "suanzi" or module.startswith("suanzi.")


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=wait_for_imports)
