"""nn 7.1, .2: grid_sample: formula, rounding to even, blocks, threads, gradients and errors."""

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
BOUND = {"float64": 1e-13, "float32": 1e-6, "float16": 2e-3, "bfloat16": 1.6e-2}
SHAPES = [
    ((2, 3, 5, 7), (2, 17, 16, 2)),
    ((1, 2, 3, 4, 5), (1, 2, 3, 50, 3)),
    ((1, 1, 1, 1), (1, 1, 3, 2)),
]
sample = sz.nn.grid_sample
X, GRID = sz.tensor(np.arange(12.0).reshape(1, 1, 3, 4)), sz.tensor(np.zeros((1, 2, 2, 2)))


def made(dtype: str, *shape: int, high: float = 1.5) -> sz.Tensor:
    x = np.random.default_rng(list(shape)).uniform(-high, high, shape)
    return sz.cast(sz.tensor(x), dtype)


def bilinear(x: Array, grid: Array, border: bool) -> Array:
    """Return the formula, one position after the other."""
    axes, sizes = x.ndim - 2, x.shape[2:]
    out = np.zeros((*x.shape[:2], *grid.shape[1:-1]))
    for n, at in itertools.product(range(len(x)), np.ndindex(grid.shape[1:-1])):
        position = grid[(n, *at)][::-1]
        c = [((g + 1) * size - 1) / 2 for g, size in zip(position, sizes, strict=True)]
        if border:
            c = [min(max(v, 0), size - 1) for v, size in zip(c, sizes, strict=True)]
        low = [math.floor(v) for v in c]
        for corner in itertools.product((0, 1), repeat=axes):
            index = tuple(i + k for i, k in zip(low, corner, strict=True))
            if all(0 <= i < size for i, size in zip(index, sizes, strict=True)):
                parts = [v - i for v, i in zip(c, low, strict=True)]
                weight = math.prod(p if k else 1 - p for p, k in zip(parts, corner, strict=True))
                out[(n, slice(None), *at)] += weight * x[(n, slice(None), *index)]
    return out


@pytest.mark.parametrize("dtype", BOUND)
@pytest.mark.parametrize("shapes", SHAPES)
def test_the_formula_at_blocks_and_levels(dtype: str, shapes: Any) -> None:
    x, grid = made(dtype, *shapes[0]), made(dtype, *shapes[1])
    for mode in ("zeros", "border"):
        right = bilinear(exact(x), exact(grid), mode == "border")
        for level in _core.levels():
            with at_level(level):
                found = exact(sample(x, grid, padding_mode=mode))
            assert np.allclose(found, right, rtol=BOUND[dtype], atol=BOUND[dtype])


def test_nearest_rounds_to_even_and_reflection_turns() -> None:
    x = sz.tensor(np.arange(4.0).reshape(1, 1, 1, 4))
    half = sz.tensor([[[[0.0, 0.0], [-0.5, 0.0], [0.5, 0.0]]]])  # 1.5, 0.5, 2.5
    assert exact(sample(x, half, mode="nearest")).ravel().tolist() == [2, 0, 2]
    beyond = sz.tensor([[[[c / 2 - 0.75, 0.0] for c in (-2, -1, 4, 5, 9)]]])  # coordinates
    found = sample(x, beyond, mode="nearest", padding_mode="reflection")
    assert exact(found).ravel().tolist() == [1, 0, 3, 2, 1]
    found = sample(x, beyond, mode="bicubic", padding_mode="border")
    assert exact(found).ravel()[[0, 4]].tolist() == [0, 3]


def test_no_weight_no_say_and_nan_positions() -> None:
    x = sz.tensor([[[[1.0, math.nan], [2.0, math.inf]]]])
    at = sz.tensor([[[[-0.5, -0.5], [-0.5, 0.5], [math.nan, 0.0], [math.inf, 0.0]]]])
    found = exact(sample(x, at)).ravel()
    assert found[:2].tolist() == [1, 2]
    assert math.isnan(found[2])
    assert found[3] == 0
    assert np.isnan(exact(sample(x, at, mode="nearest")).ravel()[2])


@pytest.mark.parametrize("mode", ["bilinear", "nearest", "bicubic"])
def test_threads_batches_and_layouts_change_no_bit(mode: str) -> None:
    x, grid = made("float32", 3, 5, 20, 21), made("float32", 3, 40, 41, 2)
    turned = permuted(_core.row_major_copy(permuted(x, (3, 0, 2, 1))), (1, 3, 2, 0))
    with threads(1):
        right = exact(sample(x, grid, mode=mode))
        g = sz.cast(sz.tensor(right), sz.float32)
        grads = list(map(exact, sz.nn.grid_sample_bwd(g, x, grid, mode=mode)))
    with threads(4):
        assert np.array_equal(exact(sample(turned, grid, mode=mode)), right)
        again = map(exact, sz.nn.grid_sample_bwd(g, turned, grid, mode=mode))
        assert all(map(np.array_equal, grads, again))
    assert np.array_equal(exact(sample(x[1:2], grid[1:2], mode=mode)), right[1:2])


@pytest.mark.parametrize("align", [False, True])
@pytest.mark.parametrize("padding", ["zeros", "border", "reflection"])
@pytest.mark.parametrize("mode", ["bilinear", "bicubic"])
def test_gradients_are_differences(mode: str, padding: str, align: bool) -> None:
    how = {"mode": mode, "padding_mode": padding, "align_corners": align}
    operands = [exact(made("float64", 1, 2, 3, 4)), exact(made("float64", 1, 2, 3, 2))]
    g = exact(made("float64", 1, 2, 2, 3))
    found = sz.nn.grid_sample_bwd(sz.tensor(g), *map(sz.tensor, operands), **how)
    for which in (0, 1):
        for at in np.ndindex(operands[which].shape):
            moved = []
            for step in (1e-6, -1e-6):
                changed = [x.copy() for x in operands]
                changed[which][at] += step
                moved.append((exact(sample(*map(sz.tensor, changed), **how)) * g).sum())
            right = (moved[0] - moved[1]) / 2e-6
            assert math.isclose(exact(found[which])[at], right, rel_tol=1e-5, abs_tol=1e-7)


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: sample(X[0], GRID), DimensionsMismatch, "it must be 4 or 5"),
        (lambda: sample(X, GRID[..., :1]), DimensionsMismatch, "a position of 2 numbers"),
        (lambda: sample(X, GRID, mode="linear"), InvalidArgument, "bilinear"),
        (lambda: sample(X, GRID, padding_mode="mirror"), InvalidArgument, "reflection"),
        (lambda: sample(X[:, :, :0], GRID), InvalidArgument, "at least one element"),
        (lambda: sample(X, GRID, align_corners=2), InvalidArgument, "True or False"),
        (lambda: sz.nn.grid_sample_bwd(X, X, GRID), DimensionsMismatch, "out_grad has shape"),
    ],
)
def test_errors_name_the_argument_and_what_is_allowed(call: Any, error: Any, words: str) -> None:
    with pytest.raises(error, match=words):
        call()
