"""The arguments that model operators share: float tensors, axes, numbers and words."""

from __future__ import annotations

from functools import cache
from typing import Any

from suanzi import _core
from suanzi.base.hints import nearest, shown
from suanzi.base.shapes import broadcast_shapes
from suanzi.base.status import AllocFailed, DimensionsMismatch, InvalidArgument
from suanzi.ops.calling.arguments import real_argument
from suanzi.ops.calling.scalars import check_alive, integer_argument
from suanzi.ops.creation_wanted import number_argument
from suanzi.ops.linear_algebra_products import dtype_of
from suanzi.promote.registry import Operator
from suanzi.standard import record
from suanzi.tensors.parts import converted
from suanzi.tensors.tensor import Tensor


def float_operand(op: Operator, name: str, x: Any) -> Tensor:
    """Return an argument as a tensor of floats: integers as the rule set in force has them."""
    return float_operands(op, {name: x})[name]


def float_operands(op: Operator, given: dict[str, Any]) -> dict[str, Tensor]:
    """Return arguments promoted to one dtype of floats, without optional ones that are None."""
    required = _required(op.key)
    found = {n: real_argument(op, n, x) for n, x in given.items() if x is not None or n in required}
    target = dtype_of(op, found, None)
    return {name: converted(x, target) for name, x in found.items()}


def dense(x: Tensor) -> Tensor:
    """Return a tensor in row-major order."""
    return x if _core.is_row_major(x) else _core.row_major_copy(x)


def broadcast(op: Operator, name: str, x: Tensor, shape: tuple[int, ...]) -> Tensor:
    """Return a view in which axes of size 1 are repeated, and new ones come first."""
    if x.shape == shape:
        return x
    made: Tensor | None = _core.try_view("expand", x, shape)
    if made is None and broadcast_shapes([x.shape, shape]) == shape:
        raise AllocFailed(f"not enough memory for shape {shape}; use smaller tensors.")
    if made is None:
        raise DimensionsMismatch(
            f"{op.title}: {name} has shape {x.shape}; it must broadcast to {shape}."
        )
    return made


@cache
def _required(key: str) -> frozenset[str]:
    """Return the parameters that a call must give."""
    facts = record(key)
    return frozenset(p.name for p in facts.parameters if p.required) if facts else frozenset()


def axis_argument(op: Operator, axis: Any, ndim: int, name: str = "axis") -> int:
    """Return an axis, counted from the end if it is negative, as one that is not."""
    number = integer_argument(op, name, axis)
    if not -ndim <= number < ndim:
        allowed = f"{-ndim} to {ndim - 1}" if ndim else "none: x has no axes"
        raise InvalidArgument(f"{op.title}: {name} is {shown(number)}; it must be {allowed}.")
    return number % ndim


def real_parameter(op: Operator, name: str, x: Any) -> float:
    """Return a parameter that is a real number, as a float."""
    number = number_argument(op, name, x)
    if isinstance(number, complex):
        raise InvalidArgument(f"{op.title}: {name} is {shown(x)}; it must be a real number.")
    try:
        return float(number)
    except OverflowError:
        raise InvalidArgument(
            f"{op.title}: {name} is {shown(x)}, beyond float64; give a smaller number."
        ) from None


def one_of(op: Operator, name: str, x: Any, allowed: tuple[str, ...]) -> int:
    """Return which of some words a parameter is."""
    if isinstance(x, str) and x in allowed:
        return allowed.index(x)
    check_alive(op, name, x)
    hint = nearest(x, allowed) if isinstance(x, str) else ""
    raise InvalidArgument(
        f"{op.title}: {name} is {shown(x)}; it must be one of {', '.join(allowed)}.{hint}"
    )
