"""Statuses and promotion, each read otherwise in one thing: the cases notice."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import suanzi as sz
from helpers.misreadings import (
    Entry,
    Reading,
    accepted,
    asked,
    instead,
    made,
    notices,
    ruled,
    table,
)

AX, DM, IA = "AXIS_ARGUMENT", "DIMENSIONS_MISMATCH", "INVALID_ARGUMENT"
OR, TM, UO = "OUT_OF_RANGE", "TYPE_MISMATCH", "UNINITIALIZED_OBJECT"

EXCHANGED: list[tuple[str, str, str]] = [
    ("flip", AX, OR), ("reverse", OR, AX), ("flatten", AX, IA), ("cumsum", OR, IA),
    ("slice", OR, IA), ("slice_backward", OR, IA), ("topk", IA, OR), ("nonzero", OR, IA),
    ("squeeze", OR, AX), ("expand_dims", OR, IA), ("argsort", OR, AX), ("argsort_bwd", OR, IA),
    ("solve", IA, "INTERNAL_ERROR"), ("cholesky", IA, "INTERNAL_ERROR"), ("inverse", IA, TM),
    ("linear", DM, IA), ("bilinear", DM, IA), ("linear_bwd_in", DM, IA), ("gather", IA, OR),
    ("scatter", IA, OR), ("cast", TM, IA), ("reshape", DM, IA), ("reshape", IA, DM),
    ("concat", IA, DM), ("stack", IA, DM), ("create_tensor", DM, IA), ("norm", IA, TM),
    ("fft_c2c", IA, OR), ("fft_c2r", IA, DM), ("interpolate", IA, TM), ("interpolate", DM, IA),
    ("allclose", IA, DM), ("masked_select", IA, DM), ("abs", TM, IA), ("sign", IA, TM),
    ("where", IA, DM), ("pow", DM, IA), ("muladd", DM, IA), ("logical_and", DM, IA),
    ("bitwise_xor", DM, TM), ("true_divide", IA, DM), ("div", IA, "OUT_OF_RANGE"),
    ("rand_uniform", IA, OR), ("range", IA, OR), ("diag", IA, DM), ("tile", IA, DM),
    ("pad", IA, DM), ("crop", IA, OR), ("expand", IA, DM), ("roll", IA, OR),
    ("transpose", IA, OR), ("split", IA, DM), ("unstack", IA, DM), ("trace", IA, DM),
    ("reduce_bwd", IA, DM), ("complex", TM, IA), ("fft_r2c", TM, IA), ("dot_bwd1", IA, DM),
    ("destroy", UO, IA), ("contiguous", UO, IA), ("add", UO, TM), ("shape", UO, IA),
]  # fmt: skip


def first(x: Any) -> Any:
    """Return something that is a tensor: what is to be refused is not looked at any more."""
    return sz.zeros((), "float32")


TAKEN: list[Entry] = [
    ("reshape", "a length is found out", accepted(
        lambda input, dims: sz.zeros((2, 3)) if list(dims).count(-1) == 1 else None)),
    ("expand", "a length is found out", accepted(
        lambda input, shape: first(input) if -1 in shape else None)),
    ("tile", "fewer repeats", accepted(
        lambda input, repeats: first(input) if 0 < len(repeats) < input.ndim else None)),
    ("tile", "more repeats", accepted(
        lambda input, repeats: first(input) if len(repeats) > input.ndim else None)),
    ("pad", "a negative width cuts", accepted(
        lambda input, pad_width, **_: first(input) if min(pad_width) < 0 else None)),
    ("pad", "a mirror of nothing", accepted(
        lambda input, pad_mode="PAD_CONST", **_: first(input)
        if pad_mode == "PAD_MIRROR" and not input.size else None)),
    ("slice", "a begin from the end", accepted(
        lambda input, begin, **_: first(input) if min(begin) < 0 else None)),
    ("slice", "cut at the end", accepted(
        lambda input, begin, size, step: first(input) if min(begin) >= 0 and min(step) > 0
        and all(s <= n for s, n in zip(step, input.shape, strict=True)) else None)),
    ("slice", "a large step", accepted(
        lambda input, begin, size, step: first(input)
        if any(s > n for s, n in zip(step, input.shape, strict=True)) else None)),
    ("crop", "an offset from the end", accepted(
        lambda input, shape, offsets=(): first(input) if min(offsets) < 0 else None)),
    ("roll", "shifts of all axes", accepted(
        lambda input, shifts, axis=(): first(input) if not axis and len(shifts) > 1 else None)),
    ("roll", "one axis for all shifts", accepted(
        lambda input, shifts, axis=(): first(input) if len(axis) == 1 < len(shifts) else None)),
    ("unstack", "as many as there are", accepted(
        lambda input, axis=0, num=None: [first(input)] if num else None)),
    ("split", "a part may be empty", accepted(
        lambda input, split_sizes=(), **_: [first(input)] if 0 in split_sizes else None)),
    ("split", "the last part is smaller", accepted(
        lambda input, split_sizes=(), nsplit=None, axis=0: [first(input)]
        if not split_sizes and axis < input.ndim else None)),
    ("split", "what is left is dropped", accepted(
        lambda input, split_sizes=(), nsplit=None, axis=0: [first(input)]
        if 0 < sum(split_sizes) < input.shape[axis] else None)),
    ("stack", "stretched", accepted(
        lambda input_lists, axis: first(axis) if input_lists and axis in (0, 1) and all(
            x.ndim == 2 and x.shape[-1] == 3 for x in input_lists) else None)),
    ("concat", "nothing of nothing", accepted(
        lambda input_lists, axis: None if input_lists else first(axis))),
    ("reverse", "an axis twice", accepted(
        lambda input, axis: first(input) if len(set(axis)) < len(axis) else None)),
    ("flip", "an axis twice", accepted(
        lambda input, axis: first(input) if len(set(axis)) < len(axis) else None)),
    ("reduce", "an axis twice", accepted(
        lambda input, mode="SUM", axis=(), **_: first(input) if len(set(axis)) < len(axis)
        else None)),
    ("flatten", "nothing between", accepted(
        lambda input, start_axis, stop_axis: first(input) if start_axis > stop_axis else None)),
    ("range", "nothing the wrong way", accepted(
        lambda start, limit, step, **_: sz.zeros((0,)) if step else None)),
    ("linspace", "none", accepted(lambda start, stop, num, **_: sz.zeros((0,)) if not num
        else None)),
    ("randperm", "none", accepted(lambda len, **_: sz.zeros((0,)) if not len else None)),
    ("randperm", "more than the dtype holds", accepted(
        lambda len, **_: sz.zeros((200,), "int8") if len == 200 else None)),
    ("rand_uniform", "bounds exchanged", accepted(
        lambda min=0, max=1, **_: first(min) if min > max else None)),
    ("rand_normal", "a negative deviation", accepted(
        lambda std=1, **_: first(std) if std < 0 else None)),
    ("rand_normal", "rounded to integers", accepted(
        lambda dtype="float32", **_: sz.zeros((2,), dtype) if dtype == "int32" else None)),
    ("rand_bernoulli", "clipped", accepted(
        lambda input, **_: first(input) if float(np.asarray(input).max()) > 1 else None)),
    ("rand_bernoulli", "NaN is never", accepted(
        lambda input, **_: first(input) if np.isnan(np.asarray(input)).any() else None)),
    ("multinomial", "negative weights are none", accepted(
        lambda input, **_: first(input) if np.asarray(input).min() < 0 else None)),
    ("multinomial", "without weights any", accepted(
        lambda input, **_: first(input) if not np.asarray(input).any() else None)),
    ("multinomial", "again where there are no more", accepted(
        lambda input, replacement=True, **_: None if replacement else first(input))),
    ("create_sparse_tensor", "from the end", accepted(
        lambda indices, **_: first(indices) if np.min(indices) < 0 else None)),
    ("trace", "of a row is its sum", accepted(
        lambda x, **_: first(x) if x.ndim == 1 else None)),
    ("where", "nonzero is true", accepted(
        lambda condition, x, y: first(x) if condition.dtype.kind == "int" else None)),
    ("masked_select", "nonzero is true", accepted(
        lambda input, mask: first(input) if mask.dtype.kind == "int" else None)),
    ("masked_select", "the input is stretched", accepted(
        lambda input, mask: first(input) if mask.ndim > input.ndim else None)),
    ("gather", "floats are indices", accepted(
        lambda input, index: first(input) if index.dtype.kind == "float" else None)),
    ("scatter", "updates are stretched", accepted(
        lambda input, index, updates, **_: first(input) if updates.shape[0] == 1 < index.size
        else None)),
    ("sign", "of bool", accepted(lambda input: input if str(input.dtype) == "bool" else None)),
    ("sign", "of complex numbers", accepted(
        lambda input: input if input.dtype.kind == "complex" else None)),
    ("max", "complex by real part", accepted(
        lambda x, y: x if x.dtype.kind == "complex" else None)),
    ("floordiv", "complex by real part", accepted(
        lambda x, y: x if x.dtype.kind == "complex" else None)),
    ("less", "complex by real part", accepted(
        lambda x, y: sz.real(x) if x.dtype.kind == "complex" else None)),
    ("reduce", "the largest complex number", accepted(
        lambda input, mode="SUM", **_: input if mode == "MAX"
        and input.dtype.kind == "complex" else None)),
    ("reduce", "the mean of bool", accepted(
        lambda input, mode="SUM", **_: input if mode == "MEAN"
        and str(input.dtype) == "bool" else None)),
    ("topk", "as many as there are", accepted(
        lambda input, k, axis=-1, **_: input if k > 0 and -2 <= axis < 2 else None)),
    ("fft_c2r", "any size", accepted(
        lambda input, last_dim_size, **_: first(input) if last_dim_size > 0 else None)),
    ("fft_c2c", "an axis twice", accepted(
        lambda input, axes=(), **_: input if len(set(axes)) < len(axes) else None)),
    ("matmul", "a number is a factor", accepted(
        lambda mat1, mat2: mat1 if mat2.ndim == 0 else None)),
    ("norm", "fro of a vector", accepted(
        lambda input, normtype="inf", axis=(), **_: first(input) if normtype == "fro" else None)),
    ("norm", "of three axes", accepted(
        lambda input, normtype="inf", axis=(), **_: first(input) if len(axis) == 3 else None)),
    ("norm", "a negative power", accepted(
        lambda input, normtype="inf", axis=(), **_: first(input) if normtype == "-1" else None)),
    ("linear", "a bias is stretched", accepted(
        lambda x, weight, bias=None: first(x) if x.shape[-1] == weight.shape[-1] else None)),
    ("qr", "another mode", accepted(
        lambda mat, mode="reduced": mat if mat.ndim == 2 and mode != "reduced" else None)),
    ("interpolate", "a size of nothing", accepted(
        lambda input, size=(), **_: input if size and 0 in size else None)),
    ("interpolate", "the mode of another rank", accepted(
        lambda input, size=(), mode="nearest", **_: input if mode == "linear" else None)),
    ("interpolate", "cubic", accepted(
        lambda input, size=(), mode="nearest", **_: input if mode == "cubic" else None)),
]  # fmt: skip


def wide_sum(z: Any, x: Any, y: Any) -> Any:
    """Return a sum of operands as they are, which is converted in the end."""
    if z.dtype.kind != "f" or {np.asarray(x).dtype.kind, np.asarray(y).dtype.kind} != {"f", "i"}:
        return None
    return np.float64(x) + np.float64(y)


PROMOTION: list[Entry] = [
    *((op, f"by the rules of {rules}", ruled(op, rules))
      for op in ("add", "true_divide", "equal", "bitwise_and", "concat")
      for rules in ("strict",)),
    *((op, "by the rules of NumPy", ruled(op, "numpy")) for op in ("add", "true_divide", "concat")),
    ("add", "by the rules of PyTorch", ruled("add", "torch")),
    ("add", "operands as they are", made(wide_sum)),
    *((op, "integers are refused", ruled(op, "strict")) for op in ("sin", "sqrt", "exp", "tanh")),
    ("sin", "integers become float64", ruled("sin", "numpy")),
]  # fmt: skip


@table(
    [(op, f"{wrong} for {right}", instead(right, wrong)) for op, right, wrong in EXCHANGED] + TAKEN
)
def test_other_statuses_are_noticed(op: str, reading: Reading) -> None:
    assert notices(op, reading, quick=True, groups=frozenset({"status"}))


@table(PROMOTION)
def test_other_promotions_are_noticed(op: str, reading: Reading) -> None:
    assert notices(op, reading, quick=True, groups=frozenset({"promotion"}))


def with_axes(x: Any, y: Any) -> dict[str, Any]:
    return {name: sz.reshape(v, (1,)) if isinstance(v, sz.Tensor) and v.ndim == 0 else v
            for name, v in (("x", x), ("y", y))}  # fmt: skip


def as_tensors(x: Any, y: Any) -> dict[str, Any] | None:
    if isinstance(y, sz.Tensor | bool | complex):
        return None
    return {"y": sz.full("float64" if isinstance(y, float) else "int64", shape=(1,), value=y)}


@pytest.mark.parametrize(
    ("rules", "reading"),
    [
        pytest.param("torch", asked(with_axes), id="0-d tensors count as tensors"),
        pytest.param("torch", asked(as_tensors), id="numbers count as tensors"),
        pytest.param("numpy", asked(as_tensors), id="numbers count as tensors in NumPy"),
        pytest.param("torch", ruled("add", "cann"), id="CANN's for PyTorch's"),
        pytest.param("numpy", ruled("add", "torch"), id="PyTorch's for NumPy's"),
    ],
)
def test_other_rule_sets_are_noticed(rules: str, reading: Reading) -> None:
    assert notices("add", reading, quick=True, rules=rules)
