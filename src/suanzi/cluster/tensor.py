"""BlockTensor: a tensor that is cut into blocks, each of them a task of a Dask graph.

Calls build the graph, and nothing is computed until `compute()`, `persist()` or `to_host()`. With a
`distributed.Client`, its workers compute, else threads of this process.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from dask import threaded
from dask.base import DaskMethodsMixin
from dask.highlevelgraph import HighLevelGraph

from suanzi import registry
from suanzi.cluster import ways
from suanzi.cluster.computing import computed_here, gathered, with_clear_errors
from suanzi.cluster.grid import Blocks, numbers, shape_of
from suanzi.cluster.optimizing import optimize
from suanzi.device import Device, DeviceLike, DeviceType
from suanzi.dtypes import DType, DTypeLike
from suanzi.dtypes import dtype as dtype_of
from suanzi.shapes import sizes_of
from suanzi.status import InvalidArgument, TypeMismatch
from suanzi.tensors.methods import Methods
from suanzi.tensors.symbols import Symbols
from suanzi.tensors.tensor import Tensor

if TYPE_CHECKING:
    import numpy as np

    from suanzi.cluster.quantization import Quantization

CLUSTER = Device(DeviceType.CLUSTER)
"""The device of every tensor of blocks: Dask says which machines it is."""


class BlockTensor(Symbols, Methods, DaskMethodsMixin):  # type: ignore[misc]
    """Elements of one dtype in a shape, in blocks that a cluster holds and computes.

    Make one with ``sz.tensor(x, device="cluster")``, with any creation interface and that device,
    or of an array of Dask.
    """

    # NumPy must leave `array + tensor` to the tensor, which knows how to promote.
    __array_ufunc__ = None

    def __init__(
        self,
        graph: HighLevelGraph,
        name: str,
        blocks: Blocks,
        dtype: DType,
        quantization: Quantization | None = None,
    ) -> None:
        """Arguments are not checked; :mod:`suanzi.cluster.graph` creates tensors."""
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
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.blocks)

    @property
    def size(self) -> int:
        """The number of elements."""
        return math.prod(self.shape)

    @property
    def nbytes(self) -> int:
        """The bytes of the elements."""
        return self.size * self.dtype.itemsize

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
    __dask_scheduler__ = staticmethod(threaded.get)

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
            made: Tensor = super(BlockTensor, self).compute(**kwargs) if here is None else here
            return made

        return with_clear_errors(self.graph, compute)

    def persist(self, **kwargs: Any) -> BlockTensor:
        """Compute all blocks, which the cluster keeps, and return the tensor of them.

        With a `distributed.Client` it returns at once, while they are computed.
        """
        made: BlockTensor = with_clear_errors(
            self.graph, lambda: super(BlockTensor, self).persist(**kwargs)
        )
        return made

    def to_host(self) -> Tensor:
        """Return the elements as one tensor of this machine: all of them are gathered."""
        return self.compute()

    def to_device(self, device: DeviceLike, /, *, stream: object = None) -> Any:
        """Return the tensor on a device: itself, or gathered if it is another."""
        place = Device(device)
        return self if place == CLUSTER else self.to_host().to_device(place, stream=stream)

    def numpy(self) -> np.ndarray[Any, Any]:
        """Return the elements as a NumPy array: all of them are gathered."""
        return self.to_host().numpy()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        array = self.numpy()
        return array if dtype is None else array.astype(dtype, copy=False)

    def to_dask(self) -> Any:
        """Return an array of Dask whose chunks are the blocks as NumPy arrays; none is gathered."""
        return ways.METHODS.to_dask(self)

    def tolist(self) -> Any:
        """Return the elements as nested lists of Python numbers: all of them are gathered."""
        return self.to_host().tolist()

    def item(self) -> bool | int | float | complex | bytes:
        """Return the only element as a Python number."""
        if self.size != 1:
            raise InvalidArgument(
                f"item: the tensor has {self.size} elements, shape {self.shape}; it must have one."
            )
        return self.to_host().item()

    # ---- other forms of it -----------------------------------------------------------------------

    def reblock(self, size: Any) -> BlockTensor:
        """Return the same elements in other blocks; `size` is as :func:`suanzi.cluster.blocks`'s.

        What is cut and joined is computed by the workers, block by block.
        """
        return ways.METHODS.reblock(self, size)

    def reshape(self, *dims: int | Sequence[int]) -> BlockTensor:
        """Return the elements in another shape, row by row; one of the sizes may be -1."""
        return self._call("reshape", sizes_of(self.size, dims))

    @property
    def T(self) -> BlockTensor:
        """It with its axes in reverse order."""
        return self._call("transpose")

    @property
    def real(self) -> BlockTensor:
        """The real part."""
        return self._call("real")

    @property
    def imag(self) -> BlockTensor:
        """The imaginary part."""
        return self._call("imag")

    def flatten(self) -> BlockTensor:
        """Return the elements along one axis, row by row."""
        return self.reshape(-1)

    def copy(self) -> BlockTensor:
        """Return the tensor itself: its blocks never change."""
        return self

    def astype(self, dtype: DTypeLike, /, *, copy: bool = True) -> BlockTensor:
        """Return the elements in another dtype, as :func:`suanzi.cast`."""
        target = dtype_of(dtype)
        return self if target is self.dtype else self._call("cast", target)

    def reduce(
        self, mode: Any = "SUM", axis: int | Sequence[int] | None = None, keep_dims: bool = False
    ) -> BlockTensor:
        """Combine the elements along axes, as :func:`suanzi.reduce`."""
        return self._call("reduce", mode, axis, keep_dims=keep_dims)

    def _call(self, name: str, *args: Any, **kwargs: Any) -> BlockTensor:
        made: BlockTensor = registry.call(name, self, *args, **kwargs)
        return made

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

    def __len__(self) -> int:
        if self.ndim == 0:
            raise TypeMismatch("len: a 0-d tensor has no length.")
        return self.shape[0]

    def __iter__(self) -> Iterator[BlockTensor]:
        if self.ndim == 0:
            raise TypeMismatch("a 0-d tensor cannot be iterated over.")
        return (self[i] for i in range(self.shape[0]))

    def __bool__(self) -> bool:
        return bool(self._only("bool"))

    def __int__(self) -> int:
        return int(self._only("int"))

    def __float__(self) -> float:
        return float(self._only("float"))

    def __complex__(self) -> complex:
        return complex(self._only("complex"))

    def _only(self, name: str) -> Any:
        if self.size != 1:
            raise InvalidArgument(
                f"{name}: the tensor has {self.size} elements, which are not one value."
            )
        return self.item()

    def __neg__(self) -> BlockTensor:
        return ways.METHODS.symbol(operator.neg, self)

    def _of_symbol(self, name: str, operands: tuple[Any, ...]) -> Any:
        return registry.call(name, *operands)


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
