"""7.2.13.1.4, 7.2.17.12.4, .12.6 on blocks: gradients of `reduce` and `linear`."""

from __future__ import annotations

import math
from typing import Any

from suanzi import _core, registry
from suanzi.cluster.exchange import as_blocks
from suanzi.cluster.graph import block_by_block
from suanzi.cluster.products import multiplied
from suanzi.cluster.reblocking import reblocked
from suanzi.cluster.reshaping import reshaped
from suanzi.cluster.stand_ins import large_like, result_of
from suanzi.cluster.tasks import Hole, call_on_blocks
from suanzi.cluster.tensor import BlockTensor
from suanzi.cluster.ways import way
from suanzi.dtypes import DType
from suanzi.ops.reduction_modes import axes_argument, reduced_shape
from suanzi.registry import Operator
from suanzi.tensors.tensor import Tensor


@way("linear_bwd_in")
def linear_bwd_in(op: Operator, out_grad: Any, weight: Any) -> BlockTensor:
    """Return the gradient of the input: that of the result by the weight."""
    gradient, matrix = as_blocks(out_grad), as_blocks(weight)
    fits = matrix.ndim == 2 and gradient.ndim and gradient.shape[-1] == matrix.shape[0]
    dtype = _dtype_of(op, gradient, matrix, bool(fits))
    return multiplied(gradient, _conjugate(matrix), dtype)


@way("linear_bwd_weight")
def linear_bwd_weight(op: Operator, out_grad: Any, input: Any) -> BlockTensor:
    """Return the gradient of the weight: those of all rows together."""
    gradient, x = as_blocks(out_grad), as_blocks(input)
    fits = gradient.ndim and x.ndim and gradient.shape[:-1] == x.shape[:-1]
    dtype = _dtype_of(op, gradient, x, bool(fits))
    rows = math.prod(x.shape[:-1])
    left = registry.call("transpose", reshaped(gradient, (rows, gradient.shape[-1])))
    return multiplied(left, _conjugate(reshaped(x, (rows, x.shape[-1]))), dtype)


def _dtype_of(op: Operator, x: BlockTensor, y: BlockTensor, fits: bool) -> DType:
    """Return the dtype of a gradient, or raise the operator's own error of shapes and dtypes."""
    call = call_on_blocks(op.name, Hole(0), Hole(1))
    stand_ins = [_one(x), _one(y)] if fits else [large_like(x), large_like(y)]
    made: DType = result_of(call, stand_ins).dtype
    return made


def _conjugate(x: BlockTensor) -> BlockTensor:
    return registry.call("conj", x) if x.dtype.is_complex else x


def _one(x: BlockTensor) -> Tensor:
    return _core.full((1,) * x.ndim, x.dtype, 1)


@way("reduce_bwd")
def reduce_bwd(
    op: Operator, out_grad: Any, input: Any, mode: Any, axis: Any, keep_dims: Any
) -> BlockTensor:
    """Return the gradient of what was reduced: each block has all of the axes that were."""
    gradient = as_blocks(out_grad)
    if input is None:
        result_of(call_on_blocks(op.name, Hole(0)), [_one(gradient)])
    x = as_blocks(input)
    axes = axes_argument(op, x.ndim, axis)
    call = call_on_blocks(op.name, Hole(0), Hole(1), mode, axis, keep_dims)
    if gradient.shape != reduced_shape(x.shape, axes, bool(keep_dims)):
        result_of(call, [large_like(gradient), large_like(x)])  # which raises
    small = _core.full(reduced_shape((1,) * x.ndim, axes, bool(keep_dims)), gradient.dtype, 1)
    dtype = result_of(call, [small, _one(x)]).dtype
    cuts = tuple((sum(sizes),) if a in axes else sizes for a, sizes in enumerate(x.blocks))
    left = [a for a in range(x.ndim) if keep_dims or a not in axes]
    gradient = reblocked(gradient, tuple((1,) if a in axes else cuts[a] for a in left))
    pairs = [(gradient, left), (reblocked(x, cuts), range(x.ndim))]
    return block_by_block(op.name, call, pairs, cuts, dtype)
