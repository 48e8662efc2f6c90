"""7.2.17.3 to .6 and .10: LU, Cholesky, QR, singular values and eigenvalues."""

from __future__ import annotations

from typing import Any

from suanzi import _core
from suanzi.base.dtypes import DType, complex_of, int64, part
from suanzi.base.hints import shown
from suanzi.base.status import InvalidArgument, UninitializedObject
from suanzi.ops.calling.arguments import real_argument
from suanzi.ops.calling.declare import operator
from suanzi.ops.calling.scalars import flag_argument
from suanzi.ops.libraries.lapack import (
    answered,
    check_rank,
    check_square,
    identities,
    promoted_dtype,
)
from suanzi.promote.registry import COMPLEX, FLOATS, REAL_FUNCTION, REGISTRY, Operator
from suanzi.tensors.parts import converted
from suanzi.tensors.tensor import Tensor, TensorLike

_MODES = ("reduced", "complete", "r")


@operator("7.2.17.3", dtypes=(*FLOATS, *COMPLEX), fast=True, promotes=REAL_FUNCTION)
def lu(mat: TensorLike) -> tuple[Tensor, Tensor]:
    """Return the factors of mat = P L U in one matrix, and the row swaps of P.

    U is on and above the diagonal, L below it; the ones on the diagonal of L are not stored. Row i
    was exchanged with row ``ipiv[i]`` (int64, from 0), one after the other. The U of a singular
    matrix has a zero on its diagonal; that is no error.

    >>> sz.lu(sz.tensor([[1.0, 2], [4, 8], [2, 8]]))
    (Tensor([[   4,    8],
            [ 0.5,    4],
            [0.25,    0]], dtype=float32), Tensor([1, 2], dtype=int64))
    """
    op = REGISTRY["lu"]
    x, dt = _operand(op, mat)
    check_rank(op, "mat", x)
    *batch, m, n = x.shape
    if not x.size:  # however many matrices there are
        return _core.empty(x.shape, dt), _core.empty((*batch, min(m, n)), int64)
    return answered(op.title, _core.lu, converted(x, dt))


@operator("7.2.17.4", dtypes=(*FLOATS, *COMPLEX), fast=True, promotes=REAL_FUNCTION)
def cholesky(upper: str, mat: TensorLike) -> Tensor:
    """Return the triangular factor of a positive definite matrix.

    With "U" it is the upper one, of mat = U^H U, with "L" the lower one, of mat = L L^H. Only that
    triangle of the matrix is read, and of its diagonal only the real part; the other triangle of
    the result is zero. A matrix that is not positive definite is refused.

    >>> sz.cholesky("L", sz.tensor([[4.0, 2], [2, 5]]))
    Tensor([[2, 0],
            [1, 2]], dtype=float32)
    """
    op = REGISTRY["cholesky"]
    if upper is None:
        raise UninitializedObject(f'{op.title}: upper is None; it takes "U" or "L".')
    if not isinstance(upper, str) or upper not in ("U", "L"):
        raise InvalidArgument(f'{op.title}: upper is {shown(upper)}; it must be "U" or "L".')
    x, dt = _operand(op, mat)
    check_square(op, "mat", x)
    if not x.size:
        return _core.empty(x.shape, dt)
    return answered(op.title, _core.cholesky, converted(x, dt), upper == "U")


@operator("7.2.17.5", dtypes=(*FLOATS, *COMPLEX), fast=True, promotes=REAL_FUNCTION)
def qr(mat: TensorLike, mode: str = "reduced") -> tuple[Tensor | None, Tensor]:
    """Return Q and R of mat = Q R: Q has orthonormal columns, R is upper triangular.

    For an m by n matrix and k = min(m, n), Q is m by k and R k by n. In the mode "complete", Q is
    m by m and R m by n; in the mode "r", Q is None and R k by n.

    >>> q, r = sz.qr(sz.tensor([[3.0, 5], [4, 5]]))
    >>> sz.abs(r)
    Tensor([[5, 7],
            [0, 1]], dtype=float32)
    """
    op = REGISTRY["qr"]
    x, dt = _operand(op, mat)
    check_rank(op, "mat", x)
    if not isinstance(mode, str) or mode not in _MODES:
        known = ", ".join(f'"{known}"' for known in _MODES)
        raise InvalidArgument(f"{op.title}: mode is {shown(mode)}; it must be one of {known}.")
    x = converted(x, dt)
    *batch, m, n = x.shape
    height = m if mode == "complete" else min(m, n)
    if not x.size:  # nothing to be orthogonal to, however many matrices there are
        q = None if mode == "r" else identities((*batch, m, height), dt)
        return q, _core.full((*batch, height, n), dt, 0)
    return answered(op.title, _core.qr, x, mode)


@operator("7.2.17.6", dtypes=(*FLOATS, *COMPLEX), fast=True, promotes=REAL_FUNCTION)
def svd(mat: TensorLike, format: bool = True) -> tuple[Tensor, Tensor, Tensor]:
    """Return U, S and V of mat = U S V^H: orthonormal columns, S diagonal and descending.

    For an n by m matrix and k = min(n, m), U is n by k, S k by k and V m by k; with `format`
    False, U is n by n, S n by m and V m by m. S is real, and V is not its transpose.

    >>> u, s, v = sz.svd(sz.tensor([[0.0, 2], [1, 0]]))
    >>> s
    Tensor([[2, 0],
            [0, 1]], dtype=float32)
    """
    op = REGISTRY["svd"]
    x, dt = _operand(op, mat)
    check_rank(op, "mat", x)
    reduced = flag_argument(op, "format", format, numpys=True)
    *batch, n, m = x.shape
    k = min(n, m)
    if not x.size:
        s = _core.full((*batch, k, k) if reduced else x.shape, part(dt), 0)
        u, v = (identities((*batch, size, k if reduced else size), dt) for size in (n, m))
        return u, s, v
    return answered(op.title, _core.svd, converted(x, dt), reduced)


@operator("7.2.17.10", dtypes=(*FLOATS, *COMPLEX), fast=True, promotes=REAL_FUNCTION)
def eig(mat: TensorLike) -> tuple[Tensor, Tensor]:
    """Return the eigenvalues w and the eigenvectors, the columns of v: mat v = v w.

    They are in no particular order, and always complex: complex64 of float32 and bfloat16,
    complex32 of float16 and float8. Each column has length 1.

    >>> w, v = sz.eig(sz.tensor([[0.0, -1], [1, 0]]))
    >>> w
    Tensor([0+1j, 0-1j], dtype=complex64)
    """
    op = REGISTRY["eig"]
    x, dt = _operand(op, mat)
    check_square(op, "mat", x)
    *batch, n, _ = x.shape
    if not x.size:
        result = complex_of(dt)
        return _core.full((*batch, n), result, 0), _core.full((*batch, n, n), result, 0)
    return answered(op.title, _core.eig, converted(x, dt))


def _operand(op: Operator, mat: Any) -> tuple[Tensor, DType]:
    x = real_argument(op, "mat", mat)
    return x, promoted_dtype(op, {"mat": x})
