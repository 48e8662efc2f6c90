"""7.2.5.7: allclose: whether |x - y| <= atol + rtol |y| for every element."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from suanzi.conformance.cases import Wanted, cases_of, dtypes_of
from suanzi.conformance.model.case import Case, Output
from suanzi.conformance.model.data import LAYOUTS, ordinary, tensor
from suanzi.conformance.model.numbers import (
    FORMATS,
    PARTS,
    Real,
    Value,
    convert,
    decode,
    encode,
    limits,
    real,
)

INF, NAN = math.inf, math.nan
_EXACTLY = {"rtol": 0.0, "atol": 0.0}
# Numbers that every dtype holds, and tolerances that every float does: no rounding matters.
_TOLERANCES: tuple[tuple[str, list[int], list[int], dict[str, Any], bool], ...] = (
    ("the same by default", [1, 2, 3], [1, 2, 3], {}, True),
    ("others by default", [1, 2, 3], [1, 2, 4], {}, False),
    ("just within atol", [1, 5], [3, 3], {"rtol": 0.0, "atol": 2.0}, True),
    ("just past atol", [1, 6], [3, 3], {"rtol": 0.0, "atol": 2.5}, False),
    ("rtol is of y", [2], [4], {"rtol": 0.5, "atol": 0.0}, True),
    ("rtol is not of x", [4], [2], {"rtol": 0.5, "atol": 0.0}, False),
    ("both tolerances", [1], [4], {"rtol": 0.5, "atol": 1.0}, True),
    ("both too small", [1], [4], {"rtol": 0.5, "atol": 0.5}, False),
)
_SPECIAL: tuple[tuple[str, list[float], list[float], dict[str, Any], bool], ...] = (
    ("equal infinities", [INF, -INF, 1.0], [INF, -INF, 1.0], {}, True),
    ("unequal infinities", [INF], [-INF], {"atol": 1.0}, False),
    ("an infinite y", [1.0], [INF], {"rtol": 1.0}, False),
    ("an infinite x", [INF], [1.0], {"rtol": 1.0}, False),
    ("NaN", [1.0, NAN], [1.0, NAN], {}, False),
    ("NaN as equal", [1.0, NAN], [1.0, NAN], {"equal_nan": True}, True),
    ("NaN and a number", [NAN], [1.0], {"equal_nan": True}, False),
    ("a number and NaN", [1.0], [NAN], {"equal_nan": True}, False),
    ("zeros of two signs", [0.0, -0.0], [-0.0, 0.0], _EXACTLY, True),
)


@cases_of("allclose")
def closeness(op: str, wanted: Wanted) -> Iterator[Case]:
    """Give tensors that are close, and others."""
    for dtype in dtypes_of(op):
        if wanted.wants("plain", dtype):
            for title, x, y, more, close in _TOLERANCES:
                yield _case(
                    "plain", dtype, title, _numbers(dtype, x), _numbers(dtype, y), more, close
                )
            if dtype in FORMATS or dtype in PARTS:
                yield from _defaults(dtype)
            values = ordinary(dtype, 100)
            other = [*values[:71], _neighbour(dtype, values[71]), *values[72:]]
            yield _case("plain", dtype, "one of a hundred", values, other, _EXACTLY, False)
        if wanted.wants("broadcast", dtype):
            yield from _broadcast(dtype)
        if wanted.wants("strided", dtype):
            yield from _strided(dtype)
        if wanted.wants("empty", dtype):
            for shape in ((0,), (2, 0, 3)):
                title = "by".join(map(str, shape))
                yield _case("empty", dtype, title, [], [], {}, True, (shape, shape))
            one = _numbers(dtype, [3])
            yield _case("empty", dtype, "no axes", one, one, _EXACTLY, True, ((), ()))
        if wanted.wants("special", dtype):
            yield from _special(dtype)
        if wanted.wants("random", dtype):
            values = ordinary(dtype, 60, ("allclose", wanted.seed))
            yield _case("random", dtype, "the same", values, values, _EXACTLY, True)
            other = [*values[:-1], _neighbour(dtype, values[-1])]
            yield _case("random", dtype, "the last otherwise", values, other, _EXACTLY, False)


def _defaults(dtype: str) -> Iterator[Case]:
    """Give neighbours that the default tolerances keep apart, and NaN, which equal_nan is about."""
    big, near, far = 1024, 1024 + Fraction(1, 512), 1024 + Fraction(1, 8)
    kept = [real(big), real(3)]
    for title, x, close in (("2e-6 apart by default", near, True),
                            ("1e-4 apart by default", far, False)):  # fmt: skip
        if PARTS.get(dtype, dtype) in ("float32", "float64"):
            yield _case("plain", dtype, title, [convert(y, dtype) for y in (real(x), real(3))],
                        [convert(y, dtype) for y in kept], {}, close)  # fmt: skip
    for title, more, close in (
        ("NaN is not equal by default", {}, False),
        ("NaN is equal with equal_nan", {"equal_nan": True}, True),
        ("NaN is not equal without equal_nan", {"equal_nan": False}, False),
    ):
        both = _numbers(dtype, [1.0, NAN, 3.0])
        case = _case("plain", dtype, title, both, both, more, close)
        yield replace(
            case, basis="normative", because="equal_nan defines whether NaN is equal to NaN"
        )


def _broadcast(dtype: str) -> Iterator[Case]:
    three, two = _numbers(dtype, [1, 2, 3]), _numbers(dtype, [2, 2])
    for title, x, y, shapes, close in (
        ("2by1 with a scalar", two, two[:1], ((2, 1), ()), True),
        ("3 with 2by1", three, two, ((3,), (2, 1)), False),
        ("2by3 with 3", three * 2, three, ((2, 3), (3,)), True),
        ("3 with 2by3", three, [*three, *three[:2], *two[:1]], ((3,), (2, 3)), False),
    ):
        yield _case("broadcast", dtype, title, x, y, _EXACTLY, close, shapes)


def _strided(dtype: str) -> Iterator[Case]:
    values = ordinary(dtype, 12, "strided")
    shapes = ((3, 4), (3, 4))
    other = [*values[:5], _neighbour(dtype, values[5]), *values[6:]]
    for layout in LAYOUTS:
        for layouts in ((layout, "dense"), ("dense", layout)):
            name = "x" if layouts[0] == layout else "y"
            for title, y, close in (("the same", values, True), ("one otherwise", other, False)):
                yield _case(
                    "strided", dtype, f"{title}, {name} in {layout}", values, y, _EXACTLY, close,
                    shapes, layouts,
                )  # fmt: skip


def _special(dtype: str) -> Iterator[Case]:
    if dtype not in FORMATS and dtype not in PARTS:
        low, high = limits(dtype)
        exact, one = _EXACTLY, {"rtol": 0.0, "atol": 1.0}
        yield _case("special", dtype, "large neighbours", [high], [high - 1], exact, False)
        yield _case("special", dtype, "large neighbours within one", [high], [high - 1], one, True)
        # A difference that wraps would be 1.
        yield _case("special", dtype, "the ends", [high], [low], one, False)
        yield _case("special", dtype, "the ends the other way", [low], [high], one, False)
        return
    part = FORMATS[PARTS.get(dtype, dtype)]
    for title, x, y, more, close in _SPECIAL:
        if part.infinity or not any(map(math.isinf, [*x, *y])):
            yield _case(
                "special", dtype, title, _numbers(dtype, x), _numbers(dtype, y), more, close
            )
    if dtype in FORMATS:
        tiny: list[Value] = [decode(part, 1)]
        zero: list[Value] = [decode(part, 0)]
        yield _case("special", dtype, "the smallest number and zero", tiny, zero, _EXACTLY, False)
        top: list[Value] = [decode(part, part.largest)]
        below: list[Value] = [decode(part, part.largest - 1)]
        yield _case("special", dtype, "the largest neighbours", top, below, _EXACTLY, False)


def _numbers(dtype: str, values: Sequence[float]) -> list[Value]:
    return [convert(x if isinstance(x, int) else real(x), dtype) for x in values]


def _neighbour(dtype: str, x: Value) -> Value:
    """Return the next number of a dtype, away from zero; of a complex one in its second part."""
    if isinstance(x, tuple):
        second = _neighbour(PARTS[dtype], x[1])
        assert isinstance(second, Real)
        return x[0], second
    if isinstance(x, Real):
        return decode(FORMATS[dtype], encode(FORMATS[dtype], x) + 1)
    return x + 1


def _case(
    group: str,
    dtype: str,
    title: str,
    x: Sequence[Value],
    y: Sequence[Value],
    more: dict[str, Any],
    close: bool,
    shapes: tuple[tuple[int, ...], tuple[int, ...]] | None = None,
    layouts: tuple[str, str] = ("dense", "dense"),
) -> Case:
    first, second = shapes or ((len(x),), (len(y),))
    arguments = {
        "x": tensor(dtype, x, first, layouts[0]), "y": tensor(dtype, y, second, layouts[1]), **more
    }  # fmt: skip
    return Case(
        "allclose", group, dtype, title, arguments, lambda: (Output("bool", (1,), (int(close),)),)
    )
