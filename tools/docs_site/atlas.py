"""The tables of accuracy, from the results that the explorer shows."""

from __future__ import annotations

from functools import cache
from typing import Any

import records
from docs_site.words import say
from suanzi.front.site import DATA
from suanzi.validate.accuracy.functions import FUNCTIONS
from suanzi.validate.accuracy.samples import SAMPLED

HOME = DATA / "accuracy"


@cache
def _results() -> list[dict[str, Any]]:
    found = [records.read(path) for path in sorted(HOME.glob("*.json"))]
    return sorted(found, key=lambda one: (one["title"] != "suanzi", _title(one)))


def _title(one: dict[str, Any]) -> str:
    on = say(" on {}", one["on"]) if one["on"] else ""
    return f"{one['title']} {one['version']}{on}"


def measured(one: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the rows of a backend that have a result."""
    rows = [dict(zip(one["columns"], row, strict=False)) for row in one["rows"]]
    return [row for row in rows if not row.get("missing")]


def atlas(dtype: str) -> str:
    """Return the largest error of every function in a dtype, by backend."""
    cells: dict[str, dict[str, str]] = {}
    for one in _results():
        for row in measured(one):
            if row["dtype"] == dtype:
                cells.setdefault(_title(one), {})[row["function"]] = _cell(row)
    lines = [[say("function"), *cells], ["---"] * (len(cells) + 1)]
    for name in FUNCTIONS:
        some = [cells[title].get(name, "") for title in cells]
        if any(some):
            lines.append([f"`{name}`", *some])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def samples(dtype: str) -> str:
    """Return the errors of sums, softmax and norms on long rows, by backend."""
    cells: dict[str, dict[str, str]] = {}
    for one in _results():
        for row in measured(one):
            if row["dtype"] == dtype and row.get("curve"):
                longest = max(length for length, _, _ in row["curve"])
                some = [worst for length, _, worst in row["curve"] if length == longest]
                text = ", ".join(f"{worst:.2g}" for worst in some)
                cells.setdefault(_title(one), {})[row["function"]] = text
    lines = [[say("function"), say("conditions"), *cells], ["---"] * (len(cells) + 2)]
    for name, f in SAMPLED.items():
        some = [cells[title].get(name, "") for title in cells]
        if any(some):
            conditions = ", ".join(f"{c:g}" for c in f.conditions)
            lines.append([f"`{name}`", f"{say(f.condition)}: {conditions}", *some])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _cell(row: dict[str, Any]) -> str:
    worst = float(row.get("worst", 0))
    text = f"{worst:.5g}" if 0.5 < worst < 0.501 else f"{worst:.3g}"
    marks = [word for name, word in (("wrong_special", "s"), ("flushed", "f")) if row.get(name)]
    return text + (f" ({', '.join(marks)})" if marks else "")
