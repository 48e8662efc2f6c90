"""The linear algebra extension against NumPy in float64 and complex128."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import suanzi as sz
from helpers.arrays import EVERY, FLOATING, NARROW, Array, close, exact, made
from helpers.numpys import needs_numpy_2
from suanzi.base.status import DimensionsMismatch, InvalidArgument, OutOfRange, TypeMismatch

xp = sz.array_api
linalg = xp.linalg
LAYOUTS = ("rows", "transposed", "strided")


def matrices(dt: sz.DType, *shape: int, layout: str = "rows") -> sz.Tensor:
    """Return matrices of small numbers that are far from singular."""
    x = made(dt, shape, layout=layout)
    n = min(shape[-2:])
    for i in range(n):
        x[..., i, i] = 6 + i
    return x


def near(x: sz.Tensor, true: Any, factor: float = 30.0) -> bool:
    """Tell whether a result is near, relative to its largest element."""
    wanted = np.asarray(true)
    return close(x, wanted, factor, np.abs(wanted).max(initial=1.0))


def adjoint(a: Array) -> Array:
    return a.conj().swapaxes(-1, -2)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dt", FLOATING, ids=str)
def test_equations_and_determinants(dt: sz.DType, layout: str) -> None:
    x = matrices(dt, 2, 3, 3, layout=layout)
    a = exact(x)
    sign, size = linalg.slogdet(x)
    with np.errstate(all="ignore"):  # of complex numbers, NumPy warns of nothing
        assert close(linalg.det(x), np.linalg.det(a), 30, np.abs(a).max() ** 3)
        true = np.linalg.slogdet(a)
    assert sign.dtype is dt
    assert size.dtype is sz.dtypes.part(dt)
    assert near(sign, true.sign)
    assert near(size, true.logabsdet)
    assert near(linalg.inv(x), np.linalg.inv(a))
    sides, one = made(dt, (2, 3, 2), 2), made(dt, (3,), 3)
    assert near(linalg.solve(x, sides), np.linalg.solve(a, exact(sides)))
    # One right-hand side of one axis is for all matrices.
    lone = np.linalg.solve(a, exact(one)[None, :, None])[..., 0]
    assert near(linalg.solve(x, one), lone)
    assert linalg.inv(x).dtype is linalg.solve(x, one).dtype is dt


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dt", FLOATING, ids=str)
def test_decompositions(dt: sz.DType, layout: str) -> None:
    x = matrices(dt, 2, 4, 3, layout=layout)
    a = exact(x)
    size = np.abs(a).max()
    room = 40 * max(sz.finfo(dt).eps, 2.0**-23 if dt in NARROW else 0) * size * 4
    for full in (True, False):
        u, s, vh = linalg.svd(x, full_matrices=full)
        assert (u.shape, s.shape, vh.shape) == ((2, 4, 4 if full else 3), (2, 3), (2, 3, 3))
        assert (u.dtype, s.dtype) == (dt, sz.dtypes.part(dt))
        back = exact(u)[..., :3] * exact(s)[:, None] @ exact(vh)
        assert np.abs(back - a).max() <= room
    assert near(linalg.svdvals(x), np.linalg.svd(a, compute_uv=False))
    assert near(linalg.svdvals(xp.matrix_transpose(x)), np.linalg.svd(a, compute_uv=False))
    for mode, k in (("reduced", 3), ("complete", 4)):
        q, r = linalg.qr(x, mode=mode)
        assert (q.shape, r.shape) == ((2, 4, k), (2, k, 3))
        assert np.abs(exact(q) @ exact(r) - a).max() <= room
    assert near(linalg.pinv(x), np.linalg.pinv(a))
    assert linalg.matrix_rank(x).tolist() == [3, 3]


@pytest.mark.parametrize("dt", FLOATING, ids=str)
def test_hermitian_matrices(dt: sz.DType) -> None:
    x = matrices(dt, 2, 4, 4, layout="strided")
    a = np.tril(exact(x))
    whole = a + adjoint(np.tril(a, -1))
    for i in range(4):
        whole[..., i, i] = whole[..., i, i].real
    values, vectors = linalg.eigh(x)  # the upper triangle is never read
    assert values.dtype is sz.dtypes.part(dt)
    assert vectors.dtype is dt
    assert near(values, np.linalg.eigvalsh(whole))
    assert near(linalg.eigvalsh(x), np.linalg.eigvalsh(whole))
    v, w = exact(vectors), exact(values)
    assert np.abs(whole @ v - v * w[:, None]).max() <= 200 * sz.finfo(dt).eps * np.abs(w).max()
    definite = sz.cast(sz.tensor(a + 20 * np.eye(4)), dt)
    lower = np.linalg.cholesky(whole + 20 * np.eye(4))
    assert near(linalg.cholesky(definite), lower)
    assert near(linalg.cholesky(xp.matrix_transpose(definite), upper=True), lower.swapaxes(1, 2))


@pytest.mark.parametrize("dt", FLOATING, ids=str)
def test_eigenvalues(dt: sz.DType) -> None:
    x = matrices(dt, 2, 3, 3)
    a = exact(x)
    values, vectors = linalg.eig(x)
    assert values.dtype is vectors.dtype
    assert values.dtype.is_complex
    v, w = exact(vectors), exact(values)
    eps = sz.finfo(values.dtype).eps
    assert np.abs(a @ v - v * w[:, None]).max() <= 200 * eps * np.abs(w).max()
    assert np.array_equal(np.sort(exact(linalg.eigvals(x))), np.sort(w))


@pytest.mark.parametrize(
    ("dt", "power"), [(sz.float64, -900), (sz.float64, 900), (sz.float32, -100), (sz.float32, 100)]
)
def test_eigenvalues_of_large_and_small_numbers(dt: sz.DType, power: int) -> None:
    a = np.round(np.random.default_rng(2).standard_normal((4, 4)) * 64)
    x = sz.cast(sz.tensor(np.ldexp(a, power)), dt)
    scaled = linalg.eigvals(x).numpy().astype(np.complex128) * 2.0**-power
    found, true = np.sort_complex(scaled), np.sort_complex(np.linalg.eigvals(a))
    assert np.abs(found - true).max() <= 200 * sz.finfo(dt).eps * np.abs(true).max()


@pytest.mark.parametrize("n", [-3, -1, 0, 1, 2, 5])
@pytest.mark.parametrize("dt", FLOATING, ids=str)
def test_matrix_power(dt: sz.DType, n: int) -> None:
    x = matrices(dt, 2, 2, 2)
    got = linalg.matrix_power(x, n)
    assert got.dtype is dt
    assert near(got, np.linalg.matrix_power(exact(x), n))


@pytest.mark.parametrize("dt", FLOATING, ids=str)
@needs_numpy_2
def test_norms(dt: sz.DType) -> None:
    x = made(dt, (2, 4, 3), layout="transposed")
    a = exact(x)
    for ord in ("fro", "nuc", 1, -1, 2, -2, math.inf, -math.inf):
        for keepdims in (False, True):
            got = linalg.matrix_norm(x, ord=ord, keepdims=keepdims)
            assert got.dtype is sz.dtypes.part(dt)
            assert near(got, np.linalg.norm(a, ord, (1, 2), keepdims), 4)  # type: ignore[arg-type]
    x[...] = sz.cast(sz.tensor(np.where(a == 0, 1, a)), dt)
    a = exact(x)
    for ord in (0, 1, 2, 3, 0.5, -1, -2, -0.5, math.inf, -math.inf):
        for axis in (None, 1, -1, (0, 2)):
            got = linalg.vector_norm(x, axis=axis, keepdims=True, ord=ord)
            true = np.linalg.vector_norm(a, axis=axis, keepdims=True, ord=ord)  # type: ignore[attr-defined]
            assert close(got, true, 4), (ord, axis)


def test_norms_of_large_and_small_numbers() -> None:
    x = sz.tensor([3e200, 4e200], sz.float64)
    assert linalg.vector_norm(x).item() == pytest.approx(5e200)
    assert linalg.vector_norm(sz.tensor([3e-30, 4e-30])).item() == pytest.approx(5e-30)
    y = sz.tensor([300.0] * 4, sz.float16)  # whose squares overflow
    assert linalg.vector_norm(y).item() == 600


@pytest.mark.parametrize("scale", [1e-300, 1e-310, 4e307, 1.0])
def test_determinants_of_large_and_small_numbers(scale: float) -> None:
    a = np.array([[2.0, 1, 0], [1, 3, 1], [0, 1, 4]])
    sign, size = linalg.slogdet(sz.tensor(a * scale, sz.float64))
    assert sign.item() == 1
    assert size.item() == pytest.approx(math.log(18) + 3 * math.log(scale), rel=1e-12)
    # The product of the pivots is in range, and the products on the way are not.
    d = np.diag([1e200, 1e200, 1e-200, 1e-200])
    assert linalg.det(sz.tensor(d, sz.float64)).item() == pytest.approx(1)


def test_a_determinant_of_zero_and_of_nan() -> None:
    zero = sz.tensor([[1.0, 2], [2, 4]], sz.bfloat16)
    sign, size = linalg.slogdet(zero)
    assert (linalg.det(zero).item(), sign.item(), size.item()) == (0, 0, -math.inf)
    assert math.isnan(linalg.det(sz.tensor([[math.nan, 0], [0, 1]])).item())
    assert linalg.det(sz.tensor([[0.0, 1], [1, 0]])).item() == -1
    empty = linalg.slogdet(sz.zeros((2, 0, 0)))
    assert (empty.sign.tolist(), empty.logabsdet.tolist()) == ([1, 1], [0, 0])
    assert linalg.det(sz.zeros((2, 0, 0))).tolist() == [1, 1]


@pytest.mark.parametrize("dt", [d for d in EVERY if d is not sz.bool], ids=str)
def test_vectors_and_diagonals(dt: sz.DType) -> None:
    x = made(dt, (2, 3, 4), layout="strided")
    a = exact(x)
    for offset in (-5, -1, 0, 2, 4):
        got = linalg.diagonal(x, offset=offset)
        assert got.dtype is dt
        assert np.array_equal(exact(got), np.diagonal(a, offset, 1, 2))
        total = linalg.trace(x, offset=offset)
        assert np.array_equal(exact(total), exact(xp.sum(got, axis=-1)))

    def rounded(true: Array) -> list[Any]:
        return exact(sz.cast(sz.tensor(true), dt)).tolist()  # type: ignore[no-any-return]

    u, v = made(dt, (2, 1, 3), 1), made(dt, (4, 3), 2)
    assert exact(linalg.cross(u, v)).tolist() == rounded(np.cross(exact(u), exact(v)))
    turned = xp.matrix_transpose(v)
    assert exact(linalg.cross(turned, turned[:, ::-1], axis=-2)).tolist() == rounded(
        np.cross(exact(turned), exact(turned)[:, ::-1], axis=0)
    )
    assert exact(linalg.outer(v[0], v[:, 0])).tolist() == rounded(
        np.outer(exact(v)[0], exact(v)[:, 0])
    )
    true = (exact(u).conj() * exact(v)).sum(-1)
    assert exact(linalg.vecdot(u, v)).tolist() == rounded(true)
    turned = xp.matrix_transpose(x)
    assert exact(linalg.matmul(x, turned)).tolist() == rounded(a @ a.swapaxes(1, 2))
    dot = linalg.tensordot(x, x, axes=((0, 1), (0, 1)))
    assert exact(dot).tolist() == rounded(np.tensordot(a, a, ((0, 1), (0, 1))))
    assert linalg.tensordot(x, v, axes=0).shape == (2, 3, 4, 4, 3)


def test_a_diagonal_is_a_view() -> None:
    x = sz.zeros((3, 3))
    linalg.diagonal(x, offset=1)[...] = 5
    assert x.tolist() == [[0, 5, 0], [0, 0, 5], [0, 0, 0]]


def test_tolerances() -> None:
    x = sz.tensor([[[1.0, 0], [0, 1e-3]], [[1, 0], [0, 0]]], sz.float64)
    assert linalg.matrix_rank(x).tolist() == [2, 1]
    assert linalg.matrix_rank(x, rtol=1e-2).tolist() == [1, 1]
    assert linalg.matrix_rank(x, rtol=sz.tensor([1e-4, 1e-2], sz.float64)).tolist() == [2, 1]
    assert linalg.pinv(x, rtol=1e-2).tolist() == [[[1, 0], [0, 0]]] * 2
    assert linalg.pinv(x)[0].tolist() == pytest.approx(np.array([[1, 0], [0, 1000.0]]))
    # What bfloat16 cannot tell from 0 counts as 0.
    assert linalg.matrix_rank(sz.cast(x, sz.bfloat16)).tolist() == [1, 1]


@pytest.mark.parametrize("shape", [(0, 0), (2, 0, 0), (0, 3, 3), (0, 2)])
def test_of_nothing(shape: tuple[int, ...]) -> None:
    x = sz.cast(sz.zeros(shape), sz.bfloat16)
    k = min(shape[-2:])
    assert linalg.svdvals(x).shape == (*shape[:-2], k)
    assert linalg.pinv(x).shape == (*shape[:-2], shape[-1], shape[-2])
    assert linalg.matrix_norm(x).shape == shape[:-2]
    assert linalg.matrix_rank(x).shape == shape[:-2]
    if shape[-1] == shape[-2]:
        for function in (linalg.inv, linalg.cholesky):
            assert function(x).shape == shape
        assert linalg.eigh(x).eigenvectors.shape == linalg.matrix_power(x, 3).shape == shape


def test_integers_become_floats() -> None:
    x = sz.tensor([[2, 0], [0, 4]], sz.int8)
    assert linalg.inv(x).tolist() == [[0.5, 0], [0, 0.25]]
    assert linalg.det(x).dtype is sz.float32
    assert linalg.matrix_power(x, 3).dtype is sz.int8
    assert linalg.det(sz.cast(x, sz.int64)).dtype is sz.float64


def test_rules_in_force_have_no_say() -> None:
    x = sz.tensor([[2.0, 0], [0, 4]], sz.bfloat16)
    with sz.promotion("numpy"):
        assert linalg.inv(x).dtype is linalg.solve(x, x).dtype is sz.bfloat16
        # What the core leaves to Python, too.
        assert linalg.eig(x * 1e30).eigenvalues.dtype is sz.complex64


def test_refusals_name_the_function_and_the_argument() -> None:
    square, nan = sz.zeros((2, 2)), sz.tensor([[math.nan, 0], [0, 1]])
    for function in (linalg.eigh, linalg.eigvalsh, linalg.svdvals):
        with pytest.raises(InvalidArgument, match=f"{function.__name__}: .*NaN or an infinity"):
            function(nan)
    with pytest.raises(DimensionsMismatch, match=r"det: x has shape \(2, 3\)"):
        linalg.det(sz.zeros((2, 3)))
    with pytest.raises(DimensionsMismatch, match="svd: x has shape"):
        linalg.svd(sz.zeros((2,)))
    with pytest.raises(InvalidArgument, match="inv: x is singular"):
        linalg.inv(square)
    with pytest.raises(InvalidArgument, match="cholesky: x is not positive definite"):
        linalg.cholesky(square)
    for function in (linalg.svd, linalg.qr, linalg.eig, linalg.eigvals):
        with pytest.raises(InvalidArgument, match=f"^{function.__name__}: x contains NaN"):
            function(nan)
    with pytest.raises(InvalidArgument, match="^solve: x1 is singular"):
        linalg.solve(square, square)
    with pytest.raises(InvalidArgument, match="^solve: x2 contains NaN"):
        linalg.solve(square + xp.eye(2), nan)
    with pytest.raises(InvalidArgument, match="qr: mode is 'r'"):
        linalg.qr(square, mode="r")
    with pytest.raises(InvalidArgument, match="matrix_norm: ord is 3"):
        linalg.matrix_norm(square, ord=3)
    with pytest.raises(OutOfRange, match="cross: axis is 3"):
        linalg.cross(square, square, axis=3)
    with pytest.raises(DimensionsMismatch, match="cross: .* both must have 3 elements"):
        linalg.cross(square, square)
    with pytest.raises(DimensionsMismatch, match="matmul: x1 has shape"):
        linalg.matmul(square, sz.zeros((3, 2)))
    with pytest.raises(TypeMismatch, match="vecdot: x1 is bool"):
        linalg.vecdot(sz.zeros((2,), sz.bool), sz.zeros((2,)))
    with pytest.raises(DimensionsMismatch, match="solve: .* x2 must have 2 rows"):
        linalg.solve(square, sz.zeros((3, 1)))


@pytest.mark.parametrize("shape", [(5000, 2), (2, 20_000)])
def test_singular_values_of_long_matrices(shape: tuple[int, ...]) -> None:
    """They were said not to converge."""
    x = np.linspace(-1, 2, shape[0] * shape[1]).reshape(shape)
    expected = np.linalg.svd(x, compute_uv=False)
    given = xp.asarray(x)
    np.testing.assert_allclose(xp.linalg.svdvals(given).numpy(), expected, rtol=1e-12)
    np.testing.assert_allclose(xp.linalg.matrix_norm(given, ord=2).item(), expected[0], rtol=1e-12)
    assert xp.linalg.matrix_rank(given).item() == 2
    with pytest.raises(sz.InvalidArgument, match="svdvals: x contains NaN"):
        xp.linalg.svdvals(xp.asarray(np.full(shape, np.nan)))
