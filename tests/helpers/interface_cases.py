"""A call of each interface that succeeds, and what to change in it for each status of its clause.

The text is looked at as a table: name, then arguments. `X` and the like stand for fresh tensors.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import suanzi as sz
from suanzi.status import Status

Arguments = dict[str, Any]


def real() -> sz.Tensor:
    return sz.tensor([[0.5, 0.25, 1.0], [0.125, 0.75, 0.5]])


def whole() -> sz.Tensor:
    return sz.tensor([[1, 2, 3], [4, 5, 6]], sz.int32)


def truth() -> sz.Tensor:
    return sz.tensor([[True, False, True], [False, True, True]])


def square() -> sz.Tensor:
    return sz.tensor([[4.0, 1.0], [1.0, 3.0]])


def signal() -> sz.Tensor:
    return sz.tensor([[1 + 2j, 0.5j, -1], [2, 1j, 3 - 1j]])


def ones(*shape: int) -> sz.Tensor:
    return sz.full("float32", "cpu", shape, 1)


def text() -> sz.Tensor:
    return sz.tensor("text")


_UNARY = """abs reciprocal logical_not sqrt rsqrt square floor ceil trunc round sin cos tan asin
    acos atan sinh cosh tanh asinh atanh exp expm1 log log1p log10 log2""".split()
_BINARY = """add sub mul div floordiv true_divide mod max min equal not_equal greater greater_equal
    less less_equal allclose logical_and logical_or logical_xor""".split()
_BITWISE = "bitwise_and bitwise_or bitwise_xor".split()

VALID: dict[str, Callable[[], Arguments]] = {
    "create_tensor": lambda: {"shape": (2,), "values": [1.0, 2.0]},
    "wrap_tensor": lambda: {"shape": (2, 3), "values": real()},
    "zeros": lambda: {"shape": (2,)},
    "full": lambda: {"shape": (2,), "value": 3},
    "empty": lambda: {"shape": (2,)},
    "contiguous": lambda: {"input": real()},
    "rand_uniform": lambda: {"shape": (2,), "min": 0, "max": 1},
    "rand_normal": lambda: {"shape": (2,)},
    "rand_bernoulli": lambda: {"input": real()},
    "multinomial": lambda: {"input": real()},
    "randperm": lambda: {"len": 4},
    "range": lambda: {"start": 0, "limit": 3, "step": 1},
    "linspace": lambda: {"start": 0, "stop": 1, "num": 3},
    "create_sparse_tensor": lambda: {"shape": (2, 3), "indices": [[0, 1]], "values": [1.0]},
    "create_quant_tensor": lambda: {"shape": (2,), "values": [1, 2], "scale": 0.5},
    "duplicate": lambda: {"input": real()},
    "diag": lambda: {"input": real()[0]},
    "destroy": lambda: {"input": real()},
    **dict.fromkeys(
        "shape is_finite is_inf is_nan size rank is_contiguous sign".split(),
        lambda: {"input": real()},
    ),
    "cast": lambda: {"input": real(), "type": "int8"},
    "reshape": lambda: {"input": real(), "dims": (3, 2)},
    "expand_dims": lambda: {"input": real(), "axis": 1},
    "squeeze": lambda: {"input": ones(1, 3)},
    "transpose": lambda: {"input": real(), "perm": (1, 0)},
    "split": lambda: {"input": real(), "split_sizes": (1, 2), "axis": 1},
    "concat": lambda: {"input_lists": [real(), real()], "axis": 0},
    "stack": lambda: {"input_lists": [real(), real()], "axis": 0},
    "unstack": lambda: {"input": real(), "axis": 0},
    "slice": lambda: {"input": real(), "begin": (0, 0), "size": (1, 2), "step": (1, 1)},
    "slice_backward": lambda: {
        "grad_out": ones(1, 2), "input": real(), "begin": (0, 0), "size": (1, 2), "step": (1, 1)},
    "tile": lambda: {"input": real(), "repeats": (2, 1)},
    "pad": lambda: {"input": real(), "pad_width": (1, 0, 0, 1)},
    "reverse": lambda: {"input": real(), "axis": (1,)},
    "roll": lambda: {"input": real(), "shifts": (1,), "axis": (1,)},
    "crop": lambda: {"input": real(), "shape": (1, 2), "offsets": (1, 0)},
    "clip": lambda: {"input": real(), "low": 0.2, "high": 0.6},
    "clip_backward": lambda: {"grad_out": real(), "low": 0.2, "high": 0.6, "input": real()},
    "gather": lambda: {"input": real(), "index": sz.tensor([1, 0])},
    "scatter": lambda: {"input": real(), "index": sz.tensor([1]), "updates": ones(1, 3)},
    "expand": lambda: {"input": real(), "shape": (4, 2, 3)},
    "flatten": lambda: {"input": real(), "start_axis": 0, "stop_axis": 1},
    "flip": lambda: {"input": real(), "axis": (0,)},
    "where": lambda: {"condition": truth(), "x": real(), "y": real()},
    "meshgrid": lambda: {"input": [ones(2), ones(3)]},
    "masked_select": lambda: {"input": real(), "mask": truth()},
    "muladd": lambda: {"x": real(), "y": real(), "a": real()},
    "trace": lambda: {"x": real()},
    "trace_backward": lambda: {"grad_y": sz.tensor(1.0), "input_shape": (2, 3)},
    **dict.fromkeys(_UNARY, lambda: {"x": real()}),
    **dict.fromkeys(_BINARY, lambda: {"x": real(), "y": real()}),
    **dict.fromkeys(_BITWISE, lambda: {"x": whole(), "y": whole()}),
    **dict.fromkeys(
        ("bitwise_not", "bitwise_left_shift", "bitwise_right_shift"), lambda: {"x": whole()}
    ),
    "pow": lambda: {"x": real(), "e": real()},
    "rint": lambda: {"x": real(), "mode": "TONEAREST"},
    "acosh": lambda: {"x": ones(3)},
    "reduce": lambda: {"input": real(), "mode": "SUM", "axis": (0,)},
    "reduce_bwd": lambda: {"out_grad": ones(3), "input": real(), "axis": (0,)},
    "cumsum": lambda: {"input": real(), "axis": 1},
    "cumsum_bwd": lambda: {"out_grad": real(), "axis": 1},
    **dict.fromkeys(("argmax", "argmin", "argsort"), lambda: {"input": real()}),
    "argsort_bwd": lambda: {"out_grad": real(), "indices": sz.tensor([[0, 1, 2], [2, 1, 0]])},
    "topk": lambda: {"input": real(), "k": 2},
    "nonzero": lambda: {"input": real()},
    "complex": lambda: {"real": real(), "imag": real()},
    **dict.fromkeys(("conj", "imag", "real"), lambda: {"input": signal()}),
    "fft_c2c": lambda: {"input": signal()},
    "fft_c2c_backward": lambda: {"grad_out": signal()},
    "fft_r2c": lambda: {"input": real()},
    "fft_r2c_backward": lambda: {"grad_out": signal()[:, :2], "input": real()},
    "fft_c2r": lambda: {"input": signal(), "last_dim_size": 4},
    "fft_c2r_backward": lambda: {"grad_out": real()},
    "matmul": lambda: {"mat1": real(), "mat2": ones(3, 2)},
    "dot": lambda: {"vec1": ones(3), "vec2": ones(3)},
    **dict.fromkeys(
        ("dot_bwd1", "dot_bwd2"),
        lambda: {"out_grad": sz.tensor(1.0), "vec1": ones(3), "vec2": ones(3)},
    ),
    **dict.fromkeys(("lu", "qr", "svd", "inverse", "eig"), lambda: {"mat": square()}),
    "cholesky": lambda: {"upper": "L", "mat": square()},
    "solve": lambda: {"mat": square(), "rhs": ones(2), "adjoint": False},
    "lstsq": lambda: {"mat": square(), "rhs": ones(2)},
    "norm": lambda: {"input": real()},
    "linear": lambda: {"x": real(), "weight": ones(4, 3), "bias": ones(4)},
    "linear_bwd_in": lambda: {"out_grad": ones(2, 4), "weight": ones(4, 3)},
    "linear_bwd_weight": lambda: {"out_grad": ones(2, 4), "input": real()},
    "bilinear": lambda: {"x": real(), "y": ones(2, 4), "weight": ones(5, 3, 4), "bias": ones(5)},
    "bilinear_bwd_in1": lambda: {
        "out_grad": ones(2, 5), "y": ones(2, 4), "weight": ones(5, 3, 4)},
    "bilinear_bwd_in2": lambda: {"out_grad": ones(2, 5), "x": real(), "weight": ones(5, 3, 4)},
    "bilinear_bwd_weight": lambda: {"out_grad": ones(2, 5), "x": real(), "y": ones(2, 4)},
    "interpolate": lambda: {"input": ones(1, 1, 4), "size": (8,)},
}  # fmt: skip

_TM, _DM, _IA = Status.TYPE_MISMATCH, Status.DIMENSIONS_MISMATCH, Status.INVALID_ARGUMENT
_OR, _AX = Status.OUT_OF_RANGE, Status.AXIS_ARGUMENT

CHANGES: dict[tuple[str, Status], Callable[[], Arguments]] = {
    ("create_tensor", _TM): lambda: {"values": whole()[0][:2]},
    ("create_tensor", _DM): lambda: {"values": [1.0, 2.0, 3.0]},
    **dict.fromkeys(
        [(name, _IA) for name in
         "create_tensor wrap_tensor zeros full empty rand_uniform rand_normal".split()],
        lambda: {"shape": (-1,)},
    ),
    **dict.fromkeys(
        [(name, _IA) for name in
         "contiguous duplicate destroy shape is_finite is_inf is_nan size rank is_contiguous "
         "sign expand_dims squeeze split unstack".split()],
        lambda: {"input": "no tensor"},
    ),
    ("rand_bernoulli", _IA): lambda: {"input": sz.tensor([2.0])},
    ("multinomial", _IA): lambda: {"num_samples": 0},
    ("randperm", _IA): lambda: {"len": 0},
    ("range", _IA): lambda: {"step": 0},
    ("linspace", _IA): lambda: {"num": 0},
    ("create_sparse_tensor", _IA): lambda: {"indices": [[0, 7]]},
    ("create_quant_tensor", _DM): lambda: {"values": [1, 2, 3]},
    ("create_quant_tensor", _IA): lambda: {"scale": -1},
    ("diag", _IA): lambda: {"input": real()},
    ("cast", _TM): lambda: {"input": text()},
    ("cast", _IA): lambda: {"type": "no dtype"},
    ("reshape", _DM): lambda: {"dims": (4, 2)},
    ("reshape", _IA): lambda: {"dims": (-3, -2)},
    ("transpose", _TM): lambda: {"input": "no tensor"},
    ("transpose", _IA): lambda: {"perm": (0, 0)},
    ("expand_dims", _OR): lambda: {"axis": 9},
    ("squeeze", _OR): lambda: {"axis": (9,)},
    ("split", _OR): lambda: {"axis": 9},
    ("concat", _IA): lambda: {"input_lists": [real(), ones(3, 7)]},
    ("concat", _OR): lambda: {"axis": 9},
    ("stack", _IA): lambda: {"input_lists": [real(), ones(3, 7)]},
    ("stack", _OR): lambda: {"axis": 9},
    ("unstack", _OR): lambda: {"axis": 9},
    ("slice", _IA): lambda: {"step": (0, 1)},
    ("slice", _OR): lambda: {"begin": (9, 0)},
    ("slice_backward", _IA): lambda: {"step": (0, 1)},
    ("slice_backward", _OR): lambda: {"begin": (9, 0)},
    ("tile", _IA): lambda: {"repeats": (-1, 1)},
    ("pad", _IA): lambda: {"pad_mode": "no mode"},
    ("reverse", _IA): lambda: {"axis": (0, 0)},
    ("reverse", _OR): lambda: {"axis": (9,)},
    ("roll", _IA): lambda: {"axis": (9,)},
    ("crop", _IA): lambda: {"shape": (9, 2)},
    ("clip", _IA): lambda: {"low": ones(7)},
    ("clip_backward", _IA): lambda: {"grad_out": ones(7)},
    ("gather", _IA): lambda: {"index": sz.tensor([9])},
    ("scatter", _IA): lambda: {"index": sz.tensor([9])},
    ("expand", _IA): lambda: {"shape": (7,)},
    ("flatten", _IA): lambda: {"start_axis": "no axis"},
    ("flatten", _AX): lambda: {"stop_axis": 9},
    ("flip", _IA): lambda: {"axis": "no axis"},
    ("flip", _AX): lambda: {"axis": (9,)},
    ("where", _IA): lambda: {"x": ones(7)},
    ("meshgrid", _IA): lambda: {"input": [real()]},
    ("masked_select", _IA): lambda: {"mask": sz.tensor([True] * 7)},
    ("muladd", _TM): lambda: {"x": text()},
    **dict.fromkeys(
        [(name, _TM) for name in _BINARY + _BITWISE if name != "true_divide"],
        lambda: {"x": text()},
    ),
    **dict.fromkeys(
        [(name, _IA) for name in "div true_divide mod max min allclose".split()],
        lambda: {"y": ones(7)},
    ),
    **dict.fromkeys(
        [(name, _TM) for name in
         [*_UNARY, "acosh", "bitwise_not", "bitwise_left_shift", "bitwise_right_shift", "pow",
          "rint"]],
        lambda: {"x": text()},
    ),
    **dict.fromkeys(
        [(name, _IA) for name in
         "sqrt rsqrt acosh atanh log log1p log10 log2".split()],
        lambda: {"x": sz.tensor([-7.0])},
    ),
    ("trace", _IA): lambda: {"dim0": 1},
    ("trace_backward", _IA): lambda: {"input_shape": (3,)},
    ("reduce", _TM): lambda: {"mode": "BAND"},
    ("reduce", _IA): lambda: {"axis": (9,)},
    ("reduce_bwd", _TM): lambda: {"input": text()},
    ("reduce_bwd", _IA): lambda: {"mode": "LAND"},
    ("cumsum", _TM): lambda: {"input": text(), "axis": 0},
    ("cumsum", _IA): lambda: {"axis": "no axis"},
    ("cumsum", _OR): lambda: {"axis": 9},
    ("cumsum_bwd", _TM): lambda: {"out_grad": text()},
    ("cumsum_bwd", _IA): lambda: {"axis": 9},
    **dict.fromkeys(
        [(name, _OR) for name in "argmax argmin argsort argsort_bwd".split()], lambda: {"axis": 9}
    ),
    ("topk", _IA): lambda: {"k": 9},
    ("nonzero", _IA): lambda: {"input": sz.tensor(1.0)},
    ("nonzero", _OR): lambda: {"input": sz.zeros((3,))},
    ("complex", _TM): lambda: {"real": whole()},
    **dict.fromkeys([(name, _TM) for name in "conj imag real".split()], lambda: {"input": text()}),
    ("fft_c2c", _TM): lambda: {"input": real()},
    ("fft_c2c_backward", _TM): lambda: {"grad_out": real()},
    ("fft_r2c", _TM): lambda: {"input": signal()},
    ("fft_r2c_backward", _TM): lambda: {"grad_out": real()[:, :2]},
    ("fft_c2r", _TM): lambda: {"input": real()},
    ("fft_c2r_backward", _TM): lambda: {"grad_out": signal()},
    **dict.fromkeys(
        [(f"fft_{kind}{side}", _IA)
         for kind in ("c2c", "r2c", "c2r") for side in ("", "_backward")],
        lambda: {"axes": (9,)},
    ),
    ("matmul", _DM): lambda: {"mat2": ones(7)},
    ("matmul", _IA): lambda: {"mat2": "no tensor"},
    ("dot", _IA): lambda: {"vec2": ones(7)},
    ("dot_bwd1", _IA): lambda: {"out_grad": ones(7)},
    ("dot_bwd2", _IA): lambda: {"out_grad": ones(7)},
    **dict.fromkeys([(name, _IA) for name in "lu qr svd eig".split()], lambda: {"mat": ones(7)}),
    ("inverse", _TM): lambda: {"mat": text()},
    ("inverse", _IA): lambda: {"mat": ones(2, 2)},
    ("cholesky", _IA): lambda: {"upper": "X"},
    ("solve", _IA): lambda: {"mat": ones(2, 2)},
    ("lstsq", _IA): lambda: {"rhs": ones(7)},
    ("norm", _TM): lambda: {"input": text()},
    ("norm", _IA): lambda: {"normtype": "no norm"},
    **dict.fromkeys(
        [(name, _TM) for name in "linear linear_bwd_in bilinear_bwd_in1 bilinear_bwd_in2".split()],
        lambda: {"weight": text()},
    ),
    ("linear_bwd_weight", _TM): lambda: {"out_grad": text()},
    ("bilinear", _TM): lambda: {"x": text()},
    ("bilinear_bwd_weight", _TM): lambda: {"out_grad": text()},
    **dict.fromkeys(
        [(name, _DM) for name in
         "linear linear_bwd_in bilinear bilinear_bwd_in1 bilinear_bwd_in2".split()],
        lambda: {"weight": ones(7)},
    ),
    ("linear_bwd_weight", _DM): lambda: {"out_grad": ones(7)},
    ("bilinear_bwd_weight", _DM): lambda: {"out_grad": ones(7)},
    ("interpolate", _TM): lambda: {"input": text()},
    ("interpolate", _DM): lambda: {"mode": "bilinear"},
}  # fmt: skip

NEVER = {
    ("abs", _IA): "it takes one tensor, and every number has a result",
    ("reciprocal", _IA): "it takes one tensor, and every number has a result",
    ("atan", _IA): "it takes one tensor, and every number has a result",
}
"""Statuses that a clause lists and nothing here can produce, and why."""
