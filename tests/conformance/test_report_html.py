"""The report for people: one file, all that went wrong in it, and nothing that runs by itself."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

from hypothesis import given, settings

from helpers import made_runs
from helpers.made_runs import SUBJECT, of_all, result, run
from helpers.pages import Page
from suanzi.base.text import clean, without_tricks
from suanzi.conformance.model.results import OUTCOMES, Result, Run
from suanzi.conformance.reports import html as report_html
from suanzi.standard import interfaces


def page(one: Run) -> Page:
    return Page(report_html.to_html(one))


def counted(found: Page) -> dict[str, int]:
    return {
        attributes["data-count"]: int(text)
        for _, attributes, text in found.found
        if "data-count" in attributes
    }


@settings(max_examples=15)
@given(made_runs.results())
def test_everything_is_in_it(results: list[Result]) -> None:
    one = run(*results)
    found = page(one)
    assert counted(found) == one.counts()
    ids = [text for attributes, text in found.all("code", class_="id")]
    told = [r for r in results if r.bad or r.unexpected]
    assert sorted(ids) == sorted(without_tricks(clean(r.id)) for r in told)
    compact = sum(int(text.split()[-1]) for _, text in found.all("i"))
    assert compact == len(results) - len(told)
    assert len(found.cases()) == len(told)


def test_a_failure_in_full() -> None:
    wrong = result(
        "exp", "failed", dtype="float32", problem="2 of 3 elements", ulp=9.25, bound=3.0,
        mean_relative=1e-3, max_relative=0.5, cann=False,
        reproduction="import torch\ntorch.exp(x)",
    )  # fmt: skip
    ((attributes, text),) = page(run(wrong, result())).cases()
    for words in (
        "exp/plain/float32/3-elements", "7.2.12.1", "2 of 3 elements", "error 9.25 ULP, bound 3",
        "beyond CANN's limits", "import torch\ntorch.exp(x)",
        "suanzi check --backend vendor.so --rules cann --case exp/plain/float32/3-elements",
    ):  # fmt: skip
        assert words in text
    assert attributes["data-o"] == "failed"
    assert (attributes["data-c"], attributes["data-i"]) == ("exponential", "exp")


def test_each_kind_is_told_once_in_full() -> None:
    some = [
        result(outcome="failed", dtype=d, problem=f"dtype {d}, not bool", reproduction=f"paste {d}")
        for d in ("int8", "int16", "float32")
    ]
    found = page(run(*some, result("exp", "hung")))
    assert [attributes["class"].split()[1] for attributes, _ in found.cases()] == [
        "one", "one", "brief", "brief",
    ]  # fmt: skip
    assert found.cases()[0][0]["data-i"] == "exp"
    ((_, text),) = found.all("details", class_="kind")
    assert "the same in 2 more, in int8, int16, float32" in text
    assert "dtype float32, not bool" in text
    assert "paste" not in text
    assert "4 of 2 kinds" in found.all("section", id="wrong")[0][1]


def test_what_a_subject_says_is_only_text() -> None:
    evil = "</script><script>alert('x')</script><img src=x onerror=alert(1)>\"'&"
    one = run(
        result(outcome="failed", title=evil, problem=evil, known=evil, issue="javascript:alert(1)"),
        result("exp", "failed", problem=evil, reproduction=evil),
        result("log", "unsupported", problem=evil),
        result("sin", title=evil),
        unused=[evil],
    )
    one = replace(one, subject=SUBJECT | {"name": evil, "notes": [evil], "missing": {"eig": evil}})
    found = page(one)
    assert len(found.all("script")) == 1
    assert not found.all("img")
    assert all(attributes["href"].startswith("#") for attributes, _ in found.all("a"))
    assert all(not name.startswith("on") for _, attributes, _ in found.found for name in attributes)
    ((_, text), *_) = found.cases()
    assert evil in text


def test_a_link_to_an_issue() -> None:
    known = result(outcome="failed", known="slow", issue="https://example.com/7")
    links = [(attributes["href"], text) for attributes, text in page(run(known)).all("a")]
    assert ("https://example.com/7", "https://example.com/7") in links


def test_every_part_can_be_reached() -> None:
    found = page(of_all(exp="failed", log="unsupported"))
    there = {attributes.get("id") for attributes, _ in found.all("section")}
    links = {attributes["href"].removeprefix("#") for attributes, _ in found.all("a")}
    assert links == there - {"counts", "levels"}


def test_nothing_is_fetched() -> None:
    text = report_html.to_html(of_all("failed"))
    assert "default-src 'none'" in text
    assert all(link.startswith("#") for link in re.findall(r"\b(?:src|href)\s*=\s*\"(.*?)\"", text))
    assert "@import" not in text
    assert "url(" not in text


def test_the_tables_agree_with_the_run() -> None:
    one = of_all(exp="failed", log="unsupported", sin="crashed")
    found = page(one)
    rows = {
        attributes["data-row"]: text
        for attributes, text in found.all("tr")
        if "data-row" in attributes
    }
    assert set(rows) == set(interfaces())
    assert "fails" in rows["exp"]
    assert "not supported" in rows["log"]
    assert "conforms" in rows["add"]
    assert "not reached" in found.all("section", id="levels")[0][1]
    mapping = found.all("section", id="mapping")[0][1]
    assert "v_add" in mapping
    assert "no eigenvalues" in mapping
    assert "subnormals are flushed" in mapping


def test_what_the_filter_offers() -> None:
    one = of_all(exp="failed")
    found = page(one)
    options = [text for _, text in found.all("option")]
    for word in (*OUTCOMES, "known", "unexpected", "linear algebra", "exp", "int16", "promotion"):
        assert word in options
    fields = {attributes["name"] for attributes, _ in [*found.all("select"), *found.all("input")]}
    assert fields == {"o", "c", "i", "d", "g", "t"}


def test_thirty_thousand_cases_are_still_a_small_file(tmp_path: Path) -> None:
    some: list[Any] = [
        result(r.op, title=f"{i}-by-{i}-elements", dtype=d)
        for r in of_all().results
        for d in ("int8", "int16", "float32", "float64", "complex64")
        for i in range(40)
    ]
    report_html.write(run(*some), tmp_path / "a.html")
    assert len(some) > 30_000
    assert (tmp_path / "a.html").stat().st_size < 300_000
