"""Definitions of the gradients of the standard's sums and products, and of `bilinear` itself."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from suanzi.truth import functions as f
from suanzi.truth import tracked as t
from suanzi.truth.define import truth_of
from suanzi.truth.standard import _axes, _floats, _word, flip, matmul, plain_value
from suanzi.truth.tracked import Tracked, tracked


@truth_of("trace_backward")
def trace_backward(
    grad_y: Any, input_shape: Sequence[int], offset: int = 0, dim0: int = 0, dim1: int = 1
) -> Any:
    """The gradient along a diagonal, and 0 elsewhere."""
    shape = tuple(input_shape)
    grid = np.indices(shape)
    on = grid[dim1] - grid[dim0] == offset
    kept = [a for a in range(len(shape)) if a not in (dim0 % len(shape), dim1 % len(shape))]
    own = [shape[a] if a in kept else 1 for a in range(len(shape))]
    if not _floats(grad_y):
        return np.where(on, np.reshape(grad_y, own), np.zeros((), np.asarray(grad_y).dtype))
    return t.where(on, grad_y.reshape(*own), 0)


@truth_of("cumsum_bwd")
def cumsum_bwd(out_grad: Any, axis: int = -1, input_shape: Sequence[int] | None = None) -> Any:
    """The sums from the last element down to each."""
    x = out_grad.reshape(math.prod(out_grad.shape)) if axis == -1 else out_grad
    back = flip(x, axis)
    sums = f.cumulative(back, axis) if _floats(x) else np.cumsum(back, axis, dtype=x.dtype)
    found = flip(sums, axis)
    return found if axis != -1 or input_shape is None else found.reshape(*input_shape)


@truth_of("reduce_bwd")
def reduce_bwd(
    out_grad: Tracked, input: Any, mode: Any = "SUM", axis: Any = None, keep_dims: bool = False
) -> Tracked:
    """The gradient of a sum, a mean, a product, or of the largest or the least, which share it."""
    word, axes = _word(mode), _axes(axis, np.ndim(plain_value(input)))
    if not _floats(out_grad):
        whole: Tracked = _whole_reduce_bwd(np.asarray(out_grad), np.asarray(input), word, axes)
        return whole
    x = tracked(input)
    kept = [1 if a in axes else n for a, n in enumerate(x.shape)]
    g = out_grad.reshape(*kept)
    count = math.prod(x.shape[a] for a in axes)
    ones = tracked(np.ones(x.shape))
    if word == "SUM":
        return t.where(np.ones(x.shape, bool), g, ones)
    if word == "MEAN":
        return t.where(np.ones(x.shape, bool), g / count, ones)
    if word in ("MAX", "MIN"):
        plain = x.plain
        best = (np.max if word == "MAX" else np.min)(plain, axes, keepdims=True)
        same = (plain == best) | (np.isnan(plain) & np.isnan(best))
        return t.where(same, g / same.sum(axes, keepdims=True), 0)
    if word != "PROD":
        raise ValueError(f"the gradient of {word} has no definition here")
    along = x._along(axes)
    others = [f.product(along[..., [k for k in range(count) if k != i]], -1) for i in range(count)]
    order = [a for a in range(x.ndim) if a not in axes] + [*axes]
    back = Tracked(np.stack([o.value for o in others], -1), np.stack([o.error for o in others], -1))
    made = back.reshape(*(x.shape[a] for a in order)).transpose(*np.argsort(order))
    return g * tracked(t.conj(made))


def _whole_reduce_bwd(g: Any, x: Any, word: str, axes: tuple[int, ...]) -> Any:
    """The gradient of a sum or a product of integers, in the dtype of the gradient."""
    spread = np.broadcast_to(
        g.reshape([1 if a in axes else n for a, n in enumerate(x.shape)]), x.shape
    )
    if word == "SUM":
        return spread.copy()
    if word != "PROD":
        raise ValueError(f"the gradient of {word} of integers has no definition here")
    flat = np.moveaxis(x, axes, range(x.ndim - len(axes), x.ndim))
    kept = flat.shape[: x.ndim - len(axes)]
    rows = flat.reshape(*kept, math.prod(x.shape[a] for a in axes)).astype(g.dtype)
    count = rows.shape[-1]
    others = [
        np.prod(rows[..., [k for k in range(count) if k != i]], -1, dtype=g.dtype)
        for i in range(count)
    ]
    back = np.stack(others, -1) if others else rows
    whole = np.moveaxis(back.reshape(flat.shape), range(x.ndim - len(axes), x.ndim), axes)
    return (whole * spread).astype(g.dtype)


def _rows(x: Tracked) -> Tracked:
    return x.reshape(math.prod(x.shape[:-1]), x.shape[-1])


@truth_of("linear_bwd_weight")
def linear_bwd_weight(out_grad: Tracked, input: Tracked) -> Tracked:
    """out_grad transposed, times the input, which is conjugate in the gradients of a product."""
    return _rows(tracked(out_grad)).transpose(1, 0) @ _rows(t.conj(tracked(input)))


@truth_of("bilinear")
def bilinear(x: Tracked, y: Tracked, weight: Tracked, bias: Tracked | None = None) -> Tracked:
    """x A y for each matrix A of the weight, and a bias."""
    a, b, w = _rows(tracked(x)), _rows(tracked(y)), tracked(weight)
    n, out, one, two = a.shape[0], *w.shape
    made = w.reshape(1, out, one, two) * a.reshape(n, 1, one, 1) * b.reshape(n, 1, 1, two)
    made = made.sum((2, 3)).reshape(*x.shape[:-1], out)
    return made if bias is None else made + bias


@truth_of("bilinear_bwd_in1")
def bilinear_bwd_in1(out_grad: Tracked, y: Tracked, weight: Tracked) -> Tracked:
    """The gradient of the first input."""
    g, b = _rows(tracked(out_grad)), _rows(tracked(t.conj(tracked(y))))
    w = tracked(t.conj(tracked(weight)))
    n, out, one, two = g.shape[0], *w.shape
    made = w.reshape(1, out, one, two) * g.reshape(n, out, 1, 1) * b.reshape(n, 1, 1, two)
    return made.sum((1, 3)).reshape(*out_grad.shape[:-1], one)


@truth_of("bilinear_bwd_in2")
def bilinear_bwd_in2(out_grad: Tracked, x: Tracked, weight: Tracked) -> Tracked:
    """The gradient of the second input."""
    return bilinear_bwd_in1(out_grad, x, tracked(weight).transpose(0, 2, 1))


@truth_of("bilinear_bwd_weight")
def bilinear_bwd_weight(out_grad: Tracked, x: Tracked, y: Tracked) -> Tracked:
    """The gradient of the weight."""
    g, a, b = (_rows(tracked(one)) for one in (out_grad, t.conj(x), t.conj(y)))
    n, out, one, two = *g.shape, a.shape[1], b.shape[1]
    return (g.reshape(n, out, 1, 1) * a.reshape(n, 1, one, 1) * b.reshape(n, 1, 1, two)).sum(0)


def _dot_gradient(g: Any, own: Any, other: Any, first: bool) -> Any:
    """Return the gradient of an operand of `dot`, which sums the last axis of the first operand."""
    g, x, y = [tracked(one) for one in (g, own, other)] if _floats(g) else (g, own, other)
    y = t.conj(y)
    if not x.ndim or not y.ndim:
        found = g * y
        if found.shape == x.shape:
            return found
        return found.sum() if _floats(g) else np.sum(found, dtype=found.dtype)
    a, b = (x, y) if first else (y, x)
    axis = max(b.ndim - 2, 0)
    n, order = a.shape[-1], [axis, *(k for k in range(b.ndim) if k != axis)]
    kept = [b.shape[k] for k in order[1:]]
    rows, columns = math.prod(a.shape[:-1]), math.prod(kept)
    right, out = b.transpose(*order).reshape(n, columns), g.reshape(rows, columns)
    if first:
        return (out @ right.transpose(1, 0)).reshape(*x.shape)
    made = (a.reshape(rows, n).transpose(1, 0) @ out).reshape(n, *kept)
    return made.transpose(*map(int, np.argsort(order)))


@truth_of("dot_bwd1")
def dot_bwd1(out_grad: Any, vec1: Any, vec2: Any) -> Any:
    """The gradient of the first operand."""
    return _dot_gradient(out_grad, vec1, vec2, True)


@truth_of("dot_bwd2")
def dot_bwd2(out_grad: Any, vec1: Any, vec2: Any) -> Any:
    """The gradient of the second operand."""
    return _dot_gradient(out_grad, vec2, vec1, False)


@truth_of("linear_bwd_in")
def linear_bwd_in(out_grad: Tracked, weight: Tracked) -> Tracked:
    """out_grad @ weight, which is conjugate in the gradient of a complex product."""
    found: Tracked = matmul(out_grad, t.conj(weight))
    return found
