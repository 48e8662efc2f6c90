"""What is done with a tensor that needs the core alone: its parts, copies, readable elements."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from pickle import PickleBuffer
from typing import TYPE_CHECKING, Any

from suanzi import _core
from suanzi.base.dtypes import DType, dtype, finfo, float32, stored_dtype, widened
from suanzi.base.hints import shown
from suanzi.base.layout import min2maj_of, strides_of
from suanzi.base.numpy import Array, np
from suanzi.base.shapes import is_shape
from suanzi.base.status import InvalidArgument, TypeMismatch, UninitializedObject
from suanzi.promote.registry import LOADERS
from suanzi.tensors.exchange import to_numpy

if TYPE_CHECKING:
    from suanzi.tensors.tensor import Tensor

Parts = tuple[str, tuple[int, ...], tuple[int, ...], Any, Any, bool]
"""dtype, shape, order of axes from the fastest, bytes in that order, quantisation, array API's."""


def is_destroyed(x: Any) -> bool:
    """Return whether a tensor was destroyed."""
    try:
        x.ndim  # noqa: B018
    except UninitializedObject:
        return True
    return False


def zeros(shape: tuple[int, ...], dt: DType) -> Tensor:
    """Return a tensor of zeros."""
    return _core.full(shape, dt, 0)


def converted(x: Tensor, dt: DType) -> Tensor:
    """Return a tensor in a dtype, itself if it has it."""
    return x if x.dtype is dt else _core.cast(x, dt, False)


def reshaped(x: Tensor, shape: tuple[int, ...]) -> Tensor:
    """Return the elements in another shape of as many: a view if there can be one, else a copy."""
    made: Tensor | None = _core.try_view("reshape", x, shape)
    if made is None:
        made = _core.try_view("reshape", _core.row_major_copy(x), shape)
    assert made is not None
    return made


def permuted(x: Tensor, order: Sequence[int]) -> Tensor:
    """Return a view with the axes in another order: where each one of the result comes from."""
    shape, strides = x.shape, x.strides
    return _core.view(x, x.offset, [shape[a] for a in order], [strides[a] for a in order])


def copy(x: Tensor) -> Tensor:
    """Return a copy with its own memory and the same dtype, layout and quantisation."""
    order = min2maj_of(x.shape, x.strides)
    return _core.cast(x, x.dtype, False) if order else _core.row_major_copy(x)


def readable(x: Tensor) -> Array:
    """Return the elements as a NumPy array of plain numbers that hold them exactly.

    Those of a quantised tensor are the integers it stores, those of char are bytes.
    """
    if x.dtype.kind == "quantized":
        return to_numpy(int_repr(x))
    if x.dtype.kind == "char":
        # NumPy's own text drops the zero byte.
        every = np.array([bytes([i]) for i in range(256)], object)
        return np.asarray(every[to_numpy(x).view(np.uint8)], object)
    return to_numpy(converted(x, widened(x.dtype)))


def int_repr(x: Tensor) -> Tensor:
    """Return the integers that a quantised tensor stores, on the same memory."""
    if x.dtype.kind != "quantized":
        raise TypeMismatch(f"int_repr: the tensor is {x.dtype}; only quantised tensors have one.")
    memory = x.storage
    return _core.wrap_memory(
        memory.data,
        memory.size,
        stored_dtype(x.dtype),
        x.shape,
        x.strides,
        x.offset,
        memory.read_only,
        memory,
    )


def with_quantization_of(
    source: Tensor, made: Tensor, *, axis: int | None = None, scale: Sequence[float] | None = None
) -> Tensor:
    """Return a new tensor, now standing for numbers as another does, if that is quantised.

    `axis` and `scale` are those of the channels where they moved; no channels are axis -1.
    """
    if source.scale is not None and source.zero_point is not None:
        own = -1 if source.channel_axis is None else source.channel_axis
        _core.set_quantization(
            made,
            source.scale if scale is None else scale,
            source.zero_point,
            own if axis is None else axis,
        )
    return made


def scales_at(x: Tensor, indices: Sequence[Tensor]) -> list[float] | None:
    """Return the scales of the channels that indices pick; None where these have no axis then."""
    if x.scale is None or len(indices) != 1 or indices[0].ndim != 1:
        return None
    return [x.scale[i] for i in indices[0].tolist()]


def to_parts(x: Tensor, protocol: int = 0) -> Parts:
    """Take a tensor apart; a view with gaps becomes row-major.

    From pickle's protocol 5 on, the bytes are the tensor's own memory, which a pickler with a
    ``buffer_callback`` hands over without a copy.
    """
    order = min2maj_of(x.shape, x.strides) or tuple(range(x.ndim - 1, -1, -1))
    dense = x if min2maj_of(x.shape, x.strides) else _core.row_major_copy(x)
    raw = _little_endian(_memory_of(dense), dense.dtype.itemsize)
    raw = PickleBuffer(raw) if protocol >= 5 else bytes(raw)
    quantization = None
    if x.scale is not None:
        quantization = [list(x.scale), x.zero_point, x.channel_axis]
    return x.dtype.name, x.shape, order, raw, quantization, x.is_array_api


def from_parts(
    kind: str,
    shape: tuple[int, ...],
    min2maj: tuple[int, ...],
    raw: Any,
    quantization: Any,
    is_array_api: bool = False,
) -> Tensor:
    """Put a tensor together from its parts; bytes that can be written to become its memory."""
    dt = dtype(kind)
    count = count_of(shape)
    raw = memoryview(raw).cast("B")
    if len(raw) != count * dt.itemsize or sorted(min2maj) != list(range(len(shape))):
        raise InvalidArgument(
            f"{len(raw)} bytes are not the elements of {dt} in shape {shape}, with the axes "
            f"{min2maj}."
        )
    flat = _on_memory(raw, count, dt)
    if flat is None:
        flat = _core.empty((count,), dt)
        flat.storage.memory[:] = _little_endian(raw, dt.itemsize)
    made = _core.view(flat, 0, shape, strides_of(shape, min2maj))
    if quantization is not None:
        scale, zero_point, axis = quantization
        if not quantises(dt, shape, scale, zero_point, axis):
            raise InvalidArgument(f"{quantization!r:.200} does not quantise {dt} of shape {shape}.")
        _core.set_quantization(made, scale, zero_point, -1 if axis is None else axis)
    if is_array_api:
        LOADERS["array_api"]()  # whose functions its symbols mean
        return _core.as_array_api(made)
    return made


def quantises(dt: DType, shape: tuple[int, ...], scale: Any, zero_point: Any, axis: Any) -> bool:
    """Return whether a dtype can stand for numbers so: what no tensor of ours has is refused."""
    if dt.kind != "quantized" or type(zero_point) is not int:
        return False
    if axis is not None and ("_CH_" not in dt.name or type(axis) is not int):
        return False
    if len(scale) != (1 if axis is None else dict(enumerate(shape)).get(axis)):
        return False
    fitting = abs(zero_point) <= 2**28 if "ASYM" in dt.name else zero_point == 0
    largest = finfo(float32).max
    return fitting and all(type(s) is float and 0 < s <= largest for s in scale)


def count_of(shape: tuple[int, ...]) -> int:
    """Return how many elements a shape has, or raise InvalidArgument if it is none."""
    if not is_shape(shape):
        raise InvalidArgument(f"{shown(shape)} is not a shape.")
    return math.prod(shape)


def _memory_of(dense: Tensor) -> memoryview:
    size = dense.dtype.itemsize
    start = dense.offset * size
    return dense.storage.memory[start : start + dense.size * size]


def _on_memory(raw: memoryview, count: int, dt: DType) -> Tensor | None:
    """Return a tensor on bytes that nobody else will change; None where it needs its own."""
    if raw.readonly or not count or sys.byteorder != "little":
        return None
    address = np.frombuffer(raw, np.uint8).__array_interface__["data"][0]
    if address % min(dt.itemsize, 16):
        return None
    return _core.wrap_memory(address, count, dt, (count,), (1,), 0, False, raw)


def _little_endian(raw: Any, itemsize: int) -> Any:
    if sys.byteorder == "little" or itemsize == 1:
        return raw
    width = min(itemsize, 8)
    return np.frombuffer(raw, f"V{width}").view(f"u{width}").byteswap().tobytes()
