"""Report: what moves differently, by line of the program; as text, data, HTML and SARIF."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from suanzi import _core
from suanzi.base.lang import said, say
from suanzi.base.status import InvalidArgument
from suanzi.base.text import printable
from suanzi.port.differences import Difference, differences
from suanzi.port.findings import (
    CODES,
    PAGE,
    Finding,
    Fingerprint,
    fingerprint,
    is_ignored,
    source_line,
)
from suanzi.port.judged import Judged
from suanzi.port.layout import place_of, shortened, text_of
from suanzi.port.passes import judge_calls
from suanzi.port.support import check_chips
from suanzi.port.values import Close, close_lines, notes_of
from suanzi.promote.library import rule_set, rules_or_file
from suanzi.promote.rules import RuleSet
from suanzi.recording.calls import Calls

_WAYS = {"in-place": "x += y", "in-place method": "x.add_(y)", "out": "out="}

_AS_IT_COMES = {"jax": "jax_x32"}
FROM = {
    "torch": {**_AS_IT_COMES, "openvino": "openvino+torch"},
    "paddle": _AS_IT_COMES,
    "mindspore": _AS_IT_COMES,
    "onnx": {**_AS_IT_COMES, "openvino": "openvino+onnx"},
    "openvino": {"openvino": "openvino+torch"},
}
"""What a target means to programs of a framework: as its users have it, or its converter does."""


def usual_targets(source: str = "torch") -> list[str]:
    """Return the targets that are meant where none is named.

    A PyTorch program reaches Ascend through torch_npu, which has PyTorch's result dtypes; other
    programs, and models, are rewritten as calls of aclnn, or converted to them.

    >>> usual_targets("paddle")
    ['cann', 'torch', 'mindspore', 'jax']
    """
    if source in ("paddle", "mindspore"):
        # Converted programs of these frameworks were never tested with OpenVINO.
        return [name for name in ("cann", "torch", "mindspore", "paddle", "jax") if name != source]
    return ["torch_npu" if source == "torch" else "cann", "mindspore", "paddle", "openvino", "jax"]


def targets(names: Iterable[str | RuleSet], source: str = "torch") -> list[RuleSet]:
    """Return the rule sets that targets of a port stand for, by name or from files.

    >>> [rules.name for rules in targets(["cann", "jax", "jax_x64", "openvino"])]
    ['cann', 'jax_x32', 'jax', 'openvino+torch']
    """
    meant = FROM.get(source, {})
    found = [
        rules_or_file(meant.get(name, name)) if isinstance(name, str) else name for name in names
    ]
    if not found:
        raise InvalidArgument("port: no target given; name at least one rule set.")
    return list(dict.fromkeys(found))


UNCHECKED = "not checked"
"""How a note begins that names what was not judged."""


@dataclass(repr=False)
class Report:
    """The findings of a program, for each target, and what could not be judged.

    `trace` returns it empty and fills it when the block ends.
    """

    calls: Calls | None = None
    judged: tuple[Judged, ...] = ()
    baseline: Counter[Fingerprint] = field(default_factory=Counter)
    """Known findings, which are not reported again."""
    also: tuple[str, ...] = ()
    """What its reader has to say of the program as a whole."""
    explain: bool = False
    """Whether its text says one by one what was not checked."""

    @property
    def raised(self) -> str | None:
        """What the program raised, if it did not end well."""
        return None if self.calls is None else self.calls.raised

    @property
    def findings(self) -> list[Finding]:
        """The findings by file and line, but those that the program ignores or the baseline has."""
        known = Counter(self.baseline)
        found = []
        for one in self._all():
            mark = fingerprint(self._data(one))
            if is_ignored(one):
                continue
            if known[mark] > 0:
                known[mark] -= 1
                continue
            found.append(one)
        return found

    def _all(self) -> list[Finding]:
        return sorted((one for j in self.judged for one in j.findings), key=place_of)

    @property
    def ignored(self) -> int:
        """How many findings the program says it does not want to hear of."""
        return sum(is_ignored(one) for one in self._all())

    def __len__(self) -> int:
        return len(self.findings)

    def __bool__(self) -> bool:
        return bool(self.findings)

    def __iter__(self) -> Iterator[Finding]:
        return iter(self.findings)

    def summary(self) -> str:
        """Return the counts in one sentence."""
        if self.calls is None:
            return "nothing recorded yet"
        calls = sum(call.count for call in self.calls.calls)
        names = ", ".join(one.rules.name for one in self.judged)
        many = len(self.findings)
        hidden = len(self._all()) - many
        framework = f"{self.calls.framework} {self.calls.version}".strip()
        text = f"{_many(calls)} of {framework}, compared with {names}"
        text += f": {many or 'no'} finding{'s' * (many != 1)}"
        return text + (f", {hidden} ignored or known" if hidden else "")

    def notes(self) -> list[str]:
        """Return what could not be checked, and how the program ended."""
        said = [*self.also]
        if self.calls is not None and not self.calls.calls:
            said.append(
                f"no call of {self.calls.framework} was seen: the program does not use it, or does "
                "in an interpreter that ignores its environment (python -I)"
            )
        if self.raised is not None:
            said.append(f"the program failed; these are its calls until then: {self.raised}")
        if self.calls is not None and self.calls.missed:
            said.append(f"{_many(self.calls.missed)} could not be recorded")
        said += map(str, self.differences())
        said += [note for j in self.judged if j.available for note in j.available.notes()]
        for one in self.judged:
            said += one.given.notes() if one.given is not None else []
            if one.made:
                made = ", ".join(f"{there} is {here}" for there, here in one.made.items())
                said.append(f"{one.rules.name} does not have all of its dtypes: {made} there")
            for way, count in one.unwritten.items():
                said.append(
                    f"{UNCHECKED}, what {one.rules.name} does with {_WAYS[way]}: {_many(count)}"
                )
            said += one.dtypes.notes()
        said += notes_of(self.close())
        if self.judged:
            most = self._most()
            for what, counts in (
                ("unknown operators with several dtypes", most.unknown),
                ("results that the source's own rules do not explain", most.unexplained),
            ):
                if counts:
                    names = ", ".join(f"{n} ({c})" for n, c in sorted(counts.items()))
                    said.append(f"{UNCHECKED}, {what}: {names}")
            if most.uniform:
                said.append(
                    f"{UNCHECKED}, unknown operators with a single dtype: {_many(most.uniform)}"
                )
        return said

    def _most(self) -> Judged:
        """Return what was judged of the target that was compared with most calls."""
        return min(self.judged, key=lambda one: one.given.left_out if one.given else 0)

    def close(self) -> list[Close]:
        """Return the lines whose values are close to the ends of float16, or beyond."""
        return [] if self.calls is None else close_lines(self.calls.calls, self.judged)

    def differences(self) -> list[Difference]:
        """Return what targets compute differently, dtypes apart; these are no findings."""
        return differences(self.calls, self.judged)

    def short_notes(self) -> list[str]:
        """Return the notes, with all that was not checked in one line."""
        notes = self.notes()
        unchecked = [note for note in notes if note.startswith(UNCHECKED)]
        if len(unchecked) < 2:
            return notes
        most = self._most()
        calls = most.uniform + sum(most.unknown.values()) + sum(most.unexplained.values())
        targets = [one.rules.name for one in self.judged if one.dtypes.unchecked]
        said = [f"{_many(calls)} of unknown operators or results"] * bool(calls)
        said += [f"dtypes of operators of {', '.join(targets)}"] * bool(targets)
        said = said or [f"{len(unchecked)} things"]
        line = f"{UNCHECKED}: {'; '.join(said)} (--explain-unjudged lists them)"
        return [*(note for note in notes if note not in unchecked), line]

    def __str__(self) -> str:
        lines = [printable(say(self.summary()))]
        lines += text_of(self.findings)
        notes = self.notes() if self.explain else self.short_notes()
        if notes:
            lines += ["", *(printable(say(note)) for note in notes)]
        return "\n".join(lines)

    __repr__ = __str__

    header = ("line", "code", "target", "call", "what")

    def rows(self) -> list[tuple[str, str, str, str, str]]:
        """Return a row for each finding."""
        return [
            (
                shortened(one.place),
                one.code,
                one.rules,
                one.verdict.question,
                "\n".join(map(say, one.lines())),
            )
            for one in self.findings
        ]

    def _repr_html_(self) -> str:
        from suanzi.base.html import Cell, note, page, table

        rows = [
            [Cell(text, "refused" if row[1] == "SZ002" else "lossy" if i == 1 else "")
             if i in (1, 4) else text for i, text in enumerate(row)]
            for row in self.rows()
        ]  # fmt: skip
        parts = [note(say(self.summary())), table(said([self.header])[0], rows) if rows else ""]
        return page(*parts, *(note(say(text)) for text in self.notes()))

    def to_html(self) -> str:
        """Return a page that needs nothing else."""
        from suanzi.port.page import to_html

        return to_html(self)

    def _data(self, one: Finding) -> dict[str, Any]:
        return one.to_dict() | {"source_line": source_line(one)}

    def to_dict(self) -> dict[str, Any]:
        """Return the report as plain data."""
        found = [self._data(one) for one in self.findings]
        most = self._most() if self.judged else None
        return {
            "from": self.calls and self.calls.framework,
            "version": self.calls and self.calls.version,
            "to": [{"rules": j.rules.name, "version": j.rules.version} for j in self.judged],
            "calls": sum(call.count for call in self.calls.calls) if self.calls else 0,
            "raised": self.raised,
            "also": list(self.also),
            "counts": {code: sum(f["code"] == code for f in found) for code in CODES},
            "ignored": self.ignored,
            "findings": found,
            "float16": [one.to_dict() for one in self.close()],
            "unknown": most.unknown if most else {},
            "unexplained": most.unexplained if most else {},
            "uniform": most.uniform if most else 0,
            "left_out": {j.rules.name: j.given.left_out if j.given else 0 for j in self.judged},
            "unwritten": {j.rules.name: j.unwritten for j in self.judged},
            "made": {j.rules.name: j.made for j in self.judged},
            "dtypes": {j.rules.name: j.dtypes.to_dict() for j in self.judged},
            "differences": [one.to_dict() for one in self.differences()],
            "operators": {j.rules.name: j.available.to_dict() for j in self.judged if j.available},
        }


def judge(
    calls: Calls,
    to: Iterable[str | RuleSet],
    baseline: Counter[Fingerprint] | None = None,
    on: Iterable[str] = (),
) -> Report:
    """Return what changes of the recorded calls of a program under each target.

    `on` are the chips of the targets that matter, such as "910b" and "cpu".
    """
    source = calls.rules or rule_set(calls.framework)
    asked = targets(to, calls.framework)
    chips = check_chips(on, asked)
    found = tuple(judge_calls(calls, source, one, chips) for one in asked)
    return Report(calls, found, baseline or Counter())


def _many(calls: int) -> str:
    return f"{calls} call{'s' * (calls != 1)}"


def to_sarif(report: Report) -> dict[str, Any]:
    """Return a report as the data of a SARIF file."""
    results = []
    for one in report.findings:
        where = one.call.where
        data = one.to_dict() | {"source_line": source_line(one)}
        result: dict[str, Any] = {
            "ruleId": one.code,
            "level": "error" if one.code == "SZ002" else "warning",
            "message": {"text": f"{one.rules}: {one.verdict.question}: " + "\n".join(one.lines())},
            "partialFingerprints": {"suanzi/1": "|".join(fingerprint(data))},
        }
        if where is not None:
            physical: dict[str, Any] = {"artifactLocation": {"uri": _uri(where.file)}}
            location: dict[str, Any] = {"physicalLocation": physical}
            if where.line:
                physical["region"] = {"startLine": where.line}
            else:
                location["logicalLocations"] = [{"name": where.function}]
            result["locations"] = [location]
        results.append(result)
    driver = {
        "name": "suanzi port",
        "version": _core.VERSION or "0",
        "rules": [
            {"id": code, "shortDescription": {"text": text}, "help": {"text": f"See {PAGE}."}}
            for code, text in CODES.items()
        ],
    }
    return {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{"tool": {"driver": driver}, "results": results}],
    }


def _uri(file: str) -> str:
    """Return a file as SARIF names it: relative to where we are, or absolute."""
    if file.startswith("<"):
        return file.strip("<>")
    below = os.path.relpath(file)
    return Path(file).absolute().as_uri() if below.startswith("..") else Path(below).as_posix()
