"""Rule sets of the user that are like another, in files of any name, and in other processes."""

from __future__ import annotations

import pickle
import subprocess
import sys
from pathlib import Path

import pytest

import suanzi as sz
from suanzi.promote import library
from suanzi.promote.operators import OperatorClass

TWO = "[tensors]\n     i8  f16\ni8   i8  f16\nf16  f16 f16\n"


def chip(*lines: str, base: str = "torch") -> sz.RuleSet:
    return sz.RuleSet.from_text("\n".join(["name chip", f"like {base}", *lines]))


@pytest.mark.parametrize("base", ["torch", "numpy", "cann", "mindspore", "jax", "jax_x32"])
def test_what_is_taken_over_asks_for_no_dtype_that_is_not_there(base: str) -> None:
    text = TWO if base not in ("jax", "jax_x32") else "names short\n" + TWO
    mine = chip(*text.splitlines(), base=base)
    assert mine.dtypes == (sz.int8, sz.float16)
    for dt in mine.dtypes:
        for op in (None, "exp", "/", "=="):
            for number in (True, 1, 0.5):
                found = sz.explain(dt, number, rules=mine, op=op)
                assert found.dtype in (*mine.dtypes, sz.bool, None)
    assert sz.result_type("i8", 0.5, rules=mine) is sz.float16
    theirs = sz.rule_set(base)
    assert mine.zero_dims == theirs.zero_dims
    assert mine.writes == theirs.writes
    assert mine.overflow == theirs.overflow
    assert set(mine.made.values()) <= set(mine.dtypes)
    assert mine.title == "chip"
    assert mine.source.startswith(f"like {base}: ")


def test_a_line_leaves_some_dtypes_of_the_table() -> None:
    mine = chip("dtypes i8, i32 f16 bf16")
    torch = sz.rule_set("torch")
    assert [d.name for d in mine.dtypes] == ["int8", "int32", "float16", "bfloat16"]
    for a in mine.dtypes:
        for b in mine.dtypes:
            theirs = torch.pair(a, b).dtype
            assert mine.pair(a, b).dtype is (theirs if theirs in mine.dtypes else None)
    assert mine.pair(sz.float16, sz.bfloat16).dtype is None  # float32 in torch
    assert mine.default_float is sz.float16
    with pytest.raises(sz.InvalidArgument, match="'dtypes' has float8_e4m3fn, of which the table"):
        chip("dtypes i8 f8e4m3")


def test_single_cells() -> None:
    mine = chip(
        "cell i32,i64 bf16 -> f32", "cell comparison: i8 f16 -> -", "cell i8 py:float -> f16"
    )
    torch = sz.rule_set("torch")
    changed = {(sz.int32, sz.bfloat16), (sz.int64, sz.bfloat16)}
    for a in torch.dtypes:
        for b in torch.dtypes:
            other = (a, b) in changed or (b, a) in changed
            assert mine.pair(a, b).dtype is (sz.float32 if other else torch.pair(a, b).dtype)
    assert sz.explain("i8", "f16", rules=mine, op="==").refused
    assert "line 'cell' of int8 and float16" in str(sz.explain("f16", "i8", rules=mine, op="=="))
    assert sz.result_type("i8", "f16", rules=mine) is sz.float16
    assert sz.result_type("i32", "bf16", rules=mine, op="==") is sz.float32
    assert set(mine.pairs) == {OperatorClass.COMPARISON}
    assert sz.result_type("i8", 0.5, rules=mine) is sz.float16
    assert sz.result_type("i16", 0.5, rules=mine) is sz.float32
    x, y = sz.tensor([257], sz.int32), sz.tensor([1], sz.bfloat16)
    with sz.promotion(mine):
        assert (x + y).dtype is sz.float32
        with pytest.raises(sz.TypeMismatch):
            sz.equal(sz.tensor([1], sz.int8), sz.tensor([1], sz.float16))


def test_cells_of_python_numbers_in_one_operator() -> None:
    mine = chip("cell where, max: f16 py:float -> f32", "cell comparison: i8 py:int -> -")
    assert sz.result_type("f16", 0.5, rules=mine, op="where") is sz.float32
    assert sz.result_type("f16", 0.5, rules=mine, op="max") is sz.float32
    assert sz.result_type("f16", 0.5, rules=mine, op="add") is sz.float16
    assert sz.result_type("f16", 1, rules=mine, op="where") is sz.float16
    assert "float16 with a Python float is float32 in where" in str(
        sz.explain("f16", 0.5, rules=mine, op="where")
    )
    assert sz.explain("i8", 1, rules=mine, op="==").refused
    x, c = sz.tensor([1, 2], sz.float16), sz.tensor([True, False])
    with sz.promotion(mine):
        for _ in range(2):  # what was answered is remembered natively
            assert (x + 0.5).dtype is sz.float16
            assert sz.where(c, x, 0.5).dtype is sz.float32
        with pytest.raises(sz.TypeMismatch):
            sz.equal(sz.tensor([1], sz.int8), 1)


def test_paddle_makes_tensors_of_the_numbers_of_where() -> None:
    def given(dt: str, number: object) -> object:
        found = sz.explain(dt, number, rules="paddle", op="where")
        return None if found.refused else found.dtype

    assert [given(dt, 0.5) for dt in ("f16", "bf16", "f32", "f64", "i64")] == [
        sz.float32, sz.float32, sz.float32, sz.float64, None,
    ]  # fmt: skip
    assert [given(dt, 1) for dt in ("i64", "i32", "f32", "bool")] == [sz.int64, None, None, None]
    assert given("bool", True) is sz.bool
    assert sz.explain("bool", False, rules="paddle", op="bitwise_and").refused
    assert not sz.explain("i64", 1, rules="paddle", op="<<").refused
    small = sz.RuleSet.from_text("name small\nlike paddle\ndtypes i1 f2\n")
    assert sz.explain("f16", 1, rules=small, op="where").refused


def test_a_table_of_its_own_has_cells_too() -> None:
    mine = sz.RuleSet.from_text(f"name mine\ncell f16 i8 -> -\n{TWO}")
    assert mine.pair(sz.int8, sz.float16).dtype is None
    assert mine.pair(sz.float16, sz.int8).dtype is None


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (("cell i8 f16 f32",), "is not of the form"),
        (("cell i8 f99 -> f32",), "'f99', which is not a dtype"),
        (("cell i8 f16 -> f8e4m3",), "not closed"),
        (("cell i8 i8 -> i16",), "diagonal"),
        (("cell i8 0d:f16 -> f16",), "use 'zero-d' for 0-d"),
        (("cell i8 py:text -> f16",), "numbers are py:bool"),
        (("cell comparison: i8 py:int -> f8e4m3",), "not closed"),
        (("cell comparison: i8 py:text -> f16",), "numbers are py:bool"),
        (("cell i8 py:int -> f8e4m3",), "not closed"),
        (("cell compare: i8 f16 -> f16",), "compare"),
        (("dtypes i8 f98",), "'f98'"),
    ],
)
def test_bad_lines_give_one_clear_sentence(lines: tuple[str, ...], said: str) -> None:
    with pytest.raises(sz.InvalidArgument) as caught:
        chip(*lines)
    assert said in str(caught.value)
    assert str(caught.value).count("\n") == 0


def test_short_names_are_those_of_each_document() -> None:
    """Paddle's i8 is int64, and CANN's names count bits: a base keeps its meaning."""
    mine, theirs = chip("names cann", "cell s32 bf16 -> f32", base="paddle"), sz.rule_set("paddle")
    assert mine.dtypes == theirs.dtypes
    for a in theirs.dtypes:
        for b in theirs.dtypes:
            other = {a, b} == {sz.int32, sz.bfloat16}
            assert mine.pair(a, b).dtype is (sz.float32 if other else theirs.pair(a, b).dtype)
            for kind in ("bool", "int", "float", "complex"):
                assert mine.number(a, kind).dtype is theirs.number(a, kind).dtype
    assert mine.drift == theirs.drift
    assert sz.table(mine).tensor_rows()[0][1:3] == ["u8", "s8"]


def test_a_base_keeps_numbers_that_the_text_does_not_list() -> None:
    mine = chip("[numbers]", "     bool int float complex", "i8   i8   i8  f16   c64")
    assert sz.result_type("i8", 0.5, rules=mine) is sz.float16
    assert sz.result_type("i16", 0.5, rules=mine) is sz.float32


def test_a_name_is_needed() -> None:
    with pytest.raises(sz.InvalidArgument, match="no line 'name'"):
        sz.RuleSet.from_text("like torch\n")


def test_any_file_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("chip", "my chip.rules", "chip.txt"):
        Path(name).write_text("name chip\nlike torch\n")
        assert library.rules_or_file(f" {name} ").file == str(tmp_path / name)
    Path("torch").write_text("name chip\nlike cann\n")
    assert library.rules_or_file("torch") is sz.rule_set("torch")
    with pytest.raises(sz.InvalidArgument, match="Did you mean 'torch'.*No file has that name"):
        library.rules_or_file("troch")
    with pytest.raises(sz.InvalidArgument, match="'none/chip' cannot be read"):
        library.rules_or_file("none/chip")


def test_another_process_learns_it() -> None:
    def widest(a: sz.DType, b: sz.DType) -> sz.DType:
        return max(a, b, key=lambda d: d.bits)

    text = "name chip\nlike torch\ncell i32 bf16 -> f32"
    for mine in (
        sz.RuleSet.from_text(text),
        sz.RuleSet.from_function("wide", ["i8", "f16", "f32"], widest),
    ):
        sz.register_rules(mine)
        assert pickle.loads(pickle.dumps(mine)) is mine
        code = (
            "import pickle, sys, suanzi as sz\n"
            "got = pickle.load(sys.stdin.buffer)\n"
            "assert sz.rule_set(got.name) is got\n"
            "print(*[got.pair(a, b).dtype for a in got.dtypes for b in got.dtypes],\n"
            "      *[sz.explain(a, 0.5, rules=got).dtype for a in got.dtypes])"
        )
        there = subprocess.run(
            [sys.executable, "-c", code], input=pickle.dumps(mine), capture_output=True, check=True
        ).stdout.decode()
        here = [mine.pair(a, b).dtype for a in mine.dtypes for b in mine.dtypes]
        here += [sz.explain(a, 0.5, rules=mine).dtype for a in mine.dtypes]
        assert there.split() == [str(x) for x in here]
    outside = sz.RuleSet.from_function(
        "out", ["i8"], lambda a, b: a, number=lambda d, kind: sz.float32
    )
    with pytest.raises(sz.InvalidArgument, match="made of functions"):
        library.text_for_others(outside)
