"""7.2.3.6, .9, .10, .15, .19, .24: parts of a tensor, in one or in several; repeated axes."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from math import prod
from random import Random

from suanzi.conformance.cases._moves import (
    Move,
    Moving,
    Result,
    moved,
    moving,
    stretched_to,
    summed,
    taken,
)
from suanzi.conformance.cases._values import Shape, by, random_shape, text

# ---- parts ---------------------------------------------------------------------------------------

Slice = tuple[Shape, Shape, Shape, Shape]


def _slice(shape: Shape, begin: Shape, size: Shape, step: Shape) -> Move:
    picks = [range(b, b + n, s) for b, n, s in zip(begin, size, step, strict=True)]
    title = f"begin {text(begin)} size {text(size)} step {text(step)}"
    given = {"begin": list(begin), "size": list(size), "step": list(step)}
    return moved(title, shape, taken(shape, picks), **given)


def _slice_backward(shape: Shape, begin: Shape, size: Shape, step: Shape) -> Move:
    forward = _slice(shape, begin, size, step)
    part = forward.result
    assert isinstance(part, Result)
    came = {p: i for i, p in enumerate(part.places)}
    back = Result(shape, [came.get(p) for p in range(prod(shape))])
    return Move(forward.title, {"grad_out": part.shape, "input": shape}, back, forward.arguments)


def _slice_drawn(random: Random) -> Slice:
    shape = tuple(random.randint(1, 6) for _ in range(random.randint(1, 4)))
    begin = tuple(random.randint(0, n - 1) for n in shape)
    size = tuple(random.randint(1, n - b) for n, b in zip(shape, begin, strict=True))
    return shape, begin, size, tuple(random.randint(1, n) for n in shape)


_SLICES: list[Slice] = [
    ((3, 4), (0, 1), (3, 3), (2, 2)),
    ((3, 4, 5), (1, 0, 2), (2, 4, 3), (1, 3, 2)),
    ((3, 4), (0, 1), (2, 3), (2, 2)),
    ((3, 4), (0, 0), (3, 4), (1, 1)),
    ((9,), (1,), (8,), (3,)),
    ((3, 4), (2, 3), (1, 1), (3, 4)),
    ((2, 3, 2, 2), (0, 1, 0, 1), (2, 2, 1, 1), (1, 1, 1, 1)),
    ((2, 1, 2, 1, 3, 1, 2, 1), (0, 0, 1, 0, 1, 0, 0, 0), (2, 1, 1, 1, 2, 1, 2, 1), (1,) * 8),
]
_EMPTY_SLICES: list[Slice] = [
    ((3, 4), (1, 2), (0, 2), (1, 1)),
    ((3, 4), (3, 4), (0, 0), (2, 2)),
    ((0, 3), (0, 1), (0, 2), (1, 1)),
    ((), (), (), ()),
]


def _slice_sizes(r: int, c: int) -> list[tuple[object, ...]]:
    return [
        (f"{r}x{c} step {step}", (r, c), (1, 3), (r - 2, c - 4), (1, step)) for step in (1, 2, 5)
    ]


# The size counts the elements that are stepped over, too, E53.
moving("slice", Moving(_slice, _SLICES, _EMPTY_SLICES, drawn=_slice_drawn, sizes=_slice_sizes))
moving("slice_backward", Moving(
    _slice_backward,
    _SLICES,
    _EMPTY_SLICES,
    drawn=_slice_drawn,
    sizes=_slice_sizes,
    quantised=False,
))  # fmt: skip


def _crop(shape: Shape, sizes: Shape, offsets: Shape | None) -> Move:
    starts = offsets or (0,) * len(shape)
    result = taken(shape, [range(o, o + n) for o, n in zip(starts, sizes, strict=True)])
    if offsets is None:
        return moved(f"to {by(sizes)}", shape, result, shape=list(sizes))
    title = f"to {by(sizes)} at {text(offsets)}"
    return moved(title, shape, result, shape=list(sizes), offsets=list(offsets))


def _crop_drawn(random: Random) -> tuple[Shape, Shape, Shape]:
    shape, offsets, sizes, _ = _slice_drawn(random)
    return shape, sizes, offsets


moving("crop", Moving(
    _crop,
    plain=[((3, 5), (2, 3), (1, 2)), ((2, 3, 4), (1, 3, 2), (1, 0, 2)), ((3, 5), (2, 2), None),
           ((3, 5), (3, 5), (0, 0)), ((6,), (1,), (5,)),
           ((2, 3, 2, 2), (1, 2, 2, 1), (1, 0, 0, 1)),
           ((2, 1, 2, 1, 3, 1, 2, 1), (1, 1, 2, 1, 2, 1, 1, 1), (1, 0, 0, 0, 1, 0, 1, 0))],
    empty=[((3, 5), (0, 2), (3, 1)), ((0, 2), (0, 1), (0, 1)), ((), (), None)],
    drawn=_crop_drawn,
    sizes=lambda r, c: [(f"{r}x{c}", (r, c), (r - 2, c - 3), (2, 1))],
))  # fmt: skip


def _expand(shape: Shape, out: Shape) -> Move:
    return moved(f"to {by(out)}", shape, stretched_to(shape, out), shape=list(out))


def _expand_drawn(random: Random) -> tuple[Shape, Shape]:
    out = random_shape(random)
    shape = tuple(1 if random.random() < 0.4 else n for n in out)
    return shape[random.randint(0, len(out)) :], out


moving("expand", Moving(
    _expand,
    plain=[((3, 1), (3, 4)), ((1, 3, 1), (2, 2, 3, 2)), ((2, 3), (2, 3)), ((5,), (1, 1, 5)),
           ((2, 1, 3, 1), (2, 2, 3, 2)), ((2, 1, 3, 1), (1, 2, 1, 2, 2, 2, 3, 2))],
    empty=[((), ()), ((1,), (0,)), ((0, 1), (2, 0, 3)), ((), (0, 2))],
    broadcast=[((3,), (2, 3)), ((), (2, 3)), ((1, 1), (4, 5)), ((2, 1, 3), (2, 4, 3))],
    drawn=_expand_drawn,
    sizes=lambda r, c: [(f"{r}x1 to {r}x{c}", (r, 1), (r, c)),
                        (f"1x{c} to {r}x{c}", (1, c), (r, c))],
))  # fmt: skip


# ---- lists of tensors ----------------------------------------------------------------------------


def _part(shape: Shape, axis: int, start: int, size: int) -> Result:
    """Return the elements from `start` on along an axis."""
    along = range(start, start + size)
    return taken(shape, [along if d == axis else range(n) for d, n in enumerate(shape)])


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
    return moved(title, shape, parts, **arguments)


def _split_drawn(random: Random) -> tuple[Shape, list[int], int, int]:
    shape = tuple(random.randint(1, 6) for _ in range(random.randint(1, 4)))
    axis = random.randrange(len(shape))
    ends = sorted(random.sample(range(1, shape[axis]), random.randint(0, shape[axis] - 1)))
    sizes = [b - a for a, b in zip([0, *ends], [*ends, shape[axis]], strict=True)]
    return shape, sizes, len(sizes), axis


moving("split", Moving(  # of given sizes, E49, or so many equal ones
    _split,
    plain=[((4, 6), (1, 3, 2), 3, 1), ((4, 6), (), 2, 0), ((4, 6), (3, 1), 2, None),
           ((2, 6, 2), (), 3, 1), ((4, 6), (2, 4), 2, -1), ((5,), (5,), 1, 0), ((3, 2), (), 3, 0),
           ((2, 3, 2, 2), (1, 2), 2, 1), ((2, 1, 2, 1, 3, 1, 2, 1), (1, 2), 2, 4)],
    empty=[((0, 4), (1, 3), 2, 1), ((2, 0), (), 3, 1)],
    drawn=_split_drawn,
    sizes=lambda r, c: [(f"{r}x{c}", (r, c), [1, c // 2, c - 1 - c // 2], 3, 1)],
))  # fmt: skip


def _unstack(shape: Shape, axis: int | None) -> Move:
    along = (axis or 0) % len(shape)
    left = shape[:along] + shape[along + 1 :]
    parts = [Result(left, _part(shape, along, i, 1).places) for i in range(shape[along])]
    if axis is None:
        return moved("without axis", shape, parts, num=shape[along])
    return moved(f"axis {axis}", shape, parts, axis=axis, num=shape[along])


def _unstack_drawn(random: Random) -> tuple[Shape, int]:
    shape = random_shape(random)
    return shape, random.randrange(-len(shape), len(shape))


moving("unstack", Moving(
    _unstack,
    plain=[*(((2, 3, 4), axis) for axis in (1, 0, 2, None, -1)), ((5,), 0),
           ((2, 3, 2, 2), 1), ((2, 1, 2, 1, 3, 1, 2, 1), 4)],
    empty=[((2, 0), 0), ((3, 0, 2), 2), ((0, 2), 0)],
    drawn=_unstack_drawn,
    sizes=lambda r, c: [(f"{r * c // 3}x3", (r * c // 3, 3), 1)],
))  # fmt: skip


def _meshgrid(sizes: Shape) -> Move:
    starts = accumulate(sizes[:-1], initial=0)
    grids = [
        summed([range(s, s + n) if d == axis else [0] * m for d, m in enumerate(sizes)])
        for axis, (s, n) in enumerate(zip(starts, sizes, strict=True))
    ]
    return Move(f"of {text(sizes)}", {"input": [(n,) for n in sizes]}, grids)


moving("meshgrid", Moving(  # tensor i varies along axis i, E69
    _meshgrid,
    plain=[((2, 3),), ((3, 2, 4),), ((5,),), ((1, 4),), ((2, 1, 2, 3),)],
    empty=[((0,),), ((2, 0),), ((0, 2, 3),)],
    drawn=lambda random: (random_shape(random),),
    sizes=lambda r, c: [(f"{r}x{c}", (r, c))],
))  # fmt: skip
