"""7.2.3.6, .9, .10, .15, .19, .24: parts of a tensor, in one or in several; repeated axes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate
from math import prod
from random import Random

from suanzi.conformance.cases import Wanted, cases_of
from suanzi.conformance.cases._moves import (
    Move,
    Result,
    Shape,
    by,
    move_cases,
    one,
    random_shape,
    ravel,
    result,
    text,
)
from suanzi.conformance.model.case import Case

# ---- parts ---------------------------------------------------------------------------------------


def _slice(shape: Shape, begin: Shape, size: Shape, step: Shape) -> Move:
    out = [-(-n // s) for n, s in zip(size, step, strict=True)]

    def source(index: Shape) -> int:
        return ravel([b + i * s for b, i, s in zip(begin, index, step, strict=True)], shape)

    return one(
        f"begin {text(begin)} size {text(size)} step {text(step)}",
        shape,
        result(out, source),
        begin=list(begin),
        size=list(size),
        step=list(step),
    )


def _slice_drawn(random: Random) -> tuple[Shape, Shape, Shape, Shape]:
    shape = tuple(random.randint(1, 6) for _ in range(random.randint(1, 4)))
    begin = tuple(random.randint(0, n - 1) for n in shape)
    size = tuple(random.randint(1, n - b) for n, b in zip(shape, begin, strict=True))
    return shape, begin, size, tuple(random.randint(1, n) for n in shape)


_SLICES: list[tuple[Shape, Shape, Shape, Shape]] = [
    ((3, 4), (0, 1), (3, 3), (2, 2)),
    ((3, 4, 5), (1, 0, 2), (2, 4, 3), (1, 3, 2)),
    ((3, 4), (0, 1), (2, 3), (2, 2)),
    ((3, 4), (0, 0), (3, 4), (1, 1)),
    ((9,), (1,), (8,), (3,)),
    ((3, 4), (2, 3), (1, 1), (3, 4)),
]
_EMPTY_SLICES: list[tuple[Shape, Shape, Shape, Shape]] = [
    ((3, 4), (1, 2), (0, 2), (1, 1)),
    ((3, 4), (3, 4), (0, 0), (2, 2)),
    ((0, 3), (0, 1), (0, 2), (1, 1)),
    ((), (), (), ()),
]


@cases_of("slice")
def slices(op: str, wanted: Wanted) -> Iterator[Case]:
    """Give parts of every axis; the size counts what is gone over, E53."""
    plain, empty = [_slice(*s) for s in _SLICES], [_slice(*s) for s in _EMPTY_SLICES]
    yield from move_cases(
        op, wanted, plain, empty, drawn=lambda random: _slice(*_slice_drawn(random))
    )


def _slice_backward(shape: Shape, begin: Shape, size: Shape, step: Shape) -> Move:
    forward = _slice(shape, begin, size, step)
    taken = forward.result
    assert isinstance(taken, Result)
    came = {p: i for i, p in enumerate(taken.places)}
    return Move(
        forward.title,
        {"grad_out": taken.shape, "input": shape},
        Result(shape, tuple(came.get(p) for p in range(prod(shape)))),
        forward.arguments,
    )


@cases_of("slice_backward")
def slice_gradients(op: str, wanted: Wanted) -> Iterator[Case]:
    """Give gradients back to where elements were taken; all others are zero."""
    plain = [_slice_backward(*s) for s in _SLICES]
    empty = [_slice_backward(*s) for s in _EMPTY_SLICES]
    yield from move_cases(
        op,
        wanted,
        plain,
        empty,
        drawn=lambda random: _slice_backward(*_slice_drawn(random)),
        quantised_too=False,
    )


def _crop(shape: Shape, sizes: Shape, offsets: Shape | None) -> Move:
    starts = offsets or (0,) * len(shape)
    made = result(
        sizes, lambda index: ravel([o + i for o, i in zip(starts, index, strict=True)], shape)
    )
    if offsets is None:
        return one(f"to {by(sizes)}", shape, made, shape=list(sizes))
    title = f"to {by(sizes)} at {text(offsets)}"
    return one(title, shape, made, shape=list(sizes), offsets=list(offsets))


@cases_of("crop")
def crops(op: str, wanted: Wanted) -> Iterator[Case]:
    """Give blocks."""

    def drawn(random: Random) -> Move:
        shape, offsets, sizes, _ = _slice_drawn(random)
        return _crop(shape, sizes, offsets)

    plain = [
        _crop((3, 5), (2, 3), (1, 2)),
        _crop((2, 3, 4), (1, 3, 2), (1, 0, 2)),
        _crop((3, 5), (2, 2), None),
        _crop((3, 5), (3, 5), (0, 0)),
        _crop((6,), (1,), (5,)),
    ]
    empty = [_crop((3, 5), (0, 2), (3, 1)), _crop((0, 2), (0, 1), (0, 1)), _crop((), (), None)]
    yield from move_cases(op, wanted, plain, empty, drawn=drawn)


def _expand(shape: Shape, out: Shape) -> Move:
    new = len(out) - len(shape)

    def source(index: Shape) -> int:
        return ravel([0 if n == 1 else i for i, n in zip(index[new:], shape, strict=True)], shape)

    return one(f"to {by(out)}", shape, result(out, source), shape=list(out))


@cases_of("expand")
def expanded(op: str, wanted: Wanted) -> Iterator[Case]:
    """Give tensors repeated along axes of size 1, and along new ones in front."""

    def drawn(random: Random) -> Move:
        out = random_shape(random)
        shape = tuple(1 if random.random() < 0.4 else n for n in out)
        return _expand(shape[random.randint(0, len(out)) :], out)

    plain = [
        _expand((3, 1), (3, 4)),
        _expand((1, 3, 1), (2, 2, 3, 2)),
        _expand((2, 3), (2, 3)),
        _expand((5,), (1, 1, 5)),
    ]
    broadcast = [
        _expand((3,), (2, 3)),
        _expand((), (2, 3)),
        _expand((1, 1), (4, 5)),
        _expand((2, 1, 3), (2, 4, 3)),
    ]
    empty = [_expand((), ()), _expand((1,), (0,)), _expand((0, 1), (2, 0, 3)), _expand((), (0, 2))]
    yield from move_cases(op, wanted, plain, empty, broadcast, drawn)


# ---- lists of tensors ----------------------------------------------------------------------------


def _part(shape: Shape, axis: int, start: int, size: int, keep: bool = True) -> Result:
    """Return the indices from `start` on along an axis; without `keep`, one without that axis."""

    def source(index: Shape) -> int:
        full = index if keep else (*index[:axis], 0, *index[axis:])
        return ravel([i + start if d == axis else i for d, i in enumerate(full)], shape)

    middle = (size,) if keep else ()
    return result((*shape[:axis], *middle, *shape[axis + 1 :]), source)


def _split(shape: Shape, sizes: Sequence[int], count: int | None, axis: int | None) -> Move:
    along = (axis or 0) % len(shape)
    lengths = list(sizes) or [shape[along] // (count or 1)] * (count or 1)
    starts = accumulate(lengths[:-1], initial=0)
    parts = [_part(shape, along, s, n) for s, n in zip(starts, lengths, strict=True)]
    arguments: dict[str, object] = {"split_sizes": list(sizes)}
    title = f"into {text(sizes)}" if sizes else f"into {count} parts"
    if count is not None:
        arguments["nsplit"] = count
    if axis is not None:
        arguments["axis"] = axis
        title += f" along {axis}"
    return one(title, shape, parts, **arguments)


@cases_of("split")
def splits(op: str, wanted: Wanted) -> Iterator[Case]:
    """Give parts of an axis: of given sizes, E49, or so many equal ones."""

    def drawn(random: Random) -> Move:
        shape = tuple(random.randint(1, 6) for _ in range(random.randint(1, 4)))
        axis = random.randrange(len(shape))
        ends = sorted(random.sample(range(1, shape[axis]), random.randint(0, shape[axis] - 1)))
        sizes = [b - a for a, b in zip([0, *ends], [*ends, shape[axis]], strict=True)]
        return _split(shape, sizes, len(sizes), axis)

    plain = [
        _split((4, 6), (1, 3, 2), 3, 1),
        _split((4, 6), (), 2, 0),
        _split((4, 6), (3, 1), 2, None),
        _split((2, 6, 2), (), 3, 1),
        _split((4, 6), (2, 4), 2, -1),
        _split((5,), (5,), 1, 0),
        _split((3, 2), (), 3, 0),
    ]
    empty = [_split((0, 4), (1, 3), 2, 1), _split((2, 0), (), 3, 1)]
    yield from move_cases(op, wanted, plain, empty, drawn=drawn)


def _unstack(shape: Shape, axis: int | None, num: bool = True) -> Move:
    along = (axis or 0) % len(shape)
    parts = [_part(shape, along, i, 1, keep=False) for i in range(shape[along])]
    arguments: dict[str, object] = {"num": shape[along]} if num else {}
    if axis is None:
        return one("without axis", shape, parts, **arguments)
    return one(f"axis {axis}", shape, parts, axis=axis, **arguments)


@cases_of("unstack")
def unstacked(op: str, wanted: Wanted) -> Iterator[Case]:
    """Give a tensor for each index of an axis."""

    def drawn(random: Random) -> Move:
        shape = random_shape(random)
        return _unstack(shape, random.randrange(-len(shape), len(shape)))

    plain = [_unstack((2, 3, 4), axis) for axis in (1, 0, 2, None, -1)] + [_unstack((5,), 0)]
    empty = [_unstack((2, 0), 0), _unstack((3, 0, 2), 2), _unstack((0, 2), 0)]
    yield from move_cases(op, wanted, plain, empty, drawn=drawn)


def _meshgrid(sizes: Shape) -> Move:
    starts = list(accumulate(sizes[:-1], initial=0))
    grids = [
        result(sizes, lambda index, axis=axis: starts[axis] + index[axis])  # type: ignore[misc]
        for axis in range(len(sizes))
    ]
    return Move(f"of {text(sizes)}", {"input": [(n,) for n in sizes]}, grids)


@cases_of("meshgrid")
def grids(op: str, wanted: Wanted) -> Iterator[Case]:
    """Give the coordinates of grids; tensor i varies along axis i, E69."""

    def drawn(random: Random) -> Move:
        return _meshgrid(random_shape(random))

    plain = [_meshgrid(sizes) for sizes in ((2, 3), (3, 2, 4), (5,), (1, 4), (2, 1, 2, 3))]
    empty = [_meshgrid((0,)), _meshgrid((2, 0)), _meshgrid((0, 2, 3))]
    yield from move_cases(op, wanted, plain, empty, drawn=drawn)
