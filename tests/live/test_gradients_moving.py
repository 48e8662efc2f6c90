"""7.2.3.10.4, .16.4 and 7.2.4.13.4: gradients against PyTorch, where it is installed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import suanzi as sz

torch: Any = pytest.importorskip("torch", reason="PyTorch is not installed")
RNG = np.random.default_rng(132)


def complex_numbers(shape: tuple[int, ...]) -> Any:
    return RNG.normal(size=shape) + 1j * RNG.normal(size=shape)


def gradient_of(function: Any, x: Any, g: Any) -> Any:
    at = torch.tensor(x, requires_grad=True)
    function(at).backward(torch.tensor(g))
    return at.grad.numpy()


def test_slice() -> None:
    x, g = complex_numbers((5, 6)), complex_numbers((2, 2))
    found = sz.slice_backward(sz.tensor(g), sz.tensor(x), (1, 0), (4, 5), (2, 3))
    assert np.array_equal(found.numpy(), gradient_of(lambda t: t[1:5:2, 0:5:3], x, g))


@pytest.mark.parametrize(("low", "high"), [(-1, 1), (None, 0.5), (-0.25, None)])
def test_clip(low: Any, high: Any) -> None:
    x, g = RNG.normal(size=(4, 5)), RNG.normal(size=(4, 5))
    x[0, 0], x[1, 1] = low or 0, high or 0  # the bounds themselves are within
    found = sz.clip_backward(sz.tensor(g), low, high, sz.tensor(x))
    assert np.array_equal(found.numpy(), gradient_of(lambda t: t.clamp(low, high), x, g))


@pytest.mark.parametrize("offset", [-1, 0, 2])
def test_trace(offset: int) -> None:
    x = complex_numbers((3, 2, 4))
    g = complex_numbers((2,))
    found = sz.trace_backward(sz.tensor(g), x.shape, offset, 0, 2)

    def traced(t: Any) -> Any:
        return torch.diagonal(t, offset, 0, 2).sum(-1)

    assert np.array_equal(found.numpy(), gradient_of(traced, x, g))
