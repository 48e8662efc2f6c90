"""The gated delta rule, a step at a time; gradients by autograd, which recomputes chunks of it."""

from __future__ import annotations

import math
from typing import Any, TypeAlias

import torch
from torch.utils.checkpoint import checkpoint

from suanzi.base import dtypes
from suanzi.runtimes.torch.casts import cast
from suanzi.runtimes.torch.elements import lanes
from suanzi.runtimes.torch.ways import Call, way

Lanes: TypeAlias = torch.Tensor
_IN_STATE_DTYPE = ("g", "initial_state", "final_state_grad")


def _wide(call: Call, **given: Lanes | None) -> dict[str, Any]:
    """Return operands as numbers of one dtype: float64, and float32 for narrower floats."""
    own = call.results[0].dtype
    kept = dtypes.float64 if own is dtypes.float64 else dtypes.float32
    found = torch.float64 if own.bits >= 32 else torch.float32
    made: dict[str, Any] = {}
    for name, x in given.items():
        target = kept if name in _IN_STATE_DTYPE else own
        one = None if x is None else lanes(cast(x, call.dtypes[name], target), target)
        made[name] = None if one is None else one.to(found)
    return made


def _rows(x: Lanes, heads: int, normalizes: bool) -> Lanes:
    """Return rows of key heads for each value head."""
    if normalizes:
        x = x / torch.sqrt((x * x).sum(-1, keepdim=True) + 1e-6)
    if x.shape[2] in (0, heads):
        return x
    return x.repeat_interleave(heads // x.shape[2], 2)


def _steps(state: Lanes, q: Lanes, k: Lanes, v: Lanes, decay: Lanes, beta: Lanes) -> Any:
    """Return the state after some steps, and what it answered in each."""
    found = []
    for t in range(q.shape[1]):
        key = k[:, t, :, :, None]
        state = state * decay[:, t, :, None, None]
        u = beta[:, t, :, None] * (v[:, t] - (state * key).sum(2))
        state = state + key * u[:, :, None]
        found.append((state * q[:, t, :, :, None]).sum(2))
    return state, torch.stack(found, 1)


def _rule(
    q: Lanes, k: Lanes, v: Lanes, g: Lanes, beta: Lanes, initial_state: Lanes | None,
    scale: float | None, normalizes: bool,
) -> tuple[Lanes, Lanes]:  # fmt: skip
    """Return results and the last state; only states between chunks are kept for gradients."""
    (batch, time, _, depth), (heads, width) = k.shape, v.shape[2:]
    factor = scale if scale is not None else 1 / math.sqrt(depth) if depth else 1.0
    state = v.new_zeros(batch, heads, depth, width) if initial_state is None else initial_state
    rows = (_rows(q, heads, normalizes) * factor, _rows(k, heads, normalizes), v, g.exp(), beta)
    size, found = max(16, math.isqrt(time)), []
    for t in range(0, time, size):
        part = tuple(x[:, t : t + size] for x in rows)
        if torch.is_grad_enabled():
            state, y = checkpoint(_steps, state, *part, use_reentrant=False)
        else:
            state, y = _steps(state, *part)
        found.append(y)
    return torch.cat(found, 1) if found else torch.zeros_like(v), state


@way("nn:gated_delta_rule")
def gated_delta_rule(
    call: Call, q: Lanes, k: Lanes, v: Lanes, g: Lanes, beta: Lanes, initial_state: Lanes | None,
    scale: float | None, use_qk_l2norm: bool, return_state: bool,
) -> Any:  # fmt: skip
    """Return what the state answers after each step, and the last state."""
    given = _wide(call, q=q, k=k, v=v, g=g, beta=beta, initial_state=initial_state)
    with torch.no_grad():
        y, state = _rule(**given, scale=scale, normalizes=use_qk_l2norm)
    return [y, state.clone()] if return_state else y


@way("nn:gated_delta_rule_bwd")
def gated_delta_rule_bwd(
    call: Call, out_grad: Lanes, q: Lanes, k: Lanes, v: Lanes, g: Lanes, beta: Lanes,
    initial_state: Lanes | None, final_state_grad: Lanes | None, scale: float | None,
    use_qk_l2norm: bool,
) -> list[Lanes]:  # fmt: skip
    """Return the gradients of q, k, v, g, beta and the initial state."""
    given = _wide(call, q=q, k=k, v=v, g=g, beta=beta, initial_state=initial_state)
    above = _wide(call, out_grad=out_grad, final_state_grad=final_state_grad)
    operands: dict[str, Any] = {
        n: None if x is None else x.detach().requires_grad_() for n, x in given.items()
    }
    wanted = [x for x in operands.values() if x is not None]
    with torch.enable_grad():
        made = _rule(**operands, scale=scale, normalizes=use_qk_l2norm)
        pairs = zip(made, (above["out_grad"], above["final_state_grad"]), strict=True)
        asked = [(y, grad) for y, grad in pairs if grad is not None and y.requires_grad]
        found = torch.autograd.grad(
            [y for y, _ in asked], wanted, [grad for _, grad in asked], allow_unused=True
        ) if asked else [None] * len(wanted)  # fmt: skip
    return [torch.zeros_like(x) if d is None else d for x, d in zip(wanted, found, strict=True)]
