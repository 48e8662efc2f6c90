"""The vacuity gate of the model operators: no required case accepts a kernel's usual mistakes.

By default a case of each operator, in float32 or bfloat16; SUANZI_ALL_CASES=1 looks at all.
"""

from __future__ import annotations

import os
from dataclasses import replace
from functools import cache
from random import Random

import pytest

from suanzi.conformance.cases import Wanted, cases, dtypes_of, load_catalogue
from suanzi.conformance.model.case import Case
from suanzi.conformance.model.data import tensor, values
from suanzi.conformance.model.members import members
from suanzi.conformance.vacuity import has_values, is_required, unnoticed, wrong_answers
from suanzi.conformance.vacuity_models import LOWER, model_answers

ALL = bool(os.environ.get("SUANZI_ALL_CASES"))
DTYPES = ("float32", "bfloat16", "float16", "float64")
SHARE = 10**6 if ALL else 1
LARGEST = 10**6 if ALL else 200
GROUPS = frozenset({"plain", "random", "special", "broadcast", "sizes"})


def excluded(case: Case) -> bool:
    """Tell whether a case may accept a wrong answer.

    Equal elements minus their mean, and gradients of what does not change them, are zero: what a
    kernel returns there is rounding, and the bound says so. Other cases of the operator do refuse.
    """
    subtracts = case.interface.category == "norms" or case.interface.backward_of is not None
    return subtracts and "constant" in case.title


def some_cases(op: str, dtype: str) -> list[Case]:
    found = [
        case
        for case in cases(op, Wanted(groups=GROUPS, dtypes=frozenset({dtype})))
        if case.skip is None and not excluded(case) and 0 < elements(case) <= LARGEST
    ]
    Random(op).shuffle(found)
    return found


def elements(case: Case) -> int:
    return sum(getattr(x, "size", 0) for x in case.arguments.values())


@pytest.mark.parametrize("op", list(members("nn")))
def test_no_required_case_accepts_a_wrong_answer(op: str) -> None:
    load_catalogue("nn")
    taken = dtypes_of(op)
    wanted = [name for name in DTYPES if name in taken] or taken[:1]  # one_hot is of integers
    turn = list(members("nn")).index(op) % min(len(wanted), 2)
    for dtype in wanted if ALL else wanted[turn : turn + 1]:
        tried = 0
        for case in some_cases(op, dtype):
            case = replace(case, expect=cache(case.expect))
            if has_values(case.expect()) and is_required(case, case.expect()):
                assert unnoticed(case) == [], case.id
                tried += 1
                if tried == SHARE:
                    break
        assert tried, (op, dtype)


def test_each_wrong_answer_is_another() -> None:
    right = tensor("float32", [0.1 * i + 1 / 3 for i in range(12)], (3, 4))
    found = {name: outputs[0] for name, outputs in model_answers([right])}
    assert len({x.raw for x in found.values()} | {right.raw}) == len(found) + 1
    assert found["the transposed answer"].shape == (3, 4)
    assert values(found["another row"])[4:8] == values(right)[:4]
    assert values(found["a shift by one"])[1:] == values(right)[:-1]
    assert [float(v.value) for v in values(found["an unwritten tail"])[-3:]] == [0.0] * 3
    assert all(v.value.numerator.bit_length() <= 11 for v in values(found[LOWER]))


def test_wrong_answers_of_a_case_have_all_kinds() -> None:
    (case, *_) = some_cases("nn:softmax", "float32")
    names = {name for name, _ in wrong_answers(case)}
    assert names >= {"zeros", "the operand x", "the mean", "a constant", "a shift by one",
                     "an unwritten tail", "another row", LOWER}  # fmt: skip
