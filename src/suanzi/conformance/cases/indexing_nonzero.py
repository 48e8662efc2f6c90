"""7.2.14.5: nonzero: the coordinates of what is not zero, in row-major order in any layout."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from random import Random
from typing import Any

from suanzi.base.status import Status
from suanzi.conformance.cases import Wanted, cases_of, dtypes_of
from suanzi.conformance.cases import _sizes as sizes
from suanzi.conformance.cases._values import Shape, by, indices, zero
from suanzi.conformance.cases.indexing import lengths, one
from suanzi.conformance.model.case import Case, Expected, Output, Refused
from suanzi.conformance.model.data import LAYOUTS, anything, special, tensor
from suanzi.conformance.model.numbers import FORMATS, PARTS, ZERO, Value, real, truth

_SHAPES: tuple[Shape, ...] = ((11,), (4, 5), (2, 3, 4))


@cases_of("nonzero")
def coordinates(op: str, wanted: Wanted) -> Iterator[Case]:
    """Give zeros among other elements, nothing but zeros, and no elements."""
    for dtype in dtypes_of(op):
        if wanted.wants("plain", dtype):
            for shape in _SHAPES:
                xs = sparse(dtype, math.prod(shape), 0.5)
                for as_tuple in (None, True, False):
                    yield nonzero_case("plain", dtype, by(shape), xs, shape, as_tuple)
            alone = [*sparse(dtype, 7, 0), *sparse(dtype, 1, 1), *sparse(dtype, 4, 0)]
            yield nonzero_case("plain", dtype, "one that is not zero", alone, (3, 4), None)
            yield nonzero_case(
                "plain", dtype, "none that is zero", sparse(dtype, 6, 1), (2, 3), False
            )
            yield nonzero_case("plain", dtype, "all zero", sparse(dtype, 6, 0), (2, 3), None)
        if wanted.wants("strided", dtype):
            for layout in LAYOUTS:
                xs = sparse(dtype, 12, 0.5, "strided")
                yield nonzero_case("strided", dtype, f"{layout} 3x4", xs, (3, 4), None, layout)
                yield nonzero_case("strided", dtype, f"{layout} 3x4", xs, (3, 4), False, layout)
        if wanted.wants("empty", dtype):
            yield nonzero_case("empty", dtype, "0", [], (0,), None)
            yield nonzero_case("empty", dtype, "2x0", [], (2, 0), False)
            yield _without_axes(dtype)
        if wanted.wants("special", dtype):
            few = list(special(dtype))
            yield nonzero_case("special", dtype, "of every kind", few, (len(few),), None)
            if dtype in FORMATS or dtype in PARTS:
                yield nonzero_case(
                    "special", dtype, "zeros of both signs", _zeros(dtype), (4,), None
                )
        if wanted.wants("random", dtype):
            some = anything(dtype, 60, wanted.seed)
            kept = sparse(dtype, 60, 0.5, wanted.seed)
            xs = [x if truth(k) else zero(dtype) for x, k in zip(some, kept, strict=True)]
            yield nonzero_case("random", dtype, "5x4x3", xs, (5, 4, 3), False)


def _without_axes(dtype: str) -> Case:
    """Return what has no coordinates."""
    arguments = {"input": tensor(dtype, sparse(dtype, 1, 1), ())}
    refused = Refused(Status.INVALID_ARGUMENT)
    return Case("nonzero", "empty", dtype, "0-d", arguments, lambda: refused)


def sparse(dtype: str, count: int, share: float, seed: object = 0) -> list[Value]:
    """Return ones, of which a share is left and the others are zeros."""
    random = Random(f"sparse {count} {share} {seed}")
    unit = real(1)
    other: Value = (ZERO, unit) if dtype in PARTS else unit if dtype in FORMATS else 1
    return [other if random.random() < share else zero(dtype) for _ in range(count)]


def _zeros(dtype: str) -> list[Value]:
    if dtype in PARTS:
        return [(a, b) for a in (ZERO, -ZERO) for b in (ZERO, -ZERO)]
    return [ZERO, -ZERO, -ZERO, ZERO]


def nonzero_case(
    group: str,
    dtype: str,
    title: str,
    xs: Sequence[Value],
    shape: Shape,
    as_tuple: bool | None,
    layout: str = "dense",
    *,
    words: bool = True,
) -> Case:
    """Return the case of a tensor; `words` adds the form of the result to the title."""
    arguments: dict[str, Any] = {"input": tensor(dtype, xs, shape, layout)}
    if as_tuple is not None:
        arguments["as_tuple"] = as_tuple
    form = {None: "", True: " as a tuple", False: " as a matrix"}[as_tuple] if words else ""

    def expect() -> Expected:
        found = [at for at, x in zip(indices(shape), xs, strict=True) if truth(x)]
        made: Any
        if as_tuple is False:
            flat = tuple(i for at in found for i in at)
            made = Output("int64", (len(found), len(shape)), flat)
        else:
            made = [
                Output("int64", (len(found),), tuple(at[axis] for at in found))
                for axis in range(len(shape))
            ]
        return (made,) if found else Refused(Status.OUT_OF_RANGE, (made,))

    return Case("nonzero", group, dtype, f"{title}{form}", arguments, expect)


@cases_of("nonzero")
def coordinates_of_sizes(op: str, wanted: Wanted) -> Iterator[Case]:
    """Give elements that are zero now and then, in rows and in matrices."""
    for dtype in dtypes_of(op):
        if not wanted.wants("sizes", dtype):
            continue
        few = (zero(dtype), one(dtype))
        for shape in (*((n,) for n in lengths(op, dtype, wanted)), sizes.MATRIX):
            size = math.prod(shape)
            # Every third row of a matrix is zero altogether.
            left_out = [len(shape) > 1 and i // shape[-1] % 3 == 1 for i in range(size)]
            kept = [i * i % 11 < 4 and not left_out[i] for i in range(size - 1)] + [True]
            some = [few[x] for x in kept]
            title = sizes.words(shape)
            yield nonzero_case("sizes", dtype, title, some, shape, False, words=False)
