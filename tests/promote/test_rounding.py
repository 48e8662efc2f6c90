"""Where operands are rounded, and the rule sets of Triton, FlagGems and Inductor.

Expected values were computed by the frameworks: PyTorch 2.13 on the CPU; PyTorch 2.11, Inductor,
Triton 3.6 and FlagGems at ed2508bc on an H200.
"""

from __future__ import annotations

import pytest

import suanzi as sz
from suanzi.promote.layers import RoundingRule
from suanzi.promote.operands import Role
from suanzi.promote.rounding import Rounded

F64 = sz.ZeroDim(sz.float64)


def rounded(rules: str, *operands: object, op: str = "add") -> Rounded:
    found = sz.explain(*operands, rules=rules, op=op).rounded
    assert found is not None
    return found


def values(rules: str, *operands: object, op: str = "add") -> tuple[str, float]:
    """Return the values of the example, and what this rule set makes of them."""
    found = rounded(rules, *operands, op=op)
    one = found.example
    return str(one), float(one.before if found.when == "before" else one.after)


class TestWhen:
    @pytest.mark.parametrize(
        ("rules", "op", "other", "when"),
        [
            ("torch", "add", F64, "before"), ("torch", "sub", 0.1, "before"),
            ("torch", "mul", 0.1, "after"), ("torch", "mul", F64, "after"),
            ("torch", "true_divide", F64, "after"), ("torch", "mul", sz.int32, "before"),
            ("torch", "==", 0.1, "before"), ("torch", "==", F64, "before"),
            ("inductor", "add", F64, "after"), ("inductor", "sub", 0.1, "after"),
            ("inductor", "mul", sz.int32, "after"), ("inductor", "==", F64, "after"),
            ("inductor", "==", 0.1, "before"), ("inductor", "<", sz.int32, "after"),
            ("mindspore", "mul", sz.ZeroDim(sz.float32), "after"),
            ("mindspore", "mul", 0.1, "before"),
            ("paddle", "mul", 0.1, "before"), ("numpy", "add", 0.1, "before"),
            ("cann", "add", sz.int32, "before"), ("torch_npu", "mul", sz.int32, "before"),
        ],
    )  # fmt: skip
    def test_each_framework_has_its_own(
        self, rules: str, op: str, other: object, when: str
    ) -> None:
        assert rounded(rules, sz.float16, other, op=op).when == when

    def test_nothing_is_said_where_nothing_is_rounded(self) -> None:
        for operands in ((sz.float32, sz.float16), (sz.float16, 0.5), (sz.float32, F64)):
            assert sz.explain(*operands, rules="inductor", op="add").rounded is None

    def test_nothing_is_said_where_it_is_not_known(self) -> None:
        assert sz.explain(sz.float16, sz.int32, rules="strict", op="true_divide").rounded is None
        assert sz.explain(sz.float16, sz.int32, rules="torch", op="concat").rounded is None

    def test_it_is_printed(self) -> None:
        found = sz.explain(sz.bfloat16, F64, rules="inductor", op="add")
        assert (
            "rounded  the result, computed in float32: 0.1 + -0.1 gives 9.8e-05; "
            "operands in bfloat16 would give 0"
        ) in str(found)
        assert found.to_dict()["rounded"] == {
            "when": "after", "computed": "float32", "example": "0.1 + -0.1", "before": 0.0,
            "after": 9.775161743164062e-05,
        }  # fmt: skip
        assert sz.explain(sz.int8, sz.int8).to_dict()["rounded"] is None

    def test_integers_wrap_in_what_is_computed_in(self) -> None:
        assert values("flaggems", sz.uint8, sz.int8, op="max") == ("max(1, -1)", 255.0)

    def test_sums_of_flaggems_multiply_by_alpha(self) -> None:
        """uint8 200 + int8 100 is 300, float16 0.1 + bfloat16 3 is 3.0999756: asked on an H200."""
        for operands in ((sz.uint8, sz.int8), (sz.float16, sz.bfloat16)):
            assert sz.explain(*operands, rules="flaggems", op="add").rounded is None

    def test_what_overflows_is_plain_data(self) -> None:
        mine = sz.RuleSet.from_text("name mine\nlike torch\nrounded after in f16")
        found = sz.explain(sz.float32, 1e30, rules=mine, op="add").to_dict()["rounded"]
        assert found["after"] == "inf"

    @pytest.mark.parametrize(
        "text", ["", "never", "numbers after", "before, scalars after", "before in", "tensors"]
    )
    def test_bad_rules_are_refused(self, text: str) -> None:
        with pytest.raises(sz.InvalidArgument, match="rounded"):
            RoundingRule.parse(text)

    def test_a_rule_is_read(self) -> None:
        rule = RoundingRule.parse("after in f64, zero-d before")
        assert rule.computed == "f64"
        assert rule.when[Role.ZERO_DIM] == "before"
        assert rule.when[Role.TENSOR] == rule.when[Role.NUMBER] == "after"

    def test_own_rule_sets_have_it(self) -> None:
        mine = sz.RuleSet.from_text("name mine\nlike torch\nrounded after in f64")
        found = sz.explain(sz.float16, sz.int32, rules=mine, op="add").rounded
        assert found is not None
        assert found.computed is sz.float64


class TestIssues:
    """Results that users reported, explained."""

    def test_pytorch_185605(self) -> None:
        """0.1 of bfloat16 and a 0-d -0.1 of float64: 0 in eager mode, 9.7752e-05 compiled."""
        assert values("torch", sz.bfloat16, F64) == ("0.1 + -0.1", 0.0)
        assert values("inductor", sz.bfloat16, F64) == ("0.1 + -0.1", 9.775161743164062e-05)

    def test_pytorch_173987(self) -> None:
        """aten.eq of bfloat16 with 3.14: equal in eager mode, and compiled since 2.12."""
        for rules in ("torch", "inductor"):
            assert values(rules, sz.bfloat16, 3.14, op="==") == ("3.14 == 3.14", 1.0)
        assert rounded("torch", sz.bfloat16, 3.14, op="==").example.after == 0
        assert any("pytorch#173987" in note for note in sz.rule_set("inductor").notes)

    def test_pytorch_197091(self) -> None:
        """ldexp: eager mode promotes; Inductor gives float32 and float16."""
        assert sz.result_type(sz.bool, sz.float16, rules="torch") is sz.float16
        assert sz.result_type(sz.float16, sz.float32, rules="torch") is sz.float32
        (said,) = [x for x in sz.rule_set("inductor").deviations if "pytorch#197091" in x]
        assert "bool with float16 gives float32, float16 with float32 gives float16" in said

    @pytest.mark.parametrize("issue", ["FlagGems#6212", "FlagGems#6220"])
    def test_flaggems_6212_and_6220(self, issue: str) -> None:
        """bfloat16 + 0.5, which arrives as float64: computed there, then float64 to bfloat16."""
        found = sz.explain(sz.bfloat16, F64, rules="flaggems", op="add")
        assert found.dtype is sz.bfloat16
        assert found.rounded is not None
        assert found.rounded.computed is sz.float64
        assert rounded("flaggems", sz.bfloat16, 0.1).computed is sz.float32  # on CUDA
        assert any(issue in note for note in sz.rule_set("flaggems").notes)

    @pytest.mark.parametrize(
        ("op", "operands", "dtype", "computed"),
        [
            ("add", (sz.int64, sz.float16), sz.float16, None),
            ("add", (sz.int64, sz.bfloat16), sz.bfloat16, sz.float32),
            ("add", (sz.int64, sz.float32), sz.float32, None),
            ("where", (sz.int64, sz.float16), sz.float16, None),
            ("sin", (sz.float16,), sz.float16, None),
            ("sin", (sz.int64,), sz.float32, None),
            ("equal", (sz.int64, sz.int64), sz.bool, sz.float32),
            ("pow", (sz.bfloat16, sz.int64), sz.bfloat16, None),
        ],
    )  # fmt: skip
    def test_flaggems_2838(
        self, op: str, operands: tuple[object, ...], dtype: sz.DType, computed: sz.DType | None
    ) -> None:
        """What test_pointwise_type_promotion.py wants, and what its kernels compute in."""
        found = sz.explain(*operands, rules="flaggems", op=op)
        assert found.output is dtype
        assert (found.rounded and found.rounded.computed) is computed

    def test_triton_4697_and_1441(self) -> None:
        for op in ("/", "%"):
            assert sz.result_type(sz.float16, sz.float16, rules="triton", op=op) is sz.float32
        assert sz.result_type(sz.float16, sz.float16, rules="triton", op="*") is sz.float16
        assert sz.result_type(sz.bfloat16, sz.float16, rules="triton") is sz.float16
        for fp8 in (sz.float8_e4m3fn, sz.float8_e5m2):
            assert sz.result_type(sz.bfloat16, fp8, rules="triton") is sz.float32
            assert sz.result_type(sz.float16, fp8, rules="triton") is sz.float16


class TestTriton:
    def test_operators_compute_as_it_says(self) -> None:
        x = sz.tensor([1.5, 2.5], sz.float16)
        with sz.promotion("triton"):
            assert (x / x).dtype is sz.float32
            assert (x % x).dtype is sz.float32
            assert (x + x).dtype is sz.float16
            with pytest.raises(sz.TypeMismatch, match="exp takes no float16"):
                sz.exp(x)
            with pytest.raises(sz.TypeMismatch, match="floordiv takes no float16"):
                sz.floordiv(x, x)
            with pytest.raises(sz.TypeMismatch, match="logical_and takes no float16"):
                sz.logical_and(x, x)

    def test_a_refusal_of_one_operator_offers_no_cast_that_it_refuses(self) -> None:
        assert sz.explain(sz.float16, sz.float16, rules="triton", op="//").fix is None
        fix = sz.explain(sz.float16, rules="triton", op="exp").fix
        assert fix is not None
        assert fix.text == "cast the float16 operand to float32"

    def test_unsigned_and_signed_do_not_divide(self) -> None:
        for op in ("/", "//", "%"):
            assert sz.explain(sz.uint8, sz.int32, rules="triton", op=op).refused
        assert sz.result_type(sz.uint8, sz.int8, rules="triton", op="+") is sz.uint8

    def test_numbers_have_to_fit(self) -> None:
        assert sz.explain(sz.uint8, -1, rules="triton").refused
        assert sz.explain(sz.int8, 300, rules="triton").refused
        assert sz.result_type(sz.float8_e5m2, 0.5, rules="triton") is sz.float8_e5m2


class TestLinesOfOperators:
    def test_a_cell_may_be_of_one_operator(self) -> None:
        mine = sz.RuleSet.from_text("name mine\nlike torch\ncell mod, sub: i8 i16 -> -")
        assert sz.explain(sz.int8, sz.int16, rules=mine, op="mod").refused
        assert sz.result_type(sz.int8, sz.int16, rules=mine, op="add") is sz.int16

    def test_an_operator_has_the_cells_of_its_class(self) -> None:
        mine = sz.RuleSet.from_text(
            "name mine\nlike torch\ncell arithmetic: i8 i32 -> -\ncell mod: i8 i16 -> -"
        )
        assert sz.explain(sz.int8, sz.int32, rules=mine, op="mod").refused
        assert sz.explain(sz.int8, sz.int16, rules=mine, op="mod").refused

    def test_turned(self) -> None:
        mine = sz.RuleSet.from_text("name mine\nlike torch\nturned add: f16 -> f64")
        assert sz.result_type(sz.float16, sz.float16, rules=mine, op="add") is sz.float64
        assert sz.result_type(sz.float16, sz.float16, rules=mine, op="sub") is sz.float16
        with pytest.raises(sz.InvalidArgument, match="turned f16 f64"):
            sz.RuleSet.from_text("name mine\nlike torch\nturned f16 f64")
        with pytest.raises(sz.InvalidArgument, match="'nothing' is not an operator"):
            sz.RuleSet.from_text("name mine\nlike torch\nturned nothing: f16 -> f64")

    def test_turned_is_taken_over_for_dtypes_that_are_there(self) -> None:
        mine = sz.RuleSet.from_text("name mine\nlike triton\ndtypes f16 f64 i32")
        assert sz.result_type(sz.float16, sz.float16, rules=mine, op="mod") is sz.float16
