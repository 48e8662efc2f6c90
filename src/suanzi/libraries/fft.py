"""7.2.16: Fourier transforms: in which dtype, into which memory, axis by axis, and who computes.

The core has lengths without a prime factor above 13; SciPy has the others.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from enum import IntEnum
from typing import TYPE_CHECKING, Any

from suanzi import _core
from suanzi.dtypes import (
    DType,
    complex32,
    complex64,
    complex128,
    float16,
    float32,
    float64,
)
from suanzi.libraries import fft_parts
from suanzi.tensors.exchange import to_numpy
from suanzi.tensors.parts import converted
from suanzi.tensors.tensor import Tensor

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, Any]


class FFTNormMode(IntEnum):
    """What the transforms divide their results by, n being the number of transformed elements.

    It goes for both directions: a transform there with `none` and back with `by_n` restores.
    """

    none = 0
    """Nothing."""
    by_sqrt_n = 1
    """The square root of n."""
    by_n = 2
    """n."""


COMPLEX_OF = {float16: complex32, float32: complex64, float64: complex128}
REAL_OF = {c: r for r, c in COMPLEX_OF.items()}
# Narrow dtypes compute in these, and are rounded at the end.
_WIDE = {float16: float32, complex32: complex64}


def c2c(x: Tensor, axes: Sequence[int], mode: FFTNormMode, forward: bool) -> Tensor:
    """Return the transform of a complex tensor."""
    source = _dense(x)
    made = _empty(x.shape, source.dtype)
    if x.size:
        _transform_all(source, made, axes, mode, forward)
    return converted(made, x.dtype)


def r2c(
    x: Tensor,
    axes: Sequence[int],
    mode: FFTNormMode,
    forward: bool,
    onesided: bool = True,
    factor: int = 1,
) -> Tensor:
    """Return the transform of a real tensor, or the half from which the other half follows.

    `factor` is for what is there twice: the elements that have a mirror image in the other half.
    """
    last, length, result = axes[-1], x.shape[axes[-1]], COMPLEX_OF[x.dtype]
    kept = length // 2 + 1 if onesided else length
    made = _empty((*x.shape[:last], kept, *x.shape[last + 1 :]), _wide(result))
    if x.size:
        source = _dense(x)
        if _has_real(x, last, length):
            _core.fourier_real(source, made, forward, _scale(mode, length))
        else:
            fft_parts.r2c(_array(source), _array(made), last, forward, mode)
        _transform_all(made, made, axes[:-1], mode, forward)
        if factor != 1:
            _multiply_mirrored(made, last, length, factor)
    return converted(made, result)


def c2r(
    x: Tensor,
    axes: Sequence[int],
    mode: FFTNormMode,
    forward: bool,
    length: int,
    factor: float = 1,
) -> Tensor:
    """Return the real tensor whose transform the given half belongs to; `factor` as in `r2c`."""
    last, result = axes[-1], REAL_OF[x.dtype]
    made = _empty((*x.shape[:last], length, *x.shape[last + 1 :]), _wide(result))
    if x.size:
        half = _dense(x, new=len(axes) > 1 or factor != 1)
        if factor != 1:
            _multiply_mirrored(half, last, length, factor)
        _transform_all(half, half, axes[:-1], mode, forward)
        if _has_real(x, last, length):
            _core.fourier_real(half, made, forward, _scale(mode, length))
        else:
            fft_parts.c2r(_array(half), _array(made), last, forward, mode)
    return converted(made, result)


def _transform_all(
    source: Tensor, made: Tensor, axes: Sequence[int], mode: FFTNormMode, forward: bool
) -> None:
    """Write the transform of a dense tensor along axes into another, or into itself."""
    for axis in sorted(axes, reverse=True):
        length = source.shape[axis]
        if _core.has_fourier(length):
            _core.fourier(source, made, axis, forward, _scale(mode, length))
        else:
            if source is not made:
                _core.copy_into(made, source)
            fft_parts.c2c(_array(made), axis, forward, mode)
        source = made


def _scale(mode: FFTNormMode, length: int) -> float:
    return (1.0, 1 / math.sqrt(length), 1 / length)[mode]


def _has_real(x: Tensor, axis: int, length: int) -> bool:
    """Tell whether the core transforms real numbers along an axis: an even number, in a row."""
    return axis == x.ndim - 1 and length % 2 == 0 and _core.has_fourier(length // 2)


def _multiply_mirrored(half: Tensor, axis: int, length: int, factor: float) -> None:
    """Multiply the elements of a half that stand for two: neither the first nor the middle."""
    # Not by NumPy, which crashes where it has no memory for the buffers of a loop.
    key = (*[slice(None)] * axis, slice(1, (length + 1) // 2))
    part = half[key]
    _core.copy_into(part, _core.run_operator("mul", [part, factor], part.dtype)[0])


def _empty(shape: tuple[int, ...], dt: DType) -> Tensor:
    return _core.empty(shape, dt)


def _wide(dt: DType) -> DType:
    return _WIDE.get(dt, dt)


def _dense(x: Tensor, new: bool = False) -> Tensor:
    """Return x row by row, in a dtype to compute in: itself if it is so, unless it is to be new."""
    dt = _wide(x.dtype)
    if dt is x.dtype and not new and _core.is_row_major(x):
        return x
    made = _empty(x.shape, dt)
    _core.copy_into(made, x)
    return made


def _array(x: Tensor) -> Array:
    """Return the elements as an array of NumPy, on the same memory."""
    import numpy as np

    try:
        array = np.from_dlpack(x)  # type: ignore[arg-type]  # the quickest way
    except BufferError:  # memory that may not be written to, for a NumPy of before DLPack 1.0
        return to_numpy(x)
    return array if array.flags.writeable else to_numpy(x)  # with some versions of NumPy
