"""Finding: a call whose result a target changes, refuses or loses, and the fix that keeps it.

Each has a code; docs/en/reference/port-findings.md explains them. Lines marked
``# suanzi: ignore[SZ005]`` and findings of a baseline are not reported.
"""

from __future__ import annotations

import json
import linecache
import os
import re
from collections import Counter
from dataclasses import dataclass, field
from functools import cache
from os import PathLike
from pathlib import Path
from typing import Any, Literal

from suanzi.base.status import InvalidArgument
from suanzi.promote.engine import Answer
from suanzi.promote.explain import Explanation
from suanzi.promote.fixes import Fix
from suanzi.recording.calls import Call, Where

Code = Literal["SZ001", "SZ002", "SZ003", "SZ004", "SZ005", "SZ006", "SZ007", "SZ008"]

CODES: dict[Code, str] = {
    "SZ001": "the result has another dtype",
    "SZ002": "the operands are refused",
    "SZ003": "values are lost that were kept",
    "SZ004": "the operator lacks the dtype",
    "SZ005": "the result is silently wider",
    "SZ006": "a number is out of range",
    "SZ007": "what is written in place gets another dtype",
    "SZ008": "the operator is missing",
}
PAGE = "docs/en/reference/port-findings.md"
_SHOWN = 6
"""How many lines and files are shown of the calls that follow."""


@dataclass(frozen=True)
class Verdict:
    """What a target does with operands that the source answered; calls that are alike share it."""

    code: Code
    source: Answer | None
    """What the source's rules say; None for an operator that does not promote."""
    target: Answer | None
    text: str
    """The dtype in the target, and the one before."""
    fix: Fix | None
    asked: str = ""
    """The operator and its operands, where no rule set was used."""
    about: str = ""
    """The fact that it shares with other findings, in a few words; empty where it has none."""

    @property
    def question(self) -> str:
        """The operator and its operands."""
        if self.target is None:
            return self.asked
        return Explanation(self.target).title.partition(" -> ")[0]


@dataclass
class Finding:
    """A verdict at a place of the program: a root cause, with the calls that only follow it."""

    call: Call
    verdict: Verdict
    rules: str
    """The target."""
    count: int = 1
    """How many calls of the line are so."""
    followers: list[Call] = field(default_factory=list)
    """Later calls that change their dtype because this one did, and would not by themselves."""
    stopped_at: list[tuple[Call, str]] = field(default_factory=list)
    """Of them, those that the target refuses with what it computes with by then, and why."""
    callers: set[tuple[tuple[str, int] | None, str]] = field(default_factory=set)
    """The lines of the program that made a library come here, and the layers."""

    @property
    def code(self) -> Code:
        """The code of the finding."""
        return self.verdict.code

    @property
    def place(self) -> str:
        """The file and the line."""
        where = self.call.where
        if where is None:
            return "?"
        # The nodes of a model have names, and no lines.
        return f"{where.file}:{where.line}" if where.line else f"{where.file} {where.function}"

    def lines(self) -> list[str]:
        """Return the finding in a few lines."""
        said = [self.verdict.text]
        if self.followers and not self.stopped_at:
            many = sum(call.count for call in self.followers)
            said.append(
                f"{many} call{'s' * (many != 1)} follow{'s' * (many == 1)}: {self.places()}"
            )
        for call, why in self.stopped_at[:1]:
            where = "" if call.where is None else f"{self.near(call.where)}, "
            more = sum(call.count for call, _ in self.stopped_at[1:])
            also = f"; {more} more call{'s are' if more > 1 else ' is'} refused" if more else ""
            said.append(f"stops at {where}{call.operator}: {why}{also}")
        if self.verdict.fix is not None:
            said.append(f"fix: {self.verdict.fix.text}")
            if self.verdict.fix.code:
                said.append(f"     {self.verdict.fix.code}")
        return said

    def places(self) -> str:
        """Return the lines of the calls that follow, with their files where they are others."""
        at: dict[str, set[int]] = {}
        for call in self.followers:
            if call.where is not None:
                at.setdefault(self.named(call.where), set()).add(call.where.line)
        own = self.named(self.call.where) if self.call.where is not None else ""
        said = []
        for file, lines in sorted(at.items(), key=lambda one: one[0] != own):
            some = sorted(lines)
            shown = ", ".join(map(str, some[:_SHOWN])) + ", ..." * (len(some) > _SHOWN)
            said.append(f"line {shown}" if file == own else f"{file}:{shown}")
        more = len(said) - _SHOWN
        return "; ".join(said[:_SHOWN]) + (f"; and {more} more files" if more > 0 else "")

    def near(self, where: Where) -> str:
        """Return a line, with its file where it is another than that of the finding."""
        own = self.call.where is not None and where.file == self.call.where.file
        return f"line {where.line}" if own else f"{self.named(where)}:{where.line}"

    def named(self, where: Where) -> str:
        """Return the name of a file as it is shown next to a line of another one."""
        return where.file.replace("\\", "/").rpartition("/")[2]

    def to_dict(self) -> dict[str, Any]:
        """Return the finding as plain data."""
        where, fix = self.call.where, self.verdict.fix
        source, target = self.verdict.source, self.verdict.target
        return {
            "code": self.code,
            "rules": self.rules,
            "file": where and where.file,
            "line": where and where.line,
            "function": where and where.function,
            "module": where and where.module,
            "operator": self.call.operator,
            "operands": [str(o) for o in target.operands] if target else [self.verdict.asked],
            "way": self.call.way,
            "backward": self.call.backward,
            "calls": self.count,
            "source": source and {"rules": source.rules.name, "dtype": _name(source)},
            "target": target and {"rules": self.rules, "dtype": _name(target)},
            "reason": target.reason if target else self.verdict.text,
            "text": self.verdict.text,
            "fix": fix and {"text": fix.text, "code": fix.code},
            "followers": [
                {"line": c.where and c.where.line, "file": c.where and c.where.file,
                 "operator": c.operator, "calls": c.count} for c in self.followers
            ],
            "refused_then": [
                {"line": c.where and c.where.line, "operator": c.operator, "reason": why}
                for c, why in self.stopped_at
            ],
        }  # fmt: skip


def _name(found: Answer) -> str | None:
    return None if found.output is None else found.output.name


_MARK = re.compile(r"#\s*suanzi:\s*ignore(?:\[([^\]]*)\])?")

_LONGEST = 1 << 24
"""Bytes of a file whose lines are shown."""

Fingerprint = tuple[str, ...]


def source_line(finding: Finding) -> str:
    """Return the line of the program that a finding is about, empty where it cannot be read."""
    return "" if finding.call.where is None else line_at(finding.call.where)


def line_at(where: Where) -> str:
    """Return a line of the program, empty where it cannot be read."""
    if not where.line or not is_source(where.file):
        return ""
    return linecache.getline(where.file, where.line).strip()


def is_source(file: str) -> bool:
    """Tell whether a file is a program, a log, or a cell of a notebook.

    A recorded file of others names any: a device that never ends, or one whose lines are nobody's
    business.
    """
    return file in linecache.cache or _is_program(os.path.abspath(file))


@cache
def _is_program(file: str) -> bool:
    try:
        path = Path(file)
        found = path.is_file() and path.stat().st_size <= _LONGEST
    except (OSError, ValueError):
        return False
    return found and path.suffix in (".py", ".pyi", ".pyx", ".txt", ".log")


def is_ignored(finding: Finding) -> bool:
    """Tell whether the line says that this finding is not wanted."""
    mark = _MARK.search(source_line(finding))
    if mark is None:
        return False
    codes = [code.strip() for code in (mark[1] or "").split(",") if code.strip()]
    return not codes or finding.code in codes


def fingerprint(data: dict[str, Any]) -> Fingerprint:
    """Return what makes a finding the same in another run: not its line number, which moves."""
    file = str(data["file"] or "").replace("\\", "/").rpartition("/")[2]
    line = data["source_line"] or (data["function"] if data["line"] == 0 else "")
    words = (data["code"], data["rules"], file, line, data["operator"])
    return (*(str(word) for word in words), *map(str, data["operands"]))


def read_baseline(path: str | PathLike[str]) -> Counter[Fingerprint]:
    """Return the findings of a report that ``--json`` wrote."""
    try:
        with open(path, encoding="utf-8") as file:
            found = json.load(file)["findings"]
        return Counter(fingerprint(one) for one in found)
    except OSError as error:
        raise InvalidArgument(
            f"baseline: {str(path)!r} cannot be read: {error.strerror}."
        ) from None
    except (ValueError, LookupError, TypeError, RecursionError):
        raise InvalidArgument(
            f"baseline: {str(path)!r} is not a report; `suanzi port ... --json` prints one."
        ) from None
