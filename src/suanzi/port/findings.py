"""Finding: a call whose result a target changes, refuses or loses, and the fix that keeps it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from suanzi.port.calls import Call
from suanzi.port.codes import Code
from suanzi.promote.engine import Answer
from suanzi.promote.explain import Explanation
from suanzi.promote.fixes import Fix


@dataclass(frozen=True)
class Verdict:
    """What a target does with operands that the source answered; calls that are alike share it."""

    code: Code
    source: Answer | None
    """What the source's rules say; None for an operator that does not promote."""
    target: Answer | None
    text: str
    """What is there, and what was."""
    fix: Fix | None
    asked: str = ""
    """The operator and its operands, where the rules were not asked."""

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
        """Return what is said of it, in a few lines."""
        said = [self.verdict.text]
        if self.followers:
            many = sum(call.count for call in self.followers)
            at = sorted({c.where.line for c in self.followers if c.where is not None})
            shown = ", ".join(map(str, at[:6])) + ", ..." * (len(at) > 6)
            said.append(f"{many} call{'s' * (many != 1)} follow{'s' * (many == 1)}: line {shown}")
        for call, why in self.stopped_at[:1]:
            where = "" if call.where is None else f" in line {call.where.line}"
            said.append(f"and {call.operator}{where} is refused then: {why}")
        if self.verdict.fix is not None:
            said.append(f"fix: {self.verdict.fix.text}")
            if self.verdict.fix.code:
                said.append(f"     {self.verdict.fix.code}")
        return said

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
