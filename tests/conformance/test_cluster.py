"""A run on a Dask cluster, with workers that die and a scheduler that goes away."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import suanzi as sz
from suanzi.conformance.check import Progress, check
from suanzi.conformance.model.results import Run
from suanzi.conformance.running import cluster, run
from suanzi.conformance.running.process import Backend

distributed = pytest.importorskip("distributed", reason="Dask is not installed")
psutil = pytest.importorskip("psutil", reason="Dask is not installed")

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


def begun_by_this() -> list[Any]:
    own = psutil.Process()
    return [own, *own.children(recursive=True)]


def listening() -> set[str]:
    """Return the addresses at which this process, and all that it began, listen."""
    found: set[str] = set()
    for process in begun_by_this():
        try:
            met = process.net_connections(kind="inet")
        except psutil.NoSuchProcess:
            continue
        found.update(one.laddr.ip for one in met if one.status == psutil.CONN_LISTEN)
    return found


def subjects() -> list[int]:
    """Return the processes of subjects that are there."""
    found = []
    for process in begun_by_this():
        try:
            if any(word.endswith("subjects/worker.py") for word in process.cmdline()):
                found.append(process.pid)
        except psutil.NoSuchProcess:
            continue
    return found


def test_the_report_is_that_of_one_machine() -> None:
    told: list[Progress] = []
    where: set[str] = set()

    def look(progress: Progress) -> None:
        told.append(progress)
        where.update(listening())

    found = check("suanzi", cluster="local:2", progress=look, **ASKED)
    assert alike(found, check("suanzi", jobs=1, **ASKED))
    assert {one.op for one in told} == set(ASKED["ops"])
    assert [one.done for one in told] == [1, 2, 3, 4, 5, 6]
    assert all({r.op for r in one.results} == {one.op} for one in told)
    assert found.settings["cluster"] == "local:2"
    assert where == {"127.0.0.1"}


def test_a_worker_that_dies(workers: Any) -> None:
    def kill_one(_: Progress) -> None:
        if processes:
            os.kill(processes.pop(), signal.SIGKILL)

    processes = [worker.pid for worker in workers.workers.values()][:1]
    assert processes[0] is not None
    found = check("suanzi", cluster=workers.scheduler_address, progress=kill_one, **ASKED)
    assert not processes
    assert not found.unfinished
    assert not subjects()  # of a cluster that stays
    assert alike(found, check("suanzi", jobs=1, **ASKED))


def test_a_scheduler_that_goes_away(workers: Any) -> None:
    def close(_: Progress) -> None:
        workers.close()

    found = check("suanzi", cluster=workers.scheduler_address, progress=close, **ASKED)
    assert found.unfinished
    assert "scheduler" in found.settings["interrupted"]
    assert found.results


def test_versions_that_differ(workers: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "VERSION", "9.9")
    with pytest.raises(sz.InvalidArgument, match=r"and this is 9\.9; install the same version"):
        check("suanzi", cluster=workers.scheduler_address, **ASKED)


@pytest.mark.parametrize(
    ("theirs", "words"), [(None, "has no suanzi"), ("0.0.9", r"has suanzi 0\.0\.9")]
)
def test_one_worker_of_another_version(theirs: str | None, words: str) -> None:
    def run(version: Callable[[], str | None]) -> dict[str, str | None]:
        return {"tcp://a": version(), "tcp://b": theirs}

    client = SimpleNamespace(wait_for_workers=lambda n, timeout: None, run=run)
    with pytest.raises(sz.InvalidArgument, match=f"the worker tcp://b {words}, and this is"):
        cluster._see_versions(client, "tcp://x", "check")


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (distributed.KilledWorker("add", SimpleNamespace(address="x"), 3), "one worker after an"),
        (CancelledError(), "lost add; its scheduler may be gone"),
        (TimeoutError(), "lost add; its scheduler may be gone"),
        (OSError("broken pipe"), "lost add; its scheduler may be gone"),
        (ModuleNotFoundError("no mpmath"), "add: ModuleNotFoundError: no mpmath"),
    ],
)
def test_what_is_lost_is_told(error: Exception, words: str) -> None:
    """And is never taken for an interface without cases."""

    def result(timeout: float) -> None:
        raise error

    job: Any = SimpleNamespace(op="add")
    with pytest.raises(sz.InternalError, match=words):
        cluster._outcome(SimpleNamespace(result=result), job.op, "tcp://x", "check")


def test_a_subject_whose_job_failed_is_not_used_again(monkeypatch: pytest.MonkeyPatch) -> None:
    ended = []

    class Failing:
        def __init__(self, backend: Backend, timeout: float) -> None:
            pass

        def __enter__(self) -> Failing:
            return self

        def close(self) -> None:
            ended.append(self)

    def fail(*_: object) -> None:
        raise MemoryError

    idle: dict[str, deque[Any]] = {}
    monkeypatch.setattr(cluster, "Subject", Failing)
    monkeypatch.setattr(cluster, "_idle", idle)
    monkeypatch.setattr(run, "run_job", fail)
    job: Any = SimpleNamespace(op="add")
    with pytest.raises(MemoryError):
        cluster._results(job, Backend("x", "x:X"), 1.0)
    assert len(ended) == 1
    assert not any(idle.values())


@pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl makes the certificate")
def test_the_certificates_of_dasks_configuration(tmp_path: Path) -> None:
    import dask

    key, certificate = str(tmp_path / "key.pem"), str(tmp_path / "certificate.pem")
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
         "-nodes", "-days", "2", "-subj", "/CN=localhost", "-keyout", key, "-out", certificate],
        check=True, capture_output=True,
    )  # fmt: skip
    tls: dict[str, Any] = {"distributed.comm.tls.ca-file": certificate}
    for role in ("client", "scheduler", "worker"):
        tls[f"distributed.comm.tls.{role}.key"] = key
        tls[f"distributed.comm.tls.{role}.cert"] = certificate
    asked: dict[str, Any] = {"ops": ["rint"], "dtypes": ["float16"], "quick": True}
    with dask.config.set(tls):
        own = distributed.Security(require_encryption=True)
        with distributed.LocalCluster(
            n_workers=1, threads_per_worker=1, host="tls://127.0.0.1", security=own,
            dashboard_address=None,
        ) as started:  # fmt: skip
            assert started.scheduler_address.startswith("tls://")
            found = check("suanzi", cluster=started.scheduler_address, **asked)
            assert alike(found, check("suanzi", jobs=1, **asked))
            with (
                dask.config.set(dict.fromkeys(tls)),
                pytest.raises(sz.InvalidArgument, match="no scheduler answers at tls://"),
            ):
                check("suanzi", cluster=started.scheduler_address, **asked)


@pytest.mark.parametrize(
    ("where", "words"),
    [
        ("local", "is no cluster"),
        ("local:0", "a cluster of no processes"),
        ("here", "is no cluster"),
        ("tcp://a host:8786", "is no cluster"),
        ("tcp://\x1b[31m", "is no cluster"),
        ("tcp://127.0.0.1:9", "no scheduler answers at tcp://127.0.0.1:9"),
        ("nothing://x", "no scheduler answers at nothing://x"),
    ],
)
def test_no_cluster(where: str, words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "_CONNECT_SECONDS", 1)
    with pytest.raises(sz.InvalidArgument, match=f"^check: .*{words}"):
        check("suanzi", cluster=where, **ASKED)
