"""The arguments of the namespace's functions: arrays, axes, dtypes and devices, or an error.

Flags, integers and shapes are read by :mod:`suanzi.ops.calling.scalars`, as those of operators are.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from suanzi import _core
from suanzi.base.device import Device, DeviceLike, provider_of, upload
from suanzi.base.dtypes import DType, DTypeLike
from suanzi.base.dtypes import dtype as dtype_of
from suanzi.base.hints import shown, way_to_the_host
from suanzi.base.status import InvalidArgument, OutOfRange, StatusError, TypeMismatch
from suanzi.faces.array_api.declare import RULES
from suanzi.ops.calling.arguments import as_operand
from suanzi.ops.calling.scalars import (
    axes_argument,
    axis_argument,
    flag_argument,
    integer_argument,
    is_several,
    shape_argument,
)
from suanzi.promote.questions import result_type
from suanzi.tensors.parts import converted
from suanzi.tensors.tensor import Tensor

Axes = int | tuple[int, ...] | None
HERE = Device("cpu")
"""The device of what is made without one."""
REAL = frozenset({"bool", "int", "uint", "float"})
NUMERIC = frozenset({"int", "uint", "float", "complex"})
FLOATING = frozenset({"float", "complex"})
INTEGRAL = frozenset({"int", "uint"})
ELEMENTS = REAL | NUMERIC
_WORDS = {
    REAL: "bool, integers and real floating-point numbers",
    NUMERIC: "integers, and real and complex floating-point numbers",
    FLOATING: "real and complex floating-point numbers",
    ELEMENTS: "bool and numbers",
    frozenset({"float"}): "real floating-point numbers",
    frozenset({"complex"}): "complex numbers",
    INTEGRAL: "integers",
}


def array_argument(function: str, name: str, x: Any, kinds: frozenset[str] = ELEMENTS) -> Tensor:
    """Return an argument that is a tensor of some kinds of dtype; NumPy's arrays are taken, too."""
    if not isinstance(x, Tensor):
        if not hasattr(x, "__array_interface__") and not hasattr(x, "__dlpack__"):
            fix = way_to_the_host(x) or f"Make one with asarray({name})."
            raise TypeMismatch(f"{function}: {name} is {shown(x)}; it must be a Tensor. {fix}")
        x = as_operand(function, name, x)
        assert isinstance(x, Tensor)
    kind = x.dtype.kind
    if kind not in kinds:
        fix = "Cast it first, with astype."
        if kind == "quantized":
            fix = f"Convert it to numbers first, with sz.dequantize({name})."
        raise TypeMismatch(f"{function}: {name} is {x.dtype}; it must be of {_WORDS[kinds]}. {fix}")
    return x


def arrays_of(function: str, name: str, given: Any) -> list[Tensor]:
    """Return a list or tuple of one or more arrays."""
    if not isinstance(given, list | tuple) or not given:
        what = "empty" if isinstance(given, list | tuple) else shown(given)
        raise InvalidArgument(
            f"{function}: {name} is {what}; it must be a list or tuple of arrays."
        )
    return [array_argument(function, f"{name}[{i}]", x) for i, x in enumerate(given)]


def in_common(function: str, arrays: list[Tensor]) -> tuple[list[Tensor], DType]:
    """Return arrays in the dtype that they promote to."""
    dt = promoted(function, *(x.dtype for x in arrays))
    return [converted(x, dt) for x in arrays], dt


@cache
def promoted(function: str, *dtypes: DType) -> DType:
    """Return the dtype that several promote to, by the rules of this namespace."""
    if len(set(dtypes)) == 1:
        return dtypes[0]
    try:
        return result_type(*set(dtypes), rules=RULES)
    except StatusError as error:
        raise type(error)(f"{function}: {error}") from None


def axis_of(function: str, axis: Any, ndim: int) -> int:
    """Return an axis counted from the first."""
    if type(axis) is int and -ndim <= axis < ndim:
        return axis % ndim
    return axis_argument(function, "axis", axis, ndim, OutOfRange)


def axes_of(function: str, axis: Any, ndim: int) -> tuple[int, ...]:
    """Return one axis or several, each counted from the first; None is all of them."""
    if axis is None:
        return tuple(range(ndim))
    return axes_argument(function, "axis", axis, ndim, OutOfRange)


def double(function: str, name: str, x: float) -> float:
    """Return a real number of Python as a float; an int may be too large."""
    try:
        return float(x)
    except OverflowError:
        raise InvalidArgument(
            f"{function}: {name} is {shown(x)}; it must be within the range of float64, whose "
            "largest number is about 1.8e308."
        ) from None


def real_number(function: str, name: str, x: Any) -> float:
    """Return an argument that is a real number of Python as a float."""
    if isinstance(x, bool) or not isinstance(x, int | float):
        raise TypeMismatch(f"{function}: {name} is {shown(x)}; it must be a real number.")
    return double(function, name, x)


def dtype_or(function: str, given: DTypeLike | None, otherwise: DType) -> DType:
    """Return the dtype that was requested, of numbers or bool, or else the usual one."""
    if given is None:
        return otherwise
    try:
        found = dtype_of(given)
    except StatusError as error:
        raise type(error)(f"{function}: {error}") from None
    if found.kind in ("char", "quantized"):
        raise TypeMismatch(f"{function}: dtype is {found}; it must be bool or of numbers.")
    return found


def device_of(function: str, device: DeviceLike | None) -> Device:
    """Return the device that is meant; None is the CPU."""
    try:
        return HERE if device is None else Device(device)
    except StatusError as error:
        raise type(error)(f"{function}: {error}") from None


def provider_for(function: str, device: DeviceLike | None) -> tuple[Device, Any]:
    """Return the device that is meant, and who provides it: nobody if it is the CPU."""
    place = device_of(function, device)
    try:
        return place, provider_of(place)
    except StatusError as error:
        raise type(error)(f"{function}: {error}") from None


def placed(function: str, made: Tensor, device: DeviceLike | None) -> Tensor:
    """Return a tensor of the host on the device that is meant; None is the host."""
    if device is None:
        return made
    place, provider = provider_for(function, device)
    if provider is None:
        return made
    try:
        there: Tensor = upload(_core.as_array_api(made), place, provider)
    except StatusError as error:
        raise type(error)(f"{function}: {error}") from None
    return there


def copy_argument(function: str, copy: Any) -> bool | None:
    """Return whether a copy is required (True), forbidden (False) or allowed (None)."""
    return None if copy is None else flag_argument(function, "copy", copy)


def shape_of(function: str, name: str, shape: Any) -> tuple[int, ...]:
    """Return a shape that is given as a tuple, or as one integer."""
    if not is_several(function, name, shape):
        shape = (integer_argument(function, name, shape),)
    return shape_argument(function, name, shape)
