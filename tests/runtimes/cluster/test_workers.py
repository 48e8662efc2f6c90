"""Tensors of blocks on a real cluster of processes: what is lost is computed again, or told."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import suanzi as sz

distributed = pytest.importorskip("distributed", reason="a cluster is Dask's")
cluster = pytest.importorskip("suanzi.cluster", reason="tensors of blocks are Dask's")

# Dask's own, of connections that end, are not what is tested.
pytestmark = pytest.mark.filterwarnings("ignore")
NUMBERS = np.random.default_rng(7).normal(size=(40, 30)).astype(np.float32)


@pytest.fixture(scope="module")
def workers() -> Iterator[Any]:
    with distributed.LocalCluster(
        n_workers=2,
        threads_per_worker=1,
        processes=True,
        host="127.0.0.1",
        dashboard_address="127.0.0.1:0",
    ) as made:
        yield made


@pytest.fixture
def client(workers: Any) -> Iterator[Any]:
    import dask

    with dask.config.set(scheduler=None), distributed.Client(workers) as made:
        yield made


def on_blocks(x: Any, size: Any, dtype: Any = None) -> Any:
    with cluster.blocks(size):
        return sz.tensor(x, dtype, device="cluster")


def test_the_workers_compute(client: Any) -> None:
    host = sz.tensor(NUMBERS, sz.bfloat16)
    x = on_blocks(NUMBERS, (13, 11), sz.bfloat16)
    kept = (x * 2 + 1).persist()
    distributed.wait(kept, timeout=60)
    assert sum(len(keys) for keys in client.has_what().values()) >= 4 * 3
    y = sz.exp(kept) @ sz.transpose(kept)
    want = sz.exp(host * 2 + 1) @ sz.transpose(host * 2 + 1)
    assert y.dtype is sz.bfloat16
    assert np.allclose(
        y.to_host().astype(sz.float64).numpy(), want.astype(sz.float64).numpy(), rtol=2e-2
    )
    assert kept.reduce("MEAN").item() == (host * 2 + 1).reduce("MEAN").item()
    assert str(kept[:1, :2]).startswith("BlockTensor([[")


def test_the_rules_in_force_travel(client: Any) -> None:
    x = on_blocks([1, 2, 3], 2, sz.int32)
    y = on_blocks([0.5, 0.5, 0.5], 2, sz.float16)
    for rules in ("cann", "torch", "numpy"):
        with sz.promotion(rules):
            made, want = x + y, sz.tensor([1, 2, 3], sz.int32) + sz.tensor([0.5] * 3, sz.float16)
        assert made.dtype is want.dtype
        assert made.to_host().tolist() == want.tolist()
    with sz.domain_errors():
        root = sz.sqrt(y - 1)
    with pytest.raises(sz.InvalidArgument, match="outside the domain x >= 0"):
        root.to_host()


def test_workers_read_and_write_files(client: Any, tmp_path: Path) -> None:
    real = on_blocks(NUMBERS, (13, 11))
    scales = sz.quantize(real, sz.QT_CH_SYM_INT8)
    want = sz.quantize(sz.tensor(NUMBERS), sz.QT_CH_SYM_INT8)
    for module, name in (("zarr", "zarr"), ("h5py", "hdf5")):
        pytest.importorskip(module)
        getattr(cluster, f"to_{name}")(scales, tmp_path / name)
        found = getattr(cluster, f"from_{name}")(tmp_path / name)
        assert found.blocks == scales.blocks
        assert found.scale == want.scale
        assert (found.int_repr().to_host() == want.int_repr()).all()


def test_workers_of_another_version(client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from suanzi.runtimes.cluster import computing

    monkeypatch.setattr(computing, "__version__", "9.9")
    with pytest.raises(sz.InvalidArgument, match="and this is 9.9; install the same"):
        on_blocks([1, 2], 1).to_host()


def test_blocks_of_a_killed_worker_are_computed_again(client: Any, workers: Any) -> None:
    client.wait_for_workers(2, timeout=60)
    x = on_blocks(NUMBERS, (10, 10)).persist()
    distributed.wait(x, timeout=60)
    holds = {address: len(keys) for address, keys in client.has_what().items()}
    victim = max(holds, key=lambda address: holds[address])
    pids = client.run(os.getpid)
    os.kill(pids[victim], signal.SIGKILL)
    deadline = time.monotonic() + 60
    while victim in client.scheduler_info()["workers"] and time.monotonic() < deadline:
        time.sleep(0.1)
    assert np.array_equal((x + 1).to_host().numpy(), NUMBERS + 1)


def test_a_scheduler_that_goes_away() -> None:
    import dask

    with (
        distributed.LocalCluster(
            n_workers=1,
            threads_per_worker=1,
            processes=True,
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0",
        ) as other,
        distributed.Client(other, timeout=5) as lost,
        dask.config.set(scheduler=None),
    ):
        x = on_blocks(NUMBERS, (10, 10)).persist()
        distributed.wait(x, timeout=60)
        other.close()
        began = time.monotonic()
        with pytest.raises(sz.InternalError, match=r"^cluster: the scheduler is gone"):
            (x + 1).to_host()
        assert time.monotonic() - began < 60
        lost.close()
