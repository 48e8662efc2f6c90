"""Windows of images as columns and back, channels that become pixels, and grids."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import mpmath
import numpy as np

from suanzi.truth.define import truth_of
from suanzi.truth.tracked import Tracked, concatenate, pad, tracked

Each = int | Sequence[int]


def _pair(x: Each) -> tuple[int, ...]:
    values = (x,) if isinstance(x, int) else tuple(x)
    return values * 2 if len(values) == 1 else values


def _positions(sizes: Sequence[int], kernel: Each, dilation: Each, padding: Each,
               stride: Each) -> list[int]:  # fmt: skip
    each = zip(sizes, _pair(kernel), _pair(dilation), _pair(padding), _pair(stride), strict=True)
    return [(n + 2 * p - d * (k - 1) - 1) // s + 1 for n, k, d, p, s in each]


@truth_of("nn:unfold")
def unfold(x: Tracked, kernel_size: Each, dilation: Each = 1, padding: Each = 0,
           stride: Each = 1) -> Tracked:  # fmt: skip
    """The elements that each tap reads, in the order of channels, taps and positions."""
    y, z = _pair(padding)
    image = pad(x, [*((0, 0),) * (x.ndim - 2), (y, y), (z, z)])
    taps = product(*(range(k) for k in _pair(kernel_size)))
    rows, columns = _positions(x.shape[-2:], kernel_size, dilation, padding, stride)
    (down, across), (d, e) = _pair(stride), _pair(dilation)
    seen = [
        image[..., i * d : i * d + down * (rows - 1) + 1 : down,
              j * e : j * e + across * (columns - 1) + 1 : across]
        for i, j in taps
    ]  # fmt: skip
    each = [one.reshape(*one.shape[:-2], 1, rows * columns) for one in seen]
    made = concatenate(each, -2)
    return made.reshape(*x.shape[:-3], x.shape[-3] * len(seen), rows * columns)


@truth_of("nn:fold")
def fold(x: Tracked, output_size: Each, kernel_size: Each, dilation: Each = 1, padding: Each = 0,
         stride: Each = 1) -> Tracked:  # fmt: skip
    """The sums of the columns, each element where its tap reads."""
    high, wide = _pair(output_size)
    rows, columns = _positions((high, wide), kernel_size, dilation, padding, stride)
    (down, across), (d, e), (y, z) = _pair(stride), _pair(dilation), _pair(padding)
    taps = list(product(*(range(k) for k in _pair(kernel_size))))
    channels = x.shape[-2] // len(taps)
    given = x.reshape(*x.shape[:-2], channels, len(taps), rows, columns)
    terms = []
    for tap, (i, j) in enumerate(taps):
        shape = (*given.shape[:-3], high + 2 * y, wide + 2 * z)
        value = np.broadcast_to(tracked(0.0).value, shape).copy()
        at = (..., slice(i * d, i * d + down * (rows - 1) + 1, down),
              slice(j * e, j * e + across * (columns - 1) + 1, across))  # fmt: skip
        value[at] = given.value[..., tap, :, :]
        terms.append(Tracked(value, np.zeros(shape))[None])
    return concatenate(terms).sum(0)[..., y : y + high, z : z + wide]


@truth_of("nn:unfold_bwd")
def unfold_bwd(out_grad: Tracked, x: Tracked, kernel_size: Each, dilation: Each = 1,
               padding: Each = 0, stride: Each = 1) -> Tracked:  # fmt: skip
    """The columns added up where they came from."""
    return fold(out_grad, x.shape[-2:], kernel_size, dilation, padding, stride)


@truth_of("nn:fold_bwd")
def fold_bwd(out_grad: Tracked, x: Tracked, output_size: Each, kernel_size: Each,
             dilation: Each = 1, padding: Each = 0, stride: Each = 1) -> Tracked:  # fmt: skip
    """The elements that each tap reads."""
    return unfold(out_grad, kernel_size, dilation, padding, stride)


@truth_of("nn:pixel_shuffle")
def pixel_shuffle(x: Tracked, upscale_factor: int) -> Tracked:
    """Element (c, y, x) comes from channel c r r + (y mod r) r + x mod r."""
    r = upscale_factor
    channels, high, wide = (n * m for n, m in zip(x.shape[-3:], (1, r, r), strict=True))
    c, i, j = np.ogrid[: channels // (r * r), :high, :wide]
    return x[..., c * r * r + i % r * r + j % r, i // r, j // r]


@truth_of("nn:pixel_unshuffle")
def pixel_unshuffle(x: Tracked, downscale_factor: int) -> Tracked:
    """Channel c r r + a r + b has the elements of channel c at rows a, a + r, ... and columns b."""
    r = downscale_factor
    channels, high, wide = x.shape[-3] * r * r, x.shape[-2] // r, x.shape[-1] // r
    c, i, j = np.ogrid[:channels, :high, :wide]
    return x[..., c // (r * r), i * r + c // r % r, j * r + c % r]


@truth_of("nn:pixel_shuffle_bwd")
def pixel_shuffle_bwd(out_grad: Tracked, x: Tracked, upscale_factor: int) -> Tracked:
    """Each element back where it came from."""
    return pixel_unshuffle(out_grad, upscale_factor)


@truth_of("nn:pixel_unshuffle_bwd")
def pixel_unshuffle_bwd(out_grad: Tracked, x: Tracked, downscale_factor: int) -> Tracked:
    """Each element back where it came from."""
    return pixel_shuffle(out_grad, downscale_factor)


# ---- positions of a grid -------------------------------------------------------------------------

Tap = tuple[int, Tracked, Tracked]
"""An element along an axis, -1 if there is none; its weight, and how that changes with the grid."""


@truth_of("nn:grid_sample")
def grid_sample(
    x: Tracked, grid: Tracked, mode: str = "bilinear", padding_mode: str = "zeros",
    align_corners: bool = False,
) -> Tracked:  # fmt: skip
    """The elements around each position, times their weights."""
    made = []
    for n, at in product(range(x.shape[0]), np.ndindex(grid.shape[1:-1])):
        taps = _taps(x, grid[(n, *at)], mode, padding_mode, align_corners)
        parts = [x[(n, slice(None), *i)] * _times(w) for i, w in _each(taps) if _counts(i, w)]
        parts = parts or [tracked(np.zeros(x.shape[1]))]
        made.append(concatenate([p.reshape(-1, 1) for p in parts], 1).sum(1).reshape(1, -1))
    shape = (x.shape[0], *grid.shape[1:-1], x.shape[1])
    if not made:
        return tracked(np.zeros((*x.shape[:2], *grid.shape[1:-1])))
    whole = concatenate(made).reshape(*shape)
    return whole.transpose(0, len(shape) - 1, *range(1, len(shape) - 1))


@truth_of("nn:grid_sample_bwd")
def grid_sample_bwd(
    out_grad: Tracked, x: Tracked, grid: Tracked, mode: str = "bilinear",
    padding_mode: str = "zeros", align_corners: bool = False,
) -> tuple[Tracked, Tracked]:  # fmt: skip
    """The weights go back to the elements; a position has the slopes of its weights."""
    axes = x.ndim - 2
    back: dict[tuple[int, ...], list[Tracked]] = {}
    made = []
    for n, at in product(range(x.shape[0]), np.ndindex(grid.shape[1:-1])):
        taps = _taps(x, grid[(n, *at)], mode, padding_mode, align_corners)
        g = out_grad[(n, slice(None), *at)]
        slopes: list[list[Tracked]] = [[] for _ in range(axes)]
        for i, w in _each(taps):
            if min(i) < 0:
                continue
            if _counts(i, w):
                back.setdefault((n, *i), []).append(g * _times(w))
            for d in range(axes):
                one = _times([t[1] if k != d else t[2] for k, t in enumerate(_tap_of(taps, i, w))])
                slopes[d].append((x[(n, slice(None), *i)] * g).sum() * one)
        each = [_added(s) if mode != "nearest" else tracked(0) for s in slopes[::-1]]
        made.append(concatenate([s.reshape(1) for s in each]).reshape(1, axes))
    planes = [
        _added(back.get((n, *i), []), x.shape[1]).reshape(1, -1)
        for n, i in product(range(x.shape[0]), np.ndindex(x.shape[2:]))
    ]
    by_x = concatenate(planes).reshape(x.shape[0], *x.shape[2:], x.shape[1])
    by_grid = concatenate(made).reshape(*grid.shape) if made else grid
    return by_x.transpose(0, axes + 1, *range(1, axes + 1)), by_grid


def _added(parts: list[Tracked], count: int = 1) -> Tracked:
    if not parts:
        return tracked(np.zeros(count))
    return concatenate([p.reshape(-1, 1) for p in parts], 1).sum(1)


def _times(weights: Sequence[Tracked]) -> Tracked:
    found = weights[0]
    for w in weights[1:]:
        found = found * w
    return found


def _each(taps: list[list[Tap]]) -> list[tuple[tuple[int, ...], list[Tracked]]]:
    """Every combination of elements along the axes, with their weights."""
    return [(tuple(t[0] for t in some), [t[1] for t in some]) for some in product(*taps)]


def _tap_of(taps: list[list[Tap]], index: tuple[int, ...], weights: list[Tracked]) -> list[Tap]:
    return [next(t for t in axis if t[1] is w) for axis, w in zip(taps, weights, strict=True)]


def _counts(index: tuple[int, ...], weights: list[Tracked]) -> bool:
    """Whether an element exists and has a weight."""
    return min(index) >= 0 and all(w.value != 0 for w in weights)


def _taps(x: Tracked, position: Tracked, mode: str, padding: str, align: bool) -> list[list[Tap]]:
    sizes = x.shape[2:]
    return [
        _along(position[len(sizes) - 1 - d], n, mode, padding, align) for d, n in enumerate(sizes)
    ]


def _along(g: Tracked, n: int, mode: str, padding: str, align: bool) -> list[Tap]:
    """The elements of an axis of n that a position from -1 to 1 takes."""
    c = (g + 1) / 2 * (n - 1) if align else ((g + 1) * n - 1) / 2
    slope = (n - 1) / 2 if align else n / 2
    if mode != "bicubic":
        c, sign = _within(c, n, padding, align)
        slope *= sign
    if not np.isfinite(float(c.value)):
        unknown = c - c  # NaN; of an infinite position beyond an image of zeros, nothing
        is_nan = np.isnan(float(c.value)) or mode == "bicubic"
        return [(0, unknown, unknown)] if is_nan else [(-1, tracked(0), tracked(0))]
    low = int(mpmath.floor(c.value.item()))
    part = c - low
    if mode == "nearest":
        if abs(float(part.value) - 0.5) <= float(part.error):
            # Which of two is nearer is not known within the error of the position.
            either = Tracked(tracked(1).value, np.asarray(np.inf))
            return [(_existing(i, n), either, tracked(0)) for i in (low, low + 1)]
        return [(_existing(low + (float(part.value) > 0.5), n), tracked(1), tracked(0))]
    if mode == "bilinear":
        one = tracked(slope)
        # At an element, the slope is that of either side within the error of the position.
        if min(float(part.value), 1 - float(part.value)) <= float(part.error) or slope == 0:
            one = Tracked(one.value, np.asarray(np.inf if slope else 0.0))
        return [(_existing(low, n), 1 - part, -one), (_existing(low + 1, n), part, one)]
    found: list[Tap] = []
    for k, weight in enumerate((_far(part + 1), _near(part), _near(1 - part), _far(2 - part))):
        at, _ = _within(tracked(low - 1 + k), n, padding, align)
        d = (part + 1, part, 1 - part, 2 - part)[k]
        change = (_far_slope if k in (0, 3) else _near_slope)(d) * (1 if k < 2 else -1) * slope
        found.append((_existing(round(float(at.value)), n), weight, change))
    return found


def _existing(i: int, n: int) -> int:
    return i if 0 <= i < n else -1


def _within(c: Tracked, n: int, padding: str, align: bool) -> tuple[Tracked, int]:
    """A coordinate moved into the image by its padding, and the sign of its slope."""
    sign = 1
    if padding == "zeros" or np.isnan(float(c.value)):
        return c, sign
    if padding == "reflection":
        low, high = (tracked(0), n - 1) if align else (tracked(-0.5), n - 0.5)
        if np.isinf(float(c.value)):
            return c - c, sign
        span = high - float(low.value)
        if not span:
            return tracked(0), 0
        c = c - low
        turns = int(mpmath.floor(c.value.item() / span))
        c, sign = (c - turns * span, 1) if turns % 2 == 0 else ((turns + 1) * span - c, -1)
        c = c + low
    inside = 0 < float(c.value) < n - 1
    return (c, sign) if inside else (tracked(0 if float(c.value) <= 0 else n - 1), 0)


_A = -0.75


def _near(d: Tracked) -> Tracked:
    """The weight of an element at a distance of at most 1."""
    return ((_A + 2) * d - (_A + 3)) * d * d + 1


def _far(d: Tracked) -> Tracked:
    """The weight at a distance from 1 to 2."""
    return ((_A * d - 5 * _A) * d + 8 * _A) * d - 4 * _A


def _near_slope(d: Tracked) -> Tracked:
    return (3 * (_A + 2) * d - 2 * (_A + 3)) * d


def _far_slope(d: Tracked) -> Tracked:
    return (3 * _A * d - 10 * _A) * d + 8 * _A
