"""Fourier transforms, interpolation and matrices of blocks, against one tensor or their meaning."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import suanzi as sz
from helpers.blocks import on_blocks, same, same_error

pytest.importorskip("dask.array", reason="tensors of blocks are Dask's")
cluster = pytest.importorskip("suanzi.cluster")

RNG = np.random.default_rng(7)
REAL = RNG.normal(size=(4, 6, 10)).astype(np.float32)
COMPLEX = (REAL + 1j * REAL[::-1]).astype(np.complex64)
SQUARE = RNG.normal(size=(4, 3, 3)) + 3 * np.eye(3)
SIDES = RNG.normal(size=(4, 3, 2))
IMAGES = RNG.normal(size=(2, 3, 4, 5)).astype(np.float32)

CALLS: dict[str, Any] = {
    "c2c": lambda t: sz.fft_c2c(t(COMPLEX)),
    "c2c of two axes": lambda t: sz.fft_c2c(t(COMPLEX), [0, 2], "by_n"),
    "c2c of all": lambda t: sz.fft_c2c(t(COMPLEX), [0, 1, 2], forward=False),
    "c2c backward": lambda t: sz.fft_c2c_backward(t(COMPLEX), 1),
    "r2c": lambda t: sz.fft_r2c(t(REAL)),
    "r2c, both sides": lambda t: sz.fft_r2c(t(REAL), [1], onesided=False),
    "r2c backward": lambda t: sz.fft_r2c_backward(t(COMPLEX[..., :6]), t(REAL)),
    "c2r": lambda t: sz.fft_c2r(t(COMPLEX[..., :6]), 11),
    "c2r backward": lambda t: sz.fft_c2r_backward(t(REAL)),
    "interpolate": lambda t: sz.interpolate(t(IMAGES), size=[7, 3], mode="bilinear"),
    "interpolate by factors": lambda t: sz.interpolate(t(IMAGES), scale_factor=2.0),
    "lu": lambda t: sz.lu(t(SQUARE)),
    "cholesky": lambda t: sz.cholesky("L", t(SQUARE @ SQUARE.swapaxes(1, 2))),
    "eig": lambda t: sz.eig(t(SQUARE)),
    "inverse": lambda t: sz.inverse(t(SQUARE)),
    "inverse of one": lambda t: sz.inverse(t(SQUARE[0])),
    "qr": lambda t: sz.qr(t(SQUARE)),
    "qr, complete": lambda t: sz.qr(t(SIDES), "complete"),
    "svd": lambda t: sz.svd(t(SIDES)),
    "solve": lambda t: sz.solve(t(SQUARE), t(SIDES), False),
    "solve for all": lambda t: sz.solve(t(SQUARE[0]), t(SIDES), True),
    "solve a line": lambda t: sz.solve(t(SQUARE[0]), t(SIDES[0, :, 0]), False),
    "lstsq": lambda t: sz.lstsq(t(SQUARE), t(SIDES)),
    "diag": lambda t: sz.diag(t(REAL[0, 0])),
}


@pytest.mark.parametrize("size", [2, -1])
@pytest.mark.parametrize("name", CALLS)
def test_the_bits_of_one_tensor(name: str, size: int) -> None:
    same(CALLS[name](on_blocks(size)), CALLS[name](sz.tensor))


@pytest.mark.parametrize(
    "call",
    [
        lambda t: sz.fft_c2c(t(REAL)),
        lambda t: sz.fft_c2c(t(COMPLEX), [3]),
        lambda t: sz.fft_c2c(t(COMPLEX), [0, 0]),
        lambda t: sz.fft_c2c(t(COMPLEX), "x"),
        lambda t: sz.fft_c2r(t(COMPLEX), 5),
        lambda t: sz.interpolate(t(IMAGES[0, 0]), size=[2]),
        lambda t: sz.inverse(t(SIDES)),
        lambda t: sz.inverse(t(SIDES[0, :, 0])),
        lambda t: sz.solve(t(SQUARE), t(SIDES[:, :2]), False),
        lambda t: sz.lstsq(t(SQUARE), t(SIDES[:, :2])),
        lambda t: sz.qr(t(SQUARE[0]), "x"),
        lambda t: sz.svd(t(SQUARE[0, 0])),
        lambda t: sz.diag(t(SQUARE[0])),
    ],
)
def test_errors_are_those_of_one_tensor(call: Any) -> None:
    same_error(lambda: call(sz.tensor), lambda: call(on_blocks(2)))


def test_what_cannot_be_inverted_is_told_when_it_is_computed() -> None:
    made = sz.inverse(on_blocks(2)(np.zeros((4, 3, 3))))
    with pytest.raises(sz.StatusError, match=r"^inverse"):
        made.to_host()


# ---- tall matrices -------------------------------------------------------------------------------

TALL = RNG.normal(size=(203, 7))


@pytest.mark.parametrize("rows", [10, 3, 50, ((101, 3, 99),)])
def test_tall_qr(rows: Any) -> None:
    with cluster.blocks((*rows, -1) if isinstance(rows, tuple) else (rows, 4)):
        x = sz.tensor(TALL, device="cluster")
    q, r = sz.qr(x)
    assert (q.shape, r.shape) == ((203, 7), (7, 7))
    q, r = q.numpy(), r.numpy()
    np.testing.assert_allclose(q @ r, TALL, atol=1e-13)
    np.testing.assert_allclose(q.T @ q, np.eye(7), atol=1e-13)
    assert not np.tril(r, -1).any()
    none, only = sz.qr(x, "r")
    assert none is None
    np.testing.assert_allclose(np.abs(only.numpy()), np.abs(r), atol=1e-12)


def test_no_task_of_a_tall_matrix_has_all_of_it() -> None:
    with cluster.blocks((10, -1)):
        x: Any = sz.rand_normal((1000, 3), sz.float64, seed=7, device="cluster")
    seen: list[int] = []

    def looked(block: Any) -> Any:
        seen.append(block.shape[0])
        return block

    y = sz.tensor(x.to_dask().map_blocks(looked, meta=np.zeros((0, 0))), device="cluster")
    sz.lstsq(y, y[:, 0]).to_host()
    assert max(seen) == 10


def test_tall_svd() -> None:
    with cluster.blocks((20, -1)):
        u, s, v = sz.svd(sz.tensor(TALL, device="cluster"))
    assert (u.shape, s.shape, v.shape) == ((203, 7), (7, 7), (7, 7))
    u, s, v = u.numpy(), s.numpy(), v.numpy()
    np.testing.assert_allclose(u @ s @ v.T, TALL, atol=1e-12)
    np.testing.assert_allclose(u.T @ u, np.eye(7), atol=1e-13)
    np.testing.assert_allclose(np.diag(s), np.linalg.svd(TALL)[1], rtol=1e-13)


@pytest.mark.parametrize("dtype", [sz.float64, sz.float32, sz.bfloat16])
def test_tall_lstsq(dtype: Any) -> None:
    a, b = sz.tensor(TALL, dtype), sz.tensor(TALL[:, :2] * 2 + 1, dtype)
    with cluster.blocks((20, 3)):
        x = sz.lstsq(a.to_device("cluster"), b.to_device("cluster"))
    with cluster.blocks(20):
        line = sz.lstsq(a.to_device("cluster"), b[:, 0].to_device("cluster"))
    wanted = sz.lstsq(a, b)
    assert (x.shape, x.dtype, line.shape) == (wanted.shape, wanted.dtype, (7,))
    near = {sz.float64: 1e-12, sz.float32: 1e-5, sz.bfloat16: 1e-2}[dtype]
    for found, due in ((x, wanted), (line, wanted[:, 0])):
        np.testing.assert_allclose(
            found.numpy().astype(float), due.numpy().astype(float), atol=near
        )
