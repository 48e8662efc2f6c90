"""Creation, query and transformation: each mistake is found by the cases, also in a quick run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import suanzi as sz
from suanzi import _core
from suanzi.conformance.cases import Wanted, cases
from suanzi.conformance.running.process import Local
from suanzi.conformance.running.run import Job, run_case, run_job
from suanzi.conformance.subjects.suanzi_adapter import Adapter

Wrong = Callable[..., Any]


class Mistaken(Adapter):
    """suanzi with one operator that is wrong."""

    def __init__(self, op: str, wrong: Wrong) -> None:
        super().__init__()
        self.op, self.wrong = op, wrong

    def call(self, op: str, arguments: dict[str, Any]) -> tuple[Any, ...]:
        return "SUCCESS", self.wrong(**arguments)

    def status(self, error: Exception) -> str:
        return getattr(getattr(error, "status", None), "name", "INTERNAL_ERROR")


def as_it_lies(x: sz.Tensor) -> sz.Tensor:
    """Return the elements in the order of memory, as if no tensor had strides."""
    return _core.view(x, 0, x.shape, sz.zeros(x.shape, x.dtype).strides)


def turned(x: sz.Tensor) -> sz.Tensor:
    return sz.contiguous(sz.transpose(x))


def real_part(x: sz.Tensor) -> sz.Tensor:
    return sz.cast(x, {"complex64": "float32"}.get(str(x.dtype), str(x.dtype)))


def summed_or_last(shape: Any, indices: Any, values: Any, dtype: Any) -> sz.Tensor:
    base = sz.zeros(shape, dtype)
    return sz.scatter(base, indices, values) if indices.shape[0] else base


def repeated(input: sz.Tensor, repeats: Any) -> sz.Tensor:
    for axis, times in enumerate(repeats):
        rows = [i for i in range(input.shape[axis]) for _ in range(times)]
        parts = sz.unstack(input, axis)
        if rows:
            input = sz.stack([parts[i] for i in rows], axis)
    return input


def without_channels(**told: Any) -> sz.Tensor:
    return sz.create_quant_tensor(**{**told, "zero_point": 0})


MISTAKES: list[tuple[str, str, Wrong]] = [
    ("transpose", "as NumPy", lambda input, perm=None: sz.transpose(
        input, [int(i) for i in np.argsort(perm)] if perm else perm)),
    ("reshape", "columns first", lambda input, dims: sz.reshape(turned(input), dims)),
    ("reshape", "as it lies", lambda input, dims: sz.reshape(as_it_lies(input), dims)),
    ("expand_dims", "always in front", lambda input, axis=0: sz.expand_dims(input, 0)),
    ("squeeze", "axes ignored", lambda input, axis=None: sz.squeeze(input)),
    ("flatten", "stop excluded", lambda input, start_axis, stop_axis: sz.flatten(
        input, start_axis, max(stop_axis - 1, start_axis))),
    ("flip", "one axis only", lambda input, axis: sz.flip(input, axis[:1])),
    ("reverse", "all axes", lambda input, axis: sz.flip(input, list(range(input.ndim)))),
    ("slice", "step ignored", lambda input, begin, size, step: sz.slice(
        input, begin, size, [1] * len(step))),
    ("slice", "from the start", lambda input, begin, size, step: sz.slice(
        input, [0] * len(begin), size, step)),
    ("slice_backward", "from the start", lambda grad_out, input, begin, size, step:
        sz.slice_backward(grad_out, input, [0] * len(begin), size, step)),
    ("crop", "offsets ignored", lambda input, shape, offsets=0: sz.crop(input, shape)),
    ("expand", "not at all", lambda input, shape: input),
    ("split", "in reverse", lambda input, split_sizes, nsplit=None, axis=0:
        sz.split(input, split_sizes, nsplit, axis)[::-1]),
    ("unstack", "first axis", lambda input, axis=0, num=None: sz.unstack(input, 0)),
    ("meshgrid", "as images", lambda input: [sz.transpose(x) for x in sz.meshgrid(input)]),
    ("concat", "in reverse", lambda input_lists, axis: sz.concat(input_lists[::-1], axis)),
    ("stack", "in front", lambda input_lists, axis: sz.stack(input_lists, 0)),
    ("tile", "element by element", repeated),
    ("roll", "the other way", lambda input, shifts, axis=(): sz.roll(
        input, [-n for n in shifts], axis)),
    ("pad", "mirrors for periods", lambda input, pad_width, pad_value=0, pad_mode="PAD_CONST":
        sz.pad(input, pad_width, pad_value, pad_mode.replace("PERIOD", "MIRROR"))),
    ("pad", "value ignored", lambda input, pad_width, pad_value=0, pad_mode="PAD_CONST":
        sz.pad(input, pad_width, 0, pad_mode)),
    ("gather", "rows always", lambda input, index: sz.gather(
        input, sz.reshape(index, (index.size,)))),
    ("scatter", "flag turned round", lambda input, index, updates, override=True: sz.scatter(
        input, index, updates, not override)),
    ("masked_select", "columns first", lambda input, mask: sz.masked_select(
        turned(input), turned(sz.expand(mask, input.shape)))),
    ("where", "the other", lambda condition, x, y: sz.where(condition, y, x)),
    ("clip", "low wins", lambda input, low=None, high=None: sz.clip(
        sz.clip(input, high=high), low=low)),
    ("clip", "NaN is low", lambda input, low=None, high=None: sz.where(
        sz.is_nan(input), sz.zeros(input.shape, input.dtype), sz.clip(input, low, high))),
    ("clip_backward", "bounds outside", lambda grad_out, low, high, input: sz.where(
        sz.logical_and(sz.greater(input, low), sz.less(input, high)), grad_out,
        sz.zeros(grad_out.shape, grad_out.dtype))),
    ("sign", "NaN is 0", lambda input: sz.where(
        sz.is_nan(input), sz.zeros(input.shape, input.dtype), sz.sign(input))),
    ("sign", "of zero is 1", lambda input: sz.where(
        sz.less(input, 0), sz.sign(input), sz.full(input.dtype, shape=input.shape, value=1))),
    ("cast", "complex is true by its real part", lambda input, type="float32": sz.cast(
        real_part(input) if type == "bool" else input, type)),
    ("cast", "saturates", lambda input, type="float32": sz.cast(input, type, saturate=True)),
    ("diag", "one row", lambda input: sz.expand(input, (input.size, input.size))),
    ("contiguous", "as it lies", lambda input: as_it_lies(input)),
    ("duplicate", "in reverse", lambda input: sz.flip(input, list(range(input.ndim)))),
    ("create_tensor", "as it lies", lambda dtype="float32", shape=(), values=(): as_it_lies(values)
        if isinstance(values, sz.Tensor) else sz.empty(shape, dtype)),
    ("zeros", "ones", lambda dtype="float32", shape=(): sz.full(dtype, shape=shape, value=1)
        if dtype != "char" else sz.zeros(shape, dtype)),
    ("full", "whole numbers", lambda dtype="float32", shape=(), value=0: sz.cast(
        sz.cast(sz.full("complex128", shape=shape, value=value), "int64"), dtype)),
    ("empty", "flat", lambda dtype="float32", shape=(): sz.empty((7,), dtype)),
    ("range", "limit excluded", lambda start, limit, step, dtype="float32": sz.slice(
        sz.range(start, limit, step, dtype), [0],
        [max(sz.range(start, limit, step, dtype).size - 1, 1)], [1])),
    ("linspace", "end excluded", lambda start, stop, num, dtype="float32": sz.linspace(
        start, start + (stop - start) * (num - 1) / num, num, dtype)),
    ("create_sparse_tensor", "the last stays", summed_or_last),
    ("size", "first axis", lambda input: input.shape[0] if input.ndim else 1),
    ("rank", "one more", lambda input: input.ndim + 1),
    ("is_contiguous", "gaps will do", lambda input: True),
    ("is_contiguous", "only of two axes", lambda input: sz.is_contiguous(input) and input.ndim > 1),
    ("is_finite", "as printed", lambda input: sz.logical_not(sz.is_finite(input))),
    ("is_inf", "above only", lambda input: sz.logical_and(
        sz.is_inf(input), sz.greater(real_part(input), 0))),
    ("is_nan", "of the real part", lambda input: sz.is_nan(real_part(input))),
]  # fmt: skip


@pytest.mark.parametrize(
    ("op", "wrong"), [pytest.param(op, wrong, id=f"{op}: {how}") for op, how, wrong in MISTAKES]
)
def test_mistakes_are_found(op: str, wrong: Wrong) -> None:
    own = frozenset({"plain", "broadcast", "strided", "empty", "special", "random"})
    subject = Local(Mistaken(op, wrong))
    found = (run_case(subject, case) for case in cases(op, Wanted(own, quick=True)))
    assert any(one.outcome == "failed" and "not SUCCESS" not in str(one.problem) for one in found)


def test_zero_points_are_looked_at() -> None:
    wanted = Wanted(frozenset({"plain"}), frozenset({"QT_ASYM_UINT8"}))
    subject = Local(Mistaken("create_quant_tensor", without_channels))
    assert any(r.outcome == "failed" for r in run_job(subject, Job("create_quant_tensor", wanted)))
