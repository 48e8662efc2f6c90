"""7.2.17.3 to .6 and .10: lu, cholesky, qr, svd and eig, by what their factors multiply to."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import partial
from typing import Any

import mpmath

from suanzi.base.status import Status
from suanzi.conformance.cases import Wanted, cases_of, dtypes_of
from suanzi.conformance.cases import _sizes as sizes
from suanzi.conformance.cases._matrices import (
    DIFFERENT,
    SQUARE,
    as_layout,
    batch,
    chosen,
    definite,
    from_rows,
    graded,
    hilbert,
    low_rank,
    number,
    random,
    stacked,
    words_of,
)
from suanzi.conformance.judging.checks.factors import matrices
from suanzi.conformance.model.case import Case, Check, Expected, Refused
from suanzi.conformance.model.data import LAYOUTS, sample, tensor, values
from suanzi.conformance.model.numbers import NAN, NARROW, PARTS, Real, real, two
from suanzi.conformance.subjects.wire import Data
from suanzi.conformance.truth.arrays import Exact
from suanzi.conformance.truth.functions import fraction
from suanzi.conformance.truth.signal import COMPLEX_OF

Shape = tuple[int, ...]

_DIGITS = 40
_SHAPES: tuple[Shape, ...] = ((1, 1), (2, 2), (3, 2), (2, 4), (4, 4), (6, 6), (6, 3), (3, 6))
_EMPTY: tuple[Shape, ...] = ((0, 0), (0, 3), (3, 0), (0, 3, 3), (2, 0, 3), (2, 3, 0))

Given = dict[str, Any]
Make = Callable[[str, str, str, Data], Iterator[Case]]


@cases_of("lu", "qr", "svd", "eig")
def factors(op: str, wanted: Wanted) -> Iterator[Case]:
    """Give matrices of every shape and kind."""
    make = {"lu": _lu, "qr": _qr, "svd": _svd, "eig": _eig}[op]
    for dtype in dtypes_of(op):
        for group, title, data in _matrices(dtype, wanted, square=op == "eig"):
            yield from make(group, dtype, title, data)
        if op == "eig" and wanted.wants("special", dtype):
            for title, rows in _DEFECTIVE.items():
                yield from _eig("special", dtype, title, from_rows(dtype, rows), False)
            yield from _eig("special", dtype, "Hermitian", definite(dtype, 4, "eig"))


_DEFECTIVE: dict[str, list[list[float]]] = {
    "Jordan block": [[2.0, 1, 0], [0, 2, 1], [0, 0, 2]],
    "nilpotent": [[0.0, 1, 0], [0, 0, 1], [0, 0, 0]],
    "rotation": [[0.0, -1], [1, 0]],
}


def _matrices(dtype: str, wanted: Wanted, square: bool) -> Iterator[tuple[str, str, Data]]:
    """Give matrices with the groups and titles of their cases."""
    if wanted.wants("plain", dtype):
        for shape in _SHAPES[:: 3 if wanted.quick else 1]:
            if shape[0] == shape[1] or not square:
                yield "plain", "x".join(map(str, shape)), random(dtype, shape, "plain")
        batch = (2, 3, 3) if square else (2, 3, 2)
        yield "plain", "batch of " + "x".join(map(str, batch)), random(dtype, batch, "batch")
        if not wanted.quick:
            yield "plain", "batch of 2x2x4x4", random(dtype, (2, 2, 4, 4), "batch")
        if dtype not in NARROW and not wanted.quick:
            yield "plain", "12x12", random(dtype, (12, 12), "larger")
    if wanted.wants("random", dtype):
        yield "random", "5x5", random(dtype, (5, 5), ("seed", wanted.seed))
    if wanted.wants("strided", dtype):
        for layout in LAYOUTS:
            batch = (2, 4, 4) if square else (2, 4, 3)
            yield "strided", layout, random(dtype, batch, "strided", layout)
    if wanted.wants("empty", dtype):
        for shape in _EMPTY[:: 2 if wanted.quick else 1]:
            if shape[-1] == shape[-2] or not square:
                yield "empty", "x".join(map(str, shape)), random(dtype, shape, "empty")
    if wanted.wants("special", dtype):
        yield "special", "zero", from_rows(dtype, [[0.0] * 3] * 3)
        yield "special", "ones", from_rows(dtype, [[1.0] * 4] * (4 if square else 3))
        yield "special", "identity", from_rows(dtype, [[1.0, 0, 0], [0, 1, 0], [0, 0, 1]])
        yield "special", "rank 2 of 4", low_rank(dtype, 4, 4, 2)
        yield "special", "graded", graded(dtype, 4, 4 if square else 3)
        if not dtype.startswith("float8"):
            yield "special", "Hilbert", hilbert(dtype, 4 if wanted.quick else 5)
        if PARTS.get(dtype, dtype) in ("bfloat16", "float32", "float64"):
            far = 500 if PARTS.get(dtype, dtype) == "float64" else 90
            for title, exponents in (("large", (far - 2, far)), ("small", (-far, 2 - far))):
                yield "special", title, sample(dtype, (3, 3), (title, "factors"), exponents)


def _lu(group: str, dtype: str, title: str, data: Data) -> Iterator[Case]:
    yield Case("lu", group, dtype, title, {"mat": data}, lambda: Check("lu_factors", {}))


def _qr(group: str, dtype: str, title: str, data: Data) -> Iterator[Case]:
    modes = ("reduced", "complete", "r") if group != "strided" else ("reduced",)
    for mode in modes:
        given: Given = {"mat": data} if mode == "reduced" else {"mat": data, "mode": mode}
        name = title if mode == "reduced" else f"{title} {mode}"
        yield Case("qr", group, dtype, name, given, lambda: Check("qr_factors", {}))


def _svd(group: str, dtype: str, title: str, data: Data) -> Iterator[Case]:
    exactly = data.size and data.size <= 18 and len(data.shape) == 2

    def expect(thin: bool) -> Expected:
        return Check("svd_factors", {"values": singular_values(data)} if exactly and thin else {})

    for thin in (True, False) if group != "strided" else (True,):
        given: Given = {"mat": data} if thin else {"mat": data, "format": False}
        name = title if thin else f"{title} full"
        yield Case("svd", group, dtype, name, given, partial(expect, thin))


def _eig(group: str, dtype: str, title: str, data: Data, simple: bool = True) -> Iterator[Case]:
    result = {"bfloat16": "complex64"}.get(dtype, "complex32" if dtype in NARROW else dtype)
    result = COMPLEX_OF.get(result, result)
    # Those of other matrices are many times the same, or nearly so, and no bound holds for them.
    known = simple and group in ("plain", "random") and 0 < data.size <= 18
    known = known or title in ("Hermitian", "identity")

    def expect() -> Expected:
        facts: Given = {"dtype": result}
        if known:
            facts["values"] = eigenvalues(data)
        return Check("eigen_pairs", facts)

    yield Case("eig", group, dtype, title, {"mat": data}, expect)


# ---- truth --------------------------------------------------------------------------------------


def _precise(a: Exact) -> Any:
    m, n = a.shape
    parts = a.fractions()
    made = mpmath.matrix(m, n)
    for i in range(m):
        for j in range(n):
            re, im = (mpmath.mpf(x.numerator) / x.denominator for x in parts[i * n + j])
            made[i, j] = mpmath.mpc(re, im) if a.im is not None else re
    return made


def singular_values(data: Data) -> list[list[Fraction]]:
    """Return the singular values of each matrix, in order, with 40 digits."""
    with mpmath.workdps(_DIGITS):
        found = []
        for a in matrices(data):
            x = _precise(a)
            tall = x if a.shape[0] >= a.shape[1] else x.transpose_conj()
            svd = mpmath.svd_r if a.im is None else mpmath.svd_c
            some = [fraction(s) for s in svd(tall, compute_uv=False)]
            found.append(sorted((max(s, Fraction(0)) for s in some), reverse=True))
        return found


def eigenvalues(data: Data) -> list[list[tuple[Fraction, Fraction, Fraction]]]:
    """Return the eigenvalues of each matrix, with their conditions: how much errors grow."""
    with mpmath.workdps(_DIGITS):
        found = []
        for a in matrices(data):
            x = _precise(a)
            roots, left, right = mpmath.eig(x, left=True, right=True)
            some = []
            for k, w in enumerate(roots):
                y, v = left[k, :], right[:, k]
                condition = mpmath.norm(y) * mpmath.norm(v) / abs((y * v)[0])
                some.append((fraction(mpmath.re(w)), fraction(mpmath.im(w)), fraction(condition)))
            found.append(some)
        return found


# ---- cholesky -----------------------------------------------------------------------------------


@cases_of("cholesky")
def cholesky(op: str, wanted: Wanted) -> Iterator[Case]:
    """Give Hermitian positive definite matrices, and some that are not."""
    for dtype in dtypes_of(op):
        for upper in ("U", "L"):
            if wanted.wants("plain", dtype):
                for n in (1, 3) if wanted.quick else (1, 2, 3, 4, 6, 10):
                    data = definite(dtype, n, "plain")
                    yield _cholesky("plain", dtype, f"{n}x{n} {upper}", upper, data, data)
                batch = stacked([definite(dtype, 3, i) for i in range(4)])
                batch = Data(dtype, (2, 2, 3, 3), batch.raw)
                yield _cholesky("plain", dtype, f"batch of 2x2x3x3 {upper}", upper, batch, batch)
            if wanted.wants("random", dtype):
                data = definite(dtype, 5, ("seed", wanted.seed))
                yield _cholesky("random", dtype, f"5x5 {upper}", upper, data, data)
            if wanted.wants("strided", dtype):
                data = stacked([definite(dtype, 3, i) for i in range(2)])
                for layout in LAYOUTS:
                    given = as_layout(data, layout)
                    yield _cholesky("strided", dtype, f"{layout} {upper}", upper, given, data)
            if wanted.wants("empty", dtype):
                for shape in ((0, 0), (0, 3, 3), (2, 0, 0)):
                    data = random(dtype, shape, "empty")
                    title = f"{'x'.join(map(str, shape))} {upper}"
                    yield _cholesky("empty", dtype, title, upper, data, data)
            if wanted.wants("special", dtype):
                data = definite(dtype, 4, "special")
                given = one_triangle(data, upper)
                title = f"NaN in the other triangle {upper}"
                yield _cholesky("special", dtype, title, upper, given, data)
                data = _graded_definite(dtype)
                yield _cholesky("special", dtype, f"graded {upper}", upper, data, data)
                if not dtype.startswith("float8"):
                    data = hilbert(dtype, 3)
                    yield _cholesky("special", dtype, f"Hilbert {upper}", upper, data, data)
                yield from _indefinite(dtype, upper)


def _cholesky(group: str, dtype: str, title: str, upper: str, given: Data, whole: Data) -> Case:
    return Case("cholesky", group, dtype, title, {"upper": upper, "mat": given},
                lambda: Check("cholesky_factor", {"mat": whole}))  # fmt: skip


def _graded_definite(dtype: str) -> Data:
    """Return a positive definite matrix each row and column of which is half of the last."""
    n = 4
    some = values(definite(dtype, n, "graded"))
    for i in range(n * n):
        power = two(-(i // n) - i % n)
        x = some[i]
        parts = x if isinstance(x, tuple) else (x,)
        made = [real(p.value * power) for p in parts if isinstance(p, Real)]
        some[i] = (made[0], made[1]) if isinstance(x, tuple) else made[0]
    return tensor(dtype, some, (n, n))


def one_triangle(data: Data, upper: str) -> Data:
    """Return a matrix of which one triangle is not to be read."""
    n = data.shape[-1]
    some = values(data)
    for i in range(math.prod(data.shape)):
        row, column = i // n % n, i % n
        if row > column if upper == "U" else row < column:
            some[i] = (NAN, NAN) if isinstance(some[i], tuple) else NAN
    return tensor(data.dtype, some, data.shape)


_INDEFINITE: dict[str, list[list[float]]] = {
    "indefinite": [[1.0, 2], [2, 1]],
    "negative": [[-1.0]],
    "zero": [[0.0, 0], [0, 0]],
    "indefinite in the last minor": [[4.0, 0, 2], [0, 4, 2], [2, 2, 1]],
}


def _indefinite(dtype: str, upper: str) -> Iterator[Case]:
    for title, rows in _INDEFINITE.items():
        given = {"upper": upper, "mat": from_rows(dtype, rows)}
        yield Case("cholesky", "special", dtype, f"{title} {upper}", given,
                   lambda: Refused(Status.INVALID_ARGUMENT))  # fmt: skip
    one = tensor(dtype, [number(dtype, 2), number(dtype, 1)] * 2, (2, 2))
    bad = from_rows(dtype, [[1.0, 2], [2, 1]])
    given = {"upper": upper, "mat": stacked([definite(dtype, 2, "one"), bad, one])}
    yield Case("cholesky", "special", dtype, f"one indefinite of a batch {upper}", given,
               lambda: Refused(Status.INVALID_ARGUMENT))  # fmt: skip


# ---- large sizes ---------------------------------------------------------------------------------


_ANY: tuple[Shape, ...] = (
    *SQUARE[2:8], (33, 17), (16, 65), (65, 5), (17, 3, 2), (33, 2, 4), (9, 17, 8),
)  # fmt: skip
_SHAPES_OF = {"eig": ((15, 15), (16, 16), (17, 17), (33, 33), (17, 3, 3))}
_LARGE = 257


@cases_of("lu", "qr", "svd", "eig")
def factors_of_sizes(op: str, wanted: Wanted) -> Iterator[Case]:
    """Give matrices past the edges of tiles, alone and many at once."""
    check = {"lu": "lu_factors", "qr": "qr_factors", "svd": "svd_factors", "eig": "eigen_pairs"}[op]
    for dtype in dtypes_of(op):
        if not wanted.wants("sizes", dtype):
            continue
        shapes = _SHAPES_OF.get(op, _ANY)
        for shape in chosen(op, dtype, wanted, shapes):
            yield _factors(op, dtype, check, shape)
        if dtype == "float32" and not wanted.quick and op != "eig":
            yield _factors(op, dtype, check, sizes.MATRIX)


def _factors(op: str, dtype: str, check: str, shape: Shape) -> Case:
    facts: dict[str, Any] = {}
    if op == "eig":
        result = {"bfloat16": "complex64"}.get(dtype, "complex32" if dtype in NARROW else dtype)
        facts["dtype"] = COMPLEX_OF.get(result, result)
    data = random(dtype, shape, "sizes")
    return Case(op, "sizes", dtype, words_of(shape), {"mat": data}, partial(Check, check, facts))


@cases_of("cholesky")
def roots_of_sizes(op: str, wanted: Wanted) -> Iterator[Case]:
    """Give positive definite matrices past the edges of tiles, alone and many at once."""
    for dtype in dtypes_of(op):
        if not wanted.wants("sizes", dtype):
            continue
        large: Sequence[Shape] = [(65, 65)] if dtype == "float32" and not wanted.quick else []
        for i, shape in enumerate((*chosen(op, dtype, wanted, SQUARE), *large)):
            upper = "UL"[i % 2]
            ones = [
                definite(dtype, shape[-1], ("sizes", k)) for k in range(min(DIFFERENT, shape[0]))
            ]
            data = ones[0] if len(shape) == 2 else batch(ones, shape[0])
            given = {"upper": upper, "mat": data}
            check = partial(Check, "cholesky_factor", {"mat": data})
            yield Case(op, "sizes", dtype, f"{words_of(shape)} {upper}", given, check)
