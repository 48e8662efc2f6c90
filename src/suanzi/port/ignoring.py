"""What is not to be told: lines marked ``# suanzi: ignore[SZ005]``, and findings of a baseline."""

from __future__ import annotations

import json
import linecache
import re
from collections import Counter
from os import PathLike
from typing import Any

from suanzi.port.findings import Finding
from suanzi.status import InvalidArgument

_MARK = re.compile(r"#\s*suanzi:\s*ignore(?:\[([^\]]*)\])?")

Fingerprint = tuple[str, ...]


def source_line(finding: Finding) -> str:
    """Return the line of the program that a finding is about, empty where it cannot be read."""
    where = finding.call.where
    return (
        "" if where is None or not where.line else linecache.getline(where.file, where.line).strip()
    )


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
