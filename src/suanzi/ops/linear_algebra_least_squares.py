"""7.2.17.8: least squares.

Where no singular value is near the one below which they count as zero, the QR of the matrix is
enough, which is several times faster than to compute them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from suanzi import _core
from suanzi._hints import shown
from suanzi.dtypes import DType
from suanzi.libraries import room
from suanzi.libraries.lapack import (
    BLOCK,
    MANY_AXES,
    Copies,
    as_array,
    away_from_the_ends,
    call,
    check_finite,
    check_rank,
    check_result,
    clear_below,
    columns,
    computing_dtype,
    did_not_converge,
    epsilon,
    many_small,
    matrix_at,
    put,
    rcond,
    repeated_to,
    rounded,
    scale,
    transposed,
    unset,
    workspace,
    zeros,
)
from suanzi.ops.linear_algebra_solving import (
    as_column,
    operands,
    repeated,
    right_hand_sides,
    without_column,
)
from suanzi.registry import COMPLEX, FLOATS, REAL_FUNCTION, REGISTRY, Operator
from suanzi.resolve.declare import operator
from suanzi.resolve.scalars import check_alive
from suanzi.status import InvalidArgument
from suanzi.tensors.parts import converted
from suanzi.tensors.tensor import Tensor, TensorLike

if TYPE_CHECKING:
    from suanzi.libraries.lapack import Array


@operator("7.2.17.8", dtypes=(*FLOATS, *COMPLEX), fast=True, promotes=REAL_FUNCTION)
def lstsq(mat: TensorLike, rhs: TensorLike, prec: float | None = None) -> Tensor:
    """Return the x that makes the 2-norm of rhs - mat x least, and of those the shortest.

    Singular values below `prec` times the largest count as zero; None is the machine epsilon of the
    dtype of the operands. `rhs` and batches are as those of `solve`.

    >>> import suanzi as sz
    >>> sz.lstsq(sz.tensor([[1.0, 0], [0, 2], [0, 0]]), sz.tensor([3.0, 4, 5]))
    Tensor([3, 2], dtype=float32)
    """
    op = REGISTRY["lstsq"]
    a, b, dt = operands(op, mat, rhs)
    check_rank(op, "mat", a)
    one, batch = right_hand_sides(op, a, b)
    cut = _cut(op, prec, dt)
    b = as_column(b) if one else b
    shape = (*batch, a.shape[-1], b.shape[-1])
    if 0 in (*batch, *a.shape, *b.shape):
        x = zeros(shape, dt)[0]
    else:
        x = _lstsq(op, converted(a, dt), converted(b, dt), batch, dt, cut)
    return without_column(x) if one else x


def _lstsq(
    op: Operator, a: Tensor, b: Tensor, batch: tuple[int, ...], dt: DType, cut: float
) -> Tensor:
    found: Tensor | None = _core.lstsq(a, b, cut)
    if found is not None:
        return found
    shape = (*batch, a.shape[-1], b.shape[-1])
    if many_small(a) or not 0 < cut < 1:
        if len(shape) > MANY_AXES:
            a, b = (_stacked(repeated_to(x, batch)) for x in (a, b))
        made: Tensor = _lstsq_by_singular_values(op, a, b, dt, cut).reshape(*shape)
        return made
    return _lstsq_one_by_one(op, a, b, batch, dt, cut)


def _cut(op: Operator, prec: Any, dt: DType) -> float:
    check_alive(op, "prec", prec)
    if prec is None:
        return epsilon(dt)
    numeric = isinstance(prec, int | float) or getattr(prec, "ndim", None) == 0
    try:
        if numeric and str(getattr(prec, "dtype", type(prec).__name__)) != "bool":
            found = float(prec)
            if 0 <= found < math.inf:
                return found
    except (TypeError, ValueError, OverflowError):
        pass
    raise InvalidArgument(f"{op.title}: prec is {shown(prec)}; it must be a number from 0 up.")


def _stacked(x: Tensor) -> Tensor:
    """Return a copy with the axes of the batch made one."""
    made: Tensor = _core.row_major_copy(x).reshape(math.prod(x.shape[:-2]), *x.shape[-2:])
    return made


def _lstsq_by_singular_values(op: Operator, a: Tensor, b: Tensor, dt: DType, cut: float) -> Tensor:
    """Solve all of them at once, by the definition."""
    import numpy as np

    compute = computing_dtype(dt)
    matrices, sides = as_array(a, compute), as_array(b, compute)
    check_finite(op, "mat", matrices, a.shape[:-2])
    check_finite(op, "rhs", sides, b.shape[:-2])
    matrices, down = _safe(matrices)
    sides, up = _safe(sides)
    room.check(of_numpy=True)
    try:
        u, s, vh = np.linalg.svd(matrices, full_matrices=False)
    except np.linalg.LinAlgError as error:
        raise InvalidArgument(f"{op.title}: the singular values of mat: {error}.") from None
    with np.errstate(all="ignore"):
        keep = (s >= cut * s[..., :1]) & (s > 0)
        within = u.swapaxes(-1, -2).conj() @ sides / np.where(keep, s, 1)[..., None]
        x = vh.swapaxes(-1, -2).conj() @ np.where(keep[..., None], within, 0)
    if down.any() or up.any():
        scale(x, down - up)
    check_result(op, x, dt)
    return rounded(x, dt)


def _safe(arrays: Array) -> tuple[Array, Array]:
    """Return matrices of which no 2-norm overflows, and the powers of two that it took."""
    powers = away_from_the_ends(arrays)
    if powers.any():
        arrays = arrays.copy()
        scale(arrays, powers)
    return arrays, powers


def _lstsq_one_by_one(
    op: Operator, a: Tensor, b: Tensor, batch: tuple[int, ...], dt: DType, cut: float
) -> Tensor:
    import numpy as np

    compute = computing_dtype(dt)
    tall = a.shape[-2] >= a.shape[-1]
    work, sides = columns(a if tall else transposed(a), compute), columns(b, compute)
    check_finite(op, "mat", work.arrays.swapaxes(1, 2), work.batch)
    check_finite(op, "rhs", sides.arrays.swapaxes(1, 2), sides.batch)
    if not tall and compute.kind == "complex":
        np.conjugate(work.arrays, out=work.arrays)
    down, up = (away_from_the_ends(copies.arrays) for copies in (work, sides))
    scale(work.arrays, down)
    scale(sides.arrays, up)
    x = unset((*batch, a.shape[-1], b.shape[-1]), compute)
    uses: list[list[tuple[int, int]]] = [[] for _ in work.arrays]
    pairs = zip(repeated(work.batch, batch), repeated(sides.batch, batch), strict=True)
    for i, (matrix, side) in enumerate(pairs):
        uses[matrix].append((i, side))
    for j, array in enumerate(work.arrays):
        solved = _by_reflections(op, array, compute, cut, tall)
        for i, side in uses[j]:
            y = sides.arrays[side]
            if solved:
                x.arrays[i] = solved(y)
            else:
                again = columns(matrix_at(a, j), compute).arrays[0]
                scale(again, down[j])
                x.arrays[i] = _by_gelsd(op, again, y, compute, cut, work, j)
            scale(x.arrays[i], down[j] - up[side])
    check_result(op, x.arrays, dt)
    return rounded(x.tensor, dt)


def _by_reflections(
    op: Operator, a: Array, compute: DType, cut: float, tall: bool
) -> Callable[[Array], Array] | None:
    """Return what solves for right-hand sides with the QR of a matrix, or of a wide one's adjoint.

    None if a singular value may have to count as zero: only then are they needed.
    """
    import numpy as np

    packed, tau, _, _ = call(op, "geqrf", compute, a, lwork=BLOCK * a.shape[1], overwrite_a=1)
    put(a, packed)
    k = a.shape[1]
    r = np.array(a[:k], order="F")
    clear_below(r)
    # The 2-norm of a matrix is at most the geometric mean of these two, and so for its inverse.
    found = [rcond(op, r, compute, which) for which in ("1", "I")]
    if not math.sqrt(found[0] * found[1]) > 10 * max(cut, epsilon(compute)):
        return None
    adjoint = "C" if compute.kind == "complex" else "T"

    def turn(y: Array, trans: str) -> Array:
        turned: Array = call(
            op, "ormqr", compute, "L", trans, a, tau, y, BLOCK * y.shape[1], overwrite_c=1
        )[0]
        return turned

    def solved(y: Array) -> Array:
        if tall:
            turned = turn(np.array(y, order="F"), adjoint)
            x: Array = call(op, "trtrs", compute, r, turned[:k])[0]
            return x
        wide = np.zeros((a.shape[0], y.shape[1]), y.dtype, order="F")
        wide[:k] = call(op, "trtrs", compute, r, y, trans=2 if adjoint == "C" else 1)[0]
        return turn(wide, "N")

    return solved


def _by_gelsd(
    op: Operator, a: Array, y: Array, compute: DType, cut: float, work: Copies, j: int
) -> Array:
    """Return the solution by the singular values of one matrix."""
    import numpy as np

    m, n = a.shape
    long = np.zeros((max(m, n), y.shape[1]), y.dtype, order="F")
    long[:m] = y
    # To gelsd, what is equal to the cut is zero, too.
    below = cut * (1 - 2 * epsilon(compute))
    sizes = workspace(op, "gelsd", compute, m, n, y.shape[1], below)
    x, _, _, info = call(
        op, "gelsd", compute, a, long, *sizes, cond=below, overwrite_a=1, overwrite_b=1
    )
    if info:
        raise did_not_converge(op, work.batch, j)
    return x[:n]  # type: ignore[no-any-return]
