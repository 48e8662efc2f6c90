"""7.2.17.11: norms of vectors and matrices.

Loops of the core add up magnitudes and squares, narrow ones in a wider dtype, in the order of
`reduce`; squares of float64 that overflow or vanish are added up again, scaled.
"""

from __future__ import annotations

import math
import re
from typing import Any

from suanzi import _core
from suanzi.base.dtypes import complex128, float64, part
from suanzi.base.hints import shown
from suanzi.base.numpy import np
from suanzi.base.status import InvalidArgument, UninitializedObject
from suanzi.ops.arithmetic import abs, div
from suanzi.ops.calling.arguments import real_argument
from suanzi.ops.calling.declare import operator
from suanzi.ops.calling.scalars import axes_argument, check_alive, flag_argument
from suanzi.ops.libraries.lapack import promoted_dtype
from suanzi.ops.power import pow
from suanzi.ops.reduction_exact import MAGNITUDES as MAGNITUDES_OF_ROWS
from suanzi.ops.reduction_exact import ROOT_OF_SQUARES, Accumulate, exact_reduction, is_exact
from suanzi.ops.reduction_modes import ReduceMode, reduced_shape
from suanzi.promote.registry import COMPLEX, FLOATS, REAL_FUNCTION, REGISTRY, Operator
from suanzi.tensors.exchange import from_numpy, to_numpy
from suanzi.tensors.make import tensor
from suanzi.tensors.parts import converted
from suanzi.tensors.tensor import Tensor, TensorLike

MAGNITUDES, LARGEST, SQUARES = range(3)
"""What the loops make of the elements: sums of the first and third, which then has its root."""
_PARTS: dict[str | float, int] = {1.0: MAGNITUDES, 2.0: SQUARES, "fro": SQUARES, math.inf: LARGEST}
_DECIMAL = re.compile(r"\d+(\.\d*)?([eE][+-]?\d+)?|\.\d+([eE][+-]?\d+)?", re.ASCII)


@operator("7.2.17.11", dtypes=(*FLOATS, *COMPLEX), fast=True, promotes=REAL_FUNCTION)
def norm(
    input: TensorLike,
    normtype: str | float = "inf",
    axis: Any = (),
    keep_dims: bool = False,
    *,
    accumulate: Accumulate = "default",
) -> Tensor:
    """Return norms of vectors along one axis, of matrices along two, or of all elements.

    `normtype` is "inf", the largest magnitude, "1", "2" or another positive number p as text, for
    the p-th root of the sum of p-th powers; Python's numbers are taken, too. Of matrices it is
    "fro", the root of the sum of squares, "1", the largest sum down the first of the two axes, or
    "inf", the largest along the second. NaN gives NaN, and of nothing the norm is 0. With
    ``accumulate="exact"``, sums of magnitudes and squares of floats are exact and rounded once.

    >>> x = sz.tensor([[3.0, -4], [0, 12]])
    >>> sz.norm(x, "2"), sz.norm(x, "1", axis=0), sz.norm(x, "inf", axis=(0, 1), keep_dims=True)
    (Tensor(13, dtype=float32), Tensor([ 3, 16], dtype=float32), Tensor([[12]], dtype=float32))
    """
    op = REGISTRY["norm"]
    x = real_argument(op, "input", input)
    dt = promoted_dtype(op, {"input": x})
    p = _order(op, normtype)
    axes = _axes(op, axis, x.ndim)
    if len(axes) == 2 and p not in ("fro", 1.0, math.inf):
        raise InvalidArgument(
            f'{op.title}: normtype is {shown(normtype)}, and matrices have "fro", "1" and "inf".'
        )
    if len(axes) != 2 and p == "fro":
        raise InvalidArgument(
            f'{op.title}: normtype is "fro", which takes two axes; axis has {len(axes)}. '
            'Of vectors, it is "2".'
        )
    keep = flag_argument(op, "keep_dims", keep_dims, numpys=True)
    exact = is_exact(op, accumulate, dt)
    if exact and p not in ("fro", 1.0, 2.0, math.inf):
        raise InvalidArgument(
            f'{op.title}: accumulate is "exact", which "1", "2", "fro" and "inf" have; normtype is '
            f"{shown(normtype)}. Leave it out."
        )
    inner = axes or tuple(range(x.ndim))
    if not x.size:
        return _core.full(reduced_shape(x.shape, inner, keep), part(dt), 0)
    x = converted(x, dt)
    if exact and (p != math.inf or len(axes) == 2):
        return _exactly(x, p, axes, inner, keep)
    if len(axes) == 2 and p != "fro":
        sums = _core.norm(x, MAGNITUDES, axes[:1] if p == 1.0 else axes[1:], True)
        return _core.norm(sums, LARGEST, axes, keep)  # as right as if rounded afterwards
    if p in _PARTS:
        return _core.norm(x, _PARTS[p], inner, keep)
    assert isinstance(p, float)
    return powers(x, p, inner, keep)


def _exactly(
    x: Tensor, p: str | float, axes: tuple[int, ...], inner: tuple[int, ...], keep: bool
) -> Tensor:
    if len(axes) == 2 and p != "fro":
        along = axes[:1] if p == 1.0 else axes[1:]
        shape = reduced_shape(x.shape, along, True)
        return _core.norm(
            exact_reduction(x, MAGNITUDES_OF_ROWS, list(along), shape), LARGEST, axes, keep
        )
    kind = MAGNITUDES_OF_ROWS if p == 1.0 else ROOT_OF_SQUARES
    return exact_reduction(x, kind, list(inner), reduced_shape(x.shape, inner, keep))


def powers(x: Tensor, p: float, inner: tuple[int, ...], keep: bool) -> Tensor:
    """Return p-norms by the definition, relative to the largest magnitudes."""
    narrow, wide = part(x.dtype), complex128 if x.dtype.kind == "complex" else float64
    sizes = abs(converted(x, wide))
    largest = to_numpy(_core.norm(sizes, LARGEST, inner, True))
    # 0 and infinity are their own norm, and NaN is, too.
    plain = (largest > 0) & (largest < math.inf)
    scale = from_numpy(np.where(plain, largest, 1.0))
    sums = _core.reduce(
        pow(div(sizes, scale), tensor(p, float64)), int(ReduceMode.SUM), inner, True
    )
    with np.errstate(all="ignore"):
        found = np.where(plain, largest * to_numpy(pow(sums, tensor(1 / p, float64))), largest)
    shape = [n for a, n in enumerate(found.shape) if keep or a not in inner]
    return converted(from_numpy(found.reshape(shape)), narrow)


def _order(op: Operator, normtype: Any) -> str | float:
    """Return the p of a norm, or "fro"."""
    check_alive(op, "normtype", normtype)
    if normtype is None:
        raise UninitializedObject(f'{op.title}: normtype is None; it takes "inf", "1", "2", ....')
    if isinstance(normtype, str):
        if normtype == "fro":
            return normtype
        if normtype == "inf" or _DECIMAL.fullmatch(normtype):
            found = float(normtype)
            if found > 0 and (found < math.inf or normtype == "inf"):
                return found
    elif not isinstance(normtype, bool) and getattr(normtype, "ndim", 0) == 0:
        try:
            number = float(normtype) if hasattr(normtype, "__float__") else math.nan
        except (TypeError, ValueError, OverflowError):
            number = math.nan
        if number > 0 and str(getattr(normtype, "dtype", "")) != "bool":
            return number
    raise InvalidArgument(
        f'{op.title}: normtype is {shown(normtype)}; it must be "inf", "fro" or a positive number '
        'such as "1", "2" or "2.5".'
    )


def _axes(op: Operator, axis: Any, ndim: int) -> tuple[int, ...]:
    found = () if axis is None else axes_argument(op, "axis", axis, ndim, InvalidArgument)
    if len(found) > 2:
        raise InvalidArgument(
            f"{op.title}: axis has {len(found)} axes; give one axis for vectors, two for "
            "matrices, or none for all elements."
        )
    return found
