"""7.2.17: products, decompositions and norms. Narrow floats are computed in float32."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch

from suanzi.base import dtypes
from suanzi.base.dtypes import DType
from suanzi.base.status import InvalidArgument
from suanzi.ops.linear_algebra_products import dtype_of
from suanzi.recording.recorders import private_parts
from suanzi.runtimes.torch import deferred_errors
from suanzi.runtimes.torch.casts import cast
from suanzi.runtimes.torch.copying import moved as moved_by
from suanzi.runtimes.torch.dtypes import TORCH
from suanzi.runtimes.torch.elements import lanes, number, rounded
from suanzi.runtimes.torch.reductions import summable
from suanzi.runtimes.torch.ways import Call, way

_PLACES = 16
"""Bits of a part of an integer: products of two parts are added up exactly in float64."""


def computed(call: Call, name: str, x: torch.Tensor, dt: DType) -> torch.Tensor:
    """Return an operand in the dtype that products of a dtype are computed in."""
    return lanes(cast(x, call.dtypes[name], dt), dt)


def product(x: torch.Tensor, y: torch.Tensor, parts: bool = False) -> torch.Tensor:
    """Return a product of matrices; CUDA multiplies no integers, so `parts` of them as float64."""
    if x.is_floating_point() or x.is_complex() or (x.device.type == "cpu" and not parts):
        return torch.matmul(x, y)
    return by_parts(torch.matmul, x, y)


def by_parts(multiply: Callable[..., torch.Tensor], x: torch.Tensor, y: torch.Tensor) -> Any:
    """Return sums of products of integers, modulo their range, by sums of products of float64."""
    count = torch.iinfo(x.dtype).bits // _PLACES or 1
    cut = [[(v.to(torch.int64) >> (_PLACES * i)) & 0xFFFF for i in range(count)] for v in (x, y)]
    made: Any = 0
    for i in range(count):
        for j in range(count - i):
            one = multiply(cut[0][i].to(torch.float64), cut[1][j].to(torch.float64))
            made = made + (one.to(torch.int64) << (_PLACES * (i + j)))
    return made.to(x.dtype)


_TENSOR_CORES = (dtypes.float16, dtypes.bfloat16)


def _setting(name: str, read: Any, change: Any) -> tuple[Any, Any]:
    """Return what reads and sets a setting of PyTorch; by its public name, if that is all."""
    if read is None or change is None:
        public: Any = torch.backends.cuda.matmul

        def change(*values: bool) -> None:
            setattr(public, name, values if len(values) > 1 else values[0])

        return lambda: getattr(public, name), change
    return read, change


_REDUCED = {
    torch.float16: _setting(
        "allow_fp16_reduced_precision_reduction",
        private_parts.take("torch._C._get_cublas_allow_fp16_reduced_precision_reduction"),
        private_parts.take("torch._C._set_cublas_allow_fp16_reduced_precision_reduction"),
    ),
    torch.bfloat16: _setting(
        "allow_bf16_reduced_precision_reduction",
        private_parts.take("torch._C._get_cublas_allow_bf16_reduced_precision_reduction"),
        private_parts.take("torch._C._set_cublas_allow_bf16_reduced_precision_reduction"),
    ),
}


def _narrow(function: Callable[..., torch.Tensor], *operands: torch.Tensor) -> torch.Tensor:
    """Return a product of 16-bit floats that is summed in float32 and rounded once."""
    read, change = _REDUCED[operands[0].dtype]
    found = read()  # newer versions of PyTorch have two settings in one
    allowed, *others = found if isinstance(found, tuple) else (found,)
    if not allowed:
        return function(*operands)
    change(False, *others)
    try:
        return function(*operands)
    finally:
        change(allowed, *others)


def _product_dtype(call: Call) -> DType:
    return call.result.dtype


@way("matmul")
def matmul(call: Call, mat1: torch.Tensor, mat2: torch.Tensor, dtype: Any) -> Any:
    """Return products of matrices."""
    dt = _product_dtype(call)
    if call.place.type == "cuda" and dt in _TENSOR_CORES:
        return _narrow(
            torch.matmul, cast(mat1, call.dtypes["mat1"], dt), cast(mat2, call.dtypes["mat2"], dt)
        )
    return product(computed(call, "mat1", mat1, dt), computed(call, "mat2", mat2, dt))


@way("dot")
def dot(call: Call, vec1: Any, vec2: Any, dtype: Any) -> Any:
    """Return inner products: of the last axis and the last but one."""
    dt = _product_dtype(call)
    x, y = (
        computed(call, name, v, dt) if isinstance(v, torch.Tensor) else number(v, dt, call.place)
        for name, v in (("vec1", vec1), ("vec2", vec2))
    )
    return _dot(x, y)


def _dot(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    if not x.dim() or not y.dim():
        return x * y
    if y.dim() == 1:
        return product(x, y)
    moved = y.movedim(-2, 0)
    made = product(x, moved.reshape(moved.shape[0], math.prod(moved.shape[1:])))
    return made.reshape(*x.shape[:-1], *moved.shape[1:])


@way("linear")
def linear(call: Call, x: torch.Tensor, weight: torch.Tensor, bias: Any, dtype: Any) -> Any:
    """Return x W^T + b."""
    dt = _product_dtype(call)
    if call.place.type == "cuda" and dt in _TENSOR_CORES:
        given = [cast(v, call.dtypes[n], dt) for n, v in (("x", x), ("weight", weight))]
        if bias is not None:
            given.append(cast(bias, call.dtypes["bias"], dt))
        return _narrow(_affine, *given)
    rows, by = computed(call, "x", x, dt), computed(call, "weight", weight, dt)
    plus = None if bias is None else computed(call, "bias", bias, dt)
    if rows.is_floating_point() or rows.is_complex():
        return _affine(rows, by, plus)
    made = product(rows, by.mT)
    return made if plus is None else made + plus


def _affine(
    x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None = None
) -> torch.Tensor:
    """Return x W^T + b, rounded once: what is added to a product is added before."""
    if bias is None:
        return torch.matmul(x, weight.mT)
    rows = x.reshape(math.prod(x.shape[:-1]), x.shape[-1])
    return torch.addmm(bias, rows, weight.mT).reshape(*x.shape[:-1], weight.shape[0])


@way("bilinear")
def bilinear(call: Call, x: torch.Tensor, y: torch.Tensor, weight: torch.Tensor, bias: Any) -> Any:
    """Return x A_o y^T + b_o."""
    dt = _product_dtype(call)
    a, b, w = (computed(call, n, v, dt) for n, v in (("x", x), ("y", y), ("weight", weight)))
    made = torch.einsum("...i,oij,...j->...o", a, w, b)
    return made if bias is None else made + computed(call, "bias", bias, dt)


def _conj(x: torch.Tensor) -> torch.Tensor:
    return x.conj() if x.is_complex() else x


def _gradient_dtype(*given: DType) -> DType:
    """Return a dtype that has all numbers of those given."""
    kinds = [dt.kind for dt in given]
    floats = [dtypes.part(dt) for dt in given if dt.kind in ("float", "complex")]
    wide = max([dtypes.widened(dt) for dt in floats] or [dtypes.int64], key=lambda dt: dt.bits)
    return dtypes.complex_of(wide) if "complex" in kinds else wide


def _rows(x: torch.Tensor) -> torch.Tensor:
    return x.reshape(-1, x.shape[-1])


@way("linear_bwd_in")
def linear_bwd_in(call: Call, out_grad: torch.Tensor, weight: torch.Tensor) -> Any:
    """Return the gradient of the input of `linear`."""
    dt = call.result.dtype
    return product(
        computed(call, "out_grad", out_grad, dt), _conj(computed(call, "weight", weight, dt))
    )


@way("linear_bwd_weight")
def linear_bwd_weight(call: Call, out_grad: torch.Tensor, input: torch.Tensor) -> Any:
    """Return the gradient of the weight of `linear`."""
    dt = call.result.dtype
    grad, x = (
        _rows(computed(call, "out_grad", out_grad, dt)),
        _rows(computed(call, "input", input, dt)),
    )
    return product(grad.mT, _conj(x))


@way("bilinear_bwd_in1", "bilinear_bwd_in2", "bilinear_bwd_weight")
def bilinear_bwd(call: Call, out_grad: torch.Tensor, **others: torch.Tensor) -> Any:
    """Return a gradient of `bilinear`."""
    dt = call.result.dtype
    grad = computed(call, "out_grad", out_grad, dt)
    given = {name: _conj(computed(call, name, x, dt)) for name, x in others.items()}
    if "weight" not in given:
        return torch.einsum("no,ni,nj->oij", _rows(grad), _rows(given["x"]), _rows(given["y"]))
    if "y" in given:
        return torch.einsum("...o,oij,...j->...i", grad, given["weight"], given["y"])
    return torch.einsum("...o,oij,...i->...j", grad, given["weight"], given["x"])


@way("dot_bwd1", "dot_bwd2")
def dot_bwd(call: Call, out_grad: Any, vec1: torch.Tensor, vec2: torch.Tensor) -> Any:
    """Return the gradient of an operand of `dot`; integers wrap in what the CPU computes in."""
    made = _dot_bwd(call, out_grad, vec1, vec2)
    if made.is_floating_point() or made.is_complex():
        return made
    factors = ("out_grad", "vec2" if call.op.name == "dot_bwd1" else "vec1")
    dt = dtype_of(call.op, {name: call.stand_ins[name] for name in factors}, None)
    return made.to(TORCH[dt])


def _dot_bwd(call: Call, out_grad: Any, vec1: torch.Tensor, vec2: torch.Tensor) -> Any:
    known = [call.dtypes[n] or call.result.dtype for n in ("out_grad", "vec1", "vec2")]
    dt = _gradient_dtype(*known)
    if not isinstance(out_grad, torch.Tensor):
        out_grad = rounded(number(out_grad, known[0], call.place), known[0], known[0])
    grad, x, y = (
        lanes(cast(v, one, dt), dt) for v, one in zip((out_grad, vec1, vec2), known, strict=True)
    )
    first = call.op.name == "dot_bwd1"
    wanted = vec1 if first else vec2
    if not x.dim() or not y.dim():
        made = grad * _conj(y if first else x)
        if not wanted.dim() and made.dim():
            made = summable(made, dt).sum()
        return made
    if y.dim() == 1:
        if first:
            return grad[..., None] * _conj(y)
        return product(_rows(_conj(x)).mT, grad.reshape(-1, 1)).reshape(y.shape)
    # (..., k) and (..., k, n) give (..., ..., n).
    other = y.movedim(-2, 0)
    flat = other.reshape(other.shape[0], math.prod(other.shape[1:]))
    rows = grad.reshape(math.prod(x.shape[:-1]), flat.shape[1])
    if first:
        return product(rows, _conj(flat).mT).reshape(x.shape)
    made = product(_conj(x.reshape(-1, x.shape[-1])).mT, rows)
    return made.reshape(other.shape).movedim(0, -2)


# ---- decompositions ------------------------------------------------------------------------------


def _matrices(
    call: Call, name: str, x: torch.Tensor, read: Callable[..., torch.Tensor] | None = None
) -> torch.Tensor:
    """Return matrices in a dtype that LAPACK has, that of the result or a wider one.

    `read` returns them without what is not read, which may be no number.
    """
    result = call.results[0].dtype
    dt = dtypes.widened(result)
    if call.op.name == "eig" and call.dtypes[name].kind != "complex":
        dt = dtypes.part(dt)
    made = cast(x, call.dtypes[name], dt if dt.kind == "complex" else dtypes.part(dt))
    return finite(call, name, made if read is None else read(made))


def finite(call: Call, name: str, x: torch.Tensor) -> torch.Tensor:
    """Return matrices with zeros for infinities and NaN, which are reported: PyTorch raises."""
    bad, title = ~torch.isfinite(x), call.op.title
    deferred_errors.add(bad.any(), lambda: InvalidArgument(
        f"{title}: {name} contains infinities or NaN; its elements must be finite."
    ))  # fmt: skip
    return torch.where(bad, torch.zeros_like(x), x)


def scaled(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Return matrices, those of large elements scaled to 1, and the powers of two taken out.

    Iterations for eigenvalues overflow where elements are large, and PyTorch's LAPACK may then
    write beyond its results.
    """
    size = torch.view_as_real(x).abs().amax(-1) if x.is_complex() else x.abs()
    if not x.numel():
        return x, torch.zeros(x.shape[:-2], dtype=torch.int32, device=x.device)
    _, power = torch.frexp(size.amax((-2, -1)))
    power = torch.where(power > (64 if size.dtype is torch.float32 else 512), power, 0)
    return grown(x, -power[..., None, None]), power


def grown(x: torch.Tensor, power: torch.Tensor) -> torch.Tensor:
    """Return x times powers of two, in two steps, since one may be beyond the dtype."""
    one = torch.ones(power.shape, dtype=x.real.dtype, device=x.device)
    half = torch.div(power, 2, rounding_mode="floor")
    return x * torch.ldexp(one, half) * torch.ldexp(one, power - half)


def _report(call: Call, info: torch.Tensor, words: str) -> None:
    title = call.op.title
    deferred_errors.add((info != 0).any(), lambda: InvalidArgument(f"{title}: {words}"))


@way("lu")
def lu(call: Call, mat: torch.Tensor) -> Any:
    """Return packed factors, and the row swaps counted from 0."""
    packed, pivots, _ = torch.linalg.lu_factor_ex(_matrices(call, "mat", mat))
    return packed, pivots.to(torch.int64) - 1


def real_diagonal(x: torch.Tensor) -> torch.Tensor:
    """Return matrices without the imaginary parts of the diagonal, of any value."""
    if not x.is_complex():
        return x
    made = x.resolve_conj().clone()
    torch.diagonal(made.imag, dim1=-2, dim2=-1).zero_()
    return made


@way("cholesky")
def cholesky(call: Call, upper: str, mat: torch.Tensor) -> Any:
    """Return a triangular factor; a matrix that is not positive definite is reported."""
    # The other triangle may have anything.
    part = torch.triu if upper == "U" else torch.tril
    x = _matrices(call, "mat", moved_by(mat, part), real_diagonal)
    made, info = torch.linalg.cholesky_ex(x, upper=upper == "U")
    _report(call, info, "mat is not positive definite.")
    return torch.triu(made) if upper == "U" else torch.tril(made)


@way("qr")
def qr(call: Call, mat: torch.Tensor, mode: str) -> Any:
    """Return Q, or None, and R."""
    x = _matrices(call, "mat", mat)
    found = torch.linalg.qr(x, mode)
    return (None, found.R) if mode == "r" else (found.Q, found.R)


@way("svd")
def svd(call: Call, mat: torch.Tensor, format: bool) -> Any:
    """Return U, S as a matrix, and V."""
    x = _matrices(call, "mat", mat)
    if x.is_cuda:  # whose algorithm misses the bounds of float32
        x = x.to(torch.complex128 if x.is_complex() else torch.float64)
    u, s, vh = torch.linalg.svd(x, full_matrices=not format)
    sigma = torch.zeros((*x.shape[:-2], u.shape[-1], vh.shape[-2]), dtype=s.dtype, device=s.device)
    torch.diagonal(sigma, dim1=-2, dim2=-1).copy_(s)
    return u, sigma, vh.mH.resolve_conj()


@way("eig")
def eig(call: Call, mat: torch.Tensor) -> Any:
    """Return eigenvalues and eigenvectors."""
    x, power = scaled(_matrices(call, "mat", mat))
    values, vectors = torch.linalg.eig(x)
    return grown(values, power[..., None]), vectors


def check_singular(call: Call, x: torch.Tensor, info: torch.Tensor, name: str) -> None:
    """Report matrices that are singular to the precision of their dtype, however scaled."""
    words = f"{name} is singular: it has no inverse."
    _report(call, info, words)
    for axis in (-1, -2):
        largest = x.abs().amax(axis, keepdim=True)
        usual = (largest > 0) & torch.isfinite(largest)
        scale = torch.ldexp(torch.ones_like(largest), -torch.frexp(largest)[1])
        x = x * torch.where(usual, scale, 1)
    inverted, info = torch.linalg.inv_ex(x)
    sizes = [v.abs().sum(-2).amax(-1) for v in (x, inverted)]
    near = 1 / (sizes[0] * sizes[1]) >= torch.finfo(x.dtype).eps
    _report(call, ((info != 0) | ~near) & torch.isfinite(sizes[0]), words)


def doubled(x: torch.Tensor) -> torch.Tensor:
    """Return x in double precision, where there is such: products may leave float32's range."""
    if x.device.type == "mps":
        return x
    return x.to(torch.complex128 if x.is_complex() else torch.float64)


@way("solve")
def solve(call: Call, mat: torch.Tensor, rhs: torch.Tensor, adjoint: bool) -> Any:
    """Return the solution of linear equations."""
    x, b = _matrices(call, "mat", mat), _matrices(call, "rhs", rhs)
    x = x.mH if adjoint else x
    row = b.dim() == 1
    b = b[..., None] if row else b
    # With as many axes as the matrices, PyTorch does not take a matrix for vectors.
    wide = doubled(b)[(None,) * (x.dim() - b.dim())]
    made, info = torch.linalg.solve_ex(doubled(x), wide)
    check_singular(call, x, info, "mat")
    return made[..., 0] if row else made


@way("inverse")
def inverse(call: Call, mat: torch.Tensor) -> Any:
    """Return inverse matrices."""
    x = _matrices(call, "mat", mat)
    made, info = torch.linalg.inv_ex(doubled(x))
    check_singular(call, x, info, "mat")
    return made


@way("lstsq")
def lstsq(call: Call, mat: torch.Tensor, rhs: torch.Tensor, prec: Any) -> Any:
    """Return the shortest least-squares solution, by singular values: all devices have them."""
    x, b = _matrices(call, "mat", mat), _matrices(call, "rhs", rhs)
    x, b = (v.to(torch.complex128 if v.is_complex() else torch.float64) for v in (x, b))
    u, s, vh = torch.linalg.svd(x, full_matrices=False)
    dt = dtypes.part(call.results[0].dtype)
    cut = float(dtypes.finfo(dt).eps) if prec is None else float(prec)
    kept = (s >= cut * (1 - 2.0**-40) * s[..., :1]) & (s > 0)
    weights = torch.where(kept, 1 / torch.where(kept, s, 1), 0).to(x.dtype)
    row = b.dim() == 1
    b = b[..., None] if row else b
    made = vh.mH @ (weights[..., None] * (u.mH @ b))
    return made[..., 0] if row else made


@way("norm")
def norm(call: Call, input: torch.Tensor, normtype: Any, axis: Any, keep_dims: bool) -> Any:
    """Return norms of vectors, matrices, or all elements; float32 is computed in float64."""
    promoted = dtypes.float32 if call.dtypes["input"].kind in ("int", "uint", "bool") else None
    dt = promoted or call.dtypes["input"]
    x = cast(input, call.dtypes["input"], dt)
    x = summable(x, dt)
    order: Any = (
        normtype if isinstance(normtype, str) and normtype.lower() == "fro" else float(normtype)
    )
    axes = [axis] if isinstance(axis, int) else list(axis or ())
    function: Callable[..., torch.Tensor] = torch.linalg.vector_norm
    if len(axes) == 2:
        return torch.linalg.matrix_norm(x, order, tuple(axes), bool(keep_dims))
    order = 2.0 if isinstance(order, str) else order
    return function(x, order, axes or None, bool(keep_dims))
