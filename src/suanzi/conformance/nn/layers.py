"""Cases of layers."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from suanzi.conformance.nn._calls import STORED, Call, Operand, declare

ALL = ("ordinary", "whole numbers", "many magnitudes", "constant", "outliers", "special values")


def _linear(x: tuple[int, ...], outputs: int, bias: bool = True) -> dict[str, Any]:
    made = {"x": Operand(x), "weight": Operand((outputs, x[-1]))}
    return made | ({"bias": Operand((outputs,))} if bias else {})


def _backward(x: tuple[int, ...], outputs: int, bias: bool = True) -> dict[str, Any]:
    return {"out_grad": Operand((*x[:-1], outputs)), **_linear(x, outputs, bias)}


for name, of in (("nn:linear", _linear), ("nn:linear_bwd", _backward)):
    declare(
        name,
        [
            Call("rows", of((3, 5), 4)),
            Call("one row", of((6,), 3), "plain", ("ordinary",)),
            Call("a batch without a bias", of((2, 2, 3), 2, bias=False), "plain", ("ordinary",)),
            Call("more than a tile", of((18, 20), 17), "sizes", ("ordinary",), quick=False),
            Call("no inputs", of((2, 0), 3), "empty"),
            Call("no rows", of((0, 3), 2), "empty"),
        ],
        ALL,
    )


def _index(shape: tuple[int, ...], *values: int, dtype: str = "int64") -> Operand:
    return Operand(shape, values=values, dtype=dtype)


_TABLES = (
    Call("rows", {"weight": Operand((5, 3)), "indices": _index((4,), 4, 0, 2, 2)}),
    Call(
        "a padding row",
        {"weight": Operand((4, 5)), "indices": _index((2, 3), 1, 1, 3, 1, 0, 3), "padding_idx": 3},
        classes=("ordinary",),
    ),
    Call(
        "indices of int32",
        {"weight": Operand((3, 2)), "indices": _index((2,), 2, 1, dtype="int32")},
        classes=("ordinary",),
    ),
    Call("no indices", {"weight": Operand((3, 2)), "indices": _index((0,))}, "empty"),
    Call("no columns", {"weight": Operand((3, 0)), "indices": _index((2,), 0, 2)}, "empty"),
)
declare("nn:embedding", _TABLES, ALL)
declare(
    "nn:embedding_bwd",
    [
        replace(
            call,
            arguments={
                "out_grad": Operand(
                    (*call.arguments["indices"].shape, call.arguments["weight"].shape[1])
                ),
                **call.arguments,
            },
        )
        for call in _TABLES
    ],
    ALL,
)
declare(
    "nn:one_hot",
    [
        Call("three classes", {"indices": Operand((2, 2), values=(0, 2, 1, 1)), "num_classes": 3}),
        Call("classes of the largest", {"indices": Operand((3,), values=(4, 0, 1))}),
        Call("no indices", {"indices": Operand((0,), values=()), "num_classes": 3}, "empty"),
    ],
)
STORED["nn:one_hot"] = lambda arguments: (str(arguments.get("dtype") or "int64").lower(),)

_MASK = Operand((5, 7), values=tuple(i * i % 5 > 1 for i in range(35)), dtype="bool")
for name, tensors in (("nn:dropout", ["x"]), ("nn:dropout_bwd", ["out_grad", "x"])):
    declare(
        name,
        [
            Call(f"p {p}", {**{t: Operand((5, 7)) for t in tensors}, "p": p, "mask": _MASK})
            for p in (0.5, 0.1)
        ]
        + [
            Call(
                "no elements",
                {
                    **{t: Operand((0, 3)) for t in tensors},
                    "p": 0.5,
                    "mask": Operand((0, 3), values=(), dtype="bool"),
                },
                "empty",
                ("ordinary",),
            )
        ],
        ALL,
    )
