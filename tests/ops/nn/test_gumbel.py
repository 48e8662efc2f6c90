"""nn 2.4: gumbel_softmax: samples by seed, the hard form, gradients, and errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import suanzi as sz
from suanzi.base.status import DimensionsMismatch, InvalidArgument

CHANCES = np.array([0.2, 0.3, 0.5])


def test_hard_samples_have_the_distribution_of_softmax() -> None:
    x = sz.tensor(np.tile(np.log(CHANCES), (20_000, 1)))
    hard = np.asarray(sz.nn.gumbel_softmax(x, hard=True, seed=3))
    assert set(np.unique(hard)) == {0, 1}
    assert (hard.sum(-1) == 1).all()
    assert abs(hard.mean(0) - CHANCES).max() < 0.015
    soft = np.asarray(sz.nn.gumbel_softmax(x, seed=3))
    assert np.array_equal(soft.argmax(-1), hard.argmax(-1))
    assert not np.array_equal(sz.nn.gumbel_softmax(x, hard=True, seed=4), hard)


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("hard", [False, True])
def test_gradient_is_the_derivative_of_the_soft_form(axis: int, hard: bool) -> None:
    g, x, noise = np.random.default_rng(1).standard_normal((3, 4, 5))
    found = sz.nn.gumbel_softmax_bwd(*map(sz.tensor, (g, x)), 0.7, hard, axis, sz.tensor(noise))
    e = np.exp((x + noise) / 0.7)
    y = e / e.sum(axis, keepdims=True)
    true = y * (g - (g * y).sum(axis, keepdims=True)) / 0.7
    assert np.allclose(found, true, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        ({}, InvalidArgument, "noise or a seed, and received neither"),
        ({"seed": 1, "noise": sz.zeros((2, 3))}, InvalidArgument, "received both"),
        ({"seed": 1, "tau": 0.0}, InvalidArgument, "tau is 0.0; it must be above 0"),
        ({"seed": 1, "axis": 2}, InvalidArgument, "axis is 2"),
        ({"noise": sz.zeros((3,))}, DimensionsMismatch, "noise has shape (3,)"),
    ],
)
def test_errors(arguments: dict[str, Any], status: type[Exception], message: str) -> None:
    with pytest.raises(status, match="nn.gumbel_softmax") as raised:
        sz.nn.gumbel_softmax(sz.zeros((2, 3)), **arguments)
    assert message in str(raised.value)
