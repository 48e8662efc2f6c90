"""7.2.17.11: norms of vectors and matrices, against roots of whole numbers and mpmath."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import partial
from itertools import product
from random import Random
from typing import Any

import mpmath

from suanzi.conformance.cases import Wanted, cases_of, dtypes_of
from suanzi.conformance.cases import _sizes as sizes
from suanzi.conformance.cases._matrices import number
from suanzi.conformance.model.case import Case, Output
from suanzi.conformance.model.data import LAYOUTS, sample, tensor
from suanzi.conformance.model.numbers import (
    FORMATS,
    INFINITY,
    NAN,
    PARTS,
    ZERO,
    Real,
    Value,
    decode,
    real,
)
from suanzi.conformance.subjects.wire import Data
from suanzi.conformance.truth.arrays import Exact, exact
from suanzi.conformance.truth.functions import fraction
from suanzi.conformance.truth.lines import shape_left
from suanzi.conformance.truth.sums import half_unit, machine_epsilon, unit_roundoff

Axes = tuple[int, ...]

_BITS = 120
_VECTORS = ("inf", "1", "2", "3", "0.5", "2.5")
_MATRICES = ("fro", "1", "inf")
_POWER = 8
"""How often a power and a root may round, in addition to the sum of powers."""


@cases_of("norm")
def norms(op: str, wanted: Wanted) -> Iterator[Case]:
    """Give norms of every kind, along every axis."""
    for dtype in dtypes_of(op):
        if wanted.wants("plain", dtype):
            data = _sample(dtype, (3, 4), "vectors")
            for kind, axes in product(_VECTORS, ((), (0,), (1,), (-1,))):
                if not wanted.quick or axes in ((), (0,)):
                    yield _case("plain", dtype, data, kind, axes)
            data = _sample(dtype, (2, 3, 4), "matrices")
            for kind, axes in product(_MATRICES, ((0, 1), (1, 2), (2, 0), (-1, 1))):
                if not wanted.quick or axes in ((0, 1), (2, 0)):
                    yield _case("plain", dtype, data, kind, axes)
            yield _case("plain", dtype, data, "1", (1,), keep=True)
            yield _case("plain", dtype, data, "inf", (0, 2), keep=True)
            yield _case("plain", dtype, data, "2", (), keep=True)
            yield _case("plain", dtype, data, None, None)
            low = -6 if dtype.startswith("float8") else -3
            long = sample(dtype, (300,), "norm", (low, low + 2))
            for kind in ("1", "2"):
                yield _case("plain", dtype, long, kind, ())
        if wanted.wants("random", dtype):
            data = sample(dtype, (5, 6), ("norm", wanted.seed), (-4, 0))
            for kind in ("1", "2", "inf"):
                yield _case("random", dtype, data, kind, (1,))
        if wanted.wants("strided", dtype):
            for layout, kind in product(LAYOUTS, ("1", "2", "inf")):
                data = _sample(dtype, (3, 4), "strided", layout)
                yield _case("strided", dtype, data, kind, (0,), word=layout)
        if wanted.wants("empty", dtype):
            yield from _of_nothing(dtype)
        if wanted.wants("special", dtype):
            yield from _special(dtype)


def _sample(dtype: str, shape: Sequence[int], seed: str, layout: str = "dense") -> Data:
    exponents = (-3, -1) if dtype.startswith("float8") else (-3, 1)
    return sample(dtype, shape, ("norm", seed), exponents, layout=layout)


def _case(
    group: str, dtype: str, data: Data, kind: str | None, axes: Axes | None, *,
    keep: bool = False, word: str = "",
) -> Case:  # fmt: skip
    given: dict[str, Any] = {"input": data}
    if kind is not None:
        given["normtype"] = kind
    if axes:
        given["axis"] = list(axes)
    if keep:
        given["keep_dims"] = True
    told = f"axes {','.join(map(str, axes))}" if axes else "all"
    words = [kind or "default", "of", "x".join(map(str, data.shape)) or "a number", told,
             "kept" * keep, word]  # fmt: skip

    def expect() -> tuple[Output]:
        return (norm_output(data, kind or "inf", axes or (), keep),)

    return Case("norm", group, dtype, " ".join(w for w in words if w), given, expect)


# ---- truth --------------------------------------------------------------------------------------


def norm_output(data: Data, kind: str, axes: Axes, keep: bool) -> Output:
    """Return what norms of finite numbers must be."""
    rank = len(data.shape)
    inner = [a % rank for a in axes] or list(range(rank))
    outer = [a for a in range(rank) if a not in inner]
    sizes = _magnitudes(exact(data))
    part = PARTS.get(data.dtype, data.dtype)
    truth, allowed, rough = [], [], []
    for place in product(*(range(data.shape[a]) for a in outer)):
        found, terms = _one(sizes, data.shape, dict(zip(outer, place, strict=True)), inner, kind,
                            matrix=len(axes) == 2)  # fmt: skip
        truth.append(real(found))
        p = 1.0 if kind in ("inf", "1") else 2.0 if kind == "fro" else float(kind)
        error = _error(data.dtype, kind, terms, p) * found
        allowed.append(error + half_unit(part, found + error))
        rough.append(error * machine_epsilon(part) / 2 / unit_roundoff(part))
    left = shape_left(data.shape, inner, keep)
    return Output(part, left, tuple(truth), allowed=tuple(allowed), rough=tuple(rough))


def _error(dtype: str, kind: str, terms: int, p: float) -> Fraction:
    """Return the relative error of a norm before its last rounding."""
    unit = unit_roundoff(dtype)
    size = 3 if dtype in PARTS else 0  # a magnitude is a root of a sum of squares
    if kind == "inf" and terms == 1:
        return unit * size
    if kind in ("inf", "1"):
        return unit * (terms + size)
    if kind in ("2", "fro"):
        return unit * (terms + size + 2)
    return unit * (terms + size + _POWER) * Fraction(max(1.0, 2 / p))


def _magnitudes(x: Exact) -> list[Fraction]:
    if x.im is None:
        return [abs(a) * x.unit for a in x.re]
    found = []
    for a, b in zip(x.re, x.im, strict=True):
        square = a * a + b * b
        found.append(Fraction(math.isqrt(square << 2 * _BITS), 1 << _BITS) * x.unit)
    return found


def _one(
    sizes: list[Fraction], shape: Sequence[int], outer: dict[int, int], inner: list[int],
    kind: str, matrix: bool,
) -> tuple[Fraction, int]:  # fmt: skip
    """Return one norm, and the number of terms of its sums."""

    def at(place: Sequence[int]) -> Fraction:
        where = outer | dict(zip(inner, place, strict=True))
        index = 0
        for a, n in enumerate(shape):
            index = index * n + where[a]
        return sizes[index]

    lengths = [shape[a] for a in inner]
    if matrix and kind != "fro":
        down = kind == "1"
        lines, along = (lengths[1], lengths[0]) if down else lengths
        sums = [
            sum((at((i, k) if down else (k, i)) for i in range(along)), Fraction(0))
            for k in range(lines)
        ]
        return max(sums, default=Fraction(0)), along
    some = [at(place) for place in product(*map(range, lengths))]
    if kind == "inf":
        return max(some, default=Fraction(0)), 1
    return _vector(some, 2.0 if kind == "fro" else float(kind)), len(some)


def _vector(some: list[Fraction], p: float) -> Fraction:
    if p == 1:
        return sum(some, Fraction(0))
    with mpmath.workprec(_BITS + 40):
        powers = [(mpmath.mpf(x.numerator) / x.denominator) ** p for x in some if x]
        return fraction(mpmath.fsum(powers) ** (1 / mpmath.mpf(p))) if powers else Fraction(0)


def _near(dtype: str, kind: str, truth: tuple[Real, ...]) -> tuple[Output]:
    """Return what norms of rows of three must be: a power of one number and its root may round."""
    part = PARTS.get(dtype, dtype)
    if kind in ("inf", "1", "2"):
        return (Output(part, (len(truth),), truth),)
    error = _error(dtype, kind, 3, float(kind))
    sizes = [Fraction(0) if x.is_nan or x.size is None else x.size for x in truth]
    allowed = tuple(error * x + half_unit(part, x + error * x) for x in sizes)
    return (Output(part, (len(truth),), truth, allowed=allowed),)


# ---- nothing, and what is not finite ------------------------------------------------------------


def _of_nothing(dtype: str) -> Iterator[Case]:
    for shape, kind, axes in (
        ((0,), "1", ()), ((0,), "2", ()), ((2, 0), "1", (1,)),
        ((2, 0), "2", (0,)), ((2, 0, 3), "fro", (1, 2)), ((0, 3, 2), "1", (1, 2)),
        ((), "2", ()), ((), "inf", ()), ((), "1", ()),
    ):  # fmt: skip
        yield _case("empty", dtype, _sample(dtype, shape, "empty"), kind, axes)


def _special(dtype: str) -> Iterator[Case]:
    form = FORMATS[PARTS.get(dtype, dtype)]
    one, zero = real(1), ZERO
    rows: list[tuple[list[Real], Real]] = [
        ([one, NAN, zero], NAN), ([zero, zero, -one], one), ([real(-2), zero, zero], real(2)),
        ([zero, -zero, zero], zero),
    ]  # fmt: skip
    if form.infinity:
        rows += [([one, -INFINITY, zero], INFINITY), ([INFINITY, INFINITY, one], INFINITY),
                 ([NAN, INFINITY, one], NAN)]  # fmt: skip
    flat = [_with_zero(dtype, x) for row, _ in rows for x in row]
    data = tensor(dtype, flat, (len(rows), 3))
    truth = tuple(right for _, right in rows)
    for kind in _VECTORS:
        given = {"input": data, "normtype": kind, "axis": [1]}
        title = f"{kind} of NaN and infinities"
        yield Case("norm", "special", dtype, title, given, partial(_near, dtype, kind, truth))
    spoilt = Output(PARTS.get(dtype, dtype), (), (NAN,))
    for kind in _MATRICES:
        given = {"input": data, "normtype": kind, "axis": [0, 1]}
        title = f"{kind} of a matrix with NaN"
        yield Case("norm", "special", dtype, title, given, lambda: (spoilt,))
    for word, size in (("largest", form.largest), ("smallest", 1)):
        ends = tensor(dtype, [_with_zero(dtype, x) for x in (decode(form, size), zero, zero)])
        for kind in ("inf", "1", "2"):
            # The square of the largest is beyond the range, and that of the smallest below it.
            yield _case("special", dtype, ends, kind, (), word=word)


def _with_zero(dtype: str, x: Real) -> Value:
    return (x, ZERO) if dtype in PARTS else x


# ---- large sizes ---------------------------------------------------------------------------------


@cases_of("norm")
def norms_of_sizes(op: str, wanted: Wanted) -> Iterator[Case]:
    """Give rows of zeros with one number at every place, and rows that are long."""
    for dtype in dtypes_of(op):
        if not wanted.wants("sizes", dtype):
            continue
        chief = dtype == "float32" and not wanted.quick
        kinds = ("inf", "1", "2", "3")
        lengths = (70, 257, 1025) if chief else (70,)
        for length in lengths:
            some = kinds if chief else Random(f"norm {dtype}").sample(kinds, 2)
            for kind in some:
                for axis in (1, 0):
                    yield _one_number(dtype, kind, length, axis)
        if chief:
            for kind in ("fro", "1", "inf"):
                yield _of_ones(dtype, kind)
            for kind in ("inf", "1", "2"):
                yield _of_a_million(dtype, kind)


def _one_number(dtype: str, kind: str, length: int, axis: int) -> Case:
    """Return rows, or columns, that are zero but for -3 at one place, each at another."""
    places = sorted({*range(min(length, 70)), *range(max(0, length - 70), length)})
    shape = (len(places), length) if axis else (length, len(places))
    index = [0] * math.prod(shape)
    for row, place in enumerate(places):
        index[row * length + place if axis else place * len(places) + row] = 1
    data = sizes.Few(dtype, [number(dtype, 0), number(dtype, -3)]).tensor(index, shape)
    part = PARTS.get(dtype, dtype)

    def expect() -> tuple[Output]:
        truth: tuple[Value, ...] = (real(3),) * len(places)
        ulp = None if kind in ("inf", "1", "2") else 8.0
        return (Output(part, (len(places),), truth, ulp=ulp),)

    given = {"input": data, "normtype": kind, "axis": [axis]}
    word = "rows" if axis else "columns"
    title = f"{kind} of one number at every place of {word} of {length}"
    return Case("norm", "sizes", dtype, title, given, expect)


def _of_ones(dtype: str, kind: str) -> Case:
    """Return a matrix of ones of either sign."""
    rows, columns = sizes.MATRIX
    index = [(i * i + i // columns) % 3 % 2 for i in range(rows * columns)]
    data = sizes.Few(dtype, [number(dtype, 1), number(dtype, -1)]).tensor(index, sizes.MATRIX)
    size = Fraction({"1": rows, "inf": columns}.get(kind, 0))
    square = rows * columns
    root = Fraction(math.isqrt(square << 120), 1 << 60)

    def expect() -> tuple[Output]:
        truth = (real(size or root),)
        return (Output(dtype, (), truth, ulp=4.0 if kind == "fro" else None),)

    given = {"input": data, "normtype": kind, "axis": [0, 1]}
    title = f"{kind} of ones, {rows}x{columns}"
    return Case("norm", "sizes", dtype, title, given, expect)


def _of_a_million(dtype: str, kind: str) -> Case:
    """Return whole numbers whose sums are exact in whatever order they are added."""
    n = sizes.LARGE
    few: list[Value] = [number(dtype, i % 4 - 1) for i in range(sizes.PERIOD)]
    data = sizes.Few(dtype, few).tensor(sizes.cycle((n,)), (n,))
    sizes_of = [abs(i % sizes.PERIOD % 4 - 1) for i in range(n)]
    found = {"inf": 2, "1": sum(sizes_of)}.get(kind, 0)
    root = Fraction(math.isqrt(sum(a * a for a in sizes_of) << 120), 1 << 60)

    def expect() -> tuple[Output]:
        truth = (real(found or root),)
        return (Output(dtype, (), truth, ulp=4.0 if kind == "2" else None),)

    given = {"input": data, "normtype": kind}
    return Case("norm", "sizes", dtype, f"{kind} of {n} whole numbers", given, expect)
