"""Transforms in parts: they cover all, the shape decides them, and threads share them."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.fft

import suanzi as sz
from helpers.functions import same_bits, threads
from suanzi.libraries import fft_parts

SHAPES = [(1, 1), (3, 1), (4, 1), (1000, 1), (1, 7), (5, 3), (2, 999), (40, 40)]


@pytest.mark.parametrize(("before", "after"), SHAPES)
@pytest.mark.parametrize("row", [8, 1000, 1 << 16, 1 << 25])
def test_every_element_is_in_one_part(before: int, after: int, row: int) -> None:
    seen = np.zeros((before, 1, after), int)
    for part in fft_parts._parts(before, after, row):
        seen[part] += 1
    assert (seen == 1).all()


def test_parts_fill_lanes_and_fit_the_cache() -> None:
    for count, size in ((1000, 3000), (64, 1 << 17), (7, 1 << 25)):
        *whole, _ = fft_parts.cut(count, size)
        assert all((s.stop - s.start) % 4 == 0 for s in whole)
        assert all((s.stop - s.start) * size <= max(1 << 19, 4 * size) for s in whole)
    assert fft_parts.cut(3, 1 << 25) == [slice(0, 1), slice(1, 2), slice(2, 3)]


@pytest.mark.parametrize("shape", [(300, 256), (3, 257, 100), (2, 70000), (100003, 2)])
@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
def test_parts_are_scipys_transform(shape: tuple[int, ...], dtype: Any) -> None:
    rng = np.random.default_rng(7)
    z = (rng.normal(size=shape) + 1j * rng.normal(size=shape)).astype(dtype)
    atol = 300 * np.finfo(dtype).eps * np.sqrt(max(shape))
    for axis, n in enumerate(shape):
        made = z.copy()
        fft_parts.c2c(made, axis, False, 1)
        assert np.allclose(made, scipy.fft.ifft(z, axis=axis, norm="ortho"), atol=atol)
        half = scipy.fft.rfft(z.real, axis=axis)
        found = np.empty_like(half)
        fft_parts.r2c(np.ascontiguousarray(z.real), found, axis, True, 0)
        assert np.allclose(found, half, atol=atol)
        back, before = np.empty(shape, z.real.dtype), half.copy()
        fft_parts.c2r(half, back, axis, False, 2)
        assert np.allclose(back, z.real, atol=atol)
        assert same_bits(half, before)  # what is not the target stays as it is
        assert back.shape[axis] == n


@pytest.mark.parametrize("shape", [(34, 17), (300, 257)])
def test_a_scipy_that_overwrites_nothing(
    monkeypatch: pytest.MonkeyPatch, shape: tuple[int, ...]
) -> None:
    x = sz.tensor(np.random.default_rng(7).normal(size=shape) + 1j)
    expected = sz.fft_c2c(x, (0, 1)).numpy()
    fft = scipy.fft.fft

    def kept(x: Any, n: Any, axis: int, norm: str, _overwrite: bool, workers: int) -> Any:
        return fft(x, n, axis, norm, False, workers)

    monkeypatch.setattr(scipy.fft, "fft", kept)
    assert same_bits(sz.fft_c2c(x, (0, 1)).numpy(), expected)


def test_only_what_scipy_documents() -> None:
    for file in Path(fft_parts.__file__).parent.glob("fft*.py"):
        assert not re.search(r"scipy[\w.]*\._", file.read_text())


def test_the_layout_changes_nothing() -> None:
    x = sz.tensor(np.random.default_rng(7).normal(size=(300, 301)).astype(np.float32))
    turned = sz.tensor(np.asfortranarray(x.numpy()))
    for axes in (0, 1, (0, 1)):
        half = sz.fft_r2c(x, axes)
        assert same_bits(sz.fft_r2c(turned, axes).numpy(), half.numpy())
        z, across = sz.cast(x, sz.complex64), sz.cast(turned, sz.complex64)
        assert same_bits(sz.fft_c2c(z, axes).numpy(), sz.fft_c2c(across, axes).numpy())


# ---- threads ----


def test_an_error_in_a_part_is_the_callers() -> None:
    def work(part: int) -> None:
        if part == 30:
            raise ZeroDivisionError

    with threads(4), pytest.raises(ZeroDivisionError):
        fft_parts.share(work, range(100))


def test_a_scipy_that_gets_no_threads_is_a_status(monkeypatch: pytest.MonkeyPatch) -> None:
    def starved(*_: object) -> None:
        raise RuntimeError("Resource temporarily unavailable")

    monkeypatch.setattr("scipy.fft.fft", starved)
    with pytest.raises(sz.AllocFailed, match="no thread"):
        fft_parts.c2c(np.ones((1, 17), np.complex64), 1, True, 0)
    with pytest.raises(sz.AllocFailed, match="fft_c2c"):
        sz.fft_c2c(sz.tensor([1 + 0j] * 17))


def test_there_are_no_more_threads_than_may_be(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 64)
    with threads(3):
        fft_parts.share(lambda _: None, range(100))
        assert fft_parts._pool(3)._max_workers == 2
    fft_parts._pool.cache_clear()


def test_several_callers_at_a_time() -> None:
    x = sz.tensor(np.random.default_rng(7).normal(size=(300, 257)) + 1j)
    with threads(1):
        expected = sz.fft_c2c(x, (0, 1)).numpy()
    with threads(2), ThreadPoolExecutor(4) as callers:
        for found in callers.map(lambda _: sz.fft_c2c(x, (0, 1)).numpy(), range(12)):
            assert same_bits(found, expected)


ALSO = """
import atexit, os, numpy as np, suanzi as sz
os.cpu_count = lambda: 4
sz.set_num_threads(2)
x = sz.tensor(np.ones((512, 514), np.complex64))
def total():
    return abs(sz.fft_c2c(x, (0, 1)).numpy()[0, 0]) == 512 * 514
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
