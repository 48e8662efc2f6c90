"""Runs of another catalogue than the standard: what they require, and what their reports say."""

from __future__ import annotations

from dataclasses import replace

import pytest

from suanzi.base.status import InvalidArgument
from suanzi.conformance.cases import Wanted, cases
from suanzi.conformance.check import check, filters
from suanzi.conformance.judging.verdict import Answer, verdict
from suanzi.conformance.model.case import Case, Check, Output, Refused
from suanzi.conformance.model.data import tensor
from suanzi.conformance.model.members import members
from suanzi.conformance.model.numbers import real
from suanzi.conformance.model.results import Run
from suanzi.conformance.nn._calls import Call
from suanzi.conformance.reports import html, json, junit
from suanzi.conformance.reports.summary import parts
from suanzi.front.cli.terminal import plain_parts

OPS = list(members("nn"))


@pytest.fixture(scope="module")
def run() -> Run:
    return check(catalogue="nn", ops=["softmax"], groups=["plain", "status"], quick=True, jobs=1)


def test_a_catalogue_has_levels_of_its_own(run: Run) -> None:
    assert run.catalogue == "nn"
    assert run.decision.conforms, run.decision.headline
    assert [level.name for level in run.decision.levels] == ["forward", "all", "promotion"]
    assert {r.op for r in run.results} == {"nn:softmax"}
    assert "bfloat16" in {r.dtype for r in run.results}


def test_no_report_of_a_catalogue_names_the_standard(run: Run) -> None:
    texts = [plain_parts(parts(run, verbose=True)), html.to_html(run), junit.to_xml(run)]
    for text in texts:
        for words in ("normative case", "the standard", "131.1", "minimal set"):
            assert words not in text, words
    assert json.to_data(run)["kit"]["standard"] == "the model operators"


def test_narrow_floats_are_ordinary_dtypes() -> None:
    found = cases("nn:softmax", Wanted(dtypes=frozenset({"bfloat16", "float8_e5m2"})))
    plain = [case for case in found if case.group in ("plain", "random", "special")]
    assert plain
    assert {case.why.basis for case in plain} == {"normative"}


def _plain() -> Case:
    found = cases("nn:softmax", Wanted(groups=frozenset({"plain"}), dtypes=frozenset({"float32"})))
    return found[0]


def test_accuracy_is_required() -> None:
    case = _plain()
    (wanted,) = case.expect()  # type: ignore[misc]
    assert isinstance(wanted, Output)
    right = [float(x.value) for x in wanted.truth]  # type: ignore[union-attr]
    near = tensor("float32", [real(x) for x in right], wanted.shape)
    off = tensor("float32", [real(x * (1 + 2e-5)) for x in right], wanted.shape)
    assert verdict(case, Answer("SUCCESS", [near]), True).passed
    found = verdict(case, Answer("SUCCESS", [off]), True)
    assert not found.passed
    assert not found.inaccurate


@pytest.mark.parametrize("op", OPS)
def test_every_operator_has_cases_of_statuses_and_promotion(op: str) -> None:
    found = cases(op, Wanted(groups=frozenset({"status", "promotion", "example", "calls"})))
    titles = {case.title for case in found if case.group == "status"}
    assert "SUCCESS" in titles
    assert any(title.startswith("UNINITIALIZED_OBJECT") for title in titles)
    assert {case.group for case in found} >= {"status", "example", "calls"}
    for case in found:
        assert isinstance(case.expect(), tuple | Refused | Check), case.id


def test_a_case_of_a_catalogue_runs_alone() -> None:
    found = check(only=["nn:softmax/status/any/*"], jobs=1)
    assert found.conforms
    assert len(found.results) > 3


def test_an_operator_of_the_run_is_found_by_its_short_name() -> None:
    assert filters(catalogue="nn", ops=["softmax"])["ops"] == ["nn:softmax"]
    with pytest.raises(InvalidArgument, match="nnn"):
        filters(catalogue="nnn")


def test_a_mixed_run_is_about_the_standard(run: Run) -> None:
    other = replace(run.results[0], op="add", id="add/plain/int8/x")
    mixed = replace(run, settings={**run.settings, "catalogue": None},
                    results=[*run.results, other])  # fmt: skip
    assert mixed.catalogue == "standard"
    assert list(mixed.by_operator()) == ["add", "nn:softmax"]


def test_a_group_or_a_data_class_that_the_kit_does_not_have_is_an_error() -> None:
    """Its cases would be in no run."""
    for wrong in ({"group": "emtpy"}, {"classes": ("ordinary", "odd")}):
        with pytest.raises(ValueError, match="'a call' has the .* 'e?mtpy'|'a call' has .* 'odd'"):
            Call("a call", {}, **wrong)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="'emtpy' is not a group of cases.*Did you mean 'empty'"):
        Wanted().wants("emtpy", "float32")
