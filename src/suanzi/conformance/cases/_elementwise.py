"""The cases that all element-wise interfaces share: their groups, shapes, layouts and values."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import product
from random import Random

from suanzi.base.dtypes import dtype as as_dtype
from suanzi.base.status import Status, TypeMismatch
from suanzi.conformance.cases import Wanted
from suanzi.conformance.cases._elementwise_sizes import from_rows, size_cases
from suanzi.conformance.cases._operands import Elementwise, Row, call, outcome, stretched
from suanzi.conformance.cases._sparse import sparse_cases
from suanzi.conformance.cases._values import Shape, by, distinct, strided
from suanzi.conformance.model.case import Case, Output, Refused
from suanzi.conformance.model.data import LAYOUTS, anything, ordinary, special, tensor
from suanzi.conformance.model.numbers import FORMATS, INTEGERS, PARTS, Real, Value, convert
from suanzi.promote.questions import result_type
from suanzi.standard import interface

__all__ = [
    "Elementwise",
    "Row",
    "Shape",
    "all_cases",
    "call",
    "from_rows",
    "integers_become_floats",
    "outcome",
    "special_rows",
    "stretched",
    "unary_cases",
]

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
            ("sizes", size_cases),
        ):
            if wanted.wants(group, dtype):
                yield from maker(facts, dtype, wanted)
    yield from sparse_cases(facts, wanted)
    if "int32" not in facts.dtypes and integers_become_floats(facts.op, wanted.rules):
        for dtype in ("bool", *INTEGERS):
            if wanted.wants("promotion", dtype):
                yield _integers(facts, dtype, wanted.rules)


def unary_cases(
    facts: Elementwise,
    dtype: str,
    wanted: Wanted,
    plain: Mapping[Shape, list[Value]],
    mixed: list[Value],
    shape: Shape,
    drawn: int,
    empty: Sequence[Shape] = ((), (0,), (2, 0, 3)),
) -> Iterator[Case]:
    """Give the cases of an interface that computes each element of a tensor from one alone.

    `plain` has ordinary values by their shape, `mixed` those of a shape in every layout, `drawn` is
    the number of random ones.
    """

    def case(group: str, title: str, some: list[Value], shape: Shape, lies: str = "dense") -> Case:
        return call(facts, group, dtype, title, [some], [shape], [lies])

    if wanted.wants("plain", dtype):
        for each, values in plain.items():
            yield case("plain", by(each), values, each)
    if wanted.wants("special", dtype):
        few = list(facts.special(dtype))
        yield case("special", "each", few, (len(few),))
    if wanted.wants("strided", dtype):
        for layout, values in strided(mixed, shape):
            yield case("strided", layout, values, shape, layout)
    if wanted.wants("empty", dtype):
        for each in empty:
            yield case("empty", by(each), distinct(dtype, math.prod(each)), each)
    if wanted.wants("random", dtype):
        values = anything(dtype, drawn, (wanted.seed, facts.op))
        yield case("random", f"{drawn} elements", values, (drawn,))
    if wanted.wants("sizes", dtype):
        yield from size_cases(facts, dtype, wanted)


def integers_become_floats(op: str, rules: str) -> bool:
    """Tell whether a rule set converts integer operands of a function of real numbers to floats.

    The standard takes no integers there; suanzi converts them. Frameworks do the same where nothing
    else makes sense, as for a sine; some compute powers and rounding in integers.
    """
    keeps = interface(op).category == "rounding" or op in ("pow", "square", "reciprocal")
    return not keeps or rules in ("cann", "strict")


def _plain(facts: Elementwise, dtype: str, wanted: Wanted) -> Iterator[Case]:
    count = len(facts.operands)
    yield _dense(facts, "plain", dtype, "24 elements", *[(24,)] * count)
    yield _dense(facts, "plain", dtype, "2by3by2by4", *[(2, 3, 2, 4)] * count)
    if not wanted.quick:
        yield _dense(facts, "plain", dtype, "2by3by4", *[(2, 3, 4)] * count)
        yield _dense(facts, "plain", dtype, "eight axes", *[(2, 1, 2, 1, 3, 1, 2, 1)] * count)
    if dtype in ("float32", "int32"):
        scalar = _dense(facts, "plain", dtype, "scalars", *[()] * count)
        yield replace(scalar, basis="normative", because="6.3 defines scalars, which have no axes")


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
            yield from_rows(facts, "special", dtype, title, kept, wanted)


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
        yield from_rows(facts, "random", dtype, title, rows, wanted)


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
