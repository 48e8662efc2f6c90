"""Joins the blocks of a cluster into one local tensor, and checks what workers returned."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from suanzi import _core
from suanzi.cluster.grid import Blocks, parts, shape_of
from suanzi.dtypes import DType
from suanzi.status import InternalError
from suanzi.tensors.parts import copy
from suanzi.tensors.tensor import Tensor

if TYPE_CHECKING:
    from suanzi.cluster.quantization import Quantization


def gathered(
    nested: Any, blocks: Blocks, dtype: DType, quantization: Quantization | None = None
) -> Tensor:
    """Return one tensor of blocks that are given in nested lists, one level for each axis."""
    if all(len(axis) == 1 for axis in blocks):  # a copy: a block may be kept, and must not change
        index = (0,) * max(len(blocks), 1)
        return copy(checked(_at(nested, index), shape_of(blocks), dtype, index))
    whole = _core.empty(shape_of(blocks), dtype)
    for index, where in parts(blocks):
        shape = tuple(axis.stop - axis.start for axis in where)
        _core.copy_into(whole[where], checked(_at(nested, index), shape, dtype, index))
    return whole if quantization is None else quantization.put_on(whole)


def _at(nested: Any, index: tuple[int, ...]) -> Any:
    for i in index:
        nested = nested[i]
    return nested


def checked(block: Any, shape: tuple[int, ...], dtype: DType, index: tuple[int, ...]) -> Tensor:
    """Return a block that a worker computed, if it is what the graph promises."""
    if isinstance(block, Tensor) and block.shape == shape and block.dtype == dtype:
        return block
    received = (
        f"a tensor of shape {block.shape} and dtype {block.dtype}"
        if isinstance(block, Tensor)
        else f"an object of type {type(block).__name__}"
    )
    raise InternalError(
        f"cluster: block {index} should be a tensor of shape {shape} and dtype {dtype}, but a "
        f"worker returned {received}. Check that every worker has the same version of suanzi and "
        "that custom functions return blocks of the promised shape and dtype."
    )
