"""What is shown: explanations, fixes, tables, laws, differences."""

from __future__ import annotations

import json
from fractions import Fraction

import pytest

import suanzi as sz
from suanzi.promote.operands import ZeroDim
from suanzi.promote.questions import refusal


class TestExplain:
    def test_the_question_of_the_readme(self) -> None:
        found = sz.explain(sz.int32, sz.bfloat16, rules="cann")
        assert found.dtype is sz.bfloat16
        assert (found.layer, found.reason) == ("table", "row s32, column bf16")
        assert "互推导关系" in found.source
        assert not found.exact
        assert found.counter_example == 257
        assert found.fix is not None
        assert found.fix.text == "cast the int32 operand to float64"
        assert found.fix.code == "aclnnCast(x, ACL_DOUBLE)"

    @pytest.mark.parametrize(
        ("operands", "rules", "example"),
        [
            ((sz.int32, sz.bfloat16), "torch", 257),
            ((sz.int32, sz.float32), "torch", 16777217),
            ((sz.uint64, sz.int64), "openvino+unsafe+u64=i64", 2**63),
            ((sz.int8, 300), "torch", 300),
            ((sz.bfloat16, sz.complex32), "cann", 65536),
            ((sz.int8, sz.float16), "cann", None),
        ],
    )
    def test_counter_examples(
        self, operands: tuple[object, ...], rules: str, example: int | None
    ) -> None:
        assert sz.explain(*operands, rules=rules).counter_example == example

    def test_a_refusal(self) -> None:
        found = sz.explain(sz.uint16, sz.float32, rules="cann")
        assert found.refused
        assert not found.exact
        assert found.losses == ()
        assert found.title == "uint16, float32 -> refused"
        assert found.fix is not None
        assert found.fix.text == "cast the uint16 operand to float32"

    def test_comparison_gives_bool(self) -> None:
        found = sz.explain(sz.int32, sz.float32, rules="torch", op="==")
        assert (found.dtype, found.output) == (sz.float32, sz.bool)
        assert found.title == "equal(int32, float32) -> bool, computed in float32"

    def test_the_source_of_a_number_is_its_own(self) -> None:
        found = sz.explain(sz.int8, 2.5, rules="cann")
        assert "TensorScalar" in found.source
        assert found.layer == "Python number"

    def test_text_and_html(self) -> None:
        found = sz.explain(sz.int32, sz.bfloat16, rules="torch")
        assert repr(found) == str(found)
        html = found._repr_html_()
        for part in ("int32, bfloat16 -&gt; bfloat16", "257 becomes 256", "x.to(torch.float64)"):
            assert part in html

    def test_plain_data(self) -> None:
        data = sz.explain(sz.int32, sz.float16, rules="torch").to_dict()
        assert json.loads(json.dumps(data)) == data
        assert data["lost"] == [
            {
                "operand": "int32",
                "value": 2049,
                "becomes": 2048,
                "overflows_at": 65520,
                "reason": "range",
            }
        ]

    @pytest.mark.parametrize(
        ("operands", "op", "exact"),
        [
            ((sz.int8, sz.Number(int)), None, None),
            ((sz.int8, sz.Number(bool)), None, True),
            ((sz.QT_SYM_INT16, sz.QT_SYM_INT16), "add", None),
            ((sz.QT_SYM_INT16, sz.QT_SYM_INT16), None, True),
            ((sz.int8, 3), None, True),
            ((sz.uint16, sz.int8), None, False),
        ],
    )
    def test_exact_is_none_where_values_are_unknown(
        self, operands: tuple[object, ...], op: str | None, exact: bool | None
    ) -> None:
        found = sz.explain(*operands, rules="cann", op=op)
        assert found.exact is exact
        assert ("unknown: it depends on the values" in str(found)) == (exact is None)

    @pytest.mark.parametrize(
        ("operands", "rules", "op", "source"),
        [
            ((sz.int8, sz.ZeroDim(sz.int64)), "paddle", "add", "Paddle (3.3.1): seen in Paddle"),
            ((sz.int8, sz.ZeroDim(sz.int64)), "torch", None, "torch.result_type with 0-d"),
            ((sz.int8, 2.5), "torch", None, "torch.result_type with Python numbers"),
            ((sz.int32,), "torch", "sqrt", "torch.sqrt"),
            ((sz.int32,), "cann", "sqrt", "T/AI 131.1-2025: floating-point only; the default"),
            ((sz.int8, sz.float16, sz.float32), "cann", None, "suanzi: all operands at once"),
            ((sz.int8, sz.int8), "cann", None, "suanzi: equal dtypes"),
            ((sz.int8, sz.float16), "paddle", None, "type_promotion.h"),
            ((sz.float32, sz.float32), "cann", "&", "clause 7.2.7"),
        ],
    )
    def test_every_layer_names_its_own_source(
        self, operands: tuple[object, ...], rules: str, op: str | None, source: str
    ) -> None:
        assert source in sz.explain(*operands, rules=rules, op=op).source


class TestDiffOfSomeDtypes:
    def test_only_ones_own(self) -> None:
        every = sz.diff("torch", "cann")
        some = sz.diff("torch", "cann", dtypes=["bf16", "f32", "i64"])
        mine = {sz.bfloat16, sz.float32, sz.int64}
        assert [d.row() for d in some] == [
            d.row() for d in every if {o.dtype for o in d.operands} <= {*mine, None}
        ]
        assert some.compared["tensor, tensor"] == 6
        assert some.only_a == some.only_b == ()

    def test_a_dtype_that_one_of_them_lacks_is_named(self) -> None:
        assert sz.diff("torch", "paddle", dtypes=["u16", "f32"]).only_a == (sz.uint16,)

    def test_bad_dtypes(self) -> None:
        with pytest.raises(sz.InvalidArgument, match="dtypes is empty"):
            sz.diff("torch", "cann", dtypes=[])
        with pytest.raises(sz.StatusError, match="f99"):
            sz.diff("torch", "cann", dtypes=["f99"])


class TestFix:
    def test_every_exact_fix_is_exact(self) -> None:
        """Cast as told, and ask again: nothing is lost, or the text says what is."""
        for rules in sz.rule_sets():
            for a in sz.rule_set(rules).dtypes:
                for b in (sz.int32, sz.uint64, sz.float16, sz.bfloat16, sz.complex64):
                    found = sz.explain(a, b, rules=rules)
                    fix = found.fix
                    if found.exact:
                        assert fix is None
                    if fix is None or not fix.text.startswith("cast") or "though" in fix.text:
                        continue
                    words = fix.text.replace(",", "").split()
                    target = sz.dtype(words[words.index("to") + 1])
                    operands = [
                        target if who in fix.text or "both operands" in fix.text else dt
                        for dt, who in ((a, f"the {a} operand"), (b, f"the {b} operand"))
                    ]
                    mended = sz.explain(*operands, rules=rules)
                    assert mended.dtype is not None
                    for dt, cast in zip((a, b), operands, strict=True):
                        for step in (cast, mended.dtype):
                            assert sz.promote_types(dt, step, rules="lossless") is step, found

    @pytest.mark.parametrize(
        ("operands", "rules", "op", "text", "code"),
        [
            # No dtype holds both.
            ("i64 f64", "torch", None, "nothing is lost while int64 stays within ±2**53", ""),
            ("i64 u64", "jax", "/", "int64 stays within ±2**53 and uint64 stays within 2**53", ""),
            # A cast that loses later helps.
            ("i64 u64", "jax", None,
             "=cast the uint64 operand to int64, though 2**63 becomes -2**63", None),
            ("i64 bf16", "torch", None,
             "=cast the int64 operand to float64, though 2**53+1 becomes 2**53", None),
            ("i32 i64", "cann", "/", "float64, though 2**53+1", None),
            # The least bad cast of a refusal.
            ("i64 f64", "paddle", None,
             "=cast the int64 operand to float64, though 2**53+1 becomes 2**53",
             'x.astype("float64")'),
            ("i8 300", "torch", None, "", "x.to(torch.int16)"),
            ("f8e4m3 2", "openvino", None, "=give 2 as a tensor of float8_e4m3fn", None),
            ("u16 u16 f32", "cann", None, "cast the uint16 operands to float32", None),
            ("f16 bf16 c32", "cann", None, "cast the bfloat16 operand", None),
            ("bool 3", "strict", None, "cast the bool operand to int8", None),
        ],
    )  # fmt: skip
    def test_texts_and_codes(
        self, operands: str, rules: str, op: str | None, text: str, code: str | None
    ) -> None:
        given = [int(word) if word.isdigit() else sz.dtype(word) for word in operands.split()]
        fix = sz.explain(*given, rules=rules, op=op).fix
        assert fix is not None
        assert fix.text == text[1:] if text.startswith("=") else text in fix.text
        assert code is None or fix.code == code

    @pytest.mark.parametrize("op", ["add", "max", "floordiv", "concat", "where", "bitwise_and"])
    def test_a_refusal_gives_the_advice_of_its_own_operator(self, op: str) -> None:
        for a in (sz.bool, sz.int8, sz.int32, sz.float16, sz.bfloat16, sz.complex64):
            for b in (sz.int8, sz.uint64, ZeroDim("f64"), ZeroDim("bool")):
                found = sz.explain(a, b, rules="paddle", op=op)
                if found.dtype is None:
                    advice = "" if found.fix is None else f" {found.fix.text}."
                    message = refusal(found.answer)
                    assert message.lower().endswith(f"{found.reason}.{advice}".lower())

    def test_no_fix_that_spoils_everything(self) -> None:
        assert sz.explain(sz.float16, sz.complex32, rules="openvino").fix is None
        for operands, op in (((sz.char, sz.int8), None), ((sz.char, sz.char), "add")):
            assert sz.explain(*operands, op=op).fix is None
        assert sz.explain(1, 2**70, rules="torch").fix is None

    def test_huge_numbers(self) -> None:
        found = sz.explain(sz.float64, 10**400, rules="torch")
        assert found.losses[0].becomes == float("inf")
        assert "1.000e+400" in str(found)


class TestExplainAll:
    def test_all_rule_sets_are_asked(self) -> None:
        found = sz.explain_all(sz.int32, sz.bfloat16)
        assert [e.rules.name for e in found] == list(sz.rule_sets())
        assert len(found) == len(sz.rule_sets())
        assert found["paddle"].refused
        assert found["lossless"].exact
        assert '<td class="lossy">257 becomes 256</td>' in found._repr_html_()
        with pytest.raises(sz.InvalidArgument, match="not one of these rule sets"):
            found["cuda"]
        with pytest.raises(sz.InvalidArgument, match="no rule set given"):
            sz.explain_all(sz.int8, rules=[])
        some = sz.explain_all(sz.int8, rules="torch, cann")
        assert [e.rules.name for e in some] == ["torch", "cann"]
        assert [e["rules"] for e in some.to_dict()] == ["torch", "cann"]


class TestTable:
    def test_order_and_names_are_the_documents(self) -> None:
        rows = sz.table("cann").tensor_rows()
        assert rows[0][1:] == (
            "f32 f16 f64 bf16 s8 u8 s16 u16 s32 u32 s64 u64 bool c32 c64 c128".split()
        )
        assert rows[8] == ["u16", *["-"] * 7, "u16", *["-"] * 8]
        paddle = sz.table("paddle_table").tensor_rows()
        assert paddle[0][1:] == "u1 i1 i2 i4 i8 f2 f4 f8 c4 c8 b1 bf".split()
        assert paddle[2] == "i1 i2 i1 i2 i4 i8 f2 f4 f8 c4 c8 i1 bf".split()

    def test_numbers_and_text(self) -> None:
        table = sz.table("mindspore")
        assert table.number_rows()[7] == ["uint16", "uint16", "-", "-", "-"]
        assert "tensor with Python number" in str(table)
        assert "<th>uint16</th>" in table._repr_html_()
        data = table.to_dict()
        assert json.loads(json.dumps(data)) == data

    def test_the_operator_matters(self) -> None:
        gated = sz.table("paddle_compare_fix", op="add").tensors[sz.int8, sz.float16]
        mended = sz.table("paddle_compare_fix", op="==").tensors[sz.int8, sz.float16]
        assert (gated, mended) == (None, sz.float16)
        assert ", equal" in sz.table("paddle", op="==").title

    def test_the_rule_set_in_force_is_the_default(self) -> None:
        with sz.promotion("numpy"):
            assert sz.table().rules.name == "numpy"
            assert sz.laws().table.rules.name == "numpy"


# rule set: refused, triples that give two dtypes, triples refused in one grouping, dtypes bool
# does not leave alone, lossy pairs; as computed from the live packages and the documents.
LAWS = {
    "cann": (84, 4, 0, 3, 16),
    "mindspore": (72, 0, 0, 0, 12),
    "paddle": (78, 0, 312, 9, 3),
    "paddle_compare_fix": (18, 0, 72, 9, 12),
    "paddle_table": (0, 0, 0, 0, 12),
    "torch": (60, 0, 480, 3, 24),
    "numpy": (0, 28, 0, 0, 14),
    "jax": (0, 64, 0, 0, 28),
    "openvino": (102, 0, 368, 0, 1),
    "openvino+unsafe": (0, 84, 0, 0, 40),
}


class TestLaws:
    @pytest.mark.parametrize("rules", LAWS)
    def test_counts(self, rules: str) -> None:
        found = sz.laws(rules)
        assert LAWS[rules] == (
            found.refused,
            len(found.not_associative),
            len(found.refused_in_one_grouping),
            len(found.bool_not_identity),
            len(found.lossy),
        )
        assert found.commutative
        assert found.idempotent
        assert found.join_semilattice == (rules == "paddle_table")
        assert json.loads(json.dumps(found.to_dict())) == found.to_dict()

    def test_the_triples_of_cann(self) -> None:
        triples = sz.laws("cann").not_associative
        assert {frozenset((t.a, t.b, t.c)) for t in triples} == {
            frozenset((sz.float16, sz.bfloat16, sz.complex32))
        }

    def test_losses_are_real(self) -> None:
        for pair in sz.laws("jax").lossy:
            for lost in pair.losses:
                assert lost.value != lost.becomes
                assert Fraction(lost.value).denominator == 1

    def test_lossless_and_strict_lose_nothing(self) -> None:
        assert sz.laws("lossless").lossy == ()
        assert sz.laws("strict").lossy == ()
        assert sz.laws("strict").refused == 420

    def test_a_broken_table_is_caught(self) -> None:
        """The checker must see what the reader would have refused."""
        from dataclasses import replace

        from suanzi.promote.table import check

        table = sz.table("paddle_table")
        broken = {
            **table.tensors,
            (sz.int8, sz.int16): sz.int64,
            (sz.int8, sz.int8): sz.int16,
            (sz.bool, sz.float16): None,
        }
        found = check(replace(table, tensors=broken))
        assert found.not_commutative
        assert found.not_idempotent == (sz.int8,)
        assert found.not_associative
        assert found.refused_in_one_grouping
        assert sz.float16 in found.bool_not_identity
        assert not found.join_semilattice
        assert all(holds.startswith("no") for _, holds, _ in found.lines())

    def test_without_bool(self) -> None:
        rules = sz.RuleSet.from_function("one", ["i8"], lambda a, b: a)
        assert not sz.laws(rules).bool_is_identity
        assert "no: there is no bool" in str(sz.laws(rules))

    def test_text(self) -> None:
        text = str(sz.laws("cann"))
        assert "of 4096 ordered triples 4 give two dtypes" in text
        assert "yes" in sz.laws("paddle_table")._repr_html_()


# unordered pairs over common dtypes: answered differently, refused by one, compared
DIFFERENCES = {
    ("cann", "mindspore"): (0, 3, 120),
    ("cann", "paddle_table"): (0, 0, 78),
    ("cann", "paddle"): (0, 39, 78),
    ("cann", "torch"): (1, 12, 136),
    ("cann", "numpy"): (7, 36, 105),
    ("cann", "jax"): (0, 39, 120),
    ("mindspore", "torch"): (0, 15, 120),
    ("torch", "numpy"): (12, 27, 105),
    ("torch", "jax"): (0, 27, 120),
    ("numpy", "jax"): (14, 0, 105),
}


class TestDiff:
    @pytest.mark.parametrize(("a", "b"), DIFFERENCES)
    def test_counts(self, a: str, b: str) -> None:
        for found in (sz.diff(a, b), sz.diff(b, a)):
            differ, refused, compared = DIFFERENCES[a, b]
            tensors = found.of_shape("tensor, tensor")
            assert len(tensors) == differ + refused
            assert sum(d.one_refuses for d in tensors) == refused
            assert found.compared["tensor, tensor"] == compared

    def test_numbers_and_zero_dim_are_included(self) -> None:
        found = sz.diff("mindspore", "torch")
        # MindSpore has no complex column: those 15 beside the 6 of its document.
        assert len(found.of_shape("tensor, number")) == 6 + 15
        rows = [d.row() for d in found.of_shape("tensor, 0-d")]
        assert ("int8", "0-d int64", "int64", "int8") in rows

    def test_no_difference(self) -> None:
        found = sz.diff("torch", "torch")
        assert not found
        assert len(found) == 0
        assert list(found) == []
        assert "0 " in str(found)

    def test_by_operator(self) -> None:
        assert not sz.diff("paddle", "paddle_compare_fix", op="add")
        assert len(sz.diff("paddle", "paddle_compare_fix", op="==")) == 30

    def test_dtypes_of_one_side(self) -> None:
        found = sz.diff("cann", "numpy")
        assert found.only_a == (sz.bfloat16, sz.complex32)
        assert found.only_b == ()
        assert sz.diff("numpy", "cann").only_b == (sz.bfloat16, sz.complex32)
        assert "only cann: bfloat16, complex32" in str(found)
        assert json.loads(json.dumps(found.to_dict())) == found.to_dict()
        assert "<th>cann</th>" in found._repr_html_()


def test_a_fix_makes_no_real_numbers_complex() -> None:
    """PyTorch on Ascend has no way to float64: complex128 would be exact, and nobody wants it."""
    real = sz.explain("int32", "bfloat16", rules="torch_npu").fix
    assert real is not None
    assert real.text == "cast the int32 operand to float32, though 16777217 becomes 16777216"
    whole = sz.explain("int32", "complex64", rules="torch").fix
    assert whole is not None
    assert "complex128" in whole.text
