"""Rules of operators of lists of tensors, as optimizers call them, and of what scales gradients.

Of a list some tensors are judged, the first and the last among them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from suanzi.truth.tracked import Tracked
from suanzi.validate.blame.elements import RULES, rule
from suanzi.validate.blame.sampling import Call, Piece, Unjudged, name_of

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


def which(call: Call, name: str) -> list[int]:
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
    for i in which(call, "self"):
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


# ---- gradients that are scaled -------------------------------------------------------------------


@rule("_amp_foreach_non_finite_check_and_unscale")
def unscale(call: Call) -> Iterator[Piece]:
    """Gradients times a number, and whether one is NaN or infinite."""
    scale = float(call["inv_scale"])
    made = call.after["self"]
    for i in which(call, "self"):
        if not made[i].numel():
            continue
        at = call.elements(made[i])
        given = {"x": call.take(call["self"][i], at)}
        part = call.part(made[i], at)
        yield Piece(lambda x: x * scale, given, [part], within=call_within(made[i]))
    if scale <= 1:  # what is finite stays so
        found = call.after["found_inf"]
        odd = any(not bool(call.torch.isfinite(x).all()) for x in made)
        expected = np.maximum(call.numbers(call["found_inf"]), float(odd))
        yield Piece(lambda x: x, {"x": expected}, [call.part(found, (np.zeros(1, int),))], True)


@rule("_amp_update_scale")
def update_scale(call: Call) -> Iterator[Piece]:
    """The scale of gradients: smaller after an infinity, larger after steps without."""
    scale, steps = call.numbers(call["self"]), int(call["growth_tracker"])
    odd = float(call["found_inf"]) > 0
    grows = not odd and steps + 1 == int(call["growth_interval"])
    factor = float(call["scale_backoff_factor" if odd else "scale_growth_factor"])
    after = 0 if odd or grows else steps + 1

    def definition(scale: Tracked) -> Any:
        return scale * factor if odd or grows else scale

    at = (np.zeros(1, int),) if call["self"].ndim else ()
    found = call.part(call.after["self"], at)
    yield Piece(definition, {"scale": scale}, [found])
    tracker = call.after["growth_tracker"]
    at = (np.zeros(1, int),) if tracker.ndim else ()
    yield Piece(lambda x: x, {"x": np.array(after)}, [call.part(tracker, at)], True)


def call_within(x: Any) -> str:
    """Return the arithmetic of a tensor's elements."""
    return "float64" if name_of(x.dtype) == "float64" else "float32"
