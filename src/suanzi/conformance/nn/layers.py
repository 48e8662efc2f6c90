"""Cases of layers."""

from __future__ import annotations

from typing import Any

from suanzi.conformance.nn._calls import Call, Operand, declare

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
