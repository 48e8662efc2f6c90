"""7.2.14.3.4: the backward of argsort against PyTorch's own gradient of sort."""

from __future__ import annotations

import numpy as np
import pytest

import suanzi as sz

torch = pytest.importorskip("torch", reason="PyTorch is not installed here")


@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("descending", [True, False])
def test_argsort_bwd(axis: int, descending: bool) -> None:
    random = np.random.default_rng(0)
    x, gradient = random.integers(0, 4, (5, 6)).astype(float), random.normal(size=(5, 6))
    theirs = torch.tensor(x, requires_grad=True)
    values, places = torch.sort(theirs, dim=axis, descending=descending, stable=True)
    values.backward(torch.tensor(gradient))
    ours = sz.argsort(sz.tensor(x), axis, descending)
    assert ours[0].tolist() == values.tolist()
    assert ours[1].tolist() == places.tolist()
    found = sz.argsort_bwd(sz.tensor(gradient), ours[1], axis)
    assert np.array_equal(found.numpy(), theirs.grad.numpy())
