"""What is looked at, and copied, before a call is made."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from suanzi.validate.blame.lists import chosen
from suanzi.validate.blame.operators import Operator
from suanzi.validate.blame.sampling import Unjudged
from suanzi.validate.blame.tensors import quiet, tensors_of

_OUTLIER = 1000.0
"""An element so many times larger than the root of the mean square is an outlier."""


def sizes_of(tensors: Sequence[Any]) -> Any:
    """Return about how large tensors are, to a factor of two."""
    return tuple(tuple(n.bit_length() for n in map(int, x.shape)) for x in tensors)


def is_unusual(torch: Any, dispatch: Any, tensors: Sequence[Any]) -> bool:
    """Tell whether a tensor has NaN, infinities or outliers."""
    with quiet(dispatch):
        for x in tensors:
            if x.is_floating_point() and x.numel():
                most = float(x.detach().abs().max())
                mean = float(x.detach().float().square().mean().sqrt())
                if not math.isfinite(most) or most > _OUTLIER * max(mean, 1e-30):
                    return True
    return False


def copies(
    torch: Any, dispatch: Any, rng: np.random.Generator, room: int, operator: Operator,
    arguments: Mapping[str, Any],
) -> dict[str, Any]:  # fmt: skip
    """Return copies of what a call writes to, and of operands that share its memory.

    They have at most `room` bytes. Of lists some tensors are copied; the others are None.
    """
    if not operator.written:
        return {}
    written = [x for x in map(arguments.get, operator.written) if x is not None]
    memory = _memory(torch, written)

    def copied(x: Any) -> Any:
        nonlocal room
        room -= x.numel() * x.element_size()
        if room < 0:
            raise Unjudged("copies that need more memory than allowed")
        return x.detach().clone()

    found: dict[str, Any] = {}
    some: list[int] | None = None
    with quiet(dispatch):
        for name, x in arguments.items():
            if name in operator.out:
                continue
            if isinstance(x, torch.Tensor):
                if name in operator.written or x.untyped_storage().data_ptr() in memory:
                    found[name] = copied(x)
            elif isinstance(x, list | tuple) and (
                name in operator.written or memory & _memory(torch, x)
            ):
                some = chosen(rng, len(x)) if some is None else some
                found[name] = [
                    copied(y) if i in some and isinstance(y, torch.Tensor) else None
                    for i, y in enumerate(x)
                ]
    return found


def _memory(torch: Any, values: Any) -> set[int]:
    """Return where the tensors of some values are."""
    return {x.untyped_storage().data_ptr() for x in tensors_of(torch, values)}
