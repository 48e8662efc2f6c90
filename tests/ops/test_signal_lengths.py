"""7.2.16: transforms by length, rows and columns: every algorithm of the core."""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any

import mpmath
import numpy as np
import pytest

import suanzi as sz
from helpers.functions import every_level, same_bits, threads

# Primes up to 127 have passes; lengths with larger ones are convolutions, 262 among them.
SOME = [n for n in range(1, 200) if n <= 38 or n % 11 in (0, 4)]
PRIMES = [67, 97, 127, 131, 139, 262]


def numbers(shape: tuple[int, ...], dtype: str) -> Any:
    rng = np.random.default_rng(sum(shape))
    return (rng.normal(size=shape) + 1j * rng.normal(size=shape)).astype(dtype)


@cache
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


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("forward", [True, False])
def test_every_length_alone_in_rows_and_in_columns(dtype: str, forward: bool) -> None:
    wide = np.clongdouble if dtype == "complex128" else np.complex128
    for n in SOME + PRIMES:
        w = matrix(n, forward).astype(wide)
        for rows in (1, 9) if n in PRIMES else (1, 3, 7) if n % 5 else (1, 2, 4, 5, 17):
            x = numbers((rows, n), dtype)
            truth = x.astype(wide) @ w
            check(sz.fft_c2c(sz.tensor(x), forward=forward).numpy(), truth, n)
            across = sz.fft_c2c(sz.tensor(x.T.copy()), 0, forward=forward).numpy()
            check(across, truth.T, n)
            scaled = sz.fft_c2c(sz.tensor(x), -1, "by_n", forward).numpy()
            check(scaled, truth / n, n)


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_every_length_of_real_numbers(dtype: str) -> None:
    for n in [2 * n for n in SOME if n < 60] + [n for n in SOME if n % 2 and n < 60] + PRIMES:
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
            spectrum[:, 0] = half[:, 0].real
            if n % 2 == 0:
                spectrum[:, n // 2] = half[:, n // 2].real
            spectrum[:, n // 2 + 1 :] = spectrum[:, 1 : (n + 1) // 2][:, ::-1].conj()
            back = (spectrum @ matrix(n, forward)).real
            check(sz.fft_c2r(sz.tensor(half), n, forward=forward).numpy(), back, n)
            # Along another axis, and with exactly real ends.
            down = sz.fft_r2c(sz.tensor(x.T.copy()), 0, forward=forward).numpy()
            check(down, truth[:, : n // 2 + 1].T, n)
            assert not down[0].imag.any()
            assert n % 2 or not down[-1].imag.any()
            assert same_bits(whole[:, n // 2 + 1 :], whole[:, 1 : (n + 1) // 2][:, ::-1].conj())
            up = sz.fft_c2r(sz.tensor(half.T.copy()), n, 0, forward=forward).numpy()
            check(up, back.T, n)


def test_a_prime_length_by_50_digits() -> None:
    """Each element, of a convolution and of a pass."""
    for n in (113, 137):
        x = numbers((n,), "complex128")
        found = sz.fft_c2c(sz.tensor(x)).numpy()
        with mpmath.workdps(50):
            roots = [mpmath.expjpi(mpmath.mpf(-2 * k) / n) for k in range(n)]
            given = [mpmath.mpc(complex(z)) for z in x]
            size = float(mpmath.sqrt(sum(abs(z) ** 2 for z in given)))
            for k in (0, 1, 2, n // 2, n - 1):
                truth = mpmath.fdot((z, roots[j * k % n]) for j, z in enumerate(given))
                assert abs(truth - mpmath.mpc(complex(found[k]))) <= 8 * 2.0**-53 * size


@pytest.mark.parametrize("n", [1009, 10007, 65537])
def test_impulses_of_prime_lengths_are_roots_of_unity(n: int) -> None:
    for at in (0, 1, n // 3, n - 1):
        x = np.zeros(n, complex)
        x[at] = 1
        turns = (np.arange(n) * at % n).astype(np.longdouble) / np.longdouble(n)
        angle = -2 * np.longdouble("3.14159265358979323846264338327950288") * turns
        found = sz.fft_c2c(sz.tensor(x)).numpy()
        check(found, np.cos(angle) + 1j * np.sin(angle), n)
        assert abs(found - (np.cos(angle) + 1j * np.sin(angle))).max() < 1e-13


@pytest.mark.parametrize("n", [12, 64, 100, 131, 1024])
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


SHAPES = [
    *((1, 2**16), (3, 2**15), (70, 1000), (1000, 70), (2, 300, 40)),
    *((300, 257), (3, 257, 100), (1, 40009), (2, 1001)),
]


@pytest.mark.parametrize("shape", SHAPES)
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


@pytest.mark.parametrize("n", [8, 48, 113, 131, 1000, 1001, 1009, 1024, 2**15])
def test_every_level_is_as_near(n: int) -> None:
    x = numbers((n,), "complex128")
    truth = np.fft.fft(x)
    for _ in every_level():
        check(sz.fft_c2c(sz.tensor(x)).numpy(), truth, n)
        check(sz.fft_c2c(sz.tensor(x.astype("complex64"))).numpy(), truth, n)
        check(sz.fft_c2c(sz.tensor(np.tile(x, (9, 1)))).numpy(), np.tile(truth, (9, 1)), n)


def test_nothing_is_transformed() -> None:
    assert sz.fft_c2c(sz.zeros((0, 8), sz.complex64)).shape == (0, 8)
    assert sz.fft_r2c(sz.zeros((0, 8))).shape == (0, 5)
    assert sz.fft_c2r(sz.zeros((0, 5), sz.complex64), 8).shape == (0, 8)


def test_the_layout_changes_nothing() -> None:
    x = sz.tensor(np.random.default_rng(7).normal(size=(300, 301)).astype(np.float32))
    turned = sz.tensor(np.asfortranarray(x.numpy()))
    for axes in (0, 1, (0, 1)):
        half = sz.fft_r2c(x, axes)
        assert same_bits(sz.fft_r2c(turned, axes).numpy(), half.numpy())
        z, across = sz.cast(x, sz.complex64), sz.cast(turned, sz.complex64)
        assert same_bits(sz.fft_c2c(z, axes).numpy(), sz.fft_c2c(across, axes).numpy())


def test_several_callers_at_a_time() -> None:
    x = sz.tensor(np.random.default_rng(7).normal(size=(300, 257)) + 1j)
    with threads(1):
        expected = sz.fft_c2c(x, (0, 1)).numpy()
    with threads(2), ThreadPoolExecutor(4) as callers:
        for found in callers.map(lambda _: sz.fft_c2c(x, (0, 1)).numpy(), range(12)):
            assert same_bits(found, expected)


ALSO = """
import atexit, os, numpy as np, suanzi as sz
sz.set_num_threads(2)
x = sz.tensor(np.ones((512, 514), np.complex64))
def total():
    return abs(sz.fft_c2c(x, (0, 1)).numpy()[0, 0] / (512 * 514) - 1) < 1e-6
assert total()
child = os.fork()
if not child:
    os._exit(0 if total() else 1)
assert os.waitpid(child, 0)[1] == 0
atexit.register(lambda: print("at the end", total()))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_after_a_fork_and_at_the_end() -> None:
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", ALSO],
        capture_output=True, text=True, timeout=120, check=True,
    )  # fmt: skip
    assert done.stdout == "at the end True\n"
