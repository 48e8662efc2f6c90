"""7.2.17.11: norm: every kind over every axis and dtype, the ends of the range, NaN, nothing."""

from __future__ import annotations

import math
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import suanzi as sz
from helpers.functions import each_level, threads
from helpers.matrices import EPSILON, EVERY, OWN, layouts, random, values

TYPES: list[Any] = ["inf", "1", "2", "3", "0.5", "2.5", "1e1", ".75", 1, 2, 4.0, math.inf]
REAL = {sz.complex32: sz.float16, sz.complex64: sz.float32, sz.complex128: sz.float64}


def truth(elements: list[complex], p: float) -> float:
    """Return the norm of a vector, with 50 digits."""
    with mpmath.workdps(50):
        sizes = [abs(mpmath.mpmathify(complex(x))) for x in elements]
        if p == math.inf:
            return float(max(sizes, default=mpmath.mpf(0)))
        return float(mpmath.fsum(s**p for s in sizes if s) ** (1 / mpmath.mpf(p)))


def expected(a: Any, kind: Any, axes: tuple[int, ...]) -> Any:
    """Return norms of an array, one after the other."""
    p = float(kind) if kind != "fro" else 2.0
    inner = axes or tuple(range(a.ndim))
    moved = np.moveaxis(a, inner, range(-len(inner), 0))
    outer = moved.shape[: a.ndim - len(inner)]
    found = np.empty(outer)
    for index in np.ndindex(outer):
        one = moved[index]
        if len(axes) == 2 and kind != "fro":
            lines = one.T if p == 1 else one
            found[index] = max((truth(list(line), 1.0) for line in lines), default=0.0)
        else:
            found[index] = truth(list(one.ravel()), p)
    return found


def close(found: sz.Tensor, right: Any, dtype: sz.DType, ulps: float = 0.51) -> None:
    """Raise unless a result is right within ULPs, and float64 within some more."""
    assert found.dtype is REAL.get(dtype, dtype)
    assert found.shape == np.shape(right)
    step = EPSILON[dtype] * (8 if dtype in (sz.float64, sz.complex128) else ulps)
    np.testing.assert_allclose(values(found), right, rtol=step, atol=0)


@pytest.mark.parametrize("dtype", EVERY, ids=str)
@pytest.mark.parametrize("kind", TYPES, ids=str)
def test_vectors(dtype: sz.DType, kind: Any) -> None:
    a = random((3, 4), dtype)
    for axes in [(), (0,), (1,), (-1,)]:
        right = expected(a, kind, tuple(x % 2 for x in axes))
        if dtype is sz.float8_e4m3fn:
            right = np.where(right > 448, np.nan, right)
        for _, x in layouts(a, dtype):
            found = sz.norm(x, kind, axes)
            if np.isfinite(values(found)).all():
                close(found, right, dtype, 1.01 if dtype.bits <= 8 else 0.51)
            else:
                assert dtype.bits <= 8  # 0.5-norms of which float8 holds few


@pytest.mark.parametrize("dtype", EVERY, ids=str)
@pytest.mark.parametrize("kind", ["fro", "1", "inf", 1, math.inf])
def test_matrices(dtype: sz.DType, kind: Any) -> None:
    a = random((2, 3, 4), dtype)
    for axes in [(0, 1), (1, 2), (2, 0), (-1, 1), (2, 1)]:
        right = expected(a, kind, tuple(x % 3 for x in axes))
        for _, x in layouts(a, dtype):
            close(sz.norm(x, kind, axes), right, dtype, 1.01 if dtype.bits <= 8 else 0.51)


def test_keep_dims_and_defaults() -> None:
    x = sz.tensor([[1.0, -2, 3], [4, 5, -6]])
    assert sz.norm(x).tolist() == 6
    assert sz.norm(x, "1", 1, True).tolist() == [[6], [15]]
    assert sz.norm(x, keep_dims=True).tolist() == [[6]]
    assert sz.norm(x, "inf", (0, 1), keep_dims=True).shape == (1, 1)
    assert sz.norm(x, "1", axis=None).tolist() == 21
    assert sz.norm(x, "1", axis=np.int8(0)).tolist() == [5, 7, 9]
    assert sz.norm(x, "1", axis=sz.tensor([0])).tolist() == [5, 7, 9]
    assert sz.norm(x, "inf", (0, 1)).tolist() == 15
    assert sz.norm(x, "1", (0, 1)).tolist() == 9
    assert sz.norm(x, "1", (1, 0)).tolist() == 15  # the columns of its transpose
    assert sz.norm(sz.tensor(-3.0)).tolist() == 3
    assert sz.norm(sz.tensor(-3.0), "2", keep_dims=True).shape == ()
    assert sz.norm(-3.0, np.float32(2)).tolist() == 3


def test_nothing_overflows_on_the_way() -> None:
    for dtype, size in [
        (sz.float64, 1e200), (sz.float64, 1e-200), (sz.float64, 1e308), (sz.float64, 5e-324),
        (sz.float32, 3e38), (sz.float32, 1e-44), (sz.bfloat16, 2.0**127), (sz.float16, 32768.0),
        (sz.complex64, 1e38), (sz.complex128, 1e-300),
    ]:  # fmt: skip
        x = sz.full(dtype=dtype, shape=(2, 3), value=0)
        x[0, 1] = size
        given = abs(values(x)[0, 1])
        assert given > 0
        for kind in ("1", "2", "3", "0.25", "7.5", "1e300"):
            assert values(sz.norm(x, kind)) == given
            assert values(sz.norm(x, kind, 1)).tolist() == [given, 0]
        assert values(sz.norm(x, "fro", (0, 1))) == given
    root = sz.norm(sz.full(dtype=sz.float64, shape=(4,), value=1e200), "2")
    np.testing.assert_allclose(values(root), 2e200, rtol=1e-15)
    assert sz.norm(sz.full(dtype=sz.float16, shape=(4,), value=300), "2").tolist() == 600
    assert sz.norm(sz.full(dtype=sz.float16, shape=(4,), value=60000), "2").tolist() == math.inf
    both = sz.norm(sz.tensor([1.5e308 + 1e308j, 0j], sz.complex128), "2")
    np.testing.assert_allclose(values(both), math.hypot(1.5, 1) * 1e308, rtol=1e-15)


def test_of_nothing_it_is_zero() -> None:
    for kind in ("inf", "1", "2", "0.5"):
        assert sz.norm(sz.zeros((0,)), kind).tolist() == 0
        assert sz.norm(sz.zeros((2, 0)), kind, 1).tolist() == [0, 0]
        assert sz.norm(sz.zeros((2, 0)), kind, 0).tolist() == []
        assert sz.norm(sz.zeros((2, 0)), kind, 0, keep_dims=True).shape == (1, 0)
    for kind in ("inf", "1", "fro"):
        assert sz.norm(sz.zeros((2, 0, 3)), kind, (1, 2)).tolist() == [0, 0]
        assert sz.norm(sz.zeros((2, 3, 0)), kind, (1, 2)).tolist() == [0, 0]
        assert sz.norm(sz.zeros((0, 3, 2)), kind, (1, 2)).shape == (0,)


def test_integers_and_quantised() -> None:
    assert sz.norm(sz.tensor([3, 4], sz.int8), "2").dtype is sz.float32
    assert sz.norm(sz.tensor([True, True]), "1").tolist() == 2
    assert sz.norm(sz.tensor([-(2**24) - 1])).tolist() == 2.0**24
    with sz.promotion("strict"), pytest.raises(sz.TypeMismatch):
        sz.norm(sz.tensor([3, 4]))
    x = sz.quantize(sz.tensor([3.0, -4]), sz.QT_SYM_INT16)
    assert sz.norm(x, "2").tolist() == sz.norm(sz.dequantize(x), "2").tolist()


SIZES = [15, 16, 17, 255, 257, 4095, 16385, 33000]


@pytest.mark.parametrize("dtype", [*OWN, sz.bfloat16, sz.float16, sz.complex32], ids=str)
def test_long_ones_in_every_layout(dtype: sz.DType) -> None:
    """Blocks, segments, rows and columns; the result is the same to the bit."""
    for n in SIZES:
        a = random((n, 3), dtype)
        for kind in ("1", "2", "inf"):
            right = {
                "1": lambda b: np.abs(b).sum(0),
                "2": lambda b: np.sqrt((np.abs(b) ** 2).sum(0)),
                "inf": lambda b: np.abs(b).max(0),
            }[kind](a.astype(np.clongdouble if dtype.kind == "complex" else np.longdouble))
            found = [values(sz.norm(x, kind, 0)) for _, x in layouts(a, dtype)]
            found += [values(sz.norm(sz.cast(sz.tensor(a.T), dtype), kind, 1))]
            found += [np.array([values(sz.norm(x[:, i], kind)) for i in range(3)])
                      for _, x in layouts(a, dtype)]  # fmt: skip
            assert all(f.tolist() == found[0].tolist() for f in found)
            held = np.isfinite(found[0])
            step = EPSILON[dtype] * (6 if dtype.bits >= 64 else 0.51)
            np.testing.assert_allclose(found[0][held], right[held].astype(float), rtol=step)


def test_wide_ones_are_taken_by_columns() -> None:
    for dtype in (*OWN, sz.float16, sz.bfloat16, sz.float8_e5m2):
        a = random((600, 70), dtype) / 16
        x = sz.cast(sz.tensor(a), dtype)
        for kind in ("1", "2", "inf"):
            along = [sz.norm(x[:, i], kind).tolist() for i in range(70)]
            assert sz.norm(x, kind, 0).tolist() == along


@pytest.mark.parametrize("dtype", EVERY, ids=str)
def test_threads_and_levels_do_not_matter(dtype: sz.DType) -> None:
    x = sz.cast(sz.tensor(random((37, 2003), dtype) / 64), dtype)
    flat = sz.cast(sz.tensor(random((150_001,), dtype) / 512), dtype)
    calls: list[Any] = [(x, k, axis) for k in ("1", "2", "inf") for axis in (0, 1, ())]
    calls += [(x, k, (0, 1)) for k in ("1", "inf", "fro")]
    calls += [(flat, k, ()) for k in ("1", "2", "inf")]
    found = []
    with each_level() as levels:
        for level in levels:
            sz._core.use_level(level)
            for count in (1, 3):
                with threads(count):
                    found.append([repr(sz.norm(*call).tolist()) for call in calls])
    assert all(f == found[0] for f in found)


@pytest.mark.parametrize("dtype", [sz.float64, sz.complex128], ids=str)
def test_squares_are_scaled_where_they_must_be(dtype: sz.DType) -> None:
    """Huge, tiny, zero, infinite and ordinary vectors side by side, along every axis."""
    rng = np.random.default_rng(4)
    sizes = [1e300, 1e-300, 1.0, 0.0, 5e-324, 1.7e308 / 40, 1e154, 1e-154, 1e-140, 2.0**-450]
    a = np.array(sizes)[:, None] * rng.uniform(0.5, 1, (10, 900))
    if dtype is sz.complex128:
        a = a * (1 - 0.5j)
    exact = [truth(list(row), 2.0) for row in a]
    a = np.vstack([a, np.full(900, math.inf), np.full(900, math.nan)])
    exact += [math.inf, math.nan]
    for _, x in layouts(a, dtype):
        for found in (sz.norm(x, "2", 1), sz.norm(sz.transpose(x, (1, 0)), "2", 0)):
            np.testing.assert_allclose(values(found), exact, rtol=1e-14, atol=0)
    assert math.isnan(sz.norm(sz.cast(sz.tensor(a), dtype), "fro", (0, 1)).item())
    whole = sz.norm(sz.cast(sz.tensor(a[:10]), dtype), "fro", (0, 1)).item()
    assert whole == pytest.approx(truth(list(a[:10].ravel()), 2.0), rel=1e-14)


@pytest.mark.parametrize("dtype", [sz.complex32, sz.complex64, sz.complex128], ids=str)
def test_a_complex_number_with_nan_has_no_size(dtype: sz.DType) -> None:
    for bad in (complex(math.nan, 1), complex(1, math.nan), complex(math.inf, math.nan)):
        x = sz.cast(sz.tensor([1 + 1j, bad, 0j]), dtype)
        for kind in ("1", "2", "inf"):
            assert math.isnan(sz.norm(x, kind).item())
    for infinite in (complex(math.inf, 1), complex(-2, -math.inf)):
        x = sz.cast(sz.tensor([1 + 1j, infinite, 0j]), dtype)
        for kind in ("1", "2", "inf", "3"):
            assert sz.norm(x, kind).item() == math.inf


def test_nan_has_one_pattern() -> None:
    """Whatever NaN came, of either sign and signalling."""
    for bits in (0x7F800001, 0xFFC12345, 0x7FFFFFFF):
        x = sz.tensor(np.array([0x3F800000, bits], np.uint32).view(np.float32))
        assert sz.norm(x).numpy().view(np.uint32) == 0x7FFFFFFF


def test_large_ones() -> None:
    x = sz.rand_normal((300, 1000), seed=7)
    a = x.numpy().astype(np.float64)
    np.testing.assert_allclose(values(sz.norm(x, "2")), np.linalg.norm(a), rtol=1e-7)
    np.testing.assert_allclose(values(sz.norm(x, "1", 0)), np.abs(a).sum(0), rtol=1e-7)
    np.testing.assert_allclose(
        values(sz.norm(x.T, "3", 0)), (np.abs(a) ** 3).sum(1) ** (1 / 3), rtol=1e-7
    )
    ones = sz.full(dtype=sz.float16, shape=(100_000,), value=0.5)
    assert sz.norm(ones, "1").tolist() == float(np.float16(50_000))


@settings(max_examples=80)
@given(
    st.lists(st.integers(0, 4), min_size=1, max_size=4),
    st.sampled_from(["inf", "1", "2", "fro", "1.5"]),
    st.data(),
    st.sampled_from([sz.float32, sz.complex128]),
)
def test_any_shape(shape: list[int], kind: str, data: st.DataObject, dtype: sz.DType) -> None:
    count = 2 if kind == "fro" else data.draw(st.integers(0, 2 if kind in ("1", "inf") else 1))
    if count > len(shape):
        return
    axes = tuple(data.draw(st.permutations(range(len(shape)))))[:count]
    a = random(tuple(shape), dtype)
    found = sz.norm(sz.cast(sz.tensor(a), dtype), kind, axes)
    right = expected(a, kind, axes)
    close(found, right, dtype)
    kept = sz.norm(sz.cast(sz.tensor(a), dtype), kind, axes, keep_dims=True)
    inner = axes or tuple(range(len(shape)))
    assert kept.shape == tuple(1 if i in inner else n for i, n in enumerate(shape))
    assert values(kept).ravel().tolist() == values(found).ravel().tolist()
