"""Cases of softmax, its logarithm and the logarithm of a sum of exponentials."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from suanzi.conformance.nn._calls import Call, Operand, declare

ALL = ("ordinary", "whole numbers", "many magnitudes", "constant", "outliers", "special values")
ROWS = [
    Call("rows of 7", {"x": Operand((5, 7))}),
    Call("columns", {"x": Operand((6, 5)), "axis": 0}),
    Call("axis in the middle", {"x": Operand((2, 4, 3)), "axis": 1}),
    *(Call(f"a row of {n}", {"x": Operand((2, n))}, "sizes", ("ordinary",), quick=n < 100)
      for n in (1, 31, 33, 129)),
    Call("no elements", {"x": Operand((3, 0))}, "empty"),
    Call("no rows", {"x": Operand((0, 3))}, "empty"),
]  # fmt: skip
INFINITE = Operand((3, 3), values=tuple(map(float, "-inf -inf -inf inf 1 2 -inf 1 2".split())))
MASKED = Call("rows of -inf, with inf and with -inf", {"x": INFINITE}, "special", ("ordinary",))
FINITE = tuple(name for name in ALL if name != "special values")


def with_gradient(call: Call, reduces: bool = False) -> Call:
    """Return the call of a gradient: one of the result comes first."""
    x: Any = call.arguments["x"]
    axis = call.arguments.get("axis", -1) % len(x.shape)
    shape = tuple(n for a, n in enumerate(x.shape) if not reduces or a != axis)
    return replace(call, arguments={"out_grad": Operand(shape), **call.arguments})


declare("nn:softmax", [*ROWS, MASKED], ALL)
declare("nn:log_softmax", [*ROWS, MASKED], ALL)
declare(
    "nn:logsumexp",
    [*ROWS, MASKED, Call("kept", {"x": Operand((3, 4)), "axis": 0, "keep_dims": True})],
    ALL,
)
declare("nn:softmax_bwd", [with_gradient(call) for call in ROWS], ALL)
declare("nn:log_softmax_bwd", [with_gradient(call) for call in ROWS], ALL)
declare("nn:logsumexp_bwd", [with_gradient(call, reduces=True) for call in ROWS], FINITE)

NOISY = [
    Call("rows of 7", {"x": Operand((5, 7)), "noise": Operand((5, 7)), "tau": 0.5}),
    Call(
        "columns",
        {"x": Operand((6, 5)), "noise": Operand((6, 5)), "tau": 2.0, "axis": 0},
        classes=("ordinary",),
    ),
    Call("no rows", {"x": Operand((0, 3)), "noise": Operand((0, 3))}, "empty", ("ordinary",)),
]
declare("nn:gumbel_softmax", NOISY, FINITE)
declare("nn:gumbel_softmax_bwd", [with_gradient(call) for call in NOISY], FINITE)
