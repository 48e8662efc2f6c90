"""7.2.5: comparison: NaN is unlike everything, and the zeros of two signs are equal."""

from __future__ import annotations

from collections.abc import Iterator

from suanzi.conformance.cases import Wanted, cases_of
from suanzi.conformance.cases._elementwise import Elementwise, all_cases, call
from suanzi.conformance.model.case import Case
from suanzi.conformance.model.data import anything, ordinary
from suanzi.conformance.model.numbers import FORMATS, Value, decode
from suanzi.conformance.model.operators import exact_binary


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
    yield from all_cases(facts, wanted)
    for dtype in facts.dtypes:
        if dtype in FORMATS and wanted.wants("plain", dtype):
            yield _of_neighbours(facts, dtype)


def _of_neighbours(facts: Elementwise, dtype: str) -> Case:
    """Return numbers next to each other, which no tolerance may make equal."""
    form = FORMATS[dtype]
    one = form.bias << form.mantissa
    low, high = decode(form, one), decode(form, one + 1)
    columns: list[list[Value]] = [[low, high, low, high], [high, low, low, high]]
    return call(facts, "plain", dtype, "neighbours", columns, [(4,), (4,)])


def _often_equal(operand: int, first: list[Value], second: list[Value]) -> list[Value]:
    if operand == 0:
        return first
    return [a if i % 3 == 0 else b for i, (a, b) in enumerate(zip(first, second, strict=True))]
