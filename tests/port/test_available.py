"""Which operators of a program a target has: the tables, the counts, SZ008, and their readers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from operators import npu, others
from suanzi.port import judge
from suanzi.port.available import STATES, UNCOUNTED, table
from suanzi.port.readers.logs import from_log
from suanzi.promote.library import rule_set

TARGETS = ("torch_npu", "paddle", "mindspore", "jax", "openvino")


def log(*names: str) -> Any:
    """Return a program that calls operators with one tensor, once each."""
    return from_log(
        "".join(
            f"Operator: aten.{name}.default\ncnt: 1, ((T([2], f32),), {{}})\n" for name in names
        )
    )


@pytest.mark.parametrize("target", TARGETS)
def test_every_table_names_its_sources_and_has_the_usual_operators(target: str) -> None:
    found = table(target)
    assert found is not None
    assert found.target == target
    assert any("commit" in source for source in found.sources)
    assert set(found.states.values()) <= {*STATES, *UNCOUNTED}
    usual = "add mul matmul exp softmax cat sum relu embedding".split()
    assert {name: found.states.get(name) for name in usual if found.states.get(name) not in
            ("available", "composed")} == {}  # fmt: skip


def test_a_missing_operator_is_a_finding_at_its_line() -> None:
    report = judge(log("exp", "isin", "isin"), ["openvino", "paddle"])
    finding, other = report.findings
    assert (finding.code, finding.rules) == (other.code, other.rules) == ("SZ008", "openvino+torch")
    assert (finding.place, other.place) == ("<log>:4", "<log>:6")
    assert finding.verdict.question == "isin"
    assert "openvino+torch: 2 operators: 1 available, 1 missing (isin)" in report.notes()
    assert "paddle: 2 operators: all available" in report.notes()
    assert report.to_dict()["operators"]["openvino+torch"]["missing"] == {"isin": 2}


def test_what_torch_npu_computes_on_the_cpu_is_no_finding() -> None:
    report = judge(log("exp", "mode", "linear"), ["torch_npu"])
    assert not report.findings
    assert report.notes()[0] == (
        "torch_npu: 3 operators: 1 available, 1 by composition, 1 on the CPU (mode)"
    )


def test_what_is_not_known_is_unknown() -> None:
    report = judge(log("exp", "frobnicate"), ["paddle", "cann", "jax", "mindspore"])
    assert not report.findings
    for line in report.notes()[:4]:
        assert line.endswith("2 operators: 1 available, 1 unknown")


def test_views_do_not_count_and_gradients_only_where_they_are_called() -> None:
    report = judge(log("exp", "t", "detach", "threshold_backward"), ["torch_npu"])
    assert report.notes()[0] == "torch_npu: 2 operators: all available"


def test_a_target_without_a_table_says_nothing() -> None:
    report = judge(log("exp"), [rule_set("numpy")])
    assert not any("operator" in note for note in report.notes())


def test_programs_of_other_frameworks_are_looked_up_by_pytorchs_names() -> None:
    from suanzi.port.available import torch_name

    assert torch_name("less_than", "paddle") == "lt"
    assert torch_name("radd", "torch") == "add"
    assert torch_name("frobnicate", "paddle") is None


def test_the_kernels_of_op_plugin_are_read(tmp_path: Path) -> None:
    config = tmp_path / "op_plugin" / "config"
    config.mkdir(parents=True)
    (tmp_path / "op_plugin" / "ops" / "opapi").mkdir(parents=True)
    (config / "op_plugin_functions.yaml").write_text(
        """all_version: [v2.1, v2.6, v2.13]
official:
  - func: halve(Tensor self, int n, Tensor other) -> Tensor
    op_api: [v2.6, newest]
    gen_opapi:
      exec: aclnnHalve, other, self

  - func: old(Tensor self) -> Tensor
    acl_op: v2.1

  - func: third_(Tensor(a!) self) -> Tensor(a!)
    op_api: all_version
"""
    )
    native = tmp_path / "native.yaml"
    native.write_text("supported:\n  - func: clone\n  - full.out\n\ncustom:\n  - own\n")
    source = tmp_path / "op_plugin" / "ops" / "opapi" / "Third.cpp"
    source.write_text(
        "at::Tensor& third_(at::Tensor& self) {\n  EXEC_NPU_CMD(aclnnThird, self);\n}\n"
    )
    found = npu.kernels(tmp_path, native, "v2.13")
    assert sorted(found) == ["clone", "full.out", "halve", "third_"]
    assert npu.aclnn(tmp_path) == {
        "halve": [("aclnnHalve", ["other", "self"])],
        "third_": [("aclnnThird", ["self"])],
    }
    assert npu.places(found["halve"], ["other", "self"]) == {0: 1, 2: 0}


def test_the_tables_of_the_others_are_read(tmp_path: Path) -> None:
    ops = tmp_path / "op_table.cpp"
    ops.write_text(
        'get_supported_ops_ts() { {"aten::add_", x}, {"aten::__and__", y} }'
        'get_supported_ops_fx() { {"aten::mul", x} }'
    )
    assert others.openvino(ops) == {"add", "and"}
    rules = {
        "torch.a": {"Matcher": "ChangePrefixMatcher"},
        "torch.linalg.b": {"Matcher": "GenericMatcher", "paddle_api": "paddle.bee"},
        "torch.Tensor.c_": {"Matcher": "CeeMatcher"},
        "torch.cuda.d": {"Matcher": "ChangePrefixMatcher"},
    }
    mapping, guide = tmp_path / "m.json", tmp_path / "g.md"
    mapping.write_text(json.dumps(rules))
    guide.write_text("| NOT-IMPLEMENTED-ITEM(`torch.Tensor.e`, https://x, y) |")
    assert others.paddle(mapping, guide) == (
        {"a": "paddle.a", "linalg_b": "paddle.bee"}, {"c"}, {"e"},
    )  # fmt: skip
    guide.write_text("| [torch.abs](https://x) | [mindspore.mint.abs](https://y) | same |")
    assert others.mindspore(guide) == {"abs": "mindspore.mint.abs"}
    guide.write_text("@op(torch.ops.aten.add.Tensor)\n@op(torch.ops.aten.mul_)\ndef f(x):\n")
    assert others.torchax(guide) == {"add", "mul"}


def test_cann_may_have_what_torch_npu_computes_on_the_cpu() -> None:
    assert judge(log("mode"), ["cann"]).notes()[0] == "cann: 1 operator: 1 unknown"
    assert judge(log("linear", "exp"), ["cann"]).notes()[0] == (
        "cann: 2 operators: 1 available, 1 by composition"
    )
