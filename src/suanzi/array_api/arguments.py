"""Arguments of functions in Python: arrays, dtypes, devices, or an error that explains."""

from __future__ import annotations

from typing import Any

from suanzi._hints import shown
from suanzi.array_api.declare import RULES
from suanzi.device import Device, DeviceLike
from suanzi.dtypes import DType, DTypeLike
from suanzi.dtypes import dtype as dtype_of
from suanzi.promote.questions import result_type
from suanzi.registry import Operator
from suanzi.resolve.arguments import as_operand
from suanzi.resolve.scalars import flag_argument, integer_argument, is_several, shape_argument
from suanzi.status import InvalidArgument, StatusError, TypeMismatch
from suanzi.tensors.parts import converted
from suanzi.tensors.tensor import Tensor

HERE = Device("cpu")
"""The only device of the namespace."""


def array(op: Operator, name: str, x: Any) -> Tensor:
    """Return an argument that is a tensor of numbers or bool; NumPy's arrays are taken, too."""
    if not isinstance(x, Tensor):
        x = as_operand(op, name, x)
        if not isinstance(x, Tensor):
            raise TypeMismatch(
                f"{op.title}: {name} is the number {shown(x)}; it takes a Tensor. Make one with "
                f"asarray({name})."
            )
    if x.dtype.kind in ("char", "quantized"):
        raise TypeMismatch(
            f"{op.title}: {name} is {x.dtype}; this namespace takes bool and numbers. "
            + ("Give sz.dequantize of it." if x.dtype.kind == "quantized" else "")
        )
    return x


def arrays_of(op: Operator, name: str, given: Any) -> list[Tensor]:
    """Return a list or tuple of arrays, of which there must be one at least."""
    if not isinstance(given, list | tuple) or not given:
        raise InvalidArgument(
            f"{op.title}: {name} is {shown(given)}; it must be a list or tuple of arrays."
        )
    return [array(op, f"{name}[{i}]", x) for i, x in enumerate(given)]


def in_common(op: Operator, arrays: list[Tensor]) -> tuple[list[Tensor], DType]:
    """Return arrays in the dtype that they have in common, by the rules of the namespace."""
    kinds = {x.dtype for x in arrays}
    if len(kinds) == 1:
        return arrays, arrays[0].dtype
    try:
        common = result_type(*kinds, rules=RULES)
    except StatusError as error:
        raise error.__class__(f"{op.title}: {error}") from None
    return [converted(x, common) for x in arrays], common


def dtype_or(op: Operator, given: DTypeLike | None, otherwise: DType) -> DType:
    """Return the dtype that was asked for, of numbers or bool, or else the usual one."""
    if given is None:
        return otherwise
    try:
        found = dtype_of(given)
    except StatusError as error:
        raise error.__class__(f"{op.title}: {error}") from None
    if found.kind in ("char", "quantized"):
        raise TypeMismatch(f"{op.title}: dtype is {found}; it must be bool or of numbers.")
    return found


def check_device(op: Operator, device: DeviceLike | None) -> None:
    """Raise unless a device is the only one of the namespace, or none was named."""
    if device is None:
        return
    try:
        found = Device(device)
    except StatusError as error:
        raise error.__class__(f"{op.title}: {error}") from None
    if found != HERE:
        raise InvalidArgument(f"{op.title}: device is {str(found)!r}; arrays here are on 'cpu'.")


def copy_argument(op: Operator, copy: Any) -> bool | None:
    """Return whether there must be a copy, must be none, or may be one."""
    return None if copy is None else flag_argument(op, "copy", copy, numpys=True)


def shape_of(op: Operator, name: str, shape: Any) -> tuple[int, ...]:
    """Return a shape that is given as a tuple, or as one integer."""
    if not is_several(op, name, shape):
        shape = (integer_argument(op, name, shape),)
    return shape_argument(op, name, shape)
