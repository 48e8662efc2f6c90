"""Tensors without elements that stand for those of blocks: what a call makes of dtypes, and errors.

An operator is called with them where it is called on blocks, so that what it refuses is refused at
once, in its own words, and the dtype of the result is known before anything is computed.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from suanzi import _core
from suanzi.cluster.tasks import Call
from suanzi.cluster.tensor import BlockTensor
from suanzi.resolve.domains import domain_errors
from suanzi.tensors.tensor import Tensor


def empty_like(x: BlockTensor) -> Tensor:
    """Return a tensor of the same dtype and number of axes without elements; of none, with one."""
    return _with_a_scale(x, _core.full((0,) * x.ndim, x.dtype, 1))


def large_like(x: BlockTensor) -> Tensor:
    """Return a tensor of the same dtype and shape, all of it one element of memory."""
    made = _core.view(_core.full((), x.dtype, 1), 0, x.shape, (0,) * x.ndim)
    return made if x.quantization is None else x.quantization.put_on(made)


def small_like(x: BlockTensor) -> Tensor:
    """Return a tensor of the same dtype and rank with one element; of x's shape if it has none."""
    return _with_a_scale(x, _core.full((1,) * x.ndim if x.size else x.shape, x.dtype, 1))


def thin_like(x: BlockTensor, axes: Collection[int | None]) -> Tensor:
    """Return a tensor of the same dtype and rank that has all of some axes, and 1 of others.

    The axis of the channels must be one of them.
    """
    shape = (n if a in axes else min(n, 1) for a, n in enumerate(x.shape))
    made = _core.full(tuple(shape), x.dtype, 1)
    return made if x.quantization is None else x.quantization.put_on(made)


def _with_a_scale(x: BlockTensor, stand_in: Tensor) -> Tensor:
    """Return a stand-in for a quantised tensor with one scale: for how many does not matter."""
    if x.quantization is not None:
        _core.set_quantization(stand_in, [1.0], x.quantization.zero_point, -1)
    return stand_in


def result_of(call: Call, operands: list[Any]) -> Any:
    """Return what a call makes of stand-ins, where no number is outside a domain."""
    with domain_errors(False):
        return call.here(*operands)
