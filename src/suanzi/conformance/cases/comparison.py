"""7.2.5: comparison: NaN is unlike everything, and the zeros of two signs are equal."""

from __future__ import annotations

from collections.abc import Iterator

from suanzi.conformance.cases import Wanted, cases_of
from suanzi.conformance.cases._elementwise import Elementwise, all_cases
from suanzi.conformance.model.case import Case
from suanzi.conformance.model.data import anything, ordinary
from suanzi.conformance.model.numbers import Value, exact_binary


@cases_of("equal", "not_equal", "greater", "greater_equal", "less", "less_equal")
def comparisons(op: str, wanted: Wanted) -> Iterator[Case]:
    """Give comparisons, every third of equals."""
    facts = Elementwise(
        op,
        ("x", "y"),
        lambda dtype, row: exact_binary(op, dtype, *row),
        lambda dtype: "bool",
        ordinary=lambda dtype, count, seed, operand: _often_equal(
            operand, *(ordinary(dtype, count, (seed, i)) for i in (0, 1))
        ),
        random=lambda dtype, count, seed, operand: _often_equal(
            operand, *(anything(dtype, count, (seed, i)) for i in (0, 1))
        ),
    )
    return all_cases(facts, wanted)


def _often_equal(operand: int, first: list[Value], second: list[Value]) -> list[Value]:
    if operand == 0:
        return first
    return [a if i % 3 == 0 else b for i, (a, b) in enumerate(zip(first, second, strict=True))]
