"""A report as one HTML file that needs nothing else, in the look of `suanzi check --report`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from suanzi._core import VERSION
from suanzi.base.html import render
from suanzi.base.lang import said, say
from suanzi.conformance.subjects.tallies import EDGES
from suanzi.validate.accuracy.engine import Row
from suanzi.validate.accuracy.samples import SAMPLED
from suanzi.validate.accuracy.text import at_text, cells, digits

if TYPE_CHECKING:
    from suanzi.validate.accuracy.report import Accuracy

_TEMPLATES = Path(__file__).parent / "templates"
_HIGH, _WIDE = 14, 3
"""The height of a histogram, and the width of one of its columns."""


def to_html(report: Accuracy) -> str:
    """Return a report as HTML."""
    measured = [row for row in report.rows if not row.missing]
    wrong = [row for row in measured if row.tally.wrong or row.tally.special]
    return render(
        _TEMPLATES, "report.html.j2",
        {
            "version": VERSION,
            "report": report,
            "header": said([report.header])[0],
            "measured": [_facts(row) for row in measured],
            "correct": len(measured) - len(wrong),
            "conclusion": say(_conclusion(measured)),
            "sampled": [_sampled(row) for row in measured if row.tally.cases],
            "missing": [row for row in report.rows if row.missing],
            "settings": {k: v for k, v in report.settings.items() if k != "command"},
            "dtypes": list(dict.fromkeys(row.dtype for row in measured)),
            "edges": EDGES,
        },
    )  # fmt: skip


def _facts(row: Row) -> dict[str, Any]:
    name, dtype, coverage, *rest = said([cells(row)], names=(0, 1))[0]
    tally = row.tally
    exact = not (tally.wrong or tally.special)
    return {
        "name": name, "dtype": dtype, "coverage": coverage, "cells": rest,
        "tone": "good" if exact else "bad" if tally.worst > 1 or tally.special else "warn",
        "worst": tally.worst, "wrong": not exact, "picture": histogram(tally.histogram),
        "shares": _shares(tally.histogram), "special_at": say(at_text(row, tally.special_at)),
        "found": tally.worst_found.hex() if tally.worst_at is not None else "",
    }  # fmt: skip


def histogram(counts: Sequence[int]) -> str:
    """Return the path of a histogram; heights are logarithms.

    >>> histogram([1, 0, 3])
    'M0 14v-7h3v7zM6 14v-14h3v14z'
    """
    top = math.log2(max(*counts, 1) + 1)
    parts = []
    for i, count in enumerate(counts):
        if count:
            high = max(1, round(_HIGH * math.log2(count + 1) / top))
            parts.append(f"M{_WIDE * i} {_HIGH}v-{high}h{_WIDE}v{high}z")
    return "".join(parts)


def _shares(counts: Sequence[int]) -> str:
    """Return a histogram in words."""
    names = [f"up to {EDGES[0]:g} ULP",
             *(f"up to {edge:g}" for edge in EDGES[1:]), f"above {EDGES[-1]:g}"]  # fmt: skip
    return ", ".join(say(f"{n} {name}") for n, name in zip(counts, names, strict=True) if n)


def _sampled(row: Row) -> dict[str, Any]:
    lengths = list(dict.fromkeys(one["length"] for one in row.tally.cases))
    conditions = list(dict.fromkeys(one["condition"] for one in row.tally.cases))
    known = {(one["length"], one["condition"]): one for one in row.tally.cases}
    return {
        "name": row.name, "dtype": row.dtype, "conditions": [f"{c:g}" for c in conditions],
        "condition": say(SAMPLED[row.name].condition),
        "rows": [
            (n, [digits(known[n, c]["worst"]) if (n, c) in known else "" for c in conditions])
            for n in lengths
        ],
    }  # fmt: skip


def _conclusion(measured: Sequence[Row]) -> str:
    if not measured:
        return "Nothing was measured."
    some = [row for row in measured if row.coverage != "samples"]
    right = sum(not (row.tally.wrong or row.tally.special) for row in some)
    return f"{right} of {len(some)} functions and dtypes are correctly rounded."
