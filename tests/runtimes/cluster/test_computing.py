"""A tensor of blocks that this process computes: by whatever scheduler, with memory of its own."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import suanzi as sz

dask = pytest.importorskip("dask", reason="tensors of blocks are Dask's")
cluster = pytest.importorskip("suanzi.cluster")
from suanzi.runtimes.cluster.optimizing import optimize  # noqa: E402 - where Dask is


def blocks_of(size: Any) -> Any:
    """Return numbers in blocks, computed."""
    with cluster.blocks(size):
        x: Any = sz.tensor(np.arange(12, dtype=np.float32).reshape(3, 4), device="cluster")
    return x.persist()


@pytest.mark.parametrize("size", [4, 2])
@pytest.mark.parametrize(
    "call",
    [
        lambda x: x,
        lambda x: x.T,
        lambda x: x[1:, ::2],
        lambda x: sz.cast(x, sz.float32),
        lambda x: x.reshape(12),
        lambda x: sz.abs(x),
        lambda x: x + 1,
        lambda x: sz.expand(x[:1], (3, 4)) * 1,
    ],
)
def test_a_result_that_is_written_to_changes_no_block(call: Any, size: int) -> None:
    x = blocks_of(size)
    before = x.numpy().tolist()
    made = call(x).to_host()
    want = made.tolist()
    made[...] = -7
    assert x.numpy().tolist() == before
    assert call(x).to_host().tolist() == want


def test_options_and_schedulers() -> None:
    x = blocks_of(2)
    want = (np.arange(12).reshape(3, 4) * 2 + 1).tolist()
    for scheduler in ("sync", "threads", dask.get):
        assert (x * 2 + 1).compute(scheduler=scheduler).tolist() == want
    assert (x * 2 + 1).compute(scheduler="sync", optimize_graph=False).tolist() == want
    assert (x * 2 + 1).compute(num_workers=2).tolist() == want
    one, two = dask.compute(x * 2 + 1, x)
    assert one.tolist() == want
    assert two.tolist() == x.numpy().tolist()
    with pytest.raises(ValueError, match="Expected one of"):
        x.compute(scheduler="none of them")


def test_a_chain_is_one_task_for_each_block_and_shares_its_plan() -> None:
    x = blocks_of(2)
    chain = x * 2 + x
    tasks = optimize(chain.graph, chain.__dask_keys__())
    assert len(tasks) == 4
    assert len({id(task.func) for task in tasks.values()}) == 1


def test_a_block_that_several_tasks_need_and_one_that_is_asked_for_stay_apart() -> None:
    with cluster.blocks((1, 4)):
        row: Any = sz.tensor(np.arange(4, dtype=np.float32).reshape(1, 4), device="cluster")
    with cluster.blocks((1, 4)):
        x: Any = sz.tensor(np.ones((3, 4), np.float32), device="cluster")
    row, x = row.persist(), x.persist()
    assert (x + row).numpy().tolist() == [[1, 2, 3, 4]] * 3
    assert (row + row).numpy().tolist() == [[0, 2, 4, 6]]
    both = dask.compute(row, x + row, row * 2)
    assert [one.tolist() for one in both] == [[[0, 1, 2, 3]], [[1, 2, 3, 4]] * 3, [[0, 2, 4, 6]]]
