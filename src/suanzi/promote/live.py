"""live: compares a rule set with an installed framework, cell by cell, in another process.

The framework never enters this process: a probe script runs in the given interpreter, which need
not have suanzi, and prints what the framework did.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal

from suanzi.base.dtypes import DType, dtype
from suanzi.base.hints import nearest
from suanzi.base.lang import said, say
from suanzi.base.status import InternalError, InvalidArgument
from suanzi.base.text import columns, ending, printable
from suanzi.promote.engine import Answer, answer
from suanzi.promote.library import rule_set
from suanzi.promote.operands import Number, ZeroDim
from suanzi.promote.rules import RuleSet

FRAMEWORKS = (
    "torch", "numpy", "jax", "paddle", "mindspore", "openvino", "inductor", "triton", "flaggems",
)  # fmt: skip
"""The frameworks that have a probe; each is compared with the rule set of its name."""

_NEEDED = {"inductor": "torch", "triton": "triton", "flaggems": "flag_gems"}
"""What to install where no extra of suanzi is named after the framework."""
ON_DEVICES = ("torch", "jax")
"""Those that can be asked on a device."""
_MARK = "suanzi-probe "
_NOT_INSTALLED = 3
_NO_DEVICE = 4

Outcome = Literal["agrees", "known", "drift", "missing"]


class NotInstalled(InvalidArgument):
    """The framework is not installed."""


class NoDevice(InvalidArgument):
    """The framework does not have the device that it is asked on."""


class Compared:
    """What a framework answered, compared with what suanzi has: a sentence, and the differences."""

    header: ClassVar[tuple[str, ...]]

    @property
    def differences(self) -> Sequence[tuple[str, ...]]:
        """The rows that differ."""
        raise NotImplementedError

    def summary(self) -> str:
        """Return the counts in one sentence."""
        raise NotImplementedError

    def differ(self) -> str:
        """Return how many differ, for the sentence."""
        many = len(self.differences)
        return f"{many or 'none'} differ{'s' * (many == 1)}"

    def __str__(self) -> str:
        if not self.differences:
            return say(self.summary())
        rows = [*said([self.header]), *self.differences]
        return f"{say(self.summary())}\n\n{columns(rows)}"

    __repr__ = __str__


@dataclass(frozen=True)
class LiveCell:
    """One question, the rule set's answer, the framework's, and how they compare."""

    answer: Answer
    live: DType | None
    """What the framework gave; None for a refusal."""
    message: str
    """The framework's own words, for a refusal or a missing kernel; no character moves a cursor."""
    outcome: Outcome

    def row(self) -> tuple[str, str, str, str, str]:
        """Return the cell as text."""
        return (
            self.answer.rules.name,
            self.answer.operator.title or "any",
            ", ".join(str(o) for o in self.answer.operands),
            str(self.answer.output or "refused"),
            str(self.live or "refused"),
        )


@dataclass(frozen=True, repr=False)
class Live:
    """What a framework did, compared with its rule sets."""

    framework: str
    version: str
    rules: tuple[RuleSet, ...]
    cells: tuple[LiveCell, ...]

    def of(self, outcome: Outcome) -> tuple[LiveCell, ...]:
        """Return the cells with an outcome."""
        return tuple(cell for cell in self.cells if cell.outcome == outcome)

    @property
    def drift(self) -> tuple[LiveCell, ...]:
        """The cells on which the framework differs in a way that is not a listed deviation."""
        return self.of("drift")

    header = ("rules", "op", "operands", "rule set", "live")

    def summary(self) -> str:
        """Return the counts in one sentence."""
        known, drift = len(self.of("known")), len(self.drift)
        return (
            f"{self.framework} {self.version}: {len(self.cells)} cells asked, "
            f"{len(self.of('agrees'))} agree, {known} known deviation{'s' * (known != 1)}, "
            f"{drift} drift, {len(self.of('missing'))} without a kernel"
        )

    def __str__(self) -> str:
        parts = [say(self.summary())]
        for title, cells in (("drift", self.drift), ("known deviations", self.of("known"))):
            if cells:
                rows = said([self.header, *(cell.row() for cell in cells)])
                parts += ["", say(title), columns(rows, indent=2)]
        return "\n".join(parts)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        from suanzi.base.html import note, page, table

        parts = [note(say(self.summary()))]
        for title, cells in (("drift", self.drift), ("known deviations", self.of("known"))):
            if cells:
                head, *rows = said([self.header, *(cell.row() for cell in cells)])
                parts.append(table(head, rows, caption=say(title)))
        return page(*parts)

    def to_dict(self) -> dict[str, Any]:
        """Return the comparison as plain data; cells that agree are counted, not listed."""
        return {
            "framework": self.framework,
            "version": self.version,
            "rules": [rules.name for rules in self.rules],
            "asked": len(self.cells),
            "agree": len(self.of("agrees")),
            "missing": len(self.of("missing")),
            "known": [_cell_dict(cell) for cell in self.of("known")],
            "drift": [_cell_dict(cell) for cell in self.drift],
        }


def _cell_dict(cell: LiveCell) -> dict[str, Any]:
    return dict(zip(Live.header, cell.row(), strict=True)) | {"message": cell.message}


def live(
    framework: str,
    *,
    rules: str | RuleSet | None = None,
    python: str | None = None,
    device: str | None = None,
    timeout: float = 600,
) -> Live:
    """Compare a rule set with the framework installed for an interpreter.

    `rules` is compared instead of the rule set of its name; `python` is the
    interpreter to ask, this one by default; `device` is where operands are, as in ``"cuda:1"``.
    """
    found = _probe(framework, python, timeout, device)
    try:
        cells = tuple(_cells(framework, found["answers"], rules))
        version = printable(str(found["version"])) + (f" on {device}" if device else "")
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise InternalError(
            f"live: the answer of the probe of {framework} cannot be read: {printable(str(error))}"
        ) from None
    used = dict.fromkeys(cell.answer.rules for cell in cells)
    return Live(framework, version, tuple(used), cells)


def run_script(
    command: str,
    framework: str,
    script: Path,
    *arguments: str,
    python: str | None = None,
    timeout: float | None = None,
) -> subprocess.CompletedProcess[str]:
    """Run a script in an interpreter that has a framework, or raise NotInstalled."""
    interpreter = python or sys.executable
    words = [interpreter, str(script), *arguments]
    try:
        done = subprocess.run(words, capture_output=True, text=True, timeout=timeout, check=False)
    except OSError as error:
        raise InvalidArgument(
            f"{command}: {interpreter!r} cannot be run: {error.strerror}."
        ) from None
    if done.returncode == _NOT_INSTALLED:
        needed = _NEEDED.get(framework, f"suanzi[{framework}]")
        raise NotInstalled(
            f"{command}: {framework} is not installed for {interpreter}; install "
            f"{needed} there, or name an interpreter that has it with --python."
        )
    return done


def _probe(
    framework: str, python: str | None, timeout: float, device: str | None = None
) -> dict[str, Any]:
    if framework not in FRAMEWORKS:
        raise InvalidArgument(
            f"live: {framework!r} has no probe; available: "
            f"{', '.join(FRAMEWORKS)}.{nearest(framework, FRAMEWORKS)}"
        )
    if device and framework not in ON_DEVICES:
        raise InvalidArgument(
            f"live: {framework} is asked on the CPU alone, not on {device!r}; "
            f"--device is for {' and '.join(ON_DEVICES)}."
        )
    script = Path(__file__).parent / "probes" / f"probe_{framework}.py"
    where = [device] if device else []
    try:
        run = run_script("live", framework, script, *where, python=python, timeout=timeout)
    except subprocess.TimeoutExpired:
        raise InternalError(
            f"live: {framework} did not answer within {timeout:g} seconds."
        ) from None
    line = next((x for x in run.stdout.splitlines() if x.startswith(_MARK)), None)
    if run.returncode == _NO_DEVICE:
        raise NoDevice(f"live: {printable(run.stderr.strip().splitlines()[-1])}.")
    if run.returncode or line is None:
        lines = run.stderr.strip().splitlines()
        last = (lines or [f"its process ended with {ending(run.returncode)}"])[-1]
        raise InternalError(f"live: the probe of {framework} failed: {printable(last)}")
    try:
        result: dict[str, Any] = json.loads(line.removeprefix(_MARK))
    except (ValueError, RecursionError) as error:
        raise InternalError(f"live: the probe of {framework} wrote no JSON: {error}.") from None
    return result


def _cells(
    framework: str, answers: list[list[Any]], rules: str | RuleSet | None
) -> Iterator[LiveCell]:
    for name, op, operands, kind, words in answers:
        chosen = rule_set(rules if rules is not None else name or framework)
        if name is not None and chosen.name != name:
            continue  # the probe used other attributes than this rule set
        mine = answer([_operand(text) for text in operands], chosen, op)
        theirs = dtype(words) if kind == "answer" else None
        message = "" if kind == "answer" else printable(str(words))
        yield LiveCell(mine, theirs, message, _outcome(mine, theirs, kind))


def _operand(text: str) -> Any:
    if text.startswith("py:"):
        return Number(text[3:])
    return ZeroDim(text[3:]) if text.startswith("0d:") else dtype(text)


def _outcome(mine: Answer, theirs: DType | None, kind: str) -> Outcome:
    if kind == "missing":
        return "missing"
    if theirs is mine.output:
        return "agrees"
    key = mine.operator.operator_class, tuple(str(o) for o in mine.operands)
    known = mine.rules.drift
    return "known" if key in known and known[key] is theirs else "drift"
