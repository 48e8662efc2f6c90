"""7.2.16: Fourier transforms: the dtypes they compute in, their memory and their axes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from enum import IntEnum

from suanzi import _core
from suanzi.base.dtypes import complex_of, part, widened
from suanzi.tensors.parts import converted
from suanzi.tensors.tensor import Tensor


class FFTNormMode(IntEnum):
    """The divisor of the results; n is the number of elements transformed together.

    It applies to both directions: `none` forward and `by_n` backward restore the input.
    """

    none = 0
    """Nothing."""
    by_sqrt_n = 1
    """The square root of n."""
    by_n = 2
    """n."""


def c2c(x: Tensor, axes: Sequence[int], mode: FFTNormMode, forward: bool) -> Tensor:
    """Return the transform of a complex tensor."""
    source = _dense(x)
    made = _core.empty(x.shape, source.dtype)
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

    `factor` multiplies the elements that have a mirror image in the other half.
    """
    last, length, result = axes[-1], x.shape[axes[-1]], complex_of(x.dtype)
    kept = length // 2 + 1 if onesided else length
    made = _core.empty((*x.shape[:last], kept, *x.shape[last + 1 :]), widened(result))
    if x.size:
        _core.fourier_real(_dense(x), made, last, forward, _scale(mode, length))
        _transform_all(made, made, axes[:-1], mode, forward)
        if factor != 1:
            _multiply_mirrored(made, last, length, factor)
    return converted(made, result)


def c2r(
    x: Tensor, axes: Sequence[int], mode: FFTNormMode, forward: bool, length: int, factor: float = 1
) -> Tensor:
    """Return the real tensor whose transform the given half belongs to; `factor` as in `r2c`."""
    last, result = axes[-1], part(x.dtype)
    made = _core.empty((*x.shape[:last], length, *x.shape[last + 1 :]), widened(result))
    if x.size:
        half = _dense(x, new=len(axes) > 1 or factor != 1)
        if factor != 1:
            _multiply_mirrored(half, last, length, factor)
        _transform_all(half, half, axes[:-1], mode, forward)
        _core.fourier_real(half, made, last, forward, _scale(mode, length))
    return converted(made, result)


def _transform_all(
    source: Tensor, made: Tensor, axes: Sequence[int], mode: FFTNormMode, forward: bool
) -> None:
    """Write the transform of a dense tensor along axes into another, or into itself."""
    for axis in sorted(axes, reverse=True):
        _core.fourier(source, made, axis, forward, _scale(mode, source.shape[axis]))
        source = made


def _scale(mode: FFTNormMode, length: int) -> float:
    return (1.0, 1 / math.sqrt(length), 1 / length)[mode]


def _multiply_mirrored(half: Tensor, axis: int, length: int, factor: float) -> None:
    """Multiply the elements of a half that stand for two: all but the first and the middle."""
    # Not by NumPy, which crashes without memory for the buffers of a loop.
    key = (*[slice(None)] * axis, slice(1, (length + 1) // 2))
    part = half[key]
    _core.copy_into(part, _core.run_operator("mul", [part, factor], part.dtype)[0])


def _dense(x: Tensor, new: bool = False) -> Tensor:
    """Return x row-major in the dtype to compute in: x itself if possible, unless `new`."""
    dt = widened(x.dtype)
    if dt is x.dtype and not new and _core.is_row_major(x):
        return x
    made = _core.empty(x.shape, dt)
    _core.copy_into(made, x)
    return made
