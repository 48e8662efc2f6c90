"""7.2.9: rounding to whole numbers, which stay floating-point."""

from __future__ import annotations

from dataclasses import replace
from enum import Enum

from suanzi.base.hints import shown
from suanzi.base.status import InvalidArgument, StatusError
from suanzi.ops.calling.declare import operator
from suanzi.ops.calling.elementwise import elementwise
from suanzi.promote.registry import FLOATS, REAL_FUNCTION, REGISTRY
from suanzi.tensors.tensor import Tensor, TensorLike


@operator("7.2.9.1", dtypes=FLOATS, kernel="floor", ulp=0.5, promotes=REAL_FUNCTION)
def floor(x: TensorLike) -> Tensor:
    """Return the largest whole number not above x.

    >>> sz.floor(sz.tensor([3.2, 2, 2.8]))
    Tensor([3, 2, 2], dtype=float32)
    """


@operator("7.2.9.2", dtypes=FLOATS, kernel="ceil", ulp=0.5, promotes=REAL_FUNCTION)
def ceil(x: TensorLike) -> Tensor:
    """Return the smallest whole number not below x.

    >>> sz.ceil(sz.tensor([3.2, 2, 2.8]))
    Tensor([4, 2, 3], dtype=float32)
    """


@operator("7.2.9.3", dtypes=FLOATS, kernel="trunc", ulp=0.5, promotes=REAL_FUNCTION)
def trunc(x: TensorLike) -> Tensor:
    """Return x without its fraction.

    >>> sz.trunc(sz.tensor([-2.1, -1.9, 1.9]))
    Tensor([-2, -1,  1], dtype=float32)
    """


@operator("7.2.9.4", dtypes=FLOATS, kernel="round", ulp=0.5, promotes=REAL_FUNCTION)
def round(x: TensorLike) -> Tensor:
    """Return the nearest whole number, ties to even.

    >>> sz.round(sz.tensor([3.2, 2.5, 3.5]))
    Tensor([3, 2, 4], dtype=float32)
    """


class RoundMode(Enum):
    """The ways `rint` rounds."""

    DOWNWARD = "floor"
    UPWARD = "ceil"
    TOWARDZERO = "trunc"
    TONEAREST = "round"


_MODES = {
    RoundMode.DOWNWARD: floor,
    RoundMode.UPWARD: ceil,
    RoundMode.TOWARDZERO: trunc,
    RoundMode.TONEAREST: round,
}


@operator("7.2.9.5", dtypes=FLOATS, ulp=0.5, promotes=REAL_FUNCTION)
def rint(x: TensorLike, mode: RoundMode | str) -> Tensor:
    """Return x rounded to a whole number in one of four modes.

    `mode` is a :class:`RoundMode` or its name: DOWNWARD, UPWARD, TOWARDZERO or TONEAREST.

    >>> sz.rint(sz.tensor([0.5, -1.5, 2.8]), "TONEAREST")
    Tensor([ 0, -2,  3], dtype=float32)
    """
    chosen = RoundMode.__members__.get(mode.upper()) if isinstance(mode, str) else mode
    if not isinstance(chosen, RoundMode):
        raise InvalidArgument(
            f"rint (7.2.9.5): mode is {shown(mode)}; it is one of "
            f"{', '.join(RoundMode.__members__)}."
        )
    try:
        return _MODES[chosen](x)
    except StatusError:  # say it again in the name of rint
        return elementwise(replace(REGISTRY["rint"], kernel=chosen.value), {"x": x})
