"""A run on a Dask cluster, with workers that die and a scheduler that goes away."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from typing import Any

import pytest

import suanzi as sz
from suanzi.conformance.check import Progress, check
from suanzi.conformance.model.results import Run
from suanzi.conformance.running import cluster

distributed = pytest.importorskip("distributed", reason="Dask is not installed")

ASKED: dict[str, Any] = {
    "ops": ["rint", "add", "trunc", "mul", "floor", "ceil"],
    "dtypes": ["float16"],
    "quick": True,
}


@pytest.fixture
def workers() -> Iterator[Any]:
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address=None
    ) as started:
        yield started


def alike(a: Run, b: Run) -> bool:
    return [r.to_dict() for r in a.results] == [r.to_dict() for r in b.results]


def test_the_report_is_that_of_one_machine() -> None:
    told: list[Progress] = []
    run = check("suanzi", cluster="local:2", progress=told.append, **ASKED)
    assert alike(run, check("suanzi", jobs=1, **ASKED))
    assert {one.op for one in told} == set(ASKED["ops"])
    assert run.settings["cluster"] == "local:2"


def test_a_worker_that_dies(workers: Any) -> None:
    def kill_one(_: Progress) -> None:
        if processes:
            os.kill(processes.pop(), signal.SIGKILL)

    processes = [worker.pid for worker in workers.workers.values()][:1]
    assert processes[0] is not None
    run = check("suanzi", cluster=workers.scheduler_address, progress=kill_one, **ASKED)
    assert not processes
    assert not run.unfinished
    assert alike(run, check("suanzi", jobs=1, **ASKED))


def test_a_scheduler_that_goes_away(workers: Any) -> None:
    def close(_: Progress) -> None:
        workers.close()

    run = check("suanzi", cluster=workers.scheduler_address, progress=close, **ASKED)
    assert run.unfinished
    assert "scheduler" in run.settings["interrupted"]
    assert run.results


def test_versions_that_differ(workers: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "__version__", "9.9")
    with pytest.raises(sz.InvalidArgument, match=r"and this is 9\.9; install the same version"):
        check("suanzi", cluster=workers.scheduler_address, **ASKED)


@pytest.mark.parametrize(
    ("where", "words"),
    [
        ("local", "is no cluster"),
        ("local:0", "a cluster of no processes"),
        ("here", "is no cluster"),
        ("tcp://127.0.0.1:9", "no scheduler answers at tcp://127.0.0.1:9"),
        ("nothing://x", "no scheduler answers at nothing://x"),
    ],
)
def test_no_cluster(where: str, words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "_CONNECT_SECONDS", 1)
    with pytest.raises(sz.InvalidArgument, match=f"^check: .*{words}"):
        check("suanzi", cluster=where, **ASKED)
