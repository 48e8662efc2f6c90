"""Windows: convolutions in IEEE arithmetic, and the first largest element of adaptive ones."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from threading import Lock
from typing import Any, TypeAlias

import torch

from suanzi.runtimes.torch.models import added, composed, model
from suanzi.runtimes.torch.ways import WAYS, Call

Lanes: TypeAlias = torch.Tensor


# ---- convolutions --------------------------------------------------------------------------------


class _Settings:
    """cuDNN's settings are those of the process: the first call sets them, the last resets them."""

    def __init__(self) -> None:
        self.lock = Lock()
        self.inside = [0, 0]
        self.before: list[Any] = [None, None]

    @contextmanager
    def ieee(self, without_cudnn: bool) -> Iterator[None]:
        """Compute float32 in float32, which cuDNN does not by default; perhaps without cuDNN."""
        wanted = [_PRECISION, _ENABLED][: 1 + without_cudnn]
        with self.lock:
            for i, (owner, name, value) in enumerate(wanted):
                if not self.inside[i]:
                    self.before[i] = getattr(owner, name)
                    setattr(owner, name, value)
                self.inside[i] += 1
        try:
            yield
        finally:
            with self.lock:
                for i, (owner, name, _) in enumerate(wanted):
                    self.inside[i] -= 1
                    if not self.inside[i]:
                        setattr(owner, name, self.before[i])


_cudnn: Any = torch.backends.cudnn
_PRECISION: tuple[Any, str, Any] = (
    (_cudnn.conv, "fp32_precision", "ieee")
    if hasattr(getattr(_cudnn, "conv", None), "fp32_precision")
    else (_cudnn, "allow_tf32", False)
)
_ENABLED: tuple[Any, str, Any] = (_cudnn, "enabled", False)
_settings = _Settings()


def convolution(call: Call, **arguments: Any) -> Any:
    """Convolve without TF32. cuDNN's transposed kernels multiply zeros by infinities."""
    if call.place.type != "cuda":
        return model(call, **arguments)
    name = call.op.name
    with _settings.ieee(name.startswith("conv_transpose") and not name.endswith("_bwd")):
        return model(call, **arguments)


for _name, _n, _back in itertools.product(("conv", "conv_transpose"), (1, 2, 3), ("", "_bwd")):
    WAYS[f"nn:{_name}{_n}d{_back}"] = convolution


# ---- the largest of adaptive windows -------------------------------------------------------------


def _indices(shape: Sequence[int], sizes: Sequence[int], device: Any) -> Lanes:
    """Return what each window covers, (windows, most): the first element instead of none."""
    if 0 in sizes:
        return torch.zeros((0, 0), dtype=torch.int64, device=device)
    lines = []
    for n, m in zip(shape, sizes, strict=True):
        first = torch.arange(m, device=device) * n // m
        end = -(-(torch.arange(m, device=device) + 1) * n // m)
        most = max(-(-(i + 1) * n // m) - i * n // m for i in range(m))
        at = first[:, None] + torch.arange(most, device=device)
        lines.append(torch.where(at < end[:, None], at, first[:, None]))
    found = lines[0]
    for n, line in zip(shape[1:], lines[1:], strict=True):
        both = found[:, None, :, None] * n + line[None, :, None, :]
        found = both.reshape(found.shape[0] * line.shape[0], -1)
    return found


def _largest(x: Lanes, rank: int, output_size: Any) -> tuple[Lanes, Lanes]:
    """Return the first largest elements of windows, and their indices; NaN is the largest."""
    given = list(output_size) if isinstance(output_size, Sequence) else [output_size] * rank
    shape = x.shape[x.dim() - rank :]
    sizes = [n if m is None else int(m) for n, m in zip(shape, given, strict=True)]
    at = _indices(shape, sizes, x.device)
    flat = x.reshape(*x.shape[: x.dim() - rank], math.prod(shape))
    whole = (*flat.shape[:-1], *sizes)
    if not math.prod(whole) or not flat.numel():
        empty = flat.new_zeros(whole)
        return empty, empty.long()
    seen = flat[..., at]
    best = seen.amax(-1, keepdim=True)
    # Repeats of a window's first element come last, so that the first of several is the first.
    is_best = torch.where(best != best, seen != seen, seen == best)
    column = is_best.to(torch.uint8).argmax(-1, keepdim=True)
    index = torch.gather(at.expand_as(seen), -1, column)[..., 0]
    return torch.gather(flat, -1, index).reshape(whole), index.reshape(whole)


def _adaptive(rank: int) -> None:
    @composed(f"nn:adaptive_max_pool{rank}d")
    def adaptive_max_pool(x: Lanes, output_size: Any, return_indices: bool) -> Any:
        """Return the largest elements of windows and, if wanted, their indices."""
        values, index = _largest(x, rank, output_size)
        return [values, index] if return_indices else values

    @composed(f"nn:adaptive_max_pool{rank}d_bwd")
    def adaptive_max_pool_bwd(out_grad: Lanes, x: Lanes, output_size: Any) -> Lanes:
        """Return the gradients at the first largest elements of windows, added up."""
        _, index = _largest(x, rank, output_size)
        planes = math.prod(x.shape[: x.dim() - rank])
        start = torch.arange(planes, device=x.device)[:, None] * (x.numel() // max(planes, 1))
        made = torch.zeros_like(x, memory_format=torch.contiguous_format).reshape(-1)
        if index.numel():
            at = (index.reshape(planes, -1) + start).reshape(-1)
            added(made, at, out_grad.reshape(-1))
        return made.reshape(x.shape)


for _rank in (1, 2, 3):
    _adaptive(_rank)
