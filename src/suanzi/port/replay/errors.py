"""How far two results are apart."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import Any

import numpy as np

from suanzi.port.replay.kept import Value
from suanzi.truth.rounding import ROUNDED, rounded, units


@dataclass(frozen=True)
class Error:
    """How far a result is from another, in units of the latter's dtype."""

    ulp: float
    """The largest difference of two elements, in units in the last place of the wanted one."""
    scaled: float
    """The largest difference, in units in the last place of the largest element."""
    cosine: float
    dtype: str
    """The dtype that came out."""
    wanted: str


def compare(found: Value, wanted: Value) -> Error:
    """Return how far a result is from the wanted one.

    What is wider is rounded to the wanted dtype first: a difference is one that remains.
    """
    a, b = found.numbers(), wanted.numbers()
    if a.shape != b.shape:
        return Error(inf, inf, 0.0, found.dtype, wanted.dtype)
    if b.size == 0:
        return Error(0.0, 0.0, 1.0, found.dtype, wanted.dtype)
    if b.dtype.kind not in "fc":
        differ = np.abs(a.astype("float64") - b.astype("float64"))
        largest = float(np.max(differ))
        return Error(largest, largest, cosine(a, b), found.dtype, wanted.dtype)
    if b.dtype.kind == "c" or a.dtype.kind == "c":
        parts = [(np.real(a), np.real(b)), (np.imag(a), np.imag(b))]
    else:
        parts = [(a.astype("float64"), b)]
    real = "float32" if wanted.dtype == "complex64" else "float64"
    name = wanted.dtype if b.dtype.kind == "f" else real
    worst = [_ulp(rounded(x, name), y, name) for x, y in parts]
    ulp, scaled = max(one[0] for one in worst), max(one[1] for one in worst)
    return Error(ulp, scaled, cosine(a, b), found.dtype, wanted.dtype)


def _ulp(a: np.ndarray[Any, Any], b: np.ndarray[Any, Any], name: str) -> tuple[float, float]:
    finite = np.isfinite(a) & np.isfinite(b)
    same = (a == b) | (np.isnan(a) & np.isnan(b))
    if not np.all(finite | same):
        return inf, inf
    if np.all(same):
        return 0.0, 0.0
    form = ROUNDED[name]
    differ, sizes = np.abs(a - b)[finite], np.abs(b)[finite]
    largest = units(np.max(sizes, keepdims=True), form)[0]
    return float(np.max(differ / units(sizes, form))), float(np.max(differ) / largest)


def cosine(a: np.ndarray[Any, Any], b: np.ndarray[Any, Any]) -> float:
    """Return the cosine of the angle between two tensors; 1 where both are zero."""
    x, y = (np.nan_to_num(np.asarray(one, "complex128").reshape(-1)) for one in (a, b))
    scale = max(float(np.max(np.abs(x), initial=0)), float(np.max(np.abs(y), initial=0)))
    if scale == 0:
        return 1.0
    x, y = x / scale, y / scale
    sizes = float(np.linalg.norm(x) * np.linalg.norm(y))
    return float(min(np.real(np.vdot(x, y)) / sizes, 1.0)) if sizes else 0.0
