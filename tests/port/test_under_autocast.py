"""Which dtype autocast gives for an operator, by framework and level."""

from __future__ import annotations

import json

import pytest

import suanzi as sz
from suanzi.front.cli import main
from suanzi.port import autocast, explain_autocast
from suanzi.port.under_autocast import Row


def rows(*operands: str, op: str, rules: str) -> list[Row]:
    return list(explain_autocast(*operands, op=op, rules=rules).found)


def dtypes(*operands: str, op: str, rules: str) -> list[tuple[str, str]]:
    return [(str(one.computed), str(one.result)) for one in rows(*operands, op=op, rules=rules)]


@pytest.mark.parametrize(
    ("op", "operands", "rules", "found"),
    [
        ("bmm", "f32 f32", "torch", [("bfloat16", "bfloat16")] * 2),
        ("bmm", "f32 f32", "paddle", [("float32", "float32"), ("bfloat16", "bfloat16")]),
        ("bmm", "f16 f32", "torch_npu", [("float16", "float16")]),
        ("softmax", "bf16", "torch", [("float32", "float32"), ("bfloat16", "bfloat16")]),
        ("linear", "f32 f32", "mindspore", [("bfloat16", "bfloat16"), ("bfloat16", "float32"),
                                            ("bfloat16", "bfloat16"), ("bfloat16", "bfloat16")]),
        ("add", "f16 f32", "torch_npu", [("float32", "float32")]),
        ("bmm", "f16 f32", "paddle", [("None", "None"), ("float16", "float16")]),
        ("matmul", "f32 i64", "torch_npu", [("bfloat16", "bfloat16")]),
    ],
)  # fmt: skip
def test_what_is_given(op: str, operands: str, rules: str, found: list[tuple[str, str]]) -> None:
    assert dtypes(*operands.split(), op=op, rules=rules) == found


def test_why() -> None:
    (_, o1, *_) = rows("f32", op="linear", rules="mindspore")
    assert o1.why == "casts to the lower precision, and the result back to float32"
    (jax,) = rows("f32", op="linear", rules="jax")
    assert (jax.title, jax.why) == ("", "has no autocast: the program casts")
    (paddle, _) = rows("f16", "f32", op="add", rules="paddle")
    assert (paddle.computed, paddle.why) == (None, "not in its lists, and may be made of others")
    assert all(one.source for one in explain_autocast("f32", op="bmm").found)


def test_every_file_of_lists_is_asked() -> None:
    from pathlib import Path

    files = {path.stem for path in Path(autocast.__file__).parent.glob("autocasts/*.txt")}
    assert {file for some in autocast.LISTS.values() for file in some} == files
    assert len(explain_autocast("f32", op="bmm").found) == len(files)


@pytest.mark.parametrize(
    ("operands", "op", "said"),
    [
        (["f32"], "softmx", "Did you mean 'softmax'"),
        (["f64"], "bmm", "does not cast float64"),
        (["i64", "i64"], "bmm", "tensors of floats"),
    ],
)
def test_bad_questions(operands: list[str], op: str, said: str) -> None:
    with pytest.raises(sz.InvalidArgument, match=said):
        explain_autocast(*operands, op=op)


def test_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    asked = "explain f32 f32 --op bmm --autocast --rules".split()
    assert main([*asked, "torch,paddle"]) == 0
    expected = explain_autocast("f32", "f32", op="bmm", rules="torch,paddle")
    assert capsys.readouterr().out == f"{expected}\n"
    assert main([*asked, "all", "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data == explain_autocast("f32", "f32", op="bmm").to_dict()
    assert data["lower"] == "bfloat16"
    assert main(["explain", "f32", "--autocast"]) == 2
    assert "needs an operator" in capsys.readouterr().err
    assert main([*asked, "torch", "--like", "paddle"]) == 2
    assert "--like" in capsys.readouterr().err
