"""7.2.16: Fourier transforms: in which dtype, into which memory, on how many threads."""

from __future__ import annotations

import os
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
from suanzi.libraries import fft_long as fourier_long
from suanzi.libraries import pocketfft
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
# Elements from which on more than one thread is worth it.
_SHARED = 1 << 16


def c2c(x: Tensor, axes: Sequence[int], mode: FFTNormMode, forward: bool, result: DType) -> Tensor:
    """Return the transform of a complex tensor, or all of that of a real one."""
    made = _empty(x.shape, _wide(result))
    if x.size == 0:
        return converted(made, result)
    library, threads = pocketfft.library(), _threads(x)

    def rows(of: Tensor) -> Tensor:
        array = _array(of)
        library.c2c(array, (1,), forward, int(mode), array, threads)
        return of

    if x.size == x.shape[axes[-1]] and x.dtype.kind == "complex" and fourier_long.rectangle(x.size):
        made = fourier_long.transform(x, made.dtype, forward, rows)
    else:
        # The last axis first: it is read as it lies, and the others are transformed in place.
        along = sorted(axes, reverse=True)
        library.c2c(_array(_widened(x)), along, forward, int(mode), _array(made), threads)
    return converted(made, result)


def r2c(
    x: Tensor, axes: Sequence[int], mode: FFTNormMode, forward: bool, result: DType, factor: int = 1
) -> Tensor:
    """Return the half of the transform of a real tensor from which the other half follows.

    `factor` is for what is there twice: the elements that have a mirror image in the other half.
    """
    last, length = axes[-1], x.shape[axes[-1]]
    made = _empty((*x.shape[:last], length // 2 + 1, *x.shape[last + 1 :]), _wide(result))
    if x.size:
        array = _array(made)
        pocketfft.library().r2c(_array(_widened(x)), axes, forward, int(mode), array, _threads(x))
        if factor != 1:
            _multiply_mirrored(array, last, length, factor)
    return converted(made, result)


def c2r(
    x: Tensor,
    axes: Sequence[int],
    mode: FFTNormMode,
    forward: bool,
    result: DType,
    length: int,
    factor: float = 1,
) -> Tensor:
    """Return the real tensor whose transform the given half belongs to; `factor` as in `r2c`."""
    last = axes[-1]
    made = _empty((*x.shape[:last], length, *x.shape[last + 1 :]), _wide(result))
    if x.size:
        array = _array(_widened(x))
        if factor != 1:
            array = array.copy()
            _multiply_mirrored(array, last, length, factor)
        pocketfft.library().c2r(array, axes, length, forward, int(mode), _array(made), _threads(x))
    return converted(made, result)


def _multiply_mirrored(half: Array, axis: int, length: int, factor: float) -> None:
    """Multiply the elements of a half that stand for two: neither the first nor the middle."""
    import numpy as np

    everything = [slice(None)] * half.ndim
    everything[axis] = slice(1, (length + 1) // 2)
    with np.errstate(all="ignore"):
        half[tuple(everything)] *= factor


def _empty(shape: tuple[int, ...], dt: DType) -> Tensor:
    return _core.empty(shape, dt)


def _wide(dt: DType) -> DType:
    return _WIDE.get(dt, dt)


def _widened(x: Tensor) -> Tensor:
    made: Tensor = _core.cast(x, _WIDE[x.dtype], False) if x.dtype in _WIDE else x
    return made


def _array(x: Tensor) -> Array:
    """Return the elements as an array of NumPy, on the same memory."""
    import numpy as np

    try:
        array = np.from_dlpack(x)  # type: ignore[arg-type]  # the quickest way
    except BufferError:  # memory that may not be written to, for a NumPy of before DLPack 1.0
        return to_numpy(x)
    return array if array.flags.writeable else to_numpy(x)  # with some versions of NumPy


def _threads(x: Tensor) -> int:
    if x.size < _SHARED:
        return 1
    return min(_core.get_num_threads(), os.cpu_count() or 1)
