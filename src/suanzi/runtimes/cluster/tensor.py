"""BlockTensor: a tensor that is cut into blocks, each of them a task of a Dask graph.

Calls build the graph, and nothing is computed until `compute()`, `persist()` or `to_host()`. With a
`distributed.Client`, its workers compute, else threads of this process.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from dask import threaded
from dask.base import DaskMethodsMixin
from dask.highlevelgraph import HighLevelGraph

from suanzi.base.device import Device, DeviceLike, DeviceType
from suanzi.base.dtypes import DType, DTypeLike
from suanzi.base.dtypes import dtype as dtype_of
from suanzi.base.status import TypeMismatch
from suanzi.runtimes.cluster import ways
from suanzi.runtimes.cluster.computing import computed_here, gathered, with_clear_errors
from suanzi.runtimes.cluster.grid import Blocks, numbers, shape_of
from suanzi.runtimes.cluster.optimizing import optimize
from suanzi.tensors.elsewhere import Elsewhere
from suanzi.tensors.tensor import Tensor

if TYPE_CHECKING:
    import numpy as np
    from typing_extensions import Self

    from suanzi.runtimes.cluster.quantization import Quantization

CLUSTER = Device(DeviceType.CLUSTER)
"""The device of every tensor of blocks: Dask says which machines it is."""


class BlockTensor(Elsewhere, DaskMethodsMixin):
    """Elements of one dtype in a shape, in blocks that a cluster holds and computes.

    Make one with ``sz.tensor(x, device="cluster")``, with any creation interface and that device,
    or of an array of Dask.
    """

    def __init__(
        self,
        graph: HighLevelGraph,
        name: str,
        blocks: Blocks,
        dtype: DType,
        quantization: Quantization | None = None,
    ) -> None:
        """Arguments are not checked; :mod:`suanzi.runtimes.cluster.graph` creates tensors."""
        self.graph = graph
        self.name = name
        self.blocks = blocks
        self._dtype = dtype
        self.quantization = quantization

    # ---- what it is ------------------------------------------------------------------------------

    @property
    def dtype(self) -> DType:
        """The type of the elements."""
        return self._dtype

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of elements along each axis."""
        return shape_of(self.blocks)

    @property
    def device(self) -> Device:
        """The cluster."""
        return CLUSTER

    @property
    def numblocks(self) -> tuple[int, ...]:
        """How many blocks there are along each axis."""
        return numbers(self.blocks)

    @property
    def scale(self) -> tuple[float, ...] | None:
        """What a step of the stored integers stands for, of all channels; None if not quantised."""
        return None if self.quantization is None else self.quantization.scale

    @property
    def zero_point(self) -> int | None:
        """The integer that stands for 0; None if not quantised."""
        return None if self.quantization is None else self.quantization.zero_point

    @property
    def channel_axis(self) -> int | None:
        """The axis whose indices have a scale each; None if there is one, or none."""
        return None if self.quantization is None else self.quantization.axis

    def int_repr(self) -> BlockTensor:
        """Return the integers that a quantised tensor stores."""
        return ways.METHODS.int_repr(self)

    # ---- Dask's protocol of collections ----------------------------------------------------------

    __dask_optimize__ = staticmethod(optimize)
    __dask_scheduler__: Any = staticmethod(threaded.get)

    def __dask_graph__(self) -> HighLevelGraph:
        return self.graph

    def __dask_layers__(self) -> tuple[str, ...]:
        return (self.name,)

    def __dask_tokenize__(self) -> str:
        return self.name

    def __dask_keys__(self) -> list[Any]:
        return _keys(self.name, self.numblocks)  # type: ignore[no-any-return]

    def __dask_postcompute__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return gathered, (self.blocks, self.dtype, self.quantization)

    def __dask_postpersist__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return _rebuilt, (self.name, self.blocks, self.dtype, self.quantization)

    # ---- computing -------------------------------------------------------------------------------

    def compute(self, **kwargs: Any) -> Tensor:
        """Compute all blocks and return them as one tensor of this machine.

        Arguments are those of :func:`dask.compute`, `scheduler` among them.
        """

        def compute() -> Tensor:
            here = computed_here(self, kwargs)
            made: Tensor = DaskMethodsMixin.compute(self, **kwargs) if here is None else here
            return made

        return with_clear_errors(self.graph, compute)

    def persist(self, **kwargs: Any) -> BlockTensor:
        """Compute all blocks, which the cluster keeps, and return the tensor of them.

        With a `distributed.Client` it returns at once, while they are computed.
        """
        made: BlockTensor = with_clear_errors(
            self.graph, lambda: DaskMethodsMixin.persist(self, **kwargs)
        )
        return made

    def to_host(self) -> Tensor:
        """Return the elements as one tensor of this machine: all of them are gathered."""
        return self.compute()

    def to_device(self, device: DeviceLike, /, *, stream: object = None) -> Any:
        """Return the tensor on a device: itself, or gathered if it is another."""
        place = Device(device)
        return self if place == CLUSTER else self.to_host().to_device(place, stream=stream)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        array = self.numpy()
        return array if dtype is None else array.astype(dtype, copy=False)

    def to_dask(self) -> Any:
        """Return an array of Dask whose chunks are the blocks as NumPy arrays; none is gathered."""
        return ways.METHODS.to_dask(self)

    # ---- other forms of it -----------------------------------------------------------------------

    def reblock(self, size: Any) -> BlockTensor:
        """Return the same elements in other blocks; `size` is as :func:`suanzi.cluster.blocks`'s.

        What is cut and joined is computed by the workers, block by block.
        """
        return ways.METHODS.reblock(self, size)

    def flatten(self) -> Self:
        """Return the elements along one axis, row by row."""
        made: Self = self.reshape(-1)
        return made

    def copy(self) -> Self:
        """Return the tensor itself: its blocks never change."""
        return self

    def astype(self, dtype: DTypeLike, /, *, copy: bool = True) -> BlockTensor:
        """Return the elements in another dtype, as :func:`suanzi.cast`."""
        target = dtype_of(dtype)
        return self if target is self.dtype else self._call("cast", target)

    def __suanzi_operator__(
        self, name: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]
    ) -> Any:
        return ways.run(name, args, kwargs)

    # ---- Python ----------------------------------------------------------------------------------

    def __getitem__(self, key: Any) -> BlockTensor:
        return ways.METHODS.subscript(self, key)

    def __setitem__(self, key: Any, value: Any) -> None:
        raise TypeMismatch(
            "x[key] = value: tensors of blocks cannot be modified; create a new tensor, for "
            "example with sz.where or sz.scatter."
        )

    def __repr__(self) -> str:
        cut = " x ".join(map(str, self.numblocks)) or "1"
        return f"BlockTensor(shape={self.shape}, dtype={self.dtype}, blocks={cut})"

    def __str__(self) -> str:
        """Return the elements that printing shows; only they are gathered."""
        return ways.METHODS.text(self)

    def __neg__(self) -> BlockTensor:
        return ways.METHODS.symbol(operator.neg, self)


def _keys(name: str, counts: tuple[int, ...], *place: int) -> Any:
    """Return the keys of all blocks, in lists within lists, one for each axis."""
    if not counts:
        return [(name, *place)] if not place else (name, *place)
    return [_keys(name, counts[1:], *place, i) for i in range(counts[0])]


def _rebuilt(
    graph: Mapping[Any, Any],
    name: str,
    blocks: Blocks,
    dtype: DType,
    quantization: Quantization | None = None,
    *,
    rename: Mapping[str, str] | None = None,
) -> BlockTensor:
    """Return a tensor whose blocks are computed, or are futures of Dask."""
    called = (rename or {}).get(name, name)
    if not isinstance(graph, HighLevelGraph):
        graph = HighLevelGraph.from_collections(called, graph)
    return BlockTensor(graph, called, blocks, dtype, quantization)
