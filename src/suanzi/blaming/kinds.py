"""Tensors among values, what they have, and of which kinds no call is judged."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from suanzi.blaming.sampling import Unjudged


@contextmanager
def quiet(dispatch: Any) -> Iterator[None]:
    """Let no mode see what is called."""
    with dispatch._disable_current_modes():
        yield


def tensors_of(torch: Any, values: Any) -> Iterator[Any]:
    """Give the tensors among values and in lists among them."""
    for x in values:
        if isinstance(x, torch.Tensor):
            yield x
        elif isinstance(x, list | tuple):
            yield from (one for one in x if isinstance(one, torch.Tensor))


def check_kinds(torch: Any, tensors: Sequence[Any]) -> None:
    """Judge no call of a tensor that is more than its elements in memory."""
    for x in tensors:
        if x.layout != torch.strided:
            raise Unjudged(f"{str(x.layout).removeprefix('torch.')} tensors")
        if x.is_nested or x.is_quantized or x.device.type == "meta":
            kind = "nested" if x.is_nested else "quantised" if x.is_quantized else "meta"
            raise Unjudged(f"{kind} tensors")


def is_finite(torch: Any, x: Any) -> bool:
    """Tell whether a tensor has neither NaN nor infinities."""
    return not x.is_floating_point() or bool(torch.isfinite(x.detach()).all())


def same_bits(torch: Any, x: Any, y: Any) -> bool:
    """Tell whether two results are the same; a NaN is the same as another."""
    if x.dtype.is_floating_point:
        same = (x == y) | (torch.isnan(x) & torch.isnan(y))
        return bool(same.all())
    return bool(torch.equal(x, y))
