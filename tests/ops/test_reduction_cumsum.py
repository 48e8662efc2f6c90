"""7.2.13.2: cumsum and cumsum_bwd against sums of Python's integers, in every layout."""

from __future__ import annotations

import math

import numpy as np
import pytest

import suanzi as sz
from helpers.functions import every_level, same_bits, threads
from helpers.moves import laid_out, refused
from suanzi import _core


def test_the_result_lies_as_the_input_does() -> None:
    x = laid_out((2, 3, 4), sz.int16, order=(0, 1, 2))
    for axis in range(3):
        assert sz.cumsum(x, axis).layout.min2maj == (0, 1, 2)


@pytest.mark.parametrize("special", [math.inf, -math.inf, math.nan, None])
def test_sums_of_float16_of_every_size_are_rounded_once(special: float | None) -> None:
    rng = np.random.default_rng(4)
    patterns = rng.integers(0, 2**16, 1200).astype(np.uint16)
    patterns[patterns & 0x7C00 == 0x7C00] = 0x8000  # -0 for what is not finite
    values = patterns.view(np.float16)
    values[:40] = -0.0
    for n in (1, 15, 31, 32, 33, 47, 64, 255, 256, 272, 511, 1200):
        x = values[:n].copy()
        if special is not None:
            x[n // 2] = special
        got = sz.cumsum(sz.tensor(x), 0).numpy()
        before = n // 2 if special is not None else n
        exact = np.cumsum(x[:before].astype(np.float64))  # all are: multiples of 2^-24 below 2^26
        with np.errstate(over="ignore"):
            assert same_bits(got[:before], exact.astype(np.float16))
        if special is not None:
            assert same_bits(got[before:], np.full(n - before, special, np.float16))


@pytest.mark.parametrize("name", ["float16", "float32", "float64", "complex64", "int16"])
def test_the_result_depends_on_shape_and_elements_alone(name: str) -> None:
    rng = np.random.default_rng(2)
    for shape in [(5000,), (300, 40), (40, 300), (9, 7, 31)]:
        x = sz.cast(sz.tensor(rng.standard_normal(shape) * 50), sz.dtype(name))
        turned = sz.cast(x, x.dtype, layout=range(len(shape)))
        wide = sz.tile(x, [2] * len(shape))[tuple(slice(n) for n in shape)]
        for axis in range(len(shape)):
            expected = sz.cumsum(x, axis).numpy()
            for other in (turned, wide, sz.flip(sz.contiguous(sz.flip(x, [axis])), [axis])):
                assert same_bits(sz.cumsum(other, axis).numpy(), expected)
            for _ in every_level():
                assert same_bits(sz.cumsum(x, axis).numpy(), expected)
            back = sz.cumsum(sz.contiguous(sz.flip(x, [axis])), axis)
            assert same_bits(sz.cumsum_bwd(x, axis).numpy(), sz.flip(back, [axis]).numpy())


@pytest.mark.parametrize("name", ["float32", "float16", "int32", "float64"])
def test_threads_share_a_long_line(name: str) -> None:
    rng = np.random.default_rng(4)
    # Sums of 16**5 elements are complete, and many parts come after the first of them.
    x = sz.cast(sz.tensor(rng.standard_normal(2_300_007) * 9), sz.dtype(name))
    made = []
    for count in (1, 2, 5):
        with threads(count):
            made.append(sz.cumsum(x).numpy())
    assert same_bits(made[0], made[1])
    assert same_bits(made[0], made[2])
    if name == "int32":
        assert same_bits(made[0], np.cumsum(x.numpy(), dtype=np.int32))


@pytest.mark.parametrize("width", [63, 65, 100, 129, 700])
def test_wide_rows_in_several_planes(width: int) -> None:
    """Lines side by side, more than are done at once, end with their plane."""
    x = np.random.default_rng(width).integers(-99, 99, (3, 20, width))
    for dtype in (np.int16, np.float32, np.complex64):
        values = x.astype(dtype)
        for count in (1, 3):
            with threads(count):
                found = sz.cumsum(sz.tensor(values), 1).numpy()
            assert np.array_equal(found, np.cumsum(values, 1, dtype=dtype))


def test_dtypes() -> None:
    x = sz.tensor([100, 100, 100], sz.int8)
    assert sz.cumsum(x, dtype=sz.float16).dtype is sz.float16
    assert sz.cumsum(sz.tensor([True, True]), dtype=sz.int8).tolist() == [1, 2]
    assert sz.cumsum(sz.tensor([0.5]), 0, sz.complex64).tolist() == [0.5]
    assert sz.cumsum(sz.tensor([1, 2]), np.int8(0)).tolist() == [1, 3]
    assert sz.cumsum(np.array([1, 2], np.int16)).dtype is sz.int16


def test_backward_shapes() -> None:
    gradient = sz.tensor([1.0, 2.0, 3.0, 4.0])
    assert sz.cumsum_bwd(gradient).tolist() == [10, 9, 7, 4]
    assert sz.cumsum_bwd(gradient, -1, (2, 2)).tolist() == [[10, 9], [7, 4]]
    assert sz.cumsum_bwd(gradient, 0, (4,)).tolist() == [10, 9, 7, 4]
    assert sz.cumsum_bwd(sz.tensor([3.0]), input_shape=()).shape == ()
    for shape in [(3,), (2, 3), (5,)]:
        refused(sz.InvalidArgument, "cumsum_bwd", gradient, -1, shape, match="input_shape")
    refused(sz.InvalidArgument, "cumsum_bwd", gradient, 0, (2, 2), match="input_shape")
    refused(sz.InvalidArgument, "cumsum_bwd", sz.zeros((2, 2)), match="must be a vector")
    refused(sz.InvalidArgument, "cumsum_bwd", gradient, -1, (-4, -1))
    refused(sz.InvalidArgument, "cumsum_bwd", gradient, -1, "ab")


def test_statuses() -> None:
    refused(sz.OutOfRange, "cumsum", sz.zeros((2, 3)), -2, match="axis")  # -1 is no axis
    refused(sz.InvalidArgument, "cumsum_bwd", sz.zeros((2, 3)), -2, match="axis")
    refused(sz.OutOfRange, "cumsum", sz.tensor(1), 0, match="no axis")
    for values, dtype in (([1j], sz.float32), ([1.5], sz.int8), ([1], sz.bool)):
        refused(sz.TypeMismatch, "cumsum", sz.tensor(values), dtype=dtype, match="dtype")


@pytest.mark.parametrize("dtype", [sz.bfloat16, sz.float16])
@pytest.mark.parametrize("shape", [(70, 37), (5, 300), (3, 40, 17)])
def test_columns_of_narrow_floats_are_rounded_once(shape: tuple[int, ...], dtype: sz.DType) -> None:
    values = np.random.default_rng(4).integers(-99, 100, shape) / 4  # whose sums are exact
    for axis in range(len(shape) - 1):
        found = sz.cumsum(sz.cast(sz.tensor(values), dtype), axis)
        expected = sz.cast(sz.tensor(np.cumsum(values, axis)), dtype)
        assert found.dtype is dtype
        assert sz.cast(found, sz.float64).tolist() == sz.cast(expected, sz.float64).tolist()


@pytest.mark.parametrize("dtype", [sz.float64, sz.float32, sz.float16, sz.bfloat16])
@pytest.mark.parametrize("backwards", [False, True])
@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("shape", [(3, 700), (700, 3), (40, 41), (1, 1), (0, 4)])
def test_on_top_of_what_came_before(
    dtype: sz.DType, backwards: bool, axis: int, shape: tuple[int, int]
) -> None:
    rng = np.random.default_rng(5)
    x = sz.cast(sz.tensor(rng.integers(-8, 9, shape).astype("f4") / 8), dtype)
    across = tuple(1 if d == axis else n for d, n in enumerate(shape))
    before = sz.tensor(rng.integers(-1000, 1000, across) / 4)  # sums are exact in float64
    numbers = x.numpy().astype("f8")
    if backwards:
        sums = np.flip(np.flip(numbers, axis).cumsum(axis), axis) + before.numpy()
    else:
        sums = numbers.cumsum(axis) + before.numpy()
    want = sz.cast(sz.tensor(sums), dtype).numpy()
    for laid in (x, sz.reshape(x.T, shape[::-1]).T):
        found = _core.cumulative_sum_onto(laid, axis, backwards, before)
        assert found.dtype is dtype
        assert np.array_equal(found.numpy(), want)


def test_on_top_of_what_does_not_fit() -> None:
    x = sz.tensor(np.ones((2, 3), np.float32))
    for before in (np.ones((2, 1), np.float32), np.ones((1, 3)), np.ones(2)):
        with pytest.raises(ValueError, match="no cumulative sum"):
            _core.cumulative_sum_onto(x, 1, False, sz.tensor(before))
    with pytest.raises(ValueError, match="no cumulative sum"):
        _core.cumulative_sum_onto(sz.cast(x, sz.int32), 1, False, sz.tensor(np.ones((2, 1))))
