"""The operators of models: the kit's table of PyTorch's expressions, on operands computed wide.

The table is what the kit tests PyTorch with: one expression for each operator. Here operands of 16
bits and less are float32, and results are rounded once.
"""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

import torch

import suanzi
from suanzi.torch.casts import cast
from suanzi.torch.elements import lanes
from suanzi.torch.ways import MISSING, WAYS, Call


def _table() -> ModuleType:
    """Return the kit's module, whose files import each other as a worker's do, without suanzi."""
    folder = str(Path(suanzi.__file__).parent / "conformance" / "subjects")
    names = ("wire", "frameworks", "frameworks.common", "frameworks.nn_torch")
    before = {name: sys.modules.pop(name) for name in names if name in sys.modules}
    sys.path.insert(0, folder)
    try:
        return importlib.import_module("frameworks.nn_torch")
    finally:
        sys.path.remove(folder)
        for name in names:
            sys.modules.pop(name, None)
        sys.modules.update(before)


_F = "torch.nn.functional"
OTHERWISE = {
    "nn:gelu": f"at_infinity({_F}.gelu(x, approximate=approximate), x)",
    "nn:geglu": f"at_infinity({_F}.gelu(gate, approximate=approximate), gate) * up",
    "nn:softsign": f"torch.where(torch.isinf(x), torch.sign(x), {_F}.softsign(x))",
    "nn:dropout": "torch.where(torch.as_tensor(1 if mask is None else mask) != 0, "
    "masked(x, p, mask), torch.zeros_like(x))",
    "nn:scaled_dot_product_attention": "attention(q, k, v, without(mask), causal, scale, softcap, "
    "window, sink, masked_rows, align)",
}
"""Expressions that differ: PyTorch's own has NaN where the operator has a number, or reversed."""
MISSING |= {
    "nn:batch_norm": "PyTorch requires eps above 0, and rounds statistics on the way",
    "nn:batch_norm_bwd": "PyTorch requires eps above 0",
    "nn:bce_bwd": "PyTorch's gradient of the target has no bound on the logarithms",
    "nn:cosine_similarity_bwd": "PyTorch's gradient passes through the bound on the lengths",
    "nn:ctc_loss": "PyTorch's lengths are numbers of the host",
    "nn:ctc_loss_bwd": "PyTorch's gradient includes that of a log_softmax",
    "nn:kl_div_bwd": "PyTorch's gradient of the target is NaN at 0",
}


def at_infinity(y: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    """Return what a function that grows like relu gives, also at infinity."""
    return torch.where(torch.isinf(x), torch.relu(x), y)


def without(mask: Any) -> None:
    """Raise for a mask: PyTorch's attention has zeros in rows without keys."""
    if mask is not None:
        raise _TABLE.Unsupported("PyTorch's attention has zeros, not NaN, in rows without keys")


_TABLE = _table()
_CODE: dict[str, CodeType] = {
    key: compile(OTHERWISE.get(key, text), f"<{key}>", "eval")
    for key, text in _TABLE.MAPPING.items()
    if key not in MISSING
}


def model(call: Call, **arguments: Any) -> Any:
    """Return what the expression of an operator gives."""
    given = {name: _wide(call, name, x) for name, x in arguments.items()}
    for name in ("dtype", "type"):
        if name in given:
            given[name] = torch.float64
    with torch.enable_grad() if call.op.name.endswith("_bwd") else torch.no_grad():
        made = eval(_CODE[call.op.key], {**vars(_TABLE), **globals(), **given})
    return [_plain(x) for x in made] if isinstance(made, list | tuple) else _plain(made)


def _plain(x: Any) -> Any:
    return x.detach() if isinstance(x, torch.Tensor) else x


def _wide(call: Call, name: str, x: Any) -> Any:
    """Return an operand in the promoted dtype, that of the result, computed wide; not an index."""
    dt, target = call.dtypes[name], call.result.dtype
    if not isinstance(x, torch.Tensor) or dt.kind == "bool":
        return x
    if name in _INDICES or (name == "target" and call.op.name.startswith(_OF_CLASSES)):
        return lanes(x, dt) if dt.kind == "float" else x
    if target.kind != "float":
        return x
    if call.place.type == "cuda" and call.op.key in _ROUND_ONCE and target.bits == 16:
        return cast(x, dt, target)
    made = lanes(cast(x, dt, target), target)
    # PyTorch approximates some activations in float32 by more than their bounds.
    return made.to(torch.float64) if call.op.form == "elementwise" and target.bits == 32 else made


_ROUND_ONCE = ("nn:softmax", "nn:log_softmax", "nn:layer_norm")
"""What CUDA's kernels compute of 16-bit floats in float32, and round once."""
_INDICES = ("indices", "targets", "input_lengths", "target_lengths")
_OF_CLASSES = ("cross_entropy", "nll_loss")


WAYS.update(dict.fromkeys(_CODE, model))
