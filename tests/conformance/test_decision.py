"""The one decision: silence is not a pass, a known deviation is not conformance, and all agree."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as xml

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.made_runs import of_all, result, run
from suanzi.conformance.check import check
from suanzi.conformance.decision import Decision, Scope, Tally, decide
from suanzi.conformance.model.results import OUTCOMES, Result, Run
from suanzi.conformance.model.tallies import decision_of, dtypes_had
from suanzi.conformance.reports import html, json, junit
from suanzi.conformance.reports.levels import levels, standings
from suanzi.conformance.reports.summary import Line, parts
from suanzi.standard import interfaces

ONE = Scope({"one": ("one", ["add"])})


def of(tally: Tally, scope: Scope = ONE) -> Decision:
    return decide({"add": tally}, {}, scope)


@pytest.mark.parametrize(
    ("tally", "verdict", "answer", "status", "headline"),
    [
        (Tally(), "not tested", "not tested in full", 1, "Nothing was tested."),
        (Tally(61), "conforms", "reached", 0,
         "Conforms (61 cases): one."),
        (Tally(61, flawed=1), "conforms", "reached", 0,
         "Conforms (61 cases): one. 1 case beyond the standard failed."),
        (Tally(60, 1), "fails", "not reached", 1,
         "Does not conform: 1 of 61 required cases failed."),
        (Tally(58, 3, known=2), "fails", "not reached", 1,
         "Does not conform: 3 of 61 required cases failed (2 known)."),
        (Tally(60, 1, known=1), "known deviations", "not reached", 0,
         "No new failures. Does not conform: 1 of 61 required cases failed (known)."),
        (Tally(14, 0, 47), "partly", "not reached", 1,
         "Does not conform: 47 of 61 required cases were not answered."),
        (Tally(14, 0, 47, excused=47), "known deviations", "not reached", 0,
         "No new failures. Does not conform: 47 of 61 required cases were not answered (known)."),
        (Tally(14, 2, 45, known=2), "partly", "not reached", 1,
         "Does not conform: 2 of 61 required cases failed (known), 45 were not answered."),
        (Tally(0, 0, 61, excused=61), "not supported", "not reached", 1,
         "Does not conform: no case passed."),
        (Tally(not_required=9, aside=2), "not required", "not tested in full", 1,
         "Nothing was tested."),
        (Tally(61, tentative=9, differing=9), "conforms", "reached", 0,
         "Conforms (61 cases): one."),
        (Tally(60, 1, tentative=9), "fails", "not reached", 1,
         "Does not conform: 1 of 61 required cases failed."),
        (Tally(tentative=9, differing=2), "tentative", "not tested in full", 0,
         "No required case was tested; 9 cases tentative."),
        (Tally(beyond=3), "extension only", "not tested in full", 0,
         "No required case was tested; 3 cases beyond the standard passed."),
    ],
)  # fmt: skip
def test_decisions(tally: Tally, verdict: str, answer: str, status: int, headline: str) -> None:
    found = of(tally)
    said = (found.verdicts["add"], found.levels[0].answer, found.status, found.headline)
    assert said == (verdict, answer, status, headline)
    assert found.conforms is (verdict == "conforms")
    assert found.style == ("good" if found.conforms and not tally.flawed else found.style)


def test_a_level_is_required() -> None:
    known = Tally(60, 1, known=1)
    assert of(known).status == 0
    assert of(known, replace(ONE, require="one")).status == 1
    assert of(Tally(61), replace(ONE, require="one")).status == 0
    assert of(Tally(61), replace(ONE, require="one", narrowed=True)).status == 1


def test_interrupted_strict_and_absent() -> None:
    unfinished = of(Tally(3), replace(ONE, unfinished=["add"]))
    assert (unfinished.status, unfinished.verdicts["add"]) == (3, "not tested")
    assert unfinished.headline.startswith("Interrupted. So far: conforms in what was tested")
    assert of(Tally(3, 1), replace(ONE, unfinished=["add"])).levels[0].answer == "not reached"
    assert of(Tally(3, flawed=1), replace(ONE, strict=True)).status == 1
    absent = of(Tally(), replace(ONE, absent=["add"]))
    assert (absent.verdicts["add"], absent.levels[0].answer) == ("not supported", "not reached")


SMALL = st.integers(0, 3)


@st.composite
def tallies(draw: st.DrawFn) -> Tally:
    passed, failed, silent = draw(SMALL), draw(SMALL), draw(SMALL)
    known, excused = draw(st.integers(0, failed)), draw(st.integers(0, silent))
    return Tally(passed, failed, silent, known, excused, *(draw(SMALL) for _ in range(4)))


@settings(max_examples=400)
@given(
    st.dictionaries(st.sampled_from("abcd"), tallies()),
    st.dictionaries(st.sampled_from("ab"), tallies()),
    st.booleans(),
    st.booleans(),
    st.sets(st.sampled_from("ab")),
)
def test_no_mixture_gets_a_level_that_its_answers_do_not_carry(
    each: dict[str, Tally], cells: dict[str, Tally], narrowed: bool, strict: bool, absent: set[str]
) -> None:  # fmt: skip
    scope = Scope({"some": ("some", "ab"), "all": ("all", "abcd")}, absent=absent,
                  narrowed=narrowed, strict=strict)  # fmt: skip
    found = decide(each, cells, scope)
    carried = {op for op, t in each.items()
               if t.passed and t.passed == t.required and op not in absent}  # fmt: skip
    excused = {op for op, t in each.items() if not t.required and t.not_required}
    for level, members in zip(found.levels, ("ab", "abcd"), strict=False):
        if level.answer == "reached":
            assert not narrowed
            assert carried & set(members)
            assert set(members) <= carried | excused
    if found.levels[-1].answer == "reached":
        assert all(t.passed == t.required for t in cells.values())
    wrong = sum(t.failed + t.unanswered for t in each.values())
    new = wrong - sum(t.known + t.excused for t in each.values())
    assert found.conforms is (wrong == 0 and any(t.passed for t in each.values()))
    assert ("Does not conform" in found.headline) <= (not found.conforms)
    assert ("Conforms" in found.headline) <= found.conforms
    assert not (found.status == 0 and new)
    if found.style == "good":
        assert (found.status, wrong) == (0, 0)


@pytest.mark.parametrize("seed", range(20))
def test_mixtures_of_results(seed: int) -> None:
    """Of a whole run, results changed at random: the report never claims more than it carries."""
    rng = random.Random(seed)
    whole = of_all()
    share = rng.choice((0.0, 0.002, 0.02, 0.5, 1.0))
    mixed = [_changed(r, rng) if rng.random() < share else r for r in whole.results]
    found = replace(whole, results=mixed)
    consistent(found)
    bad = {r.op for r in mixed if r.outcome != "passed" and r.op in interfaces()}
    members = {"minimal": [n for n, i in interfaces().items() if i.minimal],
               "all": list(interfaces())}  # fmt: skip
    for name, ops in members.items():
        assert (name in found.decision.reached) is (not bad & set(ops))


def _changed(r: Result, rng: random.Random) -> Result:
    outcome: Any = rng.choice(OUTCOMES[1:])
    # The kit's own reason to skip is nobody's fault, and leaves an interface without any answer.
    known = "why" if rng.random() < 0.3 and outcome != "skipped" else None
    return replace(r, outcome=outcome, problem="not tried: it crashed", known=known)


def consistent(one: Run) -> None:
    """See that every report says what was decided."""
    decision = one.decision
    assert parts(one)[-1] == Line(decision.headline, decision.style)
    data = json.to_data(one)
    assert data["decision"] == decision.to_dict()
    assert data["conforms"] is decision.conforms
    page = html.to_html(one)
    assert f'class="conclusion {decision.style}"' in page
    assert [level["answer"] for level in data["levels"]] == [x.answer for x in decision.levels]
    assert [x.answer for x in levels(one)] == [x.answer for x in decision.levels]
    assert {op: s.verdict for op, s in standings(one).items()} == dict(decision.verdicts)
    root = xml.fromstring(junit.to_xml(one).encode())
    wrong = int(root.attrib["failures"]) + int(root.attrib["errors"])
    assert bool(wrong) is bool(decision.total.new)
    if decision.total.new:
        assert decision.status != 0


@pytest.mark.parametrize("outcome", OUTCOMES)
def test_every_report_agrees(outcome: Any) -> None:
    consistent(run(result(title="a"), result(title="b", outcome=outcome)))
    known = "why" if outcome not in ("passed", "skipped") else None
    consistent(run(result(title="a"), result(title="b", outcome=outcome, known=known)))


CHEATS = '''
import os, time
from suanzi.conformance.subjects import suanzi_adapter
from suanzi.conformance.subjects.wire import Unsaid, Unsupported

class SkipMore(suanzi_adapter.Adapter):
    """Has no words for nearly every tensor."""
    name = "skip more"
    def create(self, data):
        if data.dtype != "float32" or len(data.raw) > 24:
            raise Unsaid("no words for it")
        return super().create(data)

class Some(suanzi_adapter.Adapter):
    """Declares all dtypes, and has two."""
    name = "some"
    dtypes = ["bool", "int8", "int32", "float16", "float32", "complex64"]
    def create(self, data):
        if data.dtype not in ("float32", "int32"):
            raise Unsupported(f"no {data.dtype}")
        return super().create(data)

class Mixture(suanzi_adapter.Adapter):
    """Misbehaves in some of its calls, as the environment says."""
    name = "mixture"
    def call(self, op, arguments):
        habit = os.environ["HABIT"]
        self.calls = getattr(self, "calls", 0) + 1
        if self.calls % int(os.environ["EVERY"]):
            return super().call(op, arguments)
        if habit == "skips":
            raise Unsaid("no words for it")
        if habit == "declines":
            raise Unsupported("not this one")
        if habit == "crashes":
            os._exit(3)
        if habit == "hangs":
            time.sleep(60)
        if habit == "late":
            time.sleep(0.7)
        found = super().call(op, arguments)
        return found if habit == "late" else 7
'''


@pytest.fixture
def cheats(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    (tmp_path / "cheats.py").write_text(CHEATS)
    monkeypatch.chdir(tmp_path)
    return "cheats"


def test_silence_is_not_a_pass(cheats: str) -> None:
    """An adapter that skips nearly all: "77 of 77 interfaces, reached", quality A, exit 0 once."""
    found = check(f"{cheats}:SkipMore", ops=["add"], quick=True, jobs=1)
    total = found.decision.total
    assert (found.decision.status, found.conforms) == (1, False)
    assert total.answered < total.required / 2
    assert total.failed == 0
    assert standings(found)["add"].verdict == "partly"
    assert levels(found)[0].answer == "not reached"
    assert levels(found)[0].quality.grade != "A"
    skipped = {r.problem for r in found.results if r.outcome == "skipped"}
    assert len(skipped) < 3, "only sparse tensors"
    consistent(found)


def test_the_headline_and_the_levels_agree(cheats: str) -> None:
    """14 of 61 required passed, 80 unsupported, not reached, and the last line: "Conforms" once."""
    found = check(f"{cheats}:Some", ops=["add"], quick=True, jobs=1)
    assert dtypes_had(found) == ("bool", "int8", "int32", "float16", "float32", "complex64")
    assert found.decision.headline.startswith("Does not conform: ")
    assert "not answered" in found.decision.headline
    assert (found.decision.status, levels(found)[0].answer) == (1, "not reached")
    assert decision_of(found, "minimal").status == 1
    consistent(found)


def test_dtypes_beyond_the_standard_declare_none() -> None:
    """One case passed, 150 were declined, and "Conforms (1 case): all interfaces" once."""
    some = [
        Result(op, op, "plain", "int8", "passed" if op == "add" else "unsupported")
        for op in interfaces()
    ]
    for dtypes in (["float8_e4m3fn"], ["float8_e4m3fn", "int8"], []):
        found = Run({"name": "some", "dtypes": dtypes}, {}, some)
        assert dtypes_had(found) == ("int8",)
        assert (found.decision.status, found.decision.reached) == (1, ())
        assert "not answered" in html.to_html(found)


@pytest.mark.parametrize("habit", ["skips", "declines", "crashes", "hangs", "late", "answers"])
def test_real_mixtures(cheats: str, habit: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """One call of three is not answered, too late, or answered with something else."""
    monkeypatch.setenv("HABIT", habit)
    monkeypatch.setenv("EVERY", "3")
    found = check(
        f"{cheats}:Mixture", ops=["sub"], dtypes=["int8", "float32"], jobs=1,
        groups=["plain", "status"], timeout=0.3 if habit in ("hangs", "late") else 10,
    )  # fmt: skip
    assert not found.conforms
    assert found.decision.status == 1
    assert standings(found)["sub"].verdict in ("fails", "partly")
    assert levels(found)[0].answer == "not reached"
    consistent(found)
