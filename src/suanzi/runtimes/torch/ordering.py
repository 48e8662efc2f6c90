"""7.2.14: the largest, the smallest, and elements in order. A NaN is the largest."""

from __future__ import annotations

from typing import Any

import torch

from suanzi.base import dtypes
from suanzi.base.dtypes import DType
from suanzi.base.status import InvalidArgument
from suanzi.runtimes.torch import deferred_errors, unsigned
from suanzi.runtimes.torch.casts import cast
from suanzi.runtimes.torch.dtypes import carried
from suanzi.runtimes.torch.elements import lanes
from suanzi.runtimes.torch.ways import Call, way


def _ordered(x: torch.Tensor, dt: DType) -> torch.Tensor:
    """Return elements in a dtype that PyTorch puts into order."""
    made = lanes(x, dt)
    if dt.kind == "float":  # CUDA sorts by bits, those of the sign of NaN and of 0 among them
        return torch.where(made != made, float("nan"), made + 0.0)
    return unsigned.ordered(made) if dt is dtypes.uint64 else made


@way("argmax", "argmin")
def argmax(call: Call, input: torch.Tensor, axis: int, keepdim: bool, dtype: Any) -> Any:
    """Return the index of the best element along an axis; of several, the first."""
    x = _ordered(input, call.dtypes["input"])
    function = torch.argmax if call.op.name == "argmax" else torch.argmin
    return function(x, axis, bool(keepdim))


@way("argsort")
def argsort(call: Call, input: torch.Tensor, axis: int, descending: bool) -> Any:
    """Return elements in order and their indices; equal ones keep their order."""
    return _in_order(call, input, axis, descending, input.shape[axis])


@way("topk")
def topk(call: Call, input: torch.Tensor, k: int, axis: int, largest: bool, sorted: bool) -> Any:
    """Return the first elements in order."""
    return _in_order(call, input, axis, largest, int(k))


def _in_order(call: Call, x: torch.Tensor, axis: int, falling: bool, count: int) -> Any:
    keys = _ordered(x, call.dtypes["input"])
    at = torch.sort(keys, stable=True, dim=axis, descending=bool(falling)).indices
    at = at.narrow(axis, 0, count).contiguous()
    values = torch.gather(carried(x), axis, at)
    return values if values.dtype is x.dtype else values.view(x.dtype), at


@way("argsort_bwd")
def argsort_bwd(call: Call, out_grad: torch.Tensor, indices: torch.Tensor, axis: int) -> Any:
    """Return each element where it came from."""
    n, title = out_grad.shape[axis], call.op.title
    at = cast(indices, call.dtypes["indices"], dtypes.int64)
    bad = (at < 0) | (at >= n)
    at = torch.where(bad, 0, at)
    counts = torch.zeros_like(at).scatter_add(axis, at, torch.ones_like(at))
    deferred_errors.add(((counts != 1).any() | bad.any()), lambda: InvalidArgument(
        f"{title}: indices are not each of 0 to {n - 1} once along the axis. Give the second "
        "result of sz.argsort."
    ))  # fmt: skip
    plain = carried(out_grad)
    made = torch.zeros_like(plain).scatter(axis, at, plain)
    return made if made.dtype is out_grad.dtype else made.view(out_grad.dtype)
