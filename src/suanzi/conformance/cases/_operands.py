"""What the cases of an element-wise interface need to know of it, and a call with its truth."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product
from typing import Any

from suanzi.conformance.cases import dtypes_of
from suanzi.conformance.cases._values import Shape
from suanzi.conformance.model.case import Case, Output
from suanzi.conformance.model.data import anything, ordinary, special, tensor
from suanzi.conformance.model.numbers import PARTS, Value
from suanzi.conformance.truth.bounds import bound

Row = tuple[Value, ...]
"""The operands of one element."""


def _same_dtype(dtype: str) -> str:
    return dtype


def _the_dtype(dtype: str, operand: int) -> str:
    return dtype


def _ordinary(dtype: str, count: int, seed: object, operand: int) -> list[Value]:
    return ordinary(dtype, count, (seed, operand))


def _anything(dtype: str, count: int, seed: object, operand: int) -> list[Value]:
    return anything(dtype, count, (seed, operand))


def _always(dtype: str, row: Row) -> bool:
    return True


def _none(dtype: str) -> Row | None:
    return None


@dataclass(frozen=True)
class Elementwise:
    """What the cases of an element-wise interface need to know of it."""

    op: str
    operands: tuple[str, ...]
    """The names of its tensors."""
    truth: Callable[[str, Row], Value]
    """The result of operands of a dtype, before it is rounded."""
    result: Callable[[str], str] = _same_dtype
    """The dtype of the result."""
    dtype_of: Callable[[str, int], str] = _the_dtype
    """The dtype of the operand of a number."""
    allowed: Callable[[str, Row, Value], Fraction] | None = None
    """The largest error, with the truth given, where that does not say it by its size."""
    defined: Callable[[str, Row], bool] = _always
    """Whether there is one result; what has none is not tried, or elsewhere."""
    ordinary: Callable[[str, int, object, int], list[Value]] = _ordinary
    """Values for the operand of a number, all of them good with any others."""
    random: Callable[[str, int, object, int], list[Value]] = _anything
    """Values of every size for an operand; rows that are not defined are left out."""
    special: Callable[[str], Sequence[Value]] = special
    zero_sign: bool = True
    """Whether IEEE 754 or the standard says which sign a zero has."""
    refused: Callable[[str], Row | None] = _none
    """A row that makes the whole call an error, as a divisor of zero does."""
    more: Mapping[str, Any] = field(default_factory=dict)
    """Further arguments."""
    label: str = ""
    """What stands before titles, where an interface is tried in more than one way."""

    @property
    def dtypes(self) -> tuple[str, ...]:
        """The dtypes it takes."""
        return tuple(dtypes_of(self.op))


# ---- calls ---------------------------------------------------------------------------------------


def call(
    facts: Elementwise,
    group: str,
    dtype: str,
    title: str,
    columns: Sequence[Sequence[Value]],
    shapes: Sequence[Shape],
    layouts: Sequence[str] | None = None,
) -> Case:
    """Return the case of a call with these operands."""
    arguments: dict[str, Any] = {
        name: tensor(
            facts.dtype_of(dtype, i), columns[i], shapes[i], layouts[i] if layouts else "dense"
        )
        for i, name in enumerate(facts.operands)
    }

    def expect() -> tuple[Output]:
        shape, rows = stretched(columns, shapes)
        return (outcome(facts, dtype, shape, rows),)

    full = f"{facts.label} {title}".strip()
    return Case(facts.op, group, dtype, full, {**arguments, **facts.more}, expect)


def outcome(facts: Elementwise, dtype: str, shape: Shape, rows: Sequence[Row]) -> Output:
    """Return what the result of rows of operands must be."""
    allowed = facts.allowed
    limit = None if allowed is not None else bound(facts.op, dtype)
    truth = tuple(facts.truth(dtype, row) for row in rows)
    return Output(
        facts.result(dtype),
        shape,
        truth,
        ulp=limit,
        allowed=None
        if allowed is None
        else tuple(allowed(dtype, row, right) for row, right in zip(rows, truth, strict=True)),
        # The zero parts of a complex product come of sums, in an order that is nobody's.
        zero_sign=facts.zero_sign and not (dtype in PARTS and limit is not None),
    )


def stretched(
    columns: Sequence[Sequence[Value]], shapes: Sequence[Shape]
) -> tuple[Shape, list[Row]]:
    """Return the common shape, and the operands of each of its elements in row-major order.

    >>> stretched([[1, 2], [5]], [(2,), ()])
    ((2,), [(1, 5), (2, 5)])
    """
    rank = max(map(len, shapes))
    full = [(1,) * (rank - len(s)) + tuple(s) for s in shapes]
    whole = tuple(next((n for n in lengths if n != 1), 1) for lengths in zip(*full, strict=True))
    rows = []
    for place in product(*map(range, whole)):
        row = []
        for values, shape in zip(columns, full, strict=True):
            at = 0
            for i, n in zip(place, shape, strict=True):
                at = at * n + (i if n != 1 else 0)
            row.append(values[at])
        rows.append(tuple(row))
    return whole, rows
