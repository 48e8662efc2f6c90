"""The tables and lines of a report; `suanzi.front.cli.terminal` prints them."""

from __future__ import annotations

import math
import shlex
from collections.abc import Sequence
from dataclasses import dataclass

from suanzi.base.lang import say
from suanzi.conformance.decision import Answer, Style, Tally, Verdict, said_headline
from suanzi.conformance.model.basis import REQUIRED, labels
from suanzi.conformance.model.members import facts_of
from suanzi.conformance.model.results import OUTCOMES, Result, Run, by_basis, counts, worst
from suanzi.conformance.model.tallies import dtypes_had, is_declared
from suanzi.conformance.model.titles import options_of
from suanzi.conformance.reports.kinds import kinds, spread
from suanzi.conformance.reports.levels import Standing, levels, standings
from suanzi.conformance.reports.readings import followed
from suanzi.standard.catalogues import STANDARD

VERDICT_STYLES: dict[Verdict, Style] = {
    "conforms": "good",
    "known deviations": "warn",
    "partly": "warn",
    "fails": "bad",
    "not supported": "dim",
    "not required": "dim",
    "tentative": "dim",
    "extension only": "dim",
    "not tested": "dim",
}
ANSWER_STYLES: dict[Answer, Style] = {
    "reached": "good",
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
_NOT_CLAIMED = "that the backend does not have were not tested (--all tests them)"


@dataclass(frozen=True)
class Cell:
    """A word or a number, and its style."""

    text: str
    style: Style = ""
    is_name: bool = False
    """Whether it is the same in every language."""


@dataclass(frozen=True)
class Line:
    """A line, or a paragraph."""

    text: str
    style: Style = ""
    indent: int = 0


@dataclass(frozen=True)
class Table:
    """A table; columns of numbers are aligned to the right."""

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    numbers: tuple[int, ...] = ()


Part = Line | Table


def parts(run: Run, *, verbose: bool = False) -> list[Part]:
    """Return the whole report of a run: tables, summary, failures, and the headline at the end."""
    most = None if verbose else _FIRST
    headline = Line(said_headline(run.decision.headline), run.decision.style)
    return [*categories(run), *summary(run), *failures(run, most, verbose), headline]


def categories(run: Run) -> list[Part]:
    """Return a table for each category, of the interfaces that were tested."""
    found, stand = run.by_operator(), standings(run)
    total = run.counts()
    shown = [o for o in OUTCOMES if o in ("passed", "failed") or total[o]]
    columns = (_SHORT.get(o, o) for o in shown)
    wide = len(shown) > 4  # with crashes and hangs 80 columns are full
    first = ("interface",) if wide else ("interface", "answered")
    header = (*first, "cases", *columns, "ULP/bound", "verdict")
    by_category: dict[str, list[str]] = {}
    for op in found:
        facts = facts_of(op)
        by_category.setdefault(facts.category if facts else "others", []).append(op)
    return [
        Table(
            f"{name}: {_many(len(ops), 'interface')}, "
            f"{_many(sum(len(found[op]) for op in ops), 'case')}",
            header,
            tuple(_row(op, found[op], stand[op], shown, wide) for op in ops),
            numbers=tuple(range(1, len(header) - 1)),
        )
        for name, ops in by_category.items()
    ]


def _row(
    op: str, results: Sequence[Result], s: Standing, shown: Sequence[str], wide: bool
) -> tuple[Cell, ...]:
    count = counts(results)
    cells = [Cell(str(count[o]) if count[o] else "", _outcome_style(o)) for o in shown]
    return (
        Cell(op, is_name=True),
        *([] if wide else [Cell(answered(s.tally))]),
        Cell(str(count["cases"])),
        *cells,
        Cell(error_of(worst(results))),
        Cell(s.verdict, VERDICT_STYLES[s.verdict]),
    )


def answered(tally: Tally) -> str:
    """Return how many required cases were answered, of how many.

    >>> answered(Tally(passed=14, unanswered=47))
    '14/61'
    """
    return f"{tally.answered}/{tally.required}"


def _outcome_style(outcome: str) -> Style:
    return {"passed": "", "unsupported": "dim", "skipped": "dim"}.get(outcome, "bad")  # type: ignore[return-value]


def error_of(result: Result | None) -> str:
    """Return an error and its bound; of a huge bound, the error as a share of it.

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
    return f"{_short(result.ulp)}/{result.bound:{'.3g' if result.bound < 1000 else '.0f'}}"


def _short(x: float) -> str:
    if not math.isfinite(x):
        return str(x)
    if x < 0.01:
        return "0" if x == 0 else "<0.01"
    return f"{x:.2f}" if x < 1000 else f"{x:.0f}" if x < 1e5 else f"{x:.1e}"


def share(part: int, whole: int) -> str:
    """Return a share in percent: 100 % means all, 0 % none.

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
    """Return which backend was tested, in a few words."""
    said = f"{run.subject.get('name', '?')} {run.subject.get('version', '')}".strip()
    title = str(run.subject.get("title", ""))
    return said if title in ("", run.subject.get("name")) else f"{said} ({title})"


def settings_of(run: Run) -> str:
    """Return the settings in a line."""
    s = run.settings
    said = [f"promotion by {s.get('rules', '?')}", f"seed {s.get('seed', 0)}"]
    said += [f"catalogue {s['catalogue']}"] if s.get("catalogue") else []
    said += [flag for flag in ("quick", "minimal", "normative", "strict") if s.get(flag)]
    for name in ("ops", "categories", "dtypes", "groups", "cases"):
        if s.get(name):
            some = list(s[name])
            more = f" and {len(some) - 5} more" if len(some) > 5 else ""
            said.append(f"only {name} {', '.join(some[:5])}{more}")
    if shard := s.get("shard"):
        said.append(f"shard {shard['number']} of {shard['of']}")
    return ", ".join(said)


def count_line(count: dict[str, int]) -> str:
    """Return counts in words: how many passed, failed, and the other outcomes.

    The share is of the cases that were answered.

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
        Line(requirements(run.decision.total)),
        Line(f"{count_line(count)}; {run.seconds:.0f} s"),
    ]
    if some := run.settings.get("unclaimed"):
        said.append(Line(f"{_many(len(some), 'interface')} {_NOT_CLAIMED}", "dim"))
    if run.results:
        said.append(_bases(run))
    said.append(_levels(run))
    said += [Line(f"levels are for these dtypes: {words}") for words in [_dtypes(run)] if words]
    said += _readings(run)
    if run.unfinished:
        why = run.settings.get("interrupted") or "by hand"
        many = _many(len(run.unfinished), "interface")
        said.append(Line(f"interrupted ({why}), incomplete: {many} not finished", "bad"))
    return said


def requirements(total: Tally) -> str:
    """Return what became of the required cases, in words.

    >>> requirements(Tally(passed=14, failed=2, unanswered=47, known=1))
    '16 of 63 required cases answered: 14 passed, 2 failed (1 known); 47 not answered'
    """
    known = [f" ({n} known)" if n else "" for n in (total.known, total.excused)]
    silent = f"; {total.unanswered} not answered{known[1]}" if total.unanswered else ""
    return (
        f"{total.answered} of {_many(total.required, 'required case')} answered: "
        f"{total.passed} passed, {total.failed} failed{known[0]}{silent}"
    )


_IN_SHORT: dict[str, str] = {
    "normative": "the text says so",
    "interpretation": "interpretations pass",
    "tentative": "undecided, not counted",
    "quality": "not required",
    "extension": "beyond the standard",
}
"""What a basis means, in a terminal of 80 columns."""


def _in_short(of: str, basis: str) -> str:
    others = {"normative": "by the definition", "extension": "strides, promotion"}
    return _IN_SHORT[basis] if of == STANDARD else others.get(basis, _IN_SHORT[basis])


def _bases(run: Run) -> Table:
    """Return how many cases there are by the basis of their requirement."""
    rows = []
    for name, some in by_basis(run.results).items():
        if some:
            count = counts(some)
            broken = sum(r.bad and r.known is None and (r.broken or name) == name for r in some)
            other = sum(r.bad and r.known is None for r in some) - broken
            rows.append(
                (
                    Cell(labels(run.catalogue)[name]),
                    Cell(str(count["cases"])),
                    Cell(str(count["passed"])),
                    Cell(str(broken), "bad" if broken and name in REQUIRED else ""),
                    Cell(str(other) if other else ""),
                    Cell(_in_short(run.catalogue, name), "dim"),
                )
            )
    header = ("basis", "cases", "passed", "violated", "quality only", "meaning")
    return Table("why the cases are required", header, tuple(rows), numbers=(1, 2, 3, 4))


def _dtypes(run: Run) -> str:
    had = dtypes_had(run)
    if not had:
        return ""
    how = "declared" if is_declared(run) else "those it answered"
    return f"{', '.join(had)} ({how})"


def _readings(run: Run) -> list[Part]:
    """Return which interpretation of each erratum a backend follows."""
    found = followed(run.results)
    if not found:
        return []
    return [
        Line("interpretations it follows, by erratum", "bold"),
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
    header = ("level", "conforming", "answer", "quality", "missing")
    return Table("levels", header, tuple(rows))


def in_the_way(names: Sequence[str], most: int = 3) -> str:
    """Return the first interfaces that a level lacks, without the reasons."""
    short = [name.partition(" ")[0] for name in names]
    more = f" and {len(short) - most} more" if len(short) > most else ""
    return ", ".join(short[:most]) + more


def failures(run: Run, most: int | None = _FIRST, details: bool = False) -> list[Part]:
    """Return each kind of failure once, then what was not answered, then stale deviations."""
    wrong = kinds(r for r in run.results if r.bad and r.known is None)
    said: list[Part] = []
    if wrong:
        first = wrong if most is None else spread(wrong, most)
        many = _many(sum(len(kind.results) for kind in wrong), "case")
        title = f"failures, worst first: {many} of {_many(len(wrong), 'kind')}"
        if len(first) < len(wrong):
            title += f", {len(first)} shown (--verbose shows all)"
        said.append(Line(title, "bold"))
        for kind in first:
            said += detail(run, kind.first) if details else _brief(kind.first)
            if kind.others():
                said.append(Line(kind.others(), "dim", 6))
            if details:
                said += [Line(r.id, "dim", 8) for r in kind.results[1:]]
        said.append(Line(f"run one of them alone: {command(run, first[0].first)}", "dim"))
    silent = [f"{s.op}: {s.why}" for s in standings(run).values() if s.tally.unanswered]
    said += _names("required cases not answered:", silent, most)
    known = [r for r in run.results if r.known is not None]
    if known and details:
        said.append(Line("known deviations", "bold"))
        said += [Line(f"{r.id}: {r.known}" + (f" ({r.issue})" if r.issue else "")) for r in known]
    said += _names("passed, though listed as known to fail:",
                   [r.id for r in run.results if r.unexpected], most)  # fmt: skip
    said += _names("deviations that match no case:", run.unused, most)
    return said


def _names(title: str, names: Sequence[str], most: int | None) -> list[Part]:
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
    """Return one result in full."""
    said: list[Part] = [Line(f"{_mark(result)}{result.id}", "bad" if result.bad else "bold", 2)]
    said += [Line(line, "", 6) for line in said_problem(result).splitlines()]
    said += [Line(line, "dim", 6) for line in measures(result)]
    if result.because:
        said.append(Line(f"required by {result.because}", "dim", 6))
    if result.known is not None:
        said.append(Line(f"known: {result.known}" + (f" ({result.issue})" if result.issue else ""),
                         "warn", 6))  # fmt: skip
    if result.bad:
        said.append(Line(command(run, result), "dim", 6))
        said += [Line(line, "", 8) for line in script(result).splitlines()]
    return said


def problem_of(result: Result) -> str:
    """Return the problem after its call, unless the problem names the call itself.

    >>> problem_of(Result("a", "zeros", "status", "any", "failed", "ALLOC_FAILED, not SUCCESS",
    ...                   call="zeros(shape=[-1])"))
    'zeros(shape=[-1]): ALLOC_FAILED, not SUCCESS'
    """
    problem = result.problem or ""
    named = result.call is None or f"] {result.op}(" in problem
    return problem if named else f"{result.call}: {problem or 'no message'}"


def said_problem(result: Result) -> str:
    """Return the problem after its call in the chosen language; the call stays as it is."""
    first, *rest = problem_of(result).splitlines() or [""]
    call = f"{result.call}: "
    if first.startswith(call):
        first = call + say(first.removeprefix(call))
    return "\n".join(say(line) for line in (first, *rest))


def script(result: Result) -> str:
    """Return the program that reproduces a failure; empty where the command does."""
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
    """Return the command that runs one case again."""
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
    of = STANDARD if ":" not in result.op else result.op.partition(":")[0]
    return f"[{labels(of)[result.broken]}] {outcome}" if result.bad and result.broken else outcome


def _first_line(result: Result) -> str:
    text = said_problem(result).partition("\n")[0] or say("no message")
    return text if len(text) <= 300 else text[:297] + "..."


def _many(n: int, what: str) -> str:
    return f"{n} {what}{'s' * (n != 1)}"
