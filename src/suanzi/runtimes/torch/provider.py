"""The providers of PyTorch's devices."""

from __future__ import annotations

import importlib
import os
from collections.abc import Mapping
from typing import Any

import torch
from torch.utils.dlpack import from_dlpack

import suanzi.runtimes.torch  # which declares how operators run
from suanzi.base.device import Device, register_device
from suanzi.base.dtypes import DType
from suanzi.base.status import AllocFailed
from suanzi.runtimes.torch import creating, deferred_errors, forks
from suanzi.runtimes.torch.casts import cast
from suanzi.runtimes.torch.dtypes import resolved, suanzi_dtype, torch_dtype
from suanzi.runtimes.torch.running import torch_place
from suanzi.runtimes.torch.tensor import TorchTensor, first_line, lacks_memory, placed
from suanzi.tensors.tensor import Tensor

_EXTENSIONS = {"npu": "torch_npu"}
"""The packages that bring a device of another vendor to PyTorch."""


class Provider:
    """Tensors on one kind of PyTorch's devices."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.kind = name.removeprefix("torch:")

    def count(self) -> int:
        """Return how many devices there are; no context is made on any."""
        if self.kind in _EXTENSIONS:
            try:
                importlib.import_module(_EXTENSIONS[self.kind])
            except ModuleNotFoundError:
                raise ImportError(f"{_EXTENSIONS[self.kind]} is not installed") from None
        if self.kind == "cpu":
            return 1
        if self.kind == "mps":
            return int(torch.backends.mps.is_available())
        return int(getattr(torch, self.kind).device_count())

    def upload(self, tensor: Tensor, device: Device) -> TorchTensor:
        """Return a copy of a tensor of the host on a device."""
        torch_dtype(tensor.dtype)
        made = self._made(device, lambda place: placed(tensor, place))
        made.is_array_api = tensor.is_array_api
        return made

    def take(self, data: Any, dtype: DType | None, device: Device) -> Any:
        """Return a copy of a tensor of PyTorch, or of another device of it, without the host."""
        if isinstance(data, TorchTensor):
            data = data.plain
        if (
            isinstance(data, torch.Tensor)
            and data.layout is torch.strided
            and not data.is_quantized
        ):
            source = suanzi_dtype(data)
            torch_dtype(dtype or source)
            plain = resolved(data.detach())

            def made(place: torch.device) -> torch.Tensor:
                there = plain.to(place) if plain.device != place else plain.clone()
                return cast(there, source, dtype or source)

            return self._made(device, made)
        return NotImplemented

    def from_dlpack(self, x: Any, device: Device) -> TorchTensor:
        """Return a tensor on the memory of another library's array, on its device."""
        plain = from_dlpack(x)
        suanzi_dtype(plain)
        return TorchTensor(plain, device)

    def create(self, name: str, device: Device, arguments: Mapping[str, Any]) -> Any:
        """Return what a creation interface makes, on the device itself where PyTorch can."""
        torch_dtype(arguments["dtype"])
        if name not in creating.CREATED or arguments["min2maj"] is not None:  # which uploads keep
            return NotImplemented
        given = {k: x for k, x in arguments.items() if k != "min2maj"}
        return self._made(device, lambda place: creating.CREATED[name](place, **given))

    def synchronize(self) -> None:
        """Wait for the devices, and raise the first error that was found there."""
        if self.kind != "cpu" and torch.accelerator.is_available():
            torch.accelerator.synchronize()
        deferred_errors.check()

    def _made(self, device: Device, make: Any) -> TorchTensor:
        place = torch_place(device)
        forks.check(place)
        try:
            with torch.no_grad():
                return TorchTensor(make(place), device)
        except Exception as error:
            if lacks_memory(error):
                raise AllocFailed(f"not enough memory on {device}: {first_line(error)}.") from None
            raise


def register() -> None:
    """Register all providers here, where no installed package announces them."""
    for provider in PROVIDERS:
        register_device(provider.name, provider)


PROVIDERS = CUDA, XPU, MPS, NPU, CPU = tuple(
    map(Provider, ("cuda", "xpu", "mps", "torch:npu", "torch:cpu"))
)

os.register_at_fork(after_in_child=deferred_errors.forget)
_ = suanzi.runtimes.torch
