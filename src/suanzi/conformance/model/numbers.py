"""What the exact operators must give, from Python integers and fractions alone.

Nothing here uses suanzi, or arithmetic of the machine's floats. A value is an int (integers and
bool), a `Real` (floats, with signed zeros, infinities and NaN), or a pair of them (complex).
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, cached_property

# ---- dtypes --------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Format:
    """A floating-point format of one sign bit."""

    exponent: int
    mantissa: int
    infinity: bool = True

    @cached_property
    def bits(self) -> int:
        return 1 + self.exponent + self.mantissa

    @cached_property
    def bias(self) -> int:
        return (1 << (self.exponent - 1)) - 1

    @cached_property
    def largest(self) -> int:
        """The bits of the largest finite number."""
        if self.infinity:
            return (((1 << self.exponent) - 1) << self.mantissa) - 1
        return (1 << (self.bits - 1)) - 2  # the pattern above is NaN

    @cached_property
    def nan(self) -> int:
        if self.infinity:
            return (((1 << self.exponent) - 1) << self.mantissa) | 1 << (self.mantissa - 1)
        return (1 << (self.bits - 1)) - 1

    @cached_property
    def decoded(self) -> dict[int, int]:
        """The bits of numbers that `decode` returned and keeps alive, by the id of the object."""
        return {}


FORMATS = {
    "float8_e4m3fn": Format(4, 3, infinity=False),
    "float8_e5m2": Format(5, 2),
    "float16": Format(5, 10),
    "bfloat16": Format(8, 7),
    "float32": Format(8, 23),
    "float64": Format(11, 52),
}
PARTS = {"complex32": "float16", "complex64": "float32", "complex128": "float64"}
SIGNED = {f"int{n}": n for n in (4, 8, 16, 32, 64)}
UNSIGNED = {f"uint{n}": n for n in (1, 4, 8, 16, 32, 64)}
NARROW = ("float8_e4m3fn", "float8_e5m2", "float16", "bfloat16")

INTEGERS = [n for n in (*SIGNED, *UNSIGNED) if n not in ("int4", "uint4", "uint1")]
SUBBYTE = ["int4", "uint4", "uint1"]
FLOATS = list(FORMATS)
COMPLEX = list(PARTS)
REALS = [*INTEGERS, *FLOATS]


def compute_format(name: str) -> Format:
    """The format a float dtype computes in."""
    return FORMATS["float32" if name in NARROW else name]


# ---- values --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Real:
    """A number of a float format, exactly; `size` is None for an infinity."""

    negative: bool
    size: Fraction | None
    is_nan: bool = False

    @property
    def value(self) -> Fraction:
        assert self.size is not None
        assert not self.is_nan
        return -self.size if self.negative else self.size

    @property
    def is_zero(self) -> bool:
        return not self.is_nan and self.size == 0

    @property
    def is_infinite(self) -> bool:
        return not self.is_nan and self.size is None

    def __neg__(self) -> Real:
        return Real(not self.negative, self.size, self.is_nan)


NAN = Real(False, None, is_nan=True)
INFINITY = Real(False, None)
ZERO = Real(False, Fraction(0))

Value = int | Real | tuple[Real, Real]


def ratio(numerator: int, denominator: int) -> Fraction:
    """A fraction of two numbers without a common divisor, which Fraction would search for."""
    found = object.__new__(Fraction)
    found._numerator, found._denominator = numerator, denominator  # type: ignore[attr-defined]
    return found


_SMALL = {n: Real(n < 0, Fraction(abs(n))) for n in range(-16, 17)}


def real(x: int | float | Fraction) -> Real:
    """A Python number as a Real."""
    if isinstance(x, float):
        if math.isfinite(x):
            return Real(math.copysign(1, x) < 0, ratio(*abs(x).as_integer_ratio()))
        return NAN if math.isnan(x) else Real(x < 0, None)
    if isinstance(x, int):
        return _SMALL.get(x) or Real(x < 0, ratio(abs(x), 1))
    return Real(x < 0, abs(Fraction(x)))


@cache
def decode(form: Format, bits: int) -> Real:
    """The number that bits stand for."""
    found = _decoded(form, bits)
    if not found.is_nan:
        form.decoded[id(found)] = bits
    return found


def _decoded(form: Format, bits: int) -> Real:
    negative, magnitude = bool(bits >> (form.bits - 1)), bits & (2 ** (form.bits - 1) - 1)
    if magnitude > form.largest:
        is_infinity = form.infinity and magnitude == form.largest + 1
        return Real(negative, None, is_nan=not is_infinity)
    field, fraction = magnitude >> form.mantissa, magnitude & (2**form.mantissa - 1)
    if field:
        fraction += 2**form.mantissa
    exponent = max(field, 1) - form.bias - form.mantissa
    if exponent >= 0 or not fraction:
        return Real(negative, ratio(fraction << max(exponent, 0), 1))
    even = min(trailing_zeros(fraction), -exponent)
    return Real(negative, ratio(fraction >> even, 1 << (-exponent - even)))


@cache
def two(exponent: int) -> Fraction:
    return Fraction(2) ** exponent


def trailing_zeros(x: int) -> int:
    """How often two divides a number that is not zero."""
    return (x & -x).bit_length() - 1


def exponent_of(numerator: int, denominator: int) -> int:
    """The exponent of the largest power of two that is not more than a quotient."""
    exponent = numerator.bit_length() - denominator.bit_length()
    if exponent >= 0:
        return exponent - (numerator < denominator << exponent)
    return exponent - (numerator << -exponent < denominator)


def spacing(form: Format, size: Fraction) -> int:
    """The exponent of the distance of neighbours of a format at a size."""
    least, most = 1 - form.bias, (form.largest >> form.mantissa) - form.bias
    exponent = exponent_of(*size.as_integer_ratio()) if size else least
    return min(max(exponent, least), most) - form.mantissa


def unit(form: Format, size: Fraction) -> Fraction:
    """The distance of neighbours of a format at a size."""
    return two(spacing(form, size))


def encode(form: Format, x: Real) -> int:
    """The bits of the nearest number, of two the even one; past the largest, infinity or NaN."""
    known = form.decoded.get(id(x))
    if known is not None:
        return known
    sign = int(x.negative) << (form.bits - 1)
    if x.is_nan or (x.size is None and not form.infinity):
        return form.nan | sign
    if x.size is None:
        return (form.largest + 1) | sign
    # Ratios stay unreduced throughout: a common divisor would cost more than all the rest.
    numerator, denominator = x.size.as_integer_ratio()
    if not numerator:
        return sign
    exponent = max(exponent_of(numerator, denominator), 1 - form.bias)
    step = exponent - form.mantissa
    if denominator & (denominator - 1):
        divisor = denominator << max(step, 0)
        whole, rest = divmod(numerator << max(-step, 0), divisor)
        halves = (2 * rest > divisor) + (2 * rest >= divisor)
    else:
        places = denominator.bit_length() - 1 + step
        if places <= 0:
            whole, halves = numerator << -places, 0
        else:
            whole = numerator >> places
            rest = numerator - (whole << places)
            halves = (rest > 1 << (places - 1)) + (rest >= 1 << (places - 1))
    if halves == 2 or (halves == 1 and whole % 2):
        whole += 1
    # A subnormal has no leading one; a carry out of the mantissa counts the exponent up by itself.
    magnitude = whole + ((exponent + form.bias - 1) << form.mantissa)
    if magnitude > form.largest:
        magnitude = form.largest + 1 if form.infinity else form.nan
    return magnitude | sign


_DOUBLE = struct.Struct("<d"), struct.Struct("<Q")


def encode_float(form: Format, x: float) -> int:
    """The bits of the number nearest to a Python float, as `encode` has them, in less time."""
    bits: int = _DOUBLE[1].unpack(_DOUBLE[0].pack(x))[0]
    exact = bits & (2**63 - 1)
    # The exponent is that of the format; what is not normal there is left to the general rule.
    magnitude = exact - ((1023 - form.bias) << 52)
    if magnitude < 1 << 52 or exact >= 0x7FF << 52:
        return encode(form, real(x))
    if places := 52 - form.mantissa:
        magnitude += (1 << (places - 1)) - 1 + (magnitude >> places & 1)
        magnitude >>= places
    if magnitude > form.largest:
        magnitude = form.largest + 1 if form.infinity else form.nan
    return magnitude | bits >> 63 << (form.bits - 1)


def rounded(form: Format, x: Real) -> Real:
    return decode(form, encode(form, x))


def wrap(name: str, x: int) -> int:
    """An integer as two's complement keeps it."""
    if name == "bool":
        return int(x != 0)
    if name in UNSIGNED:
        return x % (1 << UNSIGNED[name])
    half = 1 << (SIGNED[name] - 1)
    return (x + half) % (2 * half) - half


def store(name: str, x: Value) -> Value:
    """A result as a dtype holds it: integers wrap; narrow floats are float32, rounded once more."""
    if name in FORMATS:
        assert isinstance(x, Real)
        return rounded(FORMATS[name], rounded(compute_format(name), x))
    if name in PARTS:
        assert isinstance(x, tuple)
        part = PARTS[name]
        return (_real(store(part, x[0])), _real(store(part, x[1])))
    assert isinstance(x, int)
    return wrap(name, x)


def truth(x: Value) -> bool:
    """Whether a value counts as true."""
    if isinstance(x, tuple):
        return truth(x[0]) or truth(x[1])
    return x != 0 if isinstance(x, int) else not x.is_zero


def convert(x: Value, target: str) -> Value:
    """A value in another dtype, rounded once."""
    if target in PARTS:
        parts = x if isinstance(x, tuple) else (x, ZERO)
        first, second = (_real(convert(p, PARTS[target])) for p in parts)
        return (first, second)
    if target == "bool":
        return int(truth(x))
    if isinstance(x, tuple):
        x = x[0]
    if target in FORMATS:
        return rounded(FORMATS[target], real(x) if isinstance(x, int) else x)
    if isinstance(x, int):
        return wrap(target, x)
    low, high = limits(target)
    if x.is_nan:
        return 0
    if x.size is None:
        return low if x.negative else high
    return min(max(math.trunc(x.value), low), high)


def _real(x: Value) -> Real:
    assert isinstance(x, Real)
    return x


def limits(name: str) -> tuple[int, int]:
    if name in UNSIGNED:
        return 0, 2 ** UNSIGNED[name] - 1
    return -(2 ** (SIGNED[name] - 1)), 2 ** (SIGNED[name] - 1) - 1


# ---- operators on reals, before rounding ---------------------------------------------------------


def add(a: Real, b: Real) -> Real:
    if a.is_nan or b.is_nan or (a.is_infinite and b.is_infinite and a.negative != b.negative):
        return NAN
    if a.is_infinite or b.is_infinite:
        return a if a.is_infinite else b
    total = a.value + b.value
    # Zeros of one sign keep it; an exact difference of zero is +0.
    return Real(total < 0 or (total == 0 and a.negative and b.negative), abs(total))


def sub(a: Real, b: Real) -> Real:
    return add(a, -b)


def mul(a: Real, b: Real) -> Real:
    if a.is_nan or b.is_nan:
        return NAN
    if (a.is_zero and b.is_infinite) or (a.is_infinite and b.is_zero):
        return NAN
    size = None if a.size is None or b.size is None else a.size * b.size
    return Real(a.negative != b.negative, size)


def div(a: Real, b: Real) -> Real:
    if a.is_nan or b.is_nan or (a.is_zero and b.is_zero) or (a.is_infinite and b.is_infinite):
        return NAN
    negative = a.negative != b.negative
    if a.size is None or b.is_zero:
        return Real(negative, None)
    return Real(negative, Fraction(0) if b.size is None else a.size / b.size)


def floordiv(a: Real, b: Real) -> Real:
    """The floor of the exact quotient."""
    quotient = div(a, b)
    if quotient.is_nan or quotient.is_infinite or a.is_zero:
        return quotient
    if b.is_infinite:  # just above or just below zero
        return real(-1) if quotient.negative else ZERO
    return real(math.floor(quotient.value))


def mod(a: Real, b: Real) -> Real:
    """The remainder with the sign of the divisor."""
    if a.is_nan or b.is_nan or a.is_infinite or b.is_zero:
        return NAN
    if a.is_zero:
        return Real(b.negative, Fraction(0))
    if b.is_infinite:
        return a if a.negative == b.negative else b
    rest = a.value - math.floor(a.value / b.value) * b.value
    return Real(b.negative, abs(rest))


def maximum(a: Real, b: Real) -> Real:
    if a.is_nan or b.is_nan:
        return NAN
    return b if less(a, b) or (a.is_zero and b.is_zero and a.negative) else a


def minimum(a: Real, b: Real) -> Real:
    return -maximum(-a, -b)


def equal(a: Real, b: Real) -> bool:
    if a.is_nan or b.is_nan:
        return False
    return (a.is_zero and b.is_zero) or (a.negative == b.negative and a.size == b.size)


def less(a: Real, b: Real) -> bool:
    if a.is_nan or b.is_nan or equal(a, b):
        return False
    if a.is_infinite or b.is_infinite:
        return a.negative if a.is_infinite else not b.negative
    return a.value < b.value


def to_whole(a: Real, how: Callable[[Fraction], int]) -> Real:
    """Round to a whole number; a zero has the sign of what was rounded."""
    if a.size is None or a.is_nan:
        return a
    return Real(a.negative, Fraction(abs(how(a.value))))


WHOLE: dict[str, Callable[[Fraction], int]] = {
    "floor": math.floor,
    "ceil": math.ceil,
    "trunc": math.trunc,
    "round": round,  # ties to even
}
