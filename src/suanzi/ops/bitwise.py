"""7.2.7: bits of integers and bool."""

from __future__ import annotations

from typing import Any

from suanzi import _core
from suanzi.base.dtypes import DType, iinfo, int64
from suanzi.base.dtypes import bool as bool_
from suanzi.base.hints import shown
from suanzi.base.status import InvalidArgument, TypeMismatch
from suanzi.ops.calling.arguments import as_operand
from suanzi.ops.calling.declare import declare_symbol, operator
from suanzi.ops.calling.elementwise import check_dtype, check_shapes
from suanzi.promote.registry import BITWISE, BOOL, INTEGERS, REGISTRY, Operator
from suanzi.tensors.make import tensor
from suanzi.tensors.parts import readable
from suanzi.tensors.tensor import Tensor, TensorLike


@operator("7.2.7.1", dtypes=(*BOOL, *INTEGERS), kernel="bitwise_and", promotes=BITWISE)
def bitwise_and(x: TensorLike, y: TensorLike) -> Tensor:
    """Return x & y, bit by bit.

    >>> sz.bitwise_and(sz.tensor([1, 1, 1]), sz.tensor([2, 0, 1]))
    Tensor([0, 0, 1], dtype=int64)
    """


@operator("7.2.7.2", dtypes=(*BOOL, *INTEGERS), kernel="bitwise_or", promotes=BITWISE)
def bitwise_or(x: TensorLike, y: TensorLike) -> Tensor:
    """Return x | y, bit by bit.

    >>> sz.bitwise_or(sz.tensor([1, 1, 1]), sz.tensor([2, 0, 1]))
    Tensor([3, 1, 1], dtype=int64)
    """


@operator("7.2.7.3", dtypes=(*BOOL, *INTEGERS), kernel="bitwise_xor", promotes=BITWISE)
def bitwise_xor(x: TensorLike, y: TensorLike) -> Tensor:
    """Return x ^ y, bit by bit.

    >>> sz.bitwise_xor(sz.tensor([1, 1, 1]), sz.tensor([2, 0, 1]))
    Tensor([3, 1, 0], dtype=int64)
    """


@operator("7.2.7.4", dtypes=(*BOOL, *INTEGERS), kernel="bitwise_not", promotes=BITWISE)
def bitwise_not(x: TensorLike) -> Tensor:
    """Return x with every bit inverted.

    >>> sz.bitwise_not(sz.tensor([0b00001111, 0b11110000], sz.uint8))
    Tensor([240,  15], dtype=uint8)
    """


@operator("7.2.7.5", dtypes=(*BOOL, *INTEGERS), promotes=BITWISE)
def bitwise_left_shift(x: TensorLike, shift: TensorLike = 1) -> Tensor:
    """Return x with its bits shifted left by `shift`; bits shifted out are lost.

    `shift` is an integer or an integer tensor, from 0 to less than the width of x. A bool has one
    bit, so any shift of it but 0 leaves False.

    >>> sz.bitwise_left_shift(sz.tensor([1, 200], sz.uint8), 2)
    Tensor([ 4, 32], dtype=uint8)
    """
    return _shift("bitwise_left_shift", x, shift)


@operator("7.2.7.6", dtypes=(*BOOL, *INTEGERS), promotes=BITWISE)
def bitwise_right_shift(x: TensorLike, shift: TensorLike = 1) -> Tensor:
    """Return x with its bits shifted right by `shift`; a signed integer keeps its sign.

    >>> sz.bitwise_right_shift(sz.tensor([1, -8], sz.int8))
    Tensor([ 0, -4], dtype=int8)
    """
    return _shift("bitwise_right_shift", x, shift)


declare_symbol("bitwise_left_shift", bitwise_left_shift)
declare_symbol("bitwise_right_shift", bitwise_right_shift)


def _shift(name: str, x: Any, shift: Any) -> Tensor:
    op = REGISTRY[name]
    operands = {"x": as_operand(op, "x", x), "shift": as_operand(op, "shift", shift)}
    amount = operands["shift"]
    _check_kind(op, amount)
    value = operands["x"]
    if not isinstance(value, Tensor):
        value = operands["x"] = _number(op, value, amount)
    check_dtype(op, {"x": value}, value.dtype)
    check_shapes(op, operands)
    _check_amount(op, value.dtype, amount)
    if value.dtype is bool_:
        # One bit: it stays only where it is not moved.
        return bitwise_and(value, _core.run_operator("equal", [amount, 0], int64)[0])
    output, trouble = _core.run_operator(name, [value, amount], value.dtype)
    assert not trouble
    return output


def _number(op: Operator, x: Any, amount: Any) -> Tensor:
    """Return a number as a tensor of the dtype of the tensor it is shifted by."""
    if not isinstance(x, int):
        raise TypeMismatch(f"{op.title}: x is the number {shown(x)}; it must be an integer.")
    dt = amount.dtype if isinstance(amount, Tensor) else int64
    limits = iinfo(dt)
    if not limits.min <= x <= limits.max:
        raise InvalidArgument(
            f"{op.title}: x is {shown(x)}, which does not fit {dt}, the dtype of shift. Make it a "
            "tensor of a wider dtype, such as sz.tensor(x, sz.int64)."
        )
    return tensor(x, dt)


def _check_kind(op: Operator, amount: Any) -> None:
    """Raise unless shifts are integers."""
    if isinstance(amount, Tensor):
        if amount.dtype.kind not in ("int", "uint"):
            raise TypeMismatch(
                f"{op.title}: shift is {amount.dtype}; it must be an integer or a tensor of them. "
                "Cast it first, for example with sz.cast(shift, sz.int64)."
            )
    elif isinstance(amount, bool) or not isinstance(amount, int):
        raise TypeMismatch(
            f"{op.title}: shift is {shown(amount)}; it must be an integer or a tensor of integers."
        )


def _check_amount(op: Operator, dt: DType, amount: Any) -> None:
    """Raise unless every shift is within the width of a dtype; a bool has no end."""
    if isinstance(amount, Tensor):
        # Elements that a view repeats are read once: there may be more than can be counted.
        values = readable(amount[tuple(slice(None if step else 1) for step in amount.strides)])
        low, high = (int(values.min()), int(values.max())) if amount.size else (0, 0)
    else:
        low = high = amount
    if low < 0 or high >= (2**63 if dt is bool_ else dt.bits):
        wanted = "at least 0 and below 2**63" if dt is bool_ else f"from 0 to {dt.bits - 1}"
        raise InvalidArgument(
            f"{op.title}: shift is {shown(low if low < 0 else high)}; for {dt} it must be {wanted}."
        )
