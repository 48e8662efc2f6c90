"""Real and imaginary parts, conjugates, bounds, and elements as they are."""

from __future__ import annotations

import builtins
from typing import Any

from suanzi import _core
from suanzi.array_api.arguments import array_argument
from suanzi.array_api.declare import FUNCTIONS, WHOLE, function
from suanzi.dtypes import DType, iinfo
from suanzi.resolve.arguments import as_operand
from suanzi.resolve.elementwise import check_dtype, check_shapes, plain_operand
from suanzi.status import TypeMismatch
from suanzi.tensors.parts import converted, zeros
from suanzi.tensors.parts import copy as copied
from suanzi.tensors.tensor import Tensor

__all__ = ["clip", "conj", "imag", "positive", "real"]


_BOUNDS = {
    dt: (iinfo(dt).min, iinfo(dt).max) if dt in WHOLE else (-(2**63), 2**63 - 1)
    for dt in FUNCTIONS["maximum"].dtypes
}
"""Which integers bound a dtype as they are."""


@function
def clip(x: Tensor, /, min: Any = None, max: Any = None) -> Tensor:
    """Return elements no smaller than `min` and no larger than `max`, in the dtype of x.

    Where `min` is above `max`, they are `max`. A bound is a number or an array.

    >>> import suanzi as sz
    >>> xp = sz.array_api
    >>> xp.clip(xp.asarray([-2, 0, 9], dtype=xp.int8), 0, 5)
    Tensor([0, 0, 5], dtype=int8)
    """
    if type(x) is Tensor and _is_plain(x.dtype, min) and _is_plain(x.dtype, max):
        return _core.run_operator("extended:clip", [x, min, max], x.dtype)[0]  # type: ignore[no-any-return]
    x = array_argument("clip", "x", x)
    check_dtype(FUNCTIONS["maximum"], {"x": x}, x.dtype)
    lowest = None if min is None else _bound(x, "min", min)
    highest = None if max is None else _bound(x, "max", max)
    if lowest is None and highest is None:
        return copied(x)
    if lowest is None or highest is None:
        kernel, bound = ("max", lowest) if highest is None else ("min", highest)
        return _core.run_operator(kernel, [x, bound], x.dtype)[0]  # type: ignore[no-any-return]
    check_shapes("clip", {"x": x, "min": lowest, "max": highest})
    return _core.run_operator("extended:clip", [x, lowest, highest], x.dtype)[0]  # type: ignore[no-any-return]


def _is_plain(dt: DType, bound: Any) -> bool:
    """Tell whether a bound is a number that the core takes as it is."""
    if type(bound) is float:
        return dt.kind == "float" and dt in _BOUNDS
    if type(bound) is not int or dt not in _BOUNDS:
        return False
    low, high = _BOUNDS[dt]
    return low <= bound <= high


def _bound(x: Tensor, name: str, given: Any) -> Any:
    """Return a bound in the dtype of x."""
    bound = as_operand("clip", name, given)
    dt = x.dtype
    if isinstance(bound, Tensor):
        check_shapes("clip", {"x": x, name: bound})
        return bound if bound.dtype is dt else converted(array_argument("clip", name, bound), dt)
    if isinstance(bound, complex) or (isinstance(bound, float) and dt in WHOLE):
        raise TypeMismatch(f"clip: {name} is {bound}, and x is {dt}; give an integer.")
    if dt in WHOLE:  # one that lies outside bounds nothing, or all
        return builtins.min(builtins.max(int(bound), iinfo(dt).min), iinfo(dt).max)
    return plain_operand("clip", name, bound, dt)


@function
def conj(x: Tensor, /) -> Tensor:
    """Return the conjugate: the imaginary part has the other sign. A real tensor is itself."""
    x = array_argument("conj", "x", x)
    return _core.conjugate(x) if x.dtype.kind == "complex" else x


@function
def imag(x: Tensor, /) -> Tensor:
    """Return the imaginary part: a view on the same memory; of a real tensor, new zeros."""
    x = array_argument("imag", "x", x)
    return _core.part_view(x, True) if x.dtype.kind == "complex" else zeros(x.shape, x.dtype)


@function
def positive(x: Tensor, /) -> Tensor:
    """Return a copy of x, which must be numbers."""
    x = array_argument("positive", "x", x)
    if x.dtype.kind == "bool":
        raise TypeMismatch("positive: x is bool; it takes numbers.")
    return copied(x)


@function
def real(x: Tensor, /) -> Tensor:
    """Return the real part: a view on the same memory. A real tensor is itself."""
    x = array_argument("real", "x", x)
    return _core.part_view(x, False) if x.dtype.kind == "complex" else x
