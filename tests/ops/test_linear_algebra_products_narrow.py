"""7.2.17.1, .2, .12: bfloat16 and bytes, for which some processors have instructions."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import suanzi as sz
from suanzi import _core

SHAPES = [(33, 64, 31), (16, 256, 16), (65, 129, 97), (300, 40, 290), (40, 1100, 35), (2, 9000, 3)]
LEAST = 2.0**-133
"""The least bfloat16 above 0."""


def laid(array: Any, how: str) -> sz.Tensor:
    """Return a matrix that lies by rows, by columns, or with gaps."""
    if how == "columns":
        return sz.transpose(sz.tensor(np.ascontiguousarray(array.T)))
    if how == "gaps":
        wide = np.zeros((2 * array.shape[0], 3 * array.shape[1]), array.dtype)
        wide[::2, ::3] = array
        return sz.tensor(wide)[::2, ::3]
    return sz.tensor(array)


def check(x: Any, y: Any, found: Any) -> None:
    """Compare a product of bfloat16 with float64: sums in float32, rounded once."""
    a, b, c = (np.asarray(one, np.float64) for one in (x, y, found))
    exact, size = a @ b, np.abs(a) @ np.abs(b)
    allowed = np.abs(exact) * 2.0**-8 + size * a.shape[1] * 2.0**-24 * 1.01 + LEAST
    assert (np.abs(c - exact) <= allowed).all()


@pytest.mark.parametrize("level", _core.levels())
@pytest.mark.parametrize("how", ["rows", "columns", "gaps"])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_bfloat16(shape: tuple[int, int, int], how: str, level: str) -> None:
    m, k, n = shape
    rng = np.random.default_rng(shape)
    x = rng.standard_normal((m, k)).astype(ml_dtypes.bfloat16)
    y = rng.standard_normal((k, n)).astype(ml_dtypes.bfloat16)
    _core.use_level(level)
    for other in ("rows", "columns"):
        found = []
        for threads in (1, 2):
            sz.set_num_threads(threads)
            made = laid(x, how) @ laid(y, other)
            assert made.dtype == sz.bfloat16
            found.append(made.numpy().tobytes())
        assert found[0] == found[1]
        check(x, y, made.numpy())
    wide = sz.matmul(sz.tensor(x), sz.tensor(y), dtype=sz.float32).numpy()
    exact = x.astype("f8") @ y.astype("f8")
    size = np.abs(x.astype("f8")) @ np.abs(y.astype("f8"))
    assert (np.abs(wide - exact) <= size * k * 2.0**-24).all()


@pytest.mark.parametrize("low", [-133, -127, -100, -77, -70])
@pytest.mark.parametrize("high", [-60, -25, 0, 100])
def test_numbers_so_small_that_some_instructions_take_them_for_zero(low: int, high: int) -> None:
    rng = np.random.default_rng([low + 200, high + 200])
    shape = (64, 64)
    x = np.ldexp(rng.choice([-1.0, 1.0, 0.0], shape), low).astype(ml_dtypes.bfloat16)
    y = np.ldexp(rng.uniform(1, 2, shape), high).astype(ml_dtypes.bfloat16)
    for a, b in ((x, y), (y, x)):
        found = (sz.tensor(a) @ sz.tensor(b)).numpy()
        check(a, b, found)
    # One such number among others, alone in what it is multiplied with.
    big = np.zeros(shape, ml_dtypes.bfloat16)
    big[5, 7], tiny = 2.0**100, np.ones(shape, ml_dtypes.bfloat16)
    tiny[7, 9] = np.ldexp(1.0, low)
    found = (sz.tensor(big) @ sz.tensor(tiny)).numpy()
    assert float(found[5, 9]) == np.ldexp(1.0, low + 100)


def test_sums_that_cancel_to_subnormal_numbers() -> None:
    x = np.zeros((40, 64), ml_dtypes.bfloat16)
    x[:, 0], x[:, 1] = 2.0**-60, -(2.0**-60)
    y = np.zeros((64, 40), ml_dtypes.bfloat16)
    y[0, :], y[1, :] = 2.0**-66 * 1.0078125, 2.0**-66
    found = (sz.tensor(x) @ sz.tensor(y)).numpy()
    assert (found.astype("f8") == 2.0**-133).all()


def test_infinities_and_nan() -> None:
    x, y = np.ones((48, 64), ml_dtypes.bfloat16), np.ones((64, 48), ml_dtypes.bfloat16)
    x[3, 5], x[4, 6], y[7, 8] = np.inf, np.nan, -np.inf
    found = (sz.tensor(x) @ sz.tensor(y)).numpy().astype("f4")
    assert found[3, 0] == np.inf
    assert np.isnan(found[4]).all()
    assert found[0, 8] == -np.inf
    assert np.isnan(found[3, 8])
    assert found[0, 0] == 64
    assert np.isfinite(np.delete(np.delete(found, [3, 4], 0), 8, 1)).all()


@pytest.mark.parametrize("count", [1, 5])
def test_batches_and_a_bias(count: int) -> None:
    rng = np.random.default_rng(count)
    x = rng.standard_normal((count, 50, 70)).astype(ml_dtypes.bfloat16)
    w = rng.standard_normal((60, 70)).astype(ml_dtypes.bfloat16)
    bias = rng.standard_normal(60).astype(ml_dtypes.bfloat16)
    found = sz.linear(sz.tensor(x), sz.tensor(w), sz.tensor(bias)).numpy()
    more = np.concatenate([w.T, bias[None]])
    for one, expected in zip(x, found, strict=True):
        check(np.concatenate([one, np.ones((50, 1), one.dtype)], 1), more, expected)
    y = np.broadcast_to(w.T, (count, 70, 60)).copy()
    y[0, 0, 0] = LEAST  # one of the batch has such a number
    for a, b, c in zip(x, y, (sz.tensor(x) @ sz.tensor(y)).numpy(), strict=True):
        check(a, b, c)


@pytest.mark.parametrize("level", _core.levels())
@pytest.mark.parametrize("how", ["rows", "columns", "gaps"])
@pytest.mark.parametrize("dtype", ["int8", "uint8"])
@pytest.mark.parametrize("shape", [*SHAPES, (2, 3, 2), (17, 4, 33), (8, 5, 9)], ids=str)
def test_bytes(shape: tuple[int, int, int], dtype: str, how: str, level: str) -> None:
    m, k, n = shape
    rng, limits = np.random.default_rng(shape), np.iinfo(dtype)
    x, y = (rng.integers(limits.min, limits.max + 1, two, dtype) for two in ((m, k), (k, n)))
    x[0], y[:, 0] = limits.min, limits.min  # the largest products
    exact = x.astype("i8") @ y.astype("i8")
    _core.use_level(level)
    for other in ("rows", "columns", "gaps"):
        a, b = laid(x, how), laid(y, other)
        assert np.array_equal((a @ b).numpy(), exact.astype(dtype))
        assert np.array_equal(sz.matmul(a, b, dtype=sz.int32).numpy(), exact.astype("i4"))


@pytest.mark.parametrize("whole", ["int8", "uint8", "int16", "uint16", "uint32", "int64", "uint64"])
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64", "complex64"])
def test_floats_that_become_integers_are_converted_as_by_cast(whole: str, dtype: str) -> None:
    """To the nearest end of the product's dtype: the one that is summed in may be another."""
    values = [-3.0, -0.5, 1000.0, 1e5, np.inf, -np.inf, np.nan, 2.5]
    for shape, other in (((8,), (8,)), ((1, 8), (8, 1)), ((5, 8), (8, 6)), ((40, 8), (8, 40))):
        x = sz.cast(sz.tensor(np.arange(np.prod(shape), dtype=np.int16).reshape(shape)), whole)
        y = sz.cast(sz.tensor(np.resize(np.array(values, np.float32), other)), dtype)
        with sz.promotion("torch_npu"):  # which has integers of these
            found = sz.matmul(x, y)
        assert found.dtype.name == whole
        wanted = sz.matmul(x, sz.cast(y, whole))
        assert np.array_equal(found.numpy(), wanted.numpy())
