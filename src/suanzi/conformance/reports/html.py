"""A run as one HTML file that needs nothing else: for a screen, a phone and paper.

Each kind of failure is shown in full once. What passed, or has no answer, is counted by
interface, group and dtype, so that tens of thousands of cases are still a small file.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

from suanzi._core import VERSION
from suanzi.base.files import write_file
from suanzi.base.html import render
from suanzi.conformance.decision import said_headline
from suanzi.conformance.model.basis import labels, meanings
from suanzi.conformance.model.case import GROUPS
from suanzi.conformance.model.members import facts_of, long_title_of, members
from suanzi.conformance.model.results import OUTCOMES, Result, Run, by_basis, counts, worst
from suanzi.conformance.model.tallies import dtypes_had, is_declared
from suanzi.conformance.reports import summary
from suanzi.conformance.reports.kinds import kinds
from suanzi.conformance.reports.levels import Standing, levels, standings
from suanzi.conformance.reports.readings import followed

_REASONS = 10
"""How many reasons for unanswered cases are shown per interface."""
_TEMPLATES = Path(__file__).parent / "templates"


def to_html(run: Run) -> str:
    """Return a run as HTML."""
    return render(_TEMPLATES, "report.html.j2", _facts(run))


def write(run: Run, path: str | PathLike[str]) -> None:
    """Write a run as HTML."""
    write_file(path, to_html(run))


def _facts(run: Run) -> dict[str, Any]:
    count = run.counts()
    by_operator, stand = run.by_operator(), standings(run)
    wrong = [r for r in run.results if r.bad and r.known is None]
    known = [r for r in run.results if r.bad and r.known is not None]
    return {
        "run": run,
        "labels": labels(run.catalogue),
        "version": VERSION,
        "standard": long_title_of(run.catalogue),
        "subject": summary.subject_of(run),
        "settings": summary.settings_of(run),
        "decision": run.decision,
        "headline": said_headline(run.decision.headline),
        "requirements": summary.requirements(run.decision.total),
        "count": count,
        "shares": {o: summary.share(count[o], count["cases"]) for o in OUTCOMES},
        "outcomes": OUTCOMES,
        "bases": [
            (labels(run.catalogue)[n], counts(s), meanings(run.catalogue)[n])
            for n, s in by_basis(run.results).items()
            if s
        ],
        "dtypes": ", ".join(dtypes_had(run)),
        "declared": is_declared(run),
        "readings": followed(run.results),
        "levels": [(level, summary.ANSWER_STYLES[level.answer]) for level in levels(run)],
        "categories": _categories(by_operator, stand),
        "shown": [o for o in OUTCOMES if o in ("passed", "failed") or count[o]],
        "wrong": _kinds(run, wrong),
        "wrong_count": len(wrong),
        "known": _kinds(run, known),
        "known_count": len(known),
        "unexpected": [_case(run, r) for r in run.results if r.unexpected],
        "unanswered": _compact(
            by_operator, lambda r: r.outcome in ("unsupported", "skipped"), by_reason=True
        ),
        "passed": _compact(
            by_operator, lambda r: r.outcome == "passed" and not r.unexpected, by_reason=False
        ),
        "mapping": _mapping(run, stand),
        "choices": {
            "category": list(dict.fromkeys(_category(op) for op in by_operator)),
            "interface": list(by_operator),
            "dtype": sorted({part for r in run.results for part in r.dtype.split("-")}),
            "group": [g for g in GROUPS if any(r.group == g for r in run.results)],
        },
    }


def _category(op: str) -> str:
    facts = facts_of(op)
    return facts.category if facts else "others"


def _clause(op: str) -> str:
    facts = facts_of(op)
    return facts.clause if facts else ""


def _case(run: Run, result: Result) -> dict[str, Any]:
    issue = result.issue or ""
    return {
        "result": result,
        "category": _category(result.op),
        "clause": _clause(result.op),
        "problem": summary.said_problem(result),
        "measures": summary.measures(result),
        "command": summary.command(run, result),
        "script": summary.script(result),
        # A link is only a link if it leads to a page: javascript: is none.
        "link": issue if issue.startswith(("https://", "http://")) else "",
    }


def _kinds(run: Run, results: Sequence[Result]) -> list[dict[str, Any]]:
    """Return the failures by kind; only the first of each is shown in full."""
    return [
        {
            "first": _case(run, kind.first),
            "others": kind.others(most=12),
            "rest": [_case(run, r) for r in kind.results[1:]],
        }
        for kind in kinds(results)
    ]


def _categories(
    by_operator: dict[str, list[Result]], stand: dict[str, Standing]
) -> list[dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    for op, results in by_operator.items():
        name = _category(op)
        of = found.setdefault(name, {"name": name, "rows": [], "results": []})
        of["results"] += results
        of["rows"].append(
            {
                "op": op,
                "clause": _clause(op),
                "count": counts(results),
                "error": summary.error_of(worst(results)),
                "stand": stand[op],
                "answered": summary.answered(stand[op].tally),
                "style": summary.VERDICT_STYLES[stand[op].verdict],
            }
        )
    for of in found.values():
        of["count"] = counts(of.pop("results"))
    return list(found.values())


def _compact(
    by_operator: dict[str, list[Result]], chosen: Callable[[Result], bool], *, by_reason: bool
) -> list[dict[str, Any]]:
    """Return how many cases of each interface there are, by group and dtype, and why."""
    found = []
    for op, results in by_operator.items():
        some = [r for r in results if chosen(r)]
        if not some:
            continue
        lines: dict[tuple[str, str], list[str]] = {}
        for r in some:
            dtype = "pairs" if "-" in r.dtype else r.dtype
            lines.setdefault((r.outcome, r.group), []).append(dtype)
        reasons = _tally(r.problem or r.outcome for r in some) if by_reason else []
        if len(reasons) > _REASONS:
            left = sum(n for _, n in reasons[_REASONS:])
            reasons = [*reasons[:_REASONS], ("other reasons", left)]
        found.append(
            {
                "op": op,
                "category": _category(op),
                "cases": len(some),
                "reasons": reasons,
                "lines": [(*key, _tally(dtypes)) for key, dtypes in lines.items()],
            }
        )
    return found


def _tally(words: Iterable[str]) -> list[tuple[str, int]]:
    """Return how often each word occurs, in the order of first occurrence."""
    return list(Counter(words).items())


def _mapping(run: Run, stand: dict[str, Standing]) -> Sequence[dict[str, Any]]:
    """Return what each clause maps to, in the subject's own words, and what it does not have."""
    mapping, missing = run.subject.get("mapping", {}), run.subject.get("missing", {})
    return [
        {
            "clause": facts.clause,
            "op": op,
            "to": mapping.get(op, ""),
            "missing": missing.get(op, ""),
            "verdict": stand[op].verdict,
            "style": summary.VERDICT_STYLES[stand[op].verdict],
        }
        for op, facts in members(run.catalogue).items()
    ]
