"""What the functions share: the dtype they compute in, views and kernels.

A function of this namespace chooses its dtype, converts once, and computes by the core.
"""

from __future__ import annotations

from typing import Any

from suanzi import _core
from suanzi.base.dtypes import (
    DTYPES,
    DType,
    complex_of,
    float32,
    int64,
    uint8,
    uint64,
    widened,
)
from suanzi.base.layout import strides_of
from suanzi.base.status import StatusError, TypeMismatch
from suanzi.faces.array_api.arguments import FLOATING, NUMERIC, dtype_or
from suanzi.tensors.parts import permuted
from suanzi.tensors.tensor import Tensor

DEFAULT_FLOAT = float32
"""What means of integers are; the same as of :func:`suanzi.tensor`."""
PLAIN = frozenset(one for one in DTYPES if one.kind in ("int", "uint", "float") and one.bits >= 8)
"""Real numbers that the core computes with as they are."""


# ---- dtypes -------------------------------------------------------------------------------------


def summed_dtype(function: str, dt: DType, wanted: Any = None) -> DType:
    """Return the dtype that elements are added in: 64 bits for integers, unless it is given."""
    if wanted is not None:
        target = dtype_or(function, wanted, dt)
        narrows = dt.kind == "complex" and target.kind != "complex"
        if target.kind not in NUMERIC or target.bits < 8 or narrows:
            raise TypeMismatch(
                f"{function}: x is {dt} and dtype {target}; it must be of integers of a byte or "
                "more, or of floating-point numbers, complex ones if x has those."
            )
        return target
    if dt.kind in ("bool", "int"):
        return int64
    return uint64 if dt.kind == "uint" else dt


def in_bytes(x: Tensor) -> Tensor:
    """Return bool and integers of less than a byte as whole bytes; all else as it is."""
    dt = x.dtype
    if dt.kind == "bool":
        return _core.cast(x, uint8, False)
    return x if dt.bits >= 8 else _core.cast(x, widened(dt), False)


def is_usual(x: Tensor, axis: Any, keepdims: Any) -> bool:
    """Return whether the operator's fast path takes arguments as they are, and refuses none."""
    n = x.ndim
    one = axis is None or (type(axis) is int and -n <= axis < n)
    return one and type(keepdims) is bool and n > 0 and x.size > 0


# ---- views and kernels --------------------------------------------------------------------------


def computed(kernel: str, *operands: Any) -> Tensor:
    """Return what an operator makes of operands of one dtype, the first one's."""
    return _core.run_operator(kernel, operands, operands[0].dtype)[0]


def axis_last(x: Tensor, axis: int) -> Tensor:
    """Return a view with an axis behind all others, or the tensor itself where it is."""
    if axis == x.ndim - 1:
        return x
    return permuted(x, (*(a for a in range(x.ndim) if a != axis), axis))


def axis_back(x: Tensor, axis: int) -> Tensor:
    """Return a view with the last axis where it was before :func:`axis_last`."""
    order = list(range(x.ndim - 1))
    order.insert(axis, x.ndim - 1)
    return permuted(x, tuple(order))


def repeated(x: Tensor, shape: tuple[int, ...]) -> Tensor:
    """Return a view that is broadcast to a shape, to which it must go."""
    missing = len(shape) - x.ndim
    strides = [0 if n == 1 else s for n, s in zip(x.shape, x.strides, strict=True)]
    return _core.view(x, x.offset, shape, [*(0,) * missing, *strides])


def flat(x: Tensor) -> Tensor:
    """Return the elements along one axis, row by row."""
    if _core.is_row_major(x):
        return _core.view(x, x.offset, (x.size,), (1,))
    return x.reshape(-1)


def shaped(x: Tensor, shape: tuple[int, ...]) -> Tensor:
    """Return a new tensor, which is in row-major order, in another shape."""
    return _core.view(x, x.offset, shape, (1,) if len(shape) == 1 else strides_of(shape))


def dense(x: Tensor) -> Tensor:
    """Return the elements in row-major order: the tensor itself if they are."""
    return x if _core.is_row_major(x) else _core.row_major_copy(x)


def counting(n: int) -> Tensor:
    """Return 0, 1, 2, ... as int64."""
    made = _core.empty((min(n, 2**63 - 1),), int64)  # which is too many, too
    if n:
        _core.fill_sequence(made, 0, n, 0, 1, 0, False)
    return made


def with_number(function: str, dt: DType, x: Any) -> Any:
    """Return a Python number as a tensor, of a dtype if that is of its kind; all else as it is."""
    if isinstance(x, Tensor) or not isinstance(x, bool | int | float | complex):
        return x
    from suanzi.tensors.make import tensor

    kind = "bool" if isinstance(x, bool) else type(x).__name__
    if kind == "complex" and dt.kind != "complex":
        dt = complex_of(dt if dt.kind == "float" else DEFAULT_FLOAT)
    elif kind == "float" and dt.kind not in FLOATING:
        dt = DEFAULT_FLOAT
    elif kind == "int" and dt.kind == "bool":
        dt = int64
    try:
        return tensor(x, dt)
    except StatusError as error:
        raise type(error)(f"{function}: {error}") from None
