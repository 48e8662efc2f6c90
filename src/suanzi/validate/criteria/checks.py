"""What criteria are made of: eight checks of an output, each with numbers per dtype.

A criterion is a file that names checks and their numbers; these classes are the fields of such an
entry, and what it means. A check says whether it is met, in which words, and at which element it
comes closest to failing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from suanzi.validate.criteria.numbers import Reals, fraction_bits, rounded, smallest_normal, ulp

Plain = float | str
Amount = float | str | dict[str, Plain]
"""A number, also as ``2^-10`` or ``1/1024``, for all dtypes or by dtype and level."""


class Inapplicable(Exception):
    """A criterion cannot be applied; the message says what it needs."""


@dataclass(frozen=True)
class Given:
    """An output, what it should be, and what else some criteria need."""

    actual: Reals
    expected: Reals
    dtype: str
    level: str = ""
    n: int | None = None
    magnitude: Reals | None = None
    eager: Reals | None = None
    inputs: Reals | None = None

    def need(self, name: str) -> Any:
        """Return an optional input, or say that the criterion cannot do without it."""
        found = getattr(self, name)
        if found is None:
            raise Inapplicable(f"needs {_NEEDED[name]} ({name}=)")
        return found


_NEEDED = {
    "n": "the length of the reduction",
    "magnitude": "the sum of the magnitudes of the products",
    "eager": "eager's output for the same inputs",
    "inputs": "the input that each element was computed from",
}


@dataclass(frozen=True)
class Finding:
    """What a check found: whether it is met, and where it comes closest to failing."""

    passed: bool
    text: str
    measured: float
    allowed: float
    index: tuple[int, ...] | None = None


def number(text: Plain) -> float:
    """Read a number of a file: 1e-3, ``2^-10`` or ``1/1024``.

    >>> number("2^-10"), number("1/1024"), number(0.016)
    (0.0009765625, 0.0009765625, 0.016)
    """
    if not isinstance(text, str):
        return float(text)
    base, power, exponent = text.partition("^")
    if power:
        return float(float(base) ** int(exponent))
    over, _, under = text.partition("/")
    return float(over) / float(under or 1)


def shown(given: Plain) -> str:
    """Return a number as a rule shows it: as its file writes it."""
    return given if isinstance(given, str) else f"{given:g}"


def amount(given: Amount, dtype: str, level: str = "") -> Plain:
    """Return the number for a dtype, or for a level, as its file writes it."""
    if not isinstance(given, dict):
        return given
    for key in (level, dtype, "other"):
        if key in given:
            return given[key]
    raise Inapplicable(f"has no number for {dtype}; it has {', '.join(given)}")


def differences(given: Given, equal_nan: bool = True) -> Reals:
    """Return the absolute errors; equal infinities have none, other infinities and NaN all."""
    a, e = given.actual, given.expected
    with np.errstate(all="ignore"):
        off = np.abs(a - e)
        same = (a == e) | (np.isnan(a) & np.isnan(e) & equal_nan)
        return np.where(same, 0.0, np.where(np.isfinite(a) & np.isfinite(e), off, np.inf))


def _worst(error: Reals, allowed: Reals) -> tuple[tuple[int, ...] | None, float]:
    """Return the index of the element that is furthest beyond, and how many times."""
    if not error.size:
        return None, 0.0
    with np.errstate(all="ignore"):
        times = np.where(error == 0, 0.0, error / allowed)
    times = np.where(np.isnan(times), np.inf, times)
    at = np.unravel_index(int(np.argmax(times)), error.shape)
    return tuple(map(int, at)), float(times[at])


def _elements(given: Given, error: Reals, allowed: Reals, share: float, rule: str) -> Finding:
    """Return whether the required share of elements is within what is allowed."""
    beyond = error > allowed
    count, total = int(beyond.sum()), max(error.size, 1)
    index, times = _worst(error, np.broadcast_to(allowed, error.shape))
    matched = 1 - count / total
    text = f"{count:,} of {error.size:,} elements violate {rule}"
    if count == 0:
        text = f"every element satisfies {rule}"
    elif matched >= share:
        text += f"; {1 - share:.2%} may"
    elif index is not None:
        a, e = given.actual[index], given.expected[index]
        text += f"; worst at {_at(index)}: {a:.6g} for {e:.6g}, {times:.3g} times what is allowed"
    return Finding(matched >= share, text, times, 1.0, index)


def _at(index: tuple[int, ...]) -> str:
    return str(index[0]) if len(index) == 1 else str(index)


def _of(share: float) -> str:
    return "" if share == 1 else f" for {share * 100:g} % of the elements"


@dataclass(frozen=True)
class Close:
    """Elements are within atol + rtol |expected|, or within one of the two."""

    title: ClassVar[str] = "close"
    rtol: Amount
    atol: Amount
    times_n: bool = False
    """Whether atol is multiplied by the length of the reduction."""
    relative_to: Literal["expected", "actual"] = "expected"
    either: bool = False
    """Whether one of atol and rtol is enough, instead of their sum."""
    share: Amount = 1.0
    """The share of elements that must be within."""
    equal_nan: bool = True
    """Whether NaN is right where NaN is expected."""

    @property
    def needs(self) -> tuple[str, ...]:
        """What it needs besides the output and what is expected."""
        return ("n",) if self.times_n else ()

    def rule(self, dtype: str, level: str = "") -> str:
        """Return the rule in a line."""
        r, a = (shown(amount(x, dtype, level)) for x in (self.rtol, self.atol))
        share = number(amount(self.share, dtype, level))
        absolute = f"{a} n" if self.times_n else a
        if self.either:
            return f"error <= {absolute} or error <= {r} |{self.relative_to}|{_of(share)}"
        return f"error <= {absolute} + {r} |{self.relative_to}|{_of(share)}"

    def apply(self, given: Given) -> Finding:
        """Check an output."""
        at = (given.dtype, given.level)
        rtol, atol = number(amount(self.rtol, *at)), number(amount(self.atol, *at))
        share = number(amount(self.share, *at))
        if self.times_n:
            atol *= given.need("n")
        scale = given.expected if self.relative_to == "expected" else given.actual
        relative = rtol * np.where(np.isfinite(scale), np.abs(scale), 0.0)
        allowed = np.maximum(relative, atol) if self.either else atol + relative
        rule = self.rule(*at)
        return _elements(given, differences(given, self.equal_nan), allowed, share, rule)


@dataclass(frozen=True)
class Largest:
    """No error is beyond an absolute limit, or beyond some ULP of the expected value."""

    title: ClassVar[str] = "largest"
    needs: ClassVar[tuple[str, ...]] = ()
    absolute: Amount
    ulps: Amount = 0.0

    def rule(self, dtype: str, level: str = "") -> str:
        """Return the rule in a line."""
        limit, ulps = (shown(amount(x, dtype, level)) for x in (self.absolute, self.ulps))
        return f"largest error <= {limit} or {ulps} ULP"

    def apply(self, given: Given) -> Finding:
        """Check an output."""
        at = (given.dtype, given.level)
        ulps = number(amount(self.ulps, *at)) * ulp(given.expected, given.dtype)
        allowed = np.maximum(number(amount(self.absolute, *at)), ulps)
        return _elements(given, differences(given), allowed, 1.0, self.rule(*at))


@dataclass(frozen=True)
class Ulps:
    """Elements are within some ULP, which may grow with n or with the input."""

    title: ClassVar[str] = "ulps"
    ulps: Amount
    per_n: float = 0.0
    """How many ULP more for each element of the reduction."""
    per_input: float = 0.0
    """How many ULP more for each unit of the input's magnitude."""
    least: float = 0.0
    """An error of so many ULP of 1.0 is always allowed."""

    @property
    def needs(self) -> tuple[str, ...]:
        """What it needs besides the output and what is expected."""
        return (*(("n",) if self.per_n else ()), *(("inputs",) if self.per_input else ()))

    def rule(self, dtype: str, level: str = "") -> str:
        """Return the rule in a line."""
        fixed = shown(amount(self.ulps, dtype, level))
        parts = [fixed] if fixed != "0" or not self.per_n else []
        parts += [f"{self.per_n:g} n"] if self.per_n else []
        parts += [f"{self.per_input:g} |input|"] if self.per_input else []
        always = f", or {self.least:g} ULP of 1" if self.least else ""
        ulps = " + ".join(parts)
        return f"error <= {f'({ulps})' if len(parts) > 1 else ulps} ULP{always}"

    def apply(self, given: Given) -> Finding:
        """Check an output."""
        ulps: Any = number(amount(self.ulps, given.dtype, given.level))
        if self.per_n:
            ulps = ulps + self.per_n * given.need("n")
        if self.per_input:
            ulps = ulps + self.per_input * np.abs(given.need("inputs"))
        allowed = ulps * ulp(given.expected, given.dtype)
        allowed = np.maximum(allowed, self.least * 2.0 ** -fraction_bits(given.dtype))
        rule = self.rule(given.dtype, given.level)
        return _elements(given, differences(given), allowed, 1.0, rule)


@dataclass(frozen=True)
class Relative:
    """The mean and the largest relative error are below a threshold and a multiple of it."""

    title: ClassVar[str] = "relative"
    needs: ClassVar[tuple[str, ...]] = ()
    mean: Amount
    largest_times: float
    epsilon: float

    def rule(self, dtype: str, level: str = "") -> str:
        """Return the rule in a line."""
        limit = shown(amount(self.mean, dtype, level))
        return (
            f"mean of error / (|expected| + {self.epsilon:g}) < {limit}, "
            f"largest < {self.largest_times:g} times that"
        )

    def apply(self, given: Given) -> Finding:
        """Check an output."""
        limit = number(amount(self.mean, given.dtype, given.level))
        relative = _relative(given.actual, given, self.epsilon)
        mean, largest = _mean(relative), float(relative.max(initial=0.0))
        index, _ = _worst(relative, np.ones_like(relative))
        passed = mean < limit and largest < self.largest_times * limit
        text = (
            f"mean relative error {mean:.3g}, allowed {limit:.3g}; "
            f"largest {largest:.3g}, allowed {self.largest_times * limit:.3g}"
        )
        times = max(mean, largest / self.largest_times) / limit
        return Finding(passed, text, times, 1.0, index)


def _relative(actual: Reals, given: Given, epsilon: float) -> Reals:
    error = differences(Given(actual, given.expected, given.dtype))
    finite = np.where(np.isfinite(given.expected), np.abs(given.expected), 0.0)
    found: Reals = error / (finite + epsilon)
    return found


def _mean(x: Reals) -> float:
    return float(x.mean()) if x.size else 0.0


@dataclass(frozen=True)
class Cosine:
    """The cosine of the angle between output and expected output is large enough."""

    title: ClassVar[str] = "cosine"
    needs: ClassVar[tuple[str, ...]] = ()
    least: float

    def rule(self, dtype: str, level: str = "") -> str:
        """Return the rule in a line."""
        return f"cosine similarity >= {self.least:g}"

    def apply(self, given: Given) -> Finding:
        """Check an output."""
        a, e = given.actual.ravel(), given.expected.ravel()
        with np.errstate(all="ignore"):
            lengths = math.sqrt(float(a @ a)) * math.sqrt(float(e @ e))
            cosine = float(a @ e) / lengths if lengths else float(np.array_equal(a, e))
        passed = cosine >= self.least  # NaN is not
        text = f"cosine similarity {cosine:.6g}, required {self.least:g}"
        return Finding(passed, text, 1 - cosine, 1 - self.least)


@dataclass(frozen=True)
class TimesEager:
    """The largest error is at most a multiple of eager's own, and a little more."""

    title: ClassVar[str] = "times-eager"
    needs: ClassVar[tuple[str, ...]] = ("eager",)
    factor: Amount
    shift: float
    """The error of adding and subtracting this number in the dtype, twice, is also allowed."""

    def rule(self, dtype: str, level: str = "") -> str:
        """Return the rule in a line."""
        factor = shown(amount(self.factor, dtype, level))
        more = f"2 times the largest rounding error of x + {self.shift:g} - {self.shift:g}"
        return f"largest error <= {factor} times eager's, plus {more}"

    def apply(self, given: Given) -> Finding:
        """Check an output."""
        eager = Given(given.need("eager"), given.expected, given.dtype)
        there = rounded(given.expected + self.shift, given.dtype)
        noise = np.abs(rounded(there - self.shift, given.dtype) - given.expected)
        error, others = differences(given), differences(eager)
        factor = number(amount(self.factor, given.dtype, given.level))
        allowed = factor * float(others.max(initial=0.0)) + 2 * float(noise.max(initial=0.0))
        largest = float(error.max(initial=0.0))
        index, _ = _worst(error, np.ones_like(error))
        text = f"largest error {largest:.3g}, allowed {allowed:.3g} (eager's {others.max():.3g})"
        return Finding(largest <= allowed, text, largest, allowed, index)


@dataclass(frozen=True)
class Ratios:
    """Three kinds of error are at most multiples of those of another implementation."""

    title: ClassVar[str] = "ratios"
    needs: ClassVar[tuple[str, ...]] = ("eager",)
    largest: Amount
    mean: Amount
    rms: Amount
    epsilon: float
    small: Amount
    """Expected values below this are not measured relatively: their errors are counted."""
    small_error: Amount
    counts: float
    """How many times as many small values may be wrong."""

    def rule(self, dtype: str, level: str = "") -> str:
        """Return the rule in a line."""
        numbers = (shown(amount(x, dtype, level)) for x in (self.largest, self.mean, self.rms))
        names = ("largest relative error", "mean relative error", "RMS error")
        parts = (f"{name} <= {x}" for name, x in zip(names, numbers, strict=True))
        return f"{', '.join(parts)} times the other implementation's; small values are counted"

    def apply(self, given: Given) -> Finding:
        """Check an output."""
        at = (given.dtype, given.level)
        other = given.need("eager")
        small = np.abs(given.expected) < number(amount(self.small, *at))
        mine, theirs = (self._errors(x, given, ~small) for x in (given.actual, other))
        limits = [number(amount(x, *at)) for x in (self.largest, self.mean, self.rms)]
        ratios = [_ratio(m, t) for m, t in zip(mine, theirs, strict=True)]
        enough = number(amount(self.small_error, *at))
        counts = [
            int((differences(Given(x, given.expected, given.dtype)) > enough)[small].sum())
            for x in (given.actual, other)
        ]
        ratios.append(counts[0] / max(counts[1], 1))
        limits.append(self.counts)
        names = ("largest relative", "mean relative", "RMS", "small values")
        text = ", ".join(
            f"{name} {r:.3g} times (allowed {x:g})"
            for name, r, x in zip(names, ratios, limits, strict=True)
        )
        times = max(r / x for r, x in zip(ratios, limits, strict=True))
        return Finding(times <= 1, f"errors against the other implementation's: {text}", times, 1.0)

    def _errors(self, actual: Reals, given: Given, where: Any) -> tuple[float, float, float]:
        relative = _relative(actual, given, self.epsilon)[where]
        error = differences(Given(actual, given.expected, given.dtype))[where]
        rms = math.sqrt(float((error * error).mean())) if error.size else 0.0
        return float(relative.max(initial=0.0)), _mean(relative), rms


def _ratio(mine: float, theirs: float) -> float:
    if mine == 0:
        return 0.0
    return mine / theirs if theirs else math.inf


@dataclass(frozen=True)
class Dot:
    """Errors of dot products are bounded by their length and the magnitudes of their products."""

    title: ClassVar[str] = "dot"
    needs: ClassVar[tuple[str, ...]] = ("n", "magnitude")
    factor: Amount
    """How many half ULP of the sum of magnitudes, for each accumulation."""
    variance: float
    """How many of these, squared, on average."""
    accumulate: dict[str, str]
    """The dtype of the sum, by dtype of the output."""

    def rule(self, dtype: str, level: str = "") -> str:
        """Return the rule in a line."""
        factor = shown(amount(self.factor, dtype, level))
        bits = (fraction_bits(self._sum_of(dtype)) - fraction_bits(dtype)) / 2
        count = f"ceil(n / 2^{bits:g})" if bits else "n"
        return (
            f"error <= {factor} k u S and mean of (error / u S)^2 <= {self.variance:g} k, where "
            f"k = {count}, S is the sum of the products' magnitudes and u = half an ULP of 1"
        )

    def _sum_of(self, dtype: str) -> str:
        if dtype not in self.accumulate:
            raise Inapplicable(f"has no number for {dtype}; it has {', '.join(self.accumulate)}")
        return self.accumulate[dtype]

    def apply(self, given: Given) -> Finding:
        """Check an output."""
        bits = fraction_bits(given.dtype)
        wider = fraction_bits(self._sum_of(given.dtype)) - bits
        k = math.ceil(given.need("n") / 2 ** (wider / 2))
        unit = np.maximum(
            given.need("magnitude") * 2.0 ** (-1 - bits), smallest_normal(given.dtype)
        )
        error = differences(given)
        factor = number(amount(self.factor, given.dtype, given.level))
        found = _elements(given, error, factor * k * unit, 1.0, self.rule(given.dtype))
        mean = _mean((error / unit) ** 2)
        if found.passed and mean > self.variance * k:
            text = f"mean squared error {mean:.3g} units, allowed {self.variance * k:.3g}"
            return Finding(False, text, mean, self.variance * k, found.index)
        return found


Check = Close | Largest | Ulps | Relative | Cosine | TimesEager | Ratios | Dot
CHECKS: dict[str, type[Check]] = {
    one.title: one for one in (Close, Largest, Ulps, Relative, Cosine, TimesEager, Ratios, Dot)
}
