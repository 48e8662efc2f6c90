"""7.2.1 on a device: what is filled with one number is made there; the rest is uploaded."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from suanzi import _core
from suanzi.base.dtypes import DType
from suanzi.runtimes.torch.tensor import placed


def number(value: Any, dtype: DType, place: torch.device) -> torch.Tensor:
    """Return a number, rounded once as the CPU does, as a tensor of no axes on a device."""
    return placed(_core.full((), dtype, value), place)


def full(place: torch.device, dtype: DType, shape: tuple[int, ...], value: Any = 0) -> torch.Tensor:
    """Return a tensor of one number."""
    made = number(value, dtype, place)
    return made.expand(shape).clone(memory_format=torch.contiguous_format)


CREATED: dict[str, Callable[..., torch.Tensor]] = {
    "zeros": full,
    "empty": full,
    "full": full,
}
"""What makes a tensor on the device itself, by the name of the creation interface."""
