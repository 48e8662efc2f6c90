"""Operators that take elements one by one: blocks of one grid, each its own task."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from suanzi.base.dtypes import DType
from suanzi.base.shapes import broadcast_shapes
from suanzi.base.status import DimensionsMismatch, StatusError, TypeMismatch
from suanzi.promote.registry import REGISTRY, Operator
from suanzi.runtimes.cluster import grid
from suanzi.runtimes.cluster.exchange import as_blocks, is_array
from suanzi.runtimes.cluster.graph import block_by_block
from suanzi.runtimes.cluster.moving import reblocked
from suanzi.runtimes.cluster.tasks import (
    Call,
    Hole,
    call_on_blocks,
    empty_like,
    hollow_like,
    large_like,
    result_of,
)
from suanzi.runtimes.cluster.tensor import BlockTensor
from suanzi.runtimes.cluster.ways import METHODS, as_called, way
from suanzi.tensors.tensor import Tensor


@way(*(name for name, op in REGISTRY.items() if op.form == "elementwise"))
def elementwise(op: Operator, **arguments: Any) -> BlockTensor:
    """Run an operator on blocks at the same position of the grid."""
    args, kwargs = as_called(op.key, arguments)
    return on_elements(op.name, op.key, *args, **kwargs)


def symbol(function: Callable[..., Any], *args: Any, **kwargs: Any) -> BlockTensor:
    """Run a function of elements that is no operator of the standard."""
    return on_elements(function.__name__, function, *args, **kwargs)


METHODS.elementwise, METHODS.symbol = elementwise, symbol


def on_elements(
    name: str, function: str | Callable[..., Any], *args: Any, **kwargs: Any
) -> BlockTensor:
    """Run a function of elements, by name or any that can be pickled, on tensors of blocks."""
    call, operands = held(function, *args, **kwargs)
    if any(map(_has_blocks, (*args, *kwargs.values()))):
        raise TypeMismatch(
            f"{name}: a tensor of blocks is in a list; give the tensor, or one of sz.stack(list)."
        )
    _check_shapes(call, operands)
    made = result_of(call, [empty_like(x) for x in operands])
    if not isinstance(made, Tensor):
        raise TypeMismatch(
            f"{name}: not available for tensors of blocks, for it has several results. Gather its "
            "arguments first, with x.to_host(), if they fit this machine's memory."
        )
    dtype = made.dtype
    cuts = grid.common([x.blocks for x in operands])
    aligned = [reblocked(x, grid.operand_grid(cuts, x.shape)) for x in operands]
    axes = range(len(cuts))
    return block_by_block(
        name, call, [(x, axes[len(cuts) - x.ndim :]) for x in aligned], cuts, dtype
    )


def _has_blocks(x: Any) -> bool:
    """Tell whether a list has tensors of blocks, for which a call has no holes."""
    return isinstance(x, list | tuple) and any(isinstance(one, BlockTensor) for one in x)


def _check_shapes(call: Call, operands: list[BlockTensor]) -> None:
    """Raise the operator's own error for shapes that it does not take, which blocks may hide."""
    shapes = {x.shape for x in operands}
    if len(shapes) < 2:
        return
    refused = broadcast_shapes(list(shapes)) is None
    if not refused:
        stand_ins = [hollow_like(x) for x in operands]
        try:
            result_of(call, stand_ins)
        except DimensionsMismatch:  # gradients of activations, say, repeat nothing
            refused = True
        except StatusError:  # of the element that a stand-in has, or of the shapes
            refused = not all(x.size for x in stand_ins)
    if refused:
        result_of(call, [large_like(x) for x in operands])


def in_dtype(x: BlockTensor, dtype: DType) -> BlockTensor:
    """Return a tensor cast to a dtype; itself if it has it."""
    return x if x.dtype is dtype else on_elements("cast", "cast", x, dtype)


def held(
    function: str | Callable[..., Any], *args: Any, **kwargs: Any
) -> tuple[Call, list[BlockTensor]]:
    """Return a call with holes where tensors of blocks and arrays are, and these."""
    operands: list[BlockTensor] = []

    def one(x: Any) -> Any:
        if isinstance(x, BlockTensor) or is_array(x):
            operands.append(as_blocks(x))
            return Hole(len(operands) - 1)
        return x

    call = call_on_blocks(
        function, *[one(x) for x in args], **{key: one(x) for key, x in kwargs.items()}
    )
    return call, operands
