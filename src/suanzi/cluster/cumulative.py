"""7.2.13.2 on blocks: sums within each, and on top of them those of all blocks before.

Floats add up in float64 and are rounded once, as in one tensor.
"""

from __future__ import annotations

from functools import partial as bound
from typing import Any

from suanzi import _core, registry
from suanzi.cluster import grid
from suanzi.cluster.graph import Key, from_tasks, new_name
from suanzi.cluster.reshaping import reshaped
from suanzi.cluster.stand_ins import result_of, small_like
from suanzi.cluster.tasks import Hole, call_on_blocks
from suanzi.cluster.tensor import BlockTensor
from suanzi.cluster.ways import way
from suanzi.dtypes import DType, complex128, float64
from suanzi.registry import Operator
from suanzi.tensors.parts import converted
from suanzi.tensors.tensor import Tensor


@way("cumsum")
def cumsum(op: Operator, input: BlockTensor, axis: Any, dtype: Any) -> BlockTensor:
    """Return the sums of all elements up to each, along an axis."""
    made = result_of(call_on_blocks(op.name, Hole(0), axis, dtype), [small_like(input)])
    if int(axis) == -1:
        return _along(reshaped(input, (input.size,)), 0, made.dtype, False)
    return _along(input, int(axis), made.dtype, False)


@way("cumsum_bwd")
def cumsum_bwd(op: Operator, out_grad: BlockTensor, axis: Any, input_shape: Any) -> BlockTensor:
    """Return the sums from the last element down to each."""
    if int(axis) == -1 and out_grad.ndim == 1 and input_shape is not None:
        one = _along(out_grad, 0, out_grad.dtype, True)
        return registry.call("reshape", one, input_shape)  # type: ignore[no-any-return]
    call = call_on_blocks(op.name, Hole(0), axis)
    made = result_of(call, [small_like(out_grad)])
    return _along(out_grad, max(int(axis), 0), made.dtype, True)


def _along(x: BlockTensor, axis: int, dtype: DType, backwards: bool) -> BlockTensor:
    wide = float64 if dtype.kind == "float" else complex128 if dtype.kind == "complex" else dtype
    sums, before, name = new_name("cumsum-sum"), new_name("cumsum-before"), new_name("cumsum")
    tasks: dict[Key, Any] = {}
    count = len(x.blocks[axis])
    rest = (*x.blocks[:axis], (1,), *x.blocks[axis + 1 :])
    for lane in grid.places(rest):
        line = [(*lane[:axis], i, *lane[axis + 1 :]) for i in range(count)]
        order = line[::-1] if backwards else line
        for place in order[:-1]:
            tasks[(sums, *place)] = (bound(_sum, axis, dtype, wide), (x.name, *place))
        if count > 1:
            parts = [(sums, *place) for place in order[:-1]]
            tasks[(before, *lane)] = (bound(_before, axis), parts)
        for i, place in enumerate(order):
            last = () if i == 0 else ((before, *lane), i - 1)
            step = bound(_cumulative, axis, dtype, wide, backwards)
            tasks[(name, *place)] = (step, (x.name, *place), *last)
    return from_tasks(name, tasks, x.blocks, dtype, [x])


def _sum(axis: int, dtype: DType, wide: DType, block: Tensor) -> Tensor:
    made: Tensor = registry.call(
        "reduce", converted(converted(block, dtype), wide), "SUM", axis, True
    )
    return made


def _before(axis: int, sums: list[Tensor]) -> Tensor:
    """Return the sums of the blocks up to each, side by side."""
    made: Tensor = registry.call("cumsum", registry.call("concat", sums, axis), axis)
    return made


def _cumulative(
    axis: int,
    dtype: DType,
    wide: DType,
    backwards: bool,
    block: Tensor,
    before: Tensor | None = None,
    at: int = 0,
) -> Tensor:
    """Return the sums of a block up to each element, with those of the blocks before it."""
    name = "cumsum_bwd" if backwards else "cumsum"
    x = converted(block, dtype)
    if before is None:
        first: Tensor = registry.call(name, x, axis)
        return first
    carried = before[(*(slice(None),) * axis, slice(at, at + 1))]
    if dtype.kind == "float":
        return _core.cumulative_sum_onto(x, axis, backwards, carried)
    made = registry.call(name, converted(x, wide), axis)
    return converted(made + carried, dtype)
