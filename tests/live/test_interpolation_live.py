"""7.2.18: interpolate against PyTorch's, where it is installed; in float64, where it is safe."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import suanzi as sz

torch: Any = pytest.importorskip("torch", reason="PyTorch is not installed")

LINEAR = {3: "linear", 4: "bilinear", 5: "trilinear"}
CASES = [
    *(((2, 3, a), (b,)) for a in (1, 2, 3, 7, 16) for b in (1, 2, 3, 5, 7, 32)),
    ((2, 3, 8, 9), (16, 18)), ((1, 2, 17, 31), (5, 8)), ((2, 1, 6, 5), (6, 11)),
    ((1, 2, 4, 5, 6), (8, 3, 7)), ((2, 1, 3, 3, 3), (1, 6, 2)),
]  # fmt: skip


@pytest.mark.parametrize("kind", ["nearest", "linear", "area"])
@pytest.mark.parametrize(("shape", "sizes"), CASES)
def test_values(shape: tuple[int, ...], sizes: tuple[int, ...], kind: str) -> None:
    mode = LINEAR[len(shape)] if kind == "linear" else kind
    x = np.random.default_rng(0).normal(size=shape)
    theirs = torch.nn.functional.interpolate(torch.tensor(x), size=sizes, mode=mode).numpy()
    ours = sz.interpolate(sz.tensor(x), sizes, mode=mode).numpy()
    assert ours.shape == theirs.shape
    assert np.abs(ours - theirs).max() < 1e-13


@pytest.mark.parametrize("factor", [0.25, 0.5, 1, 1.5, 2, 2.75, (3, 0.5)])
def test_sizes_of_factors(factor: Any) -> None:
    x = np.ones((1, 1, 12, 20))
    theirs = torch.nn.functional.interpolate(torch.tensor(x), scale_factor=factor)
    assert sz.interpolate(sz.tensor(x), scale_factor=factor).shape == tuple(theirs.shape)
