"""Matrices to decompose, the ways they lie in memory, and how far a result is from right.

Nothing here calls LAPACK, except to make orthogonal matrices.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

import suanzi as sz
from suanzi.tensors.parts import readable

Array = np.ndarray[Any, Any]

OWN = (sz.float32, sz.float64, sz.complex64, sz.complex128)
"""What LAPACK computes in."""
NARROW = (sz.float16, sz.bfloat16, sz.complex32, sz.float8_e4m3fn, sz.float8_e5m2)
EVERY = (*OWN, *NARROW)
# Written out, so that a wrong entry in suanzi's own list of dtypes is seen.
EPSILON = {
    sz.float64: 2.0**-52, sz.complex128: 2.0**-52, sz.float32: 2.0**-23, sz.complex64: 2.0**-23,
    sz.float16: 2.0**-10, sz.complex32: 2.0**-10, sz.bfloat16: 2.0**-7,
    sz.float8_e4m3fn: 2.0**-3, sz.float8_e5m2: 2.0**-2,
}  # fmt: skip


def is_complex(dtype: sz.DType) -> bool:
    return dtype.kind == "complex"


def random(shape: tuple[int, ...], dtype: sz.DType = sz.float64, seed: int = 0) -> Array:
    """Return normal numbers, rounded to a dtype."""
    rng = np.random.default_rng([seed, *shape])
    made: Array = rng.standard_normal(shape)
    if is_complex(dtype):
        made = made + 1j * rng.standard_normal(shape)
    return values(sz.cast(sz.tensor(made), dtype))


def sample(shape: tuple[int, ...], dt: sz.DType, seed: int = 0) -> sz.Tensor:
    """Return numbers that a dtype holds: integers of its whole range, or small floats."""
    rng = np.random.default_rng([seed, *shape])
    if dt.kind in ("int", "uint"):
        limits = sz.iinfo(dt)
        array = rng.integers(limits.min, limits.max, shape, np.dtype(dt.name), endpoint=True)
        return sz.tensor(array)
    array = rng.uniform(-2, 2, shape)
    if dt.kind == "complex":
        array = array + 1j * rng.uniform(-2, 2, shape)
    return sz.cast(sz.tensor(np.asarray(array)), dt)


def values(x: sz.Tensor) -> Array:
    """Return the elements in float64 or complex128, which hold them exactly."""
    found = readable(x)
    return found.astype(np.complex128 if found.dtype.kind == "c" else np.float64)


def adjoint(a: Array) -> Array:
    return a.swapaxes(-1, -2).conj()


def orthogonal(n: int, dtype: sz.DType, seed: int) -> Array:
    found: Array = np.linalg.qr(random((n, n), wide(dtype), seed))[0]
    return found


def wide(dtype: sz.DType) -> sz.DType:
    return sz.complex128 if is_complex(dtype) else sz.float64


def with_singular_values(s: Array, m: int, n: int, dtype: sz.DType, seed: int = 0) -> Array:
    """Return an m by n matrix with these singular values, as nearly as float64 can."""
    middle = np.zeros((m, n))
    middle[range(len(s)), range(len(s))] = s
    return orthogonal(m, dtype, seed) @ middle @ adjoint(orthogonal(n, dtype, seed + 1))


def kinds(m: int, n: int, dtype: sz.DType) -> Iterator[tuple[str, Array]]:
    """Yield matrices of every kind that is hard in its own way."""
    k, epsilon = min(m, n), EPSILON[dtype]
    yield "random", random((m, n), dtype)
    yield "zero", np.zeros((m, n))
    yield "ones", np.ones((m, n))
    yield "one element", np.eye(m, n) * ([0.0] * (n - 1) + [3.0])
    if k > 1:
        steps = np.arange(k) / (k - 1)
        yield "ill-conditioned", with_singular_values(epsilon**steps, m, n, dtype)
        yield "rank-deficient", with_singular_values(1.0 * (steps <= 0.5), m, n, dtype)
        rows = 10.0 ** -np.linspace(0, 4 if epsilon > 1e-6 else 20, m)
        yield "graded", random((m, n), dtype) * rows[:, None]


def layouts(a: Array, dtype: sz.DType) -> Iterator[tuple[str, sz.Tensor]]:
    """Yield tensors with the same elements that lie in memory in every way."""
    plain = sz.cast(sz.tensor(a), dtype)
    yield "row-major", plain
    other = sz.cast(plain, dtype, layout=tuple(range(plain.ndim)))
    yield "column-major", other
    gaps = sz.full(shape=[2 * n for n in plain.shape], value=7, dtype=dtype)
    key = tuple(slice(0, 2 * n, 2) for n in plain.shape)
    gaps[key] = plain
    yield "with gaps", gaps[key]
    yield "backwards", sz.flip(sz.duplicate(sz.flip(plain, -1)), -1)
    yield "upside down", sz.flip(sz.duplicate(sz.flip(plain, -2)), -2)
    yield "offset", sz.concat([plain, plain], 0)[plain.shape[0] :]


def assert_small(difference: Array, limit: float, what: str = "") -> None:
    """Raise unless every element is at most a limit, which no NaN is."""
    worst = float(np.abs(difference).max(initial=0.0))
    if not np.isfinite(difference).all() or not worst <= limit:
        raise AssertionError(f"{what}: off by {worst:.3g}, and {limit:.3g} is allowed")


def assert_orthonormal(q: Array, limit: float, what: str = "") -> None:
    """Raise unless the columns are orthonormal."""
    assert_small(adjoint(q) @ q - np.eye(q.shape[-1]), limit, f"{what}, orthogonality")


def tolerance(a: Array, dtype: sz.DType) -> float:
    """Return what a backward stable result may be off by, for numbers of the size of a matrix."""
    size = max(float(np.abs(a).sum(axis=-1).max(initial=0.0)), 1e-300)
    return 8 * EPSILON[dtype] * max(*a.shape[-2:], 2) * size


def pivots_to_rows(ipiv: Array, m: int) -> list[int]:
    """Return where each row comes from after swaps, one after the other."""
    rows = list(range(m))
    for i, j in enumerate(ipiv.tolist()):
        rows[i], rows[j] = rows[j], rows[i]
    return rows
