"""7.2.1.16 to .18, 7.2.2, 7.2.3: what moves elements, and what is asked about a tensor.

Elements are moved as integers of the same bits: PyTorch moves those of every dtype.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch

from suanzi import _core
from suanzi.base import dtypes
from suanzi.base.device import Device
from suanzi.base.status import InvalidArgument, OutOfRange
from suanzi.promote import registry
from suanzi.promote.registry import Operator
from suanzi.runtimes.torch import deferred_errors
from suanzi.runtimes.torch.casts import cast
from suanzi.runtimes.torch.dtypes import TORCH, carried
from suanzi.runtimes.torch.elements import lanes, number, rounded
from suanzi.runtimes.torch.tensor import TorchTensor, placed
from suanzi.runtimes.torch.ways import Call, not_supported, way


def moved(x: torch.Tensor, move: Callable[[torch.Tensor], torch.Tensor]) -> torch.Tensor:
    """Return what a move makes of elements."""
    made = move(carried(x))
    return made if made.dtype is x.dtype else made.view(x.dtype)


# ---- questions -----------------------------------------------------------------------------------


@way("shape", checks=True)
def shape(op: Operator, device: Device, input: TorchTensor) -> Any:
    """Return the shape as a tensor of the device."""
    here = _core.view(_core.full((), input.dtype, 0), 0, input.shape, (0,) * input.ndim)
    return registry.call("shape", here).to_device(device)


@way("size", checks=True)
def size(op: Operator, device: Device, input: TorchTensor) -> int:
    """Return the number of elements."""
    return input.size


@way("rank", checks=True)
def rank(op: Operator, device: Device, input: TorchTensor) -> int:
    """Return the number of axes."""
    return input.ndim


@way("is_contiguous", checks=True)
def is_contiguous(op: Operator, device: Device, input: TorchTensor) -> bool:
    """Return whether elements are in row-major order in memory."""
    return input.plain.is_contiguous()


@way("destroy", checks=True)
def destroy(op: Operator, device: Device, input: TorchTensor) -> None:
    """Give up the memory of a tensor."""
    input.destroy()


# ---- creation ------------------------------------------------------------------------------------


@way("create_tensor", "wrap_tensor", checks=True)
def create(
    op: Operator, place: Device, /, shape: Any, dtype: Any, values: Any, layout: Any,
    **others: Any,
) -> Any:  # fmt: skip
    """Return a tensor of values that are on the device; a wrapped one is on the same memory."""
    if layout is not None or not isinstance(values, TorchTensor):
        raise not_supported(op, place, "it takes values of the device, in row-major order")
    here = _core.view(_core.full((), values.dtype, 0), 0, values.shape, (0,) * values.ndim)
    if op.name == "wrap_tensor":
        here = _core.row_major_copy(here)
    given = {"n_bytes": others["n_bytes"]} if "n_bytes" in others else {}
    like = registry.call(op.key, shape=shape, dtype=dtype, values=here, **given)
    plain = cast(values.plain, values.dtype, like.dtype)
    made = plain.reshape(like.shape)
    return TorchTensor(made.clone() if op.name == "create_tensor" else made, place)


# ---- views ---------------------------------------------------------------------------------------


@way("reshape", "expand_dims", "squeeze", "flatten")
def reshape(call: Call, input: torch.Tensor, **arguments: Any) -> Any:
    """Return the elements in the shape of the result."""
    return input.reshape(call.result.shape)


@way("transpose")
def transpose(call: Call, input: torch.Tensor, perm: Any) -> Any:
    """Return a view with its axes where `perm` sends them; without one, in reverse order."""
    n = input.dim()
    places = [int(p) % n for p in perm] if perm is not None and len(perm) else None
    order = [places.index(i) for i in range(n)] if places else list(range(n))[::-1]
    return input.permute(order)


@way("split")
def split(call: Call, input: torch.Tensor, axis: int, **sizes: Any) -> Any:
    """Return parts along an axis."""
    axis = axis % input.dim()
    return torch.split(input, [result.shape[axis] for result in call.results], axis)


@way("unstack")
def unstack(call: Call, input: torch.Tensor, axis: int, num: Any) -> Any:
    """Return all entries of an axis."""
    return torch.unbind(input, axis)


@way("slice")
def slices(call: Call, input: torch.Tensor, begin: Any, size: Any, step: Any) -> Any:
    """Return a part of each axis."""
    return input[_boxes(begin, size, step)]


def _boxes(begin: Any, size: Any, step: Any) -> tuple[slice, ...]:
    return tuple(
        slice(int(b), int(b) + int(n), int(s)) for b, n, s in zip(begin, size, step, strict=True)
    )


@way("slice_backward")
def slice_backward(
    call: Call, grad_out: torch.Tensor, input: torch.Tensor, begin: Any, size: Any, step: Any
) -> Any:
    """Return the gradient at the slice, zeros elsewhere."""
    made = torch.zeros_like(input, memory_format=torch.contiguous_format)
    made[_boxes(begin, size, step)] = grad_out
    return made


@way("reverse", "flip")
def flip(call: Call, input: torch.Tensor, axis: Any) -> Any:
    """Return the elements in reverse order along axes."""
    axes = [axis] if isinstance(axis, int) else list(axis)
    return moved(input, lambda x: x.flip(axes))


@way("crop")
def crop(call: Call, input: torch.Tensor, shape: Any, offsets: Any) -> Any:
    """Return a part of each axis, from an offset."""
    starts = [offsets] * input.dim() if isinstance(offsets, int) else offsets
    return input[tuple(slice(int(b), int(b) + n) for b, n in zip(starts, call.result.shape,
                                                                 strict=True))]  # fmt: skip


@way("expand")
def expand(call: Call, input: torch.Tensor, shape: Any) -> Any:
    """Return a view with elements repeated."""
    return input.expand(call.result.shape)


# ---- copies --------------------------------------------------------------------------------------


@way("duplicate")
def duplicate(call: Call, input: torch.Tensor) -> Any:
    """Return a copy."""
    return input.clone()


@way("contiguous")
def contiguous(call: Call, input: torch.Tensor) -> Any:
    """Return the elements in row-major order in memory."""
    return input.contiguous()


@way("diag")
def diag(call: Call, input: torch.Tensor) -> Any:
    """Return a matrix with a vector on its diagonal."""
    return moved(input, torch.diag)


@way("concat", "stack")
def concat(call: Call, input_lists: Any, axis: int) -> Any:
    """Return tensors one after the other, in the dtype they promote to."""
    target, join = call.result.dtype, torch.cat if call.op.name == "concat" else torch.stack
    given = [
        carried(
            cast(x, dt, target)
            if dt is not None
            else rounded(number(x, target, call.place), target, target)
        )
        for x, dt in zip(input_lists, call.dtypes["input_lists"], strict=True)
    ]
    made = join(given, axis)
    return made if made.dtype is TORCH[target] else made.view(TORCH[target])


@way("tile")
def tile(call: Call, input: torch.Tensor, repeats: Any) -> Any:
    """Return the elements repeated along axes."""
    return moved(input, lambda x: x.tile(tuple(int(n) for n in repeats)))


@way("pad")
def pad(call: Call, input: torch.Tensor, pad_width: Any, pad_value: Any, pad_mode: Any) -> Any:
    """Return the input with a border: a number, or elements that the CPU's operator names."""
    flat: list[int] = []
    for one in pad_width:
        flat += [int(n) for n in one] if isinstance(one, list | tuple) else [int(one)]
    dt = call.dtypes["input"]
    if str(getattr(pad_mode, "name", pad_mode)).upper() in ("PAD_CONST", "0"):
        shape = [n + a + b for n, a, b in zip(input.shape, flat[::2], flat[1::2], strict=True)]
        value = rounded(number(pad_value, dt, call.place), dt, dt)
        made = value.expand(shape).clone(memory_format=torch.contiguous_format)
        made[tuple(slice(a, a + n) for a, n in zip(flat[::2], input.shape, strict=True))] = input
        return made
    x = carried(input)
    for axis, n in enumerate(input.shape):
        if flat[2 * axis] or flat[2 * axis + 1]:
            line = registry.call("range", 0, n - 1, 1, dtypes.int64)
            line = registry.call("pad", line, flat[2 * axis : 2 * axis + 2], 0, pad_mode)
            x = x.index_select(axis, placed(line, call.place))
    return x if x.dtype is input.dtype else x.view(input.dtype)


@way("roll")
def roll(call: Call, input: torch.Tensor, shifts: Any, axis: Any) -> Any:
    """Return the elements moved along axes, what leaves at one end coming in at the other."""
    by = [shifts] if isinstance(shifts, int) else list(shifts)
    axes = None if axis is None else [axis] if isinstance(axis, int) else list(axis)
    if axes:
        by = by * len(axes) if len(by) == 1 else by
        by = [int(s) % max(input.shape[a], 1) for s, a in zip(by, axes, strict=True)]
        return moved(input, lambda x: torch.roll(x, by, axes))
    turn = sum(int(s) for s in by) % max(input.numel(), 1)
    return moved(input, lambda x: torch.roll(x, turn))


@way("meshgrid")
def meshgrid(call: Call, input: Any) -> Any:
    """Return coordinates of a grid."""
    given = list(torch.unbind(input, 0)) if isinstance(input, torch.Tensor) else input
    shape = call.results[0].shape if call.exact else tuple(
        n for x in given for n in (x.shape or (1,))
    )  # fmt: skip
    made = []
    for i, x in enumerate(given):
        line = x.reshape([-1 if axis == i else 1 for axis in range(len(given))])
        made.append(line.expand(shape).clone(memory_format=torch.contiguous_format))
    return made


# ---- by indices ----------------------------------------------------------------------------------


def _coordinates(call: Call, input: torch.Tensor, index: torch.Tensor) -> list[torch.Tensor]:
    """Return indices of each axis that is indexed; those out of range are reported, and 0."""
    wide = cast(index, call.dtypes["index"], dtypes.int64)
    if call.dtypes["index"] is dtypes.uint64:
        wide = torch.where(wide < 0, 2**62, wide)  # beyond every axis
    found = [wide] if wide.dim() == 1 else list(torch.unbind(wide, -1))
    sizes = tuple(input.shape[: len(found)])
    safe = []
    bad = torch.zeros((), dtype=torch.bool, device=call.place)
    for one, n in zip(found, sizes, strict=True):
        out = (one < 0) | (one >= n)
        bad = bad | out.any()
        safe.append(torch.where(out, 0, one))
    deferred_errors.add(bad, outside_of(call, sizes))
    return safe


def outside_of(call: Call, sizes: tuple[int, ...]) -> Callable[[], InvalidArgument]:
    """Return what makes the error of an index out of range along an axis."""
    words = (
        f"index contains a number out of range for axes of sizes {sizes}; indices are from 0 to "
        "less than the size."
    )
    return lambda: InvalidArgument(f"{call.op.title}: {words}")


@way("gather")
def gather(call: Call, input: torch.Tensor, index: torch.Tensor) -> Any:
    """Return what indices point to."""
    at = _coordinates(call, input, index)
    if not math.prod(input.shape[: len(at)]) and index.numel():
        deferred_errors.check(call.place)  # nothing can be read: the error is raised now
    return moved(input, lambda x: x[tuple(at)])


@way("scatter")
def scatter(
    call: Call, input: torch.Tensor, index: torch.Tensor, updates: torch.Tensor, override: bool
) -> Any:
    """Return the input with updates; of several at one place the last stays, or all are added."""
    at = _coordinates(call, input, index)
    picked, dt = len(at), call.dtypes["input"]
    if not input.numel() or not updates.numel():
        deferred_errors.check(call.place)
        return input.clone()
    if not override:
        wide = lanes(input, dt).clone()
        return wide.index_put(tuple(at), lanes(updates, dt), accumulate=True)
    rows = math.prod(input.shape[:picked])
    place = torch.zeros_like(at[0])
    for one, n in zip(at, input.shape[:picked], strict=True):
        place = place * n + one
    place = place.reshape(-1)
    order = torch.arange(place.numel(), device=call.place)
    last = torch.full((rows,), -1, dtype=torch.int64, device=call.place)
    last = last.scatter_reduce(0, place, order, "amax")
    x = carried(input).reshape(rows, -1)
    new = carried(updates).reshape(place.numel(), -1)
    made = torch.where((last >= 0)[:, None], new[last.clamp(min=0)], x).reshape(input.shape)
    return made if made.dtype is input.dtype else made.view(input.dtype)


@way("masked_select")
def masked_select(call: Call, input: torch.Tensor, mask: torch.Tensor) -> Any:
    """Return the elements where a mask is true."""
    return moved(input, lambda x: torch.masked_select(x, mask))


@way("nonzero")
def nonzero(call: Call, input: torch.Tensor, as_tuple: bool) -> Any:
    """Return the coordinates of elements that are not zero."""
    found = torch.nonzero(lanes(input, call.dtypes["input"]) != 0)
    if not len(found):
        raise OutOfRange(
            f"{call.op.title}: input, of shape {tuple(input.shape)}, has no nonzero elements."
        )
    return tuple(found.T.contiguous()) if as_tuple else found
