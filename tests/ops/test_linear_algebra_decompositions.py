"""7.2.17.3 to .6 and .10: residuals and orthogonality, over every kind of matrix."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import suanzi as sz
from helpers.matrices import (
    EPSILON,
    EVERY,
    NARROW,
    OWN,
    Array,
    adjoint,
    assert_orthonormal,
    assert_small,
    kinds,
    layouts,
    pivots_to_rows,
    random,
    tolerance,
    values,
    wide,
)

SHAPES = [(7, 7), (20, 9), (9, 20), (40, 40)]  # smaller ones are cases of the kit
MODES = ["reduced", "complete", "r"]


def check_lu(x: sz.Tensor) -> None:
    a, dtype = values(x), x.dtype
    lu, ipiv = sz.lu(x)
    m, n = x.shape[-2:]
    k = min(m, n)
    assert (lu.dtype, lu.shape) == (dtype, x.shape)
    assert (ipiv.dtype, ipiv.shape) == (sz.int64, (*x.shape[:-2], k))
    for index in np.ndindex(x.shape[:-2]):
        packed, swaps = values(lu)[index], ipiv.numpy()[index]
        lower = np.tril(packed, -1)[:, :k] + np.eye(m, k)
        # Partial pivoting, which takes |re| + |im| for the size of a complex number.
        assert (np.abs(lower) <= (1.5 if dtype.kind == "complex" else 1) + EPSILON[dtype]).all()
        assert ((swaps >= np.arange(k)) & (swaps < m)).all()
        rows = pivots_to_rows(swaps, m)
        assert_small(lower @ np.triu(packed)[:k] - a[index][rows], tolerance(a[index], dtype), "lu")


def check_qr(x: sz.Tensor, mode: str) -> None:
    a, dtype = values(x), x.dtype
    m, n = x.shape[-2:]
    k = min(m, n)
    q, r = sz.qr(x, mode)
    height = m if mode == "complete" else k
    assert (r.dtype, r.shape) == (dtype, (*x.shape[:-2], height, n))
    assert (np.tril(values(r), -1) == 0).all()
    if mode == "r":
        assert q is None
        gram = adjoint(values(r)) @ values(r) - adjoint(a) @ a
        assert_small(gram, tolerance(adjoint(a) @ a, dtype) * 4, "r")
        return
    assert q is not None
    assert (q.dtype, q.shape) == (dtype, (*x.shape[:-2], m, height))
    assert_orthonormal(values(q), 8 * m * EPSILON[dtype], "qr")
    assert_small(values(q) @ values(r) - a, tolerance(a, dtype), "qr")


def check_svd(x: sz.Tensor, reduced: bool) -> None:
    a, dtype = values(x), x.dtype
    n, m = x.shape[-2:]
    k = min(n, m)
    u, s, v = sz.svd(x, reduced)
    batch = x.shape[:-2]
    real = {sz.complex32: sz.float16, sz.complex64: sz.float32, sz.complex128: sz.float64}
    assert (u.dtype, s.dtype, v.dtype) == (dtype, real.get(dtype, dtype), dtype)
    assert u.shape == (*batch, n, k if reduced else n)
    assert s.shape == (*batch, *((k, k) if reduced else (n, m)))
    assert v.shape == (*batch, m, k if reduced else m)
    diagonal = np.diagonal(values(s), axis1=-2, axis2=-1)
    assert (diagonal >= 0).all()
    assert (np.diff(diagonal, axis=-1) <= 0).all()
    assert np.count_nonzero(values(s)) == np.count_nonzero(diagonal)
    for factor in (u, v):
        assert_orthonormal(values(factor), 8 * max(n, m) * EPSILON[dtype], "svd")
    assert_small(values(u) @ values(s) @ adjoint(values(v)) - a, tolerance(a, dtype), "svd")


def check_eig(x: sz.Tensor) -> None:
    a, dtype = values(x), x.dtype
    w, v = sz.eig(x)
    assert w.dtype is v.dtype
    assert w.dtype.kind == "complex"
    assert (w.shape, v.shape) == (x.shape[:-1], x.shape)
    size = np.linalg.norm(values(v), axis=-2)
    assert_small(size - 1, 4 * max(x.shape[-1], 2) * EPSILON[dtype], "length")
    assert_small(a @ values(v) - values(v) * values(w)[..., None, :], tolerance(a, dtype), "eig")


def definite(n: int, dtype: sz.DType, least: float = 0.1) -> Array:
    a = random((n, n), wide(dtype))
    return a @ adjoint(a) / max(n, 1) + least * np.eye(n)


def check_cholesky(x: sz.Tensor, upper: str, mat: Array) -> None:
    dtype = x.dtype
    out = sz.cholesky(upper, x)
    assert (out.dtype, out.shape) == (dtype, x.shape)
    found = values(out)
    other = np.tril(found, -1) if upper == "U" else np.triu(found, 1)
    assert (other == 0).all()
    diagonal = np.diagonal(found, axis1=-2, axis2=-1)
    assert (diagonal.real > 0).all()
    assert (diagonal.imag == 0).all()
    product = adjoint(found) @ found if upper == "U" else found @ adjoint(found)
    assert_small(product - mat, 2 * tolerance(mat, dtype), "cholesky")


@pytest.mark.parametrize("dtype", OWN, ids=str)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_factors_multiply_to_every_kind_of_matrix(shape: tuple[int, int], dtype: sz.DType) -> None:
    for _, a in kinds(*shape, dtype):
        x = sz.cast(sz.tensor(a), dtype)
        check_lu(x)
        for mode in MODES:
            check_qr(x, mode)
        check_svd(x, True)
        check_svd(x, False)
        if shape[0] == shape[1]:
            check_eig(x)


@pytest.mark.parametrize("dtype", EVERY, ids=str)
def test_batches_and_layouts(dtype: sz.DType) -> None:
    for shape in [(5, 3), (2, 3, 4, 4), (2, 20, 18)]:
        for _, x in layouts(random(shape, dtype), dtype):
            check_lu(x)
            check_qr(x, "reduced")
            check_qr(x, "complete")
            check_svd(x, False)
            if shape[-1] == shape[-2]:
                check_eig(x)
            lu, ipiv = sz.lu(sz.contiguous(x))
            assert values(sz.lu(x)[0]).tolist() == values(lu).tolist()
            assert sz.lu(x)[1].tolist() == ipiv.tolist()


@pytest.mark.parametrize("dtype", EVERY, ids=str)
@pytest.mark.parametrize("upper", ["U", "L"])
def test_cholesky_reads_one_triangle(dtype: sz.DType, upper: str) -> None:
    for n in (6, 33):
        mat = values(sz.cast(sz.tensor(definite(n, dtype, 2.0)), dtype))
        mat = (np.triu(mat) + adjoint(np.triu(mat, 1))) if upper == "U" else mat
        mat = (np.tril(mat) + adjoint(np.tril(mat, -1))) if upper == "L" else mat
        # The other triangle, and the imaginary part of the diagonal, may be anything.
        noise = np.full((n, n), np.nan)
        other = np.tril(noise, -1) if upper == "U" else np.triu(noise, 1)
        dirty = np.where(np.isnan(other), np.nan, mat)
        for a in (mat, dirty, np.stack([dirty, mat, dirty])):
            for _, x in layouts(a, dtype):
                check_cholesky(x, upper, np.broadcast_to(mat, a.shape))


@pytest.mark.parametrize("dtype", NARROW, ids=str)
def test_narrow_dtypes_are_rounded_once(dtype: sz.DType) -> None:
    compute = sz.complex64 if dtype.kind == "complex" else sz.float32
    x = sz.cast(sz.tensor(random((6, 6), dtype)), dtype)
    y = sz.cast(x, compute)

    def same(found: sz.Tensor | None, wider: sz.Tensor | None) -> None:
        assert found is not None
        assert wider is not None
        np.testing.assert_array_equal(values(found), values(sz.cast(wider, found.dtype)))

    same(sz.lu(x)[0], sz.lu(y)[0])
    for found, wider in zip((*sz.qr(x), *sz.svd(x)), (*sz.qr(y), *sz.svd(y)), strict=True):
        same(found, wider)
    w, v = sz.eig(x)
    same(w, sz.eig(y)[0])
    same(v, sz.eig(y)[1])
    expected = sz.complex64 if dtype is sz.bfloat16 else sz.complex32
    assert w.dtype is expected


@pytest.mark.parametrize("name", ["lu", "qr", "svd", "eig", "cholesky"])
@pytest.mark.parametrize("dtype", [sz.int8, sz.uint64, sz.bool, sz.int4], ids=str)
def test_integers_become_the_default_float(name: str, dtype: sz.DType) -> None:
    x = sz.cast(sz.tensor([[1, 0], [1, 1]]), dtype)
    call: Any = getattr(sz, name)
    args = ("U", x) if name == "cholesky" else (x,)
    found = call(*args)
    first = found if isinstance(found, sz.Tensor) else found[0]
    assert first.dtype is (sz.complex64 if name == "eig" else sz.float32)
    # Their clauses list no TYPE_MISMATCH.
    with sz.promotion("strict"), pytest.raises(sz.InvalidArgument):
        call(*args)


def test_integers_are_rounded_to_the_default_float_first() -> None:
    x = sz.tensor([[2**24 + 1, 0], [0, 2**24 + 1]])
    assert sz.lu(x)[0].tolist() == [[2.0**24, 0], [0, 2.0**24]]
    with sz.promotion("numpy"):
        assert sz.lu(x)[0].tolist() == [[2**24 + 1, 0], [0, 2**24 + 1]]


def test_a_hermitian_matrix_has_real_eigenvalues_and_orthogonal_vectors() -> None:
    for dtype in OWN:
        a = definite(24, dtype, -0.5)
        a = a + adjoint(a)
        x = sz.cast(sz.tensor(a), dtype)
        check_eig(x)
        w, v = (values(y) for y in sz.eig(x))
        assert (w.imag == 0).all()
        assert_orthonormal(v, 100 * EPSILON[dtype], "eigenvectors")


@pytest.mark.parametrize("dtype", OWN, ids=str)
def test_defective_matrices_have_eigenvectors_still(dtype: sz.DType) -> None:
    for n in (2, 5, 24):
        jordan = np.eye(n) * 2 + np.eye(n, k=1)
        check_eig(sz.cast(sz.tensor(jordan), dtype))
        nilpotent = np.eye(n, k=1)
        check_eig(sz.cast(sz.tensor(nilpotent), dtype))
    rotation = sz.cast(sz.tensor([[0.0, -1], [1, 0]]), dtype)
    found = sorted(values(sz.eig(rotation)[0]), key=lambda z: z.imag)
    assert_small(np.array(found) - [-1j, 1j], 4 * EPSILON[dtype], "rotation")


@settings(max_examples=60)
@given(
    st.lists(st.integers(0, 3), max_size=2),
    st.integers(0, 19),
    st.integers(0, 19),
    st.sampled_from(OWN),
    st.integers(-30, 30),
    st.integers(0, 100),
)
def test_any_shape_and_scale(
    batch: list[int], m: int, n: int, dtype: sz.DType, power: int, seed: int
) -> None:
    a = random((*batch, m, n), dtype, seed) * 2.0**power
    x = sz.cast(sz.tensor(a), dtype)
    check_lu(x)
    check_qr(x, MODES[seed % 3])
    check_svd(x, bool(seed % 2))
    if m == n:
        check_eig(x)


@pytest.mark.parametrize("dtype", [sz.float32, sz.float64], ids=str)
def test_the_ends_of_the_range(dtype: sz.DType) -> None:
    limits = sz.finfo(dtype)
    for size in (float(limits.max) / 64, float(limits.smallest_normal) * 64):
        for n in (3, 20):
            scaled = random((n, n), dtype) / 8
            x = sz.cast(sz.tensor(scaled * size), dtype)
            for found, check in ((sz.qr(x)[1], np.triu), (sz.lu(x)[0], lambda y: y)):
                assert (values(found) == check(values(found))).all()
                assert np.isfinite(values(found)).all()
            s = np.diagonal(values(sz.svd(x)[1])) / size
            truth = np.linalg.svd(scaled, compute_uv=False)
            assert_small(s - truth, 2000 * EPSILON[dtype], "svd")
            w = values(sz.eig(x)[0]) / size
            assert np.isfinite(w).all()


def test_what_goes_beyond_the_range_is_said() -> None:
    huge = sz.full(shape=(20, 20), value=1.7e308, dtype=sz.float64)
    two = sz.stack([huge[:2, :2], huge[:2, :2]], 0)
    for call in (
        lambda: sz.qr(huge),
        lambda: sz.qr(sz.stack([huge[:2], huge[:2]], 0)),
        lambda: sz.svd(huge),
        lambda: sz.svd(two),
        lambda: sz.eig(huge),
        lambda: sz.eig(two),
    ):
        with pytest.raises(sz.InvalidArgument, match="exceeds the range of float64"):
            call()
