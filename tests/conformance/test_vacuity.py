"""The vacuity gate: every dtype has a required value case, and none accepts a wrong answer.

By default a few cases of each interface and dtype; SUANZI_ALL_CASES=1 looks at all of them.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import islice, product

import pytest

from helpers.kit import named, one_of_each_kind
from helpers.kit import some as some_of
from suanzi.conformance.cases import Wanted, cases, dtypes_of
from suanzi.conformance.model.basis import STANDARD_DTYPES
from suanzi.conformance.model.case import Case
from suanzi.conformance.model.data import tensor, values
from suanzi.conformance.model.numbers import FORMATS, Real, add, real, rounded
from suanzi.conformance.vacuity import (
    accepts,
    has_values,
    is_required,
    right_answer,
    unnoticed,
    wrong_answers,
)
from suanzi.standard import interfaces

ALL = bool(os.environ.get("SUANZI_ALL_CASES"))
VALUES = frozenset({"plain", "broadcast", "strided", "random", "example", "sizes"} if ALL else
                   {"plain", "broadcast"})  # fmt: skip
SHARE = 10**6 if ALL else 1
"""How many cases of an interface and a dtype are tried."""
SMALL = 10**7 if ALL else 2000
"""The elements of the largest."""
WITHOUT_VALUES = {"destroy"}


def value_cases(op: str) -> dict[str, list[Case]]:
    """Return the value cases of an interface by dtype, as it may name two."""
    found: dict[str, list[Case]] = {}
    for case in cases(op, Wanted(groups=VALUES)):
        if case.skip is None:
            found.setdefault(case.dtype, []).append(case)
    return found


def chosen(some: list[Case]) -> Iterator[Case]:
    """Give required cases from all over the list, large ones last."""
    step = max(len(some) // SHARE, 1)
    spread = [c for i in range(step) for c in some[i::step]]
    spread.sort(key=lambda c: any(getattr(x, "size", 0) > SMALL for x in c.arguments.values()))
    known = (replace(c, expect=cache(c.expect)) for c in spread if may_be_required(c))
    with_values = (c for c in known if has_values(c.expect()) and is_required(c, c.expect()))
    return islice(with_values, SHARE)


def may_be_required(case: Case) -> bool:
    return case.why.basis not in ("quality", "extension")


@pytest.mark.parametrize("op", [op for op in interfaces() if op not in WITHOUT_VALUES])
def test_every_dtype_has_required_cases_that_accept_no_wrong_answer(op: str) -> None:
    """Wrong answers are tried in a dtype of each kind, another one for the next interface.

    Every dtype has a case; of the others every second is asked to accept the right answer.
    """
    found = value_cases(op)
    tried = found if ALL else one_of_each_kind(op, found)
    turn = list(interfaces()).index(op)
    for at, dtype in enumerate(dict.fromkeys((*needed(op), *found)), turn):
        some = list(chosen(found.get(dtype, [])))
        assert some or dtype not in needed(op) or only_extensions(op, dtype), (op, dtype)
        for case in some:
            if dtype in tried or at % 2 == 0:
                assert accepts(case, right_answer(case)), case.id
            if dtype in tried:
                assert unnoticed(case) == [], case.id


def needed(op: str) -> list[str]:
    """Return the dtypes of 6.2 that an interface takes; of cast every pair."""
    own = [d for d in dtypes_of(op) if d in STANDARD_DTYPES]
    return [f"{a}-{b}" for a, b in product(own, own)] if op == "cast" else own


def only_extensions(op: str, dtype: str) -> bool:
    """Tell whether results need a dtype that 6.2 lacks, as those of float16 that are complex."""
    wanted = Wanted(groups=frozenset({"plain"}), dtypes=frozenset({dtype}))
    return all(case.extension for case in cases(op, wanted))


# ---- long sums -----------------------------------------------------------------------------------


def long_sum(dtype: str, mode: str = "SUM", title: str = "of 4097 without rounding") -> Case:
    found = next(c for c in some_of("reduce", "plain", dtype) if c.title == f"{mode} {title}")
    return replace(found, expect=cache(found.expect))


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_one_missing_element_of_4097_is_wrong(dtype: str) -> None:
    case = long_sum(dtype)
    rows = [x.value for x in values(case.arguments["input"]) if isinstance(x, Real)]
    sums = [sum(rows[:4097]), sum(rows[4097:])]
    assert accepts(case, [tensor(dtype, [real(x) for x in sums])])
    for at in range(0, 4097, 512):
        if rows[at]:
            less = [real(sums[0] - rows[at]), real(sums[1])]
            assert not accepts(case, [tensor(dtype, less)]), at


def test_accumulation_in_float16_is_inaccurate_and_not_wrong() -> None:
    case = long_sum("float16", title="of 1024 of one sign")
    made = []
    found = [x for x in values(case.arguments["input"]) if isinstance(x, Real)]
    for row in range(4):
        total = real(0)
        for x in found[row * 1024 : (row + 1) * 1024]:
            total = rounded(FORMATS["float16"], add(total, x))
        made.append(total)
    assert accepts(case, [tensor("float16", made)])
    assert not accepts(case, [tensor("float16", [0.0] * 4)])


# ---- the engine ----------------------------------------------------------------------------------


def vacuous(title: str, **changes: object) -> Case:
    """Return a case that lets everything pass: a bound that is too wide."""
    case = named("add/plain/float32/24-elements")
    (right,) = case.expect()  # type: ignore[misc]
    return replace(case, title=title, expect=lambda: (replace(right, **changes),))


def test_a_vacuous_case_is_found() -> None:
    wide = tuple([Fraction(1000)] * 24)
    missed = unnoticed(vacuous("wide", allowed=wide))
    assert {"zeros", "sub instead", "the operand x", "the last element dropped"} <= set(missed)
    few = tuple([Fraction(1, 100)] * 24)
    assert unnoticed(vacuous("rough", rough=few)) == ["a lower precision"]
    assert unnoticed(vacuous("right")) == []


def test_the_wrong_answers_of_a_sum() -> None:
    case = named("reduce/plain/float32/SUM-of-rows")
    names = [name for name, _ in wrong_answers(case)]
    assert names == [
        "zeros", "the last element dropped", "the last element repeated", "a lower precision",
        "another axis", "an element of input left out", "an element of input repeated",
    ]  # fmt: skip
