"""Sums and products of exact numbers, and how far any reasonable arithmetic may be off.

A sum may be computed in any order, one element after the other too, in the dtype that adds: float32
for the narrow ones, which is decided, and else the dtype itself. Then n elements are off by at most
n units of roundoff times the sum of their sizes, and by half a unit of the last place of the result
once it is rounded to its own dtype. That holds for every order and is still far below one element
left out of a thousand.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from random import Random

from suanzi.conformance.model import numbers as oracle
from suanzi.conformance.model.numbers import Format, Real, Value


def reals(xs: Iterable[Value]) -> list[Real]:
    """Return real numbers, and integers as such."""
    found = []
    for x in xs:
        assert not isinstance(x, tuple)
        found.append(oracle.real(x) if isinstance(x, int) else x)
    return found


def parts(xs: Iterable[Value]) -> tuple[list[Real], list[Real]]:
    """Return the real and the imaginary parts of complex numbers."""
    pairs = [x for x in xs if isinstance(x, tuple)]
    return [a for a, _ in pairs], [b for _, b in pairs]


def total(xs: Sequence[Real]) -> Real:
    """Return the exact sum; NaN if there is one, or infinities of both signs."""
    signs = {x.negative for x in xs if x.is_infinite}
    if any(x.is_nan for x in xs) or len(signs) == 2:
        return oracle.NAN
    if signs:
        return -oracle.INFINITY if signs.pop() else oracle.INFINITY
    return oracle.real(_added([x.value for x in xs]))


def magnitude(xs: Sequence[Real]) -> Fraction:
    """Return the sum of the sizes of what is finite."""
    return _added([x.size for x in xs if x.size is not None and not x.is_nan])


def _added(xs: Sequence[Fraction]) -> Fraction:
    # Fractions would look for common factors in every step.
    denominator = math.lcm(*{x.denominator for x in xs})
    return Fraction(sum(x.numerator * (denominator // x.denominator) for x in xs), denominator)


def product(xs: Sequence[Real]) -> Real:
    """Return the exact product; NaN if a factor is NaN, or if there are a zero and an infinity."""
    found = oracle.real(1)
    for x in xs:
        found = oracle.mul(found, x)
    return found


def complex_product(xs: Sequence[Value]) -> tuple[Real, Real]:
    """Return the exact product of finite complex numbers."""
    a, b = Fraction(1), Fraction(0)
    for re, im in zip(*parts(xs), strict=True):
        a, b = a * re.value - b * im.value, a * im.value + b * re.value
    return oracle.real(a), oracle.real(b)


def machine_epsilon(dtype: str) -> Fraction:
    """Return the distance from 1 to the next number of a dtype."""
    return oracle.two(-oracle.FORMATS[oracle.PARTS.get(dtype, dtype)].mantissa)


def unit_roundoff(dtype: str) -> Fraction:
    """Return half the distance of 1 to the next number of the dtype that adds."""
    return oracle.two(-1 - oracle.compute_format(oracle.PARTS.get(dtype, dtype)).mantissa)


def half_unit(dtype: str, size: Fraction) -> Fraction:
    """Return half the distance of neighbours at a size, the most that one rounding is off."""
    return oracle.unit(oracle.FORMATS[oracle.PARTS.get(dtype, dtype)], size) / 2


def with_rounding(dtype: str, truth: Value, reach: Fraction) -> Fraction:
    """Return an error before the last rounding, with that of the last rounding."""
    sizes = [p.size for p in (truth if isinstance(truth, tuple) else (truth,))
             if isinstance(p, Real) and p.size is not None and not p.is_nan]  # fmt: skip
    return reach + half_unit(dtype, max(sizes, default=Fraction(0)) + reach)


def sum_allowed(
    dtype: str, xs: Sequence[Real], truth: Value, divisor: int = 1, target: str | None = None
) -> Fraction:
    """Return how far a sum of numbers of a dtype, or their mean, may be off."""
    if divisor == 1 and is_exact(dtype, xs):
        return with_rounding(dtype, truth, Fraction(0))
    # One more for the division, one for integers that are not exact in what adds.
    count = len(xs) + 2 * (divisor > 1)
    return added_allowed(target or dtype, count, magnitude(xs) / divisor, truth)


def is_exact(dtype: str, xs: Sequence[Real]) -> bool:
    """Tell whether a sum has no rounding error in any order, even if computed in its own dtype.

    All partial sums are multiples of the same unit, and none is larger than the sum of what has
    one sign.

    >>> ONE = oracle.real(1)
    >>> is_exact("float16", [ONE, -ONE] * 2048), is_exact("float16", [ONE] * 2049)
    (True, False)
    """
    part = oracle.PARTS.get(dtype, dtype)
    if part not in oracle.FORMATS or any(x.is_nan or x.size is None for x in xs):
        return False
    scale = math.lcm(*{x.value.denominator for x in xs})
    sides = [magnitude([x for x in xs if x.negative == side]) for side in (False, True)]
    return scale * max(sides) <= oracle.two(oracle.FORMATS[part].mantissa + 1)


def added_allowed(dtype: str, count: int, size: Fraction, truth: Value) -> Fraction:
    """Return how far a sum of so many numbers, of such a sum of sizes, may be off."""
    return with_rounding(dtype, truth, count * unit_roundoff(dtype) * size)


def rough_sum(dtype: str, count: int, size: Fraction) -> Fraction:
    """Return how far a sum is off at most that is computed in its own dtype, in any order.

    Never by half of its terms: a sum that is lost altogether is wrong, not inaccurate.
    """
    return min(count * machine_epsilon(dtype) / 2, Fraction(1, 2)) * size


def product_allowed(dtype: str, xs: Sequence[Value], truth: Value, more: int = 0) -> Fraction:
    """Return how far a product may be off, where no partial one overflows; `more` are roundings."""
    roundoff, count = unit_roundoff(dtype), len(xs) + more
    if isinstance(truth, tuple):
        # A complex product is off by less than 3 units of its size.
        reach = 3 * count * roundoff * (truth[0].value ** 2 + truth[1].value ** 2)
        size = max(abs(truth[0].value), abs(truth[1].value))
        reach = reach / size if size else reach
    elif isinstance(truth, Real) and truth.size is not None and not truth.is_nan:
        reach = count * roundoff * truth.size
    else:
        reach = Fraction(0)
    # Below the smallest normal number, what is lost does not shrink with the product.
    form = oracle.compute_format(oracle.PARTS.get(dtype, dtype))
    return with_rounding(dtype, truth, reach + count * oracle.two(-form.bias - form.mantissa))


def nearly_tied(dtype: str, count: int, above: bool, seed: object = 0) -> list[Value]:
    """Return positive numbers whose sum is just above, or below, the middle of two neighbours.

    However few digits the dtype has, a sum that is larger by a thousandth, or has lost one of the
    elements, is rounded to the other neighbour: the error shows.
    """
    form = oracle.FORMATS[dtype]
    random = Random(f"nearly tied {dtype} {count} {above} {seed}")
    found = [
        oracle.rounded(form, oracle.real(random.uniform(0.25, 0.5)))
        for _ in range(count - _CORRECTIONS)
    ]
    begun = total(found).value
    step = oracle.unit(form, begun)
    low = (math.floor(begun / step) + 1) * step
    tie = low + half_unit(dtype, low)
    off = oracle.two(
        max(oracle.exponent_of(*tie.as_integer_ratio()) - 12, 1 - form.bias - form.mantissa)
    )
    rest = tie + (off if above else -off) - begun
    for _ in range(_CORRECTIONS):
        one = _at_most(form, rest)
        found.append(one)
        rest -= one.value
    assert rest == 0, (dtype, count, rest)
    random.shuffle(found)
    return list(found)


_CORRECTIONS = 6


def _at_most(form: Format, x: Fraction) -> Real:
    """Return the largest number of a format that is not above a positive one."""
    near = oracle.encode(form, oracle.real(x))
    found = oracle.decode(form, near)
    return found if found.value <= x else oracle.decode(form, near - 1)
