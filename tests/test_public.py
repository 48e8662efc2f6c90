"""What is public stays: names, pickles and files of before the files were moved, at e892ffa."""

from __future__ import annotations

import base64
import importlib
import io
import json
import pickle
from pathlib import Path
from typing import Any

import pytest

import suanzi as sz
from suanzi import interface

BEFORE = json.loads((Path(__file__).parent / "data" / "public-e892ffa.json").read_text())
X = sz.tensor([[1.5, -2.0], [3.0, 0.0]], sz.bfloat16)
PICKLED = {
    "a tensor": X,
    "a column-major tensor": sz.transpose(X),
    "a quantised tensor": sz.quantize(sz.tensor([1.0, -2.0]), sz.QT_SYM_INT8),
    "a sparse tensor": sz.to_sparse(sz.tensor([[0.0, 1.5], [0.0, 0.0]])),
    "a dtype": sz.bfloat16,
    "a device": sz.Device("cpu"),
    "a layout": X.layout,
    "a status": sz.Status.TYPE_MISMATCH,
    "a rule set": sz.rule_set("cann"),
    "a 0-d operand": sz.ZeroDim(sz.int8),
    "an error": sz.TypeMismatch("why"),
    "a mode of reduce": sz.ReduceMode.MEAN,
    "a mode of pad": sz.PadMode.PAD_CONST,
    "a norm of fft": sz.FFTNormMode.by_n,
    "the type": sz.Tensor,
    "an operator": sz.add,
    "an explanation": sz.explain(sz.int32, sz.bfloat16, rules="torch"),
    **{
        name: getattr(sz, name)
        for name in "argmax conj cumsum lstsq matmul norm rand_normal solve svd".split()
    },
}


def test_every_name_is_there() -> None:
    assert set(BEFORE["names"]) <= set(sz.__all__)
    assert all(hasattr(sz, name) for name in BEFORE["names"])
    assert set(BEFORE["interface"]) <= set(interface.__all__)


MODULES = """
    conformance conformance.check conformance.header conformance.plugin conformance.subjects
    conformance.subjects.wire conformance.suite cli device dtypes errata interface layout mindspore
    registry saving standard status""".split()


@pytest.mark.parametrize("name", MODULES)
def test_every_documented_module_is_there(name: str) -> None:
    assert importlib.import_module(f"suanzi.{name}").__name__ == f"suanzi.{name}"


def test_every_pickle_is_tried() -> None:
    assert set(PICKLED) == set(BEFORE["pickles"])


@pytest.mark.parametrize("title", PICKLED)
def test_a_pickle_of_before(title: str) -> None:
    found = pickle.loads(base64.b64decode(BEFORE["pickles"][title]))
    same(found, PICKLED[title])
    same(pickle.loads(pickle.dumps(found)), PICKLED[title])


def same(found: Any, expected: Any) -> None:
    assert type(found) is type(expected)
    assert repr(found) == repr(expected)
    if isinstance(expected, sz.Tensor):
        assert (found.shape, found.dtype, found.scale) == (
            expected.shape, expected.dtype, expected.scale,
        )  # fmt: skip
        assert found.tolist() == expected.tolist()
    elif not isinstance(expected, Exception | sz.SparseTensor) and callable(expected):
        assert found is expected


def test_a_file_of_before() -> None:
    found = sz.load(io.BytesIO(base64.b64decode(BEFORE["saved"])))
    assert list(found) == ["x", "s", "q"]
    for name, title in (("x", "a tensor"), ("s", "a sparse tensor"), ("q", "a quantised tensor")):
        same(found[name], PICKLED[title])
