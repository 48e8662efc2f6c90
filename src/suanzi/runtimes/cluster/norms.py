"""7.2.17.11, 7.2.4.13 on blocks: norms, and sums along diagonals with their gradient."""

from __future__ import annotations

import math
from functools import partial as bound
from operator import index
from typing import Any

from suanzi import _core
from suanzi.base.dtypes import DType, complex128, float64
from suanzi.ops.arithmetic import diagonal, diagonal_axes
from suanzi.ops.calling.scalars import integer_argument, one_or_several, shape_argument
from suanzi.ops.libraries.lapack import promoted_dtype
from suanzi.ops.linear_algebra_norm import LARGEST, MAGNITUDES, SQUARES
from suanzi.ops.reduction_modes import ReduceMode
from suanzi.promote import registry
from suanzi.promote.context import promotion
from suanzi.promote.library import DEFAULT
from suanzi.promote.registry import Operator
from suanzi.runtimes.cluster import creating, grid
from suanzi.runtimes.cluster.graph import Key, from_tasks, new_name
from suanzi.runtimes.cluster.moving import reshaped
from suanzi.runtimes.cluster.reductions import (
    Kind,
    by_partials,
    combined,
    finished,
    left_of,
    made_of_blocks,
    partial,
)
from suanzi.runtimes.cluster.tasks import Hole, call_on_blocks, large_like, result_of, small_like
from suanzi.runtimes.cluster.tensor import BlockTensor
from suanzi.runtimes.cluster.ways import way
from suanzi.tensors.tensor import Tensor

_PARTS = {1.0: MAGNITUDES, 2.0: SQUARES, math.inf: LARGEST}


@way("norm")
def norm(op: Operator, input: BlockTensor, normtype: Any, axis: Any, keep_dims: Any) -> BlockTensor:
    """Return norms of the elements of blocks."""
    axis = axis if axis is None else one_or_several(op, "axis", axis)
    call = call_on_blocks(op.name, Hole(0), normtype, axis, keep_dims)
    small = small_like(input)
    result = result_of(call, [small]).dtype
    axes = [a % input.ndim for a in axis or ()]
    inner, keeps = sorted(axes) or list(range(input.ndim)), bool(keep_dims)
    if input.size == 0:
        return creating.full(tuple(map(sum, left_of(input.blocks, inner, keeps))), result, 0)
    x = input.astype(promoted_dtype(op, {"input": small}))
    p = 2.0 if normtype == "fro" else float(normtype)
    if len(axes) == 2 and normtype != "fro":
        along = axes[0] if p == 1.0 else axes[1]
        sums = _norm(x, MAGNITUDES, [along], True, result)
        return _norm(sums, LARGEST, inner, keeps, result)
    if p in _PARTS:
        return _norm(x, _PARTS[p], inner, keeps, result)
    return _powers(x, p, inner, keeps, result)


def _norm(
    x: BlockTensor, part: int, axes: list[int], keep_dims: bool, result: DType
) -> BlockTensor:
    if part == SQUARES and result is float64:
        return _root_of_squares(x, axes, keep_dims)
    return by_partials("norm", Kind(part, x.dtype, result, True), x, axes, keep_dims)


def _root_of_squares(x: BlockTensor, axes: list[int], keep_dims: bool) -> BlockTensor:
    """Return norms in float64, whose squares may overflow or vanish: norms of those of blocks."""
    return made_of_blocks(
        "norm",
        x,
        axes,
        bound(_norm_of_block, axes),
        _norm_of_norms,
        lambda shape: bound(_in_shape, shape),
        float64,
        keep_dims,
    )


def _norm_of_block(axes: list[int], block: Tensor) -> Tensor:
    return _core.norm(block, SQUARES, axes, True)


def _norm_of_norms(norms: list[Tensor]) -> Tensor:
    return _core.norm(registry.call("stack", norms, 0), SQUARES, [0], False)


def _in_shape(shape: tuple[int, ...], x: Tensor) -> Tensor:
    return x.reshape(shape)


def _powers(
    x: BlockTensor, p: float, axes: list[int], keep_dims: bool, result: DType
) -> BlockTensor:
    """Return p-norms by the definition, relative to the largest magnitudes."""
    wide = complex128 if x.dtype.kind == "complex" else float64
    with promotion(DEFAULT):  # other rules may have no float64
        sizes = registry.call("abs", x.astype(wide))
        largest = _norm(sizes, LARGEST, axes, True, float64)
        # 0, infinity and NaN are their own norm: only other numbers can be scaled.
        plain = (largest > 0) & (largest < math.inf)
        scale = registry.call("where", plain, largest, 1.0)
        sums = registry.call("reduce", (sizes / scale) ** p, "SUM", axes, True)
        made = registry.call("where", plain, largest * sums ** (1 / p), largest)
        return _without_axes(made, axes, keep_dims).astype(result)


def _without_axes(x: BlockTensor, axes: list[int], keep_dims: bool) -> BlockTensor:
    if keep_dims:
        return x
    return reshaped(x, tuple(n for a, n in enumerate(x.shape) if a not in axes))


@way("trace")
def trace(op: Operator, x: BlockTensor, offset: Any, dim0: Any, dim1: Any) -> BlockTensor:
    """Return the sums along the diagonals of the planes of two axes."""
    call = call_on_blocks(op.name, Hole(0), offset, dim0, dim1)
    result = result_of(call, [small_like(x)]).dtype
    first, second, move = index(dim0) % x.ndim, index(dim1) % x.ndim, index(offset)
    plane = [first, second]
    cuts = left_of(x.blocks, plane, False)
    rows, columns = x.shape[first], x.shape[second]
    count = min(rows + min(move, 0), columns - max(move, 0))
    if count <= 0 or x.size == 0:
        return creating.full(grid.shape_of(cuts), result, 0)
    kind = Kind(int(ReduceMode.SUM), x.dtype, result)
    name, parts = new_name("trace"), new_name("trace-blocks")
    below, right = grid.starts(x.blocks[first]), grid.starts(x.blocks[second])
    tasks: dict[Key, Any] = {}
    for lane in grid.places(cuts):
        keys: list[Key] = []
        for i, top in enumerate(below):
            for j, left in enumerate(right):
                place = list(lane)
                for axis, at in sorted(((first, i), (second, j))):
                    place.insert(axis, at)
                height, width = x.blocks[first][i], x.blocks[second][j]
                own = move + top - left  # the diagonal, as the block counts
                if min(height + min(own, 0), width - max(own, 0)) > 0:
                    keys.append((parts, *place))
                    step = bound(_along, kind, own, first, second)
                    tasks[keys[-1]] = (step, (x.name, *place))
        finish = bound(_total, kind, grid.block_shape(cuts, lane), count)
        tasks[(name, *lane)] = (finish, keys)
    return from_tasks(name, tasks, cuts, result, [x])


def _along(kind: Kind, offset: int, first: int, second: int, block: Tensor) -> Tensor:
    line = diagonal(block, offset, first, second)
    return partial(kind, [line.ndim - 1], line)


def _total(kind: Kind, shape: tuple[int, ...], count: int, parts: list[Tensor]) -> Tensor:
    return finished(kind, shape, count, combined(kind, parts))


@way("trace_backward")
def trace_backward(
    op: Operator, grad_y: BlockTensor, input_shape: Any, offset: Any, dim0: Any, dim1: Any
) -> BlockTensor:
    """Return the gradient along a diagonal: only the blocks that it crosses are not zeros."""
    shape = shape_argument(op, "input_shape", input_shape)
    plane = diagonal_axes(op, shape, dim0, dim1)
    move = integer_argument(op, "offset", offset)
    small = tuple(1 if axis in plane else min(n, 1) for axis, n in enumerate(shape))
    call = call_on_blocks(op.name, Hole(0), small, offset, dim0, dim1)
    rest = tuple(n for axis, n in enumerate(shape) if axis not in plane)
    if grad_y.shape != rest:
        result_of(call_on_blocks(op.name, Hole(0), shape, 0, dim0, dim1), [large_like(grad_y)])
    dtype = result_of(call, [small_like(grad_y) if grad_y.size else large_like(grad_y)]).dtype
    first, second = plane
    own, others = iter(grad_y.blocks), grid.cut(shape, None, dtype)
    cuts = tuple(cut if a in plane else next(own) for a, cut in enumerate(others))
    below, right = grid.starts(cuts[first]), grid.starts(cuts[second])
    name = new_name(op.name)
    tasks: dict[Key, Any] = {}
    for place in grid.places(cuts):
        size = grid.block_shape(cuts, place)
        moved = move + below[place[first]] - right[place[second]]
        if min(size[first] + min(moved, 0), size[second] - max(moved, 0)) > 0:
            step = call_on_blocks(op.name, Hole(0), size, moved, dim0, dim1)
            source = (i for axis, i in enumerate(place) if axis not in plane)
            tasks[(name, *place)] = (step, (grad_y.name, *source))
        else:
            tasks[(name, *place)] = (_core.full, size, dtype, 0)
    return from_tasks(name, tasks, cuts, dtype, [grad_y])
