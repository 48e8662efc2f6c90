"""7.2.15: complex numbers made of their parts, the parts, and conjugates."""

from __future__ import annotations

import builtins
from typing import Any

from suanzi import _core
from suanzi.base.dtypes import DType, char, float16, float32, float64
from suanzi.base.status import InvalidArgument, TypeMismatch
from suanzi.ops.calling.arguments import (
    Number,
    as_operand,
    number_tensor,
    real_values,
    tensor_argument,
    without_scale,
)
from suanzi.ops.calling.declare import operator
from suanzi.ops.calling.elementwise import check_dtype, check_shapes
from suanzi.ops.quantized import stored_zero
from suanzi.promote.registry import ANY, REGISTRY, Operator
from suanzi.tensors.make import tensor
from suanzi.tensors.parts import copy, zeros
from suanzi.tensors.tensor import Tensor, TensorLike

_PARTS = (float16, float32, float64)
_NOT_TEXT = tuple(d for d in ANY if d is not char)


@operator("7.2.15.1", dtypes=_PARTS, fast=True)
def complex(real: TensorLike, imag: TensorLike) -> Tensor:
    """Return complex numbers with the given real and imaginary parts, which are broadcast.

    Both parts are float16, which makes complex32, or float32, or float64. They are never promoted:
    different dtypes are an error, bfloat16 and float8 too. A Python number takes the dtype of the
    other part.

    >>> sz.complex(sz.tensor([2.25, 3.25]), sz.tensor([4.75, 5.75]))
    Tensor([2.25+4.75j, 3.25+5.75j], dtype=complex64)
    >>> sz.complex(sz.tensor([1, 2], sz.float16), 0.5)
    Tensor([1+0.5j, 2+0.5j], dtype=complex32)
    """
    op = REGISTRY["complex"]
    given = {
        name: real_values(op, name, as_operand(op, name, x))
        for name, x in (("real", real), ("imag", imag))
    }
    wanted = next((x.dtype for x in given.values() if isinstance(x, Tensor)), None)
    parts = {name: _as_part(op, name, x, wanted) for name, x in given.items()}
    for name, x in parts.items():
        check_dtype(op, {name: x}, x.dtype)
    first, second = parts.values()
    if first.dtype is not second.dtype:
        wide = max(first.dtype, second.dtype, key=lambda d: d.bits)
        narrow = "real" if first.dtype is not wide else "imag"
        raise TypeMismatch(
            f"{op.title}: real is {first.dtype} and imag is {second.dtype}; they must be the same. "
            f"Cast one of them, with sz.cast({narrow}, sz.{wide})."
        )
    check_shapes(op, parts)
    return _core.make_complex(first, second)


def _as_part(op: Operator, name: str, x: Tensor | Number, wanted: DType | None) -> Tensor:
    """Return a part as a tensor; a number that is real takes the dtype of the other one."""
    if isinstance(x, Tensor):
        return x
    if wanted not in _PARTS or isinstance(x, builtins.complex):
        return number_tensor(op, name, x)
    try:
        return tensor(float(x), wanted)
    except (InvalidArgument, OverflowError) as error:
        problem = str(error).removeprefix("tensor: ").rstrip(".")
        raise InvalidArgument(f"{op.title}: {name}: {problem}.") from None


@operator("7.2.15.2", dtypes=_NOT_TEXT, fast=True)
def conj(input: TensorLike) -> Tensor:
    """Return the complex conjugate; a real tensor is returned unchanged.

    >>> sz.conj(sz.tensor([-2.25 + 4.75j, 3.25 + 5.75j]))
    Tensor([-2.25-4.75j,  3.25-5.75j], dtype=complex64)
    >>> x = sz.tensor([1, 2])
    >>> sz.conj(x) is x
    True
    """
    op = REGISTRY["conj"]
    x = _number_argument(op, input)
    if x.dtype.kind != "complex":
        return x
    return _core.conjugate(x)


@operator("7.2.15.3", dtypes=_NOT_TEXT, fast=True)
def imag(input: TensorLike) -> Tensor:
    """Return the imaginary part: a view; for a real tensor, new zeros.

    >>> x = sz.tensor([-2.25 + 4.75j, 3.25 + 5.75j])
    >>> sz.imag(x)
    Tensor([4.75, 5.75], dtype=float32)
    >>> sz.imag(x)[0] = 1
    >>> x
    Tensor([  -2.25+1j, 3.25+5.75j], dtype=complex64)
    >>> sz.imag(sz.tensor([1, 2]))
    Tensor([0, 0], dtype=int64)
    """
    op = REGISTRY["imag"]
    x = _number_argument(op, input)
    if x.dtype.kind == "complex":
        return _core.part_view(x, True)
    if x.dtype.kind != "quantized":
        return zeros(x.shape, x.dtype)
    if x.zero_point is None:
        raise without_scale(op.title, "input", x)
    made = copy(x)
    integers = made.int_repr()
    _core.copy_into(integers, tensor(stored_zero(x), integers.dtype))
    return made


@operator("7.2.15.4", dtypes=_NOT_TEXT, fast=True)
def real(input: TensorLike) -> Tensor:
    """Return the real part: a view; a real tensor is returned unchanged.

    >>> x = sz.tensor([-2.25 + 4.75j, 3.25 + 5.75j])
    >>> sz.real(x)
    Tensor([-2.25,  3.25], dtype=float32)
    """
    op = REGISTRY["real"]
    x = _number_argument(op, input)
    if x.dtype.kind != "complex":
        return x
    return _core.part_view(x, False)


def _number_argument(op: Operator, input: Any) -> Tensor:
    x = tensor_argument(op, "input", input)
    if x.dtype is char:
        raise TypeMismatch(f"{op.title}: input is char, which is text; it must be numeric.")
    return x
