"""7.2.17.3 to .9: small real matrices, side by side, and those that LAPACK takes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.linalg import blas

import suanzi as sz
from helpers.functions import same_bits, threads

Array = np.ndarray[Any, Any]
REAL = ["float32", "float64"]
COUNTS = [1, 2, 3, 4, 5, 8, 9, 17, 33]
CALLS: dict[str, Any] = {
    "lu": lambda a, b: sz.lu(a),
    "cholesky U": lambda a, b: [sz.cholesky("U", spd(a))],
    "cholesky L": lambda a, b: [sz.cholesky("L", spd(a))],
    "qr": lambda a, b: sz.qr(a),
    "solve": lambda a, b: [sz.solve(a, b, False)],
    "inverse": lambda a, b: [sz.inverse(a)],
}


def matrices(count: int, n: int, dtype: str, m: int | None = None) -> Array:
    rng = np.random.default_rng(100 * count + n)
    return rng.standard_normal((count, n if m is None else m, n)).astype(dtype)


def spd(a: sz.Tensor) -> sz.Tensor:
    x = a.numpy()
    return sz.tensor(x @ x.swapaxes(-1, -2) + 2 * np.eye(x.shape[-1], dtype=x.dtype))


def wide(x: Any) -> Array:
    return np.asarray(x.numpy() if isinstance(x, sz.Tensor) else x, np.longdouble)


@pytest.mark.parametrize("dtype", REAL)
@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 7, 8, 13, 16, 17])
def test_each_has_the_bits_that_it_has_alone(n: int, dtype: str) -> None:
    a, b = matrices(19, n, dtype), matrices(19, n, dtype)[..., : min(n, 3)]
    for name, call in CALLS.items():
        together = call(sz.tensor(a), sz.tensor(b))
        for i in (0, 4, 15, 16, 18):
            alone = call(sz.tensor(a[i]), sz.tensor(b[i]))
            for x, y in zip(together, alone, strict=True):
                assert same_bits(x.numpy()[i], y.numpy()), name


@pytest.mark.parametrize("dtype", REAL)
@pytest.mark.parametrize("count", COUNTS)
def test_layouts_batches_and_threads_change_nothing(count: int, dtype: str) -> None:
    a, b = matrices(count, 6, dtype), matrices(count, 6, dtype)[..., :2].copy()
    turned = sz.tensor(a.swapaxes(1, 2).copy()).transpose(0, 2, 1)
    strided = sz.tensor(np.repeat(b, 2, axis=1))[:, ::2]
    for name, call in CALLS.items():
        expected = [x.numpy() for x in call(sz.tensor(a), sz.tensor(b))]
        for found in (call(turned, strided), call(sz.tensor(a[:, None]), sz.tensor(b[:, None]))):
            for x, y in zip(found, expected, strict=True):
                assert same_bits(x.numpy().reshape(y.shape), y), name
    many = np.tile(a, (200, 1, 1))
    with threads(1):
        one = sz.inverse(sz.tensor(many)).numpy()
    with threads(2):
        assert same_bits(sz.inverse(sz.tensor(many)).numpy(), one)
    assert same_bits(one[-count:], sz.inverse(sz.tensor(a)).numpy())


@pytest.mark.parametrize("dtype", REAL)
@pytest.mark.parametrize("n", range(1, 18))
def test_small_residuals(n: int, dtype: str) -> None:
    eps = np.finfo(dtype).eps
    a, b = matrices(5, n, dtype), matrices(5, n, dtype)[::-1, :, :2].copy()
    x, y = sz.tensor(a), wide(a)
    solved = wide(sz.solve(x, sz.tensor(b), False))
    sizes = np.abs(y) @ np.abs(solved) + np.abs(wide(b))
    assert (np.abs(y @ solved - wide(b)) <= 4 * n * eps * n * sizes).all()
    inverse = wide(sz.inverse(x))
    assert (
        np.abs(y @ inverse - np.eye(n)) <= 4 * n * n * eps * (np.abs(y) @ np.abs(inverse))
    ).all()
    for upper in "LU":
        factor, whole = wide(sz.cholesky(upper, spd(x))), wide(spd(x))
        lower = factor if upper == "L" else factor.swapaxes(1, 2)
        assert (np.triu(lower, 1) == 0).all()
        error = np.abs(lower @ lower.swapaxes(1, 2) - whole)
        assert (error <= (n + 2) * eps * (np.abs(lower) @ np.abs(lower).swapaxes(1, 2))).all()


def odd_ones(n: int, dtype: str) -> dict[str, Array]:
    """Return matrices of sizes and conditions that need care, but are not singular."""
    limits = np.finfo(dtype)
    a = matrices(1, n, dtype)[0] + n * np.eye(n, dtype=dtype)
    scaled = a * np.float64(2.0) ** np.linspace(-60, 60, n)[:, None].round()
    return {
        "tiny": a * (limits.tiny * 16),
        "subnormal": np.eye(n, dtype=dtype) * limits.smallest_subnormal,
        "huge": a * (limits.max / (64 * n)),
        "rows of other scales": scaled.astype(dtype),
        "ill-conditioned": (np.tril(np.ones((n, n))) + 100 * np.eye(n, k=1)).astype(dtype),
    }


@pytest.mark.parametrize("dtype", REAL)
@pytest.mark.parametrize("kind", list(odd_ones(5, "float32")))
def test_one_that_needs_care_changes_no_other(kind: str, dtype: str) -> None:
    good = matrices(9, 5, dtype)
    odd = odd_ones(5, dtype)[kind]
    mixed = good.copy()
    mixed[3] = odd
    b = np.ones((9, 5, 1), dtype)
    for name in ("lu", "qr", "solve", "inverse"):
        try:
            alone = CALLS[name](sz.tensor(odd), sz.tensor(b[0]))
        except sz.StatusError as error:
            with pytest.raises(type(error)):
                CALLS[name](sz.tensor(mixed), sz.tensor(b))
            continue
        made, others = (
            CALLS[name](sz.tensor(mixed), sz.tensor(b)),
            CALLS[name](sz.tensor(good), sz.tensor(b)),
        )
        for x, y, z in zip(made, others, alone, strict=True):
            assert same_bits(np.delete(x.numpy(), 3, 0), np.delete(y.numpy(), 3, 0)), name
            assert same_bits(x.numpy()[3], z.numpy()), name


@pytest.mark.parametrize("dtype", REAL)
@pytest.mark.parametrize("kind", list(odd_ones(5, "float32")))
def test_those_that_need_care_are_right(kind: str, dtype: str) -> None:
    a, eps = odd_ones(5, dtype)[kind], np.finfo(dtype).eps
    if kind == "tiny" and dtype == "float64" and blas.dnrm2(a[0]) == 0:
        pytest.skip("the BLAS of this SciPy takes the norm of small numbers for 0")
    q, r = sz.qr(sz.tensor(a))
    assert q is not None
    assert np.abs(wide(q).T @ wide(q) - np.eye(5)).max() <= 40 * eps
    sums, least = np.abs(wide(a)).sum(axis=0), np.finfo(dtype).smallest_subnormal
    assert (np.abs(wide(q) @ wide(r) - wide(a)) <= 40 * eps * sums + 5 * least).all()
    if kind == "subnormal":
        return
    x = wide(sz.solve(sz.tensor(a), sz.tensor(a[:, :1]), False))
    unit = np.eye(5)[:, :1]
    assert np.abs(x - unit).max() <= 200 * eps * (1e4 if kind == "ill-conditioned" else 1)


@pytest.mark.parametrize("dtype", REAL)
@pytest.mark.parametrize("n", [1, 2, 4, 5, 16])
def test_singular_ones(n: int, dtype: str) -> None:
    a, b = matrices(7, n, dtype), np.ones((7, n, 1), dtype)
    a[5] = np.ones((n, n)) if n > 1 else 0
    for name in ("solve", "inverse"):
        with pytest.raises(sz.InvalidArgument, match=r"mat at \[5\] is singular"):
            CALLS[name](sz.tensor(a), sz.tensor(b))
    with pytest.raises(sz.InvalidArgument, match=r"mat at \[5\] is not positive definite"):
        sz.cholesky(
            "L", sz.tensor(np.where(np.arange(7)[:, None, None] == 5, a, np.eye(n, dtype=dtype)))
        )
    packed, ipiv = sz.lu(sz.tensor(np.zeros((3, n, n), dtype)))
    assert not packed.numpy().any()
    assert (ipiv.numpy() == np.arange(n)).all()
    q, r = sz.qr(sz.tensor(np.zeros((3, n, n), dtype)))
    assert q is not None
    assert same_bits(q.numpy(), np.tile(np.eye(n, dtype=dtype), (3, 1, 1)))
    assert not r.numpy().any()


@pytest.mark.parametrize("scale", [1, 2**8])
@pytest.mark.parametrize("dtype", REAL)
def test_singular_ones_whose_pivots_are_all_large(dtype: str, scale: int) -> None:
    """Each is a sixteenth of its row, and together they make the inverse too large."""
    n = 8 if dtype == "float32" else 16
    least = np.finfo(dtype).tiny
    a = np.eye(n, dtype=dtype) / 16 + np.eye(n, k=1, dtype=dtype)
    x = sz.tensor(a * (scale * least if scale > 1 else 1))
    for name in ("solve", "inverse"):
        with pytest.raises(sz.InvalidArgument, match="mat is singular to the precision"):
            CALLS[name](x, sz.tensor(np.full((n, 1), least, dtype)))


@pytest.mark.parametrize("dtype", REAL)
def test_a_column_that_begins_with_nothing_is_reflected_down(dtype: str) -> None:
    q, r = sz.qr(sz.tensor(np.array([[0, 1], [1, 0]], dtype)))
    assert q is not None
    assert (r.numpy().diagonal() == -1).all()
    assert same_bits(q.numpy(), np.array([[0, -1], [-1, 0]], dtype))


@pytest.mark.parametrize("dtype", REAL)
def test_what_overflows_is_refused(dtype: str) -> None:
    limits = np.finfo(dtype)
    a = np.tile(np.eye(2, dtype=dtype), (3, 1, 1))
    a[1] *= limits.tiny * 2
    a[1] /= limits.eps
    with pytest.raises(sz.InvalidArgument, match="exceeds the range of float"):
        sz.solve(sz.tensor(a), sz.tensor(np.full((3, 2, 1), limits.max, dtype)), False)
    m = np.array([[1, 0, limits.max], [1, 1, limits.max]], dtype)
    with pytest.raises(sz.InvalidArgument, match="exceeds the range of float"):
        sz.qr(sz.tensor(m), "r")


@pytest.mark.parametrize("dtype", REAL)
@pytest.mark.parametrize("sides", [7, 8, 9, 17])
def test_many_right_hand_sides(sides: int, dtype: str) -> None:
    a, b = matrices(5, 16, dtype), matrices(5, sides, dtype, 16)
    x = wide(sz.solve(sz.tensor(a), sz.tensor(b), False))
    sizes = np.abs(wide(a)) @ np.abs(x) + np.abs(wide(b))
    assert (np.abs(wide(a) @ x - wide(b)) <= 1024 * np.finfo(dtype).eps * sizes).all()
