"""7.2.15: complex numbers: parts that are put together and taken apart, bit for bit."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence

from suanzi.conformance.cases import Wanted, cases_of, dtypes_of
from suanzi.conformance.cases._elementwise_sizes import size_cases
from suanzi.conformance.cases._moves import (
    Move,
    Shape,
    by,
    indices,
    move_cases,
    one,
    ravel,
    result,
)
from suanzi.conformance.cases._operands import Elementwise, Row
from suanzi.conformance.model.case import Case, Output, Refused
from suanzi.conformance.model.data import LAYOUTS, anything, ordinary, special, tensor
from suanzi.conformance.model.numbers import PARTS, Real, Value
from suanzi.conformance.truth.sums import reals
from suanzi.status import Status

_MADE_OF = {part: whole for whole, part in PARTS.items()}
_SHAPES: tuple[Shape, ...] = ((7,), (3, 4), (2, 3, 2))
_PAIRS: tuple[tuple[Shape, Shape], ...] = (
    ((3, 1), (4,)), ((), (5,)), ((2, 3), ()), ((1, 4), (3, 1)), ((2, 1, 3), (4, 1)), ((1,), (6,)),
)  # fmt: skip


# ---- complex -------------------------------------------------------------------------------------


@cases_of("complex")
def made_of_parts(op: str, wanted: Wanted) -> Iterator[Case]:
    """Give parts of every kind, repeated to one shape too."""
    for dtype in dtypes_of(op):
        if wanted.wants("plain", dtype):
            for shape in _SHAPES:
                yield _complex("plain", dtype, by(shape), shape, shape)
        if wanted.wants("broadcast", dtype):
            for a, b in _PAIRS:
                yield _complex("broadcast", dtype, f"{by(a)} with {by(b)}", a, b)
        if wanted.wants("strided", dtype):
            for layout in LAYOUTS:
                for lies in ((layout, "dense"), ("dense", layout), (layout, layout)):
                    title = f"{lies[0]} and {lies[1]}"
                    yield _complex("strided", dtype, title, (3, 4), (3, 4), layouts=lies)
        if wanted.wants("empty", dtype):
            for a, b in (((), ()), ((0,), (0,)), ((2, 0), (2, 0)), ((0, 1), (1, 4))):
                yield _complex("empty", dtype, f"{by(a)} with {by(b)}", a, b)
        if wanted.wants("special", dtype):
            few = list(special(dtype))
            n = len(few)
            across = [x for x in few for _ in few]
            yield _complex("special", dtype, "each with each", (n, n), (n, n), across, few * n)
        if wanted.wants("random", dtype):
            xs, ys = (anything(dtype, 60, (wanted.seed, i)) for i in "xy")
            yield _complex("random", dtype, "60 elements", (60,), (60,), xs, ys)
        if wanted.wants("sizes", dtype):
            facts = Elementwise(op, ("real", "imag"), _pair, result=lambda dtype: _MADE_OF[dtype])
            yield from size_cases(facts, dtype, wanted)
    for dtype in ("bfloat16", "float8_e4m3fn", "float8_e5m2"):
        if wanted.wants("status", dtype):
            one = tensor(dtype, [1.0])
            yield Case(
                op, "status", dtype, "no complex dtype has such parts", {"real": one, "imag": one},
                lambda: Refused(Status.TYPE_MISMATCH),
            )  # fmt: skip


def _complex(
    group: str,
    dtype: str,
    title: str,
    first: Shape,
    second: Shape,
    xs: Sequence[Value] | None = None,
    ys: Sequence[Value] | None = None,
    layouts: tuple[str, str] = ("dense", "dense"),
) -> Case:
    reals_ = xs or ordinary(dtype, math.prod(first), "real")
    imaginary = ys or ordinary(dtype, math.prod(second), "imaginary")

    def expect() -> tuple[Output]:
        shape = _together(first, second)
        truth = [
            (reals_[_source(index, first)], imaginary[_source(index, second)])
            for index in indices(shape)
        ]
        pairs = [(a, b) for a, b in truth if isinstance(a, Real) and isinstance(b, Real)]
        return (Output(_MADE_OF[dtype], shape, tuple(pairs)),)

    arguments = {
        "real": tensor(dtype, reals_, first, layouts[0]),
        "imag": tensor(dtype, imaginary, second, layouts[1]),
    }
    return Case("complex", group, dtype, title, arguments, expect)


def _together(a: Shape, b: Shape) -> Shape:
    """Return the shape that two are repeated to."""
    n = max(len(a), len(b))
    long = [(1,) * (n - len(s)) + s for s in (a, b)]
    return tuple(y if x == 1 else x for x, y in zip(*long, strict=True))


def _source(index: Shape, shape: Shape) -> int:
    """Return the place in a tensor that is repeated."""
    own = index[len(index) - len(shape) :]
    return ravel([0 if n == 1 else i for i, n in zip(own, shape, strict=True)], shape)


# ---- conj, real, imag ----------------------------------------------------------------------------

_OF_PAIR: dict[str, Callable[[Real, Real], Value]] = {
    "conj": lambda a, b: (a, -b),
    "real": lambda a, b: a,
    "imag": lambda a, b: b,
}


@cases_of("conj", "real", "imag")
def parts_of_numbers(op: str, wanted: Wanted) -> Iterator[Case]:
    """Give complex numbers, and real ones, which are their own conjugates."""
    for dtype in (d for d in dtypes_of(op) if d in PARTS):
        if wanted.wants("plain", dtype):
            for shape in _SHAPES:
                yield _of_pairs(op, "plain", dtype, by(shape), shape)
        if wanted.wants("strided", dtype):
            for layout in LAYOUTS:
                yield _of_pairs(op, "strided", dtype, f"{layout} 3x4", (3, 4), layout=layout)
        if wanted.wants("empty", dtype):
            for shape in ((), (0,), (2, 0, 3)):
                yield _of_pairs(op, "empty", dtype, by(shape), shape)
        if wanted.wants("special", dtype):
            few = reals(special(PARTS[dtype]))
            pairs: list[Value] = [(a, b) for a in few for b in few]
            yield _of_pairs(op, "special", dtype, "each with each", (len(pairs),), pairs)
        if wanted.wants("random", dtype):
            xs = anything(dtype, 60, wanted.seed)
            yield _of_pairs(op, "random", dtype, "60 elements", (60,), xs)
        if wanted.wants("sizes", dtype):
            target = (lambda dtype: dtype) if op == "conj" else PARTS.__getitem__
            facts = Elementwise(op, ("input",), lambda _, row: _of_pair(op, row[0]), result=target)
            yield from size_cases(facts, dtype, wanted)

    def move(shape: Shape) -> Move:
        return one("", shape, result(shape, lambda i: None if op == "imag" else ravel(i, shape)))

    plain, empty = [move(s) for s in _SHAPES], [move(s) for s in ((), (0,), (2, 0, 3))]
    yield from (c for c in move_cases(op, wanted, plain, empty) if c.dtype not in PARTS)


def _pair(dtype: str, row: Row) -> Value:
    first, second = row
    assert isinstance(first, Real)
    assert isinstance(second, Real)
    return first, second


def _of_pair(op: str, x: Value) -> Value:
    assert isinstance(x, tuple)
    return _OF_PAIR[op](*x)


def _of_pairs(
    op: str,
    group: str,
    dtype: str,
    title: str,
    shape: Shape,
    xs: Sequence[Value] | None = None,
    layout: str = "dense",
) -> Case:
    pairs = xs or ordinary(dtype, math.prod(shape), "pairs")
    target = dtype if op == "conj" else PARTS[dtype]

    def expect() -> tuple[Output]:
        truth = tuple(_OF_PAIR[op](*x) for x in pairs if isinstance(x, tuple))
        return (Output(target, shape, truth),)

    return Case(op, group, dtype, title, {"input": tensor(dtype, pairs, shape, layout)}, expect)
