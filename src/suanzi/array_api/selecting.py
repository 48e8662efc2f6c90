"""`where`: one of two, element by element; native as the element-wise functions are."""

from __future__ import annotations

from suanzi.array_api.arguments import array_argument
from suanzi.array_api.declare import EVERY, FUNCTIONS, elementwise
from suanzi.dtypes import bool as bool_
from suanzi.registry import JOINING
from suanzi.resolve.arguments import operands_of
from suanzi.resolve.elementwise import check_shapes, promoted_dtype, run
from suanzi.tensors.parts import converted
from suanzi.tensors.tensor import Tensor, TensorLike

__all__ = ["where"]


@elementwise("where", dtypes=EVERY, promotes=JOINING, own_body=True)
def where(condition: Tensor, x1: TensorLike, x2: TensorLike, /) -> Tensor:
    """Return elements of x1 where a condition holds, and of x2 elsewhere; either may be a number.

    >>> xp.where(xp.asarray([True, False]), xp.asarray([1, 2], dtype=xp.float8_e5m2), 0)
    Tensor([1, 0], dtype=float8_e5m2)
    """
    op = FUNCTIONS["where"]
    holds = converted(array_argument("where", "condition", condition), bool_)
    operands = operands_of(op, {"x1": x1, "x2": x2})
    promoted = promoted_dtype(op, operands)
    check_shapes(op, {"condition": holds, **operands})
    return run(op, operands, promoted, holds)
