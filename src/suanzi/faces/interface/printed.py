"""Names that Appendix A prints outside of any clause: constants of A.1, `op_ifft`."""

from __future__ import annotations

from enum import IntEnum
from typing import Any

from suanzi.base.device import DeviceType
from suanzi.base.dtypes import complex64, complex128, float64
from suanzi.base.layout import LayoutType
from suanzi.base.status import InvalidArgument, Status, TypeMismatch
from suanzi.faces.interface.calling import REQUIRED, Answer, answered
from suanzi.faces.interface.structures import TypeCode
from suanzi.promote.registry import call as operator_call
from suanzi.tensors.tensor import Tensor

__all__ = [
    "STATUS_ALLOC_FAILED", "STATUS_AXIS_ARGUMENT", "STATUS_DIMENSIONS_MISMATCH",
    "STATUS_INTERNAL_ERROR", "STATUS_INVALID_ARGUMENT", "STATUS_OUT_OF_RANGE", "STATUS_SUCCESS",
    "STATUS_TYPE_MISMATCH", "STATUS_UNINITIALIZED_OBJECT", "TransType", "kBool", "kCPU", "kCSR",
    "kChar", "kComplex", "kDense", "kGPU", "kInt", "kReal", "kUInt", "op_ifft",
]  # fmt: skip

kChar, kBool, kInt = TypeCode.kChar, TypeCode.kBool, TypeCode.kInt
kUInt, kReal, kComplex = TypeCode.kUInt, TypeCode.kReal, TypeCode.kComplex
kDense, kCSR = LayoutType.DENSE, LayoutType.CSR
kCPU, kGPU = DeviceType.CPU, DeviceType.GPU

STATUS_SUCCESS = Status.SUCCESS
STATUS_TYPE_MISMATCH = Status.TYPE_MISMATCH
STATUS_DIMENSIONS_MISMATCH = Status.DIMENSIONS_MISMATCH
STATUS_UNINITIALIZED_OBJECT = Status.UNINITIALIZED_OBJECT
STATUS_INVALID_ARGUMENT = Status.INVALID_ARGUMENT
STATUS_ALLOC_FAILED = Status.ALLOC_FAILED
STATUS_OUT_OF_RANGE = Status.OUT_OF_RANGE
STATUS_INTERNAL_ERROR = Status.INTERNAL_ERROR
STATUS_AXIS_ARGUMENT = Status.AXIS_ARGUMENT


class TransType(IntEnum):
    """From which numbers to which `op_ifft` transforms: complex or real ones."""

    C2C = 0
    R2C = 1
    C2R = 2
    R2R = 3


def op_ifft(
    input: Any = REQUIRED,
    istride: Any = None,
    istride_len: Any = None,
    transtype: Any = TransType.C2C,
    ostride: Any = None,
    ostride_len: Any = None,
) -> Answer:
    """Return the inverse of `op_fft_c2c`: along the last axis, divided by its length.

    A.2.16.2 prints it without a clause (E106); returns (Status, output). Real input is taken as
    complex, and real parts are returned if `transtype` requests real numbers. Strides are None, or
    what the page prints for none: all 1, the last of them perhaps the rank.

    >>> from suanzi.interface import op_fft_c2c
    >>> _, y = op_fft_c2c(sz.tensor([1, 2, 3, 4], sz.complex64))
    >>> op_ifft(y, transtype=TransType.C2R)
    (<Status.SUCCESS: 0>, Tensor([1, 2, 3, 4], dtype=float32))
    """
    return answered("ifft (A.2.16.2)", 1, lambda: _inverse(input, transtype, {
        "istride": (istride, istride_len), "ostride": (ostride, ostride_len)}))  # fmt: skip


def _inverse(x: Any, transtype: Any, strides: dict[str, tuple[Any, Any]]) -> Any:
    if x is REQUIRED:
        raise InvalidArgument("ifft (A.2.16.2): input must be given.")
    try:
        kind = TransType[transtype] if isinstance(transtype, str) else TransType(transtype)
    except (KeyError, ValueError, TypeError):
        names = ", ".join(one.name for one in TransType)
        raise InvalidArgument(
            f"ifft (A.2.16.2): transtype is {transtype!r}; it must be one of {names}."
        ) from None
    if isinstance(x, Tensor):
        _check(x, kind, strides)
        if kind.name[0] == "R":
            x = operator_call("cast", input=x, type=complex128 if x.dtype is float64 else complex64)
    found = operator_call("fft_c2c", input=x, normalization="by_n", forward=False)
    return operator_call("real", input=found) if kind.name[-1] == "R" else found


def _check(x: Tensor, kind: TransType, strides: dict[str, tuple[Any, Any]]) -> None:
    wanted = "floating-point" if kind.name[0] == "R" else "complex"
    if x.dtype.kind != ("float" if kind.name[0] == "R" else "complex"):
        raise TypeMismatch(
            f"ifft (A.2.16.2): input is {x.dtype.name}, and {kind.name} takes {wanted} numbers."
        )
    none = ([1] * x.ndim, [1] * (x.ndim - 1) + [x.ndim])
    for name, (given, length) in strides.items():
        if given is not None and list(given) not in none:
            raise InvalidArgument(
                f"ifft (A.2.16.2): {name} is {list(given)}; leave it out: tensors have no strides."
            )
        if length not in (None, 0 if given is None else len(given)):
            raise InvalidArgument(f"ifft (A.2.16.2): {name}_len is {length!r}; leave it out.")
