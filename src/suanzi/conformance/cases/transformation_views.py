"""7.2.3.2 to .5, .13, .20, .21: the same elements in other shapes and orders."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod
from random import Random

from suanzi.conformance.cases import Wanted, cases_of
from suanzi.conformance.cases._moves import Move, Moving, Result, moved, moving, taken
from suanzi.conformance.cases._steps import contiguous_cases
from suanzi.conformance.cases._values import Shape, by, random_shape, text
from suanzi.conformance.model.case import Case

# ---- other shapes, the same order ----------------------------------------------------------------


def _in_order(title: str, shape: Shape, out: Sequence[int], **arguments: object) -> Move:
    return moved(title, shape, Result(tuple(out), range(prod(shape))), **arguments)


def _reshape(shape: Shape, dims: Shape) -> Move:
    return _in_order(f"to {by(dims)}", shape, dims, dims=list(dims))


def _reshape_drawn(random: Random) -> tuple[Shape, Shape]:
    shape = random_shape(random)
    dims, size = [], prod(shape)
    while size > 1:
        factor = random.choice([n for n in range(2, size + 1) if size % n == 0])
        dims.append(factor)
        size //= factor
    for _ in range(random.randint(0, 2)):
        dims.insert(random.randint(0, len(dims)), 1)
    return shape, tuple(dims)


moving("reshape", Moving(  # in row-major order whatever the layout, E20
    _reshape,
    plain=[((2, 3, 4), (4, 6)), ((3, 4), (4, 3)), ((24,), (2, 3, 2, 2)), ((2, 3), (2, 3)),
           ((2, 1, 3), (6,)), ((2, 3, 2, 1, 2), (6, 4)), ((2, 3, 2, 2), (4, 6))],
    empty=[((2, 0), (0, 3)), ((0,), (0,)), ((), ()), ((), (1, 1)), ((1, 1), ())],
    drawn=_reshape_drawn,
    sizes=lambda r, c: [(f"{r}x{c}", (r, c), (c, r))],
))  # fmt: skip


@cases_of("reshape")
def default_order(op: str, wanted: Wanted) -> Iterator[Case]:
    """Give a tensor in another order, and ask whether the result is contiguous."""
    return contiguous_cases(op, wanted, (5, 3), {"dims": [5, 3]})


def _expand_dims(shape: Shape, axis: int | None) -> Move:
    at = 0 if axis is None else axis % (len(shape) + 1)
    out = (*shape[:at], 1, *shape[at:])
    if axis is None:
        return _in_order("without axis", shape, out)
    return _in_order(f"axis {axis}", shape, out, axis=axis)


def _expand_dims_drawn(random: Random) -> tuple[Shape, int]:
    shape = random_shape(random)
    return shape, random.randint(-len(shape) - 1, len(shape))


moving("expand_dims", Moving(
    _expand_dims,
    plain=[*(((2, 3, 2), axis) for axis in (1, 3, None, 0, 2, -1, -4)), ((2, 3, 2, 2), 2),
           ((2, 1, 2, 1, 3, 1, 2), 3)],
    empty=[((), 0), ((), -1), ((0,), 1), ((3, 0), 0)],
    drawn=_expand_dims_drawn,
    sizes=lambda r, c: [(f"{r}x{c}", (r, c), 1)],
))  # fmt: skip


def _squeeze(shape: Shape, axis: Sequence[int] | None) -> Move:
    named = [n % len(shape) for n in axis or range(len(shape))]
    out = [n for i, n in enumerate(shape) if n != 1 or i not in named]
    if axis is None:
        return _in_order("all axes", shape, out)
    return _in_order(f"axes {text(axis)}", shape, out, axis=list(axis))


def _squeeze_drawn(random: Random) -> tuple[Shape, list[int]]:
    shape = tuple(random.choice((1, 1, 2, 3)) for _ in range(random.randint(1, 5)))
    axes = random.sample(range(len(shape)), random.randint(1, len(shape)))
    return shape, [n - len(shape) if random.random() < 0.3 else n for n in axes]


moving("squeeze", Moving(  # a named axis of another size than 1 remains, E46
    _squeeze,
    plain=[*(((1, 3, 1, 4), axis) for axis in (None, [2], [0, 2], [0, 1], [-2])), ((2, 3), None),
           ((1, 1), None)],
    empty=[((), None), ((1, 0), None), ((0, 1, 2), [1])],
    drawn=_squeeze_drawn,
    sizes=lambda r, c: [(f"{r}x1x{c}", (r, 1, c), [1])],
))  # fmt: skip


def _flatten(shape: Shape, start: int, stop: int) -> Move:
    first, last = start % len(shape), stop % len(shape)
    out = (*shape[:first], prod(shape[first : last + 1]), *shape[last + 1 :])
    return _in_order(f"axes {start} to {stop}", shape, out, start_axis=start, stop_axis=stop)


def _flatten_drawn(random: Random) -> tuple[Shape, int, int]:
    shape = random_shape(random)
    start, stop = sorted(random.choices(range(len(shape)), k=2))
    return shape, start, stop


moving("flatten", Moving(  # stop_axis is included
    _flatten,
    plain=[((2, 3, 4), 1, 2), ((2, 3, 2, 2), 1, 2), ((2, 3, 4), 0, 2), ((2, 3, 4), 0, -1),
           ((2, 3, 4), 1, 1), ((6,), 0, 0)],
    empty=[((2, 0, 3), 1, 2), ((0,), 0, 0), ((0, 2, 3), 1, 2)],
    drawn=_flatten_drawn,
    sizes=lambda r, c: [(f"{r}x{c}", (r, c), 0, 1)],
))  # fmt: skip


# ---- other orders --------------------------------------------------------------------------------


def _transpose(shape: Shape, perm: Sequence[int] | None) -> Move:
    to = [n % len(shape) for n in perm] if perm else list(range(len(shape)))[::-1]
    order = sorted(range(len(shape)), key=to.__getitem__)
    result = taken(shape, list(map(range, shape)), order)
    if perm is None:
        return moved("without perm", shape, result)
    return moved(f"perm {text(perm)}", shape, result, perm=list(perm))


def _transpose_drawn(random: Random) -> tuple[Shape, list[int]]:
    shape = random_shape(random, most=5)
    return shape, random.sample(range(len(shape)), len(shape))


moving("transpose", Moving(  # axis i becomes axis perm[i], the inverse of NumPy's, E47
    _transpose,
    plain=[((2, 3, 4), (1, 2, 0)), ((2, 3, 4), None), ((2, 3, 4), (2, 0, 1)),
           ((2, 3, 4), (0, 2, 1)), ((2, 3), (1, 0)), ((2, 3, 2, 2), (2, 0, 3, 1)),
           ((2, 3, 4), (-2, -1, -3)), ((5,), (0,)),
           ((2, 1, 2, 1, 3, 1, 2, 1), (3, 0, 6, 4, 1, 7, 2, 5))],
    empty=[((), None), ((0, 3), None), ((2, 0, 3), (1, 2, 0))],
    drawn=_transpose_drawn,
    sizes=lambda r, c: [(f"{r}x{c}", (r, c), (1, 0)), (f"{r}x3x{c}", (r, 3, c), (1, 2, 0)),
                        (f"{c}x2x{r}", (c, 2, r), (1, 0, 2))],
))  # fmt: skip


def _flip(shape: Shape, axis: Sequence[int]) -> Move:
    axes = {n % len(shape) for n in axis}
    picks = [range(n)[::-1] if d in axes else range(n) for d, n in enumerate(shape)]
    return moved(f"axes {text(axis)}", shape, taken(shape, picks), axis=list(axis))


def _flip_drawn(random: Random) -> tuple[Shape, list[int]]:
    shape = random_shape(random)
    return shape, random.sample(range(len(shape)), random.randint(1, len(shape)))


moving("flip reverse", Moving(
    _flip,
    plain=[*(((2, 3, 4), axis) for axis in ((1,), (0, 2), (2, 1, 0), (-1,))), ((7,), (0,)),
           ((1, 5), (0,)),
           ((2, 3, 2, 2), (1,)), ((2, 1, 2, 1, 3, 1, 2, 1), (0, 4))],
    empty=[((0,), (0,)), ((2, 0, 3), (0, 1))],
    drawn=_flip_drawn,
    sizes=lambda r, c: [(f"{r}x{c} columns", (r, c), [1]), (f"{r}x{c} rows", (r, c), [0]),
                        (f"{r * c} elements", (r * c,), [0])],
))  # fmt: skip
