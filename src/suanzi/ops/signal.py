"""7.2.16: Fourier transforms, and their backward.

A transform runs along one or more axes, the last one unless `axes` says others; N is the product of
their sizes (of the real tensor's, where the other is shorter). Forwards multiplies with exp(-i...),
backwards with exp(+i...), and either is divided by what `normalization` says. float16 and complex32
compute in float32 and complex64, and are rounded once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from operator import index
from typing import Any

from suanzi import _core
from suanzi.base.dtypes import DType, complex_of, float16, float32, float64
from suanzi.base.hints import nearest, shown
from suanzi.base.status import InvalidArgument, TypeMismatch
from suanzi.ops.calling.arguments import real_argument, tensor_argument
from suanzi.ops.calling.declare import operator
from suanzi.ops.calling.elementwise import check_dtype, promoted_dtype
from suanzi.ops.calling.scalars import axes_argument, flag_argument, integer_argument
from suanzi.ops.libraries import fft
from suanzi.ops.libraries.fft import FFTNormMode
from suanzi.promote.registry import COMPLEX, REAL_FUNCTION, REGISTRY, Operator
from suanzi.tensors.parts import converted
from suanzi.tensors.tensor import Tensor, TensorLike

Axes = int | Sequence[int] | None

_REAL = (float16, float32, float64)
"""What has a complex dtype of its width: bfloat16 and float8 have none."""


@operator("7.2.16.1", dtypes=COMPLEX, fast=True)
def fft_c2c(
    input: TensorLike,
    axes: Axes = None,
    normalization: FFTNormMode | str = FFTNormMode.none,
    forward: bool = True,
) -> Tensor:
    """Return the Fourier transform of complex numbers, with the same shape and dtype.

    >>> x = sz.tensor([1, 2j, 3, 4], sz.complex64)
    >>> y = sz.fft_c2c(x)
    >>> y
    Tensor([ 8+2j,  0+4j,  0-2j, -4-4j], dtype=complex64)
    >>> sz.fft_c2c(y, normalization="by_n", forward=False)
    Tensor([1+0j, 0+2j, 3+0j, 4+0j], dtype=complex64)
    """
    op = REGISTRY["fft_c2c"]
    return _c2c(op, "input", input, axes, normalization, forward, flipped=False)


@operator("7.2.16.1.4", dtypes=COMPLEX, fast=True)
def fft_c2c_backward(
    grad_out: TensorLike,
    axes: Axes = None,
    normalization: FFTNormMode | str = FFTNormMode.none,
    forward: bool = True,
) -> Tensor:
    """Return the gradient of `fft_c2c`: the transform of `grad_out` in the other direction.

    A complex gradient is dL/dRe + i dL/dIm. The arguments are those of `fft_c2c`.

    >>> sz.fft_c2c_backward(sz.tensor([1, 0, 0, 0], sz.complex64), normalization="by_sqrt_n")
    Tensor([0.5+0j, 0.5+0j, 0.5+0j, 0.5+0j], dtype=complex64)
    """
    op = REGISTRY["fft_c2c_backward"]
    return _c2c(op, "grad_out", grad_out, axes, normalization, forward, flipped=True)


def _c2c(
    op: Operator,
    name: str,
    given: Any,
    axes: Any,
    normalization: Any,
    forward: Any,
    *,
    flipped: bool,
) -> Tensor:
    x = tensor_argument(op, name, given)
    check_dtype(op, {name: x}, x.dtype)
    along = _axes(op, axes, name, x)
    mode, ahead = _mode(op, normalization), flag_argument(op, "forward", forward)
    return fft.c2c(x, along, mode, ahead is not flipped)


@operator("7.2.16.2", dtypes=_REAL, promotes=REAL_FUNCTION, fast=True)
def fft_r2c(
    input: TensorLike,
    axes: Axes = None,
    normalization: FFTNormMode | str = FFTNormMode.none,
    forward: bool = True,
    onesided: bool = True,
) -> Tensor:
    """Return the Fourier transform of real numbers, in the complex dtype of their precision.

    Of L elements along the last of `axes`, the first L // 2 + 1 are given: the others are their
    conjugates in reverse order, and `onesided=False` gives them, too. Integers are promoted first.

    >>> sz.fft_r2c(sz.tensor([1, 2, 3, 4]))
    Tensor([10+0j, -2+2j, -2+0j], dtype=complex64)
    >>> sz.fft_r2c(sz.tensor([1, 2, 3, 4]), onesided=False)[3]
    Tensor(-2-2j, dtype=complex64)
    """
    op = REGISTRY["fft_r2c"]
    x, dt = _real(op, "input", input)
    along = _axes(op, axes, "input", x)
    mode, ahead = _mode(op, normalization), flag_argument(op, "forward", forward)
    half = flag_argument(op, "onesided", onesided)
    return fft.r2c(converted(x, dt), along, mode, ahead, half)


@operator("7.2.16.2.4", dtypes=COMPLEX, promotes=REAL_FUNCTION)
def fft_r2c_backward(
    grad_out: TensorLike,
    input: TensorLike,
    axes: Axes = None,
    normalization: FFTNormMode | str = FFTNormMode.none,
    forward: bool = True,
) -> Tensor:
    """Return the gradient of `fft_r2c`, real and of the shape of `input`.

    The size of `grad_out` along the last of the axes shows whether the transform was onesided. Of
    `input`, only shape and dtype are used; the other arguments are those of `fft_r2c`.

    >>> x = sz.tensor([1.0, 2, 3, 4])
    >>> sz.fft_r2c_backward(sz.tensor([0, 1, 0], sz.complex64), x)
    Tensor([ 1,  0, -1,  0], dtype=float32)
    """
    op = REGISTRY["fft_r2c_backward"]
    gradient = tensor_argument(op, "grad_out", grad_out)
    check_dtype(op, {"grad_out": gradient}, gradient.dtype)
    x, dt = _real(replace(REGISTRY["fft_r2c"], name=op.name, clause=op.clause), "input", input)
    if gradient.dtype is not complex_of(dt):
        raise TypeMismatch(
            f"{op.title}: grad_out is {gradient.dtype} and input {x.dtype}, whose transform is "
            f"{complex_of(dt)}; cast grad_out to that."
        )
    along = _axes(op, axes, "input", x)
    mode, ahead = _mode(op, normalization), flag_argument(op, "forward", forward)
    last, length = along[-1], x.shape[along[-1]]
    half = (*x.shape[:last], length // 2 + 1, *x.shape[last + 1 :])
    if gradient.shape not in (half, x.shape):
        raise InvalidArgument(
            f"{op.title}: grad_out has shape {gradient.shape}; for an input of shape {x.shape} and "
            f"axes {along} it is {half}, or {x.shape} if the transform was not onesided."
        )
    if gradient.shape == half:
        # The real part of the transform of the half with zeros behind it: half of what follows from
        # the half with its mirror image, but for the elements that have none.
        return fft.c2r(gradient, along, mode, not ahead, length, 0.5)
    whole = fft.c2c(gradient, along, mode, not ahead)
    return _core.cast(whole, dt, False)  # the real part


@operator("7.2.16.3", dtypes=COMPLEX, fast=True)
def fft_c2r(
    input: TensorLike,
    last_dim_size: int,
    axes: Axes = None,
    normalization: FFTNormMode | str = FFTNormMode.none,
    forward: bool = True,
) -> Tensor:
    """Return the real Fourier transform of half of a spectrum; the other half is its conjugate.

    Of N elements along the last of `axes`, `last_dim_size` is 2(N - 1) or 2(N - 1) + 1. Where a
    real result leaves no choice, imaginary parts are ignored: after the transforms along the other
    axes, those of the first element, and, if `last_dim_size` is even, of the last one.

    >>> y = sz.fft_r2c(sz.tensor([1, 2, 3, 4]))
    >>> sz.fft_c2r(y, 4, normalization="by_n", forward=False)
    Tensor([1, 2, 3, 4], dtype=float32)
    """
    op = REGISTRY["fft_c2r"]
    x = tensor_argument(op, "input", input)
    check_dtype(op, {"input": x}, x.dtype)
    along = _axes(op, axes, "input", x)
    mode, ahead = _mode(op, normalization), flag_argument(op, "forward", forward)
    length, n = integer_argument(op, "last_dim_size", last_dim_size), x.shape[along[-1]]
    if length < 1 or length // 2 + 1 != n:
        allowed = f"{2 * n - 2} or {2 * n - 1}" if n > 1 else "1"
        raise InvalidArgument(
            f"{op.title}: last_dim_size is {shown(length)}; for {n} elements along axis "
            f"{along[-1]} it must be {allowed}."
        )
    return fft.c2r(x, along, mode, ahead, length)


@operator("7.2.16.3.4", dtypes=_REAL, promotes=REAL_FUNCTION)
def fft_c2r_backward(
    grad_out: TensorLike,
    axes: Axes = None,
    normalization: FFTNormMode | str = FFTNormMode.none,
    forward: bool = True,
) -> Tensor:
    """Return the gradient of `fft_c2r`, complex, with L // 2 + 1 elements for L of `grad_out`.

    The arguments are those of `fft_c2r`; a complex gradient is dL/dRe + i dL/dIm.

    >>> sz.fft_c2r_backward(sz.tensor([1.0, 0, 0, 0]))
    Tensor([1+0j, 2+0j, 1+0j], dtype=complex64)
    """
    op = REGISTRY["fft_c2r_backward"]
    gradient, dt = _real(op, "grad_out", grad_out)
    along = _axes(op, axes, "grad_out", gradient)
    mode, ahead = _mode(op, normalization), flag_argument(op, "forward", forward)
    # An element with a mirror image was counted twice.
    return fft.r2c(converted(gradient, dt), along, mode, not ahead, factor=2)


def _real(op: Operator, name: str, given: Any) -> tuple[Tensor, DType]:
    """Return a real argument, and the dtype it is promoted to before it is transformed."""
    x = real_argument(op, name, given)
    return x, promoted_dtype(op, {name: x})


def _axes(op: Operator, axes: Any, name: str, x: Tensor) -> tuple[int, ...]:
    """Return the axes to transform along, each of which has elements."""
    if axes is None:
        if x.ndim == 0:
            raise InvalidArgument(
                f"{op.title}: {name} has rank 0, and so no axis to transform along. Reshape it."
            )
        found: tuple[int, ...] = (x.ndim - 1,)
    else:
        found = axes_argument(op, "axes", axes, x.ndim, InvalidArgument)
        if not found:
            raise InvalidArgument(
                f"{op.title}: axes is empty; it must name at least one axis, or be None for the "
                "last one."
            )
    for axis in found:
        if x.shape[axis] == 0:
            raise InvalidArgument(
                f"{op.title}: axis {axis} of {name} is empty; a transform needs at least one "
                "element."
            )
    return found


def _mode(op: Operator, mode: Any) -> FFTNormMode:
    try:
        if isinstance(mode, str):
            return FFTNormMode[mode.lower()]
        if not isinstance(mode, bool):
            return FFTNormMode(index(mode))
    except (KeyError, ValueError, TypeError):
        pass
    hint = nearest(mode, FFTNormMode.__members__) if isinstance(mode, str) else ""
    raise InvalidArgument(
        f"{op.title}: normalization is {shown(mode)}; it must be one of "
        f"{', '.join(FFTNormMode.__members__)}.{hint}"
    )
