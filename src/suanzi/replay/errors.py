"""How far two results are apart."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import Any

import numpy as np

from suanzi.dtypes import dtype, finfo
from suanzi.replay.kept import Value


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

    @property
    def is_nothing(self) -> bool:
        """Whether all elements are the same, whatever their dtype."""
        return self.ulp == 0


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
    worst = [_ulp(_rounded(x, name), y, name) for x, y in parts]
    ulp, scaled = max(one[0] for one in worst), max(one[1] for one in worst)
    return Error(ulp, scaled, cosine(a, b), found.dtype, wanted.dtype)


def _rounded(a: np.ndarray[Any, Any], name: str) -> np.ndarray[Any, Any]:
    with np.errstate(over="ignore"):
        if name == "bfloat16":
            bits = a.astype("float32").view("uint32").astype("uint64")
            rounded = ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16) << 16
            wide = rounded.astype("uint32").view("float32").astype("float64")
            return np.where(np.isnan(a), a, wide)
        return a if name.startswith("float8") else a.astype(name).astype("float64")


def _ulp(a: np.ndarray[Any, Any], b: np.ndarray[Any, Any], name: str) -> tuple[float, float]:
    finite = np.isfinite(a) & np.isfinite(b)
    same = (a == b) | (np.isnan(a) & np.isnan(b))
    if not np.all(finite | same):
        return inf, inf
    if np.all(same):
        return 0.0, 0.0
    info = finfo(dtype(name))
    differ = np.abs(a - b)[finite]
    step = _step(np.abs(b)[finite], info)
    largest = _step(np.max(np.abs(b)[finite]), info)
    return float(np.max(differ / step)), float(np.max(differ) / largest)


def _step(size: Any, info: Any) -> Any:
    """Return the distance to the next number."""
    with np.errstate(divide="ignore"):
        exponent = np.floor(np.log2(size))
    return np.exp2(np.maximum(exponent, info.min_exponent) - (info.precision - 1))


def cosine(a: np.ndarray[Any, Any], b: np.ndarray[Any, Any]) -> float:
    """Return the cosine of the angle between two tensors; 1 where both are zero."""
    x, y = (np.nan_to_num(np.asarray(one, "complex128").reshape(-1)) for one in (a, b))
    scale = max(float(np.max(np.abs(x), initial=0)), float(np.max(np.abs(y), initial=0)))
    if scale == 0:
        return 1.0
    x, y = x / scale, y / scale
    sizes = float(np.linalg.norm(x) * np.linalg.norm(y))
    return float(min(np.real(np.vdot(x, y)) / sizes, 1.0)) if sizes else 0.0
