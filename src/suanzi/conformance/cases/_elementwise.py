"""The cases that all element-wise interfaces share: their groups, shapes, layouts and values."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from itertools import product
from random import Random
from typing import Any

from suanzi.conformance.cases import Wanted, dtypes_of
from suanzi.conformance.cases import _sizes as sizes
from suanzi.conformance.model.case import Case, Output, Refused
from suanzi.conformance.model.data import LAYOUTS, anything, ordinary, special, tensor
from suanzi.conformance.model.numbers import FORMATS, INTEGERS, PARTS, Real, Value, convert, decode
from suanzi.conformance.model.picked import Cycle, Picked
from suanzi.conformance.truth.bounds import bound
from suanzi.dtypes import dtype as as_dtype
from suanzi.promote.questions import result_type
from suanzi.status import Status, TypeMismatch

Row = tuple[Value, ...]
"""The operands of one element."""
Shape = tuple[int, ...]

KEEP_INTEGERS = frozenset("pow square reciprocal floor ceil trunc round rint".split())
"""Functions of real numbers that some frameworks compute in integers, where they get them."""
_BROADCAST: dict[int, tuple[tuple[Shape, ...], ...]] = {
    2: (
        ((), (5,)),
        ((6,), (1,)),
        ((3, 1), (1, 4)),
        ((4,), (2, 3, 4)),
        ((2, 1, 3), (4, 1)),
        ((1, 1), ()),
    ),
    3: (
        ((), (5,), ()),
        ((3, 1), (1, 4), (1,)),
        ((4,), (2, 3, 4), (3, 1)),
        ((2, 1, 1), (1, 3, 1), (1, 1, 2)),
    ),
}
_EMPTY: dict[int, tuple[tuple[Shape, ...], ...]] = {
    1: (((0,),), ((3, 0, 2),)),
    2: (((0,), (0,)), ((3, 0, 2), (3, 0, 2)), ((0,), (1,)), ((4, 1), (0,)), ((), (2, 0))),
    3: (((0,), (0,), (0,)), ((4, 1), (0,), ())),
}
_LAYOUT_WORDS = {
    "columns": "by columns",
    "gaps": "with gaps",
    "reversed": "backwards",
    "offset": "behind other elements",
}


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


def all_cases(facts: Elementwise, wanted: Wanted) -> Iterator[Case]:
    """Give the cases of an element-wise interface in every group and dtype."""
    for dtype in facts.dtypes:
        for group, maker in (
            ("plain", _plain),
            ("broadcast", _broadcast),
            ("strided", _strided),
            ("empty", _empty),
            ("special", _special),
            ("random", _random),
            ("sizes", _sizes),
        ):
            if wanted.wants(group, dtype):
                yield from maker(facts, dtype, wanted)
    if "int32" not in facts.dtypes and integers_become_floats(facts.op, wanted.rules):
        for dtype in ("bool", *INTEGERS):
            if wanted.wants("promotion", dtype):
                yield _integers(facts, dtype, wanted.rules)


def integers_become_floats(op: str, rules: str) -> bool:
    """Tell whether a rule set says what a function of real numbers makes of integers.

    The standard takes none there. Under suanzi's own reading they become floats; frameworks agree
    where nothing else makes sense, as for a sine, and go their own ways where integers do.
    """
    return op not in KEEP_INTEGERS or rules in ("cann", "strict")


def _plain(facts: Elementwise, dtype: str, wanted: Wanted) -> Iterator[Case]:
    count = len(facts.operands)
    yield _dense(facts, "plain", dtype, "24 elements", *[(24,)] * count)
    if not wanted.quick:
        yield _dense(facts, "plain", dtype, "2by3by4", *[(2, 3, 4)] * count)


def _integers(facts: Elementwise, dtype: str, rules: str) -> Case:
    """Return the case of integers, which first become floats of the rule set."""
    count = len(facts.operands)
    few = [*special(dtype), *ordinary(dtype, 12, facts.op)]
    # In an order of its own each operand has every value: a divisor is zero once at least.
    others = [Random(f"{facts.op} {dtype} {k}").sample(few, len(few)) for k in range(1, count)]
    rows = list(zip(few, *others, strict=True))
    try:
        out = result_type(*[as_dtype(dtype)] * count, rules=rules, op=facts.op).name
    except TypeMismatch:
        out = None
    floats = [tuple(convert(x, out or "float64") for x in row) for row in rows]
    kept = [i for i, row in enumerate(floats) if facts.defined(out or "float64", row)]

    def expect() -> tuple[Output] | Refused:
        if out is None:
            return Refused(Status.TYPE_MISMATCH)
        return (outcome(facts, out, (len(kept),), [floats[i] for i in kept]),)

    arguments = {
        name: tensor(dtype, [rows[k][i] for k in kept]) for i, name in enumerate(facts.operands)
    }
    title = f"{rules} {facts.label} integers become floats".replace("  ", " ")
    return Case(facts.op, "promotion", dtype, title, {**arguments, **facts.more}, expect, rules)


def _broadcast(facts: Elementwise, dtype: str, wanted: Wanted) -> Iterator[Case]:
    shapes = _BROADCAST.get(len(facts.operands), ())
    for each in shapes[:: 2 if wanted.quick else 1]:
        title = " with ".join(_words(shape) for shape in each)
        yield _dense(facts, "broadcast", dtype, title, *each)


def _strided(facts: Elementwise, dtype: str, wanted: Wanted) -> Iterator[Case]:
    count = len(facts.operands)
    for layout in LAYOUTS[:2] if wanted.quick else LAYOUTS:
        for i, name in enumerate(facts.operands):
            layouts = ["dense"] * count
            layouts[i] = layout
            title = f"{name} {_LAYOUT_WORDS[layout]}"
            yield _dense(facts, "strided", dtype, title, *[(3, 4)] * count, layouts=layouts)
    if count > 1:
        layouts = ["reversed", "columns", "gaps"][:count]
        yield _dense(facts, "strided", dtype, "each otherwise", *[(4, 3)] * count, layouts=layouts)


def _empty(facts: Elementwise, dtype: str, wanted: Wanted) -> Iterator[Case]:
    count = len(facts.operands)
    for each in _EMPTY[count]:
        title = " with ".join(_words(shape) for shape in dict.fromkeys(each))
        yield _dense(facts, "empty", dtype, title, *each)
    yield _dense(facts, "empty", dtype, "no axes", *[()] * count)


def _words(shape: Shape) -> str:
    return "by".join(map(str, shape)) if shape else "a scalar"


def _special(facts: Elementwise, dtype: str, wanted: Wanted) -> Iterator[Case]:
    for title, rows in special_rows(facts, dtype):
        kept = [row for row in rows if facts.defined(dtype, row)]
        if wanted.quick and len(kept) > 120:
            # Every third, and others further on, so that no value is always left out; and all
            # rows of zeros, ones, infinities and NaN, many of which have a rule of their own.
            kept = [
                row
                for i, row in enumerate(kept)
                if (i + i // 101) % 3 == 0 or all(map(_has_rules, row))
            ]
        if kept:
            yield from_rows(facts, "special", dtype, title, kept)


def _has_rules(x: Value) -> bool:
    return isinstance(x, Real) and (x.is_nan or x.size is None or x.size in (0, 1))


def special_rows(facts: Elementwise, dtype: str) -> Iterator[tuple[str, list[Row]]]:
    """Give rows of special values under titles: each with each, where they are not too many."""
    few, count = list(facts.special(dtype)), len(facts.operands)
    if count == 1:
        yield "special values", [(x,) for x in few]
    elif dtype in PARTS:
        # Each meets itself and five others.
        pairs = [(x, x) for x in few]
        pairs += [(x, few[(7 * i + 3 * k) % len(few)]) for i, x in enumerate(few) for k in range(5)]
        yield "special values", _with_third(pairs, few, count)
    elif dtype in FORMATS:
        for title, chosen in _by_kind(dtype, few).items():
            yield f"{title} with each", _with_third(list(product(chosen, few)), few, count)
    else:
        yield "each with each", _with_third(list(product(few, few)), few, count)


def _with_third(pairs: list[tuple[Value, Value]], few: Sequence[Value], count: int) -> list[Row]:
    if count == 2:
        return list(pairs)
    # Every other pair of each row, and the others in the next.
    chosen = [pair for i, pair in enumerate(pairs) if (i + i // len(few)) % 2 == 0]
    return [(x, y, few[(7 * i) % len(few)]) for i, (x, y) in enumerate(chosen)]


def _by_kind(dtype: str, few: Sequence[Value]) -> dict[str, list[Value]]:
    found: dict[str, list[Value]] = {}
    smallest = Fraction(2) ** (1 - FORMATS[dtype].bias)
    for x in few:
        assert isinstance(x, Real)
        if x.is_nan or x.size is None:
            kind = "NaN and infinities"
        elif x.size < smallest:
            kind = "zeros and subnormals"
        else:
            kind = "negative numbers" if x.negative else "positive numbers"
        found.setdefault(kind, []).append(x)
    return found


def _random(facts: Elementwise, dtype: str, wanted: Wanted) -> Iterator[Case]:
    for title, values, number in (
        ("any bits", facts.random, 150),
        ("moderate", facts.ordinary, 50),
    ):
        count = number // 3 if wanted.quick else number
        columns = [
            values(dtype, count, (facts.op, title, wanted.seed), i)
            for i in range(len(facts.operands))
        ]
        rows = [row for row in zip(*columns, strict=True) if facts.defined(dtype, row)]
        yield from_rows(facts, "random", dtype, title, rows)


# ---- sizes ---------------------------------------------------------------------------------------


def _sizes(facts: Elementwise, dtype: str, wanted: Wanted) -> Iterator[Case]:
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
        title = "5003 elements with gaps"
        yield few.case(title, sizes.cycle((5003,)), (5003,), ["gaps"] * count)
    if count == 2:
        yield _stretched_matrix(facts, dtype)
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
        return Case(facts.op, "sizes", self.dtype, full, {**arguments, **facts.more}, expect)


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
            index = [i % sizes.PERIOD for i in range(length)]
            index[at] = bad
            title = f"refused for one of {length} {layout} in the {word} block"
            yield few.case(title, index, (length,), [layout] * count, refused=True)


# ---- calls ---------------------------------------------------------------------------------------


def from_rows(facts: Elementwise, group: str, dtype: str, title: str, rows: Sequence[Row]) -> Case:
    """Return the case of a call with one row of operands for each element."""
    columns = [[row[i] for row in rows] for i in range(len(facts.operands))]
    return call(facts, group, dtype, title, columns, [(len(rows),)] * len(columns))


def _dense(
    facts: Elementwise,
    group: str,
    dtype: str,
    title: str,
    *shapes: Shape,
    layouts: Sequence[str] | None = None,
) -> Case:
    """Return the case of a call with ordinary values of these shapes."""
    columns = [facts.ordinary(dtype, math.prod(s), group, i) for i, s in enumerate(shapes)]
    return call(facts, group, dtype, title, columns, shapes, layouts)


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
