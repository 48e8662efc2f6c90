"""7.2.17.3 to .11: factors, solutions and norms at the sizes at which kernels break.

Small matrices are any, and their residuals are exact. Larger ones are reflections whose rows
change places and whose columns are scaled by powers of two: all of their elements count, and the
inverse is known to the last bit.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import partial
from random import Random
from typing import Any

from suanzi.conformance.cases import Wanted, cases_of, dtypes_of
from suanzi.conformance.cases import _sizes as sizes
from suanzi.conformance.cases._matrices import definite, dominant, number, random, stacked
from suanzi.conformance.judging.checks.factors import allowance
from suanzi.conformance.model.case import Case, Check, Output
from suanzi.conformance.model.data import tensor
from suanzi.conformance.model.numbers import NARROW, PARTS, Value, real
from suanzi.conformance.model.picked import Picked
from suanzi.conformance.subjects.wire import Data
from suanzi.conformance.truth.signal import COMPLEX_OF
from suanzi.conformance.truth.sums import half_unit

Shape = tuple[int, ...]

_SQUARE: tuple[Shape, ...] = (
    (7, 7), (8, 8), (15, 15), (16, 16), (17, 17), (31, 31), (32, 32), (33, 33),
    (17, 3, 3), (33, 2, 2), (65, 4, 4), (9, 16, 16), (700, 3, 3),
)  # fmt: skip
"""Around the tiles of a library and around those for which it is not called, alone and many."""
_ANY: tuple[Shape, ...] = (
    *_SQUARE[2:8], (33, 17), (16, 65), (65, 5), (17, 3, 2), (33, 2, 4), (9, 17, 8),
)  # fmt: skip
_SHAPES_OF = {"eig": ((15, 15), (16, 16), (17, 17), (33, 33), (17, 3, 3))}
_LARGE = 257
_DIFFERENT = 5
"""How many matrices of a batch are different ones."""


def _chosen(op: str, dtype: str, wanted: Wanted, shapes: Sequence[Shape]) -> Sequence[Shape]:
    """Return all of some shapes for one dtype, and one of them for each of the others."""
    if dtype == "float32" and not wanted.quick:
        return shapes
    some = [s for s in shapes if max(s) < 100 and math.prod(s) <= 300]
    return Random(f"sizes {op} {dtype}").sample(some, 1)


def _words(shape: Shape) -> str:
    return ("batch of " if len(shape) > 2 else "") + "x".join(map(str, shape))


@cases_of("lu", "qr", "svd", "eig")
def factors_of_sizes(op: str, wanted: Wanted) -> Iterator[Case]:
    """Give matrices past the edges of tiles, alone and many at once."""
    check = {"lu": "lu_factors", "qr": "qr_factors", "svd": "svd_factors", "eig": "eigen_pairs"}[op]
    for dtype in dtypes_of(op):
        if not wanted.wants("sizes", dtype):
            continue
        shapes = _SHAPES_OF.get(op, _ANY)
        for shape in _chosen(op, dtype, wanted, shapes):
            yield _factors(op, dtype, check, shape)
        if dtype == "float32" and not wanted.quick and op != "eig":
            yield _factors(op, dtype, check, sizes.MATRIX)


def _factors(op: str, dtype: str, check: str, shape: Shape) -> Case:
    facts: dict[str, Any] = {}
    if op == "eig":
        result = {"bfloat16": "complex64"}.get(dtype, "complex32" if dtype in NARROW else dtype)
        facts["dtype"] = COMPLEX_OF.get(result, result)
    data = random(dtype, shape, "sizes")
    return Case(op, "sizes", dtype, _words(shape), {"mat": data}, partial(Check, check, facts))


@cases_of("cholesky")
def roots_of_sizes(op: str, wanted: Wanted) -> Iterator[Case]:
    """Give positive definite matrices past the edges of tiles, alone and many at once."""
    for dtype in dtypes_of(op):
        if not wanted.wants("sizes", dtype):
            continue
        large: Sequence[Shape] = [(65, 65)] if dtype == "float32" and not wanted.quick else []
        for i, shape in enumerate((*_chosen(op, dtype, wanted, _SQUARE), *large)):
            upper = "UL"[i % 2]
            ones = [
                definite(dtype, shape[-1], ("sizes", k)) for k in range(min(_DIFFERENT, shape[0]))
            ]
            data = ones[0] if len(shape) == 2 else _batch(ones, shape[0])
            given = {"upper": upper, "mat": data}
            check = partial(Check, "cholesky_factor", {"mat": data})
            yield Case(op, "sizes", dtype, f"{_words(shape)} {upper}", given, check)


def _batch(some: Sequence[Data], count: int) -> Data:
    return stacked([some[i % len(some)] for i in range(count)])


@cases_of("solve", "inverse")
def solutions_of_sizes(op: str, wanted: Wanted) -> Iterator[Case]:
    """Give regular matrices past the edges of tiles, alone and many at once, and a large one."""
    for dtype in dtypes_of(op):
        if not wanted.wants("sizes", dtype):
            continue
        for i, shape in enumerate(_chosen(op, dtype, wanted, _SQUARE)):
            ones = [
                dominant(dtype, shape[-2:], ("sizes", k)) for k in range(min(_DIFFERENT, shape[0]))
            ]
            mat = ones[0] if len(shape) == 2 else _batch(ones, shape[0])
            if op == "inverse":
                check = partial(Check, "inverses", {})
                yield Case(op, "sizes", dtype, _words(shape), {"mat": mat}, check)
                continue
            side = (*shape[:-1], 1 + i % 3)
            given = {"mat": mat, "rhs": random(dtype, side, "sizes"), "adjoint": i % 2 == 1}
            check = partial(Check, "solutions", {"shape": side})
            yield Case(op, "sizes", dtype, _words(shape), given, check)
        if dtype == "float32" and not wanted.quick:
            yield _large_inverse(dtype) if op == "inverse" else _large_solve(dtype)


# ---- a matrix whose inverse is known -------------------------------------------------------------


class Reflection:
    """A reflection 1 - 2 v v^T / 256, its rows in another order, its columns times powers of two.

    v has as many ones of either sign as a power of two, so that every element is exact.
    """

    def __init__(self, n: int, scaled: bool = True) -> None:
        chance = Random(f"reflection {n}")
        self.n, self.ones = n, 1 << (n.bit_length() - 1)
        v = [chance.choice((-1, 1)) for _ in range(self.ones)] + [0] * (n - self.ones)
        chance.shuffle(v)
        self.v = v
        self.order = list(range(n))
        chance.shuffle(self.order)
        self.powers = [Fraction(2) ** chance.randint(-1, 1) if scaled else Fraction(1) for _ in v]

    def _reflected(self, i: int, j: int) -> Fraction:
        return int(i == j) - Fraction(2 * self.v[i] * self.v[j], self.ones)

    def rows(self) -> list[list[Fraction]]:
        """Return the matrix."""
        return [[self._reflected(i, j) * self.powers[j] for j in range(self.n)] for i in self.order]

    def inverse(self) -> list[list[Fraction]]:
        """Return its inverse."""
        return [[self._reflected(i, j) / self.powers[i] for j in self.order] for i in range(self.n)]

    def times(self, x: Sequence[int]) -> list[Fraction]:
        """Return the product with a vector."""
        scaled = [p * a for p, a in zip(self.powers, x, strict=True)]
        along = sum((a * b for a, b in zip(self.v, scaled, strict=True)), Fraction(0))
        step = 2 * along / self.ones
        return [scaled[i] - self.v[i] * step for i in self.order]


def _of_few(dtype: str, rows: Sequence[Sequence[Fraction]]) -> tuple[sizes.Few, list[int]]:
    """Return the few numbers that a matrix is made of, and which each element is."""
    found: dict[Fraction, int] = {}
    index = [found.setdefault(x, len(found)) for row in rows for x in row]
    return sizes.Few(dtype, [number(dtype, float(x)) for x in found]), index


def _matrix(dtype: str, rows: Sequence[Sequence[Fraction]]) -> Data:
    few, index = _of_few(dtype, rows)
    return few.tensor(index, (len(rows), len(rows[0])))


def _large_inverse(dtype: str) -> Case:
    made = Reflection(_LARGE)

    def expect() -> tuple[Output]:
        few, index = _of_few(dtype, made.inverse())
        # The condition is 4 at most, as the powers are from a half to two.
        error = 16 * allowance(dtype, _LARGE)
        allowed = Picked((error,) * len(few.values), index)
        truth = Picked(tuple(few.values), index)
        return (Output(dtype, (_LARGE,) * 2, truth, allowed=allowed, zero_sign=False),)

    title = f"reflection of {_LARGE}x{_LARGE}"
    return Case("inverse", "sizes", dtype, title, {"mat": _matrix(dtype, made.rows())}, expect)


def _large_solve(dtype: str) -> Case:
    made = Reflection(_LARGE)
    x = [i % 7 - 3 for i in range(_LARGE)]
    rhs = [number(dtype, float(b)) for b in made.times(x)]

    def expect() -> tuple[Output]:
        # The norm of x, times the condition, for each of its elements.
        error = 16 * allowance(dtype, _LARGE) * (math.isqrt(sum(a * a for a in x)) + 1)
        truth = tuple(number(dtype, a) for a in x)
        allowed = (error + half_unit(dtype, Fraction(4)),) * _LARGE
        return (Output(dtype, (_LARGE,), truth, allowed=allowed, zero_sign=False),)

    mat = _matrix(dtype, made.rows())
    given = {"mat": mat, "rhs": tensor(dtype, rhs, (_LARGE,)), "adjoint": False}
    return Case("solve", "sizes", dtype, f"reflection of {_LARGE}x{_LARGE}", given, expect)


@cases_of("lstsq")
def least_squares_of_sizes(op: str, wanted: Wanted) -> Iterator[Case]:
    """Give columns, and rows, of a reflection: what is left of them has no share in the result."""
    shapes: list[tuple[int, int]] = [(17, 16), (16, 17), (33, 9), (64, 65), (129, 65), (65, 129)]
    for dtype in dtypes_of(op):
        if not wanted.wants("sizes", dtype) or dtype.startswith("float8"):
            continue
        some = shapes
        if dtype != "float32" or wanted.quick:
            some = Random(f"sizes {op} {dtype}").sample(shapes[:3], 1)
        for m, n in some:
            yield _least_squares(dtype, m, n)


def _least_squares(dtype: str, m: int, n: int) -> Case:
    whole = Reflection(max(m, n), scaled=False).rows()
    rows = [row[:n] for row in whole[:m]]
    rhs = [Fraction(i % 5 - 2) for i in range(m)]

    def expect() -> tuple[Output]:
        # Columns, or rows, of length one at right angles: the adjoint is the pseudo-inverse.
        found = [sum((row[j] * b for row, b in zip(rows, rhs, strict=True)), Fraction(0))
                 for j in range(n)]  # fmt: skip
        error = 8 * allowance(dtype, max(m, n)) * (math.isqrt(sum(int(b * b) for b in rhs)) + 1)
        truth: tuple[Value, ...] = tuple(
            (real(x), real(0)) if dtype in PARTS else real(x) for x in found
        )
        allowed = tuple(error + half_unit(dtype, abs(x) + error) for x in found)
        return (Output(dtype, (n,), truth, allowed=allowed, zero_sign=False),)

    sides = tensor(dtype, [number(dtype, float(b)) for b in rhs], (m,))
    given = {"mat": _matrix(dtype, rows), "rhs": sides}
    return Case("lstsq", "sizes", dtype, f"{m}x{n} by {m}", given, expect)


# ---- norms ---------------------------------------------------------------------------------------


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
