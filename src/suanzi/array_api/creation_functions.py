"""Creation functions of the array API standard."""

from __future__ import annotations

from typing import Any

from suanzi.tensors.make import tensor
from suanzi.tensors.tensor import Tensor

__all__ = ["asarray"]


def asarray(
    obj: Any, /, *, dtype: Any = None, device: Any = None, copy: bool | None = None
) -> Tensor:
    """Return numbers, lists or arrays as a tensor."""
    return tensor(obj, dtype)
