"""The structures of A.1 in memory that a C library is lent, and that is looked after.

Each piece of memory stands between guards. After a call, a piece that the library had to leave
alone must be what it was, and every guard, too.
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from suanzi.base import dtypes
from suanzi.base.device import DeviceType
from suanzi.base.layout import LayoutType
from suanzi.conformance.subjects.c_guards import Region, region
from suanzi.conformance.subjects.wire import ITEMSIZE, Broken, Data, Unsaid

_GUARD = 64
_PATTERN = b"\xa5"
_BEFORE = 3
"""How many elements stand in a storage before a tensor with an offset."""


class DataType(ctypes.Structure):
    """What the elements are."""

    _fields_ = (("code", ctypes.c_int), ("size", ctypes.c_uint8))


class Device(ctypes.Structure):
    """Where they are."""

    _fields_ = (("type", ctypes.c_int), ("id", ctypes.c_int))


class Layout(ctypes.Structure):
    """In which order."""

    _fields_ = (("type", ctypes.c_int), ("min2maj", ctypes.c_void_p))


class Shape(ctypes.Structure):
    """How many along each axis."""

    _fields_ = (("ndim", ctypes.c_int64), ("dims", ctypes.c_void_p), ("layout", Layout))


class StorageImpl(ctypes.Structure):
    """Memory of tensors."""

    _fields_ = (
        ("dtype", DataType),
        ("device", Device),
        ("size", ctypes.c_int64),
        ("data", ctypes.c_void_p),
    )


class TensorImpl(ctypes.Structure):
    """A tensor."""

    _fields_ = (
        ("size", ctypes.c_int64),
        ("offset", ctypes.c_int64),
        ("shape", Shape),
        ("scale", ctypes.c_void_p),
        ("zero_point", ctypes.c_int32),
        ("storage", ctypes.c_void_p),
    )


def c_dtype(name: str) -> DataType:
    """Return a dtype as the library has it."""
    found = dtypes.dtype(name)
    return DataType(int(found.code), found.size)


@dataclass
class Held:
    """A tensor of a step before, by its handle: memory of the kit, or of the library."""

    handle: int | None
    dtype: str
    shape: tuple[int, ...]
    layout: str = "dense"
    gone: bool = False
    """Whether it was destroyed; its handle is what the library left."""


@dataclass
class _Piece:
    """A piece of memory, and what was placed there."""

    label: str
    at: int
    content: bytes
    writable: bool
    buffer: Any = None
    """What keeps it alive, with guards around it; a region of pages has its own."""
    region: Region | None = None

    def around(self) -> bytes:
        """Return the guards as they are now."""
        if self.region is not None:
            return self.region.around()
        start = self.at - ctypes.addressof(self.buffer)
        raw: bytes = self.buffer.raw
        return raw[:start] + raw[start + len(self.content) : -1]

    @property
    def changed(self) -> bool:
        """Whether it is not what it was."""
        return ctypes.string_at(self.at, len(self.content)) != self.content


class Memory:
    """Memory lent for one call, or for the steps of a case."""

    def __init__(self) -> None:
        self._pieces: list[_Piece] = []

    def __del__(self) -> None:
        for piece in self._pieces:
            if piece.region is not None:
                piece.region.release()

    def place(self, label: str, content: bytes, *, writable: bool = False) -> int:
        """Return the address of a copy; the library may change it only if it is `writable`."""
        buffer = ctypes.create_string_buffer(_PATTERN * (3 * _GUARD + len(content)))
        # Vector instructions want more than malloc gives.
        start = _GUARD + -(ctypes.addressof(buffer) + _GUARD) % _GUARD
        at = ctypes.addressof(buffer) + start
        ctypes.memmove(at, content, len(content))
        self._pieces.append(_Piece(label, at, content, writable, buffer))
        return at

    def elements(self, label: str, content: bytes, at_start: bool = False) -> int:
        """Return the address of a copy of elements, which lie next to pages without access."""
        found = region(len(content))
        at = found.lend(label, content, at_start)
        self._pieces.append(_Piece(label, at, content, False, region=found))
        return at

    def _piece(self, address: int) -> _Piece | None:
        return next((piece for piece in self._pieces if piece.at == address), None)

    def owns(self, address: int) -> bool:
        """Tell whether a piece begins at an address."""
        return self._piece(address) is not None

    def content(self, address: int) -> bytes:
        """Return what was placed at an address."""
        piece = self._piece(address)
        assert piece is not None
        return piece.content

    def write(self, address: int, content: bytes) -> None:
        """Change the first bytes of a piece, which is then to stay so."""
        piece = self._piece(address)
        if piece is not None:
            ctypes.memmove(address, content, len(content))
            piece.content = content + piece.content[len(content) :]

    def changed(self, address: int) -> bool:
        """Tell whether the piece that begins at an address is not what it was."""
        piece = self._piece(address)
        return piece is not None and piece.changed

    def check(self) -> None:
        """Raise Broken if anything is not as it was."""
        for piece in self._pieces:
            if not piece.writable and piece.changed:
                raise Broken(f"the call changed {piece.label}")
            if piece.around().strip(_PATTERN):
                raise Broken(f"the call wrote to memory around {piece.label}")

    def integers(self, label: str, values: tuple[int, ...]) -> int:
        """Return the address of an array of int64_t."""
        return self.place(label, np.array(values, np.int64).tobytes())

    def shape(
        self, label: str, dims: tuple[int, ...], min2maj: tuple[int, ...] | None = None
    ) -> Shape:
        """Return a shape with the order of its axes, which is row-major unless it is given."""
        order = tuple(range(len(dims)))[::-1] if min2maj is None else min2maj
        layout = Layout(LayoutType.DENSE, self.integers(f"the layout of {label}", order))
        return Shape(len(dims), self.integers(f"the dims of {label}", dims), layout)

    def tensor(self, label: str, data: Data, at_start: bool = False) -> int:
        """Return the address of a tensor, which lies in the order it has, or as its layout says.

        Behind its elements is a page without access; with `at_start`, right before them.
        """
        raw, offset, order = data.raw, 0, data.min2maj
        if data.layout == "columns":
            order = tuple(range(len(data.shape)))
        if order is not None:
            raw = in_order(data, order)
        elif data.layout == "offset":
            offset, before = _BEFORE, b"\1" * ITEMSIZE[data.dtype] * _BEFORE
            raw = before + raw
        scale = None
        if data.scale is not None:
            numbers = scales(data.dtype, data.shape, data.scale)
            scale = self.place(f"the scale of {label}", np.array(numbers, np.float32).tobytes())
        storage = StorageImpl(
            c_dtype(data.dtype), Device(0, 0), len(raw) // ITEMSIZE[data.dtype],
            self.elements(f"the input {label}", raw, at_start),
        )  # fmt: skip
        at = self.place(f"the storage of {label}", bytes(storage))
        made = TensorImpl(
            data.size, offset, self.shape(label, data.shape, order), scale,
            data.zero_point or 0, at,
        )  # fmt: skip
        return self.place(f"the tensor {label}", bytes(made))


def scales(
    dtype: str, dims: Sequence[int], given: Sequence[float], axis: int | None = None
) -> tuple[float, ...]:
    """Return one scale, or one for each channel: C has no length for them.

    One for all channels is repeated, and read as one again.
    """
    count = channels(dtype, dims, axis)
    if len(given) == 1:
        return tuple(given) * count
    if len(given) != count:
        raise Unsaid(f"in C, scale has no length: it is {count}")
    return tuple(given)


def channels(dtype: str, dims: Sequence[int], axis: int | None = None) -> int:
    """Return how many scales a tensor has; the axis of the channels is 1, or 0 of a row."""
    if "_CH_" not in dtype or not dims:
        return 1
    at = min(1, len(dims) - 1) if axis is None else axis
    return max(dims[at], 1) if -len(dims) <= at < len(dims) else 1


LAYOUTS = frozenset({"dense", "columns", "offset", "destroyed"})
"""What A.1 can say of a tensor in memory: it has no strides."""


def check_layout(data: Data) -> None:
    """Raise Unsaid if A.1 has no words for a tensor."""
    if data.sparse is not None:
        raise Unsaid("A.1 has no place for the indices of a sparse tensor")
    if data.layout not in LAYOUTS:
        raise Unsaid(f"A.1 has no strides: no tensor of the layout {data.layout!r}")


def by_columns(data: Data) -> bytes:
    """Return the elements with the first axis the fastest."""
    return _reordered(data, tuple(range(len(data.shape)))[::-1])


def in_order(data: Data, min2maj: tuple[int, ...] | None) -> bytes:
    """Return the elements as they lie with the axes in an order, the fastest first."""
    return data.raw if min2maj is None else _reordered(data, min2maj[::-1])


def _reordered(data: Data, axes: tuple[int, ...]) -> bytes:
    """Return the elements with the axes in another order."""
    size = ITEMSIZE[data.dtype]
    return np.frombuffer(data.raw, f"V{size}").reshape(data.shape).transpose(axes).tobytes()


Fetch = Callable[[str, int, int], bytes]
"""Returns the elements of a tensor, by its name and its address, of so many bytes."""
_MOST_AXES = 64
_MOST_BYTES = 1 << 32
_FIRST_PAGE = 4096


def read_tensor(label: str, address: int | None, fetch: Fetch | None = None) -> Data:
    """Return a tensor of the library as data; raise Broken if it cannot be one.

    `fetch` returns the bytes of its elements where they are not in host memory.
    """
    impl: TensorImpl = _at(TensorImpl, f"the handle {label}", address)
    storage: StorageImpl = _at(StorageImpl, f"the storage of {label}", impl.storage)
    name = dtype_name(label, storage.dtype)
    device = device_name(label, storage.device)
    if storage.device.type != DeviceType.CPU and fetch is None:
        raise Broken(f"{label} is on {device}, and the library has no op_library_read to copy it")
    if impl.shape.layout.type != LayoutType.DENSE:
        raise Unsaid("A.1 has no place for the indices of a sparse tensor")
    ndim = impl.shape.ndim
    if not 0 <= ndim <= _MOST_AXES:
        raise Broken(f"{label} has {ndim} axes")
    dims = _integers(f"the dims of {label}", impl.shape.dims, ndim)
    size = math.prod(dims)
    if min(dims, default=0) < 0 or size * ITEMSIZE[name] > _MOST_BYTES:
        raise Broken(f"{label} has the dims {list(dims)}")
    if impl.size != size:
        raise Broken(f"{label} has the dims {list(dims)} and the size {impl.size}")
    if not 0 <= impl.offset <= storage.size - size:
        raise Broken(
            f"{label} has {size} elements from {impl.offset} of a storage of {storage.size}"
        )
    order = tuple(range(ndim))[::-1]
    if impl.shape.layout.min2maj is not None:
        order = _integers(f"the layout of {label}", impl.shape.layout.min2maj, ndim)
        if sorted(order) != list(range(ndim)):
            raise Broken(f"{label} has the layout {list(order)}, no order of its axes")
    raw = b""
    if size:
        if fetch is None or storage.device.type == DeviceType.CPU:
            begin = _pointer(f"the data of {label}", storage.data)
            raw = ctypes.string_at(begin + impl.offset * ITEMSIZE[name], size * ITEMSIZE[name])
        else:
            raw = fetch(label, address or 0, size * ITEMSIZE[name])
        slow_first = order[::-1]
        stored = Data(name, tuple(dims[axis] for axis in slow_first), raw)
        raw = _reordered(stored, tuple(slow_first.index(axis) for axis in range(ndim)))
    scale = None
    if impl.scale is not None and not name.startswith("QT"):
        raise Broken(f"{label} is {name} and has a scale: that of a tensor not quantised is NULL")
    if impl.scale is not None:
        at = _pointer(f"the scale of {label}", impl.scale)
        scale = tuple((ctypes.c_float * channels(name, dims)).from_address(at))
        scale = scale if len(set(scale)) > 1 else scale[:1]
    return Data(
        name, dims, raw, scale=scale, zero_point=None if scale is None else impl.zero_point,
        min2maj=None if order == tuple(range(ndim))[::-1] else order, device=device,
    )  # fmt: skip


def device_name(label: str, device: Device) -> str:
    """Return a device by its type and number, as in npu:1; raise Broken if there is none."""
    if device.type not in list(DeviceType) or device.id < 0:
        raise Broken(f"{label} is on the device {{{device.type}, {device.id}}}, which there is not")
    return f"{DeviceType(device.type).name.lower()}:{device.id}"


def handles_of(name: str, at: int, count: int, twice: bool) -> list[int | None]:
    """Return the handles of an array, which the library may have made itself."""
    if twice:
        made = ctypes.c_void_p.from_address(at).value
        if made is None:
            raise Broken(f"the array {name} is NULL")
        at = made
    return list((ctypes.c_void_p * count).from_address(at))


def dtype_name(label: str, dtype: DataType) -> str:
    """Return the name of a dtype of a tensor; raise Broken if there is none."""
    for known in dtypes.DTYPES:
        bits = {known.size, 1} if known is dtypes.bool else {known.size}
        if int(known.code) == dtype.code and dtype.size in bits:
            return known.name
    raise Broken(f"{label} has the dtype {{{dtype.code}, {dtype.size}}}, which there is not")


def _pointer(label: str, address: int | None) -> int:
    if address is None:
        raise Broken(f"{label} is NULL")
    if address < _FIRST_PAGE:
        raise Broken(f"{label} is the pointer {address}")
    return address


def _at(structure: Any, label: str, address: int | None) -> Any:
    found = _pointer(label, address)
    if found % ctypes.alignment(structure):
        raise Broken(f"{label} is a pointer to no structure: {found:#x}")
    return structure.from_address(found)


def _integers(label: str, address: int | None, count: int) -> tuple[int, ...]:
    if count == 0:
        return ()
    return tuple((ctypes.c_int64 * count).from_address(_pointer(label, address)))
