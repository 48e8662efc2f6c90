"""Convolutions, transposed ones, and their gradients: sums of products over windows."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np

from suanzi.truth.define import truth_of
from suanzi.truth.tracked import Tracked, concatenate, pad, tracked

Each = int | Sequence[int]


def _each(x: Each, count: int) -> tuple[int, ...]:
    values = (x,) if isinstance(x, int) else tuple(x)
    return values * count if len(values) == 1 else values


def _batched(x: Tracked, axes: int) -> Tracked:
    return x if x.ndim == axes + 2 else x.reshape(1, *x.shape)


def _sides(padding: Each | str, reach: Sequence[int]) -> list[tuple[int, int]]:
    """The zeros before and behind each axis; a kernel covers `reach` elements and one more."""
    if padding == "valid":
        return [(0, 0)] * len(reach)
    if padding == "same":
        return [(r // 2, r - r // 2) for r in reach]
    assert not isinstance(padding, str)
    return [(p, p) for p in _each(padding, len(reach))]


def _windows(x: Tracked, kernel: Sequence[int], stride: Each, padding: Each | str,
             dilation: Each) -> Tracked:  # fmt: skip
    """What each tap reads at each position: (batch, channels, positions, taps)."""
    n = len(kernel)
    reach = [d * (k - 1) for d, k in zip(_each(dilation, n), kernel, strict=True)]
    x = pad(x, [(0, 0), (0, 0), *_sides(padding, reach)])
    for axis, (k, s, d) in enumerate(
        zip(kernel, _each(stride, n), _each(dilation, n), strict=True)
    ):
        count = (x.shape[2 + 2 * axis] - reach[axis] - 1) // s + 1
        at = np.arange(count)[:, None] * s + np.arange(k) * d
        x = x[(slice(None),) * (2 + 2 * axis) + (at,)]
    order = (0, 1, *range(2, 2 + 2 * n, 2), *range(3, 3 + 2 * n, 2))
    return x.transpose(*order)


@truth_of("nn:conv1d", "nn:conv2d", "nn:conv3d")
def convolution(x: Tracked, weight: Tracked, bias: Tracked | None = None, stride: Each = 1,
                padding: Each | str = 0, dilation: Each = 1,
                groups: int = 1) -> Tracked:  # fmt: skip
    """The sum over channels and taps of the weights times what the taps read, and the bias."""
    n = weight.ndim - 2
    kernel, each, outputs = weight.shape[2:], weight.shape[1], weight.shape[0] // groups
    seen = _windows(_batched(x, n), kernel, stride, padding, dilation)
    batch, positions = seen.shape[0], seen.shape[2 : 2 + n]
    seen = seen.reshape(batch, groups, 1, each, *positions, *kernel)
    taps = weight.reshape(1, groups, outputs, each, *(1,) * n, *kernel)
    made = (seen * taps).sum((3, *range(4 + n, 4 + 2 * n)))
    made = made.reshape(batch, groups * outputs, *positions)
    if bias is not None:
        made = made + bias.reshape(1, groups * outputs, *(1,) * n)
    return made if x.ndim == n + 2 else made.reshape(*made.shape[1:])


def _scattered(x: Tracked, weight: Tracked, sizes: Sequence[int], stride: Each,
               start: Sequence[int], dilation: Each, groups: int) -> Tracked:  # fmt: skip
    """The sum of what each element gives to the positions that read it.

    weight is (in, out / groups, taps).
    """
    n = weight.ndim - 2
    each, outputs = weight.shape[0] // groups, weight.shape[1]
    batch, shape = x.shape[0], x.shape[2:]
    grouped = x.reshape(batch, groups, each, 1, *shape)
    terms = []
    for tap in product(*(range(k) for k in weight.shape[2:])):
        one = weight[(slice(None), slice(None), *tap)].reshape(1, groups, each, outputs, *(1,) * n)
        terms.append(_placed(grouped * one, tap, sizes, stride, start, dilation))
    stacked = concatenate([t.reshape(1, *t.shape) for t in terms])
    return stacked.sum((0, 3)).reshape(batch, groups * outputs, *sizes)


def _placed(x: Tracked, tap: Sequence[int], sizes: Sequence[int], stride: Each,
            start: Sequence[int], dilation: Each) -> Tracked:  # fmt: skip
    """The elements where a tap puts them, among zeros."""
    n = len(sizes)
    steps = zip(tap, _each(stride, n), _each(dilation, n), start, x.shape[-n:], sizes, strict=True)
    places = [[(i, i * s + t * d - p) for i in range(count) if 0 <= i * s + t * d - p < size]
              for t, s, d, p, count, size in steps]  # fmt: skip
    lead = x.shape[:-n]
    value = np.broadcast_to(tracked(0.0).value, (*lead, *sizes)).copy()
    error = np.zeros((*lead, *sizes))
    if all(places):
        inside = np.ix_(*([i for i, _ in p] for p in places))
        outside = np.ix_(*([o for _, o in p] for p in places))
        to: Any = (..., *outside)
        of: Any = (..., *inside)
        value[to], error[to] = x.value[of], x.error[of]
    return Tracked(value, error)


def _weight_gradient(x: Tracked, out_grad: Tracked, kernel: Sequence[int], stride: Each,
                     padding: Each | str, dilation: Each, groups: int) -> Tracked:  # fmt: skip
    """The sum over batch and positions of out_grad times what the taps read."""
    n = len(kernel)
    seen = _windows(x, kernel, stride, padding, dilation)
    positions = out_grad.shape[2:]
    seen = seen[(slice(None), slice(None), *(slice(p) for p in positions))]
    batch, each, outputs = x.shape[0], x.shape[1] // groups, out_grad.shape[1] // groups
    seen = seen.reshape(batch, groups, 1, each, *positions, *kernel)
    given = out_grad.reshape(batch, groups, outputs, 1, *positions, *(1,) * n)
    made = (given * seen).sum((0, *range(4, 4 + n)))
    return made.reshape(groups * outputs, each, *kernel)


def _bias_gradient(out_grad: Tracked) -> Tracked:
    return out_grad.sum((0, *range(2, out_grad.ndim)))


@truth_of("nn:conv1d_bwd", "nn:conv2d_bwd", "nn:conv3d_bwd")
def convolution_bwd(out_grad: Tracked, x: Tracked, weight: Tracked, bias: Tracked | None = None,
                    stride: Each = 1, padding: Each | str = 0, dilation: Each = 1,
                    groups: int = 1) -> Any:  # fmt: skip
    """The gradients of x, weight and bias."""
    n = weight.ndim - 2
    given, of = _batched(out_grad, n), _batched(x, n)
    kernel = weight.shape[2:]
    reach = [d * (k - 1) for d, k in zip(_each(dilation, n), kernel, strict=True)]
    start = [a for a, _ in _sides(padding, reach)]
    x_grad = _scattered(given, weight, of.shape[2:], stride, start, dilation, groups)
    weight_grad = _weight_gradient(of, given, kernel, stride, padding, dilation, groups)
    made = [x_grad.reshape(*x.shape), weight_grad]
    return (*made, _bias_gradient(given)) if bias is not None else tuple(made)


@truth_of("nn:conv_transpose1d", "nn:conv_transpose2d", "nn:conv_transpose3d")
def transposed(x: Tracked, weight: Tracked, bias: Tracked | None = None, stride: Each = 1,
               padding: Each = 0, output_padding: Each = 0, groups: int = 1,
               dilation: Each = 1) -> Tracked:  # fmt: skip
    """What each element gives to the positions that a convolution would have read it from."""
    n = weight.ndim - 2
    of = _batched(x, n)
    sizes = [
        (count - 1) * s - 2 * p + d * (k - 1) + added + 1
        for count, s, p, d, k, added in zip(
            of.shape[2:], _each(stride, n), _each(padding, n), _each(dilation, n),
            weight.shape[2:], _each(output_padding, n), strict=True)
    ]  # fmt: skip
    made = _scattered(of, weight, sizes, stride, _each(padding, n), dilation, groups)
    if bias is not None:
        made = made + bias.reshape(1, made.shape[1], *(1,) * n)
    return made if x.ndim == n + 2 else made.reshape(*made.shape[1:])


@truth_of("nn:conv_transpose1d_bwd", "nn:conv_transpose2d_bwd", "nn:conv_transpose3d_bwd")
def transposed_bwd(out_grad: Tracked, x: Tracked, weight: Tracked, bias: Tracked | None = None,
                   stride: Each = 1, padding: Each = 0, output_padding: Each = 0, groups: int = 1,
                   dilation: Each = 1) -> Any:  # fmt: skip
    """The gradients of x, weight and bias; that of x is a convolution of out_grad."""
    n = weight.ndim - 2
    given, of = _batched(out_grad, n), _batched(x, n)
    x_grad = convolution(given, weight, None, stride, padding, dilation, groups)
    # What output_padding adds is read by no tap.
    x_grad = x_grad[(slice(None), slice(None), *(slice(s) for s in of.shape[2:]))]
    weight_grad = _weight_gradient(given, of, weight.shape[2:], stride, padding, dilation, groups)
    made = [x_grad.reshape(*x.shape), weight_grad]
    return (*made, _bias_gradient(given)) if bias is not None else tuple(made)
