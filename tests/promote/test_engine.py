from __future__ import annotations

import json
from enum import IntEnum
from itertools import combinations, permutations
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import suanzi as sz
from helpers.numpys import needs_numpy_2
from suanzi import _core
from suanzi.base.dtypes import DTYPES
from suanzi.promote.operators import OPERATORS, OperatorClass, operator

ALL_RULES = [*sz.rule_sets(), "openvino+unsafe", "openvino+unsafe+scalar", "openvino+scalar"]

OPERANDS = st.one_of(
    st.sampled_from(DTYPES),
    st.sampled_from(DTYPES).map(sz.ZeroDim),
    st.sampled_from(["bool", "int", "float", "complex"]).map(sz.Number),
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.floats(),
    st.complex_numbers(),
)


@given(
    operands=st.lists(OPERANDS, min_size=1, max_size=4),
    rules=st.sampled_from(ALL_RULES),
    op=st.sampled_from([None, *OPERATORS]),
)
def test_any_question_has_an_answer_in_any_order(
    operands: list[object], rules: str, op: str | None
) -> None:
    found = {sz.explain(*order, rules=rules, op=op).dtype for order in permutations(operands)}
    assert len(found) == 1
    explanation = sz.explain(*operands, rules=rules, op=op)
    text = str(explanation)
    assert explanation.reason in text
    if explanation.refused:
        with pytest.raises(sz.TypeMismatch) as caught:
            sz.result_type(*operands, rules=rules, op=op)
        message = str(caught.value)
        assert rules in message
        assert "\n" not in message
    else:
        assert sz.result_type(*operands, rules=rules, op=op) is explanation.dtype


def test_several_operands_follow_the_live_numpy() -> None:
    dtypes = sz.rule_set("numpy").dtypes
    for count in (3, 4):
        for chosen in combinations(dtypes, count):
            expected = np.result_type(*(d.name for d in chosen)).name
            assert sz.result_type(*chosen, rules="numpy").name == expected, chosen


# {u64, i8, f16} and its like: a fold would give float64; checked against the live package, too,
# by tests/live.
@pytest.mark.parametrize(
    ("operands", "expected"),
    [
        ("uint64 int8 float16", "float16"),
        ("uint64 int8 int16", "float64"),
        ("uint64 int8 bfloat16", "bfloat16"),
        ("uint64 int64 complex64", "complex64"),
    ],
)
def test_several_operands_in_jax(operands: str, expected: str) -> None:
    for order in permutations(operands.split()):
        assert sz.result_type(*order, rules="jax").name == expected


def test_cann_on_its_non_associative_triple() -> None:
    for order in permutations((sz.float16, sz.bfloat16, sz.complex32)):
        assert sz.result_type(*order, rules="cann") is sz.complex32


def test_a_refused_pair_refuses_the_whole() -> None:
    for order in permutations((sz.bool, sz.uint16, sz.float16)):
        with pytest.raises(sz.TypeMismatch, match="row bool, column u16 refuses|row u16"):
            sz.result_type(*order, rules="torch")


def test_repeated_operands_count_once() -> None:
    assert sz.result_type(sz.int8, sz.int8, sz.float16, sz.int8, rules="cann") is sz.float16


@pytest.mark.parametrize("rules", ALL_RULES)
@pytest.mark.parametrize("dt", DTYPES, ids=str)
def test_equal_dtypes_need_no_promotion(rules: str, dt: sz.DType) -> None:
    there = sz.rule_set(rules).made.get(dt, dt)  # JAX as it comes has no 64 bits
    assert sz.promote_types(dt, dt, rules=rules) is there
    assert sz.result_type(dt, rules=rules) is there
    assert sz.result_type(dt, sz.ZeroDim(dt), rules=rules) is there


def test_unknown_dtypes_are_refused_by_name() -> None:
    with pytest.raises(sz.TypeMismatch, match="NumPy has no rule for bfloat16"):
        sz.promote_types(sz.bfloat16, sz.float32, rules="numpy")


@pytest.mark.parametrize(
    ("rules", "dim", "zero", "expected"),
    [
        ("torch", "int8", "int64", "int8"),
        ("torch", "int8", "float64", "float64"),
        ("torch", "float16", "float64", "float16"),
        ("torch", "float16", "complex128", "complex32"),
        ("torch", "bfloat16", "complex128", "complex64"),
        ("torch", "complex64", "float64", "complex64"),
        ("torch", "bool", "uint8", "uint8"),
        ("torch", "uint16", "complex64", "complex64"),
        ("torch", "bool", "uint16", None),
        ("paddle", "int8", "int64", "int8"),
        ("paddle", "int32", "float16", "float16"),
        ("paddle", "float16", "complex64", "complex64"),
        ("paddle", "complex64", "float64", "complex128"),
        ("numpy", "int8", "int64", "int64"),
        ("jax", "int8", "int64", "int64"),
        ("mindspore", "int8", "int64", "int64"),
        ("cann", "int8", "int64", "int64"),
        ("openvino", "int8", "int64", "int64"),
        ("openvino+scalar", "int64", "int8", "int64"),
        ("openvino+scalar", "int8", "int64", None),
        ("openvino+unsafe+scalar", "int8", "int64", "int8"),
    ],
)
def test_zero_dim(rules: str, dim: str, zero: str, expected: str | None) -> None:
    found = sz.explain(sz.dtype(dim), sz.ZeroDim(zero), rules=rules).dtype
    assert found is (expected and sz.dtype(expected))


def test_two_zero_dim_tensors_pass_paddles_gate() -> None:
    assert sz.explain(sz.int32, sz.float32, rules="paddle").layer == "gate"
    both = sz.result_type(sz.ZeroDim(sz.int32), sz.ZeroDim(sz.float32), rules="paddle")
    assert both is sz.float32


@pytest.mark.parametrize(
    ("rules", "operand", "op", "expected"),
    [
        ("cann", "int32", "exp", "float32"),
        ("cann", "bool", "sqrt", "float32"),
        ("cann", "int64", "true_divide", "float32"),
        ("cann", "float16", "exp", "float16"),
        ("cann", "int32", "add", "int32"),
        ("numpy", "int8", "exp", "float16"),
        ("numpy", "uint16", "exp", "float32"),
        ("numpy", "int32", "exp", "float64"),
        ("numpy", "int8", "true_divide", "float64"),
        ("jax", "int32", "exp", "float32"),
        ("jax", "int64", "true_divide", "float64"),
        ("strict", "int32", "exp", None),
        ("strict", "int32", "true_divide", "float32"),
        ("strict", "bool", "true_divide", "float32"),
        ("strict", "bool", "reciprocal", None),
        ("cann", "bool", "reciprocal", None),
        ("numpy", "bool", "reciprocal", None),
        ("cann", "int8", "reciprocal", "float32"),
        ("torch", "int64", "pow", "float32"),
        ("torch", "uint8", "bitwise_and", "uint8"),
        ("torch", "bool", "bitwise_not", "bool"),
        ("torch", "float32", "bitwise_and", None),
        ("torch", "char", "add", None),
        ("torch", "char", "concat", "char"),
    ],
)
def test_what_an_operator_class_asks(
    rules: str, operand: str, op: str, expected: str | None
) -> None:
    for operands in ((operand,), (operand, operand)):
        found = sz.explain(*map(sz.dtype, operands), rules=rules, op=op).dtype
        assert found is (expected and sz.dtype(expected))


def test_a_number_can_lift_an_integer_before_true_division() -> None:
    assert sz.result_type(sz.int8, 2, rules="cann", op="/") is sz.float32
    assert sz.result_type(sz.float16, 2, rules="cann", op="/") is sz.float16


def test_joining_in_paddle_is_gated_per_operator() -> None:
    assert sz.result_type(sz.float16, sz.float32, rules="paddle", op="where") is sz.float32
    for op in ("concat", "stack"):
        with pytest.raises(sz.TypeMismatch, match="equal dtypes only"):
            sz.result_type(sz.float16, sz.float32, rules="paddle", op=op)
    # The native table remembers classes, so it must not have learnt one operator's gate.
    assert sz.result_type(sz.float16, sz.float32, rules="paddle", op="where") is sz.float32


@pytest.mark.parametrize(
    ("rules", "numbers", "expected"),
    [
        ("cann", (1, 2.5), sz.float32),
        ("cann", (1j,), sz.complex64),
        ("numpy", (1, 2.5), sz.float64),
        ("numpy", (True,), sz.bool),
        ("torch", (True, 3), sz.int64),
        ("openvino", (1, 2), sz.int64),
        ("openvino", (1j,), None),
    ],
)
def test_numbers_alone(rules: str, numbers: tuple[object, ...], expected: object) -> None:
    assert sz.explain(*numbers, rules=rules).dtype is expected


def test_a_number_beside_a_dtype_the_rules_do_not_know() -> None:
    assert sz.result_type(sz.float8_e4m3fn, 2, rules="cann") is sz.float8_e4m3fn
    assert sz.explain(sz.float8_e4m3fn, 1j, rules="cann").refused
    assert sz.explain(sz.char, 1, rules="cann").refused


def test_quantised_operands_are_computed_in_float() -> None:
    q, other = sz.QT_SYM_INT8, sz.QT_ASYM_UINT8
    assert sz.promote_types(q, q) is q
    assert sz.result_type(q, q, op="concat") is q
    assert sz.result_type(q, q, op="add") is sz.float32
    assert sz.result_type(q, other) is sz.float32
    assert sz.result_type(q, sz.float64) is sz.float64
    assert sz.result_type(q, sz.int8, op="==") is sz.float32
    assert sz.result_type(q, 2, op="mul") is sz.float32
    assert sz.result_type(q, q, op="add", rules="lossless") is sz.float64


def test_arrays_are_operands() -> None:
    one, zero = np.ones(2, np.int8), np.ones((), np.int64)
    assert sz.result_type(one, zero, rules="torch") is sz.int8
    assert sz.result_type(one, zero, rules="numpy") is sz.int64
    assert sz.result_type(one, np.float64(2), rules="numpy") is sz.float64
    assert sz.result_type(one, 2.0, rules="numpy") is sz.float64


def test_python_types_are_dtypes_and_subclasses_are_numbers() -> None:
    class Flag(int):
        pass

    assert sz.result_type(sz.int8, int, rules="numpy") is sz.int64
    assert sz.result_type(sz.int8, Flag(3), rules="numpy") is sz.int8


@pytest.mark.parametrize("bad", [None, [1], object(), {}, b"int8"])
def test_bad_operands(bad: object) -> None:
    with pytest.raises(sz.TypeMismatch, match="an operand is"):
        sz.result_type(sz.int8, bad)


def test_no_operand() -> None:
    for question in (sz.result_type, sz.explain, sz.explain_all):
        with pytest.raises(sz.InvalidArgument, match="no operand given"):
            question()


def test_operators() -> None:
    assert operator("op_add") == operator("ADD") == operator("+") == ("add", 1)
    assert operator("real-function") == operator(OperatorClass.REAL_FUNCTION)
    assert operator("TRUE_DIVISION").title == "true division"
    assert operator(operator("add")) == operator("add")
    assert operator(None).title == operator("any").title == ""
    for symbol, name in (("<<", "bitwise_left_shift"), ("**", "pow"), ("!=", "not_equal")):
        assert operator(symbol) == (name, OPERATORS[name])
    with pytest.raises(sz.InvalidArgument, match="Did you mean 'add'"):
        sz.result_type(sz.int8, op="ad")


@pytest.mark.parametrize("bad", [1, ["add"], max, b"add", object()])
def test_bad_operators(bad: object) -> None:
    for question in (sz.result_type, sz.explain):
        with pytest.raises(sz.InvalidArgument, match="is not an operator"):
            question(sz.int8, sz.int8, op=bad)


def test_the_native_table_and_the_engine_agree() -> None:
    dtypes = [*sz.rule_set("torch").dtypes, 1, 2.5, True, 1j]
    for op in (None, "add", "true_divide", "bitwise_and", "==", "exp", "concat"):
        for a, b in permutations(dtypes, 2):
            slow = sz.explain(a, b, rules="torch", op=op).dtype
            for _ in range(2):
                try:
                    fast = sz.result_type(a, b, rules="torch", op=op)
                except sz.TypeMismatch:
                    fast = None
                assert fast is slow


def test_the_native_table_answers_without_the_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    from suanzi.promote import engine

    questions = [
        ((sz.int32, sz.float16), {}),
        ((sz.int32, sz.float16), {"rules": "numpy"}),
        ((sz.int32, 2.5), {"op": "add"}),
        ((3, sz.int8), {"op": "+", "rules": "numpy"}),
        ((sz.int8, -128), {"op": "+", "rules": "numpy"}),
        ((sz.int8, sz.ZeroDim(sz.int64)), {"rules": "jax", "op": "=="}),
    ]
    expected = [sz.result_type(*operands, **kwargs) for operands, kwargs in questions]

    def fail(*args: object) -> None:
        raise AssertionError("the engine was asked")

    monkeypatch.setattr(engine, "answer", fail)
    assert [sz.result_type(*operands, **kwargs) for operands, kwargs in questions] == expected
    assert sz.promote_types("i32", "f16") is sz.float16
    for unknown in ((sz.int8, 300), (sz.int8, -129), (sz.int8, 2**70)):
        with pytest.raises(AssertionError):
            sz.result_type(*unknown, rules="numpy")


@needs_numpy_2
def test_what_numpy_does_with_numbers_that_do_not_fit() -> None:
    for number in (300, -129, 2**70):
        for _ in range(2):
            with pytest.raises(sz.TypeMismatch, match="int8 does not hold"):
                sz.result_type(sz.int8, number, rules="numpy")
            with pytest.raises(OverflowError):
                np.ones(2, np.int8) + number
        found = sz.explain(sz.int8, number, rules="numpy", op="==")
        assert (found.layer, found.exact) == ("exact comparison", True)
        assert not (np.ones(2, np.int8) == number).any()
    assert sz.result_type(sz.int8, 100, rules="numpy") is sz.int8
    assert sz.result_type(sz.float16, 10**6, rules="numpy") is sz.float16
    assert sz.result_type(sz.int8, sz.Number(int), rules="numpy") is sz.int8


def test_numpy_compares_integers_exactly() -> None:
    found = sz.explain(sz.uint64, sz.int64, rules="numpy", op="<")
    assert (found.layer, found.output) == ("exact comparison", sz.bool)
    assert sz.explain(sz.uint64, sz.int64, rules="numpy").dtype is sz.float64
    assert sz.explain(sz.int64, sz.float64, rules="numpy", op="<").dtype is sz.float64
    assert sz.explain(sz.uint32, sz.int64, rules="numpy", op="<").dtype is sz.int64
    assert np.uint64(2**53 + 1) > np.int64(2**53)


@pytest.mark.parametrize(
    ("op", "dim", "zero", "expected"),
    [
        ("add", "int8", "int64", "int8"),
        ("==", "int8", "int64", "int8"),
        ("floordiv", "uint8", "int16", "int16"),
        ("floordiv", "int32", "float32", "float32"),
        ("max", "int8", "int64", None),
        ("max", "float16", "float32", "float32"),
        ("logical_and", "int8", "int64", None),
        ("bitwise_and", "int8", "int64", None),
        ("where", "float16", "float32", "float32"),
        ("where", "int8", "int64", None),
    ],
)
def test_zero_dim_in_paddle_by_operator(op: str, dim: str, zero: str, expected: str | None) -> None:
    found = sz.explain(sz.dtype(dim), sz.ZeroDim(zero), rules="paddle", op=op).dtype
    assert found is (expected and sz.dtype(expected))


def test_abs_of_complex_is_real() -> None:
    for whole, part in ((sz.complex32, sz.float16), (sz.complex128, sz.float64)):
        assert sz.explain(whole, op="abs").output is part
    assert sz.explain(sz.int8, op="abs").output is sz.int8


def uninitialised() -> list[object]:
    class Careless(sz.RuleSet):
        def __init__(self) -> None:
            pass

    return [sz.RuleSet.__new__(sz.RuleSet), Careless(), _core.RuleTable.__new__(_core.RuleTable)]


def test_uninitialised_objects_are_refused_not_read() -> None:
    """A crash here ends the process, so this test is first of all that it returns."""
    for rules in uninitialised():
        for question in (sz.promote_types, sz.result_type, sz.explain):
            with pytest.raises((sz.InvalidArgument, AttributeError, TypeError)):
                question(sz.int8, sz.int16, rules=rules)
    with pytest.raises(TypeError, match="dtypes cannot be created"):
        sz.DType.__new__(sz.DType)
    with pytest.raises(TypeError):
        _core.use_rules(3, {})
    with pytest.raises(AttributeError):
        _core.accelerate(3)
    assert sz.promote_types("i8", "i16") is sz.int16
    with pytest.raises(IndexError):
        sz.rule_set("cann")._remember(99, 0, 0, sz.int8)


def test_numbers_of_odd_types() -> None:
    class Colour(IntEnum):
        RED = 300

    for rules in ALL_RULES:
        assert sz.explain(sz.int16, Colour.RED, rules=rules).dtype is (
            sz.explain(sz.int16, 300, rules=rules).dtype
        )
        assert sz.explain(sz.char, 1, rules=rules).refused
        assert sz.explain(sz.char, sz.char, rules=rules, op="==").refused
    for bad in (3, None, "str"):
        with pytest.raises(sz.InvalidArgument, match="is not a Python number"):
            sz.Number(bad)  # type: ignore[arg-type]


def test_a_number_of_thousands_of_digits() -> None:
    huge = 10**5000
    assert "1.000e+5000" in str(sz.explain(sz.int8, huge, rules="torch"))
    assert json.dumps(sz.explain(sz.float64, 10**400, rules="torch").to_dict())
    with pytest.raises(sz.TypeMismatch, match="e\\+5000"):
        sz.result_type(sz.int8, huge, rules="numpy")


def test_framework_tensors() -> None:
    weak = SimpleNamespace(dtype=np.dtype("float64"), ndim=0, weak_type=True)
    assert sz.result_type(sz.bfloat16, weak, rules="jax") is sz.bfloat16

    class Node:
        __module__ = "openvino"

        def get_element_type(self) -> str:
            return "f16"

        def get_shape(self) -> list[int]:
            return [2]

    assert sz.result_type(Node(), sz.float32, rules="openvino") is sz.float32


def test_bad_calls_of_the_native_functions() -> None:
    with pytest.raises(TypeError):
        sz.promote_types(sz.int8)  # type: ignore[call-arg]
    assert sz.promote_types(a=sz.int8, b=sz.int16) is sz.int16
    with pytest.raises(TypeError):
        sz.promote_types(sz.int8, sz.int8, sz.int8)  # type: ignore[call-arg]
    with pytest.raises(TypeError):
        sz.promote_types(sz.int8, sz.int8, rule="cann")  # type: ignore[call-arg]
    with pytest.raises(TypeError):
        sz.promote_types(sz.int8, sz.int8, op="add")  # type: ignore[call-arg]
    for bad in ("can", 3, b"cann", ["cann"]):
        with pytest.raises(sz.InvalidArgument, match="is not a rule set"):
            sz.promote_types(sz.int8, sz.int8, rules=bad)  # type: ignore[arg-type]
