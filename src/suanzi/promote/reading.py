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
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from suanzi._hints import nearest
from suanzi.dtypes import DOCUMENTS, DType, dtype
from suanzi.promote.operands import NUMBER_KINDS, NumberKind
from suanzi.promote.operators import OPERATORS, OperatorClass, operator_class
from suanzi.promote.rules import (
    DEFAULT_CAST,
    ZERO_DIM_RULES,
    Cell,
    FloatRule,
    Gate,
    RuleSet,
    check_table,
    choose_float,
    default_alone,
    table_text,
    weak_number,
)
from suanzi.status import InvalidArgument

_REFUSED = ("-", "×")
_WEAK: dict[str, NumberKind] = {"i*": "int", "f*": "float", "c*": "complex"}
_KEYS = (
    "name", "like", "title", "version", "source", "names", "cast", "zero-d", "alone", "float",
    "gate", "true division", "real function", "numbers source", "note", "deviation",
    "drift",
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
        facts = [*self.facts, *(fact for fact in base.facts if fact[0] not in said)]
        return _Document(facts, base.grids | self.grids)


def read_rules(text: str) -> RuleSet:
    """Return the rule set a text describes, or raise InvalidArgument with what is wrong."""
    document = _split(text)
    name = document.one("name")
    if document.one("like"):
        document = document.over(_split(table_text(document.one("like"))))
    if not re.fullmatch(r"\w+", name):
        raise InvalidArgument("rule set: the text has no line 'name', one word that names it.")
    if "tensors" not in document.grids:
        raise InvalidArgument(f"rule set {name!r}: the text has no [tensors] table.")
    return _Reader(name, document).rules()


def _split(text: str) -> _Document:
    document = _Document()
    grid: list[list[str]] | None = None
    for number, raw in enumerate(text.splitlines(), start=1):
        line = raw.partition("#")[0].rstrip()
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
        if line == key or line.startswith(f"{key} "):
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

    def rules(self) -> RuleSet:
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

        zero_dim, zero_dim_text = self.zero_dim()
        return RuleSet(
            name=self.name,
            title=document.one("title", self.name),
            version=document.one("version", "1"),
            source=document.one("source", "a text table"),
            dtypes=dtypes,
            pair=pair,
            number=number,
            alone=alone,
            zero_dim=zero_dim,
            zero_dim_text=zero_dim_text,
            gates=self.gates(),
            floats=self.floats(),
            default_float=default_float,
            numbers_source=document.one("numbers source"),
            names=self.names,
            tabulated=True,
            drift=self.drift(),
            notes=document.all("note"),
            deviations=document.all("deviation"),
            cast=document.one("cast", DEFAULT_CAST),
        )

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
        return found or None

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

    def gates(self) -> dict[OperatorClass | str, Gate]:
        """Read ``gate PAIRS`` and ``gate CLASS, OPERATOR: PAIRS``."""
        gates: dict[OperatorClass | str, Gate] = {}
        for text in self.document.all("gate"):
            classes, colon, pairs = text.rpartition(":")
            try:
                for item in classes.split(",") if colon else [""]:
                    name = item.strip()
                    key = name if name in OPERATORS else operator_class(name or None)
                    gates[key] = Gate.parse(pairs.strip())
            except InvalidArgument as problem:
                raise self.error(str(problem).rstrip(".")) from None
        return gates

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

    def drift(self) -> dict[tuple[OperatorClass, tuple[str, ...]], DType | None]:
        """Read ``drift true division: b1 b1 -> b1``: what the live framework answers."""
        found: dict[tuple[OperatorClass, tuple[str, ...]], DType | None] = {}
        for text in self.document.all("drift"):
            match = re.fullmatch(r"(?:([\w ]+):)?\s*(\S+)\s+(\S+)\s*->\s*(\S+)", text)
            if match is None:
                raise self.error(f"'drift {text}' is not of the form 'class: left right -> dtype'")
            op, left, right, answer = match.groups()
            live = None if answer in _REFUSED else self.dtype(answer)
            names = self.dtype(left).name, self.dtype(right).name
            for one, other in (names, names[::-1]):
                found[operator_class(op), (one, other)] = live
        return found

    def zero_dim(self) -> tuple[Any, str]:
        word = self.document.one("zero-d", "tensor")
        if word not in ZERO_DIM_RULES:
            raise self.error(f"'zero-d {word}' is none of {', '.join(ZERO_DIM_RULES)}")
        return ZERO_DIM_RULES[word]
