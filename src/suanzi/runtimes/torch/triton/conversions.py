"""Conversions inside kernels, with the CPU's roundings: what generated kernels call.

Lanes of float8, float16 and bfloat16 are float32. Numbers wider than float32 are rounded to odd on
the way to 16 bits and fewer, so that the second rounding is the only one; see `torch/casts.py`.
"""

from __future__ import annotations

import triton
import triton.language as tl
from triton import knobs

INTERPRETED = tl.constexpr(bool(knobs.runtime.interpret))


@triton.jit
def bits(x):
    """Return the bits of float32 or float64 as integers."""
    if x.dtype == tl.float64:
        return x.to(tl.int64, bitcast=True)
    else:
        return x.to(tl.int32, bitcast=True)


@triton.jit
def floats(u):
    """Return float32 or float64 of bits."""
    if u.dtype == tl.int64:
        return u.to(tl.float64, bitcast=True)
    else:
        return u.to(tl.float32, bitcast=True)


@triton.jit
def from_bf16(x):
    """Return bfloat16 as float32."""
    if INTERPRETED:
        return floats(x.to(tl.uint16, bitcast=True).to(tl.int32) << 16)
    else:
        return x.to(tl.float32)


@triton.jit
def to_bf16(x):
    """Return float32 rounded to bfloat16; Triton's interpreter truncates instead."""
    if INTERPRETED:
        u = bits(x)
        near = (u + 0x7FFF + ((u >> 16) & 1)) >> 16
        near = tl.where(x == x, near, 0x7FC0)
        return near.to(tl.uint16).to(tl.bfloat16, bitcast=True)
    else:
        return x.to(tl.bfloat16)


@triton.jit
def odd32(x):
    """Return float64 as float32, rounded to odd."""
    near = x.to(tl.float32)
    back = near.to(tl.float64)
    u = bits(near)
    u_zero = tl.where(tl.abs(back) > tl.abs(x), u - 1, u)
    return floats(tl.where((back != x) & (x == x), u_zero | 1, u))


@triton.jit
def sticky64(x):
    """Return int64 as float64, what is cut off visible in the last bit."""
    lost = ((x & 0x7FF) != 0).to(tl.int64) << 11
    cut = (x >> 11 << 11) | lost
    return tl.where((x < 9007199254740992) & (x > -9007199254740992), x, cut).to(tl.float64)


@triton.jit
def sticky64_unsigned(x):
    """Return uint64 as float64, what is cut off visible in the last bit."""
    u = x.to(tl.int64, bitcast=True)
    half = ((u >> 1) & 0x7FFFFFFFFFFFFFFF) | (u & 1)
    wide = sticky64(tl.where(u < 0, half, u))
    return tl.where(u < 0, wide * 2.0, wide)


@triton.jit
def from_e5m2(x):
    """Return float8_e5m2 as float32: it is the upper half of float16."""
    return (x.to(tl.uint16) << 8).to(tl.float16, bitcast=True).to(tl.float32)


@triton.jit
def from_e4m3fn(x):
    """Return float8_e4m3fn as float32."""
    u = x.to(tl.int32)
    size = floats((u & 0x7F) << 20) * 1.329227995784916e36  # 2**120
    size = tl.where((u & 0x7F) == 0x7F, float("nan"), size)
    return floats(bits(size) | ((u & 0x80) << 24))


@triton.jit
def to_float8(x, MANTISSA: tl.constexpr, BIAS: tl.constexpr, LAST: tl.constexpr,
              OVER: tl.constexpr):  # fmt: skip
    """Return the bits of float32 as float8: beyond the bits LAST it is OVER."""
    u = bits(x)
    size = u & 0x7FFFFFFF
    cut: tl.constexpr = 23 - MANTISSA
    near = size + ((1 << (cut - 1)) - 1) + ((size >> cut) & 1)
    normal = (near >> cut) - ((127 - BIAS) << MANTISSA)
    # Adding this number, whose steps are those of the smallest numbers, rounds to them.
    magic: tl.constexpr = (127 + 1 - BIAS - MANTISSA + 23) << 23
    base = size * 0 + magic
    small = bits(floats(size) + floats(base)) - base
    made = tl.where(size < ((128 - BIAS) << 23), small, normal)
    made = tl.where(made > LAST, OVER, made)
    made = tl.where(size > 0x7F800000, 0x7F, made)
    return (made | ((u >> 24) & 0x80)).to(tl.uint8)


@triton.jit
def limited(x, LOW: tl.constexpr, HIGH: tl.constexpr):
    """Return floats within limits; NaN stays."""
    x = tl.where(x < LOW, LOW, x)
    return tl.where(x > HIGH, HIGH, x)


@triton.jit
def to_small_integer(x, LOW: tl.constexpr, HIGH: tl.constexpr):
    """Return floats as int32 or int64 within limits, towards zero; NaN is 0."""
    x = tl.where(x == x, tl.where(x > LOW, x, LOW), 0.0)
    x = tl.where(x >= HIGH + 1.0, HIGH, x)  # compared with a power of two: Triton has fp32 there
    return x.to(tl.int64) if x.dtype == tl.float64 else x.to(tl.int32)


@triton.jit
def to_int64(x):
    """Return float64 as int64: beyond the range, the end of it; NaN is 0."""
    high, low = x >= 9223372036854775808.0, x < -9223372036854775808.0
    inside = tl.where(high | low | (x != x), 0.0, x).to(tl.int64)
    ends = tl.where(high, 0x7FFFFFFFFFFFFFFF, -0x7FFFFFFFFFFFFFFF - 1)
    return tl.where(high | low, ends, inside)


@triton.jit
def to_uint64(x):
    """Return float64 as the bits of uint64: beyond the range, the end of it; NaN is 0."""
    over, high = x >= 18446744073709551616.0, x >= 9223372036854775808.0
    small = tl.where(high | (x <= 0) | (x != x), 0.0, x).to(tl.int64)
    large = tl.where(high & (x < 18446744073709551616.0), x - 9223372036854775808.0, 0.0)
    made = tl.where(high, large.to(tl.int64) ^ (-0x7FFFFFFFFFFFFFFF - 1), small)
    return tl.where(over, -1, made).to(tl.uint64, bitcast=True)


@triton.jit
def near_tie(x, MANTISSA: tl.constexpr, EXPONENT: tl.constexpr, WITHIN: tl.constexpr):
    """Return where float32 is so near the middle of two 16-bit floats that an error of WITHIN
    ULP decides which is nearest, and where float16 is subnormal: bfloat16 ends where float32 does.
    """
    # What decides is moved to the top of 32 bits, so that the rest vanishes: one instruction.
    cut: tl.constexpr = 23 - MANTISSA
    up: tl.constexpr = 32 - cut
    start: tl.constexpr = ((WITHIN - (1 << (cut - 1))) << up) & 0xFFFFFFFF
    last: tl.constexpr = ((2 * WITHIN) << up) | ((1 << up) - 1)
    u = bits(x).to(tl.uint32, bitcast=True)
    near = (u << up) + start <= last
    if EXPONENT < 8:
        near = near | (tl.abs(x) < 6.103515625e-05)
    return near
