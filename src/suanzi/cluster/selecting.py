"""7.2.3.25 and 7.2.14.5 on blocks: masked_select and nonzero, whose sizes only the elements tell.

The blocks of a result have sizes, so these are counted when the operator is called: masks are
computed then, block by block, and nothing but their counts comes back. Call `persist()` on what a
mask is made of where that is much work.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from suanzi import registry
from suanzi.cluster import grid
from suanzi.cluster.elementwise import on_elements
from suanzi.cluster.exchange import as_blocks
from suanzi.cluster.graph import from_tasks, new_name
from suanzi.cluster.reblocking import reblocked
from suanzi.cluster.reshaping import reshaped
from suanzi.cluster.stand_ins import large_like, result_of, small_like
from suanzi.cluster.tasks import Hole, call_on_blocks
from suanzi.cluster.tensor import BlockTensor
from suanzi.cluster.ways import way
from suanzi.dtypes import bool as bool_
from suanzi.dtypes import int64
from suanzi.registry import Operator
from suanzi.shapes import broadcast_shapes
from suanzi.status import OutOfRange
from suanzi.tensors.make import tensor
from suanzi.tensors.tensor import Tensor


@way("masked_select")
def masked_select(op: Operator, input: BlockTensor, mask: Any) -> BlockTensor:
    """Return the elements where a mask is true."""
    chosen = as_blocks(mask)
    fits = chosen.ndim <= input.ndim
    fits = fits and broadcast_shapes([input.shape, chosen.shape]) == input.shape
    if chosen.dtype is not bool_ or not fits:
        result_of(
            call_on_blocks(op.name, Hole(0), Hole(1)), [large_like(input), large_like(chosen)]
        )
    whole = registry.call("expand", chosen, input.shape)
    line = reshaped(input, (input.size,))
    flat = reblocked(reshaped(whole, (input.size,)), line.blocks)
    counts = _counts(flat)
    name = new_name(op.name)
    call = call_on_blocks(op.name, Hole(0), Hole(1))
    kept = [i for i, n in enumerate(counts) if n] or [0]
    tasks = {(name, at): (call, (line.name, i), (flat.name, i)) for at, i in enumerate(kept)}
    cuts = (tuple(counts[i] for i in kept),)
    return from_tasks(name, tasks, cuts, input.dtype, [line, flat])


@way("nonzero")
def nonzero(op: Operator, input: BlockTensor, as_tuple: Any) -> Any:
    """Return the coordinates of elements that are not zero."""
    result_of(call_on_blocks(op.name, Hole(0), as_tuple), [small_like(input)])
    flat = reshaped(on_elements("not_equal", "not_equal", input, 0), (input.size,))
    counts = _counts(flat)
    kept = [i for i, n in enumerate(counts) if n]
    if not kept:
        raise OutOfRange(f"{op.title}: input, of shape {input.shape}, has no nonzero elements.")
    begin = grid.starts(flat.blocks[0])
    name = new_name(op.name)
    tasks: dict[Any, Any] = {
        (name, at, 0): (partial(_coordinates, input.shape, begin[i]), (flat.name, i))
        for at, i in enumerate(kept)
    }
    cuts = (tuple(counts[i] for i in kept), (input.ndim,))
    rows = from_tasks(name, tasks, cuts, int64, [flat])
    return tuple(rows[:, axis] for axis in range(input.ndim)) if as_tuple else rows


def _coordinates(shape: tuple[int, ...], begin: int, mask: Tensor) -> Tensor:
    """Return the coordinates of what is true in a part of the row-major line of a shape."""
    import numpy as np

    places = np.flatnonzero(mask.numpy()) + begin
    return tensor(np.stack(np.unravel_index(places, shape), axis=1).astype(np.int64))


def _counts(mask: BlockTensor) -> list[int]:
    """Return how many elements of each block of a line are true; they are computed now."""
    name = new_name("count")
    tasks: dict[Any, Any] = {
        (name, i): (_count, (mask.name, i)) for i in range(len(mask.blocks[0]))
    }
    counted = from_tasks(name, tasks, ((1,) * len(tasks),), int64, [mask])
    return [int(n) for n in counted.tolist()]


def _count(mask: Tensor) -> Tensor:
    import numpy as np

    return tensor([int(np.count_nonzero(mask.numpy()))], int64)
