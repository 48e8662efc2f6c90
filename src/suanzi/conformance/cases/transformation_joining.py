"""7.2.3.7, .8, .11, .12, .14: tensors put together from the elements of others."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate
from math import prod
from random import Random
from typing import Any

from suanzi.conformance.cases import Wanted, cases_of, dtypes_of
from suanzi.conformance.cases._moves import Move, Moving, Result, moved, moving, taken
from suanzi.conformance.cases._values import Shape, by, distinct, exactly, random_shape, text
from suanzi.conformance.model.case import Case, Output
from suanzi.conformance.model.data import tensor
from suanzi.conformance.model.numbers import FORMATS, PARTS, limits

# ---- concat and stack ----------------------------------------------------------------------------


def _joined(shapes: Sequence[Shape], axis: int, title: str) -> Move:
    along = axis % len(shapes[0])
    lead, rest = shapes[0][:along], shapes[0][along + 1 :]
    chunks = [prod(s[along:]) for s in shapes]
    first = accumulate(map(prod, shapes), initial=0)
    starts = list(zip(first, chunks, strict=False))
    places = [
        p for i in range(prod(lead)) for f, n in starts for p in range(f + i * n, f + i * n + n)
    ]
    out = (*lead, sum(s[along] for s in shapes), *rest)
    return Move(title, {"input_lists": list(shapes)}, Result(out, places), {"axis": axis})


def _concat(shapes: Sequence[Shape], axis: int) -> Move:
    return _joined(shapes, axis, f"{text([by(s) for s in shapes])} along {axis}")


def _concat_drawn(random: Random) -> tuple[list[Shape], int]:
    shape = random_shape(random)
    axis = random.randrange(len(shape))
    sizes = [random.randint(0, 4) for _ in range(random.randint(1, 4))]
    return [(*shape[:axis], n, *shape[axis + 1 :]) for n in sizes], axis


moving("concat", Moving(
    _concat,
    plain=[([(2, 3), (2, 1), (2, 4)], 1), ([(2, 3, 2), (1, 3, 2)], 0), ([(2, 2, 3), (2, 4, 3)], 1),
           ([(2, 3), (2, 2)], -1), ([(4,), (1,), (3,)], 0), ([(2, 3)], 0),
           ([(2, 3, 2, 2), (2, 1, 2, 2)], 1), ([(2, 1, 2, 1, 3, 1, 2, 1)] * 2, 4)],
    empty=[([(0,), (3,), (0,)], 0), ([(0, 2), (0, 2)], 0), ([(2, 0), (2, 3)], 1)],
    drawn=_concat_drawn,
    sizes=lambda r, c: [(f"{r}x{c} along 1", [(r, c // 3), (r, c - c // 3)], 1),
                        (f"{r}x{c} along 0", [(3, c), (r - 3, c)], 0)],
))  # fmt: skip


def _stack(shape: Shape, count: int, axis: int) -> Move:
    at = axis % (len(shape) + 1)
    thin = (*shape[:at], 1, *shape[at:])
    move = _joined([thin] * count, axis, f"{count} of {by(shape)} along {axis}")
    return Move(move.title, {"input_lists": [shape] * count}, move.result, move.arguments)


def _stack_drawn(random: Random) -> tuple[Shape, int, int]:
    shape = random_shape(random)
    return shape, random.randint(1, 4), random.randint(-len(shape) - 1, len(shape))


moving("stack", Moving(
    _stack,
    plain=[((2, 3), 3, 1), ((2, 3), 2, 2), ((2, 3), 2, 0), ((2, 3), 2, -1), ((4,), 3, 1),
           ((2, 2, 2), 1, 1),
           ((2, 3, 2, 2), 2, 1), ((2, 1, 2, 1, 3, 1, 2), 2, 3)],
    empty=[((), 3, 0), ((0,), 2, 1), ((2, 0), 2, 0)],
    drawn=_stack_drawn,
    sizes=lambda r, c: [(f"2 of {r // 2}x{c}", (r // 2, c), 2, 2)],
))  # fmt: skip


# ---- tile and roll -------------------------------------------------------------------------------


def _tile(shape: Shape, repeats: Shape) -> Move:
    result = taken(shape, [list(range(n)) * r for n, r in zip(shape, repeats, strict=True)])
    return moved(f"repeats {text(repeats)}", shape, result, repeats=list(repeats))


def _tile_drawn(random: Random) -> tuple[Shape, Shape]:
    shape = tuple(random.randint(1, 3) for _ in range(random.randint(1, 4)))
    return shape, tuple(random.randint(1, 3) for _ in shape)


moving("tile", Moving(
    _tile,
    plain=[((2, 3), (2, 3)), ((2, 3, 2), (1, 2, 3)), ((2, 3), (1, 1)), ((5,), (4,)),
           ((1, 3), (4, 1)),
           ((2, 3, 2, 2), (1, 2, 1, 3)), ((2, 1, 2, 1, 3, 1, 2, 1), (1, 2, 1, 1, 1, 2, 1, 1))],
    empty=[((), ()), ((0, 3), (2, 2)), ((2, 3), (0, 2)), ((2, 3), (2, 0))],
    drawn=_tile_drawn,
    sizes=lambda r, c: [(f"{r // 2}x{c}", (r // 2, c), (2, 2))],
))  # fmt: skip


def _roll(shape: Shape, shifts: Sequence[int], axis: Sequence[int] | None) -> Move:
    if axis is None:
        size = prod(shape)
        flat = Result(shape, [(i - shifts[0]) % size for i in range(size)])
        return moved(f"by {text(shifts)}", shape, flat, shifts=list(shifts))
    total = [0] * len(shape)
    for n, shift in zip(axis, shifts, strict=True):
        total[n] += shift
    picks = [[(i - s) % n for i in range(n)] for s, n in zip(total, shape, strict=True)]
    title = f"by {text(shifts)} along {text(axis)}"
    return moved(title, shape, taken(shape, picks), shifts=list(shifts), axis=list(axis))


def _roll_drawn(random: Random) -> tuple[Shape, list[int], list[int]]:
    shape = random_shape(random)
    axes = random.choices(range(len(shape)), k=random.randint(1, 3))
    return shape, [random.randint(-9, 9) for _ in axes], axes


def _many_axes() -> Iterator[tuple[str, Shape, list[int], list[int]]]:
    """Give rolls of so many axes that an implementation takes a few at a time."""
    for ndim in (4, 5, 8, 9, 12, 13):
        yield f"{ndim} axes", (3, 3) + (2,) * (ndim - 2), [1] * ndim, list(range(ndim))


moving("roll", Moving(  # without axes as one row; an axis named twice is shifted twice, E58
    _roll,
    plain=[((3, 4), (1, -2), (0, 1)), ((3, 4), (5,), None), ((3, 4), (-1,), None),
           ((3, 4), (1, 2, 4), (1, 0, 1)), ((2, 3, 4), (1,), (1,)), ((3, 4), (1,), (-1,)),
           ((7,), (100,), (0,)), ((3, 4), (0, 0), (0, 1)),
           ((2, 3, 2, 2), (1,), (1,)), ((2, 1, 2, 1, 3, 1, 2, 1), (1, 2), (0, 4))],
    empty=[((), (2,), None), ((0,), (1,), None), ((0, 3), (2, 1), (0, 1))],
    drawn=_roll_drawn,
    sizes=lambda r, c: [(f"{r}x{c} both axes", (r, c), [3, -7], [0, 1]),
                        (f"{r}x{c} as one row", (r, c), [1000], None)],
    more_sizes=_many_axes,
))  # fmt: skip


# ---- pad -----------------------------------------------------------------------------------------

_FOLD: dict[str, Callable[[int, int], int | None]] = {
    "PAD_CONST": lambda i, n: i if 0 <= i < n else None,
    "PAD_PERIOD": lambda i, n: i % n,
    "PAD_MIRROR": lambda i, n: i % (2 * n) if i % (2 * n) < n else 2 * n - 1 - i % (2 * n),
}
"""The element at an index past the ends, E56."""


def _pad(shape: Shape, widths: Sequence[int], mode: str | None) -> Move:
    fold = _FOLD[mode or "PAD_CONST"]
    ends = zip(shape, widths[::2], widths[1::2], strict=True)
    picks = [[fold(i, n) for i in range(-before, n + after)] for n, before, after in ends]
    arguments: dict[str, Any] = {"pad_width": list(widths)}
    if mode is not None:
        arguments["pad_mode"] = mode
    title = f"widths {text(widths)} {mode or 'without mode'}"
    return moved(title, shape, taken(shape, picks), **arguments)


def _pad_drawn(random: Random) -> tuple[Shape, list[int], str]:
    shape = tuple(random.randint(1, 3) for _ in range(random.randint(1, 3)))
    widths = [random.randint(0, 4) for _ in range(2 * len(shape))]
    return shape, widths, random.choice(list(_FOLD))


moving("pad", Moving(
    _pad,
    plain=[((2, 3), (1, 2, 2, 1), "PAD_CONST"), ((2, 3), (1, 2, 2, 1), "PAD_PERIOD"),
           ((2, 3), (1, 2, 2, 1), "PAD_MIRROR"), ((2, 3), (0, 1, 3, 0), None),
           ((3,), (7, 8), "PAD_PERIOD"), ((3,), (7, 8), "PAD_MIRROR"),
           ((2, 2, 2), (0, 0, 1, 0, 0, 2), "PAD_MIRROR"), ((2, 3), (0, 0, 0, 0), "PAD_PERIOD"),
           ((2, 3, 2, 2), (0, 0, 1, 0, 0, 1, 0, 0), "PAD_CONST"),
           ((2, 1, 2, 1, 3, 1, 2, 1), (0, 0, 1, 0) * 4, "PAD_CONST")],
    empty=[((0, 2), (1, 1, 0, 1), "PAD_CONST"), ((0, 2), (0, 0, 1, 1), "PAD_MIRROR"),
           ((), (), "PAD_CONST"), ((), (), "PAD_PERIOD")],
    drawn=_pad_drawn,
    sizes=lambda r, c: [(f"{r}x{c} zeros", (r, c), [2, 1, 3, 5], "PAD_CONST"),
                        (f"{r}x{c} itself", (r, c), [2, 1, 3, 5], "PAD_PERIOD")],
))  # fmt: skip


@cases_of("pad")
def pad_values(op: str, wanted: Wanted) -> Iterator[Case]:
    """Give tensors padded with another number than zero."""
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
        part = move.result
        assert isinstance(part, Result)
        around = exactly(dtype, value)
        truth = tuple(around if p is None else elements[p] for p in part.places)
        return (Output(dtype, part.shape, truth),)

    arguments = {"input": tensor(dtype, elements, (2, 3)), **move.arguments, "pad_value": value}
    return Case(op, "plain", dtype, f"value {value}", arguments, expect)
