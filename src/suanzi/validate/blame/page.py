"""A report of `suanzi blame` as one HTML file that needs nothing else."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from suanzi import _core
from suanzi.base.html import render
from suanzi.base.lang import say
from suanzi.port.page import link_to, source_around
from suanzi.validate.blame.comparing import comparison_lines
from suanzi.validate.blame.judging import KINDS
from suanzi.validate.blame.locations import shortened

if TYPE_CHECKING:
    from suanzi.validate.blame.report import Report, Site

_TEMPLATES = Path(__file__).parent / "templates"


def to_html(report: Report) -> str:
    """Return a report as HTML."""
    return render(_TEMPLATES, "blame.html.j2", _facts(report))


def _facts(report: Report) -> dict[str, Any]:
    findings = report.findings
    parts = [
        {
            "id": kind, "title": say(kind.capitalize()), "why": say(f"The operator {why}."),
            "articles": [_article(site) for site in findings if site.kind == kind],
        }
        for kind, why in KINDS.items()
    ]  # fmt: skip
    files = [site.place.by[0] if site.place.by else site.place.file for site in report.sites]
    program = max(set(files), key=files.count) if files else say("a program")
    return {
        "version": _core.VERSION or "",
        "program": shortened(program),
        "summary": say(report.summary()),
        "answer": report.answer,
        "failed": report.raised,
        "parts": [part for part in parts if part["articles"]],
        "operators": _operators(report),
        "notes": report.remarks(),
        "comparison": report.comparison and comparison_lines(report.comparison),
    }


def _article(site: Site) -> dict[str, Any]:
    return {
        "kind": site.kind,
        "bad": site.kind in ("wrong", "differs"),
        "operator": site.operator,
        "place": str(site.place),
        "link": link_to(site.place.file),
        "title": site.title,
        "source": source_around(site.place.file, site.place.line),
        "lines": [say(line) for line in site.lines()],
    }


def _operators(report: Report) -> list[dict[str, Any]]:
    """Return what is known of each operator, the worst first."""
    by_name: dict[tuple[str, str], list[Site]] = defaultdict(list)
    for site in report.sites:
        by_name[site.operator, site.status].append(site)
    rows: list[dict[str, Any]] = [
        {
            "name": name, "calls": sum(s.calls for s in some),
            "judged": sum(s.judged for s in some), "wrong": sum(s.wrong for s in some),
            "worst": max(s.share for s in some), "status": status,
        }
        for (name, status), some in by_name.items()
    ]  # fmt: skip
    rows.sort(key=lambda r: (-r["wrong"], -r["judged"], -r["calls"], r["name"]))
    return [{**r, "share": f"{r['worst']:.3g}" if r["judged"] else ""} for r in rows]
