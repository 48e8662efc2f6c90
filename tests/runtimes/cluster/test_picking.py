"""Gather, scatter, selections and orders of blocks: the bits of one tensor."""

from __future__ import annotations

from itertools import pairwise
from random import Random
from typing import Any

import numpy as np
import pytest

import suanzi as sz
from helpers.blocks import on_blocks, same, same_error

pytest.importorskip("dask.array", reason="tensors of blocks are Dask's")
cluster = pytest.importorskip("suanzi.cluster")

RNG = np.random.default_rng(7)
MANY = RNG.integers(-4, 5, (6, 11)).astype(np.int16)
FLOATS = np.where(RNG.random((6, 11)) < 0.1, np.nan, MANY).astype(np.float32)
HALVES = sz.tensor(RNG.normal(size=(6, 11)), sz.bfloat16)
ROWS = np.array([5, 0, 3, 3, 1], np.int32)
PAIRS = np.array([[[5, 0], [3, 10]], [[3, 10], [0, 0]]], np.int64)
MASK = RNG.random((6, 11)) < 0.4
SIZES = [(2, 3), -1, (1, 4)]

CALLS: dict[str, Any] = {
    "gather rows": lambda t: sz.gather(t(MANY), t(ROWS)),
    "gather elements": lambda t: sz.gather(t(MANY), t(PAIRS)),
    "gather matrices of rows": lambda t: sz.gather(t(HALVES), t(PAIRS[..., :1])),
    "gather nothing": lambda t: sz.gather(t(MANY), t(ROWS[:0])),
    "scatter rows": lambda t: sz.scatter(t(MANY), t(ROWS), t(MANY[:5] * 100)),
    "scatter sums": lambda t: sz.scatter(t(HALVES), t(ROWS), t(HALVES[:5]), False),
    "scatter elements": lambda t: sz.scatter(t(MANY), t(PAIRS), t(MANY[:2, :2] * 9), False),
    "masked_select": lambda t: sz.masked_select(t(MANY), t(MASK)),
    "masked_select by a row": lambda t: sz.masked_select(t(MANY), t(MASK[0])),
    "masked_select of nothing": lambda t: sz.masked_select(t(MANY), t(MASK & False)),
    "nonzero": lambda t: sz.nonzero(t(MANY)),
    "nonzero as rows": lambda t: sz.nonzero(t(FLOATS), as_tuple=False),
    "argsort": lambda t: sz.argsort(t(MANY)),
    "argsort upwards": lambda t: sz.argsort(t(FLOATS), 0, descending=False),
    "argsort of NaN": lambda t: sz.argsort(t(FLOATS), 1),
    "topk": lambda t: sz.topk(t(MANY), 4),
    "topk of all": lambda t: sz.topk(t(FLOATS), 6, 0, largest=False),
    "slice_backward": lambda t: sz.slice_backward(
        t(MANY[1:6:2, 2:9:3]), t(MANY), (1, 2), (5, 7), (2, 3)
    ),
}


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", CALLS)
def test_the_bits_of_one_tensor(name: str, size: Any) -> None:
    same(CALLS[name](on_blocks(size)), CALLS[name](sz.tensor))


@pytest.mark.parametrize("count", range(1, 20))
def test_exchanges_put_in_order(count: int) -> None:
    from suanzi.runtimes.cluster.sorting import exchanges

    numbers = list(range(count))
    Random(count).shuffle(numbers)
    for i, j in exchanges(count):
        assert i < j
        if numbers[i] > numbers[j]:
            numbers[i], numbers[j] = numbers[j], numbers[i]
    assert all(a <= b for a, b in pairwise(numbers))


def test_many_blocks_of_unlike_sizes() -> None:
    x = sz.tensor(RNG.integers(0, 50, 103))
    with cluster.blocks(((9, 20, 1, 30, 43),)):
        same(sz.argsort(x.to_device("cluster")), sz.argsort(x))
    with cluster.blocks(9):
        same(sz.argsort(x.to_device("cluster"), descending=False), sz.argsort(x, descending=False))
        same(sz.topk(x.to_device("cluster"), 40), sz.topk(x, 40))


WRONG: list[Any] = [
    lambda t: sz.gather(t(MANY), t(np.array([6]))),
    lambda t: sz.gather(t(MANY), t(np.array([-1]))),
    lambda t: sz.gather(t(MANY), t(np.array([1.5]))),
    lambda t: sz.scatter(t(MANY), t(np.array([[0, 11]])), t(MANY[0, :1])),
    lambda t: sz.scatter(t(MANY), t(ROWS), t(MANY)),
    lambda t: sz.scatter(t(MANY), t(ROWS), t(FLOATS[:5])),
    lambda t: sz.masked_select(t(MANY), t(MANY)),
    lambda t: sz.masked_select(t(MANY), t(MASK[:, :5])),
    lambda t: sz.nonzero(t(MANY * 0)),
    lambda t: sz.topk(t(MANY), 12),
    lambda t: sz.topk(t(MANY), 0),
    lambda t: sz.argsort(t(MANY), 2),
    lambda t: sz.slice_backward(t(MANY), t(MANY), (1, 2), (5, 7), (2, 3)),
    lambda t: sz.slice_backward(t(MANY), t(MANY), (1, 2), (5, 70), (2, 3)),
    lambda t: sz.slice_backward(t(MANY), t(MANY)),
]


@pytest.mark.parametrize("call", WRONG)
def test_errors_are_those_of_one_tensor(call: Any) -> None:
    same_error(lambda: call(sz.tensor), lambda: call(on_blocks((2, 3))))
