"""Gradients on blocks are those of one tensor."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import suanzi as sz
from helpers.blocks import same, same_error

pytest.importorskip("dask", reason="tensors of blocks are Dask's")
cluster = pytest.importorskip("suanzi.cluster")

RNG = np.random.default_rng(13)


def pair(shape: tuple[int, ...], size: Any, dtype: sz.DType = sz.float32) -> tuple[Any, Any]:
    """Return a tensor of small integers, and the same in blocks."""
    host = sz.tensor(RNG.integers(-3, 4, shape), dtype)
    with cluster.blocks(size if shape else -1):
        return host, host.to_device("cluster")


@pytest.mark.parametrize("mode", ["SUM", "MEAN", "PROD", "MAX", "MIN"])
@pytest.mark.parametrize("axis", [None, 0, (0, 2), -1], ids=str)
@pytest.mark.parametrize("keep", [False, True])
def test_reduce(mode: str, axis: Any, keep: bool) -> None:
    host, x = pair((4, 3, 5), (3, 2, 2))
    made = sz.reduce(host, mode, axis, keep)
    gradient, its = pair(made.shape, 2)
    want = sz.reduce_bwd(gradient, host, mode, axis, keep)
    same(sz.reduce_bwd(its, x, mode, axis, keep), want)


@pytest.mark.parametrize("dtype", [sz.float32, sz.bfloat16, sz.complex64], ids=str)
def test_linear(dtype: sz.DType) -> None:
    gradient, its = pair((2, 5, 4), (1, 2, 3), dtype)
    weight, matrix = pair((4, 6), (3, 4), dtype)
    host, x = pair((2, 5, 6), (2, 3, 2), dtype)
    same(sz.linear_bwd_in(its, matrix), sz.linear_bwd_in(gradient, weight))
    same(sz.linear_bwd_weight(its, x), sz.linear_bwd_weight(gradient, host))


DOTS = [
    ((5, 6), (6, 4)),
    ((2, 5, 6), (3, 6, 4)),
    ((6,), (6,)),
    ((5, 6), (6,)),
    ((6,), (3, 6, 4)),
    ((), (5, 6)),
    ((5, 6), ()),
    ((), ()),
]


@pytest.mark.parametrize("dtype", [sz.float32, sz.bfloat16, sz.complex64, sz.int32], ids=str)
@pytest.mark.parametrize("shapes", DOTS, ids=str)
def test_dot(shapes: Any, dtype: sz.DType) -> None:
    (host1, x), (host2, y) = (pair(shape, 2, dtype) for shape in shapes)
    made = sz.dot(host1, host2)
    gradient, its = pair(made.shape, 3, dtype)
    same(sz.dot_bwd1(its, x, y), sz.dot_bwd1(gradient, host1, host2))
    same(sz.dot_bwd2(its, x, y), sz.dot_bwd2(gradient, host1, host2))


@pytest.mark.parametrize("dtype", [sz.float32, sz.float16, sz.complex64], ids=str)
@pytest.mark.parametrize("lead", [(4,), (2, 3), ()], ids=str)
def test_bilinear(lead: tuple[int, ...], dtype: sz.DType) -> None:
    (host1, x), (host2, y) = pair((*lead, 3), 2, dtype), pair((*lead, 5), 3, dtype)
    weight, matrices = pair((4, 3, 5), (3, 2, 2), dtype)
    bias, added = pair((4,), 2, dtype)
    want = sz.bilinear(host1, host2, weight, bias)
    same(sz.bilinear(x, y, matrices, added), want)
    same(sz.bilinear(x, y, matrices), sz.bilinear(host1, host2, weight))
    gradient, its = pair(want.shape, 1, dtype)
    same(sz.bilinear_bwd_in1(its, y, matrices), sz.bilinear_bwd_in1(gradient, host2, weight))
    same(sz.bilinear_bwd_in2(its, x, matrices), sz.bilinear_bwd_in2(gradient, host1, weight))
    same(sz.bilinear_bwd_weight(its, x, y), sz.bilinear_bwd_weight(gradient, host1, host2))


@pytest.mark.parametrize("dtype", [sz.float32, sz.bfloat16, sz.int16], ids=str)
@pytest.mark.parametrize("axis", [0, 1, -1])
def test_argsort(axis: int, dtype: sz.DType) -> None:
    host, x = pair((7, 5, 3), (3, 2, 2), dtype)
    gradient, its = pair((7, 5, 3), (2, 2, 2), dtype)
    _, indices = sz.argsort(host, axis)
    _, places = sz.argsort(x, axis)
    same(sz.argsort_bwd(its, places, axis), sz.argsort_bwd(gradient, indices, axis))


@pytest.mark.parametrize("wrong", [[0, 1, 1, 2], [0, 1, 2, 4], [-1, 0, 1, 2]], ids=str)
def test_indices_of_no_order(wrong: list[int]) -> None:
    gradient, its = pair((4,), 2)
    indices = sz.tensor(wrong)
    with pytest.raises(sz.StatusError) as wanted:
        sz.argsort_bwd(gradient, indices)
    with cluster.blocks(2), pytest.raises(type(wanted.value)) as found:
        sz.argsort_bwd(its, indices.to_device("cluster")).to_host()
    lacking = "argsort_bwd (7.2.14.3.4): indices lacks 3 along axis 0"
    assert str(found.value) == str(wanted.value) or str(found.value).startswith(lacking)


@pytest.mark.parametrize("offset", [0, 2, -3, 9])
@pytest.mark.parametrize("dims", [(0, 1), (2, 0)])
def test_trace(offset: int, dims: tuple[int, int]) -> None:
    shape = (5, 7, 3)
    gradient, its = pair(tuple(n for a, n in enumerate(shape) if a not in dims), 2)
    with cluster.blocks((2, 3, 2)):
        found = sz.trace_backward(its, shape, offset, *dims)
    same(found, sz.trace_backward(gradient, shape, offset, *dims))
    assert found.numblocks == (3, 3, 2) if dims == (0, 1) else True  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "call",
    [
        lambda g, x, w: sz.reduce_bwd(g, x, "SUM", 0),
        lambda g, x, w: sz.reduce_bwd(g, None, "SUM"),
        lambda g, x, w: sz.reduce_bwd(g, x, "LOR"),
        lambda g, x, w: sz.reduce_bwd(g, x, "SUM", 7),
        lambda g, x, w: sz.linear_bwd_in(g, x),
        lambda g, x, w: sz.linear_bwd_weight(g, x),
        lambda g, x, w: sz.dot_bwd1(g, x, w),
        lambda g, x, w: sz.dot_bwd2(g, w, x),
        lambda g, x, w: sz.bilinear(g, x, w),
        lambda g, x, w: sz.bilinear(x, x, w[0]),
        lambda g, x, w: sz.bilinear_bwd_in1(g, x, w),
        lambda g, x, w: sz.bilinear_bwd_weight(g, x, g),
        lambda g, x, w: sz.argsort_bwd(g, x),
        lambda g, x, w: sz.argsort_bwd(g, g),
        lambda g, x, w: sz.argsort_bwd(g, sz.cast(g, sz.int32), 2),
        lambda g, x, w: sz.trace_backward(g, (3, 3)),
        lambda g, x, w: sz.trace_backward(g, (3,)),
        lambda g, x, w: sz.trace_backward(g, (3, 5, 2, 2), 0, 1, 1),
        lambda g, x, w: sz.trace_backward(g, (3, 5, 2, 2), 0, 1, 9),
    ],
)
def test_gradients_are_refused_in_the_same_words(call: Any) -> None:
    given = pair((3, 5), (2, 2)), pair((4, 6), (3, 4)), pair((4, 5, 6), 2)
    same_error(
        lambda: call(*(host for host, _ in given)), lambda: call(*(there for _, there in given))
    )
