"""The linear algebra extension, of the matrices in the last two axes.

float16, bfloat16 and float8 are computed in float32, complex32 in complex64, and rounded once.
Integers become float32, those of 64 bits float64. Numbers must be finite, but for determinants and
norms.

>>> x = xp.asarray([[2, 1], [1, 2]], dtype=xp.bfloat16)
>>> xp.linalg.eigvalsh(x), xp.linalg.det(x)
(Tensor([1, 3], dtype=bfloat16), Tensor(3, dtype=bfloat16))
"""

from __future__ import annotations

from typing import Any, NamedTuple

from suanzi import _core
from suanzi.base.dtypes import DType, DTypeLike, float64, int64, part, widened
from suanzi.base.hints import shown
from suanzi.base.shapes import broadcast_shapes
from suanzi.base.status import DimensionsMismatch, InvalidArgument, OutOfRange
from suanzi.faces.array_api.along import DEFAULT_FLOAT, PLAIN, computed, repeated
from suanzi.faces.array_api.arguments import ELEMENTS, NUMERIC, Axes, array_argument, promoted
from suanzi.faces.array_api.declare import function
from suanzi.faces.array_api.linear_algebra_functions import (
    matmul,
    matrix_transpose,
    product,
    tensordot,
    vecdot,
)
from suanzi.faces.array_api.norms import (
    by_operator,
    matrix_norms,
    singular_values,
    tolerance,
    vector_norms,
)
from suanzi.faces.array_api.statistical_functions import sum as total
from suanzi.ops.calling.scalars import flag_argument, integer_argument
from suanzi.ops.libraries.lapack import answered, identities
from suanzi.ops.reduction_modes import ReduceMode
from suanzi.tensors.parts import converted
from suanzi.tensors.tensor import Tensor

__all__ = [
    "cholesky", "cross", "det", "diagonal", "eig", "eigh", "eigvals", "eigvalsh", "inv", "matmul",
    "matrix_norm", "matrix_power", "matrix_rank", "matrix_transpose", "outer", "pinv", "qr",
    "slogdet", "solve", "svd", "svdvals", "tensordot", "trace", "vecdot", "vector_norm",
]  # fmt: skip

_SUM = int(ReduceMode.SUM)
_NAMES = ("x", "")


class eig_result(NamedTuple):
    eigenvalues: Tensor
    eigenvectors: Tensor


class eigh_result(NamedTuple):
    eigenvalues: Tensor
    eigenvectors: Tensor


class qr_result(NamedTuple):
    Q: Tensor
    R: Tensor


class slogdet_result(NamedTuple):
    sign: Tensor
    logabsdet: Tensor


class svd_result(NamedTuple):
    U: Tensor
    S: Tensor
    Vh: Tensor


# ---- decompositions -----------------------------------------------------------------------------


@function
def cholesky(x: Tensor, /, *, upper: bool = False) -> Tensor:
    """Return the lower, or upper, triangular Cholesky factor of positive definite matrices.

    Only that triangle is read.
    """
    x = _square("cholesky", x)
    if not x.size:
        return _core.empty(x.shape, x.dtype)
    upper = flag_argument("cholesky", "upper", upper)
    return answered("cholesky", _core.cholesky, x, upper, names=_NAMES)


@function
def qr(x: Tensor, /, *, mode: str = "reduced") -> qr_result:
    """Return Q with orthonormal columns and R upper triangular; "complete" makes Q square."""
    x = _matrices("qr", x)
    if not isinstance(mode, str) or mode not in ("reduced", "complete"):
        raise InvalidArgument(f'qr: mode is {shown(mode)}; it must be "reduced" or "complete".')
    if not x.size:
        return qr_result(*by_operator("qr", "qr", x, mode))
    q, r = answered("qr", _core.qr, x, mode, names=_NAMES)
    assert q is not None
    return qr_result(q, r)


@function
def svd(x: Tensor, /, *, full_matrices: bool = True) -> svd_result:
    """Return U, the singular values in descending order, and the conjugate transpose of V."""
    x = _matrices("svd", x)
    full_matrices = flag_argument("svd", "full_matrices", full_matrices)
    reduced = not full_matrices
    found = answered("svd", _core.svd, x, reduced, names=_NAMES) if x.size else None
    u, s, v = by_operator("svd", "svd", x, reduced) if found is None else found
    return svd_result(u, _core.row_major_copy(diagonal(s)), _adjoint(v))


@function
def svdvals(x: Tensor, /) -> Tensor:
    """Return the singular values in descending order."""
    x = _matrices("svdvals", x)
    if not x.size:
        return _core.empty((*x.shape[:-2], min(x.shape[-2:])), part(x.dtype))
    return singular_values("svdvals", x)


@function
def eig(x: Tensor, /) -> eig_result:
    """Return the eigenvalues, unordered, and the eigenvectors in columns; both complex."""
    x = _square("eig", x)
    if not x.size:
        return eig_result(*by_operator("eig", "eig", x))
    return eig_result(*answered("eig", _core.eig, x, names=_NAMES))


@function
def eigvals(x: Tensor, /) -> Tensor:
    """Return the eigenvalues, unordered and complex."""
    x = _square("eigvals", x)
    found: Tensor
    if not x.size:
        found, _ = by_operator("eigvals", "eig", x)
    else:
        found = answered("eigvals", _core.eigenvalues, x, names=_NAMES)
    return found


@function
def eigh(x: Tensor, /) -> eigh_result:
    """Return the eigenvalues of Hermitian matrices, ascending, and eigenvectors in columns.

    Only the lower triangle is read.

    >>> xp.linalg.eigh(xp.asarray([[0.0, 9], [2, 0]])).eigenvalues
    Tensor([-2,  2], dtype=float32)
    """
    x = _square("eigh", x)
    if not x.size:
        return eigh_result(_core.empty(x.shape[:-1], part(x.dtype)), _core.empty(x.shape, x.dtype))
    values, vectors = answered("eigh", _core.hermitian_eigenvalues, x, True, names=_NAMES)
    assert vectors is not None
    return eigh_result(values, vectors)


@function
def eigvalsh(x: Tensor, /) -> Tensor:
    """Return the eigenvalues of Hermitian matrices, ascending; only the lower triangle is read."""
    x = _square("eigvalsh", x)
    if not x.size:
        return _core.empty(x.shape[:-1], part(x.dtype))
    return answered("eigvalsh", _core.hermitian_eigenvalues, x, False, names=_NAMES)[0]


# ---- equations and determinants -----------------------------------------------------------------


@function
def det(x: Tensor, /) -> Tensor:
    """Return the determinants; that of an empty matrix is 1."""
    x = _square("det", x)
    if not x.size:
        return _core.full(x.shape[:-2], x.dtype, 1)
    return answered("det", _core.determinant, x, names=_NAMES)


@function
def slogdet(x: Tensor, /) -> slogdet_result:
    """Return the signs of determinants and the natural logarithms of their magnitudes.

    >>> xp.linalg.slogdet(xp.asarray([[0.0, 1e-30], [1e-30, 0]]))
    slogdet_result(sign=Tensor(-1, dtype=float32), logabsdet=Tensor(-138.1551, dtype=float32))
    """
    x = _square("slogdet", x)
    if not x.size:
        batch = x.shape[:-2]
        return slogdet_result(_core.full(batch, x.dtype, 1), _core.full(batch, part(x.dtype), 0))
    return slogdet_result(*answered("slogdet", _core.log_determinant, x, names=_NAMES))


@function
def inv(x: Tensor, /) -> Tensor:
    """Return the inverses; matrices that are singular to their precision are refused."""
    x = _square("inv", x)
    if not x.size:
        return _core.empty(x.shape, x.dtype)
    return answered("inv", _core.inverse, x, names=_NAMES)


@function
def solve(x1: Tensor, x2: Tensor, /) -> Tensor:
    """Return the solution of x1 @ x = x2; `x2` is one right-hand side, or several in columns.

    An `x2` of one axis is one right-hand side for all matrices. Matrices that are singular to their
    precision are refused.
    """
    x1 = array_argument("solve", "x1", x1, NUMERIC)
    x2 = array_argument("solve", "x2", x2, NUMERIC)
    dt = promoted("solve", x1.dtype, x2.dtype)
    dt = _float_of(dt)
    a, b = _square("solve", converted(x1, dt), "x1"), converted(x2, dt)
    one = b.ndim == 1
    b = _core.view(b, b.offset, (*b.shape, 1), (*b.strides, 1)) if one else b
    if b.ndim < 2 or b.shape[-2] != a.shape[-1]:
        raise DimensionsMismatch(
            f"solve: x1 has shape {x1.shape} and x2 {x2.shape}; x2 must have {a.shape[-1]} rows."
        )
    batch = broadcast_shapes([a.shape[:-2], b.shape[:-2]])
    if batch is None:
        raise DimensionsMismatch(
            f"solve: x1 has shape {x1.shape} and x2 {x2.shape}; axes before the last two must be "
            "equal, or 1."
        )
    shape = (*batch, *b.shape[-2:])
    if 0 in shape:
        made = _core.empty(shape, dt)
    else:
        made = answered("solve", _core.solve, a, b, False, names=("x1", "x2"))
    return made.reshape(made.shape[:-1]) if one else made


@function
def pinv(x: Tensor, /, *, rtol: float | Tensor | None = None) -> Tensor:
    """Return the Moore-Penrose pseudo-inverses.

    Singular values of at most `rtol` times the largest count as 0; without it, that is the larger
    size of a matrix times the dtype's epsilon (for float8, float16's).
    """
    x = _matrices("pinv", x)
    *batch, rows, columns = x.shape
    cut = tolerance("pinv", x.dtype, rtol, x.shape)
    if not x.size:
        return _core.full((*batch, columns, rows), x.dtype, 0)
    u, s, vh = svd(converted(x, widened(x.dtype)), full_matrices=False)
    kept = _above(s, cut)
    ones = _core.run_operator("where", [kept, s, 1], s.dtype)[0]
    inverse = _core.run_operator("where", [kept, computed("reciprocal", ones), 0], s.dtype)[0]
    across = inverse.reshape((*inverse.shape, 1))
    scaled = computed("mul", _adjoint(u), converted(across, u.dtype))
    return converted(product("pinv", _adjoint(vh), scaled, u.dtype), x.dtype)


@function
def matrix_rank(x: Tensor, /, *, rtol: float | Tensor | None = None) -> Tensor:
    """Return the number of singular values above `rtol` times the largest, as int64; see `pinv`."""
    x = _matrices("matrix_rank", x)
    cut = tolerance("matrix_rank", x.dtype, rtol, x.shape)
    if not x.size:
        return _core.full(x.shape[:-2], int64, 0)
    return total(_above(singular_values("matrix_rank", x), cut), axis=-1)


@function
def matrix_power(x: Tensor, n: int, /) -> Tensor:
    """Return the n-th powers of matrices, or of their inverses if `n` is negative."""
    x = array_argument("matrix_power", "x", x, NUMERIC)
    power = integer_argument("matrix_power", "n", n)
    x = _square("matrix_power", x) if power < 0 or x.dtype.exponent_bits else x
    if x.ndim < 2 or x.shape[-1] != x.shape[-2]:
        _square("matrix_power", converted(x, _float_of(x.dtype)))
    dt = widened(x.dtype) if x.dtype.exponent_bits else x.dtype
    if not power or not x.size:
        made = identities(x.shape[-2:], DEFAULT_FLOAT)
        return converted(_core.row_major_copy(repeated(made, x.shape)), x.dtype)
    base = inv(converted(x, dt)) if power < 0 else converted(x, dt)
    power, found = abs(power), None
    while power:
        if power & 1:
            found = base if found is None else product("matrix_power", found, base, dt)
        power >>= 1
        base = product("matrix_power", base, base, dt) if power else base
    assert found is not None
    return _core.cast(found, x.dtype, False)


# ---- vectors, diagonals and norms ---------------------------------------------------------------


@function
def cross(x1: Tensor, x2: Tensor, /, *, axis: int = -1) -> Tensor:
    """Return the cross products of vectors of 3 elements along an axis, counted from the last.

    >>> xp.linalg.cross(xp.asarray([1, 0, 0]), xp.asarray([0, 1, 0]))
    Tensor([0, 0, 1], dtype=int64)
    """
    x1 = array_argument("cross", "x1", x1, NUMERIC)
    x2 = array_argument("cross", "x2", x2, NUMERIC)
    dt = promoted("cross", x1.dtype, x2.dtype)
    last = integer_argument("cross", "axis", axis)
    n = min(x1.ndim, x2.ndim)
    if not -n <= last < n or (last >= 0 and x1.ndim != x2.ndim):
        raise OutOfRange(f"cross: axis is {last}; it must be from {-n} to -1.")
    last = last - x1.ndim if last >= 0 else last
    common = broadcast_shapes([x1.shape, x2.shape])
    if x1.shape[last] != 3 or x2.shape[last] != 3 or common is None:
        raise DimensionsMismatch(
            f"cross: x1 has shape {x1.shape} and x2 {x2.shape}; along axis {last} both must have 3 "
            "elements, and along the others as many, or 1."
        )
    wide = widened(dt) if dt.exponent_bits else dt
    a, b = ([_at(converted(x, wide), last, i) for i in range(3)] for x in (x1, x2))
    parts = []
    for i, j in ((1, 2), (2, 0), (0, 1)):
        parts.append(computed("sub", computed("mul", a[i], b[j]), computed("mul", a[j], b[i])))
    made = _core.join(parts, len(common) + last, wide, True)
    return converted(made, dt)


@function
def outer(x1: Tensor, x2: Tensor, /) -> Tensor:
    """Return the outer product of two vectors."""
    x1 = array_argument("outer", "x1", x1, NUMERIC)
    x2 = array_argument("outer", "x2", x2, NUMERIC)
    if x1.ndim != 1 or x2.ndim != 1:
        raise DimensionsMismatch(
            f"outer: x1 has shape {x1.shape} and x2 {x2.shape}; both must have one axis."
        )
    dt = promoted("outer", x1.dtype, x2.dtype)
    return computed("mul", converted(x1, dt).reshape(-1, 1), converted(x2, dt))


@function
def diagonal(x: Tensor, /, *, offset: int = 0) -> Tensor:
    """Return a view of the diagonals along a last axis; a positive offset is above the main one.

    >>> xp.linalg.diagonal(xp.asarray([[1, 2], [3, 4]]), offset=1)
    Tensor([2], dtype=int64)
    """
    made = _core.diagonal(x, offset)
    if made is not None:
        return made
    x = array_argument("diagonal", "x", x, ELEMENTS)
    if x.ndim < 2:
        raise DimensionsMismatch(f"diagonal: x has shape {x.shape}; a matrix has two axes.")
    by = integer_argument("diagonal", "offset", offset)
    most = max(x.shape[-2:])  # beyond which there is nothing, however far
    made = _core.diagonal(x, max(-most, min(by, most)))
    assert made is not None
    return made


@function
def trace(x: Tensor, /, *, offset: int = 0, dtype: DTypeLike | None = None) -> Tensor:
    """Return the sums along diagonals; those of integers have 64 bits, unless `dtype` is given."""
    if type(x) is Tensor and x.dtype in PLAIN and x.dtype.exponent_bits and dtype is None:
        found = _core.diagonal(x, offset)
        if found is not None and found.size:
            return _core.reduce(found, _SUM, (found.ndim - 1,), False)
    x = array_argument("trace", "x", x, NUMERIC)
    return total(diagonal(x, offset=offset), axis=-1, dtype=dtype)


@function
def matrix_norm(x: Tensor, /, *, keepdims: bool = False, ord: Any = "fro") -> Tensor:
    """Return matrix norms: "fro", "nuc", 1, -1, 2, -2, inf or -inf.

    >>> xp.linalg.matrix_norm(xp.asarray([[3.0, -4], [0, 12]]))
    Tensor(13, dtype=float32)
    """
    return matrix_norms("matrix_norm", _matrices("matrix_norm", x), keepdims, ord)


@function
def vector_norm(x: Tensor, /, *, axis: Axes = None, keepdims: bool = False, ord: Any = 2) -> Tensor:
    """Return vector norms of any order along axes, or of all elements; `ord` may be inf or -inf.

    >>> xp.linalg.vector_norm(xp.asarray([3, -4], dtype=xp.float16), ord=1)
    Tensor(7, dtype=float16)
    """
    x = _floating("vector_norm", "x", x)
    return vector_norms("vector_norm", x, axis, keepdims, ord)


# ---- what they share ----------------------------------------------------------------------------


def _floating(function: str, name: str, x: Any) -> Tensor:
    x = array_argument(function, name, x, NUMERIC)
    return converted(x, _float_of(x.dtype))


def _float_of(dt: DType) -> DType:
    """Return the dtype that is computed with: of integers, one that has as many bits or 32."""
    if dt.exponent_bits:
        return dt
    return float64 if dt.bits == 64 else DEFAULT_FLOAT


def _matrices(function: str, x: Any, name: str = "x") -> Tensor:
    found = _floating(function, name, x)
    if found.ndim < 2:
        raise DimensionsMismatch(
            f"{function}: {name} has shape {found.shape}; a matrix has two axes, and those of a "
            "batch come before them."
        )
    return found


def _square(function: str, x: Any, name: str = "x") -> Tensor:
    found = _matrices(function, x, name)
    if found.shape[-1] != found.shape[-2]:
        raise DimensionsMismatch(
            f"{function}: {name} has shape {found.shape}; its last two axes must be a square "
            "matrix."
        )
    return found


def _adjoint(x: Tensor) -> Tensor:
    turned = matrix_transpose(x)
    return _core.conjugate(turned) if x.dtype.kind == "complex" else turned


def _above(values: Tensor, cut: Any) -> Tensor:
    """Return which singular values are above a tolerance times the first, the largest."""
    first = values[..., :1]
    if isinstance(cut, Tensor):
        cut = cut.reshape((*cut.shape, 1))
    return computed("greater", values, computed("mul", first, cut))


def _at(x: Tensor, axis: int, i: int) -> Tensor:
    """Return a view of one element along an axis that counts from the last."""
    along = x.ndim + axis
    shape, strides = list(x.shape), list(x.strides)
    del shape[along]
    step = strides.pop(along)
    return _core.view(x, x.offset + i * step, shape, strides)
