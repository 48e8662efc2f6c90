"""Pooling: the largest elements and the means of windows."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suanzi.truth.define import truth_of
from suanzi.truth.tracked import Tracked, concatenate, tracked

Window = tuple[list[int], int]
"""The positions of a window that are in x, and how many it has with the padding that counts."""
RANKS = (1, 2, 3)


def _each(x: Any, rank: int) -> list[int]:
    return [x] * rank if isinstance(x, int) else list(x)


def sliding_window(n: int, k: int, s: int, p: int, d: int, up: bool) -> list[Window]:
    """The windows along an axis of n elements."""
    span = d * (k - 1) + 1
    starts = range(-p, n + p - span + 1 + (s - 1 if up else 0), s)
    found = []
    for start in starts:
        if start >= n and up:  # a window that begins beyond x and the padding before it
            continue
        every = range(start, start + span, d)
        found.append(([i for i in every if 0 <= i < n], sum(i < n + p for i in every)))
    return found


def adaptive_window(n: int, m: int) -> list[Window]:
    """Return the windows along an axis of n elements that give m results."""
    windows = [list(range(i * n // m, -(-(i + 1) * n // m))) for i in range(m)]
    return [(w, len(w)) for w in windows]


def _of(
    x: Tracked, kernel: Any, stride: Any, padding: Any, dilation: Any, ceil_mode: bool, rank: int
) -> list[list[Window]]:
    sizes = [_each(v, rank) for v in (kernel, stride or kernel, padding, dilation)]
    each = zip(x.shape[-rank:], *sizes, strict=True)
    return [sliding_window(n, k, s, p, d, ceil_mode) for n, k, s, p, d in each]


def _cells(windows: Sequence[Sequence[Window]]) -> Iterator[tuple[NDArray[Any], int]]:
    """For each output in order: the elements of its window, one row each, and the divisor."""
    for cell in itertools.product(*windows):
        elements = list(itertools.product(*(w for w, _ in cell)))
        count = int(np.prod([c for _, c in cell]))
        yield np.array(elements, dtype=int).reshape(len(elements), len(cell)), count


def _flat(x: Tracked, rank: int) -> Tracked:
    """The pooled axes as one."""
    return x.reshape(*x.shape[:-rank], int(np.prod(x.shape[-rank:])))


def _positions(elements: NDArray[Any], shape: Sequence[int]) -> NDArray[Any]:
    return (
        np.ravel_multi_index(tuple(elements.T), tuple(shape)) if len(elements) else elements[:, 0]
    )


def _largest(x: Tracked, windows: list[list[Window]], rank: int, indices: bool) -> Any:
    """The largest elements of windows, and where they are in the pooled axes of x, if asked for."""
    found = _pooled(x, windows, rank, True)
    if not indices:
        return found
    flat, shape = _flat(x, rank), x.shape[-rank:]
    every = [_positions(elements, shape) for elements, _ in _cells(windows)]
    lines = flat.value.reshape(-1, flat.shape[-1]) if flat.value.size else flat.value[:0]
    where = [[_first_largest(line, at) for at in every] for line in lines]
    return found, np.array(where, np.int64).reshape(found.shape)


def _pooled(
    x: Tracked, windows: list[list[Window]], rank: int, largest: bool, divisor: Any = None,
    padded: bool = True,
) -> Tracked:  # fmt: skip
    flat, shape, made = _flat(x, rank), x.shape[-rank:], []
    for elements, count in _cells(windows):
        window = flat[..., _positions(elements, shape)]
        if largest:
            made.append(window.max(-1, keepdims=True))
        else:
            by = divisor or (count if padded else len(elements))
            made.append(window.sum(-1, keepdims=True) / by)
    if not made:
        return x[..., :0].reshape(*x.shape[:-rank], *(len(w) for w in windows))
    return concatenate(made, -1).reshape(*x.shape[:-rank], *(len(w) for w in windows))


def _spread(
    g: Tracked, x: Tracked, windows: list[list[Window]], rank: int, largest: bool,
    divisor: Any = None, padded: bool = True,
) -> Tracked:  # fmt: skip
    """Each gradient goes to the first largest element of its window, or to all of them equally."""
    flat, grads, shape = _flat(x, rank), _flat(g, rank), x.shape[-rank:]
    lines = flat.value.reshape(-1, flat.shape[-1])
    rows = grads.reshape(len(lines), grads.shape[-1]) if len(lines) else grads
    if not largest and len(lines):
        return _shared(rows, windows, shape, divisor, padded).reshape(*x.shape)
    parts: list[list[list[Tracked]]] = [[[] for _ in line] for line in lines]
    for o, (elements, _) in enumerate(_cells(windows)):
        at = _positions(elements, shape)
        for i, line in enumerate(lines):
            if len(at):
                parts[i][_first_largest(line, at)].append(rows[i, o])
    made = [_sum(one) for line in parts for one in line]
    if not made:
        return x
    return concatenate([m.reshape(1) for m in made]).reshape(*x.shape)


def _first_largest(line: NDArray[Any], at: NDArray[Any]) -> int:
    best = at[0]
    for i in at:
        is_nan = line[i] != line[i] and line[best] == line[best]
        if line[i] > line[best] or is_nan:
            best = i
    return int(best)


def _shared(
    rows: Tracked, windows: list[list[Window]], shape: Sequence[int], divisor: Any, padded: bool
) -> Tracked:
    """The gradients of windows, each shared by its elements; all rows at once."""
    parts: list[list[Tracked]] = [[] for _ in range(int(np.prod(shape)))]
    for o, (elements, count) in enumerate(_cells(windows)):
        at = _positions(elements, shape)
        if len(at):
            share = rows[:, o : o + 1] / (divisor or (count if padded else len(elements)))
            for position in at:
                parts[position].append(share)
    none = tracked(np.zeros((rows.shape[0], 1)))
    made = [concatenate(one, -1).sum(-1, keepdims=True) if one else none for one in parts]
    return concatenate(made, -1) if made else none[:, :0]


def _sum(parts: list[Tracked]) -> Tracked:
    if not parts:
        return tracked(0)
    return concatenate([p.reshape(1) for p in parts]).sum()


def _declare(rank: int) -> None:
    @truth_of(f"nn:max_pool{rank}d")
    def max_pool(
        x: Tracked, kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1,
        ceil_mode: bool = False, return_indices: bool = False,
    ) -> Any:  # fmt: skip
        """The largest element of each window, and where it is with `return_indices`."""
        windows = _of(x, kernel_size, stride, padding, dilation, ceil_mode, rank)
        return _largest(x, windows, rank, return_indices)

    @truth_of(f"nn:max_pool{rank}d_bwd")
    def max_pool_bwd(
        out_grad: Tracked, x: Tracked, kernel_size: Any, stride: Any = None, padding: Any = 0,
        dilation: Any = 1, ceil_mode: bool = False,
    ) -> Tracked:  # fmt: skip
        """The first largest element of a window has its gradient."""
        windows = _of(x, kernel_size, stride, padding, dilation, ceil_mode, rank)
        return _spread(out_grad, x, windows, rank, True)

    @truth_of(f"nn:avg_pool{rank}d")
    def avg_pool(
        x: Tracked, kernel_size: Any, stride: Any = None, padding: Any = 0,
        ceil_mode: bool = False, count_include_pad: bool = True, divisor_override: Any = None,
    ) -> Tracked:  # fmt: skip
        """The mean of each window."""
        windows = _of(x, kernel_size, stride, padding, 1, ceil_mode, rank)
        return _pooled(x, windows, rank, False, divisor_override, count_include_pad)

    @truth_of(f"nn:avg_pool{rank}d_bwd")
    def avg_pool_bwd(
        out_grad: Tracked, x: Tracked, kernel_size: Any, stride: Any = None, padding: Any = 0,
        ceil_mode: bool = False, count_include_pad: bool = True, divisor_override: Any = None,
    ) -> Tracked:  # fmt: skip
        """The elements of a window share its gradient."""
        windows = _of(x, kernel_size, stride, padding, 1, ceil_mode, rank)
        return _spread(out_grad, x, windows, rank, False, divisor_override, count_include_pad)

    def even(x: Tracked, output_size: Any) -> list[list[Window]]:
        sizes = zip(x.shape[-rank:], _each(output_size, rank), strict=True)
        return [adaptive_window(n, n if m is None else m) for n, m in sizes]

    @truth_of(f"nn:adaptive_avg_pool{rank}d")
    def adaptive_avg_pool(x: Tracked, output_size: Any) -> Tracked:
        """The means of as many windows as the output has elements, evenly."""
        return _pooled(x, even(x, output_size), rank, False)

    @truth_of(f"nn:adaptive_max_pool{rank}d")
    def adaptive_max_pool(x: Tracked, output_size: Any, return_indices: bool = False) -> Any:
        """The largest elements of as many windows as the output has elements, evenly."""
        return _largest(x, even(x, output_size), rank, return_indices)

    @truth_of(f"nn:adaptive_avg_pool{rank}d_bwd")
    def adaptive_avg_pool_bwd(out_grad: Tracked, x: Tracked, output_size: Any) -> Tracked:
        """The elements of a window share its gradient."""
        return _spread(out_grad, x, even(x, output_size), rank, False)

    @truth_of(f"nn:adaptive_max_pool{rank}d_bwd")
    def adaptive_max_pool_bwd(out_grad: Tracked, x: Tracked, output_size: Any) -> Tracked:
        """The first largest element of a window has its gradient."""
        return _spread(out_grad, x, even(x, output_size), rank, True)


for _rank in RANKS:
    _declare(_rank)
