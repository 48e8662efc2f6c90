"""A C library can conform: suanzi as one reaches every level, so nothing is lost on the way."""

import os
from collections import Counter

import pytest

from conformance.test_letter_subjects import DISPUTED
from conformance.test_letter_subjects import FEW as OTHER_READINGS
from helpers.once import once
from helpers.suanzi_in_c import SUBJECT, library
from suanzi.conformance.check import check
from suanzi.conformance.model.case import GROUPS as EVERY
from suanzi.conformance.reports.levels import levels, standings
from suanzi.standard import interfaces

ALL = bool(os.environ.get("SUANZI_ALL_CASES"))
FEW = () if ALL else ("any", "int8", "float32", "complex64")
"""A dtype of each size that a quick run has; C passes the others in the same words."""
GROUPS = () if ALL else [name for name in EVERY if name not in ("special", "random", "sizes")]
"""The others differ from these in values only."""


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return once(tmp_path_factory, "suanzi-in-c", lambda folder: str(library(folder)))


@pytest.fixture(scope="module")
def found(made, tmp_path_factory):
    return once(tmp_path_factory, "round-trip", lambda _: checked(made))


def checked(made):
    return check(made, dtypes=FEW, groups=GROUPS, quick=True)


def test_every_level_is_reached_in_c(found):
    """Of the quick cases; by hand, all of them were run."""
    wrong = [(r.id, r.problem) for r in found.results if r.bad]
    assert not wrong
    for level in levels(found):
        assert (level.conforming, level.in_the_way) == (level.total, ()), level.title
        assert level.answer == "not tested in full", "quick"


def test_what_c_cannot_say_is_skipped_with_its_reason_and_hurts_nobody(found):
    assert {s.verdict for s in standings(found).values()} == {"conforms"}
    skipped = [r for r in found.results if r.outcome == "skipped"]
    assert all(r.problem for r in skipped)
    assert any(r.problem.startswith("in C, ") and not r.extension for r in skipped)
    assert "unsupported" not in {r.outcome for r in found.results}


def test_the_other_readings_break_nothing_in_c_either(made, monkeypatch):
    monkeypatch.setenv(SUBJECT, "conformance.letter_subjects:Other")
    few = ["any", "int32", "float32", "complex64"]
    groups = () if ALL else sorted(OTHER_READINGS.groups)
    run = check(made, ops=DISPUTED, dtypes=few, groups=groups, quick=True)
    assert [(r.id, r.problem) for r in run.results if r.breaks] == []
    assert {s.verdict for s in standings(run).values()} == {"conforms", "not tested"}
    followed = {r.reading for r in run.results if r.reading}
    assert any(reading.startswith("E86: ") and "even" not in reading for reading in followed)


def test_c_says_most_of_each_category(found):
    for category in {f.category for f in interfaces().values()}:
        ops = {op for op, facts in interfaces().items() if facts.category == category}
        outcomes = Counter(r.outcome for r in found.results if r.op in ops and not r.extension)
        assert outcomes["passed"] > 4 * outcomes["skipped"], (category, outcomes)
