"""Norms: rows with mean 0 and variance 1, or of length 1, with their gradients."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, prod
from typing import Any

import numpy as np

from suanzi.truth.define import truth_of
from suanzi.truth.tracked import Tracked, absolute, maximum, sqrt, tracked, where

Several = Tracked | tuple[Tracked, ...]


def _last(normalized_shape: int | Sequence[int]) -> list[int]:
    count = 1 if isinstance(normalized_shape, int) else len(normalized_shape)
    return list(range(-count, 0))


def _weighted(y: Tracked, weight: Tracked | None, bias: Tracked | None) -> Tracked:
    y = y if weight is None else y * weight
    return y if bias is None else y + bias


def standardised(x: Tracked, axes: Sequence[int], eps: float) -> Tracked:
    """(x - mean) / sqrt(variance + eps)."""
    d = x - x.mean(axes, keepdims=True)
    return d / sqrt((d * d).mean(axes, keepdims=True) + eps)


def _standard_bwd(
    g: Tracked, x: Tracked, axes: Sequence[int], eps: float, centred: bool = True
) -> tuple[Tracked, Tracked]:
    """What is normalised, and the gradient of x: f (g - mean(g) - y mean(g y))."""
    d = x - x.mean(axes, keepdims=True) if centred else x
    root = sqrt((d * d).mean(axes, keepdims=True) + eps)
    y = d / root
    along = g - g.mean(axes, keepdims=True) if centred else g
    return y, (along - y * (g * y).mean(axes, keepdims=True)) / root


def _summed(x: Tracked, shape: tuple[int, ...]) -> Tracked:
    """The sum over what a shape was broadcast along."""
    new = x.ndim - len(shape)
    axes = [a for a, n in enumerate(x.shape) if a < new or shape[a - new] != n]
    return x.sum(axes).reshape(*shape) if axes else x


def _gradients(
    g: Tracked, y: Tracked, x_grad: Tracked, weight: Tracked | None, bias: Tracked | None
) -> Several:
    """The gradient of x, and those of the weights that are given."""
    made = [x_grad]
    made += [] if weight is None else [_summed(g * y, weight.shape)]
    made += [] if bias is None else [_summed(g, bias.shape)]
    return tuple(made) if len(made) > 1 else x_grad


# ---- over the last axes --------------------------------------------------------------------------


@truth_of("nn:layer_norm")
def layer_norm(
    x: Tracked,
    normalized_shape: int | Sequence[int],
    weight: Tracked | None = None,
    bias: Tracked | None = None,
    eps: float = 1e-5,
) -> Tracked:
    """(x - mean) / sqrt(variance + eps), times a weight and plus a bias."""
    return _weighted(standardised(x, _last(normalized_shape), eps), weight, bias)


@truth_of("nn:layer_norm_bwd")
def layer_norm_bwd(
    out_grad: Tracked,
    x: Tracked,
    normalized_shape: int | Sequence[int],
    weight: Tracked | None = None,
    bias: Tracked | None = None,
    eps: float = 1e-5,
) -> Several:
    """The gradients of layer_norm."""
    g = out_grad if weight is None else out_grad * weight
    y, x_grad = _standard_bwd(g, x, _last(normalized_shape), eps)
    return _gradients(out_grad, y, x_grad, weight, bias)


@truth_of("nn:rms_norm")
def rms_norm(
    x: Tracked,
    normalized_shape: int | Sequence[int],
    weight: Tracked | None = None,
    eps: float = 1e-5,
    *,
    offset: float = 0.0,
) -> Tracked:
    """x / sqrt(mean of squares + eps), times a weight and an offset of it."""
    y = x / sqrt((x * x).mean(_last(normalized_shape), keepdims=True) + eps)
    return y if weight is None else y * (weight + offset)


@truth_of("nn:rms_norm_bwd")
def rms_norm_bwd(
    out_grad: Tracked,
    x: Tracked,
    normalized_shape: int | Sequence[int],
    weight: Tracked | None = None,
    eps: float = 1e-5,
    *,
    offset: float = 0.0,
) -> Several:
    """The gradients of rms_norm."""
    g = out_grad if weight is None else out_grad * (weight + offset)
    y, x_grad = _standard_bwd(g, x, _last(normalized_shape), eps, centred=False)
    return _gradients(out_grad, y, x_grad, weight, None)


# ---- over channels -------------------------------------------------------------------------------


def _by_channel(weight: Tracked | None, ndim: int) -> Tracked | None:
    return None if weight is None else weight.reshape(weight.shape[0], *[1] * (ndim - 2))


def _grouped(x: Tracked, groups: int) -> Tracked:
    return x.reshape(x.shape[0], groups, prod(x.shape[1:]) // max(groups, 1))


@truth_of("nn:group_norm")
def group_norm(
    x: Tracked,
    num_groups: int,
    weight: Tracked | None = None,
    bias: Tracked | None = None,
    eps: float = 1e-5,
) -> Tracked:
    """(x - mean) / sqrt(variance + eps) over groups of channels, weighted by channel."""
    y = standardised(_grouped(x, num_groups), [-1], eps).reshape(*x.shape)
    return _weighted(y, _by_channel(weight, x.ndim), _by_channel(bias, x.ndim))


@truth_of("nn:group_norm_bwd")
def group_norm_bwd(
    out_grad: Tracked,
    x: Tracked,
    num_groups: int,
    weight: Tracked | None = None,
    bias: Tracked | None = None,
    eps: float = 1e-5,
) -> Several:
    """The gradients of group_norm."""
    by = _by_channel(weight, x.ndim)
    g = out_grad if by is None else out_grad * by
    y, x_grad = _standard_bwd(_grouped(g, num_groups), _grouped(x, num_groups), [-1], eps)
    return _channels_back(out_grad, y.reshape(*x.shape), x_grad.reshape(*x.shape), weight, bias)


def _channels_back(
    g: Tracked, y: Tracked, x_grad: Tracked, weight: Tracked | None, bias: Tracked | None
) -> Several:
    axes = [a for a in range(g.ndim) if a != 1]
    made = [x_grad]
    made += [] if weight is None else [(g * y).sum(axes)]
    made += [] if bias is None else [g.sum(axes)]
    return tuple(made) if len(made) > 1 else x_grad


@truth_of("nn:instance_norm")
def instance_norm(
    x: Tracked, weight: Tracked | None = None, bias: Tracked | None = None, eps: float = 1e-5
) -> Tracked:
    """group_norm with a group for each channel."""
    return group_norm(x, x.shape[1], weight, bias, eps)


@truth_of("nn:instance_norm_bwd")
def instance_norm_bwd(
    out_grad: Tracked,
    x: Tracked,
    weight: Tracked | None = None,
    bias: Tracked | None = None,
    eps: float = 1e-5,
) -> Several:
    """The gradients of instance_norm."""
    return group_norm_bwd(out_grad, x, x.shape[1], weight, bias, eps)


def _running(mean: Tracked | None, var: Tracked | None) -> tuple[Tracked, Tracked]:
    if mean is None or var is None:
        raise ValueError("without training, running_mean and running_var are needed")
    return mean, var


@truth_of("nn:batch_norm")
def batch_norm(
    x: Tracked,
    running_mean: Tracked | None = None,
    running_var: Tracked | None = None,
    weight: Tracked | None = None,
    bias: Tracked | None = None,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-5,
    *,
    unbiased: bool = True,
) -> Several:
    """(x - mean) / sqrt(variance + eps) by channel, by running or by the batch's statistics."""
    axes = [a for a in range(x.ndim) if a != 1]
    if training:
        count = prod(x.shape[a] for a in axes)
        mean = x.mean(axes)
        d = x - mean.reshape(x.shape[1], *[1] * (x.ndim - 2))
        var = (d * d).sum(axes) / count
    else:
        mean, var = _running(running_mean, running_var)
        d = x - mean.reshape(x.shape[1], *[1] * (x.ndim - 2))
    y = d / sqrt(var.reshape(x.shape[1], *[1] * (x.ndim - 2)) + eps)
    y = _weighted(y, _by_channel(weight, x.ndim), _by_channel(bias, x.ndim))
    if not training:
        return y
    news = [mean, var * count / (count - 1) if unbiased else var]
    for i, old in enumerate((running_mean, running_var)):
        if old is not None:
            news[i] = old * (1 - momentum) + news[i] * momentum
    return y, *news


@truth_of("nn:batch_norm_bwd")
def batch_norm_bwd(
    out_grad: Tracked,
    x: Tracked,
    running_mean: Tracked | None = None,
    running_var: Tracked | None = None,
    weight: Tracked | None = None,
    bias: Tracked | None = None,
    training: bool = False,
    eps: float = 1e-5,
) -> Several:
    """The gradients of batch_norm; running statistics are constants."""
    axes = [a for a in range(x.ndim) if a != 1]
    by = _by_channel(weight, x.ndim)
    g = out_grad if by is None else out_grad * by
    if training:
        y, x_grad = _standard_bwd(g, x, axes, eps)
    else:
        both = _running(running_mean, running_var)
        mean, var = (s.reshape(x.shape[1], *[1] * (x.ndim - 2)) for s in both)
        root = sqrt(var + eps)
        y, x_grad = (x - mean) / root, g / root
    return _channels_back(out_grad, y, x_grad, weight, bias)


# ---- lengths and angles --------------------------------------------------------------------------


def _length(x: Tracked, p: float, axis: int) -> Tracked:
    """The length of order p: 0, 1, 2 or infinity."""
    if p == 2:
        return sqrt((x * x).sum(axis, keepdims=True))
    size = absolute(x)
    if p == 0:
        size = tracked(np.asarray(x.value != 0, dtype=np.float64))
    return size.max(axis, keepdims=True) if p == inf else size.sum(axis, keepdims=True)


def _less(x: Tracked, y: float) -> Any:
    return x.plain < y


@truth_of("nn:normalize")
def normalize(x: Tracked, p: float = 2.0, axis: int = 1, eps: float = 1e-12) -> Tracked:
    """x by its length, or by eps if that is more."""
    return x / maximum(_length(x, p, axis), eps)


@truth_of("nn:normalize_bwd")
def normalize_bwd(
    out_grad: Tracked, x: Tracked, p: float = 2.0, axis: int = 1, eps: float = 1e-12
) -> Tracked:
    """g / n - sum(g x) / n**2 dn/dx."""
    length = _length(x, p, axis)
    by = maximum(length, eps)
    signs = tracked(np.sign(x.plain))
    if p == inf:
        largest = tracked(np.asarray(absolute(x).value == length.value, dtype=np.float64))
        slope = signs * largest / largest.sum(axis, keepdims=True)
    else:
        slope = signs * 0.0 if p == 0 else signs if p == 1 else x / by
    back = (out_grad * x).sum(axis, keepdims=True) / by / by * slope
    return where(_less(length, eps), out_grad / by, out_grad / by - back)


def _lengths(x1: Tracked, x2: Tracked, axis: int, eps: float, joint: bool) -> tuple[Any, ...]:
    """Both lengths, what x1 x2 is divided by, and where they are constants."""
    a, b = _length(x1, 2, axis), _length(x2, 2, axis)
    if joint:
        return a, b, maximum(a * b, eps), _less(a * b, eps), _less(a * b, eps)
    return a, b, maximum(a, eps) * maximum(b, eps), _less(a, eps), _less(b, eps)


def _broadcast(x1: Tracked, x2: Tracked) -> tuple[Tracked, Tracked]:
    shape = np.broadcast_shapes(x1.shape, x2.shape)
    both = (
        Tracked(np.broadcast_to(x.value, shape), np.broadcast_to(x.error, shape)) for x in (x1, x2)
    )
    first, second = both
    return first, second


@truth_of("nn:cosine_similarity")
def cosine_similarity(
    x1: Tracked, x2: Tracked, axis: int = 1, eps: float = 1e-8, *, joint: bool = False
) -> Tracked:
    """The sum of x1 x2 by both lengths."""
    x, y = _broadcast(x1, x2)
    by: Tracked = _lengths(x, y, axis, eps, joint)[2]
    return ((x * y).sum(axis, keepdims=True) / by).sum(axis)


@truth_of("nn:cosine_similarity_bwd")
def cosine_similarity_bwd(
    out_grad: Tracked,
    x1: Tracked,
    x2: Tracked,
    axis: int = 1,
    eps: float = 1e-8,
    *,
    joint: bool = False,
) -> Several:
    """The gradients of both."""
    x, y = _broadcast(x1, x2)
    a, b, by, a_fixed, b_fixed = _lengths(x, y, axis, eps, joint)
    g = out_grad.reshape(*(1 if i == axis % x.ndim else n for i, n in enumerate(x.shape)))
    cosine = (x * y).sum(axis, keepdims=True) / by

    def one(x: Tracked, y: Tracked, length: Tracked, fixed: Any, like: Tracked) -> Tracked:
        back = g * cosine * x / length / length
        plain = g * y / by
        return _summed(where(fixed, plain, plain - back), like.shape)

    return one(x, y, a, a_fixed, x1), one(y, x, b, b_fixed, x2)
