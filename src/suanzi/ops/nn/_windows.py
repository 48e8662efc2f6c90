"""The arguments of what moves a window over the last axes: a number for each, or one for all."""

from __future__ import annotations

from typing import Any

from suanzi.base.hints import shown
from suanzi.base.shapes import bounded
from suanzi.base.status import DimensionsMismatch, InvalidArgument
from suanzi.ops.calling.scalars import integer_argument, is_several
from suanzi.promote.registry import Operator
from suanzi.tensors.tensor import Tensor

_MOST = 2**31 - 1
AXES = ("depth", "height", "width")


def per_axis(op: Operator, name: str, given: Any, count: int, least: int) -> tuple[int, ...]:
    """Return an integer for each axis: one for all, or a sequence of as many as there are axes."""
    if type(given) is int and least <= given <= _MOST:
        return (given,) * count
    several = not isinstance(given, str | bytes) and is_several(op, name, given)
    values = tuple(bounded(given, count)) if several else (given,) * count
    if len(values) == 1:
        values *= count
    if len(values) != count:
        raise InvalidArgument(
            f"{op.title}: {name} is {shown(given)}; it must be one integer, or {count}: one for "
            "each axis that the window moves along."
        )
    numbers = tuple(integer_argument(op, name, n, least) for n in values)
    if any(n > _MOST for n in numbers):
        raise InvalidArgument(f"{op.title}: {name} is {shown(given)}; it must be below 2**31.")
    return numbers


def with_batch(op: Operator, name: str, x: Tensor, axes: int) -> tuple[Tensor, bool]:
    """Return a tensor of (batch, channels, axes), and whether it had the batch axis."""
    if x.ndim not in (axes + 1, axes + 2):
        last = ", ".join(AXES[3 - axes :])
        raise DimensionsMismatch(
            f"{op.title}: {name} has shape {x.shape}; it must have {axes + 2} axes (batch, "
            f"channels, {last}), or {axes + 1} without the batch. Add axes with sz.expand_dims."
        )
    has_batch = x.ndim == axes + 2
    return (x if has_batch else x.reshape(1, *x.shape)), has_batch
