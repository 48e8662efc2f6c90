"""Windows of images as columns and back, and channels that become pixels."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

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
