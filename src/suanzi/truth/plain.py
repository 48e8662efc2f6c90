"""Truths of the standard's operators on NumPy arrays alone, without the numbers that carry errors.

Complex numbers, Fourier transforms, systems of equations and creation: each result is correctly
rounded, real and imaginary parts by themselves. How far a kernel may be off is not known here.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import Any

import ml_dtypes
import mpmath
import numpy as np
from numpy.typing import NDArray

from suanzi.base.status import InvalidArgument
from suanzi.truth.define import plain_truth
from suanzi.truth.rounding import ROUNDED, round_exact

Array = NDArray[Any]
_BITS = 400
"""The precision of systems of equations: far more than their condition can take away."""


def _dtype(given: Any) -> np.dtype[Any]:
    name = str(getattr(given, "name", given)).lower()
    return np.dtype(getattr(ml_dtypes, name, name))


def _round(values: Array, dtype: np.dtype[Any]) -> Array:
    """Round exact numbers to a dtype; real and imaginary parts by themselves."""
    if dtype.kind == "c":
        part = "float32" if dtype == np.complex64 else "float64"
        real = [round_exact(mpmath.re(z), part) for z in values.ravel()]
        imag = [round_exact(mpmath.im(z), part) for z in values.ravel()]
        found = np.empty(len(real), dtype)
        found.real, found.imag = real, imag
        return found.reshape(values.shape)
    flat = [round_exact(mpmath.re(z), dtype.name) for z in values.ravel()]
    return np.array(flat, np.float64).reshape(values.shape).astype(dtype)


def _exact(x: Array) -> Array:
    made = mpmath.mpc if x.dtype.kind == "c" else mpmath.mpf
    wide = x.astype(np.complex128 if x.dtype.kind == "c" else np.float64)
    return np.array([made(z) for z in wide.ravel().tolist()], object).reshape(x.shape)


# ---- creation and description --------------------------------------------------------------------


@plain_truth("zeros")
def zeros(
    shape: Sequence[int], dtype: Any = "float32", device: Any = "cpu", *, layout: Any = None
) -> Array:
    """A tensor of zeros, whatever its layout in memory."""
    return np.zeros(tuple(shape), _dtype(dtype))


@plain_truth("full")
def full(
    dtype: Any = "float32", device: Any = "cpu", shape: Sequence[int] = (), value: Any = 0, *,
    layout: Any = None,
) -> Array:  # fmt: skip
    """A tensor of one value, rounded correctly, whatever its layout in memory."""
    to = _dtype(dtype)
    if to.name in ROUNDED and isinstance(value, int | float):
        value = round_exact(mpmath.mpf(value), to.name)
    return np.full(tuple(shape), value, to)


def _numbers(some: Sequence[Fraction], dtype: Any) -> Array:
    to = _dtype(dtype)
    if to.kind in "iu":
        return np.array([math.trunc(x) for x in some], to)
    return _round(np.array([_mpf(x) for x in some], object), to)


def _mpf(x: Fraction) -> Any:
    with mpmath.workprec(_BITS):
        return mpmath.mpf(x.numerator) / x.denominator


@plain_truth("range")
def range_(start: Any, limit: Any, step: Any, dtype: Any = "float32", device: Any = "cpu") -> Array:
    """The numbers from start to limit, which is included, in steps."""
    first, last, by = Fraction(start), Fraction(limit), Fraction(step)
    if not by:
        raise InvalidArgument("truth.range: step is 0; it must not be.")
    # A limit that is missed by no more than rounding counts as reached.
    near = Fraction(2) ** -50 * (abs(first) + abs(last)) / abs(by)
    count = max(math.floor((last - first) / by + near) + 1, 0)
    return _numbers([first + by * i for i in range(count)], dtype)


@plain_truth("linspace")
def linspace(start: Any, stop: Any, num: int, dtype: Any = "float32", device: Any = "cpu") -> Array:
    """Evenly spaced numbers; both ends are exact."""
    first, last = Fraction(start), Fraction(stop)
    return _numbers([first + (last - first) * i / max(num - 1, 1) for i in range(num)], dtype)


@plain_truth("shape")
def shape(input: Array) -> Array:
    """The sizes of the axes."""
    return np.array(np.shape(input), np.int32)


@plain_truth("size")
def size(input: Array) -> Array:
    """The number of elements."""
    return np.array(np.size(input))


@plain_truth("rank")
def rank(input: Array) -> Array:
    """The number of axes."""
    return np.array(np.ndim(input))


# ---- complex numbers -----------------------------------------------------------------------------


@plain_truth("complex")
def complex_(real: Array, imag: Array) -> Array:
    """Complex numbers of two parts."""
    a, b = np.broadcast_arrays(real, imag)
    wide = np.complex64 if a.dtype == np.float32 else np.complex128
    found = np.empty(a.shape, wide)
    found.real, found.imag = a, b
    return found


@plain_truth("real")
def real(input: Array) -> Array:
    """The real parts."""
    return np.real(input).copy()


@plain_truth("imag")
def imag(input: Array) -> Array:
    """The imaginary parts."""
    return np.imag(input).copy()


@plain_truth("conj")
def conj(input: Array) -> Array:
    """The conjugates."""
    return np.conj(input)


# ---- Fourier transforms --------------------------------------------------------------------------


def _scale(count: int, normalization: Any) -> Any:
    word = str(getattr(normalization, "name", normalization)).lower()
    return {"none": mpmath.mpf(1), "by_n": mpmath.mpf(1) / count,
            "by_sqrt_n": 1 / mpmath.sqrt(count)}[word]  # fmt: skip


def _transformed(x: Array, axes: Sequence[int], forward: bool) -> Array:
    """Return the exact sums over roots of unity along axes."""
    for axis in axes:
        n = x.shape[axis]
        sign = -2 if forward else 2
        roots = [mpmath.expjpi(mpmath.mpf(sign * k) / n) for k in range(n)]
        matrix = np.array([[roots[j * k % n] for k in range(n)] for j in range(n)], object)
        moved = np.moveaxis(x, axis, 0)
        made = matrix @ moved.reshape(n, -1)
        x = np.moveaxis(made.reshape(moved.shape), 0, axis)
    return x


def _all(axes: Any, ndim: int) -> list[int]:
    """Return axes as a list: the last one if none are named."""
    if axes is None:
        return [ndim - 1]
    return [a % ndim for a in ([axes] if isinstance(axes, int) else axes)]


def _complex_of(dtype: np.dtype[Any]) -> np.dtype[Any]:
    return np.dtype(np.complex128 if dtype in (np.float64, np.complex128) else np.complex64)


def _fourier(
    x: Array, axes: Any, normalization: Any, forward: bool, to: np.dtype[Any], count: int = 0
) -> Array:
    with mpmath.workprec(200):
        along = _all(axes, x.ndim)
        scale = _scale(count or math.prod(x.shape[a] for a in along), normalization)
        given = x if x.dtype == object else _exact(x)
        return _round(_transformed(given, along, forward) * scale, to)


@plain_truth("fft_c2c")
def fft_c2c(
    input: Array, axes: Any = None, normalization: Any = "none", forward: bool = True
) -> Array:
    """The transform of complex numbers."""
    return _fourier(input, axes, normalization, forward, _complex_of(input.dtype))


@plain_truth("fft_c2c_backward")
def fft_c2c_backward(
    grad_out: Array, axes: Any = None, normalization: Any = "none", forward: bool = True
) -> Array:
    """The gradient: the transform in the other direction."""
    return _fourier(grad_out, axes, normalization, not forward, _complex_of(grad_out.dtype))


@plain_truth("fft_r2c")
def fft_r2c(
    input: Array, axes: Any = None, normalization: Any = "none", forward: bool = True,
    onesided: bool = True,
) -> Array:  # fmt: skip
    """The transform of real numbers; half of it along the last axis."""
    wide = input.astype(np.float32) if input.dtype.kind in "biu" else input
    made = _fourier(wide, axes, normalization, forward, _complex_of(wide.dtype))
    last = _all(axes, input.ndim)[-1]
    half = input.shape[last] // 2 + 1
    return np.take(made, range(half), last) if onesided else made


@plain_truth("fft_r2c_backward")
def fft_r2c_backward(
    grad_out: Array, input: Array, axes: Any = None, normalization: Any = "none",
    forward: bool = True,
) -> Array:  # fmt: skip
    """The gradient, real and of the shape of the input."""
    last = _all(axes, input.ndim)[-1]
    with mpmath.workprec(200):
        wide = _exact(grad_out)
        if grad_out.shape[last] < input.shape[last]:
            more = list(input.shape)
            more[last] -= grad_out.shape[last]
            wide = np.concatenate([wide, np.full(more, mpmath.mpf(0))], last)
    return _fourier(wide, axes, normalization, not forward, grad_out.real.dtype)


@plain_truth("fft_c2r")
def fft_c2r(
    input: Array, last_dim_size: int, axes: Any = None, normalization: Any = "none",
    forward: bool = True,
) -> Array:  # fmt: skip
    """The real transform of half of a spectrum, whose other half is its conjugate."""
    along = _all(axes, input.ndim)
    *others, last = along
    with mpmath.workprec(200):
        half = np.moveaxis(_transformed(_exact(input), others, forward), last, -1)
        whole = np.full((*half.shape[:-1], last_dim_size), mpmath.mpf(0))
        for k in range(last_dim_size):
            mirror = last_dim_size - k
            if k in (0, mirror):
                whole[..., k] = np.frompyfunc(mpmath.re, 1, 1)(half[..., k])
            elif k < mirror:
                whole[..., k] = half[..., k]
            else:
                whole[..., k] = np.frompyfunc(mpmath.conj, 1, 1)(half[..., mirror])
        count = last_dim_size * math.prod(input.shape[a] for a in others)
        wide = np.moveaxis(whole, -1, last)
    return _fourier(wide, [last], normalization, forward, input.real.dtype, count)


@plain_truth("fft_c2r_backward")
def fft_c2r_backward(
    grad_out: Array, axes: Any = None, normalization: Any = "none", forward: bool = True
) -> Array:
    """The gradient of half of a spectrum: elements that stand for two count twice."""
    along = _all(axes, grad_out.ndim)
    last = along[-1]
    n = grad_out.shape[last]
    with mpmath.workprec(200):
        twice = [1 if k in (0, n - k) else 2 for k in range(n // 2 + 1)]
        line = [1] * grad_out.ndim
        line[last] = -1
        factor = np.array([mpmath.mpf(k) for k in twice], object).reshape(line)
        scale = _scale(math.prod(grad_out.shape[a] for a in along), normalization)
        made = _transformed(_exact(grad_out), [last], not forward)
        half = np.take(made, range(n // 2 + 1), last)
        real = np.moveaxis(half, last, 0)
        for k in range(n // 2 + 1):
            if twice[k] == 1:
                real[k] = np.frompyfunc(mpmath.re, 1, 1)(real[k])
        found = _transformed(half, along[:-1], not forward) * factor * scale
        return _round(found, _complex_of(grad_out.dtype))


# ---- systems of equations ------------------------------------------------------------------------


def _matrices(mat: Array, *more: Array) -> Iterator[tuple[tuple[int, ...], list[Any]]]:
    """Give the index of each matrix of a batch, with the matrices there as mpmath has them."""
    batch = np.broadcast_shapes(mat.shape[:-2], *(x.shape[:-2] for x in more))
    every = [np.broadcast_to(x, (*batch, *x.shape[-2:])) for x in (mat, *more)]
    for index in itertools.product(*map(range, batch)):
        yield index, [mpmath.matrix(_exact(x[index]).tolist()) for x in every]


def _solved(solve_one: Callable[..., Any], shape: Sequence[int], *given: Array) -> Array:
    """Solve each system of a batch, and round what comes out."""
    to = np.result_type(*given)
    batch = np.broadcast_shapes(*(x.shape[:-2] for x in given))
    found = np.empty((*batch, *shape), object)
    with mpmath.workprec(_BITS):
        for index, matrices in _matrices(*given):
            made = solve_one(*matrices)
            found[index] = np.array(made.tolist(), object).reshape(tuple(shape))
        return _round(found, to)


def _floats(*arrays: Array) -> list[Array]:
    return [x.astype(np.float32) if x.dtype.kind in "biu" else x for x in arrays]


@plain_truth("inverse")
def inverse(mat: Array) -> Array:
    """The inverse of a square matrix."""
    return _solved(lambda a: mpmath.inverse(a), mat.shape[-2:], *_floats(mat))


@plain_truth("solve")
def solve(mat: Array, rhs: Array, adjoint: bool) -> Array:
    """x of mat x = rhs, or of the conjugate transpose."""
    a, b = _floats(mat, rhs)
    columns = b[:, None] if b.ndim == 1 else b

    def one(m: Any, r: Any) -> Any:
        return mpmath.inverse(m.H if adjoint else m) * r

    found = _solved(one, (a.shape[-1], columns.shape[-1]), a, columns)
    return found[..., 0] if b.ndim == 1 else found


@plain_truth("lstsq")
def lstsq(mat: Array, rhs: Array, prec: float | None = None) -> Array:
    """The shortest x that minimises the 2-norm of rhs - mat x."""
    a, b = _floats(mat, rhs)
    columns = b[:, None] if b.ndim == 1 else b
    part = np.dtype(a.real.dtype)
    least = float(np.finfo(part).eps) if prec is None else prec

    def one(m: Any, r: Any) -> Any:
        u, s, v = mpmath.svd(m)
        kept = [i for i in range(len(s)) if s[i] > least * s[0]]
        ut = u.H * r
        scaled = mpmath.matrix(len(s), r.cols)
        for i in kept:
            scaled[i, :] = ut[i, :] / s[i]
        return v.H * scaled

    found = _solved(one, (a.shape[-1], columns.shape[-1]), a, columns)
    return found[..., 0] if b.ndim == 1 else found


@plain_truth("cholesky")
def cholesky(upper: str, mat: Array) -> Array:
    """The triangular factor of a positive definite matrix, of which one triangle is read."""
    is_upper = str(upper).upper().startswith("U")

    def one(m: Any) -> Any:
        n = m.rows
        whole = mpmath.matrix(n, n)
        for i, j in itertools.product(range(n), repeat=2):
            low, high = max(i, j), min(i, j)
            x = m[high, low] if is_upper else m[low, high]
            whole[i, j] = mpmath.re(x) if i == j else x if (i > j) != is_upper else mpmath.conj(x)
        factor = mpmath.cholesky(whole)
        return factor.H if is_upper else factor

    return _solved(one, mat.shape[-2:], *_floats(mat))
