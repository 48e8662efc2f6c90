"""Fourier transforms by SciPy: which of its functions, how scaled, on how many threads."""

from __future__ import annotations

import os
from collections.abc import Sequence
from enum import IntEnum
from typing import TYPE_CHECKING, Any

from suanzi import _core, fourier_long
from suanzi.dtypes import (
    DType,
    complex32,
    complex64,
    complex128,
    float16,
    float32,
    float64,
)
from suanzi.interchange import from_dlpack, to_numpy
from suanzi.tensor import Tensor

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


# SciPy's words, each of which means one thing forwards and another one backwards.
_NORMS = {
    FFTNormMode.none: ("backward", "forward"),
    FFTNormMode.by_sqrt_n: ("ortho", "ortho"),
    FFTNormMode.by_n: ("forward", "backward"),
}
COMPLEX_OF = {float16: complex32, float32: complex64, float64: complex128}
REAL_OF = {c: r for r, c in COMPLEX_OF.items()}
# Narrow dtypes compute in these, and are rounded at the end.
_WIDE = {float16: float32, complex32: complex64}
# Bytes up to which SciPy's results are copied to aligned memory of ours; larger ones stay there.
_COPIED = 1 << 16
# Elements from which on more than one thread is worth it.
_SHARED = 1 << 16


def c2c(x: Tensor, axes: Sequence[int], mode: FFTNormMode, forward: bool, result: DType) -> Tensor:
    """Return the transform of a complex tensor, or all of that of a real one."""
    import numpy as np
    import scipy.fft

    if x.size == 0:
        return _empty(x.shape, result)
    one, several = (scipy.fft.fft, scipy.fft.fftn) if forward else (scipy.fft.ifft, scipy.fft.ifftn)
    more: dict[str, Any] = {"norm": _NORMS[mode][not forward], "workers": _workers(x)}
    if x.dtype.kind != "complex":
        array = _array(x)
        if len(axes) == 1:
            return _result(one(array, axis=axes[0], **more), result)
        return _result(several(array, axes=axes, **more), result)

    def in_place(made: Tensor, along: Sequence[int]) -> Tensor:
        array = _array(made)
        if not array.flags.writeable:  # with some versions of NumPy
            array = to_numpy(made)
        if len(along) == 1:
            found = one(array, axis=along[0], **more, overwrite_x=True)
        else:
            found = several(array, axes=along, **more, overwrite_x=True)
        # It may overwrite, and need not.
        return made if np.may_share_memory(found, array) else from_dlpack(found)

    # In memory of ours, which the transform overwrites: so it allocates nothing.
    wide = _WIDE.get(x.dtype, x.dtype)
    if x.size == x.shape[axes[-1]] and fourier_long.rectangle(x.size):
        made = fourier_long.transform(x, wide, forward, lambda rows: in_place(rows, (1,)))
    else:
        made = _empty(x.shape, wide)
        _core.copy_into(made, x)
        made = in_place(made, axes)
    rounded: Tensor = made if made.dtype is result else _core.cast(made, result, False)
    return rounded


def r2c(
    x: Tensor, axes: Sequence[int], mode: FFTNormMode, forward: bool, result: DType, factor: int = 1
) -> Tensor:
    """Return the half of the transform of a real tensor from which the other half follows.

    `factor` is for what is there twice: the elements that have a mirror image in the other half.
    """
    import scipy.fft

    last, length = axes[-1], x.shape[axes[-1]]
    if x.size == 0:
        return _empty((*x.shape[:last], length // 2 + 1, *x.shape[last + 1 :]), result)
    one, several = (
        (scipy.fft.rfft, scipy.fft.rfftn) if forward else (scipy.fft.ihfft, scipy.fft.ihfftn)
    )
    more = {"norm": _NORMS[mode][not forward], "workers": _workers(x)}
    if len(axes) == 1:
        made = one(_array(x), axis=last, **more)
    else:
        made = several(_array(x), axes=axes, **more)
    if factor != 1:
        _multiply_mirrored(made, last, length, factor)
    return _result(made, result)


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
    import scipy.fft

    last = axes[-1]
    if x.size == 0:
        return _empty((*x.shape[:last], length, *x.shape[last + 1 :]), result)
    one, several = (
        (scipy.fft.hfft, scipy.fft.hfftn) if forward else (scipy.fft.irfft, scipy.fft.irfftn)
    )
    more = {"norm": _NORMS[mode][not forward], "workers": _workers(x)}
    array = _array(x)
    if factor != 1:
        array = array.copy()
        _multiply_mirrored(array, last, length, factor)
    if len(axes) == 1:
        return _result(one(array, length, axis=last, **more), result)
    sizes = [*(x.shape[axis] for axis in axes[:-1]), length]
    return _result(several(array, sizes, axes=axes, **more), result)


def _multiply_mirrored(half: Array, axis: int, length: int, factor: float) -> None:
    """Multiply the elements of a half that stand for two: neither the first nor the middle."""
    import numpy as np

    everything = [slice(None)] * half.ndim
    everything[axis] = slice(1, (length + 1) // 2)
    with np.errstate(all="ignore"):
        half[tuple(everything)] *= factor


def _empty(shape: tuple[int, ...], dt: DType) -> Tensor:
    made: Tensor = _core.empty(shape, dt)
    return made


def _array(x: Tensor) -> Array:
    """Return the elements as an array that SciPy computes with in its own precision."""
    import numpy as np

    wide: Any = _core.cast(x, _WIDE[x.dtype], False) if x.dtype in _WIDE else x
    try:
        return np.from_dlpack(wide)  # the quickest way
    except BufferError:  # memory that may not be written to, for a NumPy of before DLPack 1.0
        return to_numpy(wide)


def _result(array: Array, dt: DType) -> Tensor:
    made = from_dlpack(array)
    if made.dtype is not dt:
        made = _core.cast(made, dt, False)
    elif array.nbytes <= _COPIED:
        made = _core.row_major_copy(made)
    return made


def _workers(x: Tensor) -> int:
    if x.size < _SHARED:
        return 1
    return min(_core.get_num_threads(), os.cpu_count() or 1)
