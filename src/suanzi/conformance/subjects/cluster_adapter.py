"""Tensors of blocks as a subject: the standard's form, on the device `cluster`."""

from __future__ import annotations

import inspect
from typing import Any

import suanzi as sz
from suanzi.conformance.subjects import suanzi_adapter
from suanzi.conformance.subjects.wire import Data, Unsupported
from suanzi.faces import interface
from suanzi.promote.context import promotion
from suanzi.runtimes.cluster import BlockTensor, blocks
from suanzi.runtimes.cluster.provider import Provider
from suanzi.standard import interfaces

_PARTS = 3
"""How many blocks there are along each of the first two axes, so that something is to be joined."""
_NOT_AVAILABLE = "not available for tensors of blocks"


class Adapter(suanzi_adapter.Adapter):
    """suanzi on blocks, which this process computes."""

    def __init__(self) -> None:
        super().__init__()
        import dask

        sz.register_device("cluster", Provider())
        dask.config.set(scheduler="sync")
        self.notes = ["Tensors are cut into three blocks along each of their first two axes."]

    def create(self, data: Data) -> Any:
        """Return a tensor of blocks."""
        if data.sparse is not None or data.layout == "destroyed":
            raise Unsupported("a cluster has no tensors that are sparse or destroyed")
        if data.layout != "dense" or data.min2maj is not None:
            raise Unsupported(f"a cluster has no tensors that lie {data.layout} in memory")
        with blocks(_cut(data.shape)):
            return suanzi_adapter.create(data).to_device("cluster")

    def read(self, x: Any) -> Data:
        """Return a tensor as data."""
        return suanzi_adapter.read(_here(x))

    def shape(self, dims: tuple[int, ...], min2maj: tuple[int, ...]) -> interface.Shape:
        """Return a shape, whose elements are in row-major order."""
        if min2maj != tuple(range(len(dims)))[::-1]:
            raise Unsupported("the blocks of a cluster stand for row-major order alone")
        return super().shape(dims, min2maj)

    def write(self, x: Any, data: Data) -> None:
        """Say that blocks never change."""
        raise Unsupported("the blocks of a cluster do not change")

    def call(self, op: str, arguments: dict[str, Any]) -> tuple[Any, ...]:
        """Call a function of the standard's form, and compute what it gives."""
        if op == "create_sparse_tensor":
            raise Unsupported("a cluster has no tensors that are sparse")
        function = getattr(interface, interfaces()[op].c_name)
        if "device" in inspect.signature(function).parameters:
            arguments = {"device": "cluster"} | {
                name: "cluster" if name == "device" and str(x).lower() == "cpu" else x
                for name, x in arguments.items()
            }
        with promotion(self._rules):
            status, *outputs = function(**arguments)
            if status is sz.Status.SUCCESS:
                try:
                    return status.name, *map(_here, outputs)
                except sz.StatusError as error:
                    return error.status.name, str(error)
        words = str(interface.last_error())
        if _NOT_AVAILABLE in words:
            raise Unsupported(words)
        return status.name, words


def _here(x: Any) -> Any:
    """Return an output on this machine."""
    if isinstance(x, list | tuple):
        return [_here(one) for one in x]
    return x.to_host() if isinstance(x, BlockTensor) else x


def _cut(shape: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(max(-(-n // _PARTS), 1) if axis < 2 else max(n, 1) for axis, n in enumerate(shape))
