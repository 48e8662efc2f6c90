"""7.2.17.1, .2, .12, .13: matmul, dot, linear and bilinear; products_backward has their gradients.

Integers are exact modulo 2^n. float16, bfloat16, float8 and complex32 are summed in float32 or
complex64 and rounded once.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import prod
from typing import Any

from suanzi import _core
from suanzi.base.dtypes import DType, DTypeLike, widened
from suanzi.base.shapes import MAX_NDIM
from suanzi.base.status import DimensionsMismatch, InvalidArgument
from suanzi.ops.calling.arguments import dtype_error, operands_of, real_argument
from suanzi.ops.calling.declare import declare_symbol, operator
from suanzi.ops.calling.elementwise import (
    SHAPE_CHECKS,
    Shape,
    check_dtype,
    common_shape,
    plain_operand,
    promote,
    refusal_error,
)
from suanzi.ops.creation_wanted import dtype_argument
from suanzi.ops.reduction_exact import Accumulate, exact_dot, is_exact
from suanzi.promote.context import get_promotion
from suanzi.promote.engine import answer
from suanzi.promote.layers import NUMERIC_KINDS, kind_rank
from suanzi.promote.operators import OperatorClass
from suanzi.promote.registry import ARITHMETIC, COMPLEX, FLOATS, NUMBERS, REGISTRY, Operator
from suanzi.tensors.parts import converted, permuted
from suanzi.tensors.tensor import Tensor, TensorLike

FLOATING = (*FLOATS, *COMPLEX)


@operator("7.2.17.1", dtypes=NUMBERS, fast=True, promotes=ARITHMETIC)
def matmul(mat1: TensorLike, mat2: TensorLike, *, dtype: DTypeLike | None = None) -> Tensor:
    """Return the product of matrices, vectors, or batches of matrices.

    The last two axes are those of a matrix, and the others are broadcast. A vector is a row on the
    left, a column on the right, and that axis is not in the result. `dtype` is what both are
    converted to and what the result is in; without it, it is what they are promoted to. Integers
    are exact modulo 2^n; narrow floats are summed in float32.

    >>> x = sz.tensor([[1, 2], [3, 4]], sz.int8)
    >>> sz.matmul(x, sz.tensor([0.5, 1], sz.float16))
    Tensor([2.5, 5.5], dtype=float16)
    >>> sz.matmul(x * 10, x * 10)
    Tensor([[ -68,  -24],
            [ -36, -104]], dtype=int8)
    >>> sz.matmul(x * 10, x * 10, dtype=sz.int32)
    Tensor([[ 700, 1000],
            [1500, 2200]], dtype=int32)
    """
    op = REGISTRY["matmul"]
    x, y = real_argument(op, "mat1", mat1), real_argument(op, "mat2", mat2)
    computed = dtype_of(op, {"mat1": x, "mat2": y}, dtype)
    for name, one in (("mat1", x), ("mat2", y)):
        if one.ndim == 0:
            raise DimensionsMismatch(
                f"{op.title}: {name} has rank 0; it takes vectors, matrices and batches of them. "
                "sz.mul multiplies by a number."
            )
    _check_matmul(op, x.shape, y.shape)
    return product(x, y, computed)


declare_symbol("matmul", matmul)


def _check_matmul(op: Operator, first: Shape, second: Shape) -> None:
    if first[-1] != (second[-2] if len(second) > 1 else second[0]):
        place = "last size but one" if len(second) > 1 else "only size"
        raise DimensionsMismatch(
            f"{op.title}: mat1 has shape {first} and mat2 has shape {second}; the last size of "
            f"mat1 must be the {place} of mat2. Transpose or reshape one of them."
        )
    batches = {"mat1": first[:-2], "mat2": second[:-2]}
    common_shape(op, {f"{name} without its last two axes": s for name, s in batches.items()})


SHAPE_CHECKS["matmul"] = _check_matmul


@operator("7.2.17.2", dtypes=NUMBERS, fast=True, promotes=ARITHMETIC)
def dot(
    vec1: TensorLike,
    vec2: TensorLike,
    *,
    dtype: DTypeLike | None = None,
    accumulate: Accumulate = "default",
) -> Tensor:
    """Return the inner product along the last axis of vec1 and the last but one of vec2.

    Of a vector, it is the only axis. With a number or a tensor of rank 0, it is the product of
    each element with it. Complex numbers are not conjugated. `dtype` is as for `matmul`. With
    ``accumulate="exact"``, sums of products of floats are exact and rounded once.

    >>> sz.dot(sz.tensor([1, 2, 3]), sz.tensor([4, 5, 6]))
    Tensor(32, dtype=int64)
    >>> x, y = sz.zeros(shape=(2, 3, 4)), sz.zeros(shape=(5, 4, 6))
    >>> sz.dot(x, y).shape, sz.dot(x, 2.5).shape
    ((2, 3, 5, 6), (2, 3, 4))
    """
    op = REGISTRY["dot"]
    operands = operands_of(op, {"vec1": vec1, "vec2": vec2})
    computed = dtype_of(op, operands, dtype)
    exact = is_exact(op, accumulate, computed)
    if any(not isinstance(x, Tensor) or x.ndim == 0 for x in operands.values()):
        plain = [plain_operand(op, name, x, computed) for name, x in operands.items()]
        return _core.run_operator("mul", plain, computed)[0]
    x, y = operands.values()
    assert isinstance(x, Tensor)
    assert isinstance(y, Tensor)
    dot_shape(op, x.shape, y.shape)
    if exact:
        return exact_dot(x, y, computed)
    if y.ndim <= 2:
        return product(x, y, computed)
    flat = rows_of(y)
    return product(x, flat, computed).reshape(x.shape[:-1] + y.shape[:-2] + y.shape[-1:])


def dot_shape(op: Operator, first: tuple[int, ...], second: tuple[int, ...]) -> tuple[int, ...]:
    """Return the shape of an inner product of two shapes that have axes."""
    if first[-1] != (second[-2] if len(second) > 1 else second[0]):
        place = "last size but one" if len(second) > 1 else "only size"
        raise InvalidArgument(
            f"{op.title}: vec1 has shape {first} and vec2 has shape {second}; the last size of "
            f"vec1 must be the {place} of vec2. Transpose or reshape one of them."
        )
    shape = first[:-1] + second[:-2] + second[-1:] * (len(second) > 1)
    if len(shape) > MAX_NDIM:
        raise InvalidArgument(f"{op.title}: the result would have more than {MAX_NDIM} axes.")
    return shape


SHAPE_CHECKS["dot"] = dot_shape


def rows_of(x: Tensor) -> Tensor:
    """Return a tensor as a matrix with its last axis but one down, and all others across."""
    along = x.ndim - 2
    transposed = permuted(x, (along, *range(along), along + 1))
    return transposed.reshape(x.shape[along], prod(x.shape[:along]) * x.shape[-1])


@operator("7.2.17.12", dtypes=FLOATING, fast=True, promotes=ARITHMETIC)
def linear(
    x: TensorLike,
    weight: TensorLike,
    bias: TensorLike | None = None,
    *,
    dtype: DTypeLike | None = None,
) -> Tensor:
    """Return x W^T + b for inputs along the last axis of x and a weight of shape (out, in).

    The bias is added before the one rounding of narrow dtypes. Integers become floating-point,
    unless `dtype` says otherwise: it is what everything is converted to, and what the result is in.

    >>> x = sz.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    >>> sz.linear(x, sz.tensor([[1.0, 2.0, 3.0]]), sz.tensor([0.5]))
    Tensor([[14.5],
            [32.5]], dtype=float32)
    """
    op = REGISTRY["linear"]
    operands = _operands(op, {"x": x, "weight": weight}, bias)
    computed = dtype_of(op, operands, dtype)
    source, matrix = operands["x"], operands["weight"]
    if source.ndim == 0 or matrix.ndim != 2:
        raise DimensionsMismatch(
            f"{op.title}: x has rank {source.ndim} and weight has rank {matrix.ndim}; x must have "
            "at least one axis, and weight two, for outputs and inputs."
        )
    _check_linear(op, source.shape, matrix.shape)
    check_bias(op, operands, matrix.shape[0])
    return product(source, matrix, computed, operands.get("bias"), transposed=True)


def _check_linear(op: Operator, source: Shape, matrix: Shape) -> None:
    if source[-1] != matrix[1]:
        raise DimensionsMismatch(
            f"{op.title}: x has shape {source} and weight has shape {matrix}; the last sizes must "
            "be equal."
        )


SHAPE_CHECKS["linear"] = _check_linear


@operator("7.2.17.13", dtypes=FLOATING, promotes=ARITHMETIC)
def bilinear(
    x: TensorLike, y: TensorLike, weight: TensorLike, bias: TensorLike | None = None
) -> Tensor:
    """Return x A_o y^T + b_o for each matrix A_o of the weight, of shape (out, in1, in2).

    x and y have the inputs along their last axes; the other axes are equal. Integers become
    floating-point.

    >>> x, y = sz.tensor([[1.0, 2.0]]), sz.tensor([[3.0, 4.0, 5.0]])
    >>> weight = sz.tensor([[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]], [[0.0, 0.0, 1.0], [0.0, 0.0, 0.0]]])
    >>> sz.bilinear(x, y, weight, sz.tensor([0.5, 0.25]))
    Tensor([[11.5, 5.25]], dtype=float32)
    """
    op = REGISTRY["bilinear"]
    operands = _operands(op, {"x": x, "y": y, "weight": weight}, bias)
    computed = dtype_of(op, operands, None)
    left, right, matrices = operands["x"], operands["y"], operands["weight"]
    leading = check_bilinear(op, {"x": left, "y": right}, matrices, {"x": 1, "y": 2})
    outputs = matrices.shape[0]
    check_bias(op, operands, outputs)
    wide = widened(computed)
    count = prod(leading)
    xs, ys = (as_matrix(converted(v, computed)) for v in (left, right))
    matrices = converted(matrices, computed)
    result = _core.empty((count, outputs), wide)
    for start, stop in blocks(count if result.size else 0, outputs * matrices.shape[2]):
        halves = product(with_axis(xs[start:stop], 0), matrices, wide)  # out, rows, in2
        sums = product(swapped(halves, 0, 1), with_axis(ys[start:stop], 2), wide)
        _core.copy_into(result[start:stop], sums.reshape(stop - start, outputs))
    if "bias" in operands:
        result = _core.run_operator("add", [result, converted(operands["bias"], computed)], wide)[0]
    return converted(result, computed).reshape(*leading, outputs)


def check_bilinear(
    op: Operator, inputs: dict[str, Tensor], weight: Tensor, axes: dict[str, int]
) -> tuple[int, ...]:
    """Return the leading axes of inputs, each of which goes along an axis of the weight."""
    if weight.ndim != 3:
        raise DimensionsMismatch(
            f"{op.title}: weight has rank {weight.ndim}; it must have three axes, for outputs, "
            "first inputs and second inputs."
        )
    for name, x in inputs.items():
        if x.ndim == 0 or x.shape[-1] != weight.shape[axes[name]]:
            raise DimensionsMismatch(
                f"{op.title}: {name} has shape {x.shape} and weight has shape {weight.shape}; the "
                f"last size of {name} must be that of axis {axes[name]} of the weight."
            )
    return leading_axes(op, inputs)


def leading_axes(op: Operator, inputs: dict[str, Tensor]) -> tuple[int, ...]:
    """Return the axes but the last, which must be equal."""
    (first, x), *others = inputs.items()
    for name, y in others:
        if not x.ndim or not y.ndim or x.shape[:-1] != y.shape[:-1]:
            raise DimensionsMismatch(
                f"{op.title}: {first} has shape {x.shape} and {name} has shape {y.shape}; all "
                "axes but the last must be equal."
            )
    return x.shape[:-1]


def _operands(op: Operator, given: dict[str, Any], bias: Any) -> dict[str, Tensor]:
    if bias is not None:
        given["bias"] = bias
    return {name: real_argument(op, name, x) for name, x in given.items()}


def check_bias(op: Operator, operands: Mapping[str, Any], outputs: int) -> None:
    """Raise unless there is no bias, or one number for each output."""
    if "bias" in operands and operands["bias"].shape != (outputs,):
        raise DimensionsMismatch(
            f"{op.title}: bias has shape {operands['bias'].shape}; the weight has {outputs} "
            f"outputs, so it must be ({outputs},)."
        )


# ---- dtypes -------------------------------------------------------------------------------------


def dtype_of(op: Operator, operands: dict[str, Any], wanted: DTypeLike | None) -> DType:
    """Return the dtype of a product: the requested one, or the one its operands promote to."""
    if wanted is not None:
        return _asked_for(op, operands, wanted)
    promoted = promote(op, operands).dtype
    assert promoted is not None
    if promoted not in op.dtypes and promoted.kind in ("bool", "int", "uint"):
        promoted = _default_float(op, promoted) if NUMBERS[0] not in op.dtypes else promoted
    check_dtype(op, operands, promoted)
    return promoted


def _default_float(op: Operator, came: DType) -> DType:
    """Return what the rule set in force makes of integers given to a function of real numbers."""
    found = answer([_core.empty((1,), came)], get_promotion(), OperatorClass.REAL_FUNCTION)
    if found.dtype is None:
        raise refusal_error(op, found)
    return found.dtype


def _asked_for(op: Operator, operands: dict[str, Any], wanted: DTypeLike) -> DType:
    found = dtype_argument(replace(op, dtypes=NUMBERS), wanted)
    for name, x in operands.items():
        came = x.dtype if isinstance(x, Tensor) else _NUMBERS_OF_PYTHON[type(x)]
        kind = came.kind if isinstance(came, DType) else came
        if kind not in NUMERIC_KINDS or kind_rank(kind) > kind_rank(found.kind):
            raise dtype_error(op)(
                f"{op.title}: {name} is {came}, which {found} cannot stand for. Cast it first, "
                f"with sz.cast({name}, sz.{found}), if that is what is meant."
            )
    return found


_NUMBERS_OF_PYTHON: dict[type, str] = {
    bool: "bool", int: "int", float: "float", complex: "complex"
}  # fmt: skip


# ---- shapes -------------------------------------------------------------------------------------


def product(
    x: Tensor, y: Tensor, dt: DType, bias: Tensor | None = None, transposed: bool = False
) -> Tensor:
    """Return the product of checked tensors; with `transposed`, y is transposed."""
    return _core.multiply(x, y, dt, bias, transposed)


def as_matrix(x: Tensor) -> Tensor:
    """Return a tensor as rows along its last axis."""
    return x.reshape(prod(x.shape[:-1]), x.shape[-1])


def with_axis(x: Tensor, axis: int) -> Tensor:
    """Return a view with a new axis of size 1."""
    shape = (*x.shape[:axis], 1, *x.shape[axis:])
    return _core.view(x, x.offset, shape, (*x.strides[:axis], 0, *x.strides[axis:]))


def swapped(x: Tensor, first: int, second: int) -> Tensor:
    """Return a view with two axes exchanged."""
    order = list(range(x.ndim))
    order[first], order[second] = order[second], order[first]
    return permuted(x, order)


def blocks(count: int, size: int) -> list[tuple[int, int]]:
    """Return parts of `count` rows of `size` elements that a cache holds, by the sizes alone."""
    step = max(1, 2**20 // max(size, 1))
    return [(start, min(start + step, count)) for start in range(0, count, step)]
