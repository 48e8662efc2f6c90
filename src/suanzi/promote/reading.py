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

``-`` or ``×`` refuses, ``|`` may separate cells, ``#`` starts a comment, an indented line continues
the one before it, ``like torch`` takes from a built-in table what the text does not say
itself, of the dtypes that it has, and ``cell i32 bf16 -> f32`` changes one cell. Numbers may be the
columns, as MindSpore prints them, the rows, as CANN does, or stand among the dtypes as
``i* f* c*``, as JAX does.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from itertools import product
from typing import Any, TypeVar

from suanzi.base.dtypes import DOCUMENTS, DType, document_name, dtype
from suanzi.base.status import InvalidArgument
from suanzi.promote import layers, writing, zero_dim
from suanzi.promote.document import Document, read_document
from suanzi.promote.operands import NUMBER_KINDS, NumberKind
from suanzi.promote.operators import OperatorClass, Scope, operator

_REFUSED = ("-", "×")
_WEAK: dict[str, NumberKind] = {"i*": "int", "f*": "float", "c*": "complex"}

T = TypeVar("T")
Grid = dict[tuple[str, str], str]
Table = dict[tuple[DType, DType], DType | None]
Numbers = dict[tuple[DType, NumberKind], DType | None]


def read_rules(text: str) -> dict[str, Any]:
    """Return what makes the RuleSet a text describes, or raise InvalidArgument."""
    document = read_document(text)
    name = document.one("name")
    if not name or not document.says("name"):
        raise InvalidArgument("rule set: the text has no line 'name', one word that names it.")
    layers.check_name(name)
    if document.grid("tensors") is None:
        raise InvalidArgument(f"rule set {name!r}: the text has no [tensors] table.")
    return _Reader(name, document).rules()


class _Reader:
    def __init__(self, name: str, document: Document) -> None:
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
        grid = self.squared("tensors", document.grid("tensors") or [])
        dtypes = self.dtypes([row for row, _ in grid if row not in _WEAK])
        default_float = self.default_float(dtypes)
        alone = self.alone(default_float, dtypes)
        table = self.table(grid, alone, dtypes)
        cells, pairs = self.cells(dtypes)
        layers.check_table(self.name, dtypes, table | cells)
        numbers = self.numbers(grid, alone, dtypes)
        written = {dt: document_name(dt, self.names) for dt in dtypes}
        written |= {d: row for row, _ in grid if row not in _WEAK and (d := self.dtype(row))}

        def pair(a: DType, b: DType) -> layers.Cell:
            if (a, b) in cells:
                return self.of_a_line(a, b, cells[a, b])
            refused = " refuses" if table[a, b] is None else ""
            return layers.Cell(table[a, b], f"row {written[a]}, column {written[b]}{refused}")

        def number(dt: DType, kind: NumberKind) -> layers.Cell:
            if (dt, kind) not in numbers:
                return layers.weak_number(dt, kind, default_float)
            found = numbers[dt, kind]
            refused = " is refused" if found is None else ""
            return layers.Cell(found, f"{written[dt]} with a Python {kind}{refused}")

        def of_scope(scope: Scope, own: Table) -> layers.PairRule:
            if isinstance(scope, str):
                own = pairs.get(operator(scope).operator_class, {}) | own
            layers.check_table(self.name, dtypes, table | cells | own)
            return lambda a, b: self.of_a_line(a, b, own[a, b]) if (a, b) in own else pair(a, b)

        return {
            "name": self.name,
            "title": document.one("title") if document.says("title") else self.name,
            "version": document.one("version") if document.says("version") else "1",
            "source": self.source(),
            "dtypes": dtypes,
            "pair": pair,
            "pairs": {scope: of_scope(scope, own) for scope, own in pairs.items()},
            "number": number,
            "number_cells": self.scoped_numbers(dtypes),
            "alone": alone,
            "overflow": self.choice("overflow", "wrap", "refuse"),
            "weak_types": self.choice("weak types", "none", "numbers") == "numbers",
            "float8_overflow": self.choice("float8 overflow", "nan", "largest"),
            # Exact: integers are compared by value where no dtype holds both.
            "exact_comparison": "integers"
            if self.choice("comparison", "promoted", "exact") == "exact"
            else "never",
            "zero_dims": self.zero_dims(),
            "gates": self.gates(),
            "floats": self.floats(dtypes, default_float),
            "turned": self.turned(dtypes),
            "rounded": self.rounded(),
            "made": self.named_as("made", dtypes),
            "casts": self.named_as("casts", dtypes),
            "results": self.choice("results", "promoted", "caller"),
            "writes": self.writes(),
            "default_float": default_float,
            "sources": {
                key: said
                for key in (
                    "numbers",
                    "zero-d",
                    "gate",
                    "float",
                    "made",
                    "casts",
                    "results",
                    "rounded",
                    "weak types",
                    "in-place",
                )
                if (said := document.one(f"{key} source"))
            },
            "names": self.names,
            "tabulated": True,
            "drift": self.drift(),
            "notes": document.all("note"),
            "deviations": document.all("deviation"),
            "cast": document.one("cast", layers.DEFAULT_CAST),
        }

    def source(self) -> str:
        said, like = self.document.one("source", "a text table"), self.document.one("like")
        return said if self.document.says("source") or not like else f"like {like}: {said}"

    def dtypes(self, rows: list[str]) -> tuple[DType, ...]:
        """Return the dtypes of the table; a line ``dtypes`` leaves some of it."""
        there = dict.fromkeys(self.dtype(row) for row in rows)
        said = self.document.one("dtypes").replace(",", " ").split()
        kept = {self.dtype(name) for name in said} or set(there)
        for dt in kept - set(there):
            raise self.error(f"the line 'dtypes' has {dt}, of which the table has no row")
        return tuple(dt for dt in there if dt in kept)

    def of_a_line(self, a: DType, b: DType, answer: DType | None) -> layers.Cell:
        refused = " refuses" if answer is None else ""
        return layers.Cell(answer, f"the line 'cell' of {a} and {b}{refused}")

    def squared(self, section: str, lines: list[list[str]]) -> Grid:
        """Return the cells of a table by row and column."""
        heads, *rows = lines or [[]]
        if not rows:
            raise self.error(f"the [{section}] table is empty")
        if len(set(heads)) != len(heads):
            raise self.error(f"a column of [{section}] appears twice: {' '.join(heads)}")
        grid: Grid = {}
        for row in rows:
            if len(row) != len(heads) + 1:
                raise self.error(
                    f"row {row[0]} of [{section}] has {len(row) - 1} cells where the heading has "
                    f"{len(heads)} columns"
                )
            if (row[0], heads[0]) in grid:
                raise self.error(f"row {row[0]} of [{section}] appears twice")
            grid |= {(row[0], head): cell for head, cell in zip(heads, row[1:], strict=True)}
        if section == "tensors" and [row[0] for row in rows] != heads:
            raise self.error(
                f"the table is not square: its rows are {' '.join(row[0] for row in rows)}, its "
                f"columns {' '.join(heads)}"
            )
        return grid

    def table(
        self, grid: Grid, alone: Mapping[NumberKind, DType], dtypes: tuple[DType, ...]
    ) -> Table:
        """Return the table; inherited cells whose result is not in the table refuse."""
        found: Table = {}
        for (row, column), cell in grid.items():
            if row in _WEAK or column in _WEAK:
                continue
            a, b, answer = self.dtype(row), self.dtype(column), self.cell(cell, alone)
            if a in dtypes and b in dtypes:
                gone = answer not in dtypes and self.takes_over("tensors", "dtypes")
                found[a, b] = None if gone else answer
        return found

    def takes_over(self, section: str, *narrowed_by: str) -> bool:
        """Tell whether a table is another's, or is made narrower here."""
        own = self.document.says
        return not own(section) or any(own(key) for key in narrowed_by)

    def cells(self, dtypes: tuple[DType, ...]) -> tuple[Table, dict[Scope, Table]]:
        """Read ``cell i32 bf16 -> f32`` and ``cell comparison, mod: i8,i16 f16 -> -``.

        What a cell says of Python numbers, ``cell i8 py:float -> f16``, `numbers` reads.
        """
        found: Table = {}
        scoped: dict[Scope, Table] = {}
        for op, left, right, answer in self.arrows("cell"):
            if right.startswith("py:"):
                continue
            if "0d:" in left + right:
                raise self.error("'cell' takes tensors and Python numbers; use 'zero-d' for 0-d")
            a, b = self.dtype(left), self.dtype(right)
            if not self.document.says("cell") and not {a, b, answer} <= {*dtypes, None}:
                continue  # of another's table, which has more dtypes
            for scope in [None] if op is None else map(self.scope, op.split(",")):
                into = found if scope is None else scoped.setdefault(scope, {})
                into[a, b] = into[b, a] = answer
        return found, scoped

    def arrows(self, key: str) -> Iterator[tuple[str | None, str, str, DType | None]]:
        """Yield what lines such as ``KEY CLASS: a,b c -> d`` say: the class, a pair, a dtype."""
        for text in self.document.all(key):
            match = re.fullmatch(r"(?:([\w ,]+):)?\s*(\S+)\s+(\S+)\s*->\s*(\S+)", text)
            if match is None:
                raise self.error(f"'{key} {text}' is not of the form 'class: left right -> dtype'")
            op, lefts, rights, answer = match.groups()
            given = None if answer in _REFUSED else self.dtype(answer)
            for left, right in product(lefts.split(","), rights.split(",")):
                yield op, left, right, given

    def cell(self, text: str, alone: Mapping[NumberKind, DType]) -> DType | None:
        if text in _REFUSED:
            return None
        return alone[_WEAK[text]] if text in _WEAK else self.dtype(text)

    def numbers(
        self, tensors: Grid, alone: Mapping[NumberKind, DType], dtypes: tuple[DType, ...]
    ) -> Numbers:
        """Return what dtypes give with Python numbers, where the text says it.

        Only inherited rules for dtypes of the table are kept.
        """
        found: Numbers = {}
        for (row, column), cell in tensors.items():
            if column in _WEAK and row not in _WEAK:
                found[self.dtype(row), _WEAK[column]] = self.cell(cell, alone)
                found[self.dtype(row), "bool"] = self.dtype(row)
        base, there = self.document.base, (*dtypes, None)
        if base is not None:
            found |= self.listed_numbers(base.grid("numbers"), alone)
            found = {(dt, k): x for (dt, k), x in found.items() if dt in dtypes and x in there}
        own = self.listed_numbers(self.document.grids.get("numbers"), alone)
        self.check_numbers(own, dtypes)
        gone = set(dtypes) - {dt for dt, _ in own}
        if own and base is None and gone:
            raise self.error(f"[numbers] has no row for {min(d.name for d in gone)}")
        cells = self.cells_of_numbers()
        self.check_numbers(cells, dtypes)
        return found | own | cells

    def listed_numbers(
        self, rows: list[list[str]] | None, alone: Mapping[NumberKind, DType]
    ) -> Numbers:
        """Return what a table of numbers says; a kind that it has not is refused."""
        if rows is None:
            return {}
        grid = self.squared("numbers", rows)
        if {row for row, _ in grid} <= set(NUMBER_KINDS):
            grid = {(column, row): cell for (row, column), cell in grid.items()}
        found: Numbers = {}
        for (name, kind), cell in grid.items():
            if kind not in NUMBER_KINDS:
                raise self.error(
                    f"neither the rows nor the columns of [numbers] are Python numbers, "
                    f"{', '.join(NUMBER_KINDS)}"
                )
            for each in NUMBER_KINDS:
                found.setdefault((self.dtype(name), each), None)
            found[self.dtype(name), kind] = self.cell(cell, alone)
        return found

    def cells_of_numbers(self) -> Numbers:
        """Read ``cell i8 py:float -> f16``."""
        found: Numbers = {}
        for op, left, right, answer in self.arrows("cell"):
            kind = right.removeprefix("py:")
            if kind == right or op is not None:
                continue
            found[self.dtype(left), self.kind(right)] = answer
        return found

    def scoped_numbers(self, dtypes: tuple[DType, ...]) -> dict[Scope, Numbers]:
        """Read ``cell where: f16 py:float -> f32``."""
        found: dict[Scope, Numbers] = {}
        for op, left, right, answer in self.arrows("cell"):
            if op is None or not right.startswith("py:"):
                continue
            dt = self.dtype(left)
            if not self.document.says("cell") and not {dt, answer} <= {*dtypes, None}:
                continue  # of another's table, which has more dtypes
            for scope in map(self.scope, op.split(",")):
                found.setdefault(scope, {})[dt, self.kind(right)] = answer
        for numbers in found.values():
            self.check_numbers(numbers, dtypes)
        return found

    def kind(self, text: str) -> NumberKind:
        """Return the type of Python number that ``py:float`` names."""
        for kind in NUMBER_KINDS:
            if text == f"py:{kind}":
                return kind
        raise self.error(f"'cell' of {text}: numbers are py:{', py:'.join(NUMBER_KINDS)}")

    def check_numbers(self, numbers: Numbers, dtypes: tuple[DType, ...]) -> None:
        """Raise InvalidArgument unless the lines about numbers use the table's dtypes."""
        for (dt, kind), answer in numbers.items():
            if dt not in dtypes or (answer is not None and answer not in dtypes):
                raise self.error(
                    f"[numbers] is not closed: {dt} with a Python {kind} gives "
                    f"{answer or 'a refusal'}, and both must have a row in [tensors]"
                )

    def default_float(self, dtypes: tuple[DType, ...]) -> DType:
        text = self.document.one("float")
        given = self.dtype(text) if text else layers.choose_float(dtypes)
        return (
            given if given in dtypes or self.document.says("float") else layers.choose_float(dtypes)
        )

    def alone(self, default_float: DType, dtypes: tuple[DType, ...]) -> dict[NumberKind, DType]:
        alone = layers.default_alone(default_float)
        for item in filter(None, self.document.one("alone").split(",")):
            kind, _, name = item.strip().partition(" ")
            if kind not in NUMBER_KINDS:
                raise self.error(f"'alone' names {kind!r}, which is not a Python number")
            given = self.dtype(name.strip())
            if given in dtypes or self.document.says("alone"):
                alone[kind] = given
        return alone

    def scoped(self, key: str) -> Iterator[tuple[Scope, str]]:
        """Yield what ``KEY VALUE`` and ``KEY CLASS, OPERATOR: VALUE`` say, and for whom."""
        for text in self.document.all(key):
            scopes, _, value = text.rpartition(":")
            for item in scopes.split(","):
                yield self.scope(item), value.strip()

    def scope(self, text: str) -> Scope:
        """Return the operator or the class that a text names; nothing is any operator."""
        try:
            op = operator(text.strip() or None)
        except InvalidArgument as problem:
            raise self.error(str(problem).rstrip(".")) from None
        return op.name or op.operator_class

    def gates(self) -> dict[Scope, layers.Gate]:
        return self.parsed("gate", layers.Gate.parse)

    def parsed(self, key: str, parse: Callable[[str], T]) -> dict[Scope, T]:
        """Return what the lines of a key say, per operator or class."""
        try:
            return {scope: parse(text) for scope, text in self.scoped(key)}
        except InvalidArgument as problem:
            raise self.error(str(problem).rstrip(".")) from None

    def zero_dims(self) -> dict[Scope, zero_dim.ZeroDimRule]:
        rules = zero_dim.RULES
        return {key: self.one_of("zero-d", word, rules) for key, word in self.scoped("zero-d")}

    def one_of(self, key: str, word: str, allowed: Mapping[str, T]) -> T:
        """Return what a word stands for, or raise InvalidArgument."""
        if word not in allowed:
            raise self.error(f"'{key} {word}' is none of {', '.join(allowed)}")
        return allowed[word]

    def named_as(self, key: str, dtypes: tuple[DType, ...]) -> dict[DType, DType]:
        """Read ``made i8 as i4, f8 as f4``: what new tensors of a missing dtype become."""
        found: dict[DType, DType] = {}
        for item in filter(None, self.document.one(key).split(",")):
            there, _, here = item.strip().partition(" as ")
            given = self.dtype(here.strip())
            if given in dtypes or self.document.says(key):
                found[self.dtype(there)] = given
        return found

    def writes(self) -> dict[str, writing.WriteRule]:
        """Read ``in-place category``, ``in-place method ...`` and ``out none``."""
        said = {way: word for way in writing.WAYS if (word := self.document.one(way))}
        return {way: self.one_of(way, word, writing.RULES) for way, word in said.items()}

    def choice(self, key: str, *words: str) -> Any:
        return self.one_of(key, self.document.one(key, words[0]), {word: word for word in words})

    def floats(
        self, dtypes: tuple[DType, ...], default_float: DType
    ) -> dict[OperatorClass, layers.FloatRule]:
        """Read ``real function f64`` or ``real function i8 u8: f16; i16: f32``; ``-`` refuses."""
        found: dict[OperatorClass, layers.FloatRule] = {}
        for key in (OperatorClass.TRUE_DIVISION, OperatorClass.REAL_FUNCTION):
            text = self.document.one(key.title)
            if text:
                rule = self.float_rule(text)
                own = self.document.says(key.title)
                found[key] = rule if own else self.narrowed(rule, dtypes, default_float)
        return found

    def turned(self, dtypes: tuple[DType, ...]) -> dict[Scope, dict[DType, DType | None]]:
        """Read ``turned mod, true division: f16 bf16 -> f32``; ``-`` refuses."""
        found: dict[Scope, dict[DType, DType | None]] = {}
        for scope, text in self.scoped("turned"):
            names, arrow, target = text.partition("->")
            if not arrow:
                raise self.error(f"'turned {text}' is not of the form 'operator: dtypes -> dtype'")
            given = None if target.strip() in _REFUSED else self.dtype(target.strip())
            if given in (*dtypes, None) or self.document.says("turned"):
                found.setdefault(scope, {}).update({self.dtype(n): given for n in names.split()})
        return found

    def rounded(self) -> dict[Scope, layers.RoundingRule]:
        """Read ``rounded before`` and ``rounded mul: before, numbers after``."""
        return self.parsed("rounded", layers.RoundingRule.parse)

    def narrowed(
        self, rule: layers.FloatRule, dtypes: tuple[DType, ...], otherwise: DType
    ) -> layers.FloatRule:
        """Return an inherited rule without the dtypes that the table does not have."""
        return lambda dt: found if (found := rule(dt)) in (*dtypes, None) else otherwise

    def float_rule(self, text: str) -> layers.FloatRule:
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
        for op, left, right, live in self.arrows("drift"):
            names = self.operand(left), self.operand(right)
            for order in (names, names[::-1]):
                found[operator(op).operator_class, order] = live
        return found
