"""Wrong arguments of every operator, by the kinds of its parameters: each is a status in its name.

The calls are those of the records; what is peculiar to an operator is tried in its own tests.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import suanzi as sz
from helpers.every_operator import REGISTRY, function
from helpers.moves import destroyed, no_tensor_error, refused
from helpers.valid_calls import kinds, of_kind, parameters, valid
from suanzi.standard import interface

OPTIONAL = {("linear", "bias"), ("bilinear", "bias")} | {
    (n, key) for n, key in of_kind("tensor") if n.startswith("nn:")
    if parameters(n)[key].default is None
}  # fmt: skip
"""Tensors that can be left out."""
LISTS = {"nn:ctc_loss", "nn:ctc_loss_bwd", "nn:grouped_matmul", "nn:grouped_matmul_bwd"}
"""Operators that take lists of integers as labels or sizes."""
INSTEAD = {"seed": {"mask": None, "noise": None}}
"""What a parameter stands for: only one of them may be given."""
NEEDED_AFTER_ALL = {("slice_backward", "input"), ("reduce_bwd", "input")}
"""Tensors that have a default and must be given (E49)."""
NO_INTEGER: list[Any] = [
    *("1", b"1", 0.5, float("nan"), 1j, True, False, np.bool_(True), np.float64(1), object(), {}),
    *(sz.tensor(1.5), sz.tensor(True), np.array(1.0), np.array(True), [[1]], [1, 2]),
    *(np.array([1, 2]), sz.tensor([1, 2]), "ab", Fraction(1, 2)),
]
AXES = [one for one in of_kind("axis") if one != ("create_quant_tensor", "channel_axis")]
"""The axis of channels is for dtypes that have some."""


def wrong(error: type[sz.StatusError], name: str, match: str = "", **changed: Any) -> None:
    """A call with an argument changed is refused, by name and by position alike."""
    given = valid(name) | changed
    for key, others in INSTEAD.items():
        if key in changed:
            given |= {k: x for k, x in others.items() if k in given}
    refused(error, name, **given, match=match)
    places = [p for p in parameters(name).values() if p.kind is not p.KEYWORD_ONLY]
    if all(p.name in given or p.default is not p.empty for p in places):
        by_place = [given.pop(p.name, p.default) for p in places]
        refused(error, name, *by_place, **given, match=match)


def test_every_kind_is_tried() -> None:
    every = {kind for name in REGISTRY for kind in kinds(name).values()}
    assert every == {
        "tensor", "tensors", "flag", "integer", "axis", "integers", "shape", "dtype", "device",
        "word", "layout", "scalar", "real", "sizes", "other",
    }  # fmt: skip
    others = {key for _, key in of_kind("other")}
    assert others == {"values", "indices", "scale", "rtol", "atol", "pad_value", "low", "high",
                      "scale_factor", "prec", "activation", "block_size"}  # fmt: skip


@pytest.mark.parametrize("name", REGISTRY)
def test_the_call_of_the_record_and_calls_that_fit_no_signature(name: str) -> None:
    call = function(name)
    call(**valid(name))
    with pytest.raises(TypeError):
        call(**valid(name), unknown=1)
    with pytest.raises(TypeError):
        call(*[0] * 30)
    if any(p.default is p.empty for p in parameters(name).values()):
        with pytest.raises(TypeError):
            call()


@pytest.mark.parametrize(("name", "key"), of_kind("tensor"))
def test_no_tensor(name: str, key: str) -> None:
    if (name, key) not in OPTIONAL:
        needed = (name, key) in NEEDED_AFTER_ALL
        wrong(sz.InvalidArgument if needed else sz.UninitializedObject, name, key, **{key: None})
    gone = f"{key} is a tensor that was destroyed"
    wrong(sz.UninitializedObject, name, gone, **{key: destroyed()})
    lists: list[Any] = [] if name in LISTS else [[1.0, 2.0], (1, 2)]
    for bad in ("text", b"12", object(), {}, dict, *lists):
        wrong(no_tensor_error(name), name, f"{key} is a", **{key: bad})
    for array in (np.array(["a"]), np.array([object()]), np.datetime64("2025-01-01")):
        wrong(no_tensor_error(name), name, key, **{key: array})


@pytest.mark.parametrize(("name", "key"), of_kind("tensors"))
def test_no_tensors(name: str, key: str) -> None:
    for bad, error in (
        (None, sz.UninitializedObject),
        ([None], sz.UninitializedObject),
        ([destroyed()], sz.UninitializedObject),
        (["text"], no_tensor_error(name)),
        ([object()], no_tensor_error(name)),
    ):
        wrong(error, name, key, **{key: bad})


@pytest.mark.parametrize(("name", "key"), of_kind("flag"))
def test_no_flag(name: str, key: str) -> None:
    for bad in (0, 1, None, "yes", 1.0, [], object(), np.array([True, False])):
        wrong(sz.InvalidArgument, name, f"{key} is ", **{key: bad})
    wrong(sz.UninitializedObject, name, key, **{key: destroyed()})


@pytest.mark.parametrize(("name", "key"), [*of_kind("integer"), *AXES])
def test_no_integer(name: str, key: str) -> None:
    for bad in NO_INTEGER:
        wrong(sz.InvalidArgument, name, key, **{key: bad})
    wrong(sz.UninitializedObject, name, key, **{key: destroyed()})


OF_VALUES = {"topk", *(name for name in REGISTRY if name.startswith("nn:"))}
"""Operators in which OUT_OF_RANGE is for a count or for the numbers of classes."""
SEVERAL_AXES = [(n, key) for n, key in of_kind("integers") if key in ("axis", "axes")]


@pytest.mark.parametrize(("name", "key"), [*AXES, *SEVERAL_AXES])
def test_no_axis_of_the_tensor(name: str, key: str) -> None:
    listed = interface(name).statuses
    error: type[sz.StatusError] = sz.InvalidArgument
    for one in (sz.OutOfRange, sz.AxisArgument):
        of_an_axis = one.status in listed and (one is sz.AxisArgument or name not in OF_VALUES)
        error = one if of_an_axis else error
    for bad in (9, -9, 2**31, 2**63, -(2**63), 2**100, np.int64(9), np.int8(-9), sz.tensor(9)):
        before = (valid(name).get(key) or ())[:-1] if (name, key) in SEVERAL_AXES else ()
        given = [*before, bad] if (name, key) in SEVERAL_AXES else bad
        wrong(error, name, key, **{key: given})


@pytest.mark.parametrize(("name", "key"), of_kind("integers"))
def test_no_list_of_integers(name: str, key: str) -> None:
    for bad in ("ab", b"ab", object(), 1.5, float("nan"), sz.tensor([1.0, 0.0])):
        wrong(sz.InvalidArgument, name, key, **{key: bad})
    wrong(sz.UninitializedObject, name, key, **{key: destroyed()})
    good = valid(name).get(key)
    length = len(good) if isinstance(good, Sequence) and good else 1 + (name == "interpolate")
    for bad in [*NO_INTEGER, None]:
        for several in ([bad] * length, (bad,) * length):
            if not (name == "pad" and isinstance(bad, list | np.ndarray | sz.Tensor)):
                wrong(sz.InvalidArgument, name, key, **{key: several})
    gone = [0] * (length - 1) + [destroyed()]
    wrong(sz.UninitializedObject, name, key, **{key: gone})
    endless = sz.expand(sz.tensor([0]), (2**40,))
    for long in ([0] * 129, (0,) * 1000, endless, itertools.repeat(0)):
        with pytest.raises(sz.StatusError, match=f"^{re.escape(REGISTRY[name].title)}: "):
            function(name)(**valid(name) | {key: long})


@pytest.mark.parametrize(("name", "key"), of_kind("shape"))
def test_no_shape(name: str, key: str) -> None:
    below = (2, -1)
    for bad in ("ab", below, (1.5,), (True,), ("2",), (2**63,), (-(2**70),), (1,) * 65, object(),
                np.array([2.0]), ((2,),), (None,), {"a": 1}, -1):  # fmt: skip
        wrong(sz.InvalidArgument, name, "" if bad is below else key, **{key: bad})


@pytest.mark.parametrize(("name", "key"), of_kind("dtype"))
def test_no_dtype(name: str, key: str) -> None:
    listed = interface(name).statuses
    for bad in ("float23", "", 3.5, object(), (2, 3), np.dtype("M8[s]")):
        text = isinstance(bad, str | np.dtype)
        own = sz.Status.TYPE_MISMATCH in listed or name in ("argmax", "argmin")
        error = sz.TypeMismatch if own else sz.InvalidArgument
        wrong(sz.InvalidArgument if text else error, name, key, **{key: bad})


@pytest.mark.parametrize(("name", "key"), of_kind("device"))
def test_no_device(name: str, key: str) -> None:
    for bad in ("tpu", "npu:1", "cpu:1", "gpu", 3, None, "npu:x", "npu:-1", object()):
        wrong(sz.InvalidArgument, name, **{key: bad})


@pytest.mark.parametrize(("name", "key"), of_kind("word"))
def test_no_such_word(name: str, key: str) -> None:
    numbers: list[Any] = [] if key == "normtype" else [99, -1, 1.5, float("nan"), True]
    for bad in ["", "nonsense", object(), ["SUM"], b"none", {}, *numbers]:
        wrong(sz.InvalidArgument, name, key, **{key: bad})


@pytest.mark.parametrize(("name", "key"), of_kind("layout"))
def test_no_layout(name: str, key: str) -> None:
    for bad in ((5, 6), (0, 0), "ab", 3, (0.5, 1.5), (True, False), object(), {},
                itertools.count(), itertools.repeat(0)):  # fmt: skip
        wrong(sz.InvalidArgument, name, "layout is", **{key: bad})
    for gone in (destroyed(), (0, destroyed())):
        wrong(sz.UninitializedObject, name, "layout", **{key: gone})


@pytest.mark.parametrize(("name", "key"), of_kind("real"))
def test_no_real_number(name: str, key: str) -> None:
    for bad in ("1", b"1", [1], (1,), object(), np.ones(2), np.array("a"), {}, 1j, 10**400,
                -(10**5000), sz.tensor([1.0, 2.0]), np.complex64(1)):  # fmt: skip
        wrong(sz.InvalidArgument, name, f"{key} is ", **{key: bad})
    gone = f"{key} is a tensor that was destroyed"
    wrong(sz.UninitializedObject, name, gone, **{key: destroyed()})


@pytest.mark.parametrize(("name", "key"), of_kind("sizes"))
def test_no_sizes(name: str, key: str) -> None:
    for bad in ("ab", b"ab", object(), 1.5, float("nan"), True, 1j, {}, -1, 2**31, 2**63, 10**5000,
                (-1,), (1.5,), (1, 1, 1, 1), [None, "a"], sz.tensor([1.0])):  # fmt: skip
        wrong(sz.InvalidArgument, name, f"{key} is ", **{key: bad})
    wrong(sz.UninitializedObject, name, key, **{key: destroyed()})
    endless = sz.expand(sz.tensor([0]), (2**40,))
    for long in ([1] * 129, endless, itertools.repeat(1)):
        wrong(sz.InvalidArgument, name, f"{key} is ", **{key: long})


@pytest.mark.parametrize(("name", "key"), of_kind("scalar"))
def test_no_number(name: str, key: str) -> None:
    for bad in ("1", b"1", [1], (1,), object(), np.ones(2), np.array("a"), Fraction(1, 2), {}):
        wrong(sz.InvalidArgument, name, f"{key} is ", **{key: bad})
    for bad in (sz.tensor([1.0, 2.0]), 1j, np.complex64(1)):
        wrong(sz.InvalidArgument, name, f"{key} is ", **{key: bad})
    gone = f"{key} is a tensor that was destroyed"
    wrong(sz.UninitializedObject, name, gone, **{key: destroyed()})
