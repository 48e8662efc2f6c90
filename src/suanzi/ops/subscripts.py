"""x[key] and x[key] = value.

Integers, slices, None and Ellipsis make views, natively. This file handles masks and
tensors of indices, which follow NumPy's rules, and every key that is wrong.
"""

from __future__ import annotations

import math
import operator
from dataclasses import dataclass
from typing import Any

from suanzi import _core
from suanzi.base.dtypes import DType, float32, float64, iinfo, int8, int64
from suanzi.base.dtypes import bool as bool_
from suanzi.base.hints import way_to_the_host
from suanzi.base.layout import strides_of
from suanzi.base.shapes import MAX_NDIM, broadcast_shapes
from suanzi.base.status import (
    DimensionsMismatch,
    InvalidArgument,
    OutOfRange,
    TypeMismatch,
    UninitializedObject,
)
from suanzi.ops.calling.arguments import without_scale
from suanzi.ops.quantized import dequantize, quantize_like
from suanzi.ops.transformation import cast
from suanzi.ops.transformation_selecting import flat_item, with_quick_rows
from suanzi.promote.registry import call
from suanzi.tensors.make import kind_of, tensor
from suanzi.tensors.parts import is_destroyed, scales_at, with_quantization_of
from suanzi.tensors.tensor import Tensor

_WHOLE = slice(None)


def get(x: Tensor, key: Any) -> Tensor:
    """Return what x[key] is."""
    found = _understand(x, key)
    if isinstance(found, Tensor):
        return found
    channels = _channels(found)
    scale = scales_at(found.base, found.indices) if found.picks_channels() else None
    return with_quantization_of(found.base, _gathered(found), axis=channels, scale=scale)


def _gathered(found: _Picked) -> Tensor:
    axis, picked = found.axis, len(found.indices)
    lies_outside = _fastest_axis(found.base) < axis
    if lies_outside:  # what is dense stands before the indices: it is made rows, then moved back
        order = [*range(axis, found.base.ndim), *range(axis)]
        perm = [order.index(i) for i in range(found.base.ndim)]
        found = _Picked(_core.try_view("transpose", found.base, perm), 0, found.indices)
    taken = math.prod(found.result_shape())
    base = with_quick_rows(found.base, found.axis + picked, taken)
    made = _core.gather(base, found.axis, picked, found.offsets(base.strides))
    if lies_outside:
        made = _core.try_view("transpose", made, [(i + axis) % made.ndim for i in range(made.ndim)])
    return made


def _fastest_axis(x: Tensor) -> int:
    """Return the axis along which elements are nearest to each other in memory."""
    steps = [(abs(s), -i) for i, (n, s) in enumerate(zip(x.shape, x.strides, strict=True)) if n > 1]
    return -min(steps)[1] if steps and x.size else x.ndim


def set_(x: Tensor, key: Any, value: Any) -> None:
    """Do what x[key] = value does."""
    found = _understand(x, key)
    if x.storage.read_only:
        raise InvalidArgument(
            "x[key] = value: the memory of the tensor is read-only; write to a copy, made with "
            "sz.duplicate."
        )
    target = found if isinstance(found, Tensor) else found.base
    if any(n > 1 and s == 0 for n, s in zip(target.shape, target.strides, strict=True)):
        raise InvalidArgument(
            "x[key] = value: several elements of the tensor share memory, as after "
            "sz.expand; write to a copy, made with sz.duplicate."
        )
    shape = found.shape if isinstance(found, Tensor) else found.result_shape()
    source = _repeatable(shape, _value(x, value))
    if x.scale is not None:  # else integers that stand for nothing are copied as they are
        if isinstance(found, _Picked) and found.picks_channels():
            # Written as real numbers; what is not written to is stored as it was.
            real = dequantize(x, float64)
            set_(real, key, source)
            _core.copy_into(x, quantize_like(x, real, x.shape, x.channel_axis or 0))
            return
        channels = target.channel_axis if isinstance(found, Tensor) else _channels(found)
        source = quantize_like(target, source, shape, -1 if channels is None else channels)
    if isinstance(found, Tensor):
        _core.copy_into(found, source)
        return
    updates = _core.empty(shape, x.dtype)
    _core.copy_into(updates, source)
    picked = len(found.indices)
    if _core.has_dense_rows(target, found.axis + picked):
        _core.scatter(target, found.axis, picked, found.offsets(target.strides), updates, False)
        return
    written = _core.row_major_copy(target)
    _core.scatter(written, found.axis, picked, found.offsets(written.strides), updates, False)
    _core.copy_into(target, written)


# ---- keys ----------------------------------------------------------------------------------------


@dataclass
class _Picked:
    """A key with indices: a view whose axes from `axis` on they stand for."""

    base: Tensor
    axis: int
    indices: list[Tensor]
    """Checked and of one shape."""

    def offsets(self, strides: tuple[int, ...]) -> Tensor:
        """Return where the indices point to, counted in elements."""
        end = self.axis + len(self.indices)
        dims, steps = self.base.shape[self.axis : end], strides[self.axis : end]
        found = _core.index_offsets(self.indices, dims, steps, True)
        if isinstance(found, tuple):
            which, place = found
            raise _out_of_range(flat_item(self.indices[which], place), dims[which])
        return found

    def picks_channels(self) -> bool:
        """Return whether the indices go along the channel axis of a quantised tensor."""
        axis = self.base.channel_axis
        return axis is not None and self.axis <= axis < self.axis + len(self.indices)

    def result_shape(self) -> tuple[int, ...]:
        """Return the shape of what the key picks."""
        shape, end = self.base.shape, self.axis + len(self.indices)
        return (*shape[: self.axis], *self.indices[0].shape, *shape[end:])


def _out_of_range(index: int, size: int) -> OutOfRange:
    return OutOfRange(
        f"x[key]: index {index} is out of range for an axis of size {size} (valid: {-size} to "
        f"{size - 1})."
    )


def _understand(x: Tensor, key: Any) -> Tensor | _Picked:
    """Return the view a key stands for, or a view and the indices into it."""
    if is_destroyed(x):
        raise UninitializedObject("x[key]: the tensor was destroyed.")
    given = [_part(part) for part in (key if isinstance(key, tuple) else (key,))]
    parts = _without_ellipsis(x, given)
    axis = 0
    basic: list[slice | int | None] = []
    indices: list[tuple[int, Tensor]] = []
    advanced = any(isinstance(part, Tensor) for part in parts)
    for part in parts:
        if part is None:
            basic.append(part)
            continue
        if isinstance(part, Tensor) and part.dtype is bool_:
            stands = x.shape[axis : axis + part.ndim]
            # An axis of length 0 picks nothing, whatever it stands for, as the array API has it.
            fits = len(stands) == part.ndim and all(
                n in (0, m) for n, m in zip(part.shape, stands, strict=True)
            )
            if not fits:
                raise OutOfRange(
                    f"x[key]: a mask of shape {part.shape} stands where the tensor has "
                    f"{x.shape[axis : axis + part.ndim]}; they must be equal."
                )
            if part.ndim == 0:  # a truth value adds an axis of size 1 or 0
                indices.append((len(basic), _core.mask_indices(part)))
                basic.append(None)
                continue
            for one in _coordinates(part):
                indices.append((len(basic), one))
                basic.append(_WHOLE)
            axis += part.ndim
            continue
        if isinstance(part, int):
            if not -x.shape[axis] <= part < x.shape[axis]:
                raise _out_of_range(part, x.shape[axis])
            if advanced:  # next to tensors, an integer is a tensor of rank 0
                part = tensor(part, int64)
        if isinstance(part, Tensor):
            indices.append((len(basic), part))
            part = _WHOLE
        basic.append(part)
        axis += 1
    view = _core.basic_view(x, tuple(basic))
    if view is None:
        raise InvalidArgument(f"x[key]: the result would have more than {MAX_NDIM} axes.")
    if not indices:
        return view
    return _arranged(view, indices, _stand_together(given))


def _stand_together(given: list[Any]) -> bool:
    """Return whether the indices of a key are adjacent; '...' parts them even if it is empty."""
    places = [i for i, part in enumerate(given) if isinstance(part, Tensor | int)]
    return places == list(range(places[0], places[-1] + 1))


def _arranged(view: Tensor, indices: list[tuple[int, Tensor]], together: bool) -> _Picked:
    """Return the view with the axes that are indexed side by side, and the indices repeated."""
    shape = broadcast_shapes([one.shape for _, one in indices])
    if shape is None:
        came = " and ".join(str(one.shape) for _, one in indices)
        raise DimensionsMismatch(
            f"x[key]: the indices have shapes {came}; counted from the last axis, sizes must be "
            "equal or 1."
        )
    axes = [axis for axis, _ in indices]
    first = axes[0] if together else 0
    rest = [axis for axis in range(view.ndim) if axis not in axes]
    order = rest[:first] + axes + rest[first:]
    perm = [order.index(axis) for axis in range(view.ndim)]
    repeated = [_core.try_view("expand", one, shape) for _, one in indices]
    if view.ndim - len(axes) + len(shape) > MAX_NDIM:
        raise InvalidArgument(f"x[key]: the result would have more than {MAX_NDIM} axes.")
    found = _Picked(_core.try_view("transpose", view, perm), first, repeated)
    found.offsets(found.base.strides)  # nothing is made before every index is known to be there
    return found


def _part(part: Any) -> Any:
    """Return a part of a key as None, Ellipsis, a slice, an int or a tensor."""
    if part is None or part is Ellipsis:
        return part
    if isinstance(part, slice):
        return slice(*(_bound(n) for n in (part.start, part.stop, part.step)))
    if isinstance(part, Tensor):
        found = part
        if is_destroyed(part):
            raise UninitializedObject("x[key]: a tensor in the key was destroyed.")
    elif isinstance(part, bool):
        return tensor(part)
    elif way_to_the_host(part):
        raise TypeMismatch(
            f"x[key]: a {type(part).__name__} cannot be used as an index. {way_to_the_host(part)}"
        )
    elif isinstance(part, list) or hasattr(part, "__dlpack__") or hasattr(part, "__array__"):
        found = tensor(part)
        if isinstance(part, list) and found.size == 0:  # of no kind; it picks nothing
            found = tensor(part, int64)
    else:
        try:
            return operator.index(part)
        except TypeError:
            raise TypeMismatch(
                f"x[key]: a {type(part).__name__} cannot be used as an index; use integers, "
                "slices, None, ..., masks or tensors of integers."
            ) from None
    whole = found.dtype.kind in ("int", "uint") and found.dtype.bits >= 8
    if found.dtype is not bool_ and not whole:
        raise TypeMismatch(
            f"x[key]: a tensor of {found.dtype} cannot be used as an index; it must be bool or of "
            "integers."
        )
    # A single integer picks, whatever it is wrapped in.
    return int(found) if found.ndim == 0 and whole else found


def _bound(n: Any) -> int | None:
    try:
        return None if n is None else operator.index(n)
    except TypeError:
        raise TypeMismatch(
            f"x[key]: {n!r} is not a valid bound of a slice; use an integer or leave it out."
        ) from None


def _without_ellipsis(x: Tensor, parts: list[Any]) -> list[Any]:
    """Return a part for each axis: Ellipsis, and what the key leaves out at the end, are whole."""
    taken = 0
    for part in parts:
        if isinstance(part, slice) and part.step == 0:
            raise InvalidArgument("x[key]: the step of a slice cannot be 0.")
        is_mask = isinstance(part, Tensor) and part.dtype is bool_
        taken += part.ndim if is_mask else 0 if part is None or part is Ellipsis else 1
    dots = [i for i, part in enumerate(parts) if part is Ellipsis]
    if len(dots) > 1 or taken > x.ndim:
        raise OutOfRange(
            f"x[key]: the key has {taken} indices and {len(dots)} times '...'; the tensor has "
            f"{x.ndim} axes, and '...' may occur only once."
        )
    at = dots[0] if dots else len(parts)
    return [*parts[:at], *[_WHOLE] * (x.ndim - taken), *parts[at + 1 :]]


def _coordinates(mask: Tensor) -> list[Tensor]:
    """Return where a mask is true: for each axis, a tensor of indices."""
    flat = _core.mask_indices(mask)
    found = []
    for size, stride in zip(mask.shape, strides_of(mask.shape), strict=True):
        index = flat if stride == 1 else _core.run_operator("floordiv", [flat, stride], int64)[0]
        if stride * size < mask.size:
            index = _core.run_operator("mod", [index, size], int64)[0]
        found.append(index)
    return found


# ---- values --------------------------------------------------------------------------------------


def _value(x: Tensor, value: Any) -> Tensor:
    """Return what is written, as a tensor that converts to the dtype."""
    if way_to_the_host(value):
        raise TypeMismatch(
            f"x[key] = value: the value is a {type(value).__name__}. {way_to_the_host(value)}"
        )
    plain = isinstance(value, bool | int | float | complex | list | tuple | range)
    if plain and not hasattr(value, "dtype") and not _stays_apart(x, value):
        return tensor(value, x.dtype)  # not by way of a narrower dtype; refuses what does not fit
    quantized = x.dtype.kind == "quantized"
    wide = float64 if plain and quantized and kind_of(value) != "complex" else None
    source = value if isinstance(value, Tensor) else tensor(value, wide)
    if is_destroyed(source):
        raise UninitializedObject("x[key] = value: the value is a tensor that was destroyed.")
    if source.dtype is x.dtype and (x.scale is None) == (source.scale is None):
        return source
    if "char" in (x.dtype.kind, source.dtype.kind):
        raise TypeMismatch(
            f"x[key] = value: the value is {source.dtype} and the tensor {x.dtype}; text cannot "
            "be converted."
        )
    if source.dtype.kind == "complex" and x.dtype.kind != "complex":
        real = float32 if quantized else x.dtype
        raise TypeMismatch(
            f"x[key] = value: the value is {source.dtype} and the tensor {x.dtype}; choose a part "
            f"of it, with sz.cast(value, sz.{real}) the real one."
        )
    for name, one in (("the tensor", x), ("the value", source)):
        if one.dtype.kind == "quantized" and one.scale is None:
            raise without_scale("x[key] = value", name, one)
    if source.dtype.kind == "quantized" and not quantized:
        return cast(source, x.dtype)
    _check_integers(x.dtype, source)
    return source


def _check_integers(target: DType, source: Tensor) -> None:
    """Raise InvalidArgument for an integer that the dtype does not hold, as for a plain number."""
    whole = ("int", "uint")
    if target.kind not in whole or source.dtype.kind not in whole or source.size == 0:
        return
    has, came = iinfo(target), iinfo(source.dtype)
    if has.min <= came.min and came.max <= has.max:
        return
    if source.dtype.bits < 8:  # which are not reduced
        source = cast(source, int8)
    for extreme in (call("reduce", source, "MIN").item(), call("reduce", source, "MAX").item()):
        if not has.min <= extreme <= has.max:
            raise InvalidArgument(
                f"x[key] = value: the value contains {extreme}, which does not fit {target} "
                f"({has.min} to {has.max}); to wrap it, use sz.cast(value, sz.{target})."
            )


def _stays_apart(x: Tensor, value: Any) -> bool:
    """Return whether plain numbers, or lists of them, are of a kind that does not just convert."""
    if x.dtype.kind in ("char", "quantized"):
        return True
    return x.dtype.kind != "complex" and kind_of(value) in ("complex", "char")


def _repeatable(shape: tuple[int, ...], source: Tensor) -> Tensor:
    """Return the value, which must repeat to the shape of what it is written to."""
    came = source.shape
    while len(came) > len(shape) and came[0] == 1:
        came = came[1:]
    if len(came) > len(shape) or broadcast_shapes([shape, came]) != shape:
        raise DimensionsMismatch(
            f"x[key] = value: the value has shape {source.shape} and x[key] {shape}; counted from "
            "the last axis, sizes must be equal, or 1 in the value."
        )
    made: Tensor = _core.try_view("reshape", source, came) if came != source.shape else source
    return made


def _channels(found: _Picked) -> int:
    """Return the channel axis of the result, -1 for none."""
    axis = found.base.channel_axis
    if axis is None:
        return -1
    picked, added = len(found.indices), found.indices[0].ndim
    if found.picks_channels():
        if picked == added == 1:  # channels, one after the other
            return axis
        raise InvalidArgument(
            "x[key]: the indices select elements of different channels of a quantised tensor, "
            "which have their own scales; index sz.dequantize(x) instead."
        )
    return axis if axis < found.axis else axis - picked + added


_core.declare_indexing(get, set_)
