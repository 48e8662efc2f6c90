"""A report as one HTML file that needs nothing else, in the look of `suanzi check --report`."""

from __future__ import annotations

import linecache
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from suanzi import _core
from suanzi.base.html import render
from suanzi.base.lang import say
from suanzi.port.findings import CODES, PAGE, Finding, is_source
from suanzi.port.layout import REFUSED, asked, called_by, grouped, shortened, summary_of
from suanzi.recording.calls import Call

if TYPE_CHECKING:
    from suanzi.port.report import Report

_TEMPLATES = Path(__file__).parent / "templates"
_AROUND = 2
"""Lines of the program before and after that of a finding."""
_MOST = 50
"""Calls that follow one finding, or findings of one fact, that are listed."""
_DOCS = Path(__file__).parents[3] / PAGE
"""Where the codes are explained, in a checkout of suanzi."""


def to_html(report: Report) -> str:
    """Return a report as HTML."""
    return render(_TEMPLATES, "report.html.j2", _facts(report))


def _facts(report: Report) -> dict[str, Any]:
    findings = report.findings
    facts, rest = grouped(findings)
    articles = [_of_fact(some) for some in facts]
    articles += [_of_line(one, names) for _, one, names in rest]
    parts = [
        _part("refused", say("Refused"), [one for one in articles if one["code"] in REFUSED]),
        _part("changed", say("Changed"), [one for one in articles if one["code"] not in REFUSED]),
    ]
    codes = [code for code in CODES if any(one.code == code for one in findings)]
    counted = Counter((one.rules, one.code) for one in findings)
    calls = report.calls
    return {
        "version": _core.VERSION or "",
        "program": _program(report),
        "summary": say(report.summary()),
        "failed": report.raised,
        "framework": f"{calls.framework} {calls.version}".strip() if calls else "",
        "calls": sum(call.count for call in calls.calls) if calls else 0,
        "count": len(findings),
        "refused": sum(one.code in REFUSED for one in findings),
        "refusals": REFUSED,
        "parts": [part for part in parts if part["files"]],
        "articles": len(articles),
        "codes": {code: say(CODES[code]) for code in codes},
        "docs": _DOCS.as_uri() if _DOCS.is_file() else "",
        "docs_name": PAGE,
        "targets": [
            {
                "name": one.rules.name,
                "version": one.rules.version,
                "counts": [counted[one.rules.name, code] for code in codes],
                "total": sum(counted[one.rules.name, code] for code in codes),
            }
            for one in report.judged
        ],
        "notes": [say(note) for note in report.notes()],
        "choices": {
            "target": list(dict.fromkeys(name for one in articles for name in one["targets"])),
            "code": codes,
            "file": sorted({file for one in articles for file in one["files"]}),
        },
    }


def _part(name: str, title: str, articles: list[dict[str, Any]]) -> dict[str, Any]:
    """Return a section: articles by file, in the order of the report."""
    files: dict[str, list[dict[str, Any]]] = {}
    for one in articles:
        files.setdefault(one["files"][0] if len(one["files"]) == 1 else "", []).append(one)
    return {"id": name, "title": title, "files": files, "count": sum(a["n"] for a in articles)}


def _of_line(one: Finding, names: list[str]) -> dict[str, Any]:
    where, fix = one.call.where, one.verdict.fix
    file, line = ("?", 0) if where is None else (where.file, where.line)
    lines = one.lines()
    return {
        "n": len(names),
        "code": one.code,
        "targets": names,
        "files": [shortened(file)],
        "place": shortened(one.place),
        "link": link_to(file),
        "asked": say(asked(one)),
        "called_by": say(called_by(one)),
        "source": source_around(file, line),
        "lines": [say(said) for said in lines if not said.startswith(("fix: ", "     "))],
        "fix": fix and say(fix.text),
        "fix_code": fix.code if fix else "",
        "followers": _places(one.followers),
        "places": [],
    }


def _of_fact(some: list[Finding]) -> dict[str, Any]:
    """Return many findings of one fact as one article."""
    first = some[0]
    fix = first.verdict.fix
    files = dict.fromkeys(shortened(one.call.where.file) for one in some if one.call.where)
    return {
        "n": len(some),
        "code": first.code,
        "targets": [first.rules],
        "files": list(files) or ["?"],
        "place": say(summary_of(some)),
        "link": "",
        "asked": "",
        "called_by": "",
        "source": [],
        "lines": [],
        "fix": fix and say(fix.text),
        "fix_code": "",
        "followers": [],
        "places": [f"{shortened(one.place)}  {say(asked(one))}" for one in some[:_MOST]]
        + [say(f"and {len(some) - _MOST} more")] * (len(some) > _MOST),
    }


def _places(calls: Iterable[Call]) -> list[str]:
    """Return the places of calls, each once, with how often they were made."""
    found: Counter[str] = Counter()
    for call in calls:
        at = f"{shortened(call.where.file)}:{call.where.line}" if call.where else "?"
        found[f"{at}  {call.operator}"] += call.count
    said = [f"{place}, {say(f'{n} calls')}" if n > 1 else place for place, n in found.items()]
    return said[:_MOST] + [say(f"and {len(said) - _MOST} more")] * (len(said) > _MOST)


def source_around(file: str, line: int) -> list[tuple[int, str, bool]]:
    """Return the lines around one of a program: number, text, and whether it is the one."""
    if not line or not is_source(file):
        return []
    lines = linecache.getlines(file)
    if not 1 <= line <= len(lines):
        return []
    first = max(1, line - _AROUND)
    some = [text.rstrip().expandtabs() for text in lines[first - 1 : line + _AROUND]]
    while not some[-1]:
        some.pop()
    indents = [len(text) - len(text.lstrip()) for text in some if text]
    cut = min(indents, default=0)
    return [(first + i, text[cut:], first + i == line) for i, text in enumerate(some)]


def link_to(file: str) -> str:
    """Return the address of a file on this machine; empty for what is none."""
    return Path(file).absolute().as_uri() if is_source(file) and Path(file).is_file() else ""


def _program(report: Report) -> str:
    """Return the file of the program that has most calls, as its name."""
    calls = report.calls.calls if report.calls else ()
    files = Counter(
        call.where.by[0] if call.where.by else call.where.file for call in calls if call.where
    )
    return shortened(files.most_common(1)[0][0]) if files else say("a program")
