"""Tensors on a device of PyTorch as a subject: the standard's form, with everything there."""

from __future__ import annotations

import inspect
from typing import Any

import torch

import suanzi as sz
from suanzi.conformance.subjects import suanzi_adapter
from suanzi.conformance.subjects.wire import Data, Unsuitable, Unsupported
from suanzi.faces import interface
from suanzi.promote.context import promotion
from suanzi.runtimes.torch.provider import register
from suanzi.runtimes.torch.running import torch_place, wrapped
from suanzi.runtimes.torch.tensor import TorchTensor, placed

_NOT_SUPPORTED = ("not supported on", "PyTorch has no", "the memory of values is on the cpu")


class Adapter(suanzi_adapter.Adapter):
    """suanzi on a device."""

    def __init__(self, device: str) -> None:
        super().__init__()
        register()
        self.device = device
        self._place = sz.Device(device)
        try:
            read_back: Any = sz.zeros((1,), device=self._place)
            read_back.to_host()
        except sz.StatusError as error:
            raise Unsuitable(f"suanzi has no device {device!r} here: {error}") from None
        self.notes = [f"On {device}, through PyTorch {torch.__version__}."]

    def create(self, data: Data) -> Any:
        """Return a tensor on the device that lies in memory as the data say."""
        if data.sparse is not None or data.scale is not None:
            raise Unsupported("devices of PyTorch have no tensors that are sparse or quantised")
        here = suanzi_adapter.create(
            Data(data.dtype, data.shape, data.raw) if data.layout == "destroyed" else data
        )
        if any(step < 0 for step in here.strides):
            raise Unsupported("PyTorch has no tensors with strides below 0")
        try:
            made = here.to_device(self._place)
        except sz.TypeMismatch as error:
            raise Unsupported(str(error)) from None
        if data.layout == "destroyed":
            sz.destroy(made)
            return made
        if data.layout == "dense" and data.min2maj is None:
            return made
        return wrapped(self._place, _laid(here, torch_place(self._place)))

    def read(self, x: Any) -> Data:
        """Return a tensor as data."""
        return suanzi_adapter.read(_here(x))

    def write(self, x: Any, data: Data) -> None:
        """Write elements into the memory of a tensor."""
        x.plain.copy_(self.create(data).plain)

    def call(self, op: str, arguments: dict[str, Any]) -> tuple[Any, ...]:
        """Call a function of the standard's form, and fetch what it gives."""
        if op == "create_sparse_tensor":
            raise Unsupported("devices of PyTorch have no tensors that are sparse")
        function = suanzi_adapter.function_of(op)
        if "device" in inspect.signature(function).parameters:
            arguments = {"device": self._place} | {
                name: self._place if name == "device" and str(x).lower() == "cpu" else x
                for name, x in arguments.items()
            }
        with promotion(self._rules):
            status, *outputs = function(**arguments)
            if status is sz.Status.SUCCESS:
                return status.name, *outputs
        words = str(interface.last_error())
        if any(part in words for part in _NOT_SUPPORTED):
            raise Unsupported(words)
        return status.name, words


def _here(x: Any) -> Any:
    """Return an output on the host."""
    if isinstance(x, list | tuple):
        return [_here(one) for one in x]
    return x.to_host() if isinstance(x, TorchTensor) else x


def _laid(x: Any, place: torch.device) -> torch.Tensor:
    """Return a tensor of the host on a device, with the same strides."""
    values = placed(x, place)
    once = tuple(slice(1) if step == 0 else slice(None) for step in x.strides)
    span = x.offset + sum((n - 1) * s for n, s in zip(x.shape, x.strides, strict=True) if n) + 1
    base = torch.ones(max(span, 1), dtype=torch.uint8, device=place).to(values.dtype)
    if values.numel():
        short = [min(n, 1) if s == 0 else n for n, s in zip(x.shape, x.strides, strict=True)]
        base.as_strided(short, x.strides, x.offset).copy_(values[once])
    return base.as_strided(x.shape, x.strides, x.offset)
