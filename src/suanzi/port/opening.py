"""Which reader a file is for, by how its name ends; what none reads is a program to run."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from suanzi.port.calls import Calls, read_calls
from suanzi.port.readers.exported import read_exported
from suanzi.port.readers.msprobe import read_msprobe
from suanzi.port.readers.operator_logs import read_operator_log

READERS: dict[str, Callable[[str], Calls]] = {
    ".jsonl": read_calls,
    ".txt": read_operator_log,
    ".json": read_msprobe,
}
"""Readers that need nothing but suanzi."""


def read_file(path: str, python: str | None = None) -> Calls | None:
    """Return the calls of a file that is no program; None for one that is to be run.

    `python` is the interpreter that has the framework of an exported program.
    """
    ending = Path(path).suffix.lower()
    if ending == ".pt2":
        return read_exported(path, python)
    if ending in READERS:
        return READERS[ending](path)
    return None
