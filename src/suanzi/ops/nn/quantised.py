"""Rows and blocks quantised by their largest elements, and the linear layer of such numbers."""

from __future__ import annotations

from math import prod
from typing import Any

from suanzi import _core
from suanzi.base.dtypes import (
    DType,
    DTypeLike,
    bfloat16,
    float8_e4m3fn,
    float8_e5m2,
    float32,
    float64,
    int8,
)
from suanzi.base.hints import shown
from suanzi.base.shapes import bounded
from suanzi.base.status import DimensionsMismatch, InvalidArgument, TypeMismatch
from suanzi.ops.calling.arguments import dtype_named, real_argument
from suanzi.ops.calling.declare import operator
from suanzi.ops.calling.scalars import integer_argument, is_several
from suanzi.ops.nn._arguments import broadcast, dense
from suanzi.promote.registry import FLOATS, REGISTRY, Operator
from suanzi.tensors.parts import converted, reshaped
from suanzi.tensors.tensor import Tensor, TensorLike

__all__ = ["dynamic_quantize", "scaled_linear"]

_FLOAT8 = (float8_e4m3fn, float8_e5m2)
_STORED = (int8, *_FLOAT8)


@operator("10.1", dtypes=FLOATS, catalogue="nn")
def dynamic_quantize(
    x: TensorLike, block_size: Any = None, dtype: DTypeLike = int8
) -> tuple[Tensor, Tensor]:
    """Return x / scale in a narrow dtype, and the scale of each row or block, in float32.

    A scale is the largest magnitude of its block divided by the largest number of the dtype: 127,
    448 of float8_e4m3fn, 57344 of float8_e5m2; at least 2^-126. A block is a row, block_size
    columns of one, or block_size = [rows, columns]. Ties go to even.

    >>> q, scale = sz.nn.dynamic_quantize(sz.tensor([[127.0, -63.5], [0.0, 508.0]]))
    >>> q
    Tensor([[127, -64],
            [  0, 127]], dtype=int8)
    >>> scale
    Tensor([[1],
            [4]], dtype=float32)
    """
    op = REGISTRY["nn:dynamic_quantize"]
    given = real_argument(op, "x", x)
    if given.dtype not in FLOATS:
        raise TypeMismatch(
            f"{op.title}: x is {given.dtype}; it must be of real floats. Cast it with "
            "sz.cast(x, sz.float32)."
        )
    target = dtype_named(op, dtype)
    if target not in _STORED:
        raise TypeMismatch(
            f"{op.title}: dtype is {target}; it must be {', '.join(map(str, _STORED))}."
        )
    rows, columns = _block(op, block_size)
    axes = 2 if rows > 1 else 1
    if given.ndim < axes:
        raise DimensionsMismatch(
            f"{op.title}: x has rank {given.ndim}; for this block_size it must be {axes} or more."
        )
    made: tuple[Tensor, Tensor] = _core.nn_quantise(dense(given), rows, columns, target)
    return made


@operator("10.2", dtypes=_STORED, catalogue="nn")
def scaled_linear(
    x: Any,
    weight: Any,
    x_scale: Any,
    weight_scale: Any,
    bias: Any = None,
    block_size: Any = None,
    dtype: DTypeLike = float32,
) -> Tensor:
    """Return x W^T + b of numbers that are quantised in rows or blocks, as dynamic_quantize does.

    Both are int8, or both float8. Without block_size, x has a scale for each row and the weight,
    (out, in), one for each output. With it, x has one for so many columns of a row, and the weight
    one for each of its blocks; block_size = [rows, columns] are those of the weight. A scale may be
    given once for an axis. Products of int8 are exact; the result is rounded once, to `dtype`.

    >>> x, weight = sz.tensor([[1, 2]], sz.int8), sz.tensor([[3, 4]], sz.int8)
    >>> sz.nn.scaled_linear(x, weight, sz.tensor([[0.5]]), sz.tensor([[0.25]]))
    Tensor([[1.375]], dtype=float32)
    """
    op = REGISTRY["nn:scaled_linear"]
    source, matrix = _operands(op, x, weight)
    target = dtype_named(op, dtype)
    if target not in FLOATS:
        raise TypeMismatch(f"{op.title}: dtype is {target}; it must be of real floats.")
    rows, columns = _block(op, block_size)
    count, inputs = prod(source.shape[:-1]), source.shape[-1]
    across = -(-inputs // columns) if columns else 1
    outputs = matrix.shape[0]
    scales = _scales(op, "x_scale", x_scale, (*source.shape[:-1], across))
    of_weight = _scales(op, "weight_scale", weight_scale, (-(-outputs // rows), across))
    added = None if bias is None else _bias(op, bias, outputs)
    wide = int8 if source.dtype is int8 else bfloat16  # which has every float8
    made = _core.nn_scaled_linear(
        reshaped(dense(converted(source, wide)), (count, inputs)),
        dense(converted(matrix, wide)),
        reshaped(scales, (count, across)), of_weight, rows, columns, target, added,
    )  # fmt: skip
    return reshaped(made, (*source.shape[:-1], outputs))


def _operands(op: Operator, x: Any, weight: Any) -> tuple[Tensor, Tensor]:
    source, matrix = real_argument(op, "x", x), real_argument(op, "weight", weight)
    kinds = [one.dtype for one in (source, matrix)]
    if any(k not in _STORED for k in kinds) or (kinds[0] is int8) is not (kinds[1] is int8):
        raise TypeMismatch(
            f"{op.title}: x is {kinds[0]} and weight is {kinds[1]}; both must be int8, or both "
            "float8_e4m3fn or float8_e5m2. sz.nn.dynamic_quantize makes them."
        )
    if source.ndim == 0 or matrix.ndim != 2 or source.shape[-1] != matrix.shape[1]:
        raise DimensionsMismatch(
            f"{op.title}: x has shape {source.shape} and weight has shape {matrix.shape}; weight "
            "must have two axes, for outputs and inputs, and its second size must be the last of x."
        )
    return source, matrix


def _block(op: Operator, given: Any) -> tuple[int, int]:
    """Return the rows and columns of a block; 0 columns are those of a whole row."""
    if given is None:
        return 1, 0
    several = not isinstance(given, str | bytes) and is_several(op, "block_size", given)
    sizes = tuple(bounded(given, 2)) if several else (given,)
    if len(sizes) not in (1, 2):
        raise InvalidArgument(
            f"{op.title}: block_size is {shown(given)}; it must be a number of columns, or [rows, "
            "columns]."
        )
    found = [integer_argument(op, "block_size", n, 1) for n in sizes]
    if max(found) >= 2**31:
        raise InvalidArgument(f"{op.title}: block_size is {shown(given)}; it must be below 2**31.")
    return (1, found[0]) if len(found) == 1 else (found[0], found[1])


def _floats(op: Operator, name: str, x: Any, dtype: DType) -> Tensor:
    found = real_argument(op, name, x)
    if found.dtype not in FLOATS:
        raise TypeMismatch(
            f"{op.title}: {name} is {found.dtype}; it must be of real floats. Cast it with "
            f"sz.cast({name}, sz.float32)."
        )
    return converted(found, dtype)


def _scales(op: Operator, name: str, x: Any, shape: tuple[int, ...]) -> Tensor:
    return dense(broadcast(op, name, _floats(op, name, x, float32), shape))


def _bias(op: Operator, bias: Any, outputs: int) -> Tensor:
    found = _floats(op, "bias", bias, float64)
    if found.shape != (outputs,):
        raise DimensionsMismatch(
            f"{op.title}: bias has shape {found.shape}; the weight has {outputs} outputs, so it "
            f"must be ({outputs},)."
        )
    return dense(found)
