"""7.2.3.17, .18, .25: elements selected by indices or by a mask, and written back by indices."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import compress
from math import prod
from random import Random

from suanzi.conformance.cases import Wanted, cases_of, dtypes_of
from suanzi.conformance.cases._moves import (
    Move,
    Moving,
    Result,
    move_case,
    moved,
    moving,
    stretched_to,
)
from suanzi.conformance.cases._readings import either
from suanzi.conformance.cases._values import Shape, by, distinct, laid_out, ravel, wrapped_sum
from suanzi.conformance.model.case import Case, Expected, Output
from suanzi.conformance.model.data import LAYOUTS, tensor
from suanzi.conformance.model.numbers import FORMATS, PARTS, Real, Value, limits, real, wrap

_INDEX_DTYPES = ("int64", "int32", "int8", "uint8", "int16", "uint16", "uint32", "uint64")


def _pointed(shape: Shape, dims: Shape, at: Sequence[int]) -> list[int]:
    """Return the flat indices of the elements that indices select, in the order of the result.

    `dims` is the shape of the indices: of rank 1 they are rows, else their last axis holds
    coordinates.
    """
    count = 1 if len(dims) == 1 else dims[-1]
    block = prod(shape[count:])
    starts = (ravel(at[k : k + count], shape[:count]) * block for k in range(0, len(at), count))
    return [p for start in starts for p in range(start, start + block)]


def _shape_of_selected(shape: Shape, dims: Shape) -> Shape:
    return (*dims, *shape[1:]) if len(dims) == 1 else (*dims[:-1], *shape[dims[-1] :])


def _drawn(random: Random, most: int) -> tuple[Shape, Shape, list[int]]:
    """Draw a shape of so many axes at most, and indices into it."""
    shape = tuple(random.randint(1, 4) for _ in range(random.randint(1, most)))
    dims: Shape = (random.randint(1, 6),)
    if random.random() < 0.6:
        dims = (*dims, random.randint(1, len(shape)))
    count = 1 if len(dims) == 1 else dims[-1]
    return shape, dims, [random.randrange(shape[k % count]) for k in range(prod(dims))]


def _row(numbers: Sequence[int]) -> tuple[Shape, Sequence[int]]:
    return (len(numbers),), numbers


# ---- gather --------------------------------------------------------------------------------------


def _gather(shape: Shape, dims: Shape, at: Sequence[int], dtype: str = "int64") -> Move:
    result = Result(_shape_of_selected(shape, dims), _pointed(shape, dims, at))
    index = tensor(dtype, list(at), dims)
    return moved(f"{dtype} indices {by(dims)}", shape, result, index=index)


moving("gather", Moving(  # rows, or the elements that coordinates point to, E61
    _gather,
    plain=[((4, 3), (5,), (3, 0, 3, 1, 2)), ((2, 3, 4), (2, 2), (0, 1, 1, 2)),
           ((2, 3, 4), (3, 3), (1, 2, 3, 0, 0, 0, 1, 0, 2), "int32"),
           ((2, 3, 4), (2, 3, 2), (0, 1, 1, 2, 0, 0, 1, 1, 0, 2, 1, 0)), ((4, 3), (2, 1), (3, 0)),
           ((6,), (4,), (5, 5, 0, 2), "int32"),
           ((2, 3, 2, 2), (3, 2), (1, 2, 0, 1, 1, 0)), ((2, 1, 2, 1, 3, 1, 2, 1), (3,), (1, 0, 1))],
    empty=[((4, 3), (0,), ()), ((4, 0), (2,), (3, 0)), ((4, 3), (0, 2), ())],
    drawn=lambda random: _drawn(random, 4),
    sizes=lambda r, c: [(f"rows of {r}x{c}", (r, c), *_row([7 * i % r for i in range(r + 2)])),
                        ("4099 of 4097", (4097,), *_row([(5 * i) % 4097 for i in range(4099)]))],
))  # fmt: skip


# ---- scatter -------------------------------------------------------------------------------------


def _scatter(
    shape: Shape,
    dims: Shape,
    at: Sequence[int],
    override: bool | None = True,
    dtype: str = "int64",
) -> Move:
    size, part = prod(shape), _shape_of_selected(shape, dims)
    places = list(range(size))
    for number, where in enumerate(_pointed(shape, dims, at)):  # the last of equal indices wins
        places[where] = size + number
    arguments: dict[str, object] = {"index": tensor(dtype, list(at), dims)}
    if override is not None:
        arguments["override"] = override
    title = f"{by(shape)} indices {by(dims)}" + ("" if override else " by default")
    return Move(title, {"input": shape, "updates": part}, Result(shape, places), arguments)


moving("scatter", Moving(  # the last of several updates of one element remains, E62
    _scatter,
    plain=[((4, 3), (3,), (2, 0, 2)), ((2, 3, 4), (2, 2), (0, 1, 1, 2)),
           ((4, 3), (3,), (1, 1, 1), None), ((2, 3), (4, 2), (0, 0, 1, 2, 0, 0, 1, 1)),
           ((6,), (3,), (5, 0, 2)), ((4, 3), (2, 1), (3, 0)),
           ((2, 3, 2, 2), (2, 2), (1, 2, 0, 1)), ((2, 1, 2, 1, 3, 1, 2, 1), (1,), (1,))],
    empty=[((4, 3), (0,), ()), ((4, 0), (2,), (3, 0))],
    drawn=lambda random: _drawn(random, 3),
    sizes=lambda r, c: [(f"rows of {r}x{c}", (r, c), *_row([3 * i % r for i in range(r // 2)]))],
))  # fmt: skip


@cases_of("gather", "scatter")
def index_dtypes(op: str, wanted: Wanted) -> Iterator[Case]:
    """Give indices of every integer dtype."""
    call: tuple[Shape, Shape, Sequence[int]] = ((4, 3), (5,), (3, 0, 3, 1, 2))
    if wanted.wants("plain", "float32"):
        for index in _INDEX_DTYPES:
            move = _gather(*call, index) if op == "gather" else _scatter(*call, dtype=index)
            elements = distinct("float32", move.size)
            yield move_case(op, "plain", "float32", move, elements, title=f"rows by {index}")
        far: tuple[Shape, Shape, Sequence[int]] = ((251, 2), (4,), (128, 250, 1, 200))
        move = _gather(*far, "uint8") if op == "gather" else _scatter(*far, dtype="uint8")
        elements = distinct("float32", move.size)
        yield move_case(op, "plain", "float32", move, elements, title="rows above 127 by uint8")
    if wanted.wants("strided", "float32"):
        # The transpose of these indices points elsewhere, and stays within the axes.
        square: tuple[Shape, Shape, Sequence[int]] = ((3, 3, 2), (2, 2), (2, 0, 1, 2))
        move = _gather(*square) if op == "gather" else _scatter(*square)
        lying = replace(
            move, arguments={k: laid_out(x, "columns") for k, x in move.arguments.items()}
        )
        elements = distinct("float32", move.size)
        yield move_case(op, "strided", "float32", lying, elements, title="indices by columns")


@cases_of("scatter")
def added(op: str, wanted: Wanted) -> Iterator[Case]:
    """Give updates added to elements: sums that every dtype holds, and integers that wrap."""
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
    part = _shape_of_selected(shape, dims)
    extreme = group == "special"
    base, new = _small(dtype, prod(shape), 0, extreme), _small(dtype, prod(part), 1, extreme)

    def expect() -> Expected:
        """Return the sums with the input, and those with zero, E62."""
        onto, zero = list(base), list(base)
        touched: set[int] = set()
        for number, where in enumerate(_pointed(shape, dims, at)):
            onto[where] = wrapped_sum(dtype, onto[where], new[number])
            zero[where] = (
                wrapped_sum(dtype, zero[where], new[number]) if where in touched else new[number]
            )
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


# ---- masked_select -------------------------------------------------------------------------------


def _masked(shape: Shape, mask_shape: Shape, mask: Sequence[int]) -> Move:
    chosen = [mask[i or 0] for i in stretched_to(mask_shape, shape).places]
    places = list(compress(range(len(chosen)), chosen))
    title = f"mask {by(mask_shape)} {sum(mask)} true"
    given = tensor("bool", list(mask), mask_shape)
    return moved(title, shape, Result((len(places),), places), mask=given)


def _masked_drawn(random: Random) -> tuple[Shape, Shape, list[int]]:
    shape = tuple(random.randint(1, 5) for _ in range(random.randint(1, 4)))
    return shape, shape, [random.randint(0, 1) for _ in range(prod(shape))]


def _mask(n: int) -> list[int]:
    return [int(i * i % 7 < 3) for i in range(n)] if n < 10_000 else ([1, 1, 0, 1, 0] * n)[:n]


moving("masked_select", Moving(  # in row-major order; the mask is broadcast to the input, E70
    _masked,
    plain=[((3, 4), (3, 4), (1, 0, 0, 1, 0, 1, 1, 0, 1, 1, 0, 1)),
           ((2, 2, 2), (2, 2, 2), (0, 1, 1, 0, 1, 0, 1, 1)), ((5,), (5,), (0, 0, 1, 0, 1)),
           ((2, 3), (2, 3), (1,) * 6)],
    empty=[((2, 3), (2, 3), (0,) * 6), ((0, 3), (0, 3), ()), ((0, 3), (3,), (1, 1, 1)),
           ((), (), (1,)), ((), (), (0,))],
    broadcast=[((2, 3), (3,), (1, 0, 1)), ((2, 3), (2, 1), (0, 1)), ((2, 3), (), (1,)),
               ((2, 3, 2), (3, 1), (1, 0, 1))],
    drawn=_masked_drawn,
    sizes=lambda r, c: [(f"{r}x{c}", (r, c), (r, c), _mask(r * c))],
))  # fmt: skip
