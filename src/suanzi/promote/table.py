"""Table: what a rule set answers for every pair of dtypes; Laws: which laws that satisfies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, product
from typing import TYPE_CHECKING, Any

from suanzi.base.dtypes import DType, document_name
from suanzi.base.dtypes import bool as bool_
from suanzi.base.lang import said, say
from suanzi.base.text import columns
from suanzi.promote.engine import answer
from suanzi.promote.operands import NUMBER_KINDS, Number, NumberKind
from suanzi.promote.operators import OperatorClass, operator
from suanzi.promote.rules import RuleSet
from suanzi.promote.values import Loss, contains, loss

if TYPE_CHECKING:
    from suanzi.base.html import Cell, Mark


@dataclass(frozen=True, repr=False)
class Table:
    """Every answer of a rule set to two dtypes, and to a dtype and a Python number."""

    rules: RuleSet
    op: str
    dtypes: tuple[DType, ...]
    tensors: dict[tuple[DType, DType], DType | None]
    numbers: dict[tuple[DType, NumberKind], DType | None]

    def name(self, dt: DType | None) -> str:
        """Return what the rule set's document calls a dtype; a refusal is ``-``."""
        return "-" if dt is None else document_name(dt, self.rules.names)

    def tensor_rows(self) -> list[list[str]]:
        """Return the tensor-tensor table with its heading, in the document's names and order."""
        heads = [self.name(d) for d in self.dtypes]
        rows = [[self.tensors[a, b] for b in self.dtypes] for a in self.dtypes]
        return [
            ["", *heads],
            *([head, *map(self.name, row)] for head, row in zip(heads, rows, strict=True)),
        ]

    def number_rows(self) -> list[list[str]]:
        """Return the table for Python numbers with its heading."""
        return [
            ["", *NUMBER_KINDS],
            *(
                [self.name(a), *(self.name(self.numbers[a, kind]) for kind in NUMBER_KINDS)]
                for a in self.dtypes
            ),
        ]

    @property
    def title(self) -> str:
        """The rule set, the operator and the source."""
        op = f", {self.op}" if self.op else ""
        return f"{self.rules.title}{op} ({self.rules.version}): {self.rules.source}"

    def __str__(self) -> str:
        return (
            f"{self.title}\n\n{say('tensor with tensor')}\n{columns(self.tensor_rows())}\n\n"
            f"{say('tensor with Python number')}\n{columns(self.number_rows())}"
        )

    __repr__ = __str__

    def _repr_html_(self) -> str:
        from suanzi.base.html import note, page, table

        numbers = [Number(kind) for kind in NUMBER_KINDS]
        return page(
            note(self.title),
            table(
                self.tensor_rows()[0],
                [[self.name(a), *self._cells(a, self.dtypes)] for a in self.dtypes],
                row_heads=True,
                caption=say("tensor with tensor"),
            ),
            table(
                self.number_rows()[0],
                [[self.name(a), *self._cells(a, numbers)] for a in self.dtypes],
                row_heads=True,
                caption=say("tensor with Python number"),
            ),
        )

    def _cells(self, a: DType, others: Sequence[DType | Number]) -> list[Cell]:
        """Return a row for a notebook; where the mouse rests: why, and who may lose values."""
        from suanzi.base.html import Cell

        cells = []
        for other in others:
            found = answer((a, other), self.rules, self.op or None)
            result = found.dtype
            title = f"{a}, {other}: {say(found.reason)}"
            operands = [a, other] if isinstance(other, DType) else [a]
            lost = [d.name for d in operands if result is not None and not contains(result, d)]
            if lost:
                title += say(f"; {result} does not hold every {' and every '.join(lost)}")
            mark: Mark = "refused" if result is None else "lossy" if lost else ""
            cells.append(Cell(self.name(result), mark, title))
        return cells

    def to_dict(self) -> dict[str, Any]:
        """Return the tables as plain data, in suanzi's own dtype names."""
        return {
            "rules": self.rules.name,
            "version": self.rules.version,
            "source": self.rules.source,
            "op": self.op or None,
            "dtypes": [d.name for d in self.dtypes],
            "tensors": [
                [(found := self.tensors[a, b]) and found.name for b in self.dtypes]
                for a in self.dtypes
            ],
            "numbers": {
                kind: [(found := self.numbers[a, kind]) and found.name for a in self.dtypes]
                for kind in NUMBER_KINDS
            },
        }


def observe(rules: RuleSet, op: str | OperatorClass | None = None) -> Table:
    """Return every answer of a rule set to two operands."""
    dtypes = rules.dtypes
    return Table(
        rules,
        operator(op).title,
        dtypes,
        {(a, b): answer((a, b), rules, op).dtype for a in dtypes for b in dtypes},
        {(a, k): answer((a, Number(k)), rules, op).dtype for a in dtypes for k in NUMBER_KINDS},
    )


Pair = tuple[DType, DType]
_LAWS = ("commutative", "idempotent", "associative", "bool_is_identity", "join_semilattice")
_COUNTER_EXAMPLES = (
    "not_commutative", "not_idempotent", "not_associative", "refused_in_one_grouping",
    "bool_not_identity", "lossy",
)  # fmt: skip


@dataclass(frozen=True)
class Triple:
    """Three dtypes whose grouping matters: (a, b), c against a, (b, c). None is a refusal."""

    a: DType
    b: DType
    c: DType
    left: DType | None
    right: DType | None

    def __str__(self) -> str:
        left, right = (str(x or "refused") for x in (self.left, self.right))
        return (
            f"({self.a}, {self.b}), {self.c} -> {left}; {self.a}, ({self.b}, {self.c}) -> {right}"
        )


@dataclass(frozen=True)
class LossyPair:
    """A pair whose promoted dtype does not hold every value of both."""

    a: DType
    b: DType
    result: DType
    losses: tuple[Loss, ...]

    def __str__(self) -> str:
        lost = "; ".join(f"{one.source} {one}" for one in self.losses)
        return f"{self.a}, {self.b} -> {self.result}: {lost}"


@dataclass(frozen=True, repr=False)
class Laws:
    """What holds of a table, with the counter-examples of what does not."""

    table: Table
    refused: int
    """How many ordered pairs are refused."""
    not_commutative: tuple[Pair, ...]
    not_idempotent: tuple[DType, ...]
    not_associative: tuple[Triple, ...]
    """Ordered triples whose two groupings give two different dtypes."""
    refused_in_one_grouping: tuple[Triple, ...]
    """Ordered triples of which one grouping is refused and the other is not."""
    bool_not_identity: tuple[DType, ...]
    """The dtypes that bool does not leave as they are."""
    lossy: tuple[LossyPair, ...]
    """The unordered pairs that lose values, each with a counter-example."""

    @property
    def commutative(self) -> bool:
        """Whether the order of two operands never matters."""
        return not self.not_commutative

    @property
    def idempotent(self) -> bool:
        """Whether equal dtypes stay as they are."""
        return not self.not_idempotent

    @property
    def associative(self) -> bool:
        """Whether grouping never matters, refusals included."""
        return not self.not_associative and not self.refused_in_one_grouping

    @property
    def bool_is_identity(self) -> bool:
        """Whether there is bool, and it leaves every dtype as it is."""
        return bool_ in self.table.dtypes and not self.bool_not_identity

    @property
    def join_semilattice(self) -> bool:
        """Whether every set of dtypes has one least upper bound, so that order cannot matter."""
        return self.refused == 0 and self.commutative and self.idempotent and self.associative

    def lines(self) -> list[tuple[str, str, str]]:
        """Return one line per law: the law, whether it holds, the first counter-example."""
        count, bools = len(self.table.dtypes), bool_ in self.table.dtypes
        groupings = [*self.not_associative, *self.refused_in_one_grouping]
        refused = [pair for pair, found in self.table.tensors.items() if found is None]
        rows: list[tuple[str, bool, str, Sequence[Any]]] = [
            ("every pair has an answer", not refused,
             f": {self.refused} of {count**2} ordered pairs refused", refused),
            ("commutative", self.commutative,
             f": {len(self.not_commutative)} pairs", self.not_commutative),
            ("idempotent", self.idempotent,
             f": {len(self.not_idempotent)} dtypes", self.not_idempotent),
            ("associative", self.associative,
             f": of {count**3} ordered triples {len(self.not_associative)} give two dtypes, "
             f"{len(self.refused_in_one_grouping)} are refused in one grouping", groupings),
            ("bool is the identity", self.bool_is_identity,
             f": not for {len(self.bool_not_identity)} dtypes" if bools else ": there is no bool",
             self.bool_not_identity),
            ("join-semilattice", self.join_semilattice, "", ()),
            ("lossless", not self.lossy,
             f": {len(self.lossy)} unordered pairs lose values", self.lossy),
        ]  # fmt: skip
        return [
            (law, "yes" if holds else f"no{why}", _show(examples[0]) if examples else "")
            for law, holds, why, examples in rows
        ]

    def __str__(self) -> str:
        return f"{self.table.title}\n{columns(said(self.lines()), indent=2)}"

    __repr__ = __str__

    def _repr_html_(self) -> str:
        from suanzi.base.html import Cell, page, table

        rows = [
            (say(law), Cell(say(holds), "good" if holds == "yes" else "lossy"), say(example))
            for law, holds, example in self.lines()
        ]
        head = said([("law", "holds", "first counter-example")])[0]
        return page(table(head, rows, row_heads=True, caption=self.table.title))

    def to_dict(self) -> dict[str, Any]:
        """Return the laws as plain data, with every counter-example."""
        return {
            "rules": self.table.rules.name,
            "op": self.table.op or None,
            "dtypes": len(self.table.dtypes),
            "refused": self.refused,
            **{law: getattr(self, law) for law in _LAWS},
            **{name: [_show(x) for x in getattr(self, name)] for name in _COUNTER_EXAMPLES},
        }


def _show(example: Any) -> str:
    return ", ".join(map(str, example)) if isinstance(example, tuple) else str(example)


def check(observed: Table) -> Laws:
    """Try every law on a table."""
    cells, dtypes = observed.tensors, observed.dtypes

    def join(x: DType | None, y: DType | None) -> DType | None:
        return None if x is None or y is None else cells[x, y]

    unequal = [
        Triple(a, b, c, left, right)
        for a, b, c in product(dtypes, repeat=3)
        if (left := join(cells[a, b], c)) is not (right := join(a, cells[b, c]))
    ]
    return Laws(
        observed,
        refused=sum(found is None for found in cells.values()),
        not_commutative=tuple(
            (a, b) for a, b in combinations(dtypes, 2) if cells[a, b] is not cells[b, a]
        ),
        not_idempotent=tuple(d for d in dtypes if cells[d, d] is not d),
        not_associative=tuple(t for t in unequal if t.left and t.right),
        refused_in_one_grouping=tuple(t for t in unequal if not (t.left and t.right)),
        bool_not_identity=tuple(d for d in dtypes if bool_ in dtypes and cells[bool_, d] is not d),
        lossy=tuple(_lossy(observed)),
    )


def _lossy(observed: Table) -> list[LossyPair]:
    found = []
    for a, b in combinations(observed.dtypes, 2):
        result = observed.tensors[a, b]
        if result is not None:
            lost = tuple(one for d in (a, b) if (one := loss(d, result)) is not None)
            if lost:
                found.append(LossyPair(a, b, result, lost))
    return found
