"""Blocks that became tensors of this machine, put together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from suanzi import _core
from suanzi.cluster.grid import Blocks, places, shape_of, starts
from suanzi.dtypes import DType
from suanzi.tensors.parts import copy
from suanzi.tensors.tensor import Tensor

if TYPE_CHECKING:
    from suanzi.cluster.quantization import Quantization


def gathered(
    nested: Any, blocks: Blocks, dtype: DType, quantization: Quantization | None = None
) -> Tensor:
    """Return one tensor of blocks that come in lists within lists, one for each axis."""
    if all(len(axis) == 1 for axis in blocks):  # a copy: a block may be kept, and must not change
        return copy(_at(nested, (0,) * max(len(blocks), 1)))
    made = _core.empty(shape_of(blocks), dtype)
    begin = [starts(axis) for axis in blocks]
    for place in places(blocks):
        block = _at(nested, place)
        where = tuple(
            slice(at[i], at[i] + n) for at, i, n in zip(begin, place, block.shape, strict=True)
        )
        _core.copy_into(made[where], block)
    return made if quantization is None else quantization.put_on(made)


def _at(nested: Any, place: tuple[int, ...]) -> Tensor:
    for i in place:
        nested = nested[i]
    found: Tensor = nested
    return found
