"""7.2.1.7 to .11: properties of random numbers.

Each statistic of a right generator is beyond its limit less often than once in 3 * 10**13 times
(``2 * exp(-32)``), so that one run, which looks at fewer than 3,000, is wrong about a right
generator less often than once in 10**9 runs. Means of bounded numbers have Hoeffding's limit,
``(b - a) * sqrt(32 / (2 * n))``; of normal numbers, the mean has 8 standard errors and the variance
Laurent and Massart's limit. To them comes what rounding to the dtype may move. Sums are exact.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import isqrt
from typing import Any

from suanzi.conformance.judging.checks import check
from suanzi.conformance.judging.checks.examples import form
from suanzi.conformance.judging.judge import show
from suanzi.conformance.model.data import raw_bits, values
from suanzi.conformance.model.numbers import FORMATS, PARTS, real, two, unit
from suanzi.conformance.subjects.wire import ITEMSIZE, Data

_CHANCE = 32
"""The logarithm of how seldom a limit is passed."""
_SIGMAS = 8
_FARTHEST = 10
_WITHIN_ONE_DEVIATION = Fraction(6827, 10000)
_OFTEN = 560
"""Of so many normal numbers, none is 1.9 deviations off once in 2 * 10**14 times."""
SHUFFLED = 20
"""So many elements are in order by chance once in 20! times."""
_ENOUGH = 100
"""Of fewer numbers, moments say nothing."""

Arguments = Mapping[str, Any]
Facts = Mapping[str, Any]


# ---- numbers as integers -------------------------------------------------------------------------


def _parts(data: Data) -> tuple[list[list[int]], Fraction] | None:
    """Return the real and imaginary parts as multiples of a grain, and the grain; None with NaN.

    The grain is an eighth of the smallest number, so that quarters of ranges are whole, too.
    """
    part = PARTS.get(data.dtype, data.dtype)
    if part not in FORMATS:
        return [[8 * x for x in values(data) if isinstance(x, int)]], Fraction(1, 8)
    form = FORMATS[part]
    found: list[int] = []
    for bits in raw_bits(data):
        size = bits & (2 ** (form.bits - 1) - 1)
        if size > form.largest:
            return None
        field, fraction = size >> form.mantissa, size & (2**form.mantissa - 1)
        whole = (fraction + 2**form.mantissa) << (field + 2) if field else 8 * fraction
        found.append(-whole if bits >> (form.bits - 1) else whole)
    grain = two(1 - form.bias - form.mantissa - 3)
    return ([found[::2], found[1::2]] if data.dtype in PARTS else [found]), grain


_BLOCK = 64
"""Of so many elements, even of two values, another block has the same once in 10**19 times."""


def _again(data: Data) -> str | None:
    """Tell which block of numbers comes once more: a stream that begins anew."""
    size = _BLOCK * ITEMSIZE[data.dtype]
    seen: dict[bytes, int] = {}
    for start in range(0, len(data.raw) - size + 1, size):
        before = seen.setdefault(data.raw[start : start + size], start)
        if before != start:
            item = ITEMSIZE[data.dtype]
            return (
                f"the numbers from index {start // item} repeat those from index {before // item}"
            )
    return None


def _ulp(dtype: str, size: Fraction) -> Fraction:
    """Return the distance of neighbours at a size; integers are not rounded."""
    part = PARTS.get(dtype, dtype)
    return unit(FORMATS[part], size) if part in FORMATS else Fraction(0)


def _grains(x: Any, grain: Fraction) -> int:
    whole = Fraction(x) / grain
    assert whole.denominator == 1, "bounds are numbers of the dtype"
    return whole.numerator


def beyond(found: Fraction, wanted: Fraction, width: Fraction, count: int, slack: Fraction) -> bool:
    """Tell whether a mean of numbers from a range of this width is off by more than chance."""
    off = max(abs(found - wanted) - slack, Fraction(0))
    return off * off * 2 * count > width * width * _CHANCE


def _float(x: Fraction) -> str:
    return show(real(x))


# ---- uniform -------------------------------------------------------------------------------------


@check
def uniform(arguments: Arguments, outputs: Sequence[Any], facts: Facts) -> str | None:
    """Numbers from `low` to `high`, each a number for each part; if it is `open`, below that, E28.

    Rounding reaches the end so seldom in most ranges that a verdict would depend on chance.
    """
    problem = form(outputs[0], facts)
    if problem:
        return problem
    taken = _parts(outputs[0])
    if taken is None:
        return "an element is not finite"
    parts, grain = taken
    if facts["low"] != facts["high"] and (problem := _again(outputs[0])):
        return problem
    ranges = [
        _Range(_grains(low, grain), _grains(high, grain), grain, facts["dtype"], facts["open"])
        for low, high in zip(facts["low"], facts["high"], strict=True)
    ]
    for part, within in zip(parts, ranges, strict=True):
        problem = within.problem(part)
        if problem:
            return problem
    return _together(parts, ranges)


@dataclass(frozen=True)
class _Range:
    """Where uniform numbers lie, in grains."""

    low: int
    high: int
    grain: Fraction
    dtype: str
    open_end: bool

    @property
    def whole(self) -> bool:
        return self.dtype not in FORMATS and self.dtype not in PARTS

    @property
    def width(self) -> int:
        return self.high - self.low

    @property
    def slack(self) -> Fraction:
        """How far rounding moves a number at most, in grains."""
        return _ulp(self.dtype, max(abs(self.low), abs(self.high)) * self.grain) / self.grain

    def show(self, x: Fraction | int) -> str:
        return _float(x * self.grain)

    def problem(self, part: list[int]) -> str | None:
        """Return what is wrong with the numbers, if anything is."""
        for x in (min(part), max(part)) if part else ():
            if not self.low <= x <= self.high or (self.open_end and x == self.high):
                end = ")" if self.open_end else "]"
                return (
                    f"{self.show(x)} is not in [{self.show(self.low)}, {self.show(self.high)}{end}"
                )
        if len(part) < SHUFFLED or not self.width:
            return None
        return self._moments(part) or self._quarters(part) or self._each(part)

    def _moments(self, part: list[int]) -> str | None:
        count, width, slack = len(part), Fraction(self.width), self.slack
        mean, middle = Fraction(sum(part), count), (self.low + self.high) // 2
        if beyond(mean, Fraction(middle), width, count, slack):
            return f"the mean is {self.show(mean)}, not about {self.show(middle)}"
        square = Fraction(sum((x - middle) ** 2 for x in part), count)
        variance = ((width + 8) ** 2 - 64) / 12 if self.whole else width * width / 12
        if beyond(square, variance, width * width / 4, count, width * slack + slack * slack):
            found, right = (_float(x * self.grain * self.grain) for x in (square, variance))
            return f"the variance is {found}, not about {right}"
        return None

    def _quarters(self, part: list[int]) -> str | None:
        """Count what is in each quarter of the range."""
        width = self.width + (8 if self.whole else 0)
        ends = [self.low + width * k // 4 for k in range(5)]
        for a, b in pairwise(ends):
            share = Fraction(sum(a <= x < b for x in part), len(part))
            # Integers are every eighth grain.
            chance = Fraction(-(-b // 8) - -(-a // 8), width // 8) if self.whole else Fraction(1, 4)
            if beyond(share, chance, Fraction(1), len(part), 2 * self.slack / width):
                return (
                    f"{float(share):.3f} of the numbers, not about {float(chance):.3f}, are from "
                    f"{self.show(a)} to {self.show(b)}"
                )
        return None

    def _each(self, part: list[int]) -> str | None:
        """Tell which of a few integers never comes."""
        if not self.whole or self.width > 8 * 16 or len(part) < 1000:
            return None
        missing = set(range(self.low, self.high + 1, 8)) - set(part)
        return f"{self.show(min(missing))} never occurs" if missing else None


def _together(parts: list[list[int]], ranges: list[_Range]) -> str | None:
    """Tell whether the parts of complex numbers go with each other."""
    if len(parts) < 2 or len(parts[0]) < SHUFFLED:
        return None
    a, b = ranges
    covariance = _covariance(parts, (a.low + a.high) // 2, (b.low + b.high) // 2)
    slack = a.width * b.slack + b.width * a.slack
    width = Fraction(a.width * b.width, 2)
    if beyond(covariance, Fraction(0), width, len(parts[0]), slack):
        return _linked(covariance, a.grain)
    return None


def _covariance(parts: list[list[int]], first: int, second: int) -> Fraction:
    total = sum((x - first) * (y - second) for x, y in zip(*parts, strict=True))
    return Fraction(total, len(parts[0]))


def _linked(covariance: Fraction, grain: Fraction) -> str:
    size = _float(covariance * grain * grain)
    return f"real and imaginary parts are correlated: their covariance is {size}"


# ---- normal --------------------------------------------------------------------------------------


@check
def normal(arguments: Arguments, outputs: Sequence[Any], facts: Facts) -> str | None:
    """Numbers about `mean`, one for each part, of a deviation whose square is `variance`."""
    problem = form(outputs[0], facts)
    if problem:
        return problem
    taken = _parts(outputs[0])
    if taken is None:
        return "an element is not finite"
    parts, grain = taken
    if facts["variance"] and (problem := _again(outputs[0])):
        return problem
    bells = [
        _Bell(_grains(mean, grain), facts["variance"] / grain / grain, grain, facts["dtype"])
        for mean in facts["mean"]
    ]
    for part, bell in zip(parts, bells, strict=True):
        problem = bell.problem(part)
        if problem:
            return problem
    count, variance = len(parts[0]), bells[0].variance
    if len(parts) > 1 and variance and count >= _ENOUGH:
        covariance = _covariance(parts, bells[0].mean, bells[1].mean)
        # A product of two normal numbers is the difference of two squares of half their variance.
        limit = variance * (_spread(count) + 4 * _ulp(facts["dtype"], Fraction(1)))
        if abs(covariance) > limit:
            return _linked(covariance, grain)
    return None


def _spread(count: int) -> Fraction:
    """Return how far a mean of squares may be above 1."""
    return 2 * _root(Fraction(_CHANCE, count)) + Fraction(2 * _CHANCE, count)


def _root(x: Fraction) -> Fraction:
    """Return the square root, or slightly more."""
    return Fraction(isqrt(x.numerator * 10**12 // x.denominator) + 1, 10**6)


@dataclass(frozen=True)
class _Bell:
    """A normal distribution, in grains."""

    mean: int
    variance: Fraction
    grain: Fraction
    dtype: str

    def show(self, x: Fraction | int) -> str:
        return _float(x * self.grain)

    def _moved(self, x: int) -> int:
        """Return how far rounding moves a number at most."""
        return (abs(x) >> (FORMATS[PARTS.get(self.dtype, self.dtype)].mantissa + 1)) + 8

    def problem(self, part: list[int]) -> str | None:
        """Return what is wrong with the numbers, if anything is."""
        most = isqrt(int(self.variance)) * _FARTHEST
        for x in (min(part), max(part)) if part else ():
            if abs(x - self.mean) > most + self._moved(x):
                if not self.variance:
                    return f"{self.show(x)}, not {self.show(self.mean)}"
                return f"{self.show(x)} is {_FARTHEST} deviations from {self.show(self.mean)}"
        if len(part) < _ENOUGH or not self.variance:
            return None
        return self._moments(part) or self._shares(part)

    def _moments(self, part: list[int]) -> str | None:
        count, off = len(part), [x - self.mean for x in part]
        moved = [self._moved(x) for x in part]
        mean = Fraction(sum(off), count)
        rest = max(abs(mean) - Fraction(sum(moved), count), Fraction(0))
        if rest * rest * count > _SIGMAS**2 * self.variance:
            return f"the mean is {self.show(mean + self.mean)}, not about {self.show(self.mean)}"
        square = Fraction(sum(x * x for x in off), count)
        slack = sum((2 * abs(x) + m) * m for x, m in zip(off, moved, strict=True))
        above = self.variance * (1 + _spread(count)) + Fraction(slack, count)
        below = self.variance * (1 - 2 * _root(Fraction(_CHANCE, count))) - Fraction(slack, count)
        if below <= square <= above:
            return None
        found, right = (_float(x * self.grain * self.grain) for x in (square, self.variance))
        return f"the variance is {found}, not about {right}"

    def _shares(self, part: list[int]) -> str | None:
        """Count what is within one deviation, and on either side of the mean."""
        count, deviation = len(part), isqrt(int(self.variance))
        ulp = _ulp(self.dtype, (abs(self.mean) + deviation) * self.grain) / self.grain
        slack = ulp / deviation + Fraction(1, 1000)
        near = sum(abs(x - self.mean) <= deviation for x in part)
        below, above = sum(x < self.mean for x in part), sum(x > self.mean for x in part)
        shares = [
            ("within one deviation", near, _WITHIN_ONE_DEVIATION, True),
            ("below the mean", below, Fraction(1, 2), False),
            ("above the mean", above, Fraction(1, 2), False),
        ]
        for what, number, chance, both_ways in shares:
            share = Fraction(number, count)
            if (both_ways or share > chance) and beyond(share, chance, Fraction(1), count, slack):
                return f"{float(share):.3f} of the numbers, not {float(chance):.3f}, are {what}"
        far = Fraction(19, 10) * deviation - ulp
        if count >= _OFTEN and all(abs(x - self.mean) < far for x in part):
            return "no number is two deviations from the mean"
        return None
