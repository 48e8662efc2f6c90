"""Functions of the array API on a device that move, find or order elements."""

from __future__ import annotations

import math
from typing import Any

import torch

from suanzi.base import dtypes
from suanzi.base.dtypes import DType
from suanzi.base.status import AllocFailed, InvalidArgument
from suanzi.faces.array_api.along import with_number
from suanzi.faces.array_api.arguments import promoted
from suanzi.runtimes.torch import creating, unsigned
from suanzi.runtimes.torch.casts import cast
from suanzi.runtimes.torch.copying import moved
from suanzi.runtimes.torch.dtypes import SUANZI, TORCH, carried
from suanzi.runtimes.torch.elements import lanes, rounded
from suanzi.runtimes.torch.subscripts import get, within
from suanzi.runtimes.torch.tensor import TorchTensor, placed
from suanzi.runtimes.torch.ways import Call, way
from suanzi.tensors.tensor import Tensor

# What every function here gets was checked by the CPU's function, with stand-ins.


def axes_of(axis: Any, ndim: int) -> list[int]:
    """Return one axis or several, counted from the first; None is all of them."""
    if axis is None:
        return list(range(ndim))
    return [int(a) % ndim for a in (axis if isinstance(axis, list | tuple) else (axis,))]


def integers(x: Any) -> list[int]:
    """Return one integer or several as a list."""
    return [int(n) for n in x] if isinstance(x, list | tuple) else [int(x)]


# ---- creation ------------------------------------------------------------------------------------


@way("array_api:asarray", "array_api:from_dlpack")
def asarray(call: Call, obj: Any = None, x: Any = None, copy: Any = None, **others: Any) -> Any:
    """Return a tensor on the same memory, or a copy."""
    given, name = (x, "x") if obj is None else (obj, "obj")
    made = cast(given, call.dtypes[name], call.result.dtype)
    return made.clone() if copy and made is given else made


@way("array_api:astype")
def astype(call: Call, x: torch.Tensor, dtype: Any, copy: Any, device: Any) -> Any:
    """Return elements in another dtype."""
    made = cast(x, call.dtypes["x"], call.result.dtype)
    return x.clone() if made is x and copy else made


@way(
    "array_api:empty_like", "array_api:zeros_like", "array_api:ones_like", "array_api:full_like"
)  # fmt: skip
def filled(call: Call, x: torch.Tensor, fill_value: Any = 0, **others: Any) -> Any:
    """Return a tensor of one number in the shape of another."""
    value = 1 if call.op.name == "ones_like" else fill_value
    value = value.item() if isinstance(value, torch.Tensor) else value
    return creating.full(call.place, call.result.dtype, tuple(x.shape), value)


@way("array_api:tril", "array_api:triu")
def triangle(call: Call, x: torch.Tensor, k: int) -> Any:
    """Return a triangle of matrices, zeros elsewhere."""
    function = torch.tril if call.op.name == "tril" else torch.triu
    most = max(x.shape[-2:])
    return moved(x, lambda v: function(v, max(-most, min(int(k), most))))


@way("array_api:meshgrid")
def meshgrid(call: Call, arrays: Any, indexing: str) -> Any:
    """Return coordinates of a grid."""
    shape, made = [x.numel() for x in arrays], []
    for i, x in enumerate(arrays):
        line = x.reshape([-1 if axis == i else 1 for axis in range(len(arrays))]).expand(shape)
        turned = line.transpose(0, 1) if indexing == "xy" and len(arrays) > 1 else line
        made.append(turned.clone(memory_format=torch.contiguous_format))
    return made


# ---- shapes --------------------------------------------------------------------------------------


@way("array_api:broadcast_to")
def broadcast_to(call: Call, x: torch.Tensor, shape: Any) -> Any:
    """Return a view with elements repeated."""
    return x.expand(integers(shape))


@way("array_api:broadcast_arrays")
def broadcast_arrays(call: Call, arrays: Any) -> Any:
    """Return views of one shape."""
    shape = torch.broadcast_shapes(*(x.shape for x in arrays))
    return [x.expand(shape) for x in arrays]


@way("array_api:reshape")
def reshape(call: Call, x: torch.Tensor, shape: Any, copy: Any) -> Any:
    """Return the elements in another shape."""
    wanted = integers(shape)
    known = math.prod(n for n in wanted if n != -1)
    wanted = [x.numel() // max(known, 1) if n == -1 else n for n in wanted]
    if copy is False:
        try:
            return x.view(wanted)
        except RuntimeError:
            raise InvalidArgument(
                f"{call.op.title}: copy is False, but the shape {tuple(wanted)} needs a copy: the "
                "elements of x have other strides."
            ) from None
    return x.clone().reshape(wanted) if copy else x.reshape(wanted)


@way("array_api:expand_dims")
def expand_dims(call: Call, x: torch.Tensor, axis: Any) -> Any:
    """Return a view with new axes of size 1."""
    given = axis if isinstance(axis, list | tuple) else (axis,)
    for one in sorted(axes_of(given, x.dim() + len(given))):
        x = x.unsqueeze(one)
    return x


@way("array_api:squeeze")
def squeeze(call: Call, x: torch.Tensor, axis: Any) -> Any:
    """Return a view without some axes of size 1."""
    gone = axes_of(axis, x.dim())
    return x.reshape([n for i, n in enumerate(x.shape) if i not in gone])


@way("array_api:moveaxis")
def moveaxis(call: Call, x: torch.Tensor, source: Any, destination: Any) -> Any:
    """Return a view with axes moved."""
    return torch.movedim(x, axes_of(source, x.dim()), axes_of(destination, x.dim()))


@way("array_api:permute_dims")
def permute_dims(call: Call, x: torch.Tensor, axes: Any) -> Any:
    """Return a view with the axes in another order."""
    return x.permute(axes_of(axes, x.dim()))


@way("array_api:matrix_transpose")
def matrix_transpose(call: Call, x: torch.Tensor) -> Any:
    """Return a view with the last two axes exchanged."""
    return x.transpose(-1, -2)


@way("array_api:unstack")
def unstack(call: Call, x: torch.Tensor, axis: int) -> Any:
    """Return the views at each index of an axis."""
    return torch.unbind(x, int(axis))


@way("array_api:concat", "array_api:stack")
def concat(call: Call, arrays: Any, axis: Any) -> Any:
    """Return arrays joined, in the dtype they promote to."""
    target = call.result.dtype
    parts = [
        carried(cast(x, dt, target)) for x, dt in zip(arrays, call.dtypes["arrays"], strict=True)
    ]
    if call.op.name == "stack":
        made = torch.stack(parts, int(axis))
    elif axis is None:
        made = torch.cat([x.reshape(-1) for x in parts])
    else:
        made = torch.cat(parts, int(axis))
    return made if made.dtype is TORCH[target] else made.view(TORCH[target])


@way("array_api:flip")
def flip(call: Call, x: torch.Tensor, axis: Any) -> Any:
    """Return the order along axes reversed: a copy, PyTorch has no strides below 0."""
    return moved(x, lambda v: v.flip(axes_of(axis, x.dim())))


@way("array_api:roll")
def roll(call: Call, x: torch.Tensor, shift: Any, axis: Any) -> Any:
    """Return the elements moved along axes, or as one row."""
    by = integers(shift)
    if axis is None:
        turn = sum(by) % max(x.numel(), 1)
        return moved(x, lambda v: torch.roll(v.reshape(-1), turn).reshape(v.shape))
    axes = axes_of(axis, x.dim())
    by = by * len(axes) if len(by) == 1 else by
    by = [n % max(x.shape[a], 1) for n, a in zip(by, axes, strict=True)]
    return moved(x, lambda v: torch.roll(v, by, axes))


@way("array_api:fftshift", "array_api:ifftshift")
def shifted(call: Call, x: torch.Tensor, axes: Any) -> Any:
    """Return a spectrum with frequency 0 in the middle of axes, or back at the start."""
    along = axes_of(axes, x.dim())
    sign = 1 if call.op.name == "fftshift" else -1
    by = [sign * (x.shape[a] // 2) for a in along]
    return moved(x, lambda v: torch.roll(v, by, along)) if along else x.clone()


@way("array_api:tile")
def tile(call: Call, x: torch.Tensor, repetitions: Any) -> Any:
    """Return the elements repeated along axes."""
    return moved(x, lambda v: v.tile(integers(repetitions)))


@way("array_api:repeat")
def repeat(call: Call, x: torch.Tensor, repeats: Any, axis: Any) -> Any:
    """Return each element several times."""
    flat, along = (x.reshape(-1), 0) if axis is None else (x, int(axis))
    if isinstance(repeats, torch.Tensor):
        counts = cast(repeats, call.dtypes["repeats"], dtypes.int64).reshape(-1)
        least = int(counts.min()) if counts.numel() else 0
        if least < 0:
            raise InvalidArgument(
                f"{call.op.title}: repeats contains {least}; each number must be at least 0."
            )
        repeats = int(counts) if counts.numel() == 1 else counts
    elif int(repeats) * x.numel() >= 2**63:
        raise AllocFailed(f"{call.op.title}: not enough memory for {repeats} times x.")
    return moved(flat, lambda v: torch.repeat_interleave(v, repeats, along))


# ---- by indices ----------------------------------------------------------------------------------


@way("array_api:take")
def take(call: Call, x: torch.Tensor, indices: torch.Tensor, axis: Any) -> Any:
    """Return the elements at indices along an axis."""
    along = 0 if axis is None else int(axis) % x.dim()
    picked = TorchTensor(indices, call.device)
    return get(TorchTensor(x, call.device), (*(slice(None),) * along, picked)).plain


@way("array_api:take_along_axis")
def take_along_axis(call: Call, x: torch.Tensor, indices: torch.Tensor, axis: int) -> Any:
    """Return the elements at indices along an axis; the others are broadcast."""
    along = int(axis) % x.dim()
    index = cast(indices, call.dtypes["indices"], dtypes.int64)
    n = x.shape[along]
    index = within(index, n, f"{call.op.title}: an index in indices")
    index = torch.where(index < 0, index + n, index)
    common = list(torch.broadcast_shapes(*(
        (*v.shape[:along], 1, *v.shape[along + 1 :]) for v in (x, index)
    )))  # fmt: skip
    shapes = [[*common[:along], v.shape[along], *common[along + 1 :]] for v in (x, index)]
    return moved(x.expand(shapes[0]), lambda v: torch.gather(v, along, index.expand(shapes[1])))


@way("array_api:nonzero")
def nonzero(call: Call, x: torch.Tensor) -> Any:
    """Return the indices of nonzero elements, for each axis."""
    return torch.nonzero(cast(x, call.dtypes["x"], dtypes.bool), as_tuple=True)


# ---- order ---------------------------------------------------------------------------------------


def keys_of(x: torch.Tensor, dt: DType) -> torch.Tensor:
    """Return int64 in the order of real numbers: both zeros are equal, and a NaN is the largest."""
    if dt.kind != "float":
        return unsigned.ordered(x.view(torch.int64)) if dt is dtypes.uint64 else x.to(torch.int64)
    wide = cast(x, dt, dtypes.float64) + 0.0
    bits = wide.contiguous().view(torch.int64)
    made = torch.where(bits < 0, bits ^ (2**63 - 1), bits)
    return torch.where(wide != wide, 2**63 - 1, made)


def _parts_of(x: torch.Tensor, dt: DType) -> list[tuple[torch.Tensor, DType]]:
    """Return keys of elements, the last of which decides first."""
    if dt.kind != "complex":
        return [(x, dt)]
    pairs = torch.view_as_real(cast(x, dt, dtypes.complex128))
    real, imag = pairs[..., 0], pairs[..., 1]
    empty = (imag != imag).to(torch.int64) + 2 * (real != real).to(torch.int64)
    return [(imag, dtypes.float64), (real, dtypes.float64), (empty, dtypes.int64)]


def order_of(x: torch.Tensor, dt: DType, axis: int, falling: bool = False) -> torch.Tensor:
    """Return the indices that sort along an axis; equal elements keep their order."""
    found: torch.Tensor | None = None
    for part, kind in _parts_of(x, dt):
        keys = keys_of(part, kind)
        keys = keys if found is None else torch.gather(keys, axis, found)
        at = torch.sort(keys, stable=True, dim=axis, descending=falling).indices
        found = at if found is None else torch.gather(found, axis, at)
    assert found is not None
    return found


@way("array_api:sort", "array_api:argsort")
def sort(call: Call, x: torch.Tensor, axis: int, descending: Any, stable: Any) -> Any:
    """Return elements in order, or their indices."""
    at = order_of(x, call.dtypes["x"], int(axis), bool(descending))
    return at if call.op.name == "argsort" else moved(x, lambda v: torch.gather(v, int(axis), at))


@way(
    "array_api:unique_all", "array_api:unique_counts", "array_api:unique_inverse",
    "array_api:unique_values",
)  # fmt: skip
def unique(call: Call, x: torch.Tensor) -> Any:
    """Return unique elements, and what else is known of them."""
    dt, flat = call.dtypes["x"], x.reshape(-1)
    at = order_of(flat, dt, 0)
    ordered = carried(flat)[at]
    values = ordered if ordered.dtype is x.dtype else ordered.view(x.dtype)
    begins = torch.ones(at.shape, dtype=torch.bool, device=x.device)
    if at.numel() > 1:
        begins[1:] = differ(values[1:], values[:-1], dt)
    starts = torch.nonzero(begins).reshape(-1)
    unique_values = moved(values, lambda v: v[begins])
    ends = torch.cat([starts[1:], starts.new_full((min(starts.numel(), 1),), at.numel())])
    inverse = torch.empty_like(at).scatter(0, at, torch.cumsum(begins, 0) - 1).reshape(x.shape)
    found = {
        "unique_all": (unique_values, at[begins], inverse, ends - starts),
        "unique_counts": (unique_values, ends - starts),
        "unique_inverse": (unique_values, inverse),
        "unique_values": unique_values,
    }
    return found[call.op.name]


def differ(x: torch.Tensor, y: torch.Tensor, dt: DType) -> torch.Tensor:
    """Return where elements of one dtype are not equal; a NaN never is."""
    if dt.kind == "complex":
        x, y = (torch.view_as_real(cast(v, dt, dtypes.complex128)) for v in (x, y))
        return (x != y).any(-1)
    return lanes(x, dt) != lanes(y, dt)


def _as_tensor(call: Call, x: Any, dt: DType) -> torch.Tensor:
    """Return an operand that may be a number, in a dtype."""
    if isinstance(x, torch.Tensor):
        return cast(x, SUANZI[x.dtype], dt)
    here = with_number(call.op.name, dt, x)
    return cast(placed(here, call.place), here.dtype, dt)


def _common(call: Call, x1: Any, x2: Any) -> tuple[torch.Tensor, torch.Tensor, DType, DType, DType]:
    """Return two operands as tensors, their dtypes and the one they promote to."""
    one, other = (call.stand_ins[name] for name in ("x1", "x2"))
    kinds = []
    for mine, its in ((one, other), (other, one)):
        given = mine
        if not isinstance(mine, Tensor):
            given = with_number(call.op.name, its.dtype, mine)
        kinds.append(given.dtype)
    made = [_as_tensor(call, x, dt) for x, dt in zip((x1, x2), kinds, strict=True)]
    return made[0], made[1], kinds[0], kinds[1], promoted(call.op.name, *kinds)


@way("array_api:searchsorted")
def searchsorted(call: Call, x1: torch.Tensor, x2: Any, side: str, sorter: Any) -> Any:
    """Return where to insert elements into a line that is in order."""
    line, wanted, first, second, dt = _common(call, x1, x2)
    keys = keys_of(cast(line, first, dt), dt)
    if sorter is not None:
        at = cast(sorter, call.dtypes["sorter"], dtypes.int64)
        keys = keys[within(at, len(keys), f"{call.op.title}: an index in sorter", least=0)]
    found = keys_of(cast(wanted, second, dt), dt)
    return torch.searchsorted(keys.contiguous(), found.contiguous(), right=side == "right")


@way("array_api:isin")
def isin(call: Call, x1: Any, x2: Any, invert: Any) -> Any:
    """Return whether elements are among others."""
    wanted, values, first, second, dt = _common(call, x1, x2)
    if not values.numel():
        found = torch.zeros(wanted.shape, dtype=torch.bool, device=call.place)
    elif {first.kind, second.kind} == {"int", "uint"} and dt.kind == "float":
        there = cast(wanted, first, second)  # no integer dtype has both
        same = (cast(wanted, first, dtypes.int64) >= 0) & (cast(there, second, dtypes.int64) >= 0)
        found = same & _among(there, values, second)
    else:
        found = _among(cast(wanted, first, dt), cast(values, second, dt), dt)
    return ~found if invert else found


def _among(wanted: torch.Tensor, values: torch.Tensor, dt: DType) -> torch.Tensor:
    if dt.kind == "complex":
        both = torch.cat([cast(v.reshape(-1), dt, dtypes.complex128) for v in (wanted, values)])
        pairs = torch.view_as_real(both)
        keys = torch.stack([keys_of(pairs[:, i], dtypes.float64) for i in (0, 1)], -1)
        groups = torch.unique(keys, dim=0, return_inverse=True)[1]
        n = wanted.numel()
        numbers = (pairs == pairs).all(-1)
        return (torch.isin(groups[:n], groups[n:]) & numbers[:n]).reshape(wanted.shape)
    found = torch.isin(keys_of(wanted, dt), keys_of(values, dt))
    return found if dt.kind != "float" else found & (lanes(wanted, dt) == lanes(wanted, dt))


@way("array_api:diff")
def diff(call: Call, x: torch.Tensor, axis: int, n: int, prepend: Any, append: Any) -> Any:
    """Return differences of neighbours along an axis, each rounded."""
    dt, along = call.result.dtype, int(axis) % x.dim()
    parts = [cast(v, call.dtypes[name], dt)
             for name, v in (("prepend", prepend), ("x", x), ("append", append))
             if v is not None]  # fmt: skip
    made = parts[0].clone()
    if len(parts) > 1:
        joined = torch.cat([carried(v) for v in parts], along)
        made = joined if joined.dtype is TORCH[dt] else joined.view(TORCH[dt])
    for _ in range(min(int(n), made.shape[along])):
        size = made.shape[along] - 1
        after, before = (made.narrow(along, i if size else 0, size) for i in (1, 0))
        made = rounded(lanes(after, dt) - lanes(before, dt), dt, dt)
    return made
