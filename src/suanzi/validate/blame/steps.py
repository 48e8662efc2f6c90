"""Rules of fused steps of optimizers: Adam, AdamW, SGD and Adagrad.

A kernel may compute in float32 all of it, or in float64 what does not depend on elements: PyTorch
does the latter on a CPU, and the former on CUDA, where betas are float32 and 1 - beta2**step loses
digits in the first steps. Each is a truth of its own, and a result has to fit one of them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from suanzi.truth import tracked as t
from suanzi.truth.rounding import rounded, unit_of
from suanzi.truth.tracked import Tracked, tracked
from suanzi.validate.blame.elements import rule
from suanzi.validate.blame.lists import call_within, which
from suanzi.validate.blame.sampling import Call, Part, Piece

_POWER = 8.0
"""How many units of roundoff a power may be off."""


class _Numbers:
    """The numbers of a step, in float64 or in the arithmetic of the elements."""

    def __init__(self, within: str, single: bool) -> None:
        self.within, self.single, self.unit = within, single, unit_of(within)

    def of(self, x: float) -> float:
        """Return a number as the kernel has it."""
        return float(rounded(np.array(x), self.within)) if self.single else x

    def once(self, x: float) -> Tracked:
        """A number that is rounded when it meets elements."""
        return Tracked(tracked(x).value, np.asarray(abs(x) * self.unit))

    def complement(self, x: float, power: float = 1.0) -> Tracked:
        """1 - x**power."""
        raised = x**power
        found, lost = 1 - raised, 0.0
        if power != 1 and x > 0:
            unit = self.unit if self.single else unit_of("float64")
            lost = raised * unit * (_POWER + 2 * power * abs(math.log(x)))
        return Tracked(tracked(found).value, np.asarray(lost + abs(found) * self.unit))


def _ways(within: str) -> list[dict[str, Any]]:
    """Return the arithmetics of numbers that are right."""
    kinds = (False,) if within == "float64" else (False, True)
    return [{"by": _Numbers(within, single)} for single in kinds]


def _steps(
    call: Call, names: list[str], by: str
) -> Iterator[tuple[dict[str, Any], list[Part], int]]:
    """Give some elements of the tensors of a step, with their results.

    After a gradient that is NaN or infinite nothing may change.
    """
    found = call.get("found_inf")
    skipped = found is not None and float(found) == 1
    scaled = call.get("grad_scale") is not None
    for i in which(call, "self"):
        out = call.after["self"][i]
        if not out.numel():
            continue
        at = call.elements(out, by=call[by][i] if len(call.get(by, ())) > i else None)
        given = {n: call.take(call[n][i], at) for n in names if len(call.get(n, ())) > i}
        stored = [n for n in given if n in call.after and (n != "grads" or scaled or skipped)]
        parts = {n: call.part(call.after[n][i], at) for n in stored}
        if skipped:
            yield {n: given[n] for n in parts}, list(parts.values()), -1
            continue
        yield given, list(parts.values()), i


def _kept(given: dict[str, Any], parts: list[Part]) -> Piece:
    """Judge a step that is skipped: nothing changes."""
    return Piece(lambda **all: tuple(all.values()), given, parts, True)


def _unscaled(call: Call, grads: Tracked) -> Tracked:
    scale = call.get("grad_scale")
    return grads if scale is None else grads / float(scale)


def _results(found: Mapping[str, Tracked], call: Call, parts: list[Part]) -> tuple[Tracked, ...]:
    """Return results in the order of the parts."""
    names = [n for n in found if n != "grads" or call.get("grad_scale") is not None]
    return tuple(found[n] for n in names)[: len(parts)]


@rule("_fused_adam", "_fused_adamw")
def fused_adam(call: Call) -> Iterator[Piece]:
    """A step of Adam: averages of gradients and of their squares, and the parameters."""
    names = ["self", "grads", "exp_avgs", "exp_avg_sqs", "max_exp_avg_sqs"]
    names = names if call.get("amsgrad", False) else names[:-1]
    lr, beta1, beta2, eps, decay = (
        float(call[n]) for n in ("lr", "beta1", "beta2", "eps", "weight_decay")
    )
    sign, is_adamw = -1 if call.get("maximize", False) else 1, call.name == "_fused_adamw"
    for given, parts, i in _steps(call, names, "exp_avg_sqs"):
        if i < 0:
            yield _kept(given, parts)
            continue
        step = float(call["state_steps"][i])

        def definition(
            self: Tracked, grads: Tracked, exp_avgs: Tracked, exp_avg_sqs: Tracked, by: _Numbers,
            max_exp_avg_sqs: Tracked | None = None, step: float = step, parts: Any = parts,
        ) -> tuple[Tracked, ...]:  # fmt: skip
            kept = _unscaled(call, grads)
            g, p = kept * sign, self
            if decay and not is_adamw:
                g = g + p * by.once(by.of(decay))
            elif decay:
                less = by.of(lr) * by.of(decay)
                p = t.either(p * by.once(1 - less), p - p * by.once(less))
            b1, b2 = by.of(beta1), by.of(beta2)
            c1, c2 = by.complement(b1), by.complement(b2)
            mean = t.either(exp_avgs * by.once(b1) + g * c1, exp_avgs + (g - exp_avgs) * c1)
            square = exp_avg_sqs * by.once(b2) + g * g * c2
            most = square if max_exp_avg_sqs is None else t.maximum(max_exp_avg_sqs, square)
            below = t.sqrt(most) / t.sqrt(by.complement(b2, step)) + by.once(by.of(eps))
            size = by.once(by.of(lr)) / by.complement(b1, step)
            p = p - size * (mean / below)
            found = {"self": p, "grads": kept, "exp_avgs": mean, "exp_avg_sqs": square, "max": most}
            return _results(found, call, parts)

        within = call_within(call.after["self"][i])
        yield Piece(definition, given, parts, within=within, ways=_ways(within))


@rule("_fused_sgd")
def fused_sgd(call: Call) -> Iterator[Piece]:
    """A step of gradient descent: the momentum and the parameters."""
    lr, momentum, damped, decay = (
        float(call[n]) for n in ("lr", "momentum", "dampening", "weight_decay")
    )
    nesterov, sign = bool(call["nesterov"]), -1 if call["maximize"] else 1
    first = bool(call["is_first_step"])
    names = ["self", "grads", *(["momentum_buffer_list"] if momentum else [])]
    for given, parts, i in _steps(call, names, "grads"):
        if i < 0:
            if first:  # the buffers have no values yet
                given, parts = {"self": given["self"]}, parts[:1]
            yield _kept(given, parts)
            continue

        def definition(
            self: Tracked, grads: Tracked, by: _Numbers,
            momentum_buffer_list: Tracked | None = None, parts: Any = parts,
        ) -> Any:  # fmt: skip
            unscaled = _unscaled(call, grads)
            g = unscaled * sign
            g = g + self * by.once(by.of(decay)) if decay else g
            found, step = {"self": self, "grads": unscaled}, g
            if momentum_buffer_list is not None:
                m = by.once(by.of(momentum))
                kept = g if first else momentum_buffer_list * m + g * by.complement(by.of(damped))
                step = g + kept * m if nesterov else kept
                found["momentum"] = kept
            found["self"] = self - step * by.once(by.of(lr))
            return _results(found, call, parts)

        within = call_within(call.after["self"][i])
        yield Piece(definition, given, parts, within=within, ways=_ways(within))


@rule("_fused_adagrad")
def fused_adagrad(call: Call) -> Iterator[Piece]:
    """A step of Adagrad: sums of squares of gradients, and the parameters."""
    lr, less, decay, eps = (float(call[n]) for n in ("lr", "lr_decay", "weight_decay", "eps"))
    sign = -1 if call.get("maximize", False) else 1
    for given, parts, i in _steps(call, ["self", "grads", "state_sums"], "state_sums"):
        if i < 0:
            yield _kept(given, parts)
            continue
        step = float(call["state_steps"][i])

        def definition(
            self: Tracked, grads: Tracked, state_sums: Tracked, by: _Numbers, step: float = step,
            parts: Any = parts,
        ) -> Any:  # fmt: skip
            unscaled = _unscaled(call, grads)
            g = unscaled * sign
            g = g + self * by.once(by.of(decay)) if decay else g
            total = state_sums + g * g
            rate = by.once(by.of(lr)) / (1 + (step - 1) * by.once(by.of(less)))
            p = self - rate * (g / (t.sqrt(total) + by.once(by.of(eps))))
            return _results({"self": p, "grads": unscaled, "sum": total}, call, parts)

        within = call_within(call.after["self"][i])
        yield Piece(definition, given, parts, within=within, ways=_ways(within))
