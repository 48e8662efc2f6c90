"""What `suanzi check` found of frameworks, as the page has it: levels, verdicts, deviations."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from suanzi.base.status import InvalidArgument
from suanzi.conformance.model.results import Result, Run
from suanzi.conformance.reports.deviations import Deviation, packaged
from suanzi.conformance.reports.json import read
from suanzi.conformance.reports.levels import levels, standings
from suanzi.front.site.accuracy import TITLES
from suanzi.standard import interfaces
from suanzi.standard.catalogues import STANDARD

SCHEMA = "suanzi-scores/1"
_LONGEST = 1300
"""Characters of a program beyond which only the command is shown."""


def condensed(run: Run) -> dict[str, Any]:
    """Return what the page needs of a run; `tools/write_site_data.py` stores it."""
    if run.catalogue != STANDARD:
        raise InvalidArgument(
            f"site: the report is about the catalogue {run.catalogue!r}; give one of "
            "`suanzi check` without --catalogue."
        )
    subject = run.subject
    return {
        "schema": SCHEMA,
        "name": str(subject.get("name", "")),
        "version": str(subject.get("version", "")),
        "device": str(subject.get("device", "") or ""),
        "quick": bool(run.settings.get("quick")),
        "started": str(run.settings.get("started", ""))[:10],
        "counts": run.counts(),
        "levels": [
            [one.title, one.answer, one.conforming, one.known, one.total, one.unit]
            for one in levels(run)
        ],
        "interfaces": {op: [one.verdict, one.why] for op, one in standings(run).items()},
        "known": _known(run),
    }


def _known(run: Run) -> dict[str, Any]:
    """Return of every known deviation its cases, and the one with the shortest program."""
    found: dict[str, list[Result]] = {}
    for result in run.results:
        if result.known is not None and result.bad:
            found.setdefault(result.known, []).append(result)
    return {reason: _shown(results) for reason, results in found.items()}


def _shown(results: list[Result]) -> dict[str, Any]:
    first = min(results, key=lambda one: len(one.reproduction or "") or 1 << 30)
    program = first.reproduction or ""
    shown = len(program) <= _LONGEST and not program.startswith("suanzi check ")
    return {
        "cases": len(results),
        "case": first.id,
        "problem": (first.problem or "")[:160],
        **({"program": program} if shown else {}),
    }


def conformance(files: Iterable[Path], reports: Iterable[Path] = ()) -> dict[str, Any]:
    """Return the scores of files, and of reports that `suanzi check --json` wrote."""
    scores = [json.loads(path.read_text("utf-8")) for path in files]
    scores += [condensed(read(path)) for path in reports]
    order = list(TITLES)
    scores.sort(key=lambda one: (one["name"] != "suanzi", order.index(one["name"])
                                 if one["name"] in order else len(order)))  # fmt: skip
    return {
        "interfaces": [
            [one.clause, one.name, one.category, int(one.minimal)] for one in interfaces().values()
        ],
        "scores": [_score(one) for one in scores],
        "deviations": [entry for one in scores for entry in _deviations(one)],
    }


def _score(one: dict[str, Any]) -> dict[str, Any]:
    counts = one["counts"]
    return {
        "name": one["name"],
        "title": TITLES.get(one["name"], one["name"]),
        "version": re.split("[+-]", one["version"])[0],
        "device": one["device"],
        "quick": one["quick"],
        "started": one["started"],
        "cases": counts["cases"],
        "passed": counts["passed"],
        "failed": counts["failed"] + counts["crashed"] + counts["hung"],
        "unanswered": counts["unsupported"] + counts["skipped"],
        "levels": one["levels"],
        "interfaces": {
            op: [verdict, why if len(why) < 100 else f"{why[:99]}…"]
            for op, (verdict, why) in one["interfaces"].items()
        },
    }


def _deviations(score: dict[str, Any]) -> list[dict[str, Any]]:
    """Return every known deviation of a backend, with what its run showed.

    Its case is one that fails or, where none was seen, a pattern of such cases.
    """
    entries: dict[str, dict[str, Any]] = {}
    for one in packaged(score["name"]):
        if one.unsupported or one.reason in entries:
            continue
        shown = score["known"].get(one.reason, {})
        entries[one.reason] = {
            "of": score["name"],
            "reason": one.reason,
            "ops": _operators(one),
            **({"issue": one.issue} if one.issue else {}),
            "case": _first(one),
            **shown,
        }
    return list(entries.values())


def _first(one: Deviation) -> str:
    """Return the first pattern of cases, or one for the interface."""
    if one.case is not None:
        return one.case if isinstance(one.case, str) else one.case[0]
    op = one.op if isinstance(one.op, str) else one.op[0] if one.op else "*"
    return f"{op}/*"


def _operators(one: Deviation) -> list[str]:
    """Return the interfaces whose cases a deviation can name; none if it can be any."""
    names = [name for name in interfaces() if one.may_name(name)]
    return names if len(names) < len(interfaces()) // 2 else []
