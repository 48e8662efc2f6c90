"""Python threads in the same code at once: fast paths, views, the pool, and tensors that go away.

They check results, and are what `.ci/sanitize thread` runs for races.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import numpy as np
import pytest

import suanzi as sz
from suanzi import _core

LARGE = 200_000  # elements: enough for several threads, and for Python's lock to be given up


@pytest.fixture(autouse=True)
def _several_threads() -> Iterator[None]:
    before = sz.get_num_threads()
    sz.set_num_threads(3)
    yield
    sz.set_num_threads(before)


def at_once(function: Callable[[int], None], count: int = 4) -> None:
    barrier = threading.Barrier(count)

    def start(i: int) -> None:
        barrier.wait()
        function(i)

    with ThreadPoolExecutor(count) as pool:
        for job in [pool.submit(start, i) for i in range(count)]:
            job.result()


def test_fast_paths_on_shared_operands() -> None:
    x, y = sz.tensor([1.0, 2, 3]), sz.tensor([4, 5, 6], sz.int32)
    calls: list[tuple[Callable[[], sz.Tensor], list[float]]] = [
        (lambda: x + y, [5, 7, 9]),
        (lambda: sz.exp(x * 0), [1, 1, 1]),
        (lambda: sz.where(x > 1, x, y), [4, 2, 3]),
        (lambda: sz.reduce(x, "SUM"), [6]),
        (lambda: sz.cumsum(x, 0), [1, 3, 6]),
        (lambda: sz.matmul(x, x), [14]),
        (lambda: sz.concat([x, x], 0)[:3], [1, 2, 3]),
        (lambda: sz.argsort(x)[1], [2, 1, 0]),
        (lambda: x[::-1], [3, 2, 1]),
    ]

    def work(i: int) -> None:
        for _ in range(60):
            for function, expected in calls:
                assert function().reshape(-1).tolist() == expected

    at_once(work)


def test_large_loops_share_the_threads() -> None:
    array = np.arange(LARGE, dtype=np.float32)
    x, strided = sz.tensor(array), sz.tensor(np.repeat(array, 2))[::2]

    def work(i: int) -> None:
        for _ in range(5):
            assert ((x + i).numpy() == array + i).all()
            assert (sz.mul(strided, i).numpy() == array * i).all()
            assert sz.reduce(x, "MAX").item() == LARGE - 1
            assert sz.cast(x, sz.int64).numpy()[-1] == LARGE - 1
            assert sz.argmax(x).item() == LARGE - 1

    at_once(work)


def test_products_at_once() -> None:
    a = np.arange(300 * 300, dtype=np.float64).reshape(300, 300) % 7
    x, expected = sz.tensor(a), a @ a

    def work(i: int) -> None:
        for _ in range(3):
            assert (sz.matmul(x, x).numpy() == expected).all()
            assert sz.solve(x + np.eye(300) * 1000, x[0], False).shape == (300,)

    at_once(work)


def test_the_pool_gives_and_takes() -> None:
    def work(i: int) -> None:
        kept = []
        for n in range(200):
            kept.append(sz.full("float32", "cpu", (1 + n * 37 % 5000,), float(i)))
            if n % 3 == 0:
                assert (kept.pop(0).numpy() == i).all()
            if n % 50 == 0:
                _core.trim_pool()
                _core.pool_info()

    at_once(work)


def test_tensors_destroyed_while_they_are_read() -> None:
    for _ in range(10):
        x = sz.tensor(np.full(LARGE, 2.0))
        view = x[1:]

        def work(i: int, x: sz.Tensor = x, view: sz.Tensor = view) -> None:
            if i == 0:
                sz.destroy(x)
                for _ in range(3):
                    sz.tensor(np.full(LARGE, 9.0))  # who gets the memory next writes to it
                return
            with suppress(sz.UninitializedObject):
                assert (sz.mul(x, x).numpy() == 4).all()
            assert (sz.mul(view, view).numpy() == 4).all()

        at_once(work)


def test_rule_sets_and_counts_change_meanwhile() -> None:
    x, y = sz.tensor([1, 2], sz.int32), sz.tensor([0.5, 1], sz.float16)

    def work(i: int) -> None:
        for n in range(100):
            with sz.promotion(["numpy", "torch", "cann", "jax"][i]):
                assert (x + y).tolist() == [1.5, 3]
            if i == 0:
                sz.set_num_threads(1 + n % 4)

    at_once(work)


def test_chances_destroyed_while_they_are_drawn() -> None:
    """The memory is kept, but whoever asks a destroyed tensor where it is gets nothing."""
    for n in range(25):
        chances = sz.tensor(np.full(1 << 20, 0.5, np.float32))

        def work(i: int, chances: sz.Tensor = chances, n: int = n) -> None:
            if i == 0:
                time.sleep(0.0004 * (n % 8))
                sz.destroy(chances)
                return
            with suppress(sz.UninitializedObject):
                assert 0.4 < sz.reduce(sz.rand_bernoulli(chances, seed=n), "MEAN").item() < 0.6

        at_once(work, 2)


ROWS, EACH = 1000, 1000


def fill_rows(pointers: sz.Tensor, columns: sz.Tensor, values: sz.Tensor) -> None:
    _core.fill_rows(sz.empty((ROWS, EACH)), pointers, columns, values)


@pytest.mark.parametrize(
    "call",
    [
        lambda p, c, v: _core.sum_rows(p, v),
        lambda p, c, v: _core.sort_rows(p, sz.cast(c, sz.int32), v),
        lambda p, c, v: _core.unite_rows(p, c, v, p, c, v),
        lambda p, c, v: _core.common_rows(p, c, p, c),
        fill_rows,
    ],
    ids=["sum", "sort", "unite", "common", "fill"],
)
def test_row_pointers_that_change_after_they_were_checked(call: Callable[..., object]) -> None:
    """What comes of it is anything, from inside the tensors."""
    rows = np.arange(ROWS + 1) * EACH
    pointers = sz.tensor(rows)
    columns, values = sz.tensor(np.tile(np.arange(EACH), ROWS)), sz.zeros((ROWS * EACH,))
    written = np.frombuffer(pointers.storage.memory, np.int64)
    done = threading.Event()

    def change() -> None:
        while not done.is_set():
            written[500:999] = 1 << 50
            time.sleep(0.0001)
            written[500:999] = rows[500:999]
            time.sleep(0.0001)

    other = threading.Thread(target=change)
    other.start()
    try:
        taken = 0
        while taken < 12:
            try:
                call(pointers, columns, values)
                taken += 1
            except ValueError:
                time.sleep(0.0001)
    finally:
        done.set()
        other.join()
