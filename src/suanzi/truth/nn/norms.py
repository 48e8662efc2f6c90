"""Norms: rows with mean 0 and variance 1, or of length 1."""

from __future__ import annotations

from collections.abc import Sequence

from suanzi.truth.define import truth_of
from suanzi.truth.tracked import Tracked, sqrt


def _last(normalized_shape: int | Sequence[int]) -> list[int]:
    count = 1 if isinstance(normalized_shape, int) else len(normalized_shape)
    return list(range(-count, 0))


def _weighted(y: Tracked, weight: Tracked | None, bias: Tracked | None) -> Tracked:
    y = y if weight is None else y * weight
    return y if bias is None else y + bias


@truth_of("nn:layer_norm")
def layer_norm(
    x: Tracked,
    normalized_shape: int | Sequence[int],
    weight: Tracked | None = None,
    bias: Tracked | None = None,
    eps: float = 1e-5,
) -> Tracked:
    """(x - mean) / sqrt(variance + eps), times a weight and plus a bias."""
    axes = _last(normalized_shape)
    d = x - x.mean(axes, keepdims=True)
    y = d / sqrt((d * d).mean(axes, keepdims=True) + eps)
    return _weighted(y, weight, bias)


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
    axes = _last(normalized_shape)
    y = x / sqrt((x * x).mean(axes, keepdims=True) + eps)
    return y if weight is None else y * (weight + offset)
