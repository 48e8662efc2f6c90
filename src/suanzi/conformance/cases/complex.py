"""7.2.15: complex numbers: parts that are put together and taken apart, bit for bit."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence

from suanzi.base.status import Status
from suanzi.conformance.cases import Wanted, cases_of, dtypes_of
from suanzi.conformance.cases._elementwise_sizes import size_cases
from suanzi.conformance.cases._moves import Move, Moving, Result, move_cases, moved
from suanzi.conformance.cases._operands import Elementwise, Row, call
from suanzi.conformance.cases._values import Shape, by
from suanzi.conformance.model.case import Case, Refused
from suanzi.conformance.model.data import LAYOUTS, anything, ordinary, special, tensor
from suanzi.conformance.model.numbers import PARTS, Real, Value
from suanzi.conformance.truth.sums import reals

_MADE_OF = {part: whole for whole, part in PARTS.items()}
_SHAPES: tuple[Shape, ...] = ((7,), (3, 4), (2, 3, 2))
_EMPTY: tuple[Shape, ...] = ((), (0,), (2, 0, 3))
_PAIRS: tuple[tuple[Shape, Shape], ...] = (
    ((3, 1), (4,)), ((), (5,)), ((2, 3), ()), ((1, 4), (3, 1)), ((2, 1, 3), (4, 1)), ((1,), (6,)),
)  # fmt: skip


# ---- complex -------------------------------------------------------------------------------------


def _of_two(dtype: str, row: Row) -> Value:
    first, second = reals(row)
    return first, second


_COMPLEX = Elementwise("complex", ("real", "imag"), _of_two, result=_MADE_OF.__getitem__)


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
            yield from size_cases(_COMPLEX, dtype, wanted)
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
    return call(_COMPLEX, group, dtype, title, [reals_, imaginary], [first, second], layouts)


# ---- conj, real, imag ----------------------------------------------------------------------------

_OF_PAIR: dict[str, Callable[[Real, Real], Value]] = {
    "conj": lambda a, b: (a, -b),
    "real": lambda a, b: a,
    "imag": lambda a, b: b,
}


@cases_of("conj", "real", "imag")
def parts_of_numbers(op: str, wanted: Wanted) -> Iterator[Case]:
    """Give complex numbers, and real ones, which are their own conjugates."""
    target = (lambda dtype: dtype) if op == "conj" else PARTS.__getitem__
    facts = Elementwise(op, ("input",), lambda _, row: _OF_PAIR[op](*_pair(*row)), result=target)

    def case(
        group: str, title: str, shape: Shape, xs: list[Value] | None = None, layout: str = "dense"
    ) -> Case:
        pairs = xs or ordinary(dtype, math.prod(shape), "pairs")
        return call(facts, group, dtype, title, [pairs], [shape], [layout])

    for dtype in (d for d in dtypes_of(op) if d in PARTS):
        if wanted.wants("plain", dtype):
            for shape in _SHAPES:
                yield case("plain", by(shape), shape)
        if wanted.wants("strided", dtype):
            for layout in LAYOUTS:
                yield case("strided", f"{layout} 3x4", (3, 4), layout=layout)
        if wanted.wants("empty", dtype):
            for shape in _EMPTY:
                yield case("empty", by(shape), shape)
        if wanted.wants("special", dtype):
            few = reals(special(PARTS[dtype]))
            every: list[Value] = [(a, b) for a in few for b in few]
            yield case("special", "each with each", (len(every),), every)
        if wanted.wants("random", dtype):
            yield case("random", "60 elements", (60,), anything(dtype, 60, wanted.seed))
        if wanted.wants("sizes", dtype):
            yield from size_cases(facts, dtype, wanted)
    record = Moving(lambda shape: _of_reals(op, shape), [(s,) for s in _SHAPES],
                    [(s,) for s in _EMPTY])  # fmt: skip
    yield from (c for c in move_cases(op, record, wanted) if c.dtype not in PARTS)


def _of_reals(op: str, shape: Shape) -> Move:
    size = math.prod(shape)
    return moved("", shape, Result(shape, [None] * size if op == "imag" else range(size)))


def _pair(x: Value) -> tuple[Real, Real]:
    assert isinstance(x, tuple)
    return x
