"""Interfaces that only move elements: the index that each element of a result comes from.

A `Moving` describes such an interface once, for all dtypes; `moving` derives the cases of every
group from it, those of large sizes included.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import prod
from random import Random
from typing import Any

from suanzi.conformance.cases import Wanted, cases_of, dtypes_of
from suanzi.conformance.cases import _sizes as sizes
from suanzi.conformance.cases._sparse import made_sparse
from suanzi.conformance.cases._values import (
    SCALE,
    STORED,
    Shape,
    by,
    distinct,
    laid_out,
    quantised,
    repeated,
    zero,
    zero_point_of,
)
from suanzi.conformance.model.case import Case, Output
from suanzi.conformance.model.data import LAYOUTS, anything, special, tensor
from suanzi.conformance.model.expected import Cycle, Picked
from suanzi.conformance.model.numbers import Value
from suanzi.conformance.subjects.wire import Data

PERIOD = 251
"""After how many elements the values of a large tensor repeat: a prime that a byte can count."""
LARGE = (1009, 991)


# ---- indices -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Result:
    """A tensor that a move returns: the flat index each element comes from, None for a zero."""

    shape: Shape
    places: Sequence[int | None]


def summed(tables: Sequence[Sequence[int | None]]) -> Result:
    """Return the result whose element (i, j, ...) comes from tables[0][i] + tables[1][j] + ...

    It is a zero where one of them is None.

    >>> summed([[0, 3], [2, None]])
    Result(shape=(2, 2), places=[2, None, 5, None])
    """
    places: list[int | None] = [0]
    for table in tables:
        if None in table or None in places:
            places = [None if a is None or b is None else a + b for a in places for b in table]
        else:
            places = [a + b for a in places for b in table]  # type: ignore[operator]
    return Result(tuple(map(len, tables)), places)


def taken(shape: Shape, picks: Sequence[Sequence[int | None]], order: Sequence[int] = ()) -> Result:
    """Return the elements at the given indices along each axis, the axes in another order if given.

    >>> taken((2, 3), [[1], [2, 0]])
    Result(shape=(1, 2), places=[5, 3])
    """
    tables = []
    for axis, some in enumerate(picks):
        step = prod(shape[axis + 1 :])
        tables.append([None if i is None else i * step for i in some])
    return summed([tables[axis] for axis in order] if order else tables)


def in_order(shape: Sequence[int]) -> Result:
    """Return all elements in their order, in a shape."""
    return Result(tuple(shape), range(prod(shape)))


def stretched_to(shape: Shape, out: Sequence[int]) -> Result:
    """Return the elements of a shape broadcast to another.

    >>> stretched_to((2, 1), (2, 2)).places
    [0, 0, 1, 1]
    """
    full = (1,) * (len(out) - len(shape)) + shape
    return taken(full, [[0] * m if n == 1 else range(n) for n, m in zip(full, out, strict=True)])


@dataclass(frozen=True)
class Move:
    """A call of an operator that moves elements, for tensors of any dtype."""

    title: str
    tensors: Mapping[str, Shape | list[Shape]]
    """The shapes of the tensors whose elements are moved; indices count through all of them."""
    result: Result | list[Result]
    arguments: Mapping[str, Any] = field(default_factory=dict)
    """The others."""

    @property
    def size(self) -> int:
        """The number of elements of these tensors."""
        return sum(map(prod, _flat(self.tensors.values())))


def moved(title: str, shape: Shape, out: Result | list[Result], /, **arguments: Any) -> Move:
    """Return a move of the elements of `input` alone."""
    return Move(f"{by(shape)} {title}".strip(), {"input": shape}, out, arguments)


def _flat(shapes: Any) -> list[Shape]:
    return [s for x in shapes for s in (x if isinstance(x, list) else [x])]


# ---- cases ---------------------------------------------------------------------------------------


def move_case(
    op: str,
    group: str,
    dtype: str,
    move: Move,
    elements: Sequence[Value],
    layout: str = "dense",
    title: str | None = None,
) -> Case:
    """Return the case of a move of these elements."""

    def data(start: int, shape: Shape) -> Data:
        return _data(dtype, elements[start : start + prod(shape)], shape)

    def output(part: Result) -> Output:
        return _output(dtype, part, elements)

    arguments = {name: laid_out(x, layout) for name, x in _given(move, data).items()}
    return Case(op, group, dtype, title or move.title, arguments, lambda: _each(move, output))


def _given(move: Move, data: Callable[[int, Shape], Data]) -> dict[str, Any]:
    """Return the arguments of a move; `data` makes a tensor of the elements from an index on."""
    arguments: dict[str, Any] = {}
    at = 0
    for name, shapes in move.tensors.items():
        some = []
        for shape in shapes if isinstance(shapes, list) else [shapes]:
            some.append(data(at, shape))
            at += prod(shape)
        arguments[name] = some if isinstance(shapes, list) else some[0]
    return arguments | dict(move.arguments)


def _each(move: Move, output: Callable[[Result], Output]) -> tuple[Any]:
    parts = move.result
    return ([output(part) for part in parts] if isinstance(parts, list) else output(parts),)


def _data(dtype: str, elements: Sequence[Value], shape: Shape) -> Data:
    data = tensor(dtype, elements, shape)
    if quantised(dtype):
        return replace(data, scale=(SCALE,), zero_point=zero_point_of(dtype))
    return data


def _output(dtype: str, part: Result, elements: Sequence[Value]) -> Output:
    nothing = zero(dtype, zero_point_of(dtype))
    truth = tuple(nothing if p is None else elements[p] for p in part.places)
    if quantised(dtype):
        scale, zero_point = (SCALE,), zero_point_of(dtype)
        return Output(dtype, part.shape, truth, scale=scale, zero_point=zero_point)
    return Output(dtype, part.shape, truth)


Call = tuple[Any, ...]
"""The arguments of the function that builds a move."""


@dataclass(frozen=True)
class Moving:
    """What the cases of an interface that only moves elements need to know of it."""

    build: Callable[..., Move]
    plain: Sequence[Call]
    """Calls of `build`."""
    empty: Sequence[Call] = ()
    broadcast: Sequence[Call] = ()
    drawn: Callable[[Random], Call] | None = None
    """Draws a random call."""
    sizes: Callable[[int, int], Sequence[Call]] | None = None
    """Calls for matrices of so many rows and columns, each after its title; the first of them also
    has a million elements."""
    more_sizes: Callable[[], Iterable[Call]] = tuple
    """Calls of large sizes that are no matrices, each after its title."""
    quantised: bool = True
    """Whether it takes quantised tensors."""


def moving(names: str, record: Moving) -> None:
    """Declare what the cases of interfaces, whose names are separated by spaces, derive from."""
    cases_of(*names.split())(lambda op, wanted: move_cases(op, record, wanted))


def move_cases(op: str, record: Moving, wanted: Wanted) -> Iterator[Case]:
    """Give the cases of every group for every dtype that an interface takes.

    Of quantised tensors only the plain ones, whose zero point makes zeros visible. In a quick run
    one dtype has all of the plain ones, the others two.
    """
    plain, empty, broadcast = (
        [record.build(*call) for call in calls]
        for calls in (record.plain, record.empty, record.broadcast)
    )
    for dtype in dtypes_of(op, record.quantised):
        if dtype.startswith("QT_CH"):
            continue  # no clause says what becomes of a scale for each channel
        groups = {"plain": plain[:2] if wanted.quick and dtype != "float32" else plain}
        if not quantised(dtype):
            groups |= {"broadcast": broadcast, "empty": empty}
        for group, moves in groups.items():
            if wanted.wants(group, dtype):
                for move in moves:
                    yield move_case(op, group, dtype, move, distinct(dtype, move.size))
        if quantised(dtype):
            continue
        if wanted.wants("strided", dtype):
            yield from _strided(op, dtype, plain[: 1 if wanted.quick else 2])
            if dtype == "float32" and list(plain[0].tensors) == ["input"]:
                yield _of_sparse(op, dtype, plain[0])
        if wanted.wants("special", dtype) and dtype not in ("bool", "uint1"):
            yield from _special(op, dtype, plain[0])
        if record.drawn is not None and wanted.wants("random", dtype):
            for i in range(1 if wanted.quick else 2):
                move = record.build(*record.drawn(Random(f"{op} {dtype} {wanted.seed} {i}")))
                elements = anything(STORED.get(dtype, dtype), move.size, (wanted.seed, op, i))
                yield move_case(op, "random", dtype, move, elements, title=f"shape and values {i}")
    if record.sizes is not None:
        yield from _sized(op, record, record.sizes, wanted)


def _strided(op: str, dtype: str, moves: Sequence[Move]) -> Iterator[Case]:
    for move in moves:
        elements = distinct(dtype, move.size)
        for layout in LAYOUTS:
            yield move_case(op, "strided", dtype, move, elements, layout, f"{layout} {move.title}")
        same, at = [], 0
        for shape in _flat(move.tensors.values()):
            same += repeated(elements[at : at + prod(shape)], shape)
            at += prod(shape)
        title = f"repeated {move.title}"
        yield move_case(op, "strided", dtype, move, same, "repeated", title)


def _of_sparse(op: str, dtype: str, move: Move) -> Case:
    some = distinct(dtype, move.size)
    few = [x if i % 3 == 0 else zero(dtype) for i, x in enumerate(some)]
    title = f"sparse COO {move.title}"
    return made_sparse(move_case(op, "strided", dtype, move, few, title=title), {"input": "COO"})


def _special(op: str, dtype: str, move: Move) -> Iterator[Case]:
    few = special(STORED.get(dtype, dtype))
    for i, at in enumerate(range(0, len(few), move.size)):
        elements = [few[(at + k) % len(few)] for k in range(move.size)]
        yield move_case(op, "special", dtype, move, elements, title=f"{move.title} {i}")


# ---- large sizes ---------------------------------------------------------------------------------


def _sized(
    op: str, record: Moving, calls: Callable[[int, int], Sequence[Call]], wanted: Wanted
) -> Iterator[Case]:
    """Give the moves of a matrix past the edges of tiles, and of one of a million elements.

    One dtype has all of them, and those that are not of a matrix; the others a sample.
    """
    dtypes = [d for d in dtypes_of(op) if wanted.wants("sizes", d)]
    if not dtypes:
        return

    def titled(call: Call, more: str = "") -> Move:
        return replace(record.build(*call[1:]), title=f"{call[0]}{more}")

    chief = "float32" if "float32" in dtypes else dtypes[0]
    matrix = [titled(call) for call in (*calls(*sizes.MATRIX), *record.more_sizes())]
    columns = titled(calls(100, 131)[0], " by columns")
    for dtype in dtypes:
        some = matrix
        if dtype != chief:
            random = Random(f"moves {op} {dtype}")
            some = random.sample(matrix, min(len(matrix), 1 if wanted.quick else 2))
        for move in some:
            yield sized_case(op, dtype, move)
        if dtype in (chief, "int32"):
            yield sized_case(op, dtype, columns, "columns")
    if not wanted.quick:
        other, move = Random(f"large {op}").choice(dtypes), titled(calls(*LARGE)[0])
        for dtype in dict.fromkeys((chief, other)):
            yield sized_case(op, dtype, move)


def sized_case(op: str, dtype: str, move: Move, layout: str = "dense") -> Case:
    """Return the case of a move of a few values over and over.

    So the truth is a list of numbers, and a million elements are compared as bytes.
    """
    few = sizes.Few(dtype, [*distinct(dtype, PERIOD), zero(dtype)])

    def data(start: int, shape: Shape) -> Data:
        count = prod(shape)
        index = [i % PERIOD for i in range(start, start + count)] if start else Cycle(PERIOD, count)
        return few.tensor(index, shape, layout)

    def output(part: Result) -> Output:
        index = [PERIOD if p is None else p % PERIOD for p in part.places]
        return Output(dtype, part.shape, Picked(tuple(few.values), index))

    arguments = _given(move, data)
    return Case(op, "sizes", dtype, move.title, arguments, lambda: _each(move, output))
