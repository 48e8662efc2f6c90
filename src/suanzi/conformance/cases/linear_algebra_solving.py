"""7.2.17.7, .8, .9: solve and inverse by their residuals, lstsq against solutions in fractions."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import partial
from random import Random
from typing import Any

from suanzi.base.status import Status
from suanzi.conformance.cases import Wanted, cases_of, dtypes_of
from suanzi.conformance.cases import _sizes as sizes
from suanzi.conformance.cases._matrices import (
    DIFFERENT,
    SQUARE,
    Reflection,
    as_layout,
    batch,
    chosen,
    dominant,
    from_rows,
    hilbert,
    number,
    random,
    stacked,
    words_of,
)
from suanzi.conformance.judging.checks import (  # noqa: F401  (declares the checks)
    solutions as checks_solutions,
)
from suanzi.conformance.judging.checks.factors import allowance, root, smallest
from suanzi.conformance.model.case import Case, Check, Expected, Output, Refused
from suanzi.conformance.model.data import LAYOUTS, sample, tensor
from suanzi.conformance.model.expected import Picked
from suanzi.conformance.model.numbers import NARROW, PARTS, Value, real
from suanzi.conformance.subjects.wire import Data
from suanzi.conformance.truth import linear_algebra_matrices as exactly
from suanzi.conformance.truth.arrays import exact
from suanzi.conformance.truth.sums import half_unit

Shape = tuple[int, ...]
Rows = list[list[float]]

_PLAIN: list[tuple[Shape, Shape]] = [
    ((1, 1), (1,)), ((2, 2), (2,)), ((3, 3), (3, 2)), ((4, 4), (4, 1)), ((6, 6), (6,)),
    ((10, 10), (10, 2)), ((2, 3, 3), (2, 3, 2)), ((2, 2, 2, 2), (2, 2, 2, 3)),
]  # fmt: skip
_BROADCAST: list[tuple[Shape, Shape]] = [
    ((2, 3, 3), (3,)), ((2, 3, 3), (3, 2)), ((3, 3), (2, 3, 2)), ((2, 1, 2, 2), (3, 2, 2)),
]  # fmt: skip
_EMPTY: list[tuple[Shape, Shape]] = [
    ((0, 0), (0,)), ((0, 0), (0, 2)), ((0, 2, 2), (0, 2, 3)), ((2, 0, 0), (2, 0, 3)),
    ((2, 2), (2, 0)),
]  # fmt: skip
_SINGULAR: dict[str, Rows] = {
    "zero": [[0.0, 0], [0, 0]],
    "of one number": [[0.0]],
    "rank 1 of 2": [[1.0, 2], [2, 4]],
    "rank 2 of 3": [[1.0, 2, 3], [2, 1, 3], [3, 3, 6]],
    "one to nine": [[1.0, 2, 3], [4, 5, 6], [7, 8, 9]],
    "a row of zeros": [[1.0, 2, 3], [0, 0, 0], [3, 1, 2]],
    "equal columns": [[1.0, 1, 2], [3, 3, 1], [2, 2, 5]],
}


def solved_shape(mat: Shape, rhs: Shape) -> Shape:
    """Return the shape of a solution."""
    if len(rhs) == 1:
        return mat[:-1]
    rank = max(len(mat), len(rhs)) - 2
    first, second = ((1,) * (rank + 2 - len(s)) + s for s in (mat[:-2], rhs[:-2]))
    first, second = first[-rank:] if rank else (), second[-rank:] if rank else ()
    return tuple(b if a == 1 else a for a, b in zip(first, second, strict=True)) + rhs[-2:]


@cases_of("solve")
def solve(op: str, wanted: Wanted) -> Iterator[Case]:
    """Give equations with one solution, and with none or many."""
    for dtype in dtypes_of(op):
        for group, some in (("plain", _PLAIN), ("broadcast", _BROADCAST), ("empty", _EMPTY)):
            if not wanted.wants(group, dtype):
                continue
            for shapes in some[:: 2 if wanted.quick else 1]:
                title = " by ".join("x".join(map(str, s)) for s in shapes)
                mat, rhs = dominant(dtype, shapes[0], group), random(dtype, shapes[1], group)
                yield from _solve(group, dtype, title, mat, rhs)
        if wanted.wants("strided", dtype):
            mat, rhs = dominant(dtype, (2, 3, 3), "strided"), random(dtype, (2, 3, 2), "strided")
            for layout in LAYOUTS:
                other = as_layout(rhs, layout)
                yield from _solve("strided", dtype, f"mat {layout}", as_layout(mat, layout), rhs)
                yield from _solve("strided", dtype, f"rhs {layout}", mat, other)
        if wanted.wants("random", dtype):
            mat = dominant(dtype, (5, 5), ("seed", wanted.seed))
            rhs = random(dtype, (5, 2), ("seed", wanted.seed))
            yield from _solve("random", dtype, "5x5 by 5x2", mat, rhs)
        if wanted.wants("special", dtype):
            ones = from_rows(dtype, [[1.0]] * 4)
            yield from _solve("special", dtype, "rows swapped", _swapped(dtype), ones)
            if PARTS.get(dtype, dtype) in ("float32", "float64"):
                yield from _solve("special", dtype, "Hilbert", hilbert(dtype, 4), ones)
                for title, exponents in (("large", (50, 51)), ("small", (-60, -59))):
                    mat = sample(dtype, (3, 3), ("solve", title), exponents)
                    rhs = sample(dtype, (3, 2), ("solve", title), exponents)
                    yield from _solve("special", dtype, title, mat, rhs)
            for title, rows in _singular(dtype):
                n = len(rows)
                given = {"mat": from_rows(dtype, rows), "rhs": from_rows(dtype, [[1.0]] * n)}
                for adjoint in (False, True):
                    name = f"singular, {title}" + " adjoint" * adjoint
                    yield _refused(op, dtype, name, {**given, "adjoint": adjoint})
            yield _refused(op, dtype, "one singular of a batch",
                           {"mat": _spoilt(dtype), "rhs": from_rows(dtype, [[1.0]] * 2),
                            "adjoint": False})  # fmt: skip


def _solve(group: str, dtype: str, title: str, mat: Data, rhs: Data) -> Iterator[Case]:
    facts = {"shape": solved_shape(mat.shape, rhs.shape)}
    for adjoint in (False, True):
        given = {"mat": mat, "rhs": rhs, "adjoint": adjoint}
        yield Case("solve", group, dtype, title + " adjoint" * adjoint, given,
                   partial(Check, "solutions", facts))  # fmt: skip


def _swapped(dtype: str) -> Data:
    """Return a matrix whose first pivot is zero, so that rows must be swapped."""
    return from_rows(dtype, [[0.0, 2, 0, 1], [1, 0, 0, 0], [0, 1, 0, 2], [0, 0, 4, 0]])


def _singular(dtype: str) -> Iterator[tuple[str, Rows]]:
    """Give singular matrices; 9 is no number of float8_e5m2."""
    for title, rows in _SINGULAR.items():
        if title != "one to nine" or dtype != "float8_e5m2":
            yield title, rows


def _spoilt(dtype: str) -> Data:
    regular = dominant(dtype, (2, 2), "regular")
    return stacked([regular, from_rows(dtype, _SINGULAR["rank 1 of 2"]), regular])


def _refused(op: str, dtype: str, title: str, given: dict[str, Any]) -> Case:
    return Case(op, "special", dtype, title, given, partial(Refused, Status.INVALID_ARGUMENT))


@cases_of("inverse")
def inverse(op: str, wanted: Wanted) -> Iterator[Case]:
    """Give regular matrices, and some that are singular."""
    for dtype in dtypes_of(op):
        if wanted.wants("plain", dtype):
            shapes: list[Shape] = [(1, 1), (2, 2), (3, 3), (4, 4), (6, 6), (2, 3, 3), (2, 2, 2, 2)]
            for shape in shapes[:: 2 if wanted.quick else 1]:
                title = "x".join(map(str, shape))
                yield _inverse("plain", dtype, title, dominant(dtype, shape, "inverse"))
        if wanted.wants("strided", dtype):
            for layout in LAYOUTS:
                data = dominant(dtype, (2, 4, 4), "inverse", layout)
                yield _inverse("strided", dtype, layout, data)
        if wanted.wants("empty", dtype):
            for shape in ((0, 0), (0, 3, 3), (2, 0, 0)):
                data = random(dtype, shape, "empty")
                yield _inverse("empty", dtype, "x".join(map(str, shape)), data)
        if wanted.wants("random", dtype):
            data = dominant(dtype, (5, 5), ("seed", wanted.seed))
            yield _inverse("random", dtype, "5x5", data)
        if wanted.wants("special", dtype):
            yield _inverse("special", dtype, "rows swapped", _swapped(dtype))
            if PARTS.get(dtype, dtype) in ("float32", "float64"):
                yield _inverse("special", dtype, "Hilbert", hilbert(dtype, 4))
                for title, exponents in (("large", (50, 51)), ("small", (-60, -59))):
                    data = sample(dtype, (3, 3), ("inverse", title), exponents)
                    yield _inverse("special", dtype, title, data)
            for title, rows in _singular(dtype):
                given = {"mat": from_rows(dtype, rows)}
                yield _refused(op, dtype, f"singular, {title}", given)
            yield _refused(op, dtype, "one singular of a batch", {"mat": _spoilt(dtype)})


def _inverse(group: str, dtype: str, title: str, data: Data) -> Case:
    return Case("inverse", group, dtype, title, {"mat": data}, partial(Check, "inverses", {}))


# ---- least squares ------------------------------------------------------------------------------


@cases_of("lstsq")
def least_squares(op: str, wanted: Wanted) -> Iterator[Case]:
    """Give equations with too many or too few unknowns, and of lower rank than it seems."""
    for dtype in dtypes_of(op):
        if wanted.wants("plain", dtype):
            for m, n, sides in ((1, 1, 0), (3, 2, 0), (4, 2, 2), (2, 3, 1), (2, 4, 0), (3, 3, 2),
                                (6, 4, 1))[:: 2 if wanted.quick else 1]:  # fmt: skip
                title = f"{m}x{n} by {m}" + f"x{sides}" * bool(sides)
                yield _full_rank("plain", dtype, title, m, n, sides)
            yield _full_rank("plain", dtype, "batch of 2x3x2 by 2x3x2", 3, 2, 2, batch=2)
        if wanted.wants("random", dtype):
            seed = ("seed", wanted.seed)
            yield _full_rank("random", dtype, "5x3 by 5x2", 5, 3, 2, seed=seed)
        if wanted.wants("strided", dtype):
            for layout in LAYOUTS:
                yield _full_rank("strided", dtype, layout, 4, 2, 2, layout=layout)
        if wanted.wants("empty", dtype):
            for a, b in (
                ((0, 3), (0, 2)),
                ((3, 0), (3, 2)),
                ((3, 2), (3, 0)),
                ((0, 3, 2), (0, 3, 1)),
            ):
                yield _of_nothing(dtype, a, b)
        if wanted.wants("special", dtype):
            yield from _low_rank(dtype)


def _integers(m: int, n: int, seed: object, is_complex: bool) -> list[list[complex]]:
    """Return small whole numbers with a diagonal that makes the columns, or rows, independent."""
    chance = Random(f"least squares {m} {n} {seed}")
    made = [
        [complex(chance.randint(-2, 2), chance.randint(-1, 1) if is_complex else 0)
         for _ in range(n)]
        for _ in range(m)
    ]  # fmt: skip
    for i in range(min(m, n)):
        made[i][i] += 6 if i % 2 else -5
    return made


def _data(dtype: str, some: Sequence[list[list[complex]]], layout: str = "dense") -> Data:
    shape = (len(some), len(some[0]), len(some[0][0]))
    flat: list[Value] = [number(dtype, x.real, x.imag) for one in some for row in one for x in row]
    return tensor(dtype, flat, shape if len(some) > 1 else shape[1:], layout)


def _full_rank(
    group: str, dtype: str, title: str, m: int, n: int, sides: int, *, batch: int = 1,
    seed: object = 0, layout: str = "dense",
) -> Case:  # fmt: skip
    """Return equations whose matrix has independent columns, or rows."""
    is_complex = dtype in PARTS
    mats = [_integers(m, n, (seed, b), is_complex) for b in range(batch)]
    rhs = [_integers(m, max(sides, 1), (seed, b, "rhs"), is_complex) for b in range(batch)]
    given_rhs = _data(dtype, rhs, layout)
    if not sides:
        given_rhs = Data(dtype, (m,), given_rhs.raw, layout)
    shape = ((batch,) if batch > 1 else ()) + (n,) + ((sides,) if sides else ())

    def expect() -> tuple[Output]:
        truth: list[Value] = []
        allowed: list[Fraction] = []
        for b, mat in enumerate(mats):
            a = exactly.matrix(mat)  # type: ignore[arg-type]
            one = exactly.identity(min(m, n))
            inverse = exactly.pseudo_inverse(*((a, one) if m >= n else (one, a)))
            side = exactly.matrix(rhs[b])  # type: ignore[arg-type]
            found, most = solution(a, inverse, side, dtype)
            truth, allowed = truth + found, allowed + most
        # The bound has the condition of the matrix, and is wide enough for any stable algorithm.
        most_off = tuple(allowed)
        return (
            Output(dtype, shape, tuple(truth), allowed=most_off, rough=most_off, zero_sign=False),
        )

    given = {"mat": _data(dtype, mats, layout), "rhs": given_rhs}
    return Case("lstsq", group, dtype, title, given, expect)


def solution(
    a: exactly.Matrix, inverse: exactly.Matrix, rhs: exactly.Matrix, dtype: str
) -> tuple[list[Value], list[Fraction]]:
    """Return the shortest solution of least squares, and how far off it may be.

    An error of the matrix comes out times its condition, and with what cannot be solved times the
    condition squared.
    """
    x = exactly.times(inverse, rhs)
    rest = exactly.minus(exactly.times(a, x), rhs)
    size, back = root(exactly.squared_norm(a)), root(exactly.squared_norm(inverse))
    step = allowance(dtype, max(len(a), len(a[0])))
    truth: list[Value] = []
    allowed = []
    columns = range(len(rhs[0]))
    lengths, rests = (
        [root(exactly.squared_norm([[row[j]] for row in some])) for j in columns]
        for some in (x, rest)
    )
    for row in x:
        for j, (re, im) in enumerate(row):
            error = step * size * back * (lengths[j] + back * rests[j]) + smallest(dtype)
            truth.append((real(re), real(im)) if dtype in PARTS else real(re))
            allowed.append(error + half_unit(dtype, max(abs(re), abs(im)) + error))
    return truth, allowed


def _of_nothing(dtype: str, a: Shape, b: Shape) -> Case:
    shape = (*a[:-2], a[-1], *(b[-1:] if len(b) > 1 else ()))
    zeros: tuple[Value, ...] = (number(dtype, 0),) * math.prod(shape)
    given = {"mat": random(dtype, a, "nothing"), "rhs": random(dtype, b, "nothing")}
    title = " by ".join("x".join(map(str, s)) for s in (a, b))

    def expect() -> Expected:
        return (Output(dtype, shape, zeros, zero_sign=False),)

    return Case("lstsq", "empty", dtype, title, given, expect)


_HADAMARD = [[1, 1, 1, 1], [1, -1, 1, -1], [1, 1, -1, -1], [1, -1, -1, 1]]


def _low_rank(dtype: str) -> Iterator[Case]:
    """Give matrices of lower rank, and what the cut makes of small singular values.

    The columns of Hadamard's matrix are orthogonal, so that the singular values are known.
    """
    h = _HADAMARD
    values = [4.0, 2.0, 1.0, 0.0625]
    both = [[sum(h[i][k] * values[k] * h[j][k] for k in range(4)) / 4 for j in range(4)]
            for i in range(4)]  # fmt: skip
    if dtype not in NARROW and dtype != "complex32":
        for kept, cut in ((4, 0.001), (3, 0.03), (2, 0.4), (1, 0.6)):
            left = exactly.matrix([[Fraction(h[i][k], 2) for k in range(kept)] for i in range(4)])
            right = exactly.matrix([[Fraction(values[k]) * h[j][k] / 2 for j in range(4)]
                                    for k in range(kept)])  # fmt: skip
            yield _truncated(dtype, f"cut at {cut}", both, left, right, cut)
    thin: Rows = [[1.0, 2, 1], [2, 4, 2], [0, 1, 1], [1, 3, 2]]  # the third is the difference
    left = exactly.matrix([[1, 2], [2, 4], [0, 1], [1, 3]])
    right = exactly.matrix([[1, 0, -1], [0, 1, 1]])
    yield _truncated(dtype, "rank 2 of 3", thin, left, right, 0.05)
    diagonal: Rows = [[1.0, 0], [0, 0.5]]
    left = exactly.matrix([[1, 0], [0, Fraction(1, 2)]])
    yield _truncated(dtype, "a singular value at the cut", diagonal, left, exactly.identity(2), 0.5)
    zero = {"mat": from_rows(dtype, [[0.0, 0]] * 3), "rhs": from_rows(dtype, [[1.0], [2], [3]])}
    nothing = Output(dtype, (2, 1), (number(dtype, 0),) * 2, zero_sign=False)
    yield Case("lstsq", "special", dtype, "zero", zero, lambda: (nothing,))


def _truncated(
    dtype: str, title: str, rows: Rows, left: exactly.Matrix, right: exactly.Matrix, cut: float
) -> Case:
    """Return equations of which only the part `left right` counts."""
    m = len(rows)
    sides = from_rows(dtype, [[float(i % 3 + 1)] for i in range(m)])

    def expect() -> tuple[Output]:
        inverse = exactly.pseudo_inverse(left, right)
        rhs = [[x] for x in exact(sides).fractions()]
        truth, allowed = solution(exactly.matrix(rows), inverse, rhs, dtype)  # type: ignore[arg-type]
        shape = (len(rows[0]), 1)
        return (Output(dtype, shape, tuple(truth), allowed=tuple(allowed), zero_sign=False),)

    given = {"mat": from_rows(dtype, rows), "rhs": sides, "prec": cut}
    return Case("lstsq", "special", dtype, title, given, expect)


# ---- large sizes ---------------------------------------------------------------------------------

_LARGE = 257


@cases_of("solve", "inverse")
def solutions_of_sizes(op: str, wanted: Wanted) -> Iterator[Case]:
    """Give regular matrices past the edges of tiles, alone and many at once, and a large one."""
    for dtype in dtypes_of(op):
        if not wanted.wants("sizes", dtype):
            continue
        for i, shape in enumerate(chosen(op, dtype, wanted, SQUARE)):
            ones = [
                dominant(dtype, shape[-2:], ("sizes", k)) for k in range(min(DIFFERENT, shape[0]))
            ]
            mat = ones[0] if len(shape) == 2 else batch(ones, shape[0])
            if op == "inverse":
                check = partial(Check, "inverses", {})
                yield Case(op, "sizes", dtype, words_of(shape), {"mat": mat}, check)
                continue
            side = (*shape[:-1], 1 + i % 3)
            given = {"mat": mat, "rhs": random(dtype, side, "sizes"), "adjoint": i % 2 == 1}
            check = partial(Check, "solutions", {"shape": side})
            yield Case(op, "sizes", dtype, words_of(shape), given, check)
        if dtype == "float32" and not wanted.quick:
            yield _large_inverse(dtype) if op == "inverse" else _large_solve(dtype)


# ---- a matrix whose inverse is known -------------------------------------------------------------


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
