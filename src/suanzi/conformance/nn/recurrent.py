"""Cases of operators along time with a state."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from suanzi.conformance.nn._calls import Call, Operand, declare

ALL = ("ordinary", "whole numbers", "many magnitudes", "constant", "outliers", "special values")
FINITE = ALL[:-1]
PLAIN = ("ordinary",)


def of(
    batch: int, channels: int, length: int, width: int, *more: str, **how: Any
) -> dict[str, Any]:
    """Return the arguments of a convolution, with a bias and a state where they are named."""
    found: dict[str, Any] = {
        "x": Operand((batch, channels, length)),
        "weight": Operand((channels, width)),
    }
    if "bias" in more:
        found["bias"] = Operand((channels,))
    if "initial_state" in more:
        found["initial_state"] = Operand((batch, channels, width - 1))
    return {**found, **how}


CAUSAL = [
    Call("four taps, silu, a bias", of(2, 3, 9, 4, "bias", activation="silu")),
    Call("four taps", of(2, 3, 9, 4), "plain", (*PLAIN, "whole numbers", "special values")),
    Call("from a state", of(2, 3, 6, 4, "initial_state", "bias"), "plain",
         (*PLAIN, "special values")),
    Call("two taps", of(1, 3, 8, 2, "bias"), "plain", PLAIN),
    Call("three taps from a state, silu", of(1, 3, 8, 3, "initial_state", activation="silu"),
         "plain", PLAIN),
    Call("one tap", of(1, 3, 5, 1, "bias", "initial_state"), "plain", PLAIN),
    Call("six taps", of(1, 2, 9, 6, "bias"), "plain", PLAIN),
    Call("one element from a state", of(3, 5, 1, 4, "bias", "initial_state", activation="silu"),
         "plain", PLAIN),
    Call("fewer elements than taps", of(2, 3, 2, 5, "initial_state"), "plain", PLAIN),
    Call("a long row", of(1, 1, 300, 4, "bias", "initial_state"), "sizes", PLAIN, quick=False),
    Call("many channels", of(1, 130, 2, 4, "bias", "initial_state", activation="silu"), "sizes",
         PLAIN, quick=False),
    Call("no elements", of(2, 3, 0, 4, "bias", "initial_state"), "empty", PLAIN),
    Call("no channels", of(2, 0, 3, 4, "bias"), "empty", PLAIN),
    Call("no batch", of(0, 2, 3, 4, "bias", "initial_state", activation="silu"), "empty", PLAIN),
]  # fmt: skip
KEPT = [
    replace(call, title=f"{call.title}, keeping a state",
            arguments={**call.arguments, "return_state": True})
    for call in CAUSAL if call.title in ("four taps", "from a state", "fewer elements than taps",
                                         "one element from a state", "no elements")
]  # fmt: skip


def back(call: Call) -> Call:
    """Return a call of the gradients: one of the result comes first."""
    finite = tuple(name for name in call.classes or FINITE if name != "special values")
    given = {"out_grad": Operand(call.arguments["x"].shape), **call.arguments}
    return replace(call, arguments=given, classes=finite)


def back_from_state(call: Call) -> Call:
    """Return a call of the gradients, also from the final state."""
    made, (batch, channels, _) = back(call), call.arguments["x"].shape
    late = Operand((batch, channels, call.arguments["weight"].shape[1] - 1))
    title = f"{call.title}, also from its state"
    return replace(made, title=title, arguments={**made.arguments, "final_state_grad": late})


declare("nn:causal_conv1d", [*CAUSAL, *KEPT], ALL)
declare(
    "nn:causal_conv1d_bwd",
    [*map(back, CAUSAL), *(back_from_state(c) for c in CAUSAL if "initial_state" in c.arguments)],
    FINITE,
)
