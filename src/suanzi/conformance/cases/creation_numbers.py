"""7.2.1.12 and .13: numbers at equal distances."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from suanzi.conformance.cases import Wanted, cases_of, dtypes_of
from suanzi.conformance.model.case import Case, Output
from suanzi.conformance.model.numbers import (
    FORMATS,
    PARTS,
    ZERO,
    Real,
    Value,
    decode,
    limits,
    real,
    rounded,
    unit,
)


def _number(dtype: str, x: Real) -> Value:
    return (x, ZERO) if dtype in PARTS else x


Call = tuple[float, float, float]
"""Start, limit and step."""

# ---- range ---------------------------------------------------------------------------------------

_STEPS: list[Call] = [(5, 3, -0.5), (-1, 1, 0.25), (0, 7, 1), (3, -3, -1.5), (1, 1, 0.5), (0, 8, 3)]
"""Numbers that every float dtype holds, and so does every sum."""
_ROUNDED: list[tuple[Call, int]] = [((0, 0.3, 0.1), 4), ((0, 1, 0.3), 4), ((0.1, 0.7, 0.15), 5)]
"""Numbers that none holds, and how many there are; how far sums are off follows from rounding."""
_LONG: tuple[Call, int] = ((0, 30, 0.1), 301)
"""So many that to add the step each time is too far off; E33's count has no room in fewer bits."""


@cases_of("range")
def ranges(op: str, wanted: Wanted) -> Iterator[Case]:
    """Give the numbers from a start to a limit, which is included, also if rounding misses it."""
    for dtype in dtypes_of(op):
        floating = dtype in FORMATS or dtype in PARTS
        if wanted.wants("plain", dtype):
            for call in _STEPS if floating else _whole_steps(dtype):
                yield _range(op, "plain", dtype, call)
            for call, count in _ROUNDED if floating else ():
                yield _rounded_range(op, dtype, call, count)
            if PARTS.get(dtype, dtype) in ("float16", "float32", "float64"):
                yield _rounded_range(op, dtype, *_LONG)
        if wanted.wants("special", dtype) and not floating:
            for call in _extreme_steps(dtype):
                yield _range(op, "special", dtype, call)
    if wanted.wants("plain", "float32"):
        made = _range(op, "plain", "float32", (0, 4, 2))
        arguments = {k: v for k, v in made.arguments.items() if k != "dtype"}
        yield Case(op, "plain", "float32", "without dtype", arguments, made.expect)


def _whole_steps(dtype: str) -> list[Call]:
    if dtype == "uint1":
        return [(0, 1, 1), (1, 1, 1), (0, 0, 1)]
    calls: list[Call] = [(0, 7, 1), (1, 6, 2), (3, 3, 1), (0, 7, 3)]
    return calls if dtype.startswith("u") else [*calls, (5, -6, -2), (-8, 7, 5), (-1, -7, -3)]


def _extreme_steps(dtype: str) -> list[Call]:
    low, high = limits(dtype)
    if high - low < 4:
        return [(low, high, high)]
    calls: list[Call] = [(low, high, high), (high - 5, high, 2), (low, low + 6, 3), (high, high, 1)]
    return calls if not low else [*calls, (high, low, low), (low + 7, low, -7)]


def _range(op: str, group: str, dtype: str, call: Call) -> Case:
    start, limit, step = map(Fraction, call)

    def expect() -> tuple[Output]:
        count = (limit - start) // step + 1
        sums = [start + i * step for i in range(count)]
        if dtype in FORMATS or dtype in PARTS:
            truth = tuple(_number(dtype, real(x)) for x in sums)
        else:
            truth = tuple(int(x) for x in sums)
        return (Output(dtype, (count,), truth),)

    return Case(op, group, dtype, _title(call), _arguments(dtype, call), expect)


def _rounded_range(op: str, dtype: str, call: Call, count: int) -> Case:
    start, limit, step = map(Fraction, call)
    form = FORMATS[PARTS.get(dtype, dtype)]

    def expect() -> tuple[Output]:
        sums = [start + i * step for i in range(count)]
        size = max(abs(start), abs(limit))
        # The start, the step and the sum may each have been rounded to the dtype, halves of units.
        allowed = tuple(
            (unit(form, start) + i * unit(form, step)) / 2 + unit(form, size) for i in range(count)
        )
        truth = tuple(_number(dtype, real(x)) for x in sums)
        return (Output(dtype, (count,), truth, allowed=allowed),)

    return Case(op, "plain", dtype, _title(call), _arguments(dtype, call), expect)


def _title(call: Call) -> str:
    return "from {} to {} by {}".format(*call)


def _arguments(dtype: str, call: Call) -> dict[str, Any]:
    return {"dtype": dtype, **dict(zip(("start", "limit", "step"), call, strict=True))}


# ---- linspace ------------------------------------------------------------------------------------


@cases_of("linspace")
def equal_distances(op: str, wanted: Wanted) -> Iterator[Case]:
    """Give so many numbers from a start to a stop, both of them exactly."""
    calls: list[tuple[float, float, int]] = [
        (0, 10, 5),
        (-1, 1, 9),
        (1, -1, 3),
        (5, 5, 4),
        (2, 9, 1),
        (0, 3, 2),
    ]
    uneven: list[tuple[float, float, int]] = [
        (0.1, 0.7, 7),
        (-3, 3, 11),
        (0, 1, 4),
        (1 / 3, -0.2, 6),
        (0.1, 0.3, 1),
    ]
    for dtype in dtypes_of(op):
        if wanted.wants("plain", dtype):
            for call in calls:
                yield _linspace(op, "plain", dtype, call, exact=True)
            for call in uneven[:2] if wanted.quick else uneven:
                yield _linspace(op, "plain", dtype, call, exact=False)
            if dtype in PARTS:
                yield _complex_linspace(op, dtype)
        if wanted.wants("special", dtype):
            form = FORMATS[PARTS.get(dtype, dtype)]
            top = float(decode(form, form.largest).value)
            yield _linspace(op, "special", dtype, (-top, top, 5), exact=False)
            least = float(decode(form, 1).value)
            yield _linspace(op, "special", dtype, (0, least, 2), exact=True)
    if wanted.wants("plain", "float32"):
        made = _linspace(op, "plain", "float32", (0, 1, 3), exact=True)
        arguments = {k: v for k, v in made.arguments.items() if k != "dtype"}
        yield Case(op, "plain", "float32", "without dtype", arguments, made.expect)


def _linspace(
    op: str, group: str, dtype: str, call: tuple[float, float, int], *, exact: bool
) -> Case:
    start, stop, num = call
    first, last = Fraction(start), Fraction(stop)
    form = FORMATS[PARTS.get(dtype, dtype)]

    def expect() -> tuple[Output]:
        inner = [first + (last - first) * i / max(num - 1, 1) for i in range(num)]
        if exact:
            truth = tuple(_number(dtype, real(x)) for x in inner)
            return (Output(dtype, (num,), truth),)
        ends = {0: rounded(form, real(first)), num - 1: rounded(form, real(last))}
        if num == 1:
            ends = {0: rounded(form, real(first))}
        # What is near zero between larger ends is as exact as the ends are; a step may be rounded.
        step = unit(form, max(abs(first), abs(last)))
        half = unit(form, abs(last - first) / max(num - 1, 1)) / 2
        found = [ends.get(i, real(x)) for i, x in enumerate(inner)]
        allowed = tuple(Fraction(0) if i in ends else step + i * half for i in range(num))
        truth = tuple(_number(dtype, x) for x in found)
        return (Output(dtype, (num,), truth, allowed=allowed),)

    arguments = {"dtype": dtype, "start": start, "stop": stop, "num": num}
    return Case(op, group, dtype, f"{num} from {start!r} to {stop!r}", arguments, expect)


def _complex_linspace(op: str, dtype: str) -> Case:
    truth = tuple((real(2 * i), real(4 - i)) for i in range(3))
    arguments = {"dtype": dtype, "start": 4j, "stop": 4 + 2j, "num": 3}
    return Case(
        op, "plain", dtype, "complex ends", arguments, lambda: (Output(dtype, (3,), truth),)
    )
