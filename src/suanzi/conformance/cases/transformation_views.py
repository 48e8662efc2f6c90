"""7.2.3.2 to .5, .13, .20, .21: the same elements in other shapes and orders."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
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

# ---- other shapes, the same order ----------------------------------------------------------------


def _in_order(title: str, shape: Shape, out: Sequence[int], **arguments: object) -> Move:
    return one(title, shape, Result(tuple(out), tuple(range(prod(shape)))), **arguments)


def _reshape(shape: Shape, dims: Shape) -> Move:
    return _in_order(f"to {by(dims)}", shape, dims, dims=list(dims))


def _divided(random: Random, size: int) -> Shape:
    """Return a random shape of so many elements."""
    found = []
    while size > 1:
        factor = random.choice([n for n in range(2, size + 1) if size % n == 0])
        found.append(factor)
        size //= factor
    for _ in range(random.randint(0, 2)):
        found.insert(random.randint(0, len(found)), 1)
    return tuple(found)


@cases_of("reshape")
def reshapes(op: str, wanted: Wanted) -> Iterator[Case]:
    """Give tensors in other shapes; their order is row-major whatever the layout, E20."""

    def drawn(random: Random) -> Move:
        shape = random_shape(random)
        return _reshape(shape, _divided(random, prod(shape)))

    plain = [
        _reshape((2, 3, 4), (4, 6)),
        _reshape((3, 4), (4, 3)),
        _reshape((24,), (2, 3, 2, 2)),
        _reshape((2, 3), (2, 3)),
        _reshape((2, 1, 3), (6,)),
    ]
    empty = [
        _reshape((2, 0), (0, 3)),
        _reshape((0,), (0,)),
        _reshape((), ()),
        _reshape((), (1, 1)),
        _reshape((1, 1), ()),
    ]
    yield from move_cases(op, wanted, plain, empty, drawn=drawn)


def _expand_dims(shape: Shape, axis: int | None) -> Move:
    at = 0 if axis is None else axis % (len(shape) + 1)
    out = (*shape[:at], 1, *shape[at:])
    if axis is None:
        return _in_order("without axis", shape, out)
    return _in_order(f"axis {axis}", shape, out, axis=axis)


@cases_of("expand_dims")
def new_axes(op: str, wanted: Wanted) -> Iterator[Case]:
    """Give tensors with an axis more."""

    def drawn(random: Random) -> Move:
        shape = random_shape(random)
        return _expand_dims(shape, random.randint(-len(shape) - 1, len(shape)))

    plain = [_expand_dims((2, 3, 2), axis) for axis in (1, 3, None, 0, 2, -1, -4)]
    empty = [
        _expand_dims((), 0),
        _expand_dims((), -1),
        _expand_dims((0,), 1),
        _expand_dims((3, 0), 0),
    ]
    yield from move_cases(op, wanted, plain, empty, drawn=drawn)


def _squeeze(shape: Shape, axis: Sequence[int] | None) -> Move:
    named = [n % len(shape) for n in axis or range(len(shape))]
    out = [n for i, n in enumerate(shape) if n != 1 or i not in named]
    if axis is None:
        return _in_order("all axes", shape, out)
    return _in_order(f"axes {text(axis)}", shape, out, axis=list(axis))


@cases_of("squeeze")
def fewer_axes(op: str, wanted: Wanted) -> Iterator[Case]:
    """Give tensors without axes of size 1; an axis of another size that is named stays, E46."""

    def drawn(random: Random) -> Move:
        shape = tuple(random.choice((1, 1, 2, 3)) for _ in range(random.randint(1, 5)))
        axes = random.sample(range(len(shape)), random.randint(1, len(shape)))
        return _squeeze(shape, [n - len(shape) if random.random() < 0.3 else n for n in axes])

    plain = [
        _squeeze((1, 3, 1, 4), None),
        _squeeze((1, 3, 1, 4), [2]),
        _squeeze((1, 3, 1, 4), [0, 2]),
        _squeeze((1, 3, 1, 4), [0, 1]),
        _squeeze((1, 3, 1, 4), [-2]),
        _squeeze((2, 3), None),
        _squeeze((1, 1), None),
    ]
    empty = [_squeeze((), None), _squeeze((1, 0), None), _squeeze((0, 1, 2), [1])]
    yield from move_cases(op, wanted, plain, empty, drawn=drawn)


def _flatten(shape: Shape, start: int, stop: int) -> Move:
    first, last = start % len(shape), stop % len(shape)
    out = (*shape[:first], prod(shape[first : last + 1]), *shape[last + 1 :])
    return _in_order(f"axes {start} to {stop}", shape, out, start_axis=start, stop_axis=stop)


@cases_of("flatten")
def flattened(op: str, wanted: Wanted) -> Iterator[Case]:
    """Give tensors with several axes made one, the last of them included."""

    def drawn(random: Random) -> Move:
        shape = random_shape(random)
        start, stop = sorted(random.choices(range(len(shape)), k=2))
        return _flatten(shape, start, stop)

    plain = [
        _flatten((2, 3, 4), 1, 2),
        _flatten((2, 3, 2, 2), 1, 2),
        _flatten((2, 3, 4), 0, 2),
        _flatten((2, 3, 4), 0, -1),
        _flatten((2, 3, 4), 1, 1),
        _flatten((6,), 0, 0),
    ]
    empty = [_flatten((2, 0, 3), 1, 2), _flatten((0,), 0, 0), _flatten((0, 2, 3), 1, 2)]
    yield from move_cases(op, wanted, plain, empty, drawn=drawn)


# ---- other orders --------------------------------------------------------------------------------


def _transpose(shape: Shape, perm: Sequence[int] | None) -> Move:
    order = [n % len(shape) for n in perm] if perm else list(range(len(shape)))[::-1]
    out = [0] * len(shape)
    for axis, to in enumerate(order):
        out[to] = shape[axis]
    made = result(out, lambda index: ravel([index[to] for to in order], shape))
    if perm is None:
        return one("without perm", shape, made)
    return one(f"perm {text(perm)}", shape, made, perm=list(perm))


@cases_of("transpose")
def transposed(op: str, wanted: Wanted) -> Iterator[Case]:
    """Give axes in other orders: axis i becomes axis perm[i], the inverse of NumPy's, E47."""

    def drawn(random: Random) -> Move:
        shape = random_shape(random, most=5)
        return _transpose(shape, random.sample(range(len(shape)), len(shape)))

    plain = [
        _transpose((2, 3, 4), (1, 2, 0)),
        _transpose((2, 3, 4), None),
        _transpose((2, 3, 4), (2, 0, 1)),
        _transpose((2, 3, 4), (0, 2, 1)),
        _transpose((2, 3), (1, 0)),
        _transpose((2, 3, 2, 2), (2, 0, 3, 1)),
        _transpose((2, 3, 4), (-2, -1, -3)),
        _transpose((5,), (0,)),
    ]
    empty = [_transpose((), None), _transpose((0, 3), None), _transpose((2, 0, 3), (1, 2, 0))]
    yield from move_cases(op, wanted, plain, empty, drawn=drawn)


def _flip(shape: Shape, axis: Sequence[int]) -> Move:
    axes = {n % len(shape) for n in axis}

    def source(index: Shape) -> int:
        turned = [
            n - 1 - i if d in axes else i for d, (i, n) in enumerate(zip(index, shape, strict=True))
        ]
        return ravel(turned, shape)

    return one(f"axes {text(axis)}", shape, result(shape, source), axis=list(axis))


@cases_of("flip", "reverse")
def flipped(op: str, wanted: Wanted) -> Iterator[Case]:
    """Give axes backwards."""

    def drawn(random: Random) -> Move:
        shape = random_shape(random)
        return _flip(shape, random.sample(range(len(shape)), random.randint(1, len(shape))))

    plain = [
        _flip((2, 3, 4), (1,)),
        _flip((2, 3, 4), (0, 2)),
        _flip((2, 3, 4), (2, 1, 0)),
        _flip((2, 3, 4), (-1,)),
        _flip((7,), (0,)),
        _flip((1, 5), (0,)),
    ]
    empty = [_flip((0,), (0,)), _flip((2, 0, 3), (0, 1))]
    yield from move_cases(op, wanted, plain, empty, drawn=drawn)
