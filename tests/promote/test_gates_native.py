"""Gates of operators in the native table: equal dtypes are answered there, unequal ones refused."""

from __future__ import annotations

import pytest

import suanzi as sz


@pytest.mark.parametrize("op", ["matmul", "dot", "@"])
@pytest.mark.parametrize("rules", ["torch", "paddle", "mindspore"])
def test_a_pair_is_refused_however_often_its_class_was_asked(rules: str, op: str) -> None:
    for _ in range(3):
        # The class of both remembers the pair by `add`.
        assert sz.result_type(sz.float32, sz.float32, op="add", rules=rules) is sz.float32
        assert sz.result_type(sz.float32, sz.float32, op=op, rules=rules) is sz.float32
        sz.result_type(sz.float32, sz.float64, op="add", rules=rules)
        with pytest.raises(sz.TypeMismatch):
            sz.result_type(sz.float32, sz.float64, op=op, rules=rules)


def test_products_of_equal_dtypes_take_the_fast_path(monkeypatch: pytest.MonkeyPatch) -> None:
    x, y = sz.tensor([1.0, 2.0], sz.float32), sz.tensor([1.0, 2.0], sz.float64)
    with sz.promotion("torch"):
        sz.matmul(x, x)

        def slow(*_: object, **__: object) -> None:
            raise AssertionError("the slow path")

        monkeypatch.setattr("suanzi.promote.engine.answer", slow)
        assert sz.matmul(x, x).tolist() == 5
        with pytest.raises((sz.TypeMismatch, AssertionError)):
            sz.matmul(x, y)


def test_a_rule_for_equal_dtypes_stays_with_its_operator() -> None:
    x = sz.tensor([1.0], sz.float16)
    with sz.promotion("triton"):
        for _ in range(3):
            assert (x + x).dtype is sz.float16
            assert (x / x).dtype is sz.float32
