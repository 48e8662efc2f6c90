"""The standard is covered: what each of its 151 interfaces must have here."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from memory_cases import NOTHING_ALLOCATED, calls

import suanzi as sz
from suanzi import interface
from suanzi.conformance.cases.statuses import CHANGES, NEVER, VALID
from suanzi.registry import REGISTRY
from suanzi.standard import examples, interfaces

S = sz.Status
TESTS = Path(__file__).parent
EVERY = list(interfaces().values())


def test_the_standard_and_nothing_else() -> None:
    assert len(EVERY) == 151
    assert set(REGISTRY) == set(interfaces())


def test_the_minimal_set_of_table_154() -> None:
    minimal = [facts for facts in EVERY if facts.minimal]
    assert len(minimal) == 77
    assert all(facts.backward_of is None and facts.name in REGISTRY for facts in minimal)


@cache
def oracles() -> str:
    """Return the text of the tests that compare results with what they must be."""
    files = [f for f in (TESTS / "ops").glob("*.py") if "status" not in f.name]
    more = ["test_fuzz.py", "test_storage.py", "test_tensor.py", "helpers/functions.py"]
    return "\n".join(f.read_text() for f in [*files, *(TESTS / name for name in more)])


@pytest.mark.parametrize("facts", EVERY, ids=lambda facts: facts.name)
def test_an_interface_has_everything(facts: Any) -> None:
    assert facts.name in REGISTRY, "no operator"
    assert facts.name in sz.__all__, "not public"
    assert facts.c_name in interface.__all__, "no function of the standard's form"
    assert ">>>" in (getattr(sz, facts.name).__doc__ or ""), "no example in its documentation"
    assert any(e.name == facts.name for e in examples()), "no worked example"
    assert re.search(rf"\b{facts.name}\b", oracles()), "no test with an oracle"
    assert facts.name in VALID, "no call that succeeds"
    for status in facts.statuses:
        if status in (S.SUCCESS, S.UNINITIALIZED_OBJECT, S.INTERNAL_ERROR):
            continue  # tests/interface/test_statuses.py produces them for all
        if status is S.ALLOC_FAILED:
            assert facts.name in calls(2) or facts.name in NOTHING_ALLOCATED
        else:
            assert (facts.name, status) in CHANGES or (facts.name, status) in NEVER, status
