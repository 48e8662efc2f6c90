"""7.2.17.3 to .5, .7, .9: factors, solve and inverse of matrices that are shared among threads."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import suanzi as sz
from helpers.matrices import OWN, random
from suanzi.promote.registry import COMPLEX


def sample(shape: tuple[int, ...], dt: sz.DType) -> Any:
    return random(shape, dt).astype(str(dt))


def multiplied(lu: sz.Tensor, ipiv: sz.Tensor) -> Any:
    """Return P L U in complex128."""
    both = lu.numpy().astype(complex)
    rows, columns = both.shape
    rank = min(rows, columns)
    lower = np.tril(both, -1)[:, :rank] + np.eye(rows, rank)
    made = lower @ np.triu(both)[:rank]
    for i, other in reversed(list(enumerate(ipiv.tolist()))):
        made[[i, other]] = made[[other, i]]
    return made


@pytest.mark.parametrize("shape", [(129, 129), (220, 220), (130, 300), (300, 140)], ids=str)
@pytest.mark.parametrize("dt", OWN, ids=str)
def test_the_factors_are_those_of_the_matrix(dt: sz.DType, shape: tuple[int, int]) -> None:
    array = sample(shape, dt)
    lu, ipiv = sz.lu(sz.tensor(array))
    error = np.abs(multiplied(lu, ipiv) - array).max()
    assert error <= 4 * max(shape) * np.finfo(array.dtype).eps
    # The pivots are the largest there are; of complex numbers by the sum of their parts.
    assert np.abs(np.tril(lu.numpy(), -1)).max() <= (1.4143 if dt in COMPLEX else 1)


@pytest.mark.parametrize("dt", OWN, ids=str)
def test_threads_and_batches_have_no_say(dt: sz.DType) -> None:
    array = np.stack(
        [sample((200, 200), dt), sample((200, 200), dt)[::-1], sample((200, 200), dt).T]
    )
    mats, sides = sz.tensor(array), sz.tensor(array[..., :70].copy())
    found = []
    for threads in (1, 3, 7):
        sz.set_num_threads(threads)
        lu, ipiv = sz.lu(mats)
        results = (
            lu,
            ipiv,
            *sz.qr(mats),
            sz.inverse(mats),
            sz.solve(mats, sides, True),
            sz.solve(mats, sides, False),
        )
        found.append([t.numpy().tobytes() for t in results])
        for i in range(3):
            lu, ipiv = sz.lu(mats[i])
            alone = (
                lu,
                ipiv,
                *sz.qr(mats[i]),
                sz.inverse(mats[i]),
                sz.solve(mats[i], sides[i], True),
                sz.solve(mats[i], sides[i], False),
            )
            for one, all_ in zip(alone, results, strict=True):
                assert one.numpy().tobytes() == all_[i].numpy().tobytes()
    assert found[0] == found[1] == found[2]


@pytest.mark.parametrize("dt", OWN, ids=str)
def test_equations_and_inverses(dt: sz.DType) -> None:
    n = 190
    array = sample((n, n), dt) + n**0.5 * np.eye(n, dtype=str(dt))
    x = sample((n, 40), dt)
    inverse = sz.inverse(sz.tensor(array)).numpy()
    condition = np.abs(inverse).sum(1).max() * np.abs(array).sum(1).max()
    bound = 10 * condition * np.finfo(array.dtype).eps
    for adjoint in (False, True):
        sides = (array.conj().T if adjoint else array) @ x
        found = sz.solve(sz.tensor(array), sz.tensor(sides), adjoint).numpy()
        assert np.abs(found - x).max() <= bound * np.abs(x).max()
    assert np.abs(inverse @ array - np.eye(n)).max() <= bound
    assert np.abs(array @ inverse - np.eye(n)).max() <= bound


@pytest.mark.parametrize("zeros", [(0,), (47, 48), (100, 199)], ids=str)
def test_columns_of_zeros(zeros: tuple[int, ...]) -> None:
    array = sample((200, 200), sz.float64)
    array[:, zeros] = 0
    mat = sz.tensor(array)
    lu, ipiv = sz.lu(mat)
    assert np.abs(multiplied(lu, ipiv) - array).max() <= 1e-12
    assert all(lu[i, i].item() == 0 for i in zeros)
    for call in (lambda: sz.inverse(mat), lambda: sz.solve(mat, mat, False)):
        with pytest.raises(sz.InvalidArgument, match="singular"):
            call()


def test_rows_of_very_different_scale() -> None:
    array = sample((200, 200), sz.float32)
    scale = np.float32(2) ** np.linspace(-60, 60, 200).round().astype(np.float32)
    inverse = sz.inverse(sz.tensor(array * scale)).numpy()
    wanted = np.linalg.inv(array.astype(float)) / scale[:, None].astype(float)
    assert np.abs((inverse - wanted) / np.abs(wanted).max(1, keepdims=True)).max() <= 1e-3


@pytest.mark.parametrize(
    "shape", [(25, 25), (32, 33), (33, 32), (49, 49), (65, 26), (200, 26), (26, 200)], ids=str
)
@pytest.mark.parametrize("dt", [sz.float32, sz.float64], ids=str)
def test_sizes_around_those_of_panels(dt: sz.DType, shape: tuple[int, int]) -> None:
    array, eps = sample(shape, dt), np.finfo(str(dt)).eps
    lu, ipiv = sz.lu(sz.tensor(array))
    assert np.abs(multiplied(lu, ipiv) - array).max() <= 4 * max(shape) * eps
    for mode in ("reduced", "complete"):
        q, r = (t.numpy().astype(float) for t in sz.qr(sz.tensor(array), mode))
        assert np.abs(q @ r - array).max() <= 4 * max(shape) * eps
        assert np.abs(q.T @ q - np.eye(q.shape[1])).max() <= 4 * max(shape) * eps
        assert not np.tril(r, -1).any()
    if shape[0] == shape[1]:
        inverse = sz.inverse(sz.tensor(array)).numpy().astype(float)
        bound = 10 * shape[0] * np.linalg.cond(array.astype(float)) * eps
        assert np.abs(inverse @ array - np.eye(shape[0])).max() <= bound


@pytest.mark.parametrize("dt", [sz.float32, sz.float64], ids=str)
def test_qr_of_columns_whose_squares_are_out_of_range(dt: sz.DType) -> None:
    """Squares underflow, overflow, or are of zeros: each column is as accurate as by itself."""
    array, info = sample((60, 60), dt), np.finfo(str(dt))
    scale = np.ones(60, str(dt))
    scale[3], scale[20], scale[40] = info.tiny * 16, info.max / 4096, 0
    for columns in ((3,), (20,), (40,), (3, 20, 40)):
        some = np.ones_like(scale)
        some[list(columns)] = scale[list(columns)]
        q, r = (t.numpy().astype(np.longdouble) for t in sz.qr(sz.tensor(array * some)))
        error = np.abs(q @ r - array * some).max(0) / np.where(some == 0, 1, some)
        assert error.max() <= 240 * info.eps
        assert np.abs(q.T @ q - np.eye(60)).max() <= 240 * info.eps


def test_a_large_matrix_is_factorised_by_halves() -> None:
    array = sample((1040, 1040), sz.float32)
    found = []
    for threads in (1, 4):
        sz.set_num_threads(threads)
        lu, ipiv = sz.lu(sz.tensor(array))
        found.append((lu.numpy().tobytes(), ipiv.numpy().tobytes()))
    assert found[0] == found[1]
    assert np.abs(multiplied(lu, ipiv) - array).max() <= 4000 * np.finfo(np.float32).eps


def definite(n: int, dt: sz.DType) -> Any:
    array = sample((n, n), dt).astype(float)
    return (array @ array.T + n**0.5 * np.eye(n)).astype(str(dt))


@pytest.mark.parametrize("n", [25, 32, 33, 48, 65, 200, 257, 1040])
@pytest.mark.parametrize("dt", [sz.float32, sz.float64], ids=str)
def test_cholesky_by_blocks_of_one_triangle(dt: sz.DType, n: int) -> None:
    array, eps = definite(n, dt), np.finfo(str(dt)).eps
    for upper in (False, True):
        other = np.tril_indices(n, -1) if upper else np.triu_indices(n, 1)
        given = array.copy()
        given[other] = np.nan
        found = []
        for threads in (1, 3, 7) if n in (200, 1040) else (1,):
            sz.set_num_threads(threads)
            factor = sz.cholesky("U" if upper else "L", sz.tensor(given)).numpy()
            found.append(factor.tobytes())
        assert len(set(found)) == 1
        assert not factor[other].any()
        lower = (factor.T if upper else factor).astype(float)
        assert np.abs(lower @ lower.T - array).max() <= (n + 1) * eps * array.diagonal().max()


@pytest.mark.parametrize("upper", ["L", "U"])
def test_cholesky_names_the_first_minor_on_any_thread(upper: str) -> None:
    for at in (0, 31, 32, 100, 255):
        array = definite(256, sz.float64)
        array[at, at] = -1 if at else 0
        array[200, 200] = -1
        for threads in (1, 5):
            sz.set_num_threads(threads)
            with pytest.raises(sz.InvalidArgument, match=f"order {min(at, 200) + 1}"):
                sz.cholesky(upper, sz.tensor(array))
    array[0, 0] = 1
    for bad in (np.nan, np.inf):
        array[150, 40] = array[40, 150] = bad
        with pytest.raises(sz.InvalidArgument, match="finite|NaN"):
            sz.cholesky(upper, sz.tensor(array))


@pytest.mark.parametrize("dt", [sz.float32, sz.float64], ids=str)
def test_cholesky_at_the_ends_of_the_range(dt: sz.DType) -> None:
    array, info = definite(100, dt), np.finfo(str(dt))
    for power in (info.minexp + 20, info.maxexp - 20):
        scale = np.ldexp(np.ones((), str(dt)), power)
        lower = sz.cholesky("L", sz.tensor(array * scale)).numpy().astype(np.longdouble)
        error = np.abs(lower @ lower.T / np.longdouble(scale) - array).max()
        assert error <= 101 * info.eps * array.diagonal().max()
