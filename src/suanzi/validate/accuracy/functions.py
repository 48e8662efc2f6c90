"""The functions whose accuracy is measured: each in float64 and with all digits.

The float64 forms are in ``conformance/subjects/references.py``, off by a few units of float64: of
float32 and narrower results that is less than a millionth of a unit. What they decide narrowly,
mpmath decides.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, Literal

import mpmath
import numpy as np
from numpy.typing import NDArray

from suanzi.conformance.subjects.more_functions import MORE
from suanzi.conformance.subjects.references import FORMULAS, evaluated, numpy_names
from suanzi.standard import interface

Array = NDArray[np.float64]
Symmetry = Literal["odd", "even", ""]
Order = Literal["rises", "falls", "rises from 0", ""]


@dataclass(frozen=True)
class Function:
    """A function of one real number, or of two."""

    name: str
    key: str
    """The operator, with its catalogue: ``exp``, ``nn:erf``; or ``more:exp2``."""
    exact: Callable[..., Any]
    symmetry: Symmetry = ""
    order: Order = ""
    """Where it only rises or falls; from 0 on, with the magnitude."""
    limits: bool = False
    """Whether its formula has no value at infinity: nothing is required there."""

    @property
    def binary(self) -> bool:
        """Whether it is a function of two numbers."""
        return self.name in BINARY

    def fast(self, x: Array, y: Array | None = None) -> Array:
        """Return it in float64."""
        with np.errstate(all="ignore"):
            return np.asarray(evaluated(self.name, numpy_names(), x, y))

    @cached_property
    def at_zero(self) -> float:
        """What it is at 0, without the sign."""
        with np.errstate(all="ignore"):
            return abs(float(self.fast(np.zeros(1))[0]))

    @cached_property
    def operands(self) -> tuple[str, ...]:
        """The names of its operands."""
        count = 2 if self.binary else 1
        if self.key.startswith(MORE):
            return ("x", "y")[:count]
        return tuple(p.name for p in interface(self.key).parameters[:count])


_HALF = mpmath.mpf(1) / 2


def _exact_softplus(x: Any) -> Any:
    return mpmath.log1p(mpmath.exp(x))


def _exact_erfc(x: Any) -> Any:
    """mpmath takes long where this is 0 or 2 to hundreds of digits."""
    if abs(x) < 100:
        return mpmath.erfc(x)
    return mpmath.mpf(0) if x > 0 else mpmath.mpf(2)


def _exact_erfcx(x: Any) -> Any:
    """Of large numbers by its continued fraction, where exp and erfc leave their range."""
    if x < 1000:
        return mpmath.exp(x * x) * mpmath.erfc(x)
    square, total, term = x * x, mpmath.mpf(1), mpmath.mpf(1)
    for i in range(1, 40):
        term *= -(2 * i - 1) / (2 * square)
        total += term
    return total / (x * mpmath.sqrt(mpmath.pi))


def _exact_erf(x: Any) -> Any:
    return mpmath.erf(x) if abs(x) < 100 else mpmath.sign(x)


def _exact_gelu(x: Any) -> Any:
    return x * _exact_erfc(-x / mpmath.sqrt(2)) * _HALF


def _exact_bessel(order: int) -> Callable[[Any], Any]:
    """Return a modified Bessel function times exp(-|x|); of large numbers, by its series."""

    def value(x: Any) -> Any:
        size = abs(x)
        if size < 500:
            return mpmath.besseli(order, x) * mpmath.exp(-size)
        total = term = mpmath.mpf(1)
        for i in range(1, 60):
            term *= -(4 * order**2 - (2 * i - 1) ** 2) / (8 * i * size)
            total += term
        found = total / mpmath.sqrt(2 * mpmath.pi * size)
        return -found if order and x < 0 else found

    return value


def _exact_cbrt(x: Any) -> Any:
    return mpmath.sign(x) * mpmath.cbrt(abs(x))


def _exact_mod(x: Any, y: Any) -> Any:
    """With the sign of y; Fractions have all digits of it."""
    rest = _fraction(x) % _fraction(y)
    with mpmath.workprec(2400):
        return mpmath.mpf(rest.numerator) / rest.denominator


def _fraction(x: Any) -> Fraction:
    return Fraction(*float(x).as_integer_ratio())


_ALL = (
    Function("reciprocal", "reciprocal", lambda x: 1 / x, "odd"),
    Function("sqrt", "sqrt", mpmath.sqrt, "", "rises"),
    Function("rsqrt", "rsqrt", lambda x: 1 / mpmath.sqrt(x), "", "falls"),
    Function("cbrt", "more:cbrt", _exact_cbrt, "odd", "rises"),
    Function("square", "square", lambda x: x * x, "even", "rises from 0"),
    Function("exp", "exp", mpmath.exp, "", "rises"),
    Function("exp2", "more:exp2", lambda x: mpmath.mpf(2) ** x, "", "rises"),
    Function("expm1", "expm1", mpmath.expm1, "", "rises"),
    Function("log", "log", mpmath.log, "", "rises"),
    Function("log1p", "log1p", mpmath.log1p, "", "rises"),
    Function("log10", "log10", mpmath.log10, "", "rises"),
    Function("log2", "log2", lambda x: mpmath.log(x, 2), "", "rises"),
    Function("sin", "sin", mpmath.sin, "odd"),
    Function("cos", "cos", mpmath.cos, "even"),
    Function("tan", "tan", mpmath.tan, "odd"),
    Function("sinc", "more:sinc", mpmath.sincpi, "even", limits=True),
    Function("asin", "asin", mpmath.asin, "odd", "rises"),
    Function("acos", "acos", mpmath.acos, "", "falls"),
    Function("atan", "atan", mpmath.atan, "odd", "rises"),
    Function("deg2rad", "more:deg2rad", lambda x: x * mpmath.pi / 180, "odd", "rises"),
    Function("rad2deg", "more:rad2deg", lambda x: x * 180 / mpmath.pi, "odd", "rises"),
    Function("sinh", "sinh", mpmath.sinh, "odd", "rises"),
    Function("cosh", "cosh", mpmath.cosh, "even", "rises from 0"),
    Function("tanh", "tanh", mpmath.tanh, "odd", "rises"),
    Function("asinh", "asinh", mpmath.asinh, "odd", "rises"),
    Function("acosh", "acosh", mpmath.acosh, "", "rises"),
    Function("atanh", "atanh", mpmath.atanh, "odd", "rises"),
    Function("erf", "nn:erf", _exact_erf, "odd", "rises"),
    Function("erfc", "nn:erfc", _exact_erfc, "", "falls"),
    Function("erfcx", "more:erfcx", _exact_erfcx, "", "falls"),
    Function("erfinv", "more:erfinv", mpmath.erfinv, "odd", "rises"),
    Function("i0e", "more:i0e", _exact_bessel(0), "even"),
    Function("i1e", "more:i1e", _exact_bessel(1), "odd"),
    Function("sigmoid", "nn:sigmoid", lambda x: 1 / (1 + mpmath.exp(-x)), "", "rises"),
    Function("log_sigmoid", "nn:log_sigmoid", lambda x: -_exact_softplus(-x), "", "rises"),
    Function("softplus", "nn:softplus", _exact_softplus, "", "rises"),
    Function("softsign", "nn:softsign", lambda x: x / (1 + abs(x)), "odd", "rises", limits=True),
    Function("silu", "nn:silu", lambda x: x / (1 + mpmath.exp(-x)), limits=True),
    Function("gelu", "nn:gelu", _exact_gelu, limits=True),
    Function("mish", "nn:mish", lambda x: x * mpmath.tanh(_exact_softplus(x)), limits=True),
    Function("pow", "pow", mpmath.power),
    Function("div", "div", lambda x, y: x / y),
    Function("mod", "mod", _exact_mod, limits=True),
    Function("fmod", "more:fmod", lambda x, y: mpmath.mpf(math.fmod(x, y))),
    Function("atan2", "more:atan2", mpmath.atan2),
    Function("hypot", "more:hypot", mpmath.hypot),
)

BINARY = frozenset(name for name, formula in FORMULAS.items() if " y" in formula)
"""Those of two numbers."""

FUNCTIONS = {function.name: function for function in _ALL}


def exactly(f: Function, *at: float) -> Any:
    """Return the exact value at finite numbers, as mpmath has it, to 60 digits or more.

    >>> float(exactly(FUNCTIONS["exp"], 1.0)), float(exactly(FUNCTIONS["mod"], -1.0, 3.0))
    (2.718281828459045, 2.0)
    """
    exponent = max(abs(math.frexp(x)[1]) if x else 0 for x in at)
    # A large argument of sin needs its digits before the point; a small one, those of 1 + x.
    with mpmath.workprec(220 + 2 * exponent):
        return mpmath.mpf(f.exact(*map(mpmath.mpf, at)))
