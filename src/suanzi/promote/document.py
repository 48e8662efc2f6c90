"""Document: the text of a rule set, split into its facts and its tables, laid over another one."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from suanzi.base.dtypes import read_as
from suanzi.base.hints import nearest
from suanzi.base.status import InvalidArgument
from suanzi.promote.operands import NUMBER_KINDS
from suanzi.promote.tables import table_text

_KEYS = (
    "name", "like", "title", "version", "source", "names", "cast", "zero-d", "alone", "float",
    "gate", "true division", "real function", "overflow", "comparison", "numbers source",
    "zero-d source", "gate source", "float source", "note", "deviation", "drift", "made",
    "made source", "in-place", "in-place method", "out", "in-place source", "dtypes", "cell",
    "float8 overflow", "casts", "casts source", "results", "results source", "turned",
    "rounded", "rounded source", "weak types", "weak types source",
)  # fmt: skip
_WITH_DTYPES = (
    "alone", "float", "true division", "real function", "drift", "made", "dtypes", "cell",
    "casts", "turned",
)  # fmt: skip
"""The facts in which dtypes are named."""


@dataclass
class Document:
    """The text, before any dtype is looked up."""

    facts: list[tuple[str, str]] = field(default_factory=list)
    grids: dict[str, list[list[str]]] = field(default_factory=dict)
    base: Document | None = None
    """What it is ``like``."""

    def one(self, key: str, default: str = "") -> str:
        """Return the first value of a key, given here or inherited."""
        return next(iter(self.all(key)), default)

    def all(self, key: str) -> tuple[str, ...]:
        """Return all values of a key; a value given here replaces all inherited ones."""
        own = tuple(value for k, value in self.facts if k == key)
        return own if own or self.base is None else self.base.all(key)

    def says(self, key: str) -> bool:
        """Tell whether a key, or a table, stands in this very text."""
        return key in self.grids or any(k == key for k, _ in self.facts)

    def grid(self, section: str) -> list[list[str]] | None:
        """Return the rows of a table, the first one its heading; None where there is none."""
        if section in self.grids or self.base is None:
            return self.grids.get(section)
        return self.base.grid(section)

    def spelled(self, names: str) -> Document:
        """Return it with dtypes by their full names, where short ones mean those of a document."""

        def full(word: str) -> str:
            found = None if word in NUMBER_KINDS else read_as(word, names)
            return word if found is None else found.name

        def in_text(text: str) -> str:
            return re.sub(r"(?<!py:)\b\w+\b", lambda match: full(match[0]), text)

        return Document(
            [(k, in_text(value) if k in _WITH_DTYPES else value) for k, value in self.facts],
            {key: [[full(word) for word in row] for row in g] for key, g in self.grids.items()},
            None if self.base is None else self.base.spelled(names),
        )


def read_document(text: str) -> Document:
    """Split a text, and lay it over the built-in table that it is ``like``, and so on."""
    document = _split(text)
    like = document.one("like")
    if like:
        base = read_document(table_text(like))
        theirs = base.one("names", "short")
        if document.one("names", theirs) != theirs:
            base = base.spelled(theirs)
        document.base = base
    return document


def _split(text: str) -> Document:
    document = Document()
    grid: list[list[str]] | None = None
    for number, raw in enumerate(text.splitlines(), start=1):
        line = re.sub(r"(^|\s)#.*", "", raw).rstrip()
        if not line.strip() or set(line) <= set("|:- "):
            continue
        section = re.fullmatch(r"\[(tensors|numbers)\]", line.strip())
        if section:
            grid = document.grids.setdefault(section[1], [])
        elif grid is not None:
            grid.append(line.replace("|", " ").split())
        elif line[0].isspace() and document.facts:
            key, value = document.facts[-1]
            document.facts[-1] = key, f"{value} {line.strip()}"
        else:
            document.facts.append(_fact(line, number))
    return document


def _fact(line: str, number: int) -> tuple[str, str]:
    for key in sorted(_KEYS, key=len, reverse=True):
        if re.match(rf"{key}(\s|$)", line):
            return key, line[len(key) :].strip()
    word = line.split()[0]
    raise InvalidArgument(
        f"rule set: line {number} starts with {word!r}, which is none of {', '.join(_KEYS)}."
        + nearest(word, _KEYS)
    )
