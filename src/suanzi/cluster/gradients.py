"""7.2.13.1.4, 7.2.17.2.4, .2.6, .12.4, .12.6 on blocks: gradients of reduce, dot and linear."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

from suanzi import _core, registry
from suanzi.cluster.elementwise import on_elements
from suanzi.cluster.exchange import as_blocks
from suanzi.cluster.graph import block_by_block
from suanzi.cluster.products import multiplied
from suanzi.cluster.reblocking import reblocked
from suanzi.cluster.reshaping import reshaped
from suanzi.cluster.stand_ins import large_like, result_of
from suanzi.cluster.subscripts import subscript
from suanzi.cluster.tasks import Hole, call_on_blocks
from suanzi.cluster.tensor import BlockTensor
from suanzi.cluster.ways import way
from suanzi.dtypes import DType
from suanzi.ops.linear_algebra_products import dot_shape, dtype_of
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


@way("dot_bwd1")
def dot_bwd1(op: Operator, out_grad: Any, vec1: Any, vec2: Any) -> BlockTensor:
    """Return the gradient of the first operand of `dot`."""
    gradient, first, second, computed, dtype = _read_dot(op, out_grad, vec1, vec2, "vec2")
    other = _conjugate(second)
    if not first.ndim or not second.ndim:
        return _scaled(gradient, first, other, computed, dtype)
    columns = other if other.ndim > 1 else subscript(other, (slice(None), None))
    n = columns.ndim
    across = registry.call("transpose", columns, [*range(n - 2), n - 1, n - 2])
    rows = math.prod(first.shape[:-1])
    count = math.prod(gradient.shape[first.ndim - 1 :])
    made = multiplied(
        reshaped(gradient, (rows, count)), reshaped(across, (count, first.shape[-1])), computed
    )
    return _in_dtype(reshaped(made, first.shape), dtype)


@way("dot_bwd2")
def dot_bwd2(op: Operator, out_grad: Any, vec1: Any, vec2: Any) -> BlockTensor:
    """Return the gradient of the second operand of `dot`."""
    gradient, first, second, computed, dtype = _read_dot(op, out_grad, vec1, vec2, "vec1")
    other = _conjugate(first)
    if not first.ndim or not second.ndim:
        return _scaled(gradient, second, other, computed, dtype)
    rows, inner = math.prod(first.shape[:-1]), first.shape[-1]
    flat = reshaped(gradient, (rows, math.prod(gradient.shape[first.ndim - 1 :])))
    made = multiplied(
        registry.call("transpose", reshaped(other, (rows, inner))), flat, computed
    )  # k down, all the rest of vec2 across
    if second.ndim > 2:
        batch = math.prod(second.shape[:-2])
        made = reshaped(made, (inner, batch, second.shape[-1]))
        made = registry.call("transpose", made, (1, 0, 2))
    return _in_dtype(reshaped(made, second.shape), dtype)


def _in_dtype(x: BlockTensor, dtype: DType) -> BlockTensor:
    return x if x.dtype is dtype else on_elements("cast", "cast", x, dtype)


def _read_dot(
    op: Operator, out_grad: Any, vec1: Any, vec2: Any, other: str
) -> tuple[BlockTensor, BlockTensor, BlockTensor, DType, DType]:
    """Return operands, the dtype that is computed in and that of the result, or raise."""
    gradient, first, second = map(as_blocks, (out_grad, vec1, vec2))
    call = call_on_blocks(op.name, Hole(0), Hole(1), Hole(2))
    both = bool(first.ndim and second.ndim)
    expected = dot_shape(op, first.shape, second.shape) if both else first.shape or second.shape
    if gradient.shape != expected:
        result_of(call, [large_like(x) for x in (gradient, first, second)])  # which raises
    few = {"out_grad": _one(gradient), "vec1": _one(first), "vec2": _one(second)}
    dtype = result_of(call, list(few.values())).dtype
    computed = dtype_of(op, {name: few[name] for name in ("out_grad", other)}, None)
    return gradient, first, second, computed, dtype


def _scaled(
    gradient: BlockTensor, operand: BlockTensor, other: BlockTensor, computed: DType, dtype: DType
) -> BlockTensor:
    """Return the gradient of an operand where one of the two has rank 0."""
    if operand.ndim == 0 and other.ndim > 0:
        lines = [reshaped(x, (x.size,)) for x in (gradient, other)]
        made = multiplied(lines[0], lines[1], computed)
    else:
        made = on_elements("mul", partial(_product, computed), gradient, other)
    return _in_dtype(made, dtype)


def _product(dtype: DType, x: Tensor, y: Tensor) -> Tensor:
    made: Tensor = _core.run_operator("mul", [x, y], dtype)[0]
    return made


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
