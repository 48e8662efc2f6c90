"""7.2.14.1 to .4: the indices of the largest elements, and the order of all, by comparison."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from random import Random
from typing import Any

from suanzi.base.status import Status
from suanzi.conformance.cases import Wanted, cases_of, dtypes_of
from suanzi.conformance.cases import _sizes as sizes
from suanzi.conformance.cases._moves import Move, Result, sized_case
from suanzi.conformance.cases._values import Shape, by, distinct, zero
from suanzi.conformance.model.case import Case, Check, Expected, Output, Refused
from suanzi.conformance.model.data import LAYOUTS, anything, ordinary, special, tensor
from suanzi.conformance.model.expected import Picked
from suanzi.conformance.model.numbers import (
    FORMATS,
    INTEGERS,
    PARTS,
    Value,
    decode,
    limits,
    real,
)
from suanzi.conformance.truth.indexing_order import first_best, rank, sorted_indices
from suanzi.conformance.truth.lines import lines, shape_left

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


_WIDE = frozenset({"int32", "int64", "uint32", "uint64"})


def sampled(dtype: str, wanted: Wanted) -> Iterator[tuple[str, str, list[Value], Shape, str]]:
    """Give group, title, elements, shape and layout of what all of these are tried with.

    Ties are apart from the rest, so that a backend that breaks them otherwise fails there alone.
    """
    count = math.prod(SHAPE)
    if wanted.wants("plain", dtype):
        yield "plain", by(SHAPE), distinct(dtype, count), SHAPE, "dense"
        yield "plain", f"{by(SHAPE)} of equal ones", few(dtype, count), SHAPE, "dense"
        if dtype in _WIDE:  # which are equal in a float
            near: list[Value] = [limits(dtype)[1] - i for i in (3, 1, 2, 5, 4, 6)]
            yield "plain", "2x3 of large neighbours", near, (2, 3), "dense"
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
                yield best_case(op, group, dtype, name, xs, shape, axis, layout=layout)
        if wanted.wants("plain", dtype):
            xs, shape = ordinary(dtype, 12, "forms"), (3, 4)
            yield best_case(op, "plain", dtype, "of the last axis by default", xs, shape)
            yield best_case(op, "plain", dtype, "along -2", xs, shape, -2)
            yield best_case(op, "plain", dtype, "along 0 kept", xs, shape, 0, keepdim=True)
            yield best_case(op, "plain", dtype, "along 1 in int32", xs, shape, 1, dtype_="int32")
            yield best_case(op, "plain", dtype, "of one element", xs[:1], (1,), 0, dtype_="int64")
        if wanted.wants("empty", dtype):
            yield best_case(op, "empty", dtype, "of no elements", [], (2, 0), 1)


def best_case(
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
    """Return the case of argmax or argmin."""
    arguments: dict[str, Any] = {"input": tensor(dtype, xs, shape, layout)}
    given = {"axis": axis, "keepdim": keepdim or None, "dtype": dtype_}
    arguments |= {name: x for name, x in given.items() if x is not None}

    def expect() -> Expected:
        along = [(-1 if axis is None else axis) % len(shape)]
        if shape[along[0]] == 0:
            return Refused(Status.INVALID_ARGUMENT)
        best = tuple(
            first_best([xs[i] for i in line], op == "argmin") for line in lines(shape, along)
        )
        return (Output(dtype_ or "int64", shape_left(shape, along, keepdim), best),)

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
                        yield order_case(
                            op, group, dtype, full, xs, shape, axis, falling, k, layout=layout
                        )
        if wanted.wants("plain", dtype):
            xs, shape = distinct(dtype, 12, 60), (3, 4)
            k = None if op == "argsort" else 2
            yield order_case(op, "plain", dtype, "of the last axis by default", xs, shape, k=k)
            yield order_case(op, "plain", dtype, "along -2", xs, shape, -2, k=k)
            if op == "topk":
                yield order_case(op, "plain", dtype, "all of an axis", xs, shape, 1, k=4)
                for k in (2, 4):
                    for falling in (True, False):
                        title = f"{k} {'largest' if falling else 'least'} in any order"
                        yield order_case(
                            op, "plain", dtype, title, xs, shape, 1, falling, k, sorted_=False
                        )


def order_case(
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
    """Return the case of argsort or topk."""
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


# ---- large sizes ---------------------------------------------------------------------------------

_LENGTHS = (2, 7, 16, 33, 64, 65, 129, 257, 1025, 4097)
_VECTOR = 70


def _flat(rows: list[list[Value]]) -> tuple[list[Value], Shape]:
    return [x for row in rows for x in row], (len(rows), len(rows[0]))


def _different(length: int) -> int:
    return 5 if length < 1000 else 2


def one(dtype: str) -> Value:
    """Return 1, of a complex dtype 1 + i."""
    unit = real(1)
    return (unit, unit) if dtype in PARTS else unit if dtype in FORMATS else 1


def lengths(op: str, dtype: str, wanted: Wanted) -> list[int]:
    """Return the lengths of rows: all for two dtypes, a sample for the others."""
    if dtype in ("float32", "int32") and not wanted.quick:
        return list(_LENGTHS)
    return Random(f"sizes {op} {dtype}").sample(_LENGTHS, 1 if wanted.quick else 3)


@cases_of("argmax", "argmin")
def best_of_sizes(op: str, wanted: Wanted) -> Iterator[Case]:
    """Give what is best at every place of a vector, NaN there, and rows of every length."""
    for dtype in dtypes_of(op):
        if not wanted.wants("sizes", dtype):
            continue
        plain: list[Value] = [zero(dtype)] * _VECTOR
        best = one(dtype)
        if op == "argmin":
            plain, best = [best] * _VECTOR, zero(dtype)
        decides = {"the best": best}
        if dtype in FORMATS:
            decides["NaN"] = decode(FORMATS[dtype], FORMATS[dtype].nan)
        for title, x in decides.items():
            rows = [[*plain[:i], x, *plain[i + 1 :]] for i in range(_VECTOR)]
            small = best_case(op, "sizes", dtype, f"{title} at every place", *_flat(rows), 1)
            yield from sizes.rows_and_columns(small, _VECTOR, "{title} of {word}")
        for length in lengths(op, dtype, wanted):
            rows = [ordinary(dtype, length, (length, k)) for k in range(_different(length))]
            small = best_case(op, "sizes", dtype, f"9 of {length}", *_flat(rows), 1)
            yield from sizes.rows_and_columns(small, 9, "{title} of {word}")


@cases_of("argsort", "topk")
def orders_of_sizes(op: str, wanted: Wanted) -> Iterator[Case]:
    """Give rows and columns of every length, both ways, equal elements among them."""
    for dtype in dtypes_of(op):
        if not wanted.wants("sizes", dtype):
            continue
        for length in lengths(op, dtype, wanted):
            rows = [
                ordinary(dtype, length, ("order", length, k)) for k in range(_different(length))
            ]
            falling = length % 3 == 1
            if length > 1000:  # the best come last, and a few of many are selected
                rows = [_best_last(row, falling) for row in rows]
            k = None if op == "argsort" else (length + 1) // 2 if length < 1000 else 3
            title = f"of {length} {'down' if falling else 'up'}"
            small = order_case(op, "sizes", dtype, title, *_flat(rows), 1, falling, k)
            yield from sizes.rows_and_columns(small, 9, "9 {word} {title}")
        if op == "topk":
            for falling in (True, False):
                yield _one_of_many(dtype, falling)


def _best_last(row: list[Value], falling: bool) -> list[Value]:
    ordered = sorted(row, key=rank)
    best, next_best = (ordered[-1], ordered[-2]) if falling else (ordered[0], ordered[1])
    return [x if rank(x) != rank(best) else next_best for x in row[:-1]] + [best]


_MANY = 129
"""So many that one of them is few, and that some are behind a group of 64."""


def _one_of_many(dtype: str, falling: bool) -> Case:
    """Return rows of which each has what is best at another place."""
    values = _ladder(dtype)
    best = len(values) - 1 if falling else 0
    others = [i for i in range(len(values)) if i != best]
    others = (others * _MANY)[: _MANY - 1]
    index = [x for at in range(_MANY) for x in (*others[:at], best, *others[at:])]
    data = sizes.Few(dtype, values).tensor(index, (_MANY, _MANY))
    arguments = {"input": data, "k": 1, "axis": 1, "largest": falling}
    word = "largest" if falling else "least"

    def expect() -> tuple[Output, Output]:
        found = Picked((values[best],), [0] * _MANY)
        return (Output(dtype, (_MANY, 1), found), Output("int64", (_MANY, 1), tuple(range(_MANY))))

    title = f"the {word} of {_MANY} at every place"
    return Case("topk", "sizes", dtype, title, arguments, expect)


def _ladder(dtype: str) -> list[Value]:
    """Return as many different numbers as are needed, or zero and one where there are not."""
    if dtype in FORMATS:
        enough = 2 ** FORMATS[dtype].mantissa >= _MANY // 2
        return [real(i - _MANY // 2) for i in range(_MANY)] if enough else [zero(dtype), one(dtype)]
    if dtype not in INTEGERS:
        return [zero(dtype), one(dtype)]
    low, high = limits(dtype)
    return list(range(max(low, -(_MANY // 2)), min(high + 1, max(low, -(_MANY // 2)) + _MANY)))


@cases_of("argsort_bwd")
def gradients_of_sizes(op: str, wanted: Wanted) -> Iterator[Case]:
    """Give gradients that go back to where their elements were, in rows of every length."""
    for dtype in dtypes_of(op):
        if wanted.wants("sizes", dtype):
            for length in lengths(op, dtype, wanted):
                yield _unsorted_rows(dtype, length)


def _unsorted_rows(dtype: str, length: int) -> Case:
    shape = (3, length)
    chance = Random(f"order {length}")
    orders = [chance.sample(range(length), length) for _ in range(shape[0])]
    places = [0] * (3 * length)
    for row, order in enumerate(orders):
        for i, at in enumerate(order):
            places[row * length + at] = row * length + i
    indices = tensor("int64", [i for order in orders for i in order], shape)
    title = f"3 rows of {length}"
    move = Move(
        title, {"out_grad": shape}, Result(shape, tuple(places)), {"indices": indices, "axis": 1}
    )
    return sized_case("argsort_bwd", dtype, move)
