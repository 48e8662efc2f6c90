"""What is expected of one output of a call: its truth, and how far a result may be off."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suanzi.truth.rounding import ROUNDED

Array = NDArray[np.float64]
PARTS = {"complex32": "float16", "complex64": "float32", "complex128": "float64"}


@dataclass(frozen=True)
class Bound:
    """An output with the largest error that a right kernel may have, element by element.

    Floats are float64, complex numbers pairs of float64 along a last axis, and integers what they
    are, for float64 does not have all of them; bool is 0 and 1.
    """

    dtype: str
    """The dtype of the results."""
    value: NDArray[Any]
    """The exact output; floats are rounded to float64."""
    error: Array
    """Infinite where nothing is required, as where a result may overflow on the way."""
    nan: NDArray[np.bool_] | None = None
    """The elements that may be NaN as well."""

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the output."""
        whole = tuple(self.value.shape)
        return whole[:-1] if self.dtype in PARTS else whole

    @property
    def free(self) -> NDArray[np.bool_]:
        """The elements of which nothing is required."""
        return np.isinf(self.error)

    @property
    def requires(self) -> bool:
        """Whether something is required of an element: not every number of the dtype passes."""
        if self.value.size == 0:
            return True
        part = PARTS.get(self.dtype, self.dtype)
        most = 2 * overflow(part) if part in ROUNDED else math.inf
        return bool((self.error < most).any())

    def errors(self, found: NDArray[Any]) -> Array:
        """Return how far other numbers are off; infinite where they are no number.

        An infinity counts as the first number that overflows, as in the kit; so does NaN in a
        format that has no infinity.
        """
        part = PARTS.get(self.dtype, self.dtype)
        off = self._of_floats(found, part) if part in ROUNDED else self._of_integers(found)
        if self.nan is not None:
            off = np.where(self.nan & np.isnan(found), 0.0, off)
        return np.where(self.free, 0.0, off)

    def _of_floats(self, found: Array, part: str) -> Array:
        end, infinity = overflow(part), ROUNDED[part].infinity
        with np.errstate(all="ignore"):
            right = np.where(np.isinf(self.value), self.value, np.clip(self.value, -end, end))
            given = np.where(np.isinf(found) & np.isfinite(right), np.sign(found) * end, found)
            if not infinity:
                beyond = np.isnan(found) & (np.abs(right) + self.error >= end)
                given = np.where(beyond, np.sign(right) * end, given)
            off = np.abs(given - right)
        same = (found == self.value) | (np.isnan(found) & np.isnan(self.value))
        if not infinity:
            same |= np.isnan(found) & np.isinf(self.value)
        return np.where(same, 0.0, np.where(np.isnan(off), np.inf, off))

    def _of_integers(self, found: NDArray[Any]) -> Array:
        """Compare integers as they are; what differs is off by a half at least."""
        with np.errstate(all="ignore"):
            off = np.abs(found.astype(np.float64) - self.value.astype(np.float64))
        off = np.where(np.isnan(off), np.inf, np.maximum(off, 0.5))
        return np.where(np.asarray(found == self.value), 0.0, off)

    def wrong(self, found: NDArray[Any]) -> NDArray[np.bool_]:
        """Return which elements of other numbers of the shape would not pass."""
        return np.asarray(self.errors(found) > self.error * (1 + 1e-9))

    def accepts(self, found: NDArray[Any]) -> bool:
        """Tell whether other numbers would pass."""
        return found.shape == self.value.shape and not self.wrong(found).any()


def overflow(dtype: str) -> float:
    """Return the first number past the largest of a dtype: what an infinity counts as.

    >>> overflow("float16"), overflow("float8_e4m3fn"), overflow("float64")
    (65536.0, 480.0, inf)
    """
    form = ROUNDED[dtype]
    return math.inf if dtype == "float64" else form.largest + form.widest
