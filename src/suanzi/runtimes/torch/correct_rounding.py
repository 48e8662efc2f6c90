"""Rests of products in float64, exact where they are small, and roots that are rounded once."""

from __future__ import annotations

import torch


def exact_rest(a: torch.Tensor, q: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """Return a - q * b, exact where it is small: the product in two parts, by Dekker."""
    product = q * b
    splitter = 134217729.0  # 2**27 + 1

    def split(v: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        scaled = v * splitter
        high = scaled - (scaled - v)
        return high, v - high

    (qh, ql), (bh, bl) = split(q), split(b)
    low = ((qh * bh - product) + qh * bl + ql * bh) + ql * bl
    return (a - product) - low


def nearest_root(x: torch.Tensor, near: torch.Tensor) -> torch.Tensor:
    """Return the float64 nearest to a root: the one before or after where x is past the middle."""
    rest, made = exact_rest(x, near, near), near
    for end in (0.0, 4.0):
        other = torch.nextafter(near, torch.full_like(near, end))
        step = other - near
        past = (rest - 2 * near * (step / 2)) - step * step / 4
        made = torch.where(past > 0 if end else past < 0, other, made)
    return made
