"""7.2.3.7, .8, .11, .12, .14: tensors put together from the elements of others."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate
from math import prod
from random import Random
from typing import Any

from suanzi.conformance.cases import Wanted, cases_of, dtypes_of
from suanzi.conformance.cases._moves import (
    Move,
    Result,
    Shape,
    by,
    distinct,
    move_cases,
    one,
    random_shape,
    ravel,
    result,
    text,
)
from suanzi.conformance.model.case import Case, Output
from suanzi.conformance.model.data import tensor
from suanzi.conformance.model.numbers import FORMATS, PARTS, Value, limits, real

# ---- concat and stack ----------------------------------------------------------------------------


def _joined(shapes: Sequence[Shape], axis: int, title: str) -> Move:
    along = axis % len(shapes[0])
    sizes = [s[along] for s in shapes]
    before = list(accumulate(sizes, initial=0))
    first = list(accumulate(map(prod, shapes), initial=0))

    def source(index: Shape) -> int:
        part = next(k for k in range(len(shapes)) if before[k] <= index[along] < before[k + 1])
        at = [i - before[part] if d == along else i for d, i in enumerate(index)]
        return first[part] + ravel(at, shapes[part])

    out = [sum(sizes) if d == along else n for d, n in enumerate(shapes[0])]
    return Move(title, {"input_lists": list(shapes)}, result(out, source), {"axis": axis})


def _concat(shapes: Sequence[Shape], axis: int) -> Move:
    return _joined(shapes, axis, f"{text([by(s) for s in shapes])} along {axis}")


def _stack(shape: Shape, count: int, axis: int) -> Move:
    at = axis % (len(shape) + 1)
    thin = (*shape[:at], 1, *shape[at:])
    moved = _joined([thin] * count, axis, f"{count} of {by(shape)} along {axis}")
    return Move(moved.title, {"input_lists": [shape] * count}, moved.result, moved.arguments)


@cases_of("concat")
def concatenated(op: str, wanted: Wanted) -> Iterator[Case]:
    """Give tensors one behind the other."""

    def drawn(random: Random) -> Move:
        shape = random_shape(random)
        axis = random.randrange(len(shape))
        sizes = [random.randint(0, 4) for _ in range(random.randint(1, 4))]
        return _concat([(*shape[:axis], n, *shape[axis + 1 :]) for n in sizes], axis)

    plain = [
        _concat([(2, 3), (2, 1), (2, 4)], 1),
        _concat([(2, 3, 2), (1, 3, 2)], 0),
        _concat([(2, 2, 3), (2, 4, 3)], 1),
        _concat([(2, 3), (2, 2)], -1),
        _concat([(4,), (1,), (3,)], 0),
        _concat([(2, 3)], 0),
    ]
    empty = [
        _concat([(0,), (3,), (0,)], 0),
        _concat([(0, 2), (0, 2)], 0),
        _concat([(2, 0), (2, 3)], 1),
    ]
    yield from move_cases(op, wanted, plain, empty, drawn=drawn)


@cases_of("stack")
def stacked(op: str, wanted: Wanted) -> Iterator[Case]:
    """Give tensors along a new axis."""

    def drawn(random: Random) -> Move:
        shape = random_shape(random)
        return _stack(shape, random.randint(1, 4), random.randint(-len(shape) - 1, len(shape)))

    plain = [
        _stack((2, 3), 3, 1),
        _stack((2, 3), 2, 2),
        _stack((2, 3), 2, 0),
        _stack((2, 3), 2, -1),
        _stack((4,), 3, 1),
        _stack((2, 2, 2), 1, 1),
    ]
    empty = [_stack((), 3, 0), _stack((0,), 2, 1), _stack((2, 0), 2, 0)]
    yield from move_cases(op, wanted, plain, empty, drawn=drawn)


# ---- tile and roll -------------------------------------------------------------------------------


def _tile(shape: Shape, repeats: Shape) -> Move:
    out = [n * r for n, r in zip(shape, repeats, strict=True)]
    made = result(
        out, lambda index: ravel([i % n for i, n in zip(index, shape, strict=True)], shape)
    )
    return one(f"repeats {text(repeats)}", shape, made, repeats=list(repeats))


@cases_of("tile")
def tiled(op: str, wanted: Wanted) -> Iterator[Case]:
    """Give tensors over and over."""

    def drawn(random: Random) -> Move:
        shape = tuple(random.randint(1, 3) for _ in range(random.randint(1, 4)))
        return _tile(shape, tuple(random.randint(1, 3) for _ in shape))

    plain = [
        _tile((2, 3), (2, 3)),
        _tile((2, 3, 2), (1, 2, 3)),
        _tile((2, 3), (1, 1)),
        _tile((5,), (4,)),
        _tile((1, 3), (4, 1)),
    ]
    empty = [_tile((), ()), _tile((0, 3), (2, 2)), _tile((2, 3), (0, 2)), _tile((2, 3), (2, 0))]
    yield from move_cases(op, wanted, plain, empty, drawn=drawn)


def _roll(shape: Shape, shifts: Sequence[int], axis: Sequence[int] | None) -> Move:
    if axis is None:
        size = prod(shape)
        flat = tuple((i - shifts[0]) % size for i in range(size))
        return one(f"by {text(shifts)}", shape, Result(shape, flat), shifts=list(shifts))
    by_axis = [0] * len(shape)
    for n, shift in zip(axis, shifts, strict=True):
        by_axis[n] += shift

    def source(index: Shape) -> int:
        return ravel([(i - s) % n for i, s, n in zip(index, by_axis, shape, strict=True)], shape)

    title = f"by {text(shifts)} along {text(axis)}"
    return one(title, shape, result(shape, source), shifts=list(shifts), axis=list(axis))


@cases_of("roll")
def rolled(op: str, wanted: Wanted) -> Iterator[Case]:
    """Give tensors shifted; without axes as one row, and an axis named twice twice, E58."""

    def drawn(random: Random) -> Move:
        shape = random_shape(random)
        axes = random.choices(range(len(shape)), k=random.randint(1, 3))
        return _roll(shape, [random.randint(-9, 9) for _ in axes], axes)

    plain = [
        _roll((3, 4), (1, -2), (0, 1)),
        _roll((3, 4), (5,), None),
        _roll((3, 4), (-1,), None),
        _roll((3, 4), (1, 2, 4), (1, 0, 1)),
        _roll((2, 3, 4), (1,), (1,)),
        _roll((3, 4), (1,), (-1,)),
        _roll((7,), (100,), (0,)),
        _roll((3, 4), (0, 0), (0, 1)),
    ]
    empty = [_roll((), (2,), None), _roll((0,), (1,), None), _roll((0, 3), (2, 1), (0, 1))]
    yield from move_cases(op, wanted, plain, empty, drawn=drawn)


# ---- pad -----------------------------------------------------------------------------------------

_FOLD: dict[str, Callable[[int, int], int | None]] = {
    "PAD_CONST": lambda i, n: i if 0 <= i < n else None,
    "PAD_PERIOD": lambda i, n: i % n,
    "PAD_MIRROR": lambda i, n: i % (2 * n) if i % (2 * n) < n else 2 * n - 1 - i % (2 * n),
}
"""Which element a place has whose index is past the ends, E56."""


def _pad(shape: Shape, widths: Sequence[int], mode: str | None) -> Move:
    fold = _FOLD[mode or "PAD_CONST"]
    out = [n + a + b for n, a, b in zip(shape, widths[::2], widths[1::2], strict=True)]

    def source(index: Shape) -> int | None:
        at = [fold(i - a, n) for i, a, n in zip(index, widths[::2], shape, strict=True)]
        inside = [i for i in at if i is not None]
        return ravel(inside, shape) if len(inside) == len(at) else None

    arguments: dict[str, Any] = {"pad_width": list(widths)}
    if mode is not None:
        arguments["pad_mode"] = mode
    title = f"widths {text(widths)} {mode or 'without mode'}"
    return one(title, shape, result(out, source), **arguments)


@cases_of("pad")
def padded(op: str, wanted: Wanted) -> Iterator[Case]:
    """Give tensors with zeros, or with themselves, around; also by more than they are long."""

    def drawn(random: Random) -> Move:
        shape = tuple(random.randint(1, 3) for _ in range(random.randint(1, 3)))
        widths = [random.randint(0, 4) for _ in range(2 * len(shape))]
        return _pad(shape, widths, random.choice(list(_FOLD)))

    plain = [
        _pad((2, 3), (1, 2, 2, 1), "PAD_CONST"),
        _pad((2, 3), (1, 2, 2, 1), "PAD_PERIOD"),
        _pad((2, 3), (1, 2, 2, 1), "PAD_MIRROR"),
        _pad((2, 3), (0, 1, 3, 0), None),
        _pad((3,), (7, 8), "PAD_PERIOD"),
        _pad((3,), (7, 8), "PAD_MIRROR"),
        _pad((2, 2, 2), (0, 0, 1, 0, 0, 2), "PAD_MIRROR"),
        _pad((2, 3), (0, 0, 0, 0), "PAD_PERIOD"),
    ]
    empty = [
        _pad((0, 2), (1, 1, 0, 1), "PAD_CONST"),
        _pad((0, 2), (0, 0, 1, 1), "PAD_MIRROR"),
        _pad((), (), "PAD_CONST"),
        _pad((), (), "PAD_PERIOD"),
    ]
    yield from move_cases(op, wanted, plain, empty, drawn=drawn)


@cases_of("pad")
def pad_values(op: str, wanted: Wanted) -> Iterator[Case]:
    """Give tensors with a number around that is no zero."""
    for dtype in dtypes_of(op):
        if dtype != "char" and wanted.wants("plain", dtype):
            for value in _values(dtype):
                yield _with_value(op, dtype, value)


def _values(dtype: str) -> list[Any]:
    if dtype in PARTS:
        return [1.5 - 2j, 3, 0.1 + 0.3j]
    if dtype in FORMATS:
        return [1.5, -2, 0.1, 2**70, float("nan"), float("inf"), -0.0]
    if dtype in ("bool", "uint1"):
        return [True if dtype == "bool" else 1]
    return [3, *limits(dtype)]


def _with_value(op: str, dtype: str, value: Any) -> Case:
    move = _pad((2, 3), (1, 0, 1, 2), "PAD_CONST")
    elements = distinct(dtype, 6)

    def expect() -> tuple[Output]:
        found = move.result
        assert isinstance(found, Result)
        around = _exactly(dtype, value)
        truth = tuple(around if p is None else elements[p] for p in found.places)
        return (Output(dtype, found.shape, truth),)

    arguments = {"input": tensor(dtype, elements, (2, 3)), **move.arguments, "pad_value": value}
    return Case(op, "plain", dtype, f"value {value}", arguments, expect)


def _exactly(dtype: str, value: Any) -> Value:
    if dtype in PARTS:
        return real(complex(value).real), real(complex(value).imag)
    return real(value) if dtype in FORMATS else int(value)
