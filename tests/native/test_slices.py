"""Every slice of short axes: where it begins, and how its length rounds."""

from __future__ import annotations

from itertools import product

import pytest

import suanzi as sz
from suanzi import _core


@pytest.mark.parametrize("step", [None, *range(-6, 0), *range(1, 7), -(2**63), 2**63 - 1])
@pytest.mark.parametrize("n", range(8))
def test_slices(n: int, step: int | None) -> None:
    whole = list(range(n))
    x = sz.tensor(whole, sz.int64)
    bounds = [None, *range(-n - 2, n + 3)]
    for start, stop in product(bounds, bounds):
        key = slice(start, stop, step)
        assert x[key].tolist() == whole[key], key
        view = _core.basic_view(x, key)
        assert view is not None
        assert view.shape == (len(whole[key]),)
        written, expected = sz.duplicate(x), list(whole)
        written[key] = -1
        expected[key] = [-1] * len(whole[key])
        assert written.tolist() == expected, key
