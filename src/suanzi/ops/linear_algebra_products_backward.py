"""7.2.17.2.4, .2.6, .12.4, .12.6, .13.4, .13.6, .13.8: the gradients of products.

The gradient of a complex number is dL/dRe + i dL/dIm, so that the other operand comes conjugated.
"""

from __future__ import annotations

from math import prod

from suanzi import _core
from suanzi.base.dtypes import DType, widened
from suanzi.base.numpy import np
from suanzi.base.status import AllocFailed, DimensionsMismatch, InvalidArgument
from suanzi.ops.calling.arguments import real_argument
from suanzi.ops.calling.declare import operator
from suanzi.ops.linear_algebra_products import (
    FLOATING,
    as_matrix,
    blocks,
    check_bilinear,
    dot_shape,
    dtype_of,
    leading_axes,
    product,
    rows_of,
    swapped,
    with_axis,
)
from suanzi.promote.registry import NUMBERS, REGISTRY, Operator
from suanzi.tensors.exchange import check_room, from_numpy
from suanzi.tensors.parts import converted, zeros
from suanzi.tensors.tensor import Tensor, TensorLike

LONG_WALK = 2**33
"""So many rows that to go through all of them takes seconds, as the core has it."""


@operator("7.2.17.2.4", dtypes=NUMBERS)
def dot_bwd1(out_grad: TensorLike, vec1: TensorLike, vec2: TensorLike) -> Tensor:
    """Return the gradient of vec1, the first operand of `dot`, in its shape and dtype.

    That of a real operand is real; that of an integer one is in the dtype the others have.

    >>> x, y = sz.tensor([1.0, 2.0]), sz.tensor([3.0, 4.0])
    >>> sz.dot_bwd1(sz.tensor(0.5), x, y)
    Tensor([1.5,   2], dtype=float32)
    """
    op = REGISTRY["dot_bwd1"]
    gradient, first, second, computed = _read_dot(op, out_grad, vec1, vec2, "vec2")
    other = conjugate(second)
    if not first.ndim or not second.ndim:
        return _scaled(gradient, first, other, computed)
    columns = other if other.ndim > 1 else with_axis(other, 1)
    flat = gradient.reshape(prod(first.shape[:-1]), prod(gradient.shape[first.ndim - 1 :]))
    found = product(flat, swapped(rows_of(columns), 0, 1), computed)
    return _like(found.reshape(first.shape), first)


@operator("7.2.17.2.6", dtypes=NUMBERS)
def dot_bwd2(out_grad: TensorLike, vec1: TensorLike, vec2: TensorLike) -> Tensor:
    """Return the gradient of vec2, the second operand of `dot`, in its shape and dtype.

    That of a real operand is real; that of an integer one is in the dtype the others have.

    >>> x, y = sz.tensor([1.0, 2.0]), sz.tensor([3.0, 4.0])
    >>> sz.dot_bwd2(sz.tensor(0.5), x, y)
    Tensor([0.5,   1], dtype=float32)
    """
    op = REGISTRY["dot_bwd2"]
    gradient, first, second, computed = _read_dot(op, out_grad, vec1, vec2, "vec1")
    other = conjugate(first)
    if not first.ndim or not second.ndim:
        return _scaled(gradient, second, other, computed)
    rows = as_matrix(other)
    flat = gradient.reshape(rows.shape[0], prod(gradient.shape[first.ndim - 1 :]))
    found = product(swapped(rows, 0, 1), flat, computed)  # k down, all the rest of vec2 across
    if second.ndim > 2:
        batch = second.shape[:-2]
        found = found.reshape(second.shape[-2], prod(batch), second.shape[-1])
        found = swapped(found, 0, 1)
    return _like(found.reshape(second.shape), second)


def _read_dot(
    op: Operator, out_grad: TensorLike, vec1: TensorLike, vec2: TensorLike, other: str
) -> tuple[Tensor, Tensor, Tensor, DType]:
    """Return the checked arguments of a gradient of `dot`, and what it is computed in."""
    given = {"out_grad": out_grad, "vec1": vec1, "vec2": vec2}
    gradient, first, second = (real_argument(op, name, x) for name, x in given.items())
    tensors = {"out_grad": gradient, "vec1": first, "vec2": second}
    computed = dtype_of(op, {name: tensors[name] for name in ("out_grad", other)}, None)
    own = next(x for name, x in tensors.items() if name not in ("out_grad", other))
    if own.dtype.kind == "char":
        dtype_of(op, {"vec1": first, "vec2": second}, None)
    if first.ndim and second.ndim:
        expected = dot_shape(op, first.shape, second.shape)
    else:
        expected = first.shape or second.shape
    if gradient.shape != expected:
        raise InvalidArgument(
            f"{op.title}: out_grad has shape {gradient.shape}; for vec1 of shape {first.shape} and "
            f"vec2 of shape {second.shape} it must have shape {expected}."
        )
    return gradient, first, second, computed


def _scaled(gradient: Tensor, operand: Tensor, other: Tensor, computed: DType) -> Tensor:
    """Return the gradient of an operand where one of the two has rank 0."""
    if operand.ndim == 0 and other.ndim > 0:
        found = product(gradient.reshape(gradient.size), other.reshape(other.size), computed)
    else:
        found = _core.run_operator("mul", [gradient, other], computed)[0]
    return _like(found, operand)


def _like(gradient: Tensor, operand: Tensor) -> Tensor:
    """Return a gradient in the dtype of its operand, unless that has no fractions."""
    floating = operand.dtype.exponent_bits > 0
    whole = gradient.dtype.exponent_bits == 0
    wanted = operand.dtype if floating or (whole and operand.dtype in NUMBERS) else gradient.dtype
    return converted(gradient, wanted)


@operator("7.2.17.12.4", dtypes=FLOATING)
def linear_bwd_in(out_grad: TensorLike, weight: TensorLike) -> Tensor:
    """Return the gradient of the input of `linear`, in the dtype the arguments are promoted to.

    >>> sz.linear_bwd_in(sz.tensor([[1.0], [2.0]]), sz.tensor([[1.0, 2.0, 3.0]]))
    Tensor([[1, 2, 3],
            [2, 4, 6]], dtype=float32)
    """
    op = REGISTRY["linear_bwd_in"]
    gradient = real_argument(op, "out_grad", out_grad)
    matrix = real_argument(op, "weight", weight)
    computed = dtype_of(op, {"out_grad": gradient, "weight": matrix}, None)
    if matrix.ndim != 2 or gradient.ndim == 0 or gradient.shape[-1] != matrix.shape[0]:
        raise DimensionsMismatch(
            f"{op.title}: out_grad has shape {gradient.shape} and weight has shape {matrix.shape}; "
            "weight must have two axes, for outputs and inputs, and the last size of out_grad must "
            "be the number of outputs."
        )
    return product(gradient, conjugate(matrix), computed)


@operator("7.2.17.12.6", dtypes=FLOATING)
def linear_bwd_weight(out_grad: TensorLike, input: TensorLike) -> Tensor:
    """Return the gradient of the weight of `linear`, in the dtype the arguments are promoted to.

    That of the bias is the sum of out_grad over all axes but the last.

    >>> sz.linear_bwd_weight(sz.tensor([[1.0], [2.0]]), sz.tensor([[1.0, 2.0], [3.0, 4.0]]))
    Tensor([[ 7, 10]], dtype=float32)
    """
    op = REGISTRY["linear_bwd_weight"]
    tensors = {
        "out_grad": real_argument(op, "out_grad", out_grad),
        "input": real_argument(op, "input", input),
    }
    computed = dtype_of(op, tensors, None)
    leading_axes(op, tensors)
    gradient, source = (as_matrix(x) for x in tensors.values())
    return product(swapped(gradient, 0, 1), conjugate(source), computed)


@operator("7.2.17.13.4", dtypes=FLOATING)
def bilinear_bwd_in1(out_grad: TensorLike, y: TensorLike, weight: TensorLike) -> Tensor:
    """Return the gradient of x, the first input of `bilinear`.

    It is in the dtype the arguments are promoted to.

    >>> y, weight = sz.tensor([[3.0, 4.0]]), sz.tensor([[[1.0, 0.0], [0.0, 2.0]]])
    >>> sz.bilinear_bwd_in1(sz.tensor([[0.5]]), y, weight)
    Tensor([[1.5,   4]], dtype=float32)
    """
    return _bilinear_bwd_in(REGISTRY["bilinear_bwd_in1"], out_grad, "y", y, weight, 2)


@operator("7.2.17.13.6", dtypes=FLOATING)
def bilinear_bwd_in2(out_grad: TensorLike, x: TensorLike, weight: TensorLike) -> Tensor:
    """Return the gradient of y, the second input of `bilinear`.

    It is in the dtype the arguments are promoted to.

    >>> x, weight = sz.tensor([[3.0, 4.0]]), sz.tensor([[[1.0, 0.0], [0.0, 2.0]]])
    >>> sz.bilinear_bwd_in2(sz.tensor([[0.5]]), x, weight)
    Tensor([[1.5,   4]], dtype=float32)
    """
    return _bilinear_bwd_in(REGISTRY["bilinear_bwd_in2"], out_grad, "x", x, weight, 1)


def _bilinear_bwd_in(
    op: Operator, out_grad: TensorLike, name: str, other: TensorLike, weight: TensorLike, axis: int
) -> Tensor:
    """Return the gradient of one input, given the other, which goes along an axis of the weight."""
    given = {"out_grad": out_grad, name: other, "weight": weight}
    tensors = {key: real_argument(op, key, x) for key, x in given.items()}
    computed = dtype_of(op, tensors, None)
    inputs = {"out_grad": tensors["out_grad"], name: tensors[name]}
    leading = check_bilinear(op, inputs, tensors["weight"], {"out_grad": 0, name: axis})
    gradient, source = (as_matrix(converted(x, computed)) for x in inputs.values())
    matrices = converted(tensors["weight"], computed)
    if axis == 2:  # from the second inputs to the first
        matrices = swapped(matrices, 1, 2)
    wide, count, across = widened(computed), prod(leading), matrices.shape[2]
    result = _core.empty((count, across), computed)
    for start, stop in blocks(count if result.size else 0, matrices.shape[0] * across):
        halves = conjugate(product(with_axis(source[start:stop], 0), matrices, wide))
        rows = product(with_axis(gradient[start:stop], 1), swapped(halves, 0, 1), wide)
        _core.copy_into(result[start:stop], rows.reshape(stop - start, across))
    return result.reshape(*leading, across)


@operator("7.2.17.13.8", dtypes=FLOATING)
def bilinear_bwd_weight(out_grad: TensorLike, x: TensorLike, y: TensorLike) -> Tensor:
    """Return the gradient of the weight of `bilinear`, in the dtype the arguments are promoted to.

    That of the bias is the sum of out_grad over all axes but the last.

    >>> x, y = sz.tensor([[1.0, 2.0]]), sz.tensor([[3.0, 4.0]])
    >>> sz.bilinear_bwd_weight(sz.tensor([[0.5]]), x, y)
    Tensor([[[1.5,   2],
             [  3,   4]]], dtype=float32)
    """
    op = REGISTRY["bilinear_bwd_weight"]
    given = {"out_grad": out_grad, "x": x, "y": y}
    tensors = {name: real_argument(op, name, x) for name, x in given.items()}
    computed = dtype_of(op, tensors, None)
    count = prod(leading_axes(op, tensors))
    gradient, left, right = (as_matrix(converted(t, computed)) for t in tensors.values())
    left, right, wide = conjugate(left), conjugate(right), widened(computed)
    if count >= LONG_WALK and not any(x.strides[0] for x in (gradient, left, right)):
        raise AllocFailed(
            f"{op.title}: the axes that are summed repeat the elements of every tensor {count} "
            "times; take one of them, and multiply the gradient by that number."
        )
    result = zeros((gradient.shape[1], left.shape[1], right.shape[1]), wide)
    for start, stop in blocks(count if result.size else 0, gradient.shape[1] * left.shape[1]):
        scales = with_axis(swapped(gradient[start:stop], 0, 1), 2)  # out, rows, 1
        scaled = _core.run_operator("mul", [scales, with_axis(left[start:stop], 0)], wide)[0]
        part = product(swapped(scaled, 1, 2), right[start:stop], wide)
        result = part if start == 0 else _core.run_operator("add", [result, part], wide)[0]
    return converted(result, computed)


def conjugate(x: Tensor) -> Tensor:
    """Return a tensor, complex numbers conjugated; those narrower than complex64 are widened."""
    if x.dtype.kind != "complex":
        return x
    check_room(x.size * x.dtype.bits // 8, f"{x.size} conjugate numbers")
    return from_numpy(np.asarray(np.conjugate(converted(x, widened(x.dtype)).numpy())))
