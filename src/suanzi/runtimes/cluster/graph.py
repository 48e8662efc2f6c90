"""Graphs of tasks in Dask's own format: how a tensor of blocks is put together.

A layer has a task for every block of one tensor; its keys are the tensor's name and the place of
the block in the grid.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from dask.blockwise import blockwise
from dask.highlevelgraph import HighLevelGraph

from suanzi.runtimes.cluster.grid import Blocks, numbers, places
from suanzi.runtimes.cluster.tensor import BlockTensor

if TYPE_CHECKING:
    from suanzi.base.dtypes import DType

Key = tuple[Any, ...]
"""The name of a tensor, and the place of a block of it."""


def new_name(op: str) -> str:
    """Return a name that no other tensor has; Dask's dashboard shows the part before the dash."""
    return f"{op}-{uuid4().hex}"


def from_tasks(
    name: str,
    tasks: Mapping[Key, Any],
    cuts: Blocks,
    dtype: DType,
    needs: Sequence[BlockTensor] = (),
) -> BlockTensor:
    """Return a tensor of blocks whose tasks are given, by their keys.

    A task is ``(function, argument, ...)``, where keys and lists of keys of the tensors that are
    needed stand for their blocks; or a block itself.
    """
    graph = HighLevelGraph.from_collections(name, dict(tasks), dependencies=list(needs))
    return BlockTensor(graph, name, cuts, dtype)


def each_block(
    op: str,
    cuts: Blocks,
    dtype: DType,
    task: Callable[[tuple[int, ...]], Any],
    needs: Sequence[BlockTensor] = (),
) -> BlockTensor:
    """Return a tensor of blocks; `task` gives the task of the block at each place of the grid."""
    name = new_name(op)
    return from_tasks(name, {(name, *at): task(at) for at in places(cuts)}, cuts, dtype, needs)


def itself(block: Any) -> Any:
    """Return a block: the task of one that is also a block of another tensor."""
    return block


def at_places(
    op: str,
    function: Callable[..., Any],
    operands: Sequence[tuple[BlockTensor, Sequence[int | None]]],
    cuts: Blocks,
    dtype: DType,
) -> BlockTensor:
    """Return what a function makes of blocks of operands that have axes of their own, too.

    Each operand comes with the axes of the result that its own are; None is one that it is whole
    along.
    """
    return each_block(
        op, cuts, dtype,
        lambda place: (
            function,
            *(
                (x.name, *(0 if a is None or len(cut) == 1 else place[a]
                           for a, cut in zip(axes, x.blocks, strict=True)))
                for x, axes in operands
            ),
        ),
        [x for x, _ in operands],
    )  # fmt: skip


def block_by_block(
    op: str,
    function: Callable[..., Any],
    operands: Sequence[tuple[BlockTensor, Sequence[int]]],
    cuts: Blocks,
    dtype: DType,
) -> BlockTensor:
    """Return what a function makes of the blocks that stand at the same place.

    Each operand comes with the axes of the result that its own axes are. An axis of one block is
    that block everywhere. Dask fuses such layers: a chain of them is one task per block.
    """
    name = new_name(op)
    pairs: list[Any] = []
    counted = {}
    for operand, axes in operands:
        pairs += [operand.name, tuple(axes)]
        counted[operand.name] = numbers(operand.blocks)
    layer = blockwise(function, name, tuple(range(len(cuts))), *pairs, numblocks=counted)
    needs = [operand for operand, _ in operands]
    graph = HighLevelGraph.from_collections(name, layer, dependencies=needs)
    return BlockTensor(graph, name, cuts, dtype)
