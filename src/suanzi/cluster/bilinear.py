"""7.2.17.13, .13.4, .13.6, .13.8 on blocks: bilinear and its gradients.

Rows, and outputs or inputs of the result, are cut; what is summed over is whole in a task, but for
the gradient of the weight, which is a sum over rows: it is added up and rounded once.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import Any

from suanzi import _core, registry
from suanzi.cluster import grid
from suanzi.cluster.along import with_whole_axes
from suanzi.cluster.exchange import as_blocks
from suanzi.cluster.graph import Key, at_places, from_tasks, new_name
from suanzi.cluster.grid import Blocks
from suanzi.cluster.products import Product
from suanzi.cluster.reblocking import reblocked
from suanzi.cluster.reshaping import reshaped
from suanzi.cluster.stand_ins import large_like, result_of
from suanzi.cluster.tasks import Hole, call_on_blocks
from suanzi.cluster.tensor import BlockTensor
from suanzi.cluster.ways import way
from suanzi.dtypes import DType
from suanzi.registry import Operator
from suanzi.tensors.parts import converted
from suanzi.tensors.tensor import Tensor


@way("bilinear")
def bilinear(op: Operator, x: Any, y: Any, weight: Any, bias: Any) -> BlockTensor:
    """Return x A y^T + b, of some rows and some matrices of the weight in each task."""
    left, right, matrices = map(as_blocks, (x, y, weight))
    operands = [left, right, matrices, *([] if bias is None else [as_blocks(bias)])]
    ranks = matrices.ndim == 3 and left.ndim and right.ndim
    fit = ranks and matrices.shape[1:] == (left.shape[-1], right.shape[-1])
    fit = fit and left.shape[:-1] == right.shape[:-1]
    if fit and bias is not None:
        fit = operands[3].shape == matrices.shape[:1]
    dtype = _dtype_of(op, operands, bool(fit))
    lead = len(left.blocks) - 1
    cuts = (*left.blocks[:-1], matrices.blocks[0])
    rows = list(range(lead))
    parts: list[tuple[BlockTensor, Sequence[int | None]]] = [
        (_in_rows(left, cuts), [*rows, None]),
        (_in_rows(right, cuts), [*rows, None]),
        (with_whole_axes(matrices, (1, 2)), [lead, None, None]),
    ]
    if bias is not None:
        parts.append((reblocked(operands[3], cuts[-1:]), [lead]))
    call = call_on_blocks(op.name, *map(Hole, range(len(parts))))
    return at_places(op.name, call, parts, cuts, dtype)


@way("bilinear_bwd_in1", "bilinear_bwd_in2")
def bilinear_bwd_in(op: Operator, out_grad: Any, weight: Any, **given: Any) -> BlockTensor:
    """Return the gradient of one input, of some rows and some of its elements in each task."""
    (other,) = given.values()
    gradient, source, matrices = map(as_blocks, (out_grad, other, weight))
    axis, across = (2, 1) if "y" in given else (1, 2)
    ranks = matrices.ndim == 3 and gradient.ndim and source.ndim
    fit = ranks and (gradient.shape[-1], source.shape[-1]) == (
        matrices.shape[0],
        matrices.shape[axis],
    )
    fit = fit and gradient.shape[:-1] == source.shape[:-1]
    dtype = _dtype_of(op, [gradient, source, matrices], bool(fit))
    lead = gradient.ndim - 1
    cuts = (*gradient.blocks[:-1], matrices.blocks[across])
    rows = list(range(lead))
    parts: list[tuple[BlockTensor, Sequence[int | None]]] = [
        (_in_rows(gradient, cuts), [*rows, None]),
        (_in_rows(source, cuts), [*rows, None]),
        (with_whole_axes(matrices, (0, axis)), [lead if a == across else None for a in range(3)]),
    ]
    call = call_on_blocks(op.name, Hole(0), Hole(1), Hole(2))
    return at_places(op.name, call, parts, cuts, dtype)


@way("bilinear_bwd_weight")
def bilinear_bwd_weight(op: Operator, out_grad: Any, x: Any, y: Any) -> BlockTensor:
    """Return the gradient of the weight: the sum of those of blocks of rows."""
    operands = [as_blocks(one) for one in (out_grad, x, y)]
    fit = all(one.ndim and one.shape[:-1] == operands[0].shape[:-1] for one in operands)
    dtype = _dtype_of(op, operands, fit)
    count = math.prod(operands[0].shape[:-1])
    flat = [reshaped(one, (count, one.shape[-1])) for one in operands]
    first = flat[0].blocks[0]
    flat = [reblocked(one, (first, one.blocks[1])) for one in flat]
    cuts = tuple(one.blocks[1] for one in flat)
    how = Product(dtype)
    name, parts = new_name(op.name), new_name(f"{op.name}-rows")
    tasks: dict[Key, Any] = {}
    for place in grid.places(cuts):
        keys: list[Key] = []
        for row in range(len(first)):
            keys.append((parts, row, *place))
            some = [(one.name, row, at) for one, at in zip(flat, place, strict=True)]
            tasks[keys[-1]] = (partial(_of_rows, op.name, dtype, how.wide), *some)
        tasks[(name, *place)] = (how.finished, keys)
    return from_tasks(name, tasks, cuts, dtype, flat)


def _of_rows(name: str, dtype: DType, wide: DType, *blocks: Tensor) -> Tensor:
    """Return the gradient of the weight of some rows, as wide as sums are."""
    made: Tensor = registry.call(name, *(converted(converted(b, dtype), wide) for b in blocks))
    return made


def _in_rows(x: BlockTensor, cuts: Blocks) -> BlockTensor:
    """Return a tensor with the leading cuts of a result, and its last axis whole."""
    return reblocked(x, (*cuts[: x.ndim - 1], (x.shape[-1],)))


def _dtype_of(op: Operator, operands: list[BlockTensor], fit: bool) -> DType:
    """Return the dtype of the result, or raise the operator's own error."""
    call = call_on_blocks(op.name, *map(Hole, range(len(operands))))
    small = [_core.full((1,) * x.ndim, x.dtype, 1) for x in operands]
    made: DType = result_of(call, small if fit else [large_like(x) for x in operands]).dtype
    return made
