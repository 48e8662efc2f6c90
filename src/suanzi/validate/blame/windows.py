"""Rules of windows and images: pooling and resizing, with their gradients."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from suanzi.truth import tracked as t
from suanzi.truth.nn.pooling import Window, adaptive_window, sliding_window
from suanzi.truth.tracked import Tracked, tracked
from suanzi.validate.blame.elements import rule
from suanzi.validate.blame.sampling import TERMS, Array, Call, Part, Piece, Unjudged, name_of


def _each(x: Any, n: int) -> list[int]:
    values = [int(v) for v in x] if isinstance(x, list | tuple) else [int(x)]
    return values * n if len(values) == 1 else values


def _windows(call: Call, x: Any) -> list[list[Window]]:
    """Return the windows of a pooling along its axes."""
    name = call.name.removesuffix("_backward")
    n = int(name.partition("d_")[0].removesuffix("d")[-1])
    sizes = [int(s) for s in x.shape[-n:]]
    if "adaptive" in name:
        pulled = call.get("grad_output")
        wanted = _each(call["output_size"], n) if pulled is None else list(pulled.shape[-n:])
        return [adaptive_window(size, m) for size, m in zip(sizes, wanted, strict=True)]
    kernel, padding = _each(call["kernel_size"], n), _each(call.get("padding", 0), n)
    stride = _each(call.get("stride") or kernel, n)
    dilation = _each(call.get("dilation", 1), n)
    up = bool(call.get("ceil_mode", False))
    each = zip(sizes, kernel, stride, padding, dilation, strict=True)
    return [sliding_window(*one, up) for one in each]


def _members(window: Sequence[Window], size: int) -> Array:
    """Return which positions of an axis are in which window, (windows, positions)."""
    found = np.zeros((len(window), size), bool)
    for i, (inside, _) in enumerate(window):
        found[i, inside] = True
    return found


def _divisors(call: Call, windows: list[list[Window]]) -> Array:
    """Return the number that the sum of each window is divided by."""
    own = call.get("divisor_override")
    padded = bool(call.get("count_include_pad", True))
    sizes = [np.array([count if padded else len(inside) for inside, count in w]) for w in windows]
    whole = sizes[0]
    for more in sizes[1:]:
        whole = whole[..., None] * more
    return np.full(whole.shape, int(own)) if own else whole


_POOLS = ("max_pool2d_with_indices", "max_pool3d_with_indices", "avg_pool2d", "avg_pool3d",
          "_adaptive_avg_pool2d", "_adaptive_avg_pool3d", "avg_pool1d")  # fmt: skip


@rule(*_POOLS)
def pooling(call: Call) -> Iterator[Piece]:
    """The largest elements or the means of some windows."""
    x, largest = call["self"], call.name.startswith("max")
    windows = _windows(call, x)
    n = len(windows)
    terms = math.prod(max((len(w) for w, _ in one), default=1) for one in windows)
    at = call.elements(call.out, max(8, min(128, TERMS // max(terms, 1))))
    rows = np.full((len(at[0]), terms), -np.inf if largest else 0.0)
    index: list[list[Array]] = []
    for k in range(len(at[0])):
        reads = [windows[a][int(at[a - n][k])][0] for a in range(n)]
        grid = [g.ravel() for g in np.meshgrid(*reads, indexing="ij")]
        index.append([*(np.full(grid[0].size, at[a][k]) for a in range(len(at) - n)), *grid])
    if index:
        joined = tuple(np.concatenate([one[a] for one in index]) for a in range(len(at)))
        values, start = call.take(x, joined), 0
        for k, one in enumerate(index):
            count = one[0].size
            rows[k, :count] = values[start : start + count]
            start += count
    if largest:
        parts = [call.part(call.out, at)]
        if len(call.results) > 1:
            parts.append(_pointed(call, x, at, n))
        yield Piece(lambda x: (x.max(-1),) * len(parts), {"x": rows}, parts, True)
        return
    by = _divisors(call, windows)[tuple(at[a - n] for a in range(n))].astype(np.float64)
    part = call.part(call.out, at)
    yield Piece(lambda x: x.sum(-1) / by, {"x": rows}, [part], within=call.within)


def _pointed(call: Call, x: Any, at: tuple[Array, ...], n: int) -> Part:
    """Return the elements that indices point to."""
    part = call.part(call.results[1], at)
    where = np.clip(part.found, 0, math.prod(x.shape[-n:]) - 1)
    inner = np.unravel_index(where, tuple(x.shape[-n:]))
    return Part(call.take(x, (*at[:-n], *inner)), name_of(x.dtype), part.label)


@rule(*(f"{name}_backward" for name in _POOLS))
def pooling_backward(call: Call) -> Iterator[Piece]:
    """The gradients of windows at the elements that they come from."""
    g, x, out = call["grad_output"], call["self"], call.out
    windows = _windows(call, x)
    n = len(windows)
    plane = math.prod(g.shape[-n:])
    at = call.elements(out, max(4, min(64, 4 * TERMS // max(plane, 1))))
    lead = tuple(a[:, None] for a in at[:-n])
    inner = np.unravel_index(np.arange(plane), tuple(g.shape[-n:]))
    grid = np.broadcast_arrays(*lead, *(i[None] for i in inner))
    rows = call.take(g, tuple(grid)).reshape(len(at[0]), plane)
    if "max" in call.name:
        pointed = call.take(call["indices"], tuple(grid)).reshape(rows.shape)
        own = np.ravel_multi_index(at[-n:], tuple(x.shape[-n:]))
        hit, by = pointed == own[:, None], np.ones((1, plane))
    else:
        hit = np.ones((len(at[0]), *(1,) * n), bool)
        for a in range(n):
            inside = _members(windows[a], x.shape[a - n])[:, at[a - n]].T
            hit = hit & inside.reshape(len(at[0]), *(inside.shape[1] if b == a else 1
                                                     for b in range(n)))  # fmt: skip
        hit = hit.reshape(len(at[0]), plane)
        by = _divisors(call, windows).reshape(1, plane).astype(np.float64)
    # Only the windows that have an element are summed: the bound follows their number.
    most = max(int(hit.sum(1).max(initial=0)), 1)
    order = np.argsort(~hit, axis=1, kind="stable")[:, :most]
    rows = np.where(np.take_along_axis(hit, order, 1), np.take_along_axis(rows, order, 1), 0.0)
    by = np.take_along_axis(np.broadcast_to(by, hit.shape), order, 1)
    definition = (lambda g: g.sum(-1)) if "max" in call.name else (lambda g: (g / by).sum(-1))
    yield Piece(definition, {"g": rows}, [call.part(out, at)], within=call.within)


# ---- resizing ------------------------------------------------------------------------------------


def _factor(small: int, large: int) -> int:
    if not small or large % small:
        raise Unjudged("a size that is no multiple")
    return large // small


@rule("upsample_nearest2d", "upsample_nearest1d", "upsample_nearest3d")
def nearest(call: Call) -> Iterator[Piece]:
    """Every element several times."""
    x, out = call["self"], call.out
    at = call.elements(out)
    by = [_factor(a, b) for a, b in zip(x.shape[2:], out.shape[2:], strict=True)]
    some = call.take(x, (at[0], at[1], *(i // k for i, k in zip(at[2:], by, strict=True))))
    yield Piece(lambda x: x, {"x": some}, [call.part(out, at)], True)


@rule("upsample_nearest2d_backward", "upsample_nearest1d_backward", "upsample_nearest3d_backward")
def nearest_backward(call: Call) -> Iterator[Piece]:
    """The sum of the gradients of what an element became."""
    g, out = call["grad_output"], call.out
    by = [_factor(a, b) for a, b in zip(out.shape[2:], g.shape[2:], strict=True)]
    at = call.elements(out, max(8, min(128, TERMS // math.prod(by))))
    offsets = [o.ravel() for o in np.meshgrid(*(np.arange(k) for k in by), indexing="ij")]
    inner = [i[:, None] * k + o for i, k, o in zip(at[2:], by, offsets, strict=True)]
    grid = np.broadcast_arrays(at[0][:, None], at[1][:, None], *inner)
    rows = call.take(g, tuple(grid))
    yield Piece(lambda g: g.sum(-1), {"g": rows}, [call.part(out, at)], within=call.within)


def _position(i: Array, small: int, large: int, corners: bool, scale: Any) -> Tracked:
    """Where in x an element is: inside of it, between two neighbours."""
    if corners:
        return tracked(i) * (tracked(small - 1) / max(large - 1, 1))
    step = tracked(small) / large if scale is None else 1 / tracked(float(scale))
    return t.maximum((tracked(i) + 0.5) * step - 0.5, 0)


@rule("upsample_bilinear2d")
def bilinear(call: Call) -> Iterator[Piece]:
    """The mean of four neighbours, weighted by how near they are."""
    x, out = call["self"], call.out
    at = call.elements(out)
    corners = bool(call["align_corners"])
    scales = [call.get("scales_h"), call.get("scales_w")]
    pairs = list(zip(at[2:], x.shape[2:], out.shape[2:], scales, strict=True))
    low, high = [], []
    for i, small, large, scale in pairs:
        with t.arithmetic("float64", exact=False):
            place = _position(i.astype(np.float64), small, large, corners, scale).value
        first = np.minimum(np.floor(place + 1e-9).astype(np.int64), small - 1)
        low.append(first)
        high.append(np.minimum(first + 1, small - 1))
    corner = {
        f"x{a}{b}": call.take(x, (at[0], at[1], (low, high)[a][0], (low, high)[b][1]))
        for a in (0, 1) for b in (0, 1)
    }  # fmt: skip

    def definition(x00: Tracked, x01: Tracked, x10: Tracked, x11: Tracked) -> Tracked:
        weights: list[Tracked] = []
        for (i, small, large, scale), first in zip(pairs, low, strict=True):
            place = _position(i.astype(np.float64), small, large, corners, scale)
            weights.append(t.minimum(place, small - 1) - first.astype(np.float64))
        h, w = weights[0], weights[1]
        top = x00 * (1 - w) + x01 * w
        below = x10 * (1 - w) + x11 * w
        found: Tracked = top * (1 - h) + below * h
        return found

    yield Piece(definition, corner, [call.part(out, at)], within=call.within)
