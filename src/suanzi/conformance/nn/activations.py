"""Cases of activations and their gradients."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from suanzi.conformance.nn._calls import Call, Operand, declare

CLASSES = ("ordinary", "many magnitudes", "outliers", "special values")

PARAMETERS: dict[str, Sequence[dict[str, Any]]] = {
    "leaky_relu": ({"negative_slope": 0.25},),
    "elu": ({"alpha": 0.5},),
    "celu": ({"alpha": 0.5},),
    "gelu": ({"approximate": "tanh"},),
    "geglu": ({"approximate": "tanh"},),
    "softplus": ({"beta": 2.0, "threshold": 5.0},),
    "hardtanh": ({"min_val": -0.5, "max_val": 2.0},),
}
"""What else is given, in a call of its own."""


def _calls(name: str, tensors: Sequence[str]) -> list[Call]:
    def of(*shape: int) -> dict[str, Any]:
        return {tensor: Operand(shape) for tensor in tensors}

    return [
        Call("rows of 7", of(5, 7)),
        *(
            Call(f"rows of 7, {', '.join(f'{k} {v}' for k, v in given.items())}", of(5, 7) | given,
                 classes=("ordinary", "special values"))
            for given in PARAMETERS.get(name, ())
        ),
        *(
            Call(f"{n} elements", of(n), "sizes", ("ordinary",), quick=n == 33)
            for n in (1, 33, 129)
        ),
        Call("no axes", of(), "sizes", ("ordinary",)),
        Call("no elements", of(3, 0), "empty", ("ordinary",)),
    ]  # fmt: skip


for _name in (
    "relu", "relu6", "relu_squared", "leaky_relu", "elu", "selu", "celu", "gelu", "quick_gelu",
    "silu", "sigmoid", "log_sigmoid", "erf", "erfc", "softplus", "softsign", "mish", "hardswish",
    "hardsigmoid", "hardtanh",
):  # fmt: skip
    declare(f"nn:{_name}", _calls(_name, ["x"]), CLASSES)
    declare(f"nn:{_name}_bwd", _calls(_name, ["out_grad", "x"]), CLASSES)
for _name in ("swiglu", "geglu"):
    declare(f"nn:{_name}", _calls(_name, ["gate", "up"]), CLASSES)
    declare(f"nn:{_name}_bwd", _calls(_name, ["out_grad", "gate", "up"]), CLASSES)

declare(
    "nn:glu",
    [
        Call("rows of 8", {"x": Operand((5, 8))}),
        Call("columns", {"x": Operand((6, 5)), "axis": 0}, classes=("ordinary",)),
        Call("no elements", {"x": Operand((3, 0))}, "empty", ("ordinary",)),
    ],
    CLASSES,
)
declare(
    "nn:glu_bwd",
    [
        Call("rows of 8", {"out_grad": Operand((5, 4)), "x": Operand((5, 8))}),
        Call(
            "columns",
            {"out_grad": Operand((3, 5)), "x": Operand((6, 5)), "axis": 0},
            classes=("ordinary",),
        ),
    ],
    CLASSES,
)
_SHAPES = {
    "channels": ((3, 4, 2), (4,)), "one weight": ((3, 4), (1,)), "one axis": ((5,), (5,)),
    "no rows": ((0, 3), (3,)),
}  # fmt: skip
for _backward in (False, True):
    declare(
        "nn:prelu_bwd" if _backward else "nn:prelu",
        [
            Call(
                title,
                ({"out_grad": Operand(x)} if _backward else {})
                | {"x": Operand(x), "weight": Operand(weight)},
                "plain" if 0 not in x else "empty",
                None if title == "channels" else ("ordinary",),
            )
            for title, (x, weight) in _SHAPES.items()
        ],
        CLASSES,
    )
