"""7.2.16: every status, and nothing made with it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import suanzi as sz
from helpers.moves import destroyed, refused
from suanzi.dtypes import DTYPES

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
FIRST = {n: "grad_out" if n.endswith("backward") else "input" for n in GOOD}
TAKES_REAL = ("fft_r2c", "fft_c2r_backward")


def moved(name: str, x: Any) -> list[Any]:
    return [x, *GOOD[name][1:]]


@pytest.mark.parametrize("name", GOOD)
def test_no_tensor(name: str) -> None:
    getattr(sz, name)(*GOOD[name])
    refused(sz.UninitializedObject, name, *moved(name, None), match=FIRST[name])
    refused(sz.UninitializedObject, name, *moved(name, destroyed()), match=FIRST[name])
    for bad in ("ab", [1, 2], object(), {}, b"a"):
        refused(sz.TypeMismatch, name, *moved(name, bad), match=FIRST[name])
    for number in (1, 1.5, 1j, True):  # tensors of rank 0, which have no axis
        refused_or(name, number)


def refused_or(name: str, number: Any) -> None:
    takes = name in TAKES_REAL
    fits = takes != isinstance(number, complex)
    error = sz.InvalidArgument if fits else sz.TypeMismatch
    refused(error, name, *moved(name, number))


def test_no_input_for_the_gradient() -> None:
    refused(sz.UninitializedObject, "fft_r2c_backward", HALF, None, match="input")
    refused(sz.UninitializedObject, "fft_r2c_backward", HALF, destroyed(), match="input")
    refused(sz.TypeMismatch, "fft_r2c_backward", HALF, C, match="input")
    refused(sz.TypeMismatch, "fft_r2c_backward", HALF, "abc", match="input")


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("name", GOOD)
def test_dtypes(name: str, dtype: sz.DType) -> None:
    x = sz.tensor("abcdef").reshape(2, 3) if dtype is sz.char else sz.cast(R, dtype)
    real = ("float16", "float32", "float64")
    if name == "fft_r2c_backward":
        gradient = HALF
        if dtype.name in real:
            width = {"float16": sz.complex32, "float64": sz.complex128}
            gradient = sz.cast(HALF, width.get(dtype.name, sz.complex64))
        given: list[Any] = [gradient, x]
    else:
        given = moved(name, x)
    if name in (*TAKES_REAL, "fft_r2c_backward"):
        good = dtype.kind in ("bool", "int", "uint", "quantized") or dtype.name in real
    else:
        good = dtype.kind == "complex"
    if good:
        getattr(sz, name)(*given)
    else:
        refused(sz.TypeMismatch, name, *given, match=str(dtype))


def test_a_gradient_of_another_precision() -> None:
    wide = sz.cast(HALF, sz.complex128)
    refused(sz.TypeMismatch, "fft_r2c_backward", wide, R, match="complex64")
    refused(sz.TypeMismatch, "fft_r2c_backward", HALF, sz.cast(R, sz.float64), match="complex128")


@pytest.mark.parametrize("name", GOOD)
def test_axes(name: str) -> None:
    bad: list[Any] = [
        2, -3, 2**70, (0, 2), (0, 0), (1, -1), (), [], np.array([], int), 1.0, "0", b"0", True,
        (True,), (0.5,), [[0]], float("nan"), object(), {"a": 1}, 1j, sz.tensor(1.5), (None,),
    ]  # fmt: skip
    for axes in bad:
        refused(sz.InvalidArgument, name, *GOOD[name], axes=axes)
    refused(sz.UninitializedObject, name, *GOOD[name], axes=destroyed())


@pytest.mark.parametrize("name", GOOD)
def test_modes_and_directions(name: str) -> None:
    for mode in ("", "byn", "ortho", 3, -1, None, True, 1.5, object(), [], float("nan"), b"none"):
        refused(sz.InvalidArgument, name, *GOOD[name], normalization=mode, match="by_sqrt_n")
    for flag in (1, 0, None, "true", np.bool_(True), [], object()):
        refused(sz.InvalidArgument, name, *GOOD[name], forward=flag, match="forward")
        if name == "fft_r2c":
            refused(sz.InvalidArgument, name, R, onesided=flag, match="onesided")


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
    for size in (None, 4.0, "4", True, 2**70, -(2**70), object(), [4], destroyed()):
        error = sz.UninitializedObject if isinstance(size, sz.Tensor) else sz.InvalidArgument
        refused(error, "fft_c2r", C, size)
    with pytest.raises(TypeError):
        sz.fft_c2r(C)  # type: ignore[call-arg]


def test_gradients_of_other_shapes() -> None:
    for shape in ((2,), (2, 4), (2, 1), (3, 2), (2, 3, 1), ()):
        refused(
            sz.InvalidArgument, "fft_r2c_backward", sz.zeros(shape, sz.complex64), R, match="shape"
        )
    refused(sz.InvalidArgument, "fft_r2c_backward", HALF, R, axes=(1, 0), match="(2, 3)")


def test_no_memory() -> None:
    many = sz.expand(sz.zeros((1,), sz.complex64), (2**50,))
    refused(sz.AllocFailed, "fft_c2c", many)
    real = sz.expand(sz.zeros((1,), sz.float32), (2**50,))
    refused(sz.AllocFailed, "fft_r2c", real)
    refused(sz.AllocFailed, "fft_c2r", many, 2**51 - 1)


def test_errors_name_the_gradient_and_its_clause() -> None:
    with pytest.raises(sz.TypeMismatch, match=r"fft_r2c_backward \(7\.2\.16\.2\.4\): input"):
        sz.fft_r2c_backward(HALF, sz.cast(R, sz.bfloat16))
