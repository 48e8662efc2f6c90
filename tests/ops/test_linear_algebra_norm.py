"""7.2.17.11: norm: every kind over every axis and dtype, the ends of the range, NaN, nothing."""

from __future__ import annotations

import math
from typing import Any

import mpmath
import numpy as np
import pytest

import suanzi as sz
from helpers.functions import every_level, threads
from helpers.matrices import EPSILON, EVERY, OWN, layouts, random, values


def truth(elements: list[complex], p: float) -> float:
    """Return the norm of a vector, with 50 digits."""
    with mpmath.workdps(50):
        sizes = [abs(mpmath.mpmathify(complex(x))) for x in elements]
        if p == math.inf:
            return float(max(sizes, default=mpmath.mpf(0)))
        return float(mpmath.fsum(s**p for s in sizes if s) ** (1 / mpmath.mpf(p)))


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
    for _ in every_level():
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


def test_nan_has_one_pattern() -> None:
    """Whatever NaN came, of either sign and signalling."""
    for bits in (0x7F800001, 0xFFC12345, 0x7FFFFFFF):
        x = sz.tensor(np.array([0x3F800000, bits], np.uint32).view(np.float32))
        assert sz.norm(x).numpy().view(np.uint32) == 0x7FFFFFFF
