"""The frozen lists of required cases: how many of each interface, and their hash.

A list is a small file, ``mustpass_lists/2025.1.json``. It does not change: when cases change, a new
one is made (``python tools/write_mustpass.py 2025.2``), and reports say which one they match. The
hash of an interface covers ids, arguments and expected results; the cases of the promotion table
are not in a list, because they follow from the rule set.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from suanzi.base.hints import nearest
from suanzi.base.status import InvalidArgument

EDITION = "2025.1"
"""The current list."""
FOLDER = Path(__file__).parent / "mustpass_lists"


def editions() -> list[str]:
    """Return the names of the lists.

    >>> EDITION in editions()
    True
    """
    return sorted(p.stem for p in FOLDER.glob("*.json"))


@cache
def read(edition: str = EDITION) -> dict[str, Any]:
    """Return a list.

    >>> read()["standard"]
    'T/AI 131.1-2025'
    """
    if edition not in editions():
        raise InvalidArgument(
            f"{edition!r} is not a list of required cases; choose {', '.join(editions())}."
            + nearest(edition, editions())
        )
    found: dict[str, Any] = json.loads((FOLDER / f"{edition}.json").read_text("utf-8"))
    return found


def different(contents: Mapping[str, Mapping[str, Any]], edition: str = EDITION) -> list[str]:
    """Return the interfaces whose cases are not those of the list, or that are missing."""
    return [op for op, one in read(edition)["interfaces"].items() if contents.get(op) != one]


def compared(contents: Mapping[str, Mapping[str, Any]], edition: str = EDITION) -> dict[str, str]:
    """Say how far the cases of a run are those of a list."""
    listed = read(edition)["interfaces"]
    same = len(listed) - len(different(contents, edition))
    said = {"list": edition, "sha256": read(edition)["sha256"], "same": f"{same} of {len(listed)}"}
    changed = [
        op
        for op in different(contents, edition)
        if contents.get(op, {"cases": -1})["cases"] == listed[op]["cases"]
    ]
    return {**said, **({"changed": ", ".join(changed)} if changed else {})}
