"""7.2.3.16.4 and 7.2.4.13.4: clip_backward and trace_backward against central differences."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import suanzi as sz
from helpers.gradients import central_differences

RNG = np.random.default_rng(131)


def numbers(shape: tuple[int, ...], *, complex_: bool = False) -> Any:
    values = RNG.uniform(-2, 2, shape)
    return values + 1j * RNG.uniform(-2, 2, shape) if complex_ else values


@pytest.mark.parametrize(
    ("low", "high"), [(-1, 1), (None, 0.5), (-0.25, None), (None, None), (1, -1)]
)
def test_clip(low: Any, high: Any) -> None:
    x = numbers((3, 5))
    g = numbers((3, 5))
    found = sz.clip_backward(sz.tensor(g), low, high, sz.tensor(x)).numpy()
    if low is not None and high is not None and low > high:
        # Every element is beyond one bound or the other: the result does not depend on it.
        assert not found.any()
        return
    expected = central_differences(lambda a: sz.clip(sz.tensor(a), low, high).numpy(), x, g)
    assert np.allclose(found, expected, atol=1e-8)


@pytest.mark.parametrize("complex_", [False, True])
@pytest.mark.parametrize(("shape", "axes"), [((3, 4), (0, 1)), ((2, 3, 4), (2, 0))])
@pytest.mark.parametrize("offset", [-2, 0, 1, 5])
def test_trace(shape: tuple[int, ...], axes: Any, offset: int, complex_: bool) -> None:
    x = numbers(shape, complex_=complex_)

    def traced(a: Any) -> Any:
        return sz.trace(sz.tensor(a), offset, *axes).numpy()

    g = numbers(traced(x).shape, complex_=complex_)
    found = sz.trace_backward(sz.tensor(g), shape, offset, *axes)
    assert np.allclose(found.numpy(), central_differences(traced, x, g), atol=1e-8)
