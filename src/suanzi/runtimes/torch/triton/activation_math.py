"""Activations of lanes: what generated kernels call.

Lanes are float64 for results of float32, and float32 for those of 16 bits, where a table decides
near ties, if there is one operand. A result is a product whose parts have no overflow on the way.
"""

# ruff: noqa: D103  (a function without words is the operator of its name)

from __future__ import annotations

import triton
import triton.language as tl

from suanzi.runtimes.torch.triton.arithmetic import divided, flipped, with_sign
from suanzi.runtimes.torch.triton.exponentials import (
    bell,
    bounded,
    exponential,
    falling,
    inverse,
    like,
    log_of_1_and,
    more,
    near_power,
    not_below,
)

# ---- the logistic function -----------------------------------------------------------------------


@triton.jit
def logistic(negative, a, b):
    """Return numbers whose product is 1 / (1 + exp(-z)), where a b = exp(-|z|)."""
    over = inverse(a * b + 1.0)
    return tl.where(negative, a, 1.0) * over, tl.where(negative, b, 1.0)


@triton.jit
def logistic_slope(negative, z, a, b):
    """Return numbers whose product is p (1 + z (1 - p)), p the logistic function of z."""
    e = a * b
    over = inverse(e + 1.0)
    rest = tl.where(negative, 1.0, e) * over
    return tl.where(negative, a, 1.0) * over * (z * rest + 1.0), tl.where(negative, b, 1.0)


@triton.jit
def quick_parts(x):
    """Return numbers whose product is exp(-1.702 |x|)."""
    return falling(-tl.abs(x), 2.4554669595930156, 1.2277334797965078)


@triton.jit
def tanh_parts(x):
    """Return numbers whose product is exp(-|z|), z twice what gelu's approximation has for tanh."""
    size, square = tl.abs(x), x * x
    if x.dtype == tl.float64:
        return exponential(size * (square * -0.07135481627260025 - 1.5957691216057308))
    else:
        made = near_power(size * more(like(x, -0.05147161979001175), square, -1.1511040990721626))
        return made, made


@triton.jit
def sigmoid(x):
    a, b = exponential(-tl.abs(x))
    a, b = logistic(x < 0, a, b)
    return a * b


@triton.jit
def sigmoid_bwd(g, x):
    a, b = exponential(-tl.abs(x))
    over = inverse(a * b + 1.0)
    return (g * (a * over * over)) * b


@triton.jit
def log_sigmoid(x):
    a, b = exponential(-tl.abs(x))
    made = log_of_1_and(a * b)
    return flipped(tl.where(x < 0, made - x, made))


@triton.jit
def log_sigmoid_bwd(g, x):
    a, b = exponential(-tl.abs(x))
    a, b = logistic(x > 0, a, b)
    return (g * a) * b


@triton.jit
def softplus(x, BETA: tl.constexpr, OVER: tl.constexpr, THRESHOLD: tl.constexpr, C: tl.constexpr,
             HALF: tl.constexpr):  # fmt: skip
    """OVER is 1 / BETA; C = 2 HALF is |BETA| by the logarithm of 2."""
    a, b = falling(-tl.abs(x), C, HALF)
    made, z = log_of_1_and(a * b), x * BETA
    made = tl.where(z < 0, made, made + z) * OVER
    return tl.where(z > like(z, THRESHOLD), x, made)


@triton.jit
def softplus_bwd(g, x, BETA: tl.constexpr, THRESHOLD: tl.constexpr, C: tl.constexpr,
                 HALF: tl.constexpr):  # fmt: skip
    a, b = falling(-tl.abs(x), C, HALF)
    z = x * BETA
    a, b = logistic(z < 0, a, b)
    return tl.where(z > like(z, THRESHOLD), g, (g * a) * b)


# ---- gates: x times what lies between 0 and 1 ----------------------------------------------------


@triton.jit
def silu_parts(x):
    """Return numbers whose product is x sigmoid(x), the second between 0 and 1."""
    a, b = exponential(-tl.abs(x))
    a, b = logistic(x < 0, a, b)
    return not_below(x) * a, b


@triton.jit
def silu(x):
    a, b = silu_parts(x)
    return a * b


@triton.jit
def silu_slope(x):
    a, b = exponential(-tl.abs(x))
    return logistic_slope(x < 0, bounded(x), a, b)


@triton.jit
def silu_bwd(g, x):
    a, b = silu_slope(x)
    return (g * a) * b


@triton.jit
def quick_gelu(x):
    a, b = quick_parts(x)
    a, b = logistic(x < 0, a, b)
    return (not_below(x) * a) * b


@triton.jit
def quick_gelu_bwd(g, x):
    a, b = quick_parts(x)
    a, b = logistic_slope(x < 0, bounded(x) * 1.702, a, b)
    return (g * a) * b


@triton.jit
def gelu_tanh_parts(x):
    a, b = tanh_parts(x)
    a, b = logistic(x < 0, a, b)
    return not_below(x) * a, b


@triton.jit
def gelu_tanh(x):
    a, b = gelu_tanh_parts(x)
    return a * b


@triton.jit
def gelu_tanh_slope(x):
    a, b = tanh_parts(x)
    y = bounded(x)
    return logistic_slope(x < 0, y * ((y * y) * 0.21406444881780075 + 1.5957691216057308), a, b)


@triton.jit
def gelu_tanh_bwd(g, x):
    a, b = gelu_tanh_slope(x)
    return (g * a) * b


@triton.jit
def mills(t):
    """Return exp(t**2 / 2) times the probability of a normal variable beyond t, for t >= 0."""
    t = tl.minimum(t, 40.0)
    over = inverse(t + 4.0)
    w = (t - 4.0) * over
    if t.dtype == tl.float64:
        near = w.to(tl.float32)  # what follows is a thirtieth of the sum at most
        q = more(like(near, 1.81731733423725e-05), near, -7.826241729802154e-06)
        q = more(q, near, -0.000215203742726546)
        q = more(q, near, 0.00014067041200568613)
        q = more(q, near, 0.0016241815534064653)
        q = more(q, near, -0.00348275134922867)
        q = more(q, near, -0.007538847091647475)
        q = more(q, near, 0.060397091081656695)
        p = more(q.to(tl.float64), w, -0.18652197950809712)
        p = more(p, w, 0.38713737075958854)
        p = more(p, w, -0.6078966385808697)
        p = more(p, w, 0.755285130684157)
    else:
        p = more(like(w, 0.00037553052727901684), w, 0.0014881965044144518)
        p = more(p, w, -0.0037092874351289076)
        p = more(p, w, -0.0075240012142423806)
        p = more(p, w, 0.0604661439165941)
        p = more(p, w, -0.18651912743741425)
        p = more(p, w, 0.38713044289596565)
        p = more(p, w, -0.6078969192682033)
        p = more(p, w, 0.7552852428066186)
    return p * over


@triton.jit
def gelu_parts(x):
    """Return numbers whose product is x times the probability below x."""
    a, b = bell(x)
    beyond = a * mills(tl.abs(x))
    part = tl.where(x < 0, beyond, 1.0 - beyond * b)
    return not_below(x) * part, tl.where(x < 0, b, 1.0)


@triton.jit
def gelu(x):
    a, b = gelu_parts(x)
    return a * b


@triton.jit
def gelu_slope(x):
    a, b = bell(x)
    size = tl.minimum(tl.abs(x), 10000.0)
    beyond = a * (mills(size) - size * 0.3989422804014327)
    return tl.where(x < 0, beyond, 1.0 - beyond * b), tl.where(x < 0, b, 1.0)


@triton.jit
def gelu_bwd(g, x):
    a, b = gelu_slope(x)
    return (g * a) * b


@triton.jit
def mish_divisor(negative, e):
    """Return d, which n lacks 2 or 2 a**2 of."""
    return tl.where(negative, e * (e + 2.0) + 2.0, (e * (e + 1.0)) * 2.0 + 1.0)


@triton.jit
def mish(x):
    """Return x n / d by a = exp(-|x|): n = 1 + 2 a, or 2 a + a**2 below 0; sums of positives."""
    a, b = exponential(-tl.abs(x))
    e, negative = a * b, x < 0
    over = inverse(mish_divisor(negative, e))
    part = tl.where(negative, a * (e + 2.0), e + e + 1.0)
    return (not_below(x) * (part * over)) * tl.where(negative, b, 1.0)


@triton.jit
def mish_bwd(g, x):
    """The derivative of x n / d: n / d + 4 x a (1 + a) / d**2, above 0 times a."""
    a, b = exponential(-tl.abs(x))
    e, negative, y = a * b, x < 0, bounded(x)
    over = inverse(mish_divisor(negative, e))
    steep = (y * 4.0) * (e + 1.0) * over
    below = a * ((e + 2.0 + steep) * over)
    above = (e + e + 1.0 + e * e * steep) * over
    return (g * tl.where(negative, below, above)) * tl.where(negative, b, 1.0)


@triton.jit
def swiglu(x, up):
    a, b = silu_parts(x)
    return (a * up) * b


@triton.jit
def geglu(x, up):
    a, b = gelu_parts(x)
    return (a * up) * b


@triton.jit
def geglu_tanh(x, up):
    a, b = gelu_tanh_parts(x)
    return (a * up) * b


@triton.jit
def glu(x, gate):
    a, b = exponential(-tl.abs(gate))
    a, b = logistic(gate < 0, a, b)
    return (x * a) * b


@triton.jit
def swiglu_slopes(g, x, up):
    """Return the gradients of the gate and of what it multiplies."""
    a, b = silu_slope(x)
    c, d = silu_parts(x)
    return ((g * up) * a) * b, (c * g) * d


@triton.jit
def geglu_slopes(g, x, up):
    a, b = gelu_slope(x)
    c, d = gelu_parts(x)
    return ((g * up) * a) * b, (c * g) * d


@triton.jit
def geglu_tanh_slopes(g, x, up):
    a, b = gelu_tanh_slope(x)
    c, d = gelu_tanh_parts(x)
    return ((g * up) * a) * b, (c * g) * d


@triton.jit
def glu_slopes(g, x, gate):
    a, b = exponential(-tl.abs(gate))
    over = inverse(a * b + 1.0)
    slope = (g * (x * (a * over * over))) * b
    a, b = logistic(gate < 0, a, b)
    return (g * a) * b, slope


# ---- of the error function -----------------------------------------------------------------------


@triton.jit
def erfc_of_size(x):
    """Return erfc(|x|): twice the probability beyond sqrt(2) |x|."""
    a, b = exponential(-(x * x))
    return (a * (mills(tl.abs(x) * 1.4142135623730951) * 2.0)) * b


@triton.jit
def erf(x):
    u = x * x
    if x.dtype == tl.float64:
        p = more(like(u, 9.470461781593866e-05), u, -0.0008356927920014206)
        p = more(p, u, 0.00521678948992104)
        p = more(p, u, -0.02686477180205234)
        p = more(p, u, 0.11283778642917985)
        p = more(p, u, -0.3761263844667974)
        p = more(p, u, 1.128379167069327)
    else:
        p = more(like(u, 0.004163329352375293), u, -0.026365361001662105)
        p = more(p, u, 0.11273917485460376)
        p = more(p, u, -0.3761195049711615)
        p = more(p, u, 1.128379089775459)
    return tl.where(tl.abs(x) < 0.75, x * p, with_sign(1.0 - erfc_of_size(x), x))


@triton.jit
def erfc(x):
    tail = erfc_of_size(x)
    return tl.where(x < 0, 2.0 - tail, tail)


@triton.jit
def erf_bwd(g, x):
    a, b = exponential(-(x * x))
    return (g * (a * 1.1283791670955126)) * b


@triton.jit
def erfc_bwd(g, x):
    return flipped(erf_bwd(g, x))


# ---- of pieces -----------------------------------------------------------------------------------


@triton.jit
def below_0(x, y, SCALE: tl.constexpr):
    """Return SCALE x above 0, y elsewhere."""
    return tl.where(x > 0, x * SCALE, y)


@triton.jit
def exponential_slope(g, x, ALPHA: tl.constexpr, SCALE: tl.constexpr, C: tl.constexpr,
                      HALF: tl.constexpr):  # fmt: skip
    """Return SCALE g above 0, and elsewhere ALPHA g 2**(C x), where C is 2 HALF."""
    a, b = falling(-tl.abs(x), C, HALF)
    return tl.where(x > 0, g * SCALE, (g * (a * ALPHA)) * b)


@triton.jit
def clamped(x, LOW: tl.constexpr, HIGH: tl.constexpr):
    """Return lanes between two numbers; NaN stays."""
    low, high = like(x, LOW), like(x, HIGH)
    return tl.where(x <= low, low, tl.where(x >= high, high, x))


@triton.jit
def if_inside(g, x, LOW: tl.constexpr, HIGH: tl.constexpr):
    """Return g between two numbers, 0 elsewhere, NaN where x is."""
    return tl.where(x == x, tl.where((x > like(x, LOW)) & (x < like(x, HIGH)), g, 0.0), x)


@triton.jit
def relu_bwd(g, x):
    return tl.where(x == x, tl.where(x > 0, g, 0.0), x)


@triton.jit
def leaky_bwd(g, x, weight):
    return tl.where(x == x, tl.where(x > 0, g, g * weight), x)


@triton.jit
def softsign(x):
    size, one = tl.abs(x), like(x, 1.0)
    return tl.where(size == float("inf"), with_sign(one, x), divided(x, size + 1.0))


@triton.jit
def softsign_bwd(g, x):
    root = divided(like(x, 1.0), tl.abs(x) + 1.0)
    return g * tl.where(tl.abs(x) == float("inf"), 0.0, root * root)


@triton.jit
def hardsigmoid(x):
    return clamped(x + 3.0, 0.0, 6.0) * 0.16666666666666666


@triton.jit
def hardswish(x):
    middle = (x * (x + 3.0)) * 0.16666666666666666
    return tl.where(x <= -3.0, 0.0, tl.where(x >= 3.0, x, middle))


@triton.jit
def hardswish_bwd(g, x):
    slope = (x + x + 3.0) * 0.16666666666666666
    return g * tl.where(x <= -3.0, 0.0, tl.where(x >= 3.0, 1.0, slope))


@triton.jit
def dropped(x, keeps, C: tl.constexpr, HIGH: tl.constexpr, LOW: tl.constexpr):
    """Return C x where it is kept; of float32, C is HIGH + LOW."""
    if x.dtype == tl.float64:
        made = x * C
    else:
        made = tl.fma(x, like(x, HIGH), x * LOW)
        made = tl.where(tl.abs(x) == float("inf"), x * HIGH, made)
    return tl.where(keeps, made, 0.0)
