"""Arrays of exact numbers as the machine's: real ones as float64, complex ones as complex128."""

from __future__ import annotations

import math
from typing import Any

import mpmath
import numpy as np
from mpmath.libmp import fone, from_float, mpf_add, mpf_div, mpf_exp, mpf_neg, mpf_sum
from numpy.typing import NDArray


def is_complex(value: NDArray[Any]) -> bool:
    """Tell whether numbers are complex; exact ones are if one of them is.

    >>> is_complex(np.array([1.0])), is_complex(np.array([mpmath.mpc(1, 2)], object))
    (False, True)
    """
    if value.dtype != object:
        return value.dtype.kind == "c"
    return mpmath.mpc in set(map(type, value.ravel().tolist()))


def plain(value: NDArray[Any]) -> NDArray[Any]:
    """Return numbers of any precision as the nearest ones of the machine."""
    with np.errstate(all="ignore"):  # NumPy 1 warns of what objects hold
        if value.dtype == object:
            if is_complex(value):
                return value.astype(np.complex128)
            return np.asarray(_as_float(value), np.float64)
        return value if value.dtype.kind == "c" else value.astype(np.float64)


def _nearest(x: Any) -> float:
    """Return the float64 nearest to an exact number, as `float` does, in a third of its time."""
    if type(x) is not mpmath.mpf:
        return float(x)
    negative, mantissa, exponent, bits = x._mpf_
    if mantissa and -1021 <= exponent + bits <= 1023:
        return math.ldexp(float(-mantissa if negative else mantissa), exponent)
    return float(x)


_as_float = np.frompyfunc(_nearest, 1, 1)
_is_zero = np.frompyfunc(lambda x: not x, 1, 1)


def is_zero(value: NDArray[Any]) -> NDArray[np.bool_]:
    """Tell which numbers are 0, of any precision."""
    if value.dtype != object:
        return np.asarray(value == 0)
    return np.asarray(_is_zero(value), dtype=bool)


_is_finite = np.frompyfunc(mpmath.isfinite, 1, 1)


def is_finite(value: NDArray[Any], size: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Tell which are numbers, by their magnitudes; an exact one may be beyond float64."""
    found = np.asarray(np.isfinite(size))
    if value.dtype == object and not found.all():
        found = found | np.asarray(_is_finite(value), dtype=bool)
    return found


def magnitude(value: NDArray[Any]) -> NDArray[np.float64]:
    """Return the magnitudes, as float64."""
    return np.asarray(np.abs(plain(value)), dtype=np.float64)


def kept(made: Any, exact: bool) -> NDArray[Any]:
    """Return what NumPy gave as exact numbers, or as the machine's."""
    if exact:
        return np.asarray(made, dtype=object)
    return np.asarray(made, dtype=np.complex128 if np.iscomplexobj(made) else np.float64)


def _exact(x: Any) -> Any:
    """Return a number as an exact one; a float has a shorter path than mpmath's own."""
    return mpmath.make_mpf(from_float(x)) if type(x) is float else mpmath.mpmathify(x)


exactly = np.frompyfunc(_exact, 1, 1)
"""Numbers as those of mpmath."""


def sums(value: NDArray[Any]) -> NDArray[Any]:
    """Return sums along the last axis; those of exact numbers are rounded once."""
    if value.dtype != object:
        return np.asarray(np.add.reduce(value, axis=-1))
    if is_complex(value):
        return np.asarray(np.add.reduce(value, axis=-1, initial=mpmath.mpf(0)), object)
    rows = value.reshape(-1, value.shape[-1]) if value.size else np.empty((0, 0), object)
    found = np.empty(math.prod(value.shape[:-1]), object)
    found[:] = mpmath.mpf(0)
    for i, row in enumerate(rows.tolist()):
        found[i] = mpmath.make_mpf(mpf_sum([x._mpf_ for x in row], mpmath.mp.prec))
    return found.reshape(value.shape[:-1])


def multiplied(x: NDArray[Any], y: NDArray[Any]) -> Any:
    """Return products of exact numbers, the same as mpmath's own, in less time.

    >>> multiplied(np.array([mpmath.mpf(3), 2], object), np.array(mpmath.mpf(0.5)))
    array([mpf('1.5'), mpf('1.0')], dtype=object)
    """
    real, new, bits = mpmath.mpf, object.__new__, mpmath.mp.prec

    def product(a: Any, b: Any) -> Any:
        if type(a) is not real or type(b) is not real:
            return a * b
        sign, mantissa, exponent, _ = a._mpf_
        sign_b, by, exponent_b, _ = b._mpf_
        if not mantissa or not by:  # zeros, infinities, NaN
            return a * b
        mantissa *= by  # of odd ones, it is odd
        exponent += exponent_b
        over = mantissa.bit_length() - bits
        if over > 0:
            top = mantissa >> (over - 1)  # the bits that remain, and one; others below are not 0
            mantissa = (top >> 1) + (top & 1 and (over > 1 or top >> 1 & 1))
            zeros = (mantissa & -mantissa).bit_length() - 1
            mantissa >>= zeros
            exponent += over + zeros
        made = new(real)
        made._mpf_ = sign ^ sign_b, mantissa, exponent, mantissa.bit_length()
        return made

    return np.frompyfunc(product, 2, 1)(x, y)


def _logistic(x: Any) -> Any:
    if type(x) is not mpmath.mpf:
        return 1 / (1 + mpmath.exp(-x))
    bits = mpmath.mp.prec
    power = mpf_exp(mpf_neg(x._mpf_), bits, "n")
    return mpmath.make_mpf(mpf_div(fone, mpf_add(fone, power, bits, "n"), bits, "n"))


logistic = np.frompyfunc(_logistic, 1, 1), lambda x: 1 / (1 + np.exp(-x))
"""1 / (1 + exp(-x)) of exact numbers, and of the machine's."""


def _divided(a: Any, b: Any) -> Any:
    if b or mpmath.isnan(a):  # b != 0 would make 0 exact first, each time
        return a / b
    return mpmath.nan if a == 0 else mpmath.inf * mpmath.sign(a)


divided = np.frompyfunc(_divided, 2, 1)
"""The quotients of exact numbers, as IEEE 754 has them where the divisor is 0."""


def varied(sizes: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Tell whether at least half of the addends are different ones."""
    if sizes.shape[-1] < 2:
        return np.ones(sizes.shape[:-1], bool)
    some = np.sort(sizes, -1)
    different = 1 + np.count_nonzero(some[..., 1:] != some[..., :-1], axis=-1)
    return np.asarray(2 * different >= sizes.shape[-1])


def larger(a: Any, b: Any) -> Any:
    """Return the larger of two numbers, the first one if it is NaN."""
    return a if a != a or a >= b else b


def larger_or_nan(a: Any, b: Any) -> Any:
    """Return the larger of two numbers of any precision, or NaN if one is.

    >>> larger_or_nan(2, 1), larger_or_nan(1, float("nan"))
    (2, nan)
    """
    return a if a != a or (b == b and a >= b) else b


def alike(x: Any, y: Any) -> tuple[Any, Any]:
    """Return two operands, a Python integer in the dtype of the other: NumPy 1 widens the latter.

    >>> alike(np.array(3, np.int8), -1)[1].dtype.name
    'int8'
    """
    if isinstance(y, int):
        return x, np.asarray(y).astype(np.asarray(x).dtype)
    return (np.asarray(x).astype(y.dtype), y) if isinstance(x, int) else (x, y)
