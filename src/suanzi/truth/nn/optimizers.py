"""Steps of optimizers."""

from __future__ import annotations

import mpmath
import numpy as np

from suanzi.truth.define import truth_of
from suanzi.truth.tracked import Tracked, either, maximum, sqrt, tracked

_DOUBLE = 2.0**-53


def _scalar(x: mpmath.mpf) -> Tracked:
    """A number of at most 1 that is computed from arguments in float64, and then rounded."""
    return Tracked(tracked(x).value, np.asarray(4 * _DOUBLE)) * 1


@truth_of("nn:adamw")
def adamw(
    param: Tracked,
    grad: Tracked,
    exp_avg: Tracked,
    exp_avg_sq: Tracked,
    step: int,
    lr: float = 1e-3,
    beta1: float = 0.9,
    beta2: float = 0.999,
    eps: float = 1e-8,
    weight_decay: float = 1e-2,
    max_exp_avg_sq: Tracked | None = None,
    maximize: bool = False,
) -> tuple[Tracked, ...]:
    """Decoupled weight decay, and a step by the moments, each corrected for its start at 0."""
    exact = mpmath.mpf
    g = -grad if maximize else grad
    some, squares = _scalar(1 - exact(beta1)), _scalar(1 - exact(beta2))
    first, second = _scalar(exact(beta1)), _scalar(exact(beta2))
    apart = g - exp_avg
    # By the smaller step, so that a beta of 0 or nearly 1 gives one of both.
    near = exp_avg + some * apart if 1 - beta1 < 0.5 else g - first * apart
    average = either(near, first * exp_avg + some * g)
    square = second * exp_avg_sq + squares * (g * g)
    most = square if max_exp_avg_sq is None else maximum(max_exp_avg_sq, square)
    under = sqrt(most) / sqrt(_scalar(1 - exact(beta2) ** step)) + eps
    rate = tracked(lr) / _scalar(1 - exact(beta1) ** step)
    kept = param * (1 - tracked(lr) * weight_decay)
    made = (kept - rate * average / under, average, square)
    return made if max_exp_avg_sq is None else (*made, most)
