"""x[key] and x[key] = value on a device."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from suanzi import _core
from suanzi.base import dtypes
from suanzi.base.status import InvalidArgument, OutOfRange, TypeMismatch
from suanzi.runtimes.torch import deferred_errors
from suanzi.runtimes.torch.casts import cast
from suanzi.runtimes.torch.dtypes import carried, carrier
from suanzi.runtimes.torch.running import wrapped
from suanzi.runtimes.torch.tensor import TorchTensor, declare_subscripts, placed
from suanzi.tensors.make import tensor
from suanzi.tensors.tensor import Tensor

_ADVANCED = (TorchTensor, Tensor, np.ndarray, list, bool, np.bool_)


def get(x: TorchTensor, key: Any) -> TorchTensor:
    """Return what a key stands for: a view where it has no indices."""
    x.alive("x[key]", "x")
    view, indices = _understood(x, key)
    plain = carried(view)
    made = plain[indices] if indices is not None else plain
    return wrapped(x.device, made if made.dtype is x.plain.dtype else made.view(x.plain.dtype))


def put(x: TorchTensor, key: Any, value: Any) -> None:
    """Write to what a key stands for."""
    x.alive("x[key] = value", "x")
    if any(n > 1 and s == 0 for n, s in zip(x.shape, x.strides, strict=True)):
        raise InvalidArgument(
            "x[key] = value: several elements of the tensor share memory, as after sz.expand; "
            "write to a copy, made with sz.duplicate."
        )
    if isinstance(value, TorchTensor):
        if value.device != x.device:
            raise InvalidArgument(
                f"x[key] = value: x is on {x.device} and value on {value.device}; they must be on "
                f"one device. Move it, with to_device({str(x.device)!r})."
            )
        new = cast(value.plain, value.dtype, x.dtype)
    elif isinstance(value, Tensor | np.ndarray) and value.ndim:
        raise InvalidArgument(
            f"x[key] = value: x is on {x.device} and value on cpu; they must be on one device. "
            f"Move it, with sz.tensor(value, device={str(x.device)!r})."
        )
    else:
        new = placed(_core.cast(tensor(value), x.dtype, False), x.plain.device)
    base = (
        x.plain if carrier(x.plain.dtype) is x.plain.dtype else x.plain.view(carrier(x.plain.dtype))
    )
    turned: list[int] = []
    view, indices = _understood(x, key, base, turned)
    source = carried(new)
    if indices is None:
        rows = source.expand(view.shape) if source.dim() <= view.dim() else source
        view.copy_(rows.flip(turned) if turned else rows)
    else:
        view[indices] = source


def _understood(
    x: TorchTensor, key: Any, base: torch.Tensor | None = None, turned: list[int] | None = None
) -> tuple[torch.Tensor, Any]:
    """Return a view, and the indices into it, or None.

    PyTorch has no steps below 0: the result is a copy then, or `turned` gets axes that such steps
    are along, and the view has them in the other order.
    """
    plain = x.plain if base is None else base
    parts = list(key) if isinstance(key, tuple) else [key]
    _check_basic(x, parts)
    if any(isinstance(part, _ADVANCED) for part in parts):
        return _advanced(x, plain, parts)
    made, axis = plain, 0
    explicit = sum(part is not None and part is not Ellipsis for part in parts)
    for part in parts:
        if part is Ellipsis:
            axis += x.ndim - explicit
        elif part is None:
            made = made.unsqueeze(axis)
            axis += 1
        elif isinstance(part, slice):
            start, stop, step = part.indices(made.shape[axis])
            count = len(range(start, stop, step))
            if step < 0:
                low = start + (count - 1) * step if count else 0
                made = _sliced(made, axis, low, -step, count)
                if turned is None:
                    made = made.flip(axis)
                else:
                    turned.append(axis)
            else:
                made = _sliced(made, axis, start, step, count)
            axis += 1
        else:
            made = made.select(axis, int(part))
    return made, None


def _sliced(x: torch.Tensor, axis: int, start: int, step: int, count: int) -> torch.Tensor:
    if x.dtype not in (torch.bool, torch.complex128) and carrier(x.dtype) is not x.dtype:
        x = carried(x)
    whole = [slice(None)] * axis
    end = start + (count - 1) * step + 1 if count else start
    return x[(*whole, slice(start, end, step))]


def _check_basic(x: TorchTensor, parts: list[Any]) -> None:
    """Raise what the CPU raises for a key, which a stand-in without elements of its own checks."""
    if any(isinstance(part, _ADVANCED) for part in parts):
        return
    here = _core.view(_core.full((), x.dtype, 0), 0, x.shape, (0,) * x.ndim)
    here[tuple(parts)]


def _advanced(x: TorchTensor, plain: torch.Tensor, parts: list[Any]) -> tuple[torch.Tensor, Any]:
    """Return indices as PyTorch takes them; those out of range are reported, and 0."""
    made: list[Any] = []
    axis = 0
    used = sum(_width(part) for part in parts)
    if used > x.ndim:
        raise OutOfRange(f"x[key]: the key has {used} parts, and the tensor {x.ndim} axes.")
    for part in parts:
        if part is Ellipsis:
            axis += x.ndim - used
            made.append(part)
        elif isinstance(part, slice):
            start, stop, step = part.indices(x.shape[axis])
            if step < 0:
                raise InvalidArgument("x[key]: PyTorch has no steps below 0 together with indices.")
            made.append(slice(start, max(stop, start), step))
            axis += 1
        elif part is None:
            made.append(part)
        elif isinstance(part, int) and not isinstance(part, bool):
            made.append(part)
            axis += 1
        else:
            index = _index(x, part)
            if index.dtype is torch.bool:
                there = x.shape[axis : axis + index.dim()]
                if not all(n in (0, m) for n, m in zip(index.shape, there, strict=True)):
                    raise OutOfRange(
                        f"x[key]: a mask of shape {tuple(index.shape)} stands where the tensor has "
                        f"{there}; they must be equal."
                    )
                if not index.numel():  # which takes nothing
                    index = torch.zeros(there, dtype=torch.bool, device=index.device)
                axis += index.dim()
            else:
                index = within(index, x.shape[axis])
                axis += 1
            made.append(index)
    return plain, tuple(made)


def _width(part: Any) -> int:
    if part is None or part is Ellipsis:
        return 0
    if isinstance(part, TorchTensor | Tensor | np.ndarray):
        is_mask = str(part.dtype) in ("bool", "suanzi.bool") or part.dtype == dtypes.bool
        return part.ndim if is_mask else 1
    return 1


def _index(x: TorchTensor, part: Any) -> torch.Tensor:
    if isinstance(part, TorchTensor):
        if part.device != x.device:
            raise InvalidArgument(
                f"x[key]: x is on {x.device} and a key on {part.device}; they must be on one "
                f"device. Move it, with to_device({str(x.device)!r})."
            )
        index, dt = part.plain, part.dtype
    elif isinstance(part, Tensor | np.ndarray):
        raise InvalidArgument(
            f"x[key]: x is on {x.device} and a key on cpu; they must be on one device. Move it, "
            f"with sz.tensor(key, device={str(x.device)!r})."
        )
    else:
        here = tensor(part)
        index, dt = placed(here, x.plain.device), here.dtype
    if dt.kind not in ("bool", "int", "uint"):
        raise TypeMismatch(f"x[key]: a key is {dt}; it must be of integers or bool.")
    return index if dt.kind == "bool" else cast(index, dt, dtypes.int64)


def within(
    index: torch.Tensor, n: int, title: str = "x[key]: an index", least: int | None = None
) -> torch.Tensor:
    """Return indices along an axis; those out of range are reported, and 0."""
    low = -n if least is None else least
    out = (index < low) | (index >= n)
    deferred_errors.add(out.any(), deferred_errors.out_of_range(n, title, low))
    if not n and index.numel():
        deferred_errors.check(index.device)
    return torch.where(out, 0, index)


declare_subscripts(get, put)
