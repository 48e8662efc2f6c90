"""What operators of the same name do differently in a target, dtypes apart: ``differences.txt``.

Each question has an expression and an answer for each framework, which were asked of the installed
ones. A call is reported, below the findings, if both frameworks answer and the answers differ.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from suanzi.base.hints import nearest
from suanzi.base.status import InternalError, InvalidArgument
from suanzi.base.text import printable
from suanzi.port.available import torch_name
from suanzi.port.judged import Judged
from suanzi.port.layout import shortened
from suanzi.port.probes import ask_differences as asker
from suanzi.promote.live import Compared, run_script
from suanzi.promote.operands import Role
from suanzi.recording.calls import Call, Calls, Taken

_SHOWN = 4


@dataclass(frozen=True)
class Question:
    """Something that frameworks may do differently, and what each does."""

    name: str
    title: str
    operators: frozenset[str]
    """PyTorch's names."""
    kind: str
    """Which operands matter: float, nan, integer, signed, any, to_integer, to_uint8, bounds."""
    needs: tuple[str, ...]
    """Arguments that must be named (``with:x``) or absent (``without:x@1``, at position 1)."""
    words: str
    """When it matters, if that is not always."""
    answers: dict[str, str]
    """By framework; one that has no answer is left out."""
    asked: dict[str, str]
    """The expression that each was asked."""

    def concerns(self, call: Call) -> bool:
        """Tell whether a call may be one for which it matters."""
        operands = [
            x
            for one in (*call.arguments, *(x for _, x in call.named))
            for x in (one if isinstance(one, tuple) else (one,))
            if isinstance(x, Taken)
        ]
        kinds = {x.operand.dtype.kind for x in operands if x.operand.dtype is not None}
        names = {name for name, _ in call.named}
        for need in self.needs:
            how, _, name = need.partition(":")
            name, _, position = name.partition("@")
            given = name in names or (position and len(call.arguments) > int(position))
            if bool(given) is (how == "without"):
                return False
        if self.kind == "float":
            return "float" in kinds
        if self.kind == "nan":
            seen = [x.seen for x in operands]
            return "float" in kinds and any(x is None or x.has_nan for x in seen)
        if self.kind == "integer":
            return not kinds & {"float", "complex"}
        if self.kind == "signed":
            return any(_may_be_negative(x) for x in operands)
        if self.kind == "bounds":
            return _may_cross(operands[1:])
        if self.kind.startswith("to_"):
            return _may_overflow(call, operands, self.kind)
        return True


def _may_be_negative(x: Taken) -> bool:
    dtype = x.operand.dtype
    if x.least is not None:
        return x.least < 0
    return x.operand.role is not Role.NUMBER and (dtype is None or dtype.kind in ("int", "float"))


def _may_cross(bounds: list[Taken]) -> bool:
    if len(bounds) != 2:
        return False
    high, low = bounds[0].greatest, bounds[1].least
    return high is None or low is None or high > low


def _may_overflow(call: Call, operands: list[Taken], kind: str) -> bool:
    first, result = operands[0] if operands else None, call.result
    if first is None or first.operand.dtype is None or result is None:
        return False
    if first.operand.dtype.kind != "float" or result.kind not in ("int", "uint"):
        return False
    if (kind == "to_uint8") is not (result.kind == "uint"):
        return False
    low = 0 if result.kind == "uint" else -(2 ** (result.bits - 1))
    if first.least is None or first.greatest is None:
        return True
    return first.least < low or first.greatest >= low + 2**result.bits


@cache
def questions() -> tuple[Question, ...]:
    """Return all questions.

    >>> one = next(q for q in questions() if q.name == "median")
    >>> one.answers["torch"], one.answers["paddle"], one.words
    ('2', '2.5', 'if the count is even')
    """
    found = []
    for one in asker.read(asker.FILE.read_text("utf-8")):
        when, _, words = one["when"].partition(", ")
        kind, *needs = when.split()
        answers = {f: one[f][1] for f in asker.FRAMEWORKS if f in one and one[f][1]}
        found.append(
            Question(one["name"], one["title"], frozenset(one["operators"].split()), kind,
                     tuple(needs), words, answers, {f: one[f][0] for f in answers})
        )  # fmt: skip
    return tuple(found)


@dataclass(frozen=True)
class Difference:
    """A question that two frameworks answer differently, and the calls that it concerns."""

    question: Question
    source: str
    there: str
    """What the target answers."""
    targets: tuple[str, ...]
    calls: tuple[Call, ...]

    def __str__(self) -> str:
        here = self.question.answers[self.source]
        words = f", {self.question.words}" if self.question.words else ""
        names = [f"{name}{self._by(name)}" for name in self.targets]
        return (
            f"differs by meaning{words}: {self.question.title}: {self.there} in "
            f"{', '.join(names)}, {here} in {self.source} ({self.places()})"
        )

    def _by(self, target: str) -> str:
        """Say which of MindSpore's functions was asked: mint, which is like PyTorch's, or ops."""
        asked = self.question.asked[_framework(target)]
        return f" by {asked.partition('(')[0]}" if asked.startswith(("ops.", "mindspore.")) else ""

    def places(self) -> str:
        """Return the operators, and the lines of the first calls."""
        names = ", ".join(sorted({call.operator for call in self.calls}))
        lines = list(
            dict.fromkeys(
                f"{shortened(c.where.file)}:{c.where.line}"
                for c in self.calls
                if c.where is not None
            )
        )
        more = f", and {len(lines) - _SHOWN} more lines" * (len(lines) > _SHOWN)
        return f"{names}: {', '.join(lines[:_SHOWN])}{more}" if lines else names

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data."""
        where = [c.where for c in self.calls if c.where is not None]
        return {
            "name": self.question.name,
            "question": self.question.title,
            "matters": self.question.words,
            "answers": {self.source: self.question.answers[self.source]}
            | dict.fromkeys(self.targets, self.there),
            "operators": sorted({call.operator for call in self.calls}),
            "lines": [[w.file, w.line] for w in dict.fromkeys(where)],
        }


def _framework(target: str) -> str:
    """Return the framework of a rule set; torch_npu and cann were not asked."""
    return target if target == "torch_npu" else re.split(r"[_+]", target)[0]


def differences(calls: Calls | None, judged: Iterable[Judged]) -> list[Difference]:
    """Return what the targets do differently with calls of a program, gradients apart."""
    if calls is None:
        return []
    names = {c.operator: torch_name(c.operator, calls.framework) for c in calls.calls}
    some = [*judged]
    return [one for q in questions() for one in _differences(q, calls, some, names)]


def _differences(
    question: Question, calls: Calls, judged: list[Judged], names: dict[str, str | None]
) -> Iterator[Difference]:
    here = question.answers.get(calls.framework)
    by_answer: dict[str, tuple[list[str], dict[int, Call]]] = {}
    for one in judged:
        there = question.answers.get(_framework(one.rules.name))
        if here is None or there is None or here == there:
            continue
        for call in calls.calls:
            if call.backward or names[call.operator] not in question.operators:
                continue
            if (one.given is None or one.given.has(call)) and question.concerns(call):
                targets, found = by_answer.setdefault(there, ([], {}))
                found[call.number] = call
                if one.rules.name not in targets:
                    targets.append(one.rules.name)
    for there, (targets, found) in by_answer.items():
        yield Difference(question, calls.framework, there, tuple(targets), tuple(found.values()))


@dataclass(frozen=True, repr=False)
class Asked(Compared):
    """The answers of an installed framework, compared with those of suanzi's table."""

    framework: str
    version: str
    answers: dict[str, str]

    header = ("question", "now", "in the table")

    @property
    def differences(self) -> list[tuple[str, str, str]]:
        """The answers that changed; a dash for none."""
        then = {q.name: q.answers.get(self.framework, "-") for q in questions()}
        return [
            (name, self.answers.get(name, "-"), was)
            for name, was in then.items()
            if self.answers.get(name, "-") != was
        ]

    @property
    def text(self) -> str:
        """The table with these answers."""
        lines, name = [], ""
        for line in asker.FILE.read_text("utf-8").splitlines():
            if line.startswith("["):
                name = line[1:].partition("]")[0]
            elif line.startswith(f"version {self.framework} "):
                line = f"version {self.framework} {self.version}"
            elif line.startswith(f"{self.framework} ") and name:
                line = line.partition(" -> ")[0]
                line += f" -> {self.answers[name]}" if name in self.answers else ""
            lines.append(line)
        return "\n".join([*lines, ""])

    def summary(self) -> str:
        """Return the counts in one sentence."""
        who, answers = f"{self.framework} {self.version}", len(self.answers)
        return f"{who}: {answers} answers, {self.differ()} from suanzi's table"

    def to_dict(self) -> dict[str, Any]:
        """Return what was found as plain data."""
        return {
            "framework": self.framework,
            "version": self.version,
            "answers": self.answers,
            "differences": [
                dict(zip(("question", "now", "then"), row, strict=True)) for row in self.differences
            ],
        }


def ask_differences(framework: str, python: str | None = None) -> Asked:
    """Ask the framework that is installed for an interpreter, this one by default."""
    if framework not in asker.FRAMEWORKS:
        raise InvalidArgument(
            f"live: --differences does not support {framework!r}; it supports "
            f"{', '.join(asker.FRAMEWORKS)}.{nearest(framework, asker.FRAMEWORKS)}"
        )
    done = run_script("live", framework, Path(asker.__file__), framework, python=python)
    lines = [line for line in done.stdout.splitlines() if line.startswith('{"version"')]
    if done.returncode or not lines:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise InternalError(f"live: asking {framework} failed: {printable(last)}")
    found = json.loads(lines[-1])
    return Asked(framework, found["version"], found["answers"])
