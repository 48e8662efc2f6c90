"""Fourier transforms. float16 and complex32 compute in float32 and complex64, and are rounded once.

bfloat16 has no complex dtype of its range but complex64, which is what its transforms are;
those of float8 are complex32.

>>> xp.fft.rfft(xp.asarray([1, 2, 3, 4], dtype=xp.bfloat16))
Tensor([10+0j, -2+2j, -2+0j], dtype=complex64)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from suanzi import _core
from suanzi.base.dtypes import DTypeLike, complex_of, float64, part
from suanzi.base.hints import nearest, shown
from suanzi.base.status import AllocFailed, DimensionsMismatch, InvalidArgument, TypeMismatch
from suanzi.faces.array_api.along import DEFAULT_FLOAT, computed, counting
from suanzi.faces.array_api.arguments import (
    FLOATING,
    array_argument,
    axes_of,
    double,
    dtype_or,
    placed,
)
from suanzi.faces.array_api.declare import function
from suanzi.ops.calling.scalars import integer_argument
from suanzi.ops.libraries import fft as transforms
from suanzi.ops.libraries.fft import FFTNormMode
from suanzi.tensors.parts import converted
from suanzi.tensors.tensor import Tensor

__all__ = [
    "fft", "fftfreq", "fftn", "fftshift", "hfft", "ifft", "ifftn", "ifftshift", "ihfft", "irfft",
    "irfftn", "rfft", "rfftfreq", "rfftn",
]  # fmt: skip

Sizes = Sequence[int] | None

_REAL = frozenset({"float"})
_NORMS = {
    "backward": (FFTNormMode.none, FFTNormMode.by_n),
    "ortho": (FFTNormMode.by_sqrt_n, FFTNormMode.by_sqrt_n),
    "forward": (FFTNormMode.by_n, FFTNormMode.none),
}
"""What a transform there is divided by, and one back."""


@function
def fft(x: Tensor, /, *, n: int | None = None, axis: int = -1, norm: str = "backward") -> Tensor:
    """Return the discrete Fourier transform along an axis, trimmed or zero-padded to `n` elements.

    >>> xp.fft.fft(xp.asarray([1, 2j, 3, 4]))
    Tensor([ 8+2j,  0+4j,  0-2j, -4-4j], dtype=complex64)
    """
    return _complex("fft", x, _sizes_of_one(n), (axis,), norm, True)


@function
def ifft(x: Tensor, /, *, n: int | None = None, axis: int = -1, norm: str = "backward") -> Tensor:
    """Return the inverse transform along an axis."""
    return _complex("ifft", x, _sizes_of_one(n), (axis,), norm, False)


@function
def fftn(x: Tensor, /, *, s: Sizes = None, axes: Sizes = None, norm: str = "backward") -> Tensor:
    """Return the discrete Fourier transform along several axes, or all."""
    return _complex("fftn", x, s, axes, norm, True)


@function
def ifftn(x: Tensor, /, *, s: Sizes = None, axes: Sizes = None, norm: str = "backward") -> Tensor:
    """Return the inverse transform along several axes, or all."""
    return _complex("ifftn", x, s, axes, norm, False)


@function
def rfft(x: Tensor, /, *, n: int | None = None, axis: int = -1, norm: str = "backward") -> Tensor:
    """Return the first n // 2 + 1 elements of the transform of real numbers along an axis."""
    return _from_real("rfft", x, _sizes_of_one(n), (axis,), norm, True)


@function
def irfft(x: Tensor, /, *, n: int | None = None, axis: int = -1, norm: str = "backward") -> Tensor:
    """Return the inverse of :func:`rfft`, with `n` real elements."""
    return _to_real("irfft", x, _sizes_of_one(n), (axis,), norm, False)


@function
def rfftn(x: Tensor, /, *, s: Sizes = None, axes: Sizes = None, norm: str = "backward") -> Tensor:
    """Return the transform of real numbers along axes; along the last of them, half of it."""
    return _from_real("rfftn", x, s, axes, norm, True)


@function
def irfftn(x: Tensor, /, *, s: Sizes = None, axes: Sizes = None, norm: str = "backward") -> Tensor:
    """Return the inverse of :func:`rfftn`."""
    return _to_real("irfftn", x, s, axes, norm, False)


@function
def hfft(x: Tensor, /, *, n: int | None = None, axis: int = -1, norm: str = "backward") -> Tensor:
    """Return the real transform of a Hermitian signal, given its half."""
    return _to_real("hfft", x, _sizes_of_one(n), (axis,), norm, True)


@function
def ihfft(x: Tensor, /, *, n: int | None = None, axis: int = -1, norm: str = "backward") -> Tensor:
    """Return half of the Hermitian signal whose real transform is given."""
    return _from_real("ihfft", x, _sizes_of_one(n), (axis,), norm, False)


@function
def fftfreq(
    n: int, /, *, d: float = 1.0, dtype: DTypeLike | None = None, device: Any = None
) -> Tensor:
    """Return the frequencies of a transform of `n` samples at a spacing of `d`.

    >>> xp.fft.fftfreq(4, d=0.5)
    Tensor([   0,  0.5,   -1, -0.5], dtype=float32)
    """
    count = integer_argument("fftfreq", "n", n, 1)
    numbers = counting(count)
    middle = (count + 1) // 2
    if middle < count:
        numbers[middle:] = computed("sub", counting(count - middle), count // 2)
    return _frequencies("fftfreq", numbers, count, d, dtype, device)


@function
def rfftfreq(
    n: int, /, *, d: float = 1.0, dtype: DTypeLike | None = None, device: Any = None
) -> Tensor:
    """Return the frequencies of :func:`rfft`; for even `n` the last one is positive."""
    count = integer_argument("rfftfreq", "n", n, 1)
    return _frequencies("rfftfreq", counting(count // 2 + 1), count, d, dtype, device)


@function
def fftshift(x: Tensor, /, *, axes: int | Sequence[int] | None = None) -> Tensor:
    """Shift a spectrum so that frequency 0 is in the middle of the axes."""
    return _shifted("fftshift", x, axes, lambda n: n // 2)


@function
def ifftshift(x: Tensor, /, *, axes: int | Sequence[int] | None = None) -> Tensor:
    """Undo :func:`fftshift`."""
    return _shifted("ifftshift", x, axes, lambda n: -(n // 2))


# ---- what they share ----------------------------------------------------------------------------


def _complex(function: str, x: Any, s: Any, axes: Any, norm: Any, forward: bool) -> Tensor:
    x, along, mode = _read(function, x, FLOATING, s, axes, norm, forward)
    return transforms.c2c(converted(x, complex_of(x.dtype)), along, mode, forward)


def _from_real(function: str, x: Any, s: Any, axes: Any, norm: Any, forward: bool) -> Tensor:
    x, along, mode = _read(function, x, _REAL, s, axes, norm, forward)
    return transforms.r2c(converted(x, part(complex_of(x.dtype))), along, mode, forward)


def _read(
    function: str, x: Any, kinds: frozenset[str], s: Any, axes: Any, norm: Any, forward: bool
) -> tuple[Tensor, tuple[int, ...], FFTNormMode]:
    """Return the input trimmed or filled up, the axes to transform along, and the factor."""
    x = array_argument(function, "x", x, kinds)
    mode = _mode(function, norm, forward)
    along, sizes = _along(function, x, s, axes)
    for axis, n in zip(along, sizes, strict=True):
        x = _resized(function, x, axis, n)
    return x, along, mode


def _to_real(function: str, x: Any, s: Any, axes: Any, norm: Any, forward: bool) -> Tensor:
    x = array_argument(function, "x", x, FLOATING)
    mode = _mode(function, norm, forward)
    along, sizes = _along(function, x, s, axes)
    last = along[-1]
    length = 2 * (x.shape[last] - 1) if s is None or s[-1] in (None, -1) else sizes[-1]
    if length < 1:
        raise InvalidArgument(
            f"{function}: {x.shape[last]} elements along axis {last} would give {shown(length)}; "
            "say how many there are, 1 at least."
        )
    _check_length(function, length, last)
    for axis, n in zip(along[:-1], sizes, strict=False):
        x = _resized(function, x, axis, n)
    x = _resized(function, x, last, length // 2 + 1)
    return transforms.c2r(converted(x, complex_of(x.dtype)), along, mode, forward, length)


def _sizes_of_one(n: Any) -> Any:
    return None if n is None else (n,)


def _along(function: str, x: Tensor, s: Any, axes: Any) -> tuple[tuple[int, ...], list[int]]:
    """Return the axes to transform along, and how many elements each is to have."""
    if s is not None and axes is None:
        raise InvalidArgument(f"{function}: s is given, and axes is not; say which axes they are.")
    for name, given in (("s", s), ("axes", axes)):
        if not (given is None or isinstance(given, tuple | list)):
            raise TypeMismatch(f"{function}: {name} is {shown(given)}; it must be a tuple.")
    along = axes_of(function, axes, x.ndim)
    if not along:
        raise InvalidArgument(f"{function}: there is no axis to transform along; x has {x.ndim}.")
    if s is None:
        return along, [x.shape[a] for a in along]
    if len(s) != len(along):
        raise DimensionsMismatch(
            f"{function}: there are {len(s)} sizes for {len(along)} axes; give one for each."
        )
    named = "n" if len(s) == 1 else "s"
    sizes = [integer_argument(function, named, one) for one in s]
    return along, [x.shape[a] if n == -1 else n for a, n in zip(along, sizes, strict=True)]


def _resized(function: str, x: Tensor, axis: int, n: int) -> Tensor:
    """Return the first `n` elements along an axis, with zeros behind where there are fewer."""
    if n < 1:
        raise InvalidArgument(
            f"{function}: along axis {axis} there would be {shown(n)} elements; a transform has 1 "
            "at least."
        )
    _check_length(function, n, axis)
    size = x.shape[axis]
    if n < size:
        shape = (*x.shape[:axis], n, *x.shape[axis + 1 :])
        return _core.view(x, x.offset, shape, x.strides)
    if n == size:
        return x
    zeros = _core.full((*x.shape[:axis], n - size, *x.shape[axis + 1 :]), x.dtype, 0)
    return _core.join([x, zeros], axis, x.dtype, False)


def _check_length(function: str, n: int, axis: int) -> None:
    if n >= 2**63:
        raise AllocFailed(
            f"{function}: not enough memory for {shown(n)} elements along axis {axis}; the limit "
            "is 2**63 - 1."
        )


def _mode(function: str, norm: Any, forward: bool) -> FFTNormMode:
    if not isinstance(norm, str) or norm not in _NORMS:
        hint = nearest(norm, _NORMS) if isinstance(norm, str) else ""
        raise InvalidArgument(
            f"{function}: norm is {shown(norm)}; it must be one of {', '.join(_NORMS)}.{hint}"
        )
    return _NORMS[norm][not forward]


def _frequencies(function: str, numbers: Tensor, n: int, d: Any, dtype: Any, device: Any) -> Tensor:
    if isinstance(d, bool) or not isinstance(d, int | float) or d == 0:
        raise InvalidArgument(f"{function}: d is {shown(d)}; it must be a number that is not 0.")
    dt = DEFAULT_FLOAT if dtype is None else dtype_or(function, dtype, DEFAULT_FLOAT)
    if dt.kind != "float":
        raise TypeMismatch(f"{function}: dtype is {dt}; it must be real and floating-point.")
    made = converted(computed("div", converted(numbers, float64), double(function, "d", d) * n), dt)
    return placed(function, made, device)


def _shifted(function: str, x: Any, axes: Any, by: Any) -> Tensor:
    x = array_argument(function, "x", x)
    along = axes_of(function, axes, x.ndim)
    return _core.roll(x, [by(n) % n if n and a in along else 0 for a, n in enumerate(x.shape)])
