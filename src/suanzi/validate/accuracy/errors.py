"""How far results are from the exact ones, in units of the last place (ULP)."""

from __future__ import annotations

import math
import threading
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from functools import cache
from typing import Any

import mpmath
import numpy as np
from numpy.typing import NDArray

from suanzi.conformance.subjects import tallies
from suanzi.conformance.subjects.references import NARROW
from suanzi.conformance.subjects.tallies import EDGES
from suanzi.truth.rounding import ROUNDED, round_exact, units
from suanzi.validate.accuracy.functions import Function, exactly

Array = NDArray[np.float64]
At = tuple[float, ...]
"""The arguments of a call."""

_DIGITS = 400
"""Bits of mpmath's numbers: float64's range and more."""
EXACT = threading.RLock()
"""Whoever computes with all digits: the precision of mpmath and of truths is that of a process."""
_ADDED = ("count", "total", "wrong", "above_one", "special", "flushed", "order", "asymmetric",
          "undecided")  # fmt: skip


class WrongReference(Exception):
    """mpmath contradicts the float64 reference of a function."""


@dataclass
class Tally:
    """What was found of a function in a dtype."""

    count: int = 0
    """Results that are numbers: those whose exact value is one, and is in range."""
    worst: float = 0.0
    worst_at: At | None = None
    worst_found: float = 0.0
    total: float = 0.0
    """The sum of errors."""
    wrong: int = 0
    """Results that are not correctly rounded."""
    above_one: int = 0
    histogram: list[int] = field(default_factory=lambda: [0] * (len(EDGES) + 1))
    special: int = 0
    """Wrong NaNs, infinities and signs of zero."""
    special_at: At | None = None
    flushed: int = 0
    """Zeros in place of subnormal numbers, and results of 0 in place of those of subnormal ones."""
    order: int = 0
    """Neighbours in the wrong order, where the function only rises or falls."""
    asymmetric: int = 0
    """Pairs of x and -x whose results differ by more than the sign."""
    disputed: list[tuple[At, float]] = field(default_factory=list)
    """Arguments and results that float64 cannot decide."""
    undecided: int = 0
    """How many more there are, which count as correctly rounded."""
    cases: list[dict[str, Any]] = field(default_factory=list)
    """Of samples: the worst and the mean error by length and condition."""

    def add(self, other: Tally) -> None:
        """Take in what was found of other arguments."""
        if other.worst_at is not None and (self.worst_at is None or other.worst > self.worst):
            self.worst, self.worst_at = other.worst, other.worst_at
            self.worst_found = other.worst_found
        if self.special_at is None:
            self.special_at = other.special_at
        self.histogram = [a + b for a, b in zip(self.histogram, other.histogram, strict=True)]
        self.disputed += other.disputed
        self._add_cases(other)
        for name in _ADDED:
            setattr(self, name, getattr(self, name) + getattr(other, name))

    def _add_cases(self, other: Tally) -> None:
        known = {(one["length"], one["condition"]): one for one in self.cases}
        for one in other.cases:
            same = known.get((one["length"], one["condition"]))
            if same is None:
                self.cases.append(dict(one))
                continue
            whole = same["count"] + one["count"]
            total = same["mean"] * same["count"] + one["mean"] * one["count"]
            same |= {"count": whole, "worst": max(same["worst"], one["worst"]),
                     "mean": total / whole if whole else 0.0}  # fmt: skip

    def mean(self) -> float:
        """Return the mean error."""
        return self.total / self.count if self.count else 0.0

    def to_dict(self) -> dict[str, Any]:
        """Return what was found as plain data, with all digits.

        >>> tally = Tally(3, 0.75, (1.0,), special_at=(-math.inf,))
        >>> Tally.from_dict(tally.to_dict()) == tally
        True
        """
        found = asdict(self) | {"disputed": []}
        for name in ("worst_at", "special_at"):
            at = getattr(self, name)
            found[name] = at and [x.hex() for x in at]
        return found | {"worst_found": self.worst_found.hex()}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Tally:
        """Return a tally that was plain data."""
        found = {one.name: data[one.name] for one in fields(cls)}
        for name in ("worst_at", "special_at"):
            at = found[name]
            found[name] = None if at is None else tuple(map(float.fromhex, at))
        return cls(**found | {"worst_found": float.fromhex(found["worst_found"])})


@cache
def form_of(dtype: str) -> dict[str, Any]:
    """Return a format as what counts errors takes it."""
    form = ROUNDED[dtype]
    return {
        "bits": form.bits, "lowest": form.lowest, "largest": form.largest, "widest": form.widest,
        "infinity": form.infinity,
    }  # fmt: skip


def narrow_of(dtype: str) -> float:
    """Return how near to a tie mpmath decides, in units of the last place."""
    return NARROW if dtype == "float32" else 1e-9


def judged(
    f: Function,
    dtype: str,
    at: tuple[Array, ...],
    found: Array,
    exact: Array | None = None,
    rest: Array | None = None,
) -> Tally:
    """Compare results with exact ones, which are computed unless they are given.

    The exact ones are float64; `rest` is what they leave out, in units of the last place.

    >>> from suanzi.validate.accuracy.functions import FUNCTIONS
    >>> x = np.array([1.0, 2.0])
    >>> judged(FUNCTIONS["square"], "float16", (x,), np.array([1.0, 4.00390625])).worst
    1.0
    """
    if exact is None:
        exact = f.fast(*at)
    gone = _taken_for_zero(f, dtype, at, found, exact) if f.binary else None
    if gone is not None:
        kept = tuple(x[~gone] for x in at)
        rest = None if rest is None else rest[~gone]
        tally = judged(f, dtype, kept, found[~gone], exact[~gone], rest)
        tally.flushed += int(gone.sum())
        return tally
    form: dict[str, Any] = dict(form_of(dtype))
    if dtype == "float64":
        form["units"] = lambda x: units(x, ROUNDED["float64"])
    with np.errstate(all="ignore"):
        counted = tallies.judged(
            np, form, at[0], found, exact, rest=rest, narrow=narrow_of(dtype),
            skip=_unbound(at) if f.limits else None, zero=None if f.binary else f.at_zero,
            most=tallies.MOST if dtype == "float32" else None,
        )  # fmt: skip
    return tally_of(counted, lambda i: tuple(float(x[i]) for x in at), lambda i: float(found[i]))


def _taken_for_zero(
    f: Function, dtype: str, at: tuple[Array, ...], found: Array, exact: Array
) -> NDArray[np.bool_] | None:
    """Return which results are those of operands whose subnormal numbers are zeros."""
    form = ROUNDED[dtype]
    smallest = math.ldexp(1.0, form.lowest)
    small = [(np.abs(x) < smallest) & (x != 0) for x in at]
    some = np.flatnonzero(np.logical_or.reduce(small))
    if not some.size:
        return None
    y, due = found[some], exact[some]
    with np.errstate(all="ignore"):
        other = f.fast(*(np.where(s, 0.0 * x, x)[some] for s, x in zip(small, at, strict=True)))
        near = (np.abs(y - other) <= units(other, form)) | (y == other)
        near |= np.isnan(y) & np.isnan(other)
        number, wanted = np.isfinite(y), np.abs(due) < form.largest + form.widest / 2
        off = number & wanted & (np.abs(y - due) > units(due, form))
        off |= number != wanted
    gone = np.zeros(found.shape, bool)
    gone[some] = near & off
    return gone if gone.any() else None


def _unbound(at: tuple[Array, ...]) -> NDArray[np.bool_]:
    """Return which arguments are infinite."""
    found = np.isinf(at[0])
    for x in at[1:]:
        found |= np.isinf(x)
    return found


def tally_of(counted: Mapping[str, Any], at: Any, found: Any) -> Tally:
    """Return what was counted, with the arguments and results at its positions."""
    given = {name: counted[name] for name in (
        "count", "worst", "total", "wrong", "above_one", "histogram", "special", "flushed",
        "undecided",
    )}  # fmt: skip
    special = counted["special_at"]
    worst = counted["worst_at"] if counted["worst"] > 0 else None
    return Tally(
        **given,
        worst_at=None if worst is None else at(worst),
        worst_found=0.0 if worst is None else found(worst),
        special_at=None if special is None else at(special),
        disputed=[(at(i), found(i)) for i in counted["disputed"]],
    )


def settle(f: Function, dtype: str, tally: Tally) -> None:
    """Decide what float64 could not, and compute the worst error with all digits."""
    with EXACT, mpmath.workprec(_DIGITS):
        _settle(f, dtype, tally)


def _settle(f: Function, dtype: str, tally: Tally) -> None:
    form = ROUNDED[dtype]
    for at, found in tally.disputed:
        exact = exactly(f, *at)
        if not mpmath.isfinite(exact):
            continue
        tally.wrong += int(round_exact(exact, dtype) != found)
    tally.disputed = []
    if tally.worst_at is None or not all(map(math.isfinite, tally.worst_at)):
        return
    exact = exactly(f, *tally.worst_at)
    unit = float(units(np.array([float(exact)]), form)[0])
    worst = float(abs(mpmath.mpf(tally.worst_found) - exact) / mpmath.mpf(unit))
    # Next to a power of 2 the unit of the reference may be twice that of the exact value, or half.
    fraction = abs(math.frexp(float(exact))[0])
    edge = min(fraction - 0.5, 1.0 - fraction) < 1e-9
    steps = (1.0, 2.0, 0.5) if edge else (1.0,)
    if all(abs(worst - step * tally.worst) > 0.01 + 1e-3 * worst for step in steps):
        where = ", ".join(x.hex() for x in tally.worst_at)
        raise WrongReference(
            f"the reference is wrong at {where}: an error of {tally.worst:.4g} ULP is {worst:.4g} "
            "with all digits"
        )
    tally.worst = worst


def exact_values(f: Function, *at: Array) -> tuple[Array, Array]:
    """Return exact values rounded to float64, and what that leaves out, in units of the last place.

    >>> from suanzi.validate.accuracy.functions import FUNCTIONS
    >>> value, rest = exact_values(FUNCTIONS["exp"], np.array([1.0]))
    >>> value.tolist(), round(float(rest[0]), 3)
    ([2.718281828459045], 0.326)
    """
    found = np.array(f.fast(*at))
    rest = np.zeros_like(found)
    some = np.isfinite(found) & (found != 0)
    for x in at:
        some &= np.isfinite(x)
    with EXACT, mpmath.workprec(_DIGITS):
        for i in np.flatnonzero(some):
            value = exactly(f, *(float(x[i]) for x in at))
            found[i] = round_exact(value, "float64")
            if math.isfinite(found[i]):
                unit = float(units(found[i : i + 1], ROUNDED["float64"])[0])
                rest[i] = float((value - mpmath.mpf(found[i])) / mpmath.mpf(unit))
    return found, rest
