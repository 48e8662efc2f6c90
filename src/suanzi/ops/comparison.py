"""7.2.5: comparison.

Operands are compared in the dtype they promote to, and the result is bool. Under `lossless`, and
between integers under `numpy`, operands without a common dtype are compared by value.
"""

from __future__ import annotations

import math
from typing import Any

from suanzi import _core
from suanzi.base.dtypes import DType, complex128, float64, int64, uint64
from suanzi.base.hints import shown
from suanzi.base.numpy import np
from suanzi.base.shapes import broadcast_shapes
from suanzi.base.status import InvalidArgument
from suanzi.ops.calling.arguments import operands_of
from suanzi.ops.calling.declare import operator
from suanzi.ops.calling.elementwise import check_dtype, check_shapes, plain_operand, promote
from suanzi.ops.calling.scalars import flag_argument
from suanzi.promote.engine import Layer
from suanzi.promote.registry import BOOL, COMPARISON, NUMBERS, REALS, REGISTRY, SUBBYTE, Operator
from suanzi.tensors.exchange import check_room
from suanzi.tensors.make import tensor
from suanzi.tensors.parts import readable
from suanzi.tensors.tensor import Tensor, TensorLike


@operator("7.2.5.1", dtypes=(*BOOL, *SUBBYTE, *NUMBERS), kernel="equal", promotes=COMPARISON)
def equal(x: TensorLike, y: TensorLike) -> Tensor:
    """Return whether x equals y, element by element.

    >>> sz.equal(sz.tensor([1, 2, 3]), sz.tensor([1, 3, 3]))
    Tensor([ True, False,  True], dtype=bool)
    """


@operator("7.2.5.2", dtypes=(*BOOL, *SUBBYTE, *NUMBERS), kernel="not_equal", promotes=COMPARISON)
def not_equal(x: TensorLike, y: TensorLike) -> Tensor:
    """Return whether x differs from y, element by element.

    >>> sz.not_equal(sz.tensor([1, 2, 3]), sz.tensor([1, 3, 3]))
    Tensor([False,  True, False], dtype=bool)
    """


@operator("7.2.5.3", dtypes=(*SUBBYTE, *REALS), kernel="greater", promotes=COMPARISON)
def greater(x: TensorLike, y: TensorLike) -> Tensor:
    """Return whether x is greater than y, element by element.

    >>> sz.greater(sz.tensor([1, 3, 3]), sz.tensor([1, 2, 3]))
    Tensor([False,  True, False], dtype=bool)
    """


@operator("7.2.5.4", dtypes=(*SUBBYTE, *REALS), kernel="greater_equal", promotes=COMPARISON)
def greater_equal(x: TensorLike, y: TensorLike) -> Tensor:
    """Return whether x is at least y, element by element.

    >>> sz.greater_equal(sz.tensor([1, 3, 3]), sz.tensor([1, 2, 3]))
    Tensor([True, True, True], dtype=bool)
    """


@operator("7.2.5.5", dtypes=(*SUBBYTE, *REALS), kernel="less", promotes=COMPARISON)
def less(x: TensorLike, y: TensorLike) -> Tensor:
    """Return whether x is less than y, element by element.

    >>> sz.less(sz.tensor([1, 2, 3]), sz.tensor([1, 3, 3]))
    Tensor([False,  True, False], dtype=bool)
    """


@operator("7.2.5.6", dtypes=(*SUBBYTE, *REALS), kernel="less_equal", promotes=COMPARISON)
def less_equal(x: TensorLike, y: TensorLike) -> Tensor:
    """Return whether x is at most y, element by element.

    >>> sz.less_equal(sz.tensor([1, 2, 3]), sz.tensor([1, 3, 3]))
    Tensor([True, True, True], dtype=bool)
    """


@operator("7.2.5.7", dtypes=NUMBERS, promotes=COMPARISON)
def allclose(
    x: TensorLike, y: TensorLike, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False
) -> Tensor:
    """Return whether every element of x is close to that of y: |x - y| <= atol + rtol |y|.

    The result is one bool, in a tensor of shape [1]. Equal infinities are close; NaN is close to
    NaN only with `equal_nan`.

    >>> sz.allclose(sz.tensor([10, 1e-7]), sz.tensor([10.1, 1e-8]))
    Tensor([False], dtype=bool)
    """
    op = REGISTRY["allclose"]
    operands = operands_of(op, {"x": x, "y": y})
    found = promote(op, operands)
    check_shapes(op, operands)
    flag_argument(op, "equal_nan", equal_nan)
    rtol, atol = _tolerance(op, "rtol", rtol), _tolerance(op, "atol", atol)
    promoted = found.dtype
    assert promoted is not None
    if found.layer is not Layer.EXACT:
        check_dtype(op, operands, promoted)
    shapes = [v.shape for v in operands.values() if isinstance(v, Tensor)]
    count = math.prod(broadcast_shapes(shapes) or ())
    if not count:  # and NumPy has no arrays of shapes like (0, 2**62)
        return tensor([True])
    check_room(3 * 8 * count, f"{count} distances as float64")
    exactly = None if found.layer is Layer.EXACT else promoted
    a, b = (_exact_array(op, name, v, exactly) for name, v in operands.items())
    with np.errstate(all="ignore"):
        near = _distance(a, b) <= atol + rtol * np.abs(
            b.astype(np.float64 if b.dtype.kind != "c" else b.dtype)
        )
        # NumPy rounds before it compares unlike dtypes; there, this is only about infinities.
        alike = (a == b) if a.dtype == b.dtype else (a == b) & np.isinf(b)
        close = (near & np.isfinite(b)) | alike
        if equal_nan:
            close |= np.isnan(a) & np.isnan(b)
    return tensor([bool(np.all(close))])


def _tolerance(op: Operator, name: str, value: Any) -> float:
    try:
        found = float(value)  # a NumPy scalar, too
    except (TypeError, ValueError, OverflowError):
        found = math.nan
    if isinstance(value, str | bytes) or not found >= 0:
        raise InvalidArgument(
            f"{op.title}: {name} is {shown(value)}; it must be a number of at least 0."
        )
    return found


def _exact_array(
    op: Operator, name: str, x: Tensor | bool | int | float | complex, promoted: DType | None
) -> Any:
    """Return an operand as NumPy computes with it: 64-bit integers, double or complex double."""
    if promoted is None:
        exact = x if isinstance(x, Tensor) else tensor(x, _holder(x))
    elif isinstance(x, Tensor):
        exact = _core.cast(x, promoted, False)
    else:  # one conversion, as every operator converts a number
        number = plain_operand(op, name, x, promoted)
        exact = _core.run_operator("where", [tensor(True), number, number], promoted)[0]
    array = readable(exact)
    if array.dtype.kind == "f":
        return array.astype(np.float64)
    return array.astype(np.complex128) if array.dtype.kind == "c" else array


def _holder(x: bool | int | float | complex) -> DType:
    """Return the dtype that loses least of a number."""
    if isinstance(x, int):
        return int64 if -(2**63) <= x < 2**63 else uint64 if 0 <= x < 2**64 else float64
    return float64 if isinstance(x, float) else complex128


def _distance(a: Any, b: Any) -> Any:
    """Return |a - b|; the difference of integers is exact, and 0 only of equal values."""
    if a.dtype.kind in "iu" and a.dtype == b.dtype:
        unsigned = a.dtype.str.replace("i", "u")
        return (np.maximum(a, b).astype(unsigned) - np.minimum(a, b).astype(unsigned)).astype(
            np.float64
        )
    if "c" in a.dtype.kind + b.dtype.kind:
        return np.abs(a.astype(np.complex128) - b)
    (a_high, a_low), (b_high, b_low) = _halves(a), _halves(b)
    return np.abs((a_high - b_high) + (a_low - b_low))


def _halves(a: Any) -> tuple[Any, Any]:
    """Return two arrays of double that add up to an array exactly, 64-bit integers among it."""
    if a.dtype.kind not in "iu":
        return a.astype(np.float64), np.float64(0)
    high = a >> 11 << 11 if a.dtype.itemsize == 8 else a
    return high.astype(np.float64), (a - high).astype(np.float64)
