"""The embedded implementation, held against every case of the kit: one body of cases, not two."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from random import Random

import pytest

from helpers.kit import assert_reason, one_of_each_kind
from suanzi import _core
from suanzi.base import dtypes
from suanzi.conformance.cases import Wanted, cases, dtypes_of
from suanzi.conformance.judging.verdict import Answer
from suanzi.conformance.model.case import GROUPS, Case
from suanzi.conformance.model.results import Result
from suanzi.conformance.running.process import Local, Unanswered
from suanzi.conformance.running.run import run_case
from suanzi.conformance.subjects.suanzi_adapter import Adapter
from suanzi.promote.library import rule_sets
from suanzi.promote.operators import OPERATORS
from suanzi.standard import interfaces

ALL = bool(os.environ.get("SUANZI_ALL_CASES"))
TOGETHER = 10
"""How many interfaces are one test: more would keep one process busy at the end of a run."""
LARGE = frozenset({"sizes"})
MANY = frozenset({"strided", "broadcast", "special", "random"})
"""The groups that have many cases, or truths that take long."""
DTYPES = frozenset({"any", *(dtype.name for dtype in dtypes.DTYPES)})
UNLIKE = ("status", "promotion", "example", "calls")
"""The groups that say nothing of loops, or take their own time."""


class Remembering(Local):
    """Keeps the answers to some cases."""

    def __init__(self, wanted: set[str]) -> None:
        super().__init__(Adapter())
        self.wanted, self.answers = wanted, dict[str, object]()

    def ask(self, case: Case) -> Answer | Unanswered:
        answer = super().ask(case)
        if case.id in self.wanted:
            self.answers[case.id] = answer
        return answer


def problems(results: Iterable[Result]) -> list[str]:
    return [f"{r.id}: {r.problem}" for r in results if r.outcome not in ("passed", "skipped")]


@pytest.mark.parametrize("op", list(interfaces()))
def test_an_interface_conforms(op: str) -> None:
    """Every group in every dtype, but fewer cases of the expensive ones: `check` runs all.

    A dtype of each kind has every second plain or empty case; every second of these dtypes has the
    values of a quick run in groups that have many. Of the others, every fourth plain or empty case
    is run; large tensors are as in a quick run, of two. Every sixth pair of dtypes is promoted.
    """
    turn = list(interfaces()).index(op)
    kinds = {"any", *one_of_each_kind(op, dtypes_of(op, quantised_too=True))}
    if ALL:
        made = cases(op)
    else:
        two = [*sorted(kinds), *sorted(kinds)][turn % len(kinds) :][:2]
        half = frozenset({"any", *sorted(kinds)[turn % 2 :: 2]})
        made = cases(op, Wanted(frozenset(GROUPS) - LARGE - MANY))
        made = due(made, kinds, turn)
        made += cases(op, Wanted(MANY, half, quick=True, quick_dtypes=DTYPES))
        made += cases(op, Wanted(LARGE, quick=True, quick_dtypes=frozenset({"any", *two})))
    made = [replace(case, expect=cache(case.expect)) for case in made]
    again = [case for case in made if case.skip is None and case.group not in UNLIKE]
    Random(op).shuffle(again)
    subject = Remembering({case.id for case in again})
    found = [run_case(subject, case) for case in made]
    assert problems(found) == []
    assert {"plain", "status", "example"} <= {result.group for result in found}
    # Names are ids of tests, parts of paths and words of a command.
    for result in found:
        assert result.id.isascii(), result.id
        assert result.id.isprintable()
        assert " " not in result.id
        assert result.group in GROUPS
        assert len(result.id) < 120, result.id
        assert result.op == op
    for case in made[turn % 5 :: 5]:
        assert_reason(case)
    conforms_on_other_machines(again, subject.answers)


def due(made: Iterable[Case], kinds: Collection[str], turn: int) -> list[Case]:
    """Return the cases that are run by default; each of those between calls takes long."""
    found, seen = [], Counter[tuple[str, str]]()
    for at, case in enumerate(made, turn):
        step = {"calls": 3, "promotion": 6, "plain": 4, "empty": 4}.get(case.group, 1)
        if case.group in ("plain", "empty") and case.dtype in kinds:
            step, at = 2, seen[case.group, case.dtype]  # the first in any case
            seen[case.group, case.dtype] += 1
        if at % step == 0:
            found.append(case)
    return found


def conforms_on_other_machines(some: Sequence[Case], answers: Mapping[str, object]) -> None:
    """Ask each case at one of the other levels; another answer than before is judged."""
    before = _core.level()
    others = [level for level in _core.levels() if level != before]
    try:
        for at, level in enumerate(others):
            subject = Local(Adapter(level))
            others_say = [c for c in some[at :: len(others)] if subject.ask(c) != answers[c.id]]
            assert problems(run_case(subject, case) for case in others_say) == [], level
    finally:
        _core.use_level(before)


@pytest.mark.parametrize("rules", [name for name in rule_sets() if name != "cann"])
def test_every_rule_set_holds_for_every_operator(rules: str) -> None:
    """Every third pair of all dtypes, another one by the next rules; all of the usual ones."""
    subject = Local(Adapter())
    for op in ("add", "true_divide", "equal", "bitwise_and", "floordiv", "concat", "sqrt"):
        assert op in OPERATORS
        # Quick runs have cells of these, and of `add`.
        quick = op in ("true_divide", "equal", "bitwise_and", "concat")
        wanted = Wanted(frozenset({"promotion"}), rules=rules, quick=quick)
        made = cases(op, wanted)
        if not (quick or ALL):
            made = made[list(rule_sets()).index(rules) % 3 :: 3]
        found = [run_case(subject, case) for case in made]
        assert found
        assert problems(found) == []


def test_another_seed_has_other_values_and_the_same_names() -> None:
    first, second = (cases("add", Wanted(frozenset({"random"}), seed=seed)) for seed in (0, 1))
    assert [case.id for case in first] == [case.id for case in second]
    assert any(a.arguments != b.arguments for a, b in zip(first, second, strict=True))
    again = cases("add", Wanted(frozenset({"random"}), seed=1))
    assert [case.arguments for case in second] == [case.arguments for case in again]
