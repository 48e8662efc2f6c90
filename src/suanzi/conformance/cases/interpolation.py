"""7.2.18: interpolate: samples in fractions, whose coordinates may be rounded as numbers are."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import product
from random import Random
from typing import Any

from suanzi.conformance.cases import Wanted, cases_of, dtypes_of
from suanzi.conformance.cases._moves import Move, Result, sized_case
from suanzi.conformance.cases._values import Shape, by, indices, ravel
from suanzi.conformance.model.case import Case, Output
from suanzi.conformance.model.data import LAYOUTS, ordinary, special, tensor
from suanzi.conformance.model.numbers import FORMATS, Real, Value, add, decode, mul, real
from suanzi.conformance.truth.interpolation import terms, weights
from suanzi.conformance.truth.sums import reals, unit_roundoff, with_rounding

LINEAR = {3: "linear", 4: "bilinear", 5: "trilinear"}
_MODES = ("nearest", "linear", "area")
# Up, down, both at once, the same size, from one element and to one.
_SIZES: tuple[tuple[Shape, Shape], ...] = (
    ((2, 2, 5), (8,)), ((1, 3, 7), (3,)), ((2, 1, 6), (6,)), ((1, 2, 1), (4,)), ((1, 2, 5), (1,)),
    ((2, 1, 3, 4), (5, 3)), ((1, 2, 4, 2), (2, 7)), ((1, 1, 1, 5), (3, 2)), ((1, 1, 4, 4), (8, 8)),
    ((1, 2, 2, 3, 4), (3, 2, 5)), ((1, 1, 3, 3, 3), (2, 4, 1)), ((2, 1, 1, 2, 1), (2, 1, 3)),
)  # fmt: skip
# The sizes are cut to whole numbers, and it is they, not the factors, that say where samples lie.
_FACTORS: tuple[tuple[Shape, list[float]], ...] = (
    ((1, 2, 3), [1.5]), ((1, 2, 4), [2.0]), ((2, 1, 5), [0.5]), ((1, 1, 3, 4), [2.5, 0.75]),
    ((1, 1, 2, 3, 4), [1.5, 1.0, 0.5]),
)  # fmt: skip


@cases_of("interpolate")
def samples(op: str, wanted: Wanted) -> Iterator[Case]:
    """Give every mode on three to five axes, by sizes and by factors."""
    for dtype in dtypes_of(op):
        for mode in _MODES:
            yield from _of_mode(dtype, mode, wanted)
        if wanted.wants("plain", dtype):
            shape, sizes = (1, 2, 5), (3,)
            xs = ordinary(dtype, 10, "default")
            yield _case("plain", dtype, "nearest by default", None, xs, shape, sizes)
            title = "size before scale_factor"
            yield _case("plain", dtype, title, "nearest", xs, shape, sizes, [2.0])


_AGREED: tuple[tuple[str, Shape, Shape | None, list[float] | None], ...] = (
    *((mode, shape, shape[2:], None) for mode in _MODES
      for shape in ((2, 3, 5), (1, 2, 3, 4), (1, 2, 2, 3, 2))),
    ("nearest", (2, 1, 2), None, [2.0]), ("nearest", (1, 2, 2, 2), (4, 4), None),
    ("nearest", (1, 1, 2, 2, 2), None, [2.0, 1.0, 2.0]),
    ("area", (2, 1, 6), None, [0.5]), ("area", (1, 2, 4, 6), (2, 3), None),
    ("linear", (1, 2, 6), None, [1.0]), ("area", (1, 1, 2, 4, 2), None, [1.0, 0.5, 1.0]),
)  # fmt: skip
"""Sizes at which all coordinates in use select the same points."""


@cases_of("interpolate")
def agreed_samples(op: str, wanted: Wanted) -> Iterator[Case]:
    """Give samples that do not depend on coordinates: of the same size, doubled, and of halves."""
    for dtype in dtypes_of(op):
        if not wanted.wants("plain", dtype):
            continue
        for mode, shape, sizes, factors in _AGREED:
            xs = ordinary(dtype, math.prod(shape), "agreed", 1, 8)
            to = by(sizes) if sizes else f"times {' '.join(map(str, factors or ()))}"
            title = f"{by(shape)} to {to}, all coordinates agree"
            case = _case("plain", dtype, title, mode, xs, shape, sizes, factors)
            yield replace(case, basis="normative", because=_ALL)
        xs = ordinary(dtype, 4, "agreed", 1, 8)
        case = _case("plain", dtype, "by default, all coordinates agree", None, xs, (1, 2, 2), (4,))
        yield replace(case, basis="normative", because=_ALL)


_ALL = "the clause defines the samples where every choice of coordinates gives the same"


def _of_mode(dtype: str, mode: str, wanted: Wanted) -> Iterator[Case]:
    if wanted.wants("plain", dtype):
        for shape, sizes in _SIZES[::2] if wanted.quick else _SIZES:
            xs = ordinary(dtype, math.prod(shape), "plain", 1, 8)
            title = f"{by(shape)} to {by(sizes)}"
            yield _case("plain", dtype, title, mode, xs, shape, sizes)
        for shape, factors in _FACTORS[::2] if wanted.quick else _FACTORS:
            xs = ordinary(dtype, math.prod(shape), "factors")
            title = f"{by(shape)} times {' '.join(map(str, factors))}"
            yield _case("plain", dtype, title, mode, xs, shape, None, factors)
    if wanted.wants("strided", dtype):
        for layout in LAYOUTS:
            xs = ordinary(dtype, 48, "strided")
            title = f"{layout} 2x2x3x4 to 5x3"
            yield _case("strided", dtype, title, mode, xs, (2, 2, 3, 4), (5, 3), layout=layout)
    if wanted.wants("empty", dtype):
        for shape, sizes in (
            ((0, 3, 4), (6,)),
            ((2, 0, 4, 5), (3, 3)),
            ((0, 0, 1, 2, 3), (2, 2, 2)),
        ):
            title = f"{by(shape)} to {by(sizes)}"
            yield _case("empty", dtype, title, mode, [], shape, sizes)
    if wanted.wants("special", dtype):
        yield from _special(dtype, mode)
    if wanted.wants("random", dtype):
        xs = ordinary(dtype, 60, wanted.seed, -100, 100)
        yield _case("random", dtype, "3x1x4x5 to 3x8", mode, xs, (3, 1, 4, 5), (3, 8))


def _special(dtype: str, mode: str) -> Iterator[Case]:
    few = list(special(dtype))
    n = len(few)
    if mode == "nearest":
        yield _case("special", dtype, "of every kind, up", mode, few, (1, 1, n), (2 * n,))
        yield _case("special", dtype, "of every kind, down", mode, few, (1, 1, n), (n // 3,))
        return
    form = FORMATS[dtype]
    tiny, large, zero = decode(form, 1), decode(form, form.largest), real(0)
    rows: list[Real] = [tiny, tiny, -tiny, large, large, -large, zero, -zero]
    yield _case("special", dtype, "the smallest and the largest", mode, rows, (1, 4, 2), (4,))
    # Every sample has a part of what is not finite: nothing with the weight 0 is in doubt.
    inf, nan = decode(form, form.largest + form.infinity), decode(form, form.nan)
    one = real(1)
    rows = [nan, nan, inf, inf, -inf, -inf, nan, one]
    sizes = (1,)
    yield _case("special", dtype, "NaN and infinities", mode, rows, (1, 4, 2), sizes)
    if mode == "area" and form.infinity:
        yield _case(
            "special", dtype, "of both signs", mode, [inf, -inf, one, inf], (1, 2, 2), sizes
        )


def _case(
    group: str,
    dtype: str,
    title: str,
    mode: str | None,
    xs: Sequence[Value],
    shape: Shape,
    sizes: Shape | None,
    factors: Sequence[float] | None = None,
    *,
    layout: str = "dense",
) -> Case:
    arguments: dict[str, Any] = {"input": tensor(dtype, xs, shape, layout)}
    named = LINEAR[len(shape)] if mode == "linear" else mode
    given = {
        "size": None if sizes is None else list(sizes),
        "scale_factor": None if factors is None else list(factors),
        "mode": named,
    }
    arguments |= {name: x for name, x in given.items() if x is not None}
    prefix = "" if named is None else f"{named} "

    def expect() -> tuple[Output]:
        made = sizes or tuple(
            math.floor(n * Fraction(f)) for n, f in zip(shape[2:], factors or (), strict=True)
        )
        return (_sampled(dtype, mode or "nearest", xs, shape, made),)

    return Case("interpolate", group, dtype, f"{prefix}{title}", arguments, expect)


def _sampled(dtype: str, mode: str, xs: Sequence[Value], shape: Shape, sizes: Shape) -> Output:
    inner = math.prod(shape[2:])
    numbers = reals(xs)
    truth: list[Real] = []
    bounds: list[Fraction] = []
    chosen = [weights(mode, shape[2:], sizes, index) for index in indices(sizes)]
    found = [[(ravel(at, shape[2:]), w) for at, w in each.items()] for each in chosen]
    for start in range(0, math.prod(shape[:2]) * inner, inner):
        plane = numbers[start : start + inner]
        largest = max((x.size for x in plane if x.size is not None and not x.is_nan), default=0)
        for weighed in found:
            one = _weighed(plane, weighed)
            truth.append(one)
            reach = _roundings(mode, shape[2:], len(weighed)) * unit_roundoff(dtype) * largest
            bounds.append(with_rounding(dtype, one, reach))
    left = (*shape[:2], *sizes)
    if mode == "nearest":
        return Output(dtype, left, tuple(truth))
    return Output(dtype, left, tuple(truth), allowed=tuple(bounds), zero_sign=False)


def _weighed(plane: Sequence[Real], terms: Sequence[tuple[int, Fraction]]) -> Real:
    if len(terms) == 1:
        return plane[terms[0][0]]
    total = real(0)
    for at, weight in terms:
        total = add(total, mul(plane[at], real(weight)))
    return total


def _roundings(mode: str, shape: Shape, count: int) -> int:
    """Return how many times the largest element a sample may be off, in units of roundoff.

    A mean adds its elements and divides. Else a coordinate of an axis of n elements is rounded some
    three times and is off by 3 * n units at most; one weight is too large by that, the other too
    small, each product and each sum of the two is rounded.
    """
    if mode == "area":
        return count + 1 + len(shape)
    return sum(6 * n + 4 for n in shape)


# ---- large sizes ---------------------------------------------------------------------------------
#
# A sampled ramp is the coordinate itself, so that its truth is simple, and an error of a coordinate
# changes the sample by no more than that.

_LARGE_SIZES: tuple[tuple[Shape, Shape], ...] = (
    ((2, 3, 33), (65,)), ((1, 5, 65), (31,)), ((1, 2, 9, 17), (17, 9)),
    ((1, 2, 3, 5, 9), (5, 4, 17)),
    ((1, 1, 129), (257,)), ((1, 1, 1025), (1500,)), ((1, 1, 900), (2049,)), ((1, 1, 4099), (1,)),
    ((1, 1, 65, 129), (33, 130)), ((1, 1, 17, 65), (65, 17)),
)  # fmt: skip
"""Past vectors, past 1,024 samples of a row, and a window of more than 2,048 elements."""
_LARGE, _LARGE_TO = (1009, 991), (757, 1201)


@cases_of("interpolate")
def samples_of_sizes(op: str, wanted: Wanted) -> Iterator[Case]:
    """Give ramps along every axis; all of them in one dtype, and a small one in the others."""
    for dtype in dtypes_of(op):
        if not wanted.wants("sizes", dtype) or dtype.startswith("float8"):
            continue
        chief = dtype == "float32" and not wanted.quick
        for mode in ("nearest", "linear", "area"):
            some = (
                _LARGE_SIZES
                if chief
                else Random(f"{op} {dtype} {mode}").sample(_LARGE_SIZES[:3], 1)
            )
            for shape, to in some:
                yield _ramp(dtype, mode, shape, to)
        if chief:
            yield _many(dtype)


def _ramp(dtype: str, mode: str, shape: Shape, to: Shape) -> Case:
    inner = shape[2:]
    slopes = [len(inner) - a for a in range(len(inner))]
    planes = math.prod(shape[:2])
    elements: list[Value] = [
        real(plane + sum(s * i for s, i in zip(slopes, at, strict=True)))
        for plane in range(planes)
        for at in product(*map(range, inner))
    ]

    def expect() -> tuple[Output]:
        largest = planes + sum(s * n for s, n in zip(slopes, inner, strict=True))
        unit = unit_roundoff(dtype)
        along = [
            [_sampled_ramp(mode, n, out, i, slope) for i in range(out)]
            for n, out, slope in zip(inner, to, slopes, strict=True)
        ]
        truth, allowed = [], []
        for plane in range(planes):
            for each in product(*along):
                sample = plane + sum((x for x, _ in each), Fraction(0))
                found = real(sample)
                if mode == "area":  # nothing cancels in a sum of what is above zero
                    off = (math.prod(count for _, count in each) + 1 + len(inner)) * sample * unit
                else:
                    moved_by = sum(6 * s * n for s, n in zip(slopes, inner, strict=True))
                    off = (moved_by + 4 * len(inner) * largest) * unit
                truth.append(found)
                allowed.append(with_rounding(dtype, found, off))
        full = (*shape[:2], *to)
        if mode == "nearest":
            return (Output(dtype, full, tuple(truth)),)
        return (Output(dtype, full, tuple(truth), allowed=tuple(allowed), zero_sign=False),)

    named = LINEAR[len(shape)] if mode == "linear" else mode
    arguments = {"input": tensor(dtype, elements, shape), "size": list(to), "mode": named}
    title = f"{named} ramp of {by(shape)} to {by(to)}"
    return Case("interpolate", "sizes", dtype, title, arguments, expect)


def _sampled_ramp(mode: str, n: int, out: int, i: int, slope: int) -> tuple[Fraction, int]:
    """Return a sample of a ramp along one axis, and of how many elements it is made."""
    if mode == "area":
        first, last = i * n // out, -(-(i + 1) * n // out) - 1
        return Fraction(slope * (first + last), 2), last - first + 1
    weights = terms(mode, n, out, i)
    return sum((slope * k * w for k, w in weights.items()), Fraction(0)), len(weights)


def _many(dtype: str) -> Case:
    """Return a million elements of which the nearest are taken."""
    (rows, columns), (n_rows, n_columns) = _LARGE, _LARGE_TO
    across = [i * columns // n_columns for i in range(n_columns)]
    places: Sequence[int] = [
        i * rows // n_rows * columns + j for i in range(n_rows) for j in across
    ]
    shape, out = (1, 1, *_LARGE), (1, 1, *_LARGE_TO)
    title = f"nearest of {by(shape)} to {by(_LARGE_TO)}"
    given = {"size": list(_LARGE_TO), "mode": "nearest"}
    move = Move(title, {"input": shape}, Result(out, places), given)
    return sized_case("interpolate", dtype, move)
