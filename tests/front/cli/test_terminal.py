"""A run on the terminal: its numbers, its width, and words that cannot move the cursor."""

from __future__ import annotations

import io
from dataclasses import replace

from hypothesis import given, settings
from rich.console import Console

from helpers import made_runs
from helpers.made_runs import of_all, result, run
from suanzi.conformance.check import Progress
from suanzi.conformance.model.results import OUTCOMES, Result
from suanzi.conformance.reports.summary import detail
from suanzi.front.cli.terminal import plain, plain_parts, progress_bar, show


def test_tables_and_summary() -> None:
    text = plain(of_all(exp="failed", log="unsupported"))
    lines = text.splitlines()
    assert "exponential: 6 interfaces, 6 cases" in lines
    assert "interface  answered  cases  pass  fail  unsup  ULP/bound  verdict" in lines
    assert any(line.split() == ["exp", "1/1", "1", "1", "fails"] for line in lines)
    assert "152 cases: 150 passed (99.3 %), 1 failed, 1 unsupported; 0 s" in lines
    assert "151 of 152 required cases answered: 150 passed, 1 failed; 1 not answered" in lines
    assert lines[-1] == ("Does not conform: 1 of 152 required cases failed, 1 was not answered.")
    assert "  exp/plain/int8/3-elements" in lines
    assert (
        "run one of them alone: suanzi check --backend vendor.so --rules cann --case exp/plain/"
        in text
    )


def test_it_fits_eighty_columns() -> None:
    out = io.StringIO()
    results = [replace(r, ulp=12.34, bound=167.2) for r in of_all().results]
    wrong = result("create_sparse_tensor", "failed", problem="long " * 50)
    show(run(*results, wrong), console=Console(file=out, width=80))
    assert max(map(len, out.getvalue().splitlines())) <= 80
    tables = plain(run(*results)).splitlines()
    assert max(map(len, tables)) <= 80


def test_nothing_is_cut_off_at_eighty_columns() -> None:
    some = [
        result("create_sparse_tensor", o, title=str(i), ulp=12.34, bound=167.2)
        for o in OUTCOMES
        for i in range(111)
    ]
    known = [replace(r, known="why") if r.bad else r for r in some]
    for verdict, results in {"fails": some, "partly": known}.items():
        out = io.StringIO()
        show(run(*results), console=Console(file=out, width=80))
        table = out.getvalue().partition("vendor")[0]
        assert max(map(len, table.splitlines())) <= 80
        words = table.split()
        assert words.count("111") == 6
        for word in ("666", "create_sparse_tensor", "12.34/167", verdict):
            assert word in words


@settings(max_examples=20)
@given(made_runs.results())
def test_whatever_a_subject_says(results: list[Result]) -> None:
    one = run(*results, unused=["\x1b[2J"])
    for verbose in (False, True):
        text = plain(one, verbose=verbose)
        assert all(c.isprintable() or c == "\n" for c in text)
    out = io.StringIO()
    show(one, verbose=True, console=Console(file=out, width=80))
    assert "\x1b" not in out.getvalue()


def test_each_kind_of_failure_is_told_once() -> None:
    results = [
        result(
            "add",
            "failed",
            title=str(i),
            dtype=d,
            problem=f"z: {i} of 9 elements: [{i}] {i}, not 7",
        )
        for i in range(1, 4)
        for d in ("int8", "int16", "float16")
    ]
    others = [result("add", "failed", title=f"{o}", problem=f"{o} words") for o in "abcdefghijkl"]
    text = plain(run(*results, *others, result("exp", "crashed"), result("log", "failed")))
    assert "failures, worst first: 23 cases of 15 kinds, 10 shown (--verbose shows all)" in text
    wrong = text[text.index("failures, worst first") :].splitlines()
    assert wrong[1:3] == ["  crashed: exp/plain/int8/3-elements", "      it crashed"]
    assert wrong[3:6] == [
        "  add/plain/int8/1",
        "      z: 1 of 9 elements: [1] 1, not 7",
        "      8 more, in int8, int16, float16",
    ]
    assert any("log/plain/int8/3-elements" in line for line in wrong)
    everything = plain(run(*results, *others), verbose=True)
    assert all(one.id in everything for one in results)


def test_what_the_list_of_deviations_got_wrong() -> None:
    text = plain(run(result(unexpected=True), unused=["op log: slow"]))
    assert "passed, though listed as known to fail:\n  add/plain/int8/3-elements" in text
    assert "deviations that match no case:\n  op log: slow" in text


def test_the_last_word() -> None:
    def last(*results: Result, **more: list[str]) -> str:
        return plain(run(*results, **more)).splitlines()[-1]

    assert last(result()) == ("Conforms for int8 in what was tested (1 case); no level in full.")
    assert last(result(), result("exp", "failed", known="slow")) == (
        "No new failures. Does not conform: 1 of 2 required cases failed (known)."
    )
    assert last(result(), result("exp", "unsupported")) == (
        "Does not conform: 1 of 2 required cases was not answered."
    )
    assert last(result("exp", "unsupported")) == "Does not conform: no case passed."
    assert last(result(), unfinished=["exp"]).startswith("Interrupted. So far: conforms for int8")
    assert "interrupted (by hand), incomplete: 1 interface not finished" in plain(
        run(result(), unfinished=["exp"])
    )
    assert last() == "Nothing was tested."


def test_details() -> None:
    wrong = result(
        outcome="failed", problem="one\ntwo", ulp=2.0, bound=0.5, mean_relative=0.1,
        max_relative=0.2, cann=True, known="slow", issue="https://example.com",
        reproduction="x = 1",
    )  # fmt: skip
    text = plain_parts(detail(run(wrong), wrong))
    assert text.split("\n") == [
        "  add/plain/int8/3-elements",
        "      one",
        "      two",
        "      error 2 ULP, bound 0.5",
        "      relative error: mean 0.1, largest 0.2, within CANN's limits",
        "      known: slow (https://example.com)",
        "      suanzi check --backend vendor.so --rules cann --case add/plain/int8/3-elements",
        "        x = 1",
    ]


def test_the_bar_is_for_a_person() -> None:
    with progress_bar(Console(file=io.StringIO(), force_terminal=False)) as tell:
        assert tell is None
    out = io.StringIO()
    with progress_bar(Console(file=out, force_terminal=True, width=80)) as tell:
        assert tell is not None
        tell(Progress(1, 2, "exp", [result("exp", "failed")]))
    assert "1 wrong" in out.getvalue()
