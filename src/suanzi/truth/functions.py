"""More functions of tracked numbers, in addition to those of `suanzi.truth.tracked`."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np

from suanzi.truth import machine_numbers
from suanzi.truth import tracked as t
from suanzi.truth.tracked import Tracked, tracked

Function = Callable[[Any], Any]


def _both(name: str, fast: Function) -> Function:
    """Return an exact function: NumPy has the special values, mpmath all digits of the others."""
    exact = getattr(mpmath, name)

    def found(v: Any) -> Any:
        with np.errstate(all="ignore"):
            plain = float(fast(np.float64(v)))
        if not math.isfinite(plain) or not mpmath.isfinite(v) or plain == 0 or v == 0:
            return mpmath.mpf(plain)
        return exact(v)

    exactly: Function = np.frompyfunc(found, 1, 1)
    return exactly


def _monotone(fast: Function) -> Callable[..., Any]:
    """Return what an error of the argument makes of a function that only rises, or only falls."""

    def passed(at: Any, error: Any, value: Any) -> Any:
        here = fast(at)
        off = np.fmax(np.abs(fast(at + error) - here), np.abs(fast(at - error) - here))
        return np.where(np.isfinite(off), off + np.abs(here) * 2.0**-50, np.inf)

    return passed


def _defined(name: str, fast: Function, doc: str) -> Callable[[Any], Tracked]:
    exact, passed = _both(name, fast), _monotone(fast)

    def function(x: Any) -> Tracked:
        return t._function(x, exact, fast, passed)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    return function


asin = _defined("asin", np.arcsin, "The arc sine.")
acos = _defined("acos", np.arccos, "The arc cosine.")
atan = _defined("atan", np.arctan, "The arc tangent.")
sinh = _defined("sinh", np.sinh, "The hyperbolic sine.")
asinh = _defined("asinh", np.arcsinh, "The inverse of the hyperbolic sine.")
acosh = _defined("acosh", np.arccosh, "The inverse of the hyperbolic cosine.")
atanh = _defined("atanh", np.arctanh, "The inverse of the hyperbolic tangent.")
expm1 = _defined("expm1", np.expm1, "exp(x) - 1.")
log10 = _defined("log10", np.log10, "The logarithm to the base 10.")


def _unknown(at: Any, error: Any, value: Any) -> Any:
    return np.full(np.shape(at), np.inf)


def cosh(x: Any) -> Tracked:
    """The hyperbolic cosine, which rises with the magnitude."""
    return t._function(t.absolute(x), _both("cosh", np.cosh), np.cosh, _monotone(np.cosh))


def tan(x: Any) -> Tracked:
    """The tangent; of an inexact argument nothing is required."""
    return t._function(x, _both("tan", np.tan), np.tan, _unknown)


def sin(x: Any) -> Tracked:
    """The sine, NaN of infinities."""
    return t._function(x, _both("sin", np.sin), np.sin, lambda at, error, value: error)


def cos(x: Any) -> Tracked:
    """The cosine, NaN of infinities."""
    return t._function(x, _both("cos", np.cos), np.cos, lambda at, error, value: error)


def log2(x: Any) -> Tracked:
    """The logarithm to the base 2."""

    def exact(v: Any) -> Any:
        return mpmath.log(v, 2) if v > 0 and mpmath.isfinite(v) else mpmath.mpf(np.log2(float(v)))

    return t._function(x, np.frompyfunc(_quiet(exact), 1, 1), np.log2, _monotone(np.log2))


def _quiet(function: Function) -> Function:
    def found(v: Any) -> Any:
        with np.errstate(all="ignore"):
            return function(v)

    return found


def number(x: Any) -> Any:
    """Return a number of Python with what its rounding to the dtype of a tensor changes."""
    rounds = type(x) is float and not t._now.exact and float(np.float32(x)) != x
    return t.rounded_to(tracked(x), t._now.unit) if rounds and abs(x) < t._now.largest else x


def power(x: Any, e: Any) -> Tracked:
    """x to the power of e, also by way of the logarithm, whose product with e is rounded."""
    a, b = tracked(x), tracked(e)
    base, exponent = np.broadcast_arrays(a.value, b.value)
    with np.errstate(all="ignore"):
        plain = np.power(base.astype(np.float64), exponent.astype(np.float64))
        if t._now.exact:
            some = np.frompyfunc(_power, 3, 1)(base, exponent, plain)
            value = np.asarray(some, object)
        else:
            value = plain
        steps = np.abs(exponent.astype(np.float64) * np.log(np.abs(base.astype(np.float64))))
        steps = np.where(np.isfinite(steps), np.minimum(steps, 1e4), 0.0)
        passed = np.abs(plain) * np.expm1(2 * t._now.unit * steps)
        passed = np.where(np.isfinite(passed), passed, 0.0)
        passed = np.where(a.error > 0, passed + _of_base(base, exponent, a.error), passed)
        tilt = np.abs(plain) * np.expm1(b.error * np.abs(np.log(np.abs(base.astype(np.float64)))))
        tilt = np.where((base == 0) & (plain == 0), 0.0, tilt)
        passed = np.where(b.error > 0, np.where(np.isfinite(tilt), passed + tilt, np.inf), passed)
    return t._rounded(value, passed, t._FUNCTIONS)


def _of_base(base: Any, exponent: Any, error: Any) -> Any:
    """What an error of a base that is not negative makes of a power, which rises or falls."""
    x, e = base.astype(np.float64), exponent.astype(np.float64)
    here = np.power(x, e)
    ends = [np.abs(np.power(np.maximum(x + off, 0.0), e) - here) for off in (error, -error)]
    off = np.fmax(*ends)
    return np.where((x >= 0) & np.isfinite(off), off, np.inf)


def _power(x: Any, e: Any, plain: Any) -> Any:
    if not math.isfinite(plain) or plain == 0 or plain == 1:
        return mpmath.mpf(float(plain))
    return mpmath.power(x, e)


def whole(x: Any, fast: Function) -> Tracked:
    """A whole number near x: `numpy.floor` and others, which are exact of an exact number."""
    given = tracked(x)
    plain = given.plain
    with np.errstate(all="ignore"):
        made = fast(plain)
    value = tracked(made).value
    return Tracked(value, np.where(given.error == 0, 0.0, given.error + 1))


def cumulative(x: Tracked, axis: int) -> Tracked:
    """The sums of the first elements along an axis, each as `Tracked.sum` is."""
    with np.errstate(all="ignore"):
        value = t._numpy(np.add.accumulate, x.value, axis=axis) if x.value.size else x.value
        sizes = x.size
        shape = [1] * x.ndim
        shape[axis] = -1
        k = np.arange(x.shape[axis], dtype=np.float64).reshape(shape)
        proven = k * np.cumsum(sizes, axis)
        partial = np.maximum.accumulate(machine_numbers.magnitude(value), axis=axis)
        spread = 2 * np.sqrt(np.cumsum(sizes * sizes, axis))
        likely = t._SIGMAS * np.sqrt(k + 1) * np.maximum(partial, spread)
        rounding = np.where(np.isfinite(proven), np.fmin(proven, likely), 0.0)
        error = np.cumsum(x.error, axis) + t._now.unit * rounding
        error = np.where(np.cumsum(sizes, axis) > t._now.largest, np.inf, error)
    return t._rounded(value, error, 0.0)


def product(x: Tracked, axis: int) -> Tracked:
    """The product along an axis, one factor after the other."""
    moved = Tracked(np.moveaxis(x.value, axis, 0), np.moveaxis(x.error, axis, 0))
    found = tracked(np.ones(moved.shape[1:]))
    for i in range(moved.shape[0]):
        found = found * moved[i]
    return found
