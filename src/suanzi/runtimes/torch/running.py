"""A call of an operator on tensors of a device: checked by the CPU's operator, run by a way."""

from __future__ import annotations

import inspect
import math
import re
import warnings
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

import numpy as np
import torch

from suanzi.base import dtypes
from suanzi.base.device import Device
from suanzi.base.dtypes import DType
from suanzi.base.shapes import bounded
from suanzi.base.status import AllocFailed, InternalError, InvalidArgument, StatusError
from suanzi.ops.calling import domains
from suanzi.ops.calling.arguments import operands_of
from suanzi.ops.calling.declare import REPEATED
from suanzi.ops.calling.elementwise import promote
from suanzi.promote import registry
from suanzi.promote.context import get_promotion
from suanzi.promote.engine import Layer
from suanzi.promote.registry import Operator
from suanzi.runtimes.torch import deferred_errors, fork_guard
from suanzi.runtimes.torch.casts import cast
from suanzi.runtimes.torch.checking import (
    NEGATIVE,
    Shape,
    asked,
    attributes,
    operator_named,
    parameters,
    results_of,
    signature,
)
from suanzi.runtimes.torch.dtypes import SUANZI, TORCH, torch_dtype
from suanzi.runtimes.torch.fast import FAST, MANY, PLANNED, ROUNDED, eager
from suanzi.runtimes.torch.loading import usable
from suanzi.runtimes.torch.repeating import KEPT, again, facts, keep, keep_way
from suanzi.runtimes.torch.tensor import TorchTensor, declare_running, first_line, lacks_memory
from suanzi.runtimes.torch.ways import MISSING, SELF_CHECKED, WAYS, Call, Way, not_supported
from suanzi.tensors.tensor import Tensor

_calls: dict[Any, tuple[Call, Any]] = {}
"""Checked calls by what they depend on."""


def run(key: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
    """Run an operator; some of its arguments are tensors of a device."""
    op = operator_named(key)
    names = parameters(key)
    if not kwargs and len(args) == len(names):
        arguments: dict[str, Any] = dict(zip(names, args, strict=True))
    else:
        try:
            bound = signature(key).bind(*args, **kwargs)
        except TypeError as error:
            raise TypeError(f"{op.title}: {error}") from None
        bound.apply_defaults()
        arguments = bound.arguments
    device = _device_of(op, arguments)
    kind = torch_place(device).type
    if torch.is_autocast_enabled(kind):  # which computes products in 16 bits
        with torch.autocast(kind, enabled=False):
            return run(key, args, kwargs)
    arguments = {name: _on_host(key, name, x) for name, x in arguments.items()}
    if not any(map(_is_there, arguments.values())) and key not in SELF_CHECKED:
        given = inspect.BoundArguments(signature(key), arguments)  # only integers were there
        return registry.function(key)(*given.args, **given.kwargs)
    fork_guard.check(torch_place(device))
    function = WAYS.get(key) or (WAYS.get(f"kernel {op.kernel}") if op.kernel else None)
    if function is None:
        raise not_supported(op, device, MISSING.get(key, "PyTorch has no such operator"))
    if key in SELF_CHECKED:
        return function(op, device, **arguments)
    call, like = _checked(op, device, arguments)
    made_of = attributes(key)
    arguments = {k: made_of[k](x) if k in made_of else x for k, x in arguments.items()}
    # Whose elements are checked, also where nothing is read.
    indexed = not {"index", "group_sizes", "target"}.isdisjoint(arguments)
    if (
        call.exact
        and call.results
        and not indexed
        and not any(math.prod(r.shape) for r in call.results)
    ):
        empty = [torch.empty(r.shape, dtype=TORCH[r.dtype], device=call.place)
                 for r in call.results]  # fmt: skip
        return _marked(op, _wrapped(call, like, empty[0] if isinstance(like, Tensor) else empty))
    if arguments.get("accumulate", "default") != "default":
        raise not_supported(op, device, "PyTorch has no exact sums")
    plain = {name: _plain(x) for name, x in arguments.items() if name != "accumulate"}
    made: Any = None
    kept: Way | None = function
    if usable(call.place.type):
        made, kept = _by_kernels(call, function, plain, args, kwargs)
    if made is None:
        made = in_name_of(op, device, lambda: function(call, **plain))
        if key in _FINITE:
            _report_overflow(call, made)
    done = _marked(op, in_name_of(op, device, lambda: _wrapped(call, like, made)))
    if kept is not None and key not in _FINITE:
        keep_way(call, kept, plain, done, args, kwargs)
    return done


def _on_host(key: str, name: str, x: Any) -> Any:
    """Return an argument; an axis is fetched from the device, and an iterator read once."""
    if isinstance(x, TorchTensor):
        return x.to_host() if name in attributes(key) else x
    if key in _LOGICAL and isinstance(x, int | float | complex):
        return bool(x)  # no dtype of the other operand has to hold it
    once = isinstance(x, Iterator) and name != "arrays"  # which is a list or a tuple
    return tuple(bounded(x, _ITEMS)) if once else x


def _is_there(x: Any) -> bool:
    several = x if isinstance(x, list | tuple) else (x,)
    return any(isinstance(one, TorchTensor) for one in several)


_LOGICAL = {f"array_api:logical_{name}" for name in ("and", "or", "xor")}
_ITEMS = 1 << 20
"""More than any operator takes; an iterator may be infinite."""


def _marked(op: Operator, made: Any) -> Any:
    """Return outputs, marked as tensors of the array API's namespace if they are."""
    if op.rules is not None:
        for x in made if isinstance(made, list | tuple) else (made,):
            if isinstance(x, TorchTensor):
                x.is_array_api = True
    return made


# ---- kernels of suanzi's own ---------------------------------------------------------------------


def _by_kernels(
    call: Call, way: Way, plain: Mapping[str, Any], args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
) -> tuple[Any, Way | None]:  # fmt: skip
    """Return what a kernel of suanzi's own gives, None where there is none for the call.

    And the way to keep for calls like it: None if a plan was kept, or the next decides.
    """
    op = call.op
    shared = f"kernel {op.kernel}"
    key = op.key if op.key in PLANNED or op.key in FAST else shared
    try:
        planner = PLANNED.get(key)
        if key in _failing:
            return None, way
        if planner is not None and not _is_worth(key, op.key, plain, args, kwargs):
            return None, None
        plan = None if planner is None else planner(call, **plain)
        if plan is not None:
            made = plan.run(plan.operands)
            keep(plan, _marked(op, TorchTensor(made, call.device)), op.key, args, kwargs)
            return made, None
        quick = FAST.get(key) or FAST.get(shared)
        with torch.no_grad():
            found = None if quick is None else quick(call, **plain)
        return found, way if found is None else quick
    except StatusError:
        raise
    except Exception as error:
        if lacks_memory(error):
            raise _no_memory(op, call.device, error) from None
        _failing.add(key)
        warnings.warn(
            f"{op.title}: its kernel failed on {call.device}, and PyTorch computes instead: "
            f"{type(error).__name__}: {first_line(error)}. SUANZI_TRITON=0 switches kernels off.",
            RuntimeWarning,
            stacklevel=2,
        )
        return None, way


_failing: set[str] = set()
"""The operators whose kernels failed: PyTorch computes them from then on."""
_once: set[Any] = set()
"""The calls that PyTorch computed once, by what they depend on."""


def _is_worth(
    key: str, name: str, plain: Mapping[str, Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> bool:
    """Return whether to compile: not for the first small call, if PyTorch gives the same bits."""
    if key not in ROUNDED or eager():
        return True
    if any(isinstance(x, torch.Tensor) and x.numel() >= MANY for x in plain.values()):
        return True
    try:
        seen = facts(name, args, kwargs)
        if seen in _once:
            return True
    except TypeError:
        return False
    if len(_once) >= KEPT:
        _once.clear()
    _once.add(seen)
    return False


def _device_of(op: Operator, arguments: Mapping[str, Any]) -> Device:
    found: Device | None = None
    for name, x in arguments.items():
        for one in x if isinstance(x, list | tuple) else (x,):
            if isinstance(one, TorchTensor):
                one.alive(op.title, name)
                found = found or one.device
                continue
            if isinstance(one, torch.Tensor):
                raise InvalidArgument(
                    f"{op.title}: {name} is a tensor of PyTorch; "
                    f"suanzi.torch.from_torch({name}) is one of suanzi on its memory."
                )
            away = Device("cpu") if isinstance(one, np.ndarray) and one.ndim else None
            place = one.device if isinstance(one, Tensor) else away
            if place is not None:
                raise InvalidArgument(
                    f"{op.title}: {name} is on {place}, and another argument on a device of "
                    "PyTorch; they must be on one device. Move one, with sz.tensor(x, device=...) "
                    "or to_host()."
                )
    if found is None:
        raise InvalidArgument(
            f"{op.title}: a tensor of a device is in a list of lists; give tensors or a list."
        )
    return found


def _checked(op: Operator, device: Device, arguments: Mapping[str, Any]) -> tuple[Call, Any]:
    """Return a call whose arguments were checked, and what the CPU gives for stand-ins."""
    rules = get_promotion() if op.rules is None else op.rules
    key: Any = (
        op.key, device, rules, rules.on_loss, domains.chosen(),
        tuple(_seen(x) for x in arguments.values()),
    )  # fmt: skip
    try:
        found = _calls.get(key)
    except TypeError:  # an argument that is not hashable
        key, found = None, None
    if found is not None:
        return found
    shapes = {name: _shape(x) for name, x in arguments.items()}
    like, stand_ins, exact = asked(op, shapes)
    call = Call(
        op, device, torch_place(device), {name: _dtype(x) for name, x in arguments.items()},
        stand_ins, results_of(like), exact, *_promotion(op, stand_ins),
    )  # fmt: skip
    for result in call.results:
        try:
            torch_dtype(result.dtype)
        except StatusError as error:
            raise not_supported(op, device, str(error).rstrip(".")) from None
    if key is not None and rules.on_loss == "ignore":
        if len(_calls) >= KEPT:
            _calls.clear()
        _calls[key] = call, like
    return call, like


def _promotion(op: Operator, stand_ins: Mapping[str, Any]) -> tuple[DType | None, bool]:
    """Return the dtype that operands promote to, and whether they are compared by value."""
    if op is NEGATIVE:
        return stand_ins["x"].dtype, False
    if op.kernel in _ASKS:
        return next(iter(stand_ins.values())).dtype, False
    if not op.operator_class and op.kernel is None:
        return None, False
    if op.kernel is None and op.key not in ("logical_not", "rint", "allclose"):
        return None, False
    taken = {
        name: x
        for name, x in stand_ins.items()
        if name in ("x", "y", "e", "a", "x1", "x2", "input")
    }
    found = promote(op, operands_of(op, taken))
    return found.dtype, found.layer is Layer.EXACT


_ASKS = {"is_inf", "is_nan", "is_finite"}
"""Kernels that look at elements as they are: no rule set converts them before."""


def _seen(x: Any) -> Any:
    """Return what a call depends on, of an argument."""
    if isinstance(x, TorchTensor):
        return x.dtype, x.shape
    if isinstance(x, list | tuple):
        return type(x), tuple(_seen(one) for one in x)
    return type(x), repr(x) if isinstance(x, float | complex | np.generic) else x


def _shape(x: Any) -> Any:
    if isinstance(x, TorchTensor):
        return Shape(x.dtype, x.shape)
    if isinstance(x, list | tuple) and any(isinstance(one, TorchTensor) for one in x):
        return type(x)(_shape(one) for one in x)
    return x


def _dtype(x: Any) -> Any:
    if isinstance(x, list | tuple):
        return [_dtype(one) for one in x]
    return x.dtype if isinstance(x, TorchTensor) else None


def _plain(x: Any) -> Any:
    if isinstance(x, TorchTensor):
        return x.plain
    if isinstance(x, list | tuple) and any(isinstance(one, TorchTensor) for one in x):
        return [_plain(one) for one in x]
    return x


_FINITE = {"eig", "inverse", "lstsq", "qr", "solve", "svd"} | {
    f"array_api:{name}"
    for name in ("eig", "eigh", "eigvals", "eigvalsh", "inv", "qr", "solve", "svd", "svdvals")
}  # fmt: skip
"""Operators that refuse what overflows the dtype of the result, from finite operands."""


def _report_overflow(call: Call, made: Any) -> None:
    """Note the error of a result that exceeds the range of the dtype it is computed in."""
    parts = [x for x in (made if isinstance(made, list | tuple) else (made,)) if x is not None]
    if not parts:
        return
    dt, title = call.results[0].dtype, call.op.title
    wide = dtypes.part(dtypes.widened(dt))
    bad = torch.stack([
        ~torch.isfinite(x if x.dtype.itemsize <= 4 or wide.bits == 64 else x.to(
            torch.complex64 if x.is_complex() else torch.float32)).all()
        for x in parts
    ])  # fmt: skip
    deferred_errors.add(bad.any(), lambda: InvalidArgument(
        f"{title}: the result exceeds the range of {wide.name}. Scale the operands, or cast "
        "them to a dtype with a wider range."
    ))  # fmt: skip


@cache
def torch_place(device: Device) -> torch.device:
    """Return PyTorch's name of a device."""
    name = device.name.removeprefix("torch:")
    return torch.device(name if name in ("cpu", "mps") else f"{name}:{device.id}")


def in_name_of(op: Operator, device: Device, call: Any) -> Any:
    """Return what a call of PyTorch gives; its errors are the operator's."""
    try:
        with torch.no_grad():
            return call()
    except StatusError:
        raise
    except Exception as error:
        if lacks_memory(error):
            raise _no_memory(op, device, error) from None
        words = first_line(error)
        if (
            isinstance(error, NotImplementedError)
            or type(error).__name__ == "Unsupported"
            or "not implemented for" in words
        ):
            raise not_supported(op, device, words) from None
        if isinstance(error, RuntimeError | ValueError) and not _BROKEN.search(words):
            raise not_supported(op, device, f"PyTorch refuses the call: {words}") from None
        raise InternalError(
            f"{op.title}: PyTorch failed on {device}: {type(error).__name__}: {words}."
        ) from error


_BROKEN = re.compile("CUDA|INTERNAL ASSERT|device-side|out of bounds|size mismatch", re.IGNORECASE)
"""What PyTorch says where it is not the call that is at fault."""


def _no_memory(op: Operator, device: Device, error: BaseException) -> AllocFailed:
    return AllocFailed(f"{op.title}: not enough memory on {device}: {first_line(error)}.")


def _wrapped(call: Call, like: Any, made: Any) -> Any:
    """Return outputs of a way as tensors of the device, in the dtypes of the results."""
    if isinstance(like, Tensor):
        return wrapped(call.device, _in_dtype(made, call.results[0].dtype))
    if not isinstance(like, list | tuple):
        return made
    dtypes = iter(call.results)
    last = call.results[-1] if call.results else None
    parts = []
    if call.exact and len(made) < len(like):  # what the CPU leaves out
        given = iter(made)
        made = [None if x is None else next(given) for x in like]
    for x in made:
        result = next(dtypes, last) if x is not None else None
        parts.append(None if result is None else wrapped(call.device, _in_dtype(x, result.dtype)))
    return like._make(parts) if hasattr(like, "_make") else type(like)(parts)


def _in_dtype(x: torch.Tensor, dt: DType) -> torch.Tensor:
    return x if x.dtype is TORCH[dt] else cast(x, SUANZI[x.dtype], dt)


def wrapped(device: Device, x: torch.Tensor) -> TorchTensor:
    """Return a tensor of PyTorch as a tensor of a device."""
    return TorchTensor(x, device)


declare_running(run, again)
REPEATED[TorchTensor] = again
