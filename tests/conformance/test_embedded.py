"""The embedded implementation, held against every case of the kit: one body of cases, not two."""

from __future__ import annotations

import pytest

from suanzi import _core
from suanzi.conformance.cases import Wanted, cases
from suanzi.conformance.local import Local
from suanzi.conformance.model import GROUPS
from suanzi.conformance.running import Job, run_job
from suanzi.conformance.subjects.suanzi_adapter import Adapter
from suanzi.promote.library import rule_sets
from suanzi.promote.operators import OPERATORS
from suanzi.standard import interfaces

LEVELS = _core.levels()


def problems(op: str, wanted: Wanted, level: str | None = None) -> list[str]:
    before = _core.level()
    try:
        found = run_job(Local(Adapter(level)), Job(op, wanted))
    finally:
        _core.use_level(before)
    assert found
    return [f"{r.id}: {r.problem}" for r in found if r.outcome not in ("passed", "skipped")]


@pytest.mark.parametrize("op", list(interfaces()))
def test_an_interface_conforms(op: str) -> None:
    assert problems(op, Wanted()) == []


@pytest.mark.parametrize("level", [one for one in LEVELS if one != _core.level()])
@pytest.mark.parametrize("op", list(interfaces()))
def test_an_interface_conforms_on_other_machines(op: str, level: str) -> None:
    groups = frozenset(GROUPS) - {"status", "promotion", "example"}
    assert cases(op, Wanted(groups, quick=True)) == [] or (
        problems(op, Wanted(groups, quick=True, seed=1), level) == []
    )


@pytest.mark.parametrize("rules", [name for name in rule_sets() if name != "cann"])
def test_every_rule_set_holds_for_every_operator(rules: str) -> None:
    wanted = Wanted(frozenset({"promotion"}), rules=rules)
    for op in ("add", "true_divide", "equal", "bitwise_and", "logical_and", "max", "floordiv",
               "concat", "where", "sqrt", "matmul"):  # fmt: skip
        assert op in OPERATORS
        assert problems(op, wanted) == []


def test_another_seed_has_other_values_and_the_same_names() -> None:
    first, second = (cases("add", Wanted(frozenset({"random"}), seed=seed)) for seed in (0, 1))
    assert [case.id for case in first] == [case.id for case in second]
    assert any(a.arguments != b.arguments for a, b in zip(first, second, strict=True))
    again = cases("add", Wanted(frozenset({"random"}), seed=1))
    assert [case.arguments for case in second] == [case.arguments for case in again]


@pytest.mark.parametrize("op", list(interfaces()))
def test_names_are_names(op: str) -> None:
    """They are ids of tests, parts of paths and words of a command."""
    for case in cases(op):
        assert case.id.isascii(), case.id
        assert case.id.isprintable()
        assert " " not in case.id
        assert case.group in GROUPS
        assert len(case.id) < 120, case.id
        assert case.op == op
