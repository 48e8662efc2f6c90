"""7.2.17.8: least squares."""

from __future__ import annotations

import math
from typing import Any

from suanzi import _core
from suanzi.base.dtypes import DType
from suanzi.base.hints import shown
from suanzi.base.status import InvalidArgument
from suanzi.ops.calling.declare import operator
from suanzi.ops.calling.scalars import check_alive
from suanzi.ops.libraries.lapack import answered, check_rank, epsilon
from suanzi.ops.linear_algebra_solving import as_column, operands, right_hand_sides, without_column
from suanzi.promote.registry import COMPLEX, FLOATS, REAL_FUNCTION, REGISTRY, Operator
from suanzi.tensors.parts import converted
from suanzi.tensors.tensor import Tensor, TensorLike


@operator("7.2.17.8", dtypes=(*FLOATS, *COMPLEX), fast=True, promotes=REAL_FUNCTION)
def lstsq(mat: TensorLike, rhs: TensorLike, prec: float | None = None) -> Tensor:
    """Return the shortest x that minimises the 2-norm of rhs - mat x.

    Singular values below `prec` times the largest count as zero; None means the machine epsilon of
    the operands' dtype. `rhs` and batches are as in `solve`.

    >>> sz.lstsq(sz.tensor([[1.0, 0], [0, 2], [0, 0]]), sz.tensor([3.0, 4, 5]))
    Tensor([3, 2], dtype=float32)
    """
    op = REGISTRY["lstsq"]
    a, b, dt = operands(op, mat, rhs)
    check_rank(op, "mat", a)
    one, batch = right_hand_sides(op, a, b)
    cut = _cut(op, prec, dt)
    b = as_column(b) if one else b
    shape = (*batch, a.shape[-1], b.shape[-1])
    if 0 in (*batch, *a.shape, *b.shape):
        x = _core.full(shape, dt, 0)
    else:
        a, b = converted(a, dt), converted(b, dt)
        x = answered(op.title, _core.lstsq, a, b, cut)
    return without_column(x) if one else x


def _cut(op: Operator, prec: Any, dt: DType) -> float:
    check_alive(op, "prec", prec)
    if prec is None:
        return epsilon(dt)
    numeric = isinstance(prec, int | float) or getattr(prec, "ndim", None) == 0
    try:
        if numeric and str(getattr(prec, "dtype", type(prec).__name__)) != "bool":
            found = float(prec)
            if 0 <= found < math.inf:
                return found
    except (TypeError, ValueError, OverflowError):
        pass
    raise InvalidArgument(
        f"{op.title}: prec is {shown(prec)}; it must be a finite number of at least 0."
    )
