"""7.2.17.1, .2, .12, .13: products do not depend on threads or levels, and leave BLAS be."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

import suanzi as sz
from helpers.matrices import sample
from suanzi import _core
from suanzi.ops.libraries import blas
from suanzi.promote.registry import COMPLEX, NUMBERS

SHAPES = [((4, 4), (4, 4)), ((31, 17), (17, 29)), ((3, 100000), (100000,)), ((200000,), (200000,)),
          ((600,), (600, 1500)), ((70, 33), (33, 5))]  # fmt: skip


@pytest.mark.parametrize("shapes", SHAPES, ids=str)
@pytest.mark.parametrize("dt", NUMBERS, ids=str)
def test_our_own_kernels_give_the_same_bits_on_every_level(shapes: Any, dt: sz.DType) -> None:
    if dt in (sz.float64, *COMPLEX) and shapes[0][0] > 30 and len(shapes[1]) > 1:
        # Larger matrices are BLAS's, or multiplied in tiles at the levels that can.
        shapes = ((7, 8), (8, 9)) if dt in COMPLEX else ((17, 9), (9, 21))
    x, y = (sample(shape, dt, i) for i, shape in enumerate(shapes))
    found = []
    for level in _core.levels():
        _core.use_level(level)
        for threads in (1, 3):
            sz.set_num_threads(threads)
            found.append((x @ y).numpy().tobytes())
    assert len(set(found)) == 1


@pytest.mark.parametrize(
    ("m", "k", "n"),
    [(2, 1, 2), (3, 3, 3), (8, 4, 8), (12, 9, 20), (12, 65, 12), (9, 7, 17), (65, 513, 257)],
)
@pytest.mark.parametrize("dt", [np.int8, np.uint8, np.int16, np.int32], ids=lambda dt: dt.__name__)
def test_integers_wrap_alike_around_the_edges_of_tiles(
    dt: type[np.integer[Any]], m: int, k: int, n: int
) -> None:
    ends = np.iinfo(dt)
    rng = np.random.default_rng([m, k, n])
    x, y = (rng.integers(ends.min, ends.max + 1, shape, dtype=dt) for shape in ((m, k), (k, n)))
    x[0], y[:, 0] = ends.min, ends.min  # the largest products there are
    x[-1], y[:, -1] = ends.max, ends.max
    expected = (x.astype(np.int64) @ y.astype(np.int64)).astype(dt)
    a, b = sz.tensor(x), sz.tensor(y)
    other_a, other_b = (sz.transpose(sz.contiguous(sz.transpose(t))) for t in (a, b))
    for level in _core.levels():
        _core.use_level(level)
        assert np.array_equal((a @ b).numpy(), expected), level
        assert np.array_equal((other_a @ other_b).numpy(), expected), level


@pytest.mark.parametrize(("k", "n"), [(7, 1), (300, 15), (130, 4097), (20000, 3), (70000, 2)])
@pytest.mark.parametrize("dt", [np.int8, np.uint16], ids=lambda dt: dt.__name__)
def test_vectors_of_integers_wrap_whatever_their_parts_are(
    dt: type[np.integer[Any]], k: int, n: int
) -> None:
    ends = np.iinfo(dt)
    rng = np.random.default_rng([k, n])
    x, y = (rng.integers(ends.min, ends.max + 1, shape, dtype=dt) for shape in ((k,), (k, n)))
    expected = (x.astype(np.int64) @ y.astype(np.int64)).astype(dt)
    a, b = sz.tensor(x), sz.tensor(y)
    for level in _core.levels():
        _core.use_level(level)
        for threads in (1, 3):
            sz.set_num_threads(threads)
            assert np.array_equal((a @ b).numpy(), expected), (level, threads)
            assert np.array_equal((sz.contiguous(b.T) @ a).numpy(), expected), (level, threads)


@pytest.mark.parametrize(
    "shapes",
    [((1100, 90), (90, 1300)), ((333, 1001), (1001, 517)), ((700, 701), (701, 702)),
     ((40, 61, 50), (40, 50, 63)), ((3, 500, 50), (50, 600))],
    ids=str,
)  # fmt: skip
@pytest.mark.parametrize(
    "dt", [sz.float32, sz.float64, sz.complex64, sz.bfloat16, sz.int8], ids=str
)
def test_the_number_of_threads_changes_nothing(shapes: Any, dt: sz.DType) -> None:
    """The library behind has threads of its own, which would."""
    x, y = (sample(shape, dt, i) for i, shape in enumerate(shapes))
    found = []
    for threads in (1, 2, 5):
        sz.set_num_threads(threads)
        found.append((x @ y).numpy().tobytes())
    assert len(set(found)) == 1


def test_blas_keeps_its_threads() -> None:
    x = sz.tensor(np.ones((100, 100)))
    assert (x @ x).numpy()[0, 0] == 100
    libraries = blas.libraries()
    if not libraries:
        pytest.skip("it is not known which BLAS SciPy has")
    before = [one.num_threads for one in libraries]
    for one in libraries:
        one.set_num_threads(2)
    try:
        set_to = [one.num_threads for one in libraries]
        workers = [threading.Thread(target=lambda: [x @ x for _ in range(20)]) for _ in range(3)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        assert [one.num_threads for one in libraries] == set_to
    finally:
        for one, count in zip(libraries, before, strict=True):
            one.set_num_threads(count)


def test_the_threads_of_blas_change_nothing() -> None:
    """With two, OpenBLAS adds up a product of these sizes in another order."""
    x, y = (sample(shape, sz.float32, i) for i, shape in enumerate([(333, 1001), (1001, 517)]))
    assert (x @ y).shape == (333, 517)  # loads it
    libraries = blas.libraries()
    if not libraries:
        pytest.skip("it is not known which BLAS SciPy has")
    before, found = [one.num_threads for one in libraries], []
    try:
        for threads in (1, 2, 3):
            for one in libraries:
                one.set_num_threads(threads)
            found.append((x @ y).numpy().tobytes())
    finally:
        for one, count in zip(libraries, before, strict=True):
            one.set_num_threads(count)
    assert len(set(found)) == 1


class Library:
    """Something with threads, as threadpoolctl describes it."""

    def __init__(self, count: int) -> None:
        self.num_threads = count
        self.history: list[int] = []

    def set_num_threads(self, count: int) -> None:
        self.num_threads = count
        self.history.append(count)


def test_one_thread_while_products_run() -> None:
    libraries = [Library(4), Library(1)]
    limit = blas.OneThread(libraries)
    limit(True)
    limit(True)
    assert [one.num_threads for one in libraries] == [1, 1]
    limit(False)
    assert [one.num_threads for one in libraries] == [1, 1]
    limit(False)
    assert [one.num_threads for one in libraries] == [4, 1]
    assert libraries[1].history == []


def test_which_library_is_scipys() -> None:
    """NumPy's has a name like it."""
    assert blas._is_of_scipy("/x/site-packages/scipy.libs/libscipy_openblas-1.so")
    assert blas._is_of_scipy("/x/site-packages/scipy/.dylibs/libscipy_openblas.dylib")
    assert not blas._is_of_scipy("/x/site-packages/numpy.libs/libscipy_openblas64_-1.so")
    assert not blas._is_of_scipy("/usr/lib/libopenblas.so")
    assert blas.addresses([]) is None


def test_a_large_product_of_threads_at_once() -> None:
    """Products in several Python threads, each with parts for the pool."""
    x = sz.tensor(np.random.default_rng(1).standard_normal((600, 600)))
    expected = (x @ x).numpy().tobytes()
    found: list[bytes] = []
    workers = [
        threading.Thread(target=lambda: found.append((x @ x).numpy().tobytes())) for _ in range(4)
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert set(found) == {expected}
