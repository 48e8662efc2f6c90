"""Triton's interpreter before 3.9, which runs kernels without a GPU: what it computes otherwise.

A number of a kernel is an array of one element there. Triton before 3.7 passes it to ``int``, which
NumPy refuses from 2.4 on (triton-lang/triton#9171), so that no loop with a bound from an argument
runs; before 3.9 ``tl.fma`` rounds twice. A kernel has neither fault on a GPU. This file is read
alone, too, by the interpreter of a subject.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

_MODULE = "triton.runtime.interpreter"
_fixed: list[Any] = []
"""The module of Triton that was changed."""


def fix() -> None:
    """Let kernels that are interpreted count in loops and round ``tl.fma`` once.

    Nothing happens where no kernel is interpreted in this process, or for the second time.
    """
    module = sys.modules.get(_MODULE)
    if module is None or module in _fixed:
        return
    _fixed.append(module)
    names: dict[str, Any] = vars(module)
    patch, builder = names.get("_patch_lang_tensor"), names.get("InterpreterBuilder")
    if patch is not None:

        def patched(tensor: Any, *scope: Any) -> None:
            patch(tensor, *scope)
            tensor.__index__ = lambda self: self.handle.data.item()

        names["_patch_lang_tensor"] = patched
    fma = getattr(builder, "create_fma", None)
    if builder is None or fma is None:
        return

    def fused(self: Any, x: Any, y: Any, z: Any) -> Any:
        made = fma(self, x, y, z)
        if z.data.dtype in (np.float32, np.float16):
            # float64 has the product; what its own rounding of the sum changes is far smaller.
            total = x.data.astype(np.float64) * y.data + z.data
            made.data = total.astype(z.data.dtype)
        return made

    if "fma_fp32" not in fma.__code__.co_names:  # Triton 3.9 rounds once
        builder.create_fma = fused
