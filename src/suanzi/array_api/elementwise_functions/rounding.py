"""Rounding to whole numbers, in the dtype they came in; integers are whole already."""

from __future__ import annotations

from suanzi.array_api.declare import FLOATS, WHOLE, elementwise, rest
from suanzi.registry import ARITHMETIC
from suanzi.tensors.parts import copy
from suanzi.tensors.tensor import Tensor

__all__ = [
    "ceil",
    "floor",
    "round",
    "trunc",
]


@elementwise("ceil", dtypes=FLOATS, promotes=ARITHMETIC, own_body=True)
def ceil(x: Tensor, /) -> Tensor:
    """Return the smallest whole number not below x."""
    return _rounded("ceil", x)


@elementwise("floor", dtypes=FLOATS, promotes=ARITHMETIC, own_body=True)
def floor(x: Tensor, /) -> Tensor:
    """Return the largest whole number not above x."""
    return _rounded("floor", x)


@elementwise("round", dtypes=FLOATS, promotes=ARITHMETIC, own_body=True)
def round(x: Tensor, /) -> Tensor:
    """Return the nearest whole number; of two, the even one."""
    return _rounded("round", x)


@elementwise("trunc", dtypes=FLOATS, promotes=ARITHMETIC, own_body=True)
def trunc(x: Tensor, /) -> Tensor:
    """Return x without its fraction."""
    return _rounded("trunc", x)


def _rounded(name: str, x: Tensor) -> Tensor:
    return copy(x) if isinstance(x, Tensor) and x.dtype in WHOLE else rest(name, x=x)
