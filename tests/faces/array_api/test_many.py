"""Many elements and matrices, which threads share: NumPy's answers with one thread or several."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import suanzi as sz

xp = sz.array_api


@pytest.fixture(params=[1, 4])
def threads(request: pytest.FixtureRequest) -> Iterator[int]:
    before = sz.get_num_threads()
    sz.set_num_threads(request.param)
    yield request.param
    sz.set_num_threads(before)


def numbers(*shape: int, dtype: Any = np.float64) -> np.ndarray:
    return np.random.default_rng(shape).standard_normal(shape).astype(dtype)


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "uint64", "int8"])
def test_keys(threads: int, dtype: str) -> None:
    row = np.sort((numbers(70_000) * 100).astype("int64").astype(dtype))
    keys = (numbers(200_000) * 120).astype("int64").astype(dtype)
    partly = np.concatenate([np.sort(keys[:150_000]), keys[150_000:]])
    for one in (keys, np.sort(keys), partly, np.sort(keys)[::-1].copy()):
        for side in ("left", "right"):
            got = xp.searchsorted(sz.tensor(row), sz.tensor(one), side=side)
            assert np.array_equal(got.numpy(), np.searchsorted(row, one, side))  # type: ignore[call-overload]


def test_keys_with_nan_between(threads: int) -> None:
    row = np.sort(np.concatenate([numbers(50_000), np.full(7, np.nan)]))
    keys = numbers(100_000)
    keys[::17] = np.nan
    for one in (keys, np.sort(keys)):
        for side in ("left", "right"):
            got = xp.searchsorted(sz.tensor(row), sz.tensor(one), side=side)
            assert np.array_equal(got.numpy(), np.searchsorted(row, one, side))  # type: ignore[call-overload]


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "int64", "uint64"])
def test_membership(threads: int, dtype: str) -> None:
    info = np.iinfo(dtype)
    for scale in (20, 3000):
        x = (numbers(40_000) * scale).astype("int64").astype(dtype)
        x[:2] = info.min, info.max
        few = x[np.random.default_rng(0).integers(2, x.size, 500)]
        for others in (few, x[:2], np.concatenate([few, x[1:2]])):
            got = xp.isin(sz.tensor(x), sz.tensor(others))
            assert np.array_equal(got.numpy(), np.isin(x, others))
            turned = xp.isin(sz.tensor(x.reshape(200, 200)).T, sz.tensor(others)[::-1])
            assert np.array_equal(turned.numpy(), np.isin(x.reshape(200, 200).T, others))


def test_repeats(threads: int) -> None:
    counts = np.random.default_rng(0).integers(0, 5, 100_000)
    x = numbers(100_000, dtype=np.float32)
    assert np.array_equal(xp.repeat(sz.tensor(x), sz.tensor(counts)).numpy(), np.repeat(x, counts))


@pytest.mark.parametrize("shape", [(300, 40), (3, 60_000), (70_000,)])
def test_complex_order(threads: int, shape: tuple[int, ...]) -> None:
    # Few different numbers, so that many are equal and keep their order.
    x = np.round(numbers(*shape)) + 1j * np.round(numbers(*shape, 1)[..., 0])
    for axis in range(len(shape)):
        got = xp.argsort(sz.tensor(x), axis=axis)
        assert np.array_equal(got.numpy(), np.argsort(x, axis, kind="stable"))


@pytest.mark.parametrize("shape", [(400, 6, 6), (60, 40, 40), (1, 1, 1), (3, 2, 5, 5)])
@pytest.mark.parametrize("dtype", [np.float64, np.complex128])
def test_matrices(threads: int, shape: tuple[int, ...], dtype: Any) -> None:
    a = numbers(*shape).astype(dtype)
    if dtype is np.complex128:
        a = a + 1j * numbers(*shape, 1)[..., 0]
    whole = a + a.conj().swapaxes(-1, -2)
    linalg = xp.linalg
    with np.errstate(all="ignore"):
        pairs: list[tuple[Callable[..., Any], Any, np.ndarray]] = [
            (linalg.eigvalsh, np.linalg.eigvalsh, whole),
            (linalg.svdvals, lambda x: np.linalg.svd(x, compute_uv=False), a),
            (linalg.det, np.linalg.det, a),
        ]
        for ours, theirs, x in pairs:
            got, true = ours(sz.tensor(x)).numpy(), theirs(x)
            assert np.abs(got - true).max() <= 1e-11 * np.abs(true).max()
    values, vectors = (t.numpy() for t in linalg.eigh(sz.tensor(whole)))
    assert np.abs(whole @ vectors - vectors * values[..., None, :]).max() < 1e-11
    found = np.sort_complex(linalg.eigvals(sz.tensor(a)).numpy().reshape(-1, shape[-1])[0])
    wanted = np.sort_complex(np.linalg.eigvals(a).reshape(-1, shape[-1])[0])
    assert np.abs(found - wanted).max() < 1e-9


def test_threads_of_python_at_the_same_time() -> None:
    from concurrent.futures import ThreadPoolExecutor

    a = numbers(50, 20, 20)
    row, keys = np.sort(numbers(50_000)), numbers(50_000)
    due = np.linalg.eigvalsh(a @ a.swapaxes(1, 2)), np.searchsorted(row, keys)

    def both(_: int) -> bool:
        x = sz.tensor(a)
        values = xp.linalg.eigvalsh(xp.matmul(x, xp.matrix_transpose(x))).numpy()
        places = xp.searchsorted(sz.tensor(row), sz.tensor(keys)).numpy()
        return bool(np.allclose(values, due[0]) and np.array_equal(places, due[1]))

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(both, range(16)))
