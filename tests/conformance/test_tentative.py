"""Tentative cases: every report shows them, and they count neither for nor against a backend."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from xml.etree import ElementTree as xml

import pytest

from helpers.made_runs import result, run
from suanzi.conformance.cases import Wanted, cases
from suanzi.conformance.model.basis import REQUIRED
from suanzi.conformance.model.results import Run
from suanzi.conformance.reports import html, json, junit
from suanzi.conformance.reports.compare import compare
from suanzi.conformance.reports.summary import Table, parts

OPEN = {"basis": "tentative", "because": "tentative, E83: how far bits are shifted"}


def made(outcome: str = "failed", **settings: Any) -> Run:
    broken = None if outcome == "passed" else "tentative"
    one = result("add", outcome, title="1", broken=broken, **OPEN)
    return run(result(), one, settings=settings)


@pytest.mark.parametrize("strict", [False, True])
def test_a_wrong_answer_is_neither_for_nor_against(strict: bool) -> None:
    decision = made(strict=strict).decision
    assert (decision.status, decision.conforms, decision.total.required) == (0, True, 1)
    assert (decision.total.tentative, decision.total.differing) == (1, 1)
    assert made("passed").decision.total.passed == 1


@pytest.mark.parametrize("outcome", ["crashed", "hung"])
def test_no_call_may_crash(outcome: str) -> None:
    assert made(outcome).decision.status == 1


def test_every_report_shows_them() -> None:
    some = made()
    tables = [part for part in parts(some) if isinstance(part, Table)]
    assert any(row[0].text == "tentative" for table in tables for row in table.rows)
    data = json.to_data(some)
    assert data["bases"]["tentative"]["failed"] == data["decision"]["tentative_failed"] == 1
    assert "tentative" in html.to_html(some)
    case = next(xml.fromstring(junit.to_xml(some)).iter("skipped"))
    assert case.attrib["type"] == "tentative"


def test_a_comparison_lists_them_and_does_not_fail() -> None:
    found = compare(made("passed"), made())
    assert len(found.broken) == 1
    assert not found.broke
    assert "(tentative)" in found.broken[0].words


@pytest.mark.parametrize("op", ["flip", "bitwise_left_shift", "clip_backward", "reduce_bwd"])
def test_they_are_no_part_of_a_normative_run(op: str) -> None:
    quick = Wanted(frozenset({"plain", "status"}), quick=True)
    assert any(case.why.basis == "tentative" for case in cases(op, quick))
    chosen = cases(op, replace(quick, normative=True))
    assert {case.why.basis for case in chosen} <= REQUIRED
