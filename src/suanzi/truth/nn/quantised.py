"""Quantised rows and blocks, and the linear layer of such numbers."""

from __future__ import annotations

from typing import Any

import mpmath
import numpy as np

from suanzi.truth.define import truth_of
from suanzi.truth.tracked import Tracked, absolute, rounded_to, tracked

_LIMITS = {"int8": 127, "float8_e4m3fn": 448, "float8_e5m2": 57344}
_GRIDS = {"int8": (0, 0), "float8_e4m3fn": (3, -9), "float8_e5m2": (2, -16)}
"""The bits after the first one, and the exponent of the least step."""
_LEAST = 2.0**-126


def _name(dtype: Any) -> str:
    return str(getattr(dtype, "name", dtype) or "int8").lower()


def _blocks(block_size: Any, width: int) -> tuple[int, int]:
    """The rows and columns of a block."""
    if block_size is None:
        return 1, max(width, 1)
    sizes = [int(n) for n in np.atleast_1d(block_size)]
    return (1, sizes[0]) if len(sizes) == 1 else (sizes[0], sizes[1])


def _spread(x: Any, rows: int, columns: int, shape: tuple[int, ...]) -> Any:
    """The number of a block, for each of its elements."""
    many = np.repeat(x, columns, -1)[..., : shape[-1]]
    return np.repeat(many, rows, -2)[..., : shape[-2], :] if len(shape) > 1 else many


def _largest(x: Tracked, rows: int, columns: int, whole: bool) -> Tracked:
    """The largest magnitude of each block; 0 of none."""
    size = absolute(x).plain
    if rows > 1:
        starts = range(0, size.shape[-2], rows)
        parts = [size[..., i : i + rows, :].max(-2, keepdims=True) for i in starts]
        size = np.concatenate(parts, -2) if parts else size
    starts = range(0, max(size.shape[-1], 1 if whole else 0), columns)
    each = [size[..., i : i + columns].max(-1, keepdims=True, initial=0.0) for i in starts]
    return tracked(np.concatenate(each, -1) if each else size)


def _step(y: float, dtype: str) -> float:
    """How far the numbers of a dtype are apart near y."""
    bits, least = _GRIDS[dtype]
    if dtype == "int8":
        return 1.0
    exponent = float(np.frexp(abs(y))[1]) - 1 if y else -1000.0
    return float(2.0 ** max(exponent - bits, least))


def _stored(y: Tracked, dtype: str) -> Tracked:
    """Quotients rounded to the nearest number of a dtype, ties to even.

    Where the error of a quotient could change what it is rounded to, the result is off by a step.
    """
    limit = _LIMITS[dtype]
    value, error = y.value.ravel().copy(), np.zeros(y.value.size)
    for i, (v, e) in enumerate(zip(y.value.ravel(), y.error.ravel(), strict=True)):
        if v != v:
            continue
        near = float(v)
        step = _step(near, dtype)
        nearest = [float(mpmath.nint(mpmath.mpf(z) / step)) * step for z in (v, v - e, v + e)]
        value[i] = tracked(max(min(nearest[0], limit), -limit)).value[()]
        error[i] = step if any(n != nearest[0] for n in nearest) else 0.0
    return Tracked(value.reshape(y.shape), error.reshape(y.shape))


@truth_of("nn:dynamic_quantize")
def dynamic_quantize(x: Tracked, block_size: Any = None, dtype: Any = None) -> tuple[Any, Tracked]:
    """The quotients of a row or block by its scale, rounded to a dtype; and the scales.

    With a NaN in a block, its scale is NaN; with an infinity, it is infinite, infinities are the
    largest numbers of the dtype, and everything else is 0.
    """
    name = _name(dtype)
    rows, columns = _blocks(block_size, x.shape[-1])
    largest = _largest(x, rows, columns, block_size is None)
    scale = rounded_to(largest / _LIMITS[name], 2.0**-24)  # they are of float32
    small = np.asarray(scale.value < _LEAST, dtype=bool)
    scale = Tracked(np.where(small, tracked(_LEAST).value, scale.value),
                    np.where(small, 0.0, scale.error))  # fmt: skip
    wide = Tracked(*(_spread(part, rows, columns, x.shape) for part in (scale.value, scale.error)))
    y = _stored(x / wide, name) if x.value.size else x
    size, by = (a.plain for a in (x, wide))
    ends = np.where(np.isinf(size), np.copysign(_LIMITS[name], size), 0.0)
    marked = np.where(np.isnan(by), 0.0 if name == "int8" else np.nan, ends)
    odd = ~np.isfinite(by)
    found = Tracked(np.where(odd, tracked(marked).value, y.value), np.where(odd, 0.0, y.error))
    return found, scale


@truth_of("nn:scaled_linear")
def scaled_linear(
    x: Any,
    weight: Any,
    x_scale: Tracked,
    weight_scale: Tracked,
    bias: Tracked | None = None,
    block_size: Any = None,
    dtype: Any = None,
) -> Tracked:
    """The sum over blocks of the products of a row and a column, times both scales; and b.

    Products of int8 are exact; sums of those of float8 may be rounded.
    """
    width, outputs = weight.shape[-1], weight.shape[0]
    rows, columns = _blocks(block_size, width)
    across = -(-width // columns) if block_size is not None else 1
    shape = (*x.shape[:-1], outputs)
    by_x = _expanded(tracked(x_scale), (*x.shape[:-1], across))
    by_weight = _expanded(tracked(weight_scale), (-(-outputs // rows), across))
    parts = []
    for i in range(across):
        some = slice(i * columns, (i + 1) * columns)
        each = _spread_rows(by_weight[:, i], rows, outputs)
        found = _product(x[..., some], weight[:, some])
        left = by_x[..., i].reshape(*x.shape[:-1], 1)
        parts.append((found * left * each).reshape(*shape, 1))
    if bias is not None:
        parts.append(_expanded(tracked(bias), shape).reshape(*shape, 1))
    if not parts:
        return tracked(np.zeros(shape))
    return Tracked(
        np.concatenate([p.value for p in parts], -1), np.concatenate([p.error for p in parts], -1)
    ).sum(-1)


def _product(x: Any, weight: Any) -> Tracked:
    """x W^T, of integers without an error, of floats with that of their sum."""
    if not isinstance(x, Tracked):
        return tracked(np.asarray(x, np.int64) @ np.asarray(weight, np.int64).T)
    value = x.value[..., None, :] * weight.value
    return Tracked(value, np.zeros(value.shape)).sum(-1)


def _expanded(x: Tracked, shape: tuple[int, ...]) -> Tracked:
    return Tracked(np.broadcast_to(x.value, shape), np.broadcast_to(x.error, shape))


def _spread_rows(x: Tracked, rows: int, count: int) -> Tracked:
    return Tracked(np.repeat(x.value, rows)[:count], np.repeat(x.error, rows)[:count])
