"""7.2.13.1: the arguments of `reduce`: its modes, their dtypes, and the axes.

Dense and sparse tensors share it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum, IntEnum
from typing import Any

from suanzi import _core
from suanzi.base.dtypes import DType, float32, iinfo, int64
from suanzi.base.dtypes import bool as bool_
from suanzi.base.hints import shown
from suanzi.base.shapes import MAX_NDIM, bounded
from suanzi.base.status import InvalidArgument, TypeMismatch
from suanzi.ops.calling.scalars import axis_argument, is_several
from suanzi.promote.registry import BOOL, COMPLEX, INTEGERS, REALS, Operator
from suanzi.tensors.tensor import Tensor


class ReduceMode(IntEnum):
    """How `reduce` combines elements; :class:`ReduceFunction` makes others.

    >>> ReduceMode(4)
    <ReduceMode.MEAN: 4>
    """

    SUM = 0
    """The sum; of bool, how many are True, as int64."""
    PROD = 1
    """The product; of bool as int64."""
    MAX = 2
    """The largest; NaN if there is one."""
    MIN = 3
    """The smallest; NaN if there is one."""
    MEAN = 4
    """The arithmetic mean; of integers and bool as float32."""
    LAND = 5
    """Whether all are true, that is not 0."""
    LOR = 6
    """Whether any is true."""
    LXOR = 7
    """Whether an odd number of them is true."""
    BAND = 8
    """The bits that all have."""
    BOR = 9
    """The bits that any has."""
    BXOR = 10
    """The bits that an odd number of them has."""


_core.declare_reduce_modes(list(ReduceMode))


@dataclass(frozen=True)
class ReduceFunction:
    """A mode of `reduce` of your own, made of a function that combines tensors.

    `combine` takes two tensors of one shape and dtype, and returns a third: what it makes of their
    elements, side by side. It must be associative, and need not be commutative: neighbours are
    combined with neighbours, the earlier ones on the left. `identity` is the result for no elements
    at all; without it there is none. `finish` is given the result and how many elements it is of.
    `backward` is given the gradient of the result, with its axes kept, the input and the axes, and
    returns the gradient of the input.

    >>> largest_magnitude = sz.ReduceFunction(lambda a, b: sz.max(sz.abs(a), sz.abs(b)))
    >>> sz.reduce(sz.tensor([[1, -5], [3, 2]]), largest_magnitude, axis=1)
    Tensor([5, 3], dtype=int64)
    """

    combine: Callable[[Tensor, Tensor], Tensor]
    identity: Any = None
    finish: Callable[[Tensor, int], Tensor] | None = None
    backward: Callable[[Tensor, Tensor, tuple[int, ...]], Tensor] | None = None
    name: str = "a function of your own"

    def __post_init__(self) -> None:
        for part in ("combine", "finish", "backward"):
            value = getattr(self, part)
            if not callable(value) and not (value is None and part != "combine"):
                raise InvalidArgument(
                    f"ReduceFunction: {part} is {shown(value)}; it must be a function."
                )
        if not isinstance(self.name, str):
            raise InvalidArgument(f"ReduceFunction: name is {shown(self.name)}; it must be a str.")


_NUMBERS = (*BOOL, *REALS, *COMPLEX)
_LOGICAL = (ReduceMode.LAND, ReduceMode.LOR, ReduceMode.LXOR)
_TAKES: dict[ReduceMode, tuple[DType, ...]] = {
    ReduceMode.SUM: _NUMBERS,
    ReduceMode.PROD: _NUMBERS,
    ReduceMode.MAX: (*BOOL, *REALS),
    ReduceMode.MIN: (*BOOL, *REALS),
    ReduceMode.MEAN: _NUMBERS,
    **dict.fromkeys(_LOGICAL, _NUMBERS),
    **dict.fromkeys((ReduceMode.BAND, ReduceMode.BOR, ReduceMode.BXOR), (*BOOL, *INTEGERS)),
}
_WITHOUT_IDENTITY = (ReduceMode.MAX, ReduceMode.MIN, ReduceMode.MEAN)


def is_logical(mode: ReduceMode) -> bool:
    """Return whether a mode looks at whether elements are true, and at nothing else."""
    return mode in _LOGICAL


def result_dtype(mode: ReduceMode, dt: DType) -> DType:
    """Return the dtype of what is left of elements of a dtype."""
    if mode in _LOGICAL:
        return bool_
    if mode in (ReduceMode.SUM, ReduceMode.PROD) and dt is bool_:
        return int64
    return float32 if mode is ReduceMode.MEAN and dt in (*BOOL, *INTEGERS) else dt


def identity_of(op: Operator, mode: ReduceMode, shape: tuple[int, ...], dt: DType) -> int:
    """Return what remains of no elements at all; the largest of none is none."""
    if mode in _WITHOUT_IDENTITY:
        raise InvalidArgument(
            f"{op.title}: input has shape {shape}, and {mode.name} of an empty input is undefined."
        )
    if mode is ReduceMode.BAND and dt is not bool_:
        return int(iinfo(dt).max) if dt.kind == "uint" else -1
    return int(mode in (ReduceMode.PROD, ReduceMode.LAND, ReduceMode.BAND))


_BY_NAME = dict(ReduceMode.__members__)


def mode_argument(op: Operator, mode: Any) -> ReduceMode | ReduceFunction:
    """Return a mode: one of the eleven, its name in either case, or a function of one's own."""
    if isinstance(mode, ReduceMode | ReduceFunction):
        return mode
    given = mode.name if isinstance(mode, Enum) else mode
    if isinstance(given, str) and (found := _BY_NAME.get(given.upper())) is not None:
        return found
    raise InvalidArgument(
        f"{op.title}: mode is {shown(mode)}; it is one of {', '.join(ReduceMode.__members__)}, or "
        "an sz.ReduceFunction."
    )


def check_mode(op: Operator, mode: ReduceMode, dt: DType) -> None:
    """Raise TypeMismatch unless a mode takes a dtype."""
    if dt in _TAKES[mode]:
        return
    if dt.kind == "complex" and mode in (ReduceMode.MAX, ReduceMode.MIN):
        way = "Complex numbers have no order; give their size, sz.abs(input), or a part of them."
    else:
        way = "Cast it first, for example with sz.cast(input, sz.int64)."
    raise TypeMismatch(f"{op.title}: input is {dt}, which has no {mode.name}. {way}")


def axes_argument(op: Operator, ndim: int, axis: Any) -> list[int]:
    """Return the axes in order, counted from the first; None and no axes at all are all."""
    given: list[Any] = []
    if type(axis) in (list, tuple):
        given = list(axis[: MAX_NDIM + 1])
    elif axis is not None and is_several(op, "axis", axis) and not isinstance(axis, str | bytes):
        given = list(bounded(axis, MAX_NDIM))
    elif axis is not None:
        given = [axis]
    axes = [axis_argument(op, "axis", one, ndim) for one in given]
    if len(set(axes)) < len(axes):
        raise InvalidArgument(f"{op.title}: axis is {shown(axis)}, which names an axis twice.")
    return sorted(axes) or list(range(ndim))


def reduced_shape(shape: tuple[int, ...], axes: Sequence[int], keep_dims: bool) -> tuple[int, ...]:
    """Return the shape of what is left of a shape.

    >>> reduced_shape((2, 3, 4), [1], False), reduced_shape((2, 3, 4), [1], True)
    ((2, 4), (2, 1, 4))
    """
    if keep_dims:
        return tuple(1 if a in axes else n for a, n in enumerate(shape))
    return tuple(n for a, n in enumerate(shape) if a not in axes)
