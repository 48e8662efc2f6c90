"""Tensors of blocks against arrays of Dask on NumPy chunks: processor time, in turns, in one run.

    python benchmarks/cluster.py              # overhead, speed, memory, workers
    python benchmarks/cluster.py speed        # one of them

`overhead` and `speed` compute in this process (Dask's synchronous scheduler), so that the time is
the processor's and another program's load does not count. `memory` and `workers` start processes:
there the processor time of all workers is added up, and the clock is printed next to it.
"""

# ruff: noqa: E402
from __future__ import annotations

import os
import statistics
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

# Dask would take benchmarks/sparse.py for the package of that name.
sys.path[:] = [path for path in sys.path if Path(path or ".").resolve() != Path(__file__).parent]

# Threads of OpenBLAS that wait for more would be counted with whatever runs next.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import dask
import dask.array as da
import ml_dtypes
import numpy as np

import suanzi as sz
from suanzi.runtimes.cluster import blocks
from suanzi.runtimes.cluster.provider import Provider

TURNS = 2
LIMIT = 256 << 20
"""The memory that a worker may have where data are larger."""


def middle(*calls: Callable[[], Any], turns: int = TURNS) -> list[float]:
    """Return the median processor time of each call in seconds; they take turns."""
    times: list[list[float]] = [[] for _ in calls]
    for turn in range(turns + 1):
        for call, mine in zip(calls, times, strict=True):
            begun = time.process_time()
            call()
            if turn:
                mine.append(time.process_time() - begun)
    return [statistics.median(mine) for mine in times]


def overhead() -> None:
    """Print what a block and a call cost where there is next to nothing to compute."""
    print("\noverhead: microseconds of processor time for each block, 256 blocks of 16 elements")
    print(f"{'':34}{'suanzi':>10}{'Dask':>10}")
    with blocks((4, 4)):
        x: Any = sz.zeros((64, 64), device="cluster")
        a = da.zeros((64, 64), chunks=(4, 4), dtype="f4")
        calls: dict[str, tuple[Callable[[], Any], Callable[[], Any]]] = {
            "one call, graph alone": (lambda: x + 1, lambda: a + 1),
            "one call, computed": (lambda: (x + 1).to_host(), lambda: (a + 1).compute()),
            "ten calls, computed": (lambda: tenfold(x).to_host(), lambda: tenfold(a).compute()),
            "sum, computed": (lambda: sz.reduce(x, "SUM").to_host(), lambda: a.sum().compute()),
        }
        for name, pair in calls.items():
            ours, theirs = middle(*pair)
            print(f"{name:34}{ours / 256 * 1e6:10.1f}{theirs / 256 * 1e6:10.1f}", flush=True)


def tenfold(x: Any) -> Any:
    """Return ten calls on each element."""
    for _ in range(10):
        x = x + 1
    return x


CASES: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "x * 2 + x": (lambda x: x * 2 + x, lambda x: x * 2 + x),
    "exp(x)": (sz.exp, np.exp),
    "tanh(x)": (sz.tanh, np.tanh),
    "x > 0": (lambda x: x > 0, lambda x: x > 0),
    "where(x > 0, x, -x)": (
        lambda x: sz.where(x > 0, x, -x),
        lambda x: np.where(x > 0, x, -x),
    ),
    "exp(tanh(3 x) x - x) / 2 + x x": (
        lambda x: sz.exp(sz.tanh(x * 3) * x - x) / 2 + x * x,
        lambda x: np.exp(np.tanh(x * 3) * x - x) / 2 + x * x,
    ),
    "sum of all": (lambda x: sz.reduce(x, "SUM"), lambda x: x.sum()),
    "mean of rows": (lambda x: sz.reduce(x, "MEAN", 1), lambda x: x.mean(axis=1)),
    "largest of columns": (lambda x: sz.reduce(x, "MAX", 0), lambda x: x.max(axis=0)),
    "cumsum of rows": (lambda x: sz.cumsum(x, 1), lambda x: x.cumsum(axis=1)),
    "x @ x": (lambda x: x @ x, lambda x: x @ x),
}


CUTS = {
    "2048 x 2048 in blocks of 512 x 512": (2048, 512, 4),
    "2048 x 2048 in one block": (2048, 2048, 4),
    "8192 x 8192 in one block": (8192, 8192, 1),
}
"""Rows of a square matrix, those of a block, and turns; bfloat16 of the last is 128 MiB."""


def speed() -> None:
    """Print how many times as fast as Dask on NumPy chunks operators are.

    Next to it stands what the kernels alone take, of one block on this machine without Dask, for as
    many blocks: what is left of the difference where blocks are large.
    """
    sz.set_num_threads(1)
    for where, (n, size, turns) in CUTS.items():
        print(f"\nspeed: {where}, milliseconds of processor time")
        print(f"{'':42}{'suanzi':>9}{'Dask':>9}{'times':>7}{'kernels':>11}{'NumPy':>9}{'times':>7}")
        numbers = np.random.default_rng(7).normal(size=(n, n))
        for dtype, numpy_dtype in (("float32", np.float32), ("bfloat16", ml_dtypes.bfloat16)):
            if dtype == "float32" and size == n:
                continue
            array = numbers.astype(numpy_dtype)
            for name, pair in CASES.items():
                # Dask has no product of bfloat16 in several blocks.
                is_product = (name, dtype) == ("x @ x", "bfloat16")
                if is_product and size == n:
                    continue
                some = array[:size, :size] if is_product else array
                print(f"{dtype + ' ' + name:42}{row(pair, some, size, turns)}", flush=True)


def row(pair: tuple[Callable[[Any], Any], ...], array: Any, size: int, turns: int) -> str:
    """Return what a case takes, cut and in its kernels alone."""
    ours, theirs = pair
    with blocks(size):
        x: Any = sz.tensor(array, device="cluster").persist()
    a = da.from_array(array, chunks=size).persist()
    block = array[:size, :size].copy()
    times = middle(
        partial(ours_of, ours, x),
        partial(theirs_of, theirs, a),
        partial(ours, sz.tensor(block)),
        partial(theirs, block),
        turns=turns,
    )
    took = [t * 1e3 for t in times[:2]] + [t * 1e3 * array.size / size**2 for t in times[2:]]
    return "".join(
        f"{p:{w}.2f}{q:9.2f}{q / p:7.1f}" for w, (p, q) in ((9, took[:2]), (11, took[2:]))
    )


def ours_of(call: Callable[[Any], Any], x: Any) -> Any:
    """Return what a call makes of blocks, gathered."""
    return call(x).to_host()


def theirs_of(call: Callable[[Any], Any], x: Any) -> Any:
    """Return what a call makes of chunks, gathered."""
    return call(x).compute()


def used(client: Any) -> float:
    """Return the processor time of all workers."""
    return sum(client.run(time.process_time).values())


def started(workers: int, **options: Any) -> Any:
    """Return a cluster of processes of this machine."""
    import distributed

    return distributed.LocalCluster(
        n_workers=workers, threads_per_worker=1, host="127.0.0.1", dashboard_address=None, **options
    )


def memory() -> None:
    """Compute with data that no worker's memory has room for."""
    import distributed

    print(
        f"\nmemory: 2 workers of {LIMIT >> 20} MiB; seconds of their processors, and of the clock"
    )
    print(f"{'':44}{'suanzi':>14}{'Dask':>14}")
    with started(2, memory_limit=LIMIT) as cluster, distributed.Client(cluster) as client:
        client.run(register)
        with blocks((1024, 1024)):
            x: Any = sz.rand_normal((16384, 16384), seed=7, device="cluster")
            w: Any = sz.rand_normal((1024, 256), seed=8, device="cluster")
            tall: Any = sz.rand_normal((262144, 1024), seed=9, device="cluster")
        rng = da.random.default_rng(7)
        a = rng.standard_normal((16384, 16384), dtype="f4", chunks=(1024, 1024))
        b = rng.standard_normal((1024, 256), dtype="f4", chunks=(1024, 256))
        c = rng.standard_normal((262144, 1024), dtype="f4", chunks=(1024, 1024))
        cases: dict[str, tuple[Callable[[], Any], Callable[[], Any]]] = {
            f"mean of {x.nbytes >> 20} MiB of random numbers": (
                lambda: sz.reduce(x, "MEAN").to_host(),
                lambda: a.mean().compute(),
            ),
            f"norm of a product, {tall.nbytes >> 20} MiB by 1 MiB": (
                lambda: sz.norm(tall @ w, "2").to_host(),
                lambda: da.linalg.norm(c @ b).compute(),
            ),
        }
        for name, pair in cases.items():
            told = ""
            for call in pair:
                before, clock = used(client), time.perf_counter()
                call()
                told += f"{used(client) - before:8.1f}{time.perf_counter() - clock:6.1f}"
            print(f"{name:44}{told}", flush=True)


def register() -> None:
    """Let a worker know the device, which an installed package announces by itself."""
    sz.register_device("cluster", Provider())


def workers() -> None:
    """Print what more workers gain over Dask, and what the scheduler pays for each task."""
    import distributed

    here = len(os.sched_getaffinity(0))
    n = 4096 if here >= 8 else 2048
    print(f"\nworkers: seconds of the clock, the better of two; {here} cores")
    print(f"{'':12}{'mean of 8192 x 8192 drawn':>30}{f'norm of x @ x, {n} x {n}':>30}")
    print(f"{'':12}{'suanzi':>20}{'Dask':>10}{'suanzi':>20}{'Dask':>10}", flush=True)
    for count in [n for n in (1, 2, 4, 8, 16) if n <= max(here, 4)]:
        with started(count) as cluster, distributed.Client(cluster) as client:
            client.run(alone)
            with blocks(1024):
                drawn: Any = sz.rand_normal((8192, 8192), seed=7, device="cluster")
            with blocks(512):
                x: Any = sz.rand_normal((n, n), seed=7, device="cluster").persist()
            rng = da.random.default_rng(7)
            c = rng.standard_normal((8192, 8192), dtype="f4", chunks=1024)
            a = rng.standard_normal((n, n), dtype="f4", chunks=512).persist()
            distributed.wait([x, a])
            calls: list[Callable[[], Any]] = [
                partial(ours_of, lambda x: sz.reduce(x, "MEAN"), drawn),
                partial(theirs_of, lambda c: c.mean(), c),
                partial(ours_of, lambda x: sz.norm(x @ x, "2"), x),
                partial(theirs_of, lambda a: da.linalg.norm(a @ a), a),
            ]
            took = [min(seconds(call) for _ in range(2)) for call in calls]
            widths = (20, 10, 20, 10)
            told = "".join(f"{t:{w}.2f}" for t, w in zip(took, widths, strict=True))
            print(f"{count:3} workers {told}", flush=True)
            if count == min(here, 16):
                tasks = 2000
                begun = time.process_time()
                distributed.wait(client.map(int, range(tasks), pure=False))
                cost = (time.process_time() - begun) / tasks
                print(f"scheduler and client: {cost * 1e6:.0f} us of processor time a task")


def alone() -> None:
    """Let a worker compute with one thread, for it has one core."""
    sz.set_num_threads(1)


def seconds(call: Callable[[], Any]) -> float:
    """Return how long a call takes by the clock."""
    begun = time.perf_counter()
    call()
    return time.perf_counter() - begun


def main(names: list[str]) -> None:
    """Run what is named, or everything."""
    register()
    with dask.config.set(scheduler="sync"):
        for call in (overhead, speed):
            if not names or call.__name__ in names:
                call()
    for call in (memory, workers):
        if not names or call.__name__ in names:
            call()


if __name__ == "__main__":
    main(sys.argv[1:])
