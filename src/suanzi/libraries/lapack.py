"""7.2.17.3 to .11: to LAPACK and back, for the matrices in the last two axes of a tensor.

The core calls LAPACK itself, for matrices that have a plain answer. What it leaves is computed
again here, matrix by matrix: what must be scaled, refused, or explained. The LAPACK of this file is
SciPy's, whichever the core's own comes from. It wants columns that lie one behind the other and
overwrites what it gets, so that every operand is copied once, to that order and to the dtype it
computes in.

Numbers must be finite, and so are the results, before they are rounded to a narrow dtype.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any

from suanzi import _core
from suanzi.dtypes import DType, complex64, complex128, finfo, float32, float64
from suanzi.layout import strides_of
from suanzi.libraries import room
from suanzi.promote.context import get_promotion
from suanzi.registry import Operator
from suanzi.resolve.elementwise import check_dtype, promote
from suanzi.status import InternalError, InvalidArgument
from suanzi.tensors.exchange import check_room, from_numpy, to_numpy
from suanzi.tensors.parts import converted
from suanzi.tensors.tensor import Tensor

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, Any]

_LETTERS = {float32: "s", float64: "d", complex64: "c", complex128: "z"}
_COMPLEX_NAMES = {"orgqr": "ungqr", "ormqr": "unmqr", "syevd": "heevd"}
MANY_AXES = 32
"""Of matrices: more, and NumPy's generalised functions may have no room for axes of their own."""
BLOCK = 64
"""How many columns LAPACK works on at once, which is what its workspaces depend on."""


# ---- what comes ---------------------------------------------------------------------------------


def promoted_dtype(op: Operator, operands: Mapping[str, Tensor]) -> DType:
    """Return the dtype of the result; integers become floating-point by the rule set in force."""
    found = promote(op, operands).dtype
    assert found is not None
    check_dtype(op, operands, found)
    if get_promotion().name == "numpy" and any(x.dtype not in op.dtypes for x in operands.values()):
        # NumPy's linear algebra takes every integer for float64, as its other functions do not.
        return complex128 if found.kind == "complex" else float64
    return found


def check_rank(op: Operator, name: str, x: Tensor) -> None:
    """Raise InvalidArgument unless a tensor has the two axes of a matrix."""
    if x.ndim < 2:
        raise InvalidArgument(
            f"{op.title}: {name} has shape {x.shape}; a matrix has two axes, and those of a batch "
            "come before them."
        )


def check_square(op: Operator, name: str, x: Tensor) -> None:
    """Raise InvalidArgument unless the last two axes of a tensor are square matrices."""
    check_rank(op, name, x)
    if x.shape[-2] != x.shape[-1]:
        raise InvalidArgument(
            f"{op.title}: {name} has shape {x.shape}; its last two axes must be a square matrix."
        )


def computing_dtype(dt: DType) -> DType:
    """Return the dtype LAPACK computes in.

    >>> from suanzi.dtypes import bfloat16, complex32
    >>> computing_dtype(bfloat16), computing_dtype(complex32), computing_dtype(float64)
    (suanzi.float32, suanzi.complex64, suanzi.float64)
    """
    if dt in _LETTERS:
        return dt
    return complex64 if dt.kind == "complex" else float32


# ---- there and back -----------------------------------------------------------------------------


@dataclass(frozen=True)
class Copies:
    """Copies of the matrices of a tensor, for LAPACK to overwrite."""

    base: Tensor
    """The memory, as [..., columns, rows]."""
    tensor: Tensor
    """The copies in the shape of the tensor."""

    @cached_property
    def arrays(self) -> Array:
        """The same memory as [count, rows, columns], each matrix column by column."""
        shape = (math.prod(self.batch), *self.base.shape[-2:])
        return to_numpy(_core.view(self.base, 0, shape, strides_of(shape))).swapaxes(1, 2)

    @property
    def batch(self) -> tuple[int, ...]:
        """The sizes of the axes before the last two."""
        return self.tensor.shape[:-2]


def columns(x: Tensor, dt: DType) -> Copies:
    """Return copies of matrices in a dtype, each with its columns one behind the other."""
    made = unset(x.shape, dt)
    _core.copy_into(made.tensor, x)
    return made


def unset(shape: tuple[int, ...], dt: DType) -> Copies:
    """Return matrices whose elements are to be written."""
    *batch, rows, width = shape
    base = _core.empty((*batch, width, rows), dt)
    return Copies(base, transposed(base))


def transposed(x: Tensor) -> Tensor:
    """Return a view with the last two axes exchanged."""
    *batch, rows, width = x.shape
    *outer, down, across = x.strides
    return _core.view(x, x.offset, (*batch, width, rows), (*outer, across, down))


def matrix_at(x: Tensor, i: int) -> Tensor:
    """Return a view of one matrix of a batch, counted in row-major order."""
    offset = x.offset
    for n, stride in zip(reversed(x.shape[:-2]), reversed(x.strides[:-2]), strict=True):
        i, rest = divmod(i, n)
        offset += rest * stride
    return _core.view(x, offset, x.shape[-2:], x.strides[-2:])


def repeated_to(x: Tensor, batch: tuple[int, ...]) -> Tensor:
    """Return a view with the matrices repeated to a larger batch."""
    missing = len(batch) - (x.ndim - 2)
    own = (1,) * missing + x.shape[:-2]
    steps = (0,) * missing + x.strides[:-2]
    strides = [s if n > 1 else 0 for n, s in zip(own, steps, strict=True)]
    return _core.view(x, x.offset, (*batch, *x.shape[-2:]), (*strides, *x.strides[-2:]))


def as_array(x: Tensor, dt: DType) -> Array:
    """Return the elements in a dtype: on the memory of the tensor where it has that dtype."""
    check_room(x.size * dt.bits // 8, f"{x.size} numbers of {dt}")  # what follows makes copies
    return to_numpy(converted(x, dt))


def rounded(x: Tensor | Array, dt: DType) -> Tensor:
    """Return a result in a dtype, rounded once; arrays are taken over."""
    return converted(x if isinstance(x, Tensor) else from_numpy(x), dt)


def zeros(shape: tuple[int, ...], dt: DType) -> tuple[Tensor, Array]:
    """Return a new tensor of zeros, and its elements as an array."""
    made = _core.full(shape, dt, 0)
    return made, to_numpy(made)


def identities(shape: tuple[int, ...], dt: DType) -> Tensor:
    """Return matrices with ones on the diagonal, and zeros elsewhere."""
    made = _core.full(shape, computing_dtype(dt), 0)
    if made.size:
        on_diagonal(to_numpy(made))[...] = 1
    return converted(made, dt)


def on_diagonal(array: Array) -> Array:
    """Return a view of the diagonals that can be written to."""
    import numpy as np

    k = min(array.shape[-2:])
    found: Array = np.einsum("...ii->...i", array[..., :k, :k])
    return found


def make_diagonal_real(a: Array) -> None:
    """Set the imaginary parts of the diagonal of a matrix to zero, where there are any."""
    if a.dtype.kind == "c":
        on_diagonal(a).imag = 0


def clear_below(a: Array) -> None:
    """Set what is below the diagonal of a matrix to zero, most of it in blocks."""
    rows, width = a.shape
    for start in range(0, min(rows, width), BLOCK):
        end = min(start + BLOCK, width)
        a[end:, start:end] = 0
        square = a[start:end, start:end]
        for i in range(1, square.shape[0]):
            square[i, :i] = 0


# ---- LAPACK -------------------------------------------------------------------------------------


@cache
def _routine(name: str, dt: DType) -> Callable[..., Any]:
    lapack = room.load("scipy.linalg.lapack")
    if dt.kind == "complex":
        name = _COMPLEX_NAMES.get(name, name)
    found: Callable[..., Any] = getattr(lapack, _LETTERS[dt] + name)
    return found


def call(op: Operator, name: str, dt: DType, *args: Any, **kwargs: Any) -> tuple[Any, ...]:
    """Call a routine of LAPACK and return what it gives, without and then with its `info`.

    A complaint about the arguments is an error of ours, never of the caller.
    """
    routine = _routine(name, dt)
    room.check()
    try:
        *found, info = routine(*args, **kwargs)
    except MemoryError:
        raise
    except Exception as error:
        raise InternalError(
            f"{op.title}: LAPACK's {name} refused its arguments: {error}."
        ) from error
    if info < 0:
        raise InternalError(f"{op.title}: LAPACK's {name} refused its argument {-info}.")
    return (*found, info)


def put(target: Array, made: Array) -> None:
    """Bring a result to its place, where LAPACK's wrapper chose to work on a copy of it.

    It does so for memory that is no multiple of 8 bytes, as of every other float32 matrix.
    """
    import numpy as np

    if not np.may_share_memory(target, made):
        target[...] = made


def workspace(op: Operator, name: str, dt: DType, *args: Any, **kwargs: Any) -> list[int]:
    """Return the sizes that LAPACK would like its workspaces to have."""
    *sizes, _ = call(op, f"{name}_lwork", dt, *args, **kwargs)
    # A float32 holds no large size exactly.
    return [math.ceil(complex(size).real * (1 + 2.0**-20)) for size in sizes]


def norm_of(a: Array, dt: DType, which: str) -> float:
    """Return a norm of a matrix: "I" the largest sum of a row, "1" that of a column."""
    return float(_routine("lange", dt)(which, a))


def rcond(op: Operator, r: Array, dt: DType, which: str) -> float:
    """Return the reciprocal condition number of a triangular matrix, as LAPACK estimates it."""
    size = norm_of(r, dt, which)
    return float(call(op, "gecon", dt, r, size, norm=which)[0]) if math.isfinite(size) else 0.0


def inverse_norm(op: Operator, lu: Array, swaps: Array, dt: DType) -> float:
    """Return an estimate from below of the largest row sum of an inverse, seldom off by 3 times.

    This is what LAPACK's gecon does (Hager's and Higham's search for the vector that the adjoint
    enlarges most), with solutions that take half the time and may overflow: that is infinity.
    """
    import numpy as np

    def solution(x: Array, trans: int) -> Array:
        found: Array = call(op, "getrs", dt, lu, swaps, x, trans=trans)[0]
        return found

    n = len(lu)
    x, largest, last = np.full(n, 1 / n, lu.dtype), 0.0, -1
    for _ in range(5):
        y = solution(x, 2)
        sizes = np.abs(y)
        size = float(sizes.sum())
        if not math.isfinite(size):
            return math.inf
        if size <= largest:
            break
        largest = size
        signs = np.divide(y, sizes, out=np.ones_like(y), where=sizes > 0)
        steepest = int(np.abs(solution(signs, 0)).argmax())
        if steepest == last:
            break
        last = steepest
        x = np.zeros(n, lu.dtype)
        x[steepest] = 1
    alternating = np.linspace(1, 2, n, dtype=lu.dtype)
    alternating[1::2] *= -1
    again = float(np.abs(solution(alternating, 2)).sum()) * 2 / (3 * n)
    return max(largest, again) if math.isfinite(again) else math.inf


def epsilon(dt: DType) -> float:
    """Return the machine epsilon of a dtype, or of its parts."""
    from suanzi.dtypes import part

    return float(finfo(part(dt)).eps)


def many_small(x: Tensor) -> bool:
    """Tell whether a call for each matrix would cost more than what it computes."""
    return max(x.shape[-2:]) <= 16 and math.prod(x.shape[:-2]) > 1


# ---- powers of two ------------------------------------------------------------------------------


def exponents(arrays: Array) -> Array:
    """Return the exponents of the larger parts of numbers, those of 0 below all others."""
    import numpy as np

    sizes = np.maximum(np.abs(arrays.real), np.abs(arrays.imag))
    found: Array = np.where(sizes > 0, np.frexp(sizes)[1], -(10**6))
    return found


def scale(arrays: Array, powers: Array) -> None:
    """Multiply by powers of two, in place; each number is rounded once, if at all."""
    import numpy as np

    with np.errstate(all="ignore"):
        for parts in (arrays.real, arrays.imag) if arrays.dtype.kind == "c" else (arrays,):
            np.ldexp(parts, powers, out=parts)


def away_from_the_ends(arrays: Array) -> Array:
    """Return powers of two that bring [..., rows, columns] to where no 2-norm overflows."""
    import numpy as np

    largest = exponents(arrays).max(axis=(-2, -1), keepdims=True)
    end = int(np.finfo(arrays.dtype).maxexp) * 7 // 8
    found: Array = np.where(largest > -(10**6), largest.clip(-end, end) - largest, 0)
    return found


# ---- what is wrong with the numbers -------------------------------------------------------------


def batch_index(batch: tuple[int, ...], i: int) -> str:
    """Return where a matrix of a batch is, in words; nothing where there is but one.

    >>> batch_index((2, 3), 4), batch_index((), 0)
    (' at [1, 1]', '')
    """
    index = []
    for n in reversed(batch):
        i, rest = divmod(i, n)
        index.append(rest)
    return f" at {index[::-1]}" if batch else ""


def first_not_finite(arrays: Array) -> int | None:
    """Return the first of [count, ...] arrays that holds NaN or an infinity, or None."""
    import numpy as np

    with np.errstate(all="ignore"):
        if np.isfinite(arrays.sum()):  # which no NaN and no infinity leaves finite
            return None
    good = np.isfinite(arrays).reshape(len(arrays), -1).all(axis=1)
    return None if good.all() else int(good.argmin())


def check_finite(op: Operator, name: str, arrays: Array, batch: tuple[int, ...]) -> None:
    """Raise InvalidArgument if an operand holds NaN or an infinity."""
    bad = first_not_finite(arrays.reshape(math.prod(batch), *arrays.shape[-2:]))
    if bad is not None:
        raise not_finite(op, name, batch, bad)


def not_finite(op: Operator, name: str, batch: tuple[int, ...], i: int) -> InvalidArgument:
    """Return the error for a matrix with NaN or an infinity."""
    return InvalidArgument(
        f"{op.title}: {name}{batch_index(batch, i)} holds NaN or an infinity, and LAPACK computes "
        "with finite numbers. Look for them with sz.is_finite."
    )


def did_not_converge(op: Operator, batch: tuple[int, ...], i: int) -> InvalidArgument:
    """Return the error for a matrix of which an iteration found no end."""
    return InvalidArgument(
        f"{op.title}: the iteration for mat{batch_index(batch, i)} did not converge. Scale the "
        "matrix, or cast it to a wider dtype."
    )


def check_result(op: Operator, result: Array, dt: DType) -> None:
    """Raise InvalidArgument if numbers became too large on the way."""
    if result.size and first_not_finite(result[None]) is not None:
        raise InvalidArgument(
            f"{op.title}: the result goes beyond what {dt} holds. Scale the operands, or cast "
            "them to a dtype with a wider range."
        )
