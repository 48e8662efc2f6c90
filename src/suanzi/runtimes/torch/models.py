"""The operators of models: the kit's table of PyTorch's expressions, on operands computed wide.

The table is what the kit tests PyTorch with: one expression for each operator. Here operands of 16
bits and less are float32, and results are rounded once.
"""

from __future__ import annotations

import importlib
import inspect
import sys
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any, TypeVar

import numpy as np
import torch

from suanzi.runtimes.torch.casts import cast
from suanzi.runtimes.torch.checking import signature
from suanzi.runtimes.torch.elements import lanes, number
from suanzi.runtimes.torch.ways import WAYS, Call

F = TypeVar("F", bound=Callable[..., Any])


def _table() -> ModuleType:
    """Return the kit's module, whose files import each other as a worker's do, without suanzi."""
    folder = str(Path(__file__).parents[2] / "conformance" / "subjects")
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
    "nn:softsign": f"torch.where(torch.isinf(x), torch.sign(x), {_F}.softsign(x))",
}
"""Expressions that differ: PyTorch's own has NaN where the operator has a number."""


def gradients(function: Callable[..., Any], grad: torch.Tensor, *operands: Any) -> Any:
    """Return what the table's function of this name does; those of no elements are 0."""
    if grad.numel():
        return _TABLE.gradients(function, grad, *operands)
    given = [x for x in operands if isinstance(x, torch.Tensor) and x.is_floating_point()]
    found = [torch.zeros_like(x) for x in given]
    return found[0] if len(found) == 1 else found


def averaged(n: int, x: torch.Tensor, *sizes: Any) -> Any:
    """Return means of windows; one axis is two, as PyTorch has a divisor for two only."""
    if n > 1 or sizes[-1] is None:
        return _TABLE.averaged(n, x, *sizes)
    kernel, stride, padding = ((a,) if isinstance(a, int) else a for a in sizes[:3])
    two = (1, *kernel), None if stride is None else (1, *stride), (0, *padding)
    return _TABLE.averaged(2, x.unsqueeze(-2), *two, *sizes[3:]).squeeze(-2)


def gumbel(x: torch.Tensor, tau: float, hard: bool, axis: int, noise: Any) -> torch.Tensor:
    """Return a softmax with noise; with `hard`, 1 at the largest and 0 elsewhere."""
    y = torch.softmax((x + noise) / tau, axis)
    if not hard or not y.numel():
        return y
    return torch.zeros_like(y).scatter_(axis, y.argmax(axis, keepdim=True), 1.0)


def added(made: torch.Tensor, index: torch.Tensor, parts: torch.Tensor) -> torch.Tensor:
    """Add parts to rows of a tensor in place, in an order that does not change."""
    return made.index_put_((index,), parts, accumulate=True)


_TABLE = _table()
_CODE: dict[str, CodeType] = {
    key: compile(OTHERWISE.get(key, text), f"<{key}>", "eval")
    for key, text in _TABLE.MAPPING.items()
}


def model(call: Call, **arguments: Any) -> Any:
    """Return what the expression of an operator gives."""
    given = _operands(call, arguments, call.op.form == "elementwise")
    for name in ("dtype", "type"):
        if name in given:
            given[name] = torch.float64
    with torch.enable_grad() if call.op.name.endswith("_bwd") else torch.no_grad():
        made = eval(_CODE[call.op.key], {**vars(_TABLE), **globals(), **given})
    return [_plain(x) for x in made] if isinstance(made, list | tuple) else _plain(made)


def _plain(x: Any) -> Any:
    return x.detach() if isinstance(x, torch.Tensor) else x


def composed(*keys: str, double: bool = True) -> Callable[[F], F]:
    """Declare a function of PyTorch's operations that computes operators on operands made wide.

    Those of float32 are float64 with `double`. It has the arguments of the operator by name; one
    that is called `call` has the call.
    """

    def declare(function: F) -> F:
        takes = inspect.signature(function).parameters

        def run(call: Call, **arguments: Any) -> Any:
            given = _operands(call, arguments, double)
            if "call" in takes:
                given["call"] = call
            return function(**{name: x for name, x in given.items() if name in takes})

        WAYS.update(dict.fromkeys(keys, run))
        return function

    return declare


def _operands(call: Call, arguments: Mapping[str, Any], double: bool) -> dict[str, Any]:
    return {name: _wide(call, name, x, double) for name, x in arguments.items()}


def _wide(call: Call, name: str, x: Any, double: bool) -> Any:
    """Return an operand in the promoted dtype, that of the result, computed wide; not an index."""
    dt, target = call.dtypes[name], call.result.dtype
    is_number = isinstance(x, int | float | np.generic) and name in _numbers(call.op.key)
    if is_number and target.kind == "float":
        made = number(x, target, call.place)
        return made.to(torch.float64) if double and target.bits == 32 else made
    if not isinstance(x, torch.Tensor) or (dt.kind == "bool" and name == "mask"):
        return x
    if name in _INDICES or (name == "target" and call.op.name.startswith(_OF_CLASSES)):
        return lanes(x, dt) if dt.kind == "float" else x
    if target.kind != "float":
        return x
    if call.place.type == "cuda" and call.op.key in _ROUND_ONCE and target.bits == 16:
        return cast(x, dt, target)
    made = lanes(cast(x, dt, target), target)
    # PyTorch approximates some activations in float32 by more than their bounds.
    return made.to(torch.float64) if double and target.bits == 32 else made


@cache
def _numbers(key: str) -> frozenset[str]:
    """Return the operands of an operator that may be numbers, by name."""
    known = signature(key).parameters.items()
    return frozenset(name for name, p in known if "TensorLike" in str(p.annotation))


_ROUND_ONCE = ("nn:softmax", "nn:log_softmax", "nn:layer_norm")
"""What CUDA's kernels compute of 16-bit floats in float32, and round once."""
_INDICES = ("indices", "targets", "input_lengths", "target_lengths", "group_sizes")
_OF_CLASSES = ("cross_entropy", "nll_loss")


WAYS.update(dict.fromkeys(_CODE, model))
