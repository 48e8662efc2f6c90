"""The Fourier extension against NumPy in complex128."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import suanzi as sz
from helpers.arrays import FLOATING, close, exact, made
from suanzi.base.status import DimensionsMismatch, InvalidArgument, TypeMismatch

xp = sz.array_api
NORMS = ("backward", "ortho", "forward")
COMPLEX = {
    sz.float16: sz.complex32,
    sz.bfloat16: sz.complex64,
    sz.float8_e4m3fn: sz.complex32,
    sz.float8_e5m2: sz.complex32,
    sz.float32: sz.complex64,
    sz.float64: sz.complex128,
}


def near(x: sz.Tensor, true: np.ndarray) -> bool:
    return close(x, true, 8, np.abs(true).max(initial=0.1))


@pytest.mark.parametrize("name", ["fft", "ifft", "rfft", "ihfft", "irfft", "hfft"])
@pytest.mark.parametrize("dt", FLOATING, ids=str)
def test_along_one_axis(dt: sz.DType, name: str) -> None:
    real = name in ("rfft", "ihfft")
    x = made(dt, (3, 10), layout="transposed")
    if real and dt.is_complex:
        with pytest.raises(TypeMismatch, match=f"{name}: x is {dt}; it must be of real"):
            getattr(xp.fft, name)(x)
        return
    whole = COMPLEX.get(dt, dt)
    back = sz.dtypes.part(whole) if name in ("irfft", "hfft") else whole
    for n, axis, norm in itertools.product((None, 7, 16), (-1, 0), NORMS):
        got = getattr(xp.fft, name)(x, n=n, axis=axis, norm=norm)
        assert got.dtype is back
        assert near(got, getattr(np.fft, name)(exact(x), n, axis, norm))


@pytest.mark.parametrize("name", ["fftn", "ifftn", "rfftn", "irfftn"])
@pytest.mark.parametrize("dt", [sz.float16, sz.float32, sz.complex64, sz.complex128], ids=str)
def test_along_several_axes(dt: sz.DType, name: str) -> None:
    if name == "rfftn" and dt.is_complex:
        return
    x = made(dt, (3, 4, 6), layout="strided")
    for (s, axes), norm in itertools.product(
        [(None, None), (None, (0, 2)), ((5, 7), (2, 0)), ((2,), (1,))], NORMS
    ):
        got = getattr(xp.fft, name)(x, s=s, axes=axes, norm=norm)
        assert near(got, getattr(np.fft, name)(exact(x), s, axes, norm))


def test_what_goes_there_comes_back() -> None:
    x = made(sz.float32, (4, 9))
    assert close(xp.fft.irfftn(xp.fft.rfftn(x), s=(4, 9), axes=(0, 1)), exact(x), 8, 3)
    assert close(xp.fft.hfft(xp.fft.ihfft(x), n=9), exact(x), 8, 3)


@pytest.mark.parametrize("n", [1, 2, 5, 8])
def test_frequencies(n: int) -> None:
    assert close(xp.fft.fftfreq(n, d=0.3, dtype=sz.float64), np.fft.fftfreq(n, 0.3), 2)
    assert close(xp.fft.rfftfreq(n, d=-2.0), np.fft.rfftfreq(n, -2.0), 1)
    assert xp.fft.fftfreq(n, dtype=sz.bfloat16).dtype is sz.bfloat16
    x = made(sz.int8, (n, 3))
    assert np.array_equal(exact(xp.fft.fftshift(x)), np.fft.fftshift(exact(x)))
    assert np.array_equal(exact(xp.fft.ifftshift(x, axes=0)), np.fft.ifftshift(exact(x), 0))


def test_refusals_name_the_function_and_the_argument() -> None:
    x = sz.zeros((2, 3))
    with pytest.raises(InvalidArgument, match="fft: norm is 'forwards'.* Did you mean 'forward'"):
        xp.fft.fft(x, norm="forwards")
    with pytest.raises(InvalidArgument, match="fft: along axis 1 there would be 0 elements"):
        xp.fft.fft(x, n=0)
    with pytest.raises(InvalidArgument, match="fftn: s is given, and axes is not"):
        xp.fft.fftn(x, s=(1, 2))
    with pytest.raises(DimensionsMismatch, match="fftn: there are 1 sizes for 2 axes"):
        xp.fft.fftn(x, s=(1,), axes=(0, 1))
    with pytest.raises(InvalidArgument, match="irfft: 1 elements along axis 0"):
        xp.fft.irfft(sz.zeros((1,)))
    with pytest.raises(TypeMismatch, match="fft: x is int64; it must be of real and complex"):
        xp.fft.fft(sz.tensor([1, 2]))
    with pytest.raises(TypeMismatch, match="fftfreq: dtype is complex64"):
        xp.fft.fftfreq(3, dtype=sz.complex64)
    with pytest.raises(InvalidArgument, match="fftfreq: d is 0"):
        xp.fft.fftfreq(3, d=0)
