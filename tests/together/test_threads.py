from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import suanzi as sz
from suanzi import _core

LARGE = 300_000  # elements: enough for several threads, and for Python's lock to be given up


@pytest.fixture(autouse=True)
def _same_count_before_and_after() -> Iterator[None]:
    before = sz.get_num_threads()
    yield
    sz.set_num_threads(before)


def together(functions: list[Callable[[], None]]) -> None:
    """Run functions at the same time, and raise what they raise."""
    barrier = threading.Barrier(len(functions))

    def start(function: Callable[[], None]) -> None:
        barrier.wait()
        function()

    with ThreadPoolExecutor(len(functions)) as pool:
        for future in [pool.submit(start, function) for function in functions]:
            future.result()


class TestCount:
    @pytest.mark.parametrize("count", [1, 2, 3, 1024])
    def test_is_kept(self, count: int) -> None:
        sz.set_num_threads(count)
        assert sz.get_num_threads() == count

    @pytest.mark.parametrize("count", [0, -1, 1025, 2**40, -(2**80)])
    def test_out_of_bounds(self, count: int) -> None:
        before = sz.get_num_threads()
        with pytest.raises(sz.InvalidArgument, match="1024"):
            sz.set_num_threads(count)
        assert sz.get_num_threads() == before

    @pytest.mark.parametrize("count", [None, "2", 2.0, [2]])
    def test_not_a_count(self, count: Any) -> None:
        with pytest.raises(TypeError):
            sz.set_num_threads(count)

    @pytest.mark.parametrize(
        ("value", "count"), [("3", 3), ("99999", 1024), ("0", None), ("-2", None), ("x", None)]
    )
    def test_environment(self, value: str, count: int | None) -> None:
        code = "import suanzi as sz; print(sz.get_num_threads())"
        found = run(code, SUANZI_NUM_THREADS=value)
        assert int(found) == (count or len(os.sched_getaffinity(0)))

    @pytest.mark.skipif(sys.platform != "linux", reason="limits of memory are Linux's")
    def test_those_that_cannot_be_started_are_done_without(self) -> None:
        """The stack of a thread is 4 GB, and 256 MB are left."""
        resource = pytest.importorskip("resource")
        for limit in (resource.RLIMIT_STACK, resource.RLIMIT_AS):
            hard = resource.getrlimit(limit)[1]
            if hard != resource.RLIM_INFINITY and hard < 1 << 32:
                pytest.skip(f"a limit of {hard} bytes, which 4 GB are beyond")
        code = """
import os, resource, numpy as np, suanzi as sz
size = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
hard = resource.getrlimit(resource.RLIMIT_AS)[1]
resource.setrlimit(resource.RLIMIT_AS, (size + (1 << 28), hard))
x = sz.tensor(np.arange(1 << 21, dtype=np.float32))
print((sz.add(x, x).numpy() == 2 * x.numpy()).all(), len(os.listdir("/proc/self/task")))
"""
        start = "import os, sys; from resource import RLIMIT_STACK as stack, getrlimit, setrlimit"
        start += "; setrlimit(stack, (1 << 32, getrlimit(stack)[1]))"
        start += f"; os.execv(sys.executable, [sys.executable, '-c', {code!r}])"
        found = run(start, SUANZI_NUM_THREADS="4", OPENBLAS_NUM_THREADS="1")
        assert found.split() == ["True", "1"]

    @pytest.mark.parametrize("name", ["add", "pow", "equal", "max", "muladd", "where", "cast"])
    def test_results_do_not_depend_on_it(self, name: str) -> None:
        rng = np.random.default_rng(1)
        x = sz.tensor(rng.standard_normal((500, 301)).astype(np.float32))
        views = [
            x,
            _core.view(x, 0, (301, 500), (1, 301)),
            _core.view(x, 150_499, (301, 500), (-1, -301)),
        ]
        y = sz.tensor(rng.standard_normal(500), sz.float16)

        def compute(v: sz.Tensor) -> sz.Tensor:
            small = y if v.shape[-1] == 500 else 0.5
            if name == "muladd":
                return sz.muladd(v, small, v)
            if name == "where":
                return sz.where(v > 0, v, small)
            if name == "cast":
                return sz.cast(v, sz.bfloat16)
            return getattr(sz, name)(v, small)

        for v in views:
            sz.set_num_threads(1)
            alone = bytes(_core.row_major_copy(compute(v)).storage)
            for count in (2, 3, 7):
                sz.set_num_threads(count)
                assert bytes(_core.row_major_copy(compute(v)).storage) == alone


class TestWaking:
    def test_loops_of_any_width_after_any_pause(self) -> None:
        x = sz.tensor(np.arange(LARGE, dtype=np.float64))
        expected = 2 * x.numpy()
        for i in range(60):
            sz.set_num_threads(1 + 7 * i % 24)  # some sleep, some wait, some are not there yet
            time.sleep(1e-4 * (i % 3))
            assert np.array_equal(sz.add(x, x).numpy(), expected)


class TestPythonThreads:
    def test_refusals_in_one_are_not_seen_in_others(self) -> None:
        x, y = sz.tensor([1], sz.int8), sz.tensor([1.5])

        def strict() -> None:
            for _ in range(200):
                with sz.promotion("strict"), pytest.raises(sz.TypeMismatch):
                    x + y

        def usual() -> None:
            for _ in range(200):
                assert (x + y).tolist() == [2.5]

        together([strict, usual, strict, usual])

    def test_the_pool_counts_right(self) -> None:
        before = _core.pool_info()

        def body() -> None:
            kept = []
            for i in range(300):
                kept.append(sz.tensor([float(i)] * (i % 50 + 1)))
                if i % 3 == 0:
                    kept.pop(0)
            assert [x.tolist()[0] for x in kept] == [float(i) for i in range(100, 300)]

        together([body] * 6)
        after = _core.pool_info()
        assert (after["in_use"], after["storages"]) == (before["in_use"], before["storages"])

    @pytest.mark.parametrize("name", ["inverse", "lu"])
    def test_matrices_destroyed_while_lapack_runs(self, name: str) -> None:
        """Singular matrices, and those with subnormal pivots, are read once more after LAPACK."""
        values = np.random.default_rng(1).standard_normal((6, 200, 200))
        values[:, -1] = values[:, 0] if name == "inverse" else 0
        values[:, -1, -1] += 0 if name == "inverse" else 1e-310
        x = sz.tensor(values)
        started = time.perf_counter()
        with contextlib.suppress(sz.InvalidArgument):
            getattr(sz, name)(x)
        taken = time.perf_counter() - started
        for part in range(1, 10):
            x = sz.tensor(values)
            timer = threading.Timer(taken * part / 20, _core.destroy, [x])
            timer.start()
            with contextlib.suppress(sz.StatusError):
                getattr(sz, name)(x)
            timer.join()

    @pytest.mark.parametrize("threads", [1, 2])
    def test_long_loops_let_others_run(self, threads: int) -> None:
        sz.set_num_threads(threads)
        x = sz.tensor(np.full(2_000_000, 1.5))
        steps, stop = [0], threading.Event()

        def count() -> None:
            while not stop.is_set():
                steps[0] += 1
                time.sleep(0)  # gives the lock back, which nobody is made to do here

        interval = sys.getswitchinterval()
        other = threading.Thread(target=count)
        sys.setswitchinterval(1000)
        try:
            other.start()
            before = steps[0]
            for _ in range(5):
                sz.pow(x, 1.1)
            after = steps[0]
        finally:
            sys.setswitchinterval(interval)
            stop.set()
            other.join()
        assert after > before


def run(code: str, **environment: str) -> str:
    """Run code in an interpreter of its own; one that hangs fails."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


PREPARE = """
import os, sys, threading
import numpy as np, suanzi as sz
from suanzi import _core
sz.set_num_threads(3)
array = np.arange(300_000, dtype=np.float32)
x = sz.tensor(array)
def check():
    assert ((x + 1).numpy() == array + 1).all()
    assert sz.tensor([1]).tolist() == [1]
check()
def wait(child):
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
class TestFork:
    def test_after_threads_were_started(self) -> None:
        run(
            PREPARE
            + """
for _ in range(3):
    child = os.fork()
    if not child:
        check()
        if sys.platform == "linux":  # threads of its own
            assert len(os.listdir("/proc/self/task")) > 1
        grandchild = os.fork()
        check()
        if grandchild:
            wait(grandchild)
        os._exit(0)
    check()
    wait(child)
"""
        )

    def test_while_loops_run(self) -> None:
        # The child of a fork in the middle of other threads' work finds no lock taken.
        run(
            PREPARE
            + """
stop = threading.Event()
def work():
    while not stop.is_set():
        check()
workers = [threading.Thread(target=work) for _ in range(3)]
for worker in workers:
    worker.start()
for _ in range(10):
    child = os.fork()
    if not child:
        check()
        with sz.promotion("numpy"):
            check()
        os._exit(0)
    wait(child)
stop.set()
for worker in workers:
    worker.join()
"""
        )

    @pytest.mark.parametrize("method", ["fork", "forkserver", "spawn"])
    def test_multiprocessing(self, method: str) -> None:
        """Children start while threads of the parent compute, and compute themselves."""
        run(
            PREPARE
            + f"""
import multiprocessing
stop = threading.Event()
def busy():
    while not stop.is_set():
        check()
workers = [threading.Thread(target=busy) for _ in range(2)]
for worker in workers:
    worker.start()
large = sz.full(shape=(300, 300), value=1.0)
try:
    with multiprocessing.get_context({method!r}).Pool(2) as pool:
        sums = pool.starmap(sz.add, [(sz.tensor([i], sz.bfloat16), 1) for i in range(10)])
        products = pool.starmap(sz.matmul, [(large, large)] * 2)
finally:
    stop.set()
assert [t.tolist() for t in sums] == [[i + 1] for i in range(10)]
assert all(t[0, 0].item() == 300 for t in products)
for worker in workers:
    worker.join()
"""
        )


@pytest.mark.parametrize("dtype", ["int8", "bfloat16", "float32", "int64"])
def test_places_in_elements_that_change_meanwhile_are_places(dtype: str) -> None:
    """What is found of elements that another thread writes to lies within the tensor."""
    count = 1 << 16
    x = sz.zeros((count,), sz.dtype(dtype))
    array = x.numpy()
    array[count // 4] = 1  # so that there is always something
    # One element is written again and again, by a single call that gives up Python's lock.
    last = np.lib.stride_tricks.as_strided(array[-1:], (100_000,), (0,))
    values = np.tile(np.array([0, -2, 7, -1], array.dtype), 25_000)
    done = threading.Event()

    def write() -> None:
        while not done.is_set():
            np.copyto(last, values)

    def check(found: sz.Tensor) -> None:
        assert 0 <= int(found.numpy().min()) <= int(found.numpy().max()) < count

    def search() -> None:
        try:
            for i in range(200):
                check(sz.argmax(x))
                check(sz.argmin(x))
                if i % 20 == 0:
                    check(sz.topk(x, 3)[1])
                    check(sz.topk(x, count // 2)[1])
                    check(sz.argsort(x)[1])
                    check(sz.nonzero(x)[0])
        finally:
            done.set()

    together([write, search])
