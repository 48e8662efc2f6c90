"""Logic: operands count as false where they are zero, and the result is bool."""

from __future__ import annotations

from suanzi import _core
from suanzi.array_api.declare import EVERY, FUNCTIONS, elementwise, function
from suanzi.dtypes import bool as bool_
from suanzi.registry import LOGICAL
from suanzi.resolve.arguments import operands_of
from suanzi.resolve.elementwise import check_dtype, check_shapes
from suanzi.tensors.tensor import Tensor, TensorLike

__all__ = [
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
]


@elementwise("logical_and", dtypes=EVERY, promotes=LOGICAL, own_body=True)
def logical_and(x1: TensorLike, x2: TensorLike, /) -> Tensor:
    """Return whether both are true, element by element."""
    return _combined("logical_and", x1, x2)


@elementwise("logical_or", dtypes=EVERY, promotes=LOGICAL, own_body=True)
def logical_or(x1: TensorLike, x2: TensorLike, /) -> Tensor:
    """Return whether at least one is true, element by element."""
    return _combined("logical_or", x1, x2)


@elementwise("logical_xor", dtypes=EVERY, promotes=LOGICAL, own_body=True)
def logical_xor(x1: TensorLike, x2: TensorLike, /) -> Tensor:
    """Return whether exactly one is true, element by element."""
    return _combined("logical_xor", x1, x2)


@function
def logical_not(x: Tensor, /) -> Tensor:
    """Return whether x is false, element by element."""
    return logical_xor(x, True)


def _combined(name: str, x1: TensorLike, x2: TensorLike) -> Tensor:
    """Combine truths: no common dtype is needed, each operand is true or false by itself."""
    op = FUNCTIONS[name]
    operands = operands_of(op, {"x1": x1, "x2": x2})
    for key, x in operands.items():
        if isinstance(x, Tensor):
            check_dtype(op, {key: x}, x.dtype)
    check_shapes(op, operands)
    truths = [
        _core.cast(x, bool_, False) if isinstance(x, Tensor) else bool(x) for x in operands.values()
    ]
    made: Tensor = _core.run_operator(name, truths, bool_)[0]
    return made
