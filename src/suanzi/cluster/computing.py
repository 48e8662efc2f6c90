"""One tensor of blocks, computed in this process: without what Dask does for several at once.

`dask.compute` takes collections of any kind, puts them into an expression, makes that simpler and
adds a task that gathers: more than a block of a few thousand elements takes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from dask.base import get_scheduler
from dask.blockwise import Blockwise
from dask.highlevelgraph import MaterializedLayer

from suanzi import _core
from suanzi.cluster.gathering import checked, gathered
from suanzi.cluster.optimizing import optimize
from suanzi.tensors.tensor import Tensor

if TYPE_CHECKING:
    from suanzi.cluster.tensor import BlockTensor

_HERE = ("dask.local", "dask.threaded")
"""Where Dask has the schedulers of this process."""


def computed_here(x: BlockTensor, options: Mapping[str, Any]) -> Tensor | None:
    """Return the elements; None where this process is not to compute, or more is asked."""
    if options.keys() - {"scheduler"}:
        return None
    schedule: Any = get_scheduler(scheduler=options.get("scheduler"), collections=[x])  # type: ignore[no-untyped-call, unused-ignore]
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
