"""When kernels of suanzi's own are used: they are loaded for the first device that runs them."""

from __future__ import annotations

import importlib
import importlib.util
import os
from functools import cache

import torch

from suanzi.base.status import InvalidArgument
from suanzi.recording.recorders import private_parts

_PARTS = (
    "triton.compiler.ASTSource", "triton.compiler.compile", "triton.runtime.jit.JITFunction",
)  # fmt: skip


@cache
def usable(kind: str) -> bool:
    """Return whether kernels run on a kind of PyTorch's devices; the first such loads them."""
    chosen = os.environ.get("SUANZI_TRITON", "")
    if chosen not in ("", "0", "1"):
        raise InvalidArgument(
            f"SUANZI_TRITON is {chosen!r}; it must be 0 (no kernels of suanzi's own), 1 (every "
            "call compiles its kernel) or not set."
        )
    if chosen == "0" or importlib.util.find_spec("triton") is None:
        return False
    if os.environ.get("TRITON_INTERPRET") != "1" and not _is_nvidia(kind):
        return False
    if None in [private_parts.take(name) for name in _PARTS]:
        return False
    importlib.import_module("suanzi.runtimes.torch.triton")
    return True


def _is_nvidia(kind: str) -> bool:
    """Return whether the device is NVIDIA's, from Ampere on: older ones lack bfloat16."""
    return (
        kind == "cuda"
        and torch.version.cuda is not None
        and torch.cuda.get_device_capability() >= (8, 0)
    )
