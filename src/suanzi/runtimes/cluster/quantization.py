"""What the integers of quantised blocks stand for: each block has the part that concerns it.

The scales of channels are cut like the blocks, so that every block is a quantised tensor; the
tensor of blocks has all of them. An operator that moves elements moves the integers and their
scales.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from suanzi import _core
from suanzi.base.dtypes import DType, stored_dtype
from suanzi.runtimes.cluster import grid
from suanzi.runtimes.cluster.graph import block_by_block, from_tasks, new_name
from suanzi.runtimes.cluster.tensor import BlockTensor
from suanzi.runtimes.cluster.ways import METHODS
from suanzi.tensors.parts import int_repr

if TYPE_CHECKING:
    from suanzi.tensors.tensor import Tensor


@dataclass(frozen=True)
class Quantization:
    """What integers stand for: (integer - zero_point) * scale."""

    scale: tuple[float, ...]
    zero_point: int
    axis: int | None
    """That of the channels, which have a scale each."""

    def part(self, where: tuple[slice, ...]) -> Quantization:
        """Return the quantisation of a part of the tensor."""
        if self.axis is None:
            return self
        return Quantization(self.scale[where[self.axis]], self.zero_point, self.axis)

    def put_on(self, x: Tensor) -> Tensor:
        """Return a tensor of integers in a quantised dtype that now stand for numbers so."""
        axis = -1 if self.axis is None else self.axis
        _core.set_quantization(x, list(self.scale), self.zero_point, axis)
        return x


def quantization_of(x: Tensor) -> Quantization | None:
    """Return what the integers of a tensor stand for, if it is quantised and has a scale."""
    if x.scale is None or x.zero_point is None:
        return None
    return Quantization(tuple(x.scale), x.zero_point, x.channel_axis)


def codes(x: BlockTensor) -> BlockTensor:
    """Return the integers that quantised blocks store."""
    if x.dtype.kind != "quantized":
        int_repr(_core.empty((), x.dtype))  # which says so
    return block_by_block(
        "int_repr", int_repr, [(x, range(x.ndim))], x.blocks, stored_dtype(x.dtype)
    )


METHODS.int_repr = codes


def standing_for(x: BlockTensor, dtype: DType, quantization: Quantization | None) -> BlockTensor:
    """Return blocks of integers as those of a quantised dtype."""
    if quantization is None or quantization.axis is None:
        function = partial(_standing_for, dtype, quantization)
        made = block_by_block("quantized", function, [(x, range(x.ndim))], x.blocks, dtype)
    else:
        name = new_name("quantized")
        tasks = {
            (name, *place): (
                partial(_standing_for, dtype, quantization.part(where)),
                (x.name, *place),
            )
            for place, where in grid.parts(x.blocks)
        }
        made = from_tasks(name, tasks, x.blocks, dtype, [x])
    return BlockTensor(made.graph, made.name, made.blocks, dtype, quantization)


def _standing_for(dtype: DType, quantization: Quantization | None, block: Tensor) -> Tensor:
    memory = block.storage
    made = _core.wrap_memory(
        memory.data,
        memory.size,
        dtype,
        block.shape,
        block.strides,
        block.offset,
        memory.read_only,
        memory,
    )
    return made if quantization is None else quantization.put_on(made)
