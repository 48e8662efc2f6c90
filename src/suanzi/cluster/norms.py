"""7.2.17.11 on blocks: norms of vectors along axes, of matrices, or of all elements."""

from __future__ import annotations

import math
from functools import partial as bound
from typing import Any

from suanzi import _core, registry
from suanzi.cluster import creating
from suanzi.cluster.combining import left_of, made_of_blocks
from suanzi.cluster.partials import Kind
from suanzi.cluster.reductions import by_partials
from suanzi.cluster.reshaping import reshaped
from suanzi.cluster.stand_ins import result_of, small_like
from suanzi.cluster.tasks import Hole, call_on_blocks
from suanzi.cluster.tensor import BlockTensor
from suanzi.cluster.ways import way
from suanzi.dtypes import DType, complex128, float64
from suanzi.libraries.lapack import promoted_dtype
from suanzi.ops.linear_algebra_norm import LARGEST, MAGNITUDES, SQUARES
from suanzi.registry import Operator
from suanzi.tensors.tensor import Tensor

_PARTS = {1.0: MAGNITUDES, 2.0: SQUARES, math.inf: LARGEST}


@way("norm")
def norm(op: Operator, input: BlockTensor, normtype: Any, axis: Any, keep_dims: Any) -> BlockTensor:
    """Return norms of the elements of blocks."""
    call = call_on_blocks(op.name, Hole(0), normtype, axis, keep_dims)
    small = small_like(input)
    result = result_of(call, [small]).dtype
    some = () if axis is None else axis if isinstance(axis, list | tuple) else (axis,)
    axes = [int(a) % input.ndim for a in some]
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
    sizes = registry.call("abs", x.astype(wide))
    largest = _norm(sizes, LARGEST, axes, True, float64)
    plain = _is_plain(largest)
    scale = registry.call("where", plain, largest, 1.0)
    sums = registry.call("reduce", (sizes / scale) ** p, "SUM", axes, True)
    made = registry.call("where", plain, largest * sums ** (1 / p), largest)
    return _without_axes(made, axes, keep_dims).astype(result)


def _is_plain(largest: BlockTensor) -> Any:
    """Tell where numbers can be scaled: 0, infinity and NaN are their own norm."""
    return (largest > 0) & (largest < math.inf)


def _without_axes(x: BlockTensor, axes: list[int], keep_dims: bool) -> BlockTensor:
    if keep_dims:
        return x
    return reshaped(x, tuple(n for a, n in enumerate(x.shape) if a not in axes))
