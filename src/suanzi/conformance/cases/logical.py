"""7.2.6: logic: whatever is not zero is true, NaN too."""

from __future__ import annotations

from collections.abc import Iterator

from suanzi.conformance.cases import Wanted, cases_of
from suanzi.conformance.cases._elementwise import Elementwise, all_cases
from suanzi.conformance.model.case import Case
from suanzi.conformance.model.data import anything, ordinary
from suanzi.conformance.model.numbers import FORMATS, PARTS, Value, real
from suanzi.conformance.model.operators import exact_binary, exact_unary


@cases_of("logical_and", "logical_or", "logical_xor")
def of_two(op: str, wanted: Wanted) -> Iterator[Case]:
    """Give the functions of two truth values."""
    facts = Elementwise(
        op,
        ("x", "y"),
        lambda dtype, row: exact_binary(op, dtype, *row),
        lambda dtype: "bool",
        ordinary=_often_zero,
        random=_any_often_zero,
    )
    return all_cases(facts, wanted)


@cases_of("logical_not")
def of_one(op: str, wanted: Wanted) -> Iterator[Case]:
    """Give what is false of each."""
    facts = Elementwise(
        op,
        ("x",),
        lambda dtype, row: exact_unary(op, dtype, *row),
        lambda dtype: "bool",
        ordinary=_often_zero,
        random=_any_often_zero,
    )
    return all_cases(facts, wanted)


def _often_zero(dtype: str, count: int, seed: object, operand: int) -> list[Value]:
    return _zeroed(dtype, ordinary(dtype, count, (seed, operand)), operand)


def _any_often_zero(dtype: str, count: int, seed: object, operand: int) -> list[Value]:
    return _zeroed(dtype, anything(dtype, count, (seed, operand)), operand)


def _zeroed(dtype: str, values: list[Value], operand: int) -> list[Value]:
    """Make every second of x and two of four of y zero, so that all pairs of truths meet."""
    zero: Value = (real(0), real(0)) if dtype in PARTS else real(0) if dtype in FORMATS else 0
    return [zero if i >> operand & 1 else x for i, x in enumerate(values)]
