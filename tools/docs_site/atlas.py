"""The tables of accuracy, from the results in ``atlas/``."""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path
from typing import Any

from docs_site.words import say
from suanzi.accuracy.functions import FUNCTIONS
from suanzi.accuracy.samples import SAMPLED

HOME = Path(__file__).parents[2] / "atlas"
_TITLES = {"numpy": "NumPy", "torch": "PyTorch", "jax": "JAX", "paddle": "Paddle",
           "mindspore": "MindSpore", "openvino": "OpenVINO"}  # fmt: skip


@cache
def _results() -> list[dict[str, Any]]:
    found = [json.loads(path.read_text("utf-8")) for path in sorted(HOME.glob("*.json"))]
    return sorted(found, key=lambda one: (one["subject"]["name"] != "suanzi", _title(one)))


def _title(one: dict[str, Any]) -> str:
    subject = one["subject"]
    name = _TITLES.get(subject["name"], subject["name"])
    on = say(" on {}", subject["device"]) if subject["device"] else ""
    return f"{name} {re.split('[+-]', subject['version'])[0]}{on}"


def atlas(dtype: str) -> str:
    """Return the largest error of every function in a dtype, by backend."""
    cells: dict[str, dict[str, str]] = {}
    for one in _results():
        for row in one["rows"]:
            if row["dtype"] == dtype and "worst" in row:
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
        for row in one["rows"]:
            if row["dtype"] == dtype and row.get("cases"):
                longest = max(case["length"] for case in row["cases"])
                some = [case["worst"] for case in row["cases"] if case["length"] == longest]
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
    worst = row["worst"]
    text = f"{worst:.5g}" if 0.5 < worst < 0.501 else f"{worst:.3g}"
    marks = [word for name, word in (("wrong_special", "s"), ("flushed", "f")) if row[name]]
    return text + (f" ({', '.join(marks)})" if marks else "")
