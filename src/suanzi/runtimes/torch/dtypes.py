"""Which dtypes PyTorch has, and in which each is carried and computed."""

from __future__ import annotations

from functools import cache

import torch

from suanzi.base import dtypes
from suanzi.base.dtypes import DTYPES, DType
from suanzi.base.status import TypeMismatch

TORCH: dict[DType, torch.dtype] = {
    dt: getattr(torch, dt.name)
    for dt in DTYPES
    if isinstance(getattr(torch, dt.name, None), torch.dtype)
    and (dt.bits >= 8 or dt.kind == "bool")  # narrower ones are packed there
}
"""PyTorch's dtypes of suanzi's, of those that it has with the same elements in memory."""
SUANZI: dict[torch.dtype, DType] = {known: dt for dt, known in TORCH.items()}

WIDE_SIGNED = {
    dtypes.uint16: torch.int32,
    dtypes.uint32: torch.int64,
    dtypes.uint64: torch.int64,
}
"""What unsigned integers are computed in: PyTorch has no arithmetic of them. uint64 has no wider
dtype: int64 has its bits."""


def torch_dtype(dt: DType) -> torch.dtype:
    """Return PyTorch's dtype, or raise TypeMismatch if it has none."""
    found = TORCH.get(dt)
    if found is None:
        raise TypeMismatch(
            f"PyTorch has no {dt}; it has {', '.join(known.name for known in TORCH)}. Cast on the "
            "host first, with sz.cast."
        )
    return found


def suanzi_dtype(x: torch.Tensor) -> DType:
    """Return the dtype of a tensor of PyTorch, or raise TypeMismatch if suanzi has none."""
    found = SUANZI.get(x.dtype)
    if found is None:
        raise TypeMismatch(f"suanzi has no dtype for a tensor of {x.dtype}.")
    return found


@cache
def lane(dt: DType) -> torch.dtype:
    """Return the dtype that elements of a dtype are computed in before the result is rounded."""
    if dt in WIDE_SIGNED:
        return WIDE_SIGNED[dt]
    return TORCH[dtypes.widened(dt)]


@cache
def carrier(dtype: torch.dtype) -> torch.dtype:
    """Return a dtype of the same size that PyTorch can move in every way: most move bits alone."""
    if dtype in (torch.complex128, torch.bool):
        return dtype
    return {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}[dtype.itemsize]


def carried(x: torch.Tensor) -> torch.Tensor:
    """Return a tensor as integers of the same bits, to be moved."""
    wanted = carrier(x.dtype)
    return x if wanted is x.dtype else resolved(x).view(wanted)


def resolved(x: torch.Tensor) -> torch.Tensor:
    """Return a tensor whose memory has its elements: nothing is still to be conjugated."""
    return x.resolve_conj().resolve_neg() if x.is_conj() or x.is_neg() else x
