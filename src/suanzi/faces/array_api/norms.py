"""What linear algebra shares: norms, singular values, and the standard's operators as fallback.

Narrow floats are added up in wider ones and rounded once.
"""

from __future__ import annotations

import math
from typing import Any

from suanzi import _core
from suanzi.base.dtypes import DType, complex128, float16, float64, part, widened
from suanzi.base.hints import shown
from suanzi.base.shapes import broadcast_shapes
from suanzi.base.status import (
    AllocFailed,
    DimensionsMismatch,
    InvalidArgument,
    StatusError,
    TypeMismatch,
)
from suanzi.faces.array_api.along import computed
from suanzi.faces.array_api.arguments import Axes, axes_of, double
from suanzi.faces.array_api.declare import RULES
from suanzi.faces.array_api.statistical_functions import max as largest
from suanzi.faces.array_api.statistical_functions import min as least
from suanzi.faces.array_api.statistical_functions import sum as total
from suanzi.ops.calling.scalars import flag_argument
from suanzi.ops.libraries.lapack import answered
from suanzi.ops.linear_algebra_norm import LARGEST, MAGNITUDES, SQUARES, powers
from suanzi.ops.reduction_modes import ReduceMode, reduced_shape
from suanzi.promote.context import promotion
from suanzi.promote.registry import REGISTRY
from suanzi.tensors.parts import converted
from suanzi.tensors.tensor import Tensor

_SUM, _MAX, _MIN = int(ReduceMode.SUM), int(ReduceMode.MAX), int(ReduceMode.MIN)


def vector_norms(function: str, x: Tensor, axis: Axes, keepdims: bool, ord: Any) -> Tensor:
    """Return norms of floating-point vectors along axes, or of all elements."""
    if isinstance(ord, bool) or not isinstance(ord, int | float) or ord != ord:
        raise TypeMismatch(f"{function}: ord is {shown(ord)}; it must be a real number.")
    ord = double(function, "ord", ord)
    axes, keep, dt = (
        axes_of(function, axis, x.ndim),
        flag_argument(function, "keepdims", keepdims),
        part(x.dtype),
    )
    if not axes:
        sizes = computed("abs", x)
        return converted(computed("not_equal", sizes, 0), dt) if ord == 0 else sizes
    if not x.size:
        return _core.full(reduced_shape(x.shape, axes, keep), dt, 0 if ord >= 0 else math.inf)
    parts = {1: MAGNITUDES, 2: SQUARES, math.inf: LARGEST}
    if ord in parts:
        return _core.norm(x, parts[ord], axes, keep)
    if ord == 0:
        nonzero = computed("not_equal", x, 0)
        return converted(total(nonzero, axis=axes, keepdims=keep), dt)
    if ord == -math.inf:
        return least(computed("abs", x), axis=axes, keepdims=keep)
    wide = complex128 if x.dtype.kind == "complex" else float64
    sizes = computed("abs", converted(x, wide))
    sums = _core.reduce(computed("pow", sizes, ord), _SUM, axes, keep)
    if ord > 0 and not _in_range(sums):
        return powers(x, ord, axes, keep)
    return converted(computed("pow", sums, 1 / ord), dt)


def _in_range(sums: Tensor) -> bool:
    """Return whether sums of powers are far from where float64 ends."""
    low, high = (_core.reduce(sums, mode, tuple(range(sums.ndim)), False) for mode in (_MIN, _MAX))
    return float(low) > 2.0**-900 and float(high) < math.inf


def matrix_norms(function: str, x: Tensor, keepdims: bool, ord: Any) -> Tensor:
    """Return norms of the floating-point matrices in the last two axes."""
    rows, columns = x.ndim - 2, x.ndim - 1
    both, keep, dt = (rows, columns), flag_argument(function, "keepdims", keepdims), part(x.dtype)
    known = ("fro", "nuc", 1, -1, 2, -2, math.inf, -math.inf)
    if isinstance(ord, bool) or not isinstance(ord, str | int | float) or ord not in known:
        raise InvalidArgument(
            f'{function}: ord is {shown(ord)}; it must be "fro", "nuc", 1, -1, 2, -2, inf or -inf.'
        )
    if not x.size:
        return _core.full(reduced_shape(x.shape, both, keep), dt, 0)
    if ord == "fro":
        return _core.norm(x, SQUARES, both, keep)
    if ord in (1, -1, math.inf, -math.inf):
        sums = _core.norm(x, MAGNITUDES, (rows,) if ord in (1, -1) else (columns,), True)
        return (largest if ord > 0 else least)(sums, axis=both, keepdims=keep)
    values = singular_values(function, converted(x, widened(x.dtype)))
    best = total if ord == "nuc" else largest if ord == 2 else least
    made = converted(best(values, axis=-1), dt)
    return made.reshape((*made.shape, 1, 1)) if keep else made


def singular_values(function: str, x: Tensor) -> Tensor:
    """Return the singular values of matrices that have elements, falling."""
    return answered(function, _core.singular_values, x, names=("x", ""))


def tolerance(function: str, dt: DType, rtol: Any, shape: tuple[int, ...]) -> Any:
    """Return the relative tolerance for small singular values, a number or a tensor."""
    if rtol is None:
        # Times a size, the epsilon of float8 is 1 or so, and would leave no singular value.
        bits = part(dt).mantissa_bits if dt.bits > 8 else float16.mantissa_bits
        return max(shape[-2:]) * 2.0**-bits
    if isinstance(rtol, Tensor):
        if rtol.dtype.kind not in ("float", "int", "uint"):
            raise TypeMismatch(f"{function}: rtol is of {rtol.dtype}; it must be real numbers.")
        if broadcast_shapes([rtol.shape, shape[:-2]]) is None:
            raise DimensionsMismatch(
                f"{function}: rtol has shape {rtol.shape}, and there are matrices {shape[:-2]}; "
                "the shapes must go together."
            )
        return converted(rtol, part(widened(dt)))
    if isinstance(rtol, bool) or not isinstance(rtol, int | float):
        raise TypeMismatch(f"{function}: rtol is {shown(rtol)}; it must be a number or a Tensor.")
    return double(function, "rtol", rtol)


def by_operator(function: str, name: str, *args: Any) -> Any:
    """Call the standard's operator, for matrices without elements; errors are ours."""
    try:
        with promotion(RULES):
            return REGISTRY[name].function(*args)
    except StatusError as error:
        title, _, words = str(error).partition(": ")
        words = words or title  # of the core, which knows no operator
        words = words.replace("mat", "x1" if function == "solve" else "x", 1).replace("rhs", "x2")
        raise type(error)(f"{function}: {words}") from None
    except MemoryError as error:  # NumPy's
        problem = str(error).rstrip(".") or "the system has no more"
        raise AllocFailed(f"{function}: not enough memory: {problem}.") from None
