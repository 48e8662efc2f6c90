"""The calls that kernels of the standard's operators are judged by, where inputs have a truth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from suanzi.conformance.nn._calls import Call, Operand

ALL = ("ordinary", "whole numbers", "many magnitudes", "outliers", "special values")
FEW = ("ordinary", "whole numbers", "many magnitudes")
_DOMAINS: Mapping[str, tuple[float, float]] = {
    "sqrt": (0.01, 9.0), "rsqrt": (0.01, 9.0), "log": (0.01, 9.0), "log2": (0.01, 9.0),
    "log10": (0.01, 9.0), "log1p": (-0.9, 9.0), "asin": (-1.0, 1.0), "acos": (-1.0, 1.0),
    "atanh": (-0.99, 0.99), "acosh": (1.0, 9.0), "reciprocal": (0.1, 4.0),
}  # fmt: skip
"""Where functions have values; other numbers are among the special ones."""
_BOUNDED = ("asin", "acos", "atanh", "acosh", "sinh", "cosh", "exp", "expm1", "tan", "sin", "cos")
"""Functions that many magnitudes would leave: of most numbers there is no value to see."""
CALLS: dict[str, tuple[Sequence[Call], Sequence[str]]] = {}


def _each(name: str, operand: str) -> None:
    low, high = _DOMAINS.get(name, (-4.0, 4.0))

    def of(*shape: int) -> Mapping[str, Any]:
        return {operand: Operand(shape, low, high)}

    calls = [
        Call("4 by 7", of(4, 7)),
        Call("2 by 3 by 5", of(2, 3, 5), classes=("ordinary",)),
        Call("no axes", of(), "plain", ("ordinary",)),
        Call("no elements", of(3, 0), "empty", ("ordinary",)),
    ]
    CALLS[name] = calls, ("ordinary", "special values") if name in _BOUNDED else ALL


def _pairs(
    name: str, classes: Sequence[str] = ALL, second_range: tuple[float, float] = (-4.0, 4.0)
) -> None:
    def of(a: tuple[int, ...], b: tuple[int, ...]) -> Mapping[str, Any]:
        second = "e" if name == "pow" else "y"
        first = Operand(a, 0.1, 4.0) if name == "pow" else Operand(a)
        return {"x": first, second: Operand(b, *second_range)}

    CALLS[name] = [
        Call("4 by 7", of((4, 7), (4, 7))),
        *(Call(f"broadcast {i}", of(a, b), "broadcast", ("ordinary",))
          for i, (a, b) in enumerate([((3, 1), (1, 4)), ((4,), (2, 3, 4)), ((2, 1, 3), (4, 1)),
                                      ((), (5,))], 1)),
        Call("no elements", of((3, 0), (3, 0)), "empty", ("ordinary",)),
    ], classes  # fmt: skip


for _name in ("add", "sub", "mul", "max", "min", "equal", "not_equal", "greater", "greater_equal",
              "less", "less_equal", "logical_and", "logical_or", "logical_xor"):  # fmt: skip
    _pairs(_name)
for _name in ("div", "true_divide", "floordiv", "mod"):
    _pairs(_name, FEW, (0.5, 4.0))
_pairs("pow", ("ordinary", "whole numbers"), (-3.0, 3.0))
for _name in ("abs", "reciprocal", "square", "sqrt", "rsqrt", "floor", "ceil", "trunc", "round",
              "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh",
              "atanh", "exp", "expm1", "log", "log1p", "log10", "log2", "logical_not"):  # fmt: skip
    _each(_name, "x")
for _name in ("sign", "is_nan", "is_inf", "is_finite"):
    _each(_name, "input")
CALLS["muladd"] = [Call("4 by 7", {n: Operand((4, 7)) for n in ("x", "y", "a")})], FEW
CALLS["clip"] = [Call("4 by 7", {"input": Operand((4, 7)), "low": -1.0, "high": 2.0})], ALL
CALLS["where"] = [
    Call("4 by 7", {"condition": Operand((4, 7), 0, 1, dtype="bool"), "x": Operand((4, 7)),
                    "y": Operand((4, 7))}),
], ALL  # fmt: skip
_ROWS: Mapping[str, Any] = {"input": Operand((5, 7))}
CALLS["reduce"] = [
    Call("all", _ROWS),
    Call("rows", {**_ROWS, "axis": -1}),
    Call("largest of columns", {**_ROWS, "axis": 0, "mode": "MAX"}),
    Call("means of rows", {**_ROWS, "axis": -1, "mode": "MEAN", "keep_dims": True}),
], ALL  # fmt: skip
CALLS["cumsum"] = [
    Call("a row", {"input": Operand((7,))}), Call("columns", {**_ROWS, "axis": 0}),
], FEW  # fmt: skip
for _name in ("argmax", "argmin"):
    CALLS[_name] = [Call("rows", {**_ROWS, "axis": -1}), Call("columns", {**_ROWS, "axis": 0})], (
        "ordinary", "many magnitudes", "whole numbers",
    )  # fmt: skip
CALLS["matmul"] = [
    Call("5 by 7 by 6", {"mat1": Operand((5, 7)), "mat2": Operand((7, 6))}),
    Call("batches", {"mat1": Operand((2, 3, 7)), "mat2": Operand((2, 7, 4))}, "broadcast", FEW),
    Call("nothing inside", {"mat1": Operand((3, 0)), "mat2": Operand((0, 4))}, "empty", FEW[:1]),
], FEW  # fmt: skip
CALLS["dot"] = [Call("7", {"vec1": Operand((7,)), "vec2": Operand((7,))})], FEW
CALLS["trace"] = [Call("5 by 7", {"x": Operand((5, 7))})], FEW
CALLS["norm"] = [
    Call("largest", _ROWS), Call("2 of rows", {**_ROWS, "normtype": "2", "axis": -1}),
    Call("1 of columns", {**_ROWS, "normtype": "1", "axis": 0}),
], FEW  # fmt: skip
CALLS["flip"] = [Call("rows", {**_ROWS, "axis": -1})], ("ordinary",)
CALLS["transpose"] = [Call("5 by 7", _ROWS)], ("ordinary",)
CALLS["roll"] = [Call("rows", {**_ROWS, "shifts": 2, "axis": -1})], ("ordinary",)
CALLS["tile"] = [Call("5 by 7", {**_ROWS, "repeats": [2, 3]})], ("ordinary",)
