"""7.2.16: every status, and nothing made with it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import suanzi as sz
from helpers.moves import refused

C, R = sz.tensor(np.ones((2, 3), np.complex64)), sz.tensor(np.ones((2, 3), np.float32))
HALF = sz.tensor(np.ones((2, 2), np.complex64))
GOOD: dict[str, list[Any]] = {
    "fft_c2c": [C],
    "fft_c2c_backward": [C],
    "fft_r2c": [R],
    "fft_r2c_backward": [HALF, R],
    "fft_c2r": [C, 4],
    "fft_c2r_backward": [R],
}
TAKES_REAL = ("fft_r2c", "fft_c2r_backward")


def moved(name: str, x: Any) -> list[Any]:
    return [x, *GOOD[name][1:]]


@pytest.mark.parametrize("name", GOOD)
def test_numbers_have_no_axis(name: str) -> None:
    for number in (1, 1.5, 1j, True):
        fits = (name in TAKES_REAL) != isinstance(number, complex)
        refused(sz.InvalidArgument if fits else sz.TypeMismatch, name, *moved(name, number))


def test_a_gradient_of_another_precision() -> None:
    wide = sz.cast(HALF, sz.complex128)
    refused(sz.TypeMismatch, "fft_r2c_backward", wide, R, match="complex64")
    refused(sz.TypeMismatch, "fft_r2c_backward", HALF, sz.cast(R, sz.float64), match="complex128")
    refused(sz.TypeMismatch, "fft_r2c_backward", HALF, C, match="input")


@pytest.mark.parametrize("name", GOOD)
def test_axes(name: str) -> None:
    for axes in (2, -3, (0, 2), (0, 0), (1, -1), (), [], np.array([], int)):
        refused(sz.InvalidArgument, name, *GOOD[name], axes=axes)


@pytest.mark.parametrize("name", GOOD)
def test_empty_and_missing_axes(name: str) -> None:
    for shape in ((0,), (2, 0), (0, 0)):
        x = sz.zeros(shape, sz.float32 if name in TAKES_REAL else sz.complex64)
        given = moved(name, x)
        if name == "fft_r2c_backward":
            given = [x, sz.zeros(shape, sz.float32)]
        refused(sz.InvalidArgument, name, *given, match="is empty")
    point = sz.zeros((), sz.float32 if name in TAKES_REAL else sz.complex64)
    given = [point, sz.zeros((), sz.float32)] if name == "fft_r2c_backward" else moved(name, point)
    refused(sz.InvalidArgument, name, *given, match="rank 0")
    refused(sz.InvalidArgument, name, *given, axes=(0,))


def test_last_dim_size() -> None:
    for n, good in ((1, {1}), (2, {2, 3}), (3, {4, 5}), (4, {6, 7})):
        x = sz.zeros((n,), sz.complex64)
        for size in range(-2, 10):
            if size in good:
                assert sz.fft_c2r(x, size).shape == (size,)
                assert sz.fft_c2r(x, np.int8(size)).shape == (size,)
            else:
                refused(sz.InvalidArgument, "fft_c2r", x, size, match="last_dim_size")
    for size in (2**70, -(2**70)):
        refused(sz.InvalidArgument, "fft_c2r", C, size)


def test_gradients_of_other_shapes() -> None:
    for shape in ((2,), (2, 4), (2, 1), (3, 2), (2, 3, 1), ()):
        refused(
            sz.InvalidArgument, "fft_r2c_backward", sz.zeros(shape, sz.complex64), R, match="shape"
        )
    refused(sz.InvalidArgument, "fft_r2c_backward", HALF, R, axes=(1, 0), match="(2, 3)")
