"""Arguments that are tensors, or become tensors, or a StatusError that explains.

The native fast path does the same for what is plain and right; everything else comes here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from suanzi import _core
from suanzi.base.dtypes import DType, DTypeLike, dtype, float32, float64
from suanzi.base.hints import way_to_the_host
from suanzi.base.status import (
    DimensionsMismatch,
    InvalidArgument,
    OnDemand,
    Status,
    StatusError,
    TypeMismatch,
    UninitializedObject,
    WrongObject,
)
from suanzi.ops.calling.scalars import Titled, check_alive, title_of
from suanzi.promote.context import get_promotion
from suanzi.promote.registry import Operator
from suanzi.tensors.make import tensor
from suanzi.tensors.parts import is_destroyed
from suanzi.tensors.tensor import Tensor

Number = bool | int | float | complex


def operands_of(op: Titled, arguments: Mapping[str, Any]) -> dict[str, Tensor | Number]:
    """Return the arguments as tensors and plain Python numbers, at least one of them a tensor."""
    operands = {
        name: real_values(op, name, as_operand(op, name, x)) for name, x in arguments.items()
    }
    if not any(isinstance(x, Tensor) for x in operands.values()):
        first = next(iter(operands))
        operands[first] = number_tensor(op, first, operands[first])
    return operands


def as_operand(op: Titled, name: str, x: Any) -> Tensor | Number:
    """Return an argument as a tensor or a plain Python number."""
    if isinstance(x, Tensor):
        check_alive(op, name, x)
        return x
    if x is None:
        raise UninitializedObject(f"{title_of(op)}: {name} is None; it takes a Tensor.")
    if not hasattr(x, "dtype"):
        kinds: tuple[Callable[[Any], Number], ...] = (bool, int, float, complex)
        for kind in kinds:
            if isinstance(x, kind):  # type: ignore[arg-type]
                return kind(x)
    elif hasattr(x, "__array_interface__") or hasattr(x, "__dlpack__"):
        try:
            return tensor(x)
        except (TypeMismatch, InvalidArgument, BufferError) as error:
            raise object_error(op)(
                f"{title_of(op)}: {name} is a {type(x).__name__} of {x.dtype} that cannot be read: "
                f"{str(error).removeprefix('tensor: ').rstrip('.')}. Convert it first."
            ) from error
    way = way_to_the_host(x) or f"Make a tensor of it with sz.tensor({name})."
    raise object_error(op)(
        f"{title_of(op)}: {name} is a {type(x).__name__}; it takes a Tensor, a Python number or a "
        f"NumPy array. {way}"
    )


def real_values(op: Titled, name: str, x: Tensor | Number) -> Tensor | Number:
    """Return what a quantised tensor stands for, in floating-point; all else stays as it is."""
    if not isinstance(x, Tensor) or x.dtype.kind != "quantized":
        return x
    if x.zero_point is None:
        raise without_scale(title_of(op), name, x)
    # Exact in float64: 17 bits times the 24 of a float32 scale.
    exactly = get_promotion().join is not None
    return _core.dequantize(x, float64 if exactly else float32, False)


def real_argument(op: Titled, name: str, x: Any) -> Tensor:
    """Return an argument as a tensor; a quantised one as what it stands for."""
    found = real_values(op, name, tensor_argument(op, name, x))
    assert isinstance(found, Tensor)
    return found


def without_scale(title: str, name: str, x: Tensor) -> InvalidArgument:
    """Return the error for a quantised tensor that was made without a scale."""
    return InvalidArgument(
        f"{title}: {name} is {x.dtype} without a scale, so that its integers stand for nothing. "
        "Make it with sz.create_quant_tensor or sz.quantize."
    )


def number_tensor(op: Titled, name: str, x: Any) -> Tensor:
    """Return a number as a tensor, in the dtype the rule set gives it."""
    try:
        return tensor(x)
    except InvalidArgument as error:
        problem = str(error).removeprefix("tensor: ")
        raise InvalidArgument(f"{title_of(op)}: {name}: {problem}") from None


def tensor_argument(op: Titled, name: str, x: Any) -> Tensor:
    """Return an argument as a tensor."""
    value = as_operand(op, name, x)
    return value if isinstance(value, Tensor) else number_tensor(op, name, value)


def list_argument(op: Titled, name: str, input: Any) -> list[Tensor]:
    """Return a list or tuple of tensors, of which there must be one at least."""
    if input is None:
        raise UninitializedObject(f"{title_of(op)}: {name} is None; it takes a list of tensors.")
    if not isinstance(input, list | tuple):
        # A tensor is a sequence of its rows, and that is hardly ever what was meant.
        raise InvalidArgument(
            f"{title_of(op)}: {name} is a {type(input).__name__}; it must be a list of tensors."
        )
    if not input:
        raise InvalidArgument(f"{title_of(op)}: {name} is empty; it must have one tensor at least.")
    return [
        x
        if isinstance(x, Tensor) and not is_destroyed(x)
        else tensor_argument(op, f"{name}[{i}]", x)
        for i, x in enumerate(input)
    ]


def _listed(op: Titled) -> tuple[Status, ...]:
    """Return the statuses that the clause lists; none for a function of the array API."""
    facts = op.record if isinstance(op, Operator) else None
    return tuple(facts.statuses) if facts is not None else ()


def dtype_error(op: Titled) -> type[StatusError]:
    """Return the error for a dtype it does not take: what the clause lists, if it fits."""
    listed = _listed(op)
    if Status.INVALID_ARGUMENT in listed and Status.TYPE_MISMATCH not in listed:
        return InvalidArgument
    return TypeMismatch


def in_name_of(
    op: Titled, error: StatusError, kind: type[StatusError] | None = None, hint: str = ""
) -> StatusError:
    """Return an error as an operator's; what it says is put together when it is read."""
    return (kind or error.__class__)(OnDemand(lambda: f"{title_of(op)}: {error}{hint}"))


def dtype_named(op: Titled, x: DTypeLike) -> DType:
    """Return the dtype that an argument names."""
    try:
        return dtype(x)
    except StatusError as error:
        raise in_name_of(op, error) from None


def is_gradient(gradient: DType, of: DType) -> bool:
    """Return whether a gradient has the dtype of a tensor, or the complex dtype of a real one."""
    parts = f"float{gradient.bits // 2}" if gradient.kind == "complex" else None
    return gradient is of or of.name == parts


def object_error(op: Titled) -> type[StatusError]:
    """Return the error for what is no tensor: a TypeError with the status the clause lists."""
    return TypeMismatch if dtype_error(op) is TypeMismatch else WrongObject


def shape_error(op: Titled) -> type[StatusError]:
    """Return the error for shapes that do not go together: what the clause lists, if it fits."""
    listed = _listed(op)
    if Status.INVALID_ARGUMENT in listed and Status.DIMENSIONS_MISMATCH not in listed:
        return InvalidArgument
    return DimensionsMismatch
