"""7.2.5.7 on blocks: whether two tensors are close, which all blocks must agree on."""

from __future__ import annotations

from typing import Any

from suanzi import registry
from suanzi.cluster import grid
from suanzi.cluster.combining import made_of_blocks
from suanzi.cluster.elementwise import held
from suanzi.cluster.reblocking import reblocked
from suanzi.cluster.stand_ins import large_like, result_of, small_like
from suanzi.cluster.subscripts import subscript
from suanzi.cluster.tensor import BlockTensor
from suanzi.cluster.ways import way
from suanzi.dtypes import bool as bool_
from suanzi.registry import Operator
from suanzi.shapes import broadcast_shapes
from suanzi.tensors.tensor import Tensor


@way("allclose")
def allclose(op: Operator, **arguments: Any) -> BlockTensor:
    """Tell whether two tensors are close everywhere."""
    call, operands = held(op.name, **arguments)
    shape = broadcast_shapes([x.shape for x in operands])
    result_of(call, [(large_like if shape is None else small_like)(x) for x in operands])
    assert shape is not None
    full = [x if x.shape == shape else registry.call("expand", x, shape) for x in operands]
    cuts = grid.common([x.blocks for x in full])
    first, *others = [reblocked(x, cuts) for x in full]
    axes = list(range(len(shape)))
    made = made_of_blocks(op.name, first, axes, call, _all, lambda _: _number, bool_, False, others)
    return subscript(made, None)  # one element along one axis, as the operator has it


def _all(parts: list[Tensor]) -> Tensor:
    made: Tensor = registry.call("reduce", registry.call("stack", parts, 0), "LAND", 0)
    return made


def _number(made: Tensor) -> Tensor:
    return made.reshape(())
