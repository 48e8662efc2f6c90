"""uint64 in the bits of int64: what PyTorch has no arithmetic for."""

from __future__ import annotations

import torch

_LEAST = -(2**63)


def ordered(x: torch.Tensor) -> torch.Tensor:
    """Return int64 in the order that the bits have as uint64."""
    return x ^ _LEAST


def greater(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """Return x > y of bits of unsigned integers."""
    least = torch.iinfo(x.dtype).min
    return (x ^ least) > (y ^ least)


def right_shift(x: torch.Tensor, amount: torch.Tensor) -> torch.Tensor:
    """Return bits moved right, zeros in front."""
    width = torch.iinfo(x.dtype).bits
    moved = torch.bitwise_right_shift(x, amount)
    ones = torch.bitwise_left_shift(
        torch.full_like(moved, -1), (width - amount).clamp(max=width - 1)
    )
    return torch.where(amount == 0, x, moved & ~ones)


def quotient(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """Return x / y; y is not 0. A divisor beyond int64 goes into x once at most."""
    x, y = torch.broadcast_tensors(x, y)
    small = torch.where(y < 0, 1, y)
    half = torch.div(right_shift(x, torch.ones_like(x)), small, rounding_mode="trunc") << 1
    rest = x - half * small
    near = half + (~greater(small, rest)).to(x.dtype)
    return torch.where(y < 0, (~greater(y, x)).to(x.dtype), near)


def exceeds(is_uint64: bool, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """Return where integers are larger than others, of uint64 or of another dtype."""
    return greater(x, y) if is_uint64 else x > y
