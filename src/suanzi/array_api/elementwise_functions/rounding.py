"""Rounding to whole numbers, in the dtype they came in; integers are whole already."""

from __future__ import annotations

from suanzi.array_api.declare import NUMBERS, REALS, elementwise
from suanzi.registry import ARITHMETIC
from suanzi.tensors.tensor import Tensor

__all__ = [
    "ceil",
    "floor",
    "round",
    "trunc",
]


@elementwise("extended:ceil", dtypes=REALS, promotes=ARITHMETIC)
def ceil(x: Tensor, /) -> Tensor:
    """Return the smallest whole number not below x."""
    raise NotImplementedError


@elementwise("extended:floor", dtypes=REALS, promotes=ARITHMETIC)
def floor(x: Tensor, /) -> Tensor:
    """Return the largest whole number not above x."""
    raise NotImplementedError


@elementwise("extended:round", dtypes=NUMBERS, promotes=ARITHMETIC)
def round(x: Tensor, /) -> Tensor:
    """Return the nearest whole number; of two, the even one. Complex parts are rounded alone."""
    raise NotImplementedError


@elementwise("extended:trunc", dtypes=REALS, promotes=ARITHMETIC)
def trunc(x: Tensor, /) -> Tensor:
    """Return x without its fraction."""
    raise NotImplementedError
