"""Softmax, its logarithm and the logarithm of a sum of exponentials."""

from __future__ import annotations

from suanzi.truth.define import truth_of
from suanzi.truth.tracked import Tracked, exp


@truth_of("nn:softmax")
def softmax(x: Tracked, axis: int = -1) -> Tracked:
    """exp(x) over its sum along an axis."""
    e = exp(x - x.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)
