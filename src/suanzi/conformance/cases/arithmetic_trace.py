"""7.2.4.13: trace and its gradient: sums along the diagonals of planes."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import reduce
from itertools import product
from typing import Any

from suanzi.conformance.cases import Wanted, cases_of, dtypes_of
from suanzi.conformance.cases._values import Shape, indices, ravel, zero
from suanzi.conformance.model.case import Case, Output
from suanzi.conformance.model.data import LAYOUTS, ordinary, special, tensor
from suanzi.conformance.model.numbers import FORMATS, PARTS, Real, Value, real, two, wrap
from suanzi.conformance.model.operators import exact_binary

_Planes = tuple[tuple[str, Shape, dict[str, int]], ...]
_PLANES: _Planes = (
    ("square", (4, 4), {}),
    ("wide", (3, 5), {"offset": 0, "dim0": 0, "dim1": 1}),
    ("above the diagonal", (3, 5), {"offset": 2}),
    ("below the diagonal", (5, 3), {"offset": -2}),
    ("one element", (3, 4), {"offset": 3}),
    ("past the corner", (3, 4), {"offset": 4}),
    ("axes the other way", (3, 5), {"offset": 1, "dim0": 1, "dim1": 0}),
    ("planes of the first axes", (3, 4, 2), {}),
    ("planes of the last axes", (2, 3, 4), {"offset": -1, "dim0": -2, "dim1": -1}),
    ("planes of the outer axes", (3, 2, 4), {"offset": 1, "dim0": 2, "dim1": 0}),
    ("four axes", (2, 3, 2, 4), {"dim0": 1, "dim1": 3}),
)
_EMPTY: _Planes = (
    ("no elements", (0, 3), {}),
    ("no columns", (3, 0), {}),
    ("no planes", (2, 3, 0), {}),
    ("empty planes", (0, 2, 4), {}),
)


_SIZED: _Planes = (
    ("65x129", (65, 129), {"offset": 3}),
    ("129x65", (129, 65), {}),
    ("33x9x2", (33, 9, 2), {}),
)
_GROUPS = (("plain", _PLANES), ("empty", _EMPTY), ("sizes", _SIZED))


def _planes(group: str, planes: _Planes, dtype: str, wanted: Wanted) -> _Planes:
    """Return some of the planes for a quick run, and of the large ones the last for most dtypes."""
    if group == "sizes":
        return planes if dtype in ("float32", "int32") and not wanted.quick else planes[-1:]
    return planes[:: 2 if wanted.quick else 1]


@cases_of("trace")
def traces(op: str, wanted: Wanted) -> Iterator[Case]:
    """Give sums along diagonals."""
    for dtype in dtypes_of(op):
        for group, planes in _GROUPS:
            if wanted.wants(group, dtype):
                for title, shape, more in _planes(group, planes, dtype, wanted):
                    values = ordinary(dtype, math.prod(shape), title)
                    yield _trace(group, dtype, title, values, shape, more)
        if wanted.wants("strided", dtype):
            for layout in LAYOUTS:
                values = ordinary(dtype, 20, layout)
                yield _trace("strided", dtype, f"x in {layout}", values, (4, 5), {}, layout)
        if wanted.wants("special", dtype):
            yield from _special_traces(dtype)
        if wanted.wants("random", dtype):
            values = ordinary(dtype, 192, ("trace", wanted.seed))
            yield _trace("random", dtype, "three planes", values, (8, 8, 3), {})


def _special_traces(dtype: str) -> Iterator[Case]:
    few = special(dtype)
    title = "each special value alone"
    count = len(few)
    planes = [few[k] if i == j == 1 else few[(7 * k + i + j) % count] if i != j else zero(dtype)
              for i, j, k in product(range(3), range(3), range(count))]  # fmt: skip
    yield _trace("special", dtype, title, planes, (3, 3, count), {})
    if dtype not in FORMATS and dtype not in PARTS:
        yield _trace("special", dtype, "integers wrap", [few[-1]] * 9, (3, 3), {})
    if dtype in FORMATS:
        infinite, nan = real(math.inf), real(math.nan)
        for title, ends in (
            ("infinities of two signs", (infinite, -infinite)),
            ("infinities of one sign", (-infinite, -infinite)),
            ("NaN and an infinity", (nan, infinite)),
        ):
            if FORMATS[dtype].infinity:
                values: list[Value] = [ends[0], real(1), nan, ends[1]]
                yield _trace("special", dtype, title, values, (2, 2), {})


def _trace(
    group: str,
    dtype: str,
    title: str,
    values: Sequence[Value],
    shape: Shape,
    more: dict[str, int],
    layout: str = "dense",
) -> Case:
    def expect() -> tuple[Output]:
        rest, diagonals = _diagonals(shape, more)
        found = [[values[i] for i in places] for places in diagonals]
        truth = tuple(_sum(dtype, terms) for terms in found)
        allowed = tuple(_sum_error(dtype, terms) for terms in found)
        return (Output(dtype, rest, truth, allowed=allowed, zero_sign=False),)

    arguments: dict[str, Any] = {"x": tensor(dtype, values, shape, layout), **more}
    return Case("trace", group, dtype, title, arguments, expect)


def _diagonals(shape: Shape, more: dict[str, int]) -> tuple[Shape, list[list[int]]]:
    """Return the shape of the result, and the places of the terms of each of its elements."""
    rank, offset = len(shape), more.get("offset", 0)
    first, second = more.get("dim0", 0) % rank, more.get("dim1", 1) % rank
    kept = [axis for axis in range(rank) if axis not in (first, second)]
    rest = tuple(shape[axis] for axis in kept)
    found = []
    for index in indices(rest):
        terms = []
        for i in range(shape[first]):
            if 0 <= i + offset < shape[second]:
                at = dict(zip(kept, index, strict=True)) | {first: i, second: i + offset}
                terms.append(ravel([at[axis] for axis in range(rank)], shape))
        found.append(terms)
    return rest, found


def _sum(dtype: str, terms: Sequence[Value]) -> Value:
    if dtype not in FORMATS and dtype not in PARTS:
        return wrap(dtype, sum(x for x in terms if isinstance(x, int)))
    return reduce(lambda a, b: exact_binary("add", dtype, a, b), terms, zero(dtype))


def _sum_error(dtype: str, terms: Sequence[Value]) -> Fraction:
    """Return what a sum in any order may be off: each term takes part in all roundings but one."""
    part = PARTS.get(dtype, dtype)
    if part not in FORMATS or len(terms) < 2:
        return Fraction(0)
    sizes = [[p.size for p in _parts(x) if p.size is not None and not p.is_nan] for x in terms]
    total = sum((max(each) for each in sizes if each), Fraction(0))
    return len(terms) * total * two(-1 - FORMATS[part].mantissa)


def _parts(x: Value) -> tuple[Real, ...]:
    assert not isinstance(x, int)
    return x if isinstance(x, tuple) else (x,)


@cases_of("trace_backward")
def gradients(op: str, wanted: Wanted) -> Iterator[Case]:
    """Give gradients: the incoming gradient on the diagonal, and zeros."""
    for dtype in dtypes_of(op):
        for group, planes in _GROUPS:
            if wanted.wants(group, dtype):
                for title, shape, more in _planes(group, planes, dtype, wanted):
                    rest, _ = _diagonals(shape, more)
                    values = ordinary(dtype, math.prod(rest), title)
                    yield _gradient(group, dtype, title, values, shape, more)
        if wanted.wants("strided", dtype):
            for layout in LAYOUTS:
                values = ordinary(dtype, 6, layout)
                title = f"grad_y in {layout}"
                yield _gradient("strided", dtype, title, values, (2, 3, 2, 3), {}, layout)
        if wanted.wants("special", dtype):
            few = special(dtype)
            yield _gradient("special", dtype, "special values", few, (2, 2, len(few)), {})
        if wanted.wants("random", dtype):
            values = ordinary(dtype, 12, ("gradient", wanted.seed))
            yield _gradient("random", dtype, "many planes", values, (3, 3, 12), {})


def _gradient(
    group: str,
    dtype: str,
    title: str,
    values: Sequence[Value],
    shape: Shape,
    more: dict[str, int],
    layout: str = "dense",
) -> Case:
    rest, diagonals = _diagonals(shape, more)

    def expect() -> tuple[Output]:
        truth = [zero(dtype)] * math.prod(shape)
        for value, places in zip(values, diagonals, strict=True):
            for i in places:
                truth[i] = value
        return (Output(dtype, shape, tuple(truth)),)

    arguments: dict[str, Any] = {"grad_y": tensor(dtype, values, rest, layout)}
    return Case(
        "trace_backward", group, dtype, title,
        {**arguments, **more, "input_shape": list(shape)}, expect,
    )  # fmt: skip
