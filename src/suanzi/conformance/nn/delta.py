"""nn 12.2: cases of the gated delta rule."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from suanzi.conformance.cases.catalogues import IN_FLOAT32
from suanzi.conformance.nn._calls import STORED, Call, Operand, declare

ALL = ("ordinary", "whole numbers", "many magnitudes", "constant", "outliers", "special values")
FINITE = ALL[:-1]
PLAIN = ("ordinary",)


def of(
    batch: int, time: int, heads: tuple[int, int], depth: int, width: int, *more: str, **how: Any
) -> dict[str, Any]:
    """Return the arguments of a call; `heads` are those of keys and of values."""
    keys, values = heads
    found: dict[str, Any] = {
        "q": Operand((batch, time, keys, depth)),
        "k": Operand((batch, time, keys, depth), -1, 1),
        "v": Operand((batch, time, values, width)),
        "g": Operand((batch, time, values), -2, 0),
        "beta": Operand((batch, time, values), 0, 1),
    }
    if "state" in more:
        found["initial_state"] = Operand((batch, values, depth, width))
    if "norm" in more:
        found["use_qk_l2norm"] = True
    return {**found, **how}


RULE = [
    Call("normalised, from a state", of(2, 3, (1, 2), 4, 3, "state", "norm")),
    Call("from zeros", of(1, 4, (2, 2), 3, 2), "plain", (*PLAIN, "whole numbers")),
    Call("a scale", of(1, 3, (1, 1), 2, 5, "state", scale=-0.25), "plain",
         (*PLAIN, "special values")),
    Call("one step from a state", of(2, 1, (1, 3), 4, 3, "state", "norm"), "plain", PLAIN),
    Call("more columns than a panel", of(1, 2, (1, 1), 3, 37, "norm"), "plain", PLAIN),
    Call("more rows than columns", of(1, 2, (1, 1), 19, 2, "state", "norm"), "plain", PLAIN),
    Call("a long time", of(1, 70, (1, 1), 2, 3, "norm"), "sizes", PLAIN, quick=False),
    Call("many heads", of(1, 2, (5, 20), 3, 2, "norm"), "sizes", PLAIN, quick=False),
    Call("no time", of(2, 0, (1, 2), 3, 2, "state"), "empty", PLAIN),
    Call("no heads", of(2, 3, (0, 0), 3, 2), "empty", PLAIN),
    Call("no value heads", of(1, 2, (2, 0), 3, 2, "norm"), "empty", PLAIN),
    Call("no rows", of(1, 2, (1, 2), 0, 2), "empty", PLAIN),
    Call("no columns", of(1, 2, (1, 2), 3, 0, "norm"), "empty", PLAIN),
    Call("no batch", of(0, 2, (1, 2), 3, 2, "state"), "empty", PLAIN),
]  # fmt: skip
KEPT = [
    replace(call, title=f"{call.title}, keeping the state",
            arguments={**call.arguments, "return_state": True})
    for call in RULE if call.title in ("normalised, from a state", "from zeros", "a long time",
                                       "one step from a state", "no time", "no rows")
]  # fmt: skip


def back(call: Call) -> Call:
    """Return a call of the gradients: one of the result comes first."""
    finite = tuple(name for name in call.classes or FINITE if name != "special values")
    given = {"out_grad": Operand(call.arguments["v"].shape), **call.arguments}
    return replace(call, arguments=given, classes=finite)


def back_from_state(call: Call) -> Call:
    """Return a call of the gradients, also from the final state."""
    made, state = back(call), call.arguments["initial_state"]
    title = f"{call.title}, also from its state"
    return replace(made, title=title, arguments={**made.arguments, "final_state_grad": state})


def _kept(arguments: Mapping[str, Any]) -> str:
    return "float64" if arguments["v"].dtype == "float64" else "float32"


def _of_rule(arguments: Mapping[str, Any]) -> list[str]:
    states = [_kept(arguments)] if arguments.get("return_state") else []
    return [arguments["v"].dtype, *states]


def _of_gradients(arguments: Mapping[str, Any]) -> list[str]:
    own, kept = arguments["v"].dtype, _kept(arguments)
    return [own, own, own, kept, own, *([kept] if "initial_state" in arguments else [])]


STORED["nn:gated_delta_rule"] = _of_rule
STORED["nn:gated_delta_rule_bwd"] = _of_gradients
IN_FLOAT32["nn:gated_delta_rule"] = frozenset({"final_state"})
IN_FLOAT32["nn:gated_delta_rule_bwd"] = frozenset({"g_grad", "initial_state_grad"})

declare("nn:gated_delta_rule", [*RULE, *KEPT], ALL)
declare(
    "nn:gated_delta_rule_bwd",
    [*map(back, RULE), *(back_from_state(c) for c in RULE if "initial_state" in c.arguments)],
    FINITE,
)
