"""How each operator runs on a device of PyTorch: one table, from its key to a function.

A way gets a :class:`Call` and the arguments by their names in the standard, tensors as PyTorch's,
defaults included. It returns tensors of PyTorch, of any dtype: the call's result is then rounded to
the dtype that the CPU's operator gives for the same dtypes, which was asked with stand-ins.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import torch

from suanzi.base.device import Device
from suanzi.base.dtypes import DType
from suanzi.base.status import TypeMismatch
from suanzi.promote.registry import Operator


@dataclass(frozen=True)
class Result:
    """The dtype and shape of an output."""

    dtype: DType
    shape: tuple[int, ...]


@dataclass(frozen=True)
class Call:
    """A call of an operator whose arguments were checked."""

    op: Operator
    device: Device
    place: torch.device
    dtypes: dict[str, Any]
    """The dtypes of the operands, by name; of a list of them, a list."""
    stand_ins: dict[str, Any]
    """The arguments with stand-ins of the CPU for tensors."""
    results: tuple[Result, ...]
    exact: bool
    """Whether the shapes of the results are those of this call."""
    answer: DType | None = None
    """The dtype that operands promote to, of an operator that promotes."""
    compares_exactly: bool = False
    """Whether operands are compared by value, whatever their dtypes."""

    @property
    def promoted(self) -> DType:
        """The dtype that operands promote to."""
        assert self.answer is not None
        return self.answer

    @property
    def result(self) -> Result:
        """The only output."""
        return self.results[0]

    def missing(self, why: str) -> TypeMismatch:
        """Return the error of what PyTorch cannot compute."""
        return not_supported(self.op, self.device, why)


Way = Callable[..., Any]
W = TypeVar("W", bound=Way)

WAYS: dict[str, Way] = {}
"""The way of every operator that runs on PyTorch's devices, by key."""
MISSING: dict[str, str] = {"create_sparse_tensor": "PyTorch's sparse tensors are not adapted"}
"""Why an operator has no way, where there is more to say than that PyTorch has none."""
SELF_CHECKED: set[str] = set()
"""Operators whose way checks its arguments itself, without stand-ins."""


def way(*keys: str, checks: bool = False) -> Callable[[W], W]:
    """Declare how operators run; with `checks`, the way checks its arguments itself."""

    def declare(function: W) -> W:
        WAYS.update(dict.fromkeys(keys, function))
        if checks:
            SELF_CHECKED.update(keys)
        return function

    return declare


def not_supported(op: Operator, device: Device, why: str) -> TypeMismatch:
    """Return the error of an operator that a device does not have."""
    return TypeMismatch(
        f"{op.title}: not supported on {device}: {why}. Compute it on the CPU, with to_host()."
    )
