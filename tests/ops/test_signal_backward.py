"""7.2.16, backward: against central differences, and against the formulas."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from gradients import central_differences

import suanzi as sz

Array = np.ndarray[Any, Any]
MODES = ["none", "by_sqrt_n", "by_n"]
CHOICES = list(itertools.product(MODES, (True, False)))
CASES: list[tuple[tuple[int, ...], Any]] = [
    *(((n,), None) for n in range(1, 8)),
    ((2, 3), (0,)), ((3, 2), (0, 1)), ((2, 4), (1, 0)), ((2, 3, 2), (2, 0)), ((1, 2), (0, 1)),
    ((2, 1, 3), (1,)), ((2, 2, 2), (0, 1, 2)), ((3, 5), (-2, -1)),
]  # fmt: skip


def numbers(shape: tuple[int, ...], kind: str, seed: int) -> Array:
    rng = np.random.default_rng(seed)
    made = rng.normal(size=shape)
    return made + 1j * rng.normal(size=shape) if kind == "complex" else made


def near(found: sz.Tensor, expected: Array) -> None:
    array = found.numpy()
    assert array.shape == expected.shape
    assert array.dtype == expected.dtype
    assert np.abs(array - expected).max(initial=0) < 1e-7 * max(1, np.abs(expected).max())


@pytest.mark.parametrize(("shape", "axes"), CASES, ids=str)
def test_c2c(shape: tuple[int, ...], axes: Any) -> None:
    x, g = numbers(shape, "complex", 0), numbers(shape, "complex", 1)
    for mode, forward in CHOICES:
        more: dict[str, Any] = {"axes": axes, "normalization": mode, "forward": forward}

        def function(at: Array, more: Any = more) -> Array:
            return sz.fft_c2c(sz.tensor(at), **more).numpy()

        near(sz.fft_c2c_backward(sz.tensor(g), **more), central_differences(function, x, g))


@pytest.mark.parametrize("onesided", [True, False])
@pytest.mark.parametrize(("shape", "axes"), CASES, ids=str)
def test_r2c(shape: tuple[int, ...], axes: Any, onesided: bool) -> None:
    x = numbers(shape, "real", 0)
    for mode, forward in CHOICES:
        more: dict[str, Any] = {"axes": axes, "normalization": mode, "forward": forward}

        def function(at: Array, more: Any = more) -> Array:
            return sz.fft_r2c(sz.tensor(at), **more, onesided=onesided).numpy()

        g = numbers(function(x).shape, "complex", 1)
        found = sz.fft_r2c_backward(sz.tensor(g), sz.tensor(x), **more)
        near(found, central_differences(function, x, g))
        # The formula itself: the real part of the transform of what is padded with zeros.
        last = len(shape) - 1 if axes is None else axes[-1] % len(shape)
        padding = [(0, 0)] * len(shape)
        padding[last] = (0, shape[last] - g.shape[last])
        whole = sz.tensor(np.pad(g, padding))
        near(found, sz.fft_c2c(whole, **more | {"forward": not forward}).numpy().real.copy())


@pytest.mark.parametrize(("shape", "axes"), CASES, ids=str)
def test_c2r(shape: tuple[int, ...], axes: Any) -> None:
    x = numbers(shape, "complex", 0)
    last = len(shape) - 1 if axes is None else axes[-1] % len(shape)
    for length in {max(2 * shape[last] - 2, 1), 2 * shape[last] - 1}:
        for mode, forward in CHOICES:
            more: dict[str, Any] = {"axes": axes, "normalization": mode, "forward": forward}

            def function(at: Array, length: int = length, more: Any = more) -> Array:
                return sz.fft_c2r(sz.tensor(at), length, **more).numpy()

            g = numbers(function(x).shape, "real", 1)
            found = sz.fft_c2r_backward(sz.tensor(g), **more)
            near(found, central_differences(function, x, g))
            # The formula itself: the transform, twice where there is a mirror image.
            factors = np.full(shape[last], 2.0)
            factors[0] = 1
            if length % 2 == 0:
                factors[-1] = 1
            factors = factors.reshape([-1 if a == last else 1 for a in range(len(shape))])
            half = sz.fft_r2c(sz.tensor(g), **more | {"forward": not forward})
            near(found, half.numpy() * factors)


def test_gradients_leave_their_arguments_alone() -> None:
    g, x = sz.tensor(numbers((2, 3), "complex", 0)), sz.tensor(numbers((2, 4), "real", 0))
    before = g.numpy().copy(), x.numpy().copy()
    sz.fft_r2c_backward(g, x)
    sz.fft_c2r_backward(x)
    sz.fft_c2c_backward(g)
    assert np.array_equal(g.numpy(), before[0])
    assert np.array_equal(x.numpy(), before[1])
