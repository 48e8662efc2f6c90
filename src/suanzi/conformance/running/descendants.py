"""The processes that another one has started, and what they started: found through /proc.

A process that has made itself the leader of a session is not in the group of its parent any more.
Elsewhere than on Linux there is no /proc, and nothing is found.
"""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from typing import NamedTuple


class Found(NamedTuple):
    """A process, by its number and its start: numbers are used again."""

    pid: int
    start: str


def descendants(pid: int) -> list[Found]:
    """Return the processes below another one."""
    parents: dict[int, list[Found]] = {}
    with suppress(OSError):
        for name in os.listdir("/proc"):
            if name.isdigit() and (facts := _facts(int(name))) is not None:
                parents.setdefault(facts[0], []).append(facts[1])
    found, last = [], [pid]
    while last:
        below = parents.get(last.pop(), [])
        found += below
        last += [one.pid for one in below]
    return found


def _facts(pid: int) -> tuple[int, Found] | None:
    """Return the parent of a process, and itself; None if it is gone."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            # The name of the program is in parentheses, and may contain anything.
            fields = file.read().rpartition(")")[2].split()
        return int(fields[1]), Found(pid, fields[19])
    except (OSError, IndexError, ValueError):
        return None


def end_all(some: list[Found]) -> None:
    """End processes that are still those that were found."""
    for one in some:
        now = _facts(one.pid)
        if now is not None and now[1] == one:
            with suppress(OSError):
                os.kill(one.pid, signal.SIGKILL)
