"""The report for continuous integration: XML that can be read, whatever a subject says."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree as xml

from hypothesis import given, settings

from helpers import made_runs
from helpers.made_runs import result, run
from suanzi.conformance.model.results import Result, Run
from suanzi.conformance.model.tallies import dtypes_had, tally
from suanzi.conformance.reports import junit as report_junit


def read(one: Run) -> xml.Element:
    return xml.fromstring(report_junit.to_xml(one))


@settings(max_examples=40)
@given(made_runs.results())
def test_counts_agree(results: list[Result]) -> None:
    one = run(*results, settings={"strict": True})
    root, had = read(one), dtypes_had(one)
    cases = list(root.iter("testcase"))
    told = [r for r in results if r.bad or r.unexpected]
    others = {
        (r.op, r.group, r.outcome, tally([r], had).unanswered > 0) for r in results if r not in told
    }
    assert len(cases) == len(told) + len(others) == int(root.attrib["tests"])
    for name, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        found = sum(case.find(tag) is not None for case in cases)
        assert found == int(root.attrib[name])
        assert found == sum(int(suite.attrib[name]) for suite in root.iter("testsuite"))
    unknown = [r for r in results if r.bad and r.known is None
               and (r.breaks or r.basis != "tentative")]  # fmt: skip
    silent = sum(owed for *_, owed in others)
    assert int(root.attrib["failures"]) == sum(r.outcome == "failed" for r in unknown) + silent
    assert (one.decision.status == 0) <= (not root.attrib["failures"].strip("0"))
    assert int(root.attrib["errors"]) == sum(r.outcome != "failed" for r in unknown)
    assert all(len(case) <= 1 for case in cases), "one status for each test"


def test_what_the_standard_does_not_ask_for_is_no_failure() -> None:
    rough = result(
        outcome="failed", basis="normative", broken="quality", because="normative, 7.2.4.1: z"
    )
    (case,) = read(run(rough)).iter("testcase")
    assert case[0].tag == "skipped"
    assert case[0].attrib["type"] == "quality"
    assert "required by normative, 7.2.4.1" in str(case[0].text)
    (case,) = read(run(rough, settings={"strict": True})).iter("testcase")
    assert case[0].tag == "failure"


def test_each_outcome() -> None:
    root = read(
        run(
            result(title="0"),
            result(title="00", dtype="int16"),
            result(title="1", outcome="failed", problem="3, not 4", ulp=2.0, bound=0.5,
                   reproduction="sz.add(1, 2)", call="add(x=1, y=2)"),
            result(title="2", outcome="crashed"),
            result(title="3", outcome="hung"),
            result(title="4", outcome="unsupported", problem="no int8"),
            result(title="44", outcome="unsupported", problem="no int8"),
            result(title="444", outcome="unsupported", problem="no int16"),
            result(title="4444", outcome="unsupported", problem="no bfloat16", basis="extension"),
            result(title="5", outcome="skipped"),
            result(title="6", outcome="failed", known="flushed"),
            result(title="7", unexpected=True),
        )
    )  # fmt: skip
    (suite,) = root
    assert suite.attrib["name"] == "add"
    cases = list(suite.iter("testcase"))
    assert [(case.attrib["name"].removeprefix("add/plain"), case[0].tag) for case in cases] == [
        ("/int8/1", "failure"), ("/int8/2", "error"), ("/int8/3", "error"), ("/int8/6", "skipped"),
        ("/int8/7", "system-out"), (": passed", "system-out"),
        (": required, unsupported", "failure"), (": unsupported", "skipped"),
        (": skipped", "skipped"),
    ]  # fmt: skip
    assert cases[0].attrib["classname"] == "suanzi.arithmetic.add"
    assert cases[0][0].attrib["message"] == "add(x=1, y=2): 3, not 4"
    assert cases[0][0].text == "add(x=1, y=2): 3, not 4\nerror 2 ULP, bound 0.5\n\nsz.add(1, 2)"
    assert [cases[i][0].attrib["type"] for i in (1, 2, 3)] == ["crashed", "hung", "known-deviation"]
    assert "flushed" in cases[3][0].attrib["message"]
    assert cases[5][0].text == "2 cases"
    assert cases[6][0].attrib["message"] == "2: no int8; 1: no int16"


def test_characters_that_xml_does_not_have(tmp_path: Path) -> None:
    one = run(
        result(outcome="failed", title="a\x00<b>&\"'", problem="\x1b[31m\ud800\ufffe ]]> 算子")
    )
    report_junit.write(one, tmp_path / "a.xml")
    case = next(xml.parse(tmp_path / "a.xml").getroot().iter("testcase"))
    assert case.attrib["name"] == "add/plain/int8/a\\x00<b>&\"'"
    assert case[0].attrib["message"] == "\\x1b[31m\\ud800\\ufffe ]]> 算子"


def test_the_subject_is_told() -> None:
    root = read(run(result(), result("exp")))
    found = {p.attrib["name"]: p.attrib["value"] for p in root.iter("property")}
    assert found["version"] == "2.1"
    assert found["rules"] in ("cann", "strict")
