"""Partial results of reductions: what blocks become before they are combined and rounded once.

They are the core's own, as wide as it accumulates in, so that a sum of blocks goes through the
same steps as that of one tensor; only the order of additions follows the blocks. A partial result
is the bytes of some numbers; the last axis counts them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from suanzi import _core
from suanzi.dtypes import DType, uint8
from suanzi.tensors.parts import copy
from suanzi.tensors.tensor import Tensor


@dataclass(frozen=True)
class Kind:
    """What is made of elements: a mode of `reduce`, or with `norm` a part of norms."""

    mode: int
    dtype: DType
    """That of the elements."""
    result: DType
    norm: bool = False

    @property
    def size(self) -> int:
        """The bytes of a partial result."""
        return _core.partial_size(self.mode, self.norm, self.dtype)


def partial(kind: Kind, axes: Sequence[int], x: Tensor) -> Tensor:
    """Return the partial results of a block along axes, which stay, with size 1."""
    left = [axis for axis, n in enumerate(x.shape) if axis not in axes and n > 1]
    # The core writes them in the order in which the axes of the block lie in memory.
    order = sorted(left, key=lambda axis: -abs(x.strides[axis]))
    made = _core.empty((*(x.shape[axis] for axis in order), kind.size), uint8)
    _core.reduce_partly(x, kind.mode, kind.norm, list(axes), made)
    if order != left:
        perm = [left.index(axis) for axis in order]
        made = _core.row_major_copy(_core.try_view("transpose", made, [*perm, len(perm)]))
    kept = [1 if axis in axes else n for axis, n in enumerate(x.shape)]
    return made.reshape(*kept, kind.size)


def combined(kind: Kind, parts: Sequence[Tensor]) -> Tensor:
    """Return partial results of one shape combined; neighbours first, then those pairs."""
    left = list(parts)
    if len(left) == 1:
        return left[0]
    count = math.prod(left[0].shape[:-1])
    mine = [False] * len(left)  # a block that others may need must not change
    while len(left) > 1:
        pairs = range(0, len(left) - 1, 2)
        for i in pairs:
            left[i] = left[i] if mine[i] else copy(left[i])
            _core.combine_partly(left[i], left[i + 1], kind.mode, kind.norm, kind.dtype, count)
        mine = [True for _ in pairs] + mine[len(left) - len(left) % 2 :]
        left = left[::2]
    return left[0]


def finished(kind: Kind, shape: Sequence[int], count: int, parts: Tensor) -> Tensor:
    """Return the results of `count` elements each, rounded once, in a shape."""
    made = _core.empty(tuple(shape), kind.result)
    _core.finish_partly(parts, kind.mode, kind.norm, kind.dtype, count, made)
    return made
