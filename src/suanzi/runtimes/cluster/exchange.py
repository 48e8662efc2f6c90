"""Tensors of blocks from and to tensors of this machine, NumPy and Dask's arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from suanzi.base.dtypes import DType
from suanzi.base.dtypes import dtype as dtype_of
from suanzi.base.status import InvalidArgument
from suanzi.runtimes.cluster import grid
from suanzi.runtimes.cluster.graph import block_by_block, each_block, from_tasks, new_name
from suanzi.runtimes.cluster.quantization import quantization_of
from suanzi.runtimes.cluster.tasks import Hole, call_on_blocks
from suanzi.runtimes.cluster.tensor import BlockTensor
from suanzi.runtimes.cluster.ways import METHODS
from suanzi.tensors.make import tensor
from suanzi.tensors.parts import copy
from suanzi.tensors.tensor import Tensor


def is_array(x: Any) -> bool:
    """Tell whether an operand is an array of NumPy, which is cut into blocks where it is met."""
    return isinstance(x, np.ndarray) and x.ndim > 0


def as_blocks(x: Any) -> BlockTensor:
    """Return an operand as a tensor of blocks."""
    return x if isinstance(x, BlockTensor) else from_tensor(tensor(x))


def from_tensor(x: Tensor, size: Any = None) -> BlockTensor:
    """Return a tensor of this machine in blocks; a copy of it travels with the graph."""
    cuts = grid.cut(x.shape, size, x.dtype)
    name = new_name("tensor")
    tasks: dict[Any, Any] = {}
    for place, where in grid.parts(cuts):
        tasks[(name, *place)] = copy(x[where] if where else x)
    made = from_tasks(name, tasks, cuts, x.dtype)
    return BlockTensor(made.graph, name, cuts, x.dtype, quantization_of(x))


def from_dask(array: Any, dtype: DType | None = None) -> BlockTensor:
    """Return an array of Dask as a tensor of blocks: its chunks are the blocks, none is gathered.

    Chunks may be arrays of NumPy or anything that :func:`suanzi.tensor` takes.
    """
    if any(n != n for axis in array.chunks for n in axis):
        raise InvalidArgument(
            "tensor: the array has chunks of unknown size; let Dask find them first, with "
            "array.compute_chunk_sizes()."
        )
    given = dtype_of(array.dtype) if dtype is None else dtype
    cuts = tuple(tuple(map(int, axis)) for axis in array.chunks)
    call = call_on_blocks(tensor, Hole(0), given)
    return each_block("tensor", cuts, given, lambda at: (call, (array.name, *at)), [array])


def to_dask(x: BlockTensor) -> Any:
    """Return an array of Dask with the blocks, as NumPy arrays, for chunks."""
    import dask.array as da

    arrays = block_by_block("numpy", as_array, [(x, range(x.ndim))], x.blocks, x.dtype)
    meta = as_array(tensor([], x.dtype).reshape((0,) * x.ndim if x.ndim else (0,)))
    return da.Array(arrays.graph, arrays.name, x.blocks, dtype=meta.dtype)


METHODS.to_dask, METHODS.in_blocks = to_dask, from_tensor


def as_array(block: Tensor) -> np.ndarray[Any, Any]:
    """Return a block as a NumPy array that cannot be written to: blocks never change."""
    array = block.numpy()
    array.flags.writeable = False
    return array
