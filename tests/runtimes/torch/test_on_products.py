"""Small products of 16-bit floats have a kernel: added up in float32, rounded once."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from tests.helpers.devices import KIND

import suanzi as sz

pytest.importorskip("torch", reason="devices of PyTorch")
from suanzi.runtimes.torch.loading import usable

if not usable(KIND):
    pytest.skip("no kernels here: TRITON_INTERPRET=1 runs them", allow_module_level=True)

HALVES = [sz.float16, sz.bfloat16]


def whole(device: str, dt: sz.DType, *shape: int, top: int = 8) -> Any:
    """Return whole numbers, of which products and their sums are exact in float32."""
    rng = np.random.default_rng(sum(shape))
    return sz.tensor(rng.integers(-top, top + 1, shape).astype("f4")).astype(dt).to_device(device)


def wanted(x: Any, y: Any, dt: sz.DType) -> Any:
    """Return the exact product, rounded once."""
    both = (v.to_host().astype(sz.float64).numpy() for v in (x, y))
    return sz.tensor(np.matmul(*both)).astype(dt).tolist()


@pytest.mark.parametrize("dt", HALVES, ids=str)
@pytest.mark.parametrize(
    "sizes",
    [(1, 1, 1), (10, 10, 10), (33, 70, 31), (1, 512, 65), (300, 16, 5), (64, 129, 257)],
    ids=str,
)
def test_sums_are_exact_in_float32(
    device: str, used: Counter[str], dt: sz.DType, sizes: tuple[int, int, int]
) -> None:
    rows, inner, columns = sizes
    x, y = whole(device, dt, rows, inner), whole(device, dt, inner, columns)
    for _ in range(2):
        assert sz.matmul(x, y).tolist() == wanted(x, y, dt)
    assert (x @ y).tolist() == wanted(x, y, dt)
    assert sz.array_api.matmul(x, y).tolist() == wanted(x, y, dt)
    assert used["matmul"] == used["array_api:matmul"] == 1


@pytest.mark.parametrize("dt", HALVES, ids=str)
def test_matrices_in_any_strides(device: str, used: Counter[str], dt: sz.DType) -> None:
    x = whole(device, dt, 40, 70)
    for a, b in ((x, x.T), (x.T, x), (x[:, 1:], x.T[1:]), (x[::2, ::3], x.T[::3])):
        assert sz.matmul(a, b).tolist() == wanted(a, b, dt)
    twice = x[:, :40]
    for _ in range(2):
        assert sz.matmul(twice, twice).tolist() == wanted(twice, twice, dt)
        assert sz.matmul(mat2=x.T, mat1=x).tolist() == wanted(x, x.T, dt)
    assert used["matmul"] == 6


@pytest.mark.parametrize("dt", HALVES, ids=str)
def test_what_is_not_finite(device: str, used: Counter[str], dt: sz.DType) -> None:
    inf, nan = float("inf"), float("nan")
    x = sz.tensor([[inf, 1, 0], [nan, 2, 3], [1, 2, 3]], dt, device=device)
    y = sz.tensor([[1.0, 0], [2, 3], [4, 5]], dt, device=device)
    found: Any = sz.matmul(x, y)
    np.testing.assert_array_equal(found.numpy().astype("f8"), [[inf, nan], [nan, nan], [17, 21]])
    small = 2.0**-20 if dt is sz.float16 else 2.0**-100  # a sum of 64 in the middle of large ones
    column = [[1.0]] + [[small]] * 64 + [[-1.0]]
    ones = sz.tensor([[1.0] * 66], dt, device=device)
    got = sz.matmul(ones, sz.tensor(column, dt, device=device))
    assert abs(float(got) - (64 * small if dt is sz.float16 else 0)) <= 64 * 2.0**-22
    assert used["matmul"] == 2


@pytest.mark.parametrize("dt", HALVES, ids=str)
def test_sums_are_not_rounded_between(device: str, used: Counter[str], dt: sz.DType) -> None:
    ones = sz.tensor([[1.0] * 512], dt, device=device)
    column = sz.tensor([[2048.0 if dt is sz.float16 else 256.0]] + [[1.0]] * 511, dt, device=device)
    assert sz.matmul(ones, column).tolist() == wanted(ones, column, dt)
    assert used["matmul"] == 1


def test_what_the_kernel_declines(device: str, used: Counter[str]) -> None:
    x = whole(device, sz.bfloat16, 4, 600)
    for a, b in ((x, x.T), (x[:, :4], x[:, :4].astype(sz.float16)),
                 (x[:0, :4], x[:, :4]), (x[0, :4], x[:, :4]), (x.reshape(2, 2, 600), x.T[:, :2]),
                 (x.astype(sz.float32), x.T.astype(sz.float32))):  # fmt: skip
        got = sz.matmul(a, b)
        assert got.tolist() == wanted(a, b, got.dtype)
    narrow = x[:, :4]
    got = sz.matmul(narrow, narrow, dtype=sz.float32)
    assert got.tolist() == wanted(narrow, narrow, sz.float32)
    assert used["matmul"] == 0
