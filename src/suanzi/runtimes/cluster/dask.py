"""Tensors as the chunks of Dask's arrays: importing this module registers them.

It registers the chunk type and what Dask does with chunks: concatenate, take, tensordot, einsum,
divide, counts of elements and the bytes they take. `dask.array.map_blocks`, `store` and all that
moves chunks then keep tensors; what Dask computes itself it computes chunk by chunk and rounds
after each. Sums of narrow dtypes are better made by the device `cluster`, which rounds once.

>>> import dask.array as da, suanzi as sz, suanzi.dask
>>> x = da.from_array(sz.tensor([1, 2, 3, 4], sz.bfloat16), chunks=2, asarray=False)
>>> sz.tensor(x.map_blocks(sz.exp).compute()[:1])
Tensor([2.72], dtype=bfloat16)
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

try:
    from dask.array import dispatch, register_chunk_type
    from dask.sizeof import sizeof
except ModuleNotFoundError:
    raise ImportError(
        "suanzi.dask needs Dask; `pip install 'suanzi[cluster]'` installs it."
    ) from None

from suanzi.base.dtypes import dtype as dtype_of
from suanzi.faces import array_api as xp
from suanzi.tensors.make import tensor
from suanzi.tensors.tensor import Tensor

__all__ = ["concatenate", "counts", "divide", "einsum", "present", "size_of", "take", "tensordot"]


def concatenate(arrays: Sequence[Any], axis: int = 0) -> Tensor:
    """Return chunks one after the other along an axis."""
    return xp.concat([tensor(x) for x in arrays], axis=axis)


def take(x: Any, indices: Any, axis: int = 0) -> Tensor:
    """Return the parts of a chunk at some indices along an axis."""
    return xp.take(tensor(x), tensor(indices), axis=axis)


def tensordot(a: Any, b: Any, axes: Any = 2) -> Tensor:
    """Return sums of products over axes; accumulated wide and rounded once for each pair."""
    return xp.tensordot(tensor(a), tensor(b), axes=axes)


def einsum(subscripts: str, *operands: Any, **ignored: object) -> Tensor:
    """Return sums of products by the letters of axes; `order` and `casting` are NumPy's own."""
    dtype = ignored.get("dtype")
    made = xp.einsum(subscripts, *map(tensor, operands))
    return made if dtype is None else made.astype(dtype_of(dtype))


def divide(a: Any, b: Any, dtype: Any = None) -> Tensor:
    """Return the quotients, in a dtype."""
    made = xp.divide(tensor(a), tensor(b))
    return made if dtype is None else made.astype(dtype_of(dtype))


def counts(x: Tensor, axis: Any = None, keepdims: bool = False, dtype: Any = "float64") -> Tensor:
    """Return how many elements there are along axes, for every element that is left."""
    axes, left = _left(x, axis, keepdims)
    return xp.full(left, math.prod(x.shape[a] for a in axes), dtype=dtype_of(dtype))


def present(x: Tensor, axis: Any = None, keepdims: bool = False, dtype: Any = "float64") -> Tensor:
    """Return how many elements along axes are not NaN."""
    there = xp.astype(xp.logical_not(xp.isnan(x)), dtype_of(dtype))
    return xp.sum(there, axis=axis if axis is None else tuple(_axes(x, axis)), keepdims=keepdims)


def size_of(x: Tensor) -> int:
    """Return the bytes that a tensor keeps: those of all its memory, of which it may be a part."""
    return int(x.storage.nbytes)


def _axes(x: Tensor, axis: Any) -> list[int]:
    if axis is None:
        return list(range(x.ndim))
    return [a % x.ndim for a in (axis if isinstance(axis, tuple | list) else [axis])]


def _left(x: Tensor, axis: Any, keepdims: bool) -> tuple[list[int], tuple[int, ...]]:
    axes = _axes(x, axis)
    if keepdims:
        return axes, tuple(1 if a in axes else n for a, n in enumerate(x.shape))
    return axes, tuple(n for a, n in enumerate(x.shape) if a not in axes)


register_chunk_type(Tensor)
sizeof.register(Tensor, size_of)
for _name, _function in {
    "concatenate_lookup": concatenate,
    "take_lookup": take,
    "tensordot_lookup": tensordot,
    "einsum_lookup": einsum,
    "divide_lookup": divide,
    "numel_lookup": counts,
    "nannumel_lookup": present,
}.items():
    if hasattr(dispatch, _name):  # Dask before 2024.9 asks nobody how chunks are taken from
        getattr(dispatch, _name).register(Tensor, _function)
