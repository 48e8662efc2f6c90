"""7.2.16: the transforms against sums, for every axis, scale, dtype and layout."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import suanzi as sz
from helpers.fourier_sums import assert_close, dft, extended, roots, scale
from helpers.functions import same_bits, threads
from helpers.moves import laid_out, nothing_made

Array = np.ndarray[Any, Any]
MODES = ["none", "by_sqrt_n", "by_n"]
WIDE = {"complex64": "float32", "complex128": "float64"}


def numbers(shape: Sequence[int], dtype: str, seed: int = 0) -> Array:
    rng = np.random.default_rng(seed)
    made = rng.normal(size=shape)
    if dtype.startswith("complex"):
        return (made + 1j * rng.normal(size=shape)).astype(dtype)
    return made.astype(dtype)


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("n", [49, 60, 64, 97, 100, 127])
def test_longer_ones(n: int, dtype: str) -> None:
    x = numbers((2, n), dtype, n)
    real = numbers((2, n), WIDE[dtype], n)
    for forward in (True, False):
        truth, of_real = dft(x, [1], forward), dft(real, [1], forward)
        half = numbers((2, n // 2 + 1), dtype, n)
        from_half = dft(extended(half, 1, n), [1], forward)
        for mode in MODES:
            by = scale(x, [1], mode)
            more: dict[str, Any] = {"normalization": mode, "forward": forward}
            assert_close(sz.fft_c2c(sz.tensor(x), **more).numpy(), truth / by, n)
            found = sz.fft_r2c(sz.tensor(real), **more)
            assert found.dtype.name == dtype
            assert_close(found.numpy(), of_real[:, : n // 2 + 1] / by, n)
            whole = sz.fft_r2c(sz.tensor(real), **more, onesided=False)
            assert_close(whole.numpy(), of_real / by, n)
            back = sz.fft_c2r(sz.tensor(half), n, **more)
            assert back.dtype.name == WIDE[dtype]
            assert_close(back.numpy(), from_half / by, n)
            assert np.abs(from_half.imag).max() < 1e-15 * n  # the oracle itself is real


@pytest.mark.parametrize(
    ("axes", "same"), [(0, [0]), (-1, [2]), ((1, 0), [1, 0]), (range(3), [0, 1, 2]),
                       (np.array([2, 1]), [2, 1]), (np.int8(1), [1])], ids=str,
)  # fmt: skip
def test_axes_in_every_form(axes: Any, same: list[int]) -> None:
    x, real = sz.tensor(numbers((4, 3, 5), "complex128")), sz.tensor(numbers((4, 3, 5), "float64"))
    assert same_bits(sz.fft_c2c(x, axes).numpy(), sz.fft_c2c(x, same).numpy())
    assert same_bits(sz.fft_r2c(real, axes).numpy(), sz.fft_r2c(real, same).numpy())
    size = 2 * x.shape[same[-1]] - 1
    assert same_bits(sz.fft_c2r(x, size, axes).numpy(), sz.fft_c2r(x, size, same).numpy())


def test_modes_have_names_and_numbers() -> None:
    x = sz.tensor(numbers((6,), "complex64"))
    assert [m.name for m in sz.FFTNormMode] == MODES
    for mode in sz.FFTNormMode:
        expected = sz.fft_c2c(x, normalization=mode).numpy()
        for same in (mode.name, mode.name.upper(), int(mode), np.int64(mode)):
            assert same_bits(sz.fft_c2c(x, normalization=same).numpy(), expected)


@given(
    shape=st.lists(st.integers(1, 5), min_size=1, max_size=4),
    data=st.data(),
    mode=st.sampled_from(MODES),
    forward=st.booleans(),
)
def test_there_and_back(shape: list[int], data: st.DataObject, mode: str, forward: bool) -> None:
    axes = data.draw(
        st.lists(st.integers(0, len(shape) - 1), min_size=1, max_size=len(shape), unique=True)
    )
    other = {"none": "by_n", "by_n": "none", "by_sqrt_n": "by_sqrt_n"}[mode]
    n = int(np.prod([shape[a] for a in axes]))
    x, real = numbers(shape, "complex128"), numbers(shape, "float64")
    there = sz.fft_c2c(sz.tensor(x), axes, normalization=mode, forward=forward)
    back = sz.fft_c2c(there, axes, normalization=other, forward=not forward)
    assert_close(back.numpy(), x, 2 * n, 6)
    half = sz.fft_r2c(sz.tensor(real), axes, normalization=mode, forward=forward)
    again = sz.fft_c2r(half, shape[axes[-1]], axes, normalization=other, forward=not forward)
    assert_close(again.numpy(), real, 2 * n, 6)


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("n", [2**16, 65537, 3**9 * 2, 100003])
def test_long_ones_at_some_places(n: int, dtype: str) -> None:
    x = numbers((n,), dtype)
    found = sz.fft_c2c(sz.tensor(x)).numpy()
    half = sz.fft_r2c(sz.tensor(x.real.copy())).numpy()
    angle = -2 * np.pi * np.arange(n, dtype=np.longdouble) / np.longdouble(n)
    every = np.cos(angle) + 1j * np.sin(angle)  # pi in float64 is good enough for the bound
    places = [0, 1, 2, n // 3, n // 2, n - 1]
    eps, norm = np.finfo(dtype).eps, np.linalg.norm(x)
    for k in places:
        used = every[np.arange(n) * k % n]
        assert abs(found[k] - (x * used).sum()) < 20 * eps * norm
        if k < len(half):
            assert abs(half[k] - (x.real * used).sum()) < 20 * eps * norm


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


def test_a_million_and_more() -> None:
    x = numbers((2**20,), "complex64")
    found = sz.fft_c2c(sz.tensor(x)).numpy()
    assert_close(found, np.fft.fft(x.astype(np.complex128)), 2**20, 0.3)


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


def test_quantised_numbers_are_what_they_stand_for() -> None:
    x = sz.create_quant_tensor((4,), 0.5, sz.QT_SYM_INT8, values=[1, -2, 3, 4])
    expected = sz.fft_r2c(sz.tensor([0.5, -1, 1.5, 2]))
    assert same_bits(sz.fft_r2c(x).numpy(), expected.numpy())


# ---- layouts, threads, emptiness ----


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_every_layout(order: tuple[int, ...]) -> None:
    for steps in ((1, 1, 1), (2, 1, 3), (-1, 1, -2)):
        x = laid_out((3, 4, 5), sz.complex64, order, steps)
        sz._core.copy_into(x, sz.tensor(numbers((3, 4, 5), "complex64")))
        real = laid_out((3, 4, 5), sz.float64, order, steps)
        sz._core.copy_into(real, sz.tensor(numbers((3, 4, 5), "float64")))
        dense = sz.tensor(np.ascontiguousarray(x.numpy()))
        dense_real = sz.tensor(np.ascontiguousarray(real.numpy()))
        before = x.numpy().copy(), real.numpy().copy()
        for axes in (None, 1, (0, 2), (2, 1, 0)):
            found = sz.fft_c2c(x, axes)
            assert found.layout.min2maj == (2, 1, 0)
            assert_close(found.numpy(), sz.fft_c2c(dense, axes).numpy(), 60)
            for onesided in (True, False):
                one = sz.fft_r2c(real, axes, onesided=onesided)
                assert_close(
                    one.numpy(), sz.fft_r2c(dense_real, axes, onesided=onesided).numpy(), 60
                )
            last = 2 if axes is None else int(np.atleast_1d(axes)[-1])
            size = 2 * x.shape[last] - 1
            assert_close(
                sz.fft_c2r(x, size, axes).numpy(), sz.fft_c2r(dense, size, axes).numpy(), 60
            )
        assert same_bits(np.array(x.numpy()), before[0])  # the input stays as it was
        assert same_bits(np.array(real.numpy()), before[1])


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


def test_infinities_and_nan_come_through() -> None:
    x = numbers((2, 4), "complex64")
    x[0, 1] = np.inf
    found = sz.fft_c2c(sz.tensor(x)).numpy()
    assert not np.isfinite(found[0]).any()
    assert np.isfinite(found[1]).all()
    long = np.ones(2**20, np.complex64)
    long[5] = np.inf
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # NumPy's warnings are not the user's business
        assert not np.isfinite(sz.fft_c2c(sz.tensor(long)).numpy()).any()
        huge = sz.tensor([3e38, 3e38, 3e38, -3e38])
        assert np.isinf(sz.fft_c2r_backward(huge).numpy()).any()
        sz.fft_r2c_backward(sz.fft_r2c(huge), huge)


def test_results_are_new_memory() -> None:
    x = sz.tensor(numbers((1, 1), "complex64"))
    real = sz.tensor([[1.5]])
    for made in (
        sz.fft_c2c(x),
        sz.fft_c2r(x, 1),
        sz.fft_r2c(real),
        sz.fft_r2c(real, onesided=False),
    ):
        before = x.numpy().copy()
        made.numpy()[...] = 7
        assert same_bits(x.numpy().copy(), before)
        assert real.item() == 1.5
    with nothing_made():
        sz.fft_c2c(x)


def test_gradients_leave_their_arguments_alone() -> None:
    g, x = sz.tensor(numbers((2, 3), "complex128")), sz.tensor(numbers((2, 4), "float64"))
    before = g.numpy().copy(), x.numpy().copy()
    sz.fft_r2c_backward(g, x)
    sz.fft_c2r_backward(x)
    sz.fft_c2c_backward(g)
    assert np.array_equal(g.numpy(), before[0])
    assert np.array_equal(x.numpy(), before[1])
