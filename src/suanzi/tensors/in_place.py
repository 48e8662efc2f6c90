"""x += y and its kin: what is not written into x, and why.

The core computes them: x keeps its dtype, its shape and its memory, which its views see change.

>>> x = sz.tensor([1, 2, 3], sz.int8)
>>> first = x[:2]
>>> x += 1
>>> first
Tensor([2, 3], dtype=int8)
"""

from __future__ import annotations

from typing import Any

from suanzi import _core
from suanzi.base.status import DimensionsMismatch, InvalidArgument, TypeMismatch
from suanzi.tensors.tensor import Tensor

_SYMBOLS = {
    "add": "+",
    "sub": "-",
    "mul": "*",
    "matmul": "@",
    "true_divide": "/",
    "floordiv": "//",
    "mod": "%",
    "pow": "**",
    "bitwise_and": "&",
    "bitwise_or": "|",
    "bitwise_xor": "^",
    "bitwise_left_shift": "<<",
    "bitwise_right_shift": ">>",
}


def _refuse(x: Tensor, made: Any, operator: str) -> Tensor:
    """Say why a result is not written into `x`; write what the core leaves to Python."""
    symbol = _SYMBOLS[operator]
    what, instead = f"x {symbol}= y", f"Write x = x {symbol} y"
    if not isinstance(made, Tensor):
        raise TypeMismatch(
            f"{what}: the result is a {type(made).__name__}, which cannot be stored in x. "
            f"{instead}."
        )
    if made.dtype is not x.dtype:
        raise TypeMismatch(
            f"{what}: the result is {made.dtype}, but x is {x.dtype}. {instead}, or cast y "
            "first so that it does not promote x."
        )
    if made.shape != x.shape:
        raise DimensionsMismatch(
            f"{what}: the result has shape {made.shape}, and x keeps its shape {x.shape}. "
            f"{instead}."
        )
    if x.storage.read_only:
        raise InvalidArgument(f"{what}: the memory of x is read-only. {instead}.")
    if any(n > 1 and s == 0 for n, s in zip(x.shape, x.strides, strict=True)):
        raise InvalidArgument(
            f"{what}: several elements of x share memory, as after sz.expand. {instead}."
        )
    if (made.scale, made.zero_point) != (x.scale, x.zero_point):
        raise InvalidArgument(
            f"{what}: the result has another scale or zero point than x. {instead}."
        )
    _core.copy_into(x, made)
    return x


_core.declare_in_place(_refuse)
