"""7.2.1.3 to .6, .12, .13, .16, .18: what the cases of the kit leave out."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import suanzi as sz
from helpers import exact
from suanzi import _core

NUMBERS = exact.NAMES
SHAPES = [(), (0,), (1,), (5,), (2, 3), (3, 0, 2), (2, 3, 4), (1, 3, 1, 2)]


def every_layout(shape: tuple[int, ...]) -> list[tuple[int, ...]]:
    return list(itertools.permutations(range(len(shape))))


def check_layout(x: sz.Tensor, shape: tuple[int, ...], order: tuple[int, ...]) -> None:
    """Strides by the rule: the first axis of the order steps by 1, each next by what is before."""
    assert x.shape == shape
    step = 1
    for axis in order:
        if shape[axis] > 1 and x.size:
            assert x.strides[axis] == step
        step *= shape[axis]
    assert (x.offset, x.storage.size, x.size) == (0, math.prod(shape), math.prod(shape))
    assert x.device == x.storage.device == sz.Device("cpu")


@pytest.mark.parametrize("name", [*NUMBERS, "char"])
@pytest.mark.parametrize("shape", SHAPES)
def test_zeros(name: str, shape: tuple[int, ...]) -> None:
    dirty = sz.create_tensor(shape, b"\xff" * 1000, sz.dtype(name))
    del dirty  # whose memory is used again
    for order in every_layout(shape):
        x = sz.zeros(shape, name, layout=order)
        assert x.dtype is sz.dtype(name)
        check_layout(x, shape, order)
        assert bytes(x.storage.memory) == bytes(x.storage.nbytes)
        check_layout(sz.empty(shape, name, layout=order), shape, order)
    check_layout(sz.zeros(shape, sz.dtype(name)), shape, tuple(range(len(shape)))[::-1])
    assert sz.zeros(shape).dtype is sz.empty(shape).dtype is sz.float32
    assert sz.zeros(list(shape), sz.int8, "cpu").tolist() == np.zeros(shape, int).tolist()


@pytest.mark.parametrize("size", [1, 2, 3, 7, 8191, 8192, 8193, 100_003, 2**21 + 5, 2**24 + 3])
@pytest.mark.parametrize("name", ["int8", "float16", "float32", "complex128"])
def test_every_size_is_filled_to_the_last_element(name: str, size: int) -> None:
    if size > 2**22 and name == "complex128":
        size //= 8
    for value in (0, 3):
        x = sz.full(shape=(size,), value=value, dtype=sz.dtype(name))
        assert (x.numpy() == value).all()
    assert not sz.zeros((size,), name).numpy().any()


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_threads_fill_the_same(threads: int) -> None:
    before = sz.get_num_threads()
    sz.set_num_threads(threads)
    try:
        assert (sz.full(shape=(3_000_001,), value=0.1, dtype="f64").numpy() == 0.1).all()
    finally:
        sz.set_num_threads(before)


@pytest.mark.parametrize("shape", SHAPES)
def test_full_in_every_layout(shape: tuple[int, ...]) -> None:
    for order in every_layout(shape):
        x = sz.full(sz.int16, shape=shape, value=-5, layout=order)
        check_layout(x, shape, order)
        assert x.tolist() == np.full(shape, -5).tolist()
        same = sz.Layout(sz.LayoutType.DENSE, order)
        assert sz.full(sz.int16, shape=shape, value=-5, layout=same).strides == x.strides


def test_contiguous() -> None:
    for shape in SHAPES:
        for order in every_layout(shape):
            x = sz.create_tensor(
                shape, np.arange(math.prod(shape)).reshape(shape), "int64", layout=order
            )
            y = sz.contiguous(x)
            assert (y is x) == sz.is_contiguous(x)
            assert y.strides == np.empty(shape, "i1").strides or 0 in shape or 1 in shape
            assert sz.is_contiguous(y)
            assert y.tolist() == x.tolist()
    base = sz.tensor([[1, 2], [3, 4], [5, 6]])
    rows = _core.view(base, 2, (2, 2), (2, 1))
    assert sz.contiguous(rows) is rows  # it begins later, without a gap
    columns = _core.view(base, 1, (3,), (2,))
    assert sz.contiguous(columns).tolist() == [2, 4, 6]
    assert sz.contiguous(columns).storage.size == 3
    assert sz.contiguous(_core.view(base, 5, (6,), (-1,))).tolist() == [6, 5, 4, 3, 2, 1]
    assert sz.contiguous(_core.view(base, 0, (2, 2), (0, 0))).tolist() == [[1, 1], [1, 1]]


@pytest.mark.parametrize("name", [*NUMBERS, "char"])
def test_duplicate_keeps_everything_but_the_memory(name: str) -> None:
    raw = bytes(i % 2 for i in range(24 * 16))
    for order in every_layout((2, 3, 4)):
        x = sz.create_tensor((2, 3, 4), raw, name, layout=order)
        y = sz.duplicate(x)
        assert (y.dtype, y.shape, y.strides) == (x.dtype, x.shape, x.strides)
        assert y.storage != x.storage
        check_layout(y, (2, 3, 4), order)
        assert bytes(y.storage.memory) == bytes(x.storage.memory)
    part = _core.view(x, 3, (2, 2), (2, 5))
    y = sz.duplicate(part)
    assert y.tolist() == part.tolist()
    check_layout(y, (2, 2), (1, 0))


class TestDestroy:
    def test_it_is_gone_and_its_memory_too(self) -> None:
        before = _core.pool_info()["storages"]
        x = sz.tensor([1, 2])
        assert sz.destroy(x) is None  # type: ignore[func-returns-value]
        assert _core.pool_info()["storages"] <= before
        for use in (
            sz.destroy,
            sz.size,
            sz.duplicate,
            sz.is_nan,
            lambda t: t + 1,
            lambda t: t.shape,
        ):
            with pytest.raises(sz.UninitializedObject):
                use(x)

    def test_memory_lives_while_it_is_shared(self) -> None:
        x = sz.tensor([1, 2])
        y = sz.wrap_tensor((2,), sz.int64, values=x)
        array = x.numpy()
        sz.destroy(x)
        array[0] = 9
        assert y.tolist() == [9, 2]
        sz.destroy(y)
        assert array.tolist() == [9, 2]


# ---- range and linspace --------------------------------------------------------------------------


@settings(max_examples=100)
@given(st.integers(-(2**63), 2**63 - 1), st.integers(-(2**63), 2**63 - 1), st.integers(1, 40))
def test_range_of_64_bits(first: int, last: int, parts: int) -> None:
    step = (last - first) // parts
    if step == 0 or not -(2**63) <= step < 2**63:
        return
    assert sz.range(first, last, step, sz.int64).tolist() == list(
        range(first, last + (1 if step > 0 else -1), step)
    )


def test_a_limit_missed_by_rounding_is_reached_and_nothing_lies_beyond() -> None:
    assert sz.range(0, 0.3, 0.1, sz.float64).shape == (4,)
    assert sz.range(0, 0.3, 0.1).shape == (4,)
    for name, count in (("float32", 8), ("float64", 7)):  # 0.7 / 0.1 is 6.9999998 in float32
        assert sz.range(0, np.float32(0.7), np.float32(0.1), name).shape == (count,)
    # Where the tolerance would be more than a step.
    assert sz.range(0, 1024, 1, sz.float16).tolist() == list(range(1025))
    assert sz.range(0, 10, 1, sz.float8_e4m3fn).tolist() == list(range(11))
    assert sz.range(0, 1, 0.3, sz.float8_e5m2).shape == (4,)
    assert sz.range(0, 2**24, 4, sz.float32).shape == (2**22 + 1,)


@pytest.mark.parametrize("first", [0, 3, -40, 2.0**20])
@pytest.mark.parametrize("step", [0.1, 1 / 3, -0.7, 1 + 2.0**-23, 3, 2.0**-5])
def test_range_of_float32_is_rounded_once(first: float, step: float) -> None:
    found = sz.range(first, first + 99.5 * step, step, sz.float32)
    assert found.tolist() == (first + step * np.arange(100)).astype(np.float32).tolist()


def test_range_over_more_than_half_of_all_floats() -> None:
    big = 1.7e308
    for found, wanted in zip(sz.range(-big, big, 1e308, sz.float64).tolist(),
                             [-1.7e308, -0.7e308, 0.3e308, 1.3e308], strict=True):  # fmt: skip
        assert found == pytest.approx(wanted, rel=1e-15)


@pytest.mark.parametrize("blocks", [1, 2, 3])
def test_range_across_blocks(blocks: int) -> None:
    n = (1 << 14) * blocks + 1
    assert (sz.range(0, n - 1, 1, sz.float64).numpy() == np.arange(n)).all()
    assert (sz.range(n, 1, -1, sz.int32).numpy() == np.arange(n, 0, -1)).all()
    assert sz.linspace(0, n - 1, n, sz.float64).tolist() == list(range(n))


def test_linspace_of_complex_numbers_and_huge_ones() -> None:
    assert sz.linspace(0, 2 + 4j, 3, sz.complex64).tolist() == [0, 1 + 2j, 2 + 4j]
    assert sz.linspace(1j, 1, 2, sz.complex32).tolist() == [1j, 1]
    big = 1.7e308
    found = sz.linspace(-big, big, 5, sz.float64).tolist()
    assert found == [-big, -big / 2, 0, big / 2, big]
    assert sz.linspace(1e6, 0, 2, sz.float16).tolist() == [math.inf, 0]


@settings(max_examples=100)
@given(
    st.floats(-1e300, 1e300), st.floats(-1e300, 1e300), st.integers(1, 50),
)  # fmt: skip
def test_linspace_is_monotone_between_its_ends(start: float, stop: float, num: int) -> None:
    found = sz.linspace(start, stop, num, sz.float64).tolist()
    assert found[0] == start
    assert num == 1 or found[-1] == stop
    low, high = min(start, stop), max(start, stop)
    assert all(low <= x <= high for x in found)
    assert found == sorted(found, reverse=start > stop)
