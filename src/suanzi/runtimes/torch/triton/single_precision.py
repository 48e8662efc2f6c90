"""silu, gelu, the logistic function and powers of float32, in float32 and what its roundings lose.

float64 takes longer than memory: its conversions are an eighth as fast as sums of float32. An
exponential is a sum of two numbers, and 2**40 times as large, so that it has no subnormal number.
"""

# ruff: noqa: D103  (a function without words is the operator of its name)

from __future__ import annotations

import triton
import triton.language as tl

from suanzi.runtimes.torch.triton.arithmetic import with_sign
from suanzi.runtimes.torch.triton.conversions import INTERPRETED, bits, floats
from suanzi.runtimes.torch.triton.exponentials import like, more, near_inverse

SINGLES = ("silu", "sigmoid", "gelu")
"""The activations here, which have `_single` after their names."""

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
    """Return x times the logistic function: x or 0 less |x| times that of -|x|."""
    t = tl.minimum(tl.abs(x), 110.0)
    whole = more(t, like(t, -1.4426950408889634), _MAGIC)
    n = whole - _MAGIC
    r = tl.fma(n, like(t, -0.6931471824645996), -t)
    rest = n * 1.9046542121259336e-09
    high, low = _exponential(r, tl.fma(rest, r, rest))
    scale = _scale(whole)
    true = scale * _DOWN
    part = high * true
    below = part + 1.0
    under = tl.fma(low, true, part - (below - 1.0))
    product = t * high
    lost = tl.fma(t, low, tl.fma(t, high, -product))
    times = _quotient(product, lost, below, under) * scale
    above = tl.maximum(x, 0.0, propagate_nan=tl.PropagateNan.ALL)
    return with_sign(tl.fma(times, like(x, -_DOWN), above), x)


@triton.jit
def _slope(r):
    """Return (2**r - 1) / r for r between -1/2 and 1/2."""
    p = more(like(r, 0.00015353277558460832), r, 0.0013398978626355529)
    p = more(p, r, 0.00961843878030777)
    p = more(p, r, 0.055503323674201965)
    p = more(p, r, 0.24022647738456726)
    return more(p, r, 0.6931471824645996)


@triton.jit
def _lower(total, w, C: tl.constexpr):
    """Return total * w - 2**-40 C, a step of a polynomial that is to be subtracted."""
    return tl.fma(total, w, like(w, C * -_DOWN))


@triton.jit
def _beyond(t, u):
    """Return the probability of a normal variable beyond t of 0 to 14.5, by exp(-t**2 / 2), times
    1 + u, as a sum of two that is to be added and 2**-40 times too small.

    It is a polynomial by t + 1.25; what its last sum and the quotient lose is in the second number.
    """
    w = (t - 4.0) * near_inverse(t + 4.0)
    p = like(t, -8.068940951488912e-05 * -_DOWN)
    p = _lower(p, w, -9.805705485632643e-05)
    p = _lower(p, w, 0.000643789186142385)
    p = _lower(p, w, -0.00012485063052736223)
    p = _lower(p, w, -0.00487011531367898)
    p = _lower(p, w, 0.01581244170665741)
    p = _lower(p, w, -0.024483243003487587)
    p = _lower(p, w, 0.01067358162254095)
    p = _lower(p, w, 0.04509459808468819)
    p = _lower(p, w, -0.13930290937423706)
    total = _lower(p, w, 0.4956558644771576)
    lost = tl.fma(p, w, 0.4956558644771576 * -_DOWN - total)
    d = t + 1.25
    near = near_inverse(d)
    q = total * near
    left = tl.fma(-q, like(t, 1.25), tl.fma(-q, t, total)) + lost
    return q, tl.fma(q, u, left * tl.fma(near, u, near))


@triton.jit
def gelu_single(x):
    """Return x times the probability below x: x or 0 less |x| times the probability beyond."""
    t = tl.minimum(tl.abs(x), 14.5)
    square = t * t
    lost = tl.fma(t, t, -square)
    whole = more(square, like(x, -0.7213475108146667), _MAGIC)
    r = tl.fma(square, like(x, -0.7213475108146667), -(whole - _MAGIC))
    r = tl.fma(square, like(x, -9.629815167500055e-09), r)
    r = tl.fma(lost, like(x, -0.7213475108146667), r)
    high, low = _beyond(t, _slope(r) * r)
    times = t * _scale(whole)
    below = tl.fma(times, high, times * low)
    above = tl.maximum(x, 0.0, propagate_nan=tl.PropagateNan.ALL)
    return with_sign(below + above, x)


@triton.jit
def _infinite_power(x, y):
    """Return x**y in five instructions, where x is 0, infinity, NaN or below 0, or y is NaN.

    x is made larger before, as the logarithm takes subnormal numbers for 0.
    """
    if INTERPRETED:
        return tl.exp2(tl.log2(x) * y)
    else:
        return tl.inline_asm_elementwise(
            """{ .reg .f32 t;
            mul.f32 t, $1, 0f4B800000;
            lg2.approx.ftz.f32 t, t;
            mul.f32 t, t, $2;
            ex2.approx.ftz.f32 $0, t; }""",
            "=f,f,f", [x, y], dtype=tl.float32, is_pure=True, pack=1,
        )  # fmt: skip


@triton.jit
def _log_of(u, least):
    """Return the logarithm of base 2 of a number of bits u, plus a number, as a sum.

    That of m, of sqrt(1/2) to sqrt(2), is s = (m - 1) / (m + 1) times a polynomial by its square,
    whose rounding errors are added up; what s loses is multiplied by the derivative.
    """
    up = (u - 0x3F3504F3) & -0x00800000
    f = floats(u - up) - 1.0
    whole = tl.fma(up.to(tl.float32), like(f, 1.1920928955078125e-07), least)
    near = near_inverse(f + 2.0)
    s = f * near
    left = tl.fma(-s, f, tl.fma(s, like(f, -2.0), f)) * near
    z = s * s
    lost = tl.fma(s, s, -z)
    left = tl.fma(left, z, left)
    p = more(like(f, 0.340239018201828), z, 0.4117053151130676)
    p = more(p, z, 0.5770828723907471)
    p = more(p, z, 0.9617967009544373)
    times = more(p, z, 2.885390043258667)
    rest = tl.fma(p, z, 2.885390043258667 - times)
    rest = tl.fma(p, lost, rest + 3.851926067000022e-08)
    high = s * times
    low = tl.fma(s, times, -high)
    low = tl.fma(left, like(f, 2.885390043258667), tl.fma(s, rest, low))
    total = whole + high
    return total, (high - (total - whole)) + low


@triton.jit
def power_single(x, y):
    """Return x to the power of y.

    The power of 2 of its logarithm is a product of two, so that subnormal results are rounded once.
    """
    size, most = tl.abs(x), tl.abs(y)
    rest = tl.fma(tl.floor(most * 0.5), like(x, -2.0), most)
    # A number below 0 keeps its sign where y is not an integer: its logarithm is NaN.
    broken = tl.fma(x, like(x, 0.0), tl.fma(rest, rest, -rest))
    base = tl.where(tl.abs(broken) > 0, x, size)
    small = tl.abs(base) < 1.1754943508222875e-38
    u = bits(tl.where(small, base * 16777216.0, base))
    high, low = _log_of(u, tl.where(small, -24.0, 0.0))
    # No power that is a number has an exponent beyond this one, but of 1.
    e = tl.clamp(y, -2147483648.0, 2147483648.0, propagate_nan=tl.PropagateNan.ALL)
    e = tl.where(x == 1.0, 0.0, e)
    first = e * high
    low = tl.fma(e, low, tl.fma(e, high, -first))
    near = tl.clamp(first, -180.0, 180.0)
    whole = near + _MAGIC
    half = more(near, like(x, 0.5), _MAGIC)
    r = (first - (whole - _MAGIC)) + low
    r = tl.clamp(r, -1.0, 1.0, propagate_nan=tl.PropagateNan.ALL)
    made = more(_slope(r), r, 1.0) * floats((bits(half) << 23) + 0x3F800000)
    made = made * floats(((bits(whole) - bits(half)) << 23) + 0x3F800000)
    strange = (u - 1).to(tl.uint32, bitcast=True) >= 0x7F7FFFFF
    made = tl.where(strange & (y != 0), _infinite_power(base, y), made)
    return with_sign(made, tl.where(rest == 1.0, x, size))
