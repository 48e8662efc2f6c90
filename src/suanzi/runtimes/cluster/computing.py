"""Computes one tensor of blocks: gathers and checks the blocks, and words what Dask raises.

One tensor computed in this process needs less than `dask.compute`, which takes several collections
of any kind and spends longer on their graph than a small block takes.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from concurrent.futures import CancelledError
from typing import TYPE_CHECKING, Any, TypeVar
from weakref import WeakSet

import dask
from dask.base import get_scheduler
from dask.blockwise import Blockwise
from dask.highlevelgraph import MaterializedLayer

from suanzi import _core
from suanzi.base.dtypes import DType
from suanzi.base.status import InternalError, InvalidArgument, StatusError
from suanzi.runtimes.cluster.grid import Blocks, parts, shape_of
from suanzi.runtimes.cluster.optimizing import optimize
from suanzi.tensors.parts import copy
from suanzi.tensors.tensor import Tensor

if TYPE_CHECKING:
    from suanzi.runtimes.cluster.quantization import Quantization
    from suanzi.runtimes.cluster.tensor import BlockTensor


def gathered(
    nested: Any, blocks: Blocks, dtype: DType, quantization: Quantization | None = None
) -> Tensor:
    """Return one tensor of blocks that are given in nested lists, one level for each axis."""
    if all(len(axis) == 1 for axis in blocks):  # a copy: a block may be kept, and must not change
        index = (0,) * max(len(blocks), 1)
        return copy(checked(_at(nested, index), shape_of(blocks), dtype, index))
    whole = _core.empty(shape_of(blocks), dtype)
    for index, where in parts(blocks):
        shape = tuple(axis.stop - axis.start for axis in where)
        _core.copy_into(whole[where], checked(_at(nested, index), shape, dtype, index))
    return whole if quantization is None else quantization.put_on(whole)


def _at(nested: Any, index: tuple[int, ...]) -> Any:
    for i in index:
        nested = nested[i]
    return nested


def checked(block: Any, shape: tuple[int, ...], dtype: DType, index: tuple[int, ...]) -> Tensor:
    """Return a block that a worker computed, if it is what the graph promises."""
    if isinstance(block, Tensor) and block.shape == shape and block.dtype == dtype:
        return block
    received = (
        f"a tensor of shape {block.shape} and dtype {block.dtype}"
        if isinstance(block, Tensor)
        else f"an object of type {type(block).__name__}"
    )
    raise InternalError(
        f"cluster: block {index} should be a tensor of shape {shape} and dtype {dtype}, but a "
        f"worker returned {received}. Check that every worker has the same version of suanzi and "
        "that custom functions return blocks of the promised shape and dtype."
    )


_HERE = ("dask.local", "dask.threaded")
"""Where Dask has the schedulers of this process."""


def computed_here(x: BlockTensor, options: Mapping[str, Any]) -> Tensor | None:
    """Return the elements; None where this process does not compute, or more is requested."""
    if options.keys() - {"scheduler"}:
        return None
    schedule: Any = get_scheduler(scheduler=options.get("scheduler"), collections=[x])
    if getattr(schedule, "__module__", None) not in _HERE:
        return None
    keys = x.__dask_keys__()
    nested = schedule(optimize(x.graph, keys), keys)
    if len(keys) == 1 and x.quantization is None and all(len(axis) == 1 for axis in x.blocks):
        only = nested
        while isinstance(only, list | tuple):
            (only,) = only
        block = checked(only, x.shape, x.dtype, (0,) * x.ndim)
        if _is_new(block, x):
            return block
    return gathered(nested, x.blocks, x.dtype, x.quantization)


def _is_new(block: Tensor, x: BlockTensor) -> bool:
    """Tell whether a block was made just now: by an element-wise operator, and it is no view."""
    if type(x.graph.layers[x.name]) is not Blockwise or not _core.is_row_major(block):
        return False
    for layer in x.graph.layers.values():
        if type(layer) is Blockwise:
            continue
        if type(layer) is not MaterializedLayer:
            return False
        for other in layer.mapping.values():
            if type(other) is not Tensor or _core.overlap(block, other):
                return False
    return True


T = TypeVar("T")

_ON_WORKERS = (None, "distributed", "dask.distributed")
"""What Dask's configuration has for `scheduler` where a client computes, if there is one."""
_seen: WeakSet[Any] = WeakSet()
"""The clients whose workers were asked for their version."""


def with_clear_errors(graph: Any, compute: Callable[[], T]) -> T:
    """Return what Dask computes of a graph; a cluster that is lost is an error that says so."""
    try:
        _see_versions()
        return compute()
    except StatusError:
        raise
    except Exception as error:
        problem = _problem(error, graph)
        if problem is None:
            raise
        raise InternalError(f"cluster: {problem}") from error


def _see_versions() -> None:
    """Raise InvalidArgument if a worker has another version of suanzi; once per client."""
    distributed: Any = sys.modules.get("distributed")
    if distributed is None or dask.config.get("scheduler", None) not in _ON_WORKERS:
        return
    try:
        client = distributed.default_client()
    except ValueError:  # there is none
        return
    if client in _seen or client.asynchronous:
        return
    for address, theirs in client.run(_version, on_error="return").items():
        if theirs != _core.VERSION:
            has = "no suanzi" if isinstance(theirs, Exception) else f"suanzi {theirs}"
            raise InvalidArgument(
                f"cluster: the worker {address} has {has}, and this is {_core.VERSION}; install "
                "the same version on every worker, for results differ between versions."
            )
    _seen.add(client)


def _version() -> str:
    """Return the version on a worker."""
    return _core.VERSION


def _problem(error: Exception, graph: Any) -> str | None:
    """Return what became of the cluster; None if it is not that."""
    distributed: Any = sys.modules.get("distributed")
    if distributed is None:
        return None
    if isinstance(error, distributed.KilledWorker):
        return (
            "a task ended one worker after another; perhaps memory ran out. Cut the tensors into "
            "smaller blocks, with reblock, or give workers more memory."
        )
    # Without a client, Dask looks for the blocks here, and does not find them.
    if isinstance(error, CancelledError | TimeoutError | OSError) or _has_lost(graph, distributed):
        return (
            "the scheduler is gone, and the blocks it kept with it. Connect to another one, with "
            "distributed.Client, and compute again from data that is still there."
        )
    return None


def _has_lost(graph: Any, distributed: Any) -> bool:
    """Tell whether a graph refers to blocks of a scheduler that is no longer there."""
    for layer in graph.layers.values():
        task = next(iter(layer.values()), None) if isinstance(layer, Mapping) else None
        value = getattr(task, "value", task)
        if isinstance(value, distributed.Future) and (
            value.client is None or value.client.status != "running" or value.cancelled()
        ):
            return True
    return False
