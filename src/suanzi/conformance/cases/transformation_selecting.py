"""7.2.3.17, .18, .25: elements picked by indices or by a mask, and written back by indices."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from math import prod
from random import Random

from suanzi.conformance.cases import Wanted, cases_of, dtypes_of
from suanzi.conformance.cases._moves import (
    Move,
    Result,
    Shape,
    by,
    distinct,
    indices,
    laid_out,
    move_case,
    move_cases,
    one,
    ravel,
    result,
)
from suanzi.conformance.cases._readings import either
from suanzi.conformance.model.case import Case, Expected, Output
from suanzi.conformance.model.data import LAYOUTS, tensor
from suanzi.conformance.model.numbers import FORMATS, PARTS, Real, Value, limits, real, wrap

_INDEX_DTYPES = ("int64", "int32", "int8", "uint8", "int16", "uint16", "uint32", "uint64")


def _to(shape: Shape, dims: Shape, at: Sequence[int], index: Shape) -> tuple[list[int], Shape]:
    """Return where in the input an index points, and the rest of it, which goes on as it is.

    `dims` is the shape of the indices: of rank 1 they are rows, else their last axis holds
    coordinates.
    """
    outer = dims if len(dims) == 1 else dims[:-1]
    count = 1 if len(dims) == 1 else dims[-1]
    first = ravel(index[: len(outer)], outer) * count
    return list(at[first : first + count]), index[len(outer) :]


def _shape_of_picked(shape: Shape, dims: Shape) -> Shape:
    return (*dims, *shape[1:]) if len(dims) == 1 else (*dims[:-1], *shape[dims[-1] :])


def _coordinates(random: Random, shape: Shape, dims: Shape) -> list[int]:
    """Return random indices into a shape."""
    count = 1 if len(dims) == 1 else dims[-1]
    return [random.randrange(shape[k % count]) for k in range(prod(dims))]


# ---- gather --------------------------------------------------------------------------------------


def _gather(
    shape: Shape, dims: Shape, at: Sequence[int], dtype: str = "int64", title: str = ""
) -> Move:
    def source(index: Shape) -> int:
        start, rest = _to(shape, dims, at, index)
        return ravel([*start, *rest], shape)

    return one(
        title or f"{dtype} indices {by(dims)}",
        shape,
        result(_shape_of_picked(shape, dims), source),
        index=tensor(dtype, list(at), dims),
    )


@cases_of("gather")
def gathered(op: str, wanted: Wanted) -> Iterator[Case]:
    """Give rows, and what coordinates point to, E61."""

    def drawn(random: Random) -> Move:
        shape = tuple(random.randint(1, 4) for _ in range(random.randint(1, 4)))
        dims: Shape = (random.randint(1, 6),)
        if random.random() < 0.6:
            dims = (*dims, random.randint(1, len(shape)))
        return _gather(shape, dims, _coordinates(random, shape, dims))

    plain = [
        _gather((4, 3), (5,), (3, 0, 3, 1, 2)),
        _gather((2, 3, 4), (2, 2), (0, 1, 1, 2)),
        _gather((2, 3, 4), (3, 3), (1, 2, 3, 0, 0, 0, 1, 0, 2), "int32"),
        _gather((2, 3, 4), (2, 3, 2), (0, 1, 1, 2, 0, 0, 1, 1, 0, 2, 1, 0)),
        _gather((4, 3), (2, 1), (3, 0)),
        _gather((6,), (4,), (5, 5, 0, 2), "int32"),
    ]
    empty = [
        _gather((4, 3), (0,), ()),
        _gather((4, 0), (2,), (3, 0)),
        _gather((4, 3), (0, 2), ()),
    ]
    yield from move_cases(op, wanted, plain, empty, drawn=drawn)


# ---- scatter -------------------------------------------------------------------------------------


def _scatter(
    shape: Shape,
    dims: Shape,
    at: Sequence[int],
    override: bool | None = True,
    dtype: str = "int64",
) -> Move:
    size, part = prod(shape), _shape_of_picked(shape, dims)
    found: list[int | None] = list(range(size))
    for number, index in enumerate(indices(part)):  # of those that coincide, the last stays
        start, rest = _to(shape, dims, at, index)
        found[ravel([*start, *rest], shape)] = size + number
    arguments: dict[str, object] = {"index": tensor(dtype, list(at), dims)}
    if override is not None:
        arguments["override"] = override
    title = f"{by(shape)} indices {by(dims)}" + ("" if override else " by default")
    return Move(title, {"input": shape, "updates": part}, Result(shape, tuple(found)), arguments)


@cases_of("scatter")
def overwritten(op: str, wanted: Wanted) -> Iterator[Case]:
    """Give updates written over what is there; the last of several stays, E62."""

    def drawn(random: Random) -> Move:
        shape = tuple(random.randint(1, 4) for _ in range(random.randint(1, 3)))
        dims: Shape = (random.randint(1, 6),)
        if random.random() < 0.6:
            dims = (*dims, random.randint(1, len(shape)))
        return _scatter(shape, dims, _coordinates(random, shape, dims))

    plain = [
        _scatter((4, 3), (3,), (2, 0, 2)),
        _scatter((2, 3, 4), (2, 2), (0, 1, 1, 2)),
        _scatter((4, 3), (3,), (1, 1, 1), override=None),
        _scatter((2, 3), (4, 2), (0, 0, 1, 2, 0, 0, 1, 1)),
        _scatter((6,), (3,), (5, 0, 2)),
        _scatter((4, 3), (2, 1), (3, 0)),
    ]
    empty = [_scatter((4, 3), (0,), ()), _scatter((4, 0), (2,), (3, 0))]
    yield from move_cases(op, wanted, plain, empty, drawn=drawn)


@cases_of("gather", "scatter")
def index_dtypes(op: str, wanted: Wanted) -> Iterator[Case]:
    """Give indices of every integer dtype."""
    call: tuple[Shape, Shape, Sequence[int]] = ((4, 3), (5,), (3, 0, 3, 1, 2))
    if wanted.wants("plain", "float32"):
        for index in _INDEX_DTYPES:
            move = _gather(*call, index) if op == "gather" else _scatter(*call, dtype=index)
            elements = distinct("float32", move.size)
            yield move_case(op, "plain", "float32", move, elements, title=f"rows by {index}")


@cases_of("scatter")
def added(op: str, wanted: Wanted) -> Iterator[Case]:
    """Give updates added to what is there; sums that every dtype holds, and integers that wrap."""
    calls: list[tuple[Shape, Shape, Sequence[int]]] = [
        ((4, 3), (3,), (2, 0, 2)),
        ((2, 3), (5, 2), (0, 0, 1, 2, 0, 0, 1, 1, 0, 0)),
        ((6,), (4,), (5, 5, 5, 0)),
    ]
    for dtype in dtypes_of(op):
        if dtype in ("bool", "char"):
            continue
        for group in ("plain", "strided", "special"):
            if not wanted.wants(group, dtype):
                continue
            if group == "special" and (dtype in FORMATS or dtype in PARTS):
                continue
            for shape, dims, at in calls[: 1 if wanted.quick or group != "plain" else 3]:
                for layout in LAYOUTS if group == "strided" else ("dense",):
                    yield _added(op, group, dtype, (shape, dims, at), layout)


def _added(
    op: str, group: str, dtype: str, call: tuple[Shape, Shape, Sequence[int]], layout: str
) -> Case:
    shape, dims, at = call
    part = _shape_of_picked(shape, dims)
    extreme = group == "special"
    base, new = _small(dtype, prod(shape), 0, extreme), _small(dtype, prod(part), 1, extreme)

    def expect() -> Expected:
        """Return what is added onto the input, and onto zero, E62."""
        onto, zero = list(base), list(base)
        touched: set[int] = set()
        for number, index in enumerate(indices(part)):
            start, rest = _to(shape, dims, at, index)
            where = ravel([*start, *rest], shape)
            onto[where] = _sum(dtype, onto[where], new[number])
            zero[where] = _sum(dtype, zero[where], new[number]) if where in touched else new[number]
            touched.add(where)
        made = (Output(dtype, shape, tuple(one), zero_sign=False) for one in (onto, zero))
        return either("E62", *((one,) for one in made), throughout=True)

    arguments = {
        "input": tensor(dtype, base, shape),
        "index": tensor("int64", list(at), dims),
        "updates": tensor(dtype, new, part),
        "override": False,
    }
    laid = {name: laid_out(value, layout) for name, value in arguments.items()}
    title = f"added {by(shape)} indices {by(dims)}" + (f" {layout}" if group == "strided" else "")
    return Case(op, group, dtype, title, laid, expect)


def _small(dtype: str, count: int, start: int, extreme: bool) -> list[Value]:
    """Return halves whose sums float8 holds, or whole numbers; or the ends of the integers."""
    numbers = [(7 * i + 3 * start) % 5 - 1 for i in range(count)]
    if dtype in PARTS:
        return [(_half(n), _half(1 - n)) for n in numbers]
    if dtype in FORMATS:
        return [_half(n) for n in numbers]
    if extreme:
        low, high = limits(dtype)
        return [high if n > 0 else low for n in numbers]
    return [wrap(dtype, n) for n in numbers]


def _half(n: int) -> Real:
    return real(Fraction(n, 2))


def _sum(dtype: str, a: Value, b: Value) -> Value:
    if isinstance(a, tuple) and isinstance(b, tuple):
        return real(a[0].value + b[0].value), real(a[1].value + b[1].value)
    if isinstance(a, Real) and isinstance(b, Real):
        return real(a.value + b.value)
    assert isinstance(a, int)
    assert isinstance(b, int)
    return wrap(dtype, a + b)


# ---- masked_select -------------------------------------------------------------------------------


def _masked(shape: Shape, mask_shape: Shape, mask: Sequence[int]) -> Move:
    new = len(shape) - len(mask_shape)
    chosen = []
    for number, index in enumerate(indices(shape)):
        at = [0 if n == 1 else i for i, n in zip(index[new:], mask_shape, strict=True)]
        if mask[ravel(at, mask_shape)]:
            chosen.append(number)
    return one(
        f"mask {by(mask_shape)} {sum(mask)} true",
        shape,
        Result((len(chosen),), tuple(chosen)),
        mask=tensor("bool", list(mask), mask_shape),
    )


@cases_of("masked_select")
def selected(op: str, wanted: Wanted) -> Iterator[Case]:
    """Give what a mask picks, in row-major order; the mask is stretched to the input, E70."""

    def drawn(random: Random) -> Move:
        shape = tuple(random.randint(1, 5) for _ in range(random.randint(1, 4)))
        return _masked(shape, shape, [random.randint(0, 1) for _ in range(prod(shape))])

    plain = [
        _masked((3, 4), (3, 4), (1, 0, 0, 1, 0, 1, 1, 0, 1, 1, 0, 1)),
        _masked((2, 2, 2), (2, 2, 2), (0, 1, 1, 0, 1, 0, 1, 1)),
        _masked((5,), (5,), (0, 0, 1, 0, 1)),
        _masked((2, 3), (2, 3), (1,) * 6),
    ]
    broadcast = [
        _masked((2, 3), (3,), (1, 0, 1)),
        _masked((2, 3), (2, 1), (0, 1)),
        _masked((2, 3), (), (1,)),
        _masked((2, 3, 2), (3, 1), (1, 0, 1)),
    ]
    empty = [
        _masked((2, 3), (2, 3), (0,) * 6),
        _masked((0, 3), (0, 3), ()),
        _masked((0, 3), (3,), (1, 1, 1)),
        _masked((), (), (1,)),
        _masked((), (), (0,)),
    ]
    yield from move_cases(op, wanted, plain, empty, broadcast, drawn)
