"""Activations: functions of each element, and products of an element with a gate.

Definitions are the published formulas: where gelu and p (1 - p) lose digits of small results by
cancellation, so may an implementation. The core's do not.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suanzi.truth.define import truth_of
from suanzi.truth.tracked import (
    Tracked,
    absolute,
    concatenate,
    erf,
    erfc,
    exp,
    log1p,
    maximum,
    minimum,
    sigmoid,
    sqrt,
    tanh,
    tracked,
    where,
)

Mask = NDArray[np.bool_]


def _is(condition: Any) -> Mask:
    return np.asarray(condition, dtype=bool)


def _limits(x: Tracked, y: Tracked, below: float, above: float) -> Tracked:
    """y, and the limits at the infinities."""
    return where(_is(x.value == -math.inf), below, where(_is(x.value == math.inf), above, y))


def _with_nan(x: Tracked, y: Tracked) -> Tracked:
    """y, and NaN where x is."""
    return where(_is(x.value == x.value), y, x)


def _pi() -> Tracked:
    import mpmath

    return tracked(+mpmath.pi)


# ---- of pieces -----------------------------------------------------------------------------------


@truth_of("nn:relu")
def relu(x: Tracked) -> Tracked:
    """max(x, 0)."""
    return maximum(x, 0)


@truth_of("nn:relu_bwd")
def relu_bwd(out_grad: Tracked, x: Tracked) -> Tracked:
    """out_grad above 0."""
    return _inside(out_grad, x, 0, math.inf)


def _inside(out_grad: Tracked, x: Tracked, low: float, high: float) -> Tracked:
    inside = _is(x.value > low) & (_is(x.value < high) | (high == math.inf))
    return _with_nan(x, where(inside, out_grad, 0))


@truth_of("nn:relu6")
def relu6(x: Tracked) -> Tracked:
    """x between 0 and 6."""
    return minimum(maximum(x, 0), 6)


@truth_of("nn:relu6_bwd")
def relu6_bwd(out_grad: Tracked, x: Tracked) -> Tracked:
    """out_grad between 0 and 6."""
    return _inside(out_grad, x, 0, 6)


@truth_of("nn:hardtanh")
def hardtanh(x: Tracked, min_val: float = -1.0, max_val: float = 1.0) -> Tracked:
    """x between two numbers."""
    return minimum(maximum(x, min_val), max_val)


@truth_of("nn:hardtanh_bwd")
def hardtanh_bwd(
    out_grad: Tracked, x: Tracked, min_val: float = -1.0, max_val: float = 1.0
) -> Tracked:
    """out_grad between two numbers."""
    return _inside(out_grad, x, min_val, max_val)


@truth_of("nn:relu_squared")
def relu_squared(x: Tracked) -> Tracked:
    """max(x, 0) squared."""
    return maximum(x, 0) * maximum(x, 0)


@truth_of("nn:relu_squared_bwd")
def relu_squared_bwd(out_grad: Tracked, x: Tracked) -> Tracked:
    """2 max(x, 0) out_grad."""
    return where(_is(x.value <= 0), 0, out_grad * (2 * x))


@truth_of("nn:leaky_relu")
def leaky_relu(x: Tracked, negative_slope: float = 0.01) -> Tracked:
    """x, or a multiple of it below 0."""
    return where(_is(x.value > 0), x, x * _rounded(negative_slope))


@truth_of("nn:leaky_relu_bwd")
def leaky_relu_bwd(out_grad: Tracked, x: Tracked, negative_slope: float = 0.01) -> Tracked:
    """out_grad, or a multiple of it below 0."""
    below = out_grad * _rounded(negative_slope)
    return _with_nan(x, where(_is(x.value > 0), out_grad, below))


def _rounded(parameter: float) -> Tracked:
    """A parameter as the arithmetic has it: rounded once."""
    return tracked(parameter) * 1


@truth_of("nn:prelu")
def prelu(x: Tracked, weight: Tracked) -> Tracked:
    """x, or a multiple of it below 0, by channel."""
    return where(_is(x.value > 0), x, x * _spread(x, weight))


@truth_of("nn:prelu_bwd")
def prelu_bwd(out_grad: Tracked, x: Tracked, weight: Tracked) -> tuple[Tracked, Tracked]:
    """The gradients of x and weight."""
    positive = _is(x.value > 0)
    x_grad = _with_nan(x, where(positive, out_grad, out_grad * _spread(x, weight)))
    parts = where(positive, 0, out_grad * x)
    axis = min(1, x.ndim - 1)
    every = [a for a in range(x.ndim) if a != axis or weight.value.size == 1]
    total = parts.sum(every) if every else parts
    return x_grad, total.reshape(*weight.shape)


def _spread(x: Tracked, weight: Tracked) -> Tracked:
    shape = [1] * x.ndim
    if x.ndim:
        shape[min(1, x.ndim - 1)] = weight.value.size
    return weight.reshape(*shape)


@truth_of("nn:softsign")
def softsign(x: Tracked) -> Tracked:
    """x / (1 + |x|)."""
    return _limits(x, x / (1 + absolute(x)), -1, 1)


@truth_of("nn:softsign_bwd")
def softsign_bwd(out_grad: Tracked, x: Tracked) -> Tracked:
    """out_grad / (1 + |x|)**2."""
    root = 1 / (1 + absolute(x))
    return out_grad * (root * root)


@truth_of("nn:hardsigmoid")
def hardsigmoid(x: Tracked) -> Tracked:
    """relu6(x + 3) / 6."""
    return relu6(x + 3) / 6


@truth_of("nn:hardsigmoid_bwd")
def hardsigmoid_bwd(out_grad: Tracked, x: Tracked) -> Tracked:
    """out_grad / 6 between -3 and 3."""
    return _inside(out_grad / 6, x, -3, 3)


@truth_of("nn:hardswish")
def hardswish(x: Tracked) -> Tracked:
    """x relu6(x + 3) / 6."""
    return _limits(x, x * (relu6(x + 3) / 6), 0, math.inf)


@truth_of("nn:hardswish_bwd")
def hardswish_bwd(out_grad: Tracked, x: Tracked) -> Tracked:
    """(2 x + 3) / 6 between -3 and 3; 0 below, 1 above."""
    slope = where(_is(x.value >= 3), 1, (2 * x + 3) / 6)
    return out_grad * where(_is(x.value <= -3), 0, slope)


# ---- of exponentials -----------------------------------------------------------------------------

SELU_SCALE = 1.0507009873554804934193349852946
SELU_ALPHA = 1.6732632423543772848170429916717


def _expm1(x: Tracked) -> Tracked:
    """exp(x) - 1 for x <= 0, as 2 t / (1 - t) with t = tanh(x / 2): nothing cancels."""
    t = tanh(x / 2)
    return 2 * t / (1 - t)


@truth_of("nn:elu")
def elu(x: Tracked, alpha: float = 1.0) -> Tracked:
    """x, or alpha (exp(x) - 1) below 0."""
    return where(_is(x.value > 0), x, _rounded(alpha) * _expm1(minimum(x, 0)))


@truth_of("nn:elu_bwd")
def elu_bwd(out_grad: Tracked, x: Tracked, alpha: float = 1.0) -> Tracked:
    """out_grad, or that times alpha exp(x) below 0."""
    below = out_grad * (_rounded(alpha) * exp(minimum(x, 0)))
    return _with_nan(x, where(_is(x.value > 0), out_grad, below))


@truth_of("nn:selu")
def selu(x: Tracked) -> Tracked:
    """A multiple of elu."""
    return _rounded(SELU_SCALE) * elu(x, SELU_ALPHA)


@truth_of("nn:selu_bwd")
def selu_bwd(out_grad: Tracked, x: Tracked) -> Tracked:
    """A multiple of elu_bwd."""
    return _rounded(SELU_SCALE) * elu_bwd(out_grad, x, SELU_ALPHA)


@truth_of("nn:celu")
def celu(x: Tracked, alpha: float = 1.0) -> Tracked:
    """x, or alpha (exp(x / alpha) - 1) below 0."""
    scale = _rounded(alpha)
    return where(_is(x.value > 0), x, scale * _expm1(minimum(x, 0) / scale))


@truth_of("nn:celu_bwd")
def celu_bwd(out_grad: Tracked, x: Tracked, alpha: float = 1.0) -> Tracked:
    """out_grad, or that times exp(x / alpha) below 0."""
    below = out_grad * exp(minimum(x, 0) / _rounded(alpha))
    return _with_nan(x, where(_is(x.value > 0), out_grad, below))


@truth_of("nn:sigmoid")
def sigmoid_(x: Tracked) -> Tracked:
    """1 / (1 + exp(-x))."""
    return sigmoid(x)


@truth_of("nn:sigmoid_bwd")
def sigmoid_bwd(out_grad: Tracked, x: Tracked) -> Tracked:
    """p (1 - p)."""
    p = sigmoid(x)
    return out_grad * (p * (1 - p))


def _log_of_1_and_exp(x: Tracked) -> Tracked:
    return maximum(x, 0) + log1p(exp(-absolute(x)))


@truth_of("nn:log_sigmoid")
def log_sigmoid(x: Tracked) -> Tracked:
    """-log(1 + exp(-x))."""
    return -_log_of_1_and_exp(-x)


@truth_of("nn:log_sigmoid_bwd")
def log_sigmoid_bwd(out_grad: Tracked, x: Tracked) -> Tracked:
    """sigmoid(-x)."""
    return out_grad * sigmoid(-x)


@truth_of("nn:softplus")
def softplus(x: Tracked, beta: float = 1.0, threshold: float = 20.0) -> Tracked:
    """log(1 + exp(beta x)) / beta, or x."""
    scale = _rounded(beta)
    z = x * scale
    return where(_is(z.value > threshold), x, _log_of_1_and_exp(z) / scale)


@truth_of("nn:softplus_bwd")
def softplus_bwd(
    out_grad: Tracked, x: Tracked, beta: float = 1.0, threshold: float = 20.0
) -> Tracked:
    """sigmoid(beta x), or 1."""
    z = x * _rounded(beta)
    return where(_is(z.value > threshold), out_grad, out_grad * sigmoid(z))


# ---- gates: x times what lies between 0 and 1 ----------------------------------------------------


@truth_of("nn:silu")
def silu(x: Tracked) -> Tracked:
    """x sigmoid(x)."""
    return _limits(x, x * sigmoid(x), 0, math.inf)


@truth_of("nn:silu_bwd")
def silu_bwd(out_grad: Tracked, x: Tracked) -> Tracked:
    """p (1 + x (1 - p))."""
    p = sigmoid(x)
    return out_grad * _limits(x, p * (1 + x * (1 - p)), 0, 1)


@truth_of("nn:quick_gelu")
def quick_gelu(x: Tracked) -> Tracked:
    """x sigmoid(1.702 x)."""
    return _limits(x, x * sigmoid(_rounded(1.702) * x), 0, math.inf)


@truth_of("nn:quick_gelu_bwd")
def quick_gelu_bwd(out_grad: Tracked, x: Tracked) -> Tracked:
    """p (1 + 1.702 x (1 - p))."""
    z = _rounded(1.702) * x
    p = sigmoid(z)
    return out_grad * _limits(x, p * (1 + z * (1 - p)), 0, 1)


def _argument(x: Tracked) -> Tracked:
    """What the logistic function has for (1 + tanh(u)) / 2, which is 2 u."""
    return 2 * sqrt(2 / _pi()) * (x + _rounded(0.044715) * (x * x * x))


@truth_of("nn:gelu")
def gelu(x: Tracked, approximate: str = "none") -> Tracked:
    """x P(Z < x) = x (1 + erf(x / sqrt(2))) / 2, whose tail loses digits as published."""
    if approximate == "tanh":
        return _limits(x, x * ((1 + tanh(_argument(x) / 2)) / 2), 0, math.inf)
    return _limits(x, x * _below(x), 0, math.inf)


def _below(x: Tracked) -> Tracked:
    """The probability of a normal variable to be below x."""
    return (1 + erf(x / sqrt(2))) / 2


@truth_of("nn:gelu_bwd")
def gelu_bwd(out_grad: Tracked, x: Tracked, approximate: str = "none") -> Tracked:
    """P(Z < x) + x times the density, or that of the approximation."""
    if approximate == "tanh":
        t = tanh(_argument(x) / 2)
        slope = sqrt(2 / _pi()) * (1 + 3 * _rounded(0.044715) * (x * x))
        return out_grad * _limits(x, (1 + t) / 2 + x / 2 * slope * (1 - t * t), 0, 1)
    density = exp(-(x * x) / 2) / sqrt(2 * _pi())
    return out_grad * _limits(x, _below(x) + x * density, 0, 1)


@truth_of("nn:mish")
def mish(x: Tracked) -> Tracked:
    """x tanh(softplus(x))."""
    return _limits(x, x * tanh(_log_of_1_and_exp(x)), 0, math.inf)


@truth_of("nn:mish_bwd")
def mish_bwd(out_grad: Tracked, x: Tracked) -> Tracked:
    """t + x p (1 - t**2), where 1 - t**2 = (2 / (exp(s) + exp(-s)))**2."""
    s = _log_of_1_and_exp(x)
    e = exp(-s)
    half = 2 * e / (1 + e * e)
    return out_grad * _limits(x, tanh(s) + x * sigmoid(x) * (half * half), 0, 1)


@truth_of("nn:swiglu")
def swiglu(gate: Tracked, up: Tracked) -> Tracked:
    """silu(gate) up."""
    return silu(gate) * up


@truth_of("nn:swiglu_bwd")
def swiglu_bwd(out_grad: Tracked, gate: Tracked, up: Tracked) -> tuple[Tracked, Tracked]:
    """The gradients of gate and up."""
    return silu_bwd(out_grad * up, gate), out_grad * silu(gate)


@truth_of("nn:geglu")
def geglu(gate: Tracked, up: Tracked, approximate: str = "none") -> Tracked:
    """gelu(gate) up."""
    return gelu(gate, approximate) * up


@truth_of("nn:geglu_bwd")
def geglu_bwd(
    out_grad: Tracked, gate: Tracked, up: Tracked, approximate: str = "none"
) -> tuple[Tracked, Tracked]:
    """The gradients of gate and up."""
    return gelu_bwd(out_grad * up, gate, approximate), out_grad * gelu(gate, approximate)


def _halves(x: Tracked, axis: int) -> tuple[Tracked, Tracked]:
    before, half = (slice(None),) * (axis % x.ndim), x.shape[axis] // 2
    return x[(*before, slice(0, half))], x[(*before, slice(half, None))]


@truth_of("nn:glu")
def glu(x: Tracked, axis: int = -1) -> Tracked:
    """a sigmoid(b)."""
    a, b = _halves(x, axis)
    return a * sigmoid(b)


@truth_of("nn:glu_bwd")
def glu_bwd(out_grad: Tracked, x: Tracked, axis: int = -1) -> Tracked:
    """The gradients of a and b, joined."""
    a, b = _halves(x, axis)
    s = sigmoid(b)
    return concatenate([out_grad * s, out_grad * a * (s * (1 - s))], axis)


# ---- of the error function -----------------------------------------------------------------------


@truth_of("nn:erf")
def erf_(x: Tracked) -> Tracked:
    """The error function."""
    return erf(x)


@truth_of("nn:erfc")
def erfc_(x: Tracked) -> Tracked:
    """1 - erf(x)."""
    return erfc(x)


@truth_of("nn:erf_bwd")
def erf_bwd(out_grad: Tracked, x: Tracked) -> Tracked:
    """2 / sqrt(pi) exp(-x**2)."""
    return out_grad * (2 / sqrt(_pi()) * exp(-(x * x)))


@truth_of("nn:erfc_bwd")
def erfc_bwd(out_grad: Tracked, x: Tracked) -> Tracked:
    """-2 / sqrt(pi) exp(-x**2)."""
    return -erf_bwd(out_grad, x)
