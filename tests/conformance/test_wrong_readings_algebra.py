"""Fourier transforms, linear algebra and interpolation, each read otherwise: the cases notice."""

from __future__ import annotations

from typing import Any

import numpy as np

from helpers.misreadings import (
    Entry,
    Reading,
    accepted,
    always_notices,
    asked,
    instead,
    made,
    refused,
    table,
)

Array = Any
SCALES = {"none": 0.0, "by_sqrt_n": -0.5, "by_n": -1.0}


def length(x: Array, axes: Any) -> int:
    return int(np.prod([x.shape[a] for a in axes or [-1]]))


def scaled_by_all(o: Array, input: Array, axes: Any = None, normalization: str = "none",
                  **_: Any) -> Array | None:  # fmt: skip
    """Return a transform that is scaled by the number of all elements, as Tables 127 to 132 say."""
    if not input.size:
        return None
    power = SCALES[normalization]
    return o * (input.size / length(input, axes)) ** power


def inverse_scaled(o: Array, input: Array, axes: Any = None, forward: bool = True, **_: Any,
                   ) -> Array | None:  # fmt: skip
    return None if forward or not input.size else o / length(input, axes)


def saturating(out: Array, mat1: Array, mat2: Array) -> Array:
    limits = np.iinfo(out.dtype)
    return np.clip(np.matmul(mat1.astype(np.int64), mat2.astype(np.int64)), limits.min, limits.max)


def narrow(out: Array, mat1: Array, mat2: Array) -> Array | None:
    """Return products of float16 that are rounded after each addition."""
    if out.dtype != np.float16 or mat1.ndim != 2 or mat2.ndim != 2:
        return None
    total = np.zeros_like(out)
    for k in range(mat1.shape[1]):
        total = (total + mat1[:, k : k + 1] * mat2[k : k + 1]).astype(np.float16)
    return total


def turned(x: Array) -> Array:
    return np.swapaxes(x, -1, -2)


def adjoint(x: Array) -> Array:
    return np.conj(turned(x))


def as_permutation(lu: Array, ipiv: Array, mat: Array) -> Any:
    """Return rows for swaps, as some have it, where as many rows as swaps are."""
    rows = np.broadcast_to(np.arange(mat.shape[-2]), (*mat.shape[:-2], mat.shape[-2])).copy()
    for at in np.ndindex(*mat.shape[:-2]):
        for i, j in enumerate(ipiv[at]):
            rows[at][[i, j]] = rows[at][[j, i]]
    return lu, rows[..., : ipiv.shape[-1]]


def sampled(positions: Any) -> Any:
    """Return a change of interpolate along the last axis of three, by positions of its own."""

    def changed(output: Array, input: Array, size: Any = None, scale_factor: Any = None,
                mode: str = "nearest") -> Array | None:  # fmt: skip
        if input.ndim != 3 or not output.size:
            return None
        return positions(input, output.shape[-1], mode)

    return changed


def linearly(x: Array, at: Array) -> Array:
    low = np.clip(np.floor(at), 0, x.shape[-1] - 1).astype(int)
    high = np.minimum(low + 1, x.shape[-1] - 1)
    share = np.clip(at, 0, x.shape[-1] - 1) - low
    return x[..., low] * (1 - share) + x[..., high] * share


def aligned(x: Array, n: int, mode: str) -> Array | None:
    if mode != "linear":
        return None
    return linearly(x, np.arange(n) * ((x.shape[-1] - 1) / max(n - 1, 1)))


def corner_first(x: Array, n: int, mode: str) -> Array | None:
    return linearly(x, np.arange(n) * (x.shape[-1] / n)) if mode == "linear" else None


def unclamped(x: Array, n: int, mode: str) -> Array | None:
    if mode != "linear" or x.shape[-1] < 2:
        return None
    at = (np.arange(n) + 0.5) * (x.shape[-1] / n) - 0.5
    low = np.clip(np.floor(at), 0, x.shape[-1] - 2).astype(int)
    return x[..., low] * (1 - (at - low)) + x[..., low + 1] * (at - low)


def nearest(rule: Any) -> Any:
    return sampled(
        lambda x, n, mode: (
            x[..., np.clip(rule(np.arange(n), x.shape[-1], n), 0, x.shape[-1] - 1).astype(int)]
            if mode == "nearest"
            else None
        )
    )


SIGNAL: list[Entry] = [
    ("fft_c2c", "the other direction", asked(
        lambda forward=True, **_: {"forward": not forward})),
    ("fft_c2c", "direction ignored", asked(lambda **_: {"forward": True})),
    ("fft_c2c", "by_n is by_sqrt_n", asked(lambda normalization="none", **_: {
        "normalization": "by_sqrt_n"} if normalization == "by_n" else None)),
    ("fft_c2c", "scaled by all elements", made(scaled_by_all, "c")),
    ("fft_c2c", "backwards is scaled", made(inverse_scaled, "c")),
    ("fft_c2c", "not scaled backwards", asked(lambda forward=True, **_: None if forward else {
        "normalization": "none"})),
    ("fft_c2c", "all axes by default", asked(lambda input, axes=None, **_: None if axes else {
        "axes": list(range(input.ndim))})),
    ("fft_c2c", "the first axis only", asked(lambda axes=None, **_: {
        "axes": list(axes)[:1]} if axes else None)),
    ("fft_c2c", "real numbers are taken", accepted(
        lambda input, **_: np.fft.fft(np.asarray(input)))),
    ("fft_r2c", "all of it by default", asked(
        lambda **a: None if "onesided" in a else {"onesided": False})),
    ("fft_r2c", "half always", asked(lambda **a: {"onesided": True})),
    ("fft_r2c", "half of the last axis always", asked(
        lambda input, axes=None, **a: {"axes": sorted(x % input.ndim for x in axes)}
        if axes else None)),
    ("fft_r2c", "direction ignored", asked(lambda **_: {"forward": True})),
    ("fft_r2c", "scaled by all elements", made(scaled_by_all, "f")),
    ("fft_r2c", "half without the middle", made(
        lambda o, input, axes=None, onesided=True, **_: np.take(o, range(
            max(1, o.shape[(axes or [-1])[-1]] - 1)), (axes or [-1])[-1]) if onesided else None,
        "f")),
    ("fft_c2r", "direction ignored", asked(lambda **_: {"forward": False})),
    ("fft_c2r", "backwards is scaled", made(
        lambda o, input, last_dim_size, axes=None, forward=True, **_: None if forward
        else o / length(o, axes) if o.size else None, "c")),
    ("fft_c2r", "even sizes always", made(
        lambda o, input, last_dim_size, axes=None, **_: np.take(o, range(
            2 * (last_dim_size // 2) or 1), (axes or [-1])[-1]), "c")),
    ("fft_c2r", "imaginary parts at the ends count", made(
        lambda o, input, last_dim_size, axes=None, normalization="none", forward=True: o
        + np.take(input, [0], -1).imag if not axes else None, "c")),
    ("fft_c2r", "scaled by the elements of the half", made(
        lambda o, input, last_dim_size, axes=None, normalization="none", forward=True: o * (
            input.shape[(axes or [-1])[-1]] / last_dim_size) ** SCALES[normalization], "c")),
    ("fft_c2c_backward", "the same direction", asked(
        lambda forward=True, **_: {"forward": not forward})),
    ("fft_c2c_backward", "divided by n", made(
        lambda g, grad_out, axes=None, **_: g / length(g, axes) if g.size else None, "c")),
    ("fft_c2c_backward", "conjugated", made(lambda g, grad_out, **_: np.conj(g), "c")),
    ("fft_r2c_backward", "the half counts twice", made(
        lambda g, grad_out, input, **_: 2 * g - g.mean(), "fc")),
    ("fft_r2c_backward", "the same direction", asked(
        lambda forward=True, **_: {"forward": not forward})),
    ("fft_r2c_backward", "complex", made(
        lambda g, grad_out, input, **_: g.astype(grad_out.dtype), "fc", keep_dtype=True)),
    ("fft_c2r_backward", "not doubled", made(
        lambda g, grad_out, axes=None, **_: halved(g, grad_out, axes, 1), "f")),
    ("fft_c2r_backward", "all but the first doubled", made(
        lambda g, grad_out, axes=None, **_: halved(g, grad_out, axes, 2), "f")),
    ("fft_c2r_backward", "the same direction", asked(
        lambda forward=True, **_: {"forward": not forward})),
]  # fmt: skip


def halved(g: Array, grad_out: Array, axes: Any, kind: int) -> Array:
    """Return a gradient whose images count once, or whose last element counts twice."""
    axis = (axes or [-1])[-1]
    n = grad_out.shape[axis]
    weights = np.ones(g.shape[axis])
    for k in range(len(weights)):
        alone = k == 0 or 2 * k == n
        weights[k] = 1 if alone and kind == 1 else 0.5 if kind == 1 else 2 if 0 < 2 * k == n else 1
    shape = [1] * g.ndim
    shape[axis] = -1
    return g * weights.reshape(shape)


PRODUCTS: list[Entry] = [
    ("matmul", "saturates", made(saturating, "i")),
    ("matmul", "int32 for int8", made(
        lambda out, mat1, mat2: np.int32(out), "i", keep_dtype=True)),
    ("matmul", "float16 rounded each time", made(narrow, "f")),
    ("matmul", "as dot", made(lambda out, mat1, mat2: np.dot(mat1, mat2), "if")),
    ("matmul", "conjugates the second", made(
        lambda out, mat1, mat2: np.matmul(mat1, np.conj(mat2)), "c")),
    ("matmul", "one batch for all", made(
        lambda out, mat1, mat2: np.broadcast_to(out[(0,) * (out.ndim - 2)], out.shape)
        if out.ndim > 2 and out.size else None)),
    ("matmul", "a vector keeps its axis", made(
        lambda out, mat1, mat2: out[..., None] if mat2.ndim == 1 else None)),
    ("matmul", "batches are not stretched", refused(
        lambda mat1, mat2: mat1.ndim > 2 and mat2.ndim > 2
        and mat1.shape[:-2] != mat2.shape[:-2], "DIMENSIONS_MISMATCH")),
    ("matmul", "inner lengths are an argument", instead(
        "DIMENSIONS_MISMATCH", "INVALID_ARGUMENT")),
    ("matmul", "through float32", made(
        lambda out, mat1, mat2: np.matmul(np.float32(mat1), np.float32(mat2)).astype(np.int64),
        "i")),
    ("dot", "as matmul", made(
        lambda out, vec1, vec2: np.matmul(vec1, vec2), misfit="INVALID_ARGUMENT")),
    ("dot", "conjugates", made(lambda out, vec1, vec2: np.dot(np.conj(vec1), vec2), "c")),
    ("dot", "saturates", made(lambda out, vec1, vec2: np.clip(np.dot(
        vec1.astype(np.int64), vec2.astype(np.int64)), np.iinfo(out.dtype).min,
        np.iinfo(out.dtype).max), "i")),
    ("dot", "shapes are dimensions", instead("INVALID_ARGUMENT", "DIMENSIONS_MISMATCH")),
    ("dot_bwd1", "not conjugated", made(lambda g, out_grad, vec1, vec2: np.conj(
        g) if out_grad.imag.any() else None, "c")),
    ("dot_bwd1", "of the other", made(lambda g, out_grad, vec1, vec2: out_grad * vec1
        if vec1.ndim == 1 and vec2.ndim == 1 else None, "if")),
    ("dot_bwd2", "not conjugated", made(lambda g, out_grad, vec1, vec2: out_grad * vec1
        if vec1.ndim == 1 and vec2.ndim == 1 else None, "c")),
    ("dot_bwd2", "everything conjugated", made(lambda g, out_grad, vec1, vec2: np.conj(
        out_grad) * np.conj(vec1) if vec1.ndim == 1 and vec2.ndim == 1 else None, "c")),
    ("linear", "without bias", made(lambda y, x, weight, bias=None: np.matmul(
        x, turned(weight)), "f")),
    ("linear", "bias taken away", made(lambda y, x, weight, bias=None: y - 2 * bias
        if bias is not None else None, "f")),
    ("linear", "a weight turned round", made(lambda y, x, weight, bias=None: np.matmul(
        x, weight), "f", misfit="DIMENSIONS_MISMATCH")),
    ("linear", "a weight turned round is taken", accepted(
        lambda x, weight, bias=None: np.matmul(np.asarray(x), np.asarray(weight)))),
    ("linear", "conjugates the weight", made(lambda y, x, weight, bias=None: np.matmul(
        x, adjoint(weight)) + (0 if bias is None else bias), "c")),
    ("linear", "a weight of one axis", accepted(
        lambda x, weight, bias=None: np.matmul(np.asarray(x), np.asarray(weight))
        if weight.ndim == 1 else None)),
    ("linear_bwd_in", "not conjugated", made(lambda g, out_grad, weight: np.matmul(
        out_grad, weight), "c")),
    ("linear_bwd_in", "a weight turned round", made(lambda g, out_grad, weight: np.matmul(
        out_grad, turned(weight)), "f", misfit="DIMENSIONS_MISMATCH")),
    ("linear_bwd_weight", "turned round", made(lambda g, out_grad, input: turned(g))),
    ("linear_bwd_weight", "not conjugated", made(lambda g, out_grad, input: np.einsum(
        "...o,...i->oi", out_grad, input), "c")),
    ("linear_bwd_weight", "a mean over the rows", made(lambda g, out_grad, input: g / max(1, int(
        np.prod(input.shape[:-1]))), "f")),
    ("bilinear", "without bias", made(lambda z, x, y, weight, bias=None: z - bias
        if bias is not None else None, "f")),
    ("bilinear", "operands exchanged", made(lambda z, x, y, weight, bias=None: np.einsum(
        "...i,oij,...j->...o", y, weight, x) + (0 if bias is None else bias),
        "f", misfit="DIMENSIONS_MISMATCH")),
    ("bilinear", "weights with outputs last", made(
        lambda z, x, y, weight, bias=None: np.einsum("...i,ijo,...j->...o", x, weight, y),
        "f", misfit="DIMENSIONS_MISMATCH")),
    ("bilinear", "conjugates", made(lambda z, x, y, weight, bias=None: np.einsum(
        "...i,oij,...j->...o", np.conj(x), weight, y) + (0 if bias is None else bias), "c")),
    ("bilinear_bwd_in1", "not conjugated", made(lambda g, out_grad, y, weight: np.einsum(
        "...o,oij,...j->...i", out_grad, weight, y), "c")),
    ("bilinear_bwd_in2", "not conjugated", made(lambda g, out_grad, x, weight: np.einsum(
        "...o,oij,...i->...j", out_grad, weight, x), "c")),
    ("bilinear_bwd_in2", "as for the first", made(lambda g, out_grad, x, weight: np.einsum(
        "...o,oij,...j->...i", out_grad, weight, x), "f", misfit="DIMENSIONS_MISMATCH")),
    ("bilinear_bwd_weight", "not conjugated", made(lambda g, out_grad, x, y: np.einsum(
        "...o,...i,...j->oij", out_grad, x, y), "c")),
    ("bilinear_bwd_weight", "operands exchanged", made(lambda g, out_grad, x, y: turned(g))),
]  # fmt: skip

DECOMPOSITIONS: list[Entry] = [
    ("lu", "pivots from 1", made(lambda lu, ipiv, mat: (lu, ipiv + 1))),
    ("lu", "pivots as a permutation", made(as_permutation)),
    ("lu", "int32 pivots", made(
        lambda lu, ipiv, mat: (lu, ipiv.astype(np.int32)), keep_dtype=True)),
    ("lu", "a diagonal of zeros", made(
        lambda lu, ipiv, mat: (lu * (1 - np.eye(*lu.shape[-2:])), ipiv))),
    ("lu", "without pivots", made(lambda lu, ipiv, mat: (lu, np.broadcast_to(
        np.arange(ipiv.shape[-1]), ipiv.shape)))),
    ("lu", "singular is refused", refused(lambda mat: mat.shape[-1] == mat.shape[-2] > 0
        and bool(np.any(np.linalg.matrix_rank(mat.astype(complex)) < mat.shape[-1])))),
    ("cholesky", "lower for upper", asked(
        lambda upper, mat: {"upper": {"U": "L", "L": "U"}[upper]})),
    ("cholesky", "the other triangle is left", made(lambda out, upper, mat: out + (
        np.tril(mat, -1) if upper == "U" else np.triu(mat, 1)))),
    ("cholesky", "the other triangle is read", made(lambda out, upper, mat: np.linalg.cholesky(
        np.triu(mat) + adjoint(np.triu(mat, 1))) if upper == "L" and mat.dtype != np.float16
        else None)),
    ("cholesky", "U is turned, not conjugated", made(lambda out, upper, mat: np.conj(out)
        if upper == "U" else None, "c")),
    ("cholesky", "a diagonal of ones", made(lambda out, upper, mat: out / np.diagonal(
        out, axis1=-2, axis2=-1)[..., None, :])),
    ("cholesky", "any matrix has one", accepted(lambda upper, mat: np.asarray(mat)
        if upper in "UL" else None)),
    ("qr", "complete always", asked(lambda mode="reduced", **_: {
        "mode": "complete"} if mode == "reduced" else None)),
    ("qr", "reduced always", asked(lambda mode="reduced", **_: {
        "mode": "reduced"} if mode == "complete" else None)),
    ("qr", "Q for r", asked(lambda mode="reduced", **_: {
        "mode": "reduced"} if mode == "r" else None)),
    ("qr", "Q turned round", made(lambda q, r, mat, mode="reduced": (turned(q), r)
        if mode == "complete" else None, "f")),
    ("qr", "R has more", made(lambda q, r, mat, mode="reduced": (q, r + np.eye(
        *r.shape[-2:])) if mode != "r" else None)),
    ("svd", "V is adjoint", made(lambda u, s, v, mat, format=True: (u, s, adjoint(v)))),
    ("svd", "V is conjugated", made(lambda u, s, v, mat, format=True: (u, s, np.conj(v)), "c")),
    ("svd", "least first", made(lambda u, s, v, mat, format=True: (
        u[..., ::-1], s[..., ::-1, ::-1], v[..., ::-1]) if format else None)),
    ("svd", "S is a row", made(lambda u, s, v, mat, format=True: (
        u, np.diagonal(s, axis1=-2, axis2=-1), v))),
    ("svd", "format ignored", asked(lambda **_: {"format": True})),
    ("svd", "all of it by default", asked(
        lambda **a: None if "format" in a else {"format": False})),
    ("svd", "S is complex", made(
        lambda u, s, v, mat, format=True: (u, s.astype(u.dtype), v), "c", keep_dtype=True)),
    ("svd", "S has signs", made(lambda u, s, v, mat, format=True: (-u, -s, v))),
    ("svd", "squares", made(lambda u, s, v, mat, format=True: (u, s * s, v))),
    ("solve", "as 7.2.17.7 has it", asked(
        lambda adjoint, **_: {"adjoint": not adjoint})),
    ("solve", "adjoint ignored", asked(lambda **_: {"adjoint": False})),
    ("solve", "turned, not conjugated", made(lambda x, mat, rhs, adjoint: np.linalg.solve(
        turned(mat), rhs) if adjoint and rhs.ndim == mat.ndim else None, "c")),
    ("solve", "a vector becomes a matrix", made(
        lambda x, mat, rhs, adjoint: x[..., None] if rhs.ndim == 1 else None)),
    ("solve", "singular is infinite", accepted(
        lambda mat, rhs, adjoint: np.full(tuple(rhs.shape), np.inf))),
    ("lstsq", "rank is not looked at", made(lambda x, mat, rhs, prec=None: x + 1
        if mat.ndim == 2 and mat.size and np.linalg.matrix_rank(mat.astype(complex))
        < mat.shape[1] else None)),
    ("lstsq", "prec ignored", asked(lambda mat, rhs, **_: {"prec": 0.0})),
    ("inverse", "as printed", made(lambda inv, mat: -abs(inv), "f")),
    ("inverse", "adjugate", made(lambda inv, mat: inv * np.linalg.det(
        mat.astype(complex)).real[..., None, None], "f")),
    ("inverse", "turned round", made(lambda inv, mat: turned(inv))),
    ("inverse", "singular is infinite", accepted(lambda mat: np.full(tuple(mat.shape), np.inf))),
    ("eig", "not normalised", made(lambda w, v, mat: (w, v * 2))),
    ("eig", "real where it can be", made(lambda w, v, mat: (w.real, v.real)
        if not w.imag.any() else None, "f", keep_dtype=True)),
    ("eig", "vectors in rows", made(lambda w, v, mat: (w, turned(v)))),
    ("eig", "conjugate values", made(lambda w, v, mat: (np.conj(w), v), "fc")),
    ("eig", "magnitudes", made(lambda w, v, mat: (abs(w), v))),
    ("eig", "another order", made(lambda w, v, mat: (w[..., ::-1], v))),
]  # fmt: skip

NORMS: list[Entry] = [
    *(("norm", f"{a} is {b}", asked(lambda normtype="inf", a=a, b=b, **_: {
        "normtype": b} if normtype == a else None))
      for a, b in (("1", "inf"), ("inf", "1"), ("2", "1"), ("fro", "1"), ("3", "2"))),
    ("norm", "2 by default", asked(lambda **a: None if "normtype" in a else {"normtype": "2"})),
    ("norm", "vectors for matrices", made(
        lambda o, input, normtype="inf", axis=(), keep_dims=False: abs(input).max(
            tuple(axis), keepdims=keep_dims) if normtype == "inf" and len(axis) == 2 else None,
        "f")),
    ("norm", "rows for columns", asked(lambda axis=(), **_: {
        "axis": list(axis)[::-1]} if len(axis) == 2 else None)),
    ("norm", "without the root", made(
        lambda o, input, normtype="inf", axis=(), keep_dims=False: o * o
        if normtype == "2" else None, "fc")),
    ("norm", "keep_dims ignored", asked(lambda **_: {"keep_dims": False})),
    ("norm", "the last axis by default", asked(lambda input, axis=(), **_: None
        if axis or input.ndim < 2 else {"axis": [-1]})),
    ("norm", "complex remains", made(
        lambda o, input, **_: o.astype(input.dtype), "c", keep_dtype=True)),
    ("norm", "the largest part", made(
        lambda o, input, normtype="inf", axis=(), keep_dims=False: np.maximum(
            abs(input.real), abs(input.imag)).max(tuple(axis) or None, keepdims=keep_dims)
        if normtype == "inf" and len(axis) < 2 and input.size else None, "c")),
    ("norm", "without care of overflow", made(
        lambda o, input, normtype="inf", axis=(), keep_dims=False: np.sqrt(np.sum(
            input * input, tuple(axis) or None, keepdims=keep_dims))
        if normtype == "2" and input.dtype == np.float32 else None, "f")),
    ("norm", "ignores NaN", made(
        lambda o, input, normtype="inf", axis=(), keep_dims=False: np.where(np.isnan(o), 0, o),
        "f")),
    ("norm", "the matrix norm 2 is taken", accepted(
        lambda input, normtype="inf", axis=(), **_: np.zeros(())
        if normtype == "2" and len(axis) == 2 else None)),
]  # fmt: skip

INTERPOLATION: list[Entry] = [
    ("interpolate", "corners aligned", made(sampled(aligned), "f")),
    ("interpolate", "from the corner", made(sampled(corner_first), "f")),
    ("interpolate", "beyond the ends", made(sampled(unclamped), "f")),
    ("interpolate", "nearest rounds", made(nearest(
        lambda i, n, m: np.rint(i * n / m)), "f")),
    ("interpolate", "nearest of centres", made(nearest(
        lambda i, n, m: np.floor((i + 0.5) * n / m)), "f")),
    ("interpolate", "nearest rounds up", made(nearest(
        lambda i, n, m: np.ceil(i * n / m)), "f")),
    ("interpolate", "area is nearest", asked(
        lambda mode="nearest", **_: {"mode": "nearest"} if mode == "area" else None)),
    ("interpolate", "linear by default", asked(
        lambda input, **a: None if "mode" in a else {
            "mode": {3: "linear", 4: "bilinear", 5: "trilinear"}[input.ndim]})),
    ("interpolate", "axes exchanged", made(
        lambda o, input, mode="nearest", **_: turned(o) if o.ndim == 4
        and o.shape[-1] == o.shape[-2] else None, "f")),
    ("interpolate", "factors in coordinates", made(
        lambda o, input, size=None, scale_factor=None, mode="nearest": linearly(
            input, (np.arange(o.shape[-1]) + 0.5) / scale_factor[0] - 0.5)
        if not size and mode == "linear" and o.size else None, "f")),
    ("interpolate", "sizes rounded up", asked(
        lambda input, size=None, scale_factor=None, **_: None if size else {
            "size": [int(np.ceil(n * f)) for n, f in zip(
                input.shape[2:], scale_factor, strict=True)]})),
    ("interpolate", "a factor wins over a size", asked(
        lambda size=None, scale_factor=None, **_: {"size": None}
        if size and scale_factor else None)),
]  # fmt: skip


@table(SIGNAL + PRODUCTS + DECOMPOSITIONS + NORMS + INTERPOLATION)
def test_misreadings_are_noticed(op: str, reading: Reading) -> None:
    assert always_notices(op, reading)
