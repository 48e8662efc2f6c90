"""The functions whose accuracy is measured: each in float64 and with all digits.

The float64 form is NumPy's or SciPy's, off by a few units of float64: of float32 and narrower
results that is less than a millionth of a unit. What it decides narrowly, mpmath decides.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

import mpmath
import numpy as np
from numpy.typing import NDArray

from suanzi._hints import nearest
from suanzi.status import InvalidArgument

Array = NDArray[np.float64]
Symmetry = Literal["odd", "even", ""]
Order = Literal["rises", "falls", "rises from 0", ""]


@dataclass(frozen=True)
class Function:
    """A function of one real number."""

    name: str
    key: str
    """The operator, with its catalogue: ``exp``, ``nn:erf``."""
    fast: Callable[[Array], Array]
    exact: Callable[[Any], Any]
    symmetry: Symmetry = ""
    order: Order = ""
    """Where it only rises or falls; from 0 on, with the magnitude."""
    limits: bool = False
    """Whether its formula has no value at infinity: nothing is required there."""


def _special(name: str) -> Callable[[Array], Array]:
    """Return a function of SciPy's, which is imported when it is called."""

    def called(x: Array) -> Array:
        from scipy import special

        return np.asarray(getattr(special, name)(x))

    return called


_erfc = _special("erfc")
_HALF = mpmath.mpf(1) / 2


def _softplus(x: Array) -> Array:
    return np.log1p(np.exp(-np.abs(x))) + np.maximum(x, 0.0)


def _sigmoid(x: Array) -> Array:
    return np.asarray(1.0 / (1.0 + np.exp(-x)))


def _exact_softplus(x: Any) -> Any:
    return mpmath.log1p(mpmath.exp(x))


def _exact_erfc(x: Any) -> Any:
    """mpmath takes long where this is 0 or 2 to hundreds of digits."""
    if abs(x) < 100:
        return mpmath.erfc(x)
    return mpmath.mpf(0) if x > 0 else mpmath.mpf(2)


def _exact_erf(x: Any) -> Any:
    return mpmath.erf(x) if abs(x) < 100 else mpmath.sign(x)


def _exact_gelu(x: Any) -> Any:
    return x * _exact_erfc(-x / mpmath.sqrt(2)) * _HALF


def _mish(x: Array) -> Array:
    return x * np.tanh(_softplus(x))


_ALL = (
    Function("reciprocal", "reciprocal", lambda x: 1.0 / x, lambda x: 1 / x, "odd"),
    Function("sqrt", "sqrt", np.sqrt, mpmath.sqrt, "", "rises"),
    Function("rsqrt", "rsqrt", lambda x: 1.0 / np.sqrt(x), lambda x: 1 / mpmath.sqrt(x), "",
             "falls"),
    Function("square", "square", np.square, lambda x: x * x, "even", "rises from 0"),
    Function("exp", "exp", np.exp, mpmath.exp, "", "rises"),
    Function("expm1", "expm1", np.expm1, mpmath.expm1, "", "rises"),
    Function("log", "log", np.log, mpmath.log, "", "rises"),
    Function("log1p", "log1p", np.log1p, mpmath.log1p, "", "rises"),
    Function("log10", "log10", np.log10, mpmath.log10, "", "rises"),
    Function("log2", "log2", np.log2, lambda x: mpmath.log(x, 2), "", "rises"),
    Function("sin", "sin", np.sin, mpmath.sin, "odd"),
    Function("cos", "cos", np.cos, mpmath.cos, "even"),
    Function("tan", "tan", np.tan, mpmath.tan, "odd"),
    Function("asin", "asin", np.arcsin, mpmath.asin, "odd", "rises"),
    Function("acos", "acos", np.arccos, mpmath.acos, "", "falls"),
    Function("atan", "atan", np.arctan, mpmath.atan, "odd", "rises"),
    Function("sinh", "sinh", np.sinh, mpmath.sinh, "odd", "rises"),
    Function("cosh", "cosh", np.cosh, mpmath.cosh, "even", "rises from 0"),
    Function("tanh", "tanh", np.tanh, mpmath.tanh, "odd", "rises"),
    Function("asinh", "asinh", np.arcsinh, mpmath.asinh, "odd", "rises"),
    Function("acosh", "acosh", np.arccosh, mpmath.acosh, "", "rises"),
    Function("atanh", "atanh", np.arctanh, mpmath.atanh, "odd", "rises"),
    Function("erf", "nn:erf", _special("erf"), _exact_erf, "odd", "rises"),
    Function("erfc", "nn:erfc", _erfc, _exact_erfc, "", "falls"),
    Function("sigmoid", "nn:sigmoid", _sigmoid, lambda x: 1 / (1 + mpmath.exp(-x)), "", "rises"),
    Function("log_sigmoid", "nn:log_sigmoid", lambda x: -_softplus(-x),
             lambda x: -_exact_softplus(-x), "", "rises"),
    Function("softplus", "nn:softplus", _softplus, _exact_softplus, "", "rises"),
    Function("softsign", "nn:softsign", lambda x: x / (1.0 + np.abs(x)),
             lambda x: x / (1 + abs(x)), "odd", "rises", limits=True),
    Function("silu", "nn:silu", lambda x: x * _sigmoid(x), lambda x: x / (1 + mpmath.exp(-x)),
             limits=True),
    Function("gelu", "nn:gelu", lambda x: x * (_erfc(-x / math.sqrt(2.0)) * 0.5), _exact_gelu,
             limits=True),
    Function("mish", "nn:mish", _mish, lambda x: x * mpmath.tanh(_exact_softplus(x)),
             limits=True),
)  # fmt: skip

FUNCTIONS = {function.name: function for function in _ALL}


@cache
def _known() -> dict[str, Function]:
    return {name: f for f in _ALL for name in (f.name, f.key, f"op_{f.name}")}


def function(name: str) -> Function:
    """Return a function by its name.

    >>> function("nn:erf").symmetry, function("op_exp").order
    ('odd', 'rises')
    """
    found = _known().get(name.strip().lower())
    if found is None:
        raise InvalidArgument(
            f"accuracy: {name!r} is not measured; functions: {', '.join(FUNCTIONS)}."
            + nearest(name, tuple(FUNCTIONS))
        )
    return found


def exactly(f: Function, x: float) -> Any:
    """Return the exact value at a finite number, as mpmath has it, to 60 digits or more.

    >>> float(exactly(FUNCTIONS["exp"], 1.0))
    2.718281828459045
    """
    exponent = math.frexp(x)[1] if x else 0
    # A large argument of sin needs its digits before the point; a small one, those of 1 + x.
    with mpmath.workprec(220 + 2 * abs(exponent)):
        return mpmath.mpf(f.exact(mpmath.mpf(x)))
