"""Softmax, its logarithm and the logarithm of a sum of exponentials."""

from __future__ import annotations

from suanzi.dtypes import widened
from suanzi.nn._arguments import axis_argument, float_operand
from suanzi.registry import FLOATS, REAL_FUNCTION, REGISTRY
from suanzi.resolve.declare import operator
from suanzi.tensors.parts import converted
from suanzi.tensors.tensor import Tensor, TensorLike

__all__ = ["softmax"]


@operator("2.1", dtypes=FLOATS, promotes=REAL_FUNCTION, catalogue="nn")
def softmax(x: TensorLike, axis: int = -1) -> Tensor:
    """Return exp(x) divided by its sum along an axis, without overflow.

    A row whose largest element is infinite, or of -inf alone, is NaN.

    >>> sz.nn.softmax(sz.tensor([0.0, 1.0, 2.0]))
    Tensor([0.09003057, 0.24472847, 0.66524096], dtype=float32)
    """
    op = REGISTRY["nn:softmax"]
    given = float_operand(op, "x", x)
    along = axis_argument(op, axis, given.ndim)
    wide = converted(given, widened(given.dtype))
    e = (wide - wide.max(along, keepdims=True)).exp()
    return converted(e / e.sum(along, keepdims=True), given.dtype)
