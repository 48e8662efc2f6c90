"""Calls that differ from an earlier one in their elements alone: nothing is checked again.

What a call depends on is the key: operator, rule set, dtypes, shapes, strides and devices of its
tensors, and its other arguments. A kernel of suanzi's own has a plan; what PyTorch computes is a
plan, too, which calls the operator's way with other tensors.
"""

from __future__ import annotations

import atexit
import os
from collections.abc import Mapping
from enum import Enum
from typing import Any

import numpy as np
import torch

from suanzi import _core
from suanzi.base.dtypes import DType
from suanzi.base.status import StatusError
from suanzi.faces.array_api.declare import RULES
from suanzi.ops.calling import domains
from suanzi.promote.context import get_promotion
from suanzi.runtimes.torch.casts import cast
from suanzi.runtimes.torch.checking import attributes, signature
from suanzi.runtimes.torch.dtypes import SUANZI, TORCH
from suanzi.runtimes.torch.fast import Plan
from suanzi.runtimes.torch.tensor import TorchTensor
from suanzi.runtimes.torch.ways import Call, Way

KEPT = 4096
"""So many calls are kept."""
plans: dict[Any, _core.KeptCall] = {}
"""By what a call depends on: its plan, which arguments are the operands, and what comes of it."""
_SIMPLE = (int, float, complex, str, type(None), DType, Enum, np.generic)
os.register_at_fork(after_in_child=plans.clear)  # what is then checked anew finds out
atexit.register(plans.clear)  # the core would keep them, and what Triton made, to the end


class WayPlan(Plan):
    """A call that was checked, and the way of PyTorch that computes it."""

    in_order = True
    is_steady = False

    def __init__(self, call: Call, way: Way, plain: Mapping[str, Any], made: torch.Tensor) -> None:
        tensors = {name: x for name, x in plain.items() if isinstance(x, torch.Tensor)}
        self.operands = list(tensors.values())
        self.shape, self.strides = made.shape, made.stride()
        self._call, self._way, self._names = call, way, tuple(tensors)
        # In the order of the parameters, which ways of all operands rely on.
        self._arguments = {name: None if name in tensors else x for name, x in plain.items()}
        self._result = call.result.dtype
        self._dtype = TORCH[self._result]
        self._kind = call.place.type

    def run(self, plains: list[torch.Tensor]) -> torch.Tensor:
        """Return the result for other tensors of the same dtypes, shapes and strides."""
        if torch.is_autocast_enabled(self._kind):
            with torch.autocast(self._kind, enabled=False):
                return self.run(plains)
        try:
            for x in plains:
                if x.requires_grad:
                    raise RuntimeError("no gradient is recorded")
            given = self._arguments | dict(zip(self._names, plains, strict=True))
            made: torch.Tensor = self._way(self._call, **given)
            if made.dtype is self._dtype:
                return made
            return cast(made, SUANZI[made.dtype], self._result)
        except StatusError:
            raise
        except Exception as error:  # which the long way words
            raise RuntimeError from error


def facts(key: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> tuple[Any, ...]:
    """Return what a plan depends on."""
    get_promotion()  # the core knows it from the first use on
    return _core.facts(key, args, dict(kwargs))


def _exactly(x: Any) -> Any:
    """Return a tuple with the types of its items: (0, 1) equals (False, True) and (0.0, 1.0)."""
    if type(x) is tuple:
        return tuple(map(_exactly, x))
    return type(x), repr(x) if isinstance(x, float | complex | np.generic) else x


def again(key: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Return the result of a call whose plan was kept, or NotImplemented.

    Built-in functions and symbols of Python find it without Python. What is wrong with a call is
    found, and named, on the long way.
    """
    return _core.again(key, args, kwargs)


def _wrapped(made: torch.Tensor, like: TorchTensor) -> TorchTensor:
    """Return a result of another shape than that of the call that was kept."""
    other = TorchTensor(made, like.device)
    other.is_array_api = like.is_array_api
    return other


def keep(
    plan: Plan, made: TorchTensor, key: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> None:
    """Keep a plan for calls that differ in their elements alone, and what it made as a model."""
    given = (*args, *kwargs.values())
    plains = [x.plain if isinstance(x, TorchTensor) else None for x in given]
    places: list[int] = []
    for one in plan.operands:  # a tensor that was given twice has two places
        places.append(next((i for i, x in enumerate(plains) if x is one and i not in places), -1))
    is_twice = len({id(x) for x in plan.operands}) < len(plan.operands)
    in_order, plan.operands = (plan.in_order and not kwargs) or not is_twice, []
    if -1 in places or not in_order or get_promotion().on_loss != "ignore":
        return
    if not _is_known(key, args, kwargs):
        return
    try:
        if len(plans) >= KEPT:
            plans.clear()
        assert made.likeness
        plans[facts(key, args, kwargs)] = _core.KeptCall(plan, tuple(places), made)
        made._plain = None
    except TypeError:  # an argument that is not hashable
        return


def keep_way(
    call: Call, way: Way, plain: Mapping[str, Any], made: Any, args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
) -> None:  # fmt: skip
    """Keep a call that PyTorch computed, if it depends on nothing but what the key has."""
    key = call.op.key
    if not isinstance(made, TorchTensor) or len(call.results) != 1:
        return
    tensor = made.plain
    model = TorchTensor(tensor, call.device)
    model.is_array_api = made.is_array_api
    keep(WayPlan(call, way, plain, tensor), model, key, args, kwargs)


def _is_known(key: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> bool:
    """Return whether the key has all that a call depends on: not an axis that is on the device."""
    whole = attributes(key)
    named = (*zip(signature(key).parameters, args, strict=False), *kwargs.items())
    return all(name not in whole if type(x) is TorchTensor else _is_simple(x) for name, x in named)


def _is_simple(x: Any) -> bool:
    """Return whether an argument never changes, and is compared by value."""
    return all(map(_is_simple, x)) if type(x) is tuple else isinstance(x, _SIMPLE)


_core.use_repeated(
    TorchTensor, plans, domains.CHOSEN, RULES, np.generic, _exactly, StatusError, _wrapped
)
for _name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and", "or",
              "xor", "eq", "ne", "lt", "le", "gt", "ge"):  # fmt: skip
    _method = f"__{_name}__"
    _long = getattr(TorchTensor, _method)
    setattr(TorchTensor, _method, _core.repeated_symbol(_method, _long.operator, _long))
