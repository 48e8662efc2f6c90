"""The kernels of element-wise operators: lanes in, lanes out.

A kernel is found by the name that the operator's record has for its native loop, so that the
standard's operators and the array API's functions share it. Lanes are elements in the dtype that a
dtype is computed in. Each operation is one of PyTorch's, so that no two are contracted.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import torch

from suanzi.base import dtypes
from suanzi.base.dtypes import DType
from suanzi.base.status import DivisionByZero, InvalidArgument
from suanzi.runtimes.torch import deferred_errors, unsigned
from suanzi.runtimes.torch.correct_rounding import exact_rest, nearest_root
from suanzi.runtimes.torch.dtypes import TORCH, carried, carrier, resolved
from suanzi.runtimes.torch.ways import Call

Lanes: TypeAlias = torch.Tensor


class Loop:
    """What a kernel knows in addition to its lanes: the dtype, and how it reports trouble."""

    def __init__(self, call: Call, dtype: DType) -> None:
        self.call = call
        self.dtype = dtype
        self.is_uint64 = dtype is dtypes.uint64

    @property
    def kind(self) -> str:
        """The kind of the dtype."""
        return self.dtype.kind

    @property
    def is_whole(self) -> bool:
        """Whether the lanes are integers."""
        return self.kind in ("int", "uint", "bool")

    def report(self, flags: torch.Tensor, kind: type[InvalidArgument], words: str) -> None:
        """Note an error if any flag is set."""
        title = self.call.op.title
        deferred_errors.add(flags.any(), lambda: kind(f"{title}: {words}"))


Kernel = Callable[..., torch.Tensor]
KERNELS: dict[str, Kernel] = {}
"""The kernels by the name that records have for them."""


def kernel(*names: str) -> Callable[[Kernel], Kernel]:
    """Declare a kernel; also that of the array API's functions, which take more dtypes."""

    def declare(function: Kernel) -> Kernel:
        for name in names:
            KERNELS[name] = function
            KERNELS.setdefault(f"extended:{name}", function)
        return function

    return declare


# ---- arithmetic ----------------------------------------------------------------------------------


def _parts(z: torch.Tensor, wide: bool) -> tuple[torch.Tensor, torch.Tensor]:
    pairs = torch.view_as_real(resolved(z))
    pairs = pairs.to(torch.float64) if wide else pairs
    return pairs[..., 0], pairs[..., 1]


def _complex(re: torch.Tensor, im: torch.Tensor, like: torch.dtype) -> torch.Tensor:
    part = torch.float32 if like is torch.complex64 else torch.float64
    return torch.complex(*torch.broadcast_tensors(re.to(part), im.to(part)))


@kernel("add")
def add(loop: Loop, x: Lanes, y: Lanes) -> Lanes:
    """Return x + y; PyTorch multiplies the second of complex operands by one first."""
    return x + y if loop.kind != "complex" else _by_parts(torch.add, x, y)


@kernel("sub")
def sub(loop: Loop, x: Lanes, y: Lanes) -> Lanes:
    """Return x - y."""
    return x - y if loop.kind != "complex" else _by_parts(torch.sub, x, y)


def _by_parts(function: Any, x: Lanes, y: Lanes) -> Lanes:
    parts = function(torch.view_as_real(resolved(x)), torch.view_as_real(resolved(y)))
    return torch.view_as_complex(parts)


@kernel("mul")
def mul(loop: Loop, x: Lanes, y: Lanes) -> Lanes:
    """Return x * y; products of float32 parts are exact in float64."""
    if loop.kind != "complex":
        return x * y
    wide = x.dtype is torch.complex64
    (a, b), (c, d) = _parts(x, wide), _parts(y, wide)
    return _complex(a * c - b * d, a * d + b * c, x.dtype)


@kernel("muladd")
def muladd(loop: Loop, x: Lanes, y: Lanes, a: Lanes) -> Lanes:
    """Return x * y + a, the product rounded to the lane."""
    return add(loop, mul(loop, x, y), a)


@kernel("div")
def div(loop: Loop, x: Lanes, y: Lanes) -> Lanes:
    """Return x / y: of integers, towards zero."""
    if loop.is_whole:
        return quotient(loop, x, y)
    if loop.kind != "complex":
        return x / y
    return _divided(x, y) if x.dtype is torch.complex64 else _smith(x, y)


def _divided(x: Lanes, y: Lanes) -> Lanes:
    """Return a quotient of complex64 in float64, where no square of a part overflows."""
    (a, b), (c, d) = _parts(x, True), _parts(y, True)
    norm = c * c + d * d
    none, endless = norm == 0, torch.isinf(norm)
    size = torch.isinf(c).to(torch.float64)
    c = torch.where(none | endless, torch.copysign(torch.where(none, 1.0, size), c), c)
    d = torch.where(endless, torch.copysign(torch.isinf(d).to(torch.float64), d), d)
    return _complex((a * c + b * d) / norm, (b * c - a * d) / norm, x.dtype)


def _smith(x: Lanes, y: Lanes) -> Lanes:
    """Return a quotient by Smith's algorithm: dividing by the larger part first."""
    (a, b), (c, d) = _parts(x, False), _parts(y, False)
    end = torch.finfo(a.dtype).max / 4
    huge = (a.abs() > end) | (b.abs() > end) | (c.abs() > end) | (d.abs() > end)
    a, b, c, d = (torch.where(huge, part / 4, part) for part in (a, b, c, d))
    first = c.abs() >= d.abs()
    p, q = torch.where(first, c, d), torch.where(first, d, c)
    u, v = torch.where(first, a, b), torch.where(first, b, a)
    plain = torch.where((p == 0) & (q == 0), torch.zeros_like(p), q / p)
    signs = torch.copysign(torch.ones_like(q), q) * torch.copysign(torch.ones_like(p), p)
    ratio = torch.where(torch.isinf(q), signs, plain)
    scale = p + q * ratio
    re, im = (u + v * ratio) / scale, (v - u * ratio) / scale
    return _complex(re, torch.where(first, im, -im), x.dtype)


def quotient(loop: Loop, x: Lanes, y: Lanes) -> Lanes:
    """Return integers divided towards zero; a zero divisor is reported."""
    loop.report(
        (y == 0).expand(torch.broadcast_shapes(x.shape, y.shape)), DivisionByZero,
        f"{_last(loop)} contains a zero, and integers have no result for it; divide floats, or "
        "replace the zeros with sz.where first.",
    )  # fmt: skip
    if loop.is_uint64:
        return unsigned.quotient(x, torch.where(y == 0, 1, y))
    if loop.kind == "uint":
        return torch.div(x, torch.where(y == 0, 1, y), rounding_mode="trunc")
    minus = y == -1  # the least number over it overflows, which ends the process on some CPUs
    found = torch.div(x, torch.where(minus | (y == 0), 1, y), rounding_mode="trunc")
    return torch.where(minus, -x, found)


def _last(loop: Loop) -> str:
    return list(loop.call.dtypes)[-1]


@kernel("floordiv")
def floordiv(loop: Loop, x: Lanes, y: Lanes) -> Lanes:
    """Return the floor of x / y; of floats the exact one, rounded once."""
    if not loop.is_whole:
        return _floor_quotient(x, y)
    q = quotient(loop, x, y)
    if loop.kind == "uint":
        return q
    rest = x - q * y
    return q - ((rest != 0) & (y != 0) & ((rest < 0) != (y < 0))).to(q.dtype)


def _floor_quotient(x: Lanes, y: Lanes) -> Lanes:
    a, b = torch.broadcast_tensors(x.to(torch.float64), y.to(torch.float64))
    q = a / b
    whole = torch.floor(q)
    below = (q == 0) & (a != 0) & ((a < 0) != (b < 0))
    whole = torch.where(below, -1.0, whole)
    if x.dtype is torch.float64:
        # Rounding may have made it whole: the exact rest says by how much it is off.
        rest = exact_rest(a, whole, b)
        more = rest / b
        step = torch.floor(more)
        left = exact_rest(rest, step, b)
        step = torch.where((step == more) & (left != 0) & ((left < 0) != (b < 0)), step - 1, step)
        hidden = (q != 0) & (whole == q) & torch.isfinite(q) & (rest != 0) & torch.isfinite(rest)
        whole = torch.where(hidden, whole + step, whole)
    return whole.to(x.dtype)


@kernel("extended:floordiv")
def floordiv_of_infinity(loop: Loop, x: Lanes, y: Lanes) -> Lanes:
    """Return the floor of x / y; of a finite number and infinity, zero."""
    found = floordiv(loop, x, y)
    if loop.is_whole:
        return found
    zero = torch.copysign(torch.zeros_like(found), x / y)
    return torch.where(torch.isinf(y) & torch.isfinite(x), zero, found)


@kernel("mod")
def mod(loop: Loop, x: Lanes, y: Lanes) -> Lanes:
    """Return the remainder with the sign of the divisor."""
    if loop.is_whole:
        q = quotient(loop, x, y)
        rest = x - q * y
        if loop.kind == "int":
            rest = torch.where((rest != 0) & ((rest < 0) != (y < 0)), rest + y, rest)
        return torch.where(y == 0, 0, rest)
    rest = _fmod(x, y)
    moved = torch.where((rest < 0) != (y < 0), rest + y, rest)
    zero = torch.copysign(torch.zeros_like(moved), y)
    return torch.where(rest == 0, zero, moved)


def _fmod(x: Lanes, y: Lanes) -> Lanes:
    """Return the exact remainder; PyTorch's loop of vectors has none where the quotient overflows.

    No quotient of float32 does in float64. Elements with gaps between them are taken one by one.
    """
    if x.dtype is torch.float32:
        return torch.fmod(x.to(torch.float64), y.to(torch.float64)).to(torch.float32)
    if x.device.type == "cpu":
        x, y = (torch.stack((v, v), -1)[..., 0] for v in (x, y))
    return torch.fmod(x, y)


@kernel("max")
def maximum(loop: Loop, x: Lanes, y: Lanes) -> Lanes:
    """Return the larger: a NaN before all, +0 before -0."""
    if loop.is_whole:
        return torch.where(unsigned.exceeds(loop.is_uint64, x, y), x, y)
    found = torch.where((x > y) | (x != x), x, y)
    return torch.where((x == y) & torch.signbit(found), torch.where(torch.signbit(x), y, x), found)


@kernel("min")
def minimum(loop: Loop, x: Lanes, y: Lanes) -> Lanes:
    """Return the smaller: a NaN before all, -0 before +0."""
    if loop.is_whole:
        return torch.where(unsigned.exceeds(loop.is_uint64, x, y), y, x)
    found = torch.where((x < y) | (x != x), x, y)
    return torch.where((x == y) & torch.signbit(x), x, found)


@kernel("abs")
def magnitude(loop: Loop, x: Lanes) -> Lanes:
    """Return the magnitudes; of complex numbers, infinity next to NaN is infinity."""
    if loop.kind in ("uint", "bool"):
        return x
    if loop.kind != "complex":
        return x.abs()
    re, im = _parts(x, x.dtype is torch.complex64)
    part = torch.float32 if x.dtype is torch.complex64 else torch.float64
    found = torch.sqrt(re * re + im * im) if part is torch.float32 else torch.hypot(re, im)
    return torch.where(torch.isinf(re) | torch.isinf(im), float("inf"), found.to(part))


@kernel("negative")
def negative(loop: Loop, x: Lanes) -> Lanes:
    """Return -x; integers wrap."""
    if loop.kind != "complex":
        return -x
    return torch.view_as_complex(-torch.view_as_real(resolved(x)))


@kernel("sign")
def sign(loop: Loop, x: Lanes) -> Lanes:
    """Return 1, 0 or -1; NaN for NaN."""
    if loop.is_uint64:
        return (x != 0).to(x.dtype)
    found = (x > 0).to(x.dtype) - (x < 0).to(x.dtype)
    return found if loop.is_whole else torch.where(x == x, found, x)


@kernel("reciprocal")
def reciprocal(loop: Loop, x: Lanes) -> Lanes:
    """Return 1 / x."""
    return div(loop, torch.ones_like(x), x)


@kernel("square")
def square(loop: Loop, x: Lanes) -> Lanes:
    """Return x * x."""
    return mul(loop, x, x)


# ---- comparison, logic, bits ---------------------------------------------------------------------

COMPARISONS: dict[str, Any] = {
    "equal": torch.eq, "not_equal": torch.ne, "greater": torch.gt, "greater_equal": torch.ge,
    "less": torch.lt, "less_equal": torch.le,
}  # fmt: skip


def _comparison(name: str) -> Kernel:
    def compare(loop: Loop, x: Lanes, y: Lanes) -> Lanes:
        if loop.is_uint64:
            x, y = unsigned.ordered(x), unsigned.ordered(y)
        return COMPARISONS[name](x, y)

    return compare


for _name in COMPARISONS:
    kernel(_name)(_comparison(_name))


@kernel("logical_and")
def logical_and(loop: Loop, x: Lanes, y: Lanes) -> Lanes:
    """Return whether neither is zero."""
    return (x != 0) & (y != 0)


@kernel("logical_or")
def logical_or(loop: Loop, x: Lanes, y: Lanes) -> Lanes:
    """Return whether one is not zero."""
    return (x != 0) | (y != 0)


@kernel("logical_xor")
def logical_xor(loop: Loop, x: Lanes, y: Lanes) -> Lanes:
    """Return whether exactly one is not zero."""
    return (x != 0) ^ (y != 0)


for _name, _bits in {
    "bitwise_and": torch.bitwise_and, "bitwise_or": torch.bitwise_or,
    "bitwise_xor": torch.bitwise_xor, "bitwise_not": torch.bitwise_not,
}.items():  # fmt: skip
    kernel(_name)(lambda loop, *lanes, _bits=_bits: _bits(*lanes))


def shifted(loop: Loop, left: bool, x: Lanes, amount: Lanes) -> Lanes:
    """Return bits moved by an amount within the width."""
    if left:
        return torch.bitwise_left_shift(x, amount)
    if loop.is_uint64:
        return unsigned.right_shift(x, amount)
    return torch.bitwise_right_shift(x, amount)


def _long_shift(left: bool) -> Kernel:
    def shift(loop: Loop, x: Lanes, amount: Lanes) -> Lanes:
        if not loop.is_uint64:
            loop.report(
                amount < 0, InvalidArgument,
                f"{_last(loop)} contains a shift below 0; shift the other way.",
            )  # fmt: skip
        width = loop.dtype.bits
        long = unsigned.greater(amount, torch.full_like(amount, width - 1))
        moved = shifted(loop, left, x, torch.where(long, 0, amount))
        ends = torch.zeros_like(x) if left or loop.kind == "uint" else x >> (width - 1)
        return torch.where(long, ends, moved)

    return shift


KERNELS["extended:bitwise_left_shift"] = _long_shift(True)
KERNELS["extended:bitwise_right_shift"] = _long_shift(False)


@kernel("is_nan")
def is_nan(loop: Loop, x: Lanes) -> Lanes:
    """Return where a part is NaN."""
    return x != x


@kernel("is_inf")
def is_inf(loop: Loop, x: Lanes) -> Lanes:
    """Return where a part is infinite."""
    return torch.zeros_like(x, dtype=torch.bool) if loop.is_whole else torch.isinf(x)


@kernel("is_finite")
def is_finite(loop: Loop, x: Lanes) -> Lanes:
    """Return where all parts are finite."""
    return torch.ones_like(x, dtype=torch.bool) if loop.is_whole else torch.isfinite(x)


# ---- functions -----------------------------------------------------------------------------------


def _function(plain: Any, wide: bool = False) -> Kernel:
    def apply(loop: Loop, *lanes: Lanes) -> Lanes:
        if loop.is_whole:
            return lanes[0]  # rounding of whole numbers
        if lanes[0].dtype is torch.float32 and loop.dtype.bits < 32 and loop.call.op.ulp != 0.5:
            return plain(*(x.to(torch.float64) for x in lanes))  # the CPU's are correctly rounded
        if wide and lanes[0].dtype is torch.float32:
            return plain(*(x.to(torch.float64) for x in lanes)).to(torch.float32)
        return plain(*lanes)

    return apply


for _name in (
    "exp expm1 log log10 log2 sin cos asin acos atan tanh asinh acosh "
    "floor ceil trunc atan2 hypot logaddexp copysign signbit"
).split():
    kernel(_name)(_function(getattr(torch, _name)))
# PyTorch's are further from the exact result than suanzi's bound, at the ends of the range or more.
for _name in ("tan", "sinh", "cosh", "atanh", "log1p"):
    kernel(_name)(_function(getattr(torch, _name), wide=True))
kernel("round")(_function(lambda x: _round(x)))


def _round(x: torch.Tensor) -> torch.Tensor:
    if x.is_complex():
        return torch.view_as_complex(torch.round(torch.view_as_real(resolved(x))))
    return torch.round(x)


def root(x: torch.Tensor) -> torch.Tensor:
    """Return square roots, correctly rounded: on CPUs PyTorch's are sometimes off by an ULP."""
    if x.dtype is torch.float32 and x.device.type == "cpu":
        return torch.sqrt(x.to(torch.float64)).to(torch.float32)
    found = torch.sqrt(x)
    if x.dtype is not torch.float64 or x.device.type != "cpu":
        return found
    mantissa, exponent = torch.frexp(x)
    odd = exponent % 2
    scaled = torch.ldexp(mantissa, odd)  # from 1/2 to 2
    better = nearest_root(scaled, torch.sqrt(scaled))
    plain = torch.isfinite(x) & (x > 0)
    return torch.where(plain, torch.ldexp(better, (exponent - odd) // 2), found)


kernel("sqrt")(_function(root))
kernel("rsqrt")(_function(lambda x: 1 / root(x), wide=True))


@kernel("nextafter")
def nextafter(loop: Loop, x: Lanes, y: Lanes) -> Lanes:
    """Return the number after x towards y, in the dtype itself: its bits are in that order."""
    if loop.dtype.bits >= 32:
        return torch.nextafter(x, y)
    x, y = torch.broadcast_tensors(x, y)
    bits = carried(x.to(TORCH[loop.dtype])).to(torch.int32)
    away = (y > x) == (x > 0)
    zero = torch.where(torch.signbit(y), -(2 ** (loop.dtype.bits - 1)) + 1, 1)
    moved = torch.where(x == 0, zero, bits + torch.where(away, 1, -1))
    made = moved.to(carrier(TORCH[loop.dtype])).view(TORCH[loop.dtype]).to(x.dtype)
    return torch.where((x != x) | (y != y), x + y, torch.where(x == y, y, made))


@kernel("pow")
def pow(loop: Loop, x: Lanes, y: Lanes) -> Lanes:
    """Return x to the power y; integers wrap."""
    if not loop.is_whole:
        narrow = loop.dtype.bits < 32
        return torch.pow(x.to(torch.float64), y.to(torch.float64)) if narrow else torch.pow(x, y)
    loop.report(
        (y < 0) if loop.kind == "int" else torch.zeros_like(y, dtype=torch.bool), InvalidArgument,
        f"{_last(loop)} contains a number below 0, and integers have no power of it; cast to "
        "floating-point first.",
    )  # fmt: skip
    made = torch.ones_like(x * y)
    base, left = x.expand_as(made), y.expand_as(made)
    for _ in range(loop.dtype.bits):
        made = torch.where((left & 1) != 0, made * base, made)
        base, left = base * base, unsigned.right_shift(left, torch.ones_like(left))
    return made


@kernel("where")
def where(loop: Loop, condition: Lanes, x: Lanes, y: Lanes) -> Lanes:
    """Return x where the condition is true, and y elsewhere."""
    return torch.where(condition, x, y)
