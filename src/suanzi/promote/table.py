"""Table: a rule set's tables, laid out like the document they come from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from suanzi._text import columns
from suanzi.dtypes import DType, document_name
from suanzi.promote.engine import answer
from suanzi.promote.operands import NUMBER_KINDS, Number, NumberKind
from suanzi.promote.operators import OperatorClass, operator
from suanzi.promote.rules import RuleSet
from suanzi.promote.values import contains

if TYPE_CHECKING:
    from suanzi._html import Cell, Mark


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
            f"{self.title}\n\ntensor with tensor\n{columns(self.tensor_rows())}\n\n"
            f"tensor with Python number\n{columns(self.number_rows())}"
        )

    __repr__ = __str__

    def _repr_html_(self) -> str:
        from suanzi._html import note, page, table

        numbers = [Number(kind) for kind in NUMBER_KINDS]
        return page(
            note(self.title),
            table(
                self.tensor_rows()[0],
                [[self.name(a), *self._cells(a, self.dtypes)] for a in self.dtypes],
                row_heads=True,
                caption="tensor with tensor",
            ),
            table(
                self.number_rows()[0],
                [[self.name(a), *self._cells(a, numbers)] for a in self.dtypes],
                row_heads=True,
                caption="tensor with Python number",
            ),
        )

    def _cells(self, a: DType, others: Sequence[DType | Number]) -> list[Cell]:
        """Return a row for a notebook; where the mouse rests: why, and who may lose values."""
        from suanzi._html import Cell

        cells = []
        for other in others:
            found = answer((a, other), self.rules, self.op or None)
            result = found.dtype
            title = f"{a}, {other}: {found.reason}"
            operands = [a, other] if isinstance(other, DType) else [a]
            lost = [d.name for d in operands if result is not None and not contains(result, d)]
            if lost:
                title += f"; {result} does not hold every {' and every '.join(lost)}"
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
