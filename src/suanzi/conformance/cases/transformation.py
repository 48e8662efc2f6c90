"""7.2.3.16, .22, .23: clip, sign and where, which compute with the elements."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from math import prod
from random import Random
from typing import Any, NamedTuple

from suanzi.conformance.cases import Wanted, cases_of, dtypes_of
from suanzi.conformance.cases._elementwise import unary_cases
from suanzi.conformance.cases._elementwise_sizes import size_cases
from suanzi.conformance.cases._moves import Move, Moving, Result, moving, stretched_to
from suanzi.conformance.cases._operands import Elementwise, stretched
from suanzi.conformance.cases._values import Shape, by, distinct, laid_out, zero
from suanzi.conformance.model.case import Case, Output
from suanzi.conformance.model.data import LAYOUTS, anything, ordinary, special, tensor
from suanzi.conformance.model.numbers import (
    FORMATS,
    INFINITY,
    PARTS,
    Real,
    Value,
    less,
    limits,
    real,
)
from suanzi.conformance.model.operators import unary

# ---- sign ----------------------------------------------------------------------------------------


@cases_of("sign")
def signs(op: str, wanted: Wanted) -> Iterator[Case]:
    """Give 1, 0 and -1, and NaN of NaN; the sign of a zero is left open."""
    facts = Elementwise(op, ("input",), lambda d, row: unary(op, d, row[0]), zero_sign=False)
    for dtype in facts.dtypes:
        numbers = ordinary(dtype, 24, op, 0 if dtype.startswith("u") else -8)
        plain: dict[Shape, list[Value]] = {(2, 3, 4): numbers}
        yield from unary_cases(facts, dtype, wanted, plain, distinct(dtype, 24), (2, 3, 4), 50)


# ---- clip ----------------------------------------------------------------------------------------


class Spread(NamedTuple):
    """A tensor of bounds."""

    shape: Shape
    elements: Sequence[Value]


Bound = Spread | Value | None
"""A tensor, a number, or nothing."""


@cases_of("clip")
def clips(op: str, wanted: Wanted) -> Iterator[Case]:
    """Give elements within bounds: numbers, tensors, none; NaN stays, low above high gives high."""
    for dtype in dtypes_of(op):
        low, high, top = _bounds(dtype)
        many = distinct(dtype, 24)
        bounds: list[tuple[str, Bound, Bound]] = [
            ("between", low, high),
            ("above", low, None),
            ("below", None, high),
            ("without bounds", None, None),
            ("low above high", high, low),
            ("between equal bounds", high, high),
        ]
        if wanted.wants("plain", dtype):
            for title, a, b in bounds[: 3 if wanted.quick else None]:
                yield clip_case(op, "plain", dtype, title, many, (2, 3, 4), a, b)
        if wanted.wants("broadcast", dtype):
            rows = Spread((3, 1), [low, high, low])
            columns = Spread((4,), [high, top, top, low])
            yield clip_case(op, "broadcast", dtype, "tensors", many, (2, 3, 4), rows, columns)
            yield clip_case(
                op, "broadcast", dtype, "one tensor", many, (2, 3, 4), Spread((), [low]), None
            )
        if wanted.wants("strided", dtype):
            for layout in LAYOUTS:
                lows, highs = (Spread((2, 3, 4), distinct(dtype, 24, k)) for k in (50, 90))
                yield clip_case(op, "strided", dtype, layout, many, (2, 3, 4), lows, highs, layout)
        if wanted.wants("empty", dtype):
            for shape in ((), (0,), (2, 0, 3)):
                elements = distinct(dtype, prod(shape))
                yield clip_case(op, "empty", dtype, by(shape), elements, shape, low, high)
        if wanted.wants("special", dtype):
            few = special(dtype)
            yield clip_case(op, "special", dtype, "between", few, (len(few),), low, high)
            yield clip_case(op, "special", dtype, "without bounds", few, (len(few),), None, None)
            if dtype in FORMATS and FORMATS[dtype].infinity:
                ends: tuple[Bound, Bound] = (-INFINITY, INFINITY)
                yield clip_case(op, "special", dtype, "infinite bounds", few, (len(few),), *ends)
        if wanted.wants("random", dtype):
            drawn = [
                [x for x in anything(dtype, 60, (wanted.seed, op, k)) if not _is_nan(x)][:40]
                for k in range(2)
            ]
            count = min(map(len, drawn))
            elements = anything(dtype, count, (wanted.seed, op))
            lows, highs = (Spread((count,), d[:count]) for d in drawn)
            yield clip_case(op, "random", dtype, "by tensors", elements, (count,), lows, highs)
        if wanted.wants("sizes", dtype):
            yield from size_cases(_between(dtype), dtype, wanted)


def _between(dtype: str) -> Elementwise:
    low, high = (0, 1) if dtype in ("bool", "uint1") else (1, 5)
    ends = (real(low), real(high)) if dtype in FORMATS else (low, high)
    given = {"low": low, "high": high}
    return Elementwise(
        "clip", ("input",), lambda _, row: _clipped(row[0], *ends), zero_sign=False, more=given
    )


def _is_nan(x: Value) -> bool:
    return isinstance(x, Real) and x.is_nan


def _bounds(dtype: str) -> tuple[Value, Value, Value]:
    """Return three numbers of a dtype, the smallest first."""
    if dtype in FORMATS:
        return real(-1), real(1), real(Fraction(3, 2))
    low, high = limits(dtype)
    if high - low < 4:
        return 0, 1, 1
    return low // 2 if low else high // 4, high // 2, high - 1


def clip_case(
    op: str,
    group: str,
    dtype: str,
    title: str,
    elements: Sequence[Value],
    shape: Shape,
    low: Bound,
    high: Bound,
    layout: str = "dense",
) -> Case:
    """Return elements between bounds, of which each may be missing."""
    arguments: dict[str, Any] = {"input": tensor(dtype, elements, shape)}
    for name, bound in (("low", low), ("high", high)):
        if bound is not None:
            arguments[name] = _argument(dtype, bound)

    def expect() -> tuple[Output]:
        truth = tuple(_clipped(*row) for row in _rows(shape, elements, low, high))
        return (Output(dtype, shape, truth, zero_sign=False),)

    laid = {name: laid_out(value, layout) for name, value in arguments.items()}
    return Case(op, group, dtype, title, laid, expect)


def _argument(dtype: str, bound: Bound) -> Any:
    if isinstance(bound, Spread):
        return tensor(dtype, bound.elements, bound.shape)
    if isinstance(bound, Real):
        if bound.size is None:
            return float("-inf" if bound.negative else "inf")
        return float(bound.value)
    return bound


def _rows(shape: Shape, elements: Sequence[Value], *bounds: Bound) -> list[Any]:
    """Return each element with its bounds."""
    spread = [b if isinstance(b, Spread) else Spread((), [b]) for b in bounds]  # type: ignore[list-item]
    columns = [elements, *(b.elements for b in spread)]
    return stretched(columns, [shape, *(b.shape for b in spread)])[1]


def _clipped(x: Value, low: Value | None, high: Value | None) -> Value:
    kept = low if low is not None and _below(x, low) else x
    return high if high is not None and _below(high, kept) else kept


def _below(a: Value, b: Value) -> bool:
    if isinstance(a, Real) and isinstance(b, Real):
        return less(a, b)
    assert isinstance(a, int)
    assert isinstance(b, int)
    return a < b


# ---- clip_backward -------------------------------------------------------------------------------


@cases_of("clip_backward")
def clip_gradients(op: str, wanted: Wanted) -> Iterator[Case]:
    """Give gradients where the input is within the bounds, which are within, and zero elsewhere."""
    for dtype in dtypes_of(op):
        inner = PARTS.get(dtype, dtype)  # the input of clip is real
        low, high, _ = _bounds(inner)
        around = special(inner)
        size = len(around)
        if wanted.wants("plain", dtype):
            elements = [low, high, *distinct(inner, 22)]
            random = Random(dtype)
            random.shuffle(elements)
            yield clip_gradient(op, "plain", dtype, "between", (2, 3, 4), elements, low, high)
        if wanted.wants("sizes", dtype):
            chief = inner in ("float32", "int32") and not wanted.quick
            for n in (15, 17, 33, 65, 129, 1025) if chief else (33,):
                elements = distinct(inner, n)
                yield clip_gradient(op, "sizes", dtype, f"{n}", (n,), elements, low, high)
        if wanted.wants("special", dtype):
            yield clip_gradient(op, "special", dtype, "each", (size,), around, low, high)
        if wanted.wants("broadcast", dtype):
            elements = distinct(inner, 12)
            rows, columns = Spread((3, 1), [low, high, low]), Spread((4,), [high] * 4)
            yield clip_gradient(op, "broadcast", dtype, "tensors", (3, 4), elements, rows, columns)
        if wanted.wants("strided", dtype):
            elements = distinct(inner, 24)
            for layout in LAYOUTS:
                yield clip_gradient(
                    op, "strided", dtype, layout, (2, 3, 4), elements, low, high, layout
                )
        if wanted.wants("empty", dtype):
            for shape in ((), (0,), (2, 0, 3)):
                elements = distinct(inner, prod(shape))
                yield clip_gradient(op, "empty", dtype, by(shape), shape, elements, low, high)
        if wanted.wants("random", dtype):
            elements = anything(inner, 40, (wanted.seed, op))
            yield clip_gradient(op, "random", dtype, "40 elements", (40,), elements, low, high)


def clip_gradient(
    op: str,
    group: str,
    dtype: str,
    title: str,
    shape: Shape,
    elements: Sequence[Value],
    low: Bound,
    high: Bound,
    layout: str = "dense",
    gradients: Sequence[Value] | None = None,
) -> Case:
    """Return a gradient of clip."""
    inner = PARTS.get(dtype, dtype)
    gradient = gradients or distinct(dtype, len(elements), 7)

    def expect() -> tuple[Output]:
        truth = [
            zero(dtype) if _is_nan(x) or _below(x, a) or _below(b, x) else g
            for g, (x, a, b) in zip(gradient, _rows(shape, elements, low, high), strict=True)
        ]
        return (Output(dtype, shape, tuple(truth), zero_sign=False),)

    arguments = {
        "grad_out": tensor(dtype, gradient, shape),
        "low": _argument(inner, low),
        "high": _argument(inner, high),
        "input": tensor(inner, elements, shape),
    }
    laid = {name: laid_out(value, layout) for name, value in arguments.items()}
    return Case(op, group, dtype, title, laid, expect)


# ---- where ---------------------------------------------------------------------------------------


def _where(x: Shape, y: Shape, condition: Shape, chosen: Sequence[int] | None = None) -> Move:
    if chosen is None:
        random = Random(f"where {condition}")
        chosen = [random.randint(0, 1) for _ in range(prod(condition))]
    shapes = (condition, x, y)
    ndim = max(map(len, shapes))
    full = [(1,) * (ndim - len(s)) + s for s in shapes]
    out = tuple(next((n for n in sizes if n != 1), 1) for sizes in zip(*full, strict=True))
    which, first, second = (stretched_to(shape, out).places for shape in full)
    size = prod(x)
    places = [
        a if chosen[c or 0] else size + (b or 0)
        for c, a, b in zip(which, first, second, strict=True)
    ]
    title = f"{by(condition)} of {by(x)} and {by(y)}"
    given = {"condition": tensor("bool", list(chosen), condition)}
    return Move(title, {"x": x, "y": y}, Result(out, places), given)


def _where_drawn(random: Random) -> tuple[Shape, Shape, Shape, list[int]]:
    out = tuple(random.randint(1, 4) for _ in range(random.randint(1, 4)))
    some = [tuple(1 if random.random() < 0.3 else n for n in out) for _ in range(3)]
    x, y, condition = (s[random.randint(0, len(out)) :] for s in some)
    return x, y, condition, [random.randint(0, 1) for _ in range(prod(condition))]


moving("where", Moving(  # all three are broadcast, E68
    _where,
    plain=[((2, 3, 4),) * 3, ((7,),) * 3,
           ((2, 3, 2, 2),) * 3, ((2, 1, 2, 1, 3, 1, 2, 1),) * 3],
    empty=[((), (), ()), ((0,), (0,), (0,)), ((2, 0), (1, 1), (2, 0))],
    broadcast=[((3, 4), (3, 4), (4,)), ((), (3, 4), (3, 4)), ((3, 1), (4,), (2, 1, 1)),
               ((3, 4), (3, 4), ()), ((1, 4), (3, 1), (3, 4))],
    drawn=_where_drawn,
    quantised=False,
))  # fmt: skip


@cases_of("where")
def choices_of_sizes(op: str, wanted: Wanted) -> Iterator[Case]:
    """Give elements of one or the other at large sizes."""
    facts = Elementwise(
        op,
        ("condition", "x", "y"),
        lambda dtype, row: row[1] if row[0] else row[2],
        dtype_of=lambda dtype, operand: dtype if operand else "bool",
        ordinary=lambda dtype, count, seed, operand: ordinary(
            dtype if operand else "bool", count, (seed, operand)
        ),
    )
    for dtype in facts.dtypes:
        if wanted.wants("sizes", dtype):
            yield from size_cases(facts, dtype, wanted)
