"""Tensors without elements that stand for those of blocks: what a call makes of dtypes, and errors.

An operator is called with them where it is called on blocks, so that what it refuses is refused at
once, in its own words, and the dtype of the result is known before anything is computed.
"""

from __future__ import annotations

from typing import Any

from suanzi import _core
from suanzi.cluster.tasks import Call
from suanzi.cluster.tensor import BlockTensor
from suanzi.resolve.domains import domain_errors
from suanzi.tensors.tensor import Tensor


def empty_like(x: BlockTensor) -> Tensor:
    """Return a tensor of the same dtype and number of axes without elements; of none, with one."""
    return _core.full((0,) * x.ndim, x.dtype, 1)


def large_like(x: BlockTensor) -> Tensor:
    """Return a tensor of the same dtype and shape, all of it one element of memory."""
    return _core.view(_core.full((), x.dtype, 1), 0, x.shape, (0,) * x.ndim)


def small_like(x: BlockTensor) -> Tensor:
    """Return a tensor of the same dtype and rank with one element; of x's shape if it has none."""
    return _core.full((1,) * x.ndim if x.size else x.shape, x.dtype, 1)


def result_of(call: Call, operands: list[Any]) -> Any:
    """Return what a call makes of stand-ins, where no number is outside a domain."""
    with domain_errors(False):
        return call.here(*operands)
