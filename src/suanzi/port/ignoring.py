"""What is not reported: lines marked ``# suanzi: ignore[SZ005]``, and findings of a baseline."""

from __future__ import annotations

import json
import linecache
import re
from collections import Counter
from functools import cache
from os import PathLike
from pathlib import Path
from typing import Any

from suanzi.port.findings import Finding
from suanzi.status import InvalidArgument

_MARK = re.compile(r"#\s*suanzi:\s*ignore(?:\[([^\]]*)\])?")

_LONGEST = 1 << 24
"""Bytes of a file whose lines are shown."""

Fingerprint = tuple[str, ...]


def source_line(finding: Finding) -> str:
    """Return the line of the program that a finding is about, empty where it cannot be read."""
    where = finding.call.where
    if where is None or not where.line or not _is_source(where.file):
        return ""
    return linecache.getline(where.file, where.line).strip()


@cache
def _is_source(file: str) -> bool:
    """Tell whether a file is a program, a log, or a cell of a notebook.

    A recorded file of others names any: a device that never ends, or one whose lines are nobody's
    business.
    """
    if file in linecache.cache:
        return True
    try:
        path = Path(file)
        found = path.is_file() and path.stat().st_size <= _LONGEST
    except (OSError, ValueError):
        return False
    return found and path.suffix in (".py", ".pyi", ".pyx", ".txt", ".log")


def is_ignored(finding: Finding) -> bool:
    """Tell whether the line says that this finding is not wanted."""
    mark = _MARK.search(source_line(finding))
    if mark is None:
        return False
    codes = [code.strip() for code in (mark[1] or "").split(",") if code.strip()]
    return not codes or finding.code in codes


def fingerprint(data: dict[str, Any]) -> Fingerprint:
    """Return what makes a finding the same in another run: not its line number, which moves."""
    file = str(data["file"] or "").replace("\\", "/").rpartition("/")[2]
    line = data["source_line"] or (data["function"] if data["line"] == 0 else "")
    words = (data["code"], data["rules"], file, line, data["operator"])
    return (*(str(word) for word in words), *map(str, data["operands"]))


def read_baseline(path: str | PathLike[str]) -> Counter[Fingerprint]:
    """Return the findings of a report that ``--json`` wrote."""
    try:
        with open(path, encoding="utf-8") as file:
            found = json.load(file)["findings"]
        return Counter(fingerprint(one) for one in found)
    except OSError as error:
        raise InvalidArgument(
            f"baseline: {str(path)!r} cannot be read: {error.strerror}."
        ) from None
    except (ValueError, LookupError, TypeError, RecursionError):
        raise InvalidArgument(
            f"baseline: {str(path)!r} is not a report; `suanzi port ... --json` prints one."
        ) from None
