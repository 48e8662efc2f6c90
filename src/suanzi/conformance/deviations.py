"""Known deviations: which cases a subject fails, and why, in a file that a person writes.

.. code-block:: toml

    [[deviation]]
    case = "exp/special/float16/*"      # or op, group, dtype; all that are given must match
    reason = "subnormals are flushed to zero"
    issue = "https://example.com/issues/7"
    version = "2.*"                     # only in these versions of the subject

A failure that is listed is still a failure, but a known one. A case that is listed and passes is
told, and so is a deviation that no case meets: a list that says too much hides what it should show.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fnmatch import translate
from functools import cache
from os import PathLike
from pathlib import Path
from typing import Any

from suanzi._hints import nearest
from suanzi.conformance.results import Result
from suanzi.status import InvalidArgument

_PACKAGED = Path(__file__).parent / "deviations"
_PATTERNS = ("case", "op", "group", "dtype")
_TEXTS = ("reason", "issue", "version")


@dataclass(frozen=True)
class Deviation:
    """Cases that are known to fail, and why."""

    reason: str
    case: str | None = None
    """A pattern of ids, as in ``exp/special/*``."""
    op: str | None = None
    group: str | None = None
    dtype: str | None = None
    issue: str | None = None
    """Where it is discussed."""
    version: str | None = None
    """A pattern of the subject's versions in which it is so; None for all."""
    source: str = ""
    """The file it stands in."""

    def meets(self, result: Result) -> bool:
        """Tell whether it speaks of a case.

        >>> slow = Deviation("flushes subnormals", op="exp", dtype="float*")
        >>> slow.meets(Result("exp/special/float16/zeros", "exp", "special", "float16", "failed"))
        True
        """
        said = {"case": result.id, "op": result.op, "group": result.group, "dtype": result.dtype}
        return all(
            _pattern(wanted).match(said[name]) is not None
            for name in _PATTERNS
            if (wanted := getattr(self, name)) is not None
        )

    def holds_for(self, version: str) -> bool:
        """Tell whether it speaks of a version of the subject."""
        return self.version is None or _pattern(self.version).match(version) is not None

    def __str__(self) -> str:
        where = ", ".join(f"{n} {v}" for n in _PATTERNS if (v := getattr(self, n)) is not None)
        return f"{where}: {self.reason}" + (f" ({self.source})" if self.source else "")


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
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InvalidArgument(f"deviations: {str(path)!r} is not TOML: {error}.") from None
    entries = data.pop("deviation", [])
    if data or not isinstance(entries, list):
        odd = next(iter(data), "deviation")
        raise InvalidArgument(
            f"deviations: {str(path)!r} has {odd!r}; it takes [[deviation]] and nothing else."
        )
    return [_deviation(entry, i, file) for i, entry in enumerate(entries, 1)]


def packaged(subject: str) -> list[Deviation]:
    """Return the deviations of a subject that come with the kit; none for one it does not know.

    >>> packaged("a vendor's own")
    []
    """
    file = _PACKAGED / f"{subject.lower()}.toml"
    known = {path.name for path in _PACKAGED.glob("*.toml")}
    return read(file) if file.name in known else []


def _deviation(entry: Any, number: int, file: Path) -> Deviation:
    where = f"deviations: {file.name}, number {number}:"
    if not isinstance(entry, dict):
        raise InvalidArgument(f"{where} {entry!r} is no table; write [[deviation]] above it.")
    known = (*_PATTERNS, *_TEXTS)
    for name, value in entry.items():
        if name not in known:
            raise InvalidArgument(
                f"{where} {name!r} is not known; there are {', '.join(known)}."
                + nearest(name, known)
            )
        if not isinstance(value, str) or not value.strip():
            raise InvalidArgument(f"{where} {name} is {value!r}; it takes a text.")
    if "reason" not in entry:
        raise InvalidArgument(f"{where} it has no reason; say why the cases fail.")
    if not any(name in entry for name in _PATTERNS):
        raise InvalidArgument(f"{where} it names no cases; give case, op, group or dtype.")
    return Deviation(**entry, source=file.name)


def apply(
    results: Iterable[Result], deviations: Sequence[Deviation], version: str = ""
) -> tuple[list[Result], list[Deviation]]:
    """Return the results with what is known of them, and the deviations that no case met.

    Of several deviations that speak of a case, the first gives the reason.
    """
    holding = [d for d in deviations if d.holds_for(version)]
    met: set[int] = set()
    marked = []
    for result in results:
        speaking = [i for i, d in enumerate(holding) if d.meets(result)]
        met.update(speaking)
        marked.append(_marked(result, holding[speaking[0]]) if speaking else result)
    return marked, [d for i, d in enumerate(holding) if i not in met]


def _marked(result: Result, deviation: Deviation) -> Result:
    if result.bad:
        return replace(result, known=deviation.reason, issue=deviation.issue)
    if result.outcome == "passed":
        return replace(result, unexpected=True, known=None)
    return result
