"""7.2.17.1, .2, .12, .13 and gradients on blocks: matmul, dot, linear, bilinear, reduce_bwd.

A block of the result is the sum of products of blocks along the inner axis. Those of narrow floats
are computed in float32 and of integers modulo 2^n, as in one tensor, and sums of float32 in
float64, with one rounding at the end.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from suanzi import _core
from suanzi.base.dtypes import DType, complex128, float64, widened
from suanzi.ops.calling.arguments import tensor_argument
from suanzi.ops.calling.elementwise import SHAPE_CHECKS
from suanzi.ops.linear_algebra_products import check_bias, dot_shape, dtype_of
from suanzi.ops.reduction_modes import axes_argument, reduced_shape
from suanzi.promote import registry
from suanzi.promote.registry import Operator
from suanzi.runtimes.cluster import grid
from suanzi.runtimes.cluster.along import with_whole_axes
from suanzi.runtimes.cluster.elementwise import in_dtype, on_elements
from suanzi.runtimes.cluster.exchange import as_blocks, is_array
from suanzi.runtimes.cluster.graph import Key, at_places, block_by_block, from_tasks, new_name
from suanzi.runtimes.cluster.grid import Blocks
from suanzi.runtimes.cluster.moving import reblocked, reshaped, subscript
from suanzi.runtimes.cluster.tasks import Hole, call_on_blocks, large_like, result_of
from suanzi.runtimes.cluster.tensor import BlockTensor
from suanzi.runtimes.cluster.ways import way
from suanzi.tensors.parts import converted
from suanzi.tensors.tensor import Tensor

_PAIRS = 4
"""How many products one task adds up."""
_SUMS = 8
"""How many sums one task adds up."""


@way("matmul")
def matmul(op: Operator, mat1: Any, mat2: Any, dtype: Any) -> BlockTensor:
    """Return the product of matrices, vectors or batches of matrices."""
    x, y = _operand(op, "mat1", mat1), _operand(op, "mat2", mat2)
    computed = _product_dtype(op, [x, y], dtype)
    SHAPE_CHECKS[op.name](op, x.shape, y.shape)
    return multiplied(x, y, computed)


@way("dot")
def dot(op: Operator, vec1: Any, vec2: Any, dtype: Any) -> BlockTensor:
    """Return the inner product along the last axis of vec1 and the last but one of vec2."""
    if any(not isinstance(x, BlockTensor) and not is_array(x) for x in (vec1, vec2)) or not (
        vec1.ndim and vec2.ndim
    ):
        return on_elements(op.name, op.name, vec1, vec2, dtype=dtype)
    x, y = as_blocks(vec1), as_blocks(vec2)
    computed = _product_dtype(op, [x, y], dtype)
    shape: Any = SHAPE_CHECKS[op.name](op, x.shape, y.shape)
    if y.ndim <= 2:
        return multiplied(x, y, computed)
    rows = reshaped(x, (math.prod(x.shape[:-1]), x.shape[-1]))
    made = multiplied(rows, y, computed)  # batches of y, rows of x, columns of y
    batches = y.ndim - 2
    forward = registry.call("transpose", made, [*range(1, batches + 1), 0, batches + 1])
    return reshaped(forward, shape)


@way("linear")
def linear(op: Operator, x: Any, weight: Any, bias: Any, dtype: Any) -> BlockTensor:
    """Return x W^T + b."""
    source, matrix = _operand(op, "x", x), _operand(op, "weight", weight)
    added = None if bias is None else _operand(op, "bias", bias)
    some = [source, matrix] if added is None else [source, matrix, added]
    computed = _product_dtype(op, some, dtype)
    SHAPE_CHECKS[op.name](op, source.shape, matrix.shape)
    if added is not None:
        check_bias(op, {"bias": added}, matrix.shape[0])
    return multiplied(source, registry.call("transpose", matrix), computed, added)


def _operand(op: Operator, name: str, x: Any) -> BlockTensor:
    """Return an operand as a tensor of blocks; errors name the operator and the argument."""
    return x if isinstance(x, BlockTensor) else as_blocks(tensor_argument(op, name, x))


def _product_dtype(op: Operator, operands: list[BlockTensor], dtype: Any) -> DType:
    """Return the dtype of a product, or raise the operator's own error of ranks and dtypes."""
    call = call_on_blocks(op.name, *map(Hole, range(len(operands))), dtype=dtype)
    stand_ins = [_one(x) for x in operands[:2]]
    # A bias matches the shape of the weight, which a stand-in does not have.
    stand_ins += [_core.full((1,), x.dtype, 1) for x in operands[2:]]
    made: DType = result_of(call, stand_ins).dtype
    return made


def multiplied(
    x: BlockTensor, y: BlockTensor, dtype: DType, bias: BlockTensor | None = None
) -> BlockTensor:
    """Return the product of tensors whose shapes go together, in a dtype."""
    is_row, is_column = x.ndim == 1, y.ndim == 1
    x = subscript(x, None) if is_row else x
    y = subscript(y, (slice(None), None)) if is_column else y
    batch = grid.common([x.blocks[:-2], y.blocks[:-2]])
    (inner,) = grid.common([x.blocks[-1:], y.blocks[-2:-1]])
    cuts = (*batch, x.blocks[-2], y.blocks[-1])
    x = reblocked(x, (*grid.operand_grid(batch, x.shape[:-2]), x.blocks[-2], inner))
    y = reblocked(y, (*grid.operand_grid(batch, y.shape[:-2]), inner, y.blocks[-1]))
    needs = [x, y]
    if bias is not None:
        bias = reblocked(bias, cuts[-1:])
        needs.append(bias)
    name, sums = new_name("matmul"), new_name("matmul-sum")
    how = Product(dtype)
    tasks: dict[Key, Any] = {}
    for place in grid.places(cuts):
        *leading, i, j = place
        left = [(x.name, *_batch(x, leading), i, k) for k in range(len(inner))]
        right = [(y.name, *_batch(y, leading), k, j) for k in range(len(inner))]
        added = [] if bias is None else [(bias.name, j)]
        if len(inner) == 1:
            tasks[(name, *place)] = (how.whole, left[0], right[0], *added)
            continue
        keys: list[Key] = []
        for at in range(0, len(inner), _PAIRS):
            keys.append((sums, *place, 0, at))
            some = slice(at, at + _PAIRS)
            tasks[keys[-1]] = (how.sum_of_products, left[some], right[some])
        level = 0
        while len(keys) > _SUMS:
            level += 1
            groups = [keys[at : at + _SUMS] for at in range(0, len(keys), _SUMS)]
            keys = [(sums, *place, level, at) for at in range(len(groups))]
            tasks.update({key: (how.total, group) for key, group in zip(keys, groups, strict=True)})
        tasks[(name, *place)] = (how.finished, keys, *added)
    made = from_tasks(name, tasks, cuts, dtype, needs)
    if is_row or is_column:
        made = subscript(
            made, (..., *[0] * is_row, *[slice(None)] * (not is_column), *[0] * is_column)
        )
    return made


def _batch(x: BlockTensor, place: list[int]) -> list[int]:
    """Return where the block of an operand stands whose batches are broadcast."""
    axes = x.blocks[:-2]
    own = place[len(place) - len(axes) :]
    return [i if len(axis) > 1 else 0 for i, axis in zip(own, axes, strict=True)]


@dataclass(frozen=True)
class Product:
    """How blocks are multiplied for a result of a dtype."""

    dtype: DType

    @property
    def wide(self) -> DType:
        """The dtype that the products of blocks are made in."""
        return widened(self.dtype) if self.dtype.exponent_bits else self.dtype

    @property
    def sums(self) -> DType:
        """The dtype that they are added up in."""
        kinds = {"float": float64, "complex": complex128}
        return kinds.get(self.dtype.kind, self.dtype)

    def whole(self, a: Tensor, b: Tensor, bias: Tensor | None = None) -> Tensor:
        """Return the product of blocks that have all of the inner axis."""
        return _core.multiply(a, b, self.dtype, bias)

    def sum_of_products(self, left: list[Tensor], right: list[Tensor]) -> Tensor:
        """Return the sum of the products of pairs of blocks."""
        parts = (
            _core.multiply(converted(a, self.dtype), converted(b, self.dtype), self.wide)
            for a, b in zip(left, right, strict=True)
        )
        return self.total(parts)

    def total(self, parts: Iterable[Tensor]) -> Tensor:
        """Return the sum of blocks."""
        some = iter(parts)
        made = next(some)
        for part in some:
            made = _core.run_operator("add", [made, part], self.sums)[0]
        return made

    def finished(self, parts: list[Tensor], bias: Tensor | None = None) -> Tensor:
        """Return a block of the result: the sum and the bias, rounded once."""
        made = self.total(parts)
        if bias is not None:
            made = _core.run_operator("add", [made, converted(bias, self.dtype)], self.sums)[0]
        return converted(made, self.dtype)


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
    made: DType = result_of(call, list(map(_one if fit else large_like, operands))).dtype
    return made


@way("linear_bwd_in")
def linear_bwd_in(op: Operator, out_grad: Any, weight: Any) -> BlockTensor:
    """Return the gradient of the input: that of the result by the weight."""
    gradient, matrix = as_blocks(out_grad), as_blocks(weight)
    fits = matrix.ndim == 2 and gradient.ndim and gradient.shape[-1] == matrix.shape[0]
    dtype = _dtype_of(op, [gradient, matrix], bool(fits))
    return multiplied(gradient, _conjugate(matrix), dtype)


@way("linear_bwd_weight")
def linear_bwd_weight(op: Operator, out_grad: Any, input: Any) -> BlockTensor:
    """Return the gradient of the weight: those of all rows together."""
    gradient, x = as_blocks(out_grad), as_blocks(input)
    fits = gradient.ndim and x.ndim and gradient.shape[:-1] == x.shape[:-1]
    dtype = _dtype_of(op, [gradient, x], bool(fits))
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
    return in_dtype(reshaped(made, first.shape), dtype)


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
    return in_dtype(reshaped(made, second.shape), dtype)


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
    return in_dtype(made, dtype)


def _product(dtype: DType, x: Tensor, y: Tensor) -> Tensor:
    made: Tensor = _core.run_operator("mul", [x, y], dtype)[0]
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
