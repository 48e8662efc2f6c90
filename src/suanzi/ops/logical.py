"""7.2.6: logic.

Operands count as false where they are zero, in the dtype they promote to; the result is bool.
"""

from __future__ import annotations

from typing import Any

from suanzi import _core
from suanzi.base.dtypes import bool as bool_
from suanzi.ops.calling.arguments import operands_of
from suanzi.ops.calling.declare import operator
from suanzi.ops.calling.elementwise import check_dtype, check_shapes, promote, promoted_dtype, run
from suanzi.promote.engine import Layer
from suanzi.promote.registry import BOOL, LOGICAL, NUMBERS, REGISTRY, SUBBYTE
from suanzi.tensors.tensor import Tensor, TensorLike

_ANY_NUMBER = (*BOOL, *SUBBYTE, *NUMBERS)


@operator("7.2.6.1", dtypes=_ANY_NUMBER, kernel="logical_and", own_body=True, promotes=LOGICAL)
def logical_and(x: TensorLike, y: TensorLike) -> Tensor:
    """Return whether both are true, element by element.

    >>> sz.logical_and(sz.tensor([1, 0, 2]), sz.tensor([True, True, True]))
    Tensor([ True, False,  True], dtype=bool)
    """
    return _combine("logical_and", x, y)


@operator("7.2.6.2", dtypes=_ANY_NUMBER, kernel="logical_or", own_body=True, promotes=LOGICAL)
def logical_or(x: TensorLike, y: TensorLike) -> Tensor:
    """Return whether at least one is true, element by element.

    >>> sz.logical_or(sz.tensor([1, 0, 2]), sz.tensor([True, True, True]))
    Tensor([True, True, True], dtype=bool)
    """
    return _combine("logical_or", x, y)


@operator("7.2.6.4", dtypes=_ANY_NUMBER, kernel="logical_xor", own_body=True, promotes=LOGICAL)
def logical_xor(x: TensorLike, y: TensorLike) -> Tensor:
    """Return whether exactly one is true, element by element.

    >>> sz.logical_xor(sz.tensor([1, 0, 2]), sz.tensor([True, True, True]))
    Tensor([False,  True, False], dtype=bool)
    """
    return _combine("logical_xor", x, y)


@operator("7.2.6.3", dtypes=_ANY_NUMBER, promotes=LOGICAL)
def logical_not(x: TensorLike) -> Tensor:
    """Return whether x is false, element by element.

    >>> sz.logical_not(sz.tensor([1.5, 0]))
    Tensor([False,  True], dtype=bool)
    """
    op = REGISTRY["logical_not"]
    operands = operands_of(op, {"x": x})
    promoted = promoted_dtype(op, operands)
    return _core.run_operator("logical_xor", [operands["x"], True], promoted)[0]


def _combine(which: str, x: TensorLike, y: TensorLike) -> Tensor:
    op = REGISTRY[which]
    operands = operands_of(op, {"x": x, "y": y})
    found = promote(op, operands)
    promoted = found.dtype
    assert promoted is not None
    check_shapes(op, operands)
    if found.layer is Layer.EXACT:
        return truths_combined(which, operands)
    check_dtype(op, operands, promoted)
    return run(op, operands, promoted)


def truths_combined(kernel: str, operands: dict[str, Any]) -> Tensor:
    """Combine operands without a common dtype: each is true or false by itself."""
    truths = [
        _core.cast(x, bool_, False) if isinstance(x, Tensor) else bool(x) for x in operands.values()
    ]
    return _core.run_operator(kernel, truths, bool_)[0]
