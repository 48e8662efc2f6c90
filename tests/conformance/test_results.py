"""What became of every case: the numbers add up, and a run is read back as it was written."""

from __future__ import annotations

import json
import math

import pytest
from hypothesis import given, settings

from helpers import made_runs
from helpers.made_runs import result, run
from suanzi import InvalidArgument
from suanzi.conformance.model.results import OUTCOMES, Result, Run, counts, worst
from suanzi.conformance.reports.levels import levels, standings
from suanzi.conformance.reports.summary import share


@settings(max_examples=40)
@given(made_runs.results())
def test_numbers_add_up(results: list[Result]) -> None:
    one = run(*results)
    count = one.counts()
    assert count["cases"] == len(results) == sum(count[o] for o in OUTCOMES)
    assert count["known"] <= count["cases"] - count["passed"]
    assert count["unexpected"] <= count["passed"]
    by_operator = [counts(some) for some in one.by_operator().values()]
    assert {name: sum(c[name] for c in by_operator) for name in count} == count
    stand = standings(one).values()
    parts = [(s.counts, s.tentative, s.beyond, s.extensions) for s in stand]
    assert {n: sum(some[n] for four in parts for some in four) for n in count} == count


@settings(max_examples=40)
@given(made_runs.results())
def test_levels_are_never_over_the_whole(results: list[Result]) -> None:
    for level in levels(run(*results)):
        assert 0 <= level.conforming + level.known <= level.tested <= level.total
        if level.answer == "reached":
            assert level.conforming == level.total > 0


@settings(max_examples=40)
@given(made_runs.results())
def test_a_run_is_read_back(results: list[Result]) -> None:
    one = run(*results, seconds=1.5, unused=["a"], unfinished=["exp"])
    assert Run.from_dict(json.loads(json.dumps(one.to_dict(), allow_nan=False))) == one


def test_zero_is_something_to_say() -> None:
    assert result(ulp=0.0, cann=False).to_dict() == {
        "id": "add/plain/int8/3-elements", "op": "add", "group": "plain", "dtype": "int8",
        "outcome": "passed", "ulp": 0.0, "cann": False,
    }  # fmt: skip
    assert result(ulp=math.inf).to_dict()["ulp"] == "inf"


@pytest.mark.parametrize(
    "data",
    [
        {"schema": "suanzi-conformance/3"},
        {},
        [],
        None,
        {"schema": "suanzi-conformance/1"},
        {"schema": "suanzi-conformance/1", "subject": {}, "settings": {}, "results": [{"id": "a"}]},
    ],
)
def test_what_is_no_report_is_refused(data: object) -> None:
    with pytest.raises(InvalidArgument, match="suanzi-conformance/1"):
        Run.from_dict(data)  # type: ignore[arg-type]


def test_conforms() -> None:
    assert run(result()).conforms
    assert not run(result(), result("exp", "crashed")).conforms
    known = run(result(), result("exp", "hung", known="it is slow"))
    assert (known.conforms, known.decision.status) == (False, 0)
    silent = run(result(), result("exp", "unsupported"))
    assert (silent.conforms, silent.decision.status) == (False, 1)
    # A subject that supports nothing has not shown anything.
    assert not run(result("exp", "unsupported")).conforms
    assert not run(result("exp", "skipped")).conforms
    assert not run().conforms


def test_the_order_is_the_standards() -> None:
    assert list(run(result("interpolate"), result("add"), result("zeros")).by_operator()) == [
        "zeros", "add", "interpolate",
    ]  # fmt: skip


def test_the_worst_is_the_nearest_to_its_bound() -> None:
    assert worst([]) is None
    assert worst([result()]) is None
    near, far = result(ulp=0.49, bound=0.5), result(ulp=2.0, bound=8.0)
    assert worst([far, near]) is near
    failed = result(outcome="failed", ulp=0.1, bound=0.5)
    assert worst([far, near, failed]) is failed


def test_a_share_says_all_only_of_all() -> None:
    assert share(29_999, 30_000) == "99.9 %"
    assert share(0, 7) == "0.0 %"
    assert share(1, 30_000) == "<0.1 %"
