"""Reductions, softmax and norms, by samples: the error against the length and the condition.

The truth is the definition of `suanzi.truth`: float64 with a bound of its error, and mpmath where
that bound is above a thousandth of a unit in the last place.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suanzi import truth
from suanzi.conformance.subjects import tallies
from suanzi.truth.rounding import ROUNDED, units
from suanzi.truth.tracked import Tracked, arithmetic, tracked
from suanzi.validate.accuracy.errors import EXACT, Tally, form_of, tally_of
from suanzi.validate.accuracy.inputs import Bits, values
from suanzi.validate.accuracy.pairs import bits_of_values

Array = NDArray[np.float64]
Operands = dict[str, Array]
ROWS = {16: 64, 256: 32, 4096: 8, 65536: 2}
"""How many rows of each length are tried."""
_LONGEST = {"float64": 4096, "float8_e4m3fn": 256, "float8_e5m2": 256}
"""Of float64, since every element is computed with all digits; of float8, since sums overflow."""
_CERTAIN = 1e-3
"""How far off a truth may be, in units of the last place."""


@dataclass(frozen=True)
class Sampled:
    """An operator on rows of numbers."""

    name: str
    key: str
    make: Callable[[np.random.Generator, int, int, float, str], Operands]
    """Makes operands: rows, their length, the condition, the dtype."""
    given: Callable[[int], dict[str, Any]]
    """The other arguments, by the length."""
    conditions: tuple[float, ...]
    condition: str
    """What the condition is, in words."""
    definition: Callable[..., Tracked] | None = None
    floor: float = 0.0
    """The error is in units of this number where the result is smaller."""
    one_row: bool = False
    """Whether a call takes one row."""

    def defined(self, operands: Mapping[str, Any], given: Mapping[str, Any]) -> Tracked:
        """Return the truth, of numbers that carry their error."""
        found: Any = (self.definition or truth.definition(self.key))(**operands, **given)
        assert isinstance(found, Tracked)
        return found


@dataclass(frozen=True)
class Case:
    """Rows of one length and condition."""

    length: int
    condition: float
    operands: dict[str, Bits]
    given: dict[str, Any]


def _cancelling(random: np.random.Generator, rows: int, n: int, condition: float) -> Array:
    """Return rows whose sum of magnitudes is about `condition` times that of their sum."""
    x = random.uniform(0.5, 1.5, (rows, n))
    if condition == 1:
        return x
    half = (n - 4) // 2
    x[:, half : 2 * half] = -x[:, :half]
    x[:, 2 * half :] *= n / (n - 2 * half) / condition
    return np.asarray(random.permuted(x, axis=1))


def _summed(
    random: np.random.Generator, rows: int, n: int, condition: float, dtype: str
) -> Operands:
    scale = 1.0 if ROUNDED[dtype].largest > 1e6 else 2.0 ** min(0, 8 - math.log2(n))
    return {"input": _cancelling(random, rows, n, condition) * scale}


def _multiplied(
    random: np.random.Generator, rows: int, n: int, condition: float, dtype: str
) -> Operands:
    scale = 1.0 if ROUNDED[dtype].largest > 1e6 else 2.0 ** min(0, 8 - math.log2(n))
    signs = 2.0 ** random.integers(-1, 2, (rows, n))  # exact, so that products cancel
    return {"vec1": _cancelling(random, rows, n, condition) * scale * signs, "vec2": 1 / signs}


def _shifted(name: str) -> Callable[..., Operands]:
    def make(
        random: np.random.Generator, rows: int, n: int, condition: float, dtype: str
    ) -> Operands:
        return {name: random.normal(condition, 1.0, (rows, n))}

    return make


def _spread(
    random: np.random.Generator, rows: int, n: int, condition: float, dtype: str
) -> Operands:
    return {"x": random.uniform(-condition / 2, condition / 2, (rows, n))}


def _scaled(name: str) -> Callable[..., Operands]:
    def make(
        random: np.random.Generator, rows: int, n: int, condition: float, dtype: str
    ) -> Operands:
        form = ROUNDED[dtype]
        size = math.log2(form.largest) if condition > 0 else -form.lowest
        scale = 2.0 ** (condition * size - (math.log2(n) / 2 + 2 if condition > 0 else 0))
        return {name: random.normal(0.0, 1.0, (rows, n)) * scale}

    return make


def _var(x: Tracked) -> Tracked:
    away = x - x.mean(-1, True)
    return (away * away).mean(-1)


_CANCELLATION = "sum of magnitudes over the magnitude of the sum"
_OFFSET = "mean over standard deviation"
_RANGE = "range of the arguments"
_SIZE = "size: 0 is 1, 1 the largest number, -1 the smallest normal one"
_ALL = (
    Sampled("sum", "reduce", _summed, lambda n: {"mode": "SUM", "axis": [1]}, (1, 1e3, 1e6),
            _CANCELLATION),
    Sampled("mean", "reduce", _summed, lambda n: {"mode": "MEAN", "axis": [1]}, (1, 1e3, 1e6),
            _CANCELLATION),
    Sampled("var", "more:var", _shifted("x"), lambda n: {}, (0, 10, 1000), _OFFSET, _var),
    Sampled("norm", "norm", _scaled("input"), lambda n: {"normtype": "2", "axis": [1]},
            (0, 0.9, -0.9), _SIZE),
    Sampled("dot", "dot", _multiplied, lambda n: {}, (1, 1e3, 1e6), _CANCELLATION, one_row=True),
    Sampled("softmax", "nn:softmax", _spread, lambda n: {"axis": -1}, (1, 10, 100), _RANGE),
    Sampled("log_softmax", "nn:log_softmax", _spread, lambda n: {"axis": -1}, (1, 10, 100), _RANGE,
            floor=1.0),
    Sampled("layer_norm", "nn:layer_norm", _shifted("x"), lambda n: {"normalized_shape": [n]},
            (0, 10, 1000), _OFFSET, floor=1.0),
    Sampled("rms_norm", "nn:rms_norm", _scaled("x"), lambda n: {"normalized_shape": [n]},
            (0, 0.45), _SIZE),
)  # fmt: skip
SAMPLED = {one.name: one for one in _ALL}


def cases(f: Sampled, dtype: str, seed: int) -> Iterator[Case]:
    """Give the rows that are tried, rounded to the dtype; the same ones for a seed."""
    for i, length in enumerate(n for n in ROWS if n <= _LONGEST.get(dtype, n)):
        for j, condition in enumerate(f.conditions):
            random = np.random.default_rng([seed, i, j])
            rows = min(ROWS[length], 8 if f.one_row or dtype == "float64" else 64)
            made = f.make(random, rows, length, condition, dtype)
            bits = {name: bits_of_values(x, dtype) for name, x in made.items()}
            for row in range(rows) if f.one_row else [slice(None)]:
                yield Case(length, condition, {n: x[row] for n, x in bits.items()}, f.given(length))


def judged(f: Sampled, dtype: str, case: Case, found: Bits) -> Tally:
    """Compare the result of a case with the truth."""
    operands = {name: values(bits, dtype) for name, bits in case.operands.items()}
    with EXACT:
        exact, rest = _truth(f, dtype, operands, case.given)
    y = values(found, dtype)
    form: dict[str, Any] = dict(form_of(dtype))
    unit = units(np.maximum(np.abs(exact), f.floor), ROUNDED[dtype])
    form["bits"], form["units"] = 53, lambda x: unit
    with np.errstate(all="ignore"):
        counted = tallies.judged(np, form, y, y, exact, rest=rest, narrow=_CERTAIN)
    # What is this near to a tie is correctly rounded as far as the truth decides.
    counted["disputed"] = []
    tally = tally_of(
        counted, lambda i: (float(case.length), float(case.condition)), lambda i: float(y[i])
    )
    worst, mean = tally.worst, tally.mean()
    tally.cases = [{"length": case.length, "condition": case.condition, "count": tally.count,
                    "worst": worst, "mean": mean}]  # fmt: skip
    return tally


def _truth(
    f: Sampled, dtype: str, operands: Mapping[str, Array], given: Mapping[str, Any]
) -> tuple[Array, Array | None]:
    """Return exact values as float64, and what that leaves out in units of the last place."""
    if dtype != "float64":
        with arithmetic("float64", exact=False):
            made = f.defined({name: tracked(x) for name, x in operands.items()}, given)
        value = np.asarray(made.value, np.float64).ravel()
        unit = units(np.maximum(np.abs(value), f.floor), ROUNDED[dtype])
        if (np.asarray(made.error).ravel() <= _CERTAIN * unit).all():
            return value, None
    with arithmetic("float64"):
        made = f.defined({name: tracked(x) for name, x in operands.items()}, given)
        exact = made.value.ravel()
        value = exact.astype(np.float64)
        unit = units(np.maximum(np.abs(value), f.floor), ROUNDED[dtype])
        rest = np.array([float((a - b) / u) for a, b, u in zip(exact, value, unit, strict=True)])
    return value, rest
