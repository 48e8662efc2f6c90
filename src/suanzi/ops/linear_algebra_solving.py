"""7.2.17.7 and .9: linear equations and inverses."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from suanzi import _core
from suanzi.dtypes import DType
from suanzi.libraries.lapack import (
    Copies,
    batch_index,
    call,
    check_finite,
    check_result,
    check_square,
    columns,
    computing_dtype,
    epsilon,
    exponents,
    inverse_norm,
    matrix_at,
    norm_of,
    not_finite,
    promoted_dtype,
    put,
    rounded,
    scale,
    transposed,
    unset,
    workspace,
    zeros,
)
from suanzi.registry import COMPLEX, FLOATS, REAL_FUNCTION, REGISTRY, Operator
from suanzi.resolve.arguments import real_argument
from suanzi.resolve.declare import operator
from suanzi.resolve.scalars import flag_argument
from suanzi.shapes import broadcast_shapes
from suanzi.status import InvalidArgument
from suanzi.tensors.parts import converted
from suanzi.tensors.tensor import Tensor, TensorLike

if TYPE_CHECKING:
    from suanzi.libraries.lapack import Array


@operator("7.2.17.7", dtypes=(*FLOATS, *COMPLEX), fast=True, promotes=REAL_FUNCTION)
def solve(mat: TensorLike, rhs: TensorLike, adjoint: bool) -> Tensor:
    """Return the x of mat x = rhs, or of mat^H x = rhs with `adjoint`.

    `rhs` has the right-hand sides as columns, or is one of them, of rank 1; so is x. The axes of a
    batch are broadcast. A singular matrix is refused, and so is one that is so to the precision of
    its dtype, whatever the scale of its rows and columns.

    >>> import suanzi as sz
    >>> a, b = sz.tensor([[2.0, 1], [0, 4]]), sz.tensor([4.0, 8])
    >>> sz.solve(a, b, False), sz.solve(a, b, True)
    (Tensor([1, 2], dtype=float32), Tensor([  2, 1.5], dtype=float32))
    """
    op = REGISTRY["solve"]
    a, b, dt = operands(op, mat, rhs)
    check_square(op, "mat", a)
    one, batch = right_hand_sides(op, a, b)
    turned = flag_argument(op, "adjoint", adjoint, numpys=True)
    b = as_column(b) if one else b
    shape = (*batch, *b.shape[-2:])
    made: Tensor | None
    if 0 in (*batch, a.shape[-1]):
        made = zeros(shape, dt)[0]
    else:
        a, b = converted(a, dt), converted(b, dt)
        made = _core.solve(a, b, turned)
    x = _solve_one_by_one(op, a, b, batch, dt, turned) if made is None else made
    return without_column(x) if one else x


def _solve_one_by_one(
    op: Operator, a: Tensor, b: Tensor, batch: tuple[int, ...], dt: DType, adjoint: bool
) -> Tensor:
    import numpy as np

    compute = computing_dtype(dt)
    work = columns(transposed(a), compute)
    x = unset((*batch, *b.shape[-2:]), compute)
    if not x.tensor.size:  # no right-hand sides, however often
        for i in range(len(work.arrays)):
            _factors(op, a, work, i)
        return rounded(x.tensor, dt)
    sides = columns(b, compute)
    pairs = list(zip(repeated(work.batch, batch), repeated(sides.batch, batch), strict=True))
    # What needs no care has the bits that it has alone.
    alone = [
        _core.solve(matrix_at(a, matrix), matrix_at(b, side), adjoint) if batch else None
        for matrix, side in pairs
    ]
    left = sorted({i for (i, _), found in zip(pairs, alone, strict=True) if found is None})
    factors = {i: _factors(op, a, work, i) for i in left}
    check_finite(op, "rhs", sides.arrays.swapaxes(1, 2), sides.batch)
    conjugated = adjoint and compute.kind == "complex"  # the adjoint is the conjugate transpose
    with np.errstate(over="ignore"):
        for i, (y, (matrix, side)) in enumerate(zip(x.arrays, pairs, strict=True)):
            made = alone[i]
            if made is not None:
                _core.copy_into(matrix_at(x.tensor, i), made)
                continue
            lu, swaps, rows, cols = factors[matrix]
            if not adjoint:
                rows, cols = cols, rows
            y[...] = sides.arrays[side]
            if conjugated:
                np.conjugate(y, out=y)
            shift = 0 if rows is None else _scaled_with_room(y, rows)
            trans = 0 if adjoint else 1
            put(y, call(op, "getrs", compute, lu, swaps, y, trans=trans, overwrite_b=1)[0])
            if cols is not None:
                scale(y, cols[:, None] - shift)
            if conjugated:
                np.conjugate(y, out=y)
    check_result(op, x.arrays, dt)
    return rounded(x.tensor, dt)


@operator("7.2.17.9", dtypes=(*FLOATS, *COMPLEX), fast=True, promotes=REAL_FUNCTION)
def inverse(mat: TensorLike) -> Tensor:
    """Return the inverse of a square matrix; one that is singular is refused, as by `solve`.

    >>> import suanzi as sz
    >>> sz.inverse(sz.tensor([[2.0, 0], [1, 4]]))
    Tensor([[   0.5,      0],
            [-0.125,   0.25]], dtype=float32)
    """
    op = REGISTRY["inverse"]
    a = real_argument(op, "mat", mat)
    dt = promoted_dtype(op, {"mat": a})
    check_square(op, "mat", a)
    if not a.size:
        return zeros(a.shape, dt)[0]
    a = converted(a, dt)
    found = _core.inverse(a)
    return _invert_one_by_one(op, a, dt) if found is None else found


def _invert_one_by_one(op: Operator, a: Tensor, dt: DType) -> Tensor:
    compute = computing_dtype(dt)
    work = columns(transposed(a), compute)
    (lwork,) = workspace(op, "getri", compute, a.shape[-1])
    for i, array in enumerate(work.arrays):
        alone = _core.inverse(matrix_at(a, i)) if work.batch else None
        if alone is not None:  # it needs no care, and has the bits that it has alone
            _core.copy_into(matrix_at(transposed(work.tensor), i), alone)
            continue
        lu, swaps, rows, cols = _factors(op, a, work, i)
        found, _ = call(op, "getri", compute, lu, swaps, lwork=lwork, overwrite_lu=1)
        put(array, found)
        if rows is not None and cols is not None:
            scale(array, cols[:, None] + rows)
    check_result(op, work.arrays, dt)
    return rounded(transposed(work.tensor), dt)


Factors = tuple[Any, Any, Any, Any]
"""LU and row swaps of a matrix; the powers of two its rows and columns were scaled by, or None."""


def _factors(op: Operator, a: Tensor, work: Copies, i: int) -> Factors:
    """Return the factors of the transpose of a matrix, in its memory, or raise if it is singular.

    Rows one behind the other are the columns of the transpose. It is taken of every layout, so that
    what is refused and what is answered does not depend on it.
    """
    import numpy as np

    compute, array = work.tensor.dtype, work.arrays[i]
    least = epsilon(compute)

    def factorised() -> tuple[Array, Array, float]:
        """Return the factors and the reciprocal condition number; what is not finite makes it 0."""
        size = norm_of(array, compute, "I")
        if not math.isfinite(size) and not np.isfinite(array).all():  # and not of the sum alone
            raise not_finite(op, "mat", work.batch, i)
        lu, swaps, zero = call(op, "getrf", compute, array, overwrite_a=1)
        if zero or not math.isfinite(size):
            return lu, swaps, 0.0
        product = size * inverse_norm(op, lu, swaps, compute)
        return lu, swaps, 1 / product if product else 0.0

    with np.errstate(all="ignore"):
        lu, swaps, found = factorised()
        if found >= least:
            return lu, swaps, None, None
        # Rows or columns of very different scale look the same: scaled alike, they do not.
        for first in (0, 1):
            again = columns(transposed(matrix_at(a, i)), compute).arrays[0]
            rows, cols = _powers_to_one(again, first)
            scale(again, rows[:, None] + cols)
            array[...] = again
            lu, swaps, scaled = factorised()
            if scaled >= least:
                return lu, swaps, rows, cols
            found = max(found, scaled)
    raise InvalidArgument(
        f"{op.title}: mat{batch_index(work.batch, i)} is singular to the precision of {compute}: "
        f"its reciprocal condition number is about {found:.2g}, and must be {least:.2g} at least. "
        "sz.lstsq gives the least-squares solution of least norm."
    )


def _powers_to_one(array: Array, first: int) -> tuple[Array, Array]:
    """Return the powers of two that bring rows and columns to about 1, those of one axis first.

    They are to be applied together: by one of the two alone, elements may vanish.
    """
    found = exponents(array)
    if first == 0:
        cols, rows = _powers_to_one(array.T, 1)
        return rows, cols
    rows = _up_to_one(found.max(axis=1))
    cols = _up_to_one((found + rows[:, None]).max(axis=0))
    return rows, cols


def _up_to_one(largest: Array) -> Array:
    """Return the powers of two that undo exponents; those of zeros stay."""
    import numpy as np

    return np.where(largest > -(10**5), -largest, 0)


def _scaled_with_room(sides: Array, rows: Array) -> Array:
    """Scale rows by powers of two, and columns so that nothing is lost; return what those were.

    What solves the scaled equations may be far larger than the numbers at both ends.
    """
    import numpy as np

    limits = np.finfo(sides.dtype)
    room = int(limits.maxexp) - 2 * (int(limits.nmant) + 1)
    shift: Array = room - (exponents(sides) + rows[:, None]).max(axis=0, initial=-(10**6))
    scale(sides, rows[:, None] + shift)
    return shift


# ---- right-hand sides, also of least squares ----------------------------------------------------


def operands(op: Operator, mat: Any, rhs: Any) -> tuple[Tensor, Tensor, DType]:
    """Return both operands and the dtype they are promoted to."""
    a, b = real_argument(op, "mat", mat), real_argument(op, "rhs", rhs)
    return a, b, promoted_dtype(op, {"mat": a, "rhs": b})


def right_hand_sides(op: Operator, a: Tensor, b: Tensor) -> tuple[bool, tuple[int, ...]]:
    """Return whether there is but one right-hand side, of rank 1, and the batch of the result."""
    if not b.ndim:
        raise InvalidArgument(f"{op.title}: rhs is of rank 0; it must have an axis at least.")
    one = b.ndim == 1
    rows = b.shape[-1 if one else -2]
    if rows != a.shape[-2]:
        raise InvalidArgument(
            f"{op.title}: mat has shape {a.shape} and rhs {b.shape}; rhs must have {a.shape[-2]} "
            f"rows, as mat has, and has {rows}."
        )
    batch = broadcast_shapes([a.shape[:-2], b.shape[:-2]])
    if batch is None:
        raise InvalidArgument(
            f"{op.title}: mat has shape {a.shape} and rhs {b.shape}; the axes before the last two "
            "must be equal or 1, counted from the last."
        )
    return one, batch


def as_column(b: Tensor) -> Tensor:
    """Return a view with one more axis, the last."""
    return _core.view(b, b.offset, (*b.shape, 1), (*b.strides, 1))


def without_column(x: Tensor) -> Tensor:
    """Return a view without the last axis."""
    return _core.view(x, x.offset, x.shape[:-1], x.strides[:-1])


def repeated(own: tuple[int, ...], batch: tuple[int, ...]) -> list[int]:
    """Return which matrix of a batch each one of a larger batch is."""
    import numpy as np

    which = np.arange(math.prod(own)).reshape(own)
    found: list[int] = np.broadcast_to(which, batch).ravel().tolist()
    return found
