"""Complex results judged part by part, in units of the last place, against mpmath."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

import mpmath
import numpy as np

from suanzi.conformance.model.numbers import FORMATS

Array = np.ndarray[Any, Any]

_PART = {"complex32": "float16", "complex64": "float32", "complex128": "float64"}


def errors(found: float, truth: Any, dtype: str) -> float:
    """Return how far a part is from the truth, in ULP; infinite where the kind is wrong."""
    form = FORMATS[_PART.get(dtype, dtype)]
    least, most = 1 - form.bias, (form.largest >> form.mantissa) - form.bias
    exponent = least if truth == 0 else max(least, int(mpmath.frexp(truth)[1]) - 1)
    if exponent > most:
        return 0.0 if math.isinf(found) and (found > 0) == (truth > 0) else math.inf
    if math.isinf(found):  # what rounds to the next power of two overflows
        found = math.copysign(1.0, found)
        near = mpmath.mpf(found) * mpmath.mpf(2) ** (most + 1)
    else:
        near = mpmath.mpf(found)
    if math.isnan(found):
        return math.inf
    return float(abs(near - truth) / mpmath.mpf(2) ** (exponent - form.mantissa))


def worst(
    arguments: Iterable[complex],
    found: Iterable[complex],
    truth: Callable[[Any], Any],
    dtype: str,
) -> tuple[float, complex]:
    """Return the largest error of a part in ULP, and where it is."""
    most, at = 0.0, 0j
    with mpmath.workprec(400):  # enough for what cancels in the truth
        for z, w in zip(arguments, found, strict=True):
            exact = mpmath.mpc(truth(mpmath.mpc(z.real, z.imag)))
            for part, wanted in ((w.real, exact.real), (w.imag, exact.imag)):
                error = errors(float(part), wanted, dtype)
                if error > most:
                    most, at = error, z
    return most, at


def points(count: int, seed: int, kind: type[np.complexfloating[Any, Any]], wide: float) -> Array:
    """Return numbers with both parts not 0: all over the plane, next to 1 and i, and far out."""
    rng = np.random.default_rng(seed)
    n = count // 4

    def signs() -> Array:
        made: Array = rng.choice([-1.0, 1.0], n)
        return made

    plain = rng.uniform(-4, 4, n) + 1j * rng.uniform(-4, 4, n)
    sizes = np.exp2(rng.uniform(-wide, wide, (2, n)))
    far = sizes[0] * signs() + 1j * sizes[1] * signs()
    angle, off = rng.uniform(-math.pi, math.pi, n), np.exp2(rng.uniform(-40, -1, n)) * signs()
    circle = (1 + off) * np.exp(1j * angle)
    corner = rng.choice([1, -1, 1j, -1j], n)
    spread = np.exp2(rng.uniform(-30, 0, (2, n)))
    around = corner + spread[0] * signs() + 1j * spread[1] * signs()
    made = np.concatenate([plain, far, circle, around]).astype(kind)
    return made[(made.real != 0) & (made.imag != 0) & np.isfinite(made)]
