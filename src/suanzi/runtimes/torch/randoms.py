"""7.2.1.9, .10: draws whose chances are tensors of a device, from PyTorch's generator there.

A seed gives the same draws again on the same device; they are not the CPU's.
"""

from __future__ import annotations

from typing import Any

import torch

from suanzi.base.status import InvalidArgument
from suanzi.runtimes.torch import deferred_errors
from suanzi.runtimes.torch.ways import Call, way


def _uniform(call: Call, shape: tuple[int, ...], seed: Any) -> torch.Tensor:
    """Return float64 from 0 to less than 1; 0 is no seed."""
    source = torch.Generator(call.place)
    if int(seed):
        source.manual_seed(int(seed))
    else:
        source.seed()
    return torch.rand(shape, dtype=torch.float64, generator=source, device=call.place)


def _report(call: Call, flags: torch.Tensor, words: str) -> None:
    title = call.op.title
    deferred_errors.add(flags.any(), lambda: InvalidArgument(f"{title}: {words}"))


@way("rand_bernoulli")
def rand_bernoulli(call: Call, input: torch.Tensor, seed: Any) -> Any:
    """Return 1 with given chances."""
    chances = input.to(torch.float64)
    _report(
        call, ~((chances >= 0) & (chances <= 1)),
        "input contains values that are not probabilities; each must be from 0 to 1.",
    )  # fmt: skip
    return (_uniform(call, tuple(input.shape), seed) < chances).to(torch.float32)


@way("multinomial")
def multinomial(
    call: Call, input: torch.Tensor, num_samples: int, replacement: bool, seed: Any
) -> Any:
    """Return indices drawn by weights: by their sums, or by clocks that ring at their rates."""
    weights = input.to(torch.float64).reshape(-1, input.shape[-1])
    bad = ~(torch.isfinite(weights) & (weights >= 0))
    _report(call, bad, "input contains values that are not weights; each must be finite and at "
            "least 0.")  # fmt: skip
    count = (weights > 0).sum(-1)
    _report(call, count == 0, "the weights of a row are all 0; at least one must be positive.")
    shape = (*input.shape[:-1], int(num_samples))
    if replacement:
        ends = torch.cumsum(weights / weights.amax(-1, keepdim=True), -1)
        draws = _uniform(call, (len(weights), int(num_samples)), seed) * ends[:, -1:]
        made = torch.searchsorted(ends, draws, right=True)
        last = weights.shape[-1] - 1 - (weights > 0).flip(-1).to(torch.int8).argmax(-1)
        return torch.minimum(made, last[:, None]).reshape(shape)
    _report(
        call, count < int(num_samples),
        f"num_samples is {num_samples}, and a row has fewer positive weights. Draw fewer, or with "
        "replacement.",
    )  # fmt: skip
    rings = -torch.log1p(-_uniform(call, tuple(weights.shape), seed)) / weights
    return torch.sort(rings, stable=True).indices[:, : int(num_samples)].reshape(shape)
