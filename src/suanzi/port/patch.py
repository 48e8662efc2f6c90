"""Fixes written into the source of a program: each is tried, and only what is proven is kept.

A fix casts an operand where it stands in the source. If the results of the program change by that,
as those of PyTorch do that computes float16 with a 0-d float32 in float32, the other operand is
widened and the result cast back instead. A program is run again with a changed copy of its files;
the user's files are never written.
"""

from __future__ import annotations

import difflib
import os
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from subprocess import DEVNULL
from tempfile import TemporaryFile
from typing import Any, TypeAlias

from suanzi.base.status import InvalidArgument
from suanzi.port.edits import Change, Edit, Left, cast, cast_back
from suanzi.port.layout import shortened
from suanzi.port.report import Report
from suanzi.recording.calls import Calls

Run: TypeAlias = Callable[[Mapping[str, str]], tuple[Calls, bytes]]
"""Runs the program with other texts of some files; returns its calls and its output."""


@dataclass
class Patch:
    """The fixes that were proven, and the others with their reasons."""

    changes: list[Change] = field(default_factory=list)
    left: list[tuple[str, str]] = field(default_factory=list)
    """The line of a finding, and why its fix is not in the patch."""
    texts: dict[str, str] = field(default_factory=dict)
    """The files as they are with the changes."""

    def diff(self) -> str:
        """Return the patch as a unified diff, which `git apply` and `patch -p1` take."""
        found: list[str] = []
        for file, text in sorted(self.texts.items()):
            name = os.path.relpath(file).replace(os.sep, "/")
            before, after = _lines(Path(file).read_bytes()), _lines(text.encode())
            found += difflib.unified_diff(before, after, f"a/{name}", f"b/{name}")
        return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"
                       for line in found)  # fmt: skip

    def summary(self, file: str) -> str:
        """Return what was written, and what was left out."""
        many = len(self.changes)
        proof = "tried: the finding is gone, results are bit-equal, the output is the same"
        said = [f"{file}: {many} fix{'es' * (many != 1)}, each {proof}" if many
                else f"{file}: not written, no fix was proven"]  # fmt: skip
        said += [f"  {shortened(one.file)}:{one.line}  {one.shown}" for one in self.changes]
        said += [f"  left out, {where}: {why}" for where, why in self.left]
        return "\n".join(said)


def _lines(content: bytes) -> list[str]:
    """Return the lines of a file with their ends, as they are."""
    return [line.decode() for line in content.splitlines(keepends=True)]


def check_patch(file: str | None, source: str) -> None:
    """Raise where a patch is asked for that cannot be made."""
    if file is not None and source != "torch":
        raise InvalidArgument(
            f"port: --patch writes fixes of PyTorch programs; those of {source} are not tried."
        )


class Runs:
    """Runs a program with its output captured and its results noted as hashes."""

    def __init__(self, run: Callable[..., Calls]) -> None:
        self.run = run
        self.output = b""
        """What the program printed when it ran as it is."""

    def __call__(self, **more: Any) -> Calls:
        """Run the program as it is."""
        calls, self.output = self._captured(**more)
        return calls

    def again(self, texts: Mapping[str, str]) -> tuple[Calls, bytes]:
        """Run it with other texts of some files."""
        return self._captured(texts=texts, save=None, stderr=DEVNULL)

    def _captured(self, **more: Any) -> tuple[Calls, bytes]:
        with TemporaryFile() as out:
            calls = self.run(**{**more, "stdout": out, "hashes": True})
            out.seek(0)
            return calls, out.read()


def make_patch(
    report: Report, output: bytes, judged: Callable[[Calls], Report], run: Run,
    progress: Callable[[str], None] = lambda words: None,
) -> Patch:  # fmt: skip
    """Return the fixes of a report that hold, each tried by running the program again.

    `judged` returns the report on calls, as the first one was made.
    """
    patch, planned = Patch(), _planned(report)
    for i, (place, fixes) in enumerate(planned):
        progress(f"trying fix {i + 1} of {len(planned)}: {place}")
        try:
            change = _proven(fixes, report, output, judged, run)
            _check_apart(change, patch.changes)
            patch.changes.append(change)
        except Left as why:
            patch.left.append((place, str(why)))
    if len(patch.changes) > 1:
        progress("trying all fixes together")
        wrong = _wrong(patch.changes, report, output, judged, run)
        while wrong is not None and patch.changes:
            last = patch.changes.pop()
            place = f"{shortened(last.file)}:{last.line}"
            patch.left.append((place, f"with the other fixes, {wrong}"))
            wrong = _wrong(patch.changes, report, output, judged, run) if patch.changes else None
    patch.texts = _texts(patch.changes)
    return patch


def _planned(report: Report) -> list[tuple[str, list[Callable[[], Change]]]]:
    """Return the lines with findings, each with the changes to try."""
    found: dict[tuple[str, str], list[Callable[[], Change]]] = {}
    for one in report.findings:
        place = shortened(one.place)
        key = place, one.verdict.question
        if key not in found:
            found[key] = [
                lambda one=one: cast(one, report.calls),  # type: ignore[misc]
                lambda one=one: cast_back(one, report.calls),  # type: ignore[misc]
            ]
    return [(place, fixes) for (place, _), fixes in found.items()]


def _proven(
    fixes: Sequence[Callable[[], Change]], report: Report, output: bytes,
    judged: Callable[[Calls], Report], run: Run,
) -> Change:  # fmt: skip
    """Return the first change that holds; raise with the reason of the first one."""
    reasons: list[str] = []
    for make in fixes:
        try:
            change = make()
        except Left as why:
            reasons.append(str(why))
            continue
        wrong = _wrong([change], report, output, judged, run)
        if wrong is None:
            return change
        reasons.append(f"with {change.shown} {wrong}")
    raise Left("; ".join(dict.fromkeys(reasons)))


def _wrong(
    changes: Sequence[Change], report: Report, output: bytes, judged: Callable[[Calls], Report],
    run: Run,
) -> str | None:  # fmt: skip
    """Return what is wrong with changes after the program was run with them; None: nothing."""
    calls, now = run(_texts(changes))
    before = report.calls
    assert before is not None
    if calls.raised != before.raised:
        return f"the program ends otherwise: {calls.raised}"
    lines = {(one.file, one.line) for one in changes}
    old, new = _keys(report), _keys(judged(calls))
    for key in new:
        if key[2:4] in lines:
            return "the finding remains"
    more = new - old
    if more:
        code, rules, file, line, *_ = next(iter(more))
        return f"there is another finding, {code} of {rules} at {shortened(str(file))}:{line}"
    wrong = _differ(before.hashes, calls.hashes, lines)
    if wrong is not None:
        return wrong
    return None if now == output else "the program prints something else"


def _keys(report: Report) -> Counter[tuple[Any, ...]]:
    found: Counter[tuple[Any, ...]] = Counter()
    for one in report.findings:
        where = one.call.where
        file, line = ("", 0) if where is None else (where.file, where.line)
        found[one.code, one.rules, file, line, one.call.operator, one.verdict.question] += 1
    return found


def _differ(
    before: Mapping[str, Any], after: Mapping[str, Any], lines: Iterable[tuple[str, int]]
) -> str | None:
    """Return where results are others; a changed line has more of them, and those it had."""
    changed = {f"{file}:{line}" for file, line in lines}
    for place, was in before.items():
        now = after.get(place)
        if now is None:
            return f"the results of {shortened(place)} are missing"
        if place not in changed and was["all"] != now["all"]:
            return f"results change at {shortened(place)}"
        rest = iter(now["first"])
        if place in changed and not all(one in rest for one in was["first"]):
            return "its results change"
    return None


def _check_apart(change: Change, others: Iterable[Change]) -> None:
    first, last = change.span
    for one in others:
        if one.file == change.file and first <= one.span[1] and one.span[0] <= last:
            raise Left("it overlaps with another fix; apply this patch and ask again")


def _texts(changes: Iterable[Change]) -> dict[str, str]:
    """Return the texts of the files with some changes."""
    edits: dict[str, list[Edit]] = {}
    for change in changes:
        edits.setdefault(os.path.abspath(change.file), []).extend(change.edits)
    found = {}
    for file, some in edits.items():
        content = Path(file).read_bytes()
        # At one offset, what was planned first comes first.
        for _, one in sorted(enumerate(some), key=lambda pair: (-pair[1].at, -pair[0])):
            content = content[: one.at] + one.text.encode() + content[one.at :]
        found[file] = content.decode("utf-8")
    return found
