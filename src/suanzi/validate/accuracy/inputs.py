"""Which arguments are tried: every bit pattern, or a search for the worst."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cache

import numpy as np
from numpy.typing import NDArray

from suanzi.truth.rounding import ROUNDED

Bits = NDArray[np.unsignedinteger]

WIDTHS = {"float8_e4m3fn": 8, "float8_e5m2": 8, "float16": 16, "bfloat16": 16, "float32": 32,
          "float64": 64}  # fmt: skip
"""The dtypes that are measured, and their bits."""
BLOCK = 1 << 20
"""Arguments of one call, half of them negative."""
SAMPLES = {32: 1 << 20, 64: 1 << 10}
"""Magnitudes of all exponents that a search begins with."""
DENSE = {32: 1 << 21, 64: 0}
"""Magnitudes from 2**-6 to 2**7, where most functions are worst."""
_AROUND = {32: 1 << 10, 64: 1 << 2}
"""How many neighbours of a hard point are tried, on either side."""


def unsigned(dtype: str) -> np.dtype[np.unsignedinteger]:
    """Return the dtype of the bits."""
    return np.dtype(f"u{WIDTHS[dtype] // 8}")


def values(bits: Bits, dtype: str) -> NDArray[np.float64]:
    """Return the numbers that bits stand for, as float64.

    >>> values(np.array([0x3F80, 0x8000], np.uint64), "bfloat16").tolist()
    [1.0, -0.0]
    """
    narrow = bits.astype(unsigned(dtype), copy=False)
    with np.errstate(invalid="ignore"):  # a signalling NaN
        if dtype == "bfloat16":
            return (narrow.astype(np.uint32) << 16).view(np.float32).astype(np.float64)
        if dtype in ("float16", "float32", "float64"):
            return narrow.view(dtype).astype(np.float64)
        import ml_dtypes

        return np.asarray(narrow.view(getattr(ml_dtypes, dtype)).astype(np.float64))


def bits_of(x: NDArray[np.float64], dtype: str) -> Bits:
    """Return the bits of the magnitudes of numbers, cut to the dtype."""
    size = np.abs(x)
    if dtype == "float64":
        return size.view(np.uint64).copy()
    form = ROUNDED[dtype]
    narrow = np.minimum(size, form.largest).astype(np.float32 if dtype == "float32" else np.float64)
    return narrow.view(np.uint32).astype(np.uint64)


def both_signs(magnitudes: Bits, dtype: str) -> Bits:
    """Return magnitudes, and then the same with the sign."""
    kind = unsigned(dtype).type
    given = magnitudes.astype(kind, copy=False)
    return np.concatenate([given, given | kind(1 << (WIDTHS[dtype] - 1))])


def every(dtype: str, start: int = 0, stop: int | None = None) -> Iterator[Bits]:
    """Give every magnitude, NaNs too, block by block."""
    end = 1 << (WIDTHS[dtype] - 1)
    stop = end if stop is None else min(stop, end)
    for first in range(start, stop, BLOCK // 2):
        yield np.arange(first, min(first + BLOCK // 2, stop), dtype=unsigned(dtype))


def sample(dtype: str, seed: int) -> Iterator[Bits]:
    """Give magnitudes of all exponents, the neighbours of hard points, and special ones."""
    found = _sampled(dtype, seed)
    for i in range(0, len(found), BLOCK // 2):
        yield found[i : i + BLOCK // 2]


@cache
def _sampled(dtype: str, seed: int) -> Bits:
    width = WIDTHS[dtype]
    random = np.random.default_rng(seed)
    count = SAMPLES[width]
    top = 1 << (width - 1)
    step = top // count
    first = np.arange(count, dtype=np.uint64) * np.uint64(step)
    spread = first + random.integers(0, step, count, dtype=np.uint64)
    low, high = (int(one) for one in bits_of(np.array([2.0**-6, 2.0**7]), dtype))
    dense = random.integers(low, high, DENSE[width], dtype=np.uint64)
    around = np.arange(-_AROUND[width], _AROUND[width], dtype=np.int64)
    near = (bits_of(_hard_points(), dtype).astype(np.int64)[:, None] + around).ravel()
    ends = np.concatenate([np.arange(64), [top - 1], _infinity(dtype) + around])
    drawn = np.concatenate([spread, dense]).astype(np.int64)
    some = np.sort(np.clip(np.concatenate([drawn, near, ends]), 0, top - 1))
    return some[np.diff(some, prepend=-1) > 0].astype(np.uint64)


def neighbours(x: float, dtype: str) -> Bits:
    """Return the magnitudes around a number."""
    width = WIDTHS[dtype]
    middle = int(bits_of(np.array([x]), dtype)[0])
    around = np.arange(-8 * _AROUND[width], 8 * _AROUND[width], dtype=np.int64) + middle
    return np.unique(np.clip(around, 0, (1 << (width - 1)) - 1)).astype(np.uint64)


def _infinity(dtype: str) -> int:
    return {"float32": 0x7F800000, "float64": 0x7FF << 52}[dtype]


def _hard_points() -> NDArray[np.float64]:
    """Return numbers where functions change: zeros, poles, ends of domains, overflow."""
    turns = [k * math.pi / 4 for k in (*range(1, 33), *(2**i for i in range(6, 60)))]
    powers = [2.0**i for i in range(-149, 128, 1)]
    ends = [
        *(0.5, 0.84375, 1.0, 1.25, 2.0, math.e, 2.857, 5.54, 6.0, 9.0, 10.0, 13.1, 16.635532, 26.6),
        *(27.2, 87.33655, 88.72284, 89.41599, 100.0, 103.97208, 104.0, 708.39642, 709.78271),
        *(710.47586, 745.13322, 745.2),
    ]
    return np.array([*turns, *powers, *ends])
