"""Cases of steps of optimizers."""

from __future__ import annotations

from typing import Any

from suanzi.conformance.nn._calls import Call, Operand, declare

ALL = ("ordinary", "whole numbers", "many magnitudes", "constant", "outliers", "special values")
PLAIN = ("ordinary",)


def step(*shape: int, at: int = 3, amsgrad: bool = False, **how: Any) -> dict[str, Any]:
    """Return the arguments of a step, a large one, so that it is seen in all dtypes."""
    found: dict[str, Any] = {
        "param": Operand(shape),
        "grad": Operand(shape),
        "exp_avg": Operand(shape, -1, 1),
        "exp_avg_sq": Operand(shape, 0.0625, 4),
        "step": at,
    }
    if amsgrad:
        found["max_exp_avg_sq"] = Operand(shape, 0.0625, 4)
    return {**found, "lr": 0.5, **how}


declare(
    "nn:adamw",
    [
        Call("the third step", step(4, 5)),
        Call("the first step", step(7, at=1), "plain", PLAIN),
        Call("a late step", step(7, at=100_000), "plain", PLAIN),
        Call("AMSGrad", step(4, 5, amsgrad=True), "plain", (*PLAIN, "special values")),
        Call("upwards", step(7, maximize=True), "plain", PLAIN),
        Call("no decay", step(7, weight_decay=0.0), "plain", PLAIN),
        Call("much decay", step(7, weight_decay=1.5), "plain", PLAIN),
        Call("a large eps", step(7, eps=0.5), "plain", PLAIN),
        Call("other betas", step(7, beta1=0.25, beta2=0.5), "plain", PLAIN),
        Call("no averages", step(7, beta1=0.0, beta2=0.0), "plain", PLAIN),
        Call("a number", step(), "plain", PLAIN),
        Call("several blocks", step(2, 700, amsgrad=True), "sizes", PLAIN, quick=False),
        Call("no elements", step(0, 3), "empty", PLAIN),
    ],
    ALL,
)
