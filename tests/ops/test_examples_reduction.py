"""The worked examples of Appendix A.2.13."""

from __future__ import annotations

import numpy as np

import suanzi as sz


def test_reduce() -> None:
    """A.2.13.1."""
    ones = sz.tensor([[1, 1, 1], [1, 1, 1]])
    assert sz.reduce(ones, sz.ReduceMode.SUM, [], 0, False).tolist() == 6
    assert sz.reduce(ones, sz.ReduceMode.SUM, [0], 1, False).tolist() == [2, 2, 2]
    assert sz.reduce(ones, sz.ReduceMode.SUM, [1], 1, False).tolist() == [3, 3]
    assert sz.reduce(ones, sz.ReduceMode.SUM, [1], 1, True).tolist() == [[3], [3]]
    assert sz.reduce(ones, sz.ReduceMode.SUM, [0, 1], 2, False).tolist() == 6
    floats = sz.tensor([[1.0, 1.0], [2.0, 2.0]])
    assert sz.reduce(floats, sz.ReduceMode.MEAN, [], 0, False).tolist() == 1.5
    assert sz.reduce(floats, sz.ReduceMode.MEAN, [0], 1, False).tolist() == [1.5, 1.5]
    assert sz.reduce(floats, sz.ReduceMode.MEAN, [1], 1, False).tolist() == [1.0, 2.0]


def test_cumsum() -> None:
    """A.2.13.2."""
    x = sz.tensor(np.arange(12).reshape(3, 4))
    assert sz.cumsum(x, -1).tolist() == [0, 1, 3, 6, 10, 15, 21, 28, 36, 45, 55, 66]
    assert sz.cumsum(x, 0).tolist() == [[0, 1, 2, 3], [4, 6, 8, 10], [12, 15, 18, 21]]
