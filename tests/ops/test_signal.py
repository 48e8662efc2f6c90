"""7.2.16: the transforms against sums, for every axis, scale, dtype and layout."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import suanzi as sz
from helpers.fourier_sums import assert_close, dft, roots
from helpers.functions import same_bits, threads

Array = np.ndarray[Any, Any]
MODES = ["none", "by_sqrt_n", "by_n"]
WIDE = {"complex64": "float32", "complex128": "float64"}


def numbers(shape: Sequence[int], dtype: str, seed: int = 0) -> Array:
    rng = np.random.default_rng(seed)
    made = rng.normal(size=shape)
    if dtype.startswith("complex"):
        return (made + 1j * rng.normal(size=shape)).astype(dtype)
    return made.astype(dtype)


# 128 x 256, 256 x 256, 200 x 225, 243 x 351, 169 x 2197, a prime, and one with a larger factor
LONG = [2**15, 2**16, 45000, 3**8 * 13, 13**5, 40009, 2**11 * 41]


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("n", LONG)
def test_long_ones(n: int, dtype: str) -> None:
    """Long transforms are made of many short ones; NumPy's in 80 bits is not."""
    x = numbers((n,), dtype)
    truth = np.fft.fft(x.astype(np.clongdouble))
    found = sz.fft_c2c(sz.tensor(x))
    assert_close(found.numpy(), truth, n, 0.3)
    assert found.layout.min2maj == (0,)
    back = sz.fft_c2c(found, normalization="by_n", forward=False)
    assert_close(back.numpy(), x, n, 0.5)
    both = sz.fft_c2c(sz.tensor(x.reshape(1, n, 1)), (0, 1), normalization="by_sqrt_n")
    assert_close(both.numpy(), truth.reshape(1, n, 1) / np.sqrt(np.longdouble(n)), n, 0.3)
    alone = sz.fft_c2c(sz.tensor(x.reshape(1, n)), 0)  # along the axis of size 1, nothing changes
    assert same_bits(alone.numpy(), x.reshape(1, n))
    strided = sz.tensor(np.repeat(x, 2))[::2]
    assert same_bits(sz.fft_c2c(strided).numpy(), found.numpy())
    with threads(3):
        assert same_bits(sz.fft_c2c(strided).numpy(), found.numpy())
    narrow = sz.fft_c2c(sz.cast(strided, sz.complex32), normalization="by_sqrt_n")
    wide = sz.cast(sz.cast(strided, sz.complex32), sz.complex64)
    expected = sz.cast(sz.fft_c2c(wide, normalization="by_sqrt_n"), sz.complex32)
    assert same_bits(narrow.numpy(), expected.numpy())


def test_roots_of_the_oracle() -> None:
    assert abs(roots(8)[1] - (1 - 1j) / np.sqrt(np.longdouble(2))) < 1e-18
    assert abs(roots(7) ** 7 - 1).max() < 1e-17


# ---- dtypes ----


def test_narrow_ones_are_the_wide_ones_rounded_once() -> None:
    shape = (3, 10)
    x = sz.cast(sz.tensor(numbers(shape, "complex64")), sz.complex32)
    real = sz.cast(sz.tensor(numbers(shape, "float32")), sz.float16)
    wide, wide_real = sz.cast(x, sz.complex64), sz.cast(real, sz.float32)
    for axes, mode, forward in itertools.product([None, (1, 0)], MODES, (True, False)):
        more: dict[str, Any] = {"axes": axes, "normalization": mode, "forward": forward}
        pairs = [
            (sz.fft_c2c(x, **more), sz.fft_c2c(wide, **more)),
            (sz.fft_c2c_backward(x, **more), sz.fft_c2c_backward(wide, **more)),
            (sz.fft_r2c(real, **more), sz.fft_r2c(wide_real, **more)),
            (sz.fft_c2r_backward(real, **more), sz.fft_c2r_backward(wide_real, **more)),
        ]
        size = 18 if axes is None else 4
        pairs.append((sz.fft_c2r(x, size, **more), sz.fft_c2r(wide, size, **more)))
        for onesided in (True, False):
            half = sz.fft_r2c(real, **more, onesided=onesided)
            wide_half = sz.cast(half, sz.complex64)
            first = sz.fft_r2c_backward(half, real, **more)
            pairs.append((first, sz.fft_r2c_backward(wide_half, wide_real, **more)))
        for narrow, plain in pairs:
            assert narrow.dtype in (sz.complex32, sz.float16)
            assert same_bits(narrow.numpy(), sz.cast(plain, narrow.dtype).numpy())


def test_what_float16_does_not_hold_is_scaled_before_it_is_rounded() -> None:
    x = sz.tensor(np.full(4096, 60000, np.float16))
    scaled = sz.fft_r2c(x, normalization="by_n")
    assert scaled[0].item() == 60000
    assert np.isposinf(sz.cast(sz.fft_r2c(x)[0], sz.complex64).numpy().real)
    half = sz.cast(sz.tensor(np.full(2049, 60000, np.complex64)), sz.complex32)
    back = sz.fft_c2r(half, 4096, normalization="by_n", forward=False)
    assert back[0].item() == 60000
    whole = sz.cast(sz.tensor(np.full(4096, 60000, np.complex64)), sz.complex32)
    assert sz.fft_c2c(whole, normalization="by_n")[0].item() == 60000


@pytest.mark.parametrize("dtype", [sz.bool, sz.int8, sz.uint8, sz.int16, sz.int32, sz.int64])
def test_integers_are_promoted(dtype: sz.DType) -> None:
    x = sz.tensor([1, 0, 1, 1, 0], dtype)
    expected = sz.fft_r2c(sz.tensor([1.0, 0, 1, 1, 0], sz.float32))
    found = sz.fft_r2c(x)
    assert found.dtype is sz.complex64
    assert same_bits(found.numpy(), expected.numpy())
    gradient = sz.fft_r2c_backward(found, x)
    assert gradient.dtype is sz.float32
    assert sz.fft_c2r_backward(x).dtype is sz.complex64
    with sz.promotion("strict"), pytest.raises(sz.TypeMismatch, match="fft_r2c"):
        sz.fft_r2c(x)


# ---- layouts, threads, emptiness ----


def test_repeated_and_read_only_inputs() -> None:
    x = sz.expand(sz.tensor(numbers((1, 6), "complex64")), (4, 6))
    assert_close(sz.fft_c2c(x, 0).numpy(), dft(np.array(x.numpy()), [0]), 4)
    fixed = numbers((6,), "complex64")
    fixed.flags.writeable = False
    assert_close(sz.fft_c2c(sz.from_dlpack(fixed)).numpy(), dft(fixed, [0]), 6)
    assert_close(sz.fft_c2r(sz.from_dlpack(fixed), 10).numpy(), sz.fft_c2r(fixed, 10).numpy(), 10)


@pytest.mark.parametrize("shape", [(300, 256), (37, 2000), (64, 33, 50), (1 << 17,), (2, 65537)])
@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_the_number_of_threads_changes_nothing(shape: tuple[int, ...], dtype: str) -> None:
    x = sz.tensor(numbers(shape, dtype))
    real = sz.tensor(numbers(shape, WIDE[dtype]))
    every = tuple(range(len(shape)))
    calls = [lambda axes=axes: sz.fft_c2c(x, axes) for axes in (None, 0, every)]
    calls += [lambda axes=axes: sz.fft_r2c(real, axes) for axes in (None, every)]
    calls += [lambda: sz.fft_c2r(x, 2 * shape[-1] - 2, every)]
    calls += [lambda: sz.fft_c2r(x[..., : shape[-1] // 2 + 1], shape[-1])]
    with threads(1):
        expected = [call().numpy() for call in calls]
    for count in (2, 3, 8):
        with threads(count):
            for call, one in zip(calls, expected, strict=True):
                assert same_bits(call().numpy(), one)
