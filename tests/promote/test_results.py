"""Results by operator and operators that want equal dtypes, asked of rule sets and of NumPy."""

from __future__ import annotations

import json
import stat
import sys
from pathlib import Path

import pytest

import suanzi as sz
from helpers.numpys import needs_numpy_2
from suanzi.front.cli import main
from suanzi.promote.live_results import ask_results
from suanzi.promote.operators import OUTSIDE
from suanzi.promote.results import FOLDER, results


@pytest.mark.parametrize("op", ["matmul", "linear", "conv2d", "scatter"])
def test_unequal_dtypes_are_refused_where_the_framework_refuses(op: str) -> None:
    found = sz.explain_all("f32", "f16", rules="torch,paddle,mindspore", op=op)
    assert [one.refused for one in found] == [True] * 3
    assert found["torch"].reason == f"{op} takes equal dtypes only, not float16 with float32"
    assert all(
        sz.explain("f16", "f16", rules=one.rules, op=op).dtype is sz.float16 for one in found
    )


@pytest.mark.parametrize(
    ("rules", "op", "dtype"),
    [
        ("jax", "matmul", sz.float32), ("numpy", "matmul", sz.float32),
        ("cann", "matmul", sz.float32), ("torch", "stack", sz.float32),
        ("torch", "concat", sz.float32), ("mindspore", "where", sz.float32),
        ("jax", "index_add", sz.float16), ("openvino+torch", "scatter", sz.float16),
        ("openvino+torch", "lerp", sz.float32), ("jax", "addmm", sz.float32),
        ("jax", "conv1d", None), ("jax", "scaled_dot_product_attention", None),
        ("mindspore", "stack", None), ("mindspore", "concat", None),
        ("openvino+torch", "matmul", None), ("strict", "conv3d", None),
    ],
)  # fmt: skip
def test_what_others_do(rules: str, op: str, dtype: sz.DType | None) -> None:
    assert sz.explain("f16", "f32", rules=rules, op=op).dtype is dtype


def test_a_rule_set_without_a_rule_does_not_answer() -> None:
    assert sz.explain("f16", "f16", rules="cann", op="conv2d").dtype is sz.float16
    with pytest.raises(sz.InvalidArgument, match="what cann does with unequal dtypes"):
        sz.explain("f16", "f32", rules="cann", op="conv2d")
    asked = {one.rules.name for one in sz.explain_all("f16", "f32", op="conv2d")}
    assert {"torch", "paddle", "mindspore", "jax"} <= asked
    assert not {"cann", "numpy"} & asked
    mine = sz.RuleSet.from_text(
        "name mine\ngate conv2d: first\ngate index_add: equal\n"
        "[tensors]\n f16 f32\nf16 f16 f32\nf32 f32 f32"
    )
    assert sz.explain("f16", "f32", rules=mine, op="conv2d").dtype is sz.float16
    assert sz.explain("f16", "f32", rules=mine, op="index_add").refused


def test_every_operator_of_models_has_a_rule_in_torch() -> None:
    assert all(sz.rule_set("torch").gates[name].text == "equal dtypes only" for name in OUTSIDE)


def test_results_by_operator() -> None:
    found = sz.explain_all("u8", op="sum")
    assert {one.rules.name: one.dtype for one in found} == {
        "mindspore": sz.int64, "paddle": sz.uint8, "torch": sz.int64, "numpy": sz.uint64,
        "jax": sz.uint64, "jax_x32": sz.uint32,
    }  # fmt: skip
    one = sz.explain("i64", 3.5, rules="openvino+torch", op="clamp", like="torch")
    assert (one.dtype, one.differs, one.exact) == (sz.int64, True, None)
    said = "OpenVINO's PyTorch frontend, operators called on the CPU"
    assert one.source == f"OpenVINO from PyTorch (2026.4.1): {said}"
    one = sz.explain("u8", rules="paddle", op="sum", like="torch")
    assert one.fix is not None
    assert one.fix.text == "cast the operand to int64 first: int64, as in torch"
    assert sz.explain(7, rules="paddle", op="full").dtype is sz.float32
    with pytest.raises(
        sz.InvalidArgument, match="which dtype it gives for uint8 is not known of cann"
    ):
        sz.explain("u8", rules="cann", op="sum")


def test_the_tables_have_a_version_and_a_source() -> None:
    for file in FOLDER.glob("*.txt"):
        found = results(file.stem)
        assert found is not None
        assert found.target.replace("+", "_") == file.stem
        assert found.version
        assert found.source
        assert len(found.cells) > 300


@needs_numpy_2
def test_numpy_itself() -> None:
    found = ask_results("numpy")
    assert found.differences == []
    assert found.texts["numpy"] == (FOLDER / "numpy.txt").read_text("utf-8").replace(
        results("numpy").version, found.now["numpy"].version
    )


def test_what_differs_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = (
        (FOLDER / "paddle.txt")
        .read_text("utf-8")
        .replace("sum              i64   u8 ", "sum              i64   i64")
    )
    (tmp_path / "text").write_text(f"noise\nsuanzi-results paddle\n{text}\nsuanzi-results end\n")
    python = tmp_path / "python"
    python.write_text(f"#!{sys.executable}\nprint(open({str(tmp_path / 'text')!r}).read())\n")
    python.chmod(python.stat().st_mode | stat.S_IXUSR)
    own = tmp_path / "own.txt"
    assert (
        main(
            ["live", "paddle", "--results", "--python", str(python), "--json", "--write", str(own)]
        )
        == 1
    )
    assert json.loads(capsys.readouterr().out)["differences"] == [
        {"rules": "paddle", "operator": "sum", "of": "uint8", "suanzi": "uint8", "live": "int64"}
    ]
    assert own.read_text() == text
    python.write_text(f"#!{sys.executable}\nraise SystemExit('broken')\n")
    assert main(["live", "paddle", "--results", "--python", str(python)]) != 0
    assert "asking paddle for its results failed: broken" in capsys.readouterr().err
    assert main(["live", "cann", "--results"]) == 2
