"""The copies behind everything that moves elements: any layout to any other, at every level."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import suanzi as sz
from helpers.functions import at_level, same_bits, threads
from helpers.moves import ALL, ONE_OF_EACH_SIZE, laid_out, layouts, raw, same
from suanzi import _core

EDGES = [1, 2, 3, 4, 5, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 130]


@pytest.fixture(params=[*((level, 1) for level in _core.levels()), (_core.level(), 3)], ids=str)
def machine(request: pytest.FixtureRequest) -> Iterator[None]:
    """Run at each instruction-set level, and at one of them with several threads."""
    with at_level(request.param[0]), threads(request.param[1]):
        yield


def check_copy(x: sz.Tensor, target: sz.Tensor | None = None) -> None:
    """Raise unless a copy has the bytes of a tensor, and what lies around it stays."""
    expected = np.array(raw(x))
    made = _core.row_major_copy(x)
    same(made, expected)
    assert made.shape == x.shape
    assert made.layout.min2maj == tuple(range(x.ndim - 1, -1, -1))
    if target is None:
        return
    around = np.frombuffer(target.storage.memory, np.uint8).copy()
    written = np.zeros(around.size // target.dtype.itemsize, bool)
    places = np.full(1, target.offset)
    for n, s in zip(target.shape, target.strides, strict=True):
        places = (places[:, None] + np.arange(n) * s).reshape(-1)
    written[places] = True
    _core.copy_into(target, x)
    same(target, expected)
    after = np.frombuffer(target.storage.memory, np.uint8)
    outside = ~np.repeat(written, target.dtype.itemsize)
    assert np.array_equal(after[outside], around[outside])


@pytest.mark.usefixtures("machine")
@pytest.mark.parametrize("dtype", ONE_OF_EACH_SIZE, ids=str)
def test_transpositions_around_the_edges_of_tiles(dtype: sz.DType) -> None:
    for rows, columns in itertools.product(EDGES, EDGES):
        if rows * columns > 70 and (rows + 2 * columns) % 5:
            continue
        x = laid_out((rows, columns), dtype, (0, 1), before=1, seed=rows)
        check_copy(x, laid_out((rows, columns), dtype, seed=columns))


@pytest.mark.usefixtures("machine")
@pytest.mark.parametrize("dtype", ONE_OF_EACH_SIZE, ids=str)
def test_every_order_of_axes(dtype: sz.DType) -> None:
    shapes: list[Sequence[int]] = [(5, 33, 18), (2, 3, 4), (17, 1, 70), (3, 16, 2)]
    for shape in shapes:
        for a, b in itertools.product(itertools.permutations(range(3)), repeat=2):
            check_copy(laid_out(shape, dtype, a), laid_out(shape, dtype, b, seed=1))


@given(st.data())
def test_any_layout_to_any_other(data: st.DataObject) -> None:
    shape = data.draw(st.lists(st.integers(0, 7), max_size=6))
    x = data.draw(layouts(shape))
    target = data.draw(layouts(shape, [x.dtype], repeats=False))
    check_copy(x, target)


@pytest.mark.usefixtures("machine")
@pytest.mark.parametrize("inner", [1, 2, 3, 4, 5, 8, 16, 17])
def test_short_rows(inner: int) -> None:
    """Pairs and the like are moved as one."""
    for dtype in ONE_OF_EACH_SIZE:
        for steps in ([1, 1, 1], [1, 2, 1], [3, -1, 1], [1, 1, -1], [1, 1, 2]):
            x = laid_out((37, 41, inner), dtype, (2, 0, 1), steps, before=1)
            check_copy(x, laid_out((37, 41, inner), dtype, (2, 1, 0), before=2))
            check_copy(x, laid_out((37, 41, inner), dtype, (2, 0, 1), [1, 1, -1], before=1))


@pytest.mark.usefixtures("machine")
@pytest.mark.parametrize("dtype", ONE_OF_EACH_SIZE, ids=str)
def test_zero_and_negative_strides(dtype: sz.DType) -> None:
    shape = (19, 70, 35)
    for repeats in itertools.product([False, True], repeat=3):
        for steps in ([1, 1, 1], [-1, 1, -1], [1, -2, 1]):
            x = laid_out(shape, dtype, (1, 2, 0), steps, repeats)
            check_copy(x, laid_out(shape, dtype, (0, 2, 1), [-1, 1, 1]))


@pytest.mark.parametrize("dtype", [sz.int8, sz.float64, sz.complex128], ids=str)
def test_up_to_64_axes(dtype: sz.DType) -> None:
    for ndim in (7, 20, 62, 63):
        shape = [1] * ndim
        for axis in range(0, ndim, max(ndim // 9, 1)):
            shape[axis] = 2 + axis % 2
        order = list(np.random.default_rng(ndim).permutation(ndim))
        steps = [(-1) ** a for a in range(ndim)]
        check_copy(laid_out(shape, dtype, order, steps), laid_out(shape, dtype, order[::-1]))
    small = laid_out((2, 4, 8), dtype, (1, 0, 2))
    x = sz.reshape(small, (2, *[1] * 30, 4, *[1] * 31, 8))
    assert x.ndim == 64
    assert x.storage == small.storage
    same(sz.squeeze(_core.row_major_copy(x)), raw(small))
    turned = _core.row_major_copy(sz.transpose(x))
    assert turned.ndim == 64
    same(sz.squeeze(turned), raw(small).transpose(2, 1, 0, 3))


@pytest.mark.usefixtures("machine")
@pytest.mark.parametrize("dtype", ONE_OF_EACH_SIZE, ids=str)
def test_past_the_caches(dtype: sz.DType) -> None:
    count = 12_000_000 // dtype.itemsize
    rows, columns = 1023, count // 1023
    x = laid_out((rows, columns), dtype, (0, 1), before=1)
    check_copy(x)
    check_copy(laid_out((rows, columns), dtype, before=3), x)
    check_copy(laid_out((columns, rows), dtype, steps=[2, 1]))


CONVERSIONS = [
    ("int8", "float32"),
    ("int64", "int8"),
    ("float64", "float16"),
    ("bfloat16", "float64"),
    ("uint8", "complex128"),
    ("complex64", "float8_e5m2"),
    ("float16", "bool"),
    ("uint4", "int32"),
    ("complex32", "complex128"),
]


@pytest.mark.usefixtures("machine")
@pytest.mark.parametrize(("source", "target"), CONVERSIONS)
def test_conversions_on_the_way(source: str, target: str) -> None:
    """A copy that converts gives what a conversion of a dense tensor gives."""
    for shape in ((33, 17, 5), (130, 129), (7, 3, 2, 64), (300, 260)):
        orders = list(itertools.permutations(range(len(shape))))
        for order in orders[:: max(len(orders) // 5, 1)]:
            values = laid_out(shape, sz.int8, order, [1, *[-1] * (len(shape) - 1)])
            x = _core.cast(values, sz.dtype(source), False)
            assert x.layout.min2maj is not None
            dense = np.array(_core.cast(_core.row_major_copy(x), sz.dtype(target), False).numpy())
            assert same_bits(np.array(_core.cast(x, sz.dtype(target), False).numpy()), dense)
            spread = laid_out(shape, sz.dtype(target), order[::-1], [2, *[1] * (len(shape) - 1)])
            _core.copy_into(spread, x)
            assert same_bits(np.array(spread.numpy()), dense)
            strided = sz.flip(x, 0)
            found = np.array(_core.cast(strided, sz.dtype(target), False).numpy())
            assert same_bits(found, dense[::-1])


@pytest.mark.usefixtures("machine")
def test_conversions_past_the_caches() -> None:
    for source, target in (("int64", "int8"), ("uint8", "float64"), ("float32", "float16")):
        whole = np.random.default_rng(3).integers(0, 100, (1030, 1500)).astype(source)
        x = sz.tensor(whole).T
        found = _core.empty(x.shape, sz.dtype(target))
        _core.copy_into(found, x)
        assert np.array_equal(found.numpy(), whole.T.astype(target))
        assert np.array_equal(_core.cast(x, sz.dtype(target), False).numpy(), whole.T)


@given(st.data())
def test_conversion_between_any_layouts(data: st.DataObject) -> None:
    shape = data.draw(st.lists(st.integers(0, 7), max_size=5))
    x = data.draw(layouts(shape, [sz.int8, sz.uint16, sz.int64]))
    target = data.draw(layouts(shape, [sz.int32, sz.uint8, sz.float64, sz.bool], repeats=False))
    expected = np.array(x.numpy()).astype(target.numpy().dtype)
    _core.copy_into(target, x)
    assert np.array_equal(target.numpy(), expected)
    assert np.array_equal(_core.cast(x, target.dtype, False).numpy(), expected)


@given(st.data())
def test_sources_are_repeated(data: st.DataObject) -> None:
    shape = data.draw(st.lists(st.integers(0, 5), max_size=4))
    smaller = [data.draw(st.sampled_from([n, 1])) for n in shape]
    smaller = data.draw(st.sampled_from([smaller[i:] for i in range(len(shape) + 1)]))
    x = data.draw(layouts([1, *smaller] if data.draw(st.booleans()) else smaller))
    target = data.draw(layouts(shape, [x.dtype], repeats=False))
    _core.copy_into(target, x)
    bits = raw(x).reshape(*smaller, x.dtype.itemsize)
    same(target, np.broadcast_to(bits, (*shape, x.dtype.itemsize)))


@pytest.mark.parametrize("dtype", ALL, ids=str)
def test_elements_of_one_place_get_the_last_value(dtype: sz.DType) -> None:
    x = laid_out((300, 7), dtype, seed=5)
    target = laid_out((300, 7), dtype, repeats=[True, False])
    last = np.array(raw(x)[-1])
    _core.copy_into(target, x)
    assert np.array_equal(raw(target)[0], last)


@pytest.mark.parametrize("dtype", ONE_OF_EACH_SIZE, ids=str)
def test_source_and_target_that_overlap(dtype: sz.DType) -> None:
    for n in (5, 1000, 70_000):
        for key, other in (
            (np.s_[1:], np.s_[:-1]),
            (np.s_[:-1], np.s_[1:]),
            (np.s_[:], np.s_[::-1]),
        ):
            x = laid_out((n,), dtype)
            expected = np.array(raw(x))
            expected[key] = expected[other].copy()
            _core.copy_into(x[key], x[other])
            same(x, expected)
    square = laid_out((90, 90), dtype)
    expected = np.array(raw(square)).transpose(1, 0, 2)
    _core.copy_into(square, square.T)
    same(square, expected)


@pytest.mark.parametrize("shape", [(0, 2**62), (2**62, 0), (3, 0, 2**60), (0, 2**63 - 1)])
def test_copies_of_no_elements_whose_strides_in_bytes_do_not_fit(shape: tuple[int, ...]) -> None:
    """What overflows is seen by `.ci/sanitize` alone."""
    x, y = (sz.empty(shape, sz.complex128) for _ in range(2))
    turned = sz.transpose(x, tuple(reversed(range(x.ndim))))
    for value in (x, y, 2.5, sz.tensor(1.0)):
        x[...] = value
        turned[...] = value if not isinstance(value, sz.Tensor) or value.ndim == 0 else turned
    _core.copy_into(x, y)
    assert sz.contiguous(turned).shape == turned.shape
    assert _core.row_major_copy(turned).shape == sz.cast(turned, sz.complex64).shape == turned.shape


@pytest.mark.parametrize("count", [3, 1000, 300_000, 3_000_000])
def test_one_place_that_is_written_over_and_over_keeps_the_last(count: int) -> None:
    """Several times, as threads that shared the work would be in that order most of the time."""
    values = sz.range(1, count, 1, sz.int32)
    for _ in range(20):
        place = sz.zeros((1,), sz.int32)
        _core.copy_into(sz.expand(place, (count,)), values)
        assert place.tolist() == [count]
