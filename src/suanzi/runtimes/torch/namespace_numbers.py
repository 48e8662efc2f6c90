"""Functions of the array API on a device that combine, multiply, decompose or transform elements.

What they return is rounded once to the dtype that the CPU's function gives.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import torch

from suanzi.base import dtypes
from suanzi.base.dtypes import DType
from suanzi.base.status import InvalidArgument
from suanzi.ops.reduction_modes import ReduceMode, reduced_shape
from suanzi.runtimes.torch import deferred_errors
from suanzi.runtimes.torch.casts import cast
from suanzi.runtimes.torch.copying import moved
from suanzi.runtimes.torch.dtypes import resolved
from suanzi.runtimes.torch.elements import lanes, number
from suanzi.runtimes.torch.kernels import Loop, maximum, minimum
from suanzi.runtimes.torch.matrices import (
    by_parts,
    check_singular,
    doubled,
    grown,
    product,
    real_diagonal,
    scaled,
)
from suanzi.runtimes.torch.matrices import finite as finite_only
from suanzi.runtimes.torch.namespace import axes_of, integers, order_of
from suanzi.runtimes.torch.reductions import combined
from suanzi.runtimes.torch.ways import Call, way

# ---- elements ------------------------------------------------------------------------------------


@way("array_api:logical_not")
def logical_not(call: Call, x: torch.Tensor) -> Any:
    """Return whether elements are zero."""
    return ~cast(x, call.dtypes["x"], dtypes.bool)


@way("array_api:positive")
def positive(call: Call, x: torch.Tensor) -> Any:
    """Return a copy."""
    return x.clone()


@way("array_api:conj")
def conj(call: Call, x: torch.Tensor) -> Any:
    """Return conjugates."""
    if not x.is_complex():
        return x.clone()
    parts = torch.view_as_real(resolved(x)).clone()
    parts[..., 1].neg_()
    return torch.view_as_complex(parts)


@way("array_api:real", "array_api:imag")
def part(call: Call, x: torch.Tensor) -> Any:
    """Return real or imaginary parts: views."""
    if not x.is_complex():
        return x if call.op.name == "real" else torch.zeros_like(x)
    return torch.view_as_real(resolved(x))[..., 0 if call.op.name == "real" else 1]


@way("array_api:clip")
def clip(call: Call, x: torch.Tensor, min: Any, max: Any) -> Any:
    """Return elements limited to a range, whose upper end wins."""
    dt = call.result.dtype
    loop, made = Loop(call, dt), lanes(cast(x, call.dtypes["x"], dt), dt)
    for name, limit, best in (("min", min, maximum), ("max", max, minimum)):
        if isinstance(limit, torch.Tensor):
            made = best(loop, made, lanes(cast(limit, call.dtypes[name], dt), dt))
        elif limit is not None:
            made = best(loop, made, number(limit, dt, call.place))
    return made.clone() if made is x else made.view(torch.uint64) if loop.is_uint64 else made


# ---- along axes ----------------------------------------------------------------------------------

_MODES = {
    "sum": ReduceMode.SUM, "prod": ReduceMode.PROD, "mean": ReduceMode.MEAN, "max": ReduceMode.MAX,
    "min": ReduceMode.MIN, "all": ReduceMode.LAND, "any": ReduceMode.LOR,
    "count_nonzero": ReduceMode.SUM,
}  # fmt: skip


@way(*(f"array_api:{name}" for name in _MODES))
def reduce(call: Call, x: torch.Tensor, axis: Any, keepdims: Any, dtype: Any = None) -> Any:
    """Combine elements along axes."""
    name, dt, axes = call.op.name, call.dtypes["x"], axes_of(axis, x.dim())
    target = dtypes.bool if name == "count_nonzero" else call.result.dtype
    if name in ("sum", "prod", "count_nonzero") or (name == "mean" and not axes):
        x, dt = cast(x, dt, target), target
    shape = reduced_shape(tuple(x.shape), axes, bool(keepdims))
    if not axes:
        return cast(x, dt, call.result.dtype)
    if dt is dtypes.bool and name in ("max", "min"):
        x, dt = x.to(torch.uint8), dtypes.uint8
    return combined(call, _MODES[name], x, dt, axes).reshape(shape)


@way("array_api:var", "array_api:std")
def deviation(call: Call, x: torch.Tensor, axis: Any, correction: Any, keepdims: Any) -> Any:
    """Return variances, or their roots, in float64."""
    axes, dt = axes_of(axis, x.dim()), call.dtypes["x"]
    shape = reduced_shape(tuple(x.shape), axes, bool(keepdims))
    count = math.prod(x.shape[a] for a in axes)
    rest = count - float(correction)
    if rest <= 0 or not x.numel():
        return torch.full(shape, math.nan, dtype=torch.float64, device=call.place)
    wide = cast(x, dt, dtypes.complex128 if dt.is_complex else dtypes.float64)
    parts = torch.view_as_real(wide).unbind(-1) if dt.is_complex else (wide,)
    total: Any = 0
    for one in parts:
        apart = one - one.sum(axes, keepdim=True) / count if axes else one - one
        total = total + ((apart * apart).sum(axes) if axes else apart)
    made = total.reshape(shape) / rest
    return made if call.op.name == "var" else torch.sqrt(made)


@way("array_api:cumulative_sum", "array_api:cumulative_prod")
def cumulative(call: Call, x: torch.Tensor, axis: Any, dtype: Any, include_initial: Any) -> Any:
    """Return cumulative sums or products, of floats in float64."""
    adds, dt = call.op.name == "cumulative_sum", call.result.dtype
    along = 0 if axis is None else int(axis)
    wide = lanes(cast(x, call.dtypes["x"], dt), dt)
    kind = {"float": torch.float64, "complex": torch.complex128}.get(dt.kind, torch.int64)
    made = (torch.cumsum if adds else torch.cumprod)(wide.to(kind), along)
    if include_initial:
        shape = list(made.shape)
        shape[along] = 1
        first = torch.full(shape, 0 if adds else 1, dtype=kind, device=call.place)
        made = torch.cat([first, made], along)
    return made


@way("array_api:argmax", "array_api:argmin")
def best(call: Call, x: torch.Tensor, axis: Any, keepdims: Any) -> Any:
    """Return the index of the best element; of several, the first. A NaN is before all."""
    dt, largest = call.dtypes["x"], call.op.name == "argmax"
    flat, along = (x.reshape(-1), 0) if axis is None else (x, int(axis))
    if dt.kind == "float" and not largest:  # where a NaN is the smallest
        wide = lanes(flat, dt)
        flat, dt = torch.where(wide != wide, -math.inf, wide), dtypes.widened(dt)
        nothing = (wide != wide).any(along, keepdim=True)
        first = order_of((wide == wide).to(torch.int8), dtypes.int8, along).narrow(along, 0, 1)
        at = order_of(flat, dt, along).narrow(along, 0, 1)
        at = torch.where(nothing, first, at)
    else:
        at = order_of(flat, dt, along, largest).narrow(along, 0, 1)
    if axis is None:
        return at.reshape((1,) * x.dim() if keepdims else ())
    return at if keepdims else at.squeeze(along)


# ---- products ------------------------------------------------------------------------------------


def _factors(call: Call, x1: torch.Tensor, x2: torch.Tensor) -> list[torch.Tensor]:
    dt = call.result.dtype
    return [lanes(cast(x, call.dtypes[n], dt), dt) for n, x in (("x1", x1), ("x2", x2))]


@way("array_api:matmul")
def matmul(call: Call, x1: torch.Tensor, x2: torch.Tensor) -> Any:
    """Return products of matrices."""
    a, b = _factors(call, x1, x2)
    return product(a, b)


@way("array_api:tensordot")
def tensordot(call: Call, x1: torch.Tensor, x2: torch.Tensor, axes: Any) -> Any:
    """Return sums of products over pairs of axes."""
    a, b = _factors(call, x1, x2)
    if isinstance(axes, list | tuple) and isinstance(axes[0], int):  # an array of one number
        axes = axes[0]
    if isinstance(axes, list | tuple):
        first, second = axes_of(tuple(axes[0]), a.dim()), axes_of(tuple(axes[1]), b.dim())
    else:
        first, second = list(range(a.dim() - int(axes), a.dim())), list(range(int(axes)))
    left = [i for i in range(a.dim()) if i not in first]
    right = [i for i in range(b.dim()) if i not in second]
    shape = [a.shape[i] for i in left] + [b.shape[i] for i in right]
    inner = math.prod(a.shape[i] for i in first)
    rows = a.permute(left + first).reshape(math.prod(shape[: len(left)]), inner)
    columns = b.permute(second + right).reshape(inner, math.prod(shape[len(left) :]))
    return product(rows, columns).reshape(shape)


@way("array_api:vecdot")
def vecdot(call: Call, x1: torch.Tensor, x2: torch.Tensor, axis: int) -> Any:
    """Return dot products along an axis; the first operand is conjugated."""
    a, b = _factors(call, x1, x2)
    a, b = a.movedim(int(axis), -1), b.movedim(int(axis), -1)
    a = a.conj() if a.is_complex() else a
    a, b = torch.broadcast_tensors(a, b)
    return product(a[..., None, :], b[..., None])[..., 0, 0]


@way("array_api:einsum")
def einsum(call: Call, subscripts: str, operands: Any) -> Any:
    """Return sums of products by letters."""
    dt = call.result.dtype
    given = [
        lanes(cast(x, one, dt), dt)
        for x, one in zip(operands, call.dtypes["operands"], strict=True)
    ]
    if given[0].is_floating_point() or given[0].is_complex() or call.place.type == "cpu":
        return torch.einsum(subscripts, given).clone()
    return einsum_of_integers(subscripts, given).clone()


def einsum_of_integers(subscripts: str, operands: list[torch.Tensor]) -> torch.Tensor:
    """Return sums of products of integers, two operands at a time: CUDA multiplies no matrices."""
    inputs, arrow, output = subscripts.replace(" ", "").partition("->")
    terms, given = inputs.split(","), list(operands)
    if not arrow:
        letters = inputs.replace(".", "").replace(",", "")
        once = sorted(one for one in set(letters) if letters.count(one) == 1)
        output = "..." * ("..." in inputs) + "".join(once)
    while len(terms) > 1:
        pair, both = ",".join(terms[:2]), set("".join(terms[:2])) - {"."}
        left = output if len(terms) == 2 else "".join([output, *terms[2:]])
        kept = "..." * ("..." in pair) + "".join(sorted(both & set(left)))
        to = output if len(terms) == 2 else kept
        made = by_parts(partial(torch.einsum, f"{pair}->{to}"), *given[:2])
        terms, given = [to, *terms[2:]], [made, *given[2:]]
    return torch.einsum(f"{terms[0]}->{output}", given[0])


# ---- matrices ------------------------------------------------------------------------------------


def _float_of(dt: DType) -> DType:
    """Return the dtype that is computed with: that of a float, or wider."""
    if dt.exponent_bits:
        return dtypes.widened(dt)
    return dtypes.float64 if dt.bits == 64 else dtypes.float32


def _matrices(
    call: Call, name: str, x: torch.Tensor, finite: bool = True,
    read: Callable[..., torch.Tensor] | None = None,
) -> torch.Tensor:  # fmt: skip
    """Return matrices in the dtype that is computed with; infinities and NaN are reported.

    `read` returns them without what is not read, which may be no number.
    """
    dt = call.dtypes[name]
    made = cast(x, dt, _float_of(dt))
    made = made if read is None else read(made)
    if not finite or not dt.exponent_bits:
        return made
    return finite_only(call, name, made)


def _wider(x: torch.Tensor) -> torch.Tensor:
    """Return matrices in double precision on CUDA, whose algorithms miss the bounds of float32."""
    return x.to(torch.complex128 if x.is_complex() else torch.float64) if x.is_cuda else x


@way("array_api:cholesky")
def cholesky(call: Call, x: torch.Tensor, upper: Any) -> Any:
    """Return triangular factors; a matrix that is not positive definite is reported."""
    part = torch.triu if upper else torch.tril
    given = _matrices(call, "x", moved(x, part), read=real_diagonal)
    made, info = torch.linalg.cholesky_ex(given, upper=bool(upper))
    title = call.op.title
    deferred_errors.add(
        (info != 0).any(), lambda: InvalidArgument(f"{title}: x is not positive definite.")
    )
    return torch.triu(made) if upper else torch.tril(made)


@way("array_api:qr")
def qr(call: Call, x: torch.Tensor, mode: str) -> Any:
    """Return Q and R."""
    return torch.linalg.qr(_matrices(call, "x", x), mode)


@way("array_api:svd")
def svd(call: Call, x: torch.Tensor, full_matrices: Any) -> Any:
    """Return U, the singular values and the conjugate transpose of V."""
    return torch.linalg.svd(_wider(_matrices(call, "x", x)), full_matrices=bool(full_matrices))


@way("array_api:svdvals")
def svdvals(call: Call, x: torch.Tensor) -> Any:
    """Return the singular values."""
    return torch.linalg.svdvals(_wider(_matrices(call, "x", x)))


@way("array_api:eig", "array_api:eigvals")
def eig(call: Call, x: torch.Tensor) -> Any:
    """Return eigenvalues, and eigenvectors."""
    given, power = scaled(_matrices(call, "x", x))
    if call.op.name == "eigvals":
        return grown(torch.linalg.eigvals(given), power[..., None])
    values, vectors = torch.linalg.eig(given)
    return grown(values, power[..., None]), vectors


@way("array_api:eigh", "array_api:eigvalsh")
def eigh(call: Call, x: torch.Tensor) -> Any:
    """Return eigenvalues of Hermitian matrices, and eigenvectors; the lower triangle is read."""
    given = _matrices(call, "x", moved(x, torch.tril))
    return torch.linalg.eigh(given) if call.op.name == "eigh" else torch.linalg.eigvalsh(given)


@way("array_api:det")
def det(call: Call, x: torch.Tensor) -> Any:
    """Return determinants, in double precision: products may leave the range of float32."""
    given = _matrices(call, "x", x, finite=False)
    return torch.linalg.det(given.to(torch.complex128 if given.is_complex() else torch.float64))


@way("array_api:slogdet")
def slogdet(call: Call, x: torch.Tensor) -> Any:
    """Return signs of determinants and logarithms of their magnitudes."""
    given = _matrices(call, "x", x, finite=False)
    return torch.linalg.slogdet(given.to(torch.complex128 if given.is_complex() else torch.float64))


@way("array_api:inv")
def inv(call: Call, x: torch.Tensor) -> Any:
    """Return inverses; singular matrices are reported."""
    given = _matrices(call, "x", x)
    made, info = torch.linalg.inv_ex(doubled(given))
    check_singular(call, given, info, "x")
    return made


@way("array_api:solve")
def solve(call: Call, x1: torch.Tensor, x2: torch.Tensor) -> Any:
    """Return solutions of linear equations; singular matrices are reported."""
    wide = dtypes.widened(call.result.dtype)
    a, b = (
        finite_only(call, n, cast(x, call.dtypes[n], wide)) for n, x in (("x1", x1), ("x2", x2))
    )
    row = b.dim() == 1
    b = b[:, None] if row else b
    batch = torch.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    a, b = a.expand(*batch, *a.shape[-2:]), b.expand(*batch, *b.shape[-2:])
    made, info = torch.linalg.solve_ex(doubled(a), doubled(b))
    check_singular(call, a, info, "x1")
    return made[..., 0] if row else made


def _tolerance(call: Call, x: torch.Tensor, rtol: Any) -> Any:
    dt = call.dtypes["x"]
    if rtol is None:
        kind = dt if dt.exponent_bits else _float_of(dt)
        bits = dtypes.part(kind).mantissa_bits if dt.bits > 8 or not dt.exponent_bits else (
            dtypes.float16.mantissa_bits)  # fmt: skip
        return max(x.shape[-2:]) * 2.0**-bits
    if isinstance(rtol, torch.Tensor):
        return cast(rtol, call.dtypes["rtol"], dtypes.float64)[..., None]
    return float(rtol)


@way("array_api:pinv")
def pinv(call: Call, x: torch.Tensor, rtol: Any) -> Any:
    """Return pseudo-inverses, by singular values."""
    given = _matrices(call, "x", x)
    u, s, vh = torch.linalg.svd(_wider(given), full_matrices=False)
    kept = s > s[..., :1] * _tolerance(call, x, rtol)
    weights = torch.where(kept, 1 / torch.where(kept, s, 1), 0).to(u.dtype)
    return vh.mH @ (weights[..., None] * u.mH)


@way("array_api:matrix_rank")
def matrix_rank(call: Call, x: torch.Tensor, rtol: Any) -> Any:
    """Return the number of singular values above a tolerance."""
    if not x.numel():
        return torch.zeros(x.shape[:-2], dtype=torch.int64, device=call.place)
    s = torch.linalg.svdvals(_wider(_matrices(call, "x", x)))
    return (s > s[..., :1] * _tolerance(call, x, rtol)).sum(-1)


@way("array_api:matrix_power")
def matrix_power(call: Call, x: torch.Tensor, n: int) -> Any:
    """Return powers of matrices."""
    power, dt = int(n), call.dtypes["x"]
    if power < 0 or dt.exponent_bits:
        base = _matrices(call, "x", x, finite=power < 0)
    else:
        base = lanes(x, dt)
    if power < 0:
        inverse, info = torch.linalg.inv_ex(base)
        check_singular(call, base, info, "x")
        base = inverse
    power, found = abs(power), None
    while power:
        if power & 1:
            found = base if found is None else product(found, base)
        power >>= 1
        base = product(base, base) if power else base
    if found is None:
        found = torch.eye(x.shape[-1], dtype=base.dtype, device=call.place).expand(x.shape)
    return found


# ---- vectors, diagonals and norms ----------------------------------------------------------------


@way("array_api:cross")
def cross(call: Call, x1: torch.Tensor, x2: torch.Tensor, axis: int) -> Any:
    """Return cross products along an axis, each product rounded."""
    along = int(axis) - x1.dim() if int(axis) >= 0 else int(axis)
    a, b = (x.unbind(along) for x in torch.broadcast_tensors(*_factors(call, x1, x2)))
    parts = [a[i] * b[j] - a[j] * b[i] for i, j in ((1, 2), (2, 0), (0, 1))]
    return torch.stack(parts, parts[0].dim() + 1 + along)


@way("array_api:outer")
def outer(call: Call, x1: torch.Tensor, x2: torch.Tensor) -> Any:
    """Return products of all pairs."""
    a, b = _factors(call, x1, x2)
    return a[:, None] * b


def _offset(x: torch.Tensor, offset: Any) -> int:
    most = max(x.shape[-2:])
    return max(-most, min(int(offset), most))


@way("array_api:diagonal")
def diagonal(call: Call, x: torch.Tensor, offset: Any) -> Any:
    """Return a view of diagonals."""
    return torch.diagonal(x, _offset(x, offset), -2, -1)


@way("array_api:trace")
def trace(call: Call, x: torch.Tensor, offset: Any, dtype: Any) -> Any:
    """Return sums along diagonals."""
    dt = call.result.dtype
    line = cast(torch.diagonal(x, _offset(x, offset), -2, -1), call.dtypes["x"], dt)
    return combined(call, ReduceMode.SUM, line, dt, [line.dim() - 1])


def _doubles(call: Call, x: torch.Tensor) -> torch.Tensor:
    dt = call.dtypes["x"]
    return cast(x, dt, dtypes.complex128 if dt.is_complex else dtypes.float64)


@way("array_api:matrix_norm")
def matrix_norm(call: Call, x: torch.Tensor, keepdims: Any, ord: Any) -> Any:
    """Return norms of matrices, in double precision."""
    order = ord if isinstance(ord, str) else float(ord)
    given = _doubles(call, x)
    if ord in ("nuc", 2, -2):
        given = finite_only(call, "x", given)
    return torch.linalg.matrix_norm(given, order, (-2, -1), bool(keepdims))


@way("array_api:vector_norm")
def vector_norm(call: Call, x: torch.Tensor, axis: Any, keepdims: Any, ord: Any) -> Any:
    """Return norms of vectors, in double precision."""
    axes, wide = axes_of(axis, x.dim()), _doubles(call, x)
    if not axes:
        return (wide != 0).to(torch.float64) if ord == 0 else wide.abs()
    if not x.numel():
        shape = reduced_shape(tuple(x.shape), axes, bool(keepdims))
        return torch.full(shape, 0.0 if ord >= 0 else math.inf, dtype=torch.float64,
                          device=call.place)  # fmt: skip
    return torch.linalg.vector_norm(wide, float(ord), axes, bool(keepdims))


# ---- Fourier transforms --------------------------------------------------------------------------


def _wide(call: Call, x: torch.Tensor) -> torch.Tensor:
    return cast(x, call.dtypes["x"], dtypes.widened(call.dtypes["x"]))


@way(*(f"array_api:{name}" for name in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")))
def along_one(call: Call, x: torch.Tensor, n: Any, axis: int, norm: str) -> Any:
    """Return a transform along an axis."""
    function: Callable[..., torch.Tensor] = getattr(torch.fft, call.op.name)
    size = None if n is None or int(n) == -1 else int(n)
    return function(_wide(call, x), size, int(axis), norm)


@way(*(f"array_api:{name}" for name in ("fftn", "ifftn", "rfftn", "irfftn")))
def along_several(call: Call, x: torch.Tensor, s: Any, axes: Any, norm: str) -> Any:
    """Return a transform along several axes."""
    function: Callable[..., torch.Tensor] = getattr(torch.fft, call.op.name)
    sizes = None if s is None else integers(s)
    return function(_wide(call, x), sizes, axes_of(axes, x.dim()), norm)
