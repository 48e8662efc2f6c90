"""Bits of integers and bool."""

from __future__ import annotations

from suanzi.array_api.declare import WHOLE, elementwise
from suanzi.registry import BITWISE, BOOL
from suanzi.tensors.tensor import Tensor, TensorLike

BITS = (*BOOL, *WHOLE)

__all__ = [
    "bitwise_and",
    "bitwise_invert",
    "bitwise_left_shift",
    "bitwise_or",
    "bitwise_right_shift",
    "bitwise_xor",
]


@elementwise("bitwise_and", dtypes=BITS, promotes=BITWISE, symbol="bitwise_and")
def bitwise_and(x1: TensorLike, x2: TensorLike, /) -> Tensor:
    """Return x1 & x2, bit by bit."""
    raise NotImplementedError


@elementwise("bitwise_or", dtypes=BITS, promotes=BITWISE, symbol="bitwise_or")
def bitwise_or(x1: TensorLike, x2: TensorLike, /) -> Tensor:
    """Return x1 | x2, bit by bit."""
    raise NotImplementedError


@elementwise("bitwise_xor", dtypes=BITS, promotes=BITWISE, symbol="bitwise_xor")
def bitwise_xor(x1: TensorLike, x2: TensorLike, /) -> Tensor:
    """Return x1 ^ x2, bit by bit."""
    raise NotImplementedError


@elementwise("bitwise_not", dtypes=BITS, promotes=BITWISE, symbol="bitwise_not")
def bitwise_invert(x: Tensor, /) -> Tensor:
    """Return x with every bit the other way."""
    raise NotImplementedError


@elementwise(
    "extended:bitwise_left_shift", dtypes=WHOLE, promotes=BITWISE, symbol="bitwise_left_shift"
)
def bitwise_left_shift(x1: TensorLike, x2: TensorLike, /) -> Tensor:
    """Return x1 * 2**x2; a shift of the width of the dtype or more leaves 0."""
    raise NotImplementedError


@elementwise(
    "extended:bitwise_right_shift", dtypes=WHOLE, promotes=BITWISE, symbol="bitwise_right_shift"
)
def bitwise_right_shift(x1: TensorLike, x2: TensorLike, /) -> Tensor:
    """Return the floor of x1 / 2**x2; a shift of the width or more leaves 0, or -1 below zero."""
    raise NotImplementedError
