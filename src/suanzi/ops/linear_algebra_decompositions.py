"""7.2.17.3 to .6 and .10: LU, Cholesky, QR, singular values and eigenvalues."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from suanzi import _core
from suanzi._hints import shown
from suanzi.dtypes import DType, bfloat16, complex32, complex64, complex128, int64, part
from suanzi.layout import strides_of
from suanzi.libraries.lapack import (
    BLOCK,
    as_array,
    batch_index,
    call,
    check_finite,
    check_rank,
    check_result,
    check_square,
    clear_below,
    columns,
    computing_dtype,
    did_not_converge,
    exponents,
    first_not_finite,
    identities,
    make_diagonal_real,
    matrix_at,
    not_finite,
    on_diagonal,
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
from suanzi.status import InvalidArgument, UninitializedObject
from suanzi.tensors.exchange import to_numpy
from suanzi.tensors.parts import converted
from suanzi.tensors.tensor import Tensor, TensorLike

if TYPE_CHECKING:
    from suanzi.libraries.lapack import Array

_MODES = ("reduced", "complete", "r")


@operator("7.2.17.3", dtypes=(*FLOATS, *COMPLEX), fast=True, promotes=REAL_FUNCTION)
def lu(mat: TensorLike) -> tuple[Tensor, Tensor]:
    """Return mat = P L U: L and U in one matrix, and the row swaps that P stands for.

    U is on and above the diagonal, L below it, with ones on its diagonal that are not stored.
    ``ipiv``, int64 and counted from 0, says with which row each row was exchanged, one after the
    other. A singular matrix has a factor U with a zero on its diagonal, which is no error.

    >>> import suanzi as sz
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
    x = converted(x, dt)
    found: tuple[Tensor, Tensor] | None = _core.lu(x)
    return _lu_one_by_one(op, x, dt) if found is None else found


def _lu_one_by_one(op: Operator, x: Tensor, dt: DType) -> tuple[Tensor, Tensor]:
    *batch, m, n = x.shape
    work = columns(x, computing_dtype(dt))
    swaps, ipiv = zeros((math.prod(batch), min(m, n)), int64)
    for a, swapped in zip(work.arrays, ipiv, strict=True):
        packed, swapped[:], _ = call(op, "getrf", work.tensor.dtype, a, overwrite_a=1)
        put(a, packed)
    _mend_tiny_pivots(op, x, work.arrays, ipiv, work.tensor.dtype)
    if first_not_finite(work.arrays) is not None:  # as it was, for no element of the copy is lost
        check_finite(op, "mat", as_array(x, computing_dtype(dt)), tuple(batch))
        check_result(op, work.arrays, dt)
    return rounded(work.tensor, dt), _shaped(swaps, (*batch, min(m, n)))


def _mend_tiny_pivots(op: Operator, x: Tensor, lu: Array, ipiv: Array, compute: DType) -> None:
    """Factorise again, scaled, what has subnormal pivots: OpenBLAS divides by none of those."""
    import numpy as np

    limits = np.finfo(lu.dtype)
    pivots = np.abs(on_diagonal(lu))
    good = (pivots >= limits.smallest_normal) & (pivots < np.inf) | (pivots == 0)
    for i in np.flatnonzero(~good.all(axis=1)).tolist():
        a = columns(matrix_at(x, i), compute).arrays[0]
        power = int(limits.maxexp) * 3 // 4 - int(exponents(a).max())
        if power <= 0 or not np.isfinite(a).all():
            continue
        scale(a, np.array(power))
        packed, ipiv[i], _ = call(op, "getrf", compute, a, overwrite_a=1)
        lu[i] = packed
        upper = np.triu(np.full(a.shape, -power))
        scale(lu[i], upper)


@operator("7.2.17.4", dtypes=(*FLOATS, *COMPLEX), fast=True, promotes=REAL_FUNCTION)
def cholesky(upper: str, mat: TensorLike) -> Tensor:
    """Return the triangular factor of a positive definite matrix.

    With "U" it is the upper one, of mat = U^H U, with "L" the lower one, of mat = L L^H. Only that
    triangle of the matrix is read, and of its diagonal only the real part; the other triangle of
    the result is zero. A matrix that is not positive definite is refused.

    >>> import suanzi as sz
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
    x = converted(x, dt)
    found: Tensor | None = _core.cholesky(x, upper == "U")
    if found is None:
        # Of the transpose, the lower factor is the transpose of the upper one.
        found = _cholesky_one_by_one(op, transposed(x) if upper == "U" else x, dt)
        return transposed(found) if upper == "U" else found
    return found


def _cholesky_one_by_one(op: Operator, x: Tensor, dt: DType) -> Tensor:
    import numpy as np

    work = columns(x, computing_dtype(dt))
    for i, a in enumerate(work.arrays):
        make_diagonal_real(a)
        factor, minor = call(op, "potrf", work.tensor.dtype, a, lower=1, clean=0, overwrite_a=1)
        put(a, factor)
        # A NaN or an infinity, wherever it was, has reached the diagonal.
        bad = ~np.isfinite(on_diagonal(a))
        if minor or bad.any():
            raise _not_positive_definite(op, x, i, minor or int(bad.argmax()) + 1)
        clear_below(a.T)
    return rounded(work.tensor, dt)


def _not_positive_definite(op: Operator, x: Tensor, i: int, minor: int) -> InvalidArgument:
    import numpy as np

    lower = np.tril(to_numpy(_core.cast(matrix_at(x, i), complex128, False)))
    make_diagonal_real(lower)
    if not np.isfinite(lower).all():
        return not_finite(op, "mat", x.shape[:-2], i)
    return InvalidArgument(
        f"{op.title}: mat{batch_index(x.shape[:-2], i)} is not positive definite: its leading "
        f"minor of order {minor} is not positive. Use sz.lu for other matrices."
    )


@operator("7.2.17.5", dtypes=(*FLOATS, *COMPLEX), fast=True, promotes=REAL_FUNCTION)
def qr(mat: TensorLike, mode: str = "reduced") -> tuple[Tensor | None, Tensor]:
    """Return mat = Q R, the columns of Q orthonormal and R upper triangular.

    For an m by n matrix and k = min(m, n), Q is m by k and R k by n. In the mode "complete", Q is
    m by m and R m by n; in the mode "r", Q is None and R k by n.

    >>> import suanzi as sz
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
    found: tuple[Tensor | None, Tensor] | None = _core.qr(x, mode)
    return _qr_one_by_one(op, x, dt, mode) if found is None else found


def _qr_one_by_one(op: Operator, x: Tensor, dt: DType, mode: str) -> tuple[Tensor | None, Tensor]:
    *batch, m, n = x.shape
    k, compute = min(m, n), computing_dtype(dt)
    height = m if mode == "complete" else k
    work = columns(x, compute)
    _check_copies_finite(op, work.arrays, tuple(batch))
    r, rows = zeros((math.prod(batch), height, n), compute)
    # Q takes the place of the reflections it is made of, in a wider matrix where it is wider.
    wide = work if height <= n else unset((*batch, m, m), compute)
    for i, a in enumerate(work.arrays):
        packed, tau, _, _ = call(op, "geqrf", compute, a, lwork=BLOCK * n, overwrite_a=1)
        put(a, packed)
        rows[i, :k] = a[:k]
        clear_below(rows[i])
        if mode == "r":
            continue
        vectors = wide.arrays[i][:, :height]
        if wide is not work:
            vectors[:, :n] = a
        made = call(op, "orgqr", compute, vectors, tau, lwork=BLOCK * height, overwrite_a=1)
        put(vectors, made[0])
    check_result(op, rows, dt)
    triangles = rounded(_shaped(r, (*batch, height, n)), dt)
    if mode == "r":
        return None, triangles
    q = _core.view(wide.tensor, 0, (*batch, m, height), wide.tensor.strides)
    return rounded(q, dt), triangles


@operator("7.2.17.6", dtypes=(*FLOATS, *COMPLEX), fast=True, promotes=REAL_FUNCTION)
def svd(mat: TensorLike, format: bool = True) -> tuple[Tensor, Tensor, Tensor]:
    """Return mat = U S V^H: the columns of U and V orthonormal, S diagonal, not negative, falling.

    For an n by m matrix and k = min(n, m), U is n by k, S k by k and V m by k; with `format`
    False, U is n by n, S n by m and V m by m. S is real, and V is not its transpose.

    >>> import suanzi as sz
    >>> u, s, v = sz.svd(sz.tensor([[0.0, 2], [1, 0]]))
    >>> s
    Tensor([[2, 0],
            [0, 1]], dtype=float32)
    """
    op = REGISTRY["svd"]
    x, dt = _operand(op, mat)
    check_rank(op, "mat", x)
    reduced = flag_argument(op, "format", format, numpys=True)
    *outer, n, m = x.shape
    batch, k = tuple(outer), min(n, m)
    width, height = (k, k) if reduced else (n, m)
    if not x.size:
        s = zeros((*batch, width, height), part(dt))[0]
        u, v = (identities((*batch, size, k if reduced else size), dt) for size in (n, m))
        return u, s, v
    x = converted(x, dt)
    found: tuple[Tensor, Tensor, Tensor] | None = _core.svd(x, reduced)
    if found is not None:
        return found
    s, diagonal = zeros((*batch, width, height), part(computing_dtype(dt)))
    left, values, right = _svd_one_by_one(op, x, computing_dtype(dt), reduced)
    check_result(op, values, dt)
    on_diagonal(diagonal)[...] = values.reshape(*batch, k)
    u = rounded(left.reshape(*batch, n, -1), dt)
    return u, rounded(s, part(dt)), rounded(right.reshape(*batch, m, -1), dt)


def _svd_one_by_one(
    op: Operator, x: Tensor, compute: DType, reduced: bool
) -> tuple[Array, Array, Array]:
    import numpy as np

    work = columns(x, compute)
    _check_copies_finite(op, work.arrays, work.batch)
    n, m = x.shape[-2:]
    (lwork,) = workspace(op, "gesdd", compute, n, m, full_matrices=int(not reduced))
    found = []
    for i, a in enumerate(work.arrays):
        u, s, vh, info = call(
            op, "gesdd", compute, a, full_matrices=int(not reduced), lwork=lwork, overwrite_a=1
        )
        if info:
            raise did_not_converge(op, work.batch, i)
        found.append((u, s, vh.T.conj() if vh.dtype.kind == "c" else vh.T))
    if len(found) == 1:
        return found[0]
    us, ss, vs = (np.stack(parts) for parts in zip(*found, strict=True))
    return us, ss, vs


@operator("7.2.17.10", dtypes=(*FLOATS, *COMPLEX), fast=True, promotes=REAL_FUNCTION)
def eig(mat: TensorLike) -> tuple[Tensor, Tensor]:
    """Return the eigenvalues and the eigenvectors, the columns of v: mat v = v w.

    They are in no particular order, and always complex: complex64 of float32 and bfloat16,
    complex32 of float16 and float8. Each column has length 1.

    >>> import suanzi as sz
    >>> w, v = sz.eig(sz.tensor([[0.0, -1], [1, 0]]))
    >>> w
    Tensor([0+1j, 0-1j], dtype=complex64)
    """
    op = REGISTRY["eig"]
    x, dt = _operand(op, mat)
    check_square(op, "mat", x)
    *outer, n, _ = x.shape
    batch, compute, result = tuple(outer), computing_dtype(dt), _complex_of(dt)
    if not x.size:
        return _core.full((*batch, n), result, 0), _core.full((*batch, n, n), result, 0)
    x = converted(x, dt)
    found: tuple[Tensor, Tensor] | None = _core.eig(x)
    if found is not None:
        return found
    w, v = _eig_one_by_one(op, x, compute)
    check_result(op, w, dt)
    return rounded(w.reshape(*batch, n), result), rounded(v.reshape(*batch, n, n), result)


def _complex_of(dt: DType) -> DType:
    """Return the complex dtype of eigenvalues; the parts of complex32 lack bfloat16's range."""
    if dt.kind == "complex":
        return dt
    if dt.bits > 16:
        return next(c for c in COMPLEX if part(c) is dt)
    return complex64 if dt is bfloat16 else complex32


def _eig_one_by_one(op: Operator, x: Tensor, compute: DType) -> tuple[Array, Array]:
    import numpy as np

    work = columns(x, compute)
    _check_copies_finite(op, work.arrays, work.batch)
    n = x.shape[-1]
    wide = np.result_type(work.arrays.dtype, np.complex64)
    found = []
    for i, a in enumerate(work.arrays):
        if _is_hermitian(a):
            w, v, info = call(op, "syevd", compute, a, lower=1)
            if not info:
                found.append((w.astype(wide), v.astype(wide)))
                continue
        power = _far_from_one(a)
        if power:
            scale(a, np.array(-power))
        (lwork,) = workspace(op, "geev", compute, n, compute_vl=0)
        *parts, _, v, info = call(op, "geev", compute, a, compute_vl=0, lwork=lwork, overwrite_a=1)
        if info:
            raise did_not_converge(op, work.batch, i)
        real = len(parts) == 2
        if power:
            for part_of_w in parts:
                scale(part_of_w, np.array(power))
        w = parts[0] + 1j * parts[1] if real else parts[0]
        found.append((w, _paired(parts[1], v, wide) if real else v))
    if len(found) == 1:
        return found[0]
    values, vectors = (np.stack(parts) for parts in zip(*found, strict=True))
    return values, vectors


def _far_from_one(a: Array) -> int:
    """Return the exponent of the largest element if LAPACK would scale for it, and 0 if not.

    It scales what is very large or very small, and some of its builds do not scale the eigenvalues
    back: that of SciPy 1.17 does not.
    """
    import numpy as np

    largest = int(exponents(a).max())
    far = abs(largest) > int(np.finfo(a.dtype).maxexp) // 4 and largest > -(10**6)
    return largest if far else 0


def _is_hermitian(a: Array) -> bool:
    """Tell whether a matrix is Hermitian to the bit; its eigenvectors are orthogonal then."""
    return bool((a[0] == a[:, 0].conj()).all() and (a == a.T.conj()).all())


def _paired(imaginary: Array, v: Array, wide: Any) -> Array:
    """Return complex eigenvectors of a real matrix: two columns are those of a conjugate pair."""
    import numpy as np

    first = np.flatnonzero(imaginary > 0)
    made = v.astype(wide, order="F")
    made[:, first] += 1j * v[:, first + 1]
    made[:, first + 1] = made[:, first].conj()
    return made


# ---- what they share ----------------------------------------------------------------------------


def _operand(op: Operator, mat: Any) -> tuple[Tensor, DType]:
    x = real_argument(op, "mat", mat)
    return x, promoted_dtype(op, {"mat": x})


def _check_copies_finite(op: Operator, arrays: Array, batch: tuple[int, ...]) -> None:
    # As they lie in memory, which is what makes it fast.
    check_finite(op, "mat", arrays.swapaxes(1, 2), batch)


def _shaped(x: Tensor, shape: tuple[int, ...]) -> Tensor:
    """Return a new tensor, row-major as it is, in another shape."""
    return _core.view(x, 0, shape, strides_of(shape))
