"""7.2.14.1 to .4: where the largest elements are, and the order of all, by plain comparison."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from random import Random
from typing import Any

from suanzi.conformance.cases import Wanted, cases_of, dtypes_of
from suanzi.conformance.cases._values import Shape, by, distinct
from suanzi.conformance.model.case import Case, Check, Expected, Output, Refused
from suanzi.conformance.model.data import LAYOUTS, anything, ordinary, special, tensor
from suanzi.conformance.model.numbers import FORMATS, Value, decode, real
from suanzi.conformance.truth.indexing_order import first_best, sorted_indices
from suanzi.conformance.truth.lines import lines, shape_left
from suanzi.status import Status

SHAPE = (3, 5, 4)


def few(dtype: str, count: int, seed: object = 0) -> list[Value]:
    """Return elements of which many are equal."""
    numbers = ordinary("int8", count, f"few {seed}", 0, 1 if dtype == "uint1" else 4)
    return [real(x) if dtype in FORMATS and isinstance(x, int) else x for x in numbers]


def special_rows(dtype: str) -> tuple[list[Value], Shape]:
    """Return rows of every kind of number in mixed orders, with NaN and without."""
    some = list(special(dtype))
    rows: list[list[Value]] = [some, some[::-1]]
    for seed in range(4):
        mixed = list(some)
        Random(f"mixed {seed}").shuffle(mixed)
        rows.append(mixed)
    if dtype in FORMATS:
        form = FORMATS[dtype]
        nan: Value = decode(form, form.nan)
        zeros: list[Value] = [real(0), -real(0)]
        kept = [x for x in some if not getattr(x, "is_nan", False)]
        n = len(some)
        for seed in range(3):
            mixed = (kept * 2)[:n]
            Random(f"numbers {seed}").shuffle(mixed)
            rows.append(mixed)
        rows += [[nan] * n, (zeros * n)[:n], (zeros[::-1] * n)[:n]]
    return [x for row in rows for x in row], (len(rows), len(some))


def sampled(dtype: str, wanted: Wanted) -> Iterator[tuple[str, str, list[Value], Shape, str]]:
    """Give group, title, elements, shape and layout of what all of these are tried with.

    Ties are apart from the rest, so that a backend that breaks them otherwise fails there alone.
    """
    count = math.prod(SHAPE)
    if wanted.wants("plain", dtype):
        yield "plain", by(SHAPE), distinct(dtype, count), SHAPE, "dense"
        yield "plain", f"{by(SHAPE)} of equal ones", few(dtype, count), SHAPE, "dense"
    if wanted.wants("strided", dtype):
        for layout in LAYOUTS[1:3] if wanted.quick else LAYOUTS:
            yield "strided", f"{layout} {by(SHAPE)}", distinct(dtype, count), SHAPE, layout
    if wanted.wants("empty", dtype):
        yield "empty", "0x3x2", [], (0, 3, 2), "dense"
    if wanted.wants("special", dtype):
        xs, shape = special_rows(dtype)
        yield "special", "rows of every kind", xs, shape, "dense"
    if wanted.wants("random", dtype):
        yield "random", "4x30", anything(dtype, 120, wanted.seed), (4, 30), "dense"
        yield "random", "2x60 of equal ones", few(dtype, 120, wanted.seed), (2, 60), "dense"


# ---- argmax, argmin ------------------------------------------------------------------------------


@cases_of("argmax", "argmin")
def best(op: str, wanted: Wanted) -> Iterator[Case]:
    """Give where the largest and the least elements are; of equal ones the first, a NaN before."""
    for dtype in dtypes_of(op):
        for group, title, xs, shape, layout in sampled(dtype, wanted):
            axes = (1, 2) if group == "empty" else range(len(shape)) if group == "plain" else (1,)
            for axis in axes:
                name = f"{title} along {axis}"
                yield _best(op, group, dtype, name, xs, shape, axis, layout=layout)
        if wanted.wants("plain", dtype):
            xs, shape = ordinary(dtype, 12, "forms"), (3, 4)
            yield _best(op, "plain", dtype, "of the last axis by default", xs, shape)
            yield _best(op, "plain", dtype, "along -2", xs, shape, -2)
            yield _best(op, "plain", dtype, "along 0 kept", xs, shape, 0, keepdim=True)
            yield _best(op, "plain", dtype, "along 1 in int32", xs, shape, 1, dtype_="int32")
            yield _best(op, "plain", dtype, "of one element", xs[:1], (1,), 0, dtype_="int64")
        if wanted.wants("empty", dtype):
            yield _best(op, "empty", dtype, "of no elements", [], (2, 0), 1)


def _best(
    op: str,
    group: str,
    dtype: str,
    title: str,
    xs: Sequence[Value],
    shape: Shape,
    axis: int | None = None,
    *,
    keepdim: bool = False,
    dtype_: str | None = None,
    layout: str = "dense",
) -> Case:
    arguments: dict[str, Any] = {"input": tensor(dtype, xs, shape, layout)}
    given = {"axis": axis, "keepdim": keepdim or None, "dtype": dtype_}
    arguments |= {name: x for name, x in given.items() if x is not None}

    def expect() -> Expected:
        along = [(-1 if axis is None else axis) % len(shape)]
        if shape[along[0]] == 0:
            return Refused(Status.INVALID_ARGUMENT)
        found = tuple(
            first_best([xs[i] for i in line], op == "argmin") for line in lines(shape, along)
        )
        return (Output(dtype_ or "int64", shape_left(shape, along, keepdim), found),)

    return Case(op, group, dtype, title, arguments, expect)


# ---- argsort, topk -------------------------------------------------------------------------------


@cases_of("argsort", "topk")
def orders(op: str, wanted: Wanted) -> Iterator[Case]:
    """Give elements in order both ways; equal ones keep theirs, and NaN is the largest."""
    for dtype in dtypes_of(op):
        for group, title, xs, shape, layout in sampled(dtype, wanted):
            for axis in range(len(shape)) if group == "plain" else (1,):
                for falling in (True, False):
                    name = f"{title} along {axis} {'down' if falling else 'up'}"
                    counts: Sequence[int | None] = (
                        [None] if op == "argsort" else [min(2, shape[axis])]
                    )
                    if op == "topk" and group in ("special", "random"):
                        counts = sorted({1, shape[axis] // 2, shape[axis]})
                    for k in counts:
                        full = name if k is None else f"{k} of {name}"
                        yield _order(
                            op, group, dtype, full, xs, shape, axis, falling, k, layout=layout
                        )
        if wanted.wants("plain", dtype):
            xs, shape = distinct(dtype, 12, 60), (3, 4)
            k = None if op == "argsort" else 2
            yield _order(op, "plain", dtype, "of the last axis by default", xs, shape, k=k)
            yield _order(op, "plain", dtype, "along -2", xs, shape, -2, k=k)
            if op == "topk":
                yield _order(op, "plain", dtype, "all of an axis", xs, shape, 1, k=4)
                for k in (2, 4):
                    for falling in (True, False):
                        title = f"{k} {'largest' if falling else 'least'} in any order"
                        yield _order(
                            op, "plain", dtype, title, xs, shape, 1, falling, k, sorted_=False
                        )


def _order(
    op: str,
    group: str,
    dtype: str,
    title: str,
    xs: Sequence[Value],
    shape: Shape,
    axis: int | None = None,
    falling: bool | None = None,
    k: int | None = None,
    *,
    sorted_: bool | None = None,
    layout: str = "dense",
) -> Case:
    arguments: dict[str, Any] = {"input": tensor(dtype, xs, shape, layout)}
    down = "descending" if op == "argsort" else "largest"
    given = {"k": k, "axis": axis, down: falling, "sorted": sorted_}
    arguments |= {name: x for name, x in given.items() if x is not None}

    def expect() -> Expected:
        along = (-1 if axis is None else axis) % len(shape)
        count = shape[along] if k is None else k
        left = (*shape[:along], count, *shape[along + 1 :])
        elements: list[Value] = [0] * math.prod(left)
        places = [0] * math.prod(left)
        for line, out in zip(lines(shape, [along]), lines(left, [along]), strict=True):
            order = sorted_indices([xs[i] for i in line], falling is not False)[:count]
            for target, source in zip(out, order, strict=True):
                elements[target], places[target] = xs[line[source]], source
        found = Output(dtype, left, tuple(elements)), Output("int64", left, tuple(places))
        if sorted_ is False:
            return Check("best_in_any_order", {"outputs": found, "axis": along})
        return found

    return Case(op, group, dtype, title, arguments, expect)


@cases_of("argsort_bwd")
def unsorted(op: str, wanted: Wanted) -> Iterator[Case]:
    """Give gradients that go back to where the elements came from."""
    for dtype in dtypes_of(op):
        for group, title, xs, shape, layout in sampled(dtype, wanted):
            if "equal" in title:
                continue
            for axis in range(len(shape)) if group == "plain" else (1,):
                yield _unsorted(group, dtype, f"{title} along {axis}", xs, shape, axis, layout)
        if wanted.wants("plain", dtype):
            xs = ordinary(dtype, 12, "forms")
            yield _unsorted("plain", dtype, "of the last axis by default", xs, (3, 4))
            yield _unsorted("plain", dtype, "of one axis", xs, (12,))
            yield _unsorted("plain", dtype, "along -2", xs, (3, 4), -2)


def _unsorted(
    group: str,
    dtype: str,
    title: str,
    xs: Sequence[Value],
    shape: Shape,
    axis: int | None = None,
    layout: str = "dense",
) -> Case:
    along = (-1 if axis is None else axis) % len(shape)
    random = Random(f"order {title} {shape}")
    places, truth = [0] * len(xs), list(xs)
    for line in lines(shape, [along]):
        order = list(range(len(line)))
        random.shuffle(order)
        for i, source in zip(line, order, strict=True):
            places[i] = source
            truth[line[source]] = xs[i]
    arguments: dict[str, Any] = {
        "out_grad": tensor(dtype, xs, shape, layout),
        "indices": tensor("int64", places, shape, layout),
    }
    if axis is not None:
        arguments["axis"] = axis
    # A gradient may be added to zeros, which takes the sign of its own ones.
    expected = (Output(dtype, shape, tuple(truth), zero_sign=False),)
    return Case("argsort_bwd", group, dtype, title, arguments, lambda: expected)
