"""Definitions of the standard's operators that move, choose or sort elements, and their gradients.

What they return is exact, but for sums: of updates that meet, and of gradients.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

import mpmath
import numpy as np

from suanzi.truth import tracked as t
from suanzi.truth.define import truth_of
from suanzi.truth.standard import _axes, _floats, _moved, _word, flip, plain_value
from suanzi.truth.tracked import Tracked, tracked

truth_of("reverse")(flip)


def _parts(x: Any, move: Callable[[Any], Sequence[Any]]) -> tuple[Any, ...]:
    """Return what a move into several tensors gives."""
    if not _floats(x):
        return tuple(move(x))
    return tuple(
        Tracked(np.asarray(v, x.value.dtype), np.asarray(e))
        for v, e in zip(move(x.value), move(x.error), strict=True)
    )


# ---- shapes --------------------------------------------------------------------------------------


@truth_of("expand_dims")
def expand_dims(input: Any, axis: Any = 0) -> Any:
    """The same elements with new axes of size 1."""
    return _moved(input, lambda x: np.expand_dims(x, axis if isinstance(axis, int) else [*axis]))


@truth_of("squeeze")
def squeeze(input: Any, axis: Any = ()) -> Any:
    """The same elements without axes of size 1: all of them, or those that are named."""
    shape = np.shape(plain_value(input))
    axes = [a for a in _axes(axis, len(shape)) if shape[a] == 1]
    return _moved(input, lambda x: np.squeeze(x, tuple(axes)))


@truth_of("flatten")
def flatten(input: Any, start_axis: int, stop_axis: int) -> Any:
    """The same elements with some axes as one."""
    shape = np.shape(plain_value(input))
    first, last = start_axis % len(shape), stop_axis % len(shape)
    merged = (*shape[:first], math.prod(shape[first : last + 1]), *shape[last + 1 :])
    return _moved(input, lambda x: np.reshape(x, merged))


@truth_of("expand")
def expand(input: Any, shape: Sequence[int]) -> Any:
    """The elements repeated along axes of size 1 and along new ones in front."""
    return _moved(input, lambda x: np.broadcast_to(x, tuple(shape)).copy())


@truth_of("diag")
def diag(input: Any) -> Any:
    """The square matrix with a vector on its diagonal."""
    n = np.shape(plain_value(input))[0]
    if not _floats(input):
        return np.diag(input)
    return t.where(np.eye(n, dtype=bool), input.reshape(1, n), 0)


@truth_of("meshgrid")
def meshgrid(input: Any) -> tuple[Any, ...]:
    """The coordinates of a grid; tensor i varies along axis i."""
    given = [*input] if isinstance(input, list | tuple) else [input]
    shape = [np.size(plain_value(x)) for x in given]

    def one(i: int) -> Any:
        own = [-1 if k == i else 1 for k in range(len(shape))]
        return _moved(given[i], lambda x: np.broadcast_to(np.reshape(x, own), shape).copy())

    return tuple(one(i) for i in range(len(given)))


@truth_of("roll")
def roll(input: Any, shifts: Any, axis: Any = ()) -> Any:
    """Elements moved along axes; what leaves at the end comes in at the start."""
    whole = isinstance(axis, list | tuple) and not axis
    along = None if whole else axis if isinstance(axis, int) else tuple(axis)
    by = shifts if isinstance(shifts, int) else tuple(shifts)
    by = by[0] if whole and not isinstance(by, int) else by
    return _moved(input, lambda x: np.roll(x, by, along))


@truth_of("masked_select")
def masked_select(input: Any, mask: Any) -> Any:
    """The elements where the mask is true, in a row."""
    chosen = np.broadcast_to(mask, np.broadcast_shapes(np.shape(mask), plain_value(input).shape))
    return _moved(input, lambda x: np.broadcast_to(x, chosen.shape)[chosen])


# ---- parts ---------------------------------------------------------------------------------------


@truth_of("split")
def split(
    input: Any, split_sizes: Sequence[int] | None, nsplit: int | None = None, axis: int = 0
) -> tuple[Any, ...]:
    """Consecutive parts of an axis, of given sizes or of equal ones."""
    if not split_sizes:
        return _parts(input, lambda x: np.split(x, int(nsplit or 1), axis))
    ends = [*itertools.accumulate(split_sizes)]
    return _parts(input, lambda x: np.split(x, ends[:-1], axis))


@truth_of("stack")
def stack(input_lists: Sequence[Any], axis: int) -> Any:
    """Tensors along a new axis."""
    if not _floats(*input_lists):
        return np.stack(input_lists, axis)
    parts = [tracked(x) for x in input_lists]
    return Tracked(
        np.stack([p.value for p in parts], axis), np.stack([p.error for p in parts], axis)
    )


@truth_of("unstack")
def unstack(input: Any, axis: int = 0, num: int | None = None) -> tuple[Any, ...]:
    """The tensors at each index of an axis."""
    count = np.shape(plain_value(input))[axis]
    return _parts(input, lambda x: [np.take(x, i, axis) for i in range(count)])


def _ranges(begin: Sequence[int], size: Sequence[int], step: Sequence[int]) -> tuple[slice, ...]:
    return tuple(slice(b, b + n, s) for b, n, s in zip(begin, size, step, strict=True))


@truth_of("slice")
def slice_(input: Any, begin: Sequence[int], size: Sequence[int], step: Sequence[int]) -> Any:
    """Every step-th of the size elements from begin on, along each axis."""
    return _moved(input, lambda x: x[_ranges(begin, size, step)])


@truth_of("slice_backward")
def slice_backward(
    grad_out: Any, input: Any, begin: Sequence[int], size: Sequence[int], step: Sequence[int]
) -> Any:
    """The gradient of the result where it was taken from, and 0 elsewhere."""
    return _placed(grad_out, np.shape(plain_value(input)), _ranges(begin, size, step))


def _placed(x: Any, shape: Sequence[int], where: Any) -> Any:
    """Return zeros of a shape, with elements at some positions."""

    def placed(some: Any) -> Any:
        made = (
            tracked(np.zeros(shape)).value if some.dtype == object else np.zeros(shape, some.dtype)
        )
        made[where] = some
        return made

    return _moved(x, placed)


@truth_of("crop")
def crop(input: Any, shape: Sequence[int], offsets: Any = 0) -> Any:
    """A block of a shape, from offsets on."""
    starts = [offsets] * len(shape) if isinstance(offsets, int) else offsets
    full = np.shape(plain_value(input))
    sizes = [m - b if n == -1 else n for n, m, b in zip(shape, full, starts, strict=True)]
    return _moved(input, lambda x: x[_ranges(starts, sizes, [1] * len(sizes))])


_PADDINGS = {"PAD_MIRROR": "symmetric", "PAD_PERIOD": "wrap"}


@truth_of("pad")
def pad(input: Any, pad_width: Any, pad_value: Any = 0, pad_mode: Any = "PAD_CONST") -> Any:
    """The elements with others before and after them along each axis."""
    widths = np.reshape(np.array(pad_width, dtype=np.int64), (-1, 2))
    if not len(widths):  # of a tensor without axes
        return input
    word = _word(pad_mode)
    if word in _PADDINGS:
        way: Any = _PADDINGS[word]
        return _moved(input, lambda x: np.pad(x, widths, way))
    if word != "PAD_CONST":
        raise ValueError(f"the padding {word} has no definition here")
    if _floats(input):
        return t.pad(input, [(int(a), int(b)) for a, b in widths], float(pad_value))
    return np.pad(input, widths, constant_values=pad_value)


# ---- by indices ----------------------------------------------------------------------------------


def _positions(index: Any) -> Any:
    """Return what an index picks: rows, or elements by the coordinates along its last axis."""
    whole = np.asarray(index)
    return whole if whole.ndim <= 1 else tuple(np.moveaxis(whole, -1, 0))


@truth_of("gather")
def gather(input: Any, index: Any) -> Any:
    """The elements or rows at indices."""
    return _moved(input, lambda x: x[_positions(index)])


@truth_of("scatter")
def scatter(input: Any, index: Any, updates: Any, override: bool = True) -> Any:
    """The input with updates written, or added, at indices."""
    whole = np.asarray(index)
    shape = np.shape(plain_value(input))
    flat = whole.reshape(-1, 1) if whole.ndim <= 1 else whole.reshape(-1, whole.shape[-1])
    behind = shape[flat.shape[1] :]
    rows = _moved(updates, lambda x: np.reshape(x, (len(flat), *behind)))
    kept = [tuple(map(int, where)) for where in flat]
    if not _floats(input, updates):
        made = np.array(input)
        for i, where in enumerate(kept):
            made[where] = rows[i] if override else made[where] + rows[i]
        return made
    base, new = tracked(input), tracked(rows)
    value, error = base.value.copy(), base.error.copy()
    for where in dict.fromkeys(kept):
        same = [i for i, other in enumerate(kept) if other == where]
        if override:
            value[where], error[where] = new.value[same[-1]], new.error[same[-1]]
            continue
        met = t.concatenate([base[where].reshape(1, *behind), new[same]])
        total = met.sum(0)
        value[where], error[where] = total.value, total.error
    return Tracked(value, error)


@truth_of("nonzero")
def nonzero(input: Any, as_tuple: bool = True) -> Any:
    """The indices of the elements that are not 0, in row-major order."""
    found = np.nonzero(np.asarray(plain_value(input) != 0, dtype=bool))
    return found if as_tuple else np.stack(found, -1)


# ---- order ---------------------------------------------------------------------------------------


def _order(x: Any, axis: int, descending: bool) -> Any:
    """Return the order of elements along an axis: a NaN is the largest, equal ones stay."""
    given = plain_value(x)
    keys = given.astype(np.float64) if given.dtype == object else given
    if keys.dtype == bool:
        keys = keys.astype(np.int8)
    if not descending:
        return np.argsort(keys, axis, kind="stable")
    back = np.argsort(np.flip(keys, axis), axis, kind="stable")
    return keys.shape[axis] - 1 - np.flip(back, axis)


def _at(x: Any, order: Any, axis: int) -> Any:
    return _moved(x, lambda some: np.take_along_axis(some, order, axis))


@truth_of("argsort")
def argsort(input: Any, axis: int = -1, descending: bool = True) -> tuple[Any, Any]:
    """The elements in order along an axis, and where they were; equal ones as they came."""
    order = _order(input, axis, descending)
    return _at(input, order, axis), order


@truth_of("topk")
def topk(
    input: Any, k: int, axis: int = -1, largest: bool = True, sorted: bool = True
) -> tuple[Any, Any]:
    """The k largest elements along an axis, or the least, and where they are."""
    order = np.take(_order(input, axis, largest), range(k), axis)
    return _at(input, order, axis), order


@truth_of("argsort_bwd")
def argsort_bwd(out_grad: Any, indices: Any, axis: int = -1) -> Any:
    """Each gradient at the position that its element came from."""
    return _at(out_grad, np.argsort(indices, axis, kind="stable"), axis)


# ---- the rest ------------------------------------------------------------------------------------


@truth_of("allclose")
def allclose(
    x: Any, y: Any, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False
) -> Any:
    """Whether |x - y| <= atol + rtol |y| everywhere, in a tensor of one element."""
    from fractions import Fraction

    def near(a: Any, b: Any) -> bool:
        if isinstance(a, complex | mpmath.mpc) or isinstance(b, complex | mpmath.mpc):
            a, b = mpmath.mpmathify(a), mpmath.mpmathify(b)
            if not (mpmath.isfinite(a) and mpmath.isfinite(b)):
                return bool(a == b) or (equal_nan and bool(mpmath.isnan(a) and mpmath.isnan(b)))
            return bool(abs(a - b) <= mpmath.mpf(atol) + mpmath.mpf(rtol) * abs(b))
        if isinstance(a, int | np.integer) and isinstance(b, int | np.integer):
            m, n = int(a), int(b)
            return abs(m - n) <= Fraction(atol) + Fraction(rtol) * abs(n)
        p, q = float(a), float(b)
        if not (math.isfinite(p) and math.isfinite(q)):
            return p == q or (equal_nan and math.isnan(p) and math.isnan(q))
        return abs(Fraction(p) - Fraction(q)) <= Fraction(atol) + Fraction(rtol) * abs(Fraction(q))

    a, b = np.broadcast_arrays(plain_value(x), plain_value(y))
    return np.array([all(near(p, q) for p, q in zip(a.ravel(), b.ravel(), strict=True))])


def _shifted(x: Any, shift: Any, left: bool) -> Any:
    given = np.asarray(x)
    if given.dtype == bool:
        return given & (np.asarray(shift) == 0)
    by = np.asarray(shift).astype(given.dtype)
    return (np.left_shift if left else np.right_shift)(given, by)


@truth_of("bitwise_left_shift")
def bitwise_left_shift(x: Any, shift: Any = 1) -> Any:
    """The bits moved to the left; those that leave are lost."""
    return _shifted(x, shift, True)


@truth_of("bitwise_right_shift")
def bitwise_right_shift(x: Any, shift: Any = 1) -> Any:
    """The bits moved to the right."""
    return _shifted(x, shift, False)


@truth_of("interpolate")
def interpolate(
    input: Any, size: Any = None, scale_factor: Any = None, mode: str = "nearest"
) -> Any:
    """The elements between those of a grid: nearest, linear along each axis, or means of areas."""
    shape = np.shape(plain_value(input))
    spatial = shape[2:]
    if size is not None:
        sizes = [size] * len(spatial) if isinstance(size, int) else [*size]
    else:
        one = isinstance(scale_factor, int | float)
        factors = [scale_factor] * len(spatial) if one else [*scale_factor]
        sizes = [math.floor(n * s) for n, s in zip(spatial, factors, strict=True)]
    found = input
    for axis, (n, m) in enumerate(zip(spatial, sizes, strict=True), 2):
        found = _resampled(found, axis, n, m, mode)
    return found


def _resampled(x: Any, axis: int, n: int, m: int, mode: str) -> Any:
    """Return an axis of n elements as one of m."""
    if mode == "nearest":
        return _moved(x, lambda some: np.take(some, [i * n // m for i in range(m)], axis))
    given = tracked(x)
    moved = Tracked(np.moveaxis(given.value, axis, -1), np.moveaxis(given.error, axis, -1))
    if mode == "area":
        ends = [(i * n // m, -(-(i + 1) * n // m)) for i in range(m)]
        parts = [moved[..., a:b].mean(-1, keepdims=True) for a, b in ends]
        made = t.concatenate(parts, -1)
    else:
        # The position (i + 1/2) n / m - 1/2 as a fraction of 2 m, and what it is rounded by.
        at = [min(max((2 * i + 1) * n - m, 0), 2 * m * (n - 1)) for i in range(m)]
        low = [p // (2 * m) for p in at]
        high = [min(k + 1, n - 1) for k in low]
        share = tracked(np.array([p % (2 * m) for p in at])) / (2 * m)
        share = Tracked(share.value, np.full(m, 4 * t._now.unit * n))
        left, right = moved[..., low], moved[..., high]
        made = left * (1 - share) + right * share
    return Tracked(np.moveaxis(made.value, -1, axis), np.moveaxis(made.error, -1, axis))
