"""Dtypes by operator and chip: the texts, what is looked up there, and the reader of CANN's C++."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import suanzi as sz
from aclnn.checks import Sources, checks
from aclnn.documents import documented
from suanzi.front.cli import main
from suanzi.port import available, judge
from suanzi.port.readers.logs import from_log
from suanzi.port.support import COLUMNS, support
from suanzi.standard.other_names import table

TARGETS = ("cann", "paddle", "mindspore", "openvino")


def found(text: str, to: str, *on: str) -> list[tuple[Any, ...]]:
    """Return the findings of a log as (code, line), (SZ004 alone)."""
    report = judge(from_log(text), [to], on=on)
    return [
        (f.call.operator, f.verdict.text.partition(":")[0]) for f in report if f.code == "SZ004"
    ]


EXPM1 = "Operator: aten.expm1.default\ncnt: 1, ((T([2], {}),), {{}})\n"


def test_a_users_crash_is_a_finding() -> None:
    assert found(EXPM1.format("f64"), "cann") == [
        ("expm1", "aclnnExpm1 does not take float64 on 910, 310p, 910b, 950")
    ]
    assert found(EXPM1.format("f32"), "cann") == []


def test_torch_npu_has_the_operators_of_cann() -> None:
    assert found(EXPM1.format("f64"), "torch_npu") == found(EXPM1.format("f64"), "cann") != []
    assert found(EXPM1.format("bf16"), "torch_npu", "910") != []


def test_what_only_one_chip_lacks_is_told_where_it_is_named() -> None:
    bf16 = EXPM1.format("bf16")
    assert found(bf16, "cann") == []
    assert found(bf16, "cann", "910b") == []
    assert found(bf16, "cann", "910") == [("expm1", "aclnnExpm1 does not take bfloat16 on 910")]
    notes = judge(from_log(bf16), ["cann"]).notes()
    assert "1 call uses dtypes that cann does not support on 910 (details: --on 910)" in notes


def test_where_only_a_cpu_was_asked_nothing_is_said_of_other_devices() -> None:
    relu = "Operator: aten.relu.default\ncnt: 1, ((T([2], f16),), {})"
    assert found(relu, "paddle") == []
    assert found(relu, "paddle", "cpu") == [
        ("relu", "nn.functional.relu does not take float16 on cpu")
    ]
    assert found(relu, "jax") == []


@pytest.mark.parametrize(
    ("line", "dtypes"),
    [
        ("aten.expm1_.default\ncnt: 1, ((T([2], i64),), {})", ["aclnnInplaceExpm1"]),
        ("aten.expm1.default\ncnt: 1, ((T([2], i64),), {})", []),
        ("aten.bitwise_and.Scalar\ncnt: 1, ((T([2], f32), 1), {})", ["aclnnBitwiseAndScalar"]),
        ("aten.clamp.default\ncnt: 1, ((T([2], c64),), {'min': 0})", ["aclnnClamp"]),
        ("aten.view.default\ncnt: 1, ((T([2], u64), 1), {})", []),
        ("aten.where.self\ncnt: 1, ((T([2], b8), T([2], c32), T([2], f32)), {})", ["aclnnSWhere"]),
    ],
)
def test_the_form_of_the_operator_is_looked_up(line: str, dtypes: list[str]) -> None:
    told = [text.partition(" ")[0] for _, text in found("Operator: " + line, "cann")]
    assert told == dtypes


def test_a_dtype_that_was_not_asked_is_not_judged() -> None:
    add = "Operator: aten.add.Tensor\ncnt: 1, ((T([2], c32), T([2], c32)), {})"
    assert found(add, "paddle", "cpu") == []
    report = judge(from_log(add), ["paddle"], on=["cpu"])
    assert report.to_dict()["dtypes"]["paddle"]["unlisted"] == {"add": 1}


@pytest.mark.parametrize("target", TARGETS)
def test_every_text_says_where_it_is_from_and_holds_only_what_is_looked_up(target: str) -> None:
    here = support(target)
    assert here is not None
    assert here.sources
    assert here.chips
    column = {here.full(name) for one in table() for name in one.names.get(COLUMNS[target], ())}
    npu = available.table("torch_npu")
    assert npu is not None
    column |= {kernel.function for kernel in npu.kernels.values()}
    plain = {name for name, _ in here.taken if name not in column}
    plain = {name.replace("aclnnInplace", "aclnn") for name in plain}
    assert {here.full(name) for name in plain} <= column
    for by_chip in here.taken.values():
        assert set(by_chip) <= set(here.chips)


def test_a_chip_that_is_none_is_refused(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    log = tmp_path / "log.txt"
    log.write_text(EXPM1.format("f64"))
    assert main(["port", str(log), "--to", "cann", "--on", "910c"]) == 2
    assert "unknown chip '910c'; known are 910, 310p, 910b, 950" in capsys.readouterr().err
    assert main(["port", str(log), "--to", "cann", "--on", "910B"]) == 1
    with pytest.raises(sz.InvalidArgument, match="no chips of the targets are known"):
        judge(from_log(EXPM1.format("f64")), ["jax"], on=["cpu"])


SOURCE = """
#include "common.h"
namespace {
static const std::initializer_list<op::DataType> OLD = {op::DataType::DT_FLOAT, DT_FLOAT16};
static const std::initializer_list<op::DataType> NEW = {DT_FLOAT, DT_FLOAT16, DT_BF16};
static const std::initializer_list<DataType>& GetList(void) {
    auto version = GetCurrentPlatformInfo().GetSocVersion();
    if (version >= SocVersion::ASCEND910B && version <= SocVersion::ASCEND910E) { return NEW; }
    return OLD;   // "a // comment"
}
static const std::initializer_list<DataType>& BySwitch() {
    switch (GetCurrentPlatformInfo().GetCurNpuArch()) {
        case NpuArch::DAV_2201:
        case NpuArch::DAV_3510: { return NEW; }
        default: { return OLD; }
    }
}
static bool Check(const aclTensor* x, const aclTensor* y, const aclTensor* out) {
    OP_CHECK_DTYPE_NOT_SUPPORT(x, GetList(), return false);
    if (!CheckType(y->GetDataType(), BySwitch())) {
        OP_LOGE(ACLNN_ERR_PARAM_INVALID, "y is wrong: %s", ToString(y));
        return false;
    }
    if (x->GetViewShape().GetDimNum() > 3) { OP_CHECK_DTYPE_NOT_SUPPORT(out, OLD, return false); }
    return true;
}
}
aclnnStatus aclnnFrobnicateGetWorkspaceSize(const aclTensor* self, const aclTensor* other,
    double weight, aclTensor* out, uint64_t* workspaceSize, aclOpExecutor** executor) {
    auto ret = Check(self, other, out) ? ACLNN_SUCCESS : ACLNN_ERR_PARAM_INVALID;
    CHECK_RET(ret == ACLNN_SUCCESS, ret);
    return ACLNN_SUCCESS;
}
aclnnStatus aclnnSeldomGetWorkspaceSize(const aclTensor* self, uint64_t* workspaceSize) {
    if (self->IsEmpty()) { return ACLNN_SUCCESS; }
    if (self->GetFormat() == FORMAT_ND) { return ACLNN_SUCCESS; }
    OP_CHECK_DTYPE_NOT_SUPPORT(self, IsRegBase() ? NEW : SHARED, return false);
    return ACLNN_SUCCESS;
}
aclnnStatus aclnnSharedGetWorkspaceSize(const aclTensor* self, uint64_t* workspaceSize) {
    if (self->IsEmpty()) { return ACLNN_SUCCESS; }
    OP_CHECK_DTYPE_NOT_SUPPORT(self, IsRegBase() ? NEW : SHARED, return false);
    return ACLNN_SUCCESS;
}
"""


def test_the_checks_of_an_operator_are_followed(tmp_path: Path) -> None:
    path = tmp_path / "math" / "op_api" / "aclnn_frobnicate.cpp"
    path.parent.mkdir(parents=True)
    path.write_text(SOURCE)
    (path.parent / "common.h").write_text(
        "static const std::initializer_list<DataType> SHARED = {DataType::DT_BOOL};"
    )
    by_name = {name: (taken, by) for name, taken, by in checks(Sources(tmp_path), path)}
    parameters, by_chip = by_name["aclnnFrobnicate"]
    assert parameters[:4] == ["self", "other", "", "out"]
    old, new = {"DT_FLOAT", "DT_FLOAT16"}, {"DT_FLOAT", "DT_FLOAT16", "DT_BF16"}
    assert by_chip == {
        "910": {"self": old, "other": old},
        "310p": {"self": old, "other": old},
        "910b": {"self": new, "other": new},
        "950": {"self": new, "other": new},
    }, "what depends on the shape is no condition of a dtype"
    assert by_name["aclnnSeldom"][1]["910"] == {}, "it may have returned before"
    assert by_name["aclnnShared"][1]["910"] == {"self": {"DT_BOOL"}}
    assert by_name["aclnnShared"][1]["950"] == {"self": new}


@pytest.mark.parametrize(
    ("call", "said"),
    [
        ("aten.mm.default", "aclnnMm does not take float64 on 910b"),
        ("aten.threshold_backward.default", "aclnnThresholdBackward does not take float64 on 910b"),
        ("aten.linear.default", "aclnnMatmul does not take float64 on 910b"),
        ("aten.convolution.default", "aclnnConvolution does not take float64 on 910b"),
    ],
)
def test_what_torch_npu_calls_for_an_operator_is_looked_up(call: str, said: str) -> None:
    log = f"Operator: {call}\ncnt: 1, ((T([2, 2], f64), T([2, 2], f64)), {{}})\n"
    assert [text.partition(", by")[0] for _, text in found(log, "torch_npu", "910b")] == [said]
    assert found(log.replace("f64", "bf16"), "torch_npu", "910b") == []


def test_the_operands_of_embedding_are_told_apart_by_dtype() -> None:
    for given in ("T([2], i64), T([4, 2], bf16)", "T([4, 2], bf16), T([2], i64)"):
        log = f"Operator: aten.embedding.default\ncnt: 1, (({given}), {{}})\n"
        assert found(log, "torch_npu", "910b") == []
        assert len(found(log, "torch_npu", "910")) == 1


def test_views_and_allocations_are_not_counted_as_unchecked() -> None:
    log = "".join(
        f"Operator: aten.{name}.default\ncnt: 3, ((T([2], f64),), {{}})\n"
        for name in ("t", "detach", "empty_like", "isin")
    )
    assert judge(from_log(log), ["torch_npu"]).judged[0].dtypes.unlisted == {"isin": 3}


PAGE = """# aclnnHalve
- <term>Ascend 950PR/Ascend 950DT</term>：支持
- <term>Atlas A2 训练系列产品/Atlas A2 推理系列产品</term>：支持
- <term>Atlas 推理系列产品</term>：支持
- <term>Atlas 训练系列产品</term>：{}
## 功能说明
## 函数原型
aclnnStatus aclnnHalveGetWorkspaceSize(const aclTensor* self, double by, aclTensor* out)
## aclnnHalveGetWorkspaceSize
<table><tr><th>参数名</th><th>输入/输出</th><th>数据类型</th></tr>
<tr><td>self（aclTensor*）</td><td>输入</td><td>FLOAT、FLOAT16、BFLOAT16、INT8</td></tr>
<tr><td>by（double）</td><td>输入</td><td>DOUBLE</td></tr>
<tr><td>out（aclTensor*）</td><td>输出</td><td>FLOAT</td></tr></table>
  - <term>Atlas 推理系列产品</term>：{}
- **返回值：**
"""


@pytest.mark.parametrize(
    ("on_910", "on_310p", "expected"),
    [
        ("支持", "self数据类型不支持BFLOAT16、INT8。", {"DT_FLOAT", "DT_FLOAT16"}),
        ("不支持", "数据类型仅支持FLOAT16。", {"DT_FLOAT16"}),
        ("支持", "self额外支持INT32，out额外支持INT32。",
         {"DT_FLOAT", "DT_FLOAT16", "DT_BF16", "DT_INT8", "DT_INT32"}),
        ("支持", "BFLOAT16数据类型在偶数日不支持。", None),
    ],
)  # fmt: skip
def test_the_page_of_an_operator_is_read(
    tmp_path: Path, on_910: str, on_310p: str, expected: set[str] | None
) -> None:
    page = tmp_path / "aclnnHalve.md"
    page.write_text(PAGE.format(on_910, on_310p), "utf-8")
    ((name, parameters, facts),) = documented(page)
    assert (name, parameters) == ("aclnnHalve", ["self", "", "out"])
    every = {"DT_FLOAT", "DT_FLOAT16", "DT_BF16", "DT_INT8"}
    assert facts["910b"] == facts["950"] == {"self": every}
    assert ("910" in facts) is (on_910 == "支持")
    assert facts.get("310p") == (None if expected is None else {"self": expected})
