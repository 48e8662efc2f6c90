"""Writes down which functions of suanzi are entered, in order, by a process and those it starts.

It runs as `sitecustomize`, which Python imports before anything else: a copy under that name is in
a folder of PYTHONPATH. The program that starts a walk calls `begin`. What runs because a module is
imported is left out: it depends on what was imported before.
"""

from __future__ import annotations

import os
import sys
import threading
from types import CodeType, FrameType
from typing import Any

OPTIMIZED = 0x1  # a flag of functions, which bodies of modules and of classes lack
LOG, HOME = "SUANZI_WALK_LOG", "SUANZI_WALK_HOME"


def begin(log: str, home: str) -> None:
    """Write each function of a folder that is entered from now on into a file, once."""
    os.environ.update({LOG: log, HOME: home})
    known: set[CodeType] = set()
    file = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)

    def entered(frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        if event != "call" or code in known:
            return
        if not code.co_filename.startswith(home) or not code.co_flags & OPTIMIZED:
            known.add(code)
        elif not _is_importing(frame):
            known.add(code)
            # One write, so that lines of several processes stay whole and in order.
            os.write(file, f"{os.path.relpath(code.co_filename, home)}\t{code.co_name}\n".encode())

    threading.setprofile(entered)
    sys.setprofile(entered)


def _is_importing(frame: FrameType | None) -> bool:
    while frame is not None:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            return True
        frame = frame.f_back
    return False


if LOG in os.environ:
    begin(os.environ[LOG], os.environ[HOME])
