"""The calls that kernels of the standard's operators are judged by, where inputs have a truth."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from suanzi.conformance.model.numbers import FORMATS, INTEGERS, PARTS, SUBBYTE
from suanzi.conformance.nn._calls import Call, Operand

_ORDERED = ("bool", *INTEGERS, *SUBBYTE, *FORMATS)
"""The dtypes whose numbers have an order."""
_NUMERIC = (*INTEGERS, *SUBBYTE, *FORMATS, *PARTS)
DTYPE = object()
"""An argument of a call that is the dtype of the case."""
ALL = ("ordinary", "whole numbers", "many magnitudes", "outliers", "special values")
FEW = ("ordinary", "whole numbers", "many magnitudes")
_DOMAINS: Mapping[str, tuple[float, float]] = {
    "sqrt": (0.01, 9.0), "rsqrt": (0.01, 9.0), "log": (0.01, 9.0), "log2": (0.01, 9.0),
    "log10": (0.01, 9.0), "log1p": (-0.9, 9.0), "asin": (-1.0, 1.0), "acos": (-1.0, 1.0),
    "atanh": (-0.99, 0.99), "acosh": (1.0, 9.0), "reciprocal": (0.1, 4.0),
}  # fmt: skip
"""Where functions have values; other numbers are among the special ones."""
_WIDE, _HALF = ("float32", "bfloat16"), ("float16",)
_FAR: Mapping[str, Sequence[tuple[float, tuple[str, ...]]]] = {
    **dict.fromkeys(("exp", "expm1"), ((88.7, _WIDE), (11.0, _HALF))),
    **dict.fromkeys(("sinh", "cosh"), ((89.3, _WIDE), (11.7, _HALF))),
    **dict.fromkeys(("sin", "cos", "tan"), ((1000.0, (*_WIDE, *_HALF)),)),
}
"""How far functions have values that a dtype has, too: short ways there stop before."""
_BOUNDED = ("asin", "acos", "atanh", "acosh", "sinh", "cosh", "exp", "expm1", "tan", "sin", "cos")
"""Functions that many magnitudes would leave: of most numbers there is no value to see."""
CALLS: dict[str, tuple[Sequence[Call], Sequence[str]]] = {}
_LONG = 300


def _masked(name: str) -> Call:
    """Return rows of which some elements are minus infinity, as masks make them."""
    numbers = [6 * (37 * i * i % 997) / 997 - 3 for i in range(_LONG)]
    hidden = [range(160), range(140, _LONG), range(0, _LONG, 2)]
    rows = [-math.inf if i in row else x for row in hidden for i, x in enumerate(numbers)]
    return Call("masked", {name: Operand((3, _LONG), values=tuple(rows))}, "special", ("ordinary",))


MORE: dict[str, Sequence[Call]] = {
    **{f"nn:{name}": [_masked("x")] for name in ("softmax", "log_softmax", "logsumexp")},
    "nn:linear": [
        Call("133 outputs", {"x": Operand((70, 7)), "weight": Operand((133, 7)),
                             "bias": Operand((133,))}, "sizes", ("ordinary",)),
    ],
    "nn:scaled_dot_product_attention": [
        Call("heads of one width", {"q": Operand((1, 2, 5, 8)), "k": Operand((1, 2, 7, 8)),
                                    "v": Operand((1, 2, 7, 8))}),
        Call("keys past a tile", {"q": Operand((1, 2, 133, 8)), "k": Operand((1, 2, 149, 8)),
                                  "v": Operand((1, 2, 149, 8))}, "sizes", ("ordinary",)),
    ],
}  # fmt: skip
"""Calls before those of the kit: the form that most kernels are written for, and
results larger than a tile."""


def _each(name: str, operand: str) -> None:
    low, high = _DOMAINS.get(name, (-4.0, 4.0))

    def of(*shape: int) -> Mapping[str, Any]:
        return {operand: Operand(shape, low, high)}

    calls = [
        Call("4 by 7", of(4, 7)),
        Call("13 by 7", of(13, 7), classes=("special values",)),  # both infinities are in it
        Call("2 by 3 by 5", of(2, 3, 5), classes=("ordinary",)),
        Call("no axes", of(), "plain", ("ordinary",)),
        Call("no elements", of(3, 0), "empty", ("ordinary",)),
        *(
            Call(f"up to {most:g}", {operand: Operand((4, 33), -most, most)}, "random",
                 ("ordinary",), dtypes)
            for most, dtypes in _FAR.get(name, ())
        ),
    ]  # fmt: skip
    CALLS[name] = calls, ("ordinary", "special values") if name in _BOUNDED else ALL


def _pairs(
    name: str, classes: Sequence[str] = ALL, second_range: tuple[float, float] = (-4.0, 4.0)
) -> None:
    def of(a: tuple[int, ...], b: tuple[int, ...]) -> Mapping[str, Any]:
        second = "e" if name == "pow" else "y"
        first = Operand(a, 0.1, 4.0) if name == "pow" else Operand(a)
        return {"x": first, second: Operand(b, *second_range)}

    special = [Call("13 by 7", of((13, 7), (13, 7)), classes=("special values",))]
    CALLS[name] = [
        Call("4 by 7", of((4, 7), (4, 7))),
        *(special if "special values" in classes else ()),
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
CALLS["round"] = [
    *CALLS["round"][0],
    Call("halves", {"x": Operand((2, 6), values=(0.5, 1.5, 2.5, 3.5, 4.5, 5.5,
                                                 -0.5, -1.5, -2.5, -3.5, -4.5, 7.25))},
         "special", ("ordinary",)),
], ALL  # fmt: skip
for _name in ("sign", "is_nan", "is_inf", "is_finite"):
    _each(_name, "input")
CALLS["muladd"] = [Call("4 by 7", {n: Operand((4, 7)) for n in ("x", "y", "a")})], FEW
CALLS["clip"] = [
    Call("4 by 7", {"input": Operand((4, 7)), "low": -1.0, "high": 2.0}, dtypes=tuple(FORMATS)),
], ALL  # fmt: skip
CALLS["where"] = [
    Call("4 by 7", {"condition": Operand((4, 7), 0, 1, dtype="bool"), "x": Operand((4, 7)),
                    "y": Operand((4, 7))}),
], ALL  # fmt: skip
_ROWS: Mapping[str, Any] = {"input": Operand((5, 7))}
CALLS["reduce"] = [
    Call("all", _ROWS),
    Call("rows", {**_ROWS, "axis": -1}),
    Call("largest of columns", {**_ROWS, "axis": 0, "mode": "MAX"}, dtypes=_ORDERED),
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
    Call("70 by 7 by 133", {"mat1": Operand((70, 7)), "mat2": Operand((7, 133))}, "sizes", FEW[:1]),
    Call("nothing inside", {"mat1": Operand((3, 0)), "mat2": Operand((0, 4))}, "empty", FEW[:1]),
], FEW  # fmt: skip
CALLS["dot"] = [Call("7", {"vec1": Operand((7,)), "vec2": Operand((7,))})], FEW
CALLS["trace"] = [Call("5 by 7", {"x": Operand((5, 7))})], FEW
CALLS["norm"] = [
    Call("largest", _ROWS), Call("2 of rows", {**_ROWS, "normtype": "2", "axis": -1}),
    Call("1 of columns", {**_ROWS, "normtype": "1", "axis": 0}),
], FEW  # fmt: skip
_ONLY = ("ordinary",)
_MOVES: Mapping[str, Sequence[tuple[str, Mapping[str, Any]]]] = {
    "reverse": [("both axes", {**_ROWS, "axis": [0, 1]})],
    "expand_dims": [("between", {**_ROWS, "axis": 1})],
    "squeeze": [("the middle", {"input": Operand((5, 1, 7)), "axis": 1})],
    "flatten": [("the last two", {"input": Operand((2, 3, 7)), "start_axis": 1, "stop_axis": 2})],
    "expand": [("rows", {"input": Operand((1, 7)), "shape": [5, 7]})],
    "reshape": [("7 by 5", {**_ROWS, "dims": [7, 5]})],
    "slice": [("every second", {**_ROWS, "begin": [1, 1], "size": [3, 5], "step": [1, 2]})],
    "crop": [("3 by 4", {**_ROWS, "shape": [3, 4], "offsets": [1, 2]})],
    "pad": [("with a value", {**_ROWS, "pad_width": [1, 2, 0, 3], "pad_value": 1}),
            ("mirrored", {**_ROWS, "pad_width": [1, 1, 2, 2], "pad_mode": "PAD_MIRROR"})],
    "gather": [("rows", {**_ROWS, "index": Operand((4,), values=(3, 0, 4, 0), dtype="int64")})],
    "argsort": [("rows", {**_ROWS, "axis": -1}), ("columns up", {**_ROWS, "axis": 0,
                                                                "descending": False})],
    "topk": [("3 of rows", {**_ROWS, "k": 3, "axis": -1})],
    "interpolate": [("nearest", {"input": Operand((2, 3, 5)), "size": 7}),
                    ("linear", {"input": Operand((2, 3, 5)), "size": 8, "mode": "linear"}),
                    ("means", {"input": Operand((2, 3, 7)), "size": 3, "mode": "area"})],
}  # fmt: skip
for _name, _calls in _MOVES.items():
    CALLS[_name] = [Call(title, given) for title, given in _calls], _ONLY
CALLS["diag"] = (
    [
        Call(f"{n}", {"input": Operand((n,))}, "sizes")
        for n in (1, 2, 3, 4, 7, 8, 12, 16, 33, 64, 129)
    ],
    _ONLY,
)
CALLS["scatter"] = [
    Call(title, {**_ROWS, "index": Operand((3,), values=(2, 0, 2), dtype="int64"),
                 "updates": Operand((3, 7)), "override": override},
         dtypes=None if override else _NUMERIC)
    for title, override in (("written", True), ("added", False))
], ("ordinary", "whole numbers")  # fmt: skip
CALLS["bilinear"] = [Call("4 rows", {
    "x": Operand((4, 3)), "y": Operand((4, 5)), "weight": Operand((2, 3, 5)),
    "bias": Operand((2,))})], FEW  # fmt: skip
CALLS["linear_bwd_weight"] = [Call("5 rows", {
    "out_grad": Operand((5, 3)), "input": Operand((5, 7))})], FEW  # fmt: skip
CALLS["linear_bwd_in"] = [Call("5 rows", {
    "out_grad": Operand((5, 3)), "weight": Operand((3, 7))})], FEW  # fmt: skip
CALLS["cumsum_bwd"] = [Call("columns", {"out_grad": Operand((5, 7)), "axis": 0})], FEW
CALLS["reduce_bwd"] = [
    Call(f"{mode} of rows", {"out_grad": Operand((5,)), **_ROWS, "mode": mode, "axis": 1},
         dtypes=dtypes)
    for mode, dtypes in (("SUM", _NUMERIC), ("MEAN", tuple(FORMATS)), ("MAX", tuple(FORMATS)),
                         ("PROD", _NUMERIC))
], ("ordinary",)  # fmt: skip
CALLS["reduce_bwd"] = [*CALLS["reduce_bwd"][0], *(
    Call(f"{n} rows of bool", {"out_grad": Operand((n,), dtype="int64"), "input": Operand((n, 7)),
                               "mode": "SUM", "axis": 1}, "sizes", dtypes=("bool",))
    for n in (2, 3, 4, 8, 16, 33)
)], ("ordinary",)  # fmt: skip
CALLS["flip"] = [Call("rows", {**_ROWS, "axis": -1})], ("ordinary",)
CALLS["transpose"] = [Call("5 by 7", _ROWS)], ("ordinary",)
CALLS["roll"] = [Call("rows", {**_ROWS, "shifts": 2, "axis": -1})], ("ordinary",)
CALLS["tile"] = [Call("5 by 7", {**_ROWS, "repeats": [2, 3]})], ("ordinary",)
_SHAPES = ((7,), (2, 3), (4, 1), (2, 3, 5), (33,), (16, 16), (1, 129), (2, 1, 3, 4), (1023,), ())


def _by(shape: Sequence[int]) -> str:
    return "x".join(map(str, shape)) or "no axes"


def _numbers(count: int, most: int, seed: int, last: int = 1) -> tuple[int, ...]:
    """Return whole numbers from 0 to `most`, in no order."""
    return (*((i * i * 7 + i * seed + 3) % 101 % (most + 1) for i in range(count - 1)), last)


for _name in ("shape", "size", "rank", "contiguous", "duplicate", "conj", "real", "imag"):
    CALLS[_name] = (
        [
            Call(_by(shape), {"input": Operand(shape)}, "sizes", _ONLY)
            for shape in (*_SHAPES, (3, 0), (8, 4, 2), (1, 1))
        ],
        _ONLY,
    )
CALLS["clip_backward"] = [
    Call(f"{_by(shape)}{' of ' + of if of else ''}", {
        "grad_out": Operand(shape), "low": 1, "high": 3,
        "input": Operand(shape, values=_numbers(math.prod(shape), 5, 1), dtype=of or None)},
        "sizes", _ONLY, (whole,) if whole else _ORDERED)
    for whole, of in (("", ""), *PARTS.items())
    for shape in ((12,), (3, 5), (4, 7), (2, 3, 5), (33,), (16, 16), (2, 65), (9, 4), (5, 5))
], _ONLY  # fmt: skip
CALLS["slice_backward"] = [
    Call(f"from column {k} of {_by((rows, columns))}", {
        "grad_out": Operand((rows, columns - k)), "input": Operand((rows, columns)),
        "begin": [0, k], "size": [rows, columns - k], "step": [1, 1]}, "sizes", _ONLY)
    for rows, columns in ((3, 5), (4, 9), (2, 33), (7, 8)) for k in (1, 2, 4)
], _ONLY  # fmt: skip
CALLS["lstsq"] = [
    Call(f"{m} by 1, {_by(sides)} sides", {
        "mat": Operand((m, 1), 0.5, 4.0), "rhs": Operand((m, *sides), 0.5, 4.0)}, "sizes", _ONLY)
    for m in (1, 2, 3, 5) for sides in ((), (1,), (2,), (3,))
], _ONLY  # fmt: skip
for _name, _more in (("zeros", {}), ("full", {"value": 1})):
    CALLS[_name] = (
        [
            Call(
                f"{_by(shape)} from the judge",
                {"dtype": DTYPE, "shape": [*shape], **_more},
                "sizes",
            )
            for shape in (*_SHAPES, (5, 2))
        ],
        _ONLY,
    )
CALLS["range"] = [
    Call(f"{first} to {last} by {step}",
         {"dtype": DTYPE, "start": first, "limit": last, "step": step}, "sizes")
    for first in (0, 1, 0.0, 1.0) for last in (1, 1.0) for step in (1, 1.0)
], _ONLY  # fmt: skip
CALLS["linspace"] = [
    Call(f"{num} from {first} to {last}",
         {"dtype": DTYPE, "start": first, "stop": last, "num": num}, "sizes")
    for first, last in ((0, 1), (-3, 5), (2, -2)) for num in (2, 5, 33, 129)
], _ONLY  # fmt: skip
for _name in ("equal", "not_equal", "greater", "greater_equal", "less", "less_equal",
              "logical_and", "logical_or", "logical_xor", "logical_not"):  # fmt: skip
    CALLS[_name] = [*CALLS[_name][0], *(
        Call(f"few numbers, {_by(shape)}", {
            name: Operand(shape, values=_numbers(math.prod(shape), 2, seed))
            for name, seed in (("x", 1), ("y", 5))[: 1 + (_name != "logical_not")]
        }, "sizes", _ONLY)
        for shape in ((12,), (3, 5), (4, 7), (2, 3, 5), (33,), (16, 16), (2, 65), (9, 4), (5, 5))
    )], CALLS[_name][1]  # fmt: skip


def _experts(count: int, width: int) -> Call:
    """Return tokens of which each expert has one more than the expert before it."""
    chosen = [e for e in range(count) for _ in range((e + 1) * width)]
    order = sorted(range(len(chosen)), key=lambda i: (i * 37 % 101, i))
    values = tuple(chosen[i] for i in order)
    shape = (len(values) // width, width)
    return Call(
        f"{count} experts, {width} of each token",
        {"indices": Operand(shape, values=values), "num_experts": count},
        "sizes",
        _ONLY,
    )


MORE = {
    **MORE,
    "nn:moe_permutation": [_experts(n, k) for n in (2, 3, 4, 5, 8, 11) for k in (1, 2)],
    "nn:one_hot": [
        Call(f"{classes} classes, {_by(shape)}", {
            "indices": Operand(
                shape, values=_numbers(math.prod(shape), classes - 1, 3, classes - 1)),
            "num_classes": classes}, "sizes", _ONLY)
        for shape, classes in (((5,), 3), ((2, 3), 4), ((33,), 7), ((4, 1), 2), ((2, 2, 2), 5),
                               ((129,), 31), ((1,), 2), ((16, 8), 64), ((7,), 100), ((3, 5), 8))
    ],
    "nn:conv_transpose3d_bwd": [
        Call("planes of 3 by 2", {
            "out_grad": Operand((2, 3, 3, 4, 3)), "x": Operand((2, 2, 2, 3, 2)),
            "weight": Operand((2, 3, 2, 2, 2))}, "sizes", FEW),
    ],
    **{f"nn:adaptive_{name}_pool1d_bwd": [
        Call(f"{n} windows of {n * k}", {"out_grad": Operand((2, 3, n)),
                                         "x": Operand((2, 3, n * k)), "output_size": n},
             "sizes", FEW) for n, k in ((4, 2), (5, 1), (8, 2))
    ] for name in ("avg", "max")},
    **{f"nn:{name}_pool3d_bwd": [
        Call(f"windows to the end of {2 * n}", {
            "out_grad": Operand((1, 2, 2, 2, n)), "x": Operand((1, 2, 4, 4, 2 * n)),
            "kernel_size": 2}, "sizes", FEW) for n in (2, 3, 5)
    ] for name in ("avg", "max")},
    "nn:glu": [Call(f"{_by(shape)}", {"x": Operand(shape)}, "sizes", FEW)
               for shape in ((4, 8), (2, 66), (3, 5, 2), (1, 256), (133, 4))],
    "nn:glu_bwd": [
        Call(f"{_by(shape)}", {"out_grad": Operand((*shape[:-1], shape[-1] // 2)),
                               "x": Operand(shape)}, "sizes", FEW)
        for shape in ((4, 8), (2, 66), (3, 5, 2), (1, 256), (133, 4))
    ],
}  # fmt: skip
