"""A verdict as one HTML file that needs nothing else, in the look of `suanzi check --report`."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from suanzi._core import VERSION
from suanzi.base.html import render

if TYPE_CHECKING:
    from suanzi.validate.judge.verdict import CaseResult, Verdict

_TEMPLATES = Path(__file__).parent / "templates"
_STYLES = {"right": "passed", "wrong": "failed", "no answer": "hung", "not taken": "skipped",
           "cannot fail": "skipped"}  # fmt: skip


def to_html(verdict: Verdict) -> str:
    """Return a verdict as HTML."""
    return render(_TEMPLATES, "verdict.html.j2", _facts(verdict))


def _facts(verdict: Verdict) -> dict[str, Any]:
    counted = Counter[str](one.outcome for one in verdict.cases)
    return {
        "version": VERSION,
        "verdict": verdict,
        "headline": verdict.headline,
        "tone": {"right": "good", "wrong": "bad"}.get(verdict.answer, "warn"),
        "counts": [(name, counted[name], _STYLES[name]) for name in _STYLES],
        "findings": [*verdict.findings, *verdict.notes],
        "standards": verdict.standards,
        "dtypes": _dtypes(verdict.cases),
        "failures": verdict.failures[:200],
        "more": max(0, len(verdict.failures) - 200),
    }


def _dtypes(cases: tuple[CaseResult, ...]) -> list[tuple[str, int, int, str]]:
    """Return for each dtype the right cases, all that were judged, and the largest error."""
    found: dict[str, list[CaseResult]] = {}
    for one in cases:
        if one.outcome in ("right", "wrong"):
            found.setdefault(one.id.split("/")[2], []).append(one)
    rows = []
    for dtype, some in found.items():
        shares = [one.share for one in some if one.share is not None]
        right = sum(one.outcome == "right" for one in some)
        rows.append((dtype, right, len(some), f"{max(shares):.3g}" if shares else ""))
    return rows
