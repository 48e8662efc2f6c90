"""7.2.13.1.4 and .2.4: reduce_bwd and cumsum_bwd against PyTorch's autograd."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import suanzi as sz

torch: Any = pytest.importorskip("torch", reason="PyTorch is not installed")


MODES = ["SUM", "MEAN", "PROD", "MAX", "MIN"]


@pytest.mark.parametrize(
    ("kind", "mode"),
    [*((np.float64, mode) for mode in MODES), *((np.complex128, mode) for mode in MODES[:3])],
)
@pytest.mark.parametrize("axis", [0, 1, 2])
def test_reduce_bwd(mode: str, kind: Any, axis: int) -> None:
    rng = np.random.default_rng(3)
    x = np.round(rng.standard_normal((3, 4, 5)) * 2).astype(kind)  # zeros and ties
    if kind is np.complex128:
        x = x + 1j * np.round(rng.standard_normal(x.shape))
    leaf = torch.tensor(x, requires_grad=True)
    calls = {"SUM": torch.sum, "MEAN": torch.mean, "PROD": torch.prod, "MAX": torch.amax,
             "MIN": torch.amin}  # fmt: skip
    result = calls[mode](leaf, axis)
    gradient = rng.standard_normal(result.shape).astype(kind)
    result.backward(torch.tensor(gradient))
    found = sz.reduce_bwd(sz.tensor(gradient), sz.tensor(x), mode, axis).numpy()
    assert np.allclose(found, leaf.grad.numpy(), rtol=1e-12, atol=1e-12)


def test_cumsum_bwd() -> None:
    rng = np.random.default_rng(4)
    for axis in range(2):
        leaf = torch.tensor(rng.standard_normal((6, 7)), requires_grad=True)
        gradient = rng.standard_normal((6, 7))
        torch.cumsum(leaf, axis).backward(torch.tensor(gradient))
        found = sz.cumsum_bwd(sz.tensor(gradient), axis).numpy()
        assert np.allclose(found, leaf.grad.numpy(), rtol=1e-12, atol=1e-12)
