"""Cases of softmax, its logarithm and the logarithm of a sum of exponentials."""

from __future__ import annotations

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

declare("nn:softmax", ROWS, ALL)
