"""Data type functions of the array API standard."""

from __future__ import annotations

from typing import Any

from suanzi import _core
from suanzi.base.device import DeviceLike
from suanzi.base.dtypes import DType, DTypeLike, float32, part
from suanzi.base.dtypes import finfo as limits_of_floats
from suanzi.base.dtypes import iinfo as limits_of_integers
from suanzi.base.dtypes import isdtype as is_of_kind
from suanzi.base.status import InvalidArgument, StatusError, TypeMismatch
from suanzi.faces.array_api.arguments import array_argument, copy_argument, dtype_or, placed
from suanzi.faces.array_api.declare import RULES, function
from suanzi.promote.questions import result_type as promoted
from suanzi.tensors.parts import copy as copied
from suanzi.tensors.tensor import Tensor

__all__ = ["astype", "can_cast", "finfo", "iinfo", "isdtype", "result_type"]


@function
def astype(
    x: Tensor, dtype: DTypeLike, /, *, copy: bool = True, device: DeviceLike | None = None
) -> Tensor:
    """Convert to another dtype, rounding once; with ``copy=False``, x itself if it has that dtype.

    >>> xp.astype(xp.asarray([257, -1]), xp.bfloat16)
    Tensor([256,  -1], dtype=bfloat16)
    """
    x = array_argument("astype", "x", x)
    target = dtype_or("astype", dtype, float32)
    if target is x.dtype:
        return placed("astype", copied(x) if copy_argument("astype", copy) else x, device)
    if x.dtype.kind == "complex" and target.kind not in ("complex", "bool"):
        raise TypeMismatch(
            f"astype: x is {x.dtype} and dtype {target}, which has no imaginary part. Take "
            "real(x) first."
        )
    return placed("astype", _core.cast(x, target, False), device)


def can_cast(from_: DTypeLike | Tensor, to: DTypeLike, /) -> bool:
    """Return whether promoting two dtypes gives the second.

    >>> xp.can_cast(xp.int8, xp.int16), xp.can_cast(xp.float32, xp.bfloat16)
    (True, False)
    """
    source = _dtype_of("can_cast", from_)
    target = dtype_or("can_cast", to, float32)
    try:
        return promoted(source, target, rules=RULES) is target
    except StatusError:
        return False


def finfo(type: DTypeLike | Tensor, /) -> limits_of_floats:
    """Return the limits of a floating-point dtype or an array's; for complex ones, those of a part.

    >>> sz.array_api.finfo(sz.complex64).dtype, sz.array_api.finfo(sz.float8_e4m3fn).max
    (suanzi.float32, 448.0)
    """
    dt = _dtype_of("finfo", type)
    if not dt.exponent_bits:
        raise TypeMismatch(f"finfo: {dt} is not a floating-point dtype; use iinfo.")
    return limits_of_floats(part(dt))


def iinfo(type: DTypeLike | Tensor, /) -> limits_of_integers:
    """Return the limits of an integer dtype, or of an array's.

    >>> sz.array_api.iinfo(sz.int4).min
    -8
    """
    dt = _dtype_of("iinfo", type)
    if dt.kind not in ("int", "uint"):
        raise TypeMismatch(f"iinfo: {dt} is not an integer dtype; use finfo.")
    return limits_of_integers(dt)


def isdtype(dtype: DTypeLike, kind: Any) -> bool:
    """Return whether a dtype is of a kind, is a given dtype, or is any of several.

    >>> xp.isdtype(xp.bfloat16, "real floating"), xp.isdtype(xp.int4, ("bool", xp.int4))
    (True, True)
    """
    return is_of_kind(dtype, kind)


def result_type(*arrays_and_dtypes: Any) -> DType:
    """Return the dtype that arrays, dtypes and Python numbers promote to.

    >>> xp.result_type(xp.int8, xp.uint8, 1.5), xp.result_type(xp.bfloat16, xp.float16)
    (suanzi.float32, suanzi.float32)
    """
    if not arrays_and_dtypes:
        raise InvalidArgument("result_type: it takes one array or dtype at least.")
    return promoted(*arrays_and_dtypes, rules=RULES)


def _dtype_of(function: str, x: Any) -> DType:
    """Return a dtype, or that of a tensor on any device."""
    if isinstance(x, Tensor) or hasattr(type(x), "__suanzi_operator__"):
        found: DType = x.dtype
        return found
    return dtype_or(function, x, float32)
