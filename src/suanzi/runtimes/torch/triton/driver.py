"""The CUDA driver, opened at run time: it loads compiled kernels and starts them."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from functools import cache
from typing import Any

import torch

from suanzi import _core
from suanzi.base.status import InternalError
from suanzi.recording.recorders import private_parts

_MAX_DYNAMIC_SHARED = 8
_PLAIN_SHARED = 48 * 1024
_INVALID_CONTEXT = 201
_NAMES = ("libcuda.so.1", "libcuda.so", "nvcuda.dll")
_FORMATS = {"u64": "Q", "fp32": "f", "fp64": "d"}


def _stream(device: int) -> int:
    return int(torch.cuda.current_stream(device).cuda_stream)


_EXPECTED = torch.backends.cuda.is_built()
stream: Any = private_parts.take("torch._C._cuda_getCurrentRawStream", _EXPECTED) or _stream
"""Returns the address of PyTorch's current stream on a device."""


@cache
def has_several() -> bool:
    """Return whether there are several devices: the current one may then be another."""
    return torch.cuda.device_count() > 1


quick_empty: Any = private_parts.take("torch._C._dynamo.guards._empty_strided_cuda", _EXPECTED)
"""What Inductor's programs allocate with."""


def is_quick(place: torch.device) -> bool:
    """Return whether `quick_empty` allocates on a device: the only one."""
    return quick_empty is not None and place.type == "cuda" and not has_several()


def empty(
    shape: tuple[int, ...], strides: tuple[int, ...], dtype: torch.dtype, place: torch.device
) -> torch.Tensor:
    """Return a tensor of elements that are not set."""
    return torch.empty_strided(shape, strides, dtype=dtype, device=place)


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
        self.device = device
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
        # Triton's kernels end with two pointers to scratch memory, which these do not use.
        formats = ["Q" if t[0] == "*" else _FORMATS.get(t, "q") for t in types] + ["Q", "Q"]
        entry = ctypes.cast(_library().cuLaunchKernel, ctypes.c_void_p).value
        assert entry is not None
        assert function.value is not None
        self.launcher = _core.Launcher(entry, function.value, threads, shared, "".join(formats))

    def start(self, grid: tuple[int, int, int], values: tuple[Any, ...]) -> None:
        """Start the kernel on the current stream; tensors are given by their addresses."""
        device = self.device
        if has_several() and torch.cuda.current_device() != device:
            with torch.cuda.device(device):
                return self.start(grid, values)
        code = self.launcher(*grid, stream(device), *values, 0, 0)
        if code == _INVALID_CONTEXT:  # a thread in which PyTorch has not called CUDA yet
            _use_context(device)
            code = self.launcher(*grid, stream(device), *values, 0, 0)
        if code:
            _check(code, f"a kernel was not started, grid {grid}")


class At(int):
    """The place of a tensor among the operands, the output and the memory between."""


def program(
    place: torch.device, makings: Sequence[tuple[Any, ...]],
    steps: Sequence[tuple[Handle, int, Sequence[Any]]],
) -> _core.Program | None:  # fmt: skip
    """Return what the core starts, of the only device: its tensors, and the values of each step."""
    if not is_quick(place):
        return None
    given = []
    for handle, programs, values in steps:
        every = [*values, 0, 0]
        places = [int(x) if type(x) is At else -1 for x in every]
        given.append((handle.launcher, programs, places, every))
    return _core.Program(quick_empty, stream, place.index or 0, list(makings), given)
