"""Tensors that a C library has elsewhere: written and read by its own functions.

`op_library_write` makes a tensor of the library like one of the kit, on its device, and
`op_library_read` copies the elements of one into host memory. Structures, dims and layouts are in
host memory always; only the elements are not.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

from suanzi.base.device import DeviceType
from suanzi.conformance.subjects.c_arguments import Home
from suanzi.conformance.subjects.c_memory import Device, TensorImpl, read_tensor
from suanzi.conformance.subjects.wire import Broken, Data

Destroy = Callable[[int], Any]
_NUMBERS = (0, 1)
_LOOKED_AT = 1 << 16
"""Inputs up to so many bytes are read again after a call."""


class Elsewhere(Home):
    """The devices of a library that has the hooks."""

    def __init__(self, write: Any, read: Any, device: Device) -> None:
        self._write, self._read, self.device = write, read, device
        self._lent: list[tuple[str, int, Data]] = []

    def take(self, label: str, handle: int) -> int:
        """Return a tensor of the library like one of the kit."""
        cell = ctypes.c_void_p()
        status = self._write(handle, ctypes.addressof(cell))
        if status != 0 or cell.value is None:
            raise Broken(f"op_library_write of {label} returned the status {status}")
        size = TensorImpl.from_address(handle).size
        if size < _LOOKED_AT:
            self._lent.append((label, cell.value, read_tensor(label, handle)))
        else:
            self._lent.append((label, cell.value, Data("bool", (0,), b"")))
        return cell.value

    def fetch(self, label: str, address: int, size: int) -> bytes:
        """Return the elements of a tensor of the library."""
        buffer = ctypes.create_string_buffer(size + 1)
        status = self._read(address, ctypes.addressof(buffer))
        if status != 0:
            raise Broken(f"op_library_read of {label} returned the status {status}")
        return buffer.raw[:size]

    def check(self) -> None:
        """Raise Broken if an input on the device is not as it was."""
        for label, handle, data in self._lent:
            if data.size and read_tensor(label, handle, self.fetch).raw != data.raw:
                raise Broken(f"the call changed the input {label}")

    def is_lent(self, handle: int) -> bool:
        """Tell whether a tensor was made for an input."""
        return any(handle == one for _, one, _ in self._lent)

    def close(self, destroy: Destroy) -> None:
        """Destroy the tensors that were made for inputs."""
        for _, handle, _ in self._lent:
            cell = ctypes.c_void_p(handle)
            destroy(ctypes.addressof(cell))
        self._lent.clear()


def first_device(has: Any) -> Device:
    """Return the device of new tensors where a call names none: the CPU, or the first there is."""
    for kind in DeviceType:
        for number in _NUMBERS:
            device = Device(kind, number)
            if has is None or has(b"op_empty", device):
                return device
    return Device(0, 0)
