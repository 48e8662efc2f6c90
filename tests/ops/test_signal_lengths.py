"""7.2.16: transforms of the core: every way through it, by the length, the rows and the columns."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import suanzi as sz
from helpers.functions import each_level, same_bits, threads
from suanzi import _core

SMOOTH = [n for n in range(1, 200) if _core.has_fourier(n)]
SOME = [n for n in SMOOTH if n <= 30 or n % 11 in (0, 4)]


def numbers(shape: tuple[int, ...], dtype: str) -> Any:
    rng = np.random.default_rng(sum(shape))
    return (rng.normal(size=shape) + 1j * rng.normal(size=shape)).astype(dtype)


def matrix(n: int, forward: bool) -> Any:
    """The transform by its definition, in more than double precision where there is such."""
    at = np.arange(n)[:, None] * np.arange(n) % n
    pi = np.longdouble("3.14159265358979323846264338327950288")
    angle = (-2 if forward else 2) * pi * at.astype(np.longdouble) / np.longdouble(n)
    return np.cos(angle) + 1j * np.sin(angle)


def check(found: Any, truth: Any, n: int) -> None:
    assert found.shape == truth.shape
    eps = np.finfo(found.dtype).eps
    error = np.sqrt((np.abs(found - truth) ** 2).sum(dtype=np.longdouble))
    size = np.sqrt((np.abs(truth) ** 2).sum(dtype=np.longdouble))
    assert error <= (1 + np.log2(n)) * eps * size


def test_which_lengths_there_are() -> None:
    def largest_factor(n: int) -> int:
        return max([p for p in range(2, n + 1) if n % p == 0 and all(p % q for q in range(2, p))])

    assert [1] + [n for n in range(2, 200) if largest_factor(n) <= 13] == SMOOTH
    assert _core.has_fourier(2**40)
    assert not _core.has_fourier(2**40 + 1)


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("forward", [True, False])
def test_every_length_alone_in_rows_and_in_columns(dtype: str, forward: bool) -> None:
    wide = np.clongdouble if dtype == "complex128" else np.complex128
    for n in SOME:
        w = matrix(n, forward).astype(wide)
        for rows in (1, 3, 7) if n % 5 else (1, 2, 4, 5, 17):
            x = numbers((rows, n), dtype)
            truth = x.astype(wide) @ w
            check(sz.fft_c2c(sz.tensor(x), forward=forward).numpy(), truth, n)
            across = sz.fft_c2c(sz.tensor(x.T.copy()), 0, forward=forward).numpy()
            check(across, truth.T, n)
            scaled = sz.fft_c2c(sz.tensor(x), -1, "by_n", forward).numpy()
            check(scaled, truth / n, n)


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_every_even_length_of_real_numbers(dtype: str) -> None:
    for n in (2 * n for n in SOME if n < 60):
        rows = 1 + n % 6
        x = numbers((rows, n), dtype).real.copy()
        for forward in (True, False):
            truth = x.astype(np.longdouble) @ matrix(n, forward)
            check(sz.fft_r2c(sz.tensor(x), forward=forward).numpy(), truth[:, : n // 2 + 1], n)
            whole = sz.fft_r2c(sz.tensor(x), forward=forward, onesided=False).numpy()
            check(whole, truth, n)
            half = numbers((rows, n // 2 + 1), dtype)
            spectrum = np.empty((rows, n), np.clongdouble)
            spectrum[:, : n // 2 + 1] = half
            spectrum[:, 0], spectrum[:, n // 2] = half[:, 0].real, half[:, n // 2].real
            spectrum[:, n // 2 + 1 :] = spectrum[:, 1 : n // 2][:, ::-1].conj()
            back = (spectrum @ matrix(n, forward)).real
            check(sz.fft_c2r(sz.tensor(half), n, forward=forward).numpy(), back, n)


@pytest.mark.parametrize("n", [12, 64, 100, 1024])
def test_a_row_does_not_depend_on_its_neighbours(n: int) -> None:
    """Nor do what is not finite in it, and where it lies."""
    x = numbers((19, n), "complex64")
    plain = sz.fft_c2c(sz.tensor(x)).numpy()
    x[3] = np.inf
    x[17, 5] = np.nan
    found = sz.fft_c2c(sz.tensor(x)).numpy()
    good = [i for i in range(19) if i not in (3, 17)]
    assert same_bits(found[good], plain[good])
    assert np.isnan(found[17]).all()
    moved = sz.fft_c2c(sz.tensor(np.roll(x, 5, axis=0))).numpy()
    assert same_bits(np.roll(moved, -5, axis=0)[good], plain[good])


@pytest.mark.parametrize("n", [1024, 3072])
@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_a_long_row_has_the_bits_that_it_has_alone(n: int, dtype: str) -> None:
    x = numbers((19, n), dtype)
    real = np.concatenate([x.real, x.imag], axis=-1)
    half = np.ascontiguousarray(np.fft.rfft(real).astype(dtype))
    calls = {
        "c2c": (
            lambda t, ahead: sz.fft_c2c(t, forward=ahead),
            x,
            np.fft.fft(x),
            np.fft.ifft(x) * n,
        ),
        "r2c": (
            lambda t, ahead: sz.fft_r2c(t, forward=ahead),
            real,
            np.fft.rfft(real),
            np.fft.rfft(real).conj(),
        ),
        "all": (
            lambda t, ahead: sz.fft_r2c(t, onesided=False, forward=ahead),
            real,
            np.fft.fft(real),
            np.fft.fft(real).conj(),
        ),
        "c2r": (
            lambda t, ahead: sz.fft_c2r(t, 2 * n, forward=ahead),
            half,
            np.fft.irfft(half.conj()) * 2 * n,
            np.fft.irfft(half) * 2 * n,
        ),
    }
    for call, given, *truths in calls.values():
        for ahead, truth in zip((True, False), truths, strict=True):
            found = call(sz.tensor(given), ahead).numpy()
            check(found, truth, 2 * n)
            for row in (0, 7, 18):
                assert same_bits(call(sz.tensor(given[row]), ahead).numpy(), found[row])


@pytest.mark.parametrize("shape", [(1, 2**16), (3, 2**15), (70, 1000), (1000, 70), (2, 300, 40)])
def test_threads_and_the_fast_path_change_nothing(shape: tuple[int, ...]) -> None:
    x = sz.tensor(numbers(shape, "complex64"))
    for axis in range(len(shape)):
        with threads(1):
            one = sz.fft_c2c(x, axis).numpy()
        for count in (2, 5):
            with threads(count):
                assert same_bits(sz.fft_c2c(x, axis).numpy(), one)
                # A tuple of axes is left to Python.
                assert same_bits(sz.fft_c2c(x, (axis,)).numpy(), one)
    twice = sz.fft_c2c(sz.fft_c2c(x, -1), 0).numpy()
    assert same_bits(sz.fft_c2c(x, (0, -1)).numpy(), twice)


def test_a_length_after_a_longer_one_and_columns_far_apart() -> None:
    """Tables are kept for the last length, and groups of columns may not be whole."""
    for n in (2**16, 3 * 2**14, 2**15, 64, 4):
        x = numbers((n,), "complex128")
        check(sz.fft_c2c(sz.tensor(x)).numpy(), np.fft.fft(x), n)
        real = np.tile(x.real, (9, 1)) if n < 100 else x.real.copy()
        check(sz.fft_r2c(sz.tensor(real), onesided=False).numpy(), np.fft.fft(real), n)
    for shape in ((300, 61), (2, 128, 131)):
        x = numbers(shape, "complex128")
        check(sz.fft_c2c(sz.tensor(x), -2).numpy(), np.fft.fft(x, axis=-2), shape[-2])


@pytest.mark.parametrize("n", [8, 48, 1000, 1024, 2**15])
def test_every_level_is_as_near(n: int) -> None:
    x = numbers((n,), "complex128")
    truth = np.fft.fft(x)
    with each_level() as levels:
        for level in levels:
            _core.use_level(level)
            check(sz.fft_c2c(sz.tensor(x)).numpy(), truth, n)
            check(sz.fft_c2c(sz.tensor(x.astype("complex64"))).numpy(), truth, n)
            check(sz.fft_c2c(sz.tensor(np.tile(x, (9, 1)))).numpy(), np.tile(truth, (9, 1)), n)


def test_nothing_is_transformed() -> None:
    assert sz.fft_c2c(sz.zeros((0, 8), sz.complex64)).shape == (0, 8)
    assert sz.fft_r2c(sz.zeros((0, 8))).shape == (0, 5)
    assert sz.fft_c2r(sz.zeros((0, 5), sz.complex64), 8).shape == (0, 8)
