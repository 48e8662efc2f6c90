"""7.2.14.3 and .4: argsort, its backward and topk against plain Python, any dtype and layout."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import suanzi as sz
from helpers.functions import every_level, threads
from helpers.moves import laid_out, raw, tensors
from helpers.orders import FLOATS, REAL, rows_along
from suanzi import _core
from suanzi.conformance.truth.indexing_order import sorted_indices

# Random bytes of these are other numbers than are stored: they are compared as numbers.
WHOLE = [d for d in REAL if d.bits >= 8]


def without_nan(x: sz.Tensor) -> sz.Tensor:
    """Random bytes of narrow floats are NaN too often."""
    if x.dtype.kind != "float":
        return x
    return sz.where(sz.is_nan(x), sz.tensor(-0.0, x.dtype), x)


def check_values(values: sz.Tensor, row: sz.Tensor, places: list[int]) -> None:
    """Bit for bit: the signs of zeros and the bits of NaNs come along."""
    if row.dtype in WHOLE:
        assert np.array_equal(raw(values), raw(row)[places])
    else:
        assert values.tolist() == [row[i].item() for i in places]


def check_order(x: sz.Tensor, axis: int, descending: bool) -> None:
    values, places = sz.argsort(x, axis, descending)
    assert (values.dtype, places.dtype) == (x.dtype, sz.int64)
    assert values.shape == places.shape == x.shape
    for place, row in rows_along(x, axis):
        expected = sorted_indices(row, descending)
        assert places[place].tolist() == expected, (row, descending)
        check_values(values[place], x[place], expected)


def check_topk(x: sz.Tensor, k: int, axis: int, largest: bool) -> None:
    values, places = sz.topk(x, k, axis, largest)
    assert (values.dtype, places.dtype) == (x.dtype, sz.int64)
    assert values.shape == places.shape == (*x.shape[:axis], k, *x.shape[axis + 1 :])
    for place, row in rows_along(x, axis):
        expected = sorted_indices(row, largest)[:k]
        assert places[place].tolist() == expected, (row, k, largest)
        check_values(values[place], x[place], expected)


@settings(max_examples=150)
@given(tensors(min_dims=1, max_dims=3, dtypes=REAL), st.data())
def test_any_bits_in_any_layout(x: sz.Tensor, data: st.DataObject) -> None:
    axis, flag = data.draw(st.integers(0, x.ndim - 1)), data.draw(st.booleans())
    check_order(x, axis, flag)
    if x.shape[axis]:
        check_topk(x, data.draw(st.integers(1, x.shape[axis])), axis, flag)


@pytest.mark.parametrize("dtype", REAL, ids=str)
@pytest.mark.parametrize("descending", [True, False])
def test_rows_of_any_length(dtype: sz.DType, descending: bool) -> None:
    for n in (1, 2, 15, 16, 17, 24, 25, 65, 161, 300, 1100):
        check_order(without_nan(laid_out((1, n), dtype, seed=n)), 1, descending)
    few = sz.cast(sz.tensor(np.random.default_rng(0).integers(0, 3, (700,))), dtype)  # many ties
    check_order(few, 0, descending)


@pytest.mark.parametrize("dtype", [sz.int8, sz.bfloat16, sz.float32, sz.int64, sz.float64], ids=str)
@pytest.mark.parametrize("largest", [True, False])
def test_the_first_k_of_any_length(dtype: sz.DType, largest: bool) -> None:
    for n in (20, 161, 700):
        x = without_nan(laid_out((1, n), dtype, seed=n))
        for k in {1, 2, 10, n // 16, n // 16 + 1, n - 1, n}:
            check_topk(x, k, 1, largest)
    rising = sz.cast(sz.tensor(np.arange(1500) // 20), dtype)  # in which all are candidates
    for k in (3, 100, 1000):
        check_topk(rising, k, 0, largest)
        check_topk(rising[::-1], k, 0, largest)


@pytest.mark.parametrize("dtype", [sz.int64, sz.uint64, sz.float64], ids=str)
def test_long_rows_whose_keys_agree_in_many_bits(dtype: sz.DType) -> None:
    """What is packed of 64 bits is 32 of them; the others decide among equal ones."""
    random = np.random.default_rng(1)
    n = 40000
    near = 1 + random.integers(0, 5000, n) * 2.0**-52
    cases = [
        random.integers(0, 2**62, n),
        random.integers(0, 2, n) * 2**62 + random.integers(0, 3000, n),
        random.integers(0, 2**40, n) // 7,
        random.integers(0, 200, n),
        np.where(random.random(n) < 0.5, near, random.random(n)),
        np.full(n, 3),
    ]
    for case in cases:
        x = sz.cast(sz.tensor(case), dtype)
        array = x.numpy()
        values, places = sz.argsort(x, 0, False)
        expected = np.argsort(array, kind="stable")
        assert np.array_equal(places.numpy(), expected)
        assert np.array_equal(values.numpy(), array[expected])
        for k in (5, 2500, 30000):
            assert np.array_equal(sz.topk(x, k, largest=False)[1].numpy(), expected[:k])


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_long_rows_keep_the_bits_of_zeros_and_nans(dtype: sz.DType) -> None:
    x = laid_out((20000,), dtype, seed=2)
    bits = raw(x)
    for descending in (True, False):
        values, places = sz.argsort(x, 0, descending)
        found = places.numpy()
        assert sorted(found.tolist()) == list(range(20000))
        assert np.array_equal(raw(values), bits[found])
        row = sz.cast(values, sz.float64).numpy()
        nan = np.isnan(row)
        numbers = row[~nan] if not descending else row[~nan][::-1]
        assert np.all(numbers[1:] >= numbers[:-1])
        count = int(nan.sum())
        assert count == 0 or np.all(nan[:count] if descending else nan[-count:])
        same = (row[1:] == row[:-1]) | (nan[1:] & nan[:-1])
        assert np.all(found[1:][same] > found[:-1][same])


@pytest.mark.parametrize("dtype", WHOLE, ids=str)
def test_rows_that_count_in_64_bits(dtype: sz.DType) -> None:
    """Rows of more than 2**32 elements go another way, which is tried on short ones."""
    x = laid_out((3, 50), dtype, seed=6)
    for descending in (True, False):
        for k in (7, 50):
            long = _core.order(x, 1, descending, k, 10)
            short = _core.order(x, 1, descending, k)
            assert all(np.array_equal(raw(a), raw(b)) for a, b in zip(long, short, strict=True))


def test_no_level_and_no_number_of_threads_changes_a_result() -> None:
    for dtype in REAL:
        x = laid_out((60, 1500), dtype, order=(0, 1), seed=7)
        results = set()
        for _ in every_level():
            for count in (1, 4):
                with threads(count):
                    found = [
                        *sz.argsort(x),
                        *sz.argsort(x, 0, False),
                        *sz.topk(x, 20),
                        *sz.topk(x, 9, 0),
                    ]
                results.add(b"".join(raw(f).tobytes() for f in found))
        assert len(results) == 1, dtype


def test_sorted_or_not_is_the_same() -> None:
    x = laid_out((9, 40), sz.int16)
    for a, b in zip(sz.topk(x, 5), sz.topk(x, 5, -1, True, False), strict=True):
        assert a.tolist() == b.tolist()


# ---- the backward of argsort ---------------------------------------------------------------------


@settings(max_examples=60)
@given(tensors(min_dims=1, max_dims=3, dtypes=WHOLE), st.data())
def test_the_backward_brings_elements_back(x: sz.Tensor, data: st.DataObject) -> None:
    axis = data.draw(st.integers(0, x.ndim - 1))
    values, places = sz.argsort(x, axis)
    back = sz.argsort_bwd(values, places, axis)
    assert back.dtype is x.dtype
    assert np.array_equal(raw(back), raw(x))
    across = sz.cast(places, places.dtype, layout=tuple(range(x.ndim)))
    assert np.array_equal(raw(sz.argsort_bwd(values, across, axis - x.ndim)), raw(x))


@pytest.mark.parametrize("dtype", [sz.int8, sz.uint8, sz.int32, sz.uint64, sz.int64], ids=str)
def test_indices_of_any_integer_dtype(dtype: sz.DType) -> None:
    places = sz.tensor([[2, 0, 1], [0, 1, 2]], dtype)
    gradient = sz.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    assert sz.argsort_bwd(gradient, places).tolist() == [[2, 3, 1], [4, 5, 6]]
