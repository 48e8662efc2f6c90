"""Diff: where two rule sets part, 0-d tensors and Python numbers included."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from itertools import combinations_with_replacement, product
from typing import Any

from suanzi.base.dtypes import DType
from suanzi.base.lang import said, say
from suanzi.base.text import columns
from suanzi.promote.engine import answer
from suanzi.promote.operands import NUMBER_KINDS, Number, Operand, ZeroDim, operand
from suanzi.promote.operators import OperatorClass, operator
from suanzi.promote.rules import RuleSet

SHAPES = ("tensor, tensor", "tensor, 0-d", "0-d, 0-d", "tensor, number", "0-d, number")
"""The kinds of pairs that are compared, in this order."""


@dataclass(frozen=True)
class Difference:
    """A pair on which two rule sets disagree; None is a refusal."""

    shape: str
    """One of ``SHAPES``."""
    operands: tuple[Operand, Operand]
    a: DType | None
    b: DType | None

    @property
    def one_refuses(self) -> bool:
        """Whether one of the two refuses, rather than both answering differently."""
        return self.a is None or self.b is None

    def row(self) -> tuple[str, str, str, str]:
        """Return operands and answers as text."""
        x, y = self.operands
        return str(x), str(y), str(self.a or "refused"), str(self.b or "refused")


@dataclass(frozen=True, repr=False)
class Diff:
    """Every pair on which two rule sets disagree, over the dtypes they share."""

    a: RuleSet
    b: RuleSet
    op: str
    dtypes: tuple[DType, ...]
    """The requested dtypes that both have."""
    compared: dict[str, int]
    """How many pairs of each shape were compared."""
    differences: tuple[Difference, ...]
    asked: tuple[DType, ...] | None = None
    """The requested dtypes; None for all."""

    @property
    def only_a(self) -> tuple[DType, ...]:
        """The dtypes that only the first has."""
        return self._only(self.a)

    @property
    def only_b(self) -> tuple[DType, ...]:
        """The dtypes that only the second has."""
        return self._only(self.b)

    def _only(self, rules: RuleSet) -> tuple[DType, ...]:
        found = (d for d in rules.dtypes if d not in self.dtypes)
        return tuple(d for d in found if self.asked is None or d in self.asked)

    def __len__(self) -> int:
        return len(self.differences)

    def __bool__(self) -> bool:
        return bool(self.differences)

    def __iter__(self) -> Iterator[Difference]:
        return iter(self.differences)

    def of_shape(self, shape: str) -> tuple[Difference, ...]:
        """Return the differences of one of ``SHAPES``."""
        return tuple(d for d in self.differences if d.shape == shape)

    def summary(self) -> list[tuple[str, str, str, str]]:
        """Return a line per shape: pairs compared, answered differently, refused by one."""
        lines = []
        for shape, compared in self.compared.items():
            found = self.of_shape(shape)
            refused = sum(d.one_refuses for d in found)
            lines.append((shape, str(compared), str(len(found) - refused), str(refused)))
        return lines

    @property
    def header(self) -> tuple[str, str, str, str]:
        """The heading of the list of differences."""
        left, right = say("left, right").split(", ")
        return left, right, self.a.name, self.b.name

    @property
    def title(self) -> str:
        """The rule sets, the operator, and over how many dtypes they are compared."""
        op = f" for {self.op}" if self.op else ""
        return f"{self.a.name} and {self.b.name}{op}, over {len(self.dtypes)} common dtypes"

    def __str__(self) -> str:
        parts = [
            say(self.title),
            columns(said([("", "compared", "differ", "one refuses"), *self.summary()]), indent=2),
        ]
        for rules, only in ((self.a, self.only_a), (self.b, self.only_b)):
            if only:
                parts.append("  " + say(f"only {rules.name}: {', '.join(d.name for d in only)}"))
        if self.differences:
            rows = [self.header, *said(d.row() for d in self.differences)]
            parts += ["", columns(rows, indent=2)]
        return "\n".join(parts)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        from suanzi.base.html import Cell, note, page, table

        head, *counts = said([("", "compared", "differ", "one refuses"), *self.summary()])
        parts = [table(head, counts, row_heads=True, caption=say(self.title))]
        for rules, only in ((self.a, self.only_a), (self.b, self.only_b)):
            if only:
                parts.append(note(say(f"only {rules.name}: {', '.join(d.name for d in only)}")))
        rows = [
            [Cell(say(text), "refused" if text == "refused" else "") for text in one.row()]
            for one in self.differences
        ]
        return page(*parts, table(self.header, rows) if rows else "")

    def to_dict(self) -> dict[str, Any]:
        """Return the differences as plain data."""
        return {
            "a": self.a.name,
            "b": self.b.name,
            "op": self.op or None,
            "dtypes": [d.name for d in self.dtypes],
            "only_a": [d.name for d in self.only_a],
            "only_b": [d.name for d in self.only_b],
            "compared": self.compared,
            "differences": [
                {
                    "shape": d.shape,
                    "operands": [str(o) for o in d.operands],
                    "a": d.a and d.a.name,
                    "b": d.b and d.b.name,
                }
                for d in self.differences
            ],
        }


def compare(
    first: RuleSet,
    second: RuleSet,
    op: str | OperatorClass | None = None,
    dtypes: Collection[DType] | None = None,
) -> Diff:
    """Put every pair of operands to two rule sets; of `dtypes` alone, if they are given."""
    common = tuple(
        d for d in first.dtypes if d in second.dtypes and (dtypes is None or d in dtypes)
    )
    compared: dict[str, int] = {}
    differences: list[Difference] = []
    for shape, x, y in _pairs(common):
        compared[shape] = compared.get(shape, 0) + 1
        pair = operand(x), operand(y)
        one, other = (answer(pair, rules, op).dtype for rules in (first, second))
        if one is not other:
            differences.append(Difference(shape, pair, one, other))
    asked = None if dtypes is None else tuple(dtypes)
    return Diff(first, second, operator(op).title, common, compared, tuple(differences), asked)


def _pairs(dtypes: tuple[DType, ...]) -> Iterator[tuple[str, Any, Any]]:
    zeros = [ZeroDim(d) for d in dtypes]
    numbers = [Number(kind) for kind in NUMBER_KINDS]
    pairs = (
        combinations_with_replacement(dtypes, 2),
        product(dtypes, zeros),
        combinations_with_replacement(zeros, 2),
        product(dtypes, numbers),
        product(zeros, numbers),
    )
    for shape, found in zip(SHAPES, pairs, strict=True):
        for x, y in found:
            yield shape, x, y
