"""Activations and their gradients: one kernel for each, promotion and broadcasting inside.

float32 is computed in float64, except what has one rounding, and what `single_precision.py` has;
narrower floats in float32, whose results near ties are the CPU's, from a table, where there is one
operand. What memory takes is longer than most of this.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache, partial
from typing import Any

import numpy as np
import torch

from suanzi.base import dtypes
from suanzi.base.dtypes import DType
from suanzi.promote import registry
from suanzi.runtimes.torch.dtypes import TORCH
from suanzi.runtimes.torch.fast import Plan, fast, planned
from suanzi.runtimes.torch.triton.elements import ElementPlan, as_table, every_16_bits, plan_of
from suanzi.runtimes.torch.triton.kernel_text import KNOWN, kernel_of, lane_of, promoted, rounded
from suanzi.runtimes.torch.triton.launching import launch
from suanzi.runtimes.torch.triton.single_precision import SINGLES
from suanzi.runtimes.torch.ways import Call

_LOG2E = math.log2(math.e)
_PIECES = {
    "relu": "tl.where({x} <= 0, 0.0, {x})", "relu6": "clamped({x}, 0.0, 6.0)",
    "relu_squared": "tl.where({x} <= 0, 0.0, {x} * {x})",
    "leaky_relu": "tl.where({x} > 0, {x}, {x} * {negative_slope})",
    "hardtanh": "clamped({x}, {min_val}, {max_val})",
    "relu_bwd": "relu_bwd({g}, {x})", "relu6_bwd": "if_inside({g}, {x}, 0.0, 6.0)",
    "relu_squared_bwd": "tl.where({x} <= 0, 0.0, {g} * ({x} + {x}))",
    "leaky_relu_bwd": "leaky_bwd({g}, {x}, {negative_slope})",
    "hardtanh_bwd": "if_inside({g}, {x}, {min_val}, {max_val})",
}  # fmt: skip
"""What is rounded once: in the dtype of the lanes, also in float64."""
_SMOOTH = {
    "elu": "below_0({x}, exponential_less_1({x}, {rate}) * {alpha}, 1.0)",
    "celu": "below_0({x}, exponential_less_1({x}, {rate}) * {alpha}, 1.0)",
    "selu": "below_0({x}, exponential_less_1({x}, {rate}) * {selu_below}, {selu_scale})",
    "elu_bwd": "exponential_slope({g}, {x}, {alpha}, 1.0, {half_rate})",
    "celu_bwd": "exponential_slope({g}, {x}, 1.0, 1.0, {half_rate})",
    "selu_bwd": "exponential_slope({g}, {x}, {selu_below}, {selu_scale}, {half_rate})",
    "softplus": "softplus({x}, {beta}, {over_beta}, {threshold}, {half_rate})",
    "softplus_bwd": "softplus_bwd({g}, {x}, {beta}, {threshold}, {half_rate})",
    **{name: name + "({x})" for name in (
        "silu sigmoid log_sigmoid quick_gelu gelu gelu_tanh mish erf erfc softsign hardsigmoid "
        "hardswish").split()},
    **{f"{name}_bwd": name + "_bwd({g}, {x})" for name in (
        "silu sigmoid log_sigmoid quick_gelu gelu gelu_tanh mish erf erfc softsign hardswish"
    ).split()},
    "hardsigmoid_bwd": "if_inside({g} * 0.16666666666666666, {x}, -3.0, 3.0)",
    **{name: name + "({gate}, {up})" for name in ("swiglu", "geglu", "geglu_tanh")},
}  # fmt: skip
"""What is computed wide."""
_SCALE = 1.0507009873554804934193349852946
_ALPHA = 1.6732632423543772848170429916717
_TANH = re.compile("ge.*_tanh")
_OPERANDS = {"x": "x", "out_grad": "g", "gate": "gate", "up": "up"}
_RATES = 2.0**-10, 2.0**10
"""What a parameter that multiplies exponents may be."""


def _text(x: float) -> str:
    return repr(x) if math.isfinite(x) else f"float('{x}')"


def _rate(c: float) -> str:
    """Return c, and c as a sum of two numbers of float32."""
    high = float(np.float32(c))
    return f"{c!r}, {high!r}, {float(np.float32(c - high))!r}"


def _numbers(name: str, given: Mapping[str, float]) -> dict[str, str] | None:
    """Return the numbers of an expression, or None where no kernel is for a parameter."""
    stem = name.removesuffix("_bwd")
    rate = _LOG2E
    if stem in ("celu", "softplus"):
        factor = given["alpha"] if stem == "celu" else given["beta"]
        if not _RATES[0] <= factor <= _RATES[1]:
            return None
        rate = _LOG2E / factor if stem == "celu" else _LOG2E * factor
    found = {key: _text(x) for key, x in given.items()}
    if any("nan" in x for x in found.values()) or given.get("alpha", 0.0) in (math.inf, -math.inf):
        return None
    return {
        **found, "rate": _rate(rate), "half_rate": f"{rate!r}, {rate / 2!r}",
        "selu_scale": repr(_SCALE),
        "selu_below": repr(_SCALE * _ALPHA), "over_beta": repr(1 / given.get("beta", 1.0)),
    }  # fmt: skip


def _named(call: Call, approximate: Any) -> str:
    """Return the function of a call: the approximation of gelu has one of its own."""
    name = call.op.name
    if approximate != "tanh":
        return name
    stem, _, end = name.partition("_")
    return "_".join(filter(None, (stem, "tanh", end)))


def _lane(target: DType, name: str) -> DType | None:
    """Return what a function is computed in, None where no kernel is."""
    if name in _PIECES:
        return target if target.bits >= 32 else dtypes.float32
    if name in SINGLES and target.bits == 32:
        return target
    return {16: dtypes.float32, 32: dtypes.float64}.get(target.bits)


def _text_of(lane: DType, target: DType, j: int) -> str:
    return f"a{j}.to(tl.float64)" if lane.bits > max(target.bits, 32) else f"a{j}"


@cache
def _table(key: str, given: tuple[tuple[str, Any], ...], dt: DType, place: torch.device) -> Any:
    """Return the CPU's results for all 65,536 inputs of a 16-bit dtype."""
    return as_table(registry.call(key, every_16_bits(dt), **dict(given)), place)


@planned(*(f"nn:{name}" for name in (*_PIECES, *_SMOOTH) if not _TANH.match(name)), rounded=False)
def activation(call: Call, **arguments: Any) -> ElementPlan | None:
    """Return the plan of an activation, or of its gradient."""
    target = call.result.dtype
    tensors = {name: arguments[name] for name in arguments if name in _OPERANDS}
    name = _named(call, arguments.get("approximate"))
    lane = _lane(target, name)
    if lane is None or target.kind != "float" or not all(
        isinstance(x, torch.Tensor) for x in tensors.values()
    ):  # fmt: skip
        return None
    rest = {key: arguments[key] for key in arguments if key not in _OPERANDS}
    numbers = _numbers(name, {k: float(v) for k, v in rest.items() if k != "approximate"})
    if numbers is None:
        return None
    lanes = {_OPERANDS[key]: _text_of(lane, target, j) for j, key in enumerate(tensors)}
    made = (_PIECES.get(name) or _SMOOTH[name]).format(**lanes, **numbers)
    if name in SINGLES and lane is target:
        made = f"{name}_single({lanes['x']})"
    lookup: Callable[[], Any] | None = None
    if target.bits == 16 and len(tensors) == 1 and name in _SMOOTH:
        lookup = partial(_table, call.op.key, tuple(rest.items()), target, call.place)
    # Exponentials of float32 are that far off, where they are as small as the dtype has numbers.
    within = 128 if target is dtypes.bfloat16 else 32
    targets = dict.fromkeys(tensors, target)
    return plan_of(call, tensors, targets, (made, lane), lookup=lookup, within=within)


class Viewed(Plan):
    """A plan of views of the operands."""

    def __init__(
        self, operands: list[torch.Tensor], view: Callable[..., list[torch.Tensor]], plan: Plan
    ) -> None:
        self.operands, self._view, self._plan = operands, view, plan
        plan.operands = []

    def run(self, plains: list[torch.Tensor]) -> torch.Tensor:
        """Return the result for other tensors of the same dtypes, shapes and strides."""
        return self._plan.run(self._view(*plains))


def _viewed(
    call: Call, operands: list[torch.Tensor], view: Callable[..., list[torch.Tensor]],
    names: list[str], made: str, lane: DType,
) -> Plan | None:  # fmt: skip
    """Return the plan of views, whose dtypes are those of the named operands."""
    given = {f"{j}": x for j, x in enumerate(view(*operands))}
    dtypes_of = {f"{j}": call.dtypes[name] for j, name in enumerate(names)}
    apart = replace(call, dtypes=dtypes_of)
    plan = plan_of(apart, given, dict.fromkeys(given, call.result.dtype), (made, lane))
    return None if plan is None else Viewed(operands, view, plan)


@planned("nn:glu", rounded=False)
def glu(call: Call, x: torch.Tensor, axis: int) -> Plan | None:
    """Return the plan of the first half along an axis times the sigmoid of the second."""
    target = call.result.dtype
    lane = _lane(target, "glu")
    if lane is None or target.kind != "float":
        return None

    def halves(x: torch.Tensor) -> list[torch.Tensor]:
        return list(x.chunk(2, axis))

    given = (_text_of(lane, target, j) for j in range(2))
    return _viewed(call, [x], halves, ["x", "x"], f"glu({', '.join(given)})", lane)


@planned("nn:prelu", rounded=False)
def prelu(call: Call, x: torch.Tensor, weight: torch.Tensor) -> Plan | None:
    """Return the plan of x, or of a multiple of it below 0, by channel."""
    target = call.result.dtype
    if not (isinstance(x, torch.Tensor) and isinstance(weight, torch.Tensor)):
        return None

    def spread(x: torch.Tensor, weight: torch.Tensor) -> list[torch.Tensor]:
        shape = [1] * x.dim()
        if shape:
            shape[min(1, x.dim() - 1)] = weight.numel()
        return [x, weight.reshape(shape)]

    made = "tl.where(a0 > 0, a0, a0 * a1)"
    return _viewed(call, [x, weight], spread, ["x", "weight"], made, lane_of(target))


@planned("nn:dropout", rounded=False)
def dropout(
    call: Call, x: torch.Tensor, p: float, mask: torch.Tensor | None, seed: Any
) -> ElementPlan | None:
    """Return the plan of x / (1 - p) where the mask is true; PyTorch has that of a seed."""
    target = call.result.dtype
    name = "x" if call.op.name == "dropout" else "out_grad"
    if mask is None or not all(isinstance(v, torch.Tensor) for v in (x, mask)):
        return None
    kept = 1 - float(p)
    scale = 1 / kept if kept else 0.0
    lane = dtypes.float64 if target.bits >= 32 else dtypes.float32
    made = f"dropped({_text_of(lane, target, 0)}, a1, {_rate(scale)})"
    targets = {name: target, "mask": dtypes.bool}
    return plan_of(call, {name: x, "mask": mask}, targets, (made, lane))


@planned("nn:dropout_bwd", rounded=False)
def dropout_bwd(
    call: Call, out_grad: torch.Tensor, x: torch.Tensor, p: float, mask: torch.Tensor | None,
    seed: Any,
) -> ElementPlan | None:  # fmt: skip
    """Return the plan of the gradient, dropped alike."""
    return dropout(call, out_grad, p, mask, seed)


# ---- two gradients -------------------------------------------------------------------------------


def _pair_text(sources: list[DType], target: DType, lane: DType, made: str, halves: bool) -> str:
    """Return a kernel with two results; with `halves`, along rows that both share."""
    lines = ["i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)", "inside = i < n"]
    if halves:
        lines += ["row = i // half", "at = row * (half + half) + (i - row * half)"]
    at = ["i", "at", "at + half"] if halves else ["i"] * 3
    for j, dt in enumerate(sources):
        lines += [f"x{j} = tl.load(p{j} + {at[j]}, inside)"]
        lines += [f"a{j} = {promoted(f'x{j}', dt, target)}"]
    given = ", ".join(_text_of(lane, target, j) for j in range(3))
    lines += [f"u, v = {made}({given})"]
    for j, one in enumerate("uv"):
        stored = rounded(one, lane, target)
        lines += [f"tl.store(o{j} + {at[1 + j] if halves else 'i'}, {stored}, inside)"]
    head = "def kernel(p0, p1, p2, o0, o1, n, half, BLOCK: tl.constexpr):"
    return "\n    ".join([head, *lines]) + "\n"


def _pair(call: Call, given: dict[str, torch.Tensor], made: str, half: int = 0) -> Any:
    """Return two gradients of tensors of one shape, or those of halves in one tensor."""
    target = call.result.dtype
    lane = _lane(target, made)
    if lane is None or target.kind != "float":
        return None
    operands = [x.contiguous() for x in given.values()]
    sources = [call.dtypes[name] for name in given]
    if half:
        operands, sources = [*operands, operands[1]], [*sources, sources[1]]
    if any(dt not in KNOWN for dt in sources):
        return None
    place, out = operands[0].device, TORCH[target]
    outs = [torch.empty(operands[-1].shape, dtype=out, device=place) for _ in range(2 - bool(half))]
    n = operands[0].numel()
    text = _pair_text(sources, target, lane, made, bool(half))
    launch(kernel_of(text), (-(-n // 1024),), [*operands, outs[0], outs[-1], n, half],
           {"BLOCK": 1024})  # fmt: skip
    return outs[0] if half else outs


@fast("nn:swiglu_bwd", "nn:geglu_bwd")
def gated_bwd(call: Call, out_grad: Any, gate: Any, up: Any, approximate: str = "none") -> Any:
    """Return the gradients of gate and up."""
    given = {"out_grad": out_grad, "gate": gate, "up": up}
    if not all(isinstance(x, torch.Tensor) and x.numel() for x in given.values()):
        return None
    name = _named(call, approximate)
    return _pair(call, given, f"{name.removesuffix('_bwd')}_slopes")


@fast("nn:glu_bwd")
def glu_bwd(call: Call, out_grad: torch.Tensor, x: torch.Tensor, axis: int) -> Any:
    """Return the gradients of both halves, joined."""
    if not out_grad.numel():
        return None
    half = math.prod(out_grad.shape[axis % out_grad.dim() :])
    return _pair(call, {"out_grad": out_grad, "x": x}, "glu_slopes", half)
