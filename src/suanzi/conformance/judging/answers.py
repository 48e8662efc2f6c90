"""The results for the few values of a large tensor, by comparing bytes, not numbers."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Sequence
from fractions import Fraction

from suanzi.conformance.model.data import units_of
from suanzi.conformance.model.expected import Cycle, Picked, joined
from suanzi.conformance.model.numbers import FORMATS, PARTS, Real, Value, decode

ENOUGH = 4096
"""How many different results are measured. Of further ones, only those that may be wrong are."""
_ROW = 251
_STRUCT = {"float16": "e", "float32": "f", "float64": "d"}

Answers = dict[tuple[int, bytes], tuple[int, int]]
"""How often a value, by its number, had a result, and where first."""
Near = Callable[[int, bytes], bool]
"""Whether a result for a value, by its number, is right without doubt."""


def is_right(raw: bytes, dtype: str, truth: Picked[Value]) -> bool:
    """Tell whether all elements are the truth, rounded once.

    >>> is_right(b"\\1\\2\\1", "int8", Picked((1, 2), Cycle(2, 3)))
    True
    """
    return raw == joined(units_of(dtype, truth.base), truth.which)


def answers_of(
    raw: bytes, size: int, truth: Picked[Value], near: Near, enough: int = ENOUGH
) -> tuple[Answers, bool]:
    """Return the results for each of the few values, and whether all elements were looked at.

    Once there are `enough`, those that are near are left out. It ends early with `enough` others.

    >>> found, all_seen = answers_of(
    ...     b"\\1\\2\\1\\2\\1\\3", 1, Picked((1, 2), Cycle(2, 6)), lambda k, raw: False
    ... )
    >>> found[0, b"\\1"], found[1, b"\\2"], found[1, b"\\3"]
    ((3, 0), (2, 1), (1, 5))
    """
    step = truth.which.period if isinstance(truth.which, Cycle) else _ROW
    rows: dict[tuple[bytes, object], list[int]] = {}
    for at in range(0, len(truth), step):
        # Where the truth repeats, that of every row is the same.
        which = None if isinstance(truth.which, Cycle) else tuple(truth.which[at : at + step])
        rows.setdefault((raw[at * size : (at + step) * size], which), []).append(at)
    found: Answers = {}
    doubtful = 0
    for (row, _), places in rows.items():
        for i, k in enumerate(truth.which[places[0] : places[0] + step]):
            pair = k, row[i * size : (i + 1) * size]
            if pair not in found and len(found) >= enough:
                if near(*pair):
                    continue
                doubtful += 1
            often, first = found.get(pair, (0, places[0] + i))
            found[pair] = often + len(places), min(first, places[0] + i)
        if doubtful >= enough:
            return found, False
    return found, True


def near(dtype: str, truth: Sequence[Value], allowed: Sequence[Fraction]) -> Near:
    """Return a quick test: the truth rounded once, or no further off than allowed.

    A negative number allows nothing else than the rounded truth.

    >>> test = near("float32", (1,), (Fraction(1, 8),))
    >>> [test(0, struct.pack("<f", x)) for x in (1.0, 1.125, 1.13, math.nan)]
    [True, True, False, False]
    """
    part, units = PARTS.get(dtype, dtype), units_of(dtype, tuple(truth))
    if part not in FORMATS:
        return lambda k, raw: raw == units[k]
    ranges = [
        tuple(_inner(x, most) for x in (value if isinstance(value, tuple) else (value,)))
        for value, most in zip(truth, allowed, strict=True)
    ]
    parts = _reader(part, 2 if dtype in PARTS else 1)
    return lambda k, raw: (
        raw == units[k]
        or all(low <= x <= high for x, (low, high) in zip(parts(raw), ranges[k], strict=True))
    )


def _inner(value: Value, allowed: Fraction) -> tuple[float, float]:
    """Return the floats of a range around a value; of none where it has no finite one."""
    if isinstance(value, Real) and (value.is_nan or value.size is None):
        return math.inf, -math.inf
    assert not isinstance(value, tuple)
    exact = value.value if isinstance(value, Real) else Fraction(value)
    try:
        low, high = float(exact - allowed), float(exact + allowed)
    except OverflowError:
        return math.inf, -math.inf
    # A float that rounding has put outside is replaced by its inner neighbour.
    low = math.nextafter(low, math.inf) if low < exact - allowed else low
    high = math.nextafter(high, -math.inf) if high > exact + allowed else high
    return low, high


def _reader(part: str, count: int) -> Callable[[bytes], tuple[float, ...]]:
    """Return what reads the parts of an element as floats."""
    if part in _STRUCT:
        return struct.Struct(f"<{count}{_STRUCT[part]}").unpack
    form = FORMATS[part]
    width = 2 if part == "bfloat16" else 1
    known: dict[bytes, float] = {}

    def number(unit: bytes) -> float:
        if unit not in known:
            x = decode(form, int.from_bytes(unit, "little"))
            size = math.inf if x.size is None else float(x.size)
            known[unit] = math.nan if x.is_nan else -size if x.negative else size
        return known[unit]

    return lambda raw: tuple(number(raw[i : i + width]) for i in range(0, count * width, width))
