"""7.2.17.3 to .10: what is hard: the ends of the range, and memory LAPACK copies."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import suanzi as sz
from helpers.matrices import (
    EPSILON,
    OWN,
    Array,
    adjoint,
    assert_small,
    random,
    values,
)


def doubles(x: Any) -> sz.Tensor:
    return sz.tensor(x, sz.float64)


def turned(x: sz.Tensor) -> sz.Tensor:
    """Return the same matrix, column by column in memory."""
    return sz.transpose(sz.duplicate(sz.transpose(x, (1, 0))), (1, 0))


@pytest.mark.parametrize("n", [1, 3, 33])
@pytest.mark.parametrize("upper", ["U", "L"])
@pytest.mark.parametrize("imaginary", [5.0, math.nan, -math.inf])
def test_cholesky_reads_no_imaginary_part_on_the_diagonal(
    n: int, upper: str, imaginary: float
) -> None:
    for dtype in (sz.complex64, sz.complex128, sz.complex32):
        mat = random((n, n), sz.complex128) / n
        mat = values(sz.cast(sz.tensor(mat @ adjoint(mat) + 2 * np.eye(n)), dtype))
        spoilt = mat.copy()
        spoilt.imag[range(n), range(n)] = imaginary
        one = sz.cast(sz.tensor(spoilt), dtype)
        for x, right in ((one, mat), (sz.stack([one, one], 0), np.stack([mat, mat]))):
            found = values(sz.cholesky(upper, x))
            product = adjoint(found) @ found if upper == "U" else found @ adjoint(found)
            assert_small(product - right, 40 * n * EPSILON[dtype], "cholesky")
    negative = np.array([[complex(-1, imaginary)]])
    with pytest.raises(sz.InvalidArgument, match="minor of order 1 is not positive"):
        sz.cholesky(upper, sz.tensor(negative))


# Rows or columns that differ by more than a number holds, and a solution of ordinary size.
HUGE_ROW = [[1e300, 1e300], [1.0, 2.0]]
HUGE_COLUMNS = [[1e300, 1.0], [1e300, 2.0]]


@pytest.mark.parametrize("batch", [False, True])
@pytest.mark.parametrize("lay", [lambda x: x, turned], ids=["rows", "columns"])
def test_scaled_equations_do_not_overflow_on_the_way(lay: Any, batch: bool) -> None:
    def solved(mat: Any, rhs: list[float], adjoined: bool) -> Array:
        a, b = lay(doubles(mat)), doubles(rhs)
        found = values(sz.solve(sz.stack([a, a], 0) if batch else a, b, adjoined))
        return found[1] if batch else found

    np.testing.assert_allclose(solved(HUGE_ROW, [0, 1e10], False), [-1e10, 1e10], rtol=1e-14)
    np.testing.assert_allclose(solved(HUGE_COLUMNS, [0, 1e10], True), [-1e10, 1e10], rtol=1e-14)
    np.testing.assert_allclose(solved(HUGE_COLUMNS, [1e-20, 3e-20], False)[1], 2e-20, rtol=1e-14)
    np.testing.assert_allclose(solved(HUGE_ROW, [1e-20, 3e-20], True)[1], 2e-20, rtol=1e-14)
    assert solved(HUGE_ROW, [0, 0], False).tolist() == [0, 0]
    apart = [[1e150, 0], [0, 1e-150]]
    np.testing.assert_allclose(solved(apart, [1e-10, 1e10], False), [1e-160, 1e160], rtol=1e-15)


def test_scaled_inverses_do_not_overflow_on_the_way() -> None:
    mat = [[1e300, 1e300], [1.0, 1 + 2.0**-33]]
    (a, b), (c, d) = [[Fraction(x) for x in row] for row in mat]
    truth = np.array([[d, -b], [-c, a]]) / (a * d - b * c)
    for x in (doubles(mat), turned(doubles(mat)), doubles([mat, mat])):
        found = values(sz.inverse(x))
        np.testing.assert_allclose(found[1] if x.ndim == 3 else found, truth.astype(float), 1e-5)


def test_least_squares_at_the_ends_of_the_range() -> None:
    huge = [[1.7e308, 1e308], [-1.7e308, 1e308]]
    for mat, rhs, right in [
        ([[1e-310]], [1e-310], [1]),
        ([[1e-310], [1e-310]], [2e-310, 2e-310], [2]),
        (huge, [1.7e308, 1.7e308], [0, 1.7]),
        (np.full((20, 1), 1.7e308), np.full(20, 1.7e308), [1]),
        (np.full((1, 20), 1.7e308), [1.7e308], np.full(20, 0.05)),
        (np.full((20, 20), 1.7e308), np.full(20, 1.7e308), np.full(20, 0.05)),
        (np.full((20, 2), 1e-308), np.full(20, 1e-308), [0.5, 0.5]),
    ]:
        a, b = doubles(mat), doubles(rhs)
        for x in (sz.lstsq(a, b), sz.lstsq(sz.stack([a, a], 0), b)[1]):
            np.testing.assert_allclose(values(x), right, rtol=1e-13, atol=1e-13)
    with pytest.raises(sz.InvalidArgument, match="exceeds the range of float64"):
        sz.lstsq(doubles([[1e-200]]), doubles([1e200]))


@pytest.mark.parametrize("dtype", [sz.bool, sz.int8, sz.int16, sz.uint64], ids=str)
def test_integers_are_what_numpys_linear_algebra_makes_of_them(dtype: sz.DType) -> None:
    """O2: float64 under its rules, which its element-wise functions do not make of int8."""
    x = sz.cast(sz.tensor([[1, 0], [1, 1]]), dtype)
    single = sz.tensor([1, 2], sz.float32)
    with sz.promotion("numpy"):
        for name in ("lu", "qr", "svd", "inverse", "eig"):
            found = getattr(sz, name)(x)
            first = found if isinstance(found, sz.Tensor) else found[0]
            assert first.dtype is (sz.complex128 if name == "eig" else sz.float64)
        assert sz.norm(x).dtype is sz.float64
        assert sz.cholesky("U", x).dtype is sz.float64
        for solve in (lambda b: sz.solve(x, b, False), lambda b: sz.lstsq(x, b)):
            assert solve(single).dtype is sz.float64
            assert solve(sz.cast(single, sz.complex64)).dtype is sz.complex128
        assert sz.inverse(sz.cast(x, sz.float32)).dtype is sz.float32


@pytest.mark.parametrize("dtype", [sz.float32, sz.float64], ids=str)
def test_what_is_singular_does_not_depend_on_the_way(dtype: sz.DType) -> None:
    """Far from the border, single and in batches, in every layout, all say the same."""
    rng = np.random.default_rng(8)
    epsilon = EPSILON[dtype]
    for n in (2, 5, 12):
        for condition, regular in ((0.001 / epsilon, True), (1e4 / epsilon, False)):
            for _ in range(12):
                q, p = (np.linalg.qr(rng.standard_normal((n, n)))[0] for _ in range(2))
                # Of integers, so that rounding the elements makes nothing regular.
                a = q * np.r_[np.ones(n - 1), 1 / condition] @ p
                if not regular:
                    a = np.round(a * 64)
                    a[:, -1] = a[:, 0] * 3
                x = sz.cast(sz.tensor(a), dtype)
                b = sz.cast(sz.tensor(np.ones((n, 1))), dtype)
                many, sides = sz.stack([x, x], 0), sz.stack([b, b], 0)
                calls: list[Any] = [
                    lambda x=x: sz.inverse(x),
                    lambda x=x: sz.inverse(turned(x)),
                    lambda many=many: sz.inverse(many),
                ]
                for adjoined in (False, True):
                    calls += [
                        lambda x=x, b=b, t=adjoined: sz.solve(x, b, t),
                        lambda x=x, b=b, t=adjoined: sz.solve(turned(x), b, t),
                        lambda m=many, b=sides, t=adjoined: sz.solve(m, b, t),
                    ]
                for call in calls:
                    if regular:
                        call()
                    else:
                        with pytest.raises(sz.InvalidArgument, match="is singular"):
                            call()


@pytest.mark.parametrize("dtype", OWN, ids=str)
def test_eigenvalues_of_what_lapack_scales(dtype: sz.DType) -> None:
    """That of SciPy 1.17 does not scale them back; every size is 2^k times the same."""
    ends = 100 if EPSILON[dtype] > 1e-10 else 900
    for n in (1, 3, 20):
        a = random((n, n), dtype)
        w, v = (values(y) for y in sz.eig(sz.cast(sz.tensor(a), dtype)))
        for power in (-ends, -ends // 2, ends // 2, ends):
            x = sz.cast(sz.tensor(a * 2.0**power), dtype)
            for y in (x, sz.stack([x, x], 0)):
                scaled, vectors = (values(z) for z in sz.eig(y))
                scaled, vectors = (scaled, vectors) if y.ndim == 2 else (scaled[1], vectors[1])
                off = a @ vectors - vectors * (scaled / 2.0**power)
                assert_small(off, 100 * n * EPSILON[dtype], f"{n} {power}")
                assert_small(
                    np.sort_complex(scaled / 2.0**power) - np.sort_complex(w),
                    1000 * n * EPSILON[dtype], f"{n} {power}",
                )  # fmt: skip
        assert_small(a @ v - v * w, 100 * n * EPSILON[dtype], "eig")


@pytest.mark.parametrize("dtype", OWN, ids=str)
@pytest.mark.parametrize("n", [1, 2, 3, 20, 70])
@pytest.mark.parametrize("where", ["everywhere", "in a corner", "in a batch"])
def test_lu_of_subnormal_numbers(where: str, n: int, dtype: sz.DType) -> None:
    """OpenBLAS divides by no pivot that is subnormal, and says nothing."""
    a = random((n, n), dtype)
    limits = np.finfo(a.dtype)
    tiny, exact = float(limits.smallest_normal), np.longdouble
    if where == "in a corner":
        a[1:, 0] = 0
        a[1:, 1:] *= tiny / 4
    else:
        a *= tiny / 16
    x = sz.stack([sz.tensor(a), sz.tensor(random((n, n), dtype))], 0) if "batch" in where else None
    lu, ipiv = (y[0] for y in sz.lu(x)) if x is not None else sz.lu(sz.tensor(a))
    packed = lu.numpy().astype(np.clongdouble if a.dtype.kind == "c" else exact)
    lower, upper = np.tril(packed, -1) + np.eye(n), np.triu(packed)
    for i, j in enumerate(ipiv.tolist()):
        a[[i, j]] = a[[j, i]]
    least = exact(limits.smallest_subnormal)
    bound = n * (exact(limits.eps) * (np.abs(lower) @ np.abs(upper)) + 4 * least)
    assert (np.abs(lower @ upper - a) <= bound).all()
    assert np.abs(np.tril(packed, -1)).max(initial=0) <= 1.5
