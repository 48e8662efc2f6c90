"""What is said of a call that went wrong: its operands, its arguments, the sign of a zero."""

from __future__ import annotations

import pytest

from suanzi.conformance.cases import cases
from suanzi.conformance.judging.calls import call_of, operands_of, written
from suanzi.conformance.judging.verdict import Answer, verdict
from suanzi.conformance.model.case import Case, Output
from suanzi.conformance.model.data import tensor
from suanzi.conformance.model.numbers import real
from suanzi.conformance.subjects.wire import Data


def case(op: str, **given: object) -> Case:
    return Case(op, "plain", "float32", "made", given, lambda: ())


def test_several_calls_are_told_step_by_step() -> None:
    case = next(c for c in cases("wrap_tensor") if c.steps and c.dtype == "int32")
    assert "; y = wrap_tensor(dtype='int32', shape=[3, 5], values=x); y is read; " in call_of(case)


def test_the_operands_of_each_wrong_element() -> None:
    x, y = tensor("float32", [1.0, -1.25e-38, 3.0]), tensor("float32", [float("nan")], ())
    one = Case(
        "less", "plain", "float32", "nan", {"x": x, "y": y},
        lambda: (Output("bool", (3,), (0, 0, 0)),),
    )  # fmt: skip
    found = verdict(one, Answer("SUCCESS", [tensor("bool", [0, 1, 0])]), True)
    assert found.problem == "z: 1 of 3 elements: [1] less(-1.25e-38, nan): 1, not 0"


def test_operands_are_found_through_broadcasting() -> None:
    x, y = tensor("int8", [1, 2, 3], (3, 1)), tensor("int8", [10, 20])
    tell = operands_of(case("add", x=x, y=y), (3, 2))
    assert tell is not None
    assert [tell(i) for i in range(6)] == [
        f"add({a}, {b})" for a in (1, 2, 3) for b in (10, 20)
    ]  # fmt: skip


@pytest.mark.parametrize("layout", ["columns", "gaps", "reversed", "offset"])
def test_elements_are_counted_by_index_however_they_lie(layout: str) -> None:
    x = tensor("int8", [1, 2, 3, 4, 5, 6], (2, 3), layout)
    tell = operands_of(case("abs", x=x), (2, 3))
    assert tell is not None
    assert tell(3) == "abs(4)"


def test_other_arguments_have_their_names() -> None:
    tell = operands_of(case("round", x=tensor("float64", [2.5]), mode="UPWARD"), (1,))
    assert tell is not None
    assert tell(0) == "round(2.5, mode='UPWARD')"


def test_what_has_no_operands_of_its_own() -> None:
    x = tensor("int8", [1, 2, 3, 4], (2, 2))
    assert operands_of(case("matmul", x=x, y=x), (2, 2)) is None
    assert operands_of(case("add", x=x, y=x), (3,)) is None
    assert operands_of(case("zeros", shape=[2]), (2,)) is None


def wrong(dtype: str, found: list[object], truth: list[object]) -> str:
    wanted = Output(dtype, (len(truth),), tensor_values(truth))
    one = Case("reduce", "plain", dtype, "made", {}, lambda: (wanted,))
    return verdict(one, Answer("SUCCESS", [tensor(dtype, found)]), True).problem or ""  # type: ignore[arg-type]


def tensor_values(some: list[object]) -> tuple[object, ...]:
    return tuple(real(x) if isinstance(x, float) else x for x in some)


def test_the_sign_is_named_where_it_alone_is_wrong() -> None:
    assert wrong("float32", [-0.0], [0.0]).endswith("[0] -0, not 0 (the sign of zero)")
    assert wrong("float32", [-2.0], [2.0]).endswith("[0] -2, not 2 (the sign)")
    assert wrong("float32", [float("-inf")], [float("inf")]).endswith("-inf, not inf (the sign)")
    assert wrong("float32", [-2.5], [2.0]).endswith("[0] -2.5, not 2")
    assert wrong("int8", [-2], [2]).endswith("(the sign)")
    both = wrong("complex64", [(real(1.0), real(-0.0))], [(real(1.0), real(0.0))])
    assert both.endswith("(1, -0), not (1, 0) (the sign of zero)")


def test_a_call_is_short() -> None:
    x = tensor("float32", [0.1] * 4096, (64, 64), "columns")
    text = call_of(case("reduce", input=x, mode="SUM", axis=[0]))
    assert text == (
        "reduce(input=float32[64, 64] columns of 0.1, 0.1, 0.1, 0.1, 0.1, ..., "
        "mode='SUM', axis=[0])"
    )
    assert len(call_of(case("concat", tensors=[x] * 100))) <= 300
    nothing = Data("int8", (0, 2), b"")
    assert call_of(case("abs", x=nothing)) == "abs(x=int8[0, 2])"


@pytest.mark.parametrize(
    ("dtype", "text"),
    [("float16", "0.1"), ("float32", "1e-45"), ("float32", "3.4028235e+38"),
     ("float64", "0.30000000000000004"), ("bfloat16", "3.14")],
)  # fmt: skip
def test_numbers_have_no_more_digits_than_they_need(dtype: str, text: str) -> None:
    from suanzi.conformance.model.data import values

    (x,) = values(tensor(dtype, [float(text)]))
    assert written(x, dtype) == text
