"""The files of known deviations that come with the kit: each says something true of some cases."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from fnmatch import fnmatchcase
from functools import cache, partial
from pathlib import Path

import pytest

from suanzi.conformance.cases import Wanted, cases
from suanzi.conformance.model.case import GROUPS
from suanzi.conformance.model.members import members
from suanzi.conformance.reports import deviations
from suanzi.conformance.reports.deviations import Deviation, packaged
from suanzi.errata import errata
from suanzi.standard import interfaces

FILES = sorted((Path(deviations.__file__).parent / "deviations").glob("*.toml"))
EVERY = [(file.stem, one) for file in FILES for one in packaged(file.stem)]
SOURCE = re.compile(r"\(((?:E\d+|\d(?:\.\d+)+)(?:, (?:E\d+|\d(?:\.\d+)+))*)\)\.$")
"""What a reason ends with: the errata or the clauses that decide."""


def test_there_are_some() -> None:
    assert {"numpy", "torch", "suanzi"} <= {file.stem for file in FILES}
    assert len(EVERY) > 80


@pytest.mark.parametrize(("subject", "one"), EVERY, ids=lambda x: str(x)[:60])
def test_a_reason_is_a_sentence_with_its_source(subject: str, one: Deviation) -> None:
    assert one.problem is not None
    assert subject == "suanzi" or one.version is not None
    assert one.reason[0].isupper() or one.reason[0] == "`"
    assert "\n" not in one.reason
    found = SOURCE.search(one.reason)
    assert found, one.reason
    known = {erratum.id for erratum in errata()}
    clauses = {facts.clause for facts in interfaces().values()}
    other = subject.partition("-")[2]
    clauses |= {facts.clause for facts in interfaces(other).values()} if other else set()
    for source in found[1].split(", "):
        assert not other or source in clauses, source
        if source.startswith("E"):
            assert source in known
        elif source.startswith("7.2."):
            assert any(c == source or c.startswith(f"{source}.") for c in clauses), source


@pytest.mark.parametrize("subject", [file.stem for file in FILES])
def test_no_two_are_the_same(subject: str) -> None:
    entries = packaged(subject)
    assert len({one.reason for one in entries}) == len(entries)
    patterns = [(d.case, d.op, d.group, d.dtype, d.problem) for d in entries]
    assert len(set(patterns)) == len(patterns)


EXPENSIVE = ("promotion", "sizes")
MARKS = set("*?[")


@cache
def facts_of(op: str, group: str, rules: str, quick: bool) -> list[tuple[str, str, str, str]]:
    found = cases(op, Wanted(frozenset({group}), rules=rules, quick=quick))
    return [(case.id, case.op, case.group, case.dtype) for case in found]


def groups_of(one: Deviation, op: str) -> Iterator[str]:
    """Give the groups that a pattern can name, as far as its words say; the expensive last."""
    patterns = [one.case] if isinstance(one.case, str) else one.case or ["*"]
    named: set[str] = set()
    for pattern in patterns:
        head, group = [*pattern.split("/"), "*"][:2]
        if MARKS & {*head} or (head == op and MARKS & {*group}):
            named.update(GROUPS)
        elif head == op:
            named.add(group)
    for group in sorted(GROUPS, key=EXPENSIVE.__contains__):
        if group in named and any(map(partial(fnmatchcase, group), several(one.group))):
            yield group


def several(patterns: str | tuple[str, ...] | None) -> tuple[str, ...]:
    return (patterns or "*",) if isinstance(patterns, str | None) else patterns


def is_met(one: Deviation, rules: str) -> bool:
    """Tell whether a pattern names a case; those that take long to make come last."""
    ops = [op for op in (*interfaces(), *members("nn")) if one.may_name(op)]
    wanted = [(group, op) for op in ops for group in groups_of(one, op)]
    wanted.sort(key=lambda pair: pair[0] in EXPENSIVE)
    return any(
        one.names(*facts)
        for quick in (True, False)
        for group, op in wanted
        for facts in facts_of(op, group, rules if group == "promotion" else "cann", quick)
    )


def test_every_pattern_stands_for_some_case() -> None:
    """All in one test, since the cases of every interface are made for it."""
    for subject, one in EVERY:
        rules = "cann" if subject == "suanzi" else subject.partition("-")[0]
        assert is_met(one, rules), one
        # Where several are listed, each of them has something to say.
        for name in ("case", "op", "dtype", "group"):
            several = getattr(one, name)
            for pattern in several if isinstance(several, tuple) else ():
                assert is_met(replace(one, **{name: pattern}), rules), (one, pattern)
