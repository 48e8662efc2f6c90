"""7.2.17.11: norms of vectors and matrices.

What is narrower than float64 is computed in it, so that no square overflows; float64 is scaled
where one does. A large tensor is taken in pieces, so that the wide copies stay in the cache: the
norm of the norms of its pieces is its norm.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any

from suanzi import _core
from suanzi._hints import shown
from suanzi.dtypes import complex128, float32, float64, part
from suanzi.interchange import from_numpy, to_numpy
from suanzi.lapack import converted, flag_argument, promoted_dtype
from suanzi.registry import COMPLEX, FLOATS, REGISTRY, Operator, operator
from suanzi.resolve import axes_argument, check_alive, integer_argument, real_argument
from suanzi.status import InvalidArgument, UninitializedObject
from suanzi.tensor import Tensor, TensorLike

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, Any]

_PIECE = 1 << 18
"""How many elements are made wide at a time."""
_DECIMAL = re.compile(r"\d+(\.\d*)?([eE][+-]?\d+)?|\.\d+([eE][+-]?\d+)?", re.ASCII)
_SAFE = 1e-280, 1e290
"""Sums of squares in between lost nothing to overflow or to underflow."""


@operator("7.2.17.11", dtypes=(*FLOATS, *COMPLEX))
def norm(
    input: TensorLike,
    normtype: str | float = "inf",
    axis: Any = (),
    axis_len: int | None = None,
    keep_dims: bool = False,
) -> Tensor:
    """Return the norms of vectors along one axis, of matrices along two, or that of all elements.

    `normtype` is "inf", the largest magnitude, "1", "2" or another positive number p as text, for
    the p-th root of the sum of p-th powers; Python's numbers are taken, too. Of matrices it is
    "fro", the root of the sum of squares, "1", the largest sum down the first of the two axes, or
    "inf", the largest along the second. NaN gives NaN, and of nothing the norm is 0.

    >>> import suanzi as sz
    >>> x = sz.tensor([[3.0, -4], [0, 12]])
    >>> sz.norm(x, "2"), sz.norm(x, "1", axis=0), sz.norm(x, "inf", axis=(0, 1), keep_dims=True)
    (Tensor(13, dtype=float32), Tensor([ 3, 16], dtype=float32), Tensor([[12]], dtype=float32))
    """
    import numpy as np

    op = REGISTRY["norm"]
    x = real_argument(op, "input", input)
    dt = promoted_dtype(op, {"input": x})
    p = _order(op, normtype)
    axes = _axes(op, axis, axis_len, x.ndim)
    if len(axes) == 2 and p not in ("fro", 1.0, math.inf):
        raise InvalidArgument(
            f'{op.title}: normtype is {shown(normtype)}, and matrices have "fro", "1" and "inf".'
        )
    if len(axes) != 2 and p == "fro":
        raise InvalidArgument(
            f'{op.title}: normtype is "fro", which takes two axes; axis has {len(axes)}. '
            'Of vectors, it is "2".'
        )
    keep = flag_argument(op, "keep_dims", keep_dims)
    x = converted(x, dt)
    inner = axes or tuple(range(x.ndim))
    outer = [a for a in range(x.ndim) if a not in inner]
    order = [*outer, *inner]
    rows = _core.view(x, x.offset, [x.shape[a] for a in order], [x.strides[a] for a in order])
    found = _norms(rows, len(outer), p, len(axes) == 2)
    shape = [1 if a in inner else n for a, n in enumerate(x.shape)] if keep else found.shape
    made: Tensor = _core.empty(shape, part(dt))
    _core.copy_into(made, from_numpy(np.ascontiguousarray(found).reshape(shape)))
    return made


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


def _axes(op: Operator, axis: Any, axis_len: Any, ndim: int) -> tuple[int, ...]:
    found = () if axis is None else axes_argument(op, "axis", axis, ndim, InvalidArgument)
    if len(found) > 2:
        raise InvalidArgument(
            f"{op.title}: axis has {len(found)} axes; a vector has one and a matrix two, and none "
            "is all elements."
        )
    if axis_len is not None and integer_argument(op, "axis_len", axis_len) != len(found):
        raise InvalidArgument(
            f"{op.title}: axis_len is {shown(axis_len)}, and axis has {len(found)} axes; leave it "
            "out, or give both alike."
        )
    return found


def _norms(x: Tensor, outer: int, p: str | float, matrices: bool) -> Array:
    """Return the norms over the axes behind the first `outer` ones, as float64."""
    if matrices and p != "fro":
        # Sums of columns, or of rows, and of those the largest.
        if p == 1.0:
            swapped = [*range(outer), outer + 1, outer]
            x = _core.view(
                x, x.offset, [x.shape[a] for a in swapped], [x.strides[a] for a in swapped]
            )
        return _largest(_norms(x, outer + 1, 1.0, False))
    power = 2.0 if p == "fro" else float(p)
    return _in_pieces(x, outer, power)


def _largest(sums: Array) -> Array:
    import numpy as np

    return np.asarray(sums.max(axis=-1, initial=0.0))


def _in_pieces(x: Tensor, outer: int, p: float) -> Array:
    """Return vector norms, of pieces first where there are too many elements for one."""
    import numpy as np

    if p == math.inf and x.dtype in (float32, float64):  # which needs nothing wide
        values = to_numpy(x)
        inner = tuple(range(outer, x.ndim))
        with np.errstate(all="ignore"):
            highest, lowest = values.max(inner, initial=0), values.min(inner, initial=0)
            return np.asarray(np.maximum(highest, -lowest), np.float64)
    if x.size <= _PIECE or x.ndim == 0:
        wide = complex128 if x.dtype.kind == "complex" else float64
        own = x.dtype is wide
        values = to_numpy(x if own else _core.cast(x, wide, False))
        rows = values.reshape(*x.shape[:outer], math.prod(x.shape[outer:]))
        return _vector_norms(rows, p, exact=not own)
    axis = max(range(x.ndim), key=lambda a: x.shape[a])
    parts = [_in_pieces(half, outer, p) for half in _halves(x, axis)]
    if axis < outer:
        return np.concatenate(parts, axis=axis)
    return _vector_norms(np.stack(parts, axis=-1), p)


def _halves(x: Tensor, axis: int) -> list[Tensor]:
    """Return two views, cut in the middle of an axis."""
    middle = x.shape[axis] // 2
    made = []
    for start, length in ((0, middle), (middle, x.shape[axis] - middle)):
        shape = [length if a == axis else n for a, n in enumerate(x.shape)]
        made.append(_core.view(x, x.offset + start * x.strides[axis], shape, x.strides))
    return made


def _vector_norms(values: Array, p: float, exact: bool = False) -> Array:
    """Return the p-norms along the last axis.

    Where the values are `exact`, of a narrower dtype, a plain sum of squares is precise enough.
    """
    import numpy as np

    with np.errstate(all="ignore"):
        if values.dtype.kind == "c":
            values = np.hypot(values.real, values.imag)
        if p == 1:
            return np.asarray(np.abs(values).sum(axis=-1))
        if p == 2:
            if exact:
                squares = np.asarray(np.einsum("...i,...i->...", values, values))
            else:
                squares = np.asarray(np.square(values).sum(axis=-1))
            if ((squares >= _SAFE[0]) & (squares <= _SAFE[1])).all():
                return np.asarray(np.sqrt(squares))
        magnitudes = np.abs(values)
        largest = np.asarray(magnitudes.max(axis=-1, initial=0.0))
        if p == math.inf:
            return largest
        # 0 and infinity are their own norm, and NaN is, too.
        plain = (largest > 0) & (largest < math.inf)
        scale = np.where(plain, largest, 1.0)[..., None]
        sums = ((magnitudes / scale) ** p).sum(axis=-1)
        return np.where(plain, largest * sums ** (1 / p), largest)
