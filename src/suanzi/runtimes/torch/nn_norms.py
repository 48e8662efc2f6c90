"""Norms by their definitions: PyTorch requires eps above 0, or rounds statistics."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, TypeAlias

import torch

from suanzi.runtimes.torch.models import composed

Lanes: TypeAlias = torch.Tensor


def _last(normalized_shape: Any) -> list[int]:
    count = 1 if isinstance(normalized_shape, int) else len(normalized_shape)
    return list(range(-count, 0))


def _weighted(y: Lanes, weight: Lanes | None, bias: Lanes | None) -> Lanes:
    y = y if weight is None else y * weight
    return y if bias is None else y + bias


def _standard(x: Lanes, axes: Sequence[int], eps: float) -> Lanes:
    over = tuple(axes)
    d = x - x.mean(over, keepdim=True)
    return d / torch.sqrt((d * d).mean(over, keepdim=True) + eps)


def _spread(weight: Lanes, x: Lanes) -> Lanes:
    """Return numbers of channels in a shape that broadcasts to that of x."""
    return weight.reshape(-1, *[1] * (x.dim() - 2))


def _by_channel(weight: Lanes | None, x: Lanes) -> Lanes | None:
    return None if weight is None else _spread(weight, x)


@composed("nn:rms_norm")
def rms_norm(
    x: Lanes, normalized_shape: Any, weight: Lanes | None, eps: float, offset: float
) -> Lanes:
    """Return x / sqrt(mean of squares + eps), times a weight and an offset of it."""
    y = x / torch.sqrt((x * x).mean(_last(normalized_shape), keepdim=True) + eps)
    return y if weight is None else y * (weight + offset)


@composed("nn:instance_norm")
def instance_norm(x: Lanes, weight: Lanes | None, bias: Lanes | None, eps: float) -> Lanes:
    """Return each channel of each example with mean 0 and variance 1, weighted."""
    y = _standard(x, list(range(2, x.dim())), eps)
    return _weighted(y, _by_channel(weight, x), _by_channel(bias, x))


@composed("nn:batch_norm")
def batch_norm(
    x: Lanes, running_mean: Lanes | None, running_var: Lanes | None, weight: Lanes | None,
    bias: Lanes | None, training: bool, momentum: float, eps: float, unbiased: bool,
) -> Any:  # fmt: skip
    """Return x normalised by channel and, in training, the new statistics."""
    axes = [a for a in range(x.dim()) if a != 1]
    if training:
        count = math.prod(x.shape[a] for a in axes)
        mean = x.mean(axes)
        d = x - _spread(mean, x)
        var = (d * d).mean(axes)
    else:
        assert running_mean is not None
        assert running_var is not None
        mean, var = running_mean, running_var
        d = x - _spread(mean, x)
    y = _weighted(
        d / torch.sqrt(_spread(var, x) + eps), _by_channel(weight, x), _by_channel(bias, x)
    )
    if not training:
        return y
    news = [mean, (d * d).sum(axes) / (count - 1 if count > 1 else 0.0) if unbiased else var]
    for i, old in enumerate((running_mean, running_var)):
        if old is not None:
            news[i] = old * (1 - momentum) + news[i] * momentum
    return [y, *news]


@composed("nn:batch_norm_bwd")
def batch_norm_bwd(
    out_grad: Lanes, x: Lanes, running_mean: Lanes | None, running_var: Lanes | None,
    weight: Lanes | None, bias: Lanes | None, training: bool, eps: float,
) -> Any:  # fmt: skip
    """Return the gradients of batch_norm; running statistics are constants."""
    axes = [a for a in range(x.dim()) if a != 1]
    by = _by_channel(weight, x)
    g = out_grad if by is None else out_grad * by
    if training:
        d = x - x.mean(axes, keepdim=True)
        root = torch.sqrt((d * d).mean(axes, keepdim=True) + eps)
        y = d / root
        along = g - g.mean(axes, keepdim=True)
        by_x = (along - y * (g * y).mean(axes, keepdim=True)) / root
    else:
        assert running_mean is not None
        assert running_var is not None
        root = torch.sqrt(_spread(running_var, x) + eps)
        y, by_x = (x - _spread(running_mean, x)) / root, g / root
    made = [by_x]
    made += [] if weight is None else [(out_grad * y).sum(axes)]
    made += [] if bias is None else [out_grad.sum(axes)]
    return made if len(made) > 1 else by_x


# ---- angles --------------------------------------------------------------------------------------


def _length(x: Lanes, axis: int) -> Lanes:
    """Return lengths; squares are of numbers near 1, so that none overflows or vanishes."""
    most = x.abs().amax(axis, keepdim=True)
    scale = torch.where((most > 0) & (most < math.inf), most, 1.0)
    part = x / scale
    return scale * torch.sqrt((part * part).sum(axis, keepdim=True))


def _lengths(x: Lanes, y: Lanes, axis: int, eps: float, joint: bool) -> tuple[Lanes, ...]:
    """Return both lengths, what x y is divided by, and where they are constants."""
    a, b = _length(x, axis), _length(y, axis)
    if joint:
        few = a * b < eps
        return a, b, _least(a * b, eps), few, few
    return a, b, _least(a, eps) * _least(b, eps), a < eps, b < eps


def _least(x: Lanes, eps: float) -> Lanes:
    return torch.where(x < eps, eps, x)


@composed("nn:cosine_similarity")
def cosine_similarity(x1: Lanes, x2: Lanes, axis: int, eps: float, joint: bool) -> Lanes:
    """Return the sum of x1 x2 by both lengths."""
    x, y = torch.broadcast_tensors(x1, x2)
    if not x.numel():
        return (x * y).sum(axis)
    return ((x * y).sum(axis, keepdim=True) / _lengths(x, y, axis, eps, joint)[2]).squeeze(axis)


@composed("nn:cosine_similarity_bwd")
def cosine_similarity_bwd(
    out_grad: Lanes, x1: Lanes, x2: Lanes, axis: int, eps: float, joint: bool
) -> Any:
    """Return the gradients of both."""
    x, y = torch.broadcast_tensors(x1, x2)
    if not x.numel():
        return [torch.zeros_like(x1), torch.zeros_like(x2)]
    a, b, by, a_fixed, b_fixed = _lengths(x, y, axis, eps, joint)
    g = out_grad.unsqueeze(axis)
    cosine = (x * y).sum(axis, keepdim=True) / by

    def one(x: Lanes, y: Lanes, length: Lanes, fixed: Lanes, like: Lanes) -> Lanes:
        plain = g * y / by
        made = torch.where(fixed, plain, plain - g * cosine * x / length / length)
        return made.sum_to_size(like.shape)

    return [one(x, y, a, a_fixed, x1), one(y, x, b, b_fixed, x2)]
