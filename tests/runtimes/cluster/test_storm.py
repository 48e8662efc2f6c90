"""Random programs on real workers that are killed and paused meanwhile: the bits of one tensor, or
a clear error, and never a hang."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import suanzi as sz

distributed = pytest.importorskip("distributed", reason="a cluster is Dask's")
pytest.importorskip("suanzi.cluster", reason="tensors of blocks are Dask's")
programs = pytest.importorskip("runtimes.cluster.test_programs")

pytestmark = pytest.mark.filterwarnings("ignore")  # Dask's, of connections that end
PROGRAMS = int(os.environ.get("SUANZI_STORM", "12"))
LONGEST = 120
"""Seconds after which a program counts as hung; it takes less than one on a quiet machine."""


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    import dask

    with (
        distributed.LocalCluster(
            n_workers=3,
            threads_per_worker=1,
            processes=True,
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0",
            memory_limit="512 MiB",
        ) as workers,
        dask.config.set(scheduler=None, **{"distributed.scheduler.allowed-failures": 20}),
        distributed.Client(workers) as client,
    ):
        yield client


def trouble(pids: list[int], end: threading.Event, seed: int) -> None:
    """Kill or pause workers, one at a time and twice; a killed one takes seconds to come back."""
    choose = random.Random(seed)
    for _ in range(2):
        if end.wait(choose.uniform(0, 0.3)):
            return
        pid = choose.choice(pids)
        with contextlib.suppress(ProcessLookupError):
            if choose.random() < 0.3:
                os.kill(pid, signal.SIGKILL)  # its nanny starts another
            else:
                os.kill(pid, signal.SIGSTOP)
                time.sleep(choose.uniform(0, 0.3))
                os.kill(pid, signal.SIGCONT)


def computed(tensor: Any) -> list[Any]:
    """Return the result of a program, or its error, computed in another thread."""
    result: list[Any] = []

    def compute() -> None:
        try:
            result.append(tensor.to_host())
        except Exception as error:
            result.append(error)

    thread = threading.Thread(target=compute, daemon=True)
    thread.start()
    thread.join(LONGEST)
    return result


@settings(max_examples=PROGRAMS)
@given(data=st.data(), seed=st.integers(0, 2**32))
def test_programs_on_troubled_workers(client: Any, data: Any, seed: int) -> None:
    shape = tuple(data.draw(st.lists(programs.SIZES, min_size=1, max_size=3)))
    host, there = programs.drawn(data, shape, data.draw(st.sampled_from(programs.DTYPES)))
    for _ in range(data.draw(st.integers(1, 5))):
        host, there = programs.step(data, host, there)
    client.wait_for_workers(3, timeout=LONGEST)
    pids = list(client.run(os.getpid, on_error="return").values())
    end = threading.Event()
    culprit = threading.Thread(target=trouble, args=([p for p in pids if p], end, seed))
    culprit.start()
    try:
        result = computed(there)
    finally:
        end.set()
        culprit.join()
    assert result, "the program hangs"
    if isinstance(result[0], Exception):
        assert isinstance(result[0], sz.InternalError), repr(result[0])
    else:
        assert (result[0].shape, result[0].dtype) == (host.shape, host.dtype)
        assert result[0].tolist() == host.tolist()
