"""7.2.13.1 on blocks: partial results of each, combined in groups, and rounded once at the end."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial as bound
from typing import Any

from suanzi import registry
from suanzi.cluster import creating
from suanzi.cluster.combining import left_of, made_of_blocks
from suanzi.cluster.elementwise import on_elements
from suanzi.cluster.partials import Kind, combined, finished, partial
from suanzi.cluster.reblocking import reblocked
from suanzi.cluster.stand_ins import result_of, small_like
from suanzi.cluster.tasks import Call, Hole, call_on_blocks
from suanzi.cluster.tensor import BlockTensor
from suanzi.cluster.ways import way
from suanzi.dtypes import bool as bool_
from suanzi.dtypes import uint8
from suanzi.ops.reduction_modes import (
    ReduceFunction,
    ReduceMode,
    axes_argument,
    is_logical,
    mode_argument,
)
from suanzi.registry import Operator
from suanzi.tensors.tensor import Tensor


@way("reduce")
def reduce(op: Operator, input: BlockTensor, mode: Any, axis: Any, keep_dims: Any) -> BlockTensor:
    """Combine the elements of blocks along axes."""
    call = call_on_blocks(op.name, Hole(0), mode, axis, keep_dims=keep_dims)
    stand_in = result_of(call, [small_like(input)])
    how, axes = mode_argument(op, mode), axes_argument(op, input.ndim, axis)
    keeps = bool(keep_dims)
    if input.size == 0:
        left = left_of(input.blocks, axes, keeps)
        value = stand_in.reshape(-1)[0].item() if stand_in.size else 0
        return creating.full(tuple(map(sum, left)), stand_in.dtype, value)
    if isinstance(how, ReduceFunction):
        return _by_function(how, input, axes, keeps, call)
    if is_logical(how) and input.dtype is not bool_:
        input = on_elements("cast", "cast", input, bool_)
    elif how is ReduceMode.MEAN and input.dtype is bool_:
        input = on_elements("cast", "cast", input, uint8)
    return by_partials(op.name, Kind(int(how), input.dtype, stand_in.dtype), input, axes, keeps)


def by_partials(
    name: str, kind: Kind, x: BlockTensor, axes: list[int], keep_dims: bool
) -> BlockTensor:
    """Return a reduction of the core's, of partial results of blocks."""
    count = math.prod(x.shape[axis] for axis in axes)
    return made_of_blocks(
        name,
        x,
        axes,
        bound(partial, kind, axes),
        bound(combined, kind),
        lambda shape: bound(finished, kind, shape, count),
        kind.result,
        keep_dims,
    )


# ---- functions of one's own ----------------------------------------------------------------------


@dataclass(frozen=True)
class _Function:
    """A :class:`suanzi.ReduceFunction` on blocks, without what it does at the end."""

    how: ReduceFunction
    axes: tuple[int, ...]
    call: Call

    def first(self, block: Tensor) -> Tensor:
        """Return what is left of a block, its axes kept."""
        return self._run(block)

    def combine(self, parts: list[Tensor]) -> Tensor:
        """Return what is left of parts that stand one after the other along the first axis."""
        return self._run(registry.call("concat", parts, self.axes[0]))

    def _run(self, block: Tensor) -> Tensor:
        plain = ReduceFunction(self.how.combine, name=self.how.name)
        made: Tensor = self.call.context.run(
            registry.FUNCTIONS["reduce"], (block, plain, self.axes, True), {}
        )
        return made

    def finish(self, shape: tuple[int, ...], count: int, made: Tensor) -> Tensor:
        """Return the result."""
        if self.how.finish is not None:
            made = self.call.context.run(self.how.finish, (made, count), {})
        return made.reshape(shape)


def _by_function(
    how: ReduceFunction, x: BlockTensor, axes: list[int], keep_dims: bool, call: Call
) -> BlockTensor:
    """Combine by a function that need not be commutative: only the first axis stays cut."""
    cuts = tuple((sum(axis),) if a in axes[1:] else axis for a, axis in enumerate(x.blocks))
    x = reblocked(x, cuts)
    count = math.prod(x.shape[axis] for axis in axes)
    run = _Function(how, tuple(axes), call)
    return made_of_blocks(
        "reduce",
        x,
        axes,
        run.first,
        run.combine,
        lambda shape: bound(run.finish, shape, count),
        x.dtype,
        keep_dims,
    )
