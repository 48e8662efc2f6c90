from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import suanzi as sz
from helpers.every_operator import REGISTRY, function
from suanzi import _core
from suanzi.base.dtypes import DTYPES
from suanzi.tensors.parts import zeros

HUGE = 2**40


@pytest.fixture
def pool() -> Iterator[Callable[[], dict[str, int]]]:
    """The state of the pool, which is as it was before when the test is over."""
    gc.collect()
    before = _core.pool_info()
    # Some builds keep nothing; here every test is about what is kept.
    _core.bound_pool(2**28)
    _core.trim_pool()
    yield _core.pool_info
    _core.bound_pool(before["bound"])
    gc.collect()
    after = _core.pool_info()
    assert (after["in_use"], after["storages"]) == (before["in_use"], before["storages"])


def empty(*shape: int, dt: sz.DType = sz.float32) -> sz.Tensor:
    made: sz.Tensor = _core.empty(shape, dt)
    return made


def view(x: sz.Tensor, offset: int, shape: Any, strides: Any) -> sz.Tensor:
    made: sz.Tensor = _core.view(x, offset, shape, strides)
    return made


class TestAlignment:
    @pytest.mark.parametrize("size", [0, 1, 2, 15, 16, 17, 63, 1000, 2**15, 2**19, 2**20 + 1])
    @pytest.mark.parametrize("dt", [sz.int8, sz.float16, sz.float64, sz.complex128], ids=str)
    def test_64_bytes(self, size: int, dt: sz.DType) -> None:
        made = [empty(size, dt=dt) for _ in range(3)]
        assert all(x.storage.data % 64 == 0 for x in made)
        assert len({x.storage.data for x in made}) == 3

    def test_results_too(self) -> None:
        x = sz.tensor([1.0] * 5)
        for result in (x + 1, x == x, sz.cast(x, sz.int8), sz.tensor(x.numpy()[1:])):
            assert result.storage.data % 64 == 0

    @pytest.mark.parametrize("size", [0, 1, 31, 32, 33, 1000, 5000])
    def test_all_of_it_can_be_written(self, size: int) -> None:
        neighbours = [zeros((size,), sz.uint8) for _ in range(5)]
        memoryview(neighbours[2].storage)[:] = b"\xff" * size
        for i, x in enumerate(neighbours):
            assert bytes(x.storage) == (b"\xff" if i == 2 else b"\0") * size


class TestPool:
    def test_memory_is_used_again(self, pool: Callable[[], dict[str, int]]) -> None:
        x = empty(1000)
        address = x.storage.data
        del x
        assert pool()["cached"] >= 4000
        y = empty(1000)
        assert y.storage.data == address
        assert pool()["cached"] == 0

    def test_sizes_are_counted(self, pool: Callable[[], dict[str, int]]) -> None:
        start = pool()
        made = [empty(n, dt=sz.int8) for n in (0, 1, 100, 10_000, 1_000_000)]
        now = pool()
        assert now["storages"] == start["storages"] + 5
        used = now["in_use"] - start["in_use"]
        # Headers and size classes cost something, but not much.
        assert 1_010_101 <= used <= 1_010_101 * 1.3 + 5 * 256
        del made
        assert pool()["in_use"] == start["in_use"]
        assert pool()["cached"] == used

    def test_trim(self, pool: Callable[[], dict[str, int]]) -> None:
        made = [empty(n) for n in range(1, 10_000, 100)]
        del made
        assert pool()["cached"] > 0
        _core.trim_pool()
        assert pool()["cached"] == 0

    def test_bound(self, pool: Callable[[], dict[str, int]]) -> None:
        _core.bound_pool(100_000)
        assert pool()["bound"] == 100_000
        for _ in range(3):
            made = [empty(10_000, dt=sz.int8) for _ in range(50)]
            del made
            assert 50_000 < pool()["cached"] <= 100_000
        x = empty(200_000, dt=sz.int8)
        del x
        assert pool()["cached"] <= 100_000
        _core.bound_pool(0)
        assert pool()["cached"] == 0
        x = empty(10)
        del x
        assert pool()["cached"] == 0

    def test_views_keep_their_storage(self, pool: Callable[[], dict[str, int]]) -> None:
        start = pool()["storages"]
        x = sz.tensor([[1, 2], [3, 4]])
        rows = list(x)
        assert pool()["storages"] == start + 1
        del x
        assert pool()["storages"] == start + 1
        assert [row.tolist() for row in rows] == [[1, 2], [3, 4]]
        handle = rows[0].storage
        memory = memoryview(handle)
        del rows, handle
        assert pool()["storages"] == start + 1
        assert memory.nbytes == 32
        memory.release()
        assert pool()["storages"] == start

    def test_destroy_lets_go(self, pool: Callable[[], dict[str, int]]) -> None:
        start = pool()["storages"]
        x = sz.tensor([1, 2])
        row = next(iter(x))
        _core.destroy(x)
        assert pool()["storages"] == start + 1
        assert row.tolist() == 1
        _core.destroy(row)
        assert pool()["storages"] == start

    def test_foreign_memory_is_counted(self, pool: Callable[[], dict[str, int]]) -> None:
        start = pool()
        x = sz.from_dlpack(np.zeros(1000))
        now = pool()
        assert (now["storages"], now["in_use"]) == (start["storages"] + 1, start["in_use"])
        del x
        assert pool()["storages"] == start["storages"]

    def test_nothing_leaks(self, pool: Callable[[], dict[str, int]]) -> None:
        """Thousands of calls of every operator, most of which fail."""
        values: list[Any] = [
            sz.tensor([1, 2, 3], sz.int8),
            sz.tensor([[1.0], [0.0]], sz.float16),
            sz.tensor(np.zeros((2, 0))),
            sz.tensor(0),
            sz.tensor("text"),
            sz.tensor([1j]),
            view(sz.tensor(1.0), 0, (HUGE, 1), (0, 0)),
            view(sz.tensor(1.0), 0, (1, HUGE), (0, 0)),
            np.ones(3, ">f4"),
            0,
            10**30,
            None,
        ]
        gc.collect()
        start = pool()
        outcomes = {True: 0, False: 0}
        for name in REGISTRY.keys() - {"destroy"}:  # which would leave nothing to try
            for i, first in enumerate(values):
                for arguments in ((first,), *((first, x) for x in values), (first, 1, values[-i])):
                    if name == "trace_backward" and len(arguments) > 2:
                        continue
                    if name in ("nonzero", "norm", "reduce") and any(
                        isinstance(x, sz.Tensor) and x.size == HUGE for x in arguments
                    ):
                        continue  # no memory is missing: they would read it all
                    try:
                        function(name)(*arguments)
                        outcomes[True] += 1
                    except (sz.StatusError, TypeError):
                        outcomes[False] += 1
        gc.collect()
        now = pool()
        assert (now["in_use"], now["storages"]) == (start["in_use"], start["storages"])
        assert min(outcomes.values()) > 500


class TestZeros:
    """Large zeros are pages that nobody touched, dropped ones, or written ones."""

    @pytest.mark.parametrize("size", [1 << 21, (1 << 21) + 1, 5_000_003])
    def test_nothing_of_before_is_left(self, size: int, pool: Callable[[], dict[str, int]]) -> None:
        for touched in ([], [0], [size - 1], [size // 2, size - 1], range(0, size, 4096), []):
            x = sz.zeros((size,), sz.uint8)
            memory = x.numpy()
            assert not memory.any()
            memory[list(touched)] = 255
            del x, memory
            assert pool()["cached"] >= size

    def test_a_part_of_a_page_behind_is_left_alone(self) -> None:
        x = sz.zeros((1 << 21,), sz.uint8)
        assert sz.full(shape=((1 << 21) + 3,), dtype=sz.uint8, value=7).numpy().min() == 7
        assert not x.numpy().any()

    def test_minus_zero_is_written(self) -> None:
        assert np.signbit(sz.full(shape=(1 << 20,), value=-0.0).numpy()).all()


class TestCopyInto:
    @pytest.mark.parametrize("size", [3, 100, 3000, 70_000])
    @pytest.mark.parametrize("shift", [1, -1, 2, 64])
    def test_overlapping_rows(self, size: int, shift: int) -> None:
        array = np.arange(size + 64, dtype=np.int32)
        x = sz.tensor(array)
        to, source = (shift, 0) if shift > 0 else (0, -shift)
        _core.copy_into(view(x, to, (size,), (1,)), view(x, source, (size,), (1,)))
        expected = array.copy()
        expected[to : to + size] = array[source : source + size]
        np.testing.assert_array_equal(x.numpy(), expected)

    def test_overlap_by_broadcasting(self) -> None:
        x = sz.tensor([[1, 2, 3], [4, 5, 6]])
        _core.copy_into(x, view(x, 3, (3,), (1,)))
        assert x.tolist() == [[4, 5, 6], [4, 5, 6]]
        _core.copy_into(x, view(x, 1, (), ()))
        assert x.tolist() == [[5] * 3] * 2

    @pytest.mark.parametrize("shape", [(2,), (3, 3), (2, 2, 3), (0,)])
    def test_shapes_that_do_not_fit(self, shape: tuple[int, ...]) -> None:
        with pytest.raises(ValueError, match="shapes"):
            _core.copy_into(zeros((2, 3), sz.int8), zeros(shape, sz.int8))

    def test_nothing(self) -> None:
        _core.copy_into(empty(0, 3), empty(1, 3))
        _core.copy_into(empty(0, HUGE, HUGE), empty(1, 1))
        with pytest.raises(TypeError):
            _core.copy_into(5, empty(1))
        with pytest.raises(TypeError):
            _core.copy_into(empty(1), "x")


class TestViews:
    def test_what_leaves_the_storage_is_refused(self) -> None:
        x = empty(10)
        for offset, shape, strides in [
            (0, (11,), (1,)),
            (1, (10,), (1,)),
            (10, (), ()),
            (-1, (1,), (1,)),
            (0, (2,), (-1,)),
            (0, (3, 3), (5, 1)),
            (9, (2, 2), (-1, -9)),
            (5, (1, 2), (0, 5)),
        ]:
            with pytest.raises(IndexError):
                view(x, offset, shape, strides)

    def test_what_just_fits(self) -> None:
        x = sz.tensor(list(range(10)))
        assert view(x, 9, (10,), (-1,)).tolist() == list(range(9, -1, -1))
        assert view(x, 9, (1, 1), (10**6, -(10**6))).tolist() == [[9]]
        assert view(x, 4, (2, 2), (-4, 5)).tolist() == [[4, 9], [0, 5]]

    @pytest.mark.parametrize("offset", [-5, 0, 10, 11, 2**62])
    def test_an_empty_view_reads_nothing(self, offset: int) -> None:
        y = view(empty(10), offset, (2, 0), (1, 1))
        assert 0 <= y.offset <= 10
        assert (y + 1).tolist() == [[], []]

    def test_bad_shapes(self) -> None:
        x = empty(10)
        for shape, strides in [
            ((-1,), (1,)),
            ((2,), (1, 1)),
            ((2, 2), (1,)),
            ((HUGE, HUGE), (0, 0)),
            ((3, 3), (2**62, 2**62)),
            ((3,), (-(2**62),)),
        ]:
            with pytest.raises((ValueError, IndexError)):
                view(x, 0, shape, strides)

    def test_64_axes_and_no_more(self) -> None:
        x = sz.tensor([1.5])
        deep = view(x, 0, (1,) * 64, (0,) * 64)
        assert (deep + deep).shape == (1,) * 64
        assert view(x, 0, (2,) * 20 + (1,) * 44, (0,) * 64).size == 2**20
        with pytest.raises(ValueError, match="64"):
            view(x, 0, (1,) * 65, (0,) * 65)
        with pytest.raises(ValueError, match="64"):
            _core.empty((1,) * 65, sz.int8)
        with pytest.raises(sz.InvalidArgument, match="64"):
            sz.trace_backward(zeros((1,) * 63, sz.int8), (1,) * 65)

    def test_many_axes_that_do_not_merge(self) -> None:
        array = np.arange(2**12, dtype=np.int32).reshape((2,) * 12)
        turned = array.transpose([0, 7, 2, 9, 4, 11, 6, 1, 8, 3, 10, 5])[::-1, :, ::-1]
        x = sz.from_dlpack(turned)
        np.testing.assert_array_equal((x + sz.tensor(array)).numpy(), turned + array)
        np.testing.assert_array_equal(_core.row_major_copy(x).numpy(), turned)

    def test_overlapping_elements_as_operands(self) -> None:
        x = sz.tensor(list(range(10)))
        windows = view(x, 0, (6, 5), (1, 1))
        expected = np.lib.stride_tricks.sliding_window_view(np.arange(10), 5)
        np.testing.assert_array_equal((windows * windows).numpy(), expected * expected)
        repeated = view(x, 3, (4, 2), (0, 0))
        assert (repeated + x.numpy()[:2]).tolist() == [[3, 4]] * 4


class TestHugeShapes:
    @pytest.mark.parametrize("dt", DTYPES, ids=str)
    def test_creation(self, dt: sz.DType) -> None:
        for shape in [(HUGE, HUGE), (2**62,), (2**63 - 1,), (2**45, 8), (2**21,) * 3]:
            with pytest.raises(sz.AllocFailed):
                _core.empty(shape, dt)

    def test_broadcasting(self) -> None:
        one = sz.tensor(1.0)
        x, y = view(one, 0, (HUGE, 1), (0, 0)), view(one, 0, (1, HUGE), (0, 0))
        for call in (
            lambda: x + y,
            lambda: y + x,
            lambda: x == y,
            lambda: sz.muladd(x, y, 1),
            lambda: sz.where(sz.tensor(True), x, y),
            lambda: sz.logical_and(x, y),
            lambda: x + sz.tensor(1, sz.int8) + y,
        ):
            with pytest.raises(sz.AllocFailed):
                call()

    def test_huge_and_empty(self) -> None:
        x = _core.empty((HUGE, HUGE, 0), sz.float32)
        y = view(empty(1), 0, (HUGE, 1, 0), (0, 5, -7))
        for result in (x + y, x + 1, x == x, sz.cast(y, sz.int8), _core.row_major_copy(y)):
            assert result.size == 0
        assert (x + y).shape == (HUGE, HUGE, 0)
        assert sz.muladd(x, y, 1).shape == (HUGE, HUGE, 0)
        assert sz.where(x == x, x, y).shape == (HUGE, HUGE, 0)
        turned = view(empty(1), 0, (0, HUGE, HUGE), (1, 3, 5))
        assert (turned + turned).shape == (0, HUGE, HUGE)
        assert "shape=(1099511627776, 1099511627776, 0)" in repr(x)

    def test_nothing_is_left_behind(self, pool: Callable[[], dict[str, int]]) -> None:
        start = pool()
        for _ in range(1000):
            with pytest.raises(sz.AllocFailed):
                _core.empty((HUGE, HUGE), sz.float64)
        assert pool()["in_use"] == start["in_use"]


class TestInternalCalls:
    """The private functions check what they are given: a mistake in Python must not crash."""

    def test_numbers_of_operands(self) -> None:
        x = sz.tensor([1.0])
        for call in (
            lambda: _core.run_operator("muladd", [x, x], sz.float32),
            lambda: _core.run_operator("where", [x == x, x], sz.float32),
            lambda: _core.run_operator("where", [x, x, x], sz.float32),
            lambda: _core.run_operator("logical_and", [x], sz.float32),
            lambda: _core.run_exact_compare(0, [x]),
            lambda: _core.run_exact_compare(7, [x, x]),
            lambda: _core.run_operator("add", [x], sz.float32),
            lambda: _core.run_operator("add", [], sz.float32),
            lambda: _core.run_operator("add", [x] * 4, sz.float32),
            lambda: _core.run_operator("nonsense", [x, x], sz.float32),
        ):
            with pytest.raises(ValueError):  # noqa: PT011
                call()

    def test_shapes(self) -> None:
        x, y = sz.tensor([1.0, 2]), sz.tensor([1.0, 2, 3])
        with pytest.raises(ValueError, match="shapes"):
            _core.run_operator("muladd", [x, y, 1], sz.float32)
        with pytest.raises(ValueError, match="shapes"):
            _core.run_operator("add", [x, y], sz.float32)

    def test_memory(self) -> None:
        with pytest.raises(ValueError, match="length"):
            _core.wrap_memory(0, 0, sz.int8, (2, 0), (1,), 0, True, self)
        for call in (lambda: _core.view(5, 0, (), ()), lambda: _core.storage(None)):
            with pytest.raises(TypeError):
                call()
