"""The judge's cases in the formats of CANN's TTK and cann-bench, as their documentation says."""

from __future__ import annotations

import ast
import csv
import importlib
import json
import re
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import suanzi as sz
from suanzi.base.status import InvalidArgument
from suanzi.validate.judge.exports import export

SHAPES = [(2, 9), (1, 33)]


def rows(file: Path) -> list[dict[str, str]]:
    with file.open(newline="") as text:
        return list(csv.DictReader(text))


def dtype(name: str) -> np.dtype[Any]:
    return np.dtype(getattr(ml_dtypes, name, name))


@pytest.fixture(scope="module")
def ttk(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("ttk")
    for op in ("softmax", "linear"):
        export("ttk", folder, op, dtypes="bfloat16,float32", shapes=SHAPES)
    return folder


@pytest.mark.parametrize("op", ["softmax", "linear"])
def test_ttk_tables_and_data_agree(ttk: Path, op: str) -> None:
    """Names, slots, dtypes, shapes and sizes as `--manual-data-dirs` requires them."""
    table = rows(ttk / f"{op}.csv")
    assert len(table) >= 8
    assert len({row["testcase_name"] for row in table}) == len(table)
    truth = getattr(sz.truth, op)
    for row in table:
        assert re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,119}", row["testcase_name"])
        shapes, dtypes = (ast.literal_eval(row[f"input_{x}"]) for x in ("shapes", "dtypes"))
        (shape,), (of,) = (ast.literal_eval(row[f"output_{x}"]) for x in ("shapes", "dtypes"))
        assert len(ast.literal_eval(row["input_data_ranges"])) == len(shapes) == len(dtypes)
        case = ttk / "data" / row["testcase_name"]
        due = {f"input_{i}_{of or 'none'}.bin" for i, of in enumerate(dtypes)}
        token = "x".join(map(str, shape)) or "scalar"
        due.add(golden := f"golden_0_{of}__shape_{token}.bin")
        assert {file.name for file in case.iterdir()} == due
        inputs = [
            None if d is None
            else np.fromfile(case / f"input_{i}_{d}.bin", dtype(d)).reshape(s)
            for i, (s, d) in enumerate(zip(shapes, dtypes, strict=True))
        ]  # fmt: skip
        found = np.fromfile(case / golden, dtype(of)).reshape(shape)
        assert truth(*inputs, **ast.literal_eval(row["attributes"])).tobytes() == found.tobytes()


def test_a_ttk_spec_names_the_truth_by_a_dotted_path(ttk: Path) -> None:
    for op, name in (("softmax", "SoftmaxTestSpec"), ("linear", "LinearTestSpec")):
        text = (ttk / f"{op}_spec.py").read_text()
        assert f'__spec__ = {{"{op}": "{name}"}}' in text
        scope: dict[str, Any] = {}
        exec(text, scope)
        module, _, attribute = scope[name].golden.rpartition(".")
        assert getattr(importlib.import_module(module), attribute) is getattr(sz.truth, op)


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("bench")
    for op in ("softmax", "linear", "rms_norm"):
        export("cann-bench", folder, op, dtypes="float16", shapes=SHAPES)
    return folder


@pytest.mark.parametrize("op", ["level2/softmax", "level3/linear", "level2/rms_norm"])
def test_the_files_of_cann_bench_agree(bench: Path, op: str) -> None:
    yaml = pytest.importorskip("yaml", reason="PyYAML is not installed")
    folder = bench / op
    names = {"proto.yaml", "golden.py", "desc.md", "cases.yaml", "cases.csv"}
    assert {file.name for file in folder.iterdir()} == names
    proto = yaml.safe_load((folder / "proto.yaml").read_text())["operator"]
    cases = yaml.safe_load((folder / "cases.yaml").read_text())["cases"]
    table = rows(folder / "cases.csv")
    assert proto["difficulty"] == "L" + op[5]
    assert len(cases) == len(table) >= 2
    assert [case["case_id"] for case in cases] == list(range(1, len(cases) + 1))
    inputs, attributes = (
        [x["name"] for x in proto[kind]] for kind in ("inputs", "attrs")
    )  # fmt: skip
    schema = re.findall(r"(\w+)(?:=[^,)]*)?[,)]", proto["schema"].partition(" -> ")[0])
    assert schema == [*inputs, *attributes]
    for case, row in zip(cases, table, strict=True):
        same = ("input_shape", "dtype", "attrs", "value_range")
        assert {k: case[k] for k in same} == {k: json.loads(row[k]) for k in same}
        assert case["operator"] == row["operator"] == proto["name"]
        for key in ("input_shape", "dtype", "value_range"):
            assert len(case[key]) == len(inputs)
        assert set(case["attrs"]) <= set(attributes)
    golden = (folder / "golden.py").read_text()
    assert golden in (folder / "desc.md").read_text()
    function = next(x for x in ast.parse(golden).body if isinstance(x, ast.FunctionDef))
    assert function.name == op.partition("/")[2]
    assert {x.arg for x in function.args.args} == {*inputs, *attributes}


def test_the_reference_of_cann_bench_is_the_truth(bench: Path) -> None:
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    scope: dict[str, Any] = {}
    exec((bench / "level2/softmax/golden.py").read_text(), scope)
    x = torch.linspace(-3, 3, 50).reshape(2, 25)
    for of in (torch.float64, torch.float32, torch.bfloat16):
        found = scope["softmax"](x.to(of))
        assert found.dtype == of
        assert (found.double() - torch.softmax(x.to(of).double(), -1)).abs().max() < 1e-2


def test_what_cannot_be_exported_is_said(tmp_path: Path) -> None:
    with pytest.raises(InvalidArgument, match="Did you mean 'ttk'"):
        export("tkk", tmp_path, "softmax")
    with pytest.raises(InvalidArgument, match=r"suanzi\.truth\.rand_uniform, which does not exist"):
        export("ttk", tmp_path, "rand_uniform")
    (tmp_path / "file").write_text("")
    with pytest.raises(InvalidArgument, match="cannot write to"):
        export("ttk", tmp_path / "file", "softmax")
    export("ttk", tmp_path, "softmax", dtypes="float32", shapes=[(1, 5)])
    with pytest.raises(InvalidArgument, match="exists already; remove it"):
        export("ttk", tmp_path, "softmax", dtypes="float32", shapes=[(1, 5)])
    with pytest.raises(InvalidArgument, match="no case of softmax fits"):
        export("ttk", tmp_path, "softmax", dtypes="float32", shapes=[()])
