"""Which pairs of arguments are tried for functions of two numbers.

Of float8 all pairs. Else every pair of special numbers, pairs of random bits, and pairs where the
function is hard: of `pow`, results of all exponents; of the others, operands of like size.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from suanzi.truth.rounding import ROUNDED, rounded
from suanzi.validate.accuracy.inputs import BLOCK, WIDTHS, Bits, unsigned

Pairs = tuple[Bits, Bits]
SAMPLES = {16: 1 << 20, 32: 1 << 20, 64: 1 << 11}
"""Random pairs, by the bits of the dtype; half of them where the function is hard."""
_NEAR = {16: 16, 32: 16, 64: 3}
"""How many neighbours of each operand of a bad pair are tried, on either side."""


def every_pair(dtype: str) -> Iterator[Pairs]:
    """Give all pairs of a dtype of 8 bits."""
    one = np.arange(1 << WIDTHS[dtype], dtype=unsigned(dtype))
    x, y = np.meshgrid(one, one, indexing="ij")
    yield x.ravel(), y.ravel()


def sampled_pairs(name: str, dtype: str, seed: int) -> Iterator[Pairs]:
    """Give pairs of numbers for a function, block by block."""
    x, y = _sampled(name, dtype, seed)
    for i in range(0, len(x), BLOCK):
        yield x[i : i + BLOCK], y[i : i + BLOCK]


@lru_cache(maxsize=2)
def _sampled(name: str, dtype: str, seed: int) -> Pairs:
    random = np.random.default_rng(seed)
    half = SAMPLES[WIDTHS[dtype]] // 2
    some = _special(dtype)
    kind = unsigned(dtype)
    left, right = np.meshgrid(some, some, indexing="ij")
    any_ = (
        random.integers(0, 1 << WIDTHS[dtype], (2, half), np.uint64, endpoint=False)
        if WIDTHS[dtype] < 64
        else random.integers(0, (1 << 64) - 1, (2, half), np.uint64, True)
    )
    hard = [bits_of_values(one, dtype) for one in _hard(name, dtype, half, random)]
    x = np.concatenate([left.ravel(), _quiet(any_[0].astype(kind), dtype), hard[0]])
    y = np.concatenate([right.ravel(), _quiet(any_[1].astype(kind), dtype), hard[1]])
    return x, y


def _quiet(bits: Bits, dtype: str) -> Bits:
    """Return numbers of which no NaN signals: C's hypot of infinity and one that does is NaN.

    >>> [hex(one) for one in _quiet(np.array([0x7C93, 0xFC00, 0x3C00], np.uint16), "float16")]
    ['0x7e93', '0xfc00', '0x3c00']
    """
    infinity = bits_of_values(np.array([math.inf]), dtype)[0]
    magnitude = bits & bits.dtype.type((1 << (WIDTHS[dtype] - 1)) - 1)
    quiet = bits.dtype.type(1 << (ROUNDED[dtype].bits - 2))
    return np.where(magnitude > infinity, bits | quiet, bits)


def _special(dtype: str) -> Bits:
    """Return numbers where functions change, with both signs, and a NaN."""
    form = ROUNDED[dtype]
    small = math.ldexp(1.0, form.lowest)
    eps = math.ldexp(1.0, 1 - form.bits)
    found = [0.0, form.least, small - form.least, small, eps, 0.5, 1 - eps / 2, 1.0, 1 + eps, 1.5,
             2.0, 3.0, 10.0, 1 / eps, form.largest / 2, form.largest]  # fmt: skip
    if form.infinity:
        found.append(math.inf)
    both = np.array([*found, *(-x for x in found), math.nan])
    return bits_of_values(both, dtype)


def bits_of_values(x: NDArray[np.float64], dtype: str) -> Bits:
    """Return the bits of numbers, rounded to the dtype.

    >>> [hex(one) for one in bits_of_values(np.array([1.0, -0.0]), "bfloat16")]
    ['0x3f80', '0x8000']
    """
    near = rounded(x, dtype)
    if dtype == "bfloat16":
        return (near.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)
    if dtype in ("float16", "float32", "float64"):
        with np.errstate(all="ignore"):
            return near.astype(dtype).view(unsigned(dtype))
    import ml_dtypes

    return near.astype(getattr(ml_dtypes, dtype)).view(np.uint8)


def _hard(
    name: str, dtype: str, count: int, random: np.random.Generator
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    form = ROUNDED[dtype]
    top = math.frexp(form.largest)[1]
    low = form.lowest - form.bits + 1
    if name == "pow":
        # Results of all exponents; half of the bases are near 1.
        x = np.where(random.random(count) < 0.5, 1 + random.normal(0, 0.1, count),
                     2.0 ** random.uniform(low / 2, top - 1, count))  # fmt: skip
        x = np.abs(x)
        with np.errstate(all="ignore"):
            y = random.uniform(low, top, count) / np.log2(x)
        return x, np.where(np.isfinite(y), np.clip(y, -form.largest, form.largest), 1.0)
    middle = random.uniform(low, top - 1, count)
    apart = random.normal(0, 4 if name != "mod" and name != "fmod" else 12, count)
    x, y = (np.ldexp(random.uniform(1, 2, count), np.clip(e, low, top - 1).astype(int))
            for e in (middle, middle - apart))  # fmt: skip
    signs = random.choice([-1.0, 1.0], (2, count))
    return x * signs[0], y * signs[1]


def near_pairs(at: tuple[float, float], dtype: str) -> Pairs:
    """Return the pairs around one."""
    around = np.arange(-_NEAR[WIDTHS[dtype]], _NEAR[WIDTHS[dtype]] + 1, dtype=np.int64)
    kind = unsigned(dtype)
    each = []
    for x in at:
        middle = bits_of_values(np.array([x]), dtype).astype(np.int64)[0]
        each.append(np.unique((middle + around).astype(kind)))
    x, y = np.meshgrid(*each, indexing="ij")
    return x.ravel(), y.ravel()
