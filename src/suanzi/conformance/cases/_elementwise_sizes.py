"""The cases of element-wise interfaces at the sizes at which kernels break."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from random import Random
from typing import Any

from suanzi.base.status import Status
from suanzi.conformance.cases import Wanted
from suanzi.conformance.cases import _sizes as sizes
from suanzi.conformance.cases._operands import Elementwise, Row, call, outcome
from suanzi.conformance.cases._values import Shape
from suanzi.conformance.model.case import Case, Output, Refused
from suanzi.conformance.model.expected import Cycle, Picked
from suanzi.conformance.model.numbers import FORMATS, decode

_QUICK_LENGTH = 251
"""How many elements the values of a quick run fill: a prime, so that no vector ends with them."""


_LARGEST = frozenset({"add", "less", "abs"})
"""Interfaces that also get more elements than a float32 counts."""


def filled_length(count: int, wanted: Wanted) -> int:
    """Return how many elements so many values are to fill.

    >>> filled_length(50, Wanted(quick=True)), filled_length(50, Wanted())
    (251, 50)
    """
    return max(count, _QUICK_LENGTH) if wanted.quick and count else count


def from_rows(
    facts: Elementwise, group: str, dtype: str, title: str, rows: Sequence[Row], wanted: Wanted
) -> Case:
    """Return the case of a call with one row of operands for each element.

    In a quick run the rows come again until there are as many as in other cases: a framework that
    compiles for every shape then has one program for all of them.
    """
    length = filled_length(len(rows), wanted)
    if length != len(rows):
        index = Cycle(len(rows), length)
        return Rows(facts, dtype, rows).case(title, index, (length,), group=group)
    columns = [[row[i] for row in rows] for i in range(len(facts.operands))]
    return call(facts, group, dtype, title, columns, [(len(rows),)] * len(columns))


def size_cases(facts: Elementwise, dtype: str, wanted: Wanted) -> Iterator[Case]:
    """Give lengths, matrices, a large one, NaN everywhere, and what is refused everywhere."""
    count = len(facts.operands)
    columns = [facts.ordinary(dtype, sizes.PERIOD, "sizes", i) for i in range(count)]
    few = Rows(facts, dtype, list(zip(*columns, strict=True)))
    shapes = [(n,) for n in sizes.lengths(facts.op, dtype, wanted)] + [sizes.MATRIX]
    large = sizes.large(facts.op, facts.dtypes, wanted).get(dtype)
    for shape in [*shapes, *([] if large is None else [(large,)])]:
        yield few.case(sizes.words(shape), sizes.cycle(shape), shape)
    if count > 1:
        layouts = ["columns", "dense", "columns"][:count]
        title = f"{sizes.words(sizes.MATRIX)} by columns and by rows"
        yield few.case(title, sizes.cycle(sizes.MATRIX), sizes.MATRIX, layouts)
    if not wanted.quick:
        if dtype == "int8" and facts.op in _LARGEST:
            shape = (sizes.LARGEST,)
            yield few.case(sizes.words(shape), sizes.cycle(shape), shape)
        title = "5003 elements with gaps"
        yield few.case(title, sizes.cycle((5003,)), (5003,), ["gaps"] * count)
    chief = dtype in ("float32", "int32") or not wanted.quick
    if count == 2 and chief:
        yield _stretched_matrix(facts, dtype)
    if chief:
        yield from _everywhere(facts, dtype, few.rows)
    if (bad := facts.refused(dtype)) is not None:
        yield from _refused_everywhere(Rows(facts, dtype, [*few.rows, bad]), wanted)


@dataclass(frozen=True)
class Rows:
    """A few rows of operands, of which tensors of any size are made; their truth is found once."""

    facts: Elementwise
    dtype: str
    rows: Sequence[Row]

    @cached_property
    def columns(self) -> list[sizes.Few]:
        """The values of each operand."""
        count = len(self.facts.operands)
        kinds = [self.facts.dtype_of(self.dtype, i) for i in range(count)]
        return [sizes.Few(kind, [row[i] for row in self.rows]) for i, kind in enumerate(kinds)]

    @cached_property
    def right(self) -> Output:
        """What the result of each row must be."""
        return outcome(self.facts, self.dtype, (len(self.rows),), self.rows)

    def whole(self, index: Sequence[int], shape: Shape) -> Output:
        """Return what the result of these rows must be."""
        few = self.right
        allowed = None if few.allowed is None else Picked(tuple(few.allowed), index)
        return replace(few, shape=shape, truth=Picked(tuple(few.truth), index), allowed=allowed)

    def case(
        self,
        title: str,
        index: Sequence[int],
        shape: Shape,
        layouts: Sequence[str] | None = None,
        refused: bool = False,
        group: str = "sizes",
    ) -> Case:
        """Return the case of a call with these rows."""
        facts = self.facts
        arguments: dict[str, Any] = {
            name: self.columns[i].tensor(index, shape, layouts[i] if layouts else "dense")
            for i, name in enumerate(facts.operands)
        }

        def expect() -> tuple[Output] | Refused:
            if not refused:
                return (self.whole(index, shape),)
            made = (self.whole(index, shape),) if self.dtype in FORMATS else None
            return Refused(Status.INVALID_ARGUMENT, instead=made)

        full = f"{facts.label} {title}".strip()
        return Case(facts.op, group, self.dtype, full, {**arguments, **facts.more}, expect)


def _stretched_matrix(facts: Elementwise, dtype: str) -> Case:
    """Return the case of a column with a row, of few values each."""
    one, other = (facts.ordinary(dtype, n, "stretched", i) for i, n in enumerate((7, 11)))
    few = Rows(facts, dtype, list(product(one, other)))
    rows, columns = sizes.MATRIX
    made = few.case("", sizes.grid(rows, columns, 7, 11), sizes.MATRIX)
    first, second = facts.operands
    kinds = facts.dtype_of(dtype, 0), facts.dtype_of(dtype, 1)
    arguments = {
        **made.arguments,
        first: sizes.Few(kinds[0], one).tensor(Cycle(7, rows), (rows, 1)),
        second: sizes.Few(kinds[1], other).tensor(Cycle(11, columns), (columns,)),
    }
    title = f"{facts.label} {rows}by1 with {columns}".strip()
    return replace(made, title=title, arguments=arguments)


def _everywhere(facts: Elementwise, dtype: str, rows: Sequence[Row]) -> Iterator[Case]:
    """Give a NaN of each operand at every place of a vector, and nowhere near another."""
    if dtype not in FORMATS:
        return
    nan = decode(FORMATS[dtype], FORMATS[dtype].nan)
    bad = [
        (*rows[0][:i], nan, *rows[0][i + 1 :])
        for i in range(len(facts.operands))
        if facts.dtype_of(dtype, i) == dtype
    ]
    bad = [row for row in bad if facts.defined(dtype, row)]
    if not bad:
        return
    index = [i % sizes.PERIOD for i in range(65 * 66)]
    for k, at in enumerate(range(0, len(index), 65)):
        index[at] = len(rows) + k // 2 % len(bad)
    few = Rows(facts, dtype, [*rows, *bad])
    yield few.case("NaN at every place of a vector", index, (len(index),))


def _refused_everywhere(few: Rows, wanted: Wanted) -> Iterator[Case]:
    """Give the one row that is refused at every place of a vector, and in every block."""
    bad, count = len(few.rows) - 1, len(few.facts.operands)
    random = Random(f"refused {few.facts.op} {few.dtype}")
    kept = sizes.places(random, 65, wanted)
    for at in kept if few.dtype in ("int32", "float32") else kept[random.randrange(5) :: 5]:
        index = [i % sizes.PERIOD for i in range(65)]
        index[at] = bad
        yield few.case(f"refused for place {at} of 65", index, (65,), refused=True)
    for length, layout in ((5003, "dense"), (5003, "gaps"), (70_001, "dense")):
        for word, at in sizes.blocks(length)[: 1 if wanted.quick else 3]:
            index = ([*range(sizes.PERIOD)] * (length // sizes.PERIOD + 1))[:length]
            index[at] = bad
            title = f"refused for one of {length} {layout} in the {word} block"
            yield few.case(title, index, (length,), [layout] * count, refused=True)
