"""Tensors of any dtype and layout, and NumPy's float64 or complex128 of the same numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

import suanzi as sz

Array = np.ndarray[Any, Any]

NARROW = (sz.float16, sz.bfloat16, sz.float8_e4m3fn, sz.float8_e5m2, sz.complex32)
WIDE = (sz.float32, sz.float64, sz.complex64, sz.complex128)
FLOATING = (*NARROW, *WIDE)
INTEGERS = tuple(dt for dt in sz.dtypes.DTYPES if dt.kind in ("int", "uint"))
EVERY = (sz.bool, *INTEGERS, *FLOATING)


def made(dt: sz.DType, shape: tuple[int, ...], seed: int = 0, layout: str = "rows") -> sz.Tensor:
    """Return a tensor of small numbers: in row-major order, transposed, or with steps and flips."""
    rng = np.random.default_rng([seed, dt.index, *shape])
    full = {
        "rows": shape,
        "transposed": shape[::-1],
        "strided": tuple(2 * n + 1 for n in shape),
    }[layout]
    if dt.kind == "bool":
        numbers: Array = rng.random(full) < 0.7
    elif dt.kind in ("int", "uint"):
        low, high = (0 if dt.kind == "uint" else -3), min(2 ** (dt.bits - (dt.kind == "int")), 7)
        numbers = rng.integers(low if dt.bits > 2 else 0, high, full)
    else:
        numbers = rng.integers(-12, 13, full) / 4.0
        if dt.kind == "complex":
            numbers = numbers + 1j * (rng.integers(-12, 13, full) / 4.0)
    x = sz.cast(sz.tensor(numbers), dt)
    if layout == "transposed":
        return x.T
    return (
        x[tuple(slice(2 * n, None, -2) for n in shape)][tuple(slice(0, n) for n in shape)]
        if (layout == "strided" and shape)
        else x
    )


def exact(x: sz.Tensor) -> Array:
    """Return the numbers of a tensor in a NumPy dtype that holds them and computes with them."""
    wide = {"complex": sz.complex128, "float": sz.float64, "bool": sz.bool}.get(x.dtype.kind)
    if wide is None:
        wide = sz.uint64 if x.dtype.kind == "uint" else sz.int64
    return np.array(sz.cast(x, wide).numpy())


def close(x: sz.Tensor, true: Any, factor: float = 8.0, size: Any = None) -> bool:
    """Tell whether a result is a few epsilons of its dtype away from what is true.

    `size` is what errors are relative to, where that is not the magnitude of the result.
    """
    found, wanted = exact(x).astype(np.complex128), np.asarray(true).astype(np.complex128)
    assert found.shape == wanted.shape, (found.shape, wanted.shape)
    info = sz.finfo(x.dtype)
    room = factor * info.eps * np.abs(wanted if size is None else size) + info.smallest_subnormal
    same = (found == wanted) | (np.isnan(found) & np.isnan(wanted))
    large = (np.abs(wanted) > info.max) & ~np.isfinite(found)  # beyond what the dtype has
    return bool((same | large | (np.abs(found - wanted) <= room)).all())
