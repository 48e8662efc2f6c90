"""x[key] where the memory is in another order than the axes."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import suanzi as sz


@pytest.mark.parametrize("ndim", [2, 3, 4])
def test_indices_behind_the_axis_that_is_dense(ndim: int) -> None:
    """What is picked is made rows first if the memory has it so, and put back in its place."""
    shape = (3, 4, 5, 6)[:ndim]
    for order in itertools.permutations(range(ndim)):
        memory = np.arange(np.prod(shape)).reshape([shape[axis] for axis in order])
        a = memory.transpose(np.argsort(order))
        x = sz.tensor(a)
        for axis, count in itertools.product(range(ndim), (1, 2)):
            for index in ([2, 0, 1, 1], [[0, 2], [1, 1]]):
                if axis + count > ndim:
                    continue
                key = (slice(None),) * axis + (np.array(index),) * count
                assert np.array_equal(x[key].numpy(), a[key]), (order, key)
