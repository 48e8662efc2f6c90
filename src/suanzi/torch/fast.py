"""Which operators have kernels of suanzi's own on a device, and when these are used.

The table is filled by :mod:`suanzi.torch.triton`, which is imported when a device that can run its
kernels is used: a GPU of NVIDIA where Triton is installed, or any device with TRITON_INTERPRET=1.
Everywhere else, and for calls that a kernel declines, PyTorch's expressions run.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
from collections.abc import Callable, Mapping
from functools import cache
from typing import TypeVar

import torch

from suanzi.torch.ways import Way

W = TypeVar("W", bound=Way)

FAST: dict[str, Way] = {}
"""By the key of an operator, or ``kernel NAME`` for all that share an element-wise kernel."""
_NONE: Mapping[str, Way] = {}


def fast(*keys: str) -> Callable[[W], W]:
    """Declare the kernel of operators, called as a way is.

    It returns what a way returns, or None where it has no kernel for the dtypes, the layout or the
    options of this call: then the way of PyTorch runs.
    """

    def declare(function: W) -> W:
        FAST.update(dict.fromkeys(keys, function))
        return function

    return declare


@cache
def kernels(kind: str) -> Mapping[str, Way]:
    """Return the table for a kind of PyTorch's devices, empty if no kernel runs there."""
    if os.environ.get("SUANZI_TRITON") == "0" or importlib.util.find_spec("triton") is None:
        return _NONE
    if os.environ.get("TRITON_INTERPRET") != "1" and not _is_nvidia(kind):
        return _NONE
    importlib.import_module("suanzi.torch.triton")
    return FAST


def _is_nvidia(kind: str) -> bool:
    """Return whether the device is NVIDIA's, from Ampere on: older ones lack bfloat16."""
    return (
        kind == "cuda"
        and torch.version.cuda is not None
        and torch.cuda.get_device_capability() >= (8, 0)
    )
