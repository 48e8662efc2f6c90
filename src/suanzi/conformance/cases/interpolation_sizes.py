"""7.2.18: interpolate at the sizes at which kernels break, of ramps.

A ramp that is sampled anywhere is the coordinate itself, so that truth costs nothing, and a
coordinate that is rounded moves a sample by no more than it is off.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import product
from random import Random

from suanzi.conformance.cases import Wanted, cases_of, dtypes_of
from suanzi.conformance.cases._moves import Move, Result, sized_case
from suanzi.conformance.cases._values import Shape, by
from suanzi.conformance.cases.interpolation import LINEAR
from suanzi.conformance.model.case import Case, Output
from suanzi.conformance.model.data import tensor
from suanzi.conformance.model.numbers import Value, real
from suanzi.conformance.truth.interpolation import terms
from suanzi.conformance.truth.sums import unit_roundoff, with_rounding

_SIZES: tuple[tuple[Shape, Shape], ...] = (
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
            some = _SIZES if chief else Random(f"{op} {dtype} {mode}").sample(_SIZES[:3], 1)
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
            [_sampled(mode, n, out, i, slope) for i in range(out)]
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


def _sampled(mode: str, n: int, out: int, i: int, slope: int) -> tuple[Fraction, int]:
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
