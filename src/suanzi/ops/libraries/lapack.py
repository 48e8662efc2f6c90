"""7.2.17.3 to .11: the operands of LAPACK, and the words for what it cannot compute.

The core calls the LAPACK of the chosen provider, for the matrices in the last two axes of a tensor.
It scales where that helps, and raises `Refused` for the first matrix without an answer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from suanzi import _core
from suanzi.base.dtypes import DType, complex128, finfo, float64, part, widened
from suanzi.base.status import AllocFailed, InternalError, InvalidArgument, StatusError
from suanzi.ops.calling.elementwise import check_dtype, promote
from suanzi.promote.context import get_promotion
from suanzi.promote.registry import Operator
from suanzi.tensors.tensor import Tensor

R = TypeVar("R")


# ---- operands -----------------------------------------------------------------------------------


def promoted_dtype(op: Operator, operands: Mapping[str, Tensor]) -> DType:
    """Return the dtype of the result; integers become floating-point by the active rule set."""
    dt = promote(op, operands).dtype
    assert dt is not None
    check_dtype(op, operands, dt)
    if get_promotion().name == "numpy" and any(x.dtype not in op.dtypes for x in operands.values()):
        # NumPy's linear algebra converts every integer to float64, unlike its other functions.
        return complex128 if dt.kind == "complex" else float64
    return dt


def check_rank(op: Operator, name: str, x: Tensor) -> None:
    """Raise InvalidArgument unless a tensor has the two axes of a matrix."""
    if x.ndim < 2:
        raise InvalidArgument(
            f"{op.title}: {name} has shape {x.shape}; it must have two axes for a matrix, after "
            "any axes of a batch."
        )


def check_square(op: Operator, name: str, x: Tensor) -> None:
    """Raise InvalidArgument unless the last two axes of a tensor are square matrices."""
    check_rank(op, name, x)
    if x.shape[-2] != x.shape[-1]:
        raise InvalidArgument(
            f"{op.title}: {name} has shape {x.shape}; its last two axes must be a square matrix."
        )


def epsilon(dt: DType) -> float:
    """Return the machine epsilon of a dtype, or of its parts."""
    return float(finfo(part(dt)).eps)


def identities(shape: tuple[int, ...], dt: DType) -> Tensor:
    """Return matrices with ones on the diagonal and zeros elsewhere."""
    made = _core.full(shape, dt, 0)
    if made.size:
        _core.copy_into(_core.diagonal(made, 0), _core.full((), dt, 1))
    return made


# ---- refusals -----------------------------------------------------------------------------------


class Refused(Exception):
    """What the core raises: the number of the reason, the matrix, and a number about it."""

    def __init__(self, reason: int, matrix: int, value: float) -> None:
        super().__init__(reason, matrix, value)
        self.reason, self.matrix, self.value = _REASONS[reason], matrix, value

    def error(
        self,
        title: str,
        mat: Tensor,
        rhs: Tensor | None = None,
        names: tuple[str, str] = ("mat", "rhs"),
    ) -> StatusError:
        """Return the error for a user, in the name of an operator; `names` are its parameters."""
        operand = rhs if self.reason == "sides_not_finite" and rhs is not None else mat
        compute = widened(mat.dtype)
        words = _WORDS[self.reason].format(
            mat=names[0],
            rhs=names[1],
            at=batch_index(operand.shape[:-2], self.matrix),
            value=self.value,
            least=epsilon(compute),
            compute=compute,
            dtype=mat.dtype,
            shape=mat.shape,
        )
        return _ERRORS.get(self.reason, InvalidArgument)(f"{title}: {words}")


_WORDS = {
    "too_large": "{mat} has shape {shape}, and the workspace that LAPACK needs for it exceeds the "
    "range of its 32-bit integers. Use smaller matrices.",
    "not_finite": "{mat}{at} contains NaN or an infinity, and LAPACK computes with finite numbers. "
    "Find them with sz.is_finite.",
    "sides_not_finite": "{rhs}{at} contains NaN or an infinity, and LAPACK computes with finite "
    "numbers. Find them with sz.is_finite.",
    "singular": "{mat}{at} is singular to the precision of {compute}: its reciprocal condition "
    "number is about {value:.2g}, and must be {least:.2g} at least. sz.lstsq gives the "
    "least-squares solution of least norm.",
    "not_positive_definite": "{mat}{at} is not positive definite: its leading minor of order "
    "{value:.0f} is not positive. Use sz.lu for other matrices.",
    "no_convergence": "the iteration for {mat}{at} did not converge. Scale the matrix, or cast it "
    "to a wider dtype.",
    "overflow": "the result exceeds the range of {dtype}. Scale the operands, or cast them to a "
    "dtype with a wider range.",
    "refused": "LAPACK refused its argument {value:.0f}.",
    "unavailable": "the provider of BLAS and LAPACK could not be loaded. Install another one, such "
    "as suanzi[openblas], and choose it with sz.set_provider.",
}
_ERRORS = {"too_large": AllocFailed, "refused": InternalError, "unavailable": InternalError}
_REASONS = ("none", "memory", *_WORDS)
"""In the order of the core's."""


def answered(
    title: str,
    core: Callable[..., R],
    mat: Tensor,
    *rest: Any,
    names: tuple[str, str] = ("mat", "rhs"),
) -> R:
    """Call the core for matrices; its refusals become errors in the name of an operator."""
    try:
        return core(mat, *rest)
    except Refused as refused:
        rhs = rest[0] if rest and isinstance(rest[0], Tensor) else None
        raise refused.error(title, mat, rhs, names) from None
    except AllocFailed as error:
        raise AllocFailed(f"{title}: {error}") from None


def batch_index(batch: tuple[int, ...], i: int) -> str:
    """Return the index of a matrix in a batch, as words; nothing if there is only one.

    >>> batch_index((2, 3), 4), batch_index((), 0)
    (' at [1, 1]', '')
    """
    index = []
    for n in reversed(batch):
        i, rest = divmod(i, n)
        index.append(rest)
    return f" at {index[::-1]}" if batch else ""
