"""The provider of the device type `cluster`: one device, Dask's default scheduler."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from suanzi.base.device import Device
from suanzi.base.dtypes import DType
from suanzi.runtimes.cluster import creating, quantized
from suanzi.runtimes.cluster.exchange import from_dask, from_tensor
from suanzi.runtimes.cluster.tensor import BlockTensor
from suanzi.tensors.tensor import Tensor


class Provider:
    """Tensors of blocks on Dask."""

    def count(self) -> int:
        """Return 1: Dask has one default scheduler at a time."""
        return 1

    def upload(self, tensor: Tensor, device: Device) -> BlockTensor:
        """Return a copy of a tensor in blocks."""
        return from_tensor(tensor)

    def take(self, data: Any, dtype: DType | None, device: Device) -> Any:
        """Return an array of Dask, or a tensor of blocks, without gathering it."""
        if isinstance(data, BlockTensor):
            return data if dtype is None else data.astype(dtype)
        if hasattr(data, "__dask_graph__") and hasattr(data, "chunks"):
            return from_dask(data, dtype)
        return NotImplemented

    def create(self, name: str, device: Device, arguments: Mapping[str, Any]) -> Any:
        """Return what a creation interface makes; each block is made where it is needed."""
        if name not in CREATED:
            return NotImplemented
        return CREATED[name](**arguments)


CREATED: dict[str, Any] = {
    "zeros": creating.full,
    "full": creating.full,
    "empty": creating.full,
    "range": creating.steps,
    "linspace": creating.spaced,
    "rand_uniform": creating.uniform,
    "rand_normal": creating.normal,
    "randperm": creating.permutation,
    "create_quant_tensor": quantized.without_values,
}
"""What makes blocks without shipping them, by the name of the creation interface."""
