"""Pooling: windows counted one by one, positions, threads, levels, layouts and errors."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest

import suanzi as sz
from helpers.functions import at_level, threads
from helpers.normal import exact
from suanzi import _core
from suanzi.base.status import DimensionsMismatch, InvalidArgument
from suanzi.tensors.parts import permuted

Array = np.ndarray[Any, Any]
BOUND = {"float64": 1e-14, "float32": 4e-7, "float16": 1e-3, "bfloat16": 8e-3}
IMAGE = sz.tensor(np.arange(12.0).reshape(1, 3, 4))


def made(dtype: str, *shape: int) -> sz.Tensor:
    return sz.cast(sz.tensor(np.random.default_rng(list(shape)).standard_normal(shape)), dtype)


def windows(n: int, k: int, s: int, p: int, d: int, up: bool) -> list[list[int]]:
    """Return the positions of each window, those of the padding among them."""
    span, found = d * (k - 1) + 1, []
    for start in range(-p, n + p, s):
        ends = start + span <= n + p or (up and start < n and start + span - s < n + p)
        if ends:
            found.append(list(range(start, start + span, d)))
    return found


def pooled(x: Array, each: list[list[list[int]]], largest: bool) -> tuple[Array, Array]:
    """Return the results over the last axes, and the positions of the largest."""
    rank = len(each)
    sizes = x.shape[-rank:]
    flat = x.reshape(-1, *sizes)
    values = np.zeros((len(flat), *map(len, each)))
    places = np.zeros(values.shape, np.int64)
    for out in itertools.product(*(range(len(w)) for w in each)):
        cells = list(itertools.product(*(each[a][i] for a, i in enumerate(out))))
        inside = [c for c in cells if all(0 <= i < n for i, n in zip(c, sizes, strict=True))]
        for number, plane in enumerate(flat):
            some = [plane[c] for c in inside]
            best = int(np.argmax(some))
            values[(number, *out)] = some[best] if largest else sum(some) / len(inside)
            places[(number, *out)] = np.ravel_multi_index(inside[best], sizes)
    shape = (*x.shape[:-rank], *values.shape[1:])
    return values.reshape(shape), places.reshape(shape)


CALLS = [
    # shape, kernel, stride, padding, dilation, ceil_mode
    ((2, 3, 33), (3,), (2,), (1,), (1,), False),
    ((1, 2, 2050), (5,), (3,), (2,), (2,), True),
    ((2, 2, 9, 17), (3, 3), (2, 2), (1, 1), (1, 1), False),
    ((3, 8, 7), (2, 2), (2, 2), (0, 0), (1, 1), True),
    ((1, 2, 12, 40), (4, 2), (1, 1), (2, 0), (2, 3), False),
    ((1, 1, 5, 6, 7), (2, 3, 2), (2, 1, 2), (1, 1, 0), (1, 2, 1), True),
]


@pytest.mark.parametrize("dtype", BOUND)
@pytest.mark.parametrize("call", CALLS, ids=str)
def test_windows_that_slide(dtype: str, call: Any) -> None:
    shape, kernel, stride, padding, dilation, up = call
    rank, x = len(kernel), made(dtype, *shape)
    each = [windows(*one, up) for one in zip(shape[-rank:], kernel, stride, padding, dilation,
                                              strict=True)]  # fmt: skip
    right, places = pooled(exact(x), each, True)
    pool = getattr(sz.nn, f"max_pool{rank}d")
    for level in _core.levels():
        with at_level(level):
            found = pool(x, kernel, stride, padding, dilation, ceil_mode=up)
        assert np.array_equal(exact(found), right)
    values, indices = pool(x, kernel, stride, padding, dilation, ceil_mode=up, return_indices=True)
    assert np.array_equal(exact(values), right)
    assert np.array_equal(np.asarray(indices), places)
    each = [windows(*one, 1, up) for one in zip(shape[-rank:], kernel, stride, padding,
                                                 strict=True)]  # fmt: skip
    right, _ = pooled(exact(x), each, False)
    mean = getattr(sz.nn, f"avg_pool{rank}d")
    for level in _core.levels():
        with at_level(level):
            found = mean(x, kernel, stride, padding, ceil_mode=up, count_include_pad=False)
        assert np.allclose(exact(found), right, rtol=BOUND[dtype], atol=BOUND[dtype])


@pytest.mark.parametrize("dtype", BOUND)
@pytest.mark.parametrize("sizes", [(1,), (5,), (40,), (1, 1), (3, 5), (2, 3, 4)])
def test_windows_that_adapt(dtype: str, sizes: tuple[int, ...]) -> None:
    rank = len(sizes)
    x = made(dtype, 2, 3, *(9, 37, 11)[:rank])
    each = [[list(range(i * n // m, -(-(i + 1) * n // m))) for i in range(m)]
            for n, m in zip(x.shape[-rank:], sizes, strict=True)]  # fmt: skip
    for name, largest in (("max", True), ("avg", False)):
        right, places = pooled(exact(x), each, largest)
        pool = getattr(sz.nn, f"adaptive_{name}_pool{rank}d")
        assert np.allclose(exact(pool(x, sizes)), right, rtol=BOUND[dtype], atol=BOUND[dtype])
        if largest:
            assert np.array_equal(np.asarray(pool(x, sizes, return_indices=True)[1]), places)


@pytest.mark.parametrize("elements", [1, 15, 49, 64, 65, 4096, 4097])
@pytest.mark.parametrize("dtype", BOUND)
def test_means_of_whole_planes(dtype: str, elements: int) -> None:
    x = made(dtype, 5, 3, elements)
    right = exact(x).mean(-1, keepdims=True)
    for level in _core.levels():
        with at_level(level):
            found = exact(sz.nn.adaptive_avg_pool1d(x, 1))
        assert np.allclose(found, right, rtol=BOUND[dtype], atol=BOUND[dtype] / 4)


def test_nan_is_the_largest_and_the_first_of_equal_ones_is_taken() -> None:
    x = sz.tensor([[[1.0, math.nan, math.nan, 7.0], [5.0, 5.0, -0.0, 0.0]]])
    values, places = sz.nn.max_pool2d(x, (1, 4), return_indices=True)
    assert np.array_equal(exact(values).ravel(), [math.nan, 5], equal_nan=True)
    assert np.asarray(places).ravel().tolist() == [1, 4]
    assert np.isnan(exact(sz.nn.max_pool2d(x, (2, 2)))).ravel().tolist() == [True, True]
    negative = exact(sz.nn.max_pool2d(x[:, 1:, 2:], (1, 2)))
    assert np.signbit(negative).all()  # the first of -0 and 0


@pytest.mark.parametrize("dtype", ["bfloat16", "float32"])
def test_threads_batches_and_layouts_change_no_bit(dtype: str) -> None:
    x = made(dtype, 6, 8, 40, 45)
    turned = permuted(_core.row_major_copy(permuted(x, (3, 0, 2, 1))), (1, 3, 2, 0))
    calls = [
        lambda x: sz.nn.max_pool2d(x, 3, 2, 1),
        lambda x: sz.nn.avg_pool2d(x, 3, 2, 1),
        lambda x: sz.nn.adaptive_avg_pool2d(x, 7),
        lambda x: sz.nn.max_pool2d_bwd(sz.nn.max_pool2d(x, 3, 2, 1), x, 3, 2, 1),
        lambda x: sz.nn.avg_pool2d_bwd(sz.nn.avg_pool2d(x, 3, 2, 1), x, 3, 2, 1),
    ]
    for call in calls:
        with threads(1):
            right = exact(call(x))
        with threads(4):
            assert np.array_equal(exact(call(x)), right)
            assert np.array_equal(exact(call(turned)), right)
        assert np.array_equal(exact(call(x[2:3])), right[2:3])


@pytest.mark.parametrize("name", ["max_pool2d", "avg_pool2d", "adaptive_avg_pool2d",
                                  "adaptive_max_pool2d"])  # fmt: skip
def test_gradients_are_differences(name: str) -> None:
    x = exact(made("float64", 2, 5, 4))
    arguments = (3,) if "adaptive" in name else (3, 2, 1)
    pool, back = getattr(sz.nn, name), getattr(sz.nn, f"{name}_bwd")
    g = exact(made("float64", *pool(sz.tensor(x), *arguments).shape))
    found = exact(back(sz.tensor(g), sz.tensor(x), *arguments))
    for at in np.ndindex(x.shape):
        moved = []
        for step in (1e-6, -1e-6):
            changed = x.copy()
            changed[at] += step
            moved.append((exact(pool(sz.tensor(changed), *arguments)) * g).sum())
        assert math.isclose(found[at], (moved[0] - moved[1]) / 2e-6, rel_tol=1e-5, abs_tol=1e-7)


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: sz.nn.max_pool2d(IMAGE[0], 2), DimensionsMismatch, "it must be 3 or 4"),
        (lambda: sz.nn.max_pool2d(IMAGE, 5), InvalidArgument, "larger than the pooled axes"),
        (lambda: sz.nn.max_pool2d(IMAGE, 2, padding=2), InvalidArgument, "half of the kernel"),
        (lambda: sz.nn.max_pool2d(IMAGE, (2, 2, 2)), InvalidArgument, "one integer, or 2"),
        (lambda: sz.nn.max_pool2d(IMAGE, 0), InvalidArgument, "at least 1"),
        (lambda: sz.nn.max_pool2d(IMAGE, 2**40), InvalidArgument, "kernel_size"),
        (lambda: sz.nn.avg_pool2d(IMAGE, 2, divisor_override=0), InvalidArgument, "not be 0"),
        (lambda: sz.nn.avg_pool2d(IMAGE, 2, ceil_mode=1), InvalidArgument, "True or False"),
        (lambda: sz.nn.avg_pool2d_bwd(IMAGE, IMAGE, 2), DimensionsMismatch, "out_grad has shape"),
        (lambda: sz.nn.adaptive_avg_pool2d(IMAGE[:, :0], 2), InvalidArgument, "at least one"),
        (lambda: sz.nn.adaptive_max_pool2d(IMAGE, -1), InvalidArgument, "output_size is -1"),
    ],
)  # fmt: skip
def test_errors_name_the_argument_and_what_is_allowed(call: Any, error: Any, words: str) -> None:
    with pytest.raises(error, match=words):
        call()
