"""What the command shares with others: standard streams, which may be closed, and signals."""

from __future__ import annotations

import io
import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

from rich.console import Console

_NARROWEST = 20
"""Columns below which help is not wrapped: it would never end."""
_FAILING = ("strict", "surrogateescape")
"""How letters that an encoding lacks end in an error; Python has the second for LC_ALL=C."""


def repair_streams() -> None:
    """Open closed standard streams on the null device; replace characters they cannot encode."""
    while (stream := os.open(os.devnull, os.O_RDWR)) <= 2:
        pass  # the next file must not get the number of a standard stream
    os.close(stream)
    for number, name in ((1, "stdout"), (2, "stderr")):
        found = getattr(sys, name)
        if found is None:
            setattr(sys, name, open(number, "w", encoding="utf-8", closefd=False))  # noqa: SIM115
        elif isinstance(found, io.TextIOWrapper) and found.errors in _FAILING:
            found.reconfigure(errors="backslashreplace")


def console() -> Console | None:
    """Return a terminal to print help on; None for the usual one, unless that is too narrow."""
    narrow = Console().width < _NARROWEST
    return Console(width=_NARROWEST) if narrow else None


def print_no_more() -> None:
    """Discard all further output, so that Python does not try to write it again on exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@contextmanager
def ended_as_by_hand() -> Iterator[None]:
    """Take a request to end, such as that of ``timeout``, for Ctrl-C: what was done is reported."""

    def end(*_: Any) -> NoReturn:
        raise KeyboardInterrupt

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
