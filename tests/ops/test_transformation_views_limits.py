"""7.2.3.2 to .6, .9, .10, .13, .15, .19 to .21, .24: quantised, huge, of very many axes."""

from __future__ import annotations

import numpy as np
import pytest

import suanzi as sz
from helpers.moves import Array, nothing_made, quantized, real, refused

# ---- quantised tensors --------------------------------------------------------------------------

SCALES = [0.5, 2.0, 8.0, 1.0]


def per_channel(axis: int) -> sz.Tensor:
    shape = (2, 3, 4)
    values = np.arange(24).reshape(shape)
    return quantized(values, sz.QT_CH_SYM_INT8, SCALES[: shape[axis]], 0, axis)


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_scales_follow_their_channels(axis: int) -> None:
    x = per_channel(axis)
    r = real(x)

    def check(y: sz.Tensor, expected: Array) -> None:
        assert y.dtype is x.dtype
        assert y.shape == expected.shape
        assert np.array_equal(real(y), expected)

    check(sz.transpose(x, (1, 2, 0)), r.transpose(2, 0, 1))
    check(x.T, r.T)
    check(sz.expand_dims(x, 1), r[:, None])
    check(sz.squeeze(sz.expand_dims(x, axis), axis), r)
    check(sz.flip(x, axis), np.flip(r, axis))
    check(sz.reverse(x, (0, 1, 2)), np.flip(r))
    check(sz.slice(x, (1, 1, 1), (1, 2, 3), (1, 2, 2)), r[1:, 1::2, 1::2])
    check(sz.crop(x, (1, 2, 2), (1, 0, 2)), r[1:, :2, 2:])
    check(sz.expand(x, (2, 2, 3, 4)), np.broadcast_to(r, (2, 2, 3, 4)))
    for a in range(3):
        for i, y in enumerate(sz.unstack(x, a)):
            check(y, r.take(i, a))
        for i, y in enumerate(sz.split(x, [], r.shape[a], a)):
            check(y, r.take([i], a))
            check(sz.expand_dims(y), r.take([i], a)[None])
            check(sz.concat([y, y], a), np.concatenate([r.take([i], a)] * 2, a))
            check(sz.squeeze(y), r.take(i, a))
            wide = [5 if d == a else n for d, n in enumerate(r.shape)]
            check(sz.expand(y, wide), np.broadcast_to(r.take([i], a), wide))
    check(x[1:, ::-2, 3], r[1:, ::-2, 3])
    check(x[..., None, 1], r[..., None, 1])
    check(x[:, 0:0], r[:, 0:0])


def test_reshape_keeps_the_channels_or_refuses() -> None:
    x = per_channel(1)
    for shape in ((2, 3, 2, 2), (1, 2, 3, 4), (2, 1, 3, 4), (2, 3, 4, 1), (2, 3, 1, 4)):
        for y in (sz.reshape(x, shape), sz.reshape(input=x, dims=shape)):
            assert np.array_equal(real(y), real(x).reshape(shape))
            assert y.channel_axis == shape.index(3)
    turned = sz.transpose(sz.transpose(x, (2, 1, 0)), (2, 1, 0))
    assert np.array_equal(real(sz.reshape(turned, (2, 3, 4))), real(x))
    for shape in ((24,), (6, 4), (2, 12), (3, 2, 4), (4, 3, 2), (2, 4, 3)):
        refused(sz.InvalidArgument, "reshape", x, shape, match="channels")
        refused(sz.InvalidArgument, "reshape", input=x, dims=shape, match="channels")
    refused(sz.InvalidArgument, "flatten", x, 0, 1, match="channels")
    assert np.array_equal(real(sz.flatten(x, 2, 2)), real(x))
    flipped = sz.flip(x, 2)  # a copy
    assert np.array_equal(
        real(sz.reshape(flipped, (2, 3, 2, 2))), real(flipped).reshape(2, 3, 2, 2)
    )
    line = quantized([1, 2, 3], sz.QT_CH_SYM_INT8, SCALES[:3], 0, 0)
    grids = sz.meshgrid([line, line])
    for grid, expected in zip(
        grids, np.meshgrid(real(line), real(line), indexing="ij"), strict=True
    ):
        assert np.array_equal(real(grid), expected)


def test_no_channels_and_one_channel() -> None:
    none = per_channel(1)[:, 0:0]
    assert none.scale == ()
    for shape in ((0,), (0, 4), (2, 4, 0, 7)):
        refused(sz.InvalidArgument, "reshape", none, shape, match="channels")
    refused(sz.InvalidArgument, "flatten", none, 0, 2, match="channels")
    assert sz.reshape(none, (2, 0, 2, 2)).channel_axis == 1
    one = per_channel(1)[:, 1:2]
    assert (one.scale, one.channel_axis) == ((2.0,), 1)
    assert (one.T.scale, one.T.channel_axis) == ((2.0,), 1)
    assert np.array_equal(real(sz.reshape(one, (8,))), real(one).reshape(8))


@pytest.mark.parametrize("dtype", [sz.QT_SYM_INT16, sz.QT_ASYM_UINT8, sz.QT_ASYM_INT16], ids=str)
def test_one_scale_goes_with_every_view(dtype: sz.DType) -> None:
    zero = 3 if "ASYM" in dtype.name else 0
    x = quantized([[1, 2, 3], [4, 5, 6]], dtype, [0.25], zero)
    for y in (
        *(sz.reshape(x, (3, 2)), sz.flatten(x.T, 0, 1), x.T, sz.expand_dims(x), sz.squeeze(x)),
        *(sz.flip(x, 0), sz.expand(x, (2, 2, 3)), sz.slice(x, (0, 0), (1, 2), (1, 1)), x[1]),
        *(sz.crop(x, (1, 1)), *sz.split(x, [1, 2], axis=1), *sz.unstack(x)),
    ):
        assert (y.scale, y.zero_point, y.channel_axis) == ((0.25,), zero, None)
        assert y.dtype is dtype


# ---- huge and many-axed views -------------------------------------------------------------------


def test_views_beyond_all_memory() -> None:
    one = sz.tensor([3], sz.int8)
    with nothing_made():
        big = sz.expand(one, (2**40, 2**22))
        assert sz.reshape(big, (2**62,)).storage == one.storage
        assert sz.flip(big, (0, 1)).shape == big.shape
        assert big[-1, -1].item() == 3
        assert big[:: 2**39, 5:6].tolist() == [[3], [3]]
        assert sz.slice(big, (2**39, 0), (2**39, 1), (2**38, 1)).shape == (2, 1)
        assert len(sz.split(big, [2**39, 2**39])) == 2
        assert sz.transpose(big).shape == (2**22, 2**40)
        empty = sz.expand(one, (2**62, 2**62, 0))
        assert sz.expand_dims(empty, 1).shape == (2**62, 1, 2**62, 0)
        assert sz.reshape(empty, (0, 2**62, 2)).size == 0
        assert sz.expand_dims(sz.reshape(empty, (0, 2**62, 2)), 1).ndim == 4
        assert sz.flip(empty, 0).shape == empty.shape
    pair = sz.expand(sz.tensor([1, 2], sz.int8), (2**50, 2))
    refused(sz.AllocFailed, "flatten", pair, 0, 1)
    refused(sz.AllocFailed, "reshape", pair, (2**51,))
    refused(sz.AllocFailed, "unstack", pair, 0)
    for shape in ((2**40, 2**40), (2**63,), (2**64, 1), (-1,), (2**62, 2)):
        refused(sz.InvalidArgument, "expand", one, shape)
        refused(sz.InvalidArgument, "expand", one, list(shape))
    line = sz.expand(one, (2**40,))
    refused(sz.InvalidArgument, "meshgrid", [line, line])
    refused(sz.InvalidArgument, "meshgrid", [one] * 65)


def test_at_most_64_axes() -> None:
    x = sz.reshape(sz.tensor([1]), (1,) * 64)
    refused(sz.InvalidArgument, "expand_dims", x, 3, match="64")
    refused(sz.InvalidArgument, "expand_dims", x, axis=np.int64(0), match="64")
    refused(sz.InvalidArgument, "reshape", x, (1,) * 65, match="64")
    refused(sz.InvalidArgument, "expand", x, (1,) * 65, match="64")
    refused(sz.InvalidArgument, "stack", [x, x], 0, match="64")
    assert sz.transpose(x, tuple(range(63, -1, -1))).ndim == 64
    assert sz.flip(x, tuple(range(64))).item() == 1
    assert sz.squeeze(x, tuple(range(1, 64))).shape == (1,)
    assert sz.slice(x, (0,) * 64, (1,) * 64, (1,) * 64).ndim == 64
    with pytest.raises(sz.InvalidArgument, match="64"):
        x[None]
    assert len(sz.meshgrid([sz.tensor([1])] * 64)) == 64
