"""Which operators have kernels of suanzi's own on a device, and when these are used.

The table is filled by :mod:`suanzi.runtimes.torch.triton`, which is imported when a device that
can run its kernels is used: a GPU of NVIDIA where Triton is installed, or any device with
TRITON_INTERPRET=1. Everywhere else, and for calls that a kernel declines, PyTorch's expressions
run.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, TypeVar

import torch

from suanzi import _core
from suanzi.runtimes.torch.ways import Way

W = TypeVar("W", bound=Way)
P = TypeVar("P", bound=Callable[..., Any])

FAST: dict[str, Way] = {}
"""By the key of an operator, or ``kernel NAME`` for all that share an element-wise kernel."""


class Plan(ABC):
    """A kernel that was chosen for a call: the same call later needs no checks."""

    operands: list[torch.Tensor]
    """The tensors that it was made for, until it is kept."""
    in_order = False
    """Whether these are in the order of the arguments, also where one is given twice."""
    is_steady = True
    """Whether the shape and strides of the result are always the same; if not, these were they:"""
    shape: tuple[int, ...] = ()
    strides: tuple[int, ...] = ()

    program: _core.Program | None = None
    """What the core starts instead for tensors that are aligned, once they were given."""

    @abstractmethod
    def run(self, plains: list[torch.Tensor]) -> torch.Tensor:
        """Return the result for tensors of the same dtypes, shapes and strides."""


PLANNED: dict[str, Callable[..., Plan | None]] = {}
"""What plans a call, by the same keys: it is called as a way is, and returns None to decline."""


ROUNDED: set[str] = set()
"""The keys whose kernels give PyTorch's bits: which of the two computes makes no difference."""
MANY = 1 << 16
"""From so many elements on, the first call of a kind compiles its kernel; else the second does."""


def planned(*keys: str, rounded: bool = True) -> Callable[[P], P]:
    """Declare what plans the calls of operators; `rounded`: whether results are PyTorch's."""

    def declare(function: P) -> P:
        PLANNED.update(dict.fromkeys(keys, function))
        ROUNDED.update(keys if rounded else ())
        return function

    return declare


def eager() -> bool:
    """Return whether every call compiles its kernel, also the first and small ones."""
    return os.environ.get("SUANZI_TRITON") == "1" or os.environ.get("TRITON_INTERPRET") == "1"


def fast(*keys: str) -> Callable[[W], W]:
    """Declare the kernel of operators, called as a way is.

    It returns what a way returns, or None where it has no kernel for the dtypes, the layout or the
    options of this call: then the way of PyTorch runs.
    """

    def declare(function: W) -> W:
        FAST.update(dict.fromkeys(keys, function))
        return function

    return declare
