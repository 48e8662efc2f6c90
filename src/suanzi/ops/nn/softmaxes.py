"""Softmax, its logarithm and the logarithm of a sum of exponentials, with their gradients.

The largest element is taken off before the exponentials; these add up in float64, and the result is
rounded once. A NaN or an infinity changes its own row alone.
"""

from __future__ import annotations

from typing import Any

from suanzi import _core
from suanzi.base.dtypes import DType, float32
from suanzi.base.status import DimensionsMismatch
from suanzi.ops.calling.declare import operator
from suanzi.ops.calling.scalars import flag_argument
from suanzi.ops.nn import _gumbel
from suanzi.ops.nn._arguments import axis_argument, float_operand, float_operands
from suanzi.ops.nn._gumbel import *  # noqa: F403
from suanzi.promote.registry import ARITHMETIC, FLOATS, REAL_FUNCTION, REGISTRY, Operator
from suanzi.tensors.parts import converted, reshaped
from suanzi.tensors.tensor import Tensor, TensorLike

__all__ = [
    "log_softmax",
    "log_softmax_bwd",
    "logsumexp",
    "logsumexp_bwd",
    "softmax",
    "softmax_bwd",
]
__all__ += _gumbel.__all__

_SOFTMAX, _LOG_SOFTMAX, _LOGSUMEXP = range(3)
"""What the core calls them."""


@operator("2.1", dtypes=FLOATS, fast=True, promotes=REAL_FUNCTION, catalogue="nn")
def softmax(x: TensorLike, axis: int = -1) -> Tensor:
    """Return exp(x) divided by its sum along an axis, without overflow.

    A row whose largest element is infinite, or of -inf alone, is NaN.

    >>> sz.nn.softmax(sz.tensor([1000.0, 1000.0, 0.0]))
    Tensor([0.5, 0.5,   0], dtype=float32)
    """
    return _along(REGISTRY["nn:softmax"], _SOFTMAX, x, axis)


@operator("2.2", dtypes=FLOATS, fast=True, promotes=REAL_FUNCTION, catalogue="nn")
def log_softmax(x: TensorLike, axis: int = -1) -> Tensor:
    """Return the logarithm of softmax, which does not underflow: x - logsumexp(x).

    A row with an infinity above all, or of -inf alone, is NaN; another -inf stays -inf.

    >>> sz.nn.log_softmax(sz.tensor([0.0, 1000.0]))
    Tensor([-1000,     0], dtype=float32)
    """
    return _along(REGISTRY["nn:log_softmax"], _LOG_SOFTMAX, x, axis)


@operator("2.3", dtypes=FLOATS, promotes=REAL_FUNCTION, catalogue="nn")
def logsumexp(x: TensorLike, axis: int = -1, keep_dims: bool = False) -> Tensor:
    """Return the logarithm of the sum of exp(x) along an axis, without overflow.

    Over no elements, or -inf alone, it is -inf; with an infinity, inf.

    >>> sz.nn.logsumexp(sz.tensor([1000.0, 1000.0]))
    Tensor(1000.6932, dtype=float32)
    """
    op = REGISTRY["nn:logsumexp"]
    keep = flag_argument(op, "keep_dims", keep_dims)
    return _along(op, _LOGSUMEXP, x, axis, keep)


@operator("2.1.1", dtypes=FLOATS, promotes=ARITHMETIC, catalogue="nn")
def softmax_bwd(out_grad: TensorLike, x: TensorLike, axis: int = -1) -> Tensor:
    """Return the gradient of softmax: y (out_grad - sum(out_grad y)) with y = softmax(x).

    >>> sz.nn.softmax_bwd(sz.tensor([1.0, 0.0]), sz.tensor([0.0, 0.0]))
    Tensor([ 0.25, -0.25], dtype=float32)
    """
    return _gradient(REGISTRY["nn:softmax_bwd"], _SOFTMAX, out_grad, x, axis)


@operator("2.2.1", dtypes=FLOATS, promotes=ARITHMETIC, catalogue="nn")
def log_softmax_bwd(out_grad: TensorLike, x: TensorLike, axis: int = -1) -> Tensor:
    """Return the gradient of log_softmax: out_grad - softmax(x) sum(out_grad).

    >>> sz.nn.log_softmax_bwd(sz.tensor([1.0, 0.0]), sz.tensor([0.0, 0.0]))
    Tensor([ 0.5, -0.5], dtype=float32)
    """
    return _gradient(REGISTRY["nn:log_softmax_bwd"], _LOG_SOFTMAX, out_grad, x, axis)


@operator("2.3.1", dtypes=FLOATS, promotes=ARITHMETIC, catalogue="nn")
def logsumexp_bwd(
    out_grad: TensorLike, x: TensorLike, axis: int = -1, keep_dims: bool = False
) -> Tensor:
    """Return the gradient of logsumexp: out_grad softmax(x).

    >>> sz.nn.logsumexp_bwd(sz.tensor(2.0), sz.tensor([0.0, 0.0]))
    Tensor([1, 1], dtype=float32)
    """
    op = REGISTRY["nn:logsumexp_bwd"]
    keep = flag_argument(op, "keep_dims", keep_dims)
    return _gradient(op, _LOGSUMEXP, out_grad, x, axis, keep)


def _along(op: Operator, kind: int, x: Any, axis: Any, keep_dims: bool = True) -> Tensor:
    given = float_operand(op, "x", x)
    along = axis_argument(op, axis, given.ndim)
    made = _core.nn_softmax(converted(given, computed_dtype(given.dtype)), along, kind, keep_dims)
    return converted(made, given.dtype)


def _gradient(
    op: Operator, kind: int, out_grad: Any, x: Any, axis: Any, keep_dims: bool = True
) -> Tensor:
    found = float_operands(op, {"out_grad": out_grad, "x": x})
    grad, given = found["out_grad"], found["x"]
    along = axis_argument(op, axis, given.ndim)
    with_axis = given.shape
    if kind == _LOGSUMEXP:
        with_axis = (*given.shape[:along], 1, *given.shape[along + 1 :])
    shape = with_axis if keep_dims else (*given.shape[:along], *given.shape[along + 1 :])
    if grad.shape != shape:
        raise DimensionsMismatch(
            f"{op.title}: out_grad has shape {grad.shape}; for x of shape {given.shape} it must be "
            f"{shape}, the shape of the result."
        )
    dtype = computed_dtype(given.dtype)
    grad = reshaped(converted(grad, dtype), with_axis)
    return converted(_core.nn_softmax_bwd(grad, converted(given, dtype), along, kind), given.dtype)


def computed_dtype(dtype: DType) -> DType:
    """Return the dtype that the core has loops for: float8 is computed as float32."""
    return float32 if dtype.itemsize == 1 else dtype
