"""Numbers that know how far a computation of them may be off: running error analysis.

A definition of an operator is written once, with these numbers. Its `value` is the truth: every
digit of it in mpmath, or float64 for large tensors. Its `error` bounds what the same computation
may be off in an arithmetic of unit roundoff u, whatever the order of its sums: each operation adds
u times its result, and passes on the errors of its operands. So the bound of a softmax or of an
attention follows from the data, the length and the dtype; nobody chooses it.

    with arithmetic("float32"):
        e = exp(x - x.max(axis, keepdims=True))
        y = e / e.sum(axis, keepdims=True)

What an implementation is free to do is part of each rule: an exponential by way of exp2, a
reciprocal instead of a quotient, sums in any order. Where a result leaves the range of the
arithmetic, the error is infinite: nothing is required there.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import mpmath
import numpy as np
from mpmath.libmp import fone, mpf_add, mpf_log
from numpy.typing import NDArray

from suanzi.truth import machine_numbers
from suanzi.truth.axes import axes_of

__all__ = ["Arithmetic", "Tracked", "absolute", "arithmetic", "concatenate", "conj", "cos",
           "either", "erf", "erfc", "exp", "log", "log1p", "maximum", "minimum", "pad",
           "rounded_to", "sigmoid", "sin", "sqrt", "tanh", "tracked", "where"]  # fmt: skip

BITS = 200
"""The precision of exact values, in bits."""
_FUNCTIONS = 8.0
"""How many units of roundoff a function of a library may be off: 4 ULP, as CUDA allows."""
_SIGMAS = 6.0 / math.sqrt(3)
"""Six standard deviations of a sum of roundings: the chance that a right one is beyond is 1e-9.

A rounding error is anywhere in +-u times the result, so its own deviation is that by sqrt(3).
"""


@dataclass(frozen=True)
class Arithmetic:
    """What a computation is done in."""

    unit: float
    """The unit roundoff: 2**-24 of float32."""
    largest: float
    tiny: float
    """What an underflow may lose."""
    exact: bool
    """Whether values are mpmath's, with all digits; else they are float64."""
    sums: tuple[float, float] | None = None
    """The unit roundoff and the largest number of sums, where they are of another dtype."""


# The largest numbers are those before the last few roundings can overflow.
_FORMATS = {
    "float16": (2.0**-11, 65504.0, 2.0**-24),
    "bfloat16": (2.0**-8, 3.3e38, 2.0**-126),
    "tfloat32": (2.0**-11, 3.4e38, 2.0**-126),
    "float32": (2.0**-24, 3.4e38, 2.0**-126),
    "float64": (2.0**-53, 1.79e308, 2.0**-1022),
}
_now = Arithmetic(*_FORMATS["float32"], exact=True)


@contextmanager
def arithmetic(name: str, exact: bool = True, sums: str | None = None) -> Iterator[Arithmetic]:
    """Follow the errors of an arithmetic; values are exact, or float64 for large tensors.

    `sums` names the dtype that sums are accumulated in, if it is another one.

    The errors of float64 values are counted with the others, so that what is within the bound of
    such a truth is within that of the exact one and its own.

    >>> with arithmetic("float32"):
    ...     y = exp(tracked([1.0]))
    >>> float(y.value[0]), bool(y.error[0] < 2e-6)
    (2.718281828459045, True)
    """
    global _now
    unit, largest, tiny = _FORMATS[name]
    before = _now
    within = None if sums is None else _FORMATS[sums][:2]
    _now = Arithmetic(unit if exact else unit + 2.0**-52, largest, tiny, exact, within)
    try:
        with mpmath.workprec(BITS):
            yield _now
    finally:
        _now = before


def _mp(name: str) -> Callable[[Any], Any]:
    function: Callable[[Any], Any] = np.frompyfunc(getattr(mpmath, name), 1, 1)
    return function


class Tracked:
    """An array of numbers, each with a bound of the error of computing it.

    >>> with arithmetic("float32"):
    ...     x = tracked([1.0, 2.0]) / 3
    >>> x.shape, [bool(e < 1e-6) for e in x.error]
    ((2,), [True, True])
    """

    __array_ufunc__ = None  # so that NumPy leaves `array - tracked` to this class
    __slots__ = ("_plain", "error", "value")

    def __init__(self, value: NDArray[Any], error: NDArray[np.float64]) -> None:
        self.value, self.error = value, error
        self._plain: NDArray[Any] | None = None

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape."""
        return tuple(self.value.shape)

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return int(self.value.ndim)

    @property
    def size(self) -> NDArray[np.float64]:
        """The magnitudes, as float64."""
        return np.asarray(np.abs(self.plain), dtype=np.float64)

    @property
    def plain(self) -> NDArray[Any]:
        """The numbers as float64, or as complex128; of exact ones, that is found once."""
        if self.value.dtype != object:
            return machine_numbers.plain(self.value)
        if self._plain is None:
            self._plain = machine_numbers.plain(self.value)
        return self._plain.copy()

    @property
    def is_complex(self) -> bool:
        """Whether they are complex numbers: an error is that of the whole number."""
        known = self.value if self._plain is None else self._plain
        return machine_numbers.is_complex(known)

    # ---- arithmetic ----------------------------------------------------------------------------

    def __add__(self, other: Any) -> Tracked:
        y = tracked(other)
        return _rounded(_numpy(np.add, self.value, y.value), self.error + y.error)

    __radd__ = __add__

    def __neg__(self) -> Tracked:
        return Tracked(_numpy(np.negative, self.value), self.error)

    def __sub__(self, other: Any) -> Tracked:
        y = tracked(other)
        return _rounded(_numpy(np.subtract, self.value, y.value), self.error + y.error)

    def __rsub__(self, other: Any) -> Tracked:
        return tracked(other) - self

    def __mul__(self, other: Any) -> Tracked:
        y = tracked(other)
        with np.errstate(all="ignore"):
            passed = _product(self.size, y.error) + _product(y.size + y.error, self.error)
        product = machine_numbers.multiplied if _now.exact else np.multiply
        return _rounded(_numpy(product, self.value, y.value), passed)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Tracked:
        y = tracked(other)
        value = _quotient(self.value, y.value)
        with np.errstate(all="ignore"):
            size = machine_numbers.magnitude(value)
            certain = y.size - y.error
            passed = (self.error + _product(size, y.error)) / certain
            passed = np.where(self.error + y.error == 0, 0.0, passed)
            passed = np.where(certain > 0, passed, np.where(y.error == 0, 0.0, np.inf))
        return _rounded(value, passed, 3.0)  # also by way of a reciprocal

    def __rtruediv__(self, other: Any) -> Tracked:
        return tracked(other) / self

    def __matmul__(self, other: Any) -> Tracked:
        """The product of matrices, a sum of products; axes before the last two are broadcast."""
        y = tracked(other)
        if self.shape[-1] != y.shape[-2]:
            raise ValueError(f"{self.shape[-1]} columns, {y.shape[-2]} rows: the shapes do not fit")
        left = Tracked(self.value[..., :, :, None], self.error[..., :, :, None])
        right = Tracked(y.value[..., None, :, :], y.error[..., None, :, :])
        return (left * right).sum(-2)

    # ---- along axes ----------------------------------------------------------------------------

    def sum(self, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> Tracked:
        """The sum in any order.

        Of n roundings, each of at most u times a partial sum, the error is at most (n - 1) u times
        the sum of magnitudes, for every n (Jeannerod and Rump, 2013); beyond a few dozen it is also
        below six standard deviations of independent ones (Higham and Mary, 2019), where partial
        sums are those of this order. Roundings are independent only of addends that differ: equal
        ones are all rounded alike. A long sum in few bits stops growing: there the first bound is
        used alone. `sums` also round each addend.
        """
        x = self._along(axis)
        n = x.value.shape[-1]
        unit, largest = _now.sums or (_now.unit, _now.largest)
        with np.errstate(all="ignore"):
            value = _numpy(machine_numbers.sums, x.value)
            sizes = x.size
            proven = max(n - 1 + 2 * (_now.sums is not None), 0) * (sizes + x.error).sum(-1)
            partial = np.abs(np.cumsum(x.plain, -1)).max(-1, initial=0.0)
            spread = 2 * np.sqrt((sizes * sizes).sum(-1))
            likely = _SIGMAS * math.sqrt(n) * np.maximum(partial, spread)
            stops = _now.sums is not None and n * unit > 0.5
            likely = np.where(machine_numbers.varied(sizes) & (not stops), likely, proven)
            rounding = np.where(np.isfinite(proven), np.fmin(proven, likely), 0.0)
            error = x.error.sum(-1) + unit * rounding
            # A partial sum may overflow where the sum does not.
            error = np.where(sizes.sum(-1) > largest, np.inf, error)
        return self._kept(_rounded(value, error, 0.0), axis, keepdims)

    def mean(self, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> Tracked:
        """The sum by the number of elements."""
        count: int = self._along(axis).value.shape[-1]
        return self.sum(axis, keepdims) / count

    def max(self, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> Tracked:
        """The largest; NaN if there is one."""
        x = self._along(axis)
        larger = np.frompyfunc(machine_numbers.larger, 2, 1) if _now.exact else np.maximum
        start = -mpmath.inf if _now.exact else -math.inf
        made = _numpy(larger.reduce, x.value, axis=-1, initial=start)
        return self._kept(Tracked(made, x.error.max(-1, initial=0.0)), axis, keepdims)

    def _along(self, axis: int | Sequence[int] | None) -> Tracked:
        """Return the axes of a reduction as the last one."""
        axes = axes_of(axis, self.ndim)
        kept = [a for a in range(self.ndim) if a not in axes]
        order = [*kept, *axes]
        shape = (*(self.shape[a] for a in kept), math.prod(self.shape[a] for a in axes))
        return self._moved(lambda x: x.transpose(order).reshape(shape))

    def _kept(self, made: Tracked, axis: int | Sequence[int] | None, keepdims: bool) -> Tracked:
        if not keepdims:
            return made
        axes = axes_of(axis, self.ndim)
        shape = [1 if a in axes else n for a, n in enumerate(self.shape)]
        return made.reshape(*shape)

    # ---- moving --------------------------------------------------------------------------------

    def reshape(self, *shape: int) -> Tracked:
        """The same elements in another shape."""
        return self._moved(lambda x: x.reshape(shape))

    def transpose(self, *axes: int) -> Tracked:
        """The axes in another order."""
        return self._moved(lambda x: x.transpose(axes))

    def __getitem__(self, index: Any) -> Tracked:
        return self._moved(lambda x: np.asarray(x[index], x.dtype))

    def _moved(self, move: Callable[[NDArray[Any]], NDArray[Any]]) -> Tracked:
        """The elements at other positions; their floats, unless some of the complex are real."""
        made = Tracked(move(self.value), move(self.error))
        if self._plain is not None and self._plain.dtype == np.float64:
            made._plain = move(self._plain)
        return made


def tracked(x: Any) -> Tracked:
    """Return numbers as exact operands; whole ones that floats do not have are rounded to them."""
    if isinstance(x, Tracked):
        return x
    value = machine_numbers.kept(x, _now.exact)
    if _now.exact and value.size:
        value = _numpy(machine_numbers.exactly, value)
    if not isinstance(x, np.ndarray) or x.dtype.kind not in "iu":
        return Tracked(value, np.zeros(value.shape))
    size = np.abs(x.astype(np.float64))
    return Tracked(value, np.where(size * _now.unit > 1, size * _now.unit, 0.0))


def _numpy(function: Any, *args: Any, **kwargs: Any) -> NDArray[Any]:
    with np.errstate(all="ignore"):
        return machine_numbers.kept(function(*args, **kwargs), _now.exact)


def _product(a: NDArray[np.float64], b: NDArray[np.float64]) -> NDArray[np.float64]:
    """A magnitude times an error: none of an exact number, unknown of an unknown one."""
    found: NDArray[np.float64] = np.where(b == 0, 0.0, np.where(np.isinf(b), b, a * b))
    return found


def _quotient(a: NDArray[Any], b: NDArray[Any]) -> NDArray[Any]:
    return _numpy(machine_numbers.divided if _now.exact else np.divide, a, b)


def _rounded(value: NDArray[Any], passed: Any, units: float = 1.0) -> Tracked:
    """Return a result with the errors of its operands and its own, of some units of roundoff."""
    made = Tracked(value, np.zeros(()))
    with np.errstate(all="ignore"):
        size, is_complex = made.size, made.is_complex
        units *= 3 if is_complex else 1  # 2 sqrt(2) of a product
        error = passed + units * _now.unit * (size + passed)
        small = size < 16 * _now.tiny
        small = small & ~machine_numbers.is_zero(value) if small.any() else small
        error = np.where(small, error + _now.tiny, error)
        error = np.where(size + passed > _now.largest, np.inf, error)
    # Of infinities and NaN, no error is known nor needed: they are compared as they are.
    # Of complex ones with such a part nothing is required: libraries differ.
    finite = machine_numbers.is_finite(value, size)
    made.error = np.where(finite, error, np.inf if is_complex else 0.0)
    return made


# ---- functions ----------------------------------------------------------------------------------


def _function(
    x: Any, exact: Callable[[Any], Any], fast: Callable[[Any], Any], passed: Callable[..., Any]
) -> Tracked:
    """Apply a function; `passed` is what an error of its argument makes of its result at most."""
    given = tracked(x)
    value = _numpy(exact if _now.exact else fast, given.value) if given.value.size else given.value
    with np.errstate(all="ignore"):
        at = given.plain
        error = np.where(given.error == 0, 0.0, passed(at, given.error, value))
    return _rounded(value, error, _FUNCTIONS)


def exp(x: Any) -> Tracked:
    """The exponential, also as 2 to the power of x log2(e), whose product is rounded."""
    given = tracked(x)

    def passed(at: Any, error: Any, value: Any) -> Any:
        return np.abs(value.astype(np.float64)) * np.expm1(error)

    with np.errstate(all="ignore"):
        scaled = given.error + 2 * _now.unit * np.minimum(given.size, 1e4)
    return _function(Tracked(given.value, scaled), _mp("exp"), np.exp, passed)


def log(x: Any) -> Tracked:
    """The natural logarithm."""

    def passed(at: Any, error: Any, value: Any) -> Any:
        return np.where(at > error, -np.log1p(-error / at), np.inf)

    return _function(x, np.frompyfunc(_log, 1, 1), np.log, passed)


def _log(x: Any) -> Any:
    return mpmath.log(x) if x > 0 else mpmath.nan if x != 0 else -mpmath.inf


def _log1p(x: Any) -> Any:
    if not -0.5 < x < mpmath.inf:
        return _log(1 + x)
    return mpmath.make_mpf(mpf_log(mpf_add(fone, x._mpf_), BITS))  # of the exact sum


def log1p(x: Any) -> Tracked:
    """log(1 + x)."""

    def passed(at: Any, error: Any, value: Any) -> Any:
        return np.where(1 + at > error, -np.log1p(-error / (1 + at)), np.inf)

    return _function(x, np.frompyfunc(_log1p, 1, 1), np.log1p, passed)


def sqrt(x: Any) -> Tracked:
    """The square root."""

    def passed(at: Any, error: Any, value: Any) -> Any:
        return np.where(at >= error, error / np.sqrt(at), np.sqrt(error))

    exact = np.frompyfunc(lambda v: mpmath.sqrt(v) if v >= 0 else mpmath.nan, 1, 1)
    return _function(x, exact, np.sqrt, passed)


def tanh(x: Any) -> Tracked:
    """The hyperbolic tangent."""

    def passed(at: Any, error: Any, value: Any) -> Any:
        return error / np.cosh(np.minimum(np.maximum(np.abs(at) - error, 0), 350)) ** 2

    return _function(x, _mp("tanh"), np.tanh, passed)


def sin(x: Any) -> Tracked:
    """The sine."""
    return _function(x, _mp("sin"), np.sin, lambda at, error, value: error)


def cos(x: Any) -> Tracked:
    """The cosine."""
    return _function(x, _mp("cos"), np.cos, lambda at, error, value: error)


def _bell(at: Any, error: Any, value: Any) -> Any:
    """What an error makes of erf and erfc: the derivative is 2 / sqrt(pi) exp(-x**2)."""
    return error * 1.1283791670955126 * np.exp(-(np.maximum(np.abs(at) - error, 0) ** 2))


def erf(x: Any) -> Tracked:
    """The error function."""
    return _function(x, _mp("erf"), np.frompyfunc(math.erf, 1, 1), _bell)


def erfc(x: Any) -> Tracked:
    """1 - erf(x)."""
    return _function(x, _mp("erfc"), np.frompyfunc(math.erfc, 1, 1), _bell)


def sigmoid(x: Any) -> Tracked:
    """1 / (1 + exp(-x)), with the freedom of `exp`."""
    given = tracked(x)

    def passed(at: Any, error: Any, value: Any) -> Any:
        return error * np.exp(-np.maximum(np.abs(at) - error, 0))

    with np.errstate(all="ignore"):
        scaled = given.error + 2 * _now.unit * np.minimum(given.size, 1e4)
    return _function(Tracked(given.value, scaled), *machine_numbers.logistic, passed)


def absolute(x: Any) -> Tracked:
    """The magnitude."""
    given = tracked(x)
    value = _numpy(np.abs, given.value)
    return _rounded(value, given.error, 8.0) if given.is_complex else Tracked(value, given.error)


def conj(x: Any) -> Any:
    """The conjugates; integers and real numbers are their own."""
    if not isinstance(x, Tracked):
        return x
    return Tracked(_numpy(np.conjugate, x.value), x.error) if x.is_complex else x


def where(condition: Any, x: Any, y: Any) -> Tracked:
    """x where a condition of exact numbers holds, and y elsewhere."""
    a, b = tracked(x), tracked(y)
    value = np.where(condition, a.value, b.value)
    return Tracked(value, np.where(condition, a.error, b.error))


def maximum(x: Any, y: Any) -> Tracked:
    """The larger of two; NaN if one is."""
    a, b = tracked(x), tracked(y)
    larger = np.frompyfunc(machine_numbers.larger_or_nan, 2, 1) if _now.exact else np.maximum
    value = _numpy(larger, a.value, b.value)
    of_a, of_b = np.broadcast_arrays(a.error, b.error)
    with np.errstate(all="ignore"):  # the one that is larger for certain passes on its own error
        apart = a.plain - b.plain
        error = np.where(apart > of_a + of_b, of_a, np.maximum(of_a, of_b))
        error = np.where(-apart > of_a + of_b, of_b, error)
    return Tracked(value, error)


def minimum(x: Any, y: Any) -> Tracked:
    """The smaller of two; NaN if one is."""
    return -maximum(-tracked(x), -tracked(y))


def either(x: Tracked, y: Tracked) -> Tracked:
    """One number by two formulas: a right kernel may use any, so that the larger error counts."""
    return Tracked(x.value, np.maximum(x.error, y.error))


def concatenate(parts: Sequence[Tracked], axis: int = 0) -> Tracked:
    """Tensors one after the other along an axis."""
    return Tracked(
        np.concatenate([p.value for p in parts], axis),
        np.concatenate([p.error for p in parts], axis),
    )


def pad(x: Tracked, widths: Sequence[tuple[int, int]], with_value: float = 0.0) -> Tracked:
    """A tensor with a border of one value."""
    fill = tracked(with_value).value[()]
    value = np.pad(x.value, widths, constant_values=fill)
    return Tracked(value, np.pad(x.error, widths))


def rounded_to(x: Tracked, unit: float) -> Tracked:
    """A result stored in an arithmetic of another unit roundoff: one rounding more."""
    return Tracked(x.value, x.error + unit * (x.size + x.error))
