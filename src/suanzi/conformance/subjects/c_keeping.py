"""Tensors of a C library that live through several calls: made, written to, read and destroyed.

Whose memory a tensor has is only seen so. What is made here lies in memory of the kit, as for one
call; what the library gives is kept by its handle, and given back at the end.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from suanzi.base.device import DeviceType
from suanzi.conformance.model.data import tensor
from suanzi.conformance.subjects.c_arguments import Arguments
from suanzi.conformance.subjects.c_memory import (
    Held,
    Memory,
    StorageImpl,
    TensorImpl,
    check_layout,
    handles_of,
    in_order,
    read_tensor,
)
from suanzi.conformance.subjects.wire import ITEMSIZE, Broken, Data, Unsaid

if TYPE_CHECKING:
    from suanzi.conformance.subjects.c_adapter import Adapter


class Keeping:
    """A C library for the steps of one case."""

    def __init__(self, adapter: Adapter) -> None:
        self._adapter = adapter
        self._memory = Memory()
        self._made, self._home = 0, adapter.home()
        self._calls: list[Arguments] = []
        self._held: list[Held] = []

    def create(self, data: Data) -> Held:
        """Return a tensor in memory of the kit, or a sparse one that the library makes itself."""
        if data.sparse == "COO" and "create_sparse_tensor" in self._adapter.mapping:
            return self._sparse(data)
        check_layout(data)
        self._made += 1
        # Every other tensor lies right behind a page without access, the others before one.
        handle = self._memory.tensor("a tensor of a step before", data, self._made % 2 == 0)
        handle = self._home.take("a tensor of a step before", handle)
        return Held(handle, data.dtype, data.shape)

    def _sparse(self, data: Data) -> Held:
        made, status = self._adapter.called("create_sparse_tensor", coordinates(data))
        self._calls.append(made)
        if status != "SUCCESS":
            raise Broken(f"op_create_sparse_tensor, for a sparse operand: {status}")
        handle = ctypes.c_void_p.from_address(made.cells["output"][0]).value
        self._held.append(Held(handle, data.dtype, data.shape))
        return self._held[-1]

    def read(self, x: Any) -> Any:
        """Return a tensor as data."""
        if not isinstance(x, Held):
            return x
        return read_tensor("a tensor of a step before", _handle(x), self._home.fetch)

    def write(self, x: Held, data: Data) -> None:
        """Write elements into the memory of a tensor."""
        impl = TensorImpl.from_address(_handle(x))
        storage = StorageImpl.from_address(impl.storage)
        if storage.device.type != DeviceType.CPU:
            raise Unsaid("the kit cannot write into a tensor that is not in host memory")
        raw = in_order(data, read_tensor("a tensor of a step before", x.handle).min2maj)
        if self._memory.owns(storage.data):
            self._memory.write(storage.data, raw)
        else:
            ctypes.memmove(storage.data + impl.offset * ITEMSIZE[data.dtype], raw, len(raw))

    def call(self, op: str, arguments: dict[str, Any]) -> tuple[Any, ...]:
        """Call a function, and return its status and what it gave, as handles."""
        if op == "destroy":
            return (self._destroyed(arguments["input"]),)
        given = {name: _alive(x) for name, x in arguments.items()}
        made, status = self._adapter.called(op, given)
        self._calls.append(made)
        self._memory.check()
        return (status, *self._outputs(made)) if status == "SUCCESS" else (status,)

    def status(self, error: Exception) -> str:
        """Return the status of an error, which is none of the library's."""
        return self._adapter.status(error)

    def _outputs(self, made: Arguments) -> list[Any]:
        found: list[Any] = []
        for item in made.function.outputs:
            at, count = made.cells[item.name]
            if item.base in ("bool", "int"):
                kind = ctypes.c_bool if item.base == "bool" else ctypes.c_int
                found.append(kind.from_address(at).value)
            elif count is not None:
                some = handles_of(item.name, at, count, item.twice)
                found.append([self._hold(f"{item.name}[{i}]", h) for i, h in enumerate(some)])
            else:
                found.append(self._hold(item.name, ctypes.c_void_p.from_address(at).value))
        return found

    def _hold(self, name: str, handle: int | None) -> Held:
        data = read_tensor(name, handle, self._home.fetch)
        self._held.append(Held(handle, data.dtype, data.shape))
        return self._held[-1]

    def prepared(self, op: str, arguments: dict[str, Any]) -> Callable[[], tuple[str, Any]]:
        """Return a function that makes one call again and again, of tensors of its own."""
        return self._adapter.prepared(op, arguments)

    def _destroyed(self, x: Held) -> str:
        cell = ctypes.c_void_p(_alive(x).handle)
        status = self._adapter.destroyed(ctypes.addressof(cell))
        if status == "SUCCESS":
            x.gone, x.handle = True, cell.value
        return status

    def close(self) -> None:
        """Give the tensors of the library back."""
        memories = [self._memory, *(made.memory for made in self._calls)]
        left = [x.handle for x in self._held if not x.gone and x.handle is not None]
        for handle in dict.fromkeys(left):
            storage = TensorImpl.from_address(handle).storage
            if any(one.owns(handle) or one.owns(storage) for one in memories):
                continue
            if not self._home.is_lent(handle):
                self._adapter.destroyed(ctypes.addressof(ctypes.c_void_p(handle)))
        self._home.close(self._adapter.destroyed)


def coordinates(data: Data) -> dict[str, Any]:
    """Return the arguments of create_sparse_tensor for what is not zero in a tensor."""
    size = ITEMSIZE[data.dtype]
    elements = [data.raw[i : i + size] for i in range(0, len(data.raw), size)]
    kept = [(i, x) for i, x in enumerate(elements) if any(x)]
    flat = [i for at, _ in kept for i in np.unravel_index(at, data.shape)]
    return {
        "dtype": data.dtype,
        "shape": list(data.shape),
        "indices": tensor("int64", [int(i) for i in flat], (len(kept), len(data.shape))),
        "values": Data(data.dtype, (len(kept),), b"".join(x for _, x in kept)),
    }


def _alive(x: Any) -> Any:
    """Return an argument; raise Broken for a handle that op_destroy left behind."""
    if isinstance(x, Held) and x.gone and x.handle is not None:
        raise Broken("op_destroy left the handle of a tensor that is gone: it must be NULL")
    return x


def _handle(x: Held) -> int:
    handle: int | None = _alive(x).handle
    if handle is None:
        raise Broken("a tensor that was destroyed is read")
    return handle
