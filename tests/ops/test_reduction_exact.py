"""7.2.13.1, 7.2.17.2, 7.2.17.11: `accumulate="exact"` against fractions."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest

import suanzi as sz
from helpers.functions import Array, threads
from suanzi.tensors.exchange import numpy_dtype
from suanzi.truth.rounding import round_exact

DTYPES = ("float32", "float64", "float16", "bfloat16", "float8_e5m2")


def numbers(dtype: str, n: int, seed: int) -> Array:
    """Return numbers of all magnitudes and both signs, most of which cancel."""
    rng = np.random.default_rng(seed)
    kind = numpy_dtype(sz.dtype(dtype))
    bits = rng.integers(0, 1 << 8 * kind.itemsize, n, dtype=np.uint64).astype(f"u{kind.itemsize}")
    with np.errstate(invalid="ignore"):
        some = bits.view(kind).astype(np.float64)
        some = np.where(np.abs(some) < float(sz.finfo(dtype).max) / 64, some, 1.5)
        x = np.concatenate([some, -some[: n // 2], [1.0, 2.0**-9]])
    return rng.permutation(x).astype(kind)


def exact(x: Array) -> list[Fraction]:
    return [Fraction(v) for v in x.astype(np.float64).tolist()]


def due(value: Fraction, dtype: str, root: bool = False) -> float:
    """Return a fraction, or its root, rounded once."""
    with mpmath.workprec(5000):
        found = mpmath.mpf(value.numerator) / value.denominator
        return round_exact(mpmath.sqrt(found) if root else found, dtype)


def same(found: sz.Tensor, want: float) -> bool:
    return float(found.item().real) == want


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", [1, 2, 7, 300, 1500])
def test_every_sum_is_rounded_once(dtype: str, n: int) -> None:
    x = numbers(dtype, n, n)
    y = np.random.default_rng(1).permutation(x)
    a, b, total = sz.tensor(x), sz.tensor(y), sum(exact(x))
    assert same(sz.reduce(a, accumulate="exact"), due(total, dtype))
    assert same(sz.reduce(a, "MEAN", accumulate="exact"), due(total / len(x), dtype))
    assert same(sz.norm(a, "1", accumulate="exact"), due(sum(map(abs, exact(x))), dtype))
    squares = sum(v * v for v in exact(x))
    assert same(sz.norm(a, "2", accumulate="exact"), due(squares, dtype, root=True))
    products = sum(v * w for v, w in zip(exact(x), exact(y), strict=True))
    assert same(sz.dot(a, b, accumulate="exact"), due(products, dtype))


def test_order_threads_and_length_change_nothing() -> None:
    x = np.random.default_rng(3).standard_normal(400_000) * 10.0 ** np.arange(400_000) ** 0.1
    for kind in (np.float32, np.float64):
        given = x.astype(kind)
        want = math.fsum(given.tolist())
        for count in (1, 3):
            with threads(count):
                found = sz.reduce(sz.tensor(given[::-1].copy()), accumulate="exact")
                assert found.item() == float(kind(want))


def test_axes_and_shapes() -> None:
    x = np.random.default_rng(4).standard_normal((3, 4, 5))
    t = sz.tensor(x)
    found = sz.reduce(t, "SUM", axis=(0, 2), keep_dims=True, accumulate="exact")
    want = [[[math.fsum(x[:, i, :].ravel())] for i in range(4)]]
    assert found.numpy().tolist() == want
    assert sz.reduce(t.T, axis=0, accumulate="exact").shape == (4, 3)
    columns = sz.norm(t[0], "1", axis=(0, 1), accumulate="exact").item()
    assert columns == max(math.fsum(abs(x[0, :, j])) for j in range(5))
    rows = sz.norm(t[0], "inf", axis=(0, 1), accumulate="exact").item()
    assert rows == max(math.fsum(abs(x[0, i])) for i in range(4))
    y = np.random.default_rng(5).standard_normal((2, 5, 6))
    made = sz.dot(t, sz.tensor(y), accumulate="exact")
    assert made.shape == (3, 4, 2, 6)
    assert np.allclose(made.numpy(), np.dot(x, y), rtol=1e-12)
    assert sz.dot(t[0, 0], sz.tensor(y[0]), accumulate="exact").shape == (6,)
    assert sz.reduce(sz.zeros(shape=(0,)), accumulate="exact").item() == 0


def test_overflow_underflow_and_special_values() -> None:
    big, small = 1.7e308, 5e-324
    cases: list[tuple[list[float], float]] = [
        ([big, big, -big], big), ([big, big], math.inf), ([small, small, -small], small),
        ([1.0, 2.0**-53, 2.0**-1074], 1 + 2.0**-52), ([1.0, 2.0**-53], 1.0),
        ([math.inf, 1.0], math.inf), ([-math.inf, 1.0], -math.inf), ([0.0, -0.0], 0.0),
    ]  # fmt: skip
    for x, want in cases:
        assert sz.reduce(sz.tensor(x, sz.float64), accumulate="exact").item() == want, x
    for x in ([math.nan, 1.0], [math.inf, -math.inf]):
        assert math.isnan(sz.reduce(sz.tensor(x, sz.float64), accumulate="exact").item())
    root = sz.norm(sz.tensor([big / 2, small], sz.float64), "2", accumulate="exact")
    assert root.item() == big / 2
    tiny = sz.tensor([3 * small, 4 * small], sz.float64)
    assert sz.norm(tiny, "2", accumulate="exact").item() == 5 * small
    x = sz.tensor([1e300, 1e300, 2.0**-600], sz.float64)
    y = sz.tensor([1e300, -1e300, 2.0**-400], sz.float64)
    assert sz.dot(x, y, accumulate="exact").item() == 2.0**-1000


@pytest.mark.parametrize(
    ("call", "why"),
    [
        (lambda: sz.reduce(sz.tensor([1.0]), accumulate="exakt"), "'exakt'.*default, exact"),
        (lambda: sz.reduce(sz.tensor([1.0]), "MAX", accumulate="exact"), "SUM and MEAN.*MAX"),
        (lambda: sz.reduce(sz.tensor([1]), accumulate="exact"), "int64; integers are exact"),
        (lambda: sz.norm(sz.tensor([1.0]), 3, accumulate="exact"), "normtype is 3"),
        (lambda: sz.dot(sz.tensor([1j]), sz.tensor([1j]), accumulate="exact"), "complex"),
    ],
)
def test_what_cannot_be_exact_is_refused(call: Any, why: str) -> None:
    with pytest.raises((sz.InvalidArgument, sz.TypeMismatch), match=why):
        call()
