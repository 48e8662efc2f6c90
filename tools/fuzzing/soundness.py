"""What any answer must be: inside its memory, of the shape and dtype that follow from the call."""

from __future__ import annotations

from typing import Any

import numpy as np

import suanzi as sz
from suanzi.promote.operators import OperatorClass
from suanzi.promote.registry import REGISTRY

_DTYPE_IS_PROMOTED = frozenset("add sub mul min max bitwise_and bitwise_or bitwise_xor".split())
_BOOL = {OperatorClass.COMPARISON, OperatorClass.LOGICAL}


def unsound(family: Any, names: tuple[str, ...], given: list[Any], answer: Any) -> str:
    """Return what is wrong with an answer, or nothing."""
    for x in answer if isinstance(answer, list | tuple) else [answer]:
        if isinstance(x, sz.Tensor) and (wrong := _outside(x)):
            return wrong
    if (
        family.op not in REGISTRY
        or family.form in ("symbol", "in place")
        or not isinstance(answer, sz.Tensor)
    ):
        return ""
    operator = REGISTRY[family.op]
    if operator.kernel is None or not all(isinstance(x, sz.Tensor) for x in given):
        return ""
    shape = np.broadcast_shapes(*(x.shape for x in given)) if given else ()
    if answer.shape != shape:
        return f"the shape is {answer.shape}, of operands that give {shape}"
    dtype = sz.bool
    if operator.operator_class not in _BOOL:
        if family.op not in _DTYPE_IS_PROMOTED or any(x.scale is not None for x in given):
            return ""
        dtype = sz.result_type(*given, op=family.op)
    return "" if answer.dtype == dtype else f"the dtype is {answer.dtype}, not {dtype}"


def _outside(x: sz.Tensor) -> str:
    """Return where a tensor's elements lie if not in its memory."""
    if not x.size:
        return ""
    ends = [(n - 1) * step for n, step in zip(x.shape, x.strides, strict=True)]
    low = x.offset + sum(n for n in ends if n < 0)
    high = x.offset + sum(n for n in ends if n > 0) + 1
    room = len(x.storage.memory)
    if low < 0 or high * x.dtype.itemsize > room:
        return f"elements {low} to {high} of {x.dtype}, in {room} bytes"
    return ""
