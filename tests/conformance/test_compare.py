"""Two reports compared: what broke is told first, and makes the exit status."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings

from helpers import made_runs
from helpers.made_runs import SUBJECT, result, run
from suanzi import InvalidArgument
from suanzi.conformance.model.results import Result
from suanzi.conformance.reports.compare import Comparison, compare
from suanzi.front.cli.terminal import plain_parts


def kinds(before: Result | None, after: Result | None) -> list[str]:
    found = compare(*(run(*([one] if one else [])) for one in (before, after)))
    return [kind for kind, changes in found.kinds().items() if changes]


@pytest.mark.parametrize(
    ("before", "after", "kind"),
    [
        (result(), result(), None),
        (result(), result(outcome="failed"), "broken"),
        (result(), result(outcome="crashed"), "broken"),
        (result(), result(outcome="unsupported"), "broken"),
        (result(outcome="hung"), result(), "fixed"),
        (result(outcome="unsupported"), result(), "fixed"),
        (result(outcome="failed", problem="a"), result(outcome="failed", problem="a"), None),
        (result(outcome="failed", problem="a"), result(outcome="failed", problem="b"), "changed"),
        (result(outcome="failed"), result(outcome="crashed"), "changed"),
        (result(outcome="unsupported"), result(outcome="failed"), "changed"),
        (result(ulp=0.5), result(ulp=0.75), "worse"),
        (result(ulp=0.75), result(ulp=0.5), "better"),
        (result(ulp=0.5), result(ulp=0.5 + 1e-12), None),
        (result(ulp=float("inf")), result(ulp=float("inf")), None),
        (result(ulp=0.5), result(), None),
        (None, result(), "new"),
        (result(), None, "gone"),
    ],
)
def test_kinds(before: Result | None, after: Result | None, kind: str | None) -> None:
    assert kinds(before, after) == ([kind] if kind else [])


@settings(max_examples=40)
@given(made_runs.results(), made_runs.results())
def test_every_case_has_one_place(a: list[Result], b: list[Result]) -> None:
    before, after = run(*a), run(*b)
    found = compare(before, after)
    changes = [change.id for some in found.kinds().values() for change in some]
    assert len(set(changes)) == len(changes)
    assert set(changes) <= {r.id for r in (*a, *b)}
    assert found.broke <= bool(found.broken)
    assert not any(compare(before, before).kinds().values())
    assert all(change.words for some in found.kinds().values() for change in some)
    assert plain_parts(found.parts(verbose=True))


def test_only_what_is_not_known_breaks() -> None:
    known = compare(run(result()), run(result(outcome="failed", known="an old chip")))
    assert known.broken
    assert not known.broke
    assert "(known)" in known.broken[0].words
    assert compare(run(result()), run(result(outcome="failed"))).broke
    assert not compare(run(), run(result(outcome="failed"))).broke


def test_what_differs_in_the_runs_is_said_first() -> None:
    other = replace(
        run(result(), settings={"quick": True, "dtypes": ["int8"], "jobs": 9, "started": "now"}),
        subject=SUBJECT | {"version": "2.2"},
    )
    found = compare(run(result()), other)
    assert found.circumstances == [
        ("subject's version", "2.1", "2.2"),
        ("quick", "no", "yes"),
        ("dtypes", "all", "int8"),
    ]
    assert plain_parts(found.parts()).startswith("not the same run")


def text(found: Comparison, **how: Any) -> str:
    return plain_parts(found.parts(**how))


def test_text() -> None:
    before = run(*(result(title=str(i)) for i in range(20)))
    after = run(*(result(title=str(i), outcome="failed", problem="3, not 4") for i in range(20)))
    found = compare(before, after)
    said = text(found)
    assert "broken: passed before (20)" in said
    assert "and 10 more" in said
    assert "passed, now failed: 3, not 4" in said
    assert said.splitlines()[-1] == "20 broken."
    assert "more" not in text(found, verbose=True)
    assert text(compare(before, before)).splitlines()[-1] == "Nothing changed."


def test_the_largest_change_comes_first() -> None:
    before = run(*(result(title=t, ulp=0.5) for t in "abc"))
    after = run(*(result(title=t, ulp=u) for t, u in zip("abc", (0.6, 0.9, 0.7), strict=True)))
    assert [c.id[-1] for c in compare(before, after).worse] == ["b", "c", "a"]


def test_as_data() -> None:
    data = compare(run(result()), run(result(outcome="failed"), result("exp"))).to_dict()
    assert data["schema"] == "suanzi-comparison/1"
    assert data["broke"] is True
    assert data["counts"]["broken"] == len(data["broken"]) == 1
    assert data["broken"][0]["after"]["outcome"] == "failed"
    assert data["new"][0]["before"] is None


def test_a_case_twice_is_no_report() -> None:
    with pytest.raises(InvalidArgument, match="twice"):
        compare(run(result(), result()), run())


def test_another_version_of_the_kit_is_told() -> None:
    found = compare(*(run(result(), settings={"suanzi": v}) for v in ("0.1.0", "0.2.0")))
    assert ("suanzi", "0.1.0", "0.2.0") in found.circumstances
