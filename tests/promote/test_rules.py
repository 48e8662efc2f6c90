"""Rule sets: what each carries, those of the user, and what is wrong with a bad one."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path

import pytest

import suanzi as sz
from suanzi.base.files import LONGEST_TEXT
from suanzi.promote.layers import Gate
from suanzi.promote.operators import OperatorClass, operator
from suanzi.promote.values import contains

NAMES = """cann mindspore paddle paddle_compare_fix paddle_table torch torch_npu inductor numpy
    jax jax_x32 triton flaggems array_api openvino strict lossless""".split()


def test_the_rule_sets_are_there() -> None:
    assert list(sz.rule_sets()) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_each_carries_its_facts(name: str) -> None:
    rules = sz.rule_set(name)
    assert rules.name == name
    assert rules.title
    assert rules.version
    assert rules.source
    assert rules.sources["numbers"]
    assert rules.zero_dim(operator(None)).text
    assert rules.default_float.kind == "float"
    assert len(set(rules.dtypes)) == len(rules.dtypes) >= 10
    assert pickle.loads(pickle.dumps(rules)) is rules
    assert name in repr(rules)
    assert sz.rule_set(rules) is rules


@pytest.mark.parametrize("name", ["can", "", "Cann", "all", "paddle+unsafe", "strict+x"])
def test_unknown_rule_sets(name: str) -> None:
    with pytest.raises(sz.InvalidArgument) as caught:
        sz.rule_set(name)
    message = str(caught.value)
    assert f"{name!r} is not a rule set; available: cann, mindspore" in message
    assert "\n" not in message
    if name == "can":
        assert message.endswith("Did you mean 'cann'?")


def test_strict_refuses_every_mixed_pair() -> None:
    rules = sz.rule_set("strict")
    for a in rules.dtypes:
        for b in rules.dtypes:
            assert sz.explain(a, b, rules=rules).dtype is (a if a is b else None)
    assert sz.result_type(sz.int8, 3, rules=rules) is sz.int8
    assert sz.result_type(sz.float16, 3, rules=rules) is sz.float16
    assert sz.explain(sz.int8, 3.0, rules=rules).refused
    assert sz.explain(sz.float32, 1j, rules=rules).refused


def test_strict_divides_every_mixed_pair() -> None:
    """7.2.4.7.1: a quotient is floating-point whatever the dtypes are."""
    rules = sz.rule_set("strict")
    for a in rules.dtypes:
        for b in rules.dtypes:
            found = sz.result_type(a, b, rules=rules, op="true_divide")
            floats = [d for d in (a, b) if d.kind in ("float", "complex")]
            if len(floats) < 2:
                assert found is (floats[0] if floats else sz.float32)
            else:
                assert all(contains(found, d) for d in floats)
                assert a is not b or found is a
    with sz.promotion("strict"):
        got = sz.true_divide(sz.tensor([1, 2], sz.int8), sz.tensor([4.0, 4.0], sz.float16))
    assert (got.dtype, got.tolist()) == (sz.float16, [0.25, 0.5])


MINE = """
# Two dtypes, and a number.
name     mine
title    My chip
version  7
source   my data sheet
names    cann
cast     to({x}, {name})
zero-d   kind
gate     float+float, complex+any
gate     comparison, where: open
true division   f32
real function   s8: f16; -
note     A note that
         goes on.

[tensors]
|      | s8   | f16  | f32 |
|------|------|------|-----|
| s8   | s8   | f16  | f32 |
| f16  | f16  | f16  | f32 |
| f32  | f32  | f32  | f32 |

[numbers]
       bool  int  float
s8     s8    s8   f32
f16    f16   f16  f16
f32    f32   f32  ×
"""


def test_a_rule_set_from_text() -> None:
    mine = sz.RuleSet.from_text(MINE)
    assert (mine.name, mine.title, mine.version) == ("mine", "My chip", "7")
    assert mine.notes == ("A note that goes on.",)
    assert mine.dtypes == (sz.int8, sz.float16, sz.float32)
    assert sz.promote_types("f16", "f32", rules=mine) is sz.float32
    assert sz.explain("i8", "f16", rules=mine).layer == "gate"
    assert sz.result_type("i8", "f16", rules=mine, op="==") is sz.float16
    assert sz.result_type("i8", "f16", rules=mine, op="where") is sz.float16
    assert sz.explain("i8", "f16", rules=mine, op="concat").layer == "gate"
    assert sz.result_type("i8", sz.ZeroDim("f16"), rules=mine) is sz.float16
    assert sz.result_type("i8", 2.5, rules=mine) is sz.float32
    assert sz.explain("f32", 2.5, rules=mine).refused
    assert sz.explain("f32", 1j, rules=mine).refused
    assert sz.result_type("i8", op="exp", rules=mine) is sz.float16
    assert sz.result_type("i8", op="/", rules=mine) is sz.float32


def test_a_rule_set_of_the_user_gets_everything() -> None:
    mine = sz.register_rules(sz.RuleSet.from_text(MINE))
    assert "mine" in sz.rule_sets()
    assert sz.rule_set("mine") is mine
    assert pickle.loads(pickle.dumps(mine)) is mine
    with sz.promotion("mine"):
        assert sz.promote_types(sz.float16, sz.float32) is sz.float32
    explanation = sz.explain("i8", "f16", rules="mine")
    assert explanation.fix is not None
    assert explanation.fix.code == "to(x, f16)"
    assert "row s8, column f16" in str(sz.explain("i8", "f16", rules="mine", op="=="))
    assert sz.laws("mine", op="==").join_semilattice
    assert len(sz.diff("mine", "cann")) > 0
    assert sz.table("mine").tensor_rows()[0] == ["", "s8", "f16", "f32"]
    assert "mine" in str(sz.explain_all(sz.int8, sz.float16))
    sz.register_rules(sz.RuleSet.from_text(MINE.replace("My chip", "My other chip")))
    assert sz.rule_set("mine").title == "My other chip"
    assert sz.rule_sets().count("mine") == 1


def test_without_numbers_a_number_is_weak() -> None:
    mine = sz.RuleSet.from_text(MINE.partition("[numbers]")[0])
    assert sz.result_type("i8", 300, rules=mine) is sz.int8
    assert sz.result_type("i8", 2.5, rules=mine) is sz.float32
    assert sz.result_type("f16", 2.5, rules=mine) is sz.float16
    assert sz.explain("f16", 1j, rules=mine).refused


def test_like_takes_what_is_not_said() -> None:
    mine = sz.RuleSet.from_text("name mine\nlike torch\nzero-d tensor\n")
    assert sz.diff(mine, "torch").of_shape("tensor, tensor") == ()
    assert sz.result_type(sz.int8, sz.ZeroDim(sz.int64), rules=mine) is sz.int64
    with pytest.raises(sz.InvalidArgument, match="Did you mean 'torch'"):
        sz.RuleSet.from_text("name mine\nlike troch\n")
    chained = sz.RuleSet.from_text("name mine\nlike paddle_table\n")
    assert sz.promote_types("i32", "f32", rules=chained) is sz.float32
    assert chained.names == "paddle"


def test_a_rule_set_from_a_function() -> None:
    def widest(a: sz.DType, b: sz.DType) -> sz.DType | None:
        return max(a, b, key=lambda d: d.bits) if a.kind == b.kind else None

    mine = sz.RuleSet.from_function("widest", ["i8", "i16", "f16", "f32"], widest)
    assert sz.promote_types("i8", "i16", rules=mine) is sz.int16
    assert sz.explain("i8", "f16", rules=mine).refused
    assert sz.result_type("i8", 2.5, rules=mine) is sz.float32
    assert sz.result_type("bool", True, rules=mine) is sz.bool
    assert sz.laws(mine).refused == 8
    numbers = sz.RuleSet.from_function(
        "numbers", ["f16"], lambda a, b: a, number=lambda d, kind: d if kind == "int" else None
    )
    assert sz.result_type("f16", 1, rules=numbers) is sz.float16
    assert sz.explain("f16", 1.0, rules=numbers).refused
    assert numbers.default_float is sz.float16


HEAD = "name mine\n[tensors]\n"
BAD = {
    "no name": ("[tensors]\n f16\nf16 f16", "has no line 'name'"),
    "two words": ("name my chip\n[tensors]\n f16\nf16 f16", "a name is one word"),
    "char": (HEAD + " char i8\nchar char i8\ni8 i8 i8", "numeric dtypes"),
    "quantised": (HEAD + " QT_SYM_INT8\nQT_SYM_INT8 QT_SYM_INT8", "numeric dtypes"),
    "bad cast": ("name mine\ncast to({y})\n[tensors]\n i8\ni8 i8", "cannot be filled in"),
    "broken cast": ("name mine\ncast to({x\n[tensors]\n i8\ni8 i8", "cannot be filled in"),
    "bad overflow": ("name mine\noverflow maybe\n[tensors]\n i8\ni8 i8", "'overflow maybe'"),
    "numbers not closed": (HEAD + " i8\ni8 i8\n[numbers]\n int\ni8 f64", "[numbers] is not closed"),
    "numbers of others": (HEAD + " i8\ni8 i8\n[numbers]\n int\nf16 i8", "[numbers] is not closed"),
    "a number row less": (
        HEAD + " i8 f16\ni8 i8 f16\nf16 f16 f16\n[numbers]\n int\ni8 i8",
        "[numbers] has no row for float16",
    ),
    "no table": ("name mine", "has no [tensors] table"),
    "not square": (HEAD + " f16 f32\nf16 f16 f32", "is not square"),
    "rows in another order": (HEAD + " f16 f32\nf32 f32 f32\nf16 f32 f16", "is not square"),
    "a short row": (HEAD + " f16 f32\nf16 f16\nf32 f32 f32", "row f16 of [tensors] has 1 cells"),
    "a row twice": (
        HEAD + " f16 f32\nf16 f16 f32\nf16 f16 f32",
        "row f16 of [tensors] appears",
    ),
    "a column twice": (HEAD + " f16 f16\nf16 f16 f16\nf16 f16 f16", "a column of [tensors]"),
    "empty": (HEAD, "the [tensors] table is empty"),
    "not closed": (HEAD + " i8 f16\ni8 i8 f32\nf16 f32 f16", "is not closed: int8 with float16"),
    "not commutative": (HEAD + " i8 f16\ni8 i8 f16\nf16 i8 f16", "must not depend on the order"),
    "diagonal": (HEAD + " i8 f16\ni8 f16 f16\nf16 f16 f16", "int8 with itself gives float16"),
    "unknown dtype": (HEAD + " i8 f17\ni8 i8 f17\nf17 f17 f17", "'f17', which is not a dtype"),
    "unknown key": ("nam mine", "line 1 starts with 'nam'"),
    "unknown names": ("name mine\nnames tpu\n[tensors]\n", "'names tpu' is not a document"),
    "bad gate": ("name mine\ngate float+float+int\n[tensors]\n i8\ni8 i8", "is not a pair"),
    "bad gate class": ("name mine\ngate adding: open\n[tensors]\n i8\ni8 i8", "'adding'"),
    "bad zero-d": ("name mine\nzero-d weak\n[tensors]\n i8\ni8 i8", "'zero-d weak' is none of"),
    "bad alone": ("name mine\nalone str i8\n[tensors]\n i8\ni8 i8", "'str', which is not"),
    "bad drift": ("name mine\ndrift i8 i8\n[tensors]\n i8\ni8 i8", "is not of the form"),
    "bad numbers": (HEAD + " i8\ni8 i8\n[numbers]\n str\ni8 i8", "[numbers] are Python numbers"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_tables_give_one_clear_sentence(case: str) -> None:
    text, expected = BAD[case]
    with pytest.raises(sz.InvalidArgument) as caught:
        sz.RuleSet.from_text(text)
    message = str(caught.value)
    assert expected in message
    assert "\n" not in message


def test_bad_sources_of_rules() -> None:
    for bad in (None, 3, ["name mine"]):
        with pytest.raises(sz.InvalidArgument, match="takes the text of a table"):
            sz.RuleSet.from_text(bad)  # type: ignore[arg-type]
    with pytest.raises(sz.InvalidArgument, match="cannot be read: No such file"):
        sz.RuleSet.from_file("/no/such/file.txt")
    for name in (None, "", "two words", 3):
        with pytest.raises(sz.InvalidArgument, match="a name is one word"):
            sz.RuleSet.from_function(name, ["i8"], lambda a, b: a)  # type: ignore[arg-type]


def test_a_rule_set_from_a_file(tmp_path: Path) -> None:
    file = tmp_path / "mine.txt"
    file.write_text(MINE, encoding="utf-8")
    assert sz.RuleSet.from_file(file).title == "My chip"
    file.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(sz.InvalidArgument, match="it is not text"):
        sz.RuleSet.from_file(file)
    file.write_bytes(b" " * (LONGEST_TEXT + 1))
    with pytest.raises(sz.InvalidArgument, match="it has more than 16,777,216 bytes"):
        sz.RuleSet.from_file(file)


def test_a_rule_set_from_a_device() -> None:
    if not Path("/dev/zero").exists():
        pytest.skip("there is no /dev/zero")
    with pytest.raises(sz.InvalidArgument, match="it is a pipe or a device"):
        sz.RuleSet.from_file("/dev/zero")


def test_tabs_and_comments() -> None:
    mine = sz.RuleSet.from_text("name\tmine\ntitle\tC# chip # a comment\n[tensors]\n\ti8\ni8\ti8")
    assert (mine.name, mine.title) == ("mine", "C# chip")


def test_a_rule_set_cannot_be_changed() -> None:
    rules = sz.rule_set("paddle")
    with pytest.raises(TypeError):
        rules.gates[OperatorClass.ANY] = Gate.parse("open")  # type: ignore[index]
    with pytest.raises(AttributeError):
        rules.name = "other"  # type: ignore[misc]


def test_copies_are_the_rule_set_itself_and_strangers_are_not_pickled() -> None:
    mine = sz.RuleSet.from_text(MINE)
    impostor = sz.RuleSet.from_text(MINE.replace("name     mine", "name     cann"))
    for rules in (mine, impostor, sz.rule_set("cann")):
        assert copy.copy(rules) is copy.deepcopy(rules) is rules
    for rules in (mine, impostor):
        with pytest.raises(pickle.PicklingError, match="register_rules"):
            pickle.dumps(rules)


def test_bad_functions() -> None:
    with pytest.raises(sz.InvalidArgument, match="is not closed"):
        sz.RuleSet.from_function("mine", ["i8"], lambda a, b: sz.int16)
    with pytest.raises(sz.InvalidArgument, match="must not depend on the order"):
        sz.RuleSet.from_function("mine", ["i8", "i16"], lambda a, b: a)


def test_built_in_names_cannot_be_taken() -> None:
    for name in ("cann", "all", "openvino"):
        text = f"name {name}\n[tensors]\n i8\ni8 i8"
        with pytest.raises(sz.InvalidArgument, match="is a built-in name"):
            sz.register_rules(sz.RuleSet.from_text(text))
    with pytest.raises(sz.InvalidArgument, match="takes a RuleSet"):
        sz.register_rules("cann")  # type: ignore[arg-type]


def test_gates() -> None:
    assert Gate.parse("open").admits(sz.int8, sz.complex64)
    assert not Gate.parse("equal").admits(sz.int8, sz.int16)
    assert Gate.parse("equal").admits(sz.int8, sz.int8)
    gate = Gate.parse("int+float, bool+any")
    assert gate.admits(sz.uint8, sz.float16)
    assert gate.admits(sz.bool, sz.complex64)
    assert not gate.admits(sz.int8, sz.int16)
    paddle = sz.rule_set("paddle")
    assert paddle.gate(operator(None)) is paddle.gate(operator("add"))
    assert paddle.gate(operator("concat")) is not paddle.gate(operator("where"))
    for spelling in ("CONCAT", "Concat", "op_concat", "OP_CONCAT"):
        with pytest.raises(sz.TypeMismatch, match="equal dtypes only"):
            sz.result_type(sz.float16, sz.float32, rules="paddle", op=spelling)
    symbols = sz.RuleSet.from_text("name mine\nlike torch\ngate <: equal\n")
    assert sz.explain("i8", "i16", rules=symbols, op="less").refused
    assert not sz.explain("i8", "i16", rules=symbols, op="greater").refused


def test_zero_dim_rules_of_the_user() -> None:
    """As PyTorch's: a 0-d tensor of a higher category asks the table, and passes the gate."""
    mine = sz.RuleSet.from_text(
        """
        """
        + MINE.replace("zero-d   kind", "zero-d   category\nzero-d   max: tensor").strip()
    )
    assert sz.result_type("i8", sz.ZeroDim("f16"), rules=mine) is sz.float16
    assert sz.result_type("f16", sz.ZeroDim("f32"), rules=mine) is sz.float16
    assert sz.explain("i8", sz.ZeroDim("f16"), rules=mine, op="max").layer == "gate"
