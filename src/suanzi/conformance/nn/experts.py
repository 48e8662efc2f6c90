"""Cases of mixtures of experts."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from suanzi.conformance.nn._calls import Call, Operand, declare

ALL = ("ordinary", "whole numbers", "many magnitudes", "constant", "outliers", "special values")
PLAIN = ("ordinary",)


def _gates(shape: tuple[int, ...], k: int, **more: Any) -> dict[str, Any]:
    return {"logits": Operand(shape), "k": k, **more}


SIGMOID: dict[str, Any] = {"scoring": "sigmoid"}
SHARES: dict[str, Any] = {"renormalize": True}
GATES = [
    Call("two of eight", _gates((5, 8), 2)),
    Call("two of eight, renormalised", _gates((5, 8), 2, **SHARES)),
    Call("sigmoid", _gates((5, 8), 3, **SIGMOID)),
    Call("sigmoid, renormalised", _gates((5, 8), 3, **SIGMOID, **SHARES)),
    Call("all experts", _gates((3, 4), 4), classes=("ordinary", "whole numbers")),
    Call("one expert", _gates((2, 3, 4), 1, **SHARES), classes=("ordinary", "whole numbers")),
    Call("no batch", _gates((6,), 2), classes=PLAIN),
    Call("many experts", _gates((3, 70), 8), "sizes", PLAIN, quick=False),
    Call("no tokens", _gates((0, 4), 2), "empty", PLAIN),
]
declare("nn:moe_gating", GATES, ALL)
declare(
    "nn:moe_gating_bwd",
    [
        replace(
            call,
            arguments={
                "out_grad": Operand((*call.arguments["logits"].shape[:-1], call.arguments["k"])),
                **call.arguments,
            },
        )
        for call in GATES
    ],
    tuple(name for name in ALL if name != "special values"),
)


def _experts(shape: tuple[int, ...], *values: int) -> Operand:
    return Operand(shape, values=values)


declare(
    "nn:moe_permutation",
    [
        Call("two of four", {"indices": _experts((3, 2), 2, 0, 0, 2, 2, 1), "num_experts": 4}),
        Call("one expert", {"indices": _experts((4,), 1, 1, 1, 1), "num_experts": 3}),
        Call(
            "three axes",
            {"indices": _experts((2, 3, 2), *(i * i % 7 for i in range(12))), "num_experts": 7},
        ),
        Call(
            "many tokens",
            {"indices": _experts((300,), *(i * i % 97 for i in range(300))), "num_experts": 97},
            "sizes",
            dtypes=("int8", "int32", "int64", "uint8"),
        ),
        Call("no tokens", {"indices": _experts((0, 2)), "num_experts": 3}, "empty"),
        Call("no experts", {"indices": _experts((0,)), "num_experts": 0}, "empty"),
    ],
)


def _groups(inputs: int, outputs: int, *sizes: int, dtype: str = "int64") -> dict[str, Any]:
    return {
        "x": Operand((sum(sizes), inputs)),
        "weight": Operand((len(sizes), inputs, outputs)),
        "group_sizes": Operand((len(sizes),), values=sizes, dtype=dtype),
    }


GROUPS = [
    Call("three groups", _groups(5, 4, 2, 1, 3)),
    Call("groups without rows", _groups(3, 2, 0, 4, 0, 1, 0), classes=PLAIN),
    Call("sizes of int32", _groups(3, 2, 1, 2, dtype="int32"), classes=PLAIN),
    Call("one group", _groups(4, 3, 3), classes=PLAIN),
    Call("more than a tile", _groups(20, 18, 17, 0, 19), "sizes", PLAIN, quick=False),
    Call("no rows", _groups(3, 2, 0, 0), "empty", PLAIN),
    Call("no inputs", _groups(0, 2, 1, 2), "empty", PLAIN),
    Call("no outputs", _groups(2, 0, 1, 2), "empty", PLAIN),
    Call("no groups", _groups(2, 3), "empty", PLAIN),
]
declare("nn:grouped_matmul", GROUPS, ALL)
declare(
    "nn:grouped_matmul_bwd",
    [
        replace(
            call,
            arguments={
                "out_grad": Operand(
                    (call.arguments["x"].shape[0], call.arguments["weight"].shape[2])
                ),
                **call.arguments,
            },
        )
        for call in GROUPS
    ],
    ALL,
)
