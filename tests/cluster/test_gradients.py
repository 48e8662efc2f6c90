"""Gradients on blocks are those of one tensor."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import suanzi as sz

pytest.importorskip("dask", reason="tensors of blocks are Dask's")
cluster = pytest.importorskip("suanzi.cluster")

RNG = np.random.default_rng(13)


def pair(shape: tuple[int, ...], size: Any, dtype: sz.DType = sz.float32) -> tuple[Any, Any]:
    """Return a tensor of small integers, and the same in blocks."""
    host = sz.tensor(RNG.integers(-3, 4, shape), dtype)
    with cluster.blocks(size if shape else -1):
        return host, host.to_device("cluster")


def equal(found: Any, want: sz.Tensor) -> None:
    assert (found.shape, found.dtype) == (want.shape, want.dtype)
    assert found.tolist() == want.tolist()


@pytest.mark.parametrize("mode", ["SUM", "MEAN", "PROD", "MAX", "MIN"])
@pytest.mark.parametrize("axis", [None, 0, (0, 2), -1], ids=str)
@pytest.mark.parametrize("keep", [False, True])
def test_reduce(mode: str, axis: Any, keep: bool) -> None:
    host, x = pair((4, 3, 5), (3, 2, 2))
    made = sz.reduce(host, mode, axis, keep)
    gradient, its = pair(made.shape, 2)
    want = sz.reduce_bwd(gradient, host, mode, axis, keep)
    equal(sz.reduce_bwd(its, x, mode, axis, keep), want)


@pytest.mark.parametrize("dtype", [sz.float32, sz.bfloat16, sz.complex64], ids=str)
def test_linear(dtype: sz.DType) -> None:
    gradient, its = pair((2, 5, 4), (1, 2, 3), dtype)
    weight, matrix = pair((4, 6), (3, 4), dtype)
    host, x = pair((2, 5, 6), (2, 3, 2), dtype)
    equal(sz.linear_bwd_in(its, matrix), sz.linear_bwd_in(gradient, weight))
    equal(sz.linear_bwd_weight(its, x), sz.linear_bwd_weight(gradient, host))


@pytest.mark.parametrize(
    "call",
    [
        lambda g, x: sz.reduce_bwd(g, x, "SUM", 0),
        lambda g, x: sz.reduce_bwd(g, None, "SUM"),
        lambda g, x: sz.reduce_bwd(g, x, "LOR"),
        lambda g, x: sz.reduce_bwd(g, x, "SUM", 7),
        lambda g, x: sz.linear_bwd_in(g, x),
        lambda g, x: sz.linear_bwd_weight(g, x),
    ],
)
def test_what_is_refused_is_refused_in_the_same_words(call: Any) -> None:
    (gradient, its), (host, x) = pair((3, 5), (2, 2)), pair((4, 6), (3, 4))
    with pytest.raises(sz.StatusError) as wanted:
        call(gradient, host)
    with pytest.raises(type(wanted.value)) as found:
        call(its, x)
    assert str(found.value) == str(wanted.value)
