"""JSON Schemas of what commands print with ``--json``, and of what the tools of MCP return.

>>> schema("judge")["title"]
'suanzi-judge/1'
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

__all__ = ["FILES", "NAMES", "schema"]

NAMES = ("judge", "explain", "port", "blame")
"""The commands whose output has a schema."""
FILES = ("blame-run",)
"""Files that commands write and read again."""


def schema(name: str) -> dict[str, Any]:
    """Return the schema of what a command, or a tool, gives."""
    found: dict[str, Any] = json.loads(_text(name))
    return found


@cache
def _text(name: str) -> str:
    return (Path(__file__).parent / f"{name}.json").read_text("utf-8")
