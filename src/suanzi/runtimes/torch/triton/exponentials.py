"""Exponentials of lanes, what is made of them, and numbers that are compared with lanes.

Lanes of float64 have results of float32 to 2**-30 of their value, so that rounding is all that
shows. Lanes of float32 have those of 16 bits to a few units. Exponentials of what is not above 0
are products of two numbers of float32, so that one may be smaller than any float32, times what
makes it large again.
"""

from __future__ import annotations

import triton
import triton.language as tl

from suanzi.runtimes.torch.triton.arithmetic import with_sign
from suanzi.runtimes.torch.triton.conversions import INTERPRETED, bits, floats

_MAGIC64 = tl.constexpr(6755399441055744.0)  # 3 * 2**51: sums with it are whole numbers
_MAGIC32 = tl.constexpr(12582912.0)  # 3 * 2**22


@triton.jit
def like(x, C: tl.constexpr):
    """Return a number as lanes: what lanes are compared with would be float32."""
    return tl.full(x.shape, C, x.dtype)


@triton.jit
def more(total, x, C: tl.constexpr):
    """Return total * x + C, a step of a polynomial."""
    return tl.fma(total, x, like(x, C))


@triton.jit
def near_inverse(x):
    """Return 1 / x to 1 ULP, of float32 between 1 and 1e30, in one instruction."""
    if INTERPRETED:
        return 1.0 / x
    else:
        return tl.inline_asm_elementwise(
            "rcp.approx.ftz.f32 $0, $1;", "=f,f", [x], dtype=tl.float32, is_pure=True, pack=1
        )


@triton.jit
def near_power(x):
    """Return 2**x to 2 ULP, of float32, in one instruction; what is subnormal is 0."""
    if INTERPRETED:
        return tl.exp2(x)
    else:
        return tl.inline_asm_elementwise(
            "ex2.approx.ftz.f32 $0, $1;", "=f,f", [x], dtype=tl.float32, is_pure=True, pack=1
        )


@triton.jit
def inverse(x):
    """Return 1 / x of lanes between 1 and 1e30."""
    if x.dtype == tl.float64:
        near = near_inverse(x.to(tl.float32)).to(tl.float64)
        return tl.fma(near, more(-near, x, 1.0), near)
    else:
        return near_inverse(x)


@triton.jit
def bounded(x):
    """Return lanes within what is infinity to any function here."""
    x = tl.where(x < -10000.0, -10000.0, x)
    return tl.where(x > 10000.0, 10000.0, x)


@triton.jit
def not_below(x):
    """Return lanes that have a lower limit, which is -infinity to any function here."""
    return tl.where(x < -10000.0, -10000.0, x)


# ---- exponentials --------------------------------------------------------------------------------


@triton.jit
def power_less_1(r):
    """Return 2**r - 1 for r between -1/2 and 1/2."""
    if r.dtype == tl.float64:
        p = more(like(r, 1.5297323760701075e-05), r, 0.0001546144469856913)
        p = more(p, r, 0.001333350238616277)
        p = more(p, r, 0.009618056678524637)
        p = more(p, r, 0.055504108839096185)
        p = more(p, r, 0.24022650922288757)
        return more(p, r, 0.6931471805599453) * r
    else:
        p = more(like(r, 0.0001545316294512069), r, 0.0013390863364671234)
        p = more(p, r, 0.009618082557277852)
        p = more(p, r, 0.05550357114219078)
        p = more(p, r, 0.24022650760568126)
        return more(p, r, 0.6931471880262288) * r


@triton.jit
def falling(x, C: tl.constexpr, HALF: tl.constexpr):
    """Return numbers whose product is 2**(C x), 0 where that is very small; C is 2 HALF.

    C x is not above 0. That of float32 has an error of half a unit, so its power has one of up to
    44 at the smallest float32, and less in proportion to C x.
    """
    if x.dtype == tl.float64:
        whole = more(x, like(x, C), _MAGIC64)
        r = tl.fma(x, like(x, C), _MAGIC64 - whole)
        scale = floats((bits(whole) << 52) + 0x3FF0000000000000)
        made = tl.fma(scale, power_less_1(r), scale)
        made = tl.where(whole < like(whole, _MAGIC64 - 1000.0), 0.0, made)
        return made, like(x, 1.0)
    else:
        made = near_power(x * HALF)
        return made, made


@triton.jit
def exponential(x):
    """Return numbers whose product is exp(x), for x not above 0."""
    return falling(x, 1.4426950408889634, 0.7213475204444817)


@triton.jit
def bell(x):
    """Return numbers whose product is exp(-x**2 / 2)."""
    return falling(x * x, -0.7213475204444817, -0.36067376022224085)


@triton.jit
def exponential_less_1(x, C: tl.constexpr, HIGH: tl.constexpr, LOW: tl.constexpr):
    """Return 2**(C x) - 1, for x not above 0; of float32, C is HIGH + LOW."""
    if x.dtype == tl.float64:
        whole = more(x, like(x, C), _MAGIC64)
        n = whole - _MAGIC64
        r = tl.fma(x, like(x, C), -n)
        scale = floats((bits(whole) << 52) + 0x3FF0000000000000)
    else:
        whole = tl.fma(x, like(x, HIGH), like(x, _MAGIC32))
        n = whole - _MAGIC32
        r = tl.fma(x, like(x, HIGH), -n)
        r = tl.fma(x, like(x, LOW), r)
        scale = floats((bits(whole) << 23) + 0x3F800000)
    made = power_less_1(r)
    made = tl.where(n < -100.0, -1.0, tl.fma(scale, made, scale - 1.0))
    return with_sign(made, x)  # of -0, too


@triton.jit
def log_of_1_and(e):
    """Return log(1 + e) for e between 0 and 1: 2 atanh(e / (2 + e))."""
    s = e * inverse(e + 2.0)
    u = s * s
    if e.dtype == tl.float64:
        p = more(like(u, 0.12196954042011512), u, 0.10699280253339272)
        p = more(p, u, 0.14310103704218619)
        p = more(p, u, 0.19999355623431167)
        p = more(p, u, 0.33333339513216986)
        p = more(p, u, 0.9999999999045031)
    else:
        p = more(like(u, 0.17101809682970479), u, 0.19796592837711488)
        p = more(p, u, 0.33337924334677266)
        p = more(p, u, 0.9999998401331136)
    return (s + s) * p
