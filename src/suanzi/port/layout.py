"""The findings of a report as text: refusals first, the program's own lines before libraries."""

from __future__ import annotations

import ast
import linecache
import os
from collections.abc import Iterable
from functools import cache

from suanzi.base.lang import say
from suanzi.base.text import printable
from suanzi.port.findings import Finding, line_at
from suanzi.recording.calls import Where

REFUSED = ("SZ002", "SZ004", "SZ008")
"""The codes of calls that a target does not make at all."""
MANY = 4
"""Findings of one fact that are shown as one."""
_SHOWN = 8
"""Lines and operators that are shown of them."""
_LONGEST = 160
"""Characters of a statement."""


def place_of(one: Finding) -> tuple[bool, bool, str, int]:
    """Return what findings are sorted by: refused or not, in a library or not, file and line."""
    where = one.call.where
    file, line = ("", 0) if where is None else (where.file, where.line)
    return one.code not in REFUSED, is_library(file), file, line


def is_library(file: str) -> bool:
    """Tell whether a file belongs to an installed package.

    >>> is_library("/envs/a/lib/python3.12/site-packages/timm/layers.py"), is_library("train.py")
    (True, False)
    """
    path = file.replace("\\", "/")
    return "/site-packages/" in path or "/dist-packages/" in path


def text_of(findings: Iterable[Finding]) -> list[str]:
    """Return the lines of findings, which are in order; those of one fact come first."""
    facts, rest = grouped(findings)
    lines = [line for some in facts for line in ("", *_fact(some))]
    last = ""
    for head, one, names in rest:
        if head != last:
            called = called_by(one)
            lines += ["", printable(head), *([f"  {printable(say(called))}"] if called else [])]
            last = head
        lines.append(f"  {one.code} {', '.join(names)}: {printable(say(asked(one)))}")
        lines += [f"      {printable(say(said))}" for said in one.lines()]
    return lines


def grouped(
    findings: Iterable[Finding],
) -> tuple[list[list[Finding]], list[tuple[str, Finding, list[str]]]]:
    """Return findings that share a fact; and of the rest the line, the finding, its targets."""
    every = list(findings)
    facts: dict[tuple[str, str], list[Finding]] = {}
    for one in every:
        if one.verdict.about:
            facts.setdefault((one.rules, one.verdict.about), []).append(one)
    facts = {key: some for key, some in facts.items() if len(some) >= MANY}
    rest = [one for one in every if (one.rules, one.verdict.about) not in facts]
    return list(facts.values()), _joined(rest)


def asked(one: Finding) -> str:
    """Return the call of a finding, and how often it was made."""
    also = " in backward" * one.call.backward
    also += f", {one.count} calls" if one.count > 1 else ""
    return f"{one.verdict.question}{also}"


def summary_of(some: list[Finding]) -> str:
    """Return what many findings have in common, with their operators."""
    calls = sum(one.count for one in some)
    names = sorted({one.call.operator for one in some})
    more = ", ..." * (len(names) > _SHOWN)
    operators = f"{len(names)} operator{'s' * (len(names) != 1)}"
    about = some[0].verdict.about
    return f"{about}: {calls} calls of {operators} ({', '.join(names[:_SHOWN])}{more})"


def _fact(some: list[Finding]) -> list[str]:
    """Return what many findings have in common, and where they are."""
    first = some[0]
    lines = [f"{first.code} {first.rules}: {say(summary_of(some))}"]
    files: dict[str, set[int]] = {}
    for one in some:
        if one.call.where is not None:
            files.setdefault(shortened(one.call.where.file), set()).add(one.call.where.line)
    places = []
    for file, at in files.items():
        ordered = sorted(at)
        places.append(
            f"{file}:{', '.join(map(str, ordered[:_SHOWN]))}{', ...' * (len(at) > _SHOWN)}"
        )
    if places:
        rest = len(places) - _SHOWN
        shown = "; ".join(places[:_SHOWN]) + (say(f"; and {rest} more files") if rest > 0 else "")
        lines.append(f"      {shown}")
    if first.verdict.fix is not None:
        lines.append("      " + say(f"fix: {first.verdict.fix.text}; --json lists each call"))
    return [printable(line) for line in lines]


def _joined(some: Iterable[Finding]) -> list[tuple[str, Finding, list[str]]]:
    """Return the line of each finding, the finding, and the targets that share it."""
    same: dict[tuple[object, ...], tuple[str, Finding, list[str]]] = {}
    for one in some:
        head = f"{shortened(one.place)}  {statement(one)}".rstrip()
        key = head, one.code, one.verdict.question, one.call.backward, one.count, *one.lines()
        targets = same.setdefault(key, (head, one, []))[2]
        if one.rules not in targets:
            targets.append(one.rules)
    return list(same.values())


def called_by(one: Finding) -> str:
    """Say which line of the program made a library come here, and in which of its modules."""
    where = one.call.where
    said = []
    if where is not None and where.by is not None:
        file, line = where.by
        said.append(f"called by {shortened(file)}:{line}{_more(by for by, _ in one.callers)}")
    if where is not None and where.layer:
        said.append(f"in {where.layer}{_more((layer for _, layer in one.callers), ' layer')}")
    return ", ".join(said)


def _more(some: Iterable[object], what: str = "") -> str:
    """Say how many there are besides the first."""
    many = len(set(some)) - 1
    return f" and {many} more{what}{'s' * (bool(what) and many > 1)}" if many > 0 else ""


def shortened(place: str) -> str:
    """Return a place relative to the current directory, or to that of installed packages."""
    here = os.getcwd() + os.sep
    for folder in ("site-packages", "dist-packages"):
        before, found, inside = place.replace("\\", "/").rpartition(f"/{folder}/")
        if found and before:
            return inside
    return place.removeprefix(here)


def statement(finding: Finding) -> str:
    """Return the whole statement that a finding is about, on one line."""
    return "" if finding.call.where is None else statement_at(finding.call.where)


def statement_at(where: Where) -> str:
    """Return the whole statement at a line of the program, on one line."""
    line = line_at(where)
    if not line:
        return line
    return _statements(where.file).get(where.line, line) if _is_python(where) else line


def _is_python(where: Where) -> bool:
    return where.file.endswith((".py", ".pyi")) or where.file in linecache.cache


@cache
def _statements(file: str) -> dict[int, str]:
    """Return the statements of a file, by each line they take."""
    lines = linecache.getlines(file)
    try:
        tree = ast.parse("".join(lines))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return {}
    found: dict[int, str] = {}
    for node in ast.walk(tree):
        last = getattr(node, "end_lineno", None)
        if (
            isinstance(node, ast.stmt)
            and not hasattr(node, "body")
            and last not in (None, node.lineno)
        ):
            text = " ".join(line.strip() for line in lines[node.lineno - 1 : last])
            short = text if len(text) <= _LONGEST else f"{text[:_LONGEST]} ..."
            found |= dict.fromkeys(range(node.lineno, (last or 0) + 1), short)
    return found
