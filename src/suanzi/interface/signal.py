"""7.2.16, signal, in the standard's form; written by tools/write_names.py."""

from __future__ import annotations

from typing import Any

from suanzi.interface.calling import REQUIRED, Answer, call


def op_fft_c2c(
    input: Any = REQUIRED,
    axes: Any = None,
    axes_len: Any = None,
    normalization: Any = "none",
    forward: Any = True,
) -> Answer:
    """Return the Fourier transform of complex numbers, of the same shape and dtype.

    Clause 7.2.16.1, Table 127; returns (Status, output).
    """
    return call(
        "fft_c2c",
        input=input,
        axes=axes,
        axes_len=axes_len,
        normalization=normalization,
        forward=forward,
    )


op_ffft_c2c = op_fft_c2c
"""The name as it is printed."""


def op_fft_c2c_backward(
    grad_out: Any = REQUIRED,
    axes: Any = None,
    axes_len: Any = None,
    normalization: Any = "none",
    forward: Any = True,
) -> Answer:
    """Return the gradient of `fft_c2c`: the transform of `grad_out` in the other direction.

    Clause 7.2.16.1.4, Table 128; returns (Status, grad_in).
    """
    return call(
        "fft_c2c_backward",
        grad_out=grad_out,
        axes=axes,
        axes_len=axes_len,
        normalization=normalization,
        forward=forward,
    )


def op_fft_r2c(
    input: Any = REQUIRED,
    axes: Any = None,
    axes_len: Any = None,
    normalization: Any = "none",
    forward: Any = True,
    onesided: Any = True,
) -> Answer:
    """Return the Fourier transform of real numbers, in the complex dtype of their precision.

    Clause 7.2.16.2, Table 129; returns (Status, output).
    """
    return call(
        "fft_r2c",
        input=input,
        axes=axes,
        axes_len=axes_len,
        normalization=normalization,
        forward=forward,
        onesided=onesided,
    )


def op_fft_r2c_backward(
    grad_out: Any = REQUIRED,
    input: Any = REQUIRED,
    axes: Any = None,
    axes_len: Any = None,
    normalization: Any = "none",
    forward: Any = True,
) -> Answer:
    """Return the gradient of `fft_r2c`, real and of the shape of `input`.

    Clause 7.2.16.2.4, Table 130; returns (Status, grad_in).
    """
    return call(
        "fft_r2c_backward",
        grad_out=grad_out,
        input=input,
        axes=axes,
        axes_len=axes_len,
        normalization=normalization,
        forward=forward,
    )


def op_fft_c2r(
    input: Any = REQUIRED,
    axes: Any = None,
    axes_len: Any = None,
    normalization: Any = "none",
    forward: Any = True,
    last_dim_size: Any = REQUIRED,
) -> Answer:
    """Return the Fourier transform of half of a spectrum, the other half being its conjugate: real.

    Clause 7.2.16.3, Table 131; returns (Status, output).
    """
    return call(
        "fft_c2r",
        input=input,
        axes=axes,
        axes_len=axes_len,
        normalization=normalization,
        forward=forward,
        last_dim_size=last_dim_size,
    )


def op_fft_c2r_backward(
    grad_out: Any = REQUIRED,
    axes: Any = None,
    axes_len: Any = None,
    normalization: Any = "none",
    forward: Any = True,
) -> Answer:
    """Return the gradient of `fft_c2r`, complex, with L // 2 + 1 elements for L of `grad_out`.

    Clause 7.2.16.3.4, Table 132; returns (Status, grad_in).
    """
    return call(
        "fft_c2r_backward",
        grad_out=grad_out,
        axes=axes,
        axes_len=axes_len,
        normalization=normalization,
        forward=forward,
    )
