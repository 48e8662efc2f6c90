"""Known deviations: which cases a backend fails, and why, in a file that a person writes.

.. code-block:: toml

    version = "2.*"                     # only in these versions of the backend

    [[deviation]]
    case = "exp/special/float16/*"      # or op, group, dtype; all that are given must match
    problem = "y: * elements: *"        # only failures with this message
    reason = "subnormals are flushed to zero"
    issue = "https://example.com/issues/7"
    version = "2.1.*"                   # only in these

    [[deviation]]
    op = ["sin", "cos"]                 # any of these
    group = "random"
    reason = "off by some units for large angles"
    sometimes = true                    # it depends on the seed: a pass is not reported
    machine = "aarch64"                 # only on these processors

    [[deviation]]
    op = "svd"
    dtype = "float16"
    reason = "there is no kernel for float16"
    unsupported = true                  # cases without an answer, not failures

A failure that is listed is still a failure, but a known one; a required case without an answer is
known only if an entry with `unsupported` lists it. A listed case that passes is reported, and so is
a deviation that matches no case: a list that is too broad hides what it should show.
"""

from __future__ import annotations

import platform
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import translate
from functools import cache
from os import PathLike
from pathlib import Path
from typing import Any

from suanzi.base.decode import PRIVATE, Malformed, decode
from suanzi.base.status import InvalidArgument
from suanzi.base.toml import tomllib
from suanzi.conformance.model.expected import NO_INTERPRETATION
from suanzi.conformance.model.results import Result
from suanzi.standard.catalogues import STANDARD

_PACKAGED = Path(__file__).parent / "deviations"
_CASES = ("case", "op", "group", "dtype")
"""The patterns that select cases."""
_PATTERNS = (*_CASES, "problem")
_SEVERAL = re.compile(NO_INTERPRETATION + r" E\d+: .*?: ")
"""How a problem begins where a case has several interpretations."""

Patterns = str | tuple[str, ...] | None
"""One, or several of which any may match; None matches all."""


@dataclass(frozen=True)
class Deviation:
    """Cases that are known to fail, and why."""

    reason: str
    case: Patterns = None
    """Of ids, as in ``exp/special/*``."""
    op: Patterns = None
    group: Patterns = None
    dtype: Patterns = None
    problem: Patterns = None
    """Of the message of a failure: another problem of the same case is not known."""
    sometimes: bool = False
    """Whether it depends on the values, the seed or the machine: then a pass is not reported."""
    unsupported: bool = False
    """Whether it lists cases without an answer, instead of failures."""
    issue: str | None = None
    """Where it is discussed."""
    version: str | None = None
    """A pattern of the backend's versions to which it applies; None for all."""
    machine: str | None = None
    """A pattern of the processors to which it applies, as in `this_machine`; None for all."""
    source: str = field(default="", metadata={PRIVATE: True})
    """The file that has it."""
    elsewhere: bool = field(default=False, metadata={PRIVATE: True})
    """Whether it is known of the same framework on another device: it may hold here."""

    def meets(self, result: Result) -> bool:
        """Tell whether it lists a case and, if that failed, this problem of it.

        >>> slow = Deviation("flushes subnormals", op="exp", dtype="float*")
        >>> slow.meets(Result("exp/special/float16/zeros", "exp", "special", "float16", "failed"))
        True
        """
        if self.unsupported is not result.unanswered:
            return False
        return self.names(result.id, result.op, result.group, result.dtype) and (
            not (result.bad or result.unanswered)
            or any(_any(self.problem, said) for said in _sayings(result.problem or ""))
        )

    def names(self, case: str, op: str, group: str, dtype: str) -> bool:
        """Tell whether its patterns match a case."""
        return (
            _any(self.op, op)
            and _any(self.dtype, dtype)
            and _any(self.group, group)
            and _any(self.case, case)
        )

    def may_name(self, op: str) -> bool:
        """Tell whether its patterns can match a case of an interface: faster than `names`.

        >>> Deviation("", case=("sin/*", "*/zeros")).may_name("cos")
        True
        >>> Deviation("", case="sin/*").may_name("cos")
        False
        """
        if not _any(self.op, op):
            return False
        heads = [pattern.partition("/")[0] for pattern in _several(self.case) or ["*"]]
        return any(head == op or any(mark in head for mark in "*?[") for head in heads)

    def holds_for(self, version: str) -> bool:
        """Tell whether it applies to a version of the backend, and to this machine."""
        return _any(self.version, version) and _any(self.machine, this_machine())

    def __str__(self) -> str:
        where = ", ".join(
            f"{name} {' or '.join(some)}"
            for name in _PATTERNS
            if (some := _several(getattr(self, name))) is not None
        )
        return f"{where}: {self.reason}" + (f" ({self.source})" if self.source else "")


def this_machine() -> str:
    """Return the kind of processor, ``x86_64`` or ``aarch64``, whatever the system calls it."""
    name = platform.machine().lower()
    return {"amd64": "x86_64", "arm64": "aarch64"}.get(name, name)


def _several(patterns: Patterns) -> tuple[str, ...] | None:
    return (patterns,) if isinstance(patterns, str) else patterns


def _sayings(problem: str) -> list[str]:
    """Return a problem and, where there are several interpretations, that of the first one.

    >>> _sayings("matches no interpretation of E14: last: z: dtype int8; refused: SUCCESS")[2]
    'z: dtype int8'
    """
    sayings = [problem]
    while (found := _SEVERAL.match(problem)) is not None:
        problem = problem[found.end() :]
        sayings += [problem, problem.partition("; ")[0]]
    return sayings


def _any(patterns: Patterns, text: str) -> bool:
    """Tell whether one of the patterns matches, or there are none."""
    some = _several(patterns)
    return some is None or any(_pattern(one).match(text) is not None for one in some)


@cache
def _pattern(glob: str) -> re.Pattern[str]:
    return re.compile(translate(glob))


def read(path: str | PathLike[str]) -> list[Deviation]:
    """Return the deviations of a file."""
    file = Path(path)
    try:
        data = tomllib.loads(file.read_text("utf-8"))
    except OSError as error:
        raise InvalidArgument(
            f"deviations: {str(path)!r} cannot be read: {error.strerror}."
        ) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise InvalidArgument(f"deviations: {str(path)!r} is not TOML: {error}.") from None
    entries = data.pop("deviation", [])
    shared = {name: data.pop(name) for name in ("version",) if name in data}
    if data or not isinstance(entries, list):
        odd = next(iter(data), "deviation")
        raise InvalidArgument(
            f"deviations: {str(path)!r} has {odd!r}; only version and [[deviation]] are allowed."
        )
    return [_deviation(entry, i, file, shared) for i, entry in enumerate(entries, 1)]


def packaged(subject: str, of: Iterable[str] = (STANDARD,), device: str = "") -> list[Deviation]:
    """Return the deviations of a subject that come with the kit; none for one it does not know.

    Those of another catalogue than the standard's are in a file of their own, ``torch-nn.toml``,
    and so are those on a device, ``torch-cuda.toml``. What is known of a framework on the CPU, in
    any version, explains failures on a device, too.

    >>> packaged("a vendor's own")
    []
    """
    ends = ["" if one == STANDARD else f"-{one}" for one in of]
    kind = device.partition(":")[0].lower()
    known = {path.name: path for path in _PACKAGED.glob("*.toml")}
    here = f"-{kind}" if kind else ""
    names = [f"{subject.lower()}{here}{end}.toml" for end in ends]
    found = [one for name in names if name in known for one in read(known[name])]
    if not kind:
        return found
    return found + [
        replace(one, version=None, machine=None, sometimes=True, elsewhere=True)
        for one in packaged(subject, of)
    ]


def _deviation(entry: Any, number: int, file: Path, shared: dict[str, Any]) -> Deviation:
    where = f"deviations: {file.name}, number {number}:"
    try:
        if isinstance(entry, dict):
            entry = shared | entry
        found = decode(Deviation, entry, closed=True)
        for name in (*_PATTERNS, "reason", "issue", "version", "machine"):
            texts = _several(getattr(found, name))
            if texts is not None and not (texts and all(one.strip() for one in texts)):
                raise Malformed(f"{name} is empty")
    except Malformed as error:
        raise InvalidArgument(f"{where} {error}.") from None
    if all(getattr(found, name) is None for name in _CASES):
        raise InvalidArgument(f"{where} it names no cases; give case, op, group or dtype.")
    return replace(found, source=file.name)


def apply(
    results: Iterable[Result], deviations: Sequence[Deviation], version: str = ""
) -> tuple[list[Result], list[Deviation]]:
    """Return the results with what is known of them, and the deviations that no case met.

    Of several deviations that match a case, the first gives the reason. Those are met by what
    was tried: a failure, or a pass that they did not expect.
    """
    holding = [d for d in deviations if d.holds_for(version)]
    of_op: dict[str, list[int]] = {}
    met: set[int] = set()
    marked = []
    for result in results:
        if result.op not in of_op:
            of_op[result.op] = [i for i, d in enumerate(holding) if d.may_name(result.op)]
        speaking = [i for i in of_op[result.op] if holding[i].meets(result)]
        if not result.bad and not result.unanswered:
            speaking = [i for i in speaking if not holding[i].sometimes]
        met.update(speaking)
        marked.append(_marked(result, holding[speaking[0]]) if speaking else result)
    return marked, [d for i, d in enumerate(holding) if i not in met and not d.elsewhere]


def breadths(
    results: Iterable[Result], deviations: Sequence[Deviation], version: str = ""
) -> list[tuple[Deviation, int, int]]:
    """Return of each deviation how many failures it explains first, and how many passes it names.

    Those of other versions of the subject, and of other machines, are left out, as in `apply`.

    >>> exp = Deviation("flushes subnormals", op="exp")
    >>> passed = Result("exp/plain/float16/a", "exp", "plain", "float16", "passed")
    >>> [(failures, passes) for _, failures, passes in breadths([passed], [exp])]
    [(0, 1)]
    """
    holding = [d for d in deviations if d.holds_for(version)]
    explained, passed = [0] * len(holding), [0] * len(holding)
    for result in results:
        if result.outcome == "skipped":
            continue
        naming = [i for i, one in enumerate(holding) if one.meets(result)]
        if result.outcome == "passed":
            for i in naming:
                passed[i] += 1
        elif naming:
            explained[naming[0]] += 1
    return list(zip(holding, explained, passed, strict=True))


def _marked(result: Result, deviation: Deviation) -> Result:
    if result.bad or result.unanswered:
        return replace(result, known=deviation.reason, issue=deviation.issue)
    if result.outcome == "passed":
        return replace(result, unexpected=True, known=None)
    return result
