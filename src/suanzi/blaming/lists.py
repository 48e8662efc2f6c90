"""Rules of optimizers' operators, which take lists of tensors: foreach and fused ones.

Of a list some tensors are judged, the first and the last among them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from suanzi.blaming.elements import RULES, rule
from suanzi.blaming.sampling import Call, Piece, Unjudged
from suanzi.truth import tracked as t
from suanzi.truth.rounding import unit_of
from suanzi.truth.tracked import Tracked

MOST = 4
"""How many tensors of a list are judged."""
_SECOND = {"clamp_min": "min", "clamp_max": "max", "addcmul": "value", "addcdiv": "value"}
_NAMES = {"tensors1": "end", "weights": "weight"}
_FOREACH = (
    "add", "sub", "mul", "div", "pow", "sqrt", "rsqrt", "reciprocal", "exp", "log", "log1p",
    "expm1", "log2", "log10", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh",
    "erf", "erfc", "sigmoid", "neg", "abs", "sign", "floor", "ceil", "round", "trunc", "zero",
    "copy", "maximum", "minimum", "clamp_min", "clamp_max", "addcmul", "addcdiv", "lerp", "norm",
)  # fmt: skip


def chosen(rng: np.random.Generator, count: int) -> list[int]:
    """Return which tensors of a list are judged."""
    if count <= MOST:
        return list(range(count))
    return sorted({0, count - 1, *map(int, rng.integers(0, count, MOST - 2))})


def _which(call: Call, name: str) -> list[int]:
    """Return the tensors of a list that are judged: of one that was written to, those copied."""
    some = [i for i, x in enumerate(call[name]) if x is not None]
    return some if name in call.after else chosen(call.rng, len(some))


def _one(x: Any, i: int) -> Any:
    return x[i] if isinstance(x, list | tuple) else x


@rule(*(f"_foreach_{name}" for name in _FOREACH))
def foreach(call: Call) -> Iterator[Piece]:
    """An operator of each tensor of a list."""
    base = call.name.removeprefix("_foreach_")
    second = _SECOND.get(base, "other")
    results = call.after.get("self") or call.results
    if not isinstance(call["self"], list | tuple):
        raise Unjudged("a number for a list of tensors")
    for i in _which(call, "self"):
        given = {}
        for name, x in call.arguments.items():
            if name in ("scalar", "scalars"):
                name = second
            elif base == "norm" and name == "dtype" and x is not None:
                raise Unjudged("a dtype for the result")
            if base in ("add", "sub") and name == "other" and _is_scalar_of(call, x):
                x = float(x)
            given[_NAMES.get(name, name)] = _one(x, i)
        if call.is_tensor(given.get("value")):
            raise Unjudged("a tensor of numbers")
        out = results[i]
        if out.numel() and given["self"] is not None:
            yield from RULES[base](Call(call.torch, base, given, [out], call.rng))


def _is_scalar_of(call: Call, x: Any) -> bool:
    return bool(call.is_tensor(x) and x.ndim == 0)


# ---- fused ---------------------------------------------------------------------------------------


def _number(x: float) -> Tracked:
    """A number that a kernel computes before it begins, in float64 or in the dtype of tensors."""
    return Tracked(np.asarray(x), np.asarray(abs(x) * unit_of("float32")))


def _steps(call: Call, names: list[str]) -> Iterator[tuple[dict[str, Any], list[Any], int]]:
    """Give some elements of the tensors of a step, with their results."""
    if call.get("grad_scale") is not None or call.get("found_inf") is not None:
        raise Unjudged("gradients that are scaled")
    for i in _which(call, "self"):
        out = call.after["self"][i]
        if not out.numel():
            continue
        at = call.elements(out)
        given = {
            name: call.take(call[name][i], at) for name in names if len(call.get(name, ())) > i
        }
        parts = [
            call.part(call.after[name][i], at)
            for name in names
            if name in call.after and name != "grads" and len(call.get(name, ())) > i
        ]
        yield given, parts, i


def _lr(call: Call) -> float:
    return float(call["lr"])


@rule("_fused_adam", "_fused_adamw")
def fused_adam(call: Call) -> Iterator[Piece]:
    """A step of Adam: averages of gradients and of their squares, and the parameters."""
    if call.get("amsgrad", False):
        raise Unjudged("amsgrad")
    names = ["self", "exp_avgs", "exp_avg_sqs", "grads"]
    lr, beta1, beta2, eps = _lr(call), *(float(call[n]) for n in ("beta1", "beta2", "eps"))
    decay, sign = float(call["weight_decay"]), -1 if call.get("maximize", False) else 1
    for given, parts, i in _steps(call, names):
        step = float(call["state_steps"][i])
        size = _number(lr / (1 - beta1**step))
        root = _number((1 - beta2**step) ** 0.5)

        def definition(
            self: Tracked, exp_avgs: Tracked, exp_avg_sqs: Tracked, grads: Tracked,
            size: Tracked = size, root: Tracked = root,
        ) -> tuple[Tracked, Tracked, Tracked]:  # fmt: skip
            g, p = grads * sign, self
            if decay and call.name == "_fused_adam":
                g = g + p * _number(decay)
            elif decay:
                p = t.either(p * _number(1 - lr * decay), p - p * _number(lr * decay))
            b1, c1, b2, c2 = (_number(x) for x in (beta1, 1 - beta1, beta2, 1 - beta2))
            mean = t.either(exp_avgs * b1 + g * c1, exp_avgs + (g - exp_avgs) * c1)
            square = exp_avg_sqs * b2 + g * g * c2
            below = t.sqrt(square) / root + _number(eps)
            return p - size * (mean / below), mean, square

        yield Piece(definition, given, parts, within=_within(parts))


@rule("_fused_sgd")
def fused_sgd(call: Call) -> Iterator[Piece]:
    """A step of gradient descent: the momentum and the parameters."""
    lr, momentum, damped = _lr(call), float(call["momentum"]), float(call["dampening"])
    decay, nesterov = float(call["weight_decay"]), bool(call["nesterov"])
    sign, first = -1 if call["maximize"] else 1, bool(call["is_first_step"])

    def definition(
        self: Tracked, grads: Tracked, momentum_buffer_list: Tracked | None = None
    ) -> Any:  # fmt: skip
        g = grads * sign
        g = g + self * _number(decay) if decay else g
        if momentum_buffer_list is None:
            return self - g * _number(lr)
        kept = g if first else momentum_buffer_list * _number(momentum) + g * _number(1 - damped)
        step = g + kept * _number(momentum) if nesterov else kept
        return self - step * _number(lr), kept

    for given, parts, _ in _steps(call, ["self", "momentum_buffer_list", "grads"]):
        if not momentum:
            given.pop("momentum_buffer_list", None)
            parts = parts[:1]
        yield Piece(definition, given, parts, within=_within(parts))


def _within(parts: list[Any]) -> str:
    return "float64" if parts[0].dtype == "float64" else "float32"
