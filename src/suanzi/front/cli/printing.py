"""Answers of commands, printed as data, in colour for a person, or plain."""

from __future__ import annotations

import json as json_module
from collections.abc import Callable, Sequence
from typing import Any

from suanzi.base.text import columns
from suanzi.front.cli import render


def number(value: Any) -> str:
    """Return a value of a table as text."""
    if isinstance(value, bool):
        return "yes" if value else ""
    if isinstance(value, float):
        return f"{value:.6g}"
    return "" if value is None else str(value)


def show(found: Any, renderer: Callable[[Any], None], json: bool = False) -> None:
    """Print an answer as data, in colour for a person, or plain."""
    if json:
        show_json(found.to_dict())
    elif render.for_a_person():
        renderer(found)
    else:
        print(found)


def show_rows(header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print rows of a table, in colour for a person, or plain."""
    if render.for_a_person():
        render.rows(header, rows)
    else:
        print(columns([header, *rows] if header else rows))


def show_json(data: Any) -> None:
    """Print data as JSON."""
    print(json_module.dumps(data, indent=2, ensure_ascii=False))
