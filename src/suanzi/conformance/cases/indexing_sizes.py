"""7.2.14: the largest, orders and coordinates at the sizes at which kernels break."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache, partial
from random import Random

from suanzi.conformance.cases import Wanted, cases_of, dtypes_of
from suanzi.conformance.cases import _sizes as sizes
from suanzi.conformance.cases._moves import Move, Result, sized_case
from suanzi.conformance.cases._values import zero
from suanzi.conformance.model.case import Case, Output
from suanzi.conformance.model.data import ordinary, tensor
from suanzi.conformance.model.numbers import (
    FORMATS,
    INTEGERS,
    PARTS,
    Value,
    decode,
    limits,
    real,
)
from suanzi.conformance.model.picked import Picked
from suanzi.conformance.subjects.wire import Data
from suanzi.conformance.truth.indexing_order import first_best, rank, sorted_indices

_LENGTHS = (2, 7, 16, 33, 64, 65, 129, 257, 1025, 4097)
_VECTOR = 70
_ROWS = 5


def _one(dtype: str) -> Value:
    one = real(1)
    return (one, one) if dtype in PARTS else one if dtype in FORMATS else 1


def _lengths(op: str, dtype: str, wanted: Wanted) -> list[int]:
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
        best = _one(dtype)
        if op == "argmin":
            plain, best = [best] * _VECTOR, zero(dtype)
        decides = {"the best": best}
        if dtype in FORMATS:
            decides["NaN"] = decode(FORMATS[dtype], FORMATS[dtype].nan)
        for title, x in decides.items():
            rows = [[*plain[:i], x, *plain[i + 1 :]] for i in range(_VECTOR)]
            for axis in (1, 0):
                yield _best(op, dtype, f"{title} at every place", rows, _VECTOR, axis)
        for length in _lengths(op, dtype, wanted):
            different = _ROWS if length < 1000 else 2
            rows = [ordinary(dtype, length, (length, k)) for k in range(different)]
            for axis in (1, 0):
                yield _best(op, dtype, f"9 of {length}", rows, 9, axis)


def _best(op: str, dtype: str, title: str, rows: list[list[Value]], count: int, axis: int) -> Case:
    data = _matrix(dtype, rows, count, axis)

    def expect() -> tuple[Output]:
        found = tuple(first_best(row, op == "argmin") for row in rows)
        return (Output("int64", (count,), tuple(found[i % len(rows)] for i in range(count))),)

    word = "rows" if axis else "columns"
    return Case(op, "sizes", dtype, f"{title} of {word}", {"input": data, "axis": axis}, expect)


def _matrix(dtype: str, rows: list[list[Value]], count: int, axis: int) -> Data:
    length = len(rows[0])
    few = sizes.Few(dtype, [x for row in rows for x in row])
    index = _laid([[k * length + j for j in range(length)] for k in range(len(rows))], count, axis)
    return few.tensor(index, (count, length) if axis else (length, count))


def _laid(rows: list[list[int]], count: int, axis: int) -> list[int]:
    """Return numbers of rows as a matrix has them, by rows or by columns."""
    if axis:
        return [x for i in range(count) for x in rows[i % len(rows)]]
    return [rows[i % len(rows)][j] for j in range(len(rows[0])) for i in range(count)]


@cases_of("argsort", "topk")
def orders_of_sizes(op: str, wanted: Wanted) -> Iterator[Case]:
    """Give rows and columns of every length, both ways, equal elements among them."""
    for dtype in dtypes_of(op):
        if not wanted.wants("sizes", dtype):
            continue
        for length in _lengths(op, dtype, wanted):
            different = _ROWS if length < 1000 else 2
            rows = [ordinary(dtype, length, ("order", length, k)) for k in range(different)]
            falling = length % 3 == 1
            if length > 1000:  # what is best comes last: a few of many are looked for
                rows = [_best_last(row, falling) for row in rows]
            orders = cache(partial(_orders, rows, falling))
            for axis in (1, 0):
                yield _order(op, dtype, rows, axis, falling, orders)
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
        return (
            [real(i - _MANY // 2) for i in range(_MANY)] if enough else [zero(dtype), _one(dtype)]
        )
    if dtype not in INTEGERS:
        return [zero(dtype), _one(dtype)]
    low, high = limits(dtype)
    return list(range(max(low, -(_MANY // 2)), min(high + 1, max(low, -(_MANY // 2)) + _MANY)))


def _orders(rows: list[list[Value]], falling: bool) -> list[list[int]]:
    return [sorted_indices(row, falling) for row in rows]


def _order(
    op: str,
    dtype: str,
    rows: list[list[Value]],
    axis: int,
    falling: bool,
    sorted_rows: Callable[[], list[list[int]]],
) -> Case:
    length, count = len(rows[0]), 9
    k = length if op == "argsort" else (length + 1) // 2 if length < 1000 else 3

    def expect() -> tuple[Output, Output]:
        orders = [row[:k] for row in sorted_rows()]
        few = tuple(x for row in rows for x in row)
        values = [[r * length + i for i in order] for r, order in enumerate(orders)]
        shape = (count, k) if axis else (k, count)
        return (
            Output(dtype, shape, Picked(few, _laid(values, count, axis))),
            Output("int64", shape, tuple(_laid(orders, count, axis))),
        )

    given = {"descending": falling} if op == "argsort" else {"k": k, "largest": falling}
    arguments = {"input": _matrix(dtype, rows, count, axis), "axis": axis, **given}
    title = f"9 {'rows' if axis else 'columns'} of {length} {'down' if falling else 'up'}"
    return Case(op, "sizes", dtype, title, arguments, expect)


@cases_of("nonzero")
def coordinates_of_sizes(op: str, wanted: Wanted) -> Iterator[Case]:
    """Give elements that are zero now and then, in rows and in matrices."""
    for dtype in dtypes_of(op):
        if not wanted.wants("sizes", dtype):
            continue
        few = sizes.Few(dtype, [zero(dtype), _one(dtype)])
        shapes = [(n,) for n in _lengths(op, dtype, wanted)] + [sizes.MATRIX]
        for shape in shapes:
            yield _coordinates(dtype, few, shape)


def _coordinates(dtype: str, few: sizes.Few, shape: tuple[int, ...]) -> Case:
    size = shape[0] * (shape[1] if len(shape) > 1 else 1)
    # Every third row is zero altogether.
    index = [
        int((i * i % 11 < 4 and (len(shape) == 1 or i // shape[-1] % 3 != 1)) or i == size - 1)
        for i in range(size)
    ]
    found = [i for i in range(size) if index[i]]

    def expect() -> tuple[Output]:
        width = shape[-1]
        at = found if len(shape) == 1 else [x for i in found for x in divmod(i, width)]
        return (Output("int64", (len(found), len(shape)), tuple(at)),)

    data = few.tensor(index, shape)
    arguments = {"input": data, "as_tuple": False}
    return Case("nonzero", "sizes", dtype, sizes.words(shape), arguments, expect)


@cases_of("argsort_bwd")
def gradients_of_sizes(op: str, wanted: Wanted) -> Iterator[Case]:
    """Give gradients that go back to where their elements were, in rows of every length."""
    for dtype in dtypes_of(op):
        if wanted.wants("sizes", dtype):
            for length in _lengths(op, dtype, wanted):
                yield _unsorted(dtype, length)


def _unsorted(dtype: str, length: int) -> Case:
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
