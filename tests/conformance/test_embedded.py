"""The embedded implementation, held against every case of the kit: one body of cases, not two."""

from __future__ import annotations

import os
from collections.abc import Iterable
from random import Random

import pytest

from helpers.kit import one_of_each_kind
from suanzi import _core
from suanzi.conformance.cases import Wanted, cases, dtypes_of
from suanzi.conformance.model.case import GROUPS
from suanzi.conformance.model.results import Result
from suanzi.conformance.running.process import Local
from suanzi.conformance.running.run import Job, run_case, run_job
from suanzi.conformance.subjects.suanzi_adapter import Adapter
from suanzi.promote.library import rule_sets
from suanzi.promote.operators import OPERATORS
from suanzi.standard import interfaces

ALL = bool(os.environ.get("SUANZI_ALL_CASES"))
TOGETHER = 10
"""How many interfaces are one test: more would keep one process busy at the end of a run."""
LARGE = frozenset({"sizes"})
MANY = frozenset({"special", "random"})
"""With the former, the groups whose truths take most of the time."""


def problems(results: Iterable[Result]) -> list[str]:
    return [f"{r.id}: {r.problem}" for r in results if r.outcome not in ("passed", "skipped")]


@pytest.mark.parametrize("op", list(interfaces()))
def test_an_interface_conforms(op: str) -> None:
    """Every case, but of the expensive groups dtypes in turn: `check` runs all.

    Special and random values are of a dtype of each kind, large tensors of two of these. The next
    test has large tensors of the dtypes of a quick run, too.
    """
    found = run_job(Local(Adapter()), Job(op, Wanted(frozenset(GROUPS) - LARGE - MANY)))
    kinds = one_of_each_kind(op, dtypes_of(op, quantised_too=True))
    two = [*kinds, *kinds][list(interfaces()).index(op) % max(len(kinds), 1) :][:2]
    for groups, some in ((MANY, kinds), (LARGE, two)):
        wanted = Wanted(groups, None if ALL else frozenset({"any", *some}))
        found += run_job(Local(Adapter()), Job(op, wanted))
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


@pytest.mark.parametrize("op", list(interfaces()))
def test_an_interface_conforms_on_other_machines(op: str) -> None:
    """Each case at one of the other levels, by lot, so that each has some of every dtype."""
    groups = frozenset(GROUPS) - {"status", "promotion", "example"}
    found = cases(op, Wanted(groups, quick=True, seed=1))
    Random(op).shuffle(found)
    before = _core.level()
    others = [level for level in _core.levels() if level != before]
    try:
        for at, level in enumerate(others):
            subject = Local(Adapter(level))
            some = found[at :: len(others)]
            assert problems(run_case(subject, case) for case in some) == [], level
    finally:
        _core.use_level(before)


@pytest.mark.parametrize("rules", [name for name in rule_sets() if name != "cann"])
def test_every_rule_set_holds_for_every_operator(rules: str) -> None:
    """Every dtype by `add`, the usual ones by an operator of each other class."""
    for op in ("add", "true_divide", "equal", "bitwise_and", "floordiv", "concat", "sqrt"):
        assert op in OPERATORS
        # Quick runs have cells of these, and of `add`.
        quick = op in ("true_divide", "equal", "bitwise_and", "concat")
        wanted = Wanted(frozenset({"promotion"}), rules=rules, quick=quick)
        found = run_job(Local(Adapter()), Job(op, wanted))
        assert found
        assert problems(found) == []


def test_another_seed_has_other_values_and_the_same_names() -> None:
    first, second = (cases("add", Wanted(frozenset({"random"}), seed=seed)) for seed in (0, 1))
    assert [case.id for case in first] == [case.id for case in second]
    assert any(a.arguments != b.arguments for a, b in zip(first, second, strict=True))
    again = cases("add", Wanted(frozenset({"random"}), seed=1))
    assert [case.arguments for case in second] == [case.arguments for case in again]
