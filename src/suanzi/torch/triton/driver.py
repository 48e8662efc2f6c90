"""The CUDA driver, opened at run time: it loads compiled kernels and starts them."""

from __future__ import annotations

import ctypes
import struct
import threading
from functools import cache
from typing import Any

import torch

from suanzi.status import InternalError

_MAX_DYNAMIC_SHARED = 8
_PLAIN_SHARED = 48 * 1024
_INVALID_CONTEXT = 201
_NAMES = ("libcuda.so.1", "libcuda.so", "nvcuda.dll")
_FORMATS = {
    "i1": "b", "i8": "b", "i16": "h", "i32": "i", "i64": "q", "u8": "B", "u16": "H", "u32": "I",
    "u64": "Q", "fp32": "f", "fp64": "d",
}  # fmt: skip


@cache
def _library() -> Any:
    for name in _NAMES:
        try:
            return ctypes.CDLL(name)
        except OSError:
            continue
    raise InternalError(f"the CUDA driver was not found; looked for {', '.join(_NAMES)}.")


def _check(code: int, what: str) -> None:
    if code:
        text = ctypes.c_char_p()
        _library().cuGetErrorString(code, ctypes.byref(text))
        said = text.value.decode() if text.value else "unknown"
        raise RuntimeError(f"CUDA error {code} ({said}): {what}")


def _use_context(device: int) -> None:
    """Make the context that PyTorch uses current in this thread."""
    handle, context = ctypes.c_int(), ctypes.c_void_p()
    _check(_library().cuDeviceGet(ctypes.byref(handle), device), "no device")
    retained = _library().cuDevicePrimaryCtxRetain(ctypes.byref(context), handle)
    _check(retained, "no context")
    _check(_library().cuCtxSetCurrent(context), "no context")


class Handle:
    """A compiled kernel on one device, ready to be started with values of its parameters."""

    def __init__(
        self, image: bytes, name: str, types: list[str], threads: int, shared: int, device: int
    ) -> None:
        self._device = device
        self._several = torch.cuda.device_count() > 1
        with torch.cuda.device(device):
            torch.cuda.current_stream(device).query()  # there is a context from here on
            module, function = ctypes.c_void_p(), ctypes.c_void_p()
            loaded = _library().cuModuleLoadData(ctypes.byref(module), image)
            _check(loaded, f"{name} was not loaded")
            found = _library().cuModuleGetFunction(ctypes.byref(function), module, name.encode())
            _check(found, f"{name} was not found")
            if shared > _PLAIN_SHARED:
                allowed = _library().cuFuncSetAttribute(function, _MAX_DYNAMIC_SHARED, shared)
                _check(allowed, f"{name} needs {shared} bytes of shared memory")
        self._start = _library().cuLaunchKernel
        self._function, self._threads, self._shared = function, threads, shared
        # Triton's kernels end with two pointers to scratch memory, which these do not use.
        formats = ["Q" if t[0] == "*" else _FORMATS[t] for t in types] + ["Q", "Q"]
        self._packing = struct.Struct("@" + "".join(formats))
        self._offsets = [
            struct.calcsize("@" + "".join(formats[:i]) + "0" + one) for i, one in enumerate(formats)
        ]
        self._memory = threading.local()

    def _buffers(self) -> tuple[Any, Any]:
        """Return this thread's memory for parameters, and the addresses of each there."""
        buffer = ctypes.create_string_buffer(self._packing.size)
        base = ctypes.addressof(buffer)
        places = (ctypes.c_void_p * len(self._offsets))(*[base + at for at in self._offsets])
        self._memory.both = buffer, places
        return buffer, places

    def start(self, grid: tuple[int, int, int], values: tuple[Any, ...]) -> None:
        """Start the kernel on the current stream; tensors are given by their addresses."""
        if self._several and torch.cuda.current_device() != self._device:
            with torch.cuda.device(self._device):
                return self.start(grid, values)
        try:
            buffer, places = self._memory.both
        except AttributeError:
            buffer, places = self._buffers()
        self._packing.pack_into(buffer, 0, *values, 0, 0)
        stream = torch._C._cuda_getCurrentRawStream(self._device)
        given = (self._function, *grid, self._threads, 1, 1, self._shared, ctypes.c_void_p(stream),
                 places, None)  # fmt: skip
        code = self._start(*given)
        if code == _INVALID_CONTEXT:  # a thread in which PyTorch has not called CUDA yet
            _use_context(self._device)
            code = self._start(*given)
        if code:
            _check(code, f"a kernel was not started, grid {grid}")
