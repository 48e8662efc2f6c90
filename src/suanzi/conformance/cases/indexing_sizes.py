"""7.2.14: the largest, orders and coordinates at the sizes at which kernels break."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache, partial
from random import Random

from suanzi.conformance.cases import Wanted, cases_of, dtypes_of
from suanzi.conformance.cases import _sizes as sizes
from suanzi.conformance.cases._moves import zero
from suanzi.conformance.model.case import Case, Output
from suanzi.conformance.model.data import ordinary
from suanzi.conformance.model.numbers import FORMATS, PARTS, Value, decode, real
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
            if length > 1000:  # what is best comes last: a few of many are looked for
                ends = sorted(rows[0], key=rank)
                rows = [[*row[:-2], ends[0], ends[-1]] for row in rows]
                rows = [
                    [
                        x if rank(x) not in map(rank, (ends[0], ends[-1])) else ends[1]
                        for x in row[:-2]
                    ]
                    + row[-2:]
                    for row in rows
                ]
            falling = length % 3 == 1
            orders = cache(partial(_orders, rows, falling))
            for axis in (1, 0):
                yield _order(op, dtype, rows, axis, falling, orders)


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
