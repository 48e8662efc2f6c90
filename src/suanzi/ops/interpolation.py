"""7.2.18: interpolate, which samples a tensor at other sizes of its last axes.

The first two axes are the batch and the channels, the one to three after them are sampled. Which
elements count, and how much, is decided in whole numbers and from the sizes alone, so that `size`
and a `scale_factor` that leads to it give the same bits.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from suanzi import _core
from suanzi.base.hints import nearest, shown
from suanzi.base.shapes import bounded
from suanzi.base.status import DimensionsMismatch, InvalidArgument
from suanzi.ops.calling.arguments import real_argument
from suanzi.ops.calling.declare import operator
from suanzi.ops.calling.elementwise import promoted_dtype
from suanzi.ops.calling.scalars import check_alive, integer_argument, is_several
from suanzi.promote.registry import FLOATS, REAL_FUNCTION, REGISTRY, Operator
from suanzi.tensors.tensor import Tensor, TensorLike

_LINEAR = {3: "linear", 4: "bilinear", 5: "trilinear"}
_MODES = ("nearest", *_LINEAR.values(), "area")


@operator("7.2.18", dtypes=FLOATS, fast=True, promotes=REAL_FUNCTION)
def interpolate(
    input: TensorLike,
    size: int | Sequence[int] | None = None,
    scale_factor: float | Sequence[float] | None = None,
    mode: str = "nearest",
) -> Tensor:
    """Return the input resampled to other sizes of its axes, from the third on.

    `size` has a size for each of them, or one for all; without it, `scale_factor` has what they are
    multiplied with, the result cut to a whole number. Where `in` elements become `out`, element i
    is

    - nearest: element i * in / out, cut to a whole number;
    - linear (rank 3), bilinear (rank 4), trilinear (rank 5): between the elements around
      (i + 1/2) * in / out - 1/2, or the first or the last one where that is outside;
    - area: the mean of those from i * in / out, rounded down, up to (i + 1) * in / out, rounded up.

    >>> x = sz.tensor([[[1.0, 2, 3, 4]]])
    >>> sz.interpolate(x, 2)
    Tensor([[[1, 3]]], dtype=float32)
    >>> sz.interpolate(x, scale_factor=2, mode="linear")
    Tensor([[[   1, 1.25, 1.75, 2.25, 2.75, 3.25, 3.75,    4]]], dtype=float32)
    >>> sz.interpolate(x, 3, mode="area")
    Tensor([[[1.5, 2.5, 3.5]]], dtype=float32)
    """
    op = REGISTRY["interpolate"]
    x = real_argument(op, "input", input)
    promoted = promoted_dtype(op, {"input": x})
    _check_mode(op, mode, x.ndim)
    sizes = _sizes(op, size, scale_factor, x.shape[2:])
    if 0 in x.shape[2:]:
        raise InvalidArgument(
            f"{op.title}: input has shape {x.shape}; a resized axis must have at least one element."
        )
    if x.dtype is not promoted:
        x = _core.cast(x, promoted, False)
    if x.strides[-1] != 1 and x.shape[-1] > 1:
        x = _core.row_major_copy(x)  # the loops read rows
    kind = {"nearest": 0, "area": 2}.get(mode, 1)
    return _core.interpolate(x, sizes, kind)


def _check_mode(op: Operator, mode: Any, ndim: int) -> None:
    check_alive(op, "mode", mode)
    if not isinstance(mode, str) or mode not in _MODES:
        hint = nearest(mode, _MODES) if isinstance(mode, str) else ""
        raise InvalidArgument(
            f"{op.title}: mode is {shown(mode)}; it must be one of {', '.join(_MODES)}.{hint}"
        )
    if not 3 <= ndim <= 5:
        raise DimensionsMismatch(
            f"{op.title}: input has rank {ndim}; it must be 3, 4 or 5: batch, channels, and the "
            "axes to resize. Add axes with sz.expand_dims."
        )
    if mode in _LINEAR.values() and mode != _LINEAR[ndim]:
        raise DimensionsMismatch(
            f"{op.title}: mode is '{mode}' and input has rank {ndim}, for which it is "
            f"'{_LINEAR[ndim]}'. Change one of them."
        )


def _sizes(op: Operator, size: Any, factor: Any, dims: tuple[int, ...]) -> tuple[int, ...]:
    """Return the sizes of the result, which `size` says, or else `scale_factor`."""
    given, said = _each(op, "size", size, len(dims)), f"size is {shown(size)}"
    if given is not None:
        sizes = tuple(integer_argument(op, "size", n) for n in given)
    else:
        said = f"scale_factor is {shown(factor)}"
        given = _each(op, "scale_factor", factor, len(dims))
        if given is None:
            raise InvalidArgument(
                f"{op.title}: neither size nor scale_factor is given; give one of them."
            )
        sizes = tuple(_scaled(op, n, f) for n, f in zip(dims, given, strict=True))
    if any(not 1 <= n < 2**63 for n in sizes):
        raise InvalidArgument(
            f"{op.title}: {said}, which gives sizes of {shown(sizes)}; each must be at least 1 "
            "and less than 2**63."
        )
    return sizes


def _each(op: Operator, name: str, given: Any, count: int) -> tuple[Any, ...] | None:
    """Return a value for each axis; None if there are none."""
    if given is None:
        return None
    if isinstance(given, str | bytes) or not is_several(op, name, given):
        return (given,) * count
    found = tuple(bounded(given, count))
    if not found:
        return None
    if len(found) != count:
        length = "more" if len(found) > count else str(len(found))
        raise DimensionsMismatch(
            f"{op.title}: {name} has {length} numbers, and input has {count} axes to resize; give "
            "one for each, or one number for all."
        )
    return found


def _scaled(op: Operator, n: int, factor: Any) -> int:
    """Return the largest size whose ratio to n is, as a float, not above the factor.

    That is n * factor, cut to a whole number, for a factor that was rounded when it was written or
    computed: 100 * 0.29 is 29, although the float 0.29 is a little below.
    """
    check_alive(op, "scale_factor", factor)
    try:
        if isinstance(factor, str | bytes | bool) or str(getattr(factor, "dtype", "")) == "bool":
            raise TypeError
        number = float(factor)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not 0 < number < math.inf:
        raise InvalidArgument(
            f"{op.title}: scale_factor is {shown(factor)}; it must be a finite number above 0."
        )
    numerator, denominator = number.as_integer_ratio()
    size = n * numerator // denominator
    if size < 2**63 and n > 0 and (size + 1) / n <= number:
        size += 1
    return size
