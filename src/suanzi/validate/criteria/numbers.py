"""Floating-point formats over float64 arrays: one rounding, and the unit in the last place."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suanzi.base.dtypes import DType, DTypeLike, dtype, finfo
from suanzi.base.status import InvalidArgument

Reals = NDArray[np.float64]
TF32 = "tfloat32"
"""NVIDIA's TensorFloat-32: the range of float32 and the significand of float16."""


def float_dtype(given: DTypeLike, where: str) -> DType:
    """Return a real floating-point dtype in any spelling; others are refused.

    >>> float_dtype("bf16", "accepts").name
    'bfloat16'
    """
    found = dtype(given)
    if found.kind != "float":
        raise InvalidArgument(
            f"{where}: dtype is {found.name}; accuracy criteria are about floating-point outputs, "
            "so it must be float16, bfloat16, float32, float64 or a float8."
        )
    return found


@cache
def _format(name: str) -> tuple[int, int, float]:
    """Return the bits of the fraction, the smallest normal exponent and the largest number."""
    if name == TF32:
        return 10, -126, float(finfo("float32").max)
    info = finfo(name)
    fraction = -int(np.log2(info.eps))
    return fraction, int(np.log2(info.smallest_normal)), float(info.max)


def fraction_bits(name: str) -> int:
    """Return how many bits the fraction of a dtype has: 7 of bfloat16."""
    return _format(name)[0]


def smallest_normal(name: str) -> float:
    """Return the smallest normal number of a dtype."""
    return float(2.0 ** _format(name)[1])


def ulp(x: Reals, name: str) -> Reals:
    """Return the distance of neighbouring numbers of a dtype at each magnitude.

    >>> ulp(np.array([1.0, 1.5, 4.0]), "bfloat16").tolist()
    [0.0078125, 0.0078125, 0.03125]
    """
    bits, lowest, _ = _format(name)
    _, exponent = np.frexp(np.abs(x))
    exponent = np.where((x == 0) | ~np.isfinite(x), lowest, exponent - 1)
    found: Reals = np.ldexp(1.0, np.maximum(exponent, lowest) - bits)
    return found


def rounded(x: Any, name: str) -> Reals:
    """Round float64 numbers to a dtype, once, ties to even.

    >>> rounded([1.00390625, 1.01171875, 1e39], "bfloat16").tolist()
    [1.0, 1.015625, inf]
    """
    given = np.ascontiguousarray(x, np.float64)
    if name == "float64":
        return given
    if name in ("float16", "float32"):
        with np.errstate(all="ignore"):
            return given.astype(name).astype(np.float64)
    bits, lowest, largest = _format(name)
    shift = np.uint64(52 - bits)
    pattern = given.view(np.uint64)
    half = (np.uint64(1) << (shift - np.uint64(1))) - np.uint64(1)
    odd = (pattern >> shift) & np.uint64(1)
    found = (((pattern + half + odd) >> shift) << shift).view(np.float64)
    small = np.abs(given) < 2.0**lowest
    if small.any():
        step = 2.0 ** (lowest - bits)
        found = np.where(small, np.rint(given / step) * step, found)
    found = np.where(np.isfinite(given), found, given)
    return np.where(np.abs(found) > largest, np.copysign(np.inf, given), found)
