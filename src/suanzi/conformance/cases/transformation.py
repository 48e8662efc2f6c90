"""7.2.3.16, .22, .23: clip, sign and where, which look at the elements."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import prod
from random import Random
from typing import Any

from suanzi.conformance.cases import Wanted, cases_of, dtypes_of
from suanzi.conformance.cases._moves import (
    Move,
    Shape,
    by,
    distinct,
    indices,
    laid_out,
    move_cases,
    ravel,
    result,
    strided,
    zero,
)
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
    unary,
)

# ---- sign ----------------------------------------------------------------------------------------


@cases_of("sign")
def signs(op: str, wanted: Wanted) -> Iterator[Case]:
    """Give 1, 0 and -1, and NaN of NaN; the sign of a zero is left open."""
    for dtype in dtypes_of(op):
        low = 0 if dtype.startswith("u") else -8
        if wanted.wants("plain", dtype):
            elements = ordinary(dtype, 24, op, low)
            yield _sign(op, "plain", dtype, "2x3x4", elements, (2, 3, 4))
        if wanted.wants("special", dtype):
            few = special(dtype)
            yield _sign(op, "special", dtype, "each", few, (len(few),))
        if wanted.wants("strided", dtype):
            for layout, elements in strided(distinct(dtype, 24), (2, 3, 4)):
                yield _sign(op, "strided", dtype, layout, elements, (2, 3, 4), layout)
        if wanted.wants("empty", dtype):
            for shape in ((), (0,), (2, 0, 3)):
                yield _sign(op, "empty", dtype, by(shape), distinct(dtype, prod(shape)), shape)
        if wanted.wants("random", dtype):
            elements = anything(dtype, 50, (wanted.seed, op))
            yield _sign(op, "random", dtype, "50 elements", elements, (50,))


def _sign(
    op: str,
    group: str,
    dtype: str,
    title: str,
    elements: Sequence[Value],
    shape: Shape,
    layout: str = "dense",
) -> Case:
    def expect() -> tuple[Output]:
        truth = tuple(unary("sign", dtype, x) for x in elements)
        return (Output(dtype, shape, truth, zero_sign=False),)

    return Case(op, group, dtype, title, {"input": tensor(dtype, elements, shape, layout)}, expect)


# ---- clip ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Spread:
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
                yield _clip(op, "plain", dtype, title, many, (2, 3, 4), a, b)
        if wanted.wants("broadcast", dtype):
            rows = Spread((3, 1), [low, high, low])
            columns = Spread((4,), [high, top, top, low])
            yield _clip(op, "broadcast", dtype, "tensors", many, (2, 3, 4), rows, columns)
            yield _clip(
                op, "broadcast", dtype, "one tensor", many, (2, 3, 4), Spread((), [low]), None
            )
        if wanted.wants("strided", dtype):
            for layout in LAYOUTS:
                lows, highs = (Spread((2, 3, 4), distinct(dtype, 24, k)) for k in (50, 90))
                yield _clip(op, "strided", dtype, layout, many, (2, 3, 4), lows, highs, layout)
        if wanted.wants("empty", dtype):
            for shape in ((), (0,), (2, 0, 3)):
                elements = distinct(dtype, prod(shape))
                yield _clip(op, "empty", dtype, by(shape), elements, shape, low, high)
        if wanted.wants("special", dtype):
            few = special(dtype)
            yield _clip(op, "special", dtype, "between", few, (len(few),), low, high)
            yield _clip(op, "special", dtype, "without bounds", few, (len(few),), None, None)
            if dtype in FORMATS and FORMATS[dtype].infinity:
                ends: tuple[Bound, Bound] = (-INFINITY, INFINITY)
                yield _clip(op, "special", dtype, "infinite bounds", few, (len(few),), *ends)
        if wanted.wants("random", dtype):
            drawn = [
                [x for x in anything(dtype, 60, (wanted.seed, op, k)) if not _is_nan(x)][:40]
                for k in range(2)
            ]
            count = min(map(len, drawn))
            elements = anything(dtype, count, (wanted.seed, op))
            lows, highs = (Spread((count,), d[:count]) for d in drawn)
            yield _clip(op, "random", dtype, "by tensors", elements, (count,), lows, highs)


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


def _clip(
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
    arguments: dict[str, Any] = {"input": tensor(dtype, elements, shape)}
    for name, bound in (("low", low), ("high", high)):
        if bound is not None:
            arguments[name] = _argument(dtype, bound)

    def expect() -> tuple[Output]:
        found = []
        for x, index in zip(elements, indices(shape), strict=True):
            a, b = _at(low, index), _at(high, index)
            kept = a if a is not None and _below(x, a) else x
            found.append(b if b is not None and _below(b, kept) else kept)
        return (Output(dtype, shape, tuple(found), zero_sign=False),)

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


def _at(bound: Bound, index: Shape) -> Value | None:
    if not isinstance(bound, Spread):
        return bound
    last = index[len(index) - len(bound.shape) :]
    at = [0 if n == 1 else i for i, n in zip(last, bound.shape, strict=True)]
    return bound.elements[ravel(at, bound.shape)]


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
            yield _clip_backward(op, "plain", dtype, "between", (2, 3, 4), elements, low, high)
        if wanted.wants("sizes", dtype):
            chief = inner in ("float32", "int32") and not wanted.quick
            for n in (15, 17, 33, 65, 129, 1025) if chief else (33,):
                elements = distinct(inner, n)
                yield _clip_backward(op, "sizes", dtype, f"{n}", (n,), elements, low, high)
        if wanted.wants("special", dtype):
            yield _clip_backward(op, "special", dtype, "each", (size,), around, low, high)
        if wanted.wants("broadcast", dtype):
            elements = distinct(inner, 12)
            rows, columns = Spread((3, 1), [low, high, low]), Spread((4,), [high] * 4)
            yield _clip_backward(op, "broadcast", dtype, "tensors", (3, 4), elements, rows, columns)
        if wanted.wants("strided", dtype):
            elements = distinct(inner, 24)
            for layout in LAYOUTS:
                yield _clip_backward(
                    op, "strided", dtype, layout, (2, 3, 4), elements, low, high, layout
                )
        if wanted.wants("empty", dtype):
            for shape in ((), (0,), (2, 0, 3)):
                elements = distinct(inner, prod(shape))
                yield _clip_backward(op, "empty", dtype, by(shape), shape, elements, low, high)
        if wanted.wants("random", dtype):
            elements = anything(inner, 40, (wanted.seed, op))
            yield _clip_backward(op, "random", dtype, "40 elements", (40,), elements, low, high)


def _clip_backward(
    op: str,
    group: str,
    dtype: str,
    title: str,
    shape: Shape,
    elements: Sequence[Value],
    low: Bound,
    high: Bound,
    layout: str = "dense",
) -> Case:
    inner = PARTS.get(dtype, dtype)
    gradient = distinct(dtype, len(elements), 7)

    def expect() -> tuple[Output]:
        found = []
        for x, g, index in zip(elements, gradient, indices(shape), strict=True):
            a, b = _at(low, index), _at(high, index)
            assert a is not None
            assert b is not None
            inside = not (_is_nan(x) or _below(x, a) or _below(b, x))
            found.append(g if inside else zero(dtype))
        return (Output(dtype, shape, tuple(found), zero_sign=False),)

    arguments = {
        "grad_out": tensor(dtype, gradient, shape),
        "low": _argument(inner, low),
        "high": _argument(inner, high),
        "input": tensor(inner, elements, shape),
    }
    laid = {name: laid_out(value, layout) for name, value in arguments.items()}
    return Case(op, group, dtype, title, laid, expect)


# ---- where ---------------------------------------------------------------------------------------


def _where(x: Shape, y: Shape, condition: Shape, chosen: Sequence[int]) -> Move:
    shapes = (condition, x, y)
    ndim = max(map(len, shapes))
    full = [(1,) * (ndim - len(s)) + s for s in shapes]
    out = [next((n for n in sizes if n != 1), 1) for sizes in zip(*full, strict=True)]

    def at(index: Shape, shape: Shape) -> int:
        return ravel([0 if n == 1 else i for i, n in zip(index, shape, strict=True)], shape)

    def source(index: Shape) -> int:
        if chosen[at(index, full[0])]:
            return at(index, full[1])
        return prod(x) + at(index, full[2])

    title = f"{by(condition)} of {by(x)} and {by(y)}"
    return Move(
        title,
        {"x": x, "y": y},
        result(out, source),
        {"condition": tensor("bool", list(chosen), condition)},
    )


def _pattern(shape: Shape) -> list[int]:
    random = Random(f"where {shape}")
    return [random.randint(0, 1) for _ in range(prod(shape))]


@cases_of("where")
def choices(op: str, wanted: Wanted) -> Iterator[Case]:
    """Give elements of the one or the other; all three are stretched, E68."""

    def drawn(random: Random) -> Move:
        out = tuple(random.randint(1, 4) for _ in range(random.randint(1, 4)))
        some = [tuple(1 if random.random() < 0.3 else n for n in out) for _ in range(3)]
        x, y, condition = (s[random.randint(0, len(out)) :] for s in some)
        return _where(x, y, condition, [random.randint(0, 1) for _ in range(prod(condition))])

    def move(x: Shape, y: Shape, condition: Shape) -> Move:
        return _where(x, y, condition, _pattern(condition))

    plain = [move((2, 3, 4), (2, 3, 4), (2, 3, 4)), move((7,), (7,), (7,))]
    broadcast = [
        move((3, 4), (3, 4), (4,)),
        move((), (3, 4), (3, 4)),
        move((3, 1), (4,), (2, 1, 1)),
        move((3, 4), (3, 4), ()),
        move((1, 4), (3, 1), (3, 4)),
    ]
    empty = [move((), (), ()), move((0,), (0,), (0,)), move((2, 0), (1, 1), (2, 0))]
    yield from move_cases(op, wanted, plain, empty, broadcast, drawn, quantised_too=False)
