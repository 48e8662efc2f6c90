"""7.2.1.7 to .11: random numbers, of which shape, range and distribution are looked at."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from math import prod
from random import Random
from typing import Any

from suanzi.conformance.cases import Wanted, cases_of, dtypes_of
from suanzi.conformance.cases import _sizes as sizes
from suanzi.conformance.cases._values import Shape, by
from suanzi.conformance.model.case import Case, Check
from suanzi.conformance.model.data import LAYOUTS, tensor
from suanzi.conformance.model.numbers import FORMATS, PARTS, decode, limits, real

_SEED = 7
"""Some seed that is no 0, which would be the system's."""
_EMPTY: tuple[Shape, ...] = ((), (0,), (3, 0, 2))


def _side(wanted: Wanted) -> int:
    return 32 if wanted.quick else 64


# ---- uniform -------------------------------------------------------------------------------------


@cases_of("rand_uniform")
def uniform(op: str, wanted: Wanted) -> Iterator[Case]:
    """Give numbers between two bounds, between those of the dtype, and between equal ones."""
    square = (_side(wanted),) * 2
    for dtype in dtypes_of(op):
        low, high = bounds(dtype)
        given = {} if dtype == "bool" else {"min": low, "max": high}
        if wanted.wants("plain", dtype):
            yield uniform_case(op, "plain", dtype, "between", square, given, low, high)
            told = {**given, "seed": _SEED}
            yield uniform_case(op, "plain", dtype, "with a seed", square, told, low, high)
            if dtype != "bool":
                same = {"min": high, "max": high}
                yield uniform_case(op, "plain", dtype, "equal bounds", (3, 4), same, high, high)
            yield uniform_case(op, "plain", dtype, "by default", square, {}, *_ends(dtype))
            if dtype in FORMATS:
                yield _never_the_end(op, dtype, square)
        if wanted.wants("special", dtype):
            ends = _ends(dtype)
            yield uniform_case(op, "special", dtype, "whole range", square, {}, *ends)
        if wanted.wants("empty", dtype):
            for shape in _EMPTY:
                yield uniform_case(op, "empty", dtype, by(shape), shape, given, low, high)
    if wanted.wants("plain", "float32"):
        arguments = {"shape": [3, 4], "min": 0, "max": 2}
        made = uniform_case(op, "plain", "float32", "", (3, 4), {}, 0, 2)
        yield Case(op, "plain", "float32", "without dtype", arguments, made.expect)


def bounds(dtype: str) -> tuple[Any, Any]:
    """Return bounds that the dtype holds."""
    if dtype in PARTS:
        return -1.5 - 1j, 2.5 + 3j
    if dtype in FORMATS:
        return -1.5, 2.5
    return (0, 1) if dtype in ("bool", "uint1") else (1, 6)


def _ends(dtype: str) -> tuple[Any, Any]:
    part = PARTS.get(dtype, dtype)
    if part in FORMATS:
        top = decode(FORMATS[part], FORMATS[part].largest).value
        return -top, top
    return (0, 1) if dtype == "bool" else limits(dtype)


def uniform_case(
    op: str,
    group: str,
    dtype: str,
    title: str,
    shape: Shape,
    given: dict[str, Any],
    low: Any,
    high: Any,
    open_end: bool = False,
) -> Case:
    """Return a case of numbers from `low` to `high`."""
    facts = {
        "dtype": dtype,
        "shape": shape,
        "low": _each_part(dtype, low),
        "high": _each_part(dtype, high),
        "open": open_end,
    }
    arguments = {"dtype": dtype, "shape": list(shape), **given}
    return Case(op, group, dtype, title, arguments, lambda: Check("uniform", facts))


def _never_the_end(op: str, dtype: str, shape: Shape) -> Case:
    """Return a case of so few numbers that rounding reaches the end often, where it may."""
    form = FORMATS[dtype]
    first = form.bias << form.mantissa
    last = float(decode(form, first + min(16, 2**form.mantissa)).value)
    given = {"min": 1, "max": last}
    return uniform_case(op, "plain", dtype, "never the end", shape, given, 1, last, open_end=True)


def _each_part(dtype: str, x: Any) -> list[Any]:
    if dtype not in PARTS:
        return [x]
    return [x.real, x.imag] if isinstance(x, complex) else [x, x]


# ---- normal --------------------------------------------------------------------------------------


@cases_of("rand_normal")
def normal(op: str, wanted: Wanted) -> Iterator[Case]:
    """Give normal numbers; complex ones have the deviation of both parts together, E29."""
    square = (_side(wanted),) * 2
    for dtype in dtypes_of(op):
        mean = 1.5 - 2j if dtype in PARTS else -2
        told = {"mean": mean, "std": 0.5}
        if wanted.wants("plain", dtype):
            yield normal_case(op, "plain", dtype, "standard", square, {}, 0, 1)
            yield normal_case(op, "plain", dtype, "mean and deviation", square, told, mean, 0.5)
            told = {**told, "seed": _SEED}
            yield normal_case(op, "plain", dtype, "with a seed", square, told, mean, 0.5)
            still = {"mean": mean, "std": 0}
            yield normal_case(op, "plain", dtype, "no deviation", (3, 4), still, mean, 0)
        if wanted.wants("empty", dtype):
            for shape in _EMPTY:
                yield normal_case(op, "empty", dtype, by(shape), shape, {}, 0, 1)
    if wanted.wants("plain", "float32"):
        made = normal_case(op, "plain", "float32", "without dtype", (3, 4), {}, 0, 1)
        yield Case(op, "plain", "float32", "without dtype", {"shape": [3, 4]}, made.expect)


def normal_case(
    op: str,
    group: str,
    dtype: str,
    title: str,
    shape: Shape,
    given: dict[str, Any],
    mean: Any,
    std: float,
) -> Case:
    """Return a case of normal numbers."""
    parts = _each_part(dtype, complex(mean) if dtype in PARTS else mean)
    variance = Fraction(std) ** 2 / len(parts)
    facts = {"dtype": dtype, "shape": shape, "mean": parts, "variance": variance}
    arguments = {"dtype": dtype, "shape": list(shape), **given}
    return Case(op, group, dtype, title, arguments, lambda: Check("normal", facts))


# ---- bernoulli -----------------------------------------------------------------------------------


@cases_of("rand_bernoulli")
def bernoulli(op: str, wanted: Wanted) -> Iterator[Case]:
    """Give 0 and 1 by the chance of each element."""
    length = 512 if wanted.quick else 1024
    chances = [0.0, 1.0, 0.25, 0.75]
    for dtype in dtypes_of(op):
        if wanted.wants("plain", dtype):
            rows = (len(chances), length)
            yield bernoulli_case(op, "plain", dtype, "rows", rows, chances, {})
            yield bernoulli_case(op, "plain", dtype, "with a seed", rows, chances, {"seed": _SEED})
        if wanted.wants("strided", dtype):
            for layout in LAYOUTS:
                title = layout
                yield bernoulli_case(op, "strided", dtype, title, (2, 300), chances[:2], {}, layout)
        if wanted.wants("empty", dtype):
            for shape in _EMPTY:
                yield bernoulli_case(op, "empty", dtype, by(shape), shape, [1.0], {})


def bernoulli_case(
    op: str,
    group: str,
    dtype: str,
    title: str,
    shape: Sequence[int],
    chances: Sequence[float],
    given: dict[str, Any],
    layout: str = "dense",
) -> Case:
    """Return a case of 0 and 1, of as many elements for each chance."""
    each = prod(shape) // len(chances)
    elements = [real(c) for c in chances for _ in range(each)]
    facts = {"dtype": dtype, "shape": tuple(shape), "chances": list(chances)}
    arguments = {"input": tensor(dtype, elements, shape, layout), **given}
    return Case(op, group, dtype, title, arguments, lambda: Check("bernoulli", facts))


# ---- multinomial and randperm --------------------------------------------------------------------


@cases_of("multinomial")
def multinomial(op: str, wanted: Wanted) -> Iterator[Case]:
    """Give indices by weights, of which only the ratios count, E31; with replacement or once."""
    many = 1024 if wanted.quick else 4096
    weights = [0, 1, 3, 0, 4]
    rows = [weights, [2, 2, 1, 1, 0]]
    for dtype in dtypes_of(op):
        if wanted.wants("plain", dtype):
            told: dict[str, Any] = {"num_samples": many}
            yield _multinomial(op, "plain", dtype, "one row", [weights], told, many, vector=True)
            yield _multinomial(op, "plain", dtype, "rows", rows, told, many)
            told = {**told, "seed": _SEED}
            yield _multinomial(op, "plain", dtype, "with a seed", rows, told, many)
            yield _multinomial(op, "plain", dtype, "by default", rows, {}, 1)
            once = {"num_samples": 3, "replacement": False}
            yield _multinomial(op, "plain", dtype, "all but zeros once", [weights], once, 3)
            once = {"num_samples": 2, "replacement": False}
            yield _multinomial(op, "plain", dtype, "rows once", [[1, 2, 5]] * (many // 4), once, 2)
        if wanted.wants("strided", dtype):
            for layout in LAYOUTS:
                told = {"num_samples": many}
                yield _multinomial(op, "strided", dtype, layout, rows, told, many, layout=layout)


def _multinomial(
    op: str,
    group: str,
    dtype: str,
    title: str,
    rows: Sequence[Sequence[int]],
    given: dict[str, Any],
    count: int,
    *,
    vector: bool = False,
    layout: str = "dense",
) -> Case:
    elements = [real(Fraction(w, 2)) for row in rows for w in row]
    shape = (len(rows[0]),) if vector else (len(rows), len(rows[0]))
    facts = {
        "dtype": "int64",
        "shape": (count,) if vector else (len(rows), count),
        "weights": rows,
        "replacement": given.get("replacement", True),
    }
    arguments = {"input": tensor(dtype, elements, shape, layout), **given}
    return Case(op, group, dtype, title, arguments, lambda: Check("multinomial", facts))


@cases_of("randperm")
def shuffled(op: str, wanted: Wanted) -> Iterator[Case]:
    """Give every number from 0 on once; as many as the dtype holds at most."""
    for dtype in dtypes_of(op):
        if wanted.wants("plain", dtype):
            for count in sorted({1, 2, min(300, most(dtype))}):
                yield shuffled_case(op, "plain", dtype, count, {"dtype": dtype})
            yield shuffled_case(
                op, "plain", dtype, 2, {"dtype": dtype, "seed": _SEED}, " with a seed"
            )
    if wanted.wants("plain", "float32"):
        yield shuffled_case(op, "plain", "float32", 30, {}, " without dtype")


def most(dtype: str) -> int:
    """Return how many numbers from 0 on a dtype holds."""
    part = PARTS.get(dtype, dtype)
    return int(2 ** (FORMATS[part].mantissa + 1) + 1 if part in FORMATS else limits(dtype)[1] + 1)


def shuffled_case(
    op: str, group: str, dtype: str, count: int, given: dict[str, Any], more: str = ""
) -> Case:
    """Return a case of every number below a length once."""
    facts = {"dtype": dtype, "shape": (count,)}
    arguments = {**given, "len": count}
    return Case(op, group, dtype, f"{count}{more}", arguments, lambda: Check("permutation", facts))


# ---- large sizes ---------------------------------------------------------------------------------

_LENGTHS = (31, 33, 65, 127, 129, 257, 1025, 4097)
_LARGE = 65_539


def _lengths(op: str, dtype: str, wanted: Wanted) -> list[int]:
    """Return all lengths for one dtype and one for the others; a large one where it is drawn so."""
    if dtype == "float32" and not wanted.quick:
        return [*_LENGTHS, _LARGE]
    return Random(f"sizes {op} {dtype}").sample(_LENGTHS, 1)


@cases_of("rand_uniform", "rand_normal", "rand_bernoulli", "randperm")
def random_numbers_of_sizes(op: str, wanted: Wanted) -> Iterator[Case]:
    """Give lengths past those of vectors and blocks, and 65 x 129."""
    for dtype in dtypes_of(op):
        if not wanted.wants("sizes", dtype):
            continue
        if op == "randperm":
            for length in _lengths(op, dtype, wanted):
                if length <= most(dtype):
                    yield shuffled_case(op, "sizes", dtype, length, {"dtype": dtype})
            continue
        shapes: list[tuple[int, ...]] = [(n,) for n in _lengths(op, dtype, wanted)]
        if dtype == "float32":
            shapes.append(sizes.MATRIX)
        for shape in shapes:
            yield _case(op, dtype, shape)


def _case(op: str, dtype: str, shape: tuple[int, ...]) -> Case:
    title = sizes.words(shape)
    if op == "rand_bernoulli":
        return bernoulli_case(op, "sizes", dtype, title, shape, [0.25], {})
    if op == "rand_normal":
        mean = 1.5 - 2j if dtype in PARTS else -2
        told = {"mean": mean, "std": 0.5}
        return normal_case(op, "sizes", dtype, title, shape, told, mean, 0.5)
    low, high = bounds(dtype)
    given = {} if dtype == "bool" else {"min": low, "max": high}
    return uniform_case(op, "sizes", dtype, title, shape, given, low, high)
