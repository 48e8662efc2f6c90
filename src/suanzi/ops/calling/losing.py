"""What promotion loses in a call, reported if ``promotion(..., on_loss=...)`` requests it."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from suanzi import _core
from suanzi.base.device import CPU
from suanzi.base.dtypes import DType
from suanzi.base.status import TypeMismatch
from suanzi.promote.engine import Answer, Layer
from suanzi.promote.losing import LossWarning
from suanzi.promote.registry import Operator
from suanzi.promote.values import Loss, loss, number_loss, show
from suanzi.tensors.tensor import Tensor

_HOME = str(Path(__file__).parents[2])


def tell_losses(op: Operator, operands: Mapping[str, Any], found: Answer) -> None:
    """Warn of the operands that lose values in the dtype of an answer, or raise for the first."""
    if found.layer is Layer.EXACT or found.dtype is None:
        return
    for name, x in operands.items():
        lost = _loss(x, found.dtype)
        if lost is None:
            continue
        own = _own_value(x, found.dtype) if isinstance(x, Tensor) else (lost.value, lost.becomes)
        value, becomes = (lost.value, lost.becomes) if own is None else own
        what = x.dtype if isinstance(x, Tensor) else "a Python number"
        like = "" if own else "for example, "
        message = (
            f"{op.title}: {name}, {what}, is converted to {found.dtype} under {found.rules.name}: "
            f"{like}{show(value)} becomes {show(becomes)}."
        )
        if found.rules.on_loss == "raise":
            raise TypeMismatch(f"{message} Cast it yourself where that is meant.")
        dtypes = tuple(y.dtype if isinstance(y, Tensor) else None for y in operands.values())
        warning = LossWarning(
            message, op.name, found.rules.name, dtypes,
            (found.dtype, value, becomes, own is not None),
        )  # fmt: skip
        warnings.warn(warning, stacklevel=_callers_level())


def _loss(x: Any, target: DType) -> Loss | None:
    if not isinstance(x, Tensor):
        return number_loss(x, target)
    if x.dtype.kind in ("char", "quantized"):
        return None
    return loss(x.dtype, target)


def _own_value(x: Tensor, target: DType) -> tuple[Any, Any] | None:
    """Return the first element that changes when it is converted to a dtype and back."""
    if x.device != CPU:
        return None
    there = _core.cast(x, target, False)
    before, after = x.numpy(), _core.cast(there, x.dtype, False).numpy()
    differs = (before != after) & ~((before != before) & (after != after))
    if not differs.any():
        return None
    place = int(differs.ravel().argmax())
    value, becomes = before.ravel()[place].item(), there.numpy().ravel()[place].item()
    return (value, becomes) if isinstance(value, int | float) else None


def _callers_level() -> int:
    """Return how far up the first caller outside of suanzi is."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_HOME):
        level, frame = level + 1, frame.f_back
    return level
