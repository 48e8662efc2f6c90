"""Conversions as suanzi's CPU makes them: rounded once, integers wrap, floats saturate in them.

PyTorch rounds float64 and wide integers to 16 bits by way of float32, leaves floats beyond the
range of an integer undefined, and has float8 saturate. Here such numbers are rounded to odd on the
way: what is cut off stays visible in the last bit, so that the second rounding is the only one.
"""

from __future__ import annotations

from functools import lru_cache

import torch

from suanzi import _core
from suanzi.base import dtypes
from suanzi.base.dtypes import DType, finfo, iinfo
from suanzi.promote.context import get_promotion
from suanzi.runtimes.torch.dtypes import TORCH, resolved, torch_dtype

_BITS = 0x7FFFFFFFFFFFFFFF


def cast(x: torch.Tensor, source: DType, target: DType, saturate: bool = False) -> torch.Tensor:
    """Return elements of a dtype of suanzi in another; itself if it has it."""
    if source is target:
        return x
    wanted = torch_dtype(target)
    if target.kind == "complex":
        return _to_complex(x, source, target, saturate)
    if source.kind == "complex":
        real, part = torch.view_as_real(resolved(x))[..., 0], dtypes.part(source)
        if target.kind == "bool":
            parts = torch.view_as_real(resolved(x)).to(torch.float64)
            return (parts != 0).any(-1)
        return cast(real, part, target, saturate)
    if target.kind == "bool":
        narrow = source.bits == 8 and source.kind == "float"
        return x.to(torch.float32) != 0 if narrow else x.to(wanted)
    if target.kind == "float":
        return _to_float(x, source, target, saturate)
    return _to_integer(x, target) if source.kind == "float" else x.to(wanted)


def _to_complex(x: torch.Tensor, source: DType, target: DType, saturate: bool) -> torch.Tensor:
    part = dtypes.part(target)
    if source.kind == "complex":
        parts = cast(torch.view_as_real(resolved(x)), dtypes.part(source), part, saturate)
    else:
        real = cast(x, source, part, saturate)
        parts = torch.stack((real, torch.zeros_like(real)), -1)
    return torch.view_as_complex(parts.contiguous())


def _to_float(x: torch.Tensor, source: DType, target: DType, saturate: bool) -> torch.Tensor:
    wanted = TORCH[target]
    if target.bits >= 32:
        return x.to(wanted)
    if source.bits == 64 or (source.bits == 32 and source.kind != "float"):
        x = _odd_float32(x if source is dtypes.float64 else _sticky_float64(x, source))
    else:
        x = x.to(torch.float32)
    if saturate:
        largest = float(finfo(target).max)
        return x.clamp(-largest, largest).to(wanted)
    made = x.to(wanted)
    # What rounds beyond the largest number is where PyTorch's versions differ.
    return made if target.has_infinity else _over(x, target, made)


def _over(x: torch.Tensor, target: DType, made: torch.Tensor) -> torch.Tensor:
    largest = float(finfo(target).max)
    half = 2.0 ** (torch.frexp(torch.tensor(largest))[1].item() - 1 - target.mantissa_bits) / 2
    over = x.abs() > largest + half
    end = largest if largest_on_overflow(target) else float("nan")
    ends = torch.copysign(torch.full_like(x, end), x).to(made.dtype)
    return torch.where(over, ends.view(torch.uint8), made.view(torch.uint8)).view(made.dtype)


def largest_on_overflow(target: DType) -> bool:
    """Return whether the rule set in force makes overflow the largest number, as PyTorch does."""
    return _largest_on_overflow(get_promotion(), target)


@lru_cache(maxsize=64)
def _largest_on_overflow(rules: object, target: DType) -> bool:
    beyond = _core.cast(_core.full((), dtypes.float32, 1e30), target, False)
    return bool(beyond.item() == finfo(target).max)


def _odd_float32(x: torch.Tensor) -> torch.Tensor:
    """Return float64 as float32, rounded to odd: the next rounding is as if it were the first."""
    near = x.to(torch.float32)
    back = near.to(torch.float64)
    bits = near.view(torch.int32)
    toward_zero = torch.where(back.abs() > x.abs(), bits - 1, bits)
    odd = torch.where((back != x) & ~torch.isnan(x), toward_zero | 1, bits)
    return odd.view(torch.float32)


def _sticky_float64(x: torch.Tensor, source: DType) -> torch.Tensor:
    """Return integers of 32 or 64 bits as float64, what is cut off visible in the last bit."""
    if source.bits < 64:
        return x.to(torch.float64)
    bits = x.view(torch.int64)
    double = torch.zeros_like(bits, dtype=torch.bool)
    if source is dtypes.uint64:
        double = bits < 0  # halved, and doubled again below
        bits = torch.where(double, ((bits >> 1) & _BITS) | (bits & 1), bits)
    cut = (bits >> 11 << 11) | ((bits & 0x7FF) != 0).to(torch.int64) << 11
    wide = torch.where((bits < 2**53) & (bits > -(2**53)), bits, cut).to(torch.float64)
    return torch.where(double, wide * 2, wide)


def _to_integer(x: torch.Tensor, target: DType) -> torch.Tensor:
    limits = iinfo(target)
    wide = x.to(torch.float64).nan_to_num(0.0, float("inf"), float("-inf")).trunc()
    if target.bits < 64:
        return wide.clamp(limits.min, limits.max).to(torch.int64).to(TORCH[target])
    if target is dtypes.int64:
        high, low = wide >= 2.0**63, wide < -(2.0**63)
        inside = torch.where(high | low, 0.0, wide).to(torch.int64)
        return torch.where(high, limits.max, torch.where(low, limits.min, inside))
    high, over, low = wide >= 2.0**63, wide >= 2.0**64, wide <= 0
    small = torch.where(high | low, 0.0, wide).to(torch.int64)
    large = torch.where(high & ~over, wide - 2.0**63, 0.0).to(torch.int64) ^ (-(2**63))
    made = torch.where(over, -1, torch.where(high, large, small))
    return made.view(torch.uint64)
