"""Tensors and the arrays of others on the same memory: NumPy, ml_dtypes, DLPack."""

from __future__ import annotations

import math
import os
import sys
from functools import cache
from typing import TYPE_CHECKING, Any

from suanzi import _core
from suanzi.base.device import Device, provider_of
from suanzi.base.dtypes import DType, char, dtype, int4, uint1, uint4
from suanzi.base.numpy import Array, np
from suanzi.base.status import AllocFailed, TypeMismatch

if TYPE_CHECKING:
    from suanzi.tensors.tensor import Tensor

# DLPack's numbers of devices that a provider may know.
_DEVICES = {2: "cuda", 8: "mps", 14: "xpu"}

# Bytes that are granted without a look at what is there.
_ALWAYS_THERE = 1 << 28

# The dtypes NumPy has from ml_dtypes, which stores them as we do.
_FROM_ML_DTYPES = [
    dtype(name)
    for name in ("bfloat16", "float8_e4m3fn", "float8_e5m2", "int4", "uint4", "uint1", "complex32")
]
# What NumPy's interface of arrays calls elements of as many bytes. It does not know the kinds of
# ml_dtypes; and "V", for bytes of any kind, ends the process with NumPy 2.1.0.
_BITS = {size: f"{'<' if sys.byteorder == 'little' else '>'}u{size}" for size in (1, 2, 4)}


def numpy_dtype(dt: DType) -> np.dtype[Any]:
    """Return NumPy's dtype for a dtype, or raise BufferError where it has none.

    >>> numpy_dtype(dtype("f16")), numpy_dtype(dtype("bf16"))
    (dtype('float16'), dtype(bfloat16))
    """
    if dt in _FROM_ML_DTYPES:
        import ml_dtypes

        if hasattr(ml_dtypes, dt.name):
            found: np.dtype[Any] = np.dtype(getattr(ml_dtypes, dt.name))
            return found
        raise BufferError(
            f"NumPy has no {dt}, and ml_dtypes {ml_dtypes.__version__} does not have it; cast the "
            "tensor first."
        )
    if dt.kind == "quantized":
        raise BufferError(
            f"NumPy has no quantised dtypes such as {dt}; cast the tensor to float32, or "
            "take the integers that it stores, int_repr()."
        )
    return np.dtype("S1") if dt is char else np.dtype(dt.name)


def as_numpy_asks(dt: DType) -> np.dtype[Any]:
    """Return NumPy's dtype for a dtype, for ``np.dtype(dt)``, which asks for an attribute.

    >>> import numpy as np
    >>> np.dtype(sz.bfloat16), np.zeros(2, sz.float32).dtype == sz.float32
    (dtype(bfloat16), True)
    """
    try:
        return numpy_dtype(dt)
    except BufferError as error:
        raise AttributeError(str(error)) from None


def to_numpy(tensor: Tensor) -> Array:
    """Return a NumPy array on the memory of a tensor, which it keeps alive."""
    dt = numpy_dtype(tensor.dtype)
    # NumPy refuses these, also where elements repeat, or where another size is 0.
    if math.prod(n for n in tensor.shape if n) * dt.itemsize >= 1 << 63:
        raise AllocFailed(
            f"NumPy has no arrays of {tensor.dtype} with shape {tensor.shape}; use fewer elements."
        )
    array = np.asarray(_ArrayInterface(tensor, dt))
    return array.view(dt) if array.dtype != dt else array


def check_room(nbytes: int, what: str) -> None:
    """Raise AllocFailed if there is not enough memory, before NumPy allocates it.

    The system might grant it, and end the process as soon as it is used; and a view that repeats
    its elements says nothing of how much there is.
    """
    if nbytes > _ALWAYS_THERE and nbytes > available_memory():
        raise AllocFailed(f"not enough memory for the {nbytes} bytes of {what}.")


def available_memory() -> int:
    """Return the bytes that can be used without taking them from others, or all that there are."""
    try:
        with open("/proc/meminfo", encoding="ascii") as lines:
            return next(1024 * int(s.split()[1]) for s in lines if s.startswith("MemAvailable:"))
    except (OSError, StopIteration):
        if hasattr(os, "sysconf"):
            return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        return 1 << 46


class _ArrayInterface:
    """What NumPy needs to know to read a tensor's memory, and what keeps that memory."""

    def __init__(self, tensor: Tensor, dt: np.dtype[Any]) -> None:
        # The storage, not the tensor: a tensor that is destroyed lets go of its memory.
        self.storage = storage = tensor.storage
        size = dt.itemsize
        self.__array_interface__ = {
            "version": 3,
            "shape": tensor.shape,
            "strides": tuple(stride * size for stride in tensor.strides),
            "data": (storage.data + tensor.offset * size, storage.read_only),
            "typestr": dt.str if tensor.dtype not in _FROM_ML_DTYPES else _BITS[size],
        }


@cache
def _dtype_of(numpys: np.dtype[Any]) -> DType:
    return char if numpys.str == "|S1" else dtype(numpys)


def from_numpy(array: Array) -> Tensor:
    """Return a tensor on the memory of a NumPy array, which it keeps alive."""
    dt = _dtype_of(array.dtype)
    size = array.dtype.itemsize
    if not array.dtype.isnative or not array.flags.aligned or any(s % size for s in array.strides):
        raise BufferError("the array is not aligned, or not in the byte order of this machine")
    strides = [s // size for s in array.strides]
    spans = [(n - 1) * s for n, s in zip(array.shape, strides, strict=True) if array.size]
    low, high = sum(s for s in spans if s < 0), sum(s for s in spans if s > 0)
    address = array.__array_interface__["data"][0]
    count = high - low + 1 if array.size else 0
    return _core.wrap_memory(
        address + low * size,
        count,
        dt,
        array.shape,
        strides,
        -low,
        not array.flags.writeable,
        array,
    )


def from_dlpack(x: Any, /, *, copy: bool | None = None) -> Tensor:
    """Return a tensor on the memory of another library's array, without copying unless `copy`.

    `x` is anything with ``__dlpack__``. An array on a device gives a tensor on that device. A dtype
    that suanzi lacks, or memory on a device that it does not know, raises BufferError.

    >>> import numpy as np
    >>> array = np.arange(3, dtype=np.int16)
    >>> t = sz.from_dlpack(array)
    >>> array[0] = 7
    >>> t
    Tensor([7, 1, 2], dtype=int16)
    """
    if not hasattr(x, "__dlpack__"):
        raise TypeMismatch(
            f"from_dlpack: a {type(x).__name__} has no __dlpack__; use sz.tensor to copy it."
        )
    kind, number = x.__dlpack_device__() if hasattr(x, "__dlpack_device__") else (1, 0)
    if int(kind) in _DEVICES:
        place = Device(_DEVICES[int(kind)], int(number))
        adopt = getattr(provider_of(place), "from_dlpack", None)
        if adopt is not None:
            made: Tensor = adopt(x, place)
            return made.copy() if copy else made
    try:
        capsule = x.__dlpack__(max_version=(1, 0))
    except TypeError:  # a library from before DLPack 1.0
        capsule = x.__dlpack__()
    taken = _core.take_capsule(capsule)
    return _core.row_major_copy(taken) if copy else taken


def to_dlpack(
    tensor: Tensor,
    max_version: tuple[int, int] | None,
    dl_device: tuple[int, int] | None,
    copy: bool | None,
) -> object:
    """Return a DLPack capsule on the memory of a tensor."""
    if dl_device is not None and tuple(dl_device) != (1, 0):
        raise BufferError(f"the tensor is on the CPU, DLPack device (1, 0), not on {dl_device}")
    dt = tensor.dtype
    if dt.kind in ("char", "quantized") or dt in (int4, uint4, uint1):
        instead = ", or take int_repr()" if dt.kind == "quantized" else ""
        raise BufferError(
            f"DLPack has no type for {dt} as it is stored here; cast the tensor first{instead}"
        )
    if copy:
        tensor = _core.row_major_copy(tensor)
    return _core.dlpack_capsule(tensor, max_version is not None and max_version[0] >= 1)
