"""Fourier transforms as their definition has them: sums, in more precision than float64 has.

The roots of unity come from mpmath; nothing here is a fast transform.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import mpmath
import numpy as np

Array = np.ndarray[Any, Any]
EPS = {"complex64": 2.0**-23, "complex128": 2.0**-52, "float32": 2.0**-23, "float64": 2.0**-52}


@cache
def roots(n: int) -> Array:
    """Return exp(-2 pi i k / n) for k from 0 to n - 1."""
    with mpmath.workdps(25):
        values = [mpmath.expjpi(mpmath.mpf(-2 * k) / n) for k in range(n)]
        parts = [(mpmath.nstr(v.real, 22), mpmath.nstr(v.imag, 22)) for v in values]
    made: Array = np.array([np.longdouble(a) + 1j * np.longdouble(b) for a, b in parts])
    return made


def dft(x: Array, axes: Sequence[int], forward: bool = True) -> Array:
    """Return the transform of an array along axes, unscaled."""
    found = x.astype(np.clongdouble)
    for axis in axes:
        n = x.shape[axis]
        places = np.arange(n)[:, None] * np.arange(n)[None, :] % n
        matrix = roots(n)[places] if forward else np.conj(roots(n)[places])
        found = np.moveaxis(np.tensordot(matrix, found, (1, axis)), 0, axis)
    return found


def scale(x: Array, axes: Sequence[int], mode: str) -> Any:
    """Return what a mode divides by."""
    n = np.longdouble(int(np.prod([x.shape[a] for a in axes])))
    return {"none": np.longdouble(1), "by_sqrt_n": np.sqrt(n), "by_n": n}[mode]


def extended(half: Array, axis: int, length: int) -> Array:
    """Return all of a spectrum along its last axis of which half is given, other axes being done.

    The second half are conjugates; where an element is its own, it is real.
    """
    moved = np.moveaxis(half, axis, -1)
    whole = np.zeros((*moved.shape[:-1], length), moved.dtype)
    for k in range(length):
        whole[..., k] = moved[..., k] if k <= length // 2 else np.conj(moved[..., length - k])
    for k in {0, length // 2} if length % 2 == 0 else {0}:
        whole[..., k] = whole[..., k].real
    return np.moveaxis(whole, -1, axis)


def assert_close(found: Array, truth: Array, n: int, factor: float = 3) -> None:
    """Raise unless the error is a few times eps * log2(n), relative to the norm."""
    assert found.shape == truth.shape, (found.shape, truth.shape)
    eps = EPS[found.dtype.name]
    wide = found.astype(np.clongdouble)
    error, norm = (
        np.linalg.norm((wide - truth).ravel().astype(complex)),
        np.linalg.norm(truth.ravel().astype(complex)),
    )
    bound = factor * eps * max(1.0, float(np.log2(n))) * norm
    assert error <= bound, f"{error / (eps * norm)} eps of the norm for n = {n}"
