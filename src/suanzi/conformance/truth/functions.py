"""7.2.8 and 7.2.10 to 7.2.12: true values, bounds, and where functions are delicate.

A true value is an ``mpmath.mpf`` of 60 digits, or a Python float where the answer is exact and its
sign or kind matters: NaN, an infinity, a zero of one sign.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any

from suanzi.conformance.model.numbers import Real, real, two

DIGITS = 60


class _Precise:
    """mpmath's functions, which are imported when the first is called: most cases need none."""

    def __getattr__(self, name: str) -> Any:
        return getattr(_context(), name)


@cache
def _context() -> Any:
    import mpmath

    # Doubles hold 17 digits; pow multiplies a logarithm by up to 2^1024 and is cut off before that.
    made = mpmath.mp.clone() if hasattr(mpmath.mp, "clone") else mpmath.MPContext()
    made.dps = DIGITS
    return made


mp = _Precise()

INF, NAN = math.inf, math.nan
Truth = Any  # an mpmath.mpf, which has no types, or a float


@dataclass(frozen=True)
class Function:
    """A function of one real number."""

    exact: Callable[[Any], Any]
    special: dict[str, Truth]
    """What IEEE 754 and C say at zeros, infinities and poles; keyed by repr, for the sign of 0.
    What is no float is called for."""
    domain: tuple[float, float] = (-INF, INF)
    """Outside, the result is NaN."""
    near: tuple[float, ...] = ()
    """Points around which it is delicate."""
    ulp: float | None = None
    """How far a result may be from the truth; None: correctly rounded. See truth.bounds."""

    def __call__(self, x: float) -> Truth:
        """Return the true value."""
        if math.isnan(x) or not self.inside(x):
            return NAN
        if repr(x) not in self.special:
            return self.exact(mp.mpf(x))
        found = self.special[repr(x)]
        return found() if callable(found) else found

    def inside(self, x: float) -> bool:
        """Tell whether it has a value at x; NaN passes through, and counts as inside."""
        return math.isnan(x) or self.domain[0] <= x <= self.domain[1]


def _of(name: str) -> Callable[[Any], Any]:
    """Return a function of mpmath."""
    return lambda x: getattr(mp, name)(x)


def _bounded(name: str) -> Callable[[Any], Any]:
    """Stop where every format has long overflowed or underflowed; mpmath would not finish."""
    return lambda x: getattr(mp, name)(max(min(x, mp.mpf(1100)), mp.mpf(-1100)))


def _at(*pairs: tuple[float, Truth]) -> dict[str, Truth]:
    return {repr(x): y for x, y in pairs}


def _odd(infinite: Truth, *more: tuple[float, float]) -> dict[str, Truth]:
    return _at((0.0, 0.0), (-0.0, -0.0), (INF, infinite), (-INF, -infinite), *more)


def _even(at_zero: float, infinite: float) -> dict[str, Truth]:
    return _at((0.0, at_zero), (-0.0, at_zero), (INF, infinite), (-INF, infinite))


_PI = math.pi
# Where float32 and float64 overflow, and where they underflow.
_ENDS = (88.72, 709.78, -87.33, -103.97, -708.39, -745.13)
_HALF_ENDS = (89.41, 710.47)
_LOG = _at((0.0, -INF), (-0.0, -INF), (1.0, 0.0), (INF, INF))

_ARCTANGENT = _at((0.0, 0.0), (-0.0, -0.0), (INF, lambda: mp.pi / 2), (-INF, lambda: -mp.pi / 2))

FUNCTIONS: dict[str, Function] = {
    "sqrt": Function(_of("sqrt"), _at((0.0, 0.0), (-0.0, -0.0), (INF, INF)), (0, INF)),
    # IEEE 754's rSqrt keeps the sign of a zero in the infinity.
    "rsqrt": Function(
        lambda x: 1 / mp.sqrt(x), _at((0.0, INF), (-0.0, -INF), (INF, 0.0)), (0, INF), ulp=2
    ),
    "square": Function(lambda x: x * x, _even(0.0, INF)),
    "sin": Function(_of("sin"), _odd(NAN), near=(_PI / 2, _PI, 62.8, 201.06, 2.0**20), ulp=4),
    "cos": Function(_of("cos"), _even(1.0, NAN), near=(_PI / 2, _PI, 62.8, 201.06, 2.0**20), ulp=4),
    "tan": Function(_of("tan"), _odd(NAN), near=(_PI / 4, _PI / 2, _PI, 70.67, 2.0**20), ulp=5),
    "asin": Function(_of("asin"), _odd(NAN), (-1, 1), (0.5, 1), ulp=4),
    "acos": Function(_of("acos"), _at((1.0, 0.0)), (-1, 1), (0.5, 1), ulp=4),
    "atan": Function(_of("atan"), _ARCTANGENT, near=(0.4142, 1, 2.4142), ulp=5),
    "sinh": Function(_bounded("sinh"), _odd(INF), near=(1, *_HALF_ENDS), ulp=4),
    "cosh": Function(_bounded("cosh"), _even(1.0, INF), near=(1, *_HALF_ENDS), ulp=4),
    "tanh": Function(_bounded("tanh"), _odd(1.0), near=(0.625, 9, 19), ulp=5),
    "asinh": Function(_of("asinh"), _odd(INF), near=(0.5, 2.0**13, 2.0**30, 2.0**60), ulp=4),
    "acosh": Function(_of("acosh"), _at((1.0, 0.0), (INF, INF)), (1, INF), (1, 2.0**28), ulp=4),
    "atanh": Function(_of("atanh"), _odd(NAN, (1.0, INF), (-1.0, -INF)), (-1, 1), (0.5, 1), ulp=5),
    "exp": Function(
        _bounded("exp"), _at((0.0, 1.0), (-0.0, 1.0), (INF, INF), (-INF, 0.0)), near=_ENDS, ulp=3
    ),
    "expm1": Function(
        _bounded("expm1"),
        _at((0.0, 0.0), (-0.0, -0.0), (INF, INF), (-INF, -1.0)),
        near=(0.35, -16, -37, 40, 100, *_ENDS),
        ulp=3,
    ),
    "log": Function(_of("log"), _LOG, (0, INF), (1,), ulp=3),
    "log1p": Function(
        _of("log1p"),
        _at((0.0, 0.0), (-0.0, -0.0), (-1.0, -INF), (INF, INF)),
        (-1, INF),
        (-1,),
        ulp=2,
    ),
    "log10": Function(_of("log10"), _LOG, (0, INF), (1,), ulp=3),
    "log2": Function(lambda x: mp.log(x) / mp.log(2), _LOG, (0, INF), (1,), ulp=3),
}
"""Every function of one operand, by name."""


def power(x: float, y: float) -> Truth:
    """Return x to the power y as C's Annex F says, case by case."""
    if y == 0 or x == 1:
        return 1.0
    if math.isnan(x) or math.isnan(y):
        return NAN
    odd = math.isfinite(y) and y == math.floor(y) and int(y) % 2 == 1
    if x == 0:
        size = 0.0 if y > 0 else INF
        return math.copysign(size, x) if odd else size
    if math.isinf(y):
        if x == -1:
            return 1.0
        return INF if (abs(x) > 1) == (y > 0) else 0.0
    if math.isinf(x):
        size = INF if y > 0 else 0.0
        return -size if x < 0 and odd else size
    if x < 0 and y != math.floor(y):
        return NAN
    exponent = max(min(mp.mpf(y) * mp.log(abs(mp.mpf(x))), mp.mpf(1500)), mp.mpf(-1500))
    return -mp.exp(exponent) if x < 0 and odd else mp.exp(exponent)


def magnitude(x: float, y: float) -> Truth:
    """Return the size of the complex number x + iy; an infinite part outdoes NaN, as in C."""
    if math.isinf(x) or math.isinf(y):
        return INF
    if math.isnan(x) or math.isnan(y):
        return NAN
    return mp.sqrt(mp.mpf(x) ** 2 + mp.mpf(y) ** 2) if x or y else 0.0


def number(x: Real) -> float:
    """Return a number of a format, the widest of which is that of Python's floats."""
    if x.is_nan:
        return NAN
    size = INF if x.size is None else float(x.size)
    return -size if x.negative else size


def as_real(x: Truth) -> Real:
    """Return a true value as the oracle has numbers, all its digits kept."""
    if isinstance(x, float):
        return real(x)
    return real(fraction(x))


def fraction(x: Any) -> Fraction:
    """Return what a number of mpmath is, exactly."""
    sign, mantissa, exponent, _ = x._mpf_
    size = int(mantissa) * two(int(exponent))
    return -size if sign else size
