"""Element-wise operators of lanes: what generated kernels call, where an expression is not enough.

Products and sums are not contracted: every operation is rounded on its own, as on the CPU.
"""

from __future__ import annotations

import triton
import triton.language as tl

from suanzi.runtimes.torch.triton.conversions import INTERPRETED, bits, floats

try:
    from triton.language.extra import libdevice
except ImportError:  # pragma: no cover
    from triton.language.extra.cuda import libdevice

_SIGN32 = tl.constexpr(-0x7FFFFFFF - 1)
_SIGN64 = tl.constexpr(-0x7FFFFFFFFFFFFFFF - 1)


@triton.jit
def flipped(x):
    """Return -x of floats, also of zero and NaN."""
    u = bits(x)
    return floats(u ^ (_SIGN64 if u.dtype == tl.int64 else _SIGN32))


@triton.jit
def has_sign(x):
    """Return whether the sign of floats is set."""
    return bits(x) < 0


@triton.jit
def with_sign(x, y):
    """Return x with the sign of y."""
    u, v = bits(x), bits(y)
    if u.dtype == tl.int64:
        return floats((u & 0x7FFFFFFFFFFFFFFF) | (v & _SIGN64))
    else:
        return floats((u & 0x7FFFFFFF) | (v & _SIGN32))


@triton.jit
def signed_as(a, x):
    """Return lanes with the signs of elements in memory: conversions lose that of a NaN."""
    if x.dtype == tl.float64:
        minus = x.to(tl.int64, bitcast=True) < 0
    elif x.dtype == tl.float32:
        minus = x.to(tl.int32, bitcast=True) < 0
    elif x.dtype.is_floating():
        minus = x.to(tl.int16, bitcast=True) < 0
    else:  # the bits of float8
        minus = (x & 0x80) != 0
    return with_sign(a, tl.where(minus, -1.0, 1.0).to(a.dtype))


@triton.jit
def divided(x, y):
    """Return x / y of floats, correctly rounded."""
    if x.dtype == tl.float64 or INTERPRETED:
        return x / y
    else:
        return tl.div_rn(x, y)


@triton.jit
def root(x):
    """Return square roots, correctly rounded."""
    if x.dtype == tl.float64 or INTERPRETED:
        return tl.sqrt(x)
    else:
        return tl.sqrt_rn(x)


@triton.jit
def atanh_of_log1p(x):
    """Return log1p(2 |x| / (1 - |x|)) / 2 of float32 with the sign of x: libdevice's divides fast,
    and is off by 3.15 ULP."""
    size = tl.abs(x)
    half = 0.5 * libdevice.log1p(tl.div_rn(size + size, 1.0 - size))
    return with_sign(half, x)


@triton.jit
def larger(x, y):
    """Return the larger float: a NaN before all, +0 before -0."""
    found = tl.where((x > y) | (x != x), x, y)
    return tl.where(x == y, floats(bits(x) & bits(y)), found)


@triton.jit
def smaller(x, y):
    """Return the smaller float: a NaN before all, -0 before +0."""
    found = tl.where((x < y) | (x != x), x, y)
    return tl.where(x == y, floats(bits(x) | bits(y)), found)


@triton.jit
def sign(x):
    """Return 1, 0 or -1 of floats; NaN for NaN."""
    found = tl.where(x > 0, 1.0, tl.where(x < 0, -1.0, 0.0)).to(x.dtype)
    return tl.where(x == x, found, x)


@triton.jit
def cut(x):
    """Return floats rounded towards zero."""
    return with_sign(tl.floor(tl.abs(x)), x)


@triton.jit
def nearest(x):
    """Return floats rounded to the nearest whole number, ties to even."""
    size = tl.abs(x)
    if x.dtype == tl.float64:
        whole = tl.where(size < 4503599627370496.0, (size + 4503599627370496.0)
                         - 4503599627370496.0, size)  # fmt: skip
    else:
        whole = tl.where(size < 8388608.0, (size + 8388608.0) - 8388608.0, size)
    return with_sign(whole, x)


@triton.jit
def quotient(x, y):
    """Return integers divided towards zero; a divisor of zero counts as one."""
    if x.dtype.is_int_signed():
        minus = y == -1  # the least number over it overflows
        found = x // tl.where(minus | (y == 0), 1, y)
        return tl.where(minus, 0 - x, found)
    else:
        return x // tl.where(y == 0, 1, y)


@triton.jit
def floor_quotient(x, y):
    """Return the floor of a quotient of integers."""
    q = quotient(x, y)
    if x.dtype.is_int_signed():
        rest = x - q * y
        below = (rest != 0) & (y != 0) & ((rest < 0) != (y < 0))
        return q - below.to(x.dtype)
    else:
        return q


@triton.jit
def remainder(x, y):
    """Return the remainder of integers with the sign of the divisor."""
    rest = x - quotient(x, y) * y
    if x.dtype.is_int_signed():
        rest = tl.where((rest != 0) & ((rest < 0) != (y < 0)), rest + y, rest)
    return tl.where(y == 0, 0, rest)


@triton.jit
def fmod(x, y):
    """Return the exact remainder of floats with the sign of the dividend."""
    if INTERPRETED:
        return x % y
    else:
        return libdevice.fmod(x, y)


@triton.jit
def float_remainder(x, y):
    """Return the remainder of floats with the sign of the divisor."""
    rest = fmod(x, y)
    moved = tl.where((rest < 0) != (y < 0), rest + y, rest)
    return tl.where(rest == 0, with_sign(tl.zeros_like(moved), y + tl.zeros_like(moved)), moved)


@triton.jit
def exact_rest(a, q, b):
    """Return a - q * b of float64, exact where it is small: the product in two parts, by Dekker."""
    product = q * b
    scaled_q, scaled_b = q * 134217729.0, b * 134217729.0  # 2**27 + 1
    qh = scaled_q - (scaled_q - q)
    bh = scaled_b - (scaled_b - b)
    ql, bl = q - qh, b - bh
    low = ((qh * bh - product) + qh * bl + ql * bh) + ql * bl
    return (a - product) - low


@triton.jit
def float_floor_quotient(x, y):
    """Return the exact floor of a quotient of floats, rounded once."""
    a, b = x.to(tl.float64), y.to(tl.float64)
    q = a / b
    whole = tl.floor(q)
    whole = tl.where((q == 0) & (a != 0) & ((a < 0) != (b < 0)), -1.0, whole)
    if x.dtype == tl.float64:
        # Rounding may have made it whole: the exact rest says by how much it is off.
        rest = exact_rest(a, whole, b)
        more = rest / b
        step = tl.floor(more)
        left = exact_rest(rest, step, b)
        step = tl.where((step == more) & (left != 0) & ((left < 0) != (b < 0)), step - 1, step)
        finite = (tl.abs(q) < float("inf")) & (tl.abs(rest) < float("inf"))
        hidden = (q != 0) & (whole == q) & finite & (rest != 0)
        whole = tl.where(hidden, whole + step, whole)
    return whole.to(x.dtype)


@triton.jit
def float_floor_quotient_of_infinity(x, y):
    """Return the floor of x / y; of a finite number and infinity, zero."""
    found = float_floor_quotient(x, y)
    zero = with_sign(tl.zeros_like(found), divided(x, y))
    ends = (tl.abs(y) == float("inf")) & (tl.abs(x) < float("inf"))
    return tl.where(ends, zero, found)


@triton.jit
def power(x, y, BITS: tl.constexpr):
    """Return integers to powers, which wrap."""
    base, left = x + y * 0, y + x * 0
    made = base * 0 + 1
    for _ in range(BITS):
        made = tl.where((left & 1) != 0, made * base, made)
        base = base * base
        left = left >> 1
    return made


@triton.jit
def shifted_left(x, amount, BITS: tl.constexpr):
    """Return bits moved left; by the width or more, zero."""
    long = (amount < 0) | (amount >= BITS)
    return tl.where(long, 0, x << tl.where(long, 0, amount))


@triton.jit
def shifted_right(x, amount, BITS: tl.constexpr):
    """Return bits moved right; by the width or more, what the sign is."""
    long = (amount < 0) | (amount >= BITS)
    return x >> tl.where(long, BITS - 1, amount) if x.dtype.is_int_signed() else tl.where(
        long, 0, x >> tl.where(long, 0, amount))  # fmt: skip
