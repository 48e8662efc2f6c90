"""How far results are from the exact ones, in units of the last place (ULP)."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import mpmath
import numpy as np
from numpy.typing import NDArray

from suanzi.accuracy.functions import Function, exactly
from suanzi.status import InternalError
from suanzi.truth.rounding import ROUNDED, Format, round_exact, units

Array = NDArray[np.float64]

_DIGITS = 400
"""Bits of mpmath's numbers: float64's range and more."""
EDGES = (0.5, 0.51, 0.55, 0.6, 0.7, 0.8, 1.0, 1.5, 2.0, 3.0, 4.0, 8.0, 16.0, 64.0, 1024.0)
"""Of the histogram; errors up to 0.5 come first, and those above the last one last."""


@dataclass
class Tally:
    """What was found of a function in a dtype."""

    count: int = 0
    """Results that are numbers: those whose exact value is one, and is in range."""
    worst: float = 0.0
    worst_at: float | None = None
    worst_found: float = 0.0
    total: float = 0.0
    """The sum of errors."""
    wrong: int = 0
    """Results that are not correctly rounded."""
    above_one: int = 0
    histogram: list[int] = field(default_factory=lambda: [0] * (len(EDGES) + 1))
    special: int = 0
    """Wrong NaNs, infinities and signs of zero."""
    special_at: float | None = None
    flushed: int = 0
    """Zeros in place of subnormal numbers."""
    order: int = 0
    """Neighbours in the wrong order, where the function only rises or falls."""
    asymmetric: int = 0
    """Pairs of x and -x whose results differ by more than the sign."""
    disputed: list[tuple[float, float]] = field(default_factory=list)
    """Arguments and results that float64 cannot decide."""

    def add(self, other: Tally) -> None:
        """Take in what was found of other arguments."""
        if other.worst > self.worst or self.worst_at is None:
            self.worst, self.worst_at = other.worst, other.worst_at
            self.worst_found = other.worst_found
        if self.special_at is None:
            self.special_at = other.special_at
        self.histogram = [a + b for a, b in zip(self.histogram, other.histogram, strict=True)]
        self.disputed += other.disputed
        for name in ("count", "total", "wrong", "above_one", "special", "flushed", "order",
                     "asymmetric"):  # fmt: skip
            setattr(self, name, getattr(self, name) + getattr(other, name))

    def mean(self) -> float:
        """Return the mean error."""
        return self.total / self.count if self.count else 0.0


def judged(
    f: Function,
    dtype: str,
    x: Array,
    found: Array,
    exact: Array | None = None,
    rest: Array | None = None,
) -> Tally:
    """Compare results with exact ones, which are computed unless they are given.

    The exact ones are float64; `rest` is what they leave out, in units of the last place.

    >>> from suanzi.accuracy.functions import FUNCTIONS
    >>> x = np.array([1.0, 2.0])
    >>> judged(FUNCTIONS["square"], "float16", x, np.array([1.0, 4.00390625])).worst
    1.0
    """
    form = ROUNDED[dtype]
    tally = Tally()
    if exact is None:
        with np.errstate(all="ignore"):
            exact = np.asarray(f.fast(x))
    unit = units(exact, form)
    with np.errstate(all="ignore"):
        # From here on up, nearest is infinity.
        over = np.abs(exact) >= form.largest + form.widest / 2
        plain = np.isfinite(exact) & ~over
        ordinary = plain & np.isfinite(found)
        error = (found - exact) / unit
        error = np.abs(error if rest is None else error - rest)
    _count_special(f, form, tally, x, found, exact, plain, over)
    here = np.where(ordinary, error, 0.0)
    flushed = ordinary & (found == 0) & (np.abs(exact) >= form.least / 2)
    flushed &= np.abs(exact) < math.ldexp(1.0, form.lowest)
    if flushed.any():
        flushed &= here > 0.5 + 1e-6
        tally.flushed = int(flushed.sum())
        here[flushed] = 0.0
    tally.count = int(ordinary.sum()) - tally.flushed
    if not tally.count:
        return tally
    at = int(np.argmax(here))
    tally.worst, tally.worst_at, tally.worst_found = float(here[at]), float(x[at]), float(found[at])
    tally.total = float(here.sum())
    narrow = 1e-6 if dtype == "float32" else 1e-9
    above = here > 0.5 + narrow
    tally.wrong = int(above.sum())
    tally.above_one = int((here > 1.0).sum())
    tally.histogram = _histogram(here, above, tally.count)
    near = np.flatnonzero(np.abs(here - 0.5) <= narrow)
    tally.disputed = [(float(x[i]), float(found[i])) for i in near]
    return tally


def _histogram(error: Array, above: NDArray[np.bool_], count: int) -> list[int]:
    high = error[above]
    found = np.histogram(high, [0.0, *EDGES[1:], np.inf])[0] if high.size else None
    rest = [0] * len(EDGES) if found is None else [int(n) for n in found]
    return [count - sum(rest), *rest]


def _count_special(
    f: Function,
    form: Format,
    tally: Tally,
    x: Array,
    found: Array,
    exact: Array,
    plain: NDArray[np.bool_],
    over: NDArray[np.bool_],
) -> None:
    limit = form.largest + form.widest / 2
    if not form.infinity:  # what it has no number for may be NaN or the largest
        wrong = plain & np.isnan(found)
        wrong |= np.isnan(exact) & ~np.isnan(found)
    else:
        with np.errstate(all="ignore"):
            due = np.where(over & np.isfinite(exact), np.copysign(np.inf, exact), exact)
        wrong = plain != np.isfinite(found)
        wrong |= ~plain & (np.isnan(due) != np.isnan(found))
        wrong |= np.isinf(due) & np.isinf(found) & (due != found)
    with np.errstate(all="ignore"):  # at the very end of the range, nearest may be either
        wrong &= ~(np.abs(np.abs(exact) - limit) < form.widest * 1e-6)
    zero = (exact == 0) & (found == 0)
    wrong |= zero & (np.signbit(exact) != np.signbit(found))
    if f.limits:
        wrong &= ~np.isinf(x)
    if wrong.any():
        tally.special = int(wrong.sum())
        tally.special_at = float(x[int(np.argmax(wrong))])


def settle(f: Function, dtype: str, tally: Tally) -> None:
    """Decide what float64 could not, and compute the worst error with all digits."""
    with mpmath.workprec(_DIGITS):
        _settle(f, dtype, tally)


def _settle(f: Function, dtype: str, tally: Tally) -> None:
    form = ROUNDED[dtype]
    for x, found in tally.disputed:
        exact = exactly(f, x)
        if not mpmath.isfinite(exact):
            continue
        tally.wrong += int(round_exact(exact, dtype) != found)
    tally.disputed = []
    if tally.worst_at is None or not math.isfinite(tally.worst_at):
        return
    exact = exactly(f, tally.worst_at)
    unit = float(units(np.array([float(exact)]), form)[0])
    worst = float(abs(mpmath.mpf(tally.worst_found) - exact) / mpmath.mpf(unit))
    if abs(worst - tally.worst) > 0.01 + 1e-3 * worst:
        raise InternalError(
            f"accuracy: the reference of {f.name} is wrong at {tally.worst_at.hex()}: an error of "
            f"{tally.worst:.4g} ULP of {dtype} is {worst:.4g} with all digits."
        )
    tally.worst = worst


def exact_values(f: Function, x: Array) -> tuple[Array, Array]:
    """Return exact values rounded to float64, and what that leaves out, in units of the last place.

    >>> from suanzi.accuracy.functions import FUNCTIONS
    >>> value, rest = exact_values(FUNCTIONS["exp"], np.array([1.0]))
    >>> value.tolist(), round(float(rest[0]), 3)
    ([2.718281828459045], 0.326)
    """
    with np.errstate(all="ignore"):
        found = np.array(f.fast(x))
    rest = np.zeros_like(x)
    with mpmath.workprec(_DIGITS):
        for i, at in enumerate(x.tolist()):
            if not math.isfinite(at) or not math.isfinite(found[i]) or found[i] == 0:
                continue
            value = exactly(f, at)
            found[i] = round_exact(value, "float64")
            if math.isfinite(found[i]):
                unit = float(units(found[i : i + 1], ROUNDED["float64"])[0])
                rest[i] = float((value - mpmath.mpf(found[i])) / mpmath.mpf(unit))
    return found, rest
