"""7.2.9: rounding to whole numbers: exact, and a zero keeps the sign of what was rounded."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from suanzi.conformance.cases import Wanted, cases_of
from suanzi.conformance.cases._elementwise import Elementwise, all_cases
from suanzi.conformance.model.case import Case
from suanzi.conformance.model.data import special
from suanzi.conformance.model.numbers import FORMATS, Value, real, rounded, two
from suanzi.conformance.model.operators import exact_unary

_MODES = {"DOWNWARD": "floor", "UPWARD": "ceil", "TOWARDZERO": "trunc", "TONEAREST": "round"}


@cases_of("floor", "ceil", "trunc", "round")
def whole_numbers(op: str, wanted: Wanted) -> Iterator[Case]:
    """Give whole numbers near others; of two equally near ones, `round` takes the even one."""
    facts = Elementwise(
        op, ("x",), lambda dtype, row: exact_unary(op, dtype, *row), special=_special
    )
    return all_cases(facts, wanted)


@cases_of("rint")
def in_four_ways(op: str, wanted: Wanted) -> Iterator[Case]:
    """Give the same in each of its modes."""
    for mode, way in _MODES.items():
        facts = Elementwise(
            op,
            ("x",),
            lambda dtype, row, way=way: exact_unary(way, dtype, *row),  # type: ignore[misc]
            special=_special,
            more={"mode": mode},
            label=mode.lower(),
        )
        yield from all_cases(facts, wanted)


def _special(dtype: str) -> list[Value]:
    """Return special values, halves and their neighbours, and numbers at the end of fractions."""
    form = FORMATS[dtype]
    sizes = [Fraction(2 * k + 1, 2) for k in range(8)]
    sizes += [half * (1 + side * two(-form.mantissa)) for half in sizes for side in (-1, 1)]
    sizes += [two(form.mantissa - k) + Fraction(1, 2) for k in range(3)]
    sizes += [two(form.mantissa + k) + 1 for k in range(2)]
    more = dict.fromkeys(rounded(form, real(s * sign)) for s in sizes for sign in (1, -1))
    known = special(dtype)
    return [*known, *(x for x in more if x not in known)]
