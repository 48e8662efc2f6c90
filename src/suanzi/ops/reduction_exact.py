"""7.2.13.1: sums that are exact and rounded once, also for norms and inner products.

The sum is kept in fixed point, from the smallest number of its dtype to beyond the largest, so that
the result is the nearest number to the exact one, whatever the order of the elements.
"""

from __future__ import annotations

import math
from typing import Any, Literal

from suanzi import _core
from suanzi.base.dtypes import DType, float32, float64
from suanzi.base.hints import nearest, shown
from suanzi.base.status import InvalidArgument, TypeMismatch
from suanzi.ops.transformation_views import reshape
from suanzi.promote.registry import FLOATS, Operator
from suanzi.tensors.parts import converted, permuted
from suanzi.tensors.tensor import Tensor

Accumulate = Literal["default", "exact"]
_WAYS: tuple[Accumulate, ...] = ("default", "exact")

SUM, MEAN, MAGNITUDES, ROOT_OF_SQUARES = range(4)
"""What is made of rows, as the core counts them."""


def is_exact(op: Operator, accumulate: Accumulate, dtype: DType) -> bool:
    """Return whether an argument says so; raise if a dtype does not have it."""
    if not isinstance(accumulate, str) or accumulate not in _WAYS:
        raise InvalidArgument(
            f"{op.title}: accumulate is {shown(accumulate)}; it is one of {', '.join(_WAYS)}."
            + (nearest(accumulate, _WAYS) if isinstance(accumulate, str) else "")
        )
    if accumulate == "exact" and dtype not in FLOATS:
        why = "integers are exact already" if dtype.kind in ("int", "uint", "bool") else "use parts"
        raise TypeMismatch(
            f'{op.title}: accumulate is "exact", which takes floats, not {dtype}; {why}. Leave it '
            "out, or cast the input."
        )
    return accumulate == "exact"


def without_accumulate(op: Operator, arguments: dict[str, Any], tensors: str, fix: str) -> None:
    """Take `accumulate` out of the arguments for tensors that have no exact sums."""
    if is_exact(op, arguments.pop("accumulate", "default"), float64):
        raise TypeMismatch(f"{op.title}: accumulate is 'exact', which {tensors} do not have. {fix}")


def exact_reduction(x: Tensor, kind: int, axes: list[int], shape: tuple[int, ...]) -> Tensor:
    """Return what `kind` says of the elements along axes, rounded once to their dtype."""
    kept = [a for a in range(x.ndim) if a not in axes]
    made = _core.exact_reduce(
        _rows(permuted(x, [*kept, *axes]), len(kept)), kind, x.dtype is not float64
    )
    return reshape(converted(made, x.dtype), shape)


def exact_dot(x: Tensor, y: Tensor, dtype: DType) -> Tensor:
    """Return inner products of the last axis of x and the last but one of y."""
    if y.ndim > 1:
        y = permuted(y, [*range(y.ndim - 2), y.ndim - 1, y.ndim - 2])
    shape = x.shape[:-1] + y.shape[:-1]
    rows, columns = (_rows(converted(one, dtype), one.ndim - 1) for one in (x, y))
    made = _core.exact_products(rows, columns, dtype is not float64)
    return reshape(converted(made, dtype), shape)


def _rows(x: Tensor, outer: int) -> Tensor:
    """Return a dense matrix of float32 or float64, a row for each element of the first axes."""
    count = math.prod(x.shape[:outer])
    flat = reshape(x, (count, math.prod(x.shape[outer:])))
    wide = converted(flat, float64 if x.dtype is float64 else float32)
    return wide if wide.strides == (wide.shape[1], 1) else _core.row_major_copy(wide)
