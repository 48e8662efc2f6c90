"""What rule sets say beside promotion: dtypes that are not there, and results that are written."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import suanzi as sz
from suanzi.promote.writing import RULES, WAYS


def test_without_x64_there_are_no_64_bits() -> None:
    for dt, made in ((sz.int64, sz.int32), (sz.float64, sz.float32), (sz.uint64, sz.uint32)):
        assert sz.result_type(dt, dt, rules="jax_x32") is made
        assert sz.result_type(dt, sz.ZeroDim(made), rules="jax_x32") is made
    found = sz.explain(sz.int64, sz.int64, rules="jax_x32", op="add")
    assert found.layer == "made as"
    assert found.counter_example == 2**31
    assert "jax.numpy.ones" in found.source


def test_both_of_jax_have_a_name() -> None:
    assert sz.rule_set("jax_x64") is sz.rule_set("jax")
    assert sz.result_type(sz.int64, 2.5, rules="jax_x64") is sz.float64
    assert sz.result_type(sz.int64, 2.5, rules="jax_x32") is sz.float32


def test_operators_follow_it() -> None:
    with sz.promotion("jax_x32"):
        assert (sz.tensor([1, 2]) + sz.tensor([1, 2])).dtype is sz.int32


def test_the_pytorch_frontend_of_openvino() -> None:
    scale = sz.ZeroDim("f32")
    assert sz.result_type(sz.float16, scale, rules="openvino+torch") is sz.float16
    assert sz.result_type(sz.float16, 2.5, rules="openvino+torch") is sz.float16
    assert sz.result_type(sz.int64, 2.5, rules="openvino+torch") is sz.float32
    assert sz.result_type(sz.int64, sz.float16, rules="openvino+torch") is sz.float16


def test_mindspore_multiplies_by_a_0d_tensor_as_torch_does() -> None:
    asked = (sz.float16, sz.ZeroDim("f32"))
    found = {op: sz.result_type(*asked, rules="mindspore", op=op) for op in ("mul", "/", "add")}
    assert found == {"mul": sz.float16, "/": sz.float16, "add": sz.float32}


def test_numpy_writes_as_its_rule_says() -> None:
    names = "bool i8 u8 i16 u16 i64 u64 f16 f32 f64 c64 c128".split()
    rule = sz.rule_set("numpy").writes["in-place"]
    for a, b in itertools.product(map(sz.dtype, names), repeat=2):
        x, y = np.ones(2, a.name), np.ones(2, b.name)
        cell = rule.answer(sz.promote_types(a, b, rules="numpy"), a)
        try:
            x *= y
        except TypeError:
            assert cell.dtype is None, (a, b)
        else:
            assert cell.dtype is a, (a, b)


@pytest.mark.parametrize(
    ("rules", "result", "target", "there"),
    [
        ("torch", sz.float32, sz.bfloat16, sz.bfloat16),
        ("torch", sz.float32, sz.int64, None),
        ("torch", sz.int64, sz.uint8, sz.uint8),
        ("torch", sz.int64, sz.bool, None),
        ("numpy", sz.int64, sz.uint8, None),
        ("cann", sz.float32, sz.float16, sz.float16),
        ("jax", sz.float32, sz.bfloat16, sz.float32),
    ],
)
def test_what_is_there_after_writing(
    rules: str, result: sz.DType, target: sz.DType, there: sz.DType | None
) -> None:
    assert sz.rule_set(rules).writes["in-place"].answer(result, target).dtype is there


def test_what_is_not_known_is_not_there() -> None:
    assert "in-place method" not in sz.rule_set("paddle").writes
    assert not sz.rule_set("lossless").writes
    assert set(sz.rule_set("torch").writes) == set(WAYS)


def test_a_word_that_is_no_rule_is_refused() -> None:
    with pytest.raises(sz.InvalidArgument, match="'in-place maybe' is none of category, same kind"):
        sz.RuleSet.from_text("name x\nin-place maybe\n[tensors]\n   i8\ni8 i8\n")
    assert list(RULES) == ["category", "same kind", "rebinds", "none"]
