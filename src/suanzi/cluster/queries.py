"""7.2.2, 7.2.1 on blocks: what a tensor is, and copies of it, for which nothing is computed."""

from __future__ import annotations

from suanzi.cluster.exchange import from_tensor
from suanzi.cluster.tensor import BlockTensor
from suanzi.cluster.ways import way
from suanzi.ops.query import shape_tensor
from suanzi.registry import Operator


@way("shape")
def shape(op: Operator, input: BlockTensor) -> BlockTensor:
    """Return the shape, as a tensor of one block."""
    return from_tensor(shape_tensor(op, input.shape), -1)


@way("size")
def size(op: Operator, input: BlockTensor) -> int:
    """Return the number of elements."""
    return input.size


@way("rank")
def rank(op: Operator, input: BlockTensor) -> int:
    """Return the number of axes."""
    return input.ndim


@way("is_contiguous")
def is_contiguous(op: Operator, input: BlockTensor) -> bool:
    """Tell that elements are in row-major order, which is what blocks stand for."""
    return True


@way("contiguous", "duplicate", takes_quantized=True)
def duplicate(op: Operator, input: BlockTensor) -> BlockTensor:
    """Return the tensor itself: its blocks never change."""
    return input
