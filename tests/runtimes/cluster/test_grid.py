"""How shapes are cut: every kind of size Dask takes, and too many blocks without making them."""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
import pytest

import suanzi as sz

pytest.importorskip("dask.array", reason="tensors of blocks are Dask's")
grid = pytest.importorskip("suanzi.runtimes.cluster.grid")

HUGE = 2**40
TOO_MANY: list[tuple[tuple[int, ...], Any]] = [
    ((HUGE,), 1),
    ((HUGE,), np.int64(1)),
    ((HUGE,), np.array(1)),
    ((HUGE,), 1.0),
    ((HUGE,), "4 B"),
    ((HUGE,), "0 B"),
    ((HUGE,), "1 kB"),
    ((HUGE,), {0: 1}),
    ((HUGE,), {0: "4 B"}),
    ((HUGE, 3), {0: np.uint8(1)}),
    ((3, HUGE), np.array([1, 1])),
    ((3, HUGE), (1, "4 B")),
    ((3, HUGE), ((1, 2), "4 B")),
    ((3, HUGE), [-1, np.int32(7)]),
    ((1, 2**20, 2**20), "64 B"),
    ((1, HUGE), ("auto", "4 B")),
    ((2**60,), "auto"),
    ((0, HUGE), np.int64(1)),
]


@pytest.mark.parametrize(("shape", "size"), TOO_MANY, ids=str)
def test_too_many_blocks_are_not_made(shape: tuple[int, ...], size: Any) -> None:
    tracemalloc.start()
    try:
        with pytest.raises(sz.AllocFailed, match="would have more than 4194304 blocks"):
            grid.cut(shape, size, sz.float32)
        assert tracemalloc.get_traced_memory()[1] < 2**20
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    ("shape", "size", "blocks"),
    [
        ((5, 4), np.int64(2), ((2, 2, 1), (2, 2))),
        ((5, 4), np.array([2, 4]), ((2, 2, 1), (4,))),
        ((5, 4), (np.int8(2), -1.0), ((2, 2, 1), (4,))),
        ((5, 4), {0: 2}, ((2, 2, 1), (4,))),
        ((5, 4), {1: np.int64(-1), 0: (1, 4)}, ((1, 4), (4,))),
        ((5, 4), (1, "8 B"), ((1,) * 5, (2, 2))),
        ((5, 4), "1 B", ((1,) * 5, (1,) * 4)),
        ((1, 6), (HUGE, "12 B"), ((1,), (3, 3))),
        ((5,), (2, 3), ((2, 3),)),
        ((0, 4), np.int64(3), ((0,), (3, 1))),
        ((0, 4), {1: 3}, ((0,), (3, 1))),
        ((0, 4), "auto", ((0,), (4,))),
    ],
    ids=lambda one: str(one)[:40],
)
def test_all_kinds_of_sizes(shape: tuple[int, ...], size: Any, blocks: Any) -> None:
    assert grid.cut(shape, size, sz.float32) == blocks


@pytest.mark.parametrize("shape", [(5, 4), (0, 4)], ids=str)
@pytest.mark.parametrize("size", [(2,), (2, 2, 2), [], np.array([2])], ids=str)
def test_sizes_of_other_axes(shape: tuple[int, ...], size: Any) -> None:
    with pytest.raises(sz.InvalidArgument, match="^blocks: .* does not cut a tensor of shape"):
        grid.cut(shape, size, sz.float32)


@pytest.mark.parametrize(
    "size", [None, 0, (0, 2), (2, 1.5), "x", ("4 B", "8 B"), (("a", 5), 4), object(), float("nan")]
)
def test_what_cuts_nothing(size: Any) -> None:
    with grid.blocks(size), pytest.raises(sz.InvalidArgument, match="^blocks: "):
        grid.cut((5, 4), None, sz.float32)


def test_a_lower_bound_is_one() -> None:
    rng = np.random.default_rng(3)
    kinds = [1, 2, 7, "auto", "1 B", "8 B", "50 B", -1]
    for _ in range(300):
        shape = tuple(int(n) for n in rng.integers(1, 30, rng.integers(1, 4)))
        sizes = [kinds[i] for i in rng.integers(0, len(kinds), len(shape))]
        if len({one for one in sizes if isinstance(one, str)} - {"auto"}) > 1:
            continue
        made = grid.cut(shape, sizes, sz.float32)
        least = grid._at_least(shape, grid._by_axis(shape, sizes), 4)
        assert least <= np.prod([len(axis) for axis in made])
