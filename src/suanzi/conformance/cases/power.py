"""7.2.8: powers and roots."""

from __future__ import annotations

from collections.abc import Iterator
from math import isfinite, ldexp
from random import Random

from suanzi.conformance.cases import Wanted, cases_of
from suanzi.conformance.cases._elementwise import Elementwise, Row, all_cases, from_rows
from suanzi.conformance.cases._functions import function_cases, functions_of
from suanzi.conformance.model.case import Case
from suanzi.conformance.model.data import ordinary, special
from suanzi.conformance.model.numbers import FORMATS, Real, Value, real, rounded
from suanzi.conformance.truth.functions import as_real, mp, number, power

cases_of(*functions_of("power"))(function_cases)


@cases_of("pow")
def powers(op: str, wanted: Wanted) -> Iterator[Case]:
    """Give powers; special ones are as IEEE 754 and C's Annex F have them."""
    facts = Elementwise(
        op,
        ("x", "e"),
        lambda dtype, row: as_real(power(*(_float(x) for x in row))),
        defined=lambda dtype, row: not _has_none(row),
        # A positive base, or most results would be NaN.
        ordinary=lambda dtype, count, seed, operand: ordinary(
            dtype, count, (seed, operand), low=-4 if operand else 0.25, high=4
        ),
    )
    yield from all_cases(facts, wanted)
    for dtype in facts.dtypes:
        if wanted.wants("random", dtype):
            rows = list(_in_range(dtype, 40 if wanted.quick else 150, wanted.seed))
            yield from_rows(facts, "random", dtype, "results in range", rows, wanted)
        if wanted.wants("special", dtype):
            some: list[Row] = [(x, e) for x in special(dtype) for e in special(dtype)]
            kept = [row for row in some if _has_none(row)][:: 3 if wanted.quick else 1]
            yield from_rows(
                facts, "special", dtype, "outside the domain or at a pole", kept, wanted
            )
        if wanted.wants("plain", dtype):
            whole: list[Row] = [
                (_rounded(dtype, x), _rounded(dtype, e))
                for x in (-3.0, -1.0, -0.5, 0.5, 1.0, 2.0, 2.5)
                for e in (-4.0, -3.0, -1.0, 0.0, 1.0, 2.0, 3.0, 5.0)
            ]
            yield from_rows(facts, "plain", dtype, "whole exponents", whole, wanted)


def _has_none(row: Row) -> bool:
    """Tell whether a power of two numbers is none, E90: of a negative base, or of zero."""
    x, e = (_float(v) for v in row)
    if x != x or e != e:
        return False
    made = as_real(power(x, e))
    return made.is_nan or (made.is_infinite and isfinite(x) and isfinite(e))


def _float(x: Value) -> float:
    assert isinstance(x, Real)
    return number(x)


def _rounded(dtype: str, x: float) -> Real:
    return rounded(FORMATS[dtype], real(x))


def _in_range(dtype: str, count: int, seed: int) -> Iterator[Row]:
    """Give powers from underflow to overflow: of any base, and of bases next to one."""
    random, form = Random(f"powers of {dtype} {seed}"), FORMATS[dtype]
    limit = form.bias
    for i in range(count):
        size = random.uniform(1, 2)
        if i % 2:
            base = ldexp(size, random.randint(-limit, limit - 1))
        else:
            base = 1 + random.choice((1, -1)) * ldexp(size, -random.randint(2, form.mantissa))
        x = _rounded(dtype, base)
        exact = _float(x)
        if exact in (0, 1) or not isfinite(exact):
            continue
        e = float(random.uniform(-limit - form.mantissa, limit + 1) / mp.log(exact, 2))
        if i % 6 == 5:
            x, e = -x, float(round(e))
        yield x, _rounded(dtype, e)
