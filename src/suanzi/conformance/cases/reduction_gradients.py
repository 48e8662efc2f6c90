"""7.2.13.1.4: the gradients of reduce: repeated, shared, or times the product of the others."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from math import prod
from random import Random
from typing import Any

from suanzi.base.status import Status
from suanzi.conformance.cases import Wanted, cases_of, dtypes_of
from suanzi.conformance.cases import _sizes as sizes
from suanzi.conformance.cases._moves import LARGE, Move, Result, sized_case
from suanzi.conformance.model.case import Case, Output, Refused
from suanzi.conformance.model.data import LAYOUTS, anything, ordinary, special, tensor
from suanzi.conformance.model.expected import Cycle
from suanzi.conformance.model.numbers import (
    FORMATS,
    NARROW,
    PARTS,
    ZERO,
    Real,
    Value,
    decode,
    div,
    equal,
    maximum,
    minimum,
    mul,
    real,
    wrap,
)
from suanzi.conformance.truth.lines import lines, shape_left
from suanzi.conformance.truth.sums import product, product_allowed, reals

SHAPE = (3, 4, 2)


@cases_of("reduce_bwd")
def gradients(op: str, wanted: Wanted) -> Iterator[Case]:
    """Give the gradients of the modes that have one, along axes in every form."""
    for dtype in dtypes_of(op):
        for mode in modes(dtype):
            yield from _of_mode(dtype, mode, wanted)
        if wanted.wants("special", dtype) and dtype in FORMATS:
            yield from _special(dtype)
        if wanted.wants("status", dtype) and dtype == "int32":
            for mode in ("LAND", "LOR", "LXOR", "BAND", "BOR", "BXOR"):
                yield _without_gradient(mode)


def modes(dtype: str) -> list[str]:
    """Return the modes with a gradient; those that divide have none among integers."""
    if dtype in PARTS:
        return ["SUM", "MEAN", "PROD"]
    if dtype in FORMATS:
        return ["SUM", "MEAN", "PROD", "MAX", "MIN"]
    return ["SUM"] if dtype == "bool" else ["SUM", "PROD"]


def inputs(dtype: str, mode: str, count: int, seed: object = 0) -> list[Value]:
    """Return elements whose gradient says something in a mode."""
    if mode in ("MAX", "MIN"):  # few different ones, so that some are equal
        return [_float_of(dtype, x) for x in ordinary("int8", count, seed, 0, 3)]
    if mode == "PROD" and dtype in PARTS:
        # Of a complex factor, some have the conjugate here; a real one is its own.
        return [(x, ZERO) for x in reals(ordinary(PARTS[dtype], count, seed, 0.5, 1.5))]
    if mode == "PROD" and dtype in FORMATS:
        return ordinary(dtype, count, seed, 0.5, 1.5)
    return ordinary(dtype, count, seed)


def _float_of(dtype: str, x: Value) -> Value:
    return real(x) if dtype in FORMATS and isinstance(x, int) else x


def _of_mode(dtype: str, mode: str, wanted: Wanted) -> Iterator[Case]:
    count = math.prod(SHAPE)
    xs = inputs(dtype, mode, count)
    if wanted.wants("plain", dtype):
        some: list[list[int] | None] = [[1], [0, 2]]
        if dtype in ("float32", "int32"):
            some += [None, [], [0], [-1], [2, -3], [0, 1, 2]]
        for axis in some:
            named = "not given" if axis is None else " ".join(map(str, axis)) or "empty"
            yield gradient_case("plain", dtype, f"axis {named}", mode, xs, SHAPE, axis)
        yield gradient_case("plain", dtype, "axis 1 kept", mode, xs, SHAPE, [1], keep=True)
        if dtype in FORMATS:
            more = inputs(dtype, mode, 40 * 3, "more")
            yield gradient_case("plain", dtype, "of 40 rows", mode, more, (40, 3), [1])
    if wanted.wants("strided", dtype) and (mode in ("SUM", "MAX") or dtype == "float32"):
        for layout in LAYOUTS:
            yield gradient_case("strided", dtype, layout, mode, xs, SHAPE, [1], layout=layout)
    if wanted.wants("empty", dtype):
        one = inputs(dtype, mode, 1)
        yield gradient_case("empty", dtype, "without axes", mode, one, ())
        if mode in ("SUM", "PROD"):
            yield gradient_case("empty", dtype, "of shape 2 0 along 1", mode, [], (2, 0), [1])
        yield gradient_case("empty", dtype, "of shape 0 3 along 1", mode, [], (0, 3), [1])
    if wanted.wants("random", dtype):
        many = inputs(dtype, mode, 60, wanted.seed)
        if dtype not in FORMATS and dtype not in PARTS:
            many = anything(dtype, 60, wanted.seed)
        yield gradient_case(
            "random", dtype, "along 1", mode, many, (4, 5, 3), [1], seed=wanted.seed
        )


def _without_gradient(mode: str) -> Case:
    arguments = {
        "out_grad": tensor("int32", [1], ()),
        "input": tensor("int32", [3, 5, 6]),
        "mode": mode,
    }
    refused = Refused(Status.INVALID_ARGUMENT)
    title = f"{mode} has no gradient"
    return Case("reduce_bwd", "status", "int32", title, arguments, lambda: refused)


def _special(dtype: str) -> Iterator[Case]:
    few = reals(special(dtype))
    form = FORMATS[dtype]
    zero, one, two, three = (real(x) for x in (0, 1, 2, 3))
    large = decode(form, form.largest)
    # Zero times what is not finite would be NaN: those that are not the largest may have it.
    finite: list[Value] = [x for x in few if x.size is not None and not x.is_nan]
    for mode, row, some in (
        ("SUM", [one] * 3, few),
        ("MEAN", [one] * 4, few),
        ("MAX", [two, one, one], finite),
    ):
        title, shape = "gradients of every kind", (len(some), len(row))
        yield gradient_case(
            "special", dtype, title, mode, row * shape[0], shape, [1], gradients=some
        )
    rows: list[list[Real]] = [
        [zero, two, three], [zero, zero, three], [two, -zero, one], [zero, zero, zero],
        [three, two, zero],
    ]  # fmt: skip
    yield _rows_case(dtype, "with zeros", "PROD", rows)
    if form.infinity:
        inf = decode(form, form.largest + 1)
        yield _rows_case(dtype, "of infinity and zero", "PROD", [[inf, zero, two]])
        yield _rows_case(dtype, "of infinities", "MAX", [[inf, one, inf], [-inf, one, -inf]])
        yield _rows_case(dtype, "of infinities", "MIN", [[inf, one, inf], [-inf, one, -inf]])
    ties = [[one, three, three], [three, three, three], [zero, -zero, -one], [large, one, large],
            [one, one, two]]  # fmt: skip
    for mode in ("MAX", "MIN"):
        yield _rows_case(dtype, "shared by equal ones", mode, ties)


def _rows_case(dtype: str, title: str, mode: str, rows: Sequence[Sequence[Value]]) -> Case:
    xs = [x for row in rows for x in row]
    return gradient_case("special", dtype, title, mode, xs, (len(rows), len(rows[0])), [1])


def gradient_case(
    group: str,
    dtype: str,
    title: str,
    mode: str,
    xs: Sequence[Value],
    shape: Sequence[int],
    axis: Sequence[int] | None = None,
    *,
    keep: bool = False,
    layout: str = "dense",
    gradients: Sequence[Value] | None = None,
    seed: object = 0,
) -> Case:
    """Return a gradient of a tensor that was reduced along axes."""
    axes = [a % len(shape) for a in axis or ()] or list(range(len(shape)))
    left = shape_left(shape, axes, keep)
    target = "int64" if dtype == "bool" else dtype
    given = gradients or ordinary(target, math.prod(left), f"gradients {seed}")
    arguments: dict[str, Any] = {
        "out_grad": tensor(target, given, left, layout),
        "input": tensor(dtype, xs, shape, layout),
        "mode": mode,
    }
    if axis is not None:
        arguments["axis"] = list(axis)
    if keep:
        arguments["keep_dims"] = True

    def expect() -> tuple[Output]:
        truth: list[Value] = [0] * len(xs)
        bounds = [Fraction(0)] * len(xs)
        for line, gradient in zip(lines(shape, axes), given, strict=True):
            found = _shared(mode, target, [xs[i] for i in line], gradient)
            for i, (one, bound) in zip(line, found, strict=True):
                truth[i], bounds[i] = one, bound
        bounded = mode == "PROD" and (target in FORMATS or target in PARTS)
        return (
            Output(
                target,
                tuple(shape),
                tuple(truth),
                ulp=None if bounded else _ulp(mode, target),
                allowed=tuple(bounds) if bounded else None,
                zero_sign=mode == "SUM",
            ),
        )

    return Case("reduce_bwd", group, dtype, f"{mode} {title}", arguments, expect)


def _ulp(mode: str, dtype: str) -> float | None:
    """Return the bound of a share: it may be a product with the reciprocal, which is rounded."""
    part = PARTS.get(dtype, dtype)
    if mode == "SUM" or part not in FORMATS:
        return None
    return 0.51 if part in NARROW else 1.5


def _shared(
    mode: str, dtype: str, row: Sequence[Value], gradient: Value
) -> list[tuple[Value, Fraction]]:
    """Return the gradient of each element of a row, and of a product how far it may be off."""
    nothing = Fraction(0)
    if mode == "SUM":
        return [(gradient, nothing)] * len(row)
    if mode == "MEAN":
        return [(_over(gradient, len(row)), nothing)] * len(row)
    if mode == "PROD":
        return [
            _times(dtype, gradient, [x for j, x in enumerate(row) if j != i])
            for i in range(len(row))
        ]
    numbers = reals(row)
    best = numbers[0]
    for x in numbers:
        best = maximum(best, x) if mode == "MAX" else minimum(best, x)
    chosen = [equal(x, best) for x in numbers]
    share = _over(gradient, sum(chosen))
    return [(share if one else ZERO, nothing) for one in chosen]


def _over(x: Value, count: int) -> Value:
    if isinstance(x, tuple):
        return div(x[0], real(count)), div(x[1], real(count))
    assert isinstance(x, Real)
    return div(x, real(count))


def _times(dtype: str, gradient: Value, others: Sequence[Value]) -> tuple[Value, Fraction]:
    if isinstance(gradient, int):
        whole = [x for x in others if isinstance(x, int)]
        return wrap(dtype, gradient * math.prod(whole)), Fraction(0)
    found: Value
    if isinstance(gradient, tuple):
        factor = product([x[0] for x in others if isinstance(x, tuple)])
        found = mul(gradient[0], factor), mul(gradient[1], factor)
    else:
        found = mul(gradient, product(reals(others)))
    return found, product_allowed(dtype, [gradient, *others], found, more=len(others))


# ---- large sizes ---------------------------------------------------------------------------------

_SHAPES = ((3, 17), (5, 33), (2, 65), (65, 2), (3, 129), (129, 3), (1, 257), (257, 1))
_LONG = {"PROD": 40}
"""How many elements of a mode are reduced to one: each gradient is a product of all others."""


@cases_of("reduce_bwd")
def gradients_of_sizes(op: str, wanted: Wanted) -> Iterator[Case]:
    """Give rows and columns past the edges of vectors and tiles, 65 x 129, and a million."""
    for dtype in dtypes_of(op):
        if not wanted.wants("sizes", dtype):
            continue
        chief = dtype in ("float32", "int32") and not wanted.quick
        for mode in modes(dtype):
            random = Random(f"sizes {op} {dtype} {mode}")
            for shape in _SHAPES if chief else random.sample(_SHAPES, 1):
                axis = int(shape[1] > shape[0])
                if shape[axis] <= _LONG.get(mode, shape[axis]):
                    yield _case(dtype, mode, shape, axis)
            if dtype == "float32" and mode == "MAX" and not wanted.quick:
                yield _case(dtype, mode, sizes.MATRIX, 1)
        if dtype == "float32" and not wanted.quick:
            yield _a_million(dtype)


def _case(dtype: str, mode: str, shape: tuple[int, int], axis: int) -> Case:
    given = inputs(dtype, mode, prod(shape), "sizes")
    title = f"of {shape[0]}x{shape[1]} along {axis}"
    return gradient_case("sizes", dtype, title, mode, given, shape, [axis])


def _a_million(dtype: str) -> Case:
    """Return sums of columns, whose gradients are repeated in every row."""
    rows, columns = LARGE
    result = Result(LARGE, tuple(range(columns)) * rows)
    given = {"mode": "SUM", "axis": [0]}
    move = Move(f"SUM of {rows}x{columns} along 0", {"out_grad": (columns,)}, result, given)
    made = sized_case("reduce_bwd", dtype, move)
    ones = sizes.Few(dtype, [real(1)]).tensor(Cycle(1, rows * columns), LARGE)
    return replace(made, arguments={**made.arguments, "input": ones})
