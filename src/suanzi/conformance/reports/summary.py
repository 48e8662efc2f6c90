"""What there is to say of a run, in tables and lines; how it looks is for those who print it."""

from __future__ import annotations

import math
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from suanzi.conformance.model.basis import DEMANDED
from suanzi.conformance.model.results import OUTCOMES, Result, Run, by_basis, counts, worst
from suanzi.conformance.model.titles import options_of
from suanzi.conformance.reports.had import dtypes_had, is_declared
from suanzi.conformance.reports.kinds import kinds, spread
from suanzi.conformance.reports.levels import Answer, Standing, Verdict, levels, standings
from suanzi.conformance.reports.readings import followed
from suanzi.standard import interfaces

Style = Literal["", "good", "warn", "bad", "dim", "bold"]

VERDICT_STYLES: dict[Verdict, Style] = {
    "conforms": "good",
    "known deviations": "warn",
    "partly": "warn",
    "fails": "bad",
    "not supported": "dim",
    "not asked for": "dim",
    "extension only": "dim",
    "not tested": "dim",
}
ANSWER_STYLES: dict[Answer, Style] = {
    "reached": "good",
    "reached with known deviations": "warn",
    "not reached": "bad",
    "not tested in full": "dim",
}
_SHORT = {
    "passed": "pass",
    "failed": "fail",
    "unsupported": "unsup",
    "crashed": "crash",
    "skipped": "skip",
}
_FIRST = 10
_NOT_CLAIMED = "that the subject does not have were not tried (--all tries them)"


@dataclass(frozen=True)
class Cell:
    """A word or a number, and how much it wants to be seen."""

    text: str
    style: Style = ""


@dataclass(frozen=True)
class Line:
    """A line, or a paragraph."""

    text: str
    style: Style = ""
    indent: int = 0


@dataclass(frozen=True)
class Table:
    """A table; the numbers stand at the right of their columns."""

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    numbers: tuple[int, ...] = ()


Part = Line | Table


def parts(run: Run, *, verbose: bool = False) -> list[Part]:
    """Return all that is said of a run: a table for each category, then the sum of it."""
    return [*categories(run), *summary(run), *failures(run, None if verbose else _FIRST, verbose)]


def categories(run: Run) -> list[Part]:
    """Return a table for each category, of the interfaces that were tested."""
    found, stand = run.by_operator(), standings(run)
    total = run.counts()
    shown = [o for o in OUTCOMES if o in ("passed", "failed") or total[o]]
    header = ("interface", "cases", *(_SHORT.get(o, o) for o in shown), "ULP/bound", "verdict")
    by_category: dict[str, list[str]] = {}
    for op in found:
        facts = interfaces().get(op)
        by_category.setdefault(facts.category if facts else "others", []).append(op)
    return [
        Table(
            f"{name}: {_many(len(ops), 'interface')}, "
            f"{_many(sum(len(found[op]) for op in ops), 'case')}",
            header,
            tuple(_row(op, found[op], stand[op], shown) for op in ops),
            numbers=tuple(range(1, len(header) - 1)),
        )
        for name, ops in by_category.items()
    ]


def _row(op: str, results: Sequence[Result], s: Standing, shown: Sequence[str]) -> tuple[Cell, ...]:
    count = counts(results)
    cells = [Cell(str(count[o]) if count[o] else "", _outcome_style(o)) for o in shown]
    return (
        Cell(op),
        Cell(str(count["cases"])),
        *cells,
        Cell(error_of(worst(results))),
        Cell(s.verdict, VERDICT_STYLES[s.verdict]),
    )


def _outcome_style(outcome: str) -> Style:
    return {"passed": "", "unsupported": "dim", "skipped": "dim"}.get(outcome, "bad")  # type: ignore[return-value]


def error_of(result: Result | None) -> str:
    """Return an error beside its bound; beside a huge one, as a part of it.

    >>> error_of(Result("a", "exp", "plain", "float32", "passed", ulp=0.7512, bound=3.0))
    '0.75/3'
    >>> error_of(Result("a", "dot", "plain", "float32", "passed", ulp=2e8, bound=4e8))
    '50% of it'
    """
    if result is None or result.ulp is None:
        return ""
    if result.bound is None or not math.isfinite(result.bound):
        return _short(result.ulp)
    if result.bound >= 1e5:
        return f"{100 * result.ulp / result.bound:.0f}% of it"
    return f"{_short(result.ulp)}/{_bound(result.bound)}"


def _short(x: float) -> str:
    if not math.isfinite(x):
        return str(x)
    if x < 0.01:
        return "0" if x == 0 else "<0.01"
    return f"{x:.2f}" if x < 1000 else f"{x:.0f}" if x < 1e5 else f"{x:.1e}"


def _bound(x: float) -> str:
    return f"{x:.3g}" if x < 1000 else f"{x:.0f}"


def share(part: int, whole: int) -> str:
    """Return a share in percent that says 100 only of all, and 0 only of none.

    >>> share(9999, 10000), share(1, 100000), share(5, 5), share(0, 0)
    ('99.9 %', '<0.1 %', '100 %', 'none')
    """
    if not whole:
        return "none"
    if part == whole:
        return "100 %"
    tenths = part * 1000 // whole
    return "<0.1 %" if part and not tenths else f"{tenths / 10:.1f} %"


def subject_of(run: Run) -> str:
    """Return which subject was tested, in a few words."""
    said = f"{run.subject.get('name', '?')} {run.subject.get('version', '')}".strip()
    title = str(run.subject.get("title", ""))
    return said if title in ("", run.subject.get("name")) else f"{said} ({title})"


def settings_of(run: Run) -> str:
    """Return what was asked for, in a line."""
    s = run.settings
    said = [f"promotion by {s.get('rules', '?')}", f"seed {s.get('seed', 0)}"]
    said += [flag for flag in ("quick", "minimal", "letter", "strict") if s.get(flag)]
    for name in ("ops", "categories", "dtypes", "groups", "cases"):
        if s.get(name):
            some = list(s[name])
            more = f" and {len(some) - 5} more" if len(some) > 5 else ""
            said.append(f"only {name} {', '.join(some[:5])}{more}")
    if shard := s.get("shard"):
        said.append(f"shard {shard['number']} of {shard['of']}")
    return ", ".join(said)


def count_line(count: dict[str, int]) -> str:
    """Return counts in words: what passed of how many, what failed, and whatever else there was.

    The share is of what the subject claims to have: of the cases that have an answer.

    >>> count_line(counts([Result("a", "add", "plain", "int8", "passed")]))
    '1 case: 1 passed (100 %), 0 failed'
    """
    said = [f"{count[o]} {o}" for o in OUTCOMES[1:] if o == "failed" or count[o]]
    claimed = count["cases"] - count["unsupported"] - count["skipped"]
    passed = f"{count['passed']} passed ({share(count['passed'], claimed)})"
    return f"{_many(count['cases'], 'case')}: {', '.join([passed, *said])}"


def summary(run: Run) -> list[Part]:
    """Return the counts, the levels and what else a reader must know."""
    count = run.counts()
    said: list[Part] = [
        Line(f"{subject_of(run)}, {settings_of(run)}", "bold"),
        Line(f"{count_line(count)}; {run.seconds:.0f} s"),
    ]
    if some := run.settings.get("unclaimed"):
        said.append(Line(f"{_many(len(some), 'interface')} {_NOT_CLAIMED}", "dim"))
    if run.results:
        said.append(_bases(run))
    if count["known"]:
        said.append(
            Line(f"{count['known']} of those that did not pass are known deviations", "warn")
        )
    said.append(_levels(run))
    said += [Line(f"levels are for the dtypes {words}") for words in [_dtypes(run)] if words]
    said += _readings(run)
    if run.unfinished:
        why = run.settings.get("interrupted") or "by hand"
        many = _many(len(run.unfinished), "interface")
        said.append(Line(f"interrupted ({why}), incomplete: {many} not finished", "bad"))
    said.append(Line(*_conclusion(run, count)))
    return said


_IN_SHORT: dict[str, str] = {
    "letter": "the text says so",
    "reading": "every reading passes",
    "quality": "nobody asks for it",
    "extension": "beyond the standard",
}
"""What a basis means, beside numbers in a terminal of 80 columns."""


def _bases(run: Run) -> Table:
    """Return how many cases there are by where their demand comes from."""
    rows = []
    for name, some in by_basis(run.results).items():
        if some:
            count = counts(some)
            broken = sum(r.bad and r.known is None and (r.broken or name) == name for r in some)
            other = sum(r.bad and r.known is None for r in some) - broken
            rows.append(
                (
                    Cell(name),
                    Cell(str(count["cases"])),
                    Cell(str(count["passed"])),
                    Cell(str(broken), "bad" if broken and name in DEMANDED else ""),
                    Cell(str(other) if other else ""),
                    Cell(_IN_SHORT[name], "dim"),
                )
            )
    header = ("demanded by", "cases", "passed", "broken", "quality only", "meaning")
    return Table("where the demands come from", header, tuple(rows), numbers=(1, 2, 3, 4))


def _dtypes(run: Run) -> str:
    had = dtypes_had(run)
    if not had:
        return ""
    how = "as declared" if is_declared(run) else "found by asking"
    return f"{', '.join(had)} ({how})"


def _readings(run: Run) -> list[Part]:
    """Return which readings of the errata a subject follows."""
    found = followed(run.results)
    if not found:
        return []
    return [
        Line("readings that it follows, by erratum", "bold"),
        *(Line(str(one), "" if one.consistent else "warn", 2) for one in found),
    ]


def _levels(run: Run) -> Table:
    rows = []
    for level in levels(run):
        known = f" + {level.known} known" if level.known else ""
        rows.append(
            (
                Cell(level.title),
                Cell(f"{level.conforming}{known} of {level.total} {level.unit}"),
                Cell(level.answer, ANSWER_STYLES[level.answer]),
                Cell(str(level.quality)),
                Cell(in_the_way(level.in_the_way), "dim"),
            )
        )
    header = ("level", "conforming", "answer", "quality", "in the way")
    return Table("levels", header, tuple(rows))


def in_the_way(names: Sequence[str], most: int = 3) -> str:
    """Return the first names that are in the way of a level, without what is said of them."""
    short = [name.partition(" ")[0] for name in names]
    more = f" and {len(short) - most} more" if len(short) > most else ""
    return ", ".join(short[:most]) + more


def conclusion(run: Run) -> str:
    """Return the last word of a run."""
    return _conclusion(run, run.counts())[0]


def _conclusion(run: Run, count: dict[str, int]) -> tuple[str, Style]:
    fatal = sum(r.fatal for r in run.results)
    others = sum(r.bad and r.known is None for r in run.results) - fatal
    beyond = f"{_many(others, 'case')} beyond what the standard demands"
    if fatal:
        more = f", and {beyond}" if others else ""
        return (
            f"Does not conform: {_many(fatal, 'case')} of {count['cases']} went wrong{more}.",
            "bad",
        )
    if others and count["passed"]:
        return f"Conforms; {beyond} went wrong.", "bad" if run.settings.get("strict") else "warn"
    if not count["cases"]:
        return "Nothing was tested.", "bad"
    if not count["passed"]:
        return "Does not conform: nothing passed.", "bad"
    absent = count["unsupported"] + count["skipped"]
    but = f"; {absent} of {count['cases']} have no answer" if absent else ""
    known = " but what is known" if count["known"] else ""
    so_far = " so far" if run.unfinished else ""
    return f"Nothing went wrong{so_far}{known}{but}.", "good"


def failures(run: Run, most: int | None = _FIRST, details: bool = False) -> list[Part]:
    """Return what went wrong, each kind of it once, then what the list of deviations got wrong."""
    wrong = kinds(r for r in run.results if r.bad and r.known is None)
    said: list[Part] = []
    if wrong:
        first = wrong if most is None else spread(wrong, most)
        many = _many(sum(len(kind.results) for kind in wrong), "case")
        title = f"what went wrong, the worst first: {many} of {_many(len(wrong), 'kind')}"
        if len(first) < len(wrong):
            title += f", {len(first)} of which follow (--verbose shows all)"
        said.append(Line(title, "bold"))
        for kind in first:
            said += detail(run, kind.first) if details else _brief(kind.first)
            if kind.others():
                said.append(Line(kind.others(), "dim", 6))
            if details:
                said += [Line(r.id, "dim", 8) for r in kind.results[1:]]
        said.append(Line(f"one of them alone: {command(run, first[0].first)}", "dim"))
    known = [r for r in run.results if r.known is not None]
    if known and details:
        said.append(Line("known deviations", "bold"))
        said += [Line(f"{r.id}: {r.known}" + (f" ({r.issue})" if r.issue else "")) for r in known]
    said += _told("passed, though listed as known to fail:",
                  [r.id for r in run.results if r.unexpected], most)  # fmt: skip
    said += _told("deviations that no case met:", run.unused, most)
    return said


def _told(title: str, names: Sequence[str], most: int | None) -> list[Part]:
    if not names:
        return []
    shown = names if most is None else names[:most]
    more = (
        [Line(f"and {len(names) - len(shown)} more", "dim", 2)] if len(shown) < len(names) else []
    )
    return [Line(title, "warn"), *(Line(name, "", 2) for name in shown), *more]


def _brief(result: Result) -> list[Part]:
    style: Style = "bad" if result.fatal else "warn"
    return [Line(f"{_mark(result)}{result.id}", style, 2), Line(_first_line(result), "", 6)]


def detail(run: Run, result: Result) -> list[Part]:
    """Return all there is to say of one result."""
    said: list[Part] = [Line(f"{_mark(result)}{result.id}", "bad" if result.bad else "bold", 2)]
    said += [Line(line, "", 6) for line in problem_of(result).splitlines()]
    said += [Line(line, "dim", 6) for line in measures(result)]
    if result.because:
        said.append(Line(f"demanded by {result.because}", "dim", 6))
    if result.known is not None:
        said.append(Line(f"known: {result.known}" + (f" ({result.issue})" if result.issue else ""),
                         "warn", 6))  # fmt: skip
    if result.bad:
        said.append(Line(command(run, result), "dim", 6))
        said += [Line(line, "", 8) for line in script(result).splitlines()]
    return said


def problem_of(result: Result) -> str:
    """Return what is wrong, behind its call unless that is told for each element.

    >>> problem_of(Result("a", "zeros", "status", "any", "failed", "ALLOC_FAILED, not SUCCESS",
    ...                   call="zeros(shape=[-1])"))
    'zeros(shape=[-1]): ALLOC_FAILED, not SUCCESS'
    """
    problem = result.problem or ""
    told = result.call is None or f"] {result.op}(" in problem
    return problem if told else f"{result.call}: {problem or 'no words'}"


def script(result: Result) -> str:
    """Return what there is to paste beside the command; nothing where that is but the command."""
    paste = result.reproduction or ""
    return "" if paste.startswith("suanzi check ") else paste


def measures(result: Result) -> list[str]:
    """Return how large an error is, in units of the last place and as CANN measures it."""
    said = []
    if result.ulp is not None:
        bound = "" if result.bound is None else f", bound {result.bound:g}"
        said.append(f"error {result.ulp:.4g} ULP{bound}")
    if result.mean_relative is not None and result.max_relative is not None:
        kept = {True: ", within CANN's limits", False: ", beyond CANN's limits", None: ""}
        said.append(
            f"relative error: mean {result.mean_relative:.3g}, "
            f"largest {result.max_relative:.3g}{kept[result.cann]}"
        )
    return said


def command(run: Run, result: Result) -> str:
    """Return the command that runs one case of a run again."""
    s = run.settings
    words = ["suanzi", "check", *options_of(str(run.subject.get("title", "suanzi")))]
    if "interpreter" in run.subject:
        words += ["--python", str(run.subject["interpreter"])]
    if s.get("rules") and s["rules"] != run.subject.get("rules"):
        words += ["--rules", str(s.get("rules_file") or s["rules"])]
    if s.get("seed"):
        words += ["--seed", str(s["seed"])]
    if s.get("quick"):
        words.append("--quick")
    if s.get("folder"):
        words += ["--cases", str(s["folder"])]
    return shlex.join([*words, "--case", result.id])


def _mark(result: Result) -> str:
    outcome = "" if result.outcome == "failed" else f"{result.outcome}: "
    return f"[{result.broken}] {outcome}" if result.bad and result.broken else outcome


def _first_line(result: Result) -> str:
    lines = problem_of(result).splitlines()
    text = lines[0] if lines else "no words"
    return text if len(text) <= 300 else text[:297] + "..."


def _many(n: int, what: str) -> str:
    return f"{n} {what}{'s' * (n != 1)}"
