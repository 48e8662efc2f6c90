"""Reads a rule set from text: lines of facts, then tables laid out like their document.

::

    name     cann
    source   where the table was printed
    names    cann            the document whose short names the tables use
    gate     float+float, complex+any

    [tensors]
            f32   f16
    f32     f32   f32
    f16     f32   f16

    [numbers]
            bool  int   float
    f32     f32   f32   f32
    f16     f16   f16   f16

``-`` or ``×`` refuses, ``|`` may separate cells, ``#`` starts a comment, an indented line goes on
with the one before it, ``like torch`` takes from a built-in table what the text does not say
itself. Numbers may be the columns, as MindSpore prints them, the rows, as CANN
does, or stand among the dtypes as ``i* f* c*``, as JAX does.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import product
from typing import Any

from suanzi._hints import nearest
from suanzi.dtypes import DOCUMENTS, DType, dtype
from suanzi.promote import writing, zero_dim
from suanzi.promote.cells import Cell
from suanzi.promote.layers import (
    DEFAULT_CAST,
    FloatRule,
    Gate,
    check_name,
    check_table,
    choose_float,
    default_alone,
    weak_number,
)
from suanzi.promote.operands import NUMBER_KINDS, NumberKind
from suanzi.promote.operators import OperatorClass, Scope, operator
from suanzi.promote.tables import table_text
from suanzi.status import InvalidArgument

_REFUSED = ("-", "×")
_WEAK: dict[str, NumberKind] = {"i*": "int", "f*": "float", "c*": "complex"}
_KEYS = (
    "name", "like", "title", "version", "source", "names", "cast", "zero-d", "alone", "float",
    "gate", "true division", "real function", "overflow", "comparison", "numbers source",
    "zero-d source", "gate source", "float source", "note", "deviation", "drift", "made",
    "made source", "in-place", "in-place method", "out", "in-place source",
)  # fmt: skip

Grid = dict[tuple[str, str], str]


@dataclass
class _Document:
    """The text, split into its facts and its grids, before any dtype is looked up."""

    facts: list[tuple[str, str]] = field(default_factory=list)
    grids: dict[str, list[list[str]]] = field(default_factory=dict)

    def one(self, key: str, default: str = "") -> str:
        return next((value for k, value in self.facts if k == key), default)

    def all(self, key: str) -> tuple[str, ...]:
        return tuple(value for k, value in self.facts if k == key)

    def over(self, base: _Document) -> _Document:
        """Return this document laid over another: what it says itself replaces what that says."""
        said = {key for key, _ in self.facts}
        facts = [*self.facts, *(fact for fact in base.facts if fact[0] not in (*said, "like"))]
        return _Document(facts, base.grids | self.grids)


def read_rules(text: str) -> dict[str, Any]:
    """Return what makes the RuleSet a text describes, or raise InvalidArgument."""
    document = _complete(_split(text))
    name = document.one("name")
    if not name:
        raise InvalidArgument("rule set: the text has no line 'name', one word that names it.")
    check_name(name)
    if "tensors" not in document.grids:
        raise InvalidArgument(f"rule set {name!r}: the text has no [tensors] table.")
    return _Reader(name, document).rules()


def _complete(document: _Document) -> _Document:
    """Lay a document over the one it is ``like``, and so on."""
    base = document.one("like")
    return document.over(_complete(_split(table_text(base)))) if base else document


def _split(text: str) -> _Document:
    document = _Document()
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


class _Reader:
    def __init__(self, name: str, document: _Document) -> None:
        self.name = name
        self.document = document
        names = document.one("names", "short")
        if names not in DOCUMENTS:
            raise self.error(
                f"'names {names}' is not a document with short names; there are "
                f"{', '.join(DOCUMENTS)}"
            )
        self.names = names

    def error(self, what: str) -> InvalidArgument:
        return InvalidArgument(f"rule set {self.name!r}: {what}.")

    def dtype(self, text: str) -> DType:
        try:
            return dtype(text, document=self.names)
        except InvalidArgument:
            try:
                return dtype(text)
            except InvalidArgument:
                raise self.error(f"the table names {text!r}, which is not a dtype") from None

    def rules(self) -> dict[str, Any]:
        document = self.document
        grid = self.grid("tensors")
        rows = list(dict.fromkeys(row for row, _ in grid))
        dtypes = tuple(self.dtype(row) for row in rows if row not in _WEAK)
        default_float = self.default_float(dtypes)
        alone = self.alone(default_float)
        table = self.table(grid, alone)
        check_table(self.name, dtypes, table)
        numbers = self.numbers(grid, alone)
        written = {self.dtype(row): row for row in rows if row not in _WEAK}

        def pair(a: DType, b: DType) -> Cell:
            refused = " refuses" if table[a, b] is None else ""
            return Cell(table[a, b], f"row {written[a]}, column {written[b]}{refused}")

        def number(dt: DType, kind: NumberKind) -> Cell:
            if numbers is None:
                return weak_number(dt, kind, default_float)
            found = numbers.get((dt, kind))
            refused = " is refused" if found is None else ""
            return Cell(found, f"{written[dt]} with a Python {kind}{refused}")

        return {
            "name": self.name,
            "title": document.one("title", self.name),
            "version": document.one("version", "1"),
            "source": document.one("source", "a text table"),
            "dtypes": dtypes,
            "pair": pair,
            "number": number,
            "alone": alone,
            "overflow": self.choice("overflow", ("wrap", "refuse")),
            "exact_comparison": "integers" if self.comparison() == "exact" else "never",
            "zero_dims": self.zero_dims(),
            "gates": self.gates(),
            "floats": self.floats(),
            "made": self.made(),
            "writes": self.writes(),
            "default_float": default_float,
            "sources": {
                key: said
                for key in ("numbers", "zero-d", "gate", "float", "made", "in-place")
                if (said := document.one(f"{key} source"))
            },
            "names": self.names,
            "tabulated": True,
            "drift": self.drift(),
            "notes": document.all("note"),
            "deviations": document.all("deviation"),
            "cast": document.one("cast", DEFAULT_CAST),
        }

    def grid(self, section: str) -> Grid:
        heads, *rows = self.document.grids[section] or [[]]
        if not rows:
            raise self.error(f"the [{section}] table is empty")
        if len(set(heads)) != len(heads):
            raise self.error(f"a column of [{section}] is there twice: {' '.join(heads)}")
        grid: Grid = {}
        for row in rows:
            if len(row) != len(heads) + 1:
                raise self.error(
                    f"row {row[0]} of [{section}] has {len(row) - 1} cells where the heading has "
                    f"{len(heads)} columns"
                )
            if (row[0], heads[0]) in grid:
                raise self.error(f"row {row[0]} of [{section}] is there twice")
            grid |= {(row[0], head): cell for head, cell in zip(heads, row[1:], strict=True)}
        if section == "tensors" and [row[0] for row in rows] != heads:
            raise self.error(
                f"the table is not square: its rows are {' '.join(row[0] for row in rows)}, its "
                f"columns {' '.join(heads)}"
            )
        return grid

    def table(
        self, grid: Grid, alone: Mapping[NumberKind, DType]
    ) -> dict[tuple[DType, DType], DType | None]:
        return {
            (self.dtype(row), self.dtype(column)): self.cell(cell, alone)
            for (row, column), cell in grid.items()
            if row not in _WEAK and column not in _WEAK
        }

    def cell(self, text: str, alone: Mapping[NumberKind, DType]) -> DType | None:
        if text in _REFUSED:
            return None
        return alone[_WEAK[text]] if text in _WEAK else self.dtype(text)

    def numbers(
        self, tensors: Grid, alone: Mapping[NumberKind, DType]
    ) -> dict[tuple[DType, NumberKind], DType | None] | None:
        """Return what each dtype gives with each Python number; None: the text does not say."""
        found: dict[tuple[DType, NumberKind], DType | None] = {}
        for (row, column), cell in tensors.items():
            if column in _WEAK and row not in _WEAK:
                found[self.dtype(row), _WEAK[column]] = self.cell(cell, alone)
                found[self.dtype(row), "bool"] = self.dtype(row)
        if "numbers" in self.document.grids:
            grid = self.grid("numbers")
            if {row for row, _ in grid} <= set(NUMBER_KINDS):
                grid = {(column, row): cell for (row, column), cell in grid.items()}
            for (name, kind), cell in grid.items():
                if kind not in NUMBER_KINDS:
                    raise self.error(
                        f"neither the rows nor the columns of [numbers] are Python numbers, "
                        f"{', '.join(NUMBER_KINDS)}"
                    )
                found[self.dtype(name), kind] = self.cell(cell, alone)
            self.check_numbers(found, {self.dtype(row) for row, _ in tensors if row not in _WEAK})
        return found or None

    def check_numbers(
        self, numbers: Mapping[tuple[DType, NumberKind], DType | None], dtypes: set[DType]
    ) -> None:
        """Raise InvalidArgument unless [numbers] speaks of the table's dtypes, and of all."""
        for (dt, kind), answer in numbers.items():
            if dt not in dtypes or (answer is not None and answer not in dtypes):
                raise self.error(
                    f"[numbers] is not closed: {dt} with a Python {kind} gives "
                    f"{answer or 'a refusal'}, and both must have a row in [tensors]"
                )
        missing = dtypes - {dt for dt, _ in numbers}
        if missing:
            raise self.error(f"[numbers] has no row for {min(d.name for d in missing)}")

    def default_float(self, dtypes: tuple[DType, ...]) -> DType:
        text = self.document.one("float")
        return self.dtype(text) if text else choose_float(dtypes)

    def alone(self, default_float: DType) -> dict[NumberKind, DType]:
        alone = default_alone(default_float)
        for item in filter(None, self.document.one("alone").split(",")):
            kind, _, name = item.strip().partition(" ")
            if kind not in NUMBER_KINDS:
                raise self.error(f"'alone' names {kind!r}, which is not a Python number")
            alone[kind] = self.dtype(name.strip())
        return alone

    def scoped(self, key: str) -> Iterator[tuple[Scope, str]]:
        """Yield what ``KEY VALUE`` and ``KEY CLASS, OPERATOR: VALUE`` say, and for whom."""
        for text in self.document.all(key):
            scopes, _, value = text.rpartition(":")
            for item in scopes.split(","):
                try:
                    op = operator(item.strip() or None)
                except InvalidArgument as problem:
                    raise self.error(str(problem).rstrip(".")) from None
                yield op.name or op.operator_class, value.strip()

    def gates(self) -> dict[Scope, Gate]:
        gates: dict[Scope, Gate] = {}
        for scope, text in self.scoped("gate"):
            try:
                gates[scope] = Gate.parse(text)
            except InvalidArgument as problem:
                raise self.error(str(problem).rstrip(".")) from None
        return gates

    def zero_dims(self) -> dict[Scope, zero_dim.ZeroDimRule]:
        found: dict[Scope, zero_dim.ZeroDimRule] = {}
        for scope, word in self.scoped("zero-d"):
            if word not in zero_dim.RULES:
                raise self.error(f"'zero-d {word}' is none of {', '.join(zero_dim.RULES)}")
            found[scope] = zero_dim.RULES[word]
        return found

    def made(self) -> dict[DType, DType]:
        """Read ``made i8 as i4, f8 as f4``: what a tensor is made as where a dtype is not there."""
        found: dict[DType, DType] = {}
        for item in filter(None, self.document.one("made").split(",")):
            there, _, here = item.strip().partition(" as ")
            found[self.dtype(there)] = self.dtype(here.strip())
        return found

    def writes(self) -> dict[str, writing.WriteRule]:
        """Read ``in-place category``, ``in-place method ...`` and ``out none``."""
        found: dict[str, writing.WriteRule] = {}
        for way in writing.WAYS:
            word = self.document.one(way)
            if word and word not in writing.RULES:
                raise self.error(f"'{way} {word}' is none of {', '.join(writing.RULES)}")
            if word:
                found[way] = writing.RULES[word]
        return found

    def choice(self, key: str, words: tuple[str, ...]) -> Any:
        word = self.document.one(key, words[0])
        if word not in words:
            raise self.error(f"'{key} {word}' is none of {', '.join(words)}")
        return word

    def comparison(self) -> str:
        """Read ``comparison exact``: integers are compared by value where no dtype holds both."""
        found: str = self.choice("comparison", ("promoted", "exact"))
        return found

    def floats(self) -> dict[OperatorClass, FloatRule]:
        """Read ``real function f64`` or ``real function i8 u8: f16; i16: f32``; ``-`` refuses."""
        found: dict[OperatorClass, FloatRule] = {}
        for key in (OperatorClass.TRUE_DIVISION, OperatorClass.REAL_FUNCTION):
            text = self.document.one(key.title)
            if text:
                found[key] = self.float_rule(text)
        return found

    def float_rule(self, text: str) -> FloatRule:
        by_dtype: dict[DType, DType | None] = {}
        otherwise: DType | None = None
        for item in text.split(";"):
            names, colon, target = item.rpartition(":")
            answer = None if target.strip() in _REFUSED else self.dtype(target.strip())
            if colon:
                by_dtype |= {self.dtype(name): answer for name in names.split()}
            else:
                otherwise = answer
        return lambda dt: by_dtype.get(dt, otherwise)

    def operand(self, text: str) -> str:
        """Return an operand of a drift line as it is printed."""
        if text.startswith("py:"):
            return f"a Python {text[3:]}"
        zero = text.startswith("0d:")
        return f"{'0-d ' * zero}{self.dtype(text.removeprefix('0d:'))}"

    def drift(self) -> dict[tuple[OperatorClass, tuple[str, ...]], DType | None]:
        """Read ``drift true division: b1,0d:b1 py:bool -> b1``: what the live framework answers."""
        found: dict[tuple[OperatorClass, tuple[str, ...]], DType | None] = {}
        for text in self.document.all("drift"):
            match = re.fullmatch(r"(?:([\w ]+):)?\s*(\S+)\s+(\S+)\s*->\s*(\S+)", text)
            if match is None:
                raise self.error(f"'drift {text}' is not of the form 'class: left right -> dtype'")
            op, left, right, answer = match.groups()
            live = None if answer in _REFUSED else self.dtype(answer)
            for pair in product(left.split(","), right.split(",")):
                names = tuple(self.operand(text) for text in pair)
                for order in (names, names[::-1]):
                    found[operator(op).operator_class, order] = live
        return found
