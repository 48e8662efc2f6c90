"""Functions of complex numbers where PyTorch's lack special values, or are far off.

complex64 is computed in complex128 and rounded once.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import torch

from suanzi.runtimes.torch.kernels import KERNELS, Kernel, Lanes, Loop, root

Parts = tuple[torch.Tensor, torch.Tensor]


def _expm1(x: torch.Tensor, y: torch.Tensor) -> Parts:
    """exp(z) - 1 = expm1(x) cos(y) + (cos(y) - 1) + i exp(x) sin(y)."""
    large = torch.exp(torch.complex(x, y))  # next to which 1 is nothing
    half = torch.sin(y / 2)
    re = torch.expm1(x) * torch.cos(y) - 2 * half * half + 0.0
    im = torch.where(y == 0, y, torch.exp(x) * torch.sin(y))
    unbounded = ~torch.isfinite(y)
    re = torch.where(unbounded & torch.isinf(x), torch.where(x < 0, -1.0, math.inf), re)
    im = torch.where(unbounded & (x == -math.inf), torch.copysign(torch.zeros_like(y), y), im)
    over = (x > 40) & torch.isfinite(y) & (y != 0)
    return torch.where(over, large.real, re), torch.where(over, large.imag, im)


def _log1p(x: torch.Tensor, y: torch.Tensor) -> Parts:
    found = torch.log1p(torch.complex(x, y))
    endless = torch.isinf(x) | torch.isinf(y)
    re = torch.where(endless, math.inf, found.real)
    im = torch.where(endless, torch.atan2(y, x + 1), found.imag)
    return torch.where((x == 0) & (y == 0), 0.0, re), im


def _acos(x: torch.Tensor, y: torch.Tensor) -> Parts:
    found = torch.acos(torch.complex(x, y))
    return found.real, torch.where(y == y, torch.copysign(found.imag.abs(), -y), found.imag)


def _tanh(x: torch.Tensor, y: torch.Tensor) -> Parts:
    """Libraries differ where a part is infinite or NaN: nothing there is PyTorch's."""
    found = torch.tanh(torch.complex(x, y))
    endless, finite = torch.isinf(x), torch.isfinite(x) & torch.isfinite(y)
    zero = torch.copysign(torch.zeros_like(y), torch.where(y == y, y, 0.0))
    re = torch.where(finite, found.real, torch.where(x == 0, x, math.nan))
    im = torch.where(finite, found.imag, torch.where(y == 0, y, math.nan))
    re = torch.where(endless, torch.copysign(torch.ones_like(x), x), re)
    return re, torch.where(endless, zero, im)


def _tan(x: torch.Tensor, y: torch.Tensor) -> Parts:
    """tan(z) = -i tanh(i z)."""
    re, im = _tanh(-y, x)
    return im, -re


def _sign(x: torch.Tensor, y: torch.Tensor) -> Parts:
    """z / |z|; an infinite part is the direction, and two have none."""
    ends = [torch.copysign(torch.isinf(v).to(v.dtype), v) for v in (x, y)]
    endless = torch.isinf(x) | torch.isinf(y)
    empty = (ends[0] * ends[1] != 0) | (x != x) | (y != y)
    x, y = (torch.where(endless, end, v) for end, v in zip(ends, (x, y), strict=True))
    exponent = torch.frexp(torch.maximum(x.abs(), y.abs()))[1]
    a, b = (torch.ldexp(torch.ldexp(v, -(exponent // 2)), exponent // 2 - exponent) for v in (x, y))
    size = root(a * a + b * b)
    re, im = (torch.where(size == 0, 0.0, v / size) for v in (a, b))
    return torch.where(empty, math.nan, re), torch.where(empty, math.nan, im)


def _through(function: Callable[[torch.Tensor], torch.Tensor]) -> Callable[..., Parts]:
    def apply(x: torch.Tensor, y: torch.Tensor) -> Parts:
        found = function(torch.complex(x, y))
        return found.real, found.imag

    return apply


def _declare(name: str, function: Callable[..., Parts]) -> None:
    plain: Kernel = KERNELS[name]

    def apply(loop: Loop, x: Lanes) -> Lanes:
        if loop.kind != "complex":
            return plain(loop, x)
        pairs = torch.view_as_real(x.resolve_conj().resolve_neg()).to(torch.float64)
        re, im = function(pairs[..., 0], pairs[..., 1])
        made = torch.complex(re.contiguous(), im.contiguous())
        return made if x.dtype is torch.complex128 else made.to(x.dtype)

    KERNELS[name] = KERNELS[f"extended:{name}"] = apply


for _name, _function in {
    "expm1": _expm1, "log1p": _log1p, "acos": _acos, "tanh": _tanh, "tan": _tan, "sign": _sign,
    **{name: _through(getattr(torch, name)) for name in ("exp", "log", "sqrt", "sin", "cos", "sinh",
                                                         "cosh", "asin", "atan", "asinh", "acosh",
                                                         "atanh", "log2", "log10")},
}.items():  # fmt: skip
    _declare(_name, _function)
