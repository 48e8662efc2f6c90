"""7.2.16: calls that the core answers by itself have the bits of those that go through Python."""

from __future__ import annotations

from itertools import permutations, product
from typing import Any

import numpy as np
import pytest

import suanzi as sz
from helpers.fourier_sums import assert_close, dft, extended, scale
from helpers.functions import same_bits
from suanzi.ops.libraries import fft

SHAPE = (4, 6, 8)
MODES = list(sz.FFTNormMode)
AXES: list[Any] = [
    None,
    -1,
    0,
    [1],
    *(some for n in (1, 2, 3) for some in permutations(range(3), n)),
]


def along(axes: Any) -> tuple[int, ...]:
    return (2,) if axes is None else tuple(np.atleast_1d(axes) % 3)


def numbers(dtype: str, shape: tuple[int, ...] = SHAPE) -> np.ndarray[Any, Any]:
    rng = np.random.default_rng(5)
    return (rng.normal(size=shape) + 1j * rng.normal(size=shape)).astype(dtype)


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("axes", AXES, ids=str)
def test_complex(axes: Any, dtype: str) -> None:
    values, same = numbers(dtype), along(axes)
    x = sz.tensor(values)
    for mode, forward in product(MODES, (True, False)):
        expected = fft.c2c(x, same, mode, forward).numpy()
        assert_close(expected, dft(values, same, forward) / scale(values, same, mode.name), 192)
        for named in (mode, mode.name, int(mode)):
            assert same_bits(sz.fft_c2c(x, axes, named, forward).numpy(), expected)
            back = sz.fft_c2c_backward(x, axes, forward=not forward, normalization=named)
            assert same_bits(back.numpy(), expected)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("axes", AXES, ids=str)
def test_from_real(axes: Any, dtype: str) -> None:
    values, same = numbers("complex128").real.astype(dtype), along(axes)
    x = sz.tensor(values)
    for mode, forward, onesided in product(MODES, (True, False), (True, False)):
        expected = fft.r2c(x, same, mode, forward, onesided).numpy()
        truth = dft(values, same, forward) / scale(values, same, mode.name)
        kept = expected.shape[same[-1]]
        assert_close(expected, truth.take(range(kept), same[-1]), 192)
        for named in (mode, mode.name, int(mode)):
            found = sz.fft_r2c(x, axes, named, forward, onesided)
            assert same_bits(found.numpy(), expected)


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("axes", AXES, ids=str)
def test_to_real(axes: Any, dtype: str) -> None:
    same = along(axes)
    values = numbers(dtype, (4, 6, 5))
    x, last = sz.tensor(values), same[-1]
    before = values.copy()
    for mode, forward, odd in product(MODES, (True, False), (0, 1)):
        length = 2 * values.shape[last] - 2 + odd
        expected = fft.c2r(x, same, mode, forward, length).numpy()
        whole = extended(dft(values, same[:-1], forward), last, length)
        truth = dft(whole, (last,), forward) / scale(whole, same, mode.name)
        assert_close(expected, truth, 192)
        for named in (mode, mode.name, int(mode)):
            found = sz.fft_c2r(x, length, axes, normalization=named, forward=forward)
            assert same_bits(found.numpy(), expected)
    assert same_bits(x.numpy(), before)


@pytest.mark.parametrize("axes", [(0, 1), (1, 0), (0, 2), (2, 0, 1)], ids=str)
def test_a_length_that_the_core_has_not_among_those_it_has(axes: tuple[int, ...]) -> None:
    values = numbers("complex128", (17, 4, 6))
    assert_close(sz.fft_c2c(sz.tensor(values), axes).numpy(), dft(values, axes, True), 192)
    real = values.real.copy()
    found = sz.fft_r2c(sz.tensor(real), axes, onesided=False).numpy()
    assert_close(found, dft(real, axes, True), 192)


def test_rule_sets_without_float64() -> None:
    x = sz.tensor(numbers("complex128").real.copy())
    with sz.promotion("jax_x32"):
        found, turned = sz.fft_r2c(x), sz.fft_r2c(x[::-1])
    assert found.dtype is turned.dtype is sz.complex64
    assert same_bits(found.numpy(), sz.fft_r2c(sz.cast(x, sz.float32)).numpy())
