"""7.2.17.7 and .9: linear equations and inverses."""

from __future__ import annotations

from typing import Any

from suanzi import _core
from suanzi.base.dtypes import DType
from suanzi.base.shapes import broadcast_shapes
from suanzi.base.status import InvalidArgument
from suanzi.ops.calling.arguments import real_argument
from suanzi.ops.calling.declare import operator
from suanzi.ops.calling.scalars import flag_argument
from suanzi.ops.libraries.lapack import answered, check_square, promoted_dtype
from suanzi.promote.registry import COMPLEX, FLOATS, REAL_FUNCTION, REGISTRY, Operator
from suanzi.tensors.parts import converted
from suanzi.tensors.tensor import Tensor, TensorLike


@operator("7.2.17.7", dtypes=(*FLOATS, *COMPLEX), fast=True, promotes=REAL_FUNCTION)
def solve(mat: TensorLike, rhs: TensorLike, adjoint: bool) -> Tensor:
    """Solve mat x = rhs for x, or mat^H x = rhs with `adjoint`.

    The columns of `rhs` are the right-hand sides; a `rhs` of rank 1 is a single one, and so is x.
    The axes of a batch are broadcast. A matrix is refused if it is singular to the precision of its
    dtype, whatever the scale of its rows and columns.

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
    if 0 in (*batch, a.shape[-1]):
        x = _core.full(shape, dt, 0)
    else:
        a = converted(a, dt)
        # Without right-hand sides, singular matrices are refused all the same.
        b = converted(b, dt) if b.size else _core.full((a.shape[-1], 1), dt, 0)
        x = answered(op.title, _core.solve, a, b, turned)
        x = x if 0 not in shape else _core.full(shape, dt, 0)
    return without_column(x) if one else x


@operator("7.2.17.9", dtypes=(*FLOATS, *COMPLEX), fast=True, promotes=REAL_FUNCTION)
def inverse(mat: TensorLike) -> Tensor:
    """Return the inverse of a square matrix; a singular one is refused, as by `solve`.

    >>> sz.inverse(sz.tensor([[2.0, 0], [1, 4]]))
    Tensor([[   0.5,      0],
            [-0.125,   0.25]], dtype=float32)
    """
    op = REGISTRY["inverse"]
    a = real_argument(op, "mat", mat)
    dt = promoted_dtype(op, {"mat": a})
    check_square(op, "mat", a)
    if not a.size:
        return _core.full(a.shape, dt, 0)
    return answered(op.title, _core.inverse, converted(a, dt))


# ---- right-hand sides, also of least squares ----------------------------------------------------


def operands(op: Operator, mat: Any, rhs: Any) -> tuple[Tensor, Tensor, DType]:
    """Return both operands and the dtype they are promoted to."""
    a, b = real_argument(op, "mat", mat), real_argument(op, "rhs", rhs)
    return a, b, promoted_dtype(op, {"mat": a, "rhs": b})


def right_hand_sides(op: Operator, a: Tensor, b: Tensor) -> tuple[bool, tuple[int, ...]]:
    """Return whether rhs is a single right-hand side, of rank 1, and the batch of the result."""
    if not b.ndim:
        raise InvalidArgument(f"{op.title}: rhs has rank 0; it must have at least one axis.")
    one = b.ndim == 1
    rows = b.shape[-1 if one else -2]
    if rows != a.shape[-2]:
        raise InvalidArgument(
            f"{op.title}: mat has shape {a.shape} and rhs {b.shape}; rhs must have {a.shape[-2]} "
            f"rows like mat, and has {rows}."
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
