"""Verdicts and levels: what was not tested is never claimed, what is wrong is always told."""

from __future__ import annotations

from dataclasses import replace

import pytest

from helpers.made_runs import SETTINGS, of_all, result, run
from suanzi.conformance.model.results import Run
from suanzi.conformance.reports.levels import Level, levels, standing, standings
from suanzi.standard import interfaces


def level(one: Run, name: str) -> Level:
    return next(found for found in levels(one) if found.name == name)


def answers(one: Run) -> list[str]:
    return [found.answer for found in levels(one)]


@pytest.mark.parametrize(
    ("results", "verdict"),
    [
        ([], "not tested"),
        ([result()], "conforms"),
        ([result(), result(outcome="failed")], "fails"),
        ([result(), result(outcome="crashed")], "fails"),
        ([result(), result(outcome="hung")], "fails"),
        ([result(), result(outcome="failed", known="why")], "known deviations"),
        ([result(), result(outcome="unsupported")], "partly"),
        ([result(outcome="unsupported")], "not supported"),
        ([result(outcome="unsupported"), result(outcome="failed")], "fails"),
        ([result(outcome="failed", known="why"), result(outcome="unsupported")], "partly"),
        # What the kit cannot try says nothing.
        ([result(), result(outcome="skipped")], "conforms"),
        ([result(outcome="skipped")], "not tested"),
        ([result(outcome="unsupported"), result(outcome="skipped")], "not supported"),
        # But what it gave up, for what the subject did, is lacking.
        ([result(), result(outcome="skipped", problem="not tried after 10 calls")], "partly"),
        # Dtypes beyond clause 6.2 hurt nothing, and prove nothing.
        ([result(), result(dtype="bfloat16", outcome="failed", extension=True)], "conforms"),
        ([result(), result(dtype="bfloat16", outcome="unsupported", extension=True)], "conforms"),
        ([result(dtype="bfloat16", extension=True)], "extension only"),
        # Nor does what the standard does not ask for.
        ([result(), result(outcome="failed", basis="quality", broken="quality")], "conforms"),
        ([result(), result(outcome="crashed", basis="quality", broken="quality")], "fails"),
        ([result(), result(outcome="failed", basis="normative", broken="quality")], "conforms"),
        ([result(), result(outcome="failed", basis="normative", broken="normative")], "fails"),
        (
            [result(), result(outcome="failed", basis="interpretation", broken="interpretation")],
            "fails",
        ),
        ([result(basis="quality")], "extension only"),
    ],
)
def test_verdict(results: list, verdict: str) -> None:
    found = standing("add", results)
    assert found.verdict == verdict
    parts = (found.counts, found.beyond, found.extensions)
    assert sum(part["cases"] for part in parts) == len(results)
    assert bool(found.why) == (verdict != "conforms")


def test_why() -> None:
    absent = result(outcome="unsupported", problem="no complex numbers")
    assert standing("add", [result(), absent]).why == (
        "1 of 2 required cases not answered (no complex numbers)"
    )
    wrong = [result(outcome=o) for o in ("failed", "crashed", "hung", "skipped")]
    assert standing("add", wrong).why == "1 failed, 1 crashed and 1 hung of 3 required cases"


def test_everything_passes() -> None:
    found = levels(of_all())
    assert [one.answer for one in found] == ["reached"] * 4
    assert [str(one.total) for one in found] == [str(one.conforming) for one in found]
    assert [one.conforming for one in found] == [77, 135, len(interfaces()), 1]


def test_one_backward_interface_fails() -> None:
    one = of_all(linear_bwd_in="failed")
    assert level(one, "forward").answer == "reached"
    assert level(one, "all").answer == "not reached"
    assert level(one, "all").conforming == len(interfaces()) - 1
    assert level(one, "all").in_the_way == ("linear_bwd_in fails (1 failed of 1 required case)",)


def test_an_interface_outside_the_minimal_set_is_not_in_its_way() -> None:
    one = of_all(zeros="unsupported")
    assert level(one, "minimal").answer == "reached"
    assert level(one, "forward").answer == "not reached"
    assert "zeros is not supported" in level(one, "forward").in_the_way[0]


def test_known_deviations_are_not_counted_as_conforming() -> None:
    one = of_all()
    results = [
        replace(r, outcome="failed", known="why") if r.op == "exp" else r for r in one.results
    ]
    found = level(replace(one, results=results), "forward")
    assert (found.conforming, found.known, found.total) == (134, 1, 135)
    assert found.answer == "not reached"
    assert found.in_the_way == ("exp has known deviations (1 failed of 1 required case, 1 known)",)


@pytest.mark.parametrize(
    "filtered", [{"dtypes": ["int8"]}, {"groups": ["plain"]}, {"cases": ["add/*"]}, {"quick": True}]
)
def test_a_filtered_run_claims_nothing(filtered: dict) -> None:
    one = replace(of_all(), settings=SETTINGS | filtered)
    assert answers(one) == ["not tested in full"] * 4
    # What is wrong is wrong, however little was tested.
    wrong = replace(of_all(exp="failed"), settings=SETTINGS | filtered)
    assert level(wrong, "all").answer == "not reached"


def test_the_minimal_set_alone_is_a_level() -> None:
    some = [result(name) for name, facts in interfaces().items() if facts.minimal]
    one = run(*some, settings={"minimal": True})
    assert answers(one) == ["reached", *["not tested in full"] * 3]
    assert str(level(one, "forward")) == "77 of 135 interfaces, 77 tested: not tested in full"


def test_promotion_alone_is_a_level() -> None:
    cells = [result(group="promotion", dtype=d) for d in ("int8-int16", "int8-float16")]
    one = run(*cells, settings={"groups": ["promotion"]})
    assert level(one, "promotion").answer == "reached"
    assert level(one, "promotion").title == "promotion by cann"
    assert level(one, "all").answer == "not tested in full"
    more = run(*cells, result(group="promotion", outcome="failed", dtype="int8-bool"))
    assert str(level(more, "promotion")) == "2 of 3 cases: not reached"
    assert level(more, "promotion").in_the_way == ("add (1 case)",)


def test_promotion_of_some_operators_is_not_the_table() -> None:
    cell = result(group="promotion", dtype="int8-int16")
    for filtered in ({"ops": ["add"]}, {"minimal": True}, {"categories": ["arithmetic"]}):
        assert level(run(cell, settings=filtered), "promotion").answer == "not tested in full"
    assert level(run(result()), "promotion").answer == "not tested in full"


def test_an_interrupted_run_claims_nothing() -> None:
    one = of_all()
    some = [r for r in one.results if r.op != "interpolate"]
    found = replace(one, results=some, unfinished=["interpolate"])
    minimal, *others = answers(found)
    # All of the minimal set was done before.
    assert minimal == ("not tested in full" if interfaces()["interpolate"].minimal else "reached")
    assert others == ["not tested in full"] * 3


QUALITY = {"basis": "quality", "group": "special"}
ROUGH = {"outcome": "failed", "basis": "normative", "broken": "quality"}


@pytest.mark.parametrize(
    ("good", "bad", "grade"),
    [(0, 0, "-"), (7, 0, "A"), (99, 1, "B"), (9, 1, "C"), (1, 1, "D"), (1, 2, "E"), (0, 1, "E")],
)
def test_grades(good: int, bad: int, grade: str) -> None:
    some = [result(title=str(i), **QUALITY) for i in range(good)]
    some += [result(title=f"r{i}", **ROUGH) for i in range(bad)]
    found = level(run(*some), "minimal").quality
    assert (found.grade, found.met, found.total) == (grade, good, good + bad)


def test_the_grade_does_not_hide_what_has_no_answer() -> None:
    """A subject that declines what is hard is not better for it."""
    some = [result(**QUALITY), result(title="b", outcome="unsupported", **QUALITY)]
    assert level(run(*some), "minimal").quality.grade == "D"
    # What the kit cannot bring about is nobody's fault, and wrong values are none of accuracy.
    others = [result(outcome="skipped", **QUALITY), result(outcome="failed", basis="normative")]
    assert level(run(*some, *others), "minimal").quality.total == 2


def test_a_subject_without_a_dtype_reaches_levels_for_those_it_has() -> None:
    def made(dtypes: list[str] | None) -> Run:
        some = [
            result(name, dtype=dtype, outcome="passed" if dtype == "float32" else "unsupported")
            for name in interfaces()
            for dtype in ("float32", "float64")
        ]
        one = run(*some)
        return one if dtypes is None else replace(one, subject=one.subject | {"dtypes": dtypes})

    # Found by asking: nothing of float64 was answered.
    assert level(made(None), "minimal").answer == "reached"
    assert level(made(None), "minimal").dtypes == ("float32",)
    # Who declares a dtype is held to it.
    assert level(made(["float32", "float64"]), "minimal").answer == "not reached"
    assert level(made(["float32"]), "minimal").answer == "reached"


def test_a_dtype_that_is_had_somewhere_is_had_everywhere() -> None:
    some = [result(name, dtype="float32") for name in interfaces()]
    more = [result("add", dtype="float64"), result("exp", dtype="float64", outcome="unsupported")]
    assert level(run(*some, *more), "minimal").answer == "not reached"


def test_what_a_case_needs_is_more_than_its_dtype() -> None:
    some = [result(name, dtype="float32") for name in interfaces()]
    status = result("exp", group="status", dtype="any", outcome="unsupported", needs="int32")
    assert level(run(*some, status), "minimal").answer == "reached"
    assert level(run(*some, replace(status, needs="float32")), "minimal").answer == "not reached"


def test_an_interface_of_dtypes_that_a_subject_does_not_have_is_not_required() -> None:
    some = [
        result(n, dtype="complex64" if n == "conj" else "float32",
               outcome="unsupported" if n == "conj" else "passed") for n in interfaces()
    ]  # fmt: skip
    one = run(*some)
    assert standings(one)["conj"].verdict == "not required"
    assert level(one, "minimal").answer == "reached"
    assert level(one, "minimal").total == 76
    held = replace(one, settings=one.settings | {"has": ["float32", "complex64"]})
    assert level(held, "minimal").answer == "not reached"
    # Who answers nothing at all has no excuse.
    none = run(*(result(n, outcome="unsupported") for n in interfaces()))
    assert level(none, "minimal").answer == "not reached"


def test_a_run_conforms_by_what_is_required() -> None:
    rough = result(title="b", **ROUGH)
    assert run(result(), rough).conforms
    assert not run(result(), rough).flawless
    assert run(result(), rough).decision.status == 0
    assert run(result(), rough, settings={"strict": True}).decision.status == 1
    # A crash is never right.
    assert not run(result(), result(outcome="crashed", **QUALITY)).conforms
    assert not run(
        result(), result(outcome="failed", basis="interpretation", broken="interpretation")
    ).conforms
