"""Gradients by central differences, for functions of NumPy arrays.

A loss is the sum of Re(conj(g) f(x)) over the elements of f(x), for a given gradient g of f(x). The
gradient of x is then dL/dRe + i dL/dIm; that of a real x is real.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np


def central_differences(
    function: Callable[[Any], Any], x: Any, out_grad: Any, step: float = 1e-6
) -> Any:
    """Return the gradient of x, a float64 or complex128 array, element by element."""
    x, out_grad = np.array(x), np.asarray(out_grad)

    def loss(at: Any) -> float:
        result = np.asarray(function(at))
        assert result.shape == out_grad.shape, (result.shape, out_grad.shape)
        return float(np.sum(np.real(np.conj(out_grad) * result)))

    gradient = np.zeros_like(x)
    directions = [1, 1j] if np.iscomplexobj(x) else [1]
    for place in np.ndindex(x.shape):
        for direction in directions:
            above, below = x.copy(), x.copy()
            above[place] += step * direction
            below[place] -= step * direction
            gradient[place] += direction * (loss(above) - loss(below)) / (2 * step)
    return gradient
