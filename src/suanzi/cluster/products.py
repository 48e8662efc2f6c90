"""7.2.17.1, .2, .12 on blocks: products of matrices, with wide sums of them and one rounding.

A block of the result is the sum of products of blocks along the inner axis. Those of narrow floats
are made in float32 and of integers modulo 2^n, as in one tensor, and sums of float32 in float64.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from suanzi import _core, registry
from suanzi.cluster import grid
from suanzi.cluster.elementwise import on_elements
from suanzi.cluster.exchange import as_blocks, is_array
from suanzi.cluster.graph import Key, from_tasks, new_name
from suanzi.cluster.reblocking import reblocked
from suanzi.cluster.reshaping import reshaped
from suanzi.cluster.stand_ins import result_of
from suanzi.cluster.subscripts import subscript
from suanzi.cluster.tasks import Hole, call_on_blocks
from suanzi.cluster.tensor import BlockTensor
from suanzi.cluster.ways import way
from suanzi.dtypes import DType, complex128, float64
from suanzi.ops.linear_algebra_products import check_bias, wide_of
from suanzi.registry import Operator
from suanzi.resolve.arguments import tensor_argument
from suanzi.resolve.elementwise import SHAPE_CHECKS
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
    computed = _dtype_of(op, [x, y], dtype)
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
    computed = _dtype_of(op, [x, y], dtype)
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
    computed = _dtype_of(op, some, dtype)
    SHAPE_CHECKS[op.name](op, source.shape, matrix.shape)
    if added is not None:
        check_bias(op, {"bias": added}, matrix.shape[0])
    return multiplied(source, registry.call("transpose", matrix), computed, added)


def _operand(op: Operator, name: str, x: Any) -> BlockTensor:
    """Return an operand as a tensor of blocks; errors name the operator and the argument."""
    return x if isinstance(x, BlockTensor) else as_blocks(tensor_argument(op, name, x))


def _dtype_of(op: Operator, operands: list[BlockTensor], dtype: Any) -> DType:
    """Return the dtype of a product, or raise the operator's own error of ranks and dtypes."""
    call = call_on_blocks(op.name, *map(Hole, range(len(operands))), dtype=dtype)
    stand_ins = [_core.full((1,) * x.ndim, x.dtype, 1) for x in operands[:2]]
    # A bias goes with the shape of the weight, which stands for none here.
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
        return wide_of(self.dtype) if self.dtype.exponent_bits else self.dtype

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
