"""Functions of 16-bit numbers in lanes of float32, to a few units: a table decides near ties.

libdevice's have branches for arguments that are very large or subnormal. These have none: results
of such arguments, whatever comes out here, are the table's; see `FAR`.
"""

from __future__ import annotations

import triton
import triton.language as tl

from suanzi.base import dtypes
from suanzi.base.dtypes import DType
from suanzi.runtimes.torch.triton.conversions import bits, floats
from suanzi.runtimes.torch.triton.exponentials import like, more

_LOGARITHMS = ("log", "log2", "log10")
FAR = {
    **dict.fromkeys(_LOGARITHMS, "not_normal(a0)"),
    **dict.fromkeys(("sin", "cos"), "not_within(a0, 65536.0)"),
}
"""The functions here, each with what lanes its result is the table's for."""


def is_short(kernel: str) -> bool:
    """Return whether a function is so short that threads with fewer elements are faster."""
    return kernel in _LOGARITHMS


def is_looked_up(kernel: str, dt: DType) -> bool:
    """Return whether all results are the table's: sine and cosine of bfloat16.

    The numbers from 2**-8 to 2**16 of both signs, whose sines are asked for, are 6,144, in 12 KB of
    cache. On an H200 this moves 3.85 TB/s where the polynomial moves 3.18. Numbers far off are the
    table's anyway, so that random bits are no worse.
    """
    return kernel in ("sin", "cos") and dt is dtypes.bfloat16


_MAGIC = tl.constexpr(12582912.0)  # 3 * 2**22: sums with it are whole numbers


@triton.jit
def not_normal(x):
    """Return where float32 is not a normal number above 0."""
    return bits(x).to(tl.uint32, bitcast=True) - 0x00800000 >= 0x7F000000


@triton.jit
def not_within(x, LIMIT: tl.constexpr):
    """Return where the size of float32 is a limit or more, and where it is NaN."""
    return (bits(x) & 0x7FFFFFFF) >= bits(like(x, LIMIT))


@triton.jit
def _parted(x):
    """Return a power of 2 by 2**23, and the logarithm of x without it, of 2/3 to 4/3."""
    u = bits(x)
    whole = (u - 0x3F2AAAAB) & -0x00800000
    f = floats(u - whole) - 1.0
    p = more(like(f, -0.15266668796539307), f, 0.16990558803081512)
    p = more(p, f, -0.1644083708524704)
    p = more(p, f, 0.19818168878555298)
    p = more(p, f, -0.2500632107257843)
    p = more(p, f, 0.33336734771728516)
    p = more(p, f, -0.49999961256980896)
    return whole.to(tl.float32), tl.fma(f * f, p, f)


@triton.jit
def narrow_log(x):
    """Return the natural logarithm."""
    whole, part = _parted(x)
    return tl.fma(whole, like(x, 8.262958294867817e-08), part)  # log(2) / 2**23


@triton.jit
def narrow_log2(x):
    """Return the logarithm of base 2."""
    whole, part = _parted(x)
    return tl.fma(whole, like(x, 1.1920928955078125e-07), part * 1.4426950408889634)


@triton.jit
def narrow_log10(x):
    """Return the logarithm of base 10."""
    whole, part = _parted(x)
    return tl.fma(whole, like(x, 3.588557191657796e-08), part * 0.4342944819032518)


@triton.jit
def _turned(x, QUARTERS: tl.constexpr):
    """Return the sine of x and so many quarter turns."""
    whole = more(x, like(x, 0.6366197723675814), _MAGIC)
    n = whole - _MAGIC
    # A quarter turn in three parts, all of one sign, so that that of -0 stays.
    r = tl.fma(n, like(x, -1.570796251296997), x)
    r = tl.fma(n, like(x, -7.549789415861596e-08), r)
    r = tl.fma(n, like(x, -5.390302529957765e-15), r)
    s = r * r
    p = more(like(x, -0.0001951647864188999), s, 0.00833217240869999)
    p = more(p, s, -0.16666655242443085)
    q = more(like(x, -0.0013591086026281118), s, 0.04165571928024292)
    q = more(q, s, -0.4999988377094269)
    turn = bits(whole) + QUARTERS
    made = tl.where((turn & 1) != 0, more(q, s, 1.0), r * more(p, s, 1.0))
    return floats(bits(made) ^ ((turn << 30) & (-0x7FFFFFFF - 1)))


@triton.jit
def narrow_sin(x):
    """Return the sine."""
    return _turned(x, 0)


@triton.jit
def narrow_cos(x):
    """Return the cosine."""
    return _turned(x, 1)
