"""silu, gelu and the logistic function of float32, computed in float32 and what its roundings lose.

float64 takes longer than memory: its conversions are an eighth as fast as sums of float32. An
exponential is a sum of two numbers, and 2**40 times as large, so that it has no subnormal number.
"""

# ruff: noqa: D103  (a function without words is the operator of its name)

from __future__ import annotations

import triton
import triton.language as tl

from suanzi.torch.triton.arithmetic import with_sign
from suanzi.torch.triton.exponentials import like, more, near_inverse
from suanzi.torch.triton.lanes import bits, floats

SINGLES = ("silu", "sigmoid", "gelu")
"""The functions here, which have `_single` after their names."""

_MAGIC = tl.constexpr(12582912.0)  # 3 * 2**22: sums with it are whole numbers
_UP = tl.constexpr(1099511627776.0)  # 2**40
_DOWN = tl.constexpr(9.094947017729282e-13)


@triton.jit
def _exponential(r, low):
    """Return exp(r) + low as a sum; r is at most 0.35."""
    s = r * r
    q = more(like(r, 0.0013950770953670144), r, 0.008369052782654762)
    q = more(q, r, 0.04166620224714279)
    q = more(q, r, 0.166665181517601)
    q = more(q, r, 0.5)
    part = tl.fma(s, q, low)
    most = r + part
    high = most + 1.0
    return high, (most - (high - 1.0)) + (part - (most - r))


@triton.jit
def _scale(whole):
    """Return 2**40 times the power of 2 of what was added to _MAGIC."""
    return floats((bits(whole) << 23) + 0x53800000)


@triton.jit
def _logistic(x):
    """Return the logistic function as a quotient of two sums, and what scales it, too large."""
    size = tl.abs(x)
    z = tl.where(size > 110.0, -110.0, 0.0 - size)
    whole = more(z, like(z, 1.4426950408889634), _MAGIC)
    n = whole - _MAGIC
    r = tl.fma(n, like(z, -0.6931471824645996), z)
    rest = n * 1.9046542121259336e-09
    high, low = _exponential(r, tl.fma(rest, r, rest))
    scale = _scale(whole)
    true = scale * _DOWN
    below = tl.fma(high, true, like(x, 1.0))
    under = tl.fma(low, true, tl.fma(high, true, 1.0 - below))
    negative = x < 0
    high, low = tl.where(negative, high, 1.0), tl.where(negative, low, 0.0)
    return high, low, below, under, tl.where(negative, scale, _UP)


@triton.jit
def _quotient(high, low, below, under):
    """Return a sum divided by a sum."""
    near = near_inverse(below)
    q = high * near
    left = tl.fma(-q, below, high)
    left = tl.fma(-q, under, left) + low
    return tl.fma(left, near, q)


@triton.jit
def sigmoid_single(x):
    high, low, below, under, scale = _logistic(x)
    made = _quotient(high, low, below, under) * scale * _DOWN
    return tl.where(x == x, made, x)


@triton.jit
def silu_single(x):
    high, low, below, under, scale = _logistic(x)
    y = tl.where(x < -110.0, -110.0, x)
    product = y * high
    lost = tl.fma(y, high, -product)
    made = _quotient(product, tl.fma(y, low, lost), below, under) * scale * _DOWN
    return tl.where(x > 110.0, x, with_sign(made, x))


@triton.jit
def _beyond(t, high, low):
    """Return the probability of a normal variable beyond t of 0 to 14.5, by exp(-t**2 / 2): sums.

    It is a polynomial by t + 1.25; what its last sum and the quotient lose is added to the product.
    """
    w = (t - 4.0) * near_inverse(t + 4.0)
    p = more(like(t, 6.95146300131455e-05), w, 0.0006761425756849349)
    p = more(p, w, -0.0002436028007650748)
    p = more(p, w, -0.0049202837981283665)
    p = more(p, w, 0.015841441228985786)
    p = more(p, w, -0.024470048025250435)
    p = more(p, w, 0.010670721530914307)
    p = more(p, w, 0.04509358108043671)
    p = more(p, w, -0.1393028199672699)
    total = more(p, w, 0.4956558644771576)
    lost = tl.fma(p, w, 0.4956558644771576 - total)
    d = t + 1.25
    near = near_inverse(d)
    q = total * near
    left = tl.fma(-q, d, total) + tl.fma(-q, t - (d - 1.25), lost)
    rest = tl.fma(left * near, high, q * low)
    made = tl.fma(q, high, rest)
    return made, tl.fma(q, high, -made) + rest


@triton.jit
def gelu_single(x):
    """Return x times the probability below x."""
    size = tl.abs(x)
    t = tl.where(size > 14.5, 14.5, size)
    square = t * t
    lost = tl.fma(t, t, -square)
    whole = more(square, like(x, -0.7213475204444817), _MAGIC)
    n = whole - _MAGIC
    r = tl.fma(n, like(x, -0.6931471824645996), square * -0.5)
    r = r + tl.fma(lost, like(x, -0.5), n * 1.9046542121259336e-09)
    high, low = _exponential(r, 0.0)
    high, low = _beyond(t, high, low)
    scale = _scale(whole)
    negative = x < 0
    high, low = high * scale, low * scale
    above = tl.fma(high, like(x, -_DOWN), like(x, 1.0))
    under = tl.fma(high, like(x, -_DOWN), 1.0 - above)
    high, low = tl.where(negative, high, above), tl.where(negative, 0.0 - low, under)
    y = tl.where(x < -14.5, -14.5, x)
    made = tl.fma(y, high, t * low) * tl.where(negative, _DOWN, 1.0)
    return with_sign(made, x)
