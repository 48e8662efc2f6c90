"""7.2.13, 7.2.4.14: elements combined along axes; narrow floats in float32, float32 in float64."""

from __future__ import annotations

import math
from typing import Any

import torch

from suanzi.base import dtypes
from suanzi.base.dtypes import DType
from suanzi.ops.reduction_modes import (
    ReduceFunction,
    ReduceMode,
    axes_argument,
    mode_argument,
    reduced_shape,
)
from suanzi.runtimes.torch import unsigned
from suanzi.runtimes.torch.casts import cast
from suanzi.runtimes.torch.dtypes import carried, lane
from suanzi.runtimes.torch.elements import lanes
from suanzi.runtimes.torch.ways import Call, way

_WIDER = {torch.float32: torch.float64, torch.complex64: torch.complex128}


def summable(x: torch.Tensor, dt: DType) -> torch.Tensor:
    """Return elements in the dtype that they are added up in."""
    made = lanes(x, dt)
    if dt.bits < 32 or (dt.kind == "complex" and dt.bits < 64):
        return made
    return made.to(_WIDER.get(made.dtype, made.dtype))


def summed_in(dt: DType) -> torch.dtype:
    """Return the dtype that elements of a float or complex dtype are added up in."""
    made = lane(dt)
    if dt.bits < 32 or (dt.kind == "complex" and dt.bits < 64):
        return made
    return _WIDER.get(made, made)


def _narrow(x: torch.Tensor, dt: DType) -> torch.Tensor:
    """Return elements that PyTorch converts while it adds them up; it does not those of float8."""
    return x if dt.kind == "float" and dt.bits >= 16 else lanes(x, dt)


@way("reduce")
def reduce(call: Call, input: torch.Tensor, mode: Any, axis: Any, keep_dims: bool) -> Any:
    """Combine elements along axes."""
    how = mode_argument(call.op, mode)
    if isinstance(how, ReduceFunction):
        raise call.missing("functions of Python combine elements on the host")
    dt = call.dtypes["input"]
    axes = axes_argument(call.op, input.dim(), axis)
    shape = reduced_shape(tuple(input.shape), axes, bool(keep_dims))
    if not axes:
        input, axes = input.reshape(1), [0]
    return combined(call, how, input, dt, axes).reshape(shape)


def combined(call: Call, how: ReduceMode, x: torch.Tensor, dt: DType, axes: list[int]) -> Any:
    """Combine elements of a dtype along axes."""
    if how is ReduceMode.SUM or how is ReduceMode.MEAN:
        if dt.kind in ("bool", "int", "uint"):
            wide = x.to(torch.int64) if dt.kind == "bool" else lanes(x, dt)
            if how is ReduceMode.MEAN:
                return _mean_of_integers(x, dt, axes)
            return wide.sum(axes, dtype=torch.int64)
        total = _narrow(x, dt).sum(axes, dtype=summed_in(dt))
        return total / math.prod(x.shape[a] for a in axes) if how is ReduceMode.MEAN else total
    if how is ReduceMode.PROD:
        wide = x.to(torch.int64) if dt.kind in ("bool", "int", "uint") else summable(x, dt)
        wide = lanes(x, dt) if dt is dtypes.uint64 else wide
        for axis in sorted(axes, reverse=True):
            wide = wide.prod(axis)
        return wide
    if how in (ReduceMode.MAX, ReduceMode.MIN):
        return _extreme(lanes(x, dt), dt, axes, how is ReduceMode.MAX)
    truth = cast(x, dt, dtypes.bool)
    if how is ReduceMode.LAND:
        return _all(truth, axes)
    if how is ReduceMode.LOR:
        return ~_all(~truth, axes)
    if how is ReduceMode.LXOR:
        return truth.to(torch.int64).sum(axes) % 2 != 0
    return _bits(call, how, lanes(x, dt), dt, axes)


def _mean_of_integers(x: torch.Tensor, dt: DType, axes: list[int]) -> torch.Tensor:
    """Return means: in float64, or of 64 bits by the halves of the integers."""
    count = math.prod(x.shape[a] for a in axes)
    if dt.bits < 64:
        return x.to(torch.float64).sum(axes) / count
    bits = lanes(x, dt)
    low = (bits & 0xFFFFFFFF).to(torch.float64)
    high = (bits >> 32).to(torch.float64)
    if dt is dtypes.uint64:
        high = torch.where(high < 0, high + 2.0**32, high)
    return (high.sum(axes) * 2.0**32 + low.sum(axes)) / count


def _all(truth: torch.Tensor, axes: list[int]) -> torch.Tensor:
    for axis in sorted(axes, reverse=True):
        truth = truth.all(axis)
    return truth


def _extreme(x: torch.Tensor, dt: DType, axes: list[int], largest: bool) -> torch.Tensor:
    """Return the largest or the smallest: +0 is above -0, and a NaN wins."""
    if dt is dtypes.uint64:
        x = unsigned.ordered(x)
    found = x.amax(axes) if largest else x.amin(axes)
    if dt is dtypes.uint64:
        return unsigned.ordered(found)
    if dt.kind == "float":
        sign = torch.copysign(torch.ones_like(x), x)
        of_zeros = torch.where(x == 0, sign, -2.0 if largest else 2.0)
        best = of_zeros.amax(axes) if largest else of_zeros.amin(axes)
        found = torch.where(found == 0, torch.copysign(found, best), found)
    return found


def _bits(call: Call, how: ReduceMode, x: torch.Tensor, dt: DType, axes: list[int]) -> torch.Tensor:
    """Return bits combined: halves of the line with each other, as often as it takes."""
    join = {
        ReduceMode.BAND: torch.bitwise_and, ReduceMode.BOR: torch.bitwise_or,
        ReduceMode.BXOR: torch.bitwise_xor,
    }[how]  # fmt: skip
    kept = [a for a in range(x.dim()) if a not in axes]
    rest = [x.shape[a] for a in kept]
    line = x.permute(*axes, *kept).reshape(-1, *rest)
    start = -1 if how is ReduceMode.BAND else 0
    if not len(line):
        return torch.full(rest, start, dtype=x.dtype, device=x.device)
    while len(line) > 1:
        half = len(line) // 2
        left = [line[2 * half :]] if len(line) % 2 else []
        line = torch.cat([join(line[:half], line[half : 2 * half]), *left])
    return line[0]


@way("reduce_bwd")
def reduce_bwd(
    call: Call, out_grad: torch.Tensor, input: torch.Tensor, mode: Any, axis: Any, keep_dims: bool
) -> Any:
    """Return the gradient of a reduction."""
    how = mode_argument(call.op, mode)
    if isinstance(how, ReduceFunction):
        raise call.missing("functions of Python combine elements on the host")
    dt, grad_dt = call.dtypes["input"], call.dtypes["out_grad"]
    axes = axes_argument(call.op, input.dim(), axis)
    kept = reduced_shape(tuple(input.shape), axes, True)
    count = math.prod(input.shape[a] for a in axes)
    grad = summable(out_grad, grad_dt).reshape(kept)
    if how is ReduceMode.SUM:
        plain = carried(out_grad).reshape(kept).expand(input.shape)
        made = plain.clone(memory_format=torch.contiguous_format)
        return made if made.dtype is out_grad.dtype else made.view(out_grad.dtype)
    if how is ReduceMode.MEAN:
        return (grad / max(count, 1)).expand(input.shape)
    if not input.numel():
        return grad.expand(input.shape)
    x = lanes(input, dt)
    if how in (ReduceMode.MAX, ReduceMode.MIN):
        best = _extreme(x, dt, axes, how is ReduceMode.MAX).reshape(kept)
        chosen = (x == best) | ((x != x) & (best != best))
        shared = grad / chosen.sum(axes).reshape(kept)
        return torch.where(chosen, shared, torch.zeros_like(shared))
    return _of_product(summable(input, dt), grad, axes)


def _of_product(x: torch.Tensor, grad: torch.Tensor, axes: list[int]) -> torch.Tensor:
    """Return the gradient of a product: of the others, before and after each element."""
    rest = [a for a in range(x.dim()) if a not in axes]
    order = [*rest, *axes]
    lines = x.permute(order).reshape(*[x.shape[a] for a in rest], -1)
    one = torch.ones_like(lines[..., :1])
    before = torch.cat([one, lines[..., :-1]], -1).cumprod(-1)
    after = torch.cat([one, lines.flip(-1)[..., :-1]], -1).cumprod(-1).flip(-1)
    others = (before * after).conj().resolve_conj()
    back = others.reshape([x.shape[a] for a in order]).permute(
        [order.index(a) for a in range(x.dim())]
    )
    return grad * back


@way("cumsum")
def cumsum(call: Call, input: torch.Tensor, axis: int, dtype: Any) -> Any:
    """Return cumulative sums, in float64."""
    target = call.result.dtype
    x = _cumulated(cast(input, call.dtypes["input"], target), target)
    return torch.cumsum(x.reshape(-1) if axis == -1 else x, 0 if axis == -1 else axis)


def _cumulated(x: torch.Tensor, dt: DType) -> torch.Tensor:
    wide = lanes(x, dt)
    if dt.kind == "float":
        return wide.to(torch.float64)
    return wide.to(torch.complex128 if dt.kind == "complex" else torch.int64)


@way("cumsum_bwd")
def cumsum_bwd(call: Call, out_grad: torch.Tensor, axis: int, input_shape: Any) -> Any:
    """Return the sums from the last element down to each."""
    where = 0 if axis == -1 else axis
    x = _cumulated(out_grad, call.dtypes["out_grad"]).flip(where)
    made = torch.cumsum(x, where).flip(where)
    return made if input_shape is None else made.reshape(tuple(input_shape))


@way("trace")
def trace(call: Call, x: torch.Tensor, offset: int, dim0: int, dim1: int) -> Any:
    """Return sums of diagonals."""
    return summable(torch.diagonal(x, offset, dim0, dim1), call.dtypes["x"]).sum(-1)


@way("trace_backward")
def trace_backward(
    call: Call, grad_y: torch.Tensor, input_shape: Any, offset: int, dim0: int, dim1: int
) -> Any:
    """Return the gradient on the diagonals, zeros elsewhere."""
    plain = carried(grad_y)
    made = torch.zeros(tuple(int(n) for n in input_shape), dtype=plain.dtype, device=plain.device)
    torch.diagonal(made, offset, dim0, dim1).copy_(plain[..., None])
    return made if made.dtype is grad_y.dtype else made.view(grad_y.dtype)
