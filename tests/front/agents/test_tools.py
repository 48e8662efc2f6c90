"""The tools of agents without MCP: what they take, what they return, what they say of bad input."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jsonschema
import ml_dtypes
import numpy as np
import pytest

import suanzi as sz
from suanzi.base.status import InvalidArgument
from suanzi.front.agents.arrays import MOST_ELEMENTS, MOST_RETURNED
from suanzi.front.agents.tools import Answer, check, tools

TOOLS = {one.name: one for one in tools()}
ZEROS = "import numpy as np\ndef f(x):\n    return np.zeros_like(x)\n"
SMALL = {"op": "softmax", "dtypes": ["float32"], "shapes": [[2, 5]]}


def call(name: str, /, **arguments: Any) -> Answer:
    check(TOOLS[name], arguments)
    found = TOOLS[name].call(arguments)
    jsonschema.validate(found.data, TOOLS[name].returns)
    return found


def test_schemas_describe_every_argument() -> None:
    for tool in TOOLS.values():
        jsonschema.Draft202012Validator.check_schema(tool.takes)
        jsonschema.Draft202012Validator.check_schema(tool.returns)
        assert tool.returns["type"] == "object"
        assert all(one["description"] for one in tool.takes["properties"].values())
        assert set(tool.takes["required"]) <= set(tool.takes["properties"])


def test_explain_is_that_of_sz() -> None:
    found = call("explain", operands=["i32", "bf16"], rules="torch")
    assert found.data == {"explanations": [sz.explain("i32", "bf16", rules="torch").to_dict()]}
    assert found.text == str(sz.explain("i32", "bf16", rules="torch"))
    several = call("explain", operands=["i8", 300, "0d:f32"], rules="torch, cann", op="add")
    assert [one["rules"] for one in several.data["explanations"]] == ["torch", "cann"]
    assert len(call("explain", operands=["i8", "py:int"], rules="all").data["explanations"]) > 8
    kept = call("explain", operands=["bf16", "0d:f32"], op="mul", rules="jax,cann", like="torch")
    assert [one["differs"] for one in kept.data["explanations"]] == [True, True]


def test_judge_takes_a_source_or_a_file(tmp_path: Path) -> None:
    (tmp_path / "k.py").write_text(ZEROS.replace("def f", "def g"))
    for given in ({"source": ZEROS}, {"kernel": f"{tmp_path}/k.py::g"}):
        found = call("judge", **SMALL, **given, standards=["ttk"], timeout=60)
        assert not found.data["right"]
        assert found.data["findings"][0]["code"] == "JD201"
        assert found.data["counts"]["wrong"] == len(found.data["cases"]) == 6
        assert found.data["standards"]["ttk"]["cases"] == 6
        assert "is WRONG as nn:softmax" in found.text
        assert "JD201" in found.data["script"]


def test_a_large_verdict_is_cut() -> None:
    found = call("judge", op="softmax", source=ZEROS, dtypes=["float32"])
    assert found.data["counts"]["wrong"] > len(found.data["cases"]) == 10


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, "give either kernel, FILE::NAME"),
        ({"source": ZEROS, "kernel": "k.py::f"}, "and not both"),
        ({"source": "def f(x:\n"}, "source, line 1, is not Python"),
        ({"source": "x = 1\n"}, "source has no function; give the one to judge as name"),
        ({"source": "def f(x): ...\ndef g(x): ...\n"}, "source has f, g; give the one"),
        ({"source": ZEROS, "name": "g"}, "has no g; it has f"),
        ({"source": "def f(x): return x\n1 / 0"}, "line 2, fails when it is imported: ZeroDivi"),
        ({"source": ZEROS, "op": "softmx"}, "Did you mean 'softmax'"),
        ({"source": ZEROS, "dtypes": ["int8"]}, "is not a dtype of real"),
        ({"source": ZEROS, "params": {"axes": 1}}, "Did you mean 'axis'"),
        ({"source": ZEROS, "framework": "nunpy"}, "'nunpy' is not a framework"),
        ({"source": ZEROS, "python": "/no/such"}, "'/no/such' cannot be run"),
        ({"source": ZEROS, "standards": ["tkk"]}, "Did you mean 'ttk'"),
        ({"kernel": "no.py::f"}, "the file 'no.py' does not exist"),
        ({"kernel": "no.so"}, "the library 'no.so' does not exist"),
        ({"source": ZEROS, "shapes": [[2, -1]]}, r"shapes is \[\[2, -1\]\]; expected: A list of"),
        ({"source": ZEROS, "shapes": "2x5"}, "expected: A list of shapes"),
        ({"source": ZEROS, "dtypes": "f32"}, "dtypes is 'f32'; expected: A list of dtypes"),
        ({"source": ZEROS, "timeout": 0}, "timeout is 0; expected: Seconds"),
        ({"source": ZEROS, "dtype": "f32"}, "no argument 'dtype'; it takes .* mean 'dtypes'"),
        ({"source": 3}, "source is 3; expected: The text of a Python module"),
    ],
)
def test_judge_says_what_is_expected(given: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidArgument, match=said):
        call("judge", **{**SMALL, **given})


# ---- truth ---------------------------------------------------------------------------------------


def tensor(values: Any, dtype: str = "float32") -> dict[str, Any]:
    return {"values": values, "dtype": dtype}


def test_truth_is_correctly_rounded() -> None:
    x = np.array([0, 1, 2], np.float16)
    found = call("truth", op="softmax", inputs=[tensor([0, 1, 2], "f16")])
    assert found.data["outputs"][0]["values"] == sz.truth.softmax(x).astype(float).tolist()
    assert found.text.startswith("softmax: float16 of shape (3,): 0.09, 0.2448, 0.665")
    named = {"mat1": tensor([[1.5, 2]], "bf16"), "mat2": tensor([[2], [4]], "bf16")}
    found = call("truth", op="matmul", inputs=named)
    assert found.data["outputs"] == [{"dtype": "bfloat16", "shape": [1, 1], "values": [[11.0]]}]
    found = call("truth", op="nn:softmax", inputs=[tensor([[1, 2], [1, 2]])], params={"axis": 0})
    assert found.data["outputs"][0]["values"] == [[0.5, 0.5], [0.5, 0.5]]
    found = call("truth", op="add", inputs=[tensor([1, 2], "i64"), tensor([3, 4], "i64")])
    assert found.data["outputs"] == [{"dtype": "int64", "shape": [2], "values": [4, 6]}]


def test_truth_has_numbers_that_json_has_not() -> None:
    found = call("truth", op="sqrt", inputs=[tensor([4, "inf", -1, "nan"])])
    assert found.data["outputs"][0]["values"] == [2.0, "inf", "nan", "nan"]
    found = call("truth", op="exp", inputs=[tensor(0.0)])
    assert found.data["outputs"] == [{"dtype": "float32", "shape": [], "values": 1.0}]


def test_truth_reads_and_writes_files(tmp_path: Path) -> None:
    x = np.linspace(-3, 3, 2 * MOST_RETURNED, dtype=np.float32).astype(ml_dtypes.bfloat16)
    sz.npy.save(str(tmp_path / "x.npy"), sz.tensor(x))
    np.save(tmp_path / "bits.npy", x.view(np.uint16))
    given = {"op": "exp", "output": str(tmp_path / "y.npy")}
    for file in ({"npy": f"{tmp_path}/x.npy"}, {"npy": f"{tmp_path}/bits.npy", "dtype": "bf16"}):
        found = call("truth", inputs=[file], **given)
        assert found.data["outputs"][0]["npy"] == given["output"]
        y = sz.npy.load(given["output"]).numpy()
        assert y.dtype == x.dtype
        assert (y == sz.truth.exp(x)).all()
    with pytest.raises(InvalidArgument, match="give a file as output"):
        call("truth", op="exp", inputs=[file])
    for name, said in (("y.txt", "must end in .npy"), ("no/y.npy", "cannot write to")):
        with pytest.raises(InvalidArgument, match=said):
            call("truth", op="exp", inputs=[file], output=str(tmp_path / name))


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"op": "softmx"}, "Did you mean 'softmax'"),
        ({"op": "svd"}, "svd has no truth over inputs"),
        ({"inputs": []}, r"inputs is \[\]; expected: A list of tensors"),
        ({"inputs": [[1, 2]]}, "expected: A list of tensors"),
        ({"inputs": [{"values": [1], "npy": "x"}]}, "expected: A list of tensors"),
        ({"inputs": [tensor([1, [2]])]}, r"0: a list among numbers: \[2\]"),
        ({"inputs": [tensor([[1, 2], [3]])]}, "where a list of 2 is expected"),
        ({"inputs": [tensor([1, "one"])]}, "0 has 'one'; give numbers, 'nan'"),
        ({"inputs": [tensor([1, None])]}, "0 has None; give numbers"),
        ({"inputs": [tensor([300], "i8")]}, "0 has 300; int8 is -128 to 127"),
        ({"inputs": [tensor([1.5], "i8")]}, "0 has 1.5; give values of int8"),
        ({"inputs": [tensor([1], "f33")]}, "f33"),
        ({"inputs": [{"npy": "no.npy"}]}, "'no.npy' cannot be read: No such file"),
        ({"inputs": [tensor([1])], "params": {"axes": 1}}, "axes"),
        ({"inputs": [tensor([1])], "params": {"axis": 7}}, r"take x of shape \(1,\), axis=7"),
        ({"inputs": {"y": tensor([1])}}, r"it is softmax\(x, axis\)"),
        ({"inputs": {"x": tensor([1])}, "params": {"x": 1}}, "x is in inputs and in params"),
        ({"op": "matmul", "inputs": [tensor([[1, 2]])] * 2}, "2 columns, 1 rows"),
        ({"op": "add", "inputs": [tensor([1, 2]), tensor([1, 2, 3])]}, "it does not take .*shape"),
    ],
)
def test_truth_says_what_is_expected(given: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidArgument, match=said):
        call("truth", **{"op": "softmax", "inputs": [tensor([1, 2])], **given})


def test_files_that_are_no_input(tmp_path: Path) -> None:
    np.save(tmp_path / "large.npy", np.zeros(MOST_ELEMENTS + 1, np.float16))
    np.save(tmp_path / "objects.npy", np.array([{}, 1]), allow_pickle=True)
    np.savez(tmp_path / "several.npy", a=[1], b=[2])
    (tmp_path / "several.npy.npz").rename(tmp_path / "several.npy")
    (tmp_path / "text.npy").write_text("1, 2")
    np.save(tmp_path / "f32.npy", np.zeros(3, np.float32))
    for name, said in (
        ("large", "at most 1,000,000"), ("objects", "objects.npy"), ("several", "several arrays"),
        ("text", "text.npy"), ("f32", "has float32, not float16"),
    ):  # fmt: skip
        with pytest.raises(InvalidArgument, match=said):
            call("truth", op="exp", inputs=[{"npy": f"{tmp_path}/{name}.npy", "dtype": "f16"}])


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, "'operands' is missing: A list of dtypes"),
        ({"operands": []}, r"operands is \[\]; expected: A list of dtypes"),
        ({"operands": ["int33"]}, "int33"),
        ({"operands": ["int8"], "rules": "troch"}, "Did you mean 'torch'"),
        ({"operands": ["int8"], "rules": ","}, "rules is ','; name one of"),
        ({"operands": ["int8"], "op": "no such"}, "no such"),
        ({"operands": ["0d:int33"]}, "int33"),
    ],
)
def test_explain_says_what_is_expected(given: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidArgument, match=said):
        call("explain", **given)
